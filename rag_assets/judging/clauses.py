"""Which texts say something by themselves."""

import re

# What has none of these words says nothing by itself: “in May”, “mainly because of cattle”. Few
# verbs in the present tense are listed, since plural nouns look like them.
_FINITE = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|"
    r"shall|should|fell|rose|grew|became|went|came|got|led|held|kept|made|lost|won|found|gave|took|"
    r"saw|said|met|paid|sold|sent|spent|left|felt|thought|brought|bought|ran|began|broke|chose|drew|"
    r"drove|fought|knew|lay|spoke|stood|taught|told|wore|wrote|holds|argues|believes|remains|becomes|"
    r"contains|covers|leads|makes|gives|takes|uses|needs|requires|allows|keeps|depends|differs|"
    r"increases|decreases|rises|falls|reduces|lowers|raises|[a-z]{2,}ed)\b"
)


def is_fragment(text: str) -> bool:
    """Say whether a text has neither a finite verb nor a number: “Edward IV of England”."""
    return not _FINITE.search(text.lower()) and not any(character.isdigit() for character in text)
