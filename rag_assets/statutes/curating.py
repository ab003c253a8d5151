"""What may be amiss in a namespace of laws. Files are read, nothing is changed."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rag_assets.law.curating import Finding, FindingKind, LawFile, curate_files
from rag_assets.model import RagError, UsageError, count_of, escape_inline, escape_prose
from rag_assets.parsing import decode_text, read_parsed, read_reports
from rag_assets.storage import put
from rag_assets.workspace import (
    REPEALED,
    Inventory,
    LivingContent,
    Namespace,
    Workspace,
    current_identities,
    current_overrides,
    require_inventory,
)

_REPORT = "meta/law_curation/{name}.md"
# Text formats: their lines are those of the file, but for front matter.
_BY_LINE = frozenset({"text/markdown", "text/plain"})


@dataclass(frozen=True, slots=True)
class Curation:
    """What was found in a namespace.

    Args:
        files: how many were looked at; `flagged` how many have a finding.
        as_of: the day on which a wording had to hold.
        findings: by kind, rule, file and line.
    """

    namespace: str
    files: int
    as_of: date
    findings: tuple[Finding, ...]

    @property
    def flagged(self) -> int:
        """How many files have a finding."""
        return len({finding.file for finding in self.findings})

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Findings by kind and rule, every kind named."""
        counted = Counter((finding.kind, finding.rule) for finding in self.findings)
        return {
            str(kind): {rule: n for (of, rule), n in sorted(counted.items()) if of is kind}
            for kind in FindingKind
        }


def curate_namespace(namespace: Namespace, as_of: date) -> Curation:
    """Look through the parsed files of a namespace.

    Raises:
        UsageError: it was not scanned, or files were not parsed yet.
    """
    inventory = require_inventory(namespace)
    empty: list[Finding] = []
    findings = curate_files(_files(namespace, inventory, empty), as_of)
    empty.sort(key=lambda finding: finding.file)
    count = sum(len(living.sources) for living in inventory.contents.values())
    return Curation(namespace.name, count, as_of, (*empty, *findings))


def _files(namespace: Namespace, inventory: Inventory, empty: list[Finding]) -> Iterator[LawFile]:
    """Yield what was parsed; of what holds no text put findings aside."""
    unparsed = 0
    kept = _kept(namespace, inventory)
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        reports = {row["content_hash"]: row for row in read_reports(namespace, partition, living)}
        unparsed += len(living.keys() - reports.keys())
        for content, row in sorted(reports.items()):
            if row["status"] == "ok":
                parse = namespace.parsed_folder(partition) / row["parsed_file"]
                yield _read(parse, living[content], is_kept=content in kept)
            elif row["reason_code"] == "empty_file":
                empty += _empty(living[content], row["message"])
    if unparsed:
        raise UsageError(
            f"{namespace.name}: {count_of(unparsed, 'file')} of raw/ not parsed yet; run "
            f"`rag parse --namespace {namespace.name}` first."
        )


def _empty(living: LivingContent, message: str) -> Iterator[Finding]:
    for source in living.sources:
        yield Finding(
            FindingKind.EMPTY, "no-text", source.source_uri, None, None, message,
            "Fill the file with the published text, or take it out.",
        )  # fmt: skip


def _kept(namespace: Namespace, inventory: Inventory) -> set[str]:
    """Return the hashes of the contents of which a person has said that they are not repealed."""
    overrides = current_overrides(namespace)
    uids = current_identities(namespace, inventory).uids
    return {content for content, uid in uids.items() if REPEALED in overrides.get(uid, {})}


def _read(parse: Path, living: LivingContent, *, is_kept: bool) -> LawFile:
    document, _ = read_parsed(parse)
    before = 0
    if document.media_type in _BY_LINE:
        source = decode_text(Path(living.first.file).read_bytes())[0]
        before = max(0, source.count("\n") - document.text.count("\n"))
    first, *others = (source.source_uri for source in living.sources)
    return LawFile(first, document.text, before, tuple(others), is_kept)


@dataclass(frozen=True, slots=True)
class CurationReports:
    """What was written.

    Args:
        curations: one of each namespace of laws that could be looked through.
        left_out: a sentence for each that could not.
    """

    curations: tuple[Curation, ...]
    left_out: tuple[str, ...]


def write_curation_reports(workspace: Workspace, as_of: date) -> CurationReports:
    """Write `meta/law_curation/<namespace>.md` of each namespace of laws, where it has changed."""
    found: list[Curation] = []
    left_out: list[str] = []
    for name in workspace.namespace_names:
        try:
            namespace = workspace.namespace(name)
            if namespace.settings.chunk.mode == "law":
                found.append(curate_namespace(namespace, as_of))
        except RagError as error:
            left_out.append(f"{name} is left out: {error}")
    for curation in found:
        text = "\n".join(render_curation(curation)) + "\n"
        put(workspace.store, _REPORT.format(name=curation.namespace), text.encode())
    return CurationReports(tuple(found), tuple(left_out))


def render_curation(curation: Curation) -> Iterator[str]:
    """Yield the lines of a report in Markdown: counts, then what was found by kind and rule."""
    yield f"# What to look at in the laws of {curation.namespace}\n"
    yield (
        f"{count_of(curation.files, 'file')}, {curation.flagged} of them with something to look "
        f"at. Wordings as of {curation.as_of}. Nothing was changed.\n"
    )
    for kind, rules in curation.counts.items():
        yield f"- {kind}: {sum(rules.values())}"
    for kind in FindingKind:
        of_kind = [finding for finding in curation.findings if finding.kind is kind]
        if of_kind:
            yield f"\n## {str(kind).capitalize()}\n"
        rule = ""
        for finding in of_kind:
            if finding.rule != rule:
                rule = finding.rule
                yield f"\n{rule}: {finding.advice}\n"
            yield f"- {escape_inline(place_of(finding))}: {escape_prose(told_of(finding))}"


def place_of(finding: Finding) -> str:
    """Return file and line as editors take them."""
    return finding.file + (f":{finding.line}" if finding.line is not None else "")


def told_of(finding: Finding) -> str:
    """Return why something was found, with the files that it is compared with."""
    return " ".join((finding.why, *(f"({other})" for other in finding.others)))
