"""From a question to what is searched: its language, its wordings, its vectors."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.model import AnswerError, count_han
from rag_assets.model.settings import ModelSettings, QuestionSubject, RetrieveSettings
from rag_assets.publishing import KANA_HANGUL, Language
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.fusion import (
    LEXICAL,
    known_searchers,
    load_weights,
    models_asked,
    searcher_names,
    sparse_names,
)

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.retrieval.reader import Reader

_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’][A-Za-z]+)?")
# Characters of Chinese grammar and question words; terms quoted in an English question have few.
_CHINESE_GRAMMAR = re.compile("[的了是在和与及吗呢么什怎如何哪为有对从被把与或能]")
_ENGLISH_GRAMMAR_LIST = (
    "a an and are at be by can did do does for from has have how in is it its many much not of on "
    "or should that the there this to was we were what when where which who whose why will with "
    "would"
)
_ENGLISH_GRAMMAR = frozenset(_ENGLISH_GRAMMAR_LIST.split())
# Words of German, French, Spanish, Italian, Portuguese and Dutch that English does not have.
_OTHER_GRAMMAR_LIST = (
    "aber auf aus bei das dem den der des ein eine einer für ist mit nicht oder sich sind über und "
    "von warum welche welcher werden wie wird zu zur au aux ce ces dans du elle est et il la le "
    "les leur où par pas pour quel quelle quelles quels qui sont sur un une el ella en entre es "
    "está las los por qué que se su sus y cuál como con della di gli perché è quali uma são não "
    "het een van voor zijn wat hoe"
)
_OTHER_GRAMMAR = frozenset(_OTHER_GRAMMAR_LIST.split())


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A question, ready to be searched.

    Args:
        text: as asked.
        language: of `text`.
        texts: what is searched: `q_zh` and `q_en` where the language is one of them, `q` else.
        vectors: by model fingerprint, one vector for each of `texts` that the model can read; a
            model that can read none is left out.
        warnings: what a person should know of how it is searched.
        circumstances: those of `warnings` that another moment might not give: what a language
            model answered.
    """

    text: str
    language: Language
    texts: Mapping[str, str]
    vectors: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    circumstances: tuple[str, ...] = ()

    @property
    def languages(self) -> frozenset[Language]:
        """The languages that it is asked in: its own, and those of its rewritings."""
        return _asked_languages(self.language, self.texts)


def _asked_languages(language: Language, texts: Mapping[str, str]) -> frozenset[Language]:
    own: dict[str, Language] = {"q_zh": "zh", "q_en": "en"}
    return frozenset(own.get(name, language) for name in texts)


def detect_language(text: str) -> Language:
    """Return the language a question is asked in.

    By script first. Where Chinese and English stand together, the grammar decides, not the terms:
    "CO2 electroreduction 的机理" is Chinese, "What does 气候 mean?" English; without any grammar
    Chinese characters do. Latin script is English unless the commonest words of its neighbours
    outnumber those of English: keywords have no grammar and are mostly English.
    """
    words = [word.lower() for word in _LATIN_WORD.findall(text)]
    english = sum(word in _ENGLISH_GRAMMAR for word in words)
    han = count_han(text)
    if len(KANA_HANGUL.findall(text)) > han / 4:
        return "other"
    if han:
        return "en" if english > len(_CHINESE_GRAMMAR.findall(text)) else "zh"
    letters = sum(map(str.isalpha, text))
    if letters and sum(map(len, words)) < letters / 2:
        return "other"
    return "other" if sum(word in _OTHER_GRAMMAR for word in words) > english else "en"


def make_query(
    text: str,
    readers: "Sequence[Reader]",
    settings: RetrieveSettings,
    llm: "ChatModel | None" = None,
    wordings: Mapping[str, str] | None = None,
) -> AskedQuery:
    """Return a question with its wordings, and one vector a wording from each model that reads it.

    A model that cannot read a wording (`can_read`) is left out: what it says would be noise. So is
    one whose scores weigh nothing on the passages that are there, while others can read all. For
    publications none of whose models can read any, words alone decide, and this is said; with
    method `semantic`, where there are no words, their models are asked all the same, and this is
    said too.

    Args:
        text: the question.
        readers: of the publications that will be searched.
        settings: method, `rewrite`.
        llm: writes a Chinese question in English where `rewrite` is set; None for none. An answer
            that is no such question is not searched, and this is said.

    Raises:
        LanguageModelError: `llm` cannot be asked.
    """
    language = detect_language(text)
    warnings: list[str] = []
    texts = {f"q_{language}" if language != "other" else "q": text}
    circumstances: list[str] = []
    if wordings is not None:
        texts |= wordings
    elif language == "zh" and llm is not None:
        from rag_assets.llm import rewrite_question

        try:
            texts["q_en"] = rewrite_question(llm, text)
        except AnswerError as error:
            circumstances.append(str(error))
            warnings += circumstances
    if settings.method == "lexical":
        return AskedQuery(text, language, texts, {}, tuple(warnings), tuple(circumstances))
    models = {
        model.fingerprint: model.settings
        for reader in readers
        for model in models_asked(reader, settings.method)
    }
    idle = _idle_models(readers, language, _asked_languages(language, texts), settings)
    readable = {
        fingerprint: _readable(model, list(texts.values()))
        for fingerprint, model in models.items()
        if fingerprint not in idle
    }
    if any(len(read) < len(texts) for read in readable.values()):
        # What one cannot read another may have to.
        readable |= {
            key: _readable(models[key], list(texts.values())) for key in idle & models.keys()
        }
    for reader in readers:
        own = {model.fingerprint: model.name for model in models_asked(reader, settings.method)}
        if not own or any(readable.get(fingerprint) for fingerprint in own):
            continue
        names = ", ".join(own.values())
        outcome = "it was searched by words alone"
        if settings.method == "semantic":
            outcome = "what was found may be unrelated; set retrieve.method to hybrid or lexical"
            readable |= {fingerprint: list(texts.values()) for fingerprint in own}
        warnings.append(
            f"no embedding model of namespace '{reader.namespace}' ({names}) can read the "
            f"question: {outcome}"
        )
    vectors = _encode_all(
        [(key, models[key], wordings) for key, wordings in readable.items() if wordings],
        settings.questions,
    )
    return AskedQuery(text, language, texts, vectors, tuple(warnings), tuple(circumstances))


def without_idle(
    query: AskedQuery,
    readers: "Sequence[Reader]",
    settings: RetrieveSettings,
    filters: SearchFilters,
) -> AskedQuery:
    """Return a question without the vectors of models that weigh nothing on what is searched."""
    if not query.vectors:
        return query
    idle = _idle_models(readers, query.language, query.languages, settings, filters)
    used = {key: found for key, found in query.vectors.items() if key not in idle}
    is_enough = all(
        len(used.get(model.fingerprint, ())) == len(query.texts)
        for reader in readers
        for model in models_asked(reader, settings.method)
        if model.fingerprint not in idle
    )
    return replace(query, vectors=used) if is_enough else query


def _idle_models(
    readers: "Sequence[Reader]",
    language: Language,
    languages: frozenset[Language],
    settings: RetrieveSettings,
    filters: SearchFilters = EVERYTHING,
) -> frozenset[str]:
    """Return the fingerprints of models whose scores would weigh nothing on any passage.

    A question about an English library need not be encoded by a model that is there for Chinese.
    """
    if settings.fusion.kind != "weighted" or settings.method == "lexical":
        return frozenset()
    named = searcher_names(readers)
    words = frozenset() if settings.method == "semantic" else frozenset({LEXICAL})
    weights = load_weights(settings.fusion, known_searchers(readers), sparse_names(readers))
    used = set()
    for reader in readers:
        asked_models = models_asked(reader, settings.method)
        names = words | {named[model.fingerprint] for model in asked_models}
        for passage in reader.count_by_language(filters) or {language: 0}:
            asked = passage if passage in languages else language
            found = weights.of(asked, passage, names)
            used |= {key for key, name in named.items() if found.get(name, 0.0) > 0}
    return frozenset(named) - used


def _readable(model: ModelSettings, texts: Sequence[str]) -> list[str]:
    from rag_assets.embedding import can_read, load_tokenizer

    tokenizer = load_tokenizer(model)
    return [text for text in texts if can_read(tokenizer, text)]


def _encode_all(
    asked: Sequence[tuple[str, ModelSettings, Sequence[str]]], subject: QuestionSubject | None
) -> dict[str, list[list[float]]]:
    """Return each model's vectors by its fingerprint; models work side by side."""
    from rag_assets.embedding import encode_questions

    with ThreadPoolExecutor() as workers:
        found = workers.map(lambda one: encode_questions(one[1], one[2], subject), asked)
        return {key: vectors for (key, _, _), vectors in zip(asked, found, strict=True)}
