"""What in a question is meant to stand in a text exactly as it is written.

The text index knows words, not which stand side by side (with positions its `optimize` has
crashed: lance-format/lance#7653), and cuts 第二十条 or a DOI into parts that are common each by
itself. So these terms are looked for in the texts themselves.
"""

import re

from rag_assets.law import NUMBER, read_number, write_number

# A question with more keeps its first ones; so many quotations are a text, not a question.
MAX_TERMS = 6
# A quotation longer than this is no phrase; its words find it anyway.
_MAX_CHARACTERS = 200

_QUOTATIONS = re.compile(
    '"([^"]+)"|\u201c([^\u201d]+)\u201d|\u300c([^\u300d]+)\u300d|\u300e([^\u300f]+)\u300f'
    "|\u300a([^\u300b]+)\u300b|`([^`]+)`"
)
# 第二十条, 第1024条, 第五条之一, 第三章: places of a Chinese statute.
_ARTICLES = re.compile(rf"第\s?{NUMBER}\s?[条章节款项编](?:之[一二三四五六七八九十\d]+)?")
# § 12(3), §230(c), Art. 6(1)
_PARAGRAPHS = re.compile(r"(?:§{1,2}|\bArt\.|\bSec\.)\s?\d+\w*(?:\.\d+)*(?:\(\w{1,4}\))*")
# A run without spaces or Chinese that begins and ends with a letter or digit (or C++, C#, f(x)).
_RUNS = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./:+#@\-()\[\]]*[A-Za-z0-9_+#)\]])?")
_LETTER = re.compile(r"[A-Za-z]")
_DIGIT = re.compile(r"\d")
_INNER = re.compile(r"[A-Za-z0-9][_./:@#+][A-Za-z0-9]")
# An arXiv number; a text may print its version or leave it out.
_ARXIV = re.compile(r"\d{4}\.\d{4,5}")
_ARXIV_VERSION = re.compile(r"\d{4}\.\d{4,5}v\d{1,2}")
_PREFIXES = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:|arxiv:)", re.IGNORECASE)
# A dot or slash between bare words is more often a lost space ("end.The", "and/or") than a name.
_WORDS_ONLY = re.compile(r"[A-Za-z]+(?:[./:][A-Za-z]+)*")
_FILE_NAME = re.compile(r"[A-Za-z]{2,}\.[a-z]{1,4}")
_LANGUAGE = re.compile(r"[A-Za-z]\w{0,8}(?:\+\+|#)")
# 3.5 and 0.05 are amounts; 2106.09685 is a name.
_AMOUNT = re.compile(r"[\d.,:/\-]{1,7}")


def find_exact_terms(query: str) -> tuple[str, ...]:
    """Return the terms of a question that count where they stand exactly as written.

    Quotations (in any quotation or title marks), places of a statute (第二十条, § 12(3)) and
    tokens that look like identifiers: letters with digits, or parts joined by signs as in a DOI,
    an arXiv number, a file name, `C++`. Ordinary words, hyphenated ones, numbers and amounts are
    none. A prefix such as `doi:` is left out: texts print the same number without it.

    Returns:
        Each term once, lower case, in order, at most `MAX_TERMS`.
    """
    found: list[tuple[int, str]] = []
    rest = query
    for match in _QUOTATIONS.finditer(query):
        text = " ".join(next(group for group in match.groups() if group).split())
        if 2 <= len(text) <= _MAX_CHARACTERS and any(sign.isalnum() for sign in text):
            found.append((match.start(), text))
        rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    for pattern in (_ARTICLES, _PARAGRAPHS):
        for match in pattern.finditer(rest):
            found.append((match.start(), match.group()))
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
    rest = _PREFIXES.sub(lambda match: " " * len(match.group()), rest)
    for match in _RUNS.finditer(rest):
        token = _balanced(match.group())
        token = token.rpartition("v")[0] if _ARXIV_VERSION.fullmatch(token) else token
        if _is_identifier(token):
            found.append((match.start(), token))
    return tuple(dict.fromkeys(_folded(text) for _, text in sorted(found)))[:MAX_TERMS]


def term_pattern(term: str) -> str:
    """Return the regular expression that finds a term as a whole, for Rust's and Python's engines.

    White space stands for any white space; a term that begins or ends with a letter or digit of
    an alphabet stands alone there. To be matched without regard to case.
    """
    if _ARTICLES.fullmatch(term):
        return _either_numeral(term)
    body = r"\s+".join(re.escape(part).replace(r"\-", "-") for part in term.split())
    before = r"(?:^|[^0-9A-Za-z_])" if _is_alphabetic(term[0]) else ""
    after = r"(?:$|[^0-9A-Za-z_])" if _is_alphabetic(term[-1]) else ""
    version = r"(?:v\d+)?" if _ARXIV.fullmatch(term) else ""
    return f"{before}{body}{version}{after}"


def _either_numeral(article: str) -> str:
    """Return a pattern of 第三十九条 as 第39条 finds it, and the other way round."""

    def both(match: re.Match[str]) -> str:
        written = match.group()
        value = read_number(written)
        forms = dict.fromkeys([written, str(value), write_number(value)])
        return rf"\s?(?:{'|'.join(forms)})\s?"

    return re.sub(NUMBER, both, "".join(article.split()))


def is_plain(term: str) -> bool:
    """Say whether the text index cuts the term the same way wherever it stands."""
    return term.isascii() and not _ARXIV.fullmatch(term)


def _is_identifier(token: str) -> bool:
    if _LANGUAGE.fullmatch(token):
        return True
    has_letter, has_digit = _LETTER.search(token), _DIGIT.search(token)
    if has_letter and has_digit:
        # What one word of the index holds needs no second look.
        return bool(re.search(r"[^A-Za-z0-9]", token))
    if _WORDS_ONLY.fullmatch(token):
        return bool(_FILE_NAME.fullmatch(token))
    return bool(_INNER.search(token)) and not _AMOUNT.fullmatch(token)


def _balanced(token: str) -> str:
    """Return a token without the closing brackets that were opened before it."""
    for opening, closing in ("()", "[]"):
        while token.endswith(closing) and token.count(opening) < token.count(closing):
            token = token[:-1]
    return token.rstrip("./:-")


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _is_alphabetic(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign == "_")
