"""The sets of claims with evidence, as the scripts that fit and measure the scorers read them."""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# Their licences let fitted figures ship; the data set's SOURCES.md says what each states.
FITTING_SETS = (
    "scifact", "wice", "solarchem", "feversymmetric", "vitaminc", "fm2", "checkcovid",
    "factcheckgpt", "citint", "scitab", "uhgeval_zh",
)  # fmt: skip
# No licence stated, or non-commercial: measured, never fitted.
MEASURED_SETS = (
    "attributionbench", "healthver", "covidfact", "climatefever", "ocnli_zh", "rgb_zh",
)  # fmt: skip
SUPPORTED = frozenset({"SUPPORT", "ATTRIBUTABLE"})


@dataclass(frozen=True)
class Row:
    """A claim with its evidence, as published."""

    set: str
    id: str
    claim: str
    evidence: tuple[str, ...]
    label: str
    source_doc: str

    @property
    def is_supported(self) -> bool:
        """Say whether the evidence supports the claim as a whole."""
        return self.label in SUPPORTED


def claims_folder() -> Path:
    """Return the folder of the claim sets.

    Raises:
        SystemExit: it is not there.
    """
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RAG_SHARED_DATA", default)) / "claims"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not there. Set RAG_SHARED_DATA to the folder of the data.")
    return folder


@lru_cache(maxsize=32)
def read_rows(name: str) -> tuple[Row, ...]:
    """Return the rows of a set in the order of its file."""
    lines = (claims_folder() / "support" / f"{name}.jsonl").read_text(encoding="utf-8")
    values = [json.loads(line) for line in lines.splitlines()]
    return tuple(
        Row(
            name,
            value["id"],
            value["claim"],
            tuple(value["evidence"]),
            value["label"],
            value["source_doc"],
        )
        for value in values
    )
