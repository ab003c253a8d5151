"""Quotations of real papers, exact and altered: are all altered ones caught, and no exact one.

    python benchmarks/verbatim_quotes.py [--papers N] [--per-paper N] [--misses]

Takes sentences of the papers in RAG_SHARED_DATA (default ../shared/data), as a writer would copy
them from the page: printed lines with their hyphens and breaks joined, ligatures resolved,
quotation marks changed, full-width forms made half-width, words omitted with […]. Then the same
with one thing altered: a word left out, put in or exchanged, a number, a negation. Needs no model.
"""

import argparse
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_assets.auditing.library import CitedDocument, Passage
from rag_assets.auditing.quoting import PrintedText, check_quotation
from rag_assets.chunking import split_sentences
from rag_assets.model import HAN, ParsedDocument, count_han
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import shipped_settings

_SEED = 12
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _documents(folder: Path, limit: int | None) -> Iterator[tuple[str, ParsedDocument]]:
    settings = shipped_settings().parse
    paths = sorted(folder.rglob("*.pdf"))
    random.Random(_SEED).shuffle(paths)
    for path in paths[:limit]:
        yield path.name, parse_document(path.read_bytes(), ParseHints(extension=".pdf"), settings)


def _printed(document: ParsedDocument) -> PrintedText:
    passage = Passage(
        "d:0", "d:p", document.text, 1, 1, 0, len(document.text), (), "", "",
    )  # fmt: skip
    return PrintedText(CitedDocument("n", "d", None, True, [passage]))


def _sentences(document: ParsedDocument, random_: random.Random, count: int) -> list[str]:
    found = []
    for block in document.blocks:
        if block.kind != "paragraph":
            continue
        text = document.text[block.start : block.end]
        for start, end in split_sentences(text):
            sentence = text[start:end].strip()
            words = len(sentence.split()) + count_han(sentence) // 2
            # A column that ends in the midst of a word is the parser's fault, not a quotation.
            is_whole = sentence[-1] in ".。!?！？;；" and not sentence[0].islower()
            if 8 <= words <= 60 and sentence[0].isalnum() and is_whole:
                found.append(sentence)
    return random_.sample(found, min(count, len(found)))


def _retyped(sentence: str, random_: random.Random) -> str:
    """Return the sentence as a writer copies it."""
    text = " ".join(sentence.split()).rstrip(".。;,")
    text = re.sub(r"[“”]", "'", text).replace("ﬁ", "fi").replace("ﬂ", "fl").replace("’", "'")
    text = text.replace("（", "(").replace("）", ")").replace("，", ",").replace("–", "-")
    way = random_.randrange(4)
    words = text.split(" ")
    if way == 1 and len(words) > 14:
        middle = len(words) // 2
        kept = [*words[:middle], "[…]", *words[middle + 2 :]]
        dropped = " ".join(words[middle : middle + 2])
        if not re.search(r"\b(not|no|never|without|nor|neither|none|cannot)\b|n't", dropped):
            return " ".join(kept)
    if way == 2 and text[0].isascii() and text[0].isupper() and text[1:2].islower():
        return f"[{text[0].lower()}]{text[1:]}"
    if way == 3 and len(words) > 6:
        cut = random_.randrange(2, len(words) - 2)
        return "\n".join((" ".join(words[:cut]), " ".join(words[cut:])))
    return text


_REPLACEMENTS = ("walnut", "quarterly", "violet", "Denmark", "sandstone")


def _drop_word(text: str, random_: random.Random) -> str | None:
    words = text.split()
    if len(words) < 6:
        return None
    at = random_.randrange(1, len(words) - 1)
    if not words[at].isalpha() or words[at] in {words[at - 1], words[at + 1]}:
        return None
    # A quotation without its last word merely ends before it.
    if not any(sign.isalnum() for word in words[at + 1 :] for sign in word):
        return None
    return " ".join((*words[:at], *words[at + 1 :]))


def _exchange_word(text: str, random_: random.Random) -> str | None:
    words = text.split()
    places = [i for i, word in enumerate(words) if word.isalpha() and len(word) > 3]
    if not places:
        return None
    words[random_.choice(places)] = random_.choice(_REPLACEMENTS)
    return " ".join(words)


def _insert_word(text: str, random_: random.Random) -> str | None:
    words = text.split()
    at = random_.randrange(1, len(words)) if len(words) > 1 else 0
    return " ".join((*words[:at], "reportedly", *words[at:])) if at else None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _change_number(text: str, random_: random.Random) -> str | None:
    # The number of a reference belongs to the print, not to the words.
    found = list(_NUMBER.finditer(re.sub(r"\[[^\]]*\]", _blank, text)))
    if not found:
        return None
    match = random_.choice(found)
    return f"{text[: match.start()]}{int(float(match.group())) + 7}{text[match.end() :]}"


def _negate(text: str, random_: random.Random) -> str | None:
    del random_
    match = re.search(r"\b(?:is|are|was|were|can|does|did|has|have)\b", text)
    if match and " not" not in text[match.end() : match.end() + 5]:
        return f"{text[: match.end()]} not{text[match.end() :]}"
    match = re.search(r"[是能有可会]", text)
    return f"{text[: match.start()]}不{text[match.start() :]}" if match else None


def _exchange_han(text: str, random_: random.Random) -> str | None:
    places = [i for i, character in enumerate(text) if HAN.match(character)]
    if len(places) < 6:
        return None
    at = random_.choice(places)
    new = random_.choice(sorted(set("高低增减甲乙丙丁") - {text[at]}))
    return text[:at] + new + text[at + 1 :]


ALTERATIONS: dict[str, Callable[[str, random.Random], str | None]] = {
    "word left out": _drop_word,
    "word exchanged": _exchange_word,
    "word put in": _insert_word,
    "number": _change_number,
    "negation": _negate,
    "Chinese character": _exchange_han,
}


def main() -> None:
    """Print how many quotations of each kind were judged how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int)
    parser.add_argument("--per-paper", type=int, default=20)
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    folder = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "papers"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not there: set RAG_SHARED_DATA.")
    random_ = random.Random(_SEED)
    states: dict[str, Counter[str]] = {}
    seconds, checked, papers = 0.0, 0, 0
    for name, document in _documents(folder, given.papers):
        printed = _printed(document)
        papers += 1
        for sentence in _sentences(document, random_, given.per_paper):
            exact = _retyped(sentence, random_)
            tries = {"exact": exact}
            plain = " ".join(sentence.split()).rstrip(".。")
            for kind, alter in ALTERATIONS.items():
                altered = alter(plain, random_)
                if altered is not None and altered != plain:
                    tries[kind] = altered
            for kind, quotation in tries.items():
                started = time.perf_counter()
                check = check_quotation(quotation, printed)
                seconds += time.perf_counter() - started
                checked += 1
                states.setdefault(kind, Counter())[check.state] += 1
                is_wrong = (check.state == "exact") != (kind == "exact")
                if given.misses and is_wrong:
                    print(f"{name} [{kind}] {check.state} {check.changes}\n  {quotation!r}")
                    print(f"  {check.source!r}")
    print(f"{papers} papers, {checked} quotations, {1000 * seconds / max(checked, 1):.1f} ms each")
    for kind, found in states.items():
        total = found.total()
        wrong = total - found["exact"] if kind == "exact" else found["exact"]
        label = "false alarms" if kind == "exact" else "not caught"
        shown = ", ".join(f"{state} {count}" for state, count in sorted(found.items()))
        print(f"{kind:18} {total:5}  {label} {wrong:4} ({wrong / total:.2%})  {shown}")


if __name__ == "__main__":
    main()
