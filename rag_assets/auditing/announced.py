"""Documents that announce and do not report yet: protocols of trials and reviews, proposals.

A sentence that cites one for a result cites it wrongly, whatever its words. Told of the document,
not of the sentence: what is planned may be cited as planned.
"""

import re

from rag_assets.auditing.library import CitedDocument

NO_RESULTS_YET = (
    "The cited document is a protocol or proposal: it says what will be done and reports no "
    "results yet. Cite it for its plan alone."
)
# “Patients will be recruited”: measured on 110 papers (docs/judging.md); of those that report,
# none says so in more than 0.015 of its sentences, of those that announce, none in less than 0.027.
_LEAST_SHARE = 0.02
_FEWEST = 4
_FEWEST_NAMED = 2
_PLANNED = re.compile(r"\bwill (?:not |also |then |first )?be \w+(?:ed|en)\b")
_NAMED = re.compile(r"\b(?:protocol|proposal)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


def announces_only(document: CitedDocument) -> bool:
    """Say whether an English document says what will be done, and reports no results yet."""
    text = "\n".join(passage.text for passage in document.passages)
    planned = len(_PLANNED.findall(text))
    if planned < _FEWEST or len(_NAMED.findall(f"{document.title}\n{text}")) < _FEWEST_NAMED:
        return False
    return planned >= _LEAST_SHARE * len(_SENTENCE_END.findall(text))
