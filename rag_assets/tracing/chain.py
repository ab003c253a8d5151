"""One chain as a value: the steps from a verdict or an item down to a file, each looked at again.

The view `lineage` says what was recorded; here the bytes are read once more, so that a chain says
whether it still holds: the file has the bytes that were parsed, the passage is that slice of the
parse's text, and the text that was judged is that passage.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any  # Any: JSON of packs and manifests

from rag_assets.auditing import unit_of
from rag_assets.model import DamagedFileError, WorkspaceError, hash_bytes, hash_text
from rag_assets.parsing import read_parsed
from rag_assets.storage import written_hashes
from rag_assets.workspace import Namespace, Workspace

Row = Mapping[str, Any]
# Of verdicts and claims: a citation that cannot be judged, an assertion that cites nothing.
_WITHOUT_SOURCE = frozenset({"ERROR", "EVIDENCE_NEEDED"})


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a chain.

    Args:
        kind: verdict, claim, item, publication, passage, parent, parse or file; above a recipe's
            passage recipe, run and ground, or experience in the passage's stead.
        name: what it is called.
        facts: what is known of it, in the order in which it is told.
        made_by: run_id, code_version, config_hash and tool_version of who computed it, with
            computed_at; empty where that was not recorded.
        holds: whether it was found to be what was recorded; None where nothing was compared.
        finding: the sentence that says so.
    """

    kind: str
    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    made_by: Mapping[str, Any] = field(default_factory=dict)
    holds: bool | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps from an output's row to the bytes.

    Args:
        name: `<output>#<number>`, `<run>#<rank>`, or the citation id of a passage.
        end: the last step that was reached: `file`, or where and why it ends before.
        sentence: what the chain as a whole says to the writer.
        holds: no step was found to be otherwise than recorded.
    """

    name: str
    kind: str
    steps: tuple[Step, ...]
    end: str
    sentence: str
    holds: bool


class Bytes:
    """What is read while chains are made, each file once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._namespaces: dict[str, Namespace] = {}
        self._hashes: dict[Path, str | None] = {}
        self._texts: dict[str, str | None] = {}
        self._written: dict[Path, str] | None = None

    def changed_output(self, output: str) -> str | None:
        """Return the file of an audit or pack that is not as it was written, None for none.

        Outputs that were written before their hashes were logged are not compared.
        """
        if self._written is None:
            log = self._workspace.meta / "version_log.jsonl"
            self._written = written_hashes(log, self._workspace.root)
        for path, wanted in self._written.items():
            if path.stem == output and path.is_file() and self._hash_of(path) != wanted:
                return path.relative_to(self._workspace.root).as_posix()
        return None

    def sha256(self, namespace: str, source_uri: str) -> str | None:
        """Return the hash of a raw file as it lies there now, None where there is none."""
        path = self._raw_file(namespace, source_uri)
        return None if path is None else self._hash_of(path)

    def text(self, content_ref: str) -> str | None:
        """Return the clean text of a parse, None where the parse is gone."""
        if content_ref not in self._texts:
            store, key = self._workspace.store, f"data/{content_ref}"
            try:
                stands = store.find(key) is not None
                self._texts[content_ref] = read_parsed(store.place(key))[0].text if stands else None
            except DamagedFileError:
                self._texts[content_ref] = None
        return self._texts[content_ref]

    def _hash_of(self, path: Path) -> str | None:
        if path not in self._hashes:
            self._hashes[path] = hash_bytes(path.read_bytes()) if path.is_file() else None
        return self._hashes[path]

    def _raw_file(self, namespace: str, source_uri: str) -> Path | None:
        if namespace not in self._namespaces:
            if namespace not in self._workspace.namespace_names:
                return None
            self._namespaces[namespace] = self._workspace.namespace(namespace)
        return self._namespaces[namespace].raw_file(source_uri)


def make_chain(row: Row, read: Bytes, edits: Mapping[str, str]) -> Chain:
    """Return the chain of one row of `lineage`.

    Args:
        edits: by citation id, what people did to passages.

    Raises:
        WorkspaceError: the row has no name; the view and this module do not fit.
    """
    name = row["name"] or row["citation_id"]
    if not name:
        raise WorkspaceError("a row of lineage has no name; please report it.")
    steps = [*_ends(row), *_below(row, read, edits)]
    changed = read.changed_output(row["output"]) if row["output"] else None
    if changed:
        finding = f"{changed} was changed by hand since it was written"
        steps[0] = replace(steps[0], holds=False, finding=finding)
    end, sentence = _conclude(row, steps)
    if changed:
        sentence = f"{changed} is not what was written. Delete it and make the output again."
    holds = all(step.holds is not False for step in steps)
    return Chain(str(name), row["kind"], tuple(steps), end, sentence, holds)


def _ends(row: Row) -> Iterator[Step]:
    made = _known(row, "made_at", "run_id", "code_version", "config_hash", "tool_version")
    if row["kind"] == "verdict":
        facts = _known(row, "status", "reason_code", "reason", "score", "scorer",
                       "scorer_fingerprint", "file")  # fmt: skip
        yield Step("verdict", f"{row['output']}#{row['number']}", facts, made)
        where = f"{row['made_from']}, {unit_of(row['made_from'])} {row['line']}"
        yield Step("claim", where, _known(row, "claim", "sentence"))
        if row["items"]:
            yield Step("item", ", ".join(row["items"]), {"cites": row["citation_id"]})
    elif row["kind"] == "claim":
        facts = _known(row, "status", "claim", "reason", "score", "scorer", "file")
        yield Step("claim", f"{row['output']}#{row['label']}", facts, made)
        if row["items"]:
            yield Step("item", ", ".join(row["items"]), {"cites": row["citation_id"]})
    elif row["kind"] == "item":
        facts = {"question": row["made_from"], **_known(row, "score", "file")}
        yield Step("item", f"{row['output']}#{row['number']}", facts, made)


def _below(row: Row, read: Bytes, edits: Mapping[str, str]) -> Iterator[Step]:
    if row["doc_uid"] is None or row["raw_sha256"] is None:
        return
    made = {each["stage"]: _maker(each) for each in row["stages"]}
    if row["publication"]:
        at = row["published_at"]
        published = f"{at.replace(microsecond=0).isoformat()}Z" if at else None
        facts = _given({"published_at": published, "is_current": row["is_current"]})
        keys = ("run_id", "code_version", "config_hash", "tool_version")
        maker = _given({key: row[f"publication_{key}"] for key in keys})
        yield Step("publication", f"{row['namespace']}/{row['publication']}", facts, maker)
    if row["citation_id"]:
        passage = _passage(row, read, made.get("chunks", {}))
        told = edits.get(row["citation_id"])
        yield replace(passage, finding=f"{passage.finding}; {told}") if told else passage
    if row["parent_hash"]:
        pages = _pages(row["parent_page_start"], row["parent_page_end"])
        facts = {"pages": pages, "hash": row["parent_hash"]}
        yield Step("parent", row["parent_id"], _given(facts), made.get("parents", {}))
    if row["content_ref"] or "parse_reports" in made:
        parser = f"{row['parser']} {row['parser_version']}" if row["parser"] else None
        facts = {
            "parser": parser, "media_type": row["media_type"], "text_hash": row["text_hash"],
            "file": f"data/{row['content_ref']}" if row["content_ref"] else None,
        }  # fmt: skip
        yield Step("parse", str(row["doc_uid"]), _given(facts), made.get("parse_reports", {}))
    yield _file(row, read)


def _passage(row: Row, read: Bytes, made_by: Mapping[str, Any]) -> Step:
    facts = _given(
        {
            "chunk_id": row["found_chunk_id"] or row["chunk_id"],
            "section": " › ".join(row["section_path"] or ()) or None,
            "pages": _pages(row["page_start"], row["page_end"]),
            "characters": f"{row['char_start']}-{row['char_end']}" if row["chunk_hash"] else None,
            "hash": row["chunk_hash"] or row["passage_hash"],
            "quote": row["quote"],
        }
    )
    holds, finding = _compare_passage(row, read)
    return Step("passage", row["citation_id"], facts, made_by, holds, finding)


def _compare_passage(row: Row, read: Bytes) -> tuple[bool | None, str]:
    if row["chunk_hash"] is None:
        return None, (
            "no publication that stands holds this passage any more; the output keeps its text, "
            "locator and hash"
        )
    if row["passage_hash"] not in {None, row["chunk_hash"]}:
        return False, "the published passage is not the text that was judged"
    text = read.text(row["content_ref"]) if row["content_ref"] else None
    if text is None:
        return None, "its parse is no longer on disk, so the passage could not be compared with it"
    if hash_text(text[row["char_start"] : row["char_end"]]) != row["chunk_hash"]:
        return False, "the parse holds other text at these characters"
    return True, "stands verbatim in the parse at these characters"


def _file(row: Row, read: Bytes) -> Step:
    paths, wanted = row["raw_paths"], row["raw_sha256"]
    found = {path: read.sha256(row["namespace"], path) for path in paths}
    facts = {"sha256": wanted}
    name = ", ".join(paths) or "(no path is known)"
    if wanted in found.values():
        return Step("file", name, facts, {}, True, "has these bytes now")
    if any(found.values()):
        return Step("file", name, facts, {}, False, "has other bytes now: it was edited since")
    return Step("file", name, facts, {}, False, "is not there any more")


def _conclude(row: Row, steps: list[Step]) -> tuple[str, str]:
    if not any(step.kind == "file" for step in steps):
        if row["status"] in _WITHOUT_SOURCE:
            return "claim", f"The chain ends at the claim: {row['reason']}"
        return steps[-1].kind, f"Nothing is known of the document '{row['doc_uid']}' any more."
    broken = [f"{step.kind}: {step.finding}" for step in steps if step.holds is False]
    if broken:
        again = ""
        if row["kind"] == "verdict":
            again = f" Run `rag ingest`, then `rag verify-citations` on {row['made_from']} again."
        elif row["kind"] == "item":
            again = " Run `rag ingest`, then ask the question again."
        return "file", f"Something has changed since ({'; '.join(broken)}).{again}"
    if row["is_stale"]:
        return "file", f"'{row['doc_uid']}' has another content now; this is about the one before."
    if row["citation_id"] is None:
        return "file", "No passage was found in the document; its bytes are those that were read."
    return "file", "Every step holds, down to the bytes."


def _maker(stage: Mapping[str, Any]) -> dict[str, Any]:
    return _given(
        {key: stage[key] for key in ("run_id", "code_version", "config_hash", "tool_version",
                                     "computed_at", "fingerprint")}
    )  # fmt: skip


def _pages(start: int | None, end: int | None) -> str | None:
    if start is None:
        return None
    return f"{start}" if end in {None, start} else f"{start}-{end}"


def _known(row: Row, *names: str) -> dict[str, Any]:
    return _given({name: row[name] for name in names})


def _given(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}
