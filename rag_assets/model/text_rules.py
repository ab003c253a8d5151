"""Rules that words alone decide, as a register: each with what it fires on and what it does not."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextRule:
    """One rule over a text; `benchmarks/rules_ledger.py` counts what it is worth.

    Args:
        id: stable name, as the ledger and the docs call it.
        languages: in which it reads.
        says: what is taken of a text on which it fires.
        fires: a text on which it fires; `silent` on which it does not.
        check: whether it fires.
    """

    id: str
    languages: tuple[str, ...]
    says: str
    fires: str
    silent: str
    check: Callable[[str], bool]
