"""Search publications and make the pack of a question; nothing is stored."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag_assets.evidence.answering import (
    Answer,
    choose_answers,
    fetch_passages,
    judge_match,
    read_parents,
)
from rag_assets.evidence.locating import anchor_words, locate
from rag_assets.evidence.pack import (
    LAYOUT_VERSION,
    EvidenceItem,
    EvidencePack,
    ItemLaw,
    PackRequest,
    PackSource,
)
from rag_assets.evidence.question import Question
from rag_assets.evidence.quoting import QUOTE_WORDS, QuoteFinder, article_span, first_span
from rag_assets.model import UsageError, describe_standing, hash_fields
from rag_assets.publishing import build_id_of
from rag_assets.storage import current_folder
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.model.settings import RetrieveSettings
    from rag_assets.retrieval import Asked, Hit, ParentHit, Retrieved, Retriever, SearchFilters

# What an item of a pack says of the law that it is from.


def item_law(found: "Hit", shown: "Hit", quoted_at: int) -> ItemLaw | None:
    """Return what to say of the law of a passage; None where it is of none, or no day was asked.

    Args:
        found: the passage that the search found, which knows how its law stands.
        shown: the passage of the same parent that is quoted.
        quoted_at: where the quote begins in the document's clean text.
    """
    mark = found.law
    if mark is None:
        return None
    around = [one for one in shown.articles if one.char_start <= quoted_at < one.char_end]
    citation = mark.cite(shown.section_path, around[0]) if around else None
    return ItemLaw(
        mark.title,
        citation,
        mark.standing,
        str(mark.version_date) if mark.version_date is not None else None,
        str(mark.holds_from) if mark.holds_from is not None else None,
        mark.is_stated,
        mark.repeal,
    )


# Search publications and make the pack of a question; nothing is stored.

# Counts as code: raise it when the same publications answer otherwise.
ASKING_VERSION = 15
# Last bits of a score depend on the processor.
_DECIMALS = 6
# Sentences of one page that become items. Over 63 questions (benchmarks/quote_finding.py) one of
# the ten quotes answers in 0.56 with one of each page, 0.73 with two, 0.81 with three.
_MOST_OF_A_PARENT = 3

_Documents = Mapping[tuple[str, str], Mapping[str, Any]]


def make_pack(
    asked: "Asked",
    question: Question,
    *,
    publications: Mapping[str, str] | None = None,
    settings: "RetrieveSettings | None" = None,
    wordings: Mapping[str, str] | None = None,
    circumstances: Sequence[str] = (),
) -> EvidencePack:
    """Search and build the pack.

    Args:
        asked: a workspace, or a library that is open already.
        question: what is asked.
        publications: by namespace, in place of the current ones.
        settings: of the search, in place of the namespace's or workspace's.
        wordings: the question as it was searched before; no language model is asked then.
        circumstances: what the moment of asking decided, where this is not that moment.

    Raises:
        UsageError: no text, an unknown namespace, or evidence that must not be cited.
        PublicationError: none of the namespaces has a publication, or one that was named is gone.
        DamagedFileError: a quote differs from its source.
        LanguageModelError: the settings name a language model that does not answer.
    """
    if question.mode == "answer":
        raise UsageError("this question asks for an answer (mode: answer): `rag ask`.")
    from rag_assets.retrieval import Retriever, workspace_of

    workspace = workspace_of(asked)
    llm = None if wordings is not None else chat_model_of(workspace)
    with Retriever(
        asked, question.namespaces, settings, llm=llm, publications=publications, looks_at_raw=False
    ) as retriever:
        filters = _filters(question)
        found = retriever.retrieve(
            question.question,
            top_k=question.top_k,
            filters=filters,
            wordings=wordings,
            as_of=question.as_of,
            all_versions=question.all_versions,
        )
        for parent in found.parents:
            _require_citable(parent, found)
        documents = _fetch_documents(retriever, found)
        passages = fetch_passages(retriever, found, filters)
    read = read_parents(question.question, passages)
    answers = choose_answers(passages, read, QUOTE_WORDS, _MOST_OF_A_PARENT)
    quotes = QuoteFinder(workspace.root / "data")
    made = [
        _item(parent, answer, question, documents, quotes, found)
        for parent, answer in _ordered(found.parents, answers)[: len(found.parents)]
    ]
    items = tuple(
        replace(item, rank=rank)
        for rank, item in enumerate((one for one in made if one is not None), start=1)
    )
    names_article = any("named_article" in item.explanation for item in items)
    published = {name: manifest["publication"] for name, manifest in found.manifests.items()}
    encoders = {
        name: {model["model"]: model["fingerprint"] for model in manifest["embedders"]}
        for name, manifest in found.manifests.items()
    }
    moment = tuple(dict.fromkeys((*found.circumstances, *circumstances)))
    search_warnings = [text for text in found.warnings if text not in moment]
    texts = dict(found.query.texts)
    return EvidencePack(
        query_id=query_id_of(
            question.question, texts, found.filters, published, encoders, found.settings
        ),
        layout=LAYOUT_VERSION,
        mode=question.mode,
        question=question.question,
        queries=texts,
        request=PackRequest(question.namespaces, question.filters, question.top_k),
        publications=published,
        build_ids={name: build_id_of(manifest) for name, manifest in found.manifests.items()},
        encoders=encoders,
        filters=found.filters,
        settings=found.settings,
        sources=tuple(_sources(items, documents)),
        locator_quality=dict(sorted(Counter(item.locator_quality for item in items).items())),
        items=items,
        match=judge_match(question.question, read, is_named=names_article),
        warnings=(*moment, *search_warnings, *_warnings(items, len(made) - len(items))),
        circumstances=moment,
        as_of=str(found.day.day) if found.day is not None else None,
        all_versions=found.day is not None and found.day.has_all_versions,
    )


def check_question(workspace: Workspace, question: Question) -> None:
    """Look whether a question can be asked, without asking it.

    Raises:
        UsageError: an unknown namespace or a wrong filter.
        PublicationError: a namespace that it names is not published.
    """
    for name in question.namespaces:
        current_folder(workspace.namespace(name).publications, name)
    if question.filters:  # they import what searches
        _filters(question)


def query_id_of(
    question: str,
    queries: Mapping[str, str],
    filters: Sequence[str],
    publications: Mapping[str, str],
    encoders: Mapping[str, Mapping[str, str]],
    settings: Mapping[str, Any],
) -> str:
    """Return the id of a query: of all that decides what is found, and of no clock."""
    asked = (question, dict(queries), list(filters))
    return hash_fields(ASKING_VERSION, asked, publications, encoders, settings)[:16]


def _filters(question: Question) -> "SearchFilters":
    from rag_assets.retrieval import SearchFilters

    filters = SearchFilters(citable_only=True)
    for text in question.filters:
        filters = filters.with_filter(text)
    return filters


def chat_model_of(workspace: Workspace) -> "ChatModel | None":
    """Return the language model that rewrites questions; None where the settings name none."""
    if workspace.settings.llm.for_role("rewrite").kind == "none":
        return None  # and nothing of it is imported
    from rag_assets.llm import open_chat_model

    return open_chat_model(workspace, role="rewrite")


def _require_citable(hit: "ParentHit", found: "Retrieved") -> None:
    best = hit.best
    faults = {
        "must not be cited (citable = false)": not best.citable,
        "has no doc_uid": not best.doc_uid,
        "has no parent_id": not best.parent_id,
    }
    wrong = [fault for fault, holds in faults.items() if holds]
    if wrong:
        sources = ", ".join(
            sorted(
                {
                    f"{one.best.doc_uid or '?'} ({one.best.source_type}, citable = "
                    f"{str(one.best.citable).lower()})"
                    for one in found.parents
                }
            )
        )
        raise UsageError(
            f"the search returned {best.chunk_key}, which {' and '.join(wrong)}. No pack was made. "
            f"Applied filters: {'; '.join(found.filters)}. Returned sources: {sources}. Run "
            "`rag ingest` and ask again; if it stays, the publication is wrong: please report it."
        )


def _fetch_documents(retriever: "Retriever", found: "Retrieved") -> _Documents:
    """Return the documents of the uids that were found, of every namespace that was asked."""
    uids = {hit.best.doc_uid for hit in found.parents}
    return {
        (reader.namespace, row["doc_uid"]): row
        for reader in (retriever.readers if uids else ())
        for row in reader.fetch_documents(uids).to_pylist()
    }


def _ordered(
    parents: Sequence["ParentHit"], answers: "Sequence[tuple[Answer[Hit], ...]]"
) -> "list[tuple[ParentHit, Answer[Hit] | None]]":
    """Return parents with each of their answers, by score; of equals as they were found.

    An article that the question names is one item.
    """
    found: list[tuple[ParentHit, Answer[Hit] | None]] = []
    for parent, own in zip(parents, answers, strict=True):
        most = 1 if "named_article" in parent.best.explanation else len(own)
        found += [(parent, answer) for answer in own[:most]] or [(parent, None)]
    return sorted(found, key=lambda one: -_score(*one))


def _score(hit: "ParentHit", answer: "Answer[Hit] | None") -> float:
    """Return the probability that an item answers; an article that the question names does."""
    if "named_article" in hit.best.explanation:
        return 1.0
    return answer.score if answer is not None else 0.0


def _cite_as(namespace: str, doc_uid: str, question: Question, documents: _Documents) -> str:
    """Return what names a document in a draft, also beside the other namespaces.

    A draft is judged against all of them: where some alone were asked, those of others are not
    known here, and the namespace is named to be sure.
    """
    homes = [name for (name, uid), row in documents.items() if uid == doc_uid and row["citable"]]
    return f"{namespace}:{doc_uid}" if question.namespaces or len(homes) > 1 else doc_uid


def _item(
    hit: "ParentHit",
    answer: "Answer[Hit] | None",
    question: Question,
    documents: _Documents,
    quotes: QuoteFinder,
    found: "Retrieved",
) -> EvidenceItem | None:
    """Return the item of a parent, None where there is nothing to quote."""
    best, parent = hit.best, hit.parent
    document = documents.get((best.namespace, best.doc_uid))
    if document is None:
        raise UsageError(
            f"the search returned {best.chunk_key}, but its publication lists no document "
            f"'{best.doc_uid}'. No pack was made. Applied filters: {'; '.join(found.filters)}. Run "
            "`rag ingest` and ask again; if it stays, please report it."
        )
    named = best.explanation.get("named_article")
    shown = answer.hit if answer is not None and named is None else best
    span = article_span(best.text, named, question.question) if named is not None else None
    if span is None and answer is not None and answer.hit.chunk_id == shown.chunk_id:
        span = answer.start, answer.end
    span = span or first_span(shown.text)
    if span is None:
        return None
    quote = quotes.find(
        document["content_ref"], shown.chunk_key, shown.text, shown.char_start, span
    )
    locator = locate(
        quote.page_start, quote.page_end, quote.char_start, quote.char_end, shown.section_path,
        has_boxes=bool(quote.boxes), labels=document["page_labels"] or (),
    )  # fmt: skip
    if locator is None:
        raise UsageError(
            f"{shown.chunk_key} has neither page nor characters to point at. No pack was made. Run "
            "`rag ingest` again; if it stays, please report it."
        )
    begin_words, end_words = anchor_words(quote.text)
    return EvidenceItem(
        rank=hit.rank,
        namespace=best.namespace,
        doc_uid=best.doc_uid,
        cite_as=_cite_as(best.namespace, best.doc_uid, question, documents),
        title=best.doc_title,
        citation_key=best.citation_key,
        source_type=best.source_type,
        citable=best.citable,
        retrieval_score=_score(hit, answer),
        ranks=dict(best.ranks),
        scores=_rounded(dict(best.scores)),
        parent_id=best.parent_id,
        chunk_id=shown.chunk_id,
        section_path=shown.section_path,
        page_index=None if quote.page_start is None else quote.page_start - 1,
        page_start=quote.page_start,
        page_end=quote.page_end,
        char_start=quote.char_start,
        char_end=quote.char_end,
        anchor_begin=begin_words,
        anchor_end=end_words,
        locator=f"{quote.article}, {locator.text}" if quote.article else locator.text,
        locator_quality=locator.quality,
        boxes=quote.boxes,
        snippet=shown.text,
        exact_quote=quote.text,
        is_cut=quote.is_cut,
        row=answer.row or None
        if answer is not None and span == (answer.start, answer.end)
        else None,
        quote_check=quote.check,
        parent_text=parent.text,
        chunk_hash=shown.content_hash,
        parent_hash=parent.hash,
        citation_id=shown.citation_id,
        explanation=_rounded(dict(best.explanation)),
        other_chunk_ids=tuple(
            key for key in (best.chunk_id, *hit.other_chunk_ids) if key != shown.chunk_id
        ),
        law=item_law(best, shown, quote.char_start),
        edited=shown.edited,
    )


def _sources(items: Sequence[EvidenceItem], documents: _Documents) -> Iterator[PackSource]:
    for key in dict.fromkeys((item.namespace, item.doc_uid) for item in items):
        own = [item for item in items if (item.namespace, item.doc_uid) == key]
        row = documents[key]
        yield PackSource(
            namespace=key[0],
            doc_uid=key[1],
            cite_as=own[0].cite_as,
            authors=tuple(row["authors"] or ()),
            hits=sum(1 + len(item.other_chunk_ids) for item in own),
            ranks=tuple(item.rank for item in own),
            **{name: row[name] for name in _PLAIN},
        )


# Columns of the published table `documents` that a source has under the same name.
_PLAIN = (
    "citation_key", "title", "year", "publisher", "url", "doi", "published_date", "accessed_at",
    "language", "source_type", "content_hash",
)  # fmt: skip


def _warnings(items: Sequence[EvidenceItem], wordless: int) -> Iterator[str]:
    if wordless:
        yield (
            f"{wordless} of the passages found are figures without words, or lines of a "
            "publisher: they were left out, since there is nothing to quote."
        )
    if not items:
        yield "nothing citable was found: try other words, or `rag documents`."
    for cite_as, title in dict.fromkeys((item.cite_as, item.title) for item in items):
        standing = describe_standing(title)
        if standing:
            yield f"{cite_as}: {standing}"
    if any(item.page_start is None for item in items):
        yield (
            "some items have no page: they are located by characters and by their first and last "
            "words."
        )


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value
