"""What a search returns: chunks with their scores, and the parents that are shown for them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from rag_assets.law.citing import write_citation
from rag_assets.law.versions import Standing
from rag_assets.model import Article, DamagedFileError, UsageError, count_of

if TYPE_CHECKING:
    from rag_assets.retrieval.reader import Reader


@dataclass(frozen=True, slots=True)
class LawMark:
    """The wording of a law that a passage is of, and how it stands on the day that was asked for.

    Args:
        title: of the law.
        version_date: the day of the wording; None where it is not known.
        holds_from: since when it holds; the day of the wording where no text says (`is_stated`).
        is_one_of_several: whether the library holds other wordings of it.
        repeal: by what it is repealed, in words; None of every other standing.
    """

    title: str
    standing: Standing
    version_date: date | None
    holds_from: date | None
    is_stated: bool
    is_one_of_several: bool
    repeal: str | None = None

    def cite(self, path: Sequence[str], article: Article) -> str | None:
        """Return the citation of an article, with the wording's day where there are several.

        None where that day is not known: nothing would tell it from the others.
        """
        if self.is_one_of_several and self.version_date is None:
            return None
        day = str(self.version_date) if self.is_one_of_several else ""
        return write_citation(self.title, path, article.shown, version=day)


class FoundLaw(TypedDict):
    """The wording of a law that a passage is of, and how it stands on the day that was asked for.

    `standing` is in_force, not_yet_in_force, superseded, repealed or unknown; `is_stated` whether a
    text says since when it holds; `repeal` by what it is repealed.
    """

    title: str
    citation: str | None
    standing: Standing
    version_date: str | None
    holds_from: str | None
    is_stated: bool
    repeal: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, with all that is needed to show and cite it.

    Args:
        section_category: 0 abstract to 6 related work (spec 002); None where it is not known.
        section_subtype: references, appendix or acknowledgements; None for body text.
        kind: what most of it is: text, table, list, code, reference, qa, …
        context: what the model is told before the text: headings, header row.
        content_hash: SHA-256 of `text`.
        edited: what a person wrote in place of the text, which is what is printed; None where
            nobody did.
        citation_id: `kb:<namespace>__chunk-<hash16>`, which outlives edits.
        law_title: of a statute's passage the title of its law within the file; None otherwise.
        articles: of a law, that the passage holds or is a part of.
        law: of a statute's passage, where it was asked for a day.
        page_labels: the numbers that its pages bear in print, from `page_start`; empty where they
            are not known or those of the file.
        ranks: position by searcher (`lexical`, `semantic`), from 1.
        scores: by searcher: BM25 from 0 without an upper bound; cosine in [-1, 1].
        score: fused by reciprocal ranks; compares hits of one search only.
        copies: `chunk_key` of hits that say the same and that this one stands for.
        explanation: why it is here: `ranks`, `scores`, normalised `parts` and `weights` by
            searcher, `fused` score, `rerank`, `kept_because`; `entities` where those of the
            question lead here; `named_article` where it names the article of a law that begins
            here.
    """

    namespace: str
    chunk_id: str
    parent_id: str
    doc_uid: str
    doc_id: str
    doc_title: str | None
    citation_key: str | None
    source_type: str
    source_subtype: str | None
    citable: bool
    chunk_index: int
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    section_path: tuple[str, ...]
    text: str
    content_hash: str
    citation_id: str
    is_cut: bool
    kind: str | None = None
    section_category: int | None = None
    section_subtype: str | None = None
    language: str | None = None
    year: int | None = None
    context: str = ""
    law_title: str | None = None
    articles: tuple[Article, ...] = ()
    law: LawMark | None = None
    edited: str | None = None
    page_labels: tuple[str, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0
    copies: tuple[str, ...] = ()
    explanation: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chunk_key(self) -> str:
        """`namespace::chunk_id`, unique in the workspace."""
        return f"{self.namespace}::{self.chunk_id}"

    @property
    def shown(self) -> str:
        """The text to be read: the edited one where there is one."""
        return self.text if self.edited is None else self.edited

    @property
    def citation(self) -> str | None:
        """`[law > chapter > article]` of its first article; None outside marked statutes."""
        if self.law is None or not self.articles:
            return None
        return self.law.cite(self.section_path, self.articles[0])

    @property
    def law_values(self) -> FoundLaw | None:
        """What it says of its law, as values that JSON knows; None where that is nothing."""
        if self.law is None:
            return None
        days = (self.law.version_date, self.law.holds_from)
        version, since = (day.isoformat() if day is not None else None for day in days)
        return {
            "title": self.law.title,
            "citation": self.citation,
            "standing": self.law.standing,
            "version_date": version,
            "holds_from": since,
            "is_stated": self.law.is_stated,
            "repeal": self.law.repeal,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any], labels: Sequence[str] = ()) -> "Hit":
        """Return a hit without ranks from a row of the search table.

        A table of before there were `LAW_COLUMNS` or edits has none of these.

        Args:
            labels: the numbers that the pages of its document bear in print.
        """
        return cls(
            **{name: row[name] for name in _PLAIN_FIELDS if name in row},
            section_path=tuple(row["section_path"] or ()),
            law_title=row.get("law_title"),
            articles=articles_of(row),
            page_labels=_labels_of(row, labels),
        )


def _labels_of(row: Mapping[str, Any], labels: Sequence[str]) -> tuple[str, ...]:
    first = row["page_start"]
    return () if first is None else tuple(labels[first - 1 : row["page_end"] or first])


def articles_of(row: Mapping[str, Any]) -> tuple[Article, ...]:
    """Return the articles of a row of the search table."""
    return tuple(Article(**article) for article in row.get("articles") or ())


LAW_COLUMNS = ("law_title", "articles")
_MADE_LATER = frozenset({"law", "page_labels", "ranks", "scores", "score", "copies", "explanation"})
# What stands in a row of the search table under the same name and type.
_PLAIN_FIELDS = tuple(
    item.name
    for item in fields(Hit)
    if item.name not in {"section_path", *LAW_COLUMNS, *_MADE_LATER}
)
HIT_COLUMNS = (*_PLAIN_FIELDS, "section_path", *LAW_COLUMNS)


@dataclass(frozen=True, slots=True)
class ParentPassage:
    """A passage that is shown whole: a page, or a section where there are no pages."""

    namespace: str
    parent_id: str
    doc_uid: str
    label: str
    order: int
    char_start: int
    char_end: int
    page_start: int | None
    page_end: int | None
    section_path: tuple[str, ...]
    text: str
    hash: str
    page_labels: tuple[str, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any], labels: Sequence[str] = ()) -> "ParentPassage":
        """Return a parent from a row of the catalogue; `labels` as of `Hit.from_row`."""
        path = tuple(row["section_path"] or ())
        return cls(**{**row, "section_path": path, "page_labels": _labels_of(row, labels)})


@dataclass(frozen=True, slots=True)
class ParentHit:
    """A parent with the chunks that led to it.

    Args:
        rank: from 1, by the best chunk.
        best: the chunk that was found first.
        other_chunk_ids: further chunks of this parent that were found, best first.
    """

    rank: int
    parent: ParentPassage
    best: Hit
    other_chunk_ids: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The fused score of the best chunk."""
        return self.best.score


# Why a hit stands where it stands, for a person at a terminal.


def explain_hit(hit: Hit) -> str:
    """Return some lines on a hit's score: each searcher, the fusion, the reranker, the rest."""
    return explain(hit.explanation, hit.copies)


def explain(explanation: Mapping[str, Any], copies: tuple[str, ...] = ()) -> str:
    """Return what `explain_hit` does, of the explanation alone, as a pack keeps it."""
    return "\n".join(_lines(explanation, copies))


def _lines(told: Mapping[str, Any], copies: tuple[str, ...]) -> Iterator[str]:
    ranks, scores = told.get("ranks", {}), told.get("scores", {})
    parts, weights = told.get("parts", {}), told.get("weights", {})
    width = max(map(len, scores), default=0)
    for name in sorted(scores):
        place = f"rank {ranks[name]}" if name in ranks else "not among its candidates"
        line = f"{name:<{width}}  {place}, score {scores[name]:.4f}"
        if name in parts:
            line += f" → {parts[name]:.3f} × weight {weights[name]:.2f}"
        yield line
    if told.get("entities"):
        via = told["entities"]
        # What is more than one step away stands in no sentence with what the question names.
        near = count_of(via["sentences"], "sentence") if via["sentences"] else "by way of others"
        yield f"via {' – '.join(via['entities'])}, {near}"
    if "fused" in told:
        yield f"fused by {told['score_mode']}: {told['fused']:.4f}"
    if "standing" in told:
        yield f"stands {told['standing']:.2f} deviations above the passages of its language"
    judged = told.get("rerank")
    if judged:
        if "skipped" in judged:
            yield f"not reranked: {judged['skipped']}"
        elif "parts" in judged:
            sums = " + ".join(f"{name} {part:.3f}" for name, part in judged["parts"].items())
            names = {"path": f"folder {judged['folder']}"} if "folder" in judged else {}
            factors = "".join(
                f" × {names.get(name, name)} {by:g}" for name, by in judged["factors"].items()
            )
            yield f"reranked by fields: ({sums}){factors} = {judged['score']:.4f}"
        else:
            yield f"reranked by {judged['model']}: score {judged['score']:.4f}"
    if copies:
        yield f"says the same as {', '.join(copies)}"
    if "kept_because" in told:
        yield f"kept: {told['kept_because']}"


# What stands before and after a hit in its document.


@dataclass(frozen=True, slots=True)
class Window:
    """A run of neighbouring chunks of one document that holds at least one hit.

    Args:
        chunks: in the document's order, without a gap.
        found: the hits in it, best first.
    """

    namespace: str
    doc_uid: str
    chunks: tuple[Hit, ...]
    found: tuple[Hit, ...]

    @property
    def text(self) -> str:
        """The chunks' text in order, edited where it was; what two neighbours repeat stands once.

        A person may have moved a chunk, so that one follows that is printed before.
        """
        parts: list[str] = []
        before: Hit | None = None
        for chunk in self.chunks:
            repeated = 0
            if before is not None:
                if before.char_start <= chunk.char_start <= before.char_end and not chunk.edited:
                    repeated = before.char_end - chunk.char_start
                if not repeated and chunk.char_start != before.char_end:
                    parts.append("\n")
            parts.append(chunk.shown[repeated:])
            before = chunk
        return "".join(parts)


def expand_windows(readers: "Sequence[Reader]", hits: Sequence[Hit], size: int) -> list[Window]:
    """Return the chunks from `size` before to `size` after each hit.

    Runs of one document that overlap or touch are one window; no window leaves its document.

    Args:
        readers: those that the hits came from.
        hits: best first.
        size: chunks to each side, from 0.

    Returns:
        Windows in the order of their best hits.

    Raises:
        UsageError: `size` is negative, or a hit's namespace has no reader.
    """
    if size < 0:
        raise UsageError(f"'window' must be at least 0, got {size}.")
    open_readers = {reader.namespace: reader for reader in readers}
    places: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for rank, hit in enumerate(hits):
        if hit.namespace not in open_readers:
            raise UsageError(f"no reader is open for namespace '{hit.namespace}' of these hits.")
        places[hit.namespace, hit.doc_uid].append((hit.chunk_index, rank))
    ranked: list[tuple[int, Window]] = []
    for (namespace, doc_uid), own in places.items():
        for run in _runs(sorted(own), size):
            first, last = max(0, run[0][0] - size), run[-1][0] + size
            chunks = open_readers[namespace].fetch_window(doc_uid, first, last)
            ranks = sorted(rank for _, rank in run)
            found = tuple(hits[rank] for rank in ranks)
            ranked.append((ranks[0], Window(namespace, doc_uid, tuple(chunks), found)))
    return [window for _, window in sorted(ranked, key=lambda item: item[0])]


def _runs(places: Sequence[tuple[int, int]], size: int) -> list[list[tuple[int, int]]]:
    """Return (chunk index, rank) in runs whose windows overlap or touch."""
    runs: list[list[tuple[int, int]]] = []
    for place in places:
        if runs and place[0] - size <= runs[-1][-1][0] + size + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


# From chunks to the parents that are shown for them.


def backfill_parents(
    readers: "Sequence[Reader]", hits: Sequence[Hit], top_k: int
) -> list[ParentHit]:
    """Return the parents of the hits, in the order of each parent's best hit.

    Each article that the question names is a result of its own, also where several stand in one
    parent.

    Args:
        readers: those that the hits came from.
        hits: best first.
        top_k: parents at most, from 1.

    Raises:
        UsageError: `top_k` is below 1, or a hit's namespace has no reader.
        DamagedFileError: a publication lacks the parent of one of its chunks.
    """
    if top_k < 1:
        raise UsageError(f"'top_k' must be at least 1, got {top_k}.")
    groups: list[list[Hit]] = []
    by_parent: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        own = by_parent.get((hit.namespace, hit.parent_id))
        if own is None or "named_article" in hit.explanation:
            groups.append([hit])
            by_parent.setdefault((hit.namespace, hit.parent_id), groups[-1])
        else:
            own.append(hit)
    shown = groups[:top_k]
    passages = _fetch_passages(readers, [(own[0].namespace, own[0].parent_id) for own in shown])
    return [
        ParentHit(
            rank=rank,
            parent=passages[best.namespace, best.parent_id],
            best=best,
            other_chunk_ids=tuple(child.chunk_id for child in others),
        )
        for rank, (best, *others) in enumerate(shown, start=1)
    ]


def _fetch_passages(
    readers: "Sequence[Reader]", wanted: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], ParentPassage]:
    by_namespace: dict[str, list[str]] = defaultdict(list)
    for namespace, parent_id in wanted:
        by_namespace[namespace].append(parent_id)
    open_readers = {reader.namespace: reader for reader in readers}
    passages: dict[tuple[str, str], ParentPassage] = {}
    for namespace, parent_ids in by_namespace.items():
        if namespace not in open_readers:
            raise UsageError(f"no reader is open for namespace '{namespace}' of these hits.")
        reader = open_readers[namespace]
        found = reader.fetch_parents(parent_ids)
        missing = sorted(set(parent_ids) - set(found))
        if missing:
            raise DamagedFileError(
                f"{reader.folder}: the catalogue lacks parent {missing[0]}, which the search "
                "table names. Delete the publication's folder and run `rag ingest`."
            )
        passages.update({(namespace, key): passage for key, passage in found.items()})
    return passages
