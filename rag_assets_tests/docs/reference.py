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
    1: "A run or a check failed, something is stale (`rag status`) or wrong (`rag doctor`), "
    "the machine failed, or Ctrl-C ended the command.",
    2: "Wrong usage, or a wrong key or value in a YAML file. The message names it.",
    3: "An input was refused: a draft cites a document that is unknown, ambiguous or not citable; "
    "a question has no text; nothing is published.",
}

# Codes that a scan of raw/ gives to a file it does not take (status `refused`).
SCAN_REASONS = {
    "changing": "The file is being written; it is taken once it is still.",
    "name_not_utf8": "Rename the file.",
    "not_a_file": "Neither a file nor a folder; remove it from raw/.",
    "size_limit": "Raise `parse.max_megabytes`, or split the file.",
    "sidecar_name": "Rename the sidecar; the message says how.",
    "symlink_broken": "Fix the link or remove it.",
    "symlink_folder": "Nothing to do: links to folders are not followed.",
    "symlink_outside": "Copy the file into raw/, or add its folder under `raw` in the namespace.",
    "unreadable_file": "Give this user permission to read the file, or check the disk.",
    "unreadable_folder": "Give this user permission to read the folder.",
    "vanished": "Nothing to do: the file was removed while it was read.",
}

# Codes that publication gives to a document that it leaves out, with their status.
PUBLICATION_REASONS = {
    "not_chunked": ("pending", "Run `rag ingest`."),
    "not_parsed": ("pending", "Run `rag ingest`."),
    "sidecar_invalid": ("withheld", "Correct the sidecar; the message names the key."),
    "uid_conflict": ("withheld", "Two files claim one uid; change one of the two pins."),
    "removed": ("removed", "No file holds the uid any more; pin it if you edited and renamed."),
}

# Codes of a row of an audit, with its verdict.
VERDICT_REASONS = {
    "supported": ("OK", "The best passage reaches the scorer's threshold."),
    "weakly_supported": ("WEAK", ("It reaches the lower threshold only: cite better, or say "
    "less.")),
    "framed": ("WEAK", ("The source has these words but does not assert them: it asks, supposes, "
    "denies or reports them. The reason shows the frame.")),
    "judged_supported": ("OK", "A person has judged that the source supports the sentence."),
    "judged_unsupported": ("MISSING", "A person has judged that the source does not support it."),
    "judged_needs_work": ("WEAK", "A person has judged that the sentence needs work."),
    "wrong_page": ("WEAK", "Supported, but not on the page that the citation names."),
    "wrong_article": ("WEAK", ("Supported, but by another article than the citation names, "
    "by a passage that does not speak of it, or below the lead of another paragraph.")),
    "drops_exception": ("WEAK", ("It leaves out an exception or a condition of the article; the "
    "reason shows it.")),
    "not_in_force": ("WEAK", ("The law is repealed on the day that is asked for; the reason shows "
    "the sentence that repeals it.")),
    "misquoted": ("WEAK or MISSING", ("Words in quotation marks differ from the print; MISSING "
    "where a number, a negation or an exception does.")),
    "quote_not_found": ("MISSING", "Words in quotation marks are nowhere in the document."),
    "facts_differ": ("WEAK", ("A number of the sentence is another one in the passages, and cannot "
    "be worked out of them.")),
    "unread": ("WEAK", "The nearest passage was found, but nothing has read it: read it yourself."),
    "contradicted": ("MISSING", "The source says otherwise."),
    "not_found": ("MISSING", "No passage reaches the lower threshold: cite the source that does."),
    "no_passages": ("MISSING", "The document has no text that could support anything."),
    "no_claim": ("MISSING", "There is no sentence before the anchor."),
    "unknown_uid": ("ERROR", "No document has the uid, no law the name; the nearest is shown."),
    "unknown_article": ("ERROR", ("The law has no such wording, article or clause, or it stands "
    "below another chapter; the nearest is shown.")),
    "no_entry": ("ERROR", "The draft's reference list has no entry that fits the citation."),
    "unsure_entry": ("ERROR", ("Several entries fit the citation, or several documents the entry, "
    "or one of them only nearly: settle it with `rag references`.")),
    "not_in_library": ("ERROR", ("The entry means no document of the library: add its file, or "
    "settle which document it is with `rag references`.")),
    "removed": ("ERROR", "Its file is gone: put it back, or cite another document."),
    "ambiguous_uid": ("ERROR", "Several namespaces have it: write `{#namespace:doc_uid}`."),
    "not_citable": ("ERROR", "The file is not in a folder of evidence."),
    "withheld": ("ERROR", "The document is not published; `rag documents` says why."),
    "no_locator": ("ERROR", "The passage cannot be placed in the document: build again."),
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
            "Made by `make reference` from the commands, the reason codes and `configs/rag.yaml`. "
            "Do not edit it."
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
        ("A code never changes its meaning. `rag documents` shows it with a sentence about the "
        "very file."),
        "### Files that are not taken (status `refused`)",
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
            "Each key with its default. A namespace's file `namespaces/NAME.yaml` overrides the "
            "workspace's `config.yaml`, which overrides these defaults. An unknown key is an error "
            "that names the nearest valid one."
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
