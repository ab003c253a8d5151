"""Every file of a folder under the limits, and what became of each."""

import hashlib
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rag_assets.cli.evaluating import config_option, finish, out_option
from rag_assets.cli.options import ExplainedErrors
from rag_assets.cli.progress import shown_progress
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    settings_digest,
    share,
)
from rag_assets.evaluation.sets import read_rows
from rag_assets.model import ParseReport, Progress, UsageError
from rag_assets.parsing import (
    PARSE_REASONS,
    ParseJob,
    all_parsers,
    parse_files,
    request_fingerprint,
)
from rag_assets.workspace import Settings, shipped_settings

MANIFEST = "manifest.jsonl"
CRASH, TIME_OUT, MEMORY_OUT = "parser_crashed", "time_limit", "memory_limit"
_SLOWEST = 10

# Kinds of trouble of a manifest and the reasons that name each. A document that is read after
# all says so where it carries a warning.
TELLING_REASONS: Mapping[str, frozenset[str]] = {
    "corrupt": frozenset({"damaged_file", "no_pages", "empty_file", "unsupported_format"}),
    "password": frozenset({"password_required", "password_wrong"}),
    "textless": frozenset({"no_text_layer"}),
    "unopenable": frozenset({"damaged_file", "no_pages", "empty_file", "unsupported_format"}),
    "zero_page": frozenset({"no_pages", "damaged_file"}),
}


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a manifest says of a file."""

    kind: str
    password: str | None


@dataclass(frozen=True, slots=True)
class FileFate:
    """What became of one file; `report` is None for a file that was lost.

    Args:
        path: below the folder, with `/`.
        kind: from a manifest, None without.
    """

    path: str
    kind: str | None
    report: ParseReport | None

    @property
    def status(self) -> str:
        """`ok`, `failed` or `lost`."""
        return self.report.status if self.report else "lost"

    @property
    def reason(self) -> str | None:
        """Why it failed, None where it did not."""
        return self.report.reason_code if self.report else "lost"

    @property
    def is_troubled(self) -> bool:
        """Whether the manifest says that something is wrong with the file."""
        return self.kind in TELLING_REASONS

    @property
    def is_silent(self) -> bool:
        """Whether a troubled file was read without a word: to be looked at by a person.

        Its kind is another program's verdict; the file may well be in order.
        """
        return self.is_troubled and self.status == "ok" and not self.says_so

    @property
    def says_so(self) -> bool:
        """Whether the report names the trouble that the file's kind is."""
        if self.report is None or self.kind is None:
            return False
        if self.report.status == "ok":
            return bool(self.report.warnings)
        return self.report.reason_code in TELLING_REASONS.get(self.kind, frozenset())


def evaluate_survival(
    folder: Path,
    settings: Settings,
    *,
    use_passwords: bool = False,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Parse every file below `folder` in worker processes, as a build would, and count.

    Files named `manifest.jsonl` are not parsed: they say what the others are. Links are not
    followed. Parses are written to a temporary folder and removed.

    Args:
        folder: with files at any depth.
        settings: limits of parsing.
        use_passwords: give each file the `password` of its manifest, as a sidecar would.

    Returns:
        A report that has failed when a parser crashed or a file has no report.

    Raises:
        UsageError: no files, or a manifest that cannot be read.
    """
    paths = sorted(
        path for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != MANIFEST
    )  # fmt: skip
    if not paths:
        raise UsageError(f"no files below {folder}: name a folder that holds some.")
    kinds = read_kinds(folder)
    passwords = {
        path: kinds[path].password if use_passwords and path in kinds else None for path in paths
    }
    started = time.perf_counter()
    reports = _parse_all(passwords, settings, on_progress)
    seconds = time.perf_counter() - started
    fates = [
        FileFate(
            path.relative_to(folder).as_posix(),
            kinds[path].kind if path in kinds else None,
            reports.get(path),
        )
        for path in paths
    ]
    return _report(fates, settings, seconds)


def read_kinds(folder: Path) -> dict[Path, FileKind]:
    """Return what the manifests at any depth of `folder` say: rows with `path` and `kind`.

    A path is relative to its manifest's folder or to the folder above it. Rows without a kind
    are left out.

    Raises:
        UsageError: a row is not a JSON object.
    """
    kinds = {}
    for manifest in sorted(folder.rglob(MANIFEST)):
        for _, row in read_rows(manifest, lambda value: value, "not JSON"):
            if isinstance(row, dict) and row.get("kind") and row.get("path"):
                places = (manifest.parent / row["path"], manifest.parent.parent / row["path"])
                place = next((place for place in places if place.is_file()), None)
                if place is not None:
                    kinds[place] = FileKind(row["kind"], row.get("password"))
    return kinds


def _parse_all(
    passwords: Mapping[Path, str | None], settings: Settings, on_progress: Progress | None
) -> dict[Path, ParseReport]:
    """Return the report of every file that has one."""
    reports: dict[Path, ParseReport] = {}
    with tempfile.TemporaryDirectory(prefix="rag-survival-") as scratch:
        jobs = {}
        for path, password in passwords.items():
            jobs[path] = _job(path, password, settings, Path(scratch))
        for jobs_of_round in _rounds(jobs):
            paths: dict[str, list[Path]] = {}
            for path, job in jobs_of_round.items():
                paths.setdefault(job.content_hash, []).append(path)
            # One job a content: equal files have equal parses.
            firsts = [jobs_of_round[same[0]] for same in paths.values()]
            for report in parse_files(firsts, settings.parse):
                for path in paths[report.content_hash]:
                    reports[path] = report
                if on_progress:
                    on_progress(paths[report.content_hash][0].name, len(reports), len(passwords))
    return reports


def _job(path: Path, password: str | None, settings: Settings, scratch: Path) -> ParseJob:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    secret = hashlib.sha256(password.encode()).hexdigest() if password else None
    request = request_fingerprint(content, path.suffix, secret, settings.parse)
    stem = path.stem if any(parser.reads_stem for parser in all_parsers().values()) else ""
    return ParseJob(content, path, path.suffix, password, scratch, scratch / "blobs", request, stem)


def _rounds(jobs: Mapping[Path, ParseJob]) -> Iterator[dict[Path, ParseJob]]:
    """Yield the jobs in rounds within which a content has one request.

    A report names its content alone; the same bytes under another extension are another parse.
    """
    rounds: list[dict[Path, ParseJob]] = []
    taken: list[dict[str, tuple[str, str]]] = []
    for path, job in jobs.items():
        asked = job.request, job.stem
        for held, requests in zip(rounds, taken, strict=True):
            if requests.setdefault(job.content_hash, asked) == asked:
                held[path] = job
                break
        else:
            rounds.append({path: job})
            taken.append({job.content_hash: asked})
    yield from rounds


def _report(fates: Sequence[FileFate], settings: Settings, seconds: float) -> EvaluationReport:
    reasons = Counter(fate.reason for fate in fates if fate.reason)
    statuses = Counter(fate.status for fate in fates)
    unknown = sum(count for reason, count in reasons.items() if reason not in PARSE_REASONS)
    troubled = [fate for fate in fates if fate.is_troubled]
    slowest = sorted(fates, key=_seconds, reverse=True)[:_SLOWEST]
    metrics: dict[str, Figure] = {
        "ok_share": share(statuses["ok"], len(fates)),
        "crashes": reasons[CRASH],
        "time_outs": reasons[TIME_OUT],
        "memory_failures": reasons[MEMORY_OUT],
        "lost": statuses["lost"],
        "unknown_reason_share": share(unknown, len(fates)),
        "says_so_share": share(sum(fate.says_so for fate in troubled), len(troubled)),
        "slowest_seconds": max(map(_seconds, fates)),
        "seconds": seconds,
    }
    counts = {"files": len(fates), **{name: statuses[name] for name in ("ok", "failed", "lost")}}
    by_kind = _by_kind(fates)
    details = {
        "by_status": dict(statuses),
        "by_reason": dict(reasons.most_common()),
        "by_media_type": _by_media_type(fates),
        "by_kind": by_kind,
        "crashed": [fate.path for fate in fates if fate.reason == CRASH],
        "timed_out": [fate.path for fate in fates if fate.reason == TIME_OUT],
        "silent": [fate.path for fate in fates if fate.is_silent],
        "slowest": [{"path": fate.path, "seconds": _seconds(fate)} for fate in slowest],
        "files": [_as_json(fate) for fate in fates],
    }
    return EvaluationReport(
        "survival",
        settings_digest(settings),
        metrics,
        counts,
        tuple(_tables(fates, reasons, by_kind, slowest)),
        details,
        tuple(
            f"{fate.path}: {fate.reason}: {fate.report.message if fate.report else 'no report'}"
            for fate in fates
            if fate.reason in {CRASH, "lost"}
        ),
    )


def _by_media_type(fates: Iterable[FileFate]) -> dict[str, dict[str, int]]:
    counted: dict[str, Counter[str]] = {}
    for fate in fates:
        media_type = (fate.report.media_type if fate.report else "") or "not sniffed"
        counted.setdefault(media_type, Counter())[fate.status] += 1
    return {name: dict(counted[name]) for name in sorted(counted)}


def _by_kind(fates: Iterable[FileFate]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, list[FileFate]] = {}
    for fate in fates:
        if fate.kind is not None:
            grouped.setdefault(fate.kind, []).append(fate)
    return {
        kind: {
            "files": len(group),
            "ok_share": share(sum(fate.status == "ok" for fate in group), len(group)),
            "says_so_share": share(sum(fate.says_so for fate in group), len(group))
            if kind in TELLING_REASONS
            else None,
            "reasons": dict(Counter(fate.reason for fate in group if fate.reason).most_common()),
        }
        for kind, group in sorted(grouped.items())
    }


def _tables(
    fates: Sequence[FileFate],
    reasons: Mapping[str, int],
    by_kind: Mapping[str, Mapping[str, Any]],
    slowest: Sequence[FileFate],
) -> Iterator[ReportTable]:
    yield ReportTable("Reasons", ("reason", "files"), tuple(
        (name, reasons[name])
        for name in sorted(reasons, key=lambda name: (-reasons[name], name))))  # fmt: skip
    yield ReportTable("Media types", ("media type", "ok", "failed", "lost"), tuple(
        (name, *(counts.get(status, 0) for status in ("ok", "failed", "lost")))
        for name, counts in _by_media_type(fates).items()))  # fmt: skip
    if by_kind:
        yield ReportTable(
            "Kinds, as the manifests say",
            ("kind", "files", "ok", "says so", "reasons"),
            tuple(
                (kind, group["files"], group["ok_share"], group["says_so_share"],
                 ", ".join(f"{count} {reason}" for reason, count in group["reasons"].items()))
                for kind, group in by_kind.items()
            ),
        )  # fmt: skip
    if silent := [fate for fate in fates if fate.is_silent]:
        yield ReportTable("Said to be in trouble, read without a word", ("file", "kind"), tuple(
            (fate.path, fate.kind) for fate in silent))  # fmt: skip
    yield ReportTable("Slowest", ("file", "seconds", "pages", "status"), tuple(
        (fate.path, _seconds(fate), fate.report.pages if fate.report else None,
         fate.reason or fate.status) for fate in slowest))  # fmt: skip


def _seconds(fate: FileFate) -> float:
    return fate.report.seconds if fate.report else 0.0


def _as_json(fate: FileFate) -> dict[str, Any]:
    report = fate.report
    return {
        "path": fate.path,
        "kind": fate.kind,
        "status": fate.status,
        "reason_code": fate.reason,
        "message": report.message if report else None,
        "media_type": report.media_type if report else None,
        "parser": report.parser if report else None,
        "pages": report.pages if report else 0,
        "characters": report.characters if report else 0,
        "warnings": list(report.warnings) if report else [],
        "seconds": round(report.seconds, 3) if report else None,
    }


@click.command(
    cls=ExplainedErrors,
    help="Parse every file below DIR in worker processes under the limits of the settings; count "
    "what became of them by status, reason, media type and, where a manifest.jsonl says so, kind. "
    "Exit code 1 when a parser crashed or a file has no report.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
@config_option
@click.option(
    "--passwords", "use_passwords", is_flag=True,
    help="Give protected files the password that their manifest knows, as a sidecar would.",
)  # fmt: skip
def survival(folder: Path, out: Path | None, config: Path | None, use_passwords: bool) -> None:
    """Print the counts, the kinds and the slowest files."""
    settings = shipped_settings(config)
    with shown_progress() as progress:
        report = evaluate_survival(
            folder, settings, use_passwords=use_passwords, on_progress=progress
        )
    finish(report, out)


if __name__ == "__main__":
    survival()
