"""Whether a stored answer is what was written: its words are held against its own passages."""

from rag_assets.agents import CheckedStatement
from rag_assets.answering.record import Answer
from rag_assets.model import DamagedFileError, hash_text

_EDITED = "{what}: the record was edited. Ask the question again."


def require_sound(answer: Answer) -> None:
    """Look whether passages have their hashes and quotes stand where they are said to.

    Raises:
        DamagedFileError: names what does not.
    """
    for alias, passage in answer.trace.passages.items():
        if hash_text(passage.text) != passage.content_hash:
            raise DamagedFileError(_EDITED.format(what=f"passage {alias} has not its hash"))
    for one in (*answer.statements, *answer.unsupported):
        if one.quote is not None and not _stands(one, answer):
            told = f"the quote of statement {one.number} does not stand in {one.quote.alias}"
            raise DamagedFileError(_EDITED.format(what=told))
    kept = [one for one in answer.statements if not one.is_supported]
    if kept:
        told = f"statement {kept[0].number} is kept though it is not supported"
        raise DamagedFileError(_EDITED.format(what=told))


def _stands(one: CheckedStatement, answer: Answer) -> bool:
    quote = one.quote
    passage = None if quote is None else answer.trace.passages.get(quote.alias)
    if quote is None or passage is None or quote.alias not in one.citations:
        return False
    start = quote.char_start - passage.char_start
    own = passage.text[start : quote.char_end - passage.char_start]
    is_its = (quote.chunk_id, quote.content_hash) == (passage.chunk_id, passage.content_hash)
    return start >= 0 and own == quote.text and is_its
