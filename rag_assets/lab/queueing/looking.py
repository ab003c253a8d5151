"""What the tools of a run look into: two knowledge bases, experience, history. They only read."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Self

from rag_assets.lab.experience import CITATION, Recalled, find_item, recall
from rag_assets.lab.feedback import Feedback, list_feedback
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.orchestrating import LabTools, Observed, Source
from rag_assets.lab.preferences import read_lab_settings, settings_in_force
from rag_assets.lab.products import product_names
from rag_assets.lab.recipes import formula
from rag_assets.lab.store import Reading, read_run
from rag_assets.model import UsageError, hash_text
from rag_assets.publishing import build_id_of
from rag_assets.retrieval import Asked, Hit, Retriever, SearchFilters, expand_windows
from rag_assets.settings import LabSettings

_MOST_HISTORY = 8
_EXPERIENCE = "experience"


class LabLibrary:
    """Both bases, open, and the laboratory's memory, as one run may see them.

    Args:
        asked: a workspace, or a library that is open already.
        run_id: the run that looks: what it taught itself is never shown to it.
    """

    def __init__(self, lab: Laboratory, asked: Asked, run_id: str) -> None:
        # Those of its beginning hold for the whole run, as its trace says.
        with lab.store.reading() as reading:
            saved = read_lab_settings(reading)
        self._settings = settings_in_force(lab.written, saved)
        self.settings_version = saved.version
        bases = self._settings.bases
        self._lab = lab
        self._run_id = run_id
        self._stack = ExitStack()
        self._retrievers = {
            key: Retriever(asked, [name])
            for key, name in (("principles", bases.principles), ("modulation", bases.modulation))
        }
        self._filters = SearchFilters(citable_only=True)
        self._seen: dict[str, tuple[Retriever, Hit]] = {}

    def __enter__(self) -> Self:
        """Open both bases.

        Raises:
            PublicationError: one has no publication.
        """
        with ExitStack() as stack:
            for retriever in self._retrievers.values():
                stack.enter_context(retriever)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def tools(self) -> LabTools:
        """The functions that the tools call."""
        return LabTools(self.search, self.recall, self.history, self.read)

    @property
    def settings(self) -> LabSettings:
        """The laboratory's settings as they were when this was opened."""
        return self._settings

    def describe(self) -> dict[str, Any]:
        """Return which publications are asked, by namespace."""
        return {
            name: {"publication": str(manifest["publication"]), "build": build_id_of(manifest)}
            for retriever in self._retrievers.values()
            for name, manifest in retriever.manifests.items()
        }

    def search(self, base: str, query: str) -> Observed:
        """Return the passages of one base that answer a query, by ordinary retrieval."""
        retriever = self._retrievers[base]
        found = retriever.retrieve(
            query, top_k=self._settings.recipes.passages, filters=self._filters
        )
        return Observed(self._sources(retriever, found.hits), (), tuple(found.warnings))

    def recall(self, role: str, question: str) -> Observed:
        """Return the experience of a role and of all roles."""
        settings = self._settings.experience
        found = recall(
            self._lab.store, self._lab.nearness, question, role, k_role=settings.k_role,
            k_global=settings.k_global, for_run=self._run_id,
        )  # fmt: skip
        with self._lab.store.reading() as reading:
            given = {one.run_id: one for one in list_feedback(reading)}
            return Observed(tuple(_of_item(reading, one, given) for one in found))

    def history(self, query: str) -> Observed:
        """Return earlier recipes that were made, the best scored first."""
        with self._lab.store.reading() as reading:
            lines = [
                (one, _line(reading, one))
                for one in list_feedback(reading)
                if one.run_id != self._run_id
            ]
        asked = query.casefold().split()
        ranked = sorted(lines, key=lambda each: (-each[0].score, each[0].run_id))
        found = [line for _, line in ranked if all(word in line.casefold() for word in asked)]
        return Observed((), tuple(found[:_MOST_HISTORY]))

    def read(self, citation: str) -> Observed:
        """Return a passage with what stands around it, or the whole of an item."""
        if citation.startswith(CITATION):
            with self._lab.store.reading() as reading:
                item = find_item(reading, citation)
            lines = (
                f"{item.title}: {item.content}",
                *(f"also: {v.content}" for v in item.variants),
            )
            return Observed((), lines)
        if citation not in self._seen:
            raise UsageError(f"'{citation}' was not found by this run.")
        retriever, hit = self._seen[citation]
        windows = expand_windows(retriever.readers, [hit], 1)
        return Observed(self._sources(retriever, [one for w in windows for one in w.chunks]))

    def _sources(self, retriever: Retriever, hits: Iterable[Hit]) -> tuple[Source, ...]:
        shown = list(hits)
        names = _document_names(retriever, {hit.doc_uid for hit in shown})
        self._seen |= {hit.citation_id: (retriever, hit) for hit in shown}
        return tuple(_of_hit(hit, names.get(hit.doc_uid, hit.doc_uid)) for hit in shown)


def _document_names(retriever: Retriever, uids: set[str]) -> dict[str, str]:
    """Return the DOI of each document, else where it was read from (spec 004 §5.1)."""
    if not uids:
        return {}
    return {
        row["doc_uid"]: row["doi"] or row["source_uri"] or row["doc_uid"]
        for reader in retriever.readers
        for row in reader.fetch_documents(uids).select(["doc_uid", "doi", "source_uri"]).to_pylist()
    }


def _of_hit(hit: Hit, name: str) -> Source:
    pages = ""
    if hit.page_start is not None:
        last = hit.page_end or hit.page_start
        pages = f"p. {hit.page_start}" if last == hit.page_start else f"pp. {hit.page_start}-{last}"
    path = [part for part in hit.section_path if part != hit.doc_title]
    where = ", ".join(part for part in (" > ".join(path), pages) if part)
    return Source(
        citation=hit.citation_id, text=hit.shown, content_hash=hash_text(hit.shown),
        title=hit.doc_title or hit.doc_uid, where=where, base=hit.namespace, document=hit.doc_uid,
        name=name, chunk_id=hit.chunk_id, score=round(hit.score, 6),
        found_by={"ranks": dict(hit.ranks), "scores": _rounded(hit.scores),
                  "rerank": hit.explanation.get("rerank")},
    )  # fmt: skip


def _rounded(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(score), 6) for name, score in scores.items()}


def _of_item(reading: Reading, found: Recalled, given: Mapping[str, Feedback]) -> Source:
    item = found.item
    runs = tuple(dict.fromkeys(lesson.run_id for lesson in item.lessons))
    scores = [one.score for one in given.values()]
    own = [given[run] for run in runs if run in given]
    is_well = any(one.score >= sum(scores) / len(scores) for one in own)
    origin = "; ".join(_line(reading, one) for one in own)
    return Source(
        citation=found.citation, text=found.text, content_hash=hash_text(found.text),
        title=item.title, where=f"experience of {item.kind}{f' from {origin}' if origin else ''}",
        base=_EXPERIENCE, score=found.score, version=found.version, taught_by=runs,
        found_by={"kind": item.kind, "role": item.role, "well_scored": is_well,
                  "template_version": found.template_version, "content": item.content},
    )  # fmt: skip


def _line(reading: Reading, one: Feedback) -> str:
    run, _ = read_run(reading, one.run_id)
    recipe = run.recipes[one.recipe_index - 1]
    names = product_names(reading, [each.product_id for each in one.products])
    products = ", ".join(
        f"{name} {each.value:g} (fraction {each.fraction:.3f})"
        for name, each in zip(names, one.products, strict=True)
    )
    made = f", made otherwise: {one.as_made}" if one.as_made else ""
    return f"run {run.id}: {formula(recipe)}{made}; score {one.score:g}; {products}"
