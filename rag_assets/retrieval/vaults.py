"""What may be amiss in a namespace of laws. Files are read, nothing is changed."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath

from rag_assets.law.curating import Finding, FindingKind, LawFile, curate_files
from rag_assets.model import (
    RagError,
    UsageError,
    count_of,
    escape_inline,
    escape_prose,
    hash_fields,
)
from rag_assets.parsing import decode_text, read_parsed, read_reports
from rag_assets.storage import put
from rag_assets.workspace import (
    REPEALED,
    SIDECAR_SUFFIX,
    Inventory,
    LivingContent,
    Namespace,
    SourceFile,
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


# A random sample of a namespace's raw files, balanced by folder and size, for a test vault.


# Size classes of a folder: its smallest third of files, the middle one, the largest.
_CLASSES = 3


def draw_files(files: Iterable[SourceFile], count: int, seed: int) -> list[SourceFile]:
    """Return files drawn at random, by path; the same for the same files, count and seed.

    Every folder gives as many as every other until it has none left, and within a folder every
    third of its files by size. The order of `files` does not matter.

    Raises:
        UsageError: there are fewer than `count`.
    """
    by_folder: dict[PurePosixPath, list[SourceFile]] = defaultdict(list)
    for file in files:
        by_folder[PurePosixPath(file.source_uri).parent].append(file)
    there = sum(map(len, by_folder.values()))
    if there < count:
        raise UsageError(f"there are {there} files to draw from, fewer than {count}.")

    def shuffled(items: Iterable[SourceFile]) -> list[SourceFile]:
        return sorted(items, key=lambda file: hash_fields(seed, file.source_uri))

    folders = [
        list(_in_turn([shuffled(part) for part in _thirds(held)])) for held in by_folder.values()
    ]
    # Whose turn it is first matters where not every folder gets the last round.
    folders.sort(key=lambda held: hash_fields(seed, held[0].source_uri))
    return sorted(list(_in_turn(folders))[:count], key=lambda file: file.source_uri)


def _thirds(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield the files of a folder by size, the smallest third first."""
    by_size = sorted(files, key=lambda file: (file.size, file.source_uri))
    for part in range(_CLASSES):
        yield by_size[part * len(files) // _CLASSES : (part + 1) * len(files) // _CLASSES]


def _in_turn(lists: Sequence[Sequence[SourceFile]]) -> Iterator[SourceFile]:
    """Yield the first of each list, then the second of each, and so on."""
    return (file for file in chain.from_iterable(zip_longest(*lists)) if file is not None)


def draw_sample(namespace: Namespace, count: int, seed: int) -> list[SourceFile]:
    """Return a sample of the files that the last inventory of a namespace found.

    Raises:
        UsageError: it was not scanned, or has fewer files.
    """
    found = require_inventory(namespace).sources
    return draw_files((one for one in found if one.status == "ok"), count, seed)


def copy_sample(namespace: Namespace, drawn: Sequence[SourceFile], target: Path) -> None:
    """Copy files with their sidecars into a folder, each to its path below the raw folder.

    Raises:
        UsageError: a file cannot be read, or something of its name is there already.
    """
    pairs = [(Path(one.file), target / _below_root(namespace, one)) for one in drawn]
    taken = next((path for _, path in pairs if path.exists()), None)
    if taken is not None:
        raise UsageError(f"{taken} is there already; name an empty folder.")
    for source, path in pairs:
        path.parent.mkdir(parents=True, exist_ok=True)
        sidecar = source.with_name(source.name + SIDECAR_SUFFIX)
        try:
            shutil.copyfile(source, path)
            if sidecar.is_file():
                shutil.copyfile(sidecar, path.with_name(path.name + SIDECAR_SUFFIX))
        except OSError as error:
            raise UsageError(
                f"{source} cannot be copied to {path} ({error.strerror}); scan again if it is gone."
            ) from error


def _below_root(namespace: Namespace, file: SourceFile) -> str:
    """Return a file's path below its raw folder; with several raw folders below their names."""
    root = namespace.root_of(file.source_uri)
    if root is None or len(namespace.root_names) > 1:
        return file.source_uri
    return file.source_uri.removeprefix(f"{root}/")
