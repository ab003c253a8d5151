"""The tools of a run, and what they look into. Those that look something up only read."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.answering.agents import ContextTool, Toolset
from rag_assets.evidence.locating import show_pages
from rag_assets.lab.acids import acid_of, acids_at
from rag_assets.lab.evidence import pair_name, ratio_name
from rag_assets.lab.experience import CITATION, find_item
from rag_assets.lab.feedback import Feedback, list_feedback
from rag_assets.lab.laboratory import Laboratory, read_lab_settings, settings_in_force
from rag_assets.lab.products import product_names
from rag_assets.lab.recall import Recalled, recall
from rag_assets.lab.recipes import ProposedGround, ProposedModifier, formula
from rag_assets.lab.runs import read_run
from rag_assets.lab.store import Reading
from rag_assets.lab.trace import Observed, Operation, Role, Section, Source
from rag_assets.model import UsageError, hash_text
from rag_assets.publishing import build_id_of
from rag_assets.retrieval import Asked, Hit, Retriever, SearchFilters, expand_windows

Query = Annotated[str, Field(min_length=1, max_length=400, description="Words or a question.")]
Cited = Annotated[list[str], Field(description="Marks of what is shown now: C1, C2.")]


_MOST_HISTORY = 8
EXPERIENCE = "experience"


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
        self.settings = settings_in_force(lab.written, saved)
        self.settings_version = saved.version
        bases = self.settings.bases
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
            query, top_k=self.settings.recipes.passages, filters=self._filters
        )
        return Observed(self._sources(retriever, found.hits), (), tuple(found.warnings))

    def recall(self, role: str, question: str) -> Observed:
        """Return the experience of a role and of all roles."""
        settings = self.settings.experience
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
        # The one name of an acid stands beside the name by which it was written.
        asked = [acid_of(word) or word for word in query.casefold().split()]
        ranked = sorted(lines, key=lambda each: (-each[0].score, each[0].run_id))
        found = [
            line
            for _, line in ranked
            if all(word.casefold() in f"{line} {acids_at(line)}".casefold() for word in asked)
        ]
        return Observed((), tuple(found[:_MOST_HISTORY]))

    def results(self) -> list[dict[str, Any]]:
        """Return what recipes gave that were made here, the oldest first, as JSON knows it."""
        with self._lab.store.reading() as reading:
            return [
                _result(reading, one)
                for one in sorted(list_feedback(reading), key=lambda one: one.run_id)
                if one.run_id != self._run_id
            ]

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
        if hit.page_labels:
            pages = show_pages(hit.page_start, last, hit.page_labels[0], hit.page_labels[-1])
    path = [part for part in hit.section_path if part != hit.doc_title]
    where = ", ".join(part for part in (" > ".join(path), pages) if part)
    return Source(
        citation=hit.citation_id, text=hit.shown, content_hash=hash_text(hit.shown),
        title=hit.doc_title or hit.doc_uid, where=where, base=hit.namespace, document=hit.doc_uid,
        name=name, chunk_id=hit.chunk_id, score=round(hit.score, 6),
        found_by={"ranks": dict(hit.ranks),
                  "scores": {name: round(float(one), 6) for name, one in hit.scores.items()},
                  "rerank": hit.explanation.get("rerank")},
    )  # fmt: skip


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
        base=EXPERIENCE, score=found.score, version=found.version, taught_by=runs,
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


def _result(reading: Reading, one: Feedback) -> dict[str, Any]:
    run, _ = read_run(reading, one.run_id)
    made = run.recipes[one.recipe_index - 1]
    name = made.small_molecule_modifier.name
    names = product_names(reading, [each.product_id for each in one.products])
    return {
        "run": run.id, "recipe": formula(made), "score": float(one.score),
        "parts": [pair_name(made.M1, made.M2), ratio_name(made.M1, made.M2, made.atomic_ratio),
                  acid_of(name) or name],
        "products": {product: [each.value, each.fraction]
                     for product, each in zip(names, one.products, strict=True)},
    }  # fmt: skip


def search_principles(lab: LabLibrary, query: Query) -> Observed:
    """Search the literature on how photocatalytic CO2 reduction works: mechanisms, energetics."""
    return lab.search("principles", query)


def search_modulation(lab: LabLibrary, query: Query) -> Observed:
    """Search the literature on what is changed and what it does: dopants, modifiers, conditions."""
    return lab.search("modulation", query)


def recall_experience(
    lab: LabLibrary,
    question: Query,
    role: Annotated[Role, Field(description="Whose; yours without.")] = "orchestrator",
) -> Observed:
    """Recall what feedback on earlier runs taught."""
    return lab.recall(role, question)


def look_up_history(
    lab: LabLibrary,
    query: Annotated[str, Field(description="A metal, a modifier, a product; empty for all.")] = "",
) -> Observed:
    """Look up earlier recipes that were made: score, products. It informs and cannot be cited."""
    return lab.history(query)


def read_passage(
    lab: LabLibrary, source: Annotated[str, Field(description="A mark that is shown now: C1.")]
) -> Observed:
    """Read what stands around a passage, or the whole of an item of experience."""
    return lab.read(source)


def note(
    lab: None,  # noqa: ARG001 - as every tool has it
    section: Section,
    text: Annotated[str, Field(min_length=1, max_length=800, description="One claim or line.")],
    op: Operation = "append",
    key: Annotated[
        str | None, Field(description="Of the line, for replace and upsert.", max_length=40)
    ] = None,
    citations: Cited | None = None,
) -> dict[str, Any]:
    """Write into the RunNote that all tasks share. Evidence needs citations."""
    return {"section": section, "text": text, "op": op, "key": key, "citations": citations or []}


def propose(
    lab: None,  # noqa: ARG001 - as every tool has it
    M1: str,  # noqa: N803 - as the specification calls it
    M2: str,  # noqa: N803
    atomic_ratio: Annotated[str, Field(description="M1:M2, such as 1:1.")],
    small_molecule_modifier: ProposedModifier,
    grounds: Annotated[
        list[ProposedGround],
        Field(
            description="For each field why; citations are marks shown now. basis: evidence cites "
            "literature, experience cites experience, else reasoning or default."
        ),
    ],
    linker: Literal["BTB"] = "BTB",
) -> dict[str, Any]:
    """Propose one recipe. It is checked at once and kept as R1, R2 and so on."""
    return {
        "M1": M1, "M2": M2, "atomic_ratio": atomic_ratio, "linker": linker,
        "small_molecule_modifier": small_molecule_modifier, "grounds": grounds,
    }  # fmt: skip


class Chosen(BaseModel):
    """A recipe of the result, in its place."""

    model_config = ConfigDict(extra="forbid")

    recipe: Annotated[str, Field(pattern=r"^R\d+$")]
    why: Annotated[str, Field(min_length=1, max_length=800)]


class LeftOut(BaseModel):
    """A candidate that is not in the result: `R3`, or one that was never proposed."""

    model_config = ConfigDict(extra="forbid")

    what: Annotated[str, Field(min_length=1, max_length=200)]
    why: Annotated[str, Field(min_length=1, max_length=800)]


def finish(
    lab: None,  # noqa: ARG001 - as every tool has it
    recipes: Annotated[
        list[Chosen], Field(description="Best first, with the reason of its place.")
    ],
    dropped: Annotated[
        list[LeftOut], Field(description="What was considered and left out, with the reason.")
    ] = [],  # noqa: B006 - pydantic copies it
) -> dict[str, Any]:
    """End the run with its recipes, ranked. Every other proposed recipe is named in dropped."""
    return {"recipes": recipes, "dropped": dropped}


LOOKING = ("search_principles", "search_modulation", "recall_experience", "look_up_history",
           "read_passage")  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (search_principles, search_modulation, recall_experience, look_up_history,
                read_passage, note, propose)
}  # fmt: skip


def tools_of(role: Role, *, is_root: bool) -> Toolset[Any]:
    """Return what a role may do; only the task that is the request itself may finish."""
    names = [*_FUNCTIONS] if role == "orchestrator" else [*LOOKING, "note"]
    tools: dict[str, ContextTool[Any]] = {name: ContextTool(_FUNCTIONS[name]) for name in names}
    # Who may not finish ends a task by an empty plan, and the tool is not listed.
    return Toolset(tools, ContextTool(finish if is_root else end_task))


def end_task(lab: None) -> dict[str, Any]:  # noqa: ARG001 - as every tool has it
    """End this task: your thought goes to the task above. An empty plan does the same."""
    return {}
