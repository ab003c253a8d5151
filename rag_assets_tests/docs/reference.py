"""docs/reference.md, made from the commands, the reason codes and the configuration file.

`make reference` writes it; a test compares it with what this module would write.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from rag_assets.cli.main import build_cli
from rag_assets.parsing import PARSE_REASONS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference.md"
CONFIGURATION = ROOT / "configs" / "rag.yaml"

# Options that mean the same wherever they occur: described once, at the top.
COMMON_OPTIONS = (
    ("-h, --help", "Show this message and exit."),
    ("--json", "Print JSON to standard output."),
    ("-n, --namespace NAME", "Only this namespace; may be repeated. Without it: all of them."),
    ("-n, --namespace NAME", "Search only this namespace; may be repeated."),
    ("--as-of DATE", "Day for the wordings of laws; default: today."),
    ("--by NAME", "Name that is recorded; default: your login name."),
    ("--full", "Print the whole file that is saved, as Markdown."),
)

EXIT_CODES = {
    0: "Done.",
    1: "A run or a check failed, something is stale (`rag status`) or wrong (`rag doctor`), or "
    "the machine failed.",
    2: "Wrong usage, or a wrong key or value in a YAML file. The message names it.",
    3: "An input was refused: a draft cites a document that is unknown, ambiguous or not citable; "
    "a question has no text; nothing is published.",
}

# Codes that a scan of raw/ gives to a file it does not take (status `refused`).
SCAN_REASONS = {
    "changing": "The file is being written; run the command again.",
    "name_not_utf8": "Rename the file.",
    "not_a_file": "Neither a file nor a folder; remove it from raw/.",
    "size_limit": "Raise `parse.max_megabytes`, or split the file.",
    "sidecar_name": "Rename the sidecar as the message says.",
    "symlink_broken": "Fix the link or remove it.",
    "symlink_folder": "Links to folders are not followed.",
    "symlink_outside": "Copy the file into raw/, or add its folder under `raw` in the namespace.",
    "unreadable_file": "Give this user permission to read the file, or check the disk.",
    "unreadable_folder": "Give this user permission to read the folder.",
    "vanished": "The file was removed while it was read.",
}

# Codes that publication gives to a document that it leaves out, with their status.
PUBLICATION_REASONS = {
    "not_chunked": ("pending", "Run `rag ingest`."),
    "not_parsed": ("pending", "Run `rag ingest`."),
    "sidecar_invalid": ("withheld", "Correct the key that the message names."),
    "uid_conflict": ("withheld", "Two files claim one uid; change one of the pins."),
    "removed": ("removed", "No file has this uid; pin it if you edited and renamed."),
}

# Codes of a row of an audit, with its verdict.
VERDICT_REASONS = {
    "supported": ("OK", "The passage supports the sentence."),
    "weakly_supported": ("WEAK", "Supported in part, or not surely: cite better, or say less."),
    "framed": ("WEAK", "The source has the words but asks, supposes, denies or reports them."),
    "judged_supported": ("OK", "A person decided that the source supports the sentence."),
    "judged_unsupported": ("MISSING", "A person decided that the source does not support it."),
    "judged_needs_work": ("WEAK", "A person decided that the sentence needs work."),
    "agent_supports": ("OK", "An AI agent has judged so, with a quotation that was found."),
    "agent_partly": ("WEAK", "As `agent_supports`: the source says it in part."),
    "agent_contradicts": ("MISSING", "As `agent_supports`: the source says otherwise."),
    "agent_does_not_address": ("MISSING", "As `agent_supports`: the source is silent on it."),
    "wrong_page": ("WEAK", "Supported, but not on the cited page."),
    "wrong_article": ("WEAK", "Supported, but by another article, or below another lead."),
    "drops_exception": ("WEAK", "Omits an exception or a condition of the article."),
    "not_in_force": ("WEAK", "The law is repealed on that day."),
    "misquoted": ("WEAK or MISSING", "A quotation differs (MISSING: number, negation, exception)."),
    "quote_not_found": ("MISSING", "The quotation is not in the document."),
    "facts_differ": ("WEAK", "A number is not that of the passages, nor calculated from them."),
    "unread": ("WEAK", "The nearest passage, which no model has read: read it yourself."),
    "contradicted": ("MISSING", "The source says otherwise."),
    "not_found": ("MISSING", "No passage supports it: cite another source."),
    "no_passages": ("MISSING", "The document has no text that could support anything."),
    "no_claim": ("MISSING", "There is no sentence before the citation."),
    "unknown_uid": ("ERROR", "No document or law has this name; the nearest is shown."),
    "unknown_article": ("ERROR", "The law has no such wording or article; the nearest is shown."),
    "no_entry": ("ERROR", "The reference list has no entry for the citation."),
    "unsure_entry": ("ERROR", "Several entries or documents fit: settle it with `rag references`."),
    "not_in_library": ("ERROR", "Add the entry's file, or settle it with `rag references`."),
    "removed": ("ERROR", "The file was removed: restore it, or cite another document."),
    "ambiguous_uid": ("ERROR", "Several namespaces have it: write `{#namespace:doc_uid}`."),
    "not_citable": ("ERROR", "The file is not in a folder of evidence."),
    "withheld": ("ERROR", "The document is not published; `rag documents` says why."),
    "no_locator": ("ERROR", "The passage was not found in the document: run `rag ingest`."),
}  # fmt: skip


def list_commands(
    command: click.Command | None = None, path: tuple[str, ...] = ("rag",)
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with the words that call it, `rag` itself first."""
    found = command or build_cli()
    yield path, found
    if isinstance(found, click.Group):
        context = click.Context(found)
        for name in found.list_commands(context):
            child = found.get_command(context, name)
            if child is not None and not child.hidden:
                yield from list_commands(child, (*path, name))


def describe(path: tuple[str, ...], command: click.Command) -> str:
    """Return heading, help and options of a command, an option a line.

    Options that mean the same everywhere are described once, in `COMMON_OPTIONS`.
    """
    context = click.Context(command, info_name=" ".join(path))
    pieces = [each for each in command.collect_usage_pieces(context) if each != "[OPTIONS]"]
    usage = " ".join([*path, *([] if isinstance(command, click.Group) else pieces)])
    paragraphs = (command.help or "").replace("\b", "").split("\n\n")
    parts = [f"### {usage}", *(_escaped(" ".join(each.split())) for each in paragraphs)]
    options = [each for each in command.params if isinstance(each, click.Option)]
    records = [record for each in options if (record := each.get_help_record(context))]
    shown = [record for record in records if record not in COMMON_OPTIONS]
    if shown:
        parts.append("\n".join(f"- `{names}` {_escaped(said)}" for names, said in shown))
    return "\n\n".join(parts)


def list_keys() -> list[tuple[str, str, str]]:
    """Return (dotted key, default, comment) for every key of configs/rag.yaml.

    A comment stands behind its key, goes on in the lines below that hold nothing else, or stands
    in the lines above it.
    """
    keys: list[tuple[str, str, str]] = []
    sections: list[tuple[str, bool]] = []  # name, and whether a comment was said of it as a whole
    above: list[str] = []
    behind = -1  # column of the comment behind the key before
    for line in CONFIGURATION.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            above, behind = [], -1
        elif match := re.fullmatch(r"\s*#\s?(.*)", line):
            if line.index("#") == behind:
                name, value, said = keys[-1]
                keys[-1] = (name, value, f"{said} {match[1].strip()}")
            else:
                above.append(match[1])
        elif match := re.fullmatch(r"\s*- (\{.*\})", line):
            name, value, said = keys[-1]
            keys[-1] = (name, f"{value}, {match[1]}".removeprefix(", "), said)
        elif match := re.fullmatch(r"""( *)("[^"]*"|[\w/]+):\s*(.*?)(?:\s+#\s*(.*))?""", line):
            indent, name, value, comment = match.groups()
            del sections[len(indent) // 2 :]
            path = ".".join([*(section for section, _ in sections), name])
            said = comment or " ".join(above)
            is_told = any(told for _, told in sections)
            if said or (value and not is_told):
                keys.append((path, value, said))
                behind = line.index("#") if comment else -1
            if not value:
                sections.append((name, bool(said)))
            above = []
        else:
            raise ValueError(f"{CONFIGURATION.name}: a line that the reference cannot read: {line}")
    return keys


def make_reference() -> str:
    """Return the text of docs/reference.md."""
    parts = [
        "# Reference",
        (
            "Generated by `make reference` from the commands, the reason codes and "
            "`configs/rag.yaml`."
        ),
        "## Commands",
        (
            "Every command takes `--workspace DIR` before its name: `rag --workspace DIR status`. "
            "Options of several commands, not repeated below:"
        ),
        "\n".join(f"- `{names}` {said}" for names, said in COMMON_OPTIONS),
    ]
    for path, command in list_commands():
        parts.append(describe(path, command))
    parts += ["## Exit codes", _table(("code", "meaning"), EXIT_CODES.items())]
    parts += [
        "## Reason codes",
        "Codes do not change their meaning. `rag documents` shows them with advice.",
        "### Files that are not accepted (status `refused`)",
        _list((f"`{code}`", said) for code, said in sorted(SCAN_REASONS.items())),
        "### Documents that could not be parsed (status `failed`)",
        _list((f"`{code}`", said) for code, said in sorted(PARSE_REASONS.items())),
        "### Documents that are not published (status `withheld`, `pending`, `removed`)",
        _list((f"`{code}` ({status})", said)
              for code, (status, said) in sorted(PUBLICATION_REASONS.items())),
        "### Rows of an audit",
        _list((f"`{code}` ({verdict})", said)
              for code, (verdict, said) in VERDICT_REASONS.items()),
        "## Settings",
        (
            "Each key with its default. `config.yaml` overrides the defaults, "
            "`namespaces/NAME.yaml` overrides both. Unknown keys are errors."
        ),
        _list((f"`{key}`" + (f" = `{value}`" if value else ""), said)
              for key, value, said in list_keys()),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _list(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {name} {_escaped(said)}" for name, said in rows)


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;")


def _table(heads: tuple[str, ...], rows: object) -> str:
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    lines += [" | ".join(str(cell) for cell in row) for row in rows]  # type: ignore[attr-defined]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    REFERENCE.write_text(make_reference(), encoding="utf-8")
