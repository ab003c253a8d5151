"""What the model is told before a chunk's text: where it stands, and the header of its table."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_assets.chunking.dividing import Passage
from rag_assets.chunking.sentences import Outline, Tokenizer, next_visible
from rag_assets.model import FIGURE
from rag_assets.model.settings import ChunkSettings, PreprocessRule

PREPROCESS_VERSION = "1"

_CITATION = re.compile(r"[ \t]?\[\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,40}\]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_URL = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:https?|ftp)://|www\.(?=[\w-]+\.))"
    r"[^\s<>\"'，。；！？、）】》」』]+(?<![.,;:!?)\]])",
    re.IGNORECASE,
)
_LINE_SPACE = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r" ?\n(?:\s*\n)* ?")


def _white_space(text: str) -> str:
    """One blank between words, one line end between lines."""
    return _BLANK_LINES.sub("\n", _LINE_SPACE.sub(" ", text)).strip()


def _removing(pattern: re.Pattern[str]) -> Callable[[str], str]:
    return lambda text: pattern.sub("", text)


_RULES: dict[PreprocessRule, Callable[[str], str]] = {
    "attachments": _removing(FIGURE),
    "citation_marks": _removing(_CITATION),
    "emails": _removing(_EMAIL),
    "urls": _removing(_URL),
    "white_space": _white_space,
}


def preprocess(text: str, rules: Sequence[PreprocessRule]) -> str:
    """Return `text` after the rules, always in the same order, whatever order they are named in.

    A text of which they would leave nothing visible is returned as it is: a chunk that is
    nothing but an address is still found by it.

    Args:
        text: any text.
        rules: names; `attachments` removes references to images, `citation_marks` numbers in
            brackets, `emails` and `urls` addresses, `white_space` all but one blank or line end.
    """
    cleaned = text
    for name, rule in _RULES.items():
        if name in rules:
            cleaned = rule(cleaned)
    return cleaned if cleaned == text or cleaned.strip() else text


# The larger part of what a model reads is the text's own.
_LARGEST_SHARE = 0.5
# Of a path, the nearest headings; more are a mistake of a parser, and each costs a count.
_MOST_TITLES = 8

PATH_SEPARATOR = " › "
"""Stands between the headings that a context tells."""


def model_input(text: str, context: str = "", prepared: str | None = None) -> str:
    """Return the string that a model is given for a chunk, before its own prompt.

    Args:
        text: of the chunk.
        context: stands on lines of its own before it; "" is none.
        prepared: what is given in place of the text; None for the text.
    """
    given = text if prepared is None else prepared
    return f"{context}\n{given}" if context else given


Part = tuple[int, int, str]
"""(worth, place among the parts, text): the least worth goes first."""

PartsOf = Callable[[Outline, Passage, ChunkSettings], list[Part]]
"""What the context of a passage is made of."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the model is told of a passage. Fields as in `Chunk`."""

    context: str
    prepared: str | None
    question: str | None
    input_tokens: int


def tell(
    passages: Sequence[Passage],
    token_counts: Sequence[int],
    outline: Outline,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
    parts_of: PartsOf,
) -> list[Told]:
    """Return what the model is given for each passage, never more than it reads.

    The text stays whole; the context gives way, the outermost heading first, then the caption,
    then the nearest heading, then the header row.

    Args:
        passages: at most `tokenizer.limit` tokens each, questions with answers excepted.
        token_counts: of their texts.
        outline: of their document.
        settings: `context` and `preprocess`.
        tokenizer: the embedding model's own.
        parts_of: what a passage's context is made of.
    """
    rules = settings.preprocess
    largest = int(tokenizer.limit * _LARGEST_SHARE)
    prepared = [_changed(passage.text, preprocess(passage.text, rules)) for passage in passages]
    asked = [_question(passage, settings, tokenizer) for passage in passages]
    parts = [parts_of(outline, passage, settings) for passage in passages]
    given = [
        question if question is not None else replaced
        for question, replaced in zip(asked, prepared, strict=True)
    ]
    told: list[Told | None] = [None] * len(passages)
    waiting = list(range(len(passages)))
    while waiting:
        contexts = {index: preprocess(_joined(parts[index]), rules) for index in waiting}
        inputs = [model_input(passages[i].text, contexts[i], given[i]) for i in waiting]
        plain = [i for i in waiting if not contexts[i] and given[i] is None]
        known = {i: token_counts[i] for i in plain}
        counted = tokenizer.count(
            [text for i, text in zip(waiting, inputs, strict=True) if i not in known]
        )
        rest = iter(counted)
        again = []
        for index in waiting:
            size = known[index] if index in known else next(rest)
            if parts[index] and size > min(tokenizer.limit, token_counts[index] + largest):
                parts[index].remove(min(parts[index]))
                again.append(index)
            else:
                told[index] = Told(contexts[index], prepared[index], asked[index], size)
        waiting = again
    return [item for item in told if item is not None]


def _changed(text: str, cleaned: str) -> str | None:
    return None if cleaned == text else cleaned


def _question(passage: Passage, settings: ChunkSettings, tokenizer: Tokenizer) -> str | None:
    """Return what is embedded for a question with its answer: as much as the model reads."""
    if passage.question is None:
        return None
    question = preprocess(passage.question, settings.preprocess)
    while len(question) > 1 and tokenizer.count([question])[0] > tokenizer.limit:
        spans = tokenizer.token_spans(question)
        end = spans[tokenizer.limit - 1][1] if len(spans) > tokenizer.limit else len(question) // 2
        question = question[:end].rstrip()
    return question


_CAPTION_WORTH, _NEAREST_WORTH, _HEADER_WORTH = 1000, 1001, 1002


def headings_above(outline: Outline, passage: Passage, settings: ChunkSettings) -> list[Part]:
    """Return the headings above a passage, outermost first."""
    titles = _titles_above(outline, passage, settings)
    return [
        (depth if depth + 1 < len(titles) else _NEAREST_WORTH, depth, title)
        for depth, title in enumerate(titles)
    ]


def headings_and_header(outline: Outline, passage: Passage, settings: ChunkSettings) -> list[Part]:
    """Return the headings above a passage, and caption and header row of the table it is in."""
    parts = headings_above(outline, passage, settings)
    group = outline.group_at(passage.start)
    if group is not None and group.body is not None and passage.start >= group.body:
        is_below = " ".join(passage.text.split()).endswith(group.caption)
        if group.caption and not is_below:
            parts.append((_CAPTION_WORTH, _CAPTION_WORTH, group.caption))
        parts.append((_HEADER_WORTH, _HEADER_WORTH, group.header))
    return parts


def _titles_above(outline: Outline, passage: Passage, settings: ChunkSettings) -> tuple[str, ...]:
    """Return the headings to tell of a passage; the one that it begins with is not above it.

    Where none are wanted they are those that stand alone right above it: chunks of their own,
    which are not searched.
    """
    section = outline.section_at(passage.start)
    heading = next_visible(outline.document.text, section.start)
    has_own = bool(section.title) and passage.start <= heading < passage.end
    if settings.context == "headings":
        return (section.path[:-1] if has_own else section.path)[-_MOST_TITLES:]
    if not has_own:
        return ()
    alone = 0
    while alone < _MOST_TITLES and outline.is_heading_alone(section.order - alone - 1):
        alone += 1
    return section.path[-1 - alone : -1]


def _joined(parts: Sequence[Part]) -> str:
    """Return the path on one line, caption and header row each on one of its own."""
    ordered = sorted(parts, key=lambda part: part[1])
    path = PATH_SEPARATOR.join(text for worth, place, text in ordered if place < _CAPTION_WORTH)
    below = [text for worth, place, text in ordered if place >= _CAPTION_WORTH]
    return "\n".join([path, *below] if path else below)
