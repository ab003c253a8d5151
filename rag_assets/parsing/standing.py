"""Whether a document says that it was retracted, corrected, or that its publisher has concerns."""

import re

from rag_assets.model import ParsedDocument, Standing, standing_of_title

# A stamp is a line of its own on a page, or what repeats on each; so are they written there.
_STAMPS: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(
        r"\W*(?:RETRACTED|Retracted|WITHDRAWN)(?:\s+(?:ARTICLE|PAPER|CHAPTER|Article|Paper))?\W*"
        r"|\W*(?:本文|论文|该文)?已?(?:撤稿|撤回)(?:声明)?\W*"
    ),
    "concern": re.compile(
        r"\W*(?:EDITORIAL )?EXPRESSION OF CONCERN\W*|\W*(?:Editorial )?Expression of [Cc]oncern\W*"
        r"|\W*(?:编辑)?关注声明\W*"
    ),
}
# The kind of a publication, above its title; further on `Correction` is a chapter.
_LABELS: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(r"\W*(?:RETRACTION|Retraction)(?: (?i:note|notice|statement))?\W*"),
    "corrected": re.compile(
        r"\W*(?:ERRATUM|CORRIGENDUM|Erratum|Corrigendum|勘误|更正)\W*"
        r"|\W*(?:(?:AUTHOR |PUBLISHER )?CORRECTION|(?:Author|Publisher) Correction)\W*"
    ),
}
_MAX_LABEL_LINES = 6
# The notice stands at the beginning, mostly above the abstract.
_NOTICE_CHARACTERS = 4000
_THIS = r"this\s+(?:article|paper|chapter|publication|study|work|manuscript)"
_EDITORS = r"the\s+(?:editors?(?:-in-chief)?|publishers?|authors?|journal)"
_START = r"(?:^|[.!?:。！？]\s+|\n)\W*(?:(?:retraction|editorial|editor's)\s+(?:note|notice)\W+)?"
_NOTICES: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(
        rf"{_START}(?:{_THIS}\s+(?:has\s+been|was|is)\s+(?:retracted|withdrawn)\b"
        rf"|{_EDITORS}(?:\s+(?:of|and|has|have)\b[^.\n]{{0,80}})?\s+(?:retracts?|retracted|withdrawn?)"
        rf"\s+{_THIS}|(?:本文|本论文|该论文|该文)(?:现)?(?:已|已经|已被|被)?(?:编辑部)?(?:撤稿|撤回|予以撤稿))",
        re.IGNORECASE,
    ),
    "concern": re.compile(
        rf"{_START}(?:an?\s+|the\s+)?(?:editorial\s+)?expression\s+of\s+concern\s+"
        rf"(?:has\s+been|was|is|for|about|on|regarding)\b|编辑部?对(?:本文|该文)[^。]{{0,20}}(?:关注|关切)",
        re.IGNORECASE,
    ),
    "corrected": re.compile(
        rf"{_START}(?:{_THIS}\s+(?:has\s+been|was)\s+corrected\b"
        rf"|an?\s+(?:erratum|corrigendum|(?:author\s+|publisher\s+)?correction)\s+to\s+{_THIS}"
        r"|本文(?:已|已经)(?:更正|勘误))",
        re.IGNORECASE,
    ),
}


def find_standing(document: ParsedDocument) -> Standing | None:
    """Return what a document's title, stamps, label or notice says of it; None without.

    A paper about retractions, or one that mentions them, says nothing of itself.
    """
    found = standing_of_title(document.title)
    if found is not None:
        return found
    printed = [document.text[line.start : line.end] for line in document.lines]
    lines = [*document.removed_templates, *(printed or document.text.splitlines())]
    beginning = document.text[:_NOTICE_CHARACTERS]
    labels = [line for line in document.text[:_NOTICE_CHARACTERS].split("\n") if line.strip()]
    for standing in ("retracted", "concern", "corrected"):
        stamp, label = _STAMPS.get(standing), _LABELS.get(standing)
        if (
            (stamp and any(map(stamp.fullmatch, lines)))
            or (label and any(map(label.fullmatch, labels[:_MAX_LABEL_LINES])))
            or _NOTICES[standing].search(beginning)
        ):
            return standing
    return None
