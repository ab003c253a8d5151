"""Which device torch computes on, and with how many threads. Imports torch when called."""

from typing import Any

from rag_assets.model import ConfigurationError, usable_processors
from rag_assets.settings import ModelSettings


def prepare_device(model: ModelSettings) -> Any:
    """Return the `torch.device` of `model.device`; `auto` is a GPU where there is one.

    Raises:
        ConfigurationError: no such device on this machine.
    """
    import torch

    # As many as this process may use: torch itself leaves half of a processor with two threads
    # a core idle.
    torch.set_num_threads(usable_processors())
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if model.device == "auto":
        return torch.device(next((name for name, is_there in available.items() if is_there), "cpu"))
    family = model.device.split(":", 1)[0]
    if family != "cpu" and not available.get(family):
        here = ", ".join(
            ["auto", "cpu", *(name for name, is_there in available.items() if is_there)]
        )
        raise ConfigurationError(
            f"embed.models: {model.model}: device: torch finds no {model.device!r} here; "
            f"this machine has {here}."
        )
    return torch.device(model.device)
