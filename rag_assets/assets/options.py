"""What a run was asked for beyond its assets, and what an asset finds when it starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import dagster as dg

from rag_assets import __version__
from rag_assets.model import ConfigurationError, Progress
from rag_assets.storage import Maker, working_as
from rag_assets.workspace import Namespace, Workspace, config_hash, configuration_digest

# Run tags; the sensors and the commands set them, a person may in the launchpad.
REHASH_TAG = "rag/rehash"
RETRY_TAG = "rag/retry"
STATE_TAG = "rag/state"
REASON_TAG = "rag/reason"

# Set by a command that shows progress on a terminal; runs of the daemon have none.
progress_reporter: ContextVar[Progress | None] = ContextVar("progress_reporter", default=None)

OWNERS = ["team:library"]

# The pool of steps that hold a model to encode with. How many may run at a time is the instance's
# to say (`configs/dagster-team.yaml`); one that says nothing lets all run.
ENCODERS = "encoders"


def publishers(namespace: str) -> str:
    """Return the pool of the steps that publish a namespace: limited to one, it has one builder."""
    return f"publish/{namespace}"


def reopen_namespace(workspace: Workspace, name: str, hex_digits: int) -> Namespace:
    """Return the namespace with its settings of this moment, not of when the code was loaded.

    Raises:
        ConfigurationError: its partitions are no longer those that Dagster knows.
    """
    namespace = Workspace.open(workspace.root).namespace(name)
    if namespace.settings.hex_digits != hex_digits:
        raise ConfigurationError(
            f"{workspace.namespace_file(name)}: 'hex_digits' is now "
            f"{namespace.settings.hex_digits}, but the assets were loaded with {hex_digits}. "
            "Reload the code location (Deployment page of the UI) or restart `dagster dev`."
        )
    return namespace


@contextmanager
def signed_work(
    context: dg.AssetExecutionContext, place: Namespace | Workspace, code_version: str
) -> Iterator[None]:
    """Sign what is stored inside the block with run, code version and configuration.

    Args:
        place: whose configuration the work follows.
    """
    digest = configuration_digest(place) if isinstance(place, Namespace) else config_hash(place)
    with working_as(Maker(context.run_id, code_version, digest, __version__)):
        yield


def flag(context: dg.AssetExecutionContext, tag: str) -> bool:
    """Say whether a run was started with a tag set to `true`."""
    return context.run.tags.get(tag) == "true"


def rest_seconds(context: dg.AssetExecutionContext, namespace: Namespace) -> float | None:
    """Return how long a file must have been still, in runs that a sensor asked for.

    A command takes what is there now, a sensor only what nobody is copying any more.
    """
    is_of_sensor = STATE_TAG in context.run.tags
    return namespace.settings.sensors.rest_seconds if is_of_sensor else None
