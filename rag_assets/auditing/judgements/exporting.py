"""Judgements of people as sentences of known truth, in the form that `rag calibrate` reads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rag_assets.auditing.judgements.journal import Judgements
from rag_assets.auditing.judgements.record import Judgement
from rag_assets.auditing.verdict import ReasonCode
from rag_assets.model import is_chinese
from rag_assets.workspace import Workspace, require_inventory

# What a person has accepted is true of the machine's own verdict. Other codes say what is wrong
# with a citation and not whether the source supports the sentence.
_ACCEPTED: Mapping[ReasonCode, str] = {
    "supported": "SUPPORTED",
    "weakly_supported": "PARTLY",
    "framed": "NOT",
    "not_found": "NOT",
    "contradicted": "NOT",
    "facts_differ": "NOT",
}
_DECIDED = {"supported": "SUPPORTED", "unsupported": "NOT"}


@dataclass(frozen=True, slots=True)
class Exported:
    """Rows for a file of known truth, and why judgements have none.

    Args:
        rows: one JSON object a judgement, in the order in which they were made.
        left_out: how many, by reason.
    """

    rows: tuple[dict[str, Any], ...]
    left_out: Mapping[str, int]


def calibration_rows(workspace: Workspace, judgements: Judgements) -> Exported:
    """Return the judgements that hold as rows of drafts with known truth.

    `paper` is the path of the cited file below the workspace, so that its folder is a place for
    `rag calibrate --sources`. `evidence` is what the person looked at: the chosen passage, else the
    sentence that was shown.

    Raises:
        DamagedFileError: an inventory cannot be read.
    """
    paths: dict[str, dict[str, str]] = {}
    rows, left_out = [], dict[str, int]()
    for one in sorted(judgements.latest.values(), key=lambda each: each.number):
        label = _label(one)
        path = _path(workspace, one, paths)
        if label is None:
            why = "neither supported nor not supported was said"
        elif path is None:
            why = "the file that was judged is not in raw/ any more"
        else:
            rows.append(_row(one, label, path))
            continue
        left_out[why] = left_out.get(why, 0) + 1
    return Exported(tuple(rows), left_out)


def _label(judgement: Judgement) -> str | None:
    if judgement.decision == "accepted":
        return _ACCEPTED.get(judgement.reason_code)
    return _DECIDED.get(judgement.decision)


def _path(
    workspace: Workspace, judgement: Judgement, paths: dict[str, dict[str, str]]
) -> str | None:
    name = judgement.namespace
    if name is None or name not in workspace.namespace_names:
        return None
    if name not in paths:
        living = require_inventory(workspace.namespace(name)).contents
        paths[name] = {found: one.first.source_uri for found, one in living.items()}
    return paths[name].get(judgement.content_version or "")


def _row(judgement: Judgement, label: str, path: str) -> dict[str, Any]:
    shown: Iterable[str | None] = (
        (judgement.chosen.text,) if judgement.chosen is not None else (judgement.quote,)
    )
    return {
        "id": f"judgement-{judgement.number}",
        "paper": path,
        "language": "zh" if is_chinese(judgement.claim) else "en",
        "sentence": judgement.claim,
        "label": label,
        "kind": judgement.reason_code,
        "evidence": [text for text in shown if text],
        "score": judgement.score,
        "scorer": judgement.scorer,
        "by": judgement.by,
        "at": judgement.at,
    }
