"""Documents that announce and do not report yet: protocols of trials and reviews, proposals.

A sentence that cites one for a result cites it wrongly, whatever its words. Told of the document,
not of the sentence: what is planned may be cited as planned. One rule;
`python -m benchmarks.rules_ledger --papers` says of which it fires (docs/judging.md).
"""

import re

from rag_assets.auditing.library import CitedDocument
from rag_assets.model import TextRule

NO_RESULTS_YET = (
    "The cited document is a protocol or proposal: it says what will be done and reports no "
    "results yet. Cite it for its plan alone."
)
# “Patients will be recruited”: of 110 papers (docs/judging.md) the protocols say so in 0.045 of
# their sentences or more. Of the others a few do in 0.02 or more; none of them four times that
# also names itself so twice.
_LEAST_SHARE = 0.02
_FEWEST = 4
_FEWEST_NAMED = 2
_PLANNED = re.compile(r"\bwill (?:not |also |then |first )?be \w+(?:ed|en)\b")
_NAMED = re.compile(r"\b(?:protocol|proposal)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


def _announces(text: str) -> bool:
    planned = len(_PLANNED.findall(text))
    if planned < _FEWEST or len(_NAMED.findall(text)) < _FEWEST_NAMED:
        return False
    return planned >= _LEAST_SHARE * len(_SENTENCE_END.findall(text))


ANNOUNCES = TextRule(
    id="announces-only",
    languages=("en",),
    says=NO_RESULTS_YET,
    fires="This protocol describes a trial. Offices will be randomised. Temperatures will be "
    "measured. Data will be analysed. Deviations from the protocol will be reported.",
    silent="Offices were randomised by a protocol. The protocol was kept. Results will be "
    "discussed below. More will be planned.",
    check=_announces,
)


def announces_only(document: CitedDocument) -> bool:
    """Say whether an English document says what will be done, and reports no results yet."""
    texts = (document.title or "", *(passage.text for passage in document.passages))
    return ANNOUNCES.check("\n".join(texts))
