"""Audits as SARIF 2.1.0, which code hosts and editors show beside the lines of a draft."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Any, Literal

from rag_assets.auditing.draft import unit_of
from rag_assets.auditing.record import CitationAudit, CitationVerdict, Status
from rag_assets.model import hash_fields

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: dict[Status, Literal["error", "warning", "note"]] = {
    "ERROR": "error",
    "MISSING": "error",
    "WEAK": "warning",
    "OK": "note",
}

# What `--fail-on` counts as a failure; each level includes the ones before it.
FailOn = Literal["unpaired", "missing", "weak"]
_FAILS: dict[FailOn, frozenset[Status]] = {
    "unpaired": frozenset({"ERROR"}),
    "missing": frozenset({"ERROR", "MISSING"}),
    "weak": frozenset({"ERROR", "MISSING", "WEAK"}),
}


def failing(audit: CitationAudit, fail_on: FailOn) -> tuple[CitationVerdict, ...]:
    """Return the verdicts that make a check fail.

    Args:
        fail_on: `unpaired`, citations that could not be checked; `missing`, those and what the
            source does not say; `weak`, all that is not OK.
    """
    return tuple(row for row in audit.rows if row.status in _FAILS[fail_on])


def audit_to_sarif(audit: CitationAudit, uri: str) -> dict[str, Any]:
    """Return the verdicts that are not OK as a SARIF log.

    A Word draft has no lines: its results name the file, and the paragraph in their message.

    Args:
        uri: of the draft, relative to the root of the repository, with `/`.
    """
    shown = [row for row in audit.rows if row.status != "OK"]
    rules = sorted({row.reason_code for row in shown})
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "rag-assets",
                "version": version("rag-assets"),
                "rules": [{"id": rule, "name": _name(rule)} for rule in rules],
            }},
            "columnKind": "unicodeCodePoints",
            "results": [_result(audit, row, uri, rules) for row in shown],
        }],
    }  # fmt: skip


def _result(
    audit: CitationAudit, row: CitationVerdict, uri: str, rules: Sequence[str]
) -> dict[str, Any]:
    unit = unit_of(audit.draft_name)
    # Of a draft in several files the one that the sentence is in.
    uri = (PurePosixPath(uri).parent / row.file).as_posix() if row.file else uri
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    where = f"{unit.capitalize()} {row.line}: " if unit != "line" else ""
    if unit == "line":
        place["region"] = {"startLine": row.line, "snippet": {"text": row.sentence}}
    quote = row.shown_quote
    source = f" Source: “{quote}” ({row.doc_uid}, {row.locator})." if quote else ""
    return {
        "ruleId": row.reason_code,
        "ruleIndex": rules.index(row.reason_code),
        "level": _LEVELS[row.status],
        "message": {"text": f"{where}{row.status}, {row.shown_citation}: {row.reason}{source}"},
        "locations": [{"physicalLocation": place}],
        # Stays when lines above are edited.
        "partialFingerprints": {
            "citation/v1": hash_fields(row.claim or row.sentence, row.cites)
        },
    }  # fmt: skip


def _name(code: str) -> str:
    return "".join(part.capitalize() for part in code.split("_"))
