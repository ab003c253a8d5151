"""The language of a passage, as searches tell languages apart."""

import re
from typing import Literal

from rag_assets.model import count_han

Language = Literal["zh", "en", "other"]

KANA_HANGUL = re.compile(r"[\u3041-\u30ff\u1100-\u11ff\uac00-\ud7a3]")
# A text is Chinese from this share of ideographs among its letters; an English paper about China
# has under 2 %, a Chinese text full of formulas and names over 30 %.
_MIN_HAN_SHARE = 0.25
# Enough of a passage to see its script.
_SAMPLE_CHARACTERS = 400


def passage_language(text: str, stated: str | None) -> Language:
    """Return the language of a passage: by its script, then by what its document says.

    Args:
        text: of the passage; its first 400 characters count.
        stated: the document's language code, if it is known.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    if not sample.isascii():
        han = count_han(sample)
        if han and han >= _MIN_HAN_SHARE * sum(map(str.isalpha, sample)):
            return "other" if stated == "ja" or len(KANA_HANGUL.findall(sample)) > han / 4 else "zh"
    # Latin letters in a Chinese document are its English abstract, its references, its tables.
    return "en" if not stated or stated[:2] in {"en", "zh"} else "other"
