"""Questions are no statements: the words that only ask, and sentences that ask."""

import re

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


def without_asking(question: str) -> str:
    """Return the words of a question that an answer may share; all where it only asks."""
    words = " ".join(_ASKING.sub(" ", without_references(question)).split())
    return words if any(map(str.isalnum, words)) else question


def is_question(sentence: Sentence) -> bool:
    """Say whether a sentence asks; what asks answers nothing."""
    return sentence.text.rstrip(" \"'”’」』)）").endswith(("?", "？"))
