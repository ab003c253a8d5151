"""Make a pack again from its own publication, and say where it differs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rag_assets.evidence.making import make_pack, query_id_of
from rag_assets.evidence.pack import (
    LAYOUT_VERSION,
    EvidencePack,
    pack_from_json,
    pack_to_json,
    write_pack,
)
from rag_assets.evidence.query_runs import asked_settings, find_run
from rag_assets.evidence.question import Question
from rag_assets.evidence.rendering import render_pack
from rag_assets.model import PublicationError, UsageError
from rag_assets.storage import is_complete, read_json
from rag_assets.workspace import Workspace

_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of making a pack again.

    Args:
        pack: name of its JSON file.
        publications: that were asked, `namespace/publication`.
        differences: sentences, each naming a field or line with both values; empty where
            Markdown and JSON are the same byte for byte.
    """

    pack: str
    publications: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether every byte is the same."""
        return not self.differences


def replay(workspace: Workspace, path: Path) -> Replay:
    """Make a pack again from the publication, settings and wordings that it names.

    The settings of today do not matter, nor does a language model: it is not asked again. Nothing
    is written.

    Args:
        workspace: that holds the publication.
        path: of the pack: its Markdown, JSON or HTML; the other files stand beside it.

    Raises:
        UsageError: no such pack; its settings are none that this version knows; its namespace or
            embedding model is gone.
        PublicationError: its publication was retired.
        DamagedFileError: it is not a pack, or a parse that it quotes is gone.
    """
    data, markdown = pack_files(path)
    loaded = read_json(data, "evidence pack")
    pack = pack_from_json(loaded)
    _require_publications(workspace, pack, data)
    settings = asked_settings(pack.settings)
    if settings is None:
        raise UsageError(
            f"{data.name}: its search settings are none that this version of rag-assets knows. "
            "Replay it with the version that its build ids name: "
            f"{', '.join(pack.build_ids.values())}."
        )
    question = Question(
        question=pack.question,
        namespaces=pack.request.namespaces,
        top_k=pack.request.top_k,
        filters=pack.request.filters,
        mode=pack.mode,
        as_of=date.fromisoformat(pack.as_of) if pack.as_of is not None else None,
        all_versions=pack.all_versions,
    )
    made = make_pack(
        workspace,
        question,
        publications=pack.publications,
        settings=settings,
        wordings=pack.queries,
        circumstances=pack.circumstances,
    )
    return Replay(
        data.name,
        tuple(f"{name}/{publication}" for name, publication in pack.publications.items()),
        tuple(_differences(data, markdown, loaded, pack, made)),
    )


def pack_files(path: Path) -> tuple[Path, Path]:
    """Return the JSON and the Markdown file of a pack that is named by one of its files.

    Raises:
        UsageError: there is no JSON file of that name.
    """
    data = path.with_suffix(".json")
    if not data.is_file():
        raise UsageError(
            f"{path}: no evidence pack stands there ({data.name} is missing). Name one of "
            "outputs/, for instance outputs/evidence_pack_v001.md."
        )
    return data, path.with_suffix(".md")


def _require_publications(workspace: Workspace, pack: EvidencePack, data: Path) -> None:
    retired = (find_run(workspace, pack.query_id) or {}).get("retired", {})
    for name, publication in pack.publications.items():
        if name not in workspace.namespace_names:
            raise UsageError(f"{data.name}: this workspace has no namespace '{name}' any more.")
        if not is_complete(workspace.namespace(name).publications, publication):
            when = f" on {retired[name]}" if name in retired else ""
            raise PublicationError(
                f"{data.name}: its publication {name}/{publication} was retired{when}. The pack "
                "itself can be read without it; it cannot be made again. Keep publications with "
                "`publish.keep_publications`, or ask the question again."
            )


def _differences(
    data: Path,
    markdown: Path,
    loaded: Mapping[str, Any],
    pack: EvidencePack,
    made: EvidencePack,
) -> Iterator[str]:
    stored_text = data.read_bytes().decode("utf-8")
    belongs = query_id_of(
        pack.question, pack.queries, pack.filters, pack.publications, pack.encoders, pack.settings
    )
    if pack.query_id != belongs:
        yield (
            f"{data.name}: query_id {pack.query_id} does not belong to its question, filters, "
            f"publications, models and settings (that would be {belongs}): the file was edited by "
            "hand, or another version of rag-assets made it"
        )
    # How the Markdown is laid out does not belong to what was found.
    made = replace(made, layout=pack.layout)
    fields = list(compare(loaded, json.loads(json.dumps(pack_to_json(made)))))
    yield from (f"{data.name}: {sentence}" for sentence in fields)
    if not fields and stored_text != write_pack(made):
        yield f"{data.name}: the values are the same, the file was written otherwise (white space)"
    if not markdown.is_file():
        yield f"{markdown.name} is missing"
        return
    if pack.layout != LAYOUT_VERSION:
        yield (
            f"{markdown.name} is laid out by another version of rag-assets (layout {pack.layout}; "
            f"this one writes {LAYOUT_VERSION}): it cannot be compared. {data.name} "
            + ("differs too" if fields else "holds the same")
        )
        return
    shown = markdown.read_bytes().decode("utf-8", "replace")
    if shown != render_pack(pack):
        yield f"{markdown.name} was edited by hand: {first_difference(shown, render_pack(pack))}"


def first_difference(stored: str, made: str) -> str:
    """Say which line of two texts differs first, with both."""
    pairs = zip_longest(stored.splitlines(), made.splitlines(), fillvalue="")
    for number, (one, other) in enumerate(pairs, start=1):
        if one != other:
            return f"line {number} {_both(one, other)}"
    return "its line ends or its last line differ"


def compare(stored: Any, made: Any, place: str = "") -> Iterator[str]:
    """Yield a sentence for every field whose value differs, named as `items[2].exact_quote`.

    Args:
        stored: values of JSON.
        made: what they should be.
        place: of both, in what was compared first.
    """
    if isinstance(stored, Mapping) and isinstance(made, Mapping):
        for key in dict.fromkeys((*made, *stored)):
            below = f"{place}.{key}" if place else str(key)
            if key not in stored:
                yield f"{below} is missing, made again it is {_shown(made[key])}"
            elif key not in made:
                yield f"{below} is {_shown(stored[key])}, made again there is none"
            else:
                yield from compare(stored[key], made[key], below)
    elif isinstance(stored, list) and isinstance(made, list):
        for index, (one, other) in enumerate(zip(stored, made, strict=False)):
            yield from compare(one, other, f"{place}[{index}]")
        if len(stored) != len(made):
            yield f"{place} has {len(stored)} entries, made again it has {len(made)}"
    elif stored != made or type(stored) is not type(made):
        yield f"{place} {_both(stored, made)}"


def _both(stored: Any, made: Any) -> str:
    """Return both values; of long texts what stands around the first difference."""
    if isinstance(stored, str) and isinstance(made, str):
        pairs = enumerate(zip(stored, made, strict=False))
        same = next((place for place, (one, other) in pairs if one != other), 0)
        start = max(0, same - _SHOWN_CHARACTERS // 2)
        if start:
            stored, made = f"…{stored[start:]}", f"…{made[start:]}"
    return f"is {_shown(stored)}, made again it is {_shown(made)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
