"""What one more sentence costs `rag verify-citations` and `rag audit` without the reader.

The drafts are made of the library's own sentences, each used once: a sentence that was judged
before costs nothing. A draft of three pays for the start; what a longer one takes beyond it
is shared out among its other rows.
"""

import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from processes import RAG, Cost, run

_PASSAGES = "SELECT doc_uid, text FROM chunks WHERE kind = 'text' ORDER BY chunk_key"
_SENTENCE_END = re.compile(r"(?<=[a-z]{2}[.])\s+(?=[A-Z])")
# Of a sentence; and no signs of formulas, references or Markdown in it.
_SHORTEST, _LONGEST = 60, 240
_ODD = re.compile(r"[{}\[\]()@\\#*_|<>=]")
# What `rag audit` takes for strong: causes, comparisons, shares, demands.
_STRONG = re.compile(
    r"\b(?:causes?|caused|leads? to|led to|reduces?d?|increases?d?|improves?d?|more than|less than|"
    r"(?:high|low|larg|small|great|fast)er than|must|should|always|never|all)\b|\d ?%"
)
# Sentences of the short draft: one may be no assertion. And how many more the long one has.
_FEW, _MORE = 3, 20
_REPEATS = 3


def measure_audits(workspace: Path, drafts: Path) -> dict[str, Any]:
    """Return seconds a sentence after the first, medians over some drafts.

    Args:
        workspace: with a publication of enough text.
        drafts: a folder outside of it: what lies in the workspace's own would be audited by a run.
    """
    (workspace / "config.yaml").open("a").write("\nverify:\n  scorer: facts\n")
    sentences = _sentences(workspace)
    strong = [text for text, _ in sentences if _STRONG.search(text)]
    cited = [f"{t.rstrip('.')} {{#{uid}}}." for t, uid in sentences if not _STRONG.search(t)]
    result = {}
    for command, texts in (("verify-citations", cited), ("audit", strong)):
        stock = iter(texts)

        def audit(count: int, command: str = command, stock: Iterator[str] = stock) -> Any:
            draft = drafts / "draft.md"
            draft.write_text("\n\n".join(_taken(stock, count)) + "\n")
            cost = run([RAG, "--workspace", workspace, command, draft, "--json"])
            return cost, len(json.loads(cost.output)["rows"])

        result[command] = _a_sentence(audit)
    return result


def _a_sentence(audit: Callable[[int], tuple[Cost, int]]) -> dict[str, Any]:
    firsts, each = [], []
    for _ in range(_REPEATS):
        (first, one), (all_, rows) = audit(_FEW), audit(_FEW + _MORE)
        firsts.append(first.wall)
        more = rows - one
        each.append(((all_.wall - first.wall) / more, (all_.processor - first.processor) / more))
    return {
        "first_wall_s": round(statistics.median(firsts), 2),
        "sentence_wall_s": round(statistics.median(wall for wall, _ in each), 3),
        "sentence_processor_s": round(statistics.median(used for _, used in each), 3),
    }


def _taken(stock: Iterator[str], count: int) -> Sequence[str]:
    taken = list(islice(stock, count))
    if len(taken) < count:
        raise SystemExit("The library has too few plain sentences to time audits; give it more.")
    return taken


def _sentences(workspace: Path) -> list[tuple[str, str]]:
    """Return plain sentences with their document, spread over the documents."""
    found = json.loads(run([RAG, "--workspace", workspace, "sql", "--json", _PASSAGES]).output)
    by_document: dict[str, list[str]] = {}
    for row in found:
        for sentence in _SENTENCE_END.split(" ".join(row["text"].split())):
            own = by_document.setdefault(row["doc_uid"], [])
            if sentence not in own and _is_plain(sentence):
                own.append(sentence)
    longest = max(map(len, by_document.values()), default=0)
    return [
        (own[place], uid)
        for place in range(longest)
        for uid, own in sorted(by_document.items())
        if place < len(own)
    ]


def _is_plain(sentence: str) -> bool:
    is_whole = sentence[:1].isupper() and sentence.endswith(".")
    return is_whole and _SHORTEST <= len(sentence) <= _LONGEST and not _ODD.search(sentence)
