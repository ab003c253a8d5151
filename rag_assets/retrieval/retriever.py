"""The one object through which a workspace is asked: by commands, assets, programs, evaluation."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Self

from rag_assets.model import PublicationError, UsageError, require_question
from rag_assets.model.settings import RetrieveSettings
from rag_assets.publishing import look_since_publication, removed_documents, vectors_to_come
from rag_assets.retrieval.filters import REFERENCES, SearchFilters, check_filter_values
from rag_assets.retrieval.fusion import known_searchers, load_weights
from rag_assets.retrieval.hits import Hit, ParentHit, Window, backfill_parents, expand_windows
from rag_assets.retrieval.languages import stored_digest
from rag_assets.retrieval.laws import AskedDay, HeldLaws
from rag_assets.retrieval.opened import Asked, open_library, workspace_of
from rag_assets.retrieval.queries import AskedQuery, make_query
from rag_assets.retrieval.reader import Reader
from rag_assets.retrieval.reranking import load_reranker
from rag_assets.retrieval.searching import rank_chunks

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a question.

    Args:
        query: as it was searched.
        hits: the best chunks, at most `top_k`.
        parents: the parents (pages, sections) of what was found, each once, at most `top_k`.
        windows: hits with their neighbours, where the settings ask for them (`window`, or
            `inject.mode` window); in the order of their best hits.
        settings: as applied, with where the weights come from and which reranker judged.
        filters: what was searched, in words.
        manifests: by namespace, of the publications that were asked.
        warnings: sentences a person can act on.
        circumstances: those of `warnings` that the moment decides and not the publications: a
            namespace that had none yet, a language model's answer.
        day: for which laws were asked; None without one, and where no statute is published.
    """

    query: AskedQuery
    hits: tuple[Hit, ...]
    parents: tuple[ParentHit, ...]
    windows: tuple[Window, ...]
    settings: Mapping[str, Any]
    filters: tuple[str, ...]
    manifests: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]
    circumstances: tuple[str, ...] = ()
    day: AskedDay | None = None


class Retriever:
    """Asks the publications that are current when it is entered, until it is left.

        with Retriever(workspace, ["thesis"]) as retriever:
            found = retriever.retrieve("How much cooler are green roofs?")

    Args:
        asked: a workspace, or a library that is open already.
        namespaces: names; without any, all that have a publication. Asked for by name, each must
            have one.
        settings: of the search; without, those of the namespace where there is one, else those of
            the workspace.
        llm: rewrites questions; None for none.
        publications: by namespace, which publication to ask in place of the current one; then
            these namespaces are asked and no others.
        looks_at_raw: a search of what may be cited leaves out what must not be any more, though it
            is published as such. False where the filters say that already.
    """

    def __init__(
        self,
        asked: Asked,
        namespaces: Sequence[str] = (),
        settings: RetrieveSettings | None = None,
        llm: "ChatModel | None" = None,
        publications: Mapping[str, str] | None = None,
        *,
        looks_at_raw: bool = True,
    ) -> None:
        self._asked = asked
        self.workspace = workspace_of(asked)
        self._chosen = dict(publications or {})
        self._names = tuple(dict.fromkeys(self._chosen or namespaces))
        self._given = settings
        self._llm = llm
        self._looks_at_raw = looks_at_raw and not self._chosen
        self._stack = ExitStack()
        self.readers: tuple[Reader, ...] = ()
        self._missing: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        """Open the publications.

        Raises:
            PublicationError: a namespace that was named, or every one, has no publication; a
                publication that was named is gone.
            UsageError: a namespace does not exist.
        """
        with ExitStack() as stack:
            library = stack.enter_context(open_library(self._asked))
            held = stack.enter_context(library.hold(self._names, self._chosen))
            if not held.readers or (self._names and held.missing):
                raise PublicationError(
                    f"nothing is published in {', '.join(held.missing) or self.workspace.root}. "
                    "Run `rag ingest` first."
                )
            self.readers, self._missing = tuple(held.readers.values()), held.missing
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the publications."""
        self._stack.close()
        self.readers = ()

    @property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The manifest of each publication that is asked, by namespace."""
        return {reader.namespace: reader.manifest for reader in self.readers}

    @property
    def settings(self) -> RetrieveSettings:
        """The search settings of the open retriever: given ones, the one namespace's, or the
        workspace's.
        """
        return self._settings_of(self.readers[0].namespace, len(self.readers))

    def _settings_of(self, namespace: str, count: int) -> RetrieveSettings:
        if self._given is not None:
            return self._given
        if count == 1:
            return self.workspace.namespace(namespace).settings.retrieve
        return self.workspace.settings.retrieve

    def retrieve(
        self,
        text: str,
        *,
        top_k: int | None = None,
        filters: SearchFilters | None = None,
        document_ids: Sequence[str] | None = None,
        wordings: Mapping[str, str] | None = None,
        as_of: date | None = None,
        all_versions: bool = False,
        settings: RetrieveSettings | None = None,
        asked: AskedQuery | None = None,
        with_parents: bool = True,
    ) -> Retrieved:
        """Return what the publications hold on a question.

        Args:
            text: the question.
            top_k: results at most, from 1; else the settings'.
            filters: what to search; else everything. Bibliographies too where the settings say so.
            document_ids: only these documents, by `doc_uid` or `doc_id`; None for all.
            wordings: the question as it was searched before (`AskedQuery.texts`): no language
                model is asked again.
            as_of: the day on which laws have to hold: of a law with several wordings those that
                are superseded or not yet in force are left out, and hits of statutes say how they
                stand. None leaves nothing out and says nothing of it.
            all_versions: find these wordings too.
            settings: of this one search, in place of the retriever's.
            asked: the question as an earlier search made it ready (`Retrieved.query`): where it is
                the same one, no model is asked for its wordings and vectors again.
            with_parents: read the texts of the hits' parents; False leaves `parents` empty.

        Raises:
            UsageError: the retriever is not open, no text, `top_k` below 1, a document that no
                publication holds, a source type that there is not.
        """
        if not self.readers:
            raise UsageError("the retriever is not open: use it as `with Retriever(…) as …`.")
        require_question(text)
        settings, manifests = settings or self.settings, self.manifests
        if top_k is not None:
            if top_k < 1:
                raise UsageError(f"'top_k' must be at least 1, got {top_k}.")
            settings = settings.model_copy(update={"top_k": top_k})
        chosen = self._by_uid(filters or SearchFilters())
        if document_ids is not None:
            uids = self.document_uids(document_ids)
            if chosen.doc_uids is not None:
                uids = tuple(uid for uid in uids if uid in chosen.doc_uids)
            chosen = replace(chosen, doc_uids=uids)
        unknown = self._unknown_values(chosen) if filters is not None else []
        barred = self.not_citable() if chosen.citable_only and self._looks_at_raw else {}
        chosen = replace(chosen, without=tuple(dict.fromkeys((*chosen.without, *barred))))
        day = self._day(text, as_of, chosen, all_versions=all_versions)
        if day is not None:
            chosen = replace(chosen, without_wordings=day.documents)
        if asked is not None and asked.text == text:
            query = asked
        else:
            query = make_query(text, self.readers, settings, self._llm, wordings)
        ranking = rank_chunks(self.readers, query, settings, chosen, day)
        hits = ranking.hits[: settings.top_k]
        circumstances = (
            *(f"namespace '{name}' has no publication yet and was left out"
              for name in self._missing),
            *self._removed(chosen.doc_uids or ()),
            *barred.values(),
        )  # fmt: skip
        needs_windows = settings.window > 0 or settings.inject.mode == "window"
        return Retrieved(
            query=query,
            hits=hits,
            parents=tuple(backfill_parents(self.readers, ranking.hits, settings.top_k))
            if with_parents
            else (),
            windows=tuple(expand_windows(self.readers, hits, settings.window))
            if needs_windows
            else (),
            settings=self._applied(settings),
            filters=(*self._shown(chosen), *([day.shown] if day is not None else [])),
            manifests=manifests,
            warnings=(
                *circumstances,
                *filter(None, map(vectors_to_come, manifests.values())),
                *unknown,
                *query.warnings,
                *ranking.warnings,
                *_narrow(settings),
            ),
            circumstances=(*circumstances, *query.circumstances),
            day=day,
        )

    def _day(
        self, question: str, as_of: date | None, filters: SearchFilters, *, all_versions: bool
    ) -> AskedDay | None:
        """Return the day for which laws are asked, None without one and where no statute is."""
        if as_of is None:
            return None
        laws = HeldLaws([reader.laws for reader in self.readers])
        if not laws.holds_statutes:
            return None
        named = (*(filters.doc_uids or ()), *laws.wordings_in(question))
        return AskedDay(laws, as_of, all_versions, named)

    def not_citable(self) -> dict[str, str]:
        """Return, as filters name them, documents that must not be cited any more, and why."""
        return {
            f"{reader.namespace}:{uid}": why
            for reader in self.readers
            for uid, why in look_since_publication(
                self.workspace.namespace(reader.namespace)
            ).not_citable.items()
        }

    def _removed(self, wanted: Iterable[str]) -> list[str]:
        """Return what became of documents that were published once, in a sentence each."""
        lost = set(wanted)
        for reader in self.readers if lost else ():
            lost.difference_update(reader.documents()["doc_uid"].to_pylist())
        if not lost:
            return []
        namespaces = [self.workspace.namespace(reader.namespace) for reader in self.readers]
        removed = [removed_documents(namespace) for namespace in namespaces]
        return [str(found[uid]) for found in removed for uid in sorted(lost) if uid in found]

    def document_uids(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the uids of documents that are named by `doc_uid`, `doc_id` or `citation_key`, in
        order of name.

        Raises:
            UsageError: no publication that is asked holds one of them.
        """
        found: dict[str, set[str]] = {identity: set() for identity in wanted}
        for reader in self.readers:
            rows = reader.documents().select(["doc_uid", "doc_id", "citation_key"]).to_pylist()
            uids = {row["doc_uid"] for row in rows}
            for row in rows:
                key = row["citation_key"] if row["citation_key"] not in uids else None
                for identity in (row["doc_uid"], row["doc_id"], key):
                    if identity in found:
                        found[identity].add(row["doc_uid"])
        unknown = [identity for identity, uids in found.items() if not uids]
        if unknown:
            names = ", ".join(reader.namespace for reader in self.readers)
            raise UsageError(
                f"no publication of {names} holds a document '{unknown[0]}'. "
                + (" ".join(self._removed(unknown[:1])) or "`rag documents` lists them.")
            )
        return tuple(sorted({uid for uids in found.values() for uid in uids}))

    def _by_uid(self, filters: SearchFilters) -> SearchFilters:
        """Return filters with uids where documents are named by their citation keys."""
        if not filters.doc_uids and not filters.without:
            return filters
        tables = [reader.documents().select(["doc_uid", "citation_key"]) for reader in self.readers]
        rows = [row for table in tables for row in table.to_pylist()]
        named = {row["doc_uid"]: [row["doc_uid"]] for row in rows}
        keys: dict[str, list[str]] = {}
        for row in rows:
            keys.setdefault(row["citation_key"], []).append(row["doc_uid"])
        named = {**keys, **named}

        def uids(names: Sequence[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(uid for name in names for uid in named.get(name, [name])))

        wanted = None if filters.doc_uids is None else uids(filters.doc_uids)
        return replace(filters, doc_uids=wanted, without=uids(filters.without))

    def _unknown_values(self, filters: SearchFilters) -> list[str]:
        places = [
            place
            for reader in self.readers
            for place in self.workspace.namespace(reader.namespace).settings.places.values()
        ]
        declared = {
            "source_type": [place.source_type for place in places],
            "source_subtype": [
                REFERENCES,
                *(place.source_subtype for place in places if place.source_subtype),
            ],
        }
        tables = [reader.documents() for reader in self.readers]
        return check_filter_values(filters, tables, declared)

    def _applied(self, settings: RetrieveSettings) -> dict[str, Any]:
        """Return the settings as values that JSON knows, with what they stand for."""
        applied = settings.model_dump(mode="json")
        if settings.fusion.kind == "weighted" and settings.method != "lexical":
            known = known_searchers(self.readers)
            applied["fusion"] |= load_weights(settings.fusion, known).provenance()
        if settings.method != "lexical":
            applied["fusion"]["usual_questions"] = stored_digest()
        if settings.rerank.mode == "model":
            reranker = load_reranker(settings.rerank)
            applied["rerank"] |= {"name": reranker.name, "fingerprint": reranker.fingerprint}
        return applied

    def _shown(self, filters: SearchFilters) -> tuple[str, ...]:
        names = ", ".join(reader.namespace for reader in self.readers)
        shown = ["citable = true"] if filters.citable_only else []
        shown.append(f"namespace in ({names})")
        if not filters.finds_references:
            shown.append(f"source_subtype <> {REFERENCES}")
        if filters.years is not None:
            low, high = ("…" if end is None else str(end) for end in filters.years)
            shown.append(f"year in {low}–{high}")
        if filters.without:
            shown.append(f"doc_uid not in ({', '.join(filters.without)})")
        for name, values in (
            ("doc_uid", filters.doc_uids),
            ("source_type", filters.source_types),
            ("source_subtype", filters.source_subtypes),
            ("section_category", filters.section_categories),
            ("tag", filters.tags),
            ("language", filters.languages),
        ):
            if values is not None:
                also = " or standing for it" * bool(
                    name == "section_category" and filters.standing_in
                )
                shown.append(f"{name} in ({', '.join(map(str, values))}){also}")
        return tuple(shown)


def _narrow(settings: RetrieveSettings) -> list[str]:
    """Say where more results are asked for than candidates are let through."""
    if settings.top_k <= settings.rerank_k:
        return []
    warning = (
        f"at most {settings.rerank_k} results can come back where {settings.top_k} were asked for: "
        "raise retrieve.rerank_k and retrieve.pool_k"
    )
    return [warning]
