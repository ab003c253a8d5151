"""What commands that measure share: their options, and how they end."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import OutputPath, write_output

if TYPE_CHECKING:
    from rag_assets.evaluation import EvaluationReport

out_option = click.option(
    "--json", "out", type=OutputPath(), metavar="OUT",
    help="Write the figures to this file as JSON.",
)  # fmt: skip
config_option = click.option(
    "--config", "--namespace-config", "config", metavar="FILE",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Settings over the shipped ones, as in a workspace's config.yaml.",
)  # fmt: skip


def finish(report: "EvaluationReport", out: Path | None) -> None:
    """Print a report, write it where it is wanted, and leave with its exit code."""
    if out is not None:
        written = json.dumps(report.to_json(), ensure_ascii=False, indent=1)
        write_output(out, f"{written}\n".encode())
    click.echo(report.render())
    click.get_current_context().exit(FAILED if report.failures else DONE)
