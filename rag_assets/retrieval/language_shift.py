"""A question in one language over passages in another: its vector moves to their language.

Part of a multilingual vector says in which language a text is written. That part is the same for
all questions of a language, and it favours whatever passages of the other language happen to look
like it. It is the difference of the two languages' centres (Libovický et al. 2020, "On the
Language Neutrality of Pre-trained Multilingual Representations"), and is added. The centres are
means over the same questions in both languages (`usual_questions`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rag_assets.retrieval.usual_questions import stored_questions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.retrieval.queries import AskedQuery

    Floats = NDArray[np.float64]

Vector = Sequence[float]


def vectors_for(query: "AskedQuery", fingerprint: str, passages: Mapping[str, int]) -> list[Vector]:
    """Return the vectors of a question, moved where it was asked in no language of the passages.

    Args:
        query: with vectors.
        fingerprint: of the model that made them.
        passages: how many are written in each language; the commonest counts.

    Returns:
        One vector a wording, not of length 1 where it was moved. As they are where the passages'
        commonest language is one of the question's, or where a centre is not known.
    """
    own = list(query.vectors[fingerprint])
    if not passages:
        return own
    theirs = max(passages, key=lambda language: (passages[language], language))
    if theirs in query.languages:
        return own
    by = shift(stored_questions(fingerprint), query.language, theirs)
    return own if by is None else [[x + y for x, y in zip(v, by, strict=True)] for v in own]


def shift(usual: "Mapping[str, Floats]", asked: str, passages: str) -> "Floats | None":
    """Return what takes a question from one language to another; None where it stays.

    Args:
        usual: the same questions in each language, as the model sees them.
        asked: the question's language.
        passages: theirs.
    """
    if asked == passages or asked not in usual or passages not in usual:
        return None
    found: Floats = usual[passages].mean(axis=0) - usual[asked].mean(axis=0)
    return found
