"""How well an audit judges drafts with known truth, through the audit itself."""

import json
import re
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rapidfuzz import fuzz

from benchmarks.evaluating.claims import FirstModel, auc, draw, open_scorer, with_scorer
from rag_assets.auditing import (
    Citation,
    CitationVerdict,
    CitedDocument,
    CitedDocumentRef,
    CitedSentence,
    Draft,
    NoReferences,
    Passage,
    VerdictStore,
    verify_citations,
)
from rag_assets.chunking import CHUNKING_VERSION, PARENTS_VERSION
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    settings_digest,
    share,
)
from rag_assets.evaluation.sets import read_rows
from rag_assets.judging import Scorer
from rag_assets.knowledge.previewing import PreviewSource
from rag_assets.law.citing import StatuteCitation
from rag_assets.model import HAN, Chunk, PageBox, Progress, UsageError, hash_fields
from rag_assets.model.settings import ScorerName, Settings
from rag_assets.parsing import (
    ParseHints,
    media_type_of,
    parse_fingerprint,
    request_fingerprint,
)
from rag_assets.retrieval import NOT_EVIDENCE
from rag_assets.retrieval.statutes import UnknownLawError
from rag_assets.storage import LocalStore, write_bytes

Group = Literal["en", "zh", "cross", "law"]
"""Sentence and paper in English, in Chinese, in two languages; any sentence about a statute."""

GROUPS: tuple[Group, ...] = ("en", "zh", "cross", "law")
# A quotation stands in a text from this partial ratio on, without white space and punctuation.
FOUND = 85
_KEYS = frozenset({"paper", "sentence", "label", "evidence"})


class DraftRow(BaseModel):
    """A sentence of a draft, with what its source says of it.

    Args:
        paper: path of the cited file below a folder of sources, or in an archive of them.
        kind: how it is supported, or what is wrong with it.
        evidence: quotations that decide it, verbatim.
        wrong_span: the words that are not supported; empty where all are, or none was named.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    paper: str = Field(min_length=1)
    language: Literal["en", "zh"]
    sentence: str = Field(min_length=1)
    label: Literal["SUPPORTED", "PARTLY", "NOT"]
    kind: str
    evidence: Annotated[tuple[str, ...], Field()] = ()
    wrong_span: str = ""

    @property
    def group(self) -> Group:
        """The group that the figures are given for."""
        return group_of(self.paper, self.language)


def group_of(paper: str, language: str) -> Group:
    """Return the group of a sentence in a language about a source, by the name of the source."""
    if paper.startswith("law"):
        return "law"
    if (language == "zh") != bool(HAN.search(paper)):
        return "cross"
    return "zh" if language == "zh" else "en"


def bare(text: str) -> str:
    """Return a text without white space and punctuation."""
    return re.sub(r"\W", "", text)


def is_located(evidence: Sequence[str], shown: str) -> bool:
    """Say whether all quotations that decide a sentence stand in what is shown."""
    there = bare(shown)
    return all(fuzz.partial_ratio(bare(each), there) >= FOUND for each in evidence)


def is_draft_file(file: Path) -> bool:
    """Say whether the first line of a file is a row of a draft with known truth."""
    with file.open(encoding="utf-8") as lines:
        first = next((line for line in lines if line.strip()), "")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= _KEYS


def read_draft_rows(file: Path) -> list[DraftRow]:
    """Return the rows of a file in their order.

    Raises:
        UsageError: names file and line of what is no such row.
    """
    form = (
        "a row of a draft has id, paper, language, sentence, label (SUPPORTED, PARTLY or NOT), "
        "kind and evidence"
    )
    return [row for _, row in read_rows(file, DraftRow.model_validate, form)]


NAMESPACE = "drafts"
# Where the sources lie beside a file of drafts, unless others are named.
_BESIDE = (".", "../../papers", "../../retrieval/law/law_vault.tar.xz")
# As an audit reads a document: whom the authors thank and cite says nothing of what they found.
_UNSAID_SECTIONS = frozenset({"references", "acknowledgements"})
# Raise it when the same parse and chunks come to another document.
_VERSION = 1
_DOCUMENT = TypeAdapter(CitedDocument)


def sources_beside(file: Path) -> tuple[Path, ...]:
    """Return the folders and archives of sources that lie beside a file of drafts."""
    places = (file.parent / place for place in _BESIDE)
    return tuple(place.resolve() for place in places if place.exists())


def read_sources(
    papers: Iterable[str],
    places: Sequence[Path],
    settings: Settings,
    cache: Path | None,
    on_progress: Progress | None = None,
) -> dict[str, CitedDocument]:
    """Return the cited documents by their names in rows.

    Args:
        papers: paths below a folder of `places`, or inside of an archive (tar) among them.
        settings: how they are parsed and cut.
        cache: where what was read is kept by all that decides it; None keeps nothing.

    Raises:
        UsageError: a document lies in none of the places.
        ParseFailure: one cannot be read.
    """
    names = sorted(set(papers))
    found: dict[str, CitedDocument] = {}
    with tempfile.TemporaryDirectory(prefix="rag-drafts-") as folder:
        files = dict(_find(names, places, Path(folder)))
        if missing := [name for name in names if name not in files]:
            raise UsageError(
                f"{len(missing)} cited sources are not there, {missing[0]} among them (looked in "
                f"{', '.join(map(str, places)) or 'no folder'}). Name their folder, or the archive "
                "that holds them, by --sources."
            )
        for done, name in enumerate(names, 1):
            found[name] = _read(name, files[name], settings, cache)
            if on_progress is not None:
                on_progress("sources", done, len(names))
    return found


def _find(names: Sequence[str], places: Sequence[Path], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield where each document lies; those in archives are unpacked into `folder`."""
    for place in places:
        if place.is_file():
            with tarfile.open(place) as archive:
                members = [member for member in archive if member.name in set(names)]
                archive.extractall(folder, members, filter="data")
    for name in names:
        for root in (*places, folder):
            if root.is_dir() and (root / name).is_file():
                yield name, root / name
                break


def _read(name: str, file: Path, settings: Settings, cache: Path | None) -> CitedDocument:
    data = file.read_bytes()
    digest = sha256(data).hexdigest()
    request = request_fingerprint(digest, file.suffix, None, settings.parse)
    media_type = media_type_of(data, ParseHints(file.suffix))
    parse = parse_fingerprint(request, media_type, settings.parse, file.stem)
    key = hash_fields(
        _VERSION, name, parse,
        PARENTS_VERSION, CHUNKING_VERSION, settings.chunk.model_dump(mode="json"),
        settings.embed.model_dump(mode="json"),
    )  # fmt: skip
    kept = cache / f"{key[:32]}.json" if cache is not None else None
    if kept is not None and kept.is_file():
        try:
            return _DOCUMENT.validate_json(kept.read_bytes())
        except ValidationError:
            kept.unlink()  # cut off, or of another version: it is read again
    preview = PreviewSource(file).chunk(settings=settings)
    document = CitedDocument(
        NAMESPACE,
        name,
        preview.document.title,
        citable=True,
        passages=[_passage(name, chunk) for chunk in preview.chunks if _is_said(chunk)],
        unsaid=[_passage(name, chunk) for chunk in preview.chunks if not _is_said(chunk)],
        content_version=digest,
    )
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(kept, _DOCUMENT.dump_json(document))
    return document


def _is_said(chunk: Chunk) -> bool:
    return chunk.kind not in NOT_EVIDENCE and chunk.section_subtype not in _UNSAID_SECTIONS


def _passage(name: str, chunk: Chunk) -> Passage:
    digest = sha256(chunk.text.encode()).hexdigest()
    return Passage(
        f"{name}:{chunk.order}", f"{name}:{chunk.parent_label}", chunk.text, chunk.page_start,
        chunk.page_end, chunk.char_start, chunk.char_end, chunk.section_path, digest, digest[:16],
        chunk.boxes,
    )  # fmt: skip


class DraftLibrary(NoReferences):
    """Documents in memory, as audits ask a library."""

    def __init__(self, documents: Mapping[str, CitedDocument]) -> None:
        self._documents = documents
        self.publications: Mapping[str, str] = {NAMESPACE: NAMESPACE}

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return the document of this name."""
        document = self._documents.get(doc_uid)
        if document is None or namespace not in {None, NAMESPACE}:
            return []
        return [CitedDocumentRef(NAMESPACE, doc_uid, document.title, citable=True)]

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        """Return nothing: rows name their sources."""
        del citation_key, namespace
        return []

    def find_article(
        self, citation: StatuteCitation, namespaces: Sequence[str], as_of: date | None = None
    ) -> CitedDocumentRef:
        """Raise: rows name their sources."""
        del namespaces, as_of
        raise UnknownLawError(f"no law is cited here, but {citation.law} is.")

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        """Return a document with its passages."""
        return self._documents[ref.doc_uid]

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        """Return no rectangles: nothing here is drawn."""
        del ref
        return [() for _ in spans]

    def uids(self) -> Iterable[tuple[str, str]]:
        """Return (namespace, name) of every document."""
        return [(NAMESPACE, name) for name in self._documents]

    def keys(self) -> Iterable[tuple[str, str]]:
        """Return nothing: rows name their sources."""
        return ()


_ALL = ("all", *GROUPS)


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with its verdict.

    Args:
        score: 0 where nothing could be compared.
        shown: the passages that were judged, best first.
        is_opposed: whether the verdict says that the source, or a fact in it, is another.
    """

    row: DraftRow
    status: str
    score: float
    shown: tuple[str, ...] = ()
    is_opposed: bool = False

    @property
    def is_ok(self) -> bool:
        """Say whether the sentence would pass."""
        return self.status == "OK"


def figures(judged: Sequence[Judged]) -> dict[str, Figure]:
    """Return for all and for each group that has rows: `auc` of supported against not supported,
    `ok_supported`, `ok_partly`, `ok_unsupported`, and of the supported rows with quotations
    `located_first`, `located`: all of these stand in the first passage shown, in any.
    """
    found: dict[str, Figure] = {}
    for group in _ALL:
        of = [one for one in judged if group in ("all", one.row.group)]
        if of:
            found |= {f"{name}_{group}": value for name, value in _of_group(of).items()}
    return found


def _of_group(judged: Sequence[Judged]) -> dict[str, Figure]:
    supported, partly, other = (_labelled(judged, label) for label in _LABELS)
    quoted = [one for one in supported if one.row.evidence and one.shown]
    first = [is_located(one.row.evidence, one.shown[0]) for one in quoted]
    every = [is_located(one.row.evidence, "".join(one.shown)) for one in quoted]
    return {
        "auc": auc([one.score for one in supported], [one.score for one in other]),
        "ok_supported": ok_share(supported),
        "ok_partly": ok_share(partly),
        "ok_unsupported": ok_share(other),
        "located_first": share(sum(first), len(first)),
        "located": share(sum(every), len(every)),
    }


_LABELS = ("SUPPORTED", "PARTLY", "NOT")


def _labelled(judged: Sequence[Judged], label: str) -> list[Judged]:
    return [one for one in judged if one.row.label == label]


def ok_share(judged: Sequence[Judged]) -> float | None:
    """Return the share that is OK, None of nothing."""
    return share(sum(one.is_ok for one in judged), len(judged))


def group_table(judged: Sequence[Judged]) -> ReportTable:
    """Return the figures by language of sentence and source."""
    found = figures(judged)
    names = ("auc", "ok_supported", "ok_partly", "ok_unsupported", "located_first", "located")
    rows = [
        (group, sum(group in ("all", one.row.group) for one in judged),
         *(found[f"{name}_{group}"] for name in names))
        for group in _ALL
        if f"auc_{group}" in found
    ]  # fmt: skip
    heads = (
        "group", "rows", "AUC", "OK of supported", "OK of partly", "OK of not", "in first",
        "in all",
    )  # fmt: skip
    return ReportTable("By language", heads, tuple(rows))


def kind_table(judged: Sequence[Judged]) -> ReportTable:
    """Return the verdicts by the kind of sentence or error, the supported kinds first."""
    kinds = Counter((one.row.label, one.row.kind) for one in judged)
    order = sorted(kinds, key=lambda kind: (_LABELS.index(kind[0]), -kinds[kind], kind[1]))
    rows: list[tuple[Figure, ...]] = []
    for label, kind in order:
        of = [one for one in judged if (one.row.label, one.row.kind) == (label, kind)]
        statuses = Counter(one.status for one in of)
        mean = sum(one.score for one in of) / len(of)
        opposed = sum(one.is_opposed for one in of)
        counts = [statuses[status] for status in ("OK", "WEAK", "MISSING")]
        rows.append((label, kind, len(of), *counts, opposed, mean))
    heads = ("label", "kind", "rows", "OK", "WEAK", "MISSING", "says otherwise", "mean score")
    return ReportTable("By kind", heads, tuple(rows))


_AGAINST = frozenset({"contradicted", "facts_differ", "wrong_article"})


def evaluate_drafts(
    files: Sequence[Path],
    settings: Settings,
    scorer: ScorerName | None = None,
    *,
    sources: Sequence[Path] = (),
    limit: int | None = None,
    cache: Path | None = None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Have the audit judge every row of some files, and compare with its label.

    What is judged, and how, is what `rag verify-citations` does: the finder chooses passages of
    the cited document, the scorer judges them, the program checks numbers, quotations, articles.

    Args:
        files: JSON lines of `DraftRow`.
        scorer: overrides `verify.scorer`.
        sources: folders and archives with the cited documents; those beside each file where none
            are named.
        limit: rows of a file at most, drawn with a seed.
        cache: where sources and verdicts are kept, so that a run that was stopped goes on.

    Raises:
        UsageError: a file holds no rows, a line is none, or a source is not there.
        ConfigurationError: the scorer cannot be loaded.
    """
    rows: list[DraftRow] = []
    places: dict[Path, None] = dict.fromkeys(sources)
    for file in files:
        rows += draw(read_draft_rows(file), limit)
        places.update(dict.fromkeys(sources or sources_beside(file)))
    documents = read_sources(
        (row.paper for row in rows), list(places), settings,
        None if cache is None else cache / "sources", on_progress,
    )  # fmt: skip
    library = DraftLibrary(documents)
    chosen = with_scorer(settings, scorer)
    judge = open_scorer(chosen)
    store = _open_store(cache)
    judged = _judge(rows, library, chosen, judge, store, on_progress)
    return EvaluationReport(
        "drafts",
        settings_digest(chosen),
        {
            **figures(judged),
            "scorer": judge.name,
            "threshold": judge.thresholds.ok,
            "weak_threshold": judge.thresholds.weak,
        },
        {"files": len(files), "rows": len(rows), "sources": len(documents)},
        (group_table(judged), kind_table(judged)),
        {
            "scorer_fingerprint": judge.fingerprint,
            "threshold_origin": judge.thresholds.ok_origin,
        },
    )  # fmt: skip


def _open_store(cache: Path | None) -> VerdictStore:
    if cache is None:
        return VerdictStore()
    cache.mkdir(parents=True, exist_ok=True)
    return VerdictStore(LocalStore(cache), "verdicts.jsonl", cache / "verdicts.lock")


def _judge(
    rows: Sequence[DraftRow],
    library: DraftLibrary,
    settings: Settings,
    scorer: Scorer,
    store: VerdictStore,
    on_progress: Progress | None,
) -> list[Judged]:
    """Return the rows with their verdicts, in order; source by source, each kept when it is done.

    A source is opened once.
    """
    encoder = FirstModel(settings.embed.models[0])
    found: dict[str, Judged] = {}
    ordered = sorted(rows, key=lambda row: row.paper)
    for _, group in groupby(ordered, key=lambda row: row.paper):
        of_source = list(group)
        audit = verify_citations(
            _draft(of_source), library, encoder, settings.verify, store=store,
            make_scorer=lambda *_: scorer,
        )  # fmt: skip
        store.save(lambda _: None)
        found |= {
            row.id: _judged(row, verdict)
            for row, verdict in zip(of_source, audit.rows, strict=True)
        }
        if on_progress is not None:
            on_progress(f"verdicts of {scorer.name}", len(found), len(rows))
    return [found[row.id] for row in rows]


def _draft(rows: Sequence[DraftRow]) -> Draft:
    """Return a draft of sentences that cite one source each."""
    sentences = []
    for number, row in enumerate(rows):
        citation = Citation(None, row.paper, number, number)
        sentences.append(
            CitedSentence(
                number, number + 1, number, number, row.sentence, row.sentence, (citation,)
            )
        )
    return Draft("drafts", "", "", (), tuple(sentences))


def _judged(row: DraftRow, verdict: CitationVerdict) -> Judged:
    shown = tuple(passage.text for passage in verdict.passages)
    is_opposed = verdict.reason_code in _AGAINST
    return Judged(row, verdict.status, verdict.score or 0.0, shown, is_opposed)
