"""`rag lab`: the group. Its commands are imported when they are called."""

import importlib

import click

# Command → (module, one line for `rag lab --help`); the line is that of the command's own help.
LAB_COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("lab_setup", "Give the workspace a laboratory."),
    "products": ("lab_setup", "List, add, rename and delete products."),
    "presets": ("lab_setup", "List, save and delete sets of products."),
    "request": ("lab_runs", "Ask for recipes."),
    "run": ("lab_runs", "Work on the queue."),
    "queue": ("lab_runs", "Show the runs that wait, work and ended."),
    "cancel": ("lab_runs", "Cancel RUN."),
    "show": ("lab_runs", "Show the recipes of RUN with the ground of each field."),
    "replay": ("lab_runs", "Make RUN again from its trace and compare it byte for byte."),
    "feedback": ("lab_feedback", "Say what an experiment on RUN gave."),
    "compare": ("lab_feedback", "Compare RUN, which has feedback, with others."),
    "history": ("lab_feedback", "List what every experiment gave, the newest first."),
    "experience": ("lab_experience", "Read, search, correct and delete what was learned."),
    "settings": ("lab_setup", "Show the settings that are changed at work, or save some."),
    "export": ("lab_setup", "Write everything that the laboratory remembers."),
    "import": ("lab_import", "Put FILE into this laboratory."),
}

_REMOVED = {
    "opinion": "was removed: recipes get no second opinion now. `rag lab compare RUN` compares a "
    "run with the history of its products.",
}


class LazyLabGroup(click.Group):
    """A group whose commands live in modules that are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order of the work."""
        return list(LAB_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Return a command, importing its module."""
        if cmd_name in _REMOVED:
            raise click.UsageError(f"'rag lab {cmd_name}' {_REMOVED[cmd_name]}")
        if cmd_name not in LAB_COMMANDS:
            return None
        module = importlib.import_module(f"rag_assets.cli.{LAB_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"lab_{cmd_name}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """List the commands without importing them."""
        width = max(map(len, LAB_COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name.ljust(width), line) for name, (_, line) in LAB_COMMANDS.items()]
            )


lab = LazyLabGroup(
    "lab",
    help="Recipes from literature and experience, feedback on them, and what was learned of it.",
)
