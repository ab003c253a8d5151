"""Whether a stored answer is what was written: its words are held against its own passages."""

from collections.abc import Mapping, Sequence

from rag_assets.agents import CheckedStatement, Passage
from rag_assets.answering.record import Answer
from rag_assets.model import DamagedFileError, hash_text

_EDITED = "{what}: the record was edited. Ask the question again."


def require_sound(answer: Answer) -> None:
    """Look whether passages have their hashes and quotes stand where they are said to.

    Raises:
        DamagedFileError: names what does not.
    """
    require_sound_parts(answer.trace.passages, answer.statements, answer.unsupported)


def require_sound_parts(
    passages: Mapping[str, Passage],
    kept: Sequence[CheckedStatement],
    others: Sequence[CheckedStatement],
) -> None:
    """Look at the parts of a record: passages by alias, statements that are kept, and others.

    Raises:
        DamagedFileError: as `require_sound`.
    """
    for alias, passage in passages.items():
        if hash_text(passage.text) != passage.content_hash:
            raise DamagedFileError(_EDITED.format(what=f"passage {alias} has not its hash"))
    for one in (*kept, *others):
        if one.quote is not None and not _stands(one, passages):
            told = f"the quote of statement {one.number} does not stand in {one.quote.alias}"
            raise DamagedFileError(_EDITED.format(what=told))
    wrong = [one for one in kept if not one.is_supported]
    if wrong:
        told = f"statement {wrong[0].number} is kept though it is not supported"
        raise DamagedFileError(_EDITED.format(what=told))


def _stands(one: CheckedStatement, passages: Mapping[str, Passage]) -> bool:
    quote = one.quote
    passage = None if quote is None else passages.get(quote.alias)
    if quote is None or passage is None or quote.alias not in one.citations:
        return False
    start = quote.char_start - passage.char_start
    own = passage.text[start : quote.char_end - passage.char_start]
    is_its = (quote.chunk_id, quote.content_hash) == (passage.chunk_id, passage.content_hash)
    return start >= 0 and own == quote.text and is_its
