"""Before parsing: what a cloud provider must convert is sent, and its answers are fetched."""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.model import ParseFailure, ParseReport, Progress
from rag_assets.parsing.fingerprints import parse_fingerprint
from rag_assets.parsing.job import ParseJob, Reader, failed_report
from rag_assets.parsing.pdf.providers import PDF_PROVIDERS
from rag_assets.parsing.sniffing import PDF_TYPE, sniff_media_type
from rag_assets.settings import ParseSettings
from rag_assets.workspace import Namespace, read_secret

# A PDF's mark stands in its first kilobyte.
_HEAD_BYTES = 4096


def send_to_provider(
    jobs: Sequence[ParseJob], namespace: Namespace, on_progress: Progress | None
) -> tuple[list[ParseJob], list[ParseReport]]:
    """Return the jobs that can be parsed now, and reports of those whose provider failed.

    For namespaces with `parse.parser: mineru` alone: every PDF that has no answer yet is sent.
    """
    settings = namespace.settings.parse
    from rag_assets.parsing.mineru import Conversion, convert_documents
    from rag_assets.parsing.mineru.service import API_KEY_VARIABLE

    ready = [job for job in jobs if not _is_pdf(job)]
    conversions = {
        job.content_hash: Conversion(
            job.content_hash,
            job.path,
            namespace.answers / f"{job.content_hash}-{_fingerprint(job, settings)[:16]}",
            job.password,
        )
        for job in jobs
        if _is_pdf(job)
    }
    key = read_secret(namespace.workspace, API_KEY_VARIABLE)
    if key is not None:
        convert_documents(
            list(conversions.values()),
            settings.mineru,
            key.get_secret_value(),
            lambda done, total: (
                on_progress("converting by MinerU", done, total) if on_progress else None
            ),
        )
    reports = []
    for job in jobs:
        conversion = conversions.get(job.content_hash)
        if conversion is None:
            continue
        failure = conversion.failure
        if key is None and not conversion.is_complete():
            failure = ParseFailure(
                "missing_key",
                f"`parser: mineru` needs a key: get one at https://mineru.net/apiManage/token, "
                f"write {API_KEY_VARIABLE}=… into the workspace's .env (or the environment), then "
                "run with --retry.",
                kind="resource",
            )
        if failure is None:
            ready.append(replace(job, answer=conversion.folder))
        else:
            parser = PDF_PROVIDERS["mineru"]
            reader = Reader(PDF_TYPE, parser.name, parser.version)
            reports.append(failed_report(job, reader, failure, 0.0))
    return ready, reports


def _fingerprint(job: ParseJob, settings: ParseSettings) -> str:
    return parse_fingerprint(job.request, PDF_TYPE, settings, job.stem)


def _is_pdf(job: ParseJob) -> bool:
    try:
        with job.path.open("rb") as stream:
            return sniff_media_type(stream.read(_HEAD_BYTES), job.extension) == PDF_TYPE
    except (OSError, ParseFailure):
        return False  # the worker meets the same trouble and reports it
