"""One chain as a value: the steps from a verdict or an item down to a file, each looked at again.

The view `lineage` says what was recorded; here the bytes are read once more, so that a chain says
whether it still holds: the file has the bytes that were parsed, the passage is that slice of the
parse's text, and the text that was judged is that passage.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,  # Any: JSON of packs and manifests
)

from rag_assets.model import (
    DamagedFileError,
    PublicationError,
    UsageError,
    WorkspaceError,
    count_of,
    hash_bytes,
    hash_text,
)
from rag_assets.parsing import read_parsed
from rag_assets.storage import written_hashes
from rag_assets.tracing.querying import open_sql, read_named_rows
from rag_assets.workspace import Namespace, Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from rag_assets.lab.laboratory import Laboratory
    from rag_assets.lab.runs import Ground, Recipe, Run
Row = Mapping[str, Any]
# Of verdicts and claims: a citation that cannot be judged, an assertion that cites nothing.
_WITHOUT_SOURCE = frozenset({"ERROR", "EVIDENCE_NEEDED"})
# Who made a step, and of what.
_MAKER = ("run_id", "code_version", "config_hash", "tool_version")


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
    made = _known(row, "made_at", *_MAKER)
    if row["kind"] == "verdict":
        from rag_assets.auditing import place_in  # every build loads this module, few audit

        facts = _known(row, "status", "reason_code", "reason", "score", "scorer",
                       "scorer_fingerprint", "file")  # fmt: skip
        yield Step("verdict", f"{row['output']}#{row['number']}", facts, made)
        line = place_in(row["made_from"], row["line"], row["draft_file"] or "")
        where = f"{row['made_from']}, {line}"
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
    made = {
        each["stage"]: _known(each, *_MAKER, "computed_at", "fingerprint") for each in row["stages"]
    }
    if row["publication"]:
        at = row["published_at"]
        published = f"{at.replace(microsecond=0).isoformat()}Z" if at else None
        facts = _given({"published_at": published, "is_current": row["is_current"]})
        maker = _given({key: row[f"publication_{key}"] for key in _MAKER})
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
            "no existing publication has this passage any more; the output keeps its text, "
            "locator and hash"
        )
    if row["passage_hash"] not in {None, row["chunk_hash"]}:
        return False, "the published passage is not the text that was judged"
    text = read.text(row["content_ref"]) if row["content_ref"] else None
    if text is None:
        return None, "its parse is no longer on disk, so the passage could not be compared with it"
    if hash_text(text[row["char_start"] : row["char_end"]]) != row["chunk_hash"]:
        return False, "the parse holds other text at these characters"
    return True, "is verbatim in the parse at these characters"


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


def _pages(start: int | None, end: int | None) -> str | None:
    if start is None:
        return None
    return f"{start}" if end in {None, start} else f"{start}-{end}"


def _known(row: Row, *names: str) -> dict[str, Any]:
    return _given({name: row[name] for name in names})


def _given(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def tell_edits(connection: "DuckDBPyConnection") -> dict[str, str]:
    """Return, by citation id, what was done to each edited passage of the current publications."""
    told: dict[str, list[str]] = {}
    rows = read_named_rows(
        connection,
        "SELECT unnest(citation_ids) AS id, list_contains(disabled_ids, id) AS is_disabled, kind, "
        "edited_by, edited_at, edited_because FROM chunk_edits ORDER BY edit_key, number",
    )
    for row in sorted(rows, key=lambda row: bool(row["is_disabled"]) and row["kind"] == "disable"):
        because = f" ({row['edited_because']})" if row["edited_because"] else ""
        done = f"{row['kind']} by {row['edited_by']} at {row['edited_at']}{because}"
        is_last = row["is_disabled"] and row["kind"] == "disable"
        told.setdefault(row["id"], []).append(
            f"it is disabled, so that no search finds it: {done}" if is_last else done
        )
    return {key: "; ".join(sentences) for key, sentences in told.items()}


# Hashes are shown so far, as Git does; `--json` has them whole.
_SHOWN_DIGITS = 16
_HASHES = frozenset({"sha256", "hash", "text_hash", "scorer_fingerprint", "config_hash",
                     "fingerprint"})  # fmt: skip
# Steps whose score is that of a verdict; others compare the hits of one question.
_JUDGED = frozenset({"verdict", "claim"})
# Letters of a sentence in a line of its own.
_LINE_LETTERS = 150
_MAKER_NAMES = {"run_id": "run", "code_version": "code", "config_hash": "configuration",
                "tool_version": "rag-assets", "computed_at": "at", "made_at": "at"}  # fmt: skip


def render_chain(chain: Chain) -> str:
    """Return a chain, each step one level deeper than what rests on it."""
    lines: list[str] = []
    for depth, step in enumerate(chain.steps):
        lines += [f"{'  ' * depth}{line}" for line in _step_lines(step, first=depth == 0)]
    return "\n".join([*lines, "", _folded(chain.sentence)])


def render_overview(chains: Sequence[Chain]) -> str:
    """Return one line a chain: its row, status, source file and whether it holds."""
    lines = []
    for chain in chains:
        first, last = chain.steps[0], chain.steps[-1]
        file = next((step for step in chain.steps if step.kind == "file"), last)
        ground = next((step for step in chain.steps if step.kind == "ground"), None)
        status = str(ground.facts["field"] if ground else first.facts.get("status", first.kind))
        mark = "holds" if chain.holds and chain.end == "file" else "look"
        digest = str(file.facts.get("sha256", ""))[:12]
        lines.append(f"{chain.name}  {status:<8} {mark:<6} {digest:<12}  {_folded(file.name)}")
        if mark == "look":
            lines.append(f"    {_folded(chain.sentence)}")
    return "\n".join(lines)


def chain_to_json(chain: Chain) -> dict[str, Any]:
    """Return a chain as values that JSON knows; times are ISO 8601, UTC."""
    return asdict(chain)


def _step_lines(step: Step, *, first: bool) -> list[str]:
    mark = "" if first else "└ "
    margin = " " * (len(mark) + 2)
    lines = [f"{mark}{step.kind}  {_folded(step.name)}"]
    if step.finding:
        sign = {True: "✓", False: "✗", None: "·"}[step.holds]
        lines.append(f"{margin}{sign} {_folded(step.finding)}")
    lines += [
        f"{margin}{name}: {_shown(name, value, step.kind)}" for name, value in step.facts.items()
    ]
    if step.kind in {"passage", "parent", "parse", "publication"}:
        lines.append(f"{margin}made by: {_made_by(step.made_by)}")
    elif step.made_by:
        lines.append(f"{margin}made: {_made_by(step.made_by)}")
    return lines


def _made_by(made_by: Mapping[str, Any]) -> str:
    if not made_by:
        return "not recorded"
    told = [
        f"{shown} {_shown(name, made_by[name])}"
        for name, shown in _MAKER_NAMES.items()
        if made_by.get(name)
    ]
    if "run_id" not in made_by:
        told.append("no Dagster run")
    return ", ".join(told)


def _shown(name: str, value: Any, kind: str = "") -> str:
    if name in _HASHES:
        return str(value)[:_SHOWN_DIGITS]
    if name == "score" and kind in _JUDGED:
        from rag_assets.judging import show_score

        return show_score(value)
    text = _folded(str(value))
    return text if len(text) <= _LINE_LETTERS else f"{text[: _LINE_LETTERS - 1]}…"


def _folded(text: str) -> str:
    """Return `text` on one line: a line break in a file's name must not begin a step."""
    return " ".join(text.split())


# A laboratory is imported where there is one.

_Shown = Mapping[str, Mapping[str, Any]]
_PASSAGE = "kb:"


@dataclass(frozen=True, slots=True)
class Grounded:
    """A ground of a recipe with one of its citations.

    Args:
        name: `<run>#<rank>.<number>`, counted through the recipe.
        run_id: the run.
        passage: the citation `kb:…` under which the chain goes on; None where it ends here.
        steps: recipe and ground; for an item of experience that item, too.
        shown_hash: SHA-256 of what the run was shown under the citation; None where unknown.
        sentence: of a chain that ends here, why.
    """

    name: str
    run_id: str
    passage: str | None
    steps: tuple[Step, ...]
    shown_hash: str | None = None
    sentence: str = ""


def find_grounds(workspace: Workspace, name: str) -> list[Grounded] | None:
    """Return the grounds of what `name` names, one a citation; None where it is no run.

    Args:
        name: `<run>`, `<run>#<rank>` or `<run>#<rank>.<number>`.

    Raises:
        UsageError: the run has no such recipe or ground.
    """
    if workspace.settings.lab is None:
        return None
    from rag_assets.lab.laboratory import lab_file, open_laboratory
    from rag_assets.lab.runs import list_runs

    if not lab_file(workspace).is_file():
        return None
    head = name.rpartition("#")[0]
    lab = open_laboratory(workspace)
    with lab.store.reading() as reading:
        runs = {run.id: run for run, _ in list_runs(reading)}
    run = runs.get(name) or runs.get(head)
    if run is None:
        return None
    shown, whole = _trace_of(lab, run)
    found = [each for r in run.recipes for each in _grounds(lab, run, r, shown, whole)]
    wanted = [each for each in found if f"{each.name}.".startswith((f"{name}#", f"{name}."))]
    if not wanted:
        raise UsageError(
            f"run {run.id} ({run.state}) has no ground '{name}'; it has "
            f"{count_of(len(run.recipes), 'recipe')}. `rag lab show {run.id}` shows it."
        )
    return wanted


def go_on(grounded: Grounded, below: Sequence[Chain]) -> Iterator[Chain]:
    """Yield the whole chains of a ground.

    Args:
        below: those of its passage; none where no publication holds it.
    """
    *upper, last = grounded.steps
    if grounded.passage is None:
        holds = all(step.holds is not False for step in grounded.steps)
        yield Chain(grounded.name, "recipe", grounded.steps, last.kind, grounded.sentence, holds)
        return
    for chain in below:
        passage = next(step for step in chain.steps if step.kind == "passage")
        said = _compare(grounded.shown_hash, str(passage.facts.get("hash")), last)
        steps = (*upper, said, *chain.steps)
        holds = chain.holds and all(step.holds is not False for step in (*upper, said))
        broken = next((s for s in (*upper, said) if s.holds is False), None)
        told = f"Something has changed since ({broken.finding})." if broken else chain.sentence
        yield Chain(grounded.name, "recipe", steps, chain.end, told, holds)
    if not below:
        gone = "no current publication holds it: it was edited, removed, or never ingested here"
        told = f"{gone}. `rag lab show {grounded.run_id}` has the words that the run was shown."
        steps = (*upper, replace(last, holds=False, finding=gone))
        yield Chain(grounded.name, "recipe", steps, "ground", told, holds=False)


def _compare(shown: str | None, published: str, ground: Step) -> Step:
    if shown is None:
        return ground
    if shown == published:
        return replace(ground, holds=True, finding="the run was shown this passage word for word")
    # An edited passage is shown as it was edited; its hash is of what is printed.
    return replace(ground, finding="the run was shown other words under this citation")


def _trace_of(lab: "Laboratory", run: "Run") -> tuple[_Shown, Step]:
    """Return what a run was shown, by citation, and the step that says whether its trace stands."""
    from rag_assets.lab.queue import trace_file
    from rag_assets.lab.trace import read_trace

    facts = {"asked": str(run.request.get("text", "")), "made by": run.kind,
             "asked at": run.created_at}  # fmt: skip
    step = Step("run", run.id, {name: value for name, value in facts.items() if value})
    if run.trace is None:
        return {}, replace(step, finding="it has no trace")
    path = trace_file(lab.workspace, run)
    try:
        events = read_trace(path)
    except DamagedFileError as error:
        return {}, replace(step, holds=False, finding=str(error))
    if hash_text(path.read_text(encoding="utf-8")) != run.trace:
        return {}, replace(step, holds=False, finding=f"{path} was changed since it was written")
    shown = {
        source["citation"]: source
        for event in events
        if event["kind"] == "called" and event["observed"]
        for source in event["observed"]["sources"]
    }
    return shown, replace(step, holds=True, finding="its trace is as it was written")


def _grounds(
    lab: "Laboratory", run: "Run", recipe: "Recipe", shown: _Shown, whole: Step
) -> Iterator[Grounded]:
    from rag_assets.lab.recipes import formula

    recipe_name = f"{run.id}#{recipe.rank}"
    made = Step("recipe", recipe_name, {"recipe": formula(recipe)})
    # What cites nothing has a chain, too: it says so.
    cited = [(ground, c) for ground in recipe.grounds for c in ground.citations or (None,)]
    for number, (ground, citation) in enumerate(cited, start=1):
        name = f"{recipe_name}.{number}"
        upper = (made, whole, _ground(ground, citation))
        if citation is None:
            told = f"The chain ends at the ground: its basis is '{ground.basis}', it cites nothing."
            yield Grounded(name, run.id, None, upper, None, told)
        elif citation.startswith(_PASSAGE):
            digest = str(shown[citation]["content_hash"]) if citation in shown else None
            yield Grounded(name, run.id, citation, upper, digest)
        else:
            item, sentence = _item(lab, citation)
            yield Grounded(name, run.id, None, (*upper, item), None, sentence)


def _ground(ground: "Ground", citation: str | None) -> Step:
    facts = {"field": ground.field or "the whole", "basis": ground.basis, "cites": citation}
    return Step("ground", ground.statement, _given(facts))


def _item(lab: "Laboratory", citation: str) -> tuple[Step, str]:
    from rag_assets.lab.experience import find_item

    try:
        with lab.store.reading() as reading:
            item = find_item(reading, citation)
    except UsageError as error:
        return Step("experience", citation, {}, {}, False, str(error)), str(error)
    runs = ", ".join(dict.fromkeys(lesson.run_id for lesson in item.lessons)) or "a person's note"
    step = Step("experience", citation, {"says": item.content, "learned from": runs})
    if item.rolled_back:
        step = replace(step, holds=False, finding="it was taken back since")
    told = f"The chain ends at experience (learned from: {runs}). `rag lab edit` shows it."
    return step, told


_SUFFIXES = (".md", ".json", ".html", ".docx", ".odt", ".rtf", ".tex", ".txt", ".markdown")
# Below it a name has nothing in common with another that a person would see (rapidfuzz ratio).
_SIMILAR = 60
_IS_PASSAGE = "kind = 'passage' AND id = $id"


def trace(workspace: Workspace, name: str) -> list[Chain]:
    """Return the chains of what `name` names, from verdict or item down to the bytes.

    Args:
        name: `<audit or pack>#<number>`; a draft, for its newest audit, with `#<row>` or
            `:<line>`; an audit, pack or draft alone, for all its rows; the id of a verdict; a
            citation id `kb:…`; `<namespace>::<chunk_id>` or a chunk id; a run of the laboratory
            alone, with `#<rank>` of a recipe, or with `#<rank>.<number>`: a chain for each
            citation of each ground.

    Raises:
        UsageError: nothing is called so; the text says what is.
        PublicationError: nothing is published.
    """
    grounds = find_grounds(workspace, name.strip())
    read = Bytes(workspace)
    try:
        opened = open_sql(workspace, has_knowledge=False)
    except PublicationError:
        if grounds is None:
            raise
        # A laboratory that was imported without its bases.
        return [each for one in grounds for each in go_on(one, ())]
    with opened as connection:
        edits = tell_edits(connection)

        def chains(condition: str, values: dict[str, Any]) -> list[Chain]:
            order = "kind, output, number, chunk_id"
            query = f"SELECT * FROM lineage WHERE {condition} ORDER BY {order}"
            rows = read_named_rows(connection, query, values)
            return [make_chain(row, read, edits) for row in rows]

        if grounds is not None:
            below = {
                passage: chains(_IS_PASSAGE, {"id": passage})
                for passage in {one.passage for one in grounds}
                if passage is not None
            }
            return [each for g in grounds for each in go_on(g, below.get(g.passage or "", ()))]
        found = chains(*_condition(workspace, connection, name.strip()))
    if not found:
        whole = re.sub(r"#[^#]*$|:\d+$", "", name)
        raise UsageError(f"'{name}' has no such row; `rag trace {whole}` lists them.")
    return found


def _condition(
    workspace: Workspace, connection: "DuckDBPyConnection", name: str
) -> tuple[str, dict[str, Any]]:
    if re.fullmatch(r"kb:\S+", name):
        _require(connection, "citation_id", name)
        return _IS_PASSAGE, {"id": name}
    # Every audit and pack with what it was made from, the newest version first.
    rows = read_named_rows(
        connection, "SELECT DISTINCT output, kind, made_from FROM ends WHERE output IS NOT NULL", {}
    )
    outputs = sorted(rows, key=lambda row: _version(row["output"]), reverse=True)
    head, _, number = name.rpartition("#")
    if head and number:
        output = _output_of(workspace, outputs, head)
        if output:
            return "output = $output AND label = $label", {"output": output, "label": number}
    head, _, line = name.rpartition(":")
    if head and line.isdigit():
        output = _output_of(workspace, outputs, head)
        if output:
            return "output = $output AND line = $n", {"output": output, "n": int(line)}
    output = _output_of(workspace, outputs, name)
    if output:
        return "output = $output", {"output": output}
    namespace, _, chunk = name.rpartition("::")
    found = read_named_rows(
        connection,
        "SELECT namespace, citation_id FROM standing_chunks WHERE is_current "
        "AND chunk_id = $chunk AND $namespace IN ('', namespace)",
        {"chunk": chunk, "namespace": namespace},
    )
    if len(found) > 1:
        names = ", ".join(f"{each['namespace']}::{chunk}" for each in found)
        raise UsageError(f"'{name}' is in several namespaces: write one of {names}.")
    if found:
        return _IS_PASSAGE, {"id": found[0]["citation_id"]}
    if read_named_rows(connection, "SELECT 1 FROM ends WHERE id = $id LIMIT 1", {"id": name}):
        return "id = $id", {"id": name}
    raise UsageError(_unknown(name, outputs))


def _require(connection: "DuckDBPyConnection", column: str, value: str) -> None:
    query = f"SELECT 1 FROM standing_chunks WHERE is_current AND {column} = $value LIMIT 1"
    if not read_named_rows(connection, query, {"value": value}):
        if told := tell_edits(connection).get(value):
            raise UsageError(f"'{value}' was edited: {told}.")
        raise UsageError(
            f"no current publication holds '{value}': the passage was edited or its document "
            "removed since. Trace the verdict or item that cites it: it keeps its text and hash."
        )


def _version(output: str) -> tuple[int, str]:
    found = re.search(r"_v(\d+)$", output)
    return (int(found[1]) if found else 0, output)


def _output_of(workspace: Workspace, outputs: list[dict[str, Any]], name: str) -> str | None:
    """Return the audit or pack that a file's name means; of a draft the newest audit: of its
    citations or, where these were never verified, of its claims.
    """
    path = Path(name)
    stem = path.name.removesuffix(path.suffix) if path.suffix in _SUFFIXES else path.name
    for row in outputs:
        if row["output"] == stem:
            return str(row["output"])
    found = [row["output"] for row in outputs if row["kind"] in {"verdict", "claim"}]
    for draft in (path.absolute(), workspace.root / path):
        if draft.is_file():
            return _newest(found, workspace.draft_stem(draft))
    for row in outputs:
        draft = Path(row["made_from"])
        if row["kind"] in {"verdict", "claim"} and path.name in {draft.name, draft.stem}:
            return str(row["output"])
    return None


def _newest(outputs: list[str], stem: str) -> str | None:
    for what in ("citations", "claims"):
        for output in outputs:
            if re.fullmatch(rf"{re.escape(stem)}_{what}_v\d+", output):
                return output
    return None


def _unknown(name: str, outputs: list[dict[str, Any]]) -> str:
    from rapidfuzz import process

    known = [row["output"] for row in outputs]
    near = [hit[0] for hit in process.extract(name, known, limit=3, score_cutoff=_SIMILAR)]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return (
        f"nothing is called '{name}'. {hint}Give an audit or pack with its row (for instance "
        f"{known[0] if known else 'evidence_pack_v001'}#1), a draft that has been verified, a "
        'citation id (kb:…) or a chunk id; `rag sql "SELECT name FROM lineage"` lists all.'
    )
