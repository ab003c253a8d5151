"""Chains as text for a person, and as values for JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rag_assets.tracing.chain import Chain, Step

# Hashes are shown so far, as Git does; `--json` has them whole.
_SHOWN_DIGITS = 16
_HASHES = frozenset({"sha256", "hash", "text_hash", "scorer_fingerprint", "config_hash",
                     "fingerprint"})  # fmt: skip
# Steps whose score is that of a verdict; others compare the hits of one question.
_JUDGED = frozenset({"verdict", "claim"})
# Letters of a sentence in a line of its own.
_LINE_LETTERS = 150
_MAKER_NAMES = {"run_id": "run", "code_version": "code", "config_hash": "configuration",
                "tool_version": "rag-assets", "computed_at": "at", "made_at": "at"}  # fmt: skip


def render_chain(chain: Chain) -> str:
    """Return a chain, each step one level deeper than what rests on it."""
    lines: list[str] = []
    for depth, step in enumerate(chain.steps):
        lines += [f"{'  ' * depth}{line}" for line in _step_lines(step, first=depth == 0)]
    return "\n".join([*lines, "", _folded(chain.sentence)])


def render_overview(chains: Sequence[Chain]) -> str:
    """Return one line a chain: its row, status, source file and whether it holds."""
    lines = []
    for chain in chains:
        first, last = chain.steps[0], chain.steps[-1]
        file = next((step for step in chain.steps if step.kind == "file"), last)
        ground = next((step for step in chain.steps if step.kind == "ground"), None)
        status = str(ground.facts["field"] if ground else first.facts.get("status", first.kind))
        mark = "holds" if chain.holds and chain.end == "file" else "look"
        digest = str(file.facts.get("sha256", ""))[:12]
        lines.append(f"{chain.name}  {status:<8} {mark:<6} {digest:<12}  {_folded(file.name)}")
        if mark == "look":
            lines.append(f"    {_folded(chain.sentence)}")
    return "\n".join(lines)


def chain_to_json(chain: Chain) -> dict[str, Any]:
    """Return a chain as values that JSON knows; times are ISO 8601, UTC."""
    return asdict(chain)


def _step_lines(step: Step, *, first: bool) -> list[str]:
    mark = "" if first else "└ "
    margin = " " * (len(mark) + 2)
    lines = [f"{mark}{step.kind}  {_folded(step.name)}"]
    if step.finding:
        sign = {True: "✓", False: "✗", None: "·"}[step.holds]
        lines.append(f"{margin}{sign} {_folded(step.finding)}")
    lines += [
        f"{margin}{name}: {_shown(name, value, step.kind)}" for name, value in step.facts.items()
    ]
    if step.kind in {"passage", "parent", "parse", "publication"}:
        lines.append(f"{margin}made by: {_made_by(step.made_by)}")
    elif step.made_by:
        lines.append(f"{margin}made: {_made_by(step.made_by)}")
    return lines


def _made_by(made_by: Mapping[str, Any]) -> str:
    if not made_by:
        return "not recorded"
    told = [
        f"{shown} {_shown(name, made_by[name])}"
        for name, shown in _MAKER_NAMES.items()
        if made_by.get(name)
    ]
    if "run_id" not in made_by:
        told.append("no Dagster run")
    return ", ".join(told)


def _shown(name: str, value: Any, kind: str = "") -> str:
    if name in _HASHES:
        return str(value)[:_SHOWN_DIGITS]
    if name == "score" and kind in _JUDGED:
        from rag_assets.judging import show_score

        return show_score(value)
    text = _folded(str(value))
    return text if len(text) <= _LINE_LETTERS else f"{text[: _LINE_LETTERS - 1]}…"


def _folded(text: str) -> str:
    """Return `text` on one line: a line break in a file's name must not begin a step."""
    return " ".join(text.split())
