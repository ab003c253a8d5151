"""Whether a text denies something."""

import re
from functools import lru_cache

from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon

_WORD = re.compile(r"(?<![a-z])[a-z]+(?:'t)?(?![a-z])")
# “Failed to run”, and not a failed machine.
_TO = re.compile(r"\s+to\b")
_ONLY = re.compile(r"\s+(?:only|just|merely)\b")
_KEPT_TEXTS = 20_000


@lru_cache(maxsize=_KEPT_TEXTS)
def is_negated(text: str) -> bool:
    """Say whether a text has a word that denies: not, without, failed to, 不; not “not only”."""
    words = lexicon()
    folded = fold(text).replace("’", "'")
    for match in _WORD.finditer(folded):
        word = match.group()
        if word not in words.negations_en or _ONLY.match(folded, match.end()):
            continue
        if not word.startswith("fail") or _TO.match(folded, match.end()):
            return True
    found = _han_pattern().finditer(folded)
    return any(match.group() not in words.not_negations_zh for match in found)


@lru_cache(maxsize=1)
def _han_pattern() -> re.Pattern[str]:
    words = lexicon()
    # The longest first, so that 不仅 is found before 不; equal ones in a fixed order.
    every = words.negations_zh | words.not_negations_zh
    return re.compile("|".join(map(re.escape, sorted(every, key=lambda w: (-len(w), w)))))
