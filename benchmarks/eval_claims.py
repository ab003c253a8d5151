"""`python -m benchmarks.eval_claims`: whether a scorer tells supported claims from others."""

from dataclasses import replace
from pathlib import Path

import click

from rag_assets.cli.evaluating import config_option, finish, out_option
from rag_assets.cli.options import ExplainedErrors, OutputPath
from rag_assets.cli.progress import shown_progress
from rag_assets.evaluation import EvaluationReport


@click.command(
    "eval_claims",
    cls=ExplainedErrors,
    short_help="How well supported sentences are told from others.",
    help="Judge the sentences in FILES and compare with their labels, at the shipped threshold. "
    "Of drafts with known truth (one JSON object a line: id, paper, language, sentence, label, "
    "kind, evidence) the audit itself judges each against the source that it cites: tables by "
    "language and kind of error. Of claims with their "
    "evidence (claim, evidence, label) the scorer alone does. What was judged is kept: a run that "
    "was stopped goes on.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@click.option(
    "--scorer", type=click.Choice(["auto", "reader", "facts", "similarity", "llm"]),
    help="Overrides verify.scorer.",
)  # fmt: skip
@click.option(
    "--sources", multiple=True, metavar="PLACE", type=click.Path(exists=True, path_type=Path),
    help="A folder, or an archive (tar), with the sources of drafts; may be repeated. Else those "
    "beside FILE.",
)  # fmt: skip
@out_option
@config_option
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Judge only N rows of a file, drawn with a seed.",
)
@click.option(
    "--cache", type=OutputPath(is_folder=True), metavar="FOLDER",
    help="Keep sources and verdicts of drafts here; else in RAG_EVALUATION_CACHE, else in the "
    "user's cache folder.",
)  # fmt: skip
def eval_claims(
    files: tuple[Path, ...], scorer: str | None, sources: tuple[Path, ...],
    out: Path | None, config: Path | None, limit: int | None, cache: Path | None,
) -> None:  # fmt: skip
    """Print the figures of drafts and, as further tables, of claims with their evidence."""
    from typing import cast

    from benchmarks.evaluating.claims import evaluate_claims
    from benchmarks.evaluating.drafts import evaluate_drafts, is_draft_file
    from rag_assets.evaluation import default_cache
    from rag_assets.model.settings import ScorerName
    from rag_assets.workspace import shipped_settings

    settings, name = shipped_settings(config), cast("ScorerName | None", scorer)
    drafts = [file for file in files if is_draft_file(file)]
    others = [file for file in files if file not in drafts]
    reports = []
    with shown_progress() as progress:
        if drafts:
            reports.append(
                evaluate_drafts(
                    drafts, settings, name, sources=sources, limit=limit,
                    cache=(cache or default_cache()).absolute() / "drafts",
                    on_progress=progress,
                )
            )  # fmt: skip
        if others:
            reports.append(evaluate_claims(others, settings, name, limit, progress))
    finish(joined(*reports) if len(reports) > 1 else reports[0], out)


def joined(first: EvaluationReport, second: EvaluationReport) -> EvaluationReport:
    """Return two reports of different figures as one: what the first says of itself, all tables."""
    counts = {f"{r.evaluation} {n}": c for r in (first, second) for n, c in r.counts.items()}
    return replace(
        first,
        metrics={**second.metrics, **first.metrics},
        counts=counts,
        tables=(*first.tables, *second.tables),
        details={**second.details, **first.details},
        failures=(*first.failures, *second.failures),
    )


if __name__ == "__main__":
    eval_claims()
