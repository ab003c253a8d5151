"""Which of two provisions prevails: the newer wording, the higher rank, the newer law."""

from rag_assets.answering.law.record import LawSource, Precedence
from rag_assets.law import own_name
from rag_assets.law.metadata import LawLevel

# Lower prevails. Local regulations and rules of departments have no order between them, and an
# interpretation explains laws: it yields to them and has no order with regulations.
_RANK = {
    LawLevel.CONSTITUTION: 0,
    LawLevel.LAW: 1,
    LawLevel.ADMINISTRATIVE: 2,
    LawLevel.LOCAL: 3,
    LawLevel.DEPARTMENT: 3,
}


def is_same_law(first: LawSource, second: LawSource) -> bool:
    """Say whether two articles are of wordings of one law."""
    return own_name(first.law) == own_name(second.law)


def find_precedence(first: LawSource, second: LawSource) -> tuple[Precedence, bool]:
    """Return by what one of two provisions prevails, and whether it is the first.

    Of one law the wording in force prevails, else the newer one. Of two laws the higher rank, and
    within one rank the newer. Whether one is special to the other is not looked at. Where nothing
    tells, `undecided`, and True.
    """
    if is_same_law(first, second):
        standing = (first.standing == "in_force") - (second.standing == "in_force")
        if standing:
            return "wording", standing > 0
        return _by_day(first, second, "wording")
    order = _order(first.level, second.level)
    if order is None:
        return "undecided", True
    return ("rank", order < 0) if order else _by_day(first, second, "date")


def _order(first: LawLevel | None, second: LawLevel | None) -> int | None:
    """Return below 0 where the first rank is higher, 0 for one rank, None where nothing tells."""
    if first is None or second is None:
        return None
    if first == second:
        return 0
    if LawLevel.INTERPRETATION in {first, second}:
        other = second if first == LawLevel.INTERPRETATION else first
        if _RANK[other] > _RANK[LawLevel.LAW]:
            return None
        return -1 if other == first else 1
    return (_RANK[first] - _RANK[second]) or None


def _by_day(first: LawSource, second: LawSource, by: Precedence) -> tuple[Precedence, bool]:
    if not (first.version_date and second.version_date):
        return "undecided", True
    if first.version_date == second.version_date:
        return "undecided", True
    return by, first.version_date > second.version_date
