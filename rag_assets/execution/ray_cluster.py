"""The connection of this process to Ray."""

import os
from contextlib import chdir
from typing import Any

from rag_assets.model import ConfigurationError, ServiceError, usable_processors

# Names a cluster that runs already; Ray's own variable.
ADDRESS_VARIABLE = "RAY_ADDRESS"
# Jobs and results in flight: texts, vectors, reports. What is large is written by the workers.
_STORE_BYTES = 200_000_000


def connect() -> Any:
    """Return the module `ray`, connected to a cluster until this process ends.

    Without RAY_ADDRESS Ray is started on this machine, for this process alone.

    Raises:
        ConfigurationError: Ray is not installed.
        ServiceError: the cluster does not answer, or none can be started.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise ConfigurationError(
            "'engine: ray' needs an extra: run `pip install 'rag-assets[ray]'`, or write "
            "`engine: local` into config.yaml."
        ) from error
    if ray.is_initialized():
        return ray
    # Ray tells its makers how it is used unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would print what its own processes log to standard output, which is a command's.
    quiet: dict[str, Any] = {"logging_level": "warning", "log_to_driver": False}
    address = os.environ.get(ADDRESS_VARIABLE)
    try:
        # Workers run in the folder that is the current one here, and import from it first of all.
        with chdir("/"):
            if address:
                ray.init(address, **quiet)
            else:
                ray.init(
                    "local", num_cpus=usable_processors(), include_dashboard=False,
                    object_store_memory=_STORE_BYTES, **quiet,
                )  # fmt: skip
    except Exception as error:  # Ray raises just that where a machine is too busy to start it
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        if not address:
            raise ServiceError(
                f"Ray does not start on this machine: {reason}. Run again when there is less to "
                "do, or write `engine: local` into config.yaml."
            ) from error
        raise ServiceError(
            f"No Ray cluster answers ({ADDRESS_VARIABLE}={address}): {reason}. Start it (`ray "
            f"start --head`), correct {ADDRESS_VARIABLE}, set RAY_AUTH_MODE=token where the "
            "cluster asks for a token, or write `engine: local` into config.yaml."
        ) from error
    return ray


def deaths() -> tuple[type[Exception], ...]:
    """Return the errors by which Ray says that a worker died, and its job or result with it."""
    from ray import exceptions

    return (
        exceptions.RayActorError,
        exceptions.NodeDiedError,
        exceptions.OutOfMemoryError,  # Ray's own watch over a machine's memory
        exceptions.ObjectLostError,
    )


def describe_death(error: Exception) -> str:
    """Return how a worker ended, on one line: as Ray says it, and where to look for the rest.

    Of a process that the system ended Ray knows no more than that it is gone.
    """
    first, *more = str(error).strip().splitlines()
    if not any("OOM killer" in line for line in more):
        return first
    where = [line.strip() for line in more if line.strip().startswith(("pid:", "ip:"))]
    return (
        f"{first.rstrip('.')} ({', '.join(where)}). Either the system ended its process for want "
        "of memory, which `dmesg` there tells, or the process crashed"
    )
