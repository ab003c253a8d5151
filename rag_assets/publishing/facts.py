"""What publication knows of each document: identity, citability and descriptive metadata."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, cast  # Any: sidecars' fields, rows of Parquet

from rag_assets.law.versions import LAW_COLUMNS, LAWS_KEY, common_value, describe_laws
from rag_assets.model import Standing, hash_fields, standing_of_title, with_standing
from rag_assets.publishing.names import distinct_keys, short_key
from rag_assets.workspace import (
    ARCHIVED,
    REPEALED,
    Binding,
    Identities,
    Inventory,
    Journal,
    LivingContent,
    Namespace,
    SourceFile,
    overridden_fields,
)

# Fields of a sidecar, or of `rag meta set`, that have a column of their own.
DESCRIPTIVE = ("publisher", "url", "published_date", "captured_at", "accessed_at")

# Likewise; where none says them, the document's own hold.
PRINTED = ("doi", "journal", "volume", "issue", "page_range")

_TAKEN_OUT = "taken out of the library; `rag meta set {uid} archived=` takes it in again."


@dataclass(frozen=True)
class DocumentFacts:
    """One living content joined with who it is.

    Args:
        status: `published`, `archived` (taken out of the library by a person), `failed`,
            `withheld` or `pending` (not parsed or cut yet).
        fields: sidecar and overrides, merged; the override wins.
        laws: what the text of each law that it holds says of itself, in mode `law`.
        given_key: its citation key in the journal, None before its first publication.
    """

    content_hash: str
    living: LivingContent
    doc_uid: str | None
    status: str
    reason_code: str | None
    message: str | None
    citable: bool
    fields: Mapping[str, Any]
    report: Mapping[str, Any] | None
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    laws: tuple[Mapping[str, Any], ...] = ()
    given_key: str | None = None

    @property
    def citation_key(self) -> str | None:
        """The sidecar's key, else the one that the journal keeps."""
        stated = self.fields.get("citation_key")
        return str(stated) if stated else self.given_key

    @cached_property
    def title(self) -> str:
        """The sidecar's title, else the document's own, else the file's stem.

        It begins with what the publisher says of the document: whether it is retracted, whoever
        calls it otherwise. `standing` of the sidecar decides.
        """
        own = self.report.get("title") if self.report else None
        stem = PurePosixPath(self.living.first.source_uri).stem
        title = str(self.fields.get("title") or own or stem)
        if "standing" in self.fields or self.standing is not None:
            return with_standing(title, self.standing)
        return title

    @cached_property
    def standing(self) -> Standing | None:
        """The sidecar's standing, else what the document says of itself."""
        stated = self.fields.get("standing")
        if stated is not None:
            return None if stated == "none" else cast("Standing", stated)
        found = self.report.get("title") if self.report else None
        return standing_of_title(self.fields.get("title")) or standing_of_title(found)

    @property
    def language(self) -> str | None:
        """The sidecar's language, else the one found in the text."""
        found = self.report.get("language") if self.report else None
        language = self.fields.get("language") or found
        return str(language) if language else None


def gather_facts(
    inventory: Inventory,
    identities: Identities,
    journal: Journal,
    overrides: Mapping[str, Mapping[str, str]],
    reports: Mapping[str, Mapping[str, Any]],
    complete: Collection[str],
    laws: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[DocumentFacts]:
    """Join every living content with its identity.

    Args:
        reports: content_hash → row of the parse report, where there is one.
        complete: contents whose chunks are up to date.
        laws: content_hash → what its laws say of themselves, where it is read as statutes.
    """
    # When each uid was bound, for people to read, and to which contents.
    bound: dict[str | None, list[Binding]] = defaultdict(list)
    for binding in journal.bindings:
        bound[binding.doc_uid].append(binding)
    keys = journal.keys
    facts = []
    for content, living in inventory.contents.items():
        uid = identities.uids.get(content)
        report = reports.get(content)
        fields = {**living.sidecar, **overridden_fields(overrides.get(uid or "", {}))}
        times = [
            datetime.fromisoformat(binding.at).astimezone(UTC).replace(tzinfo=None)
            for binding in bound[uid]
            if binding.at
        ]
        status, reason, message = _status(living, content, identities, report, complete)
        if ARCHIVED in fields and status != "withheld":
            status, reason, message = ARCHIVED, ARCHIVED, _TAKEN_OUT.format(uid=uid)
        facts.append(
            DocumentFacts(
                content,
                living,
                uid,
                status,
                reason,
                message,
                status == "published" and is_citable(living, fields),
                fields,
                report,
                len({binding.content_hash for binding in bound[uid]}) or 1,
                min(times, default=None),
                max(times, default=None),
                tuple(laws.get(content, ())),
                keys.get(uid or ""),
            )
        )
    return facts


def missing_keys(facts: Sequence[DocumentFacts], journal: Journal) -> dict[str, str]:
    """Return a new citation key for each published document that has none, by uid.

    A sidecar's key comes first: where it is the one that the journal keeps for another document,
    that document gets another.
    """
    order = {each.doc_uid: place for place, each in reversed([*enumerate(journal.bindings)])}
    stated = {f.doc_uid: str(key) for f in facts if (key := f.fields.get("citation_key"))}
    theirs = {key.casefold() for key in stated.values()} | {uid.casefold() for uid in order}
    kept = {
        uid: key
        for uid, key in journal.keys.items()
        if uid not in stated and (key.casefold() == uid.casefold() or key.casefold() not in theirs)
    }
    lacking = {
        f.doc_uid: f
        for f in facts
        if f.doc_uid and f.status == "published" and f.doc_uid not in {*stated, *kept}
    }
    wanted = [
        (uid, short_key(document_authors(f), document_year(f), printed_title(f), uid))
        for uid, f in sorted(lacking.items(), key=lambda one: order[one[0]])
    ]
    # A key that a document had once means no other one: a draft may still cite it.
    given = [one.key for one in journal.citation_keys]
    return distinct_keys(wanted, [*given, *stated.values()], order)


def is_citable(living: LivingContent, fields: Mapping[str, Any]) -> bool:
    """Say whether a content may become evidence: every place says so and nothing lowers it."""
    return all(source.citable for source in living.sources) and not is_lowered(fields)


def is_lowered(fields: Mapping[str, Any]) -> bool:
    """Say whether a sidecar's fields, or overrides, forbid to cite what its place would allow."""
    return ARCHIVED in fields or fields.get("citable") in {False, "false", "False", "no"}


def _status(
    living: LivingContent,
    content: str,
    identities: Identities,
    report: Mapping[str, Any] | None,
    complete: Collection[str],
) -> tuple[str, str | None, str | None]:
    if living.sidecar_error:
        return (
            "withheld",
            "sidecar_invalid",
            (
                f"{living.sidecar_error} The document is withheld, since the sidecar may "
                "say that it is not citable."
            ),
        )
    if content in identities.withheld:
        return "withheld", "uid_conflict", identities.withheld[content]
    if report is None:
        return "pending", "not_parsed", "not parsed yet; run `rag ingest`."
    if report["status"] != "ok":
        return "failed", report["reason_code"], report["message"]
    if content not in complete:
        return "pending", "not_chunked", "parsed, but not cut into passages yet; run `rag ingest`."
    return "published", None, None


def source_id(namespace: Namespace, source: SourceFile) -> str:
    """Return the SHA-256 of namespace, source type, URI and canonical metadata (spec 001).

    Of a file whose sidecar names no URI, the URI is its place in raw/.
    """
    return _source_id(
        namespace.name, source.source_type, original_uri(source), source.sidecar or "{}"
    )


@lru_cache(maxsize=1 << 16)
def _source_id(namespace: str, source_type: str, uri: str, sidecar: str) -> str:
    metadata = json.loads(sidecar)
    more = metadata.get("metadata", {})
    # What was found out about the source is no part of who it is.
    more.pop("source_info_auto" if "source_info_auto" in more else "source_info", None)
    metadata.pop("source_uri", None)
    more.pop("source_id", None)  # a caller's own is for its own use
    return hash_fields(namespace, source_type, uri, _canonical(metadata))


def original_uri(source: SourceFile) -> str:
    """Return where a source was read from: what its sidecar says, else its place in raw/."""
    return str(json.loads(source.sidecar or "{}").get("source_uri") or source.source_uri)


def _canonical(value: Any) -> Any:
    """Return metadata in one order: mappings by key, lists by value (spec 001)."""
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return sorted(map(_canonical, value), key=lambda part: json.dumps(part, sort_keys=True))
    return value


def tell_sources_apart(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of `sources` with keys of their own: one source may have led to several files."""
    seen: set[str] = set()
    told = []
    for row in sorted(rows, key=itemgetter("file")):
        key = row["source_key"]
        told.append({**row, "source_key": f"{key}::{row['file']}"} if key in seen else row)
        seen.add(key)
    return told


def source_row(
    namespace: Namespace, source: SourceFile, facts: DocumentFacts | None
) -> dict[str, Any]:
    """Return one row of the published table `sources`."""
    identifier = source_id(namespace, source)
    metadata = json.loads(source.sidecar or "{}")
    root = namespace.root_of(source.source_uri) or ""
    refused = source.status != "ok"
    return {
        "source_key": f"{namespace.name}::{identifier}",
        "namespace": namespace.name,
        "source_id": identifier,
        "doc_uid": facts.doc_uid if facts else None,
        "name": PurePosixPath(source.source_uri).name,
        "source_type": source.source_type,
        "source_subtype": source.source_subtype or None,
        "source_uri": original_uri(source),
        "file": source.source_uri,
        "path": source.source_uri.removeprefix(root).lstrip("/"),
        "content_hash": source.content_hash or None,
        "citable": bool(facts and facts.citable),
        "tags": list(metadata.get("tags", [])),
        "metadata": source.sidecar or "{}",
        "status": "refused" if refused else (facts.status if facts else "pending"),
        "reason_code": source.reason_code if refused else (facts.reason_code if facts else None),
        "message": source.message if refused else (facts.message if facts else None),
        "created_at": facts.created_at if facts else None,
        "updated_at": facts.updated_at if facts else None,
    }


def document_row(
    namespace: Namespace, facts: DocumentFacts, chunks: int, same_text_as: list[str]
) -> dict[str, Any]:
    """Return one row of the published table `documents`."""
    first, fields, report = facts.living.first, facts.fields, facts.report or {}
    paths = [source.source_uri for source in facts.living.sources]
    wordings = describe_laws(facts.laws, paths, is_kept=REPEALED in fields)
    row = {
        "doc_key": f"{namespace.name}::{facts.doc_uid}",
        "namespace": namespace.name,
        "doc_uid": facts.doc_uid,
        "doc_id": report["doc_id"],
        "source_id": source_id(namespace, first),
        "source_uri": original_uri(first),
        "title": facts.title,
        "standing": facts.standing,
        "version": facts.version,
        "status": facts.status,
        "language": facts.language,
        "content_hash": facts.content_hash,
        "content_ref": f"{namespace.name}/parsed/{namespace.partition_of(facts.content_hash)}/"
        f"{report['parsed_file']}",
        "source_type": first.source_type,
        "source_subtype": first.source_subtype or None,
        "citable": facts.citable,
        "citation_key": facts.citation_key,
        "year": document_year(facts),
        "authors": document_authors(facts),
        "abstract": report["abstract"],
        "tags": list(fields.get("tags", [])),
        "metadata": json.dumps(
            {
                **_kept_metadata(facts),
                **({LAWS_KEY: [one.to_record() for one in wordings]} if wordings else {}),
                "mime_type": report["media_type"],
                "parser": report["parser"],
                "parser_version": report["parser_version"],
            },
            ensure_ascii=False,
            sort_keys=True,
        ),
        "pages": report["pages"],
        "page_labels": list(report.get("page_labels") or []),
        "chunks": chunks,
        "same_text_as": same_text_as,
        "created_at": facts.created_at,
        "updated_at": facts.updated_at,
    }
    stated = {name: fields.get(name) for name in DESCRIPTIVE}
    row |= {name: common_value(wordings, name) for name in LAW_COLUMNS}
    return row | stated | {name: fields.get(name) or report.get(name) for name in PRINTED}


def _kept_metadata(facts: DocumentFacts) -> dict[str, Any]:
    """Return what else the sidecar keeps, `source_info` among it (spec 001).

    A key of ours, which the parse decides, stands as `user_…`.
    """
    kept: Mapping[str, Any] = facts.fields.get("metadata") or {}
    ours = {"mime_type", "parser", "parser_version", LAWS_KEY}
    return {f"user_{key}" if key in ours else key: value for key, value in kept.items()}


def document_authors(facts: DocumentFacts) -> list[str]:
    """Return the sidecar's authors, else those that the document prints."""
    return list(facts.fields.get("authors") or (facts.report or {}).get("authors") or [])


def printed_title(facts: DocumentFacts) -> str | None:
    """Return the sidecar's title, else the one that the document prints; None without either."""
    title = facts.fields.get("title") or (facts.report or {}).get("title")
    return str(title) if title else None


def document_year(facts: DocumentFacts) -> int | None:
    """Return the sidecar's year or that of its date, else the one that the document prints."""
    fields, report = facts.fields, facts.report or {}
    if "year" in fields:
        return int(fields["year"])
    date = str(fields.get("published_date") or "")
    if date[:4].isdigit():
        return int(date[:4])
    year = report.get("year")
    return None if year is None else int(year)
