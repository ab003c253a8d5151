"""Questions are no statements: what they ask for, and which sentences are of that kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.finding.sentences import Sentence
from rag_assets.finding.speakers import without_references

# What only asks; "many roofs" is no answer to "how many roofs".
_ASKING = re.compile(
    r"\bhow\s+(?:many|much|often|long|far|old|come)\b|"
    r"\b(?:what|which)\s+(?:kinds?|types?|sorts?)\s+of\b|"
    r"\b(?:please|tell|explain|describe|what|which|who|whom|whose|when|where|why|how)\b|"
    r"为什么|什么时候|什么|多少|怎么样?|怎样|如何|哪一?[个种些类年天]|是否|请问|[吗呢]\s*[？?]?\s*$",
    re.IGNORECASE,
)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """What some questions ask for, as a rule of the register.

    Args:
        id: stable name, as configs/answering.json and the docs call it.
        languages: in which it reads.
        asks: what asks for it; `answers` what a sentence of that kind has.
        fires: a question that asks for it, and a sentence of that kind.
        silent: a question that does not ask for it, and a sentence that is not of it.
    """

    id: str
    languages: tuple[str, ...]
    asks: re.Pattern[str]
    answers: re.Pattern[str]
    fires: tuple[str, str]
    silent: tuple[str, str]


# What each is worth, by questions whose answers are marked, stands in docs/evaluation.md.
QUESTION_KINDS = (
    QuestionKind(
        id="number",
        languages=("en", "zh"),
        asks=_compiled(
            r"\bhow\s+(?:many|much|often|long|far|old|high|low|large|big|fast|deep|wide|soon)\b|\bwhen\b|"
            r"\b(?:what|which)\s+(?:is\s+the\s+|was\s+the\s+)?"
            r"(?:percentages?|share|proportion|number|year|rate|dose)\b|"
            r"多少|百分之几|几[个年次条种倍天月项张]|多[大高长久远]|何时|哪一?[年天]|什么时候"
        ),
        answers=_compiled(
            r"\d|[一二三四五六七八九十百千万亿两半][个年月日次条种倍度天元人项成小张]|百分之|"
            r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|"
            r"forty|fifty|hundred|thousand|million|billion|half|third|quarter|once|twice|none|double)\b"
        ),
        fires=("How many roofs were planted?", "Twelve roofs were planted."),
        silent=("Why were roofs planted?", "Roofs were planted in May."),
    ),
    QuestionKind(
        id="reason",
        languages=("en", "zh"),
        asks=_compiled(r"\bwhy\b|\breasons?\b|\bcauses?d?\b|为什么|为何|原因|何以"),
        answers=_compiled(
            r"\b(?:because|since|due to|reasons?|therefore|thus|hence|owing to|so that|causes?d?|"
            r"as a result)\b|由于|因为|原因|因此|所以|使得|从而|因而"
        ),
        fires=("为什么绿色屋顶更凉？", "由于蒸腾，绿色屋顶更凉。"),
        silent=("How cool were the roofs?", "The roofs were 7 degrees cooler."),
    ),
)
KINDS = tuple(kind.id for kind in QUESTION_KINDS)


def without_asking(question: str) -> str:
    """Return the words of a question that an answer may share; all where it only asks."""
    words = " ".join(_ASKING.sub(" ", without_references(question)).split())
    return words if any(map(str.isalnum, words)) else question


def is_question(sentence: Sentence) -> bool:
    """Say whether a sentence asks; what asks answers nothing."""
    return sentence.text.rstrip(" \"'”’」』)）").endswith(("?", "？"))


def measure_kinds(question: str, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Return whether each sentence is of the kind that a question asks for.

    Returns:
        Shape (sentences, len(KINDS)): 1 where the kind is asked for and the sentence is of it, -1
        where it is asked for and the sentence is not.
    """
    columns = []
    # Marks of references are no numbers of the sentence.
    texts = [without_references(sentence.text) for sentence in sentences]
    for kind in QUESTION_KINDS:
        is_asked = kind.asks.search(question) is not None
        of_kind = [2.0 * (kind.answers.search(text) is not None) - 1.0 for text in texts]
        columns.append(of_kind if is_asked else [0.0] * len(texts))
    return np.array(columns, np.float64).T.reshape(len(texts), len(KINDS))
