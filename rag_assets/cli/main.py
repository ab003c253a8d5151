"""The command group. Commands are imported when they are called, so that `--help` is instant."""

import importlib
from collections.abc import Sequence
from typing import Any

import click

from rag_assets.cli.options import ExplainedErrors

# What one does → command → (module, one line for `rag --help`); the line is checked against the
# command's own help.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "init": ("setup", "Make a workspace in DIR, by default the current folder."),
        "namespace": ("setup", "Declare namespaces."),
        "models": ("setup", "Add, list and remove models of this machine."),
        "doctor": ("looking", "Check installation, models and namespaces, and print fixes."),
    },
    "Build": {
        "parse": ("building", "Scan and parse what changed."),
        "chunk": ("building", "Scan, parse and cut what changed into parents and chunks."),
        "embed": ("building", "Build everything up to vectors, and publish it."),
        "ingest": ("building", "Build everything from raw/ to a publication."),
        "build-bm25": ("looking", "Show what the text index of each namespace holds."),
        "preview": ("building", "Show how FILE would be parsed and cut; store nothing."),
    },
    "Ask": {
        "query": ("asking", "Answer a question with an evidence pack."),
        "ask": ("asking", "Answer a question with sentences that were checked."),
        "law": ("statutes", "Show articles and wordings of statutes, by name and day."),
        "desk": (
            "asking",
            "Open the desk: one web page for reading, checking, editing and asking.",
        ),
        "replay": ("asking", "Make an evidence pack again and compare it byte for byte."),
        "export-used-sources": ("asking", "Write the references of what a pack or audit uses."),
        "mcp": ("asking", "Serve the workspace to an AI agent (MCP over stdio)."),
    },
    "Learn": {
        "lab": ("lab", "Get recipes, report experiments, and see what was learned."),
    },
    "Audit": {
        "check": ("checking", "Check a draft's citations and show what needs attention first."),
        "watch": ("checking", "Check a draft each time you save it."),
        "audit": ("checking", "Find a draft's strong assertions and what supports them."),
        "verify-citations": ("checking", "Check that a draft's cited sources support it."),
        "references": ("checking", "Check the reference list of DRAFT."),
        "trace": ("checking", "Trace a verdict or item back to the bytes."),
        "health": ("checking", "Write a report of what to check before handing in."),
    },
    "Look": {
        "status": ("looking", "Show what is built, stale or failed."),
        "documents": ("looking", "List documents with uid, status and reason."),
        "settings": ("looking", "Show the settings and the files that set them."),
        "export": ("building", "Write folders and tables of what was made, for other programs."),
        "sql": ("looking", "Query the catalogues of all namespaces in SQL."),
        "ui": ("looking", "Open the Dagster UI on the workspace."),
    },
    "Keep": {
        "library": ("library", "Import bibliographies and the files that their entries name."),
        "meta": ("setup", "Override metadata of documents."),
        "draft": ("editing", "Edit the chunks of a document, and publish what was edited."),
        "decide": ("setup", "Record a decision about the settings, with its reason."),
        "gc": ("looking", "Remove what nothing refers to."),
        "eval": ("evaluating", "Measure search on known answers."),
    },
}
COMMANDS = {name: said for group in GROUPS.values() for name, said in group.items()}


# Commands that earlier versions had, and what to use now.
REMOVED = {
    "scan": "Use `rag ingest`, or `rag parse`; `rag status` says what changed.",
    "index": "Use `rag ingest`: what did not change costs nothing.",
    "briefs": "`rag parse` writes them.",
    "manifest": "Each build has its manifest in meta/builds/; `rag sql` has `publications`.",
    "route": "Use `rag ask --json`: `route` says how the question is understood.",
    "chunks": "Use `rag preview FILE`.",
    "parsers": "`rag preview` without a file lists what can be read.",
    "verify": "Use `rag verify-citations --sentence TEXT --doc UID`.",
    "judgements": "`rag desk` shows and takes them; audits show those that hold.",
    "calibrate": "Fits come with the package; to fit your own reader run "
    "`python -m benchmarks.calibrate` in a checkout.",
}


class LazyGroup(ExplainedErrors, click.Group):
    """A group whose commands live in modules that are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Return a command, importing its module."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"rag_assets.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """List the commands by what one does with them, without importing them."""
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), line) for name, (_, line) in commands.items()]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of that name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from rapidfuzz import process

            if args[0] in REMOVED:
                raise click.UsageError(
                    f"'{args[0]}' was removed. {REMOVED[args[0]]}", ctx
                ) from None
            nearest = process.extractOne(args[0], list(COMMANDS), score_cutoff=50)
            hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
            raise click.UsageError(f"no such command '{args[0]}'.{hint}", ctx) from None


def build_cli() -> click.Group:
    """Return the command group."""
    params: Sequence[Any] = [
        click.Option(
            ["--workspace", "--project", "workspace"],
            metavar="DIR",
            help="The workspace; else RAG_WORKSPACE, else the current folder or one above it.",
        ),
        click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False,
                     callback=_print_version, help="Print the version."),
    ]  # fmt: skip
    return LazyGroup(
        "rag",
        params=list(params),
        callback=_remember_workspace,
        help="Turn folders of documents into a searchable library with exact citations.\n\n"
        "Exit codes: 0 done; 1 a run or check failed; 2 wrong usage or configuration; 3 an input "
        "was refused.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _remember_workspace(workspace: str | None) -> None:
    click.get_current_context().obj = workspace


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from rag_assets import __version__

        click.echo(f"rag-assets {__version__}")
        ctx.exit()
