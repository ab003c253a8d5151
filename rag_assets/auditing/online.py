"""Whether the entries of a reference list exist, as Crossref and OpenAlex know them.

Only where the user asks for it: titles, authors and DOIs of the entries leave the machine.
https://api.crossref.org/swagger-ui/index.html, https://docs.openalex.org/api-entities/works
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from rapidfuzz import fuzz

from rag_assets.auditing.reference_check import (
    CheckedEntry,
    FindingCode,
    ReferenceCheck,
    ReferenceFinding,
    sort_findings,
)
from rag_assets.auditing.references import Entry, fold
from rag_assets.llm.services import DownloadError, Limits, download
from rag_assets.model import Progress

CROSSREF, OPENALEX = "https://api.crossref.org", "https://api.openalex.org"
# Both ask for one request at a time and few a second.
_PAUSE_SECONDS = 0.2
_LIMITS = Limits(bytes=10_000_000, seconds=30.0, allow_private=True, use_proxy=True)
# A service that is busy is asked again twice, and waits at most so long in between.
_TRIES, _LONGEST_WAIT_SECONDS = 3, 30.0
_BUSY = frozenset({429, 500, 502, 503, 504})
_ROWS, _LONGEST_QUERY = 5, 300
# rapidfuzz ratio of folded titles, 0 to 100, as for documents of the library.
_SAME_TITLE, _LIKE_TITLE = 92.0, 80.0
# Kinds of Crossref's `updated-by` and `update-to`.
_UPDATES: dict[str, FindingCode] = {
    "retraction": "retracted", "partial_retraction": "retracted", "withdrawal": "retracted",
    "removal": "retracted", "expression_of_concern": "concern", "correction": "corrected",
    "corrigendum": "corrected", "erratum": "corrected",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Services:
    """Where to ask.

    Args:
        crossref: address that `/works` stands behind; `openalex` likewise.
        mailto: sent with each request where the user gives it; both answer faster then.
    """

    crossref: str = CROSSREF
    openalex: str = OPENALEX
    mailto: str = ""


@dataclass(frozen=True, slots=True)
class _Record:
    """What a service knows of a work."""

    service: str
    doi: str
    title: str
    years: frozenset[str]
    authors: tuple[str, ...]
    updates: tuple[tuple[FindingCode, str], ...] = ()


class _SilentError(Exception):
    """A service does not answer; says why."""


def describe_requests(check: ReferenceCheck, services: Services) -> str:
    """Return what leaves the machine, and where it goes."""
    hosts = " and ".join(filter(None, (_host(services.crossref), _host(services.openalex))))
    count = len(check.entries)
    noun = "entry" if count == 1 else "entries"
    more = f", with the address {services.mailto}" if services.mailto else ""
    return f"Titles, authors and DOIs of {count} {noun} go to {hosts}{more}."


def look_up_online(
    check: ReferenceCheck,
    services: Services,
    *,
    pause: Callable[[float], None] = time.sleep,
    on_progress: Progress | None = None,
) -> ReferenceCheck:
    """Return a check with what Crossref and OpenAlex say of its entries.

    One request at a time. A service that does not answer is not asked again; a warning says how
    many entries it was not asked about.

    Args:
        pause: waits for some seconds.
    """
    clients = [
        _Client(services.crossref, services.mailto, pause, _ask_crossref),
        _Client(services.openalex, services.mailto, pause, _ask_openalex),
    ]
    found: list[ReferenceFinding] = []
    for number, one in enumerate(check.entries, 1):
        answers = [client.ask(one.entry) for client in clients]
        found += _compare(one, [a for a in answers if a is not None], clients)
        if on_progress is not None:
            on_progress("look up entries", number, len(check.entries))
    warnings = [client.warning for client in clients if client.warning]
    return replace(
        check,
        findings=tuple(sort_findings([*check.findings, *found])),
        warnings=(*check.warnings, *warnings),
    )


class _Client:
    """One service; what it answers to one entry after the other."""

    def __init__(
        self,
        base: str,
        mailto: str,
        pause: Callable[[float], None],
        ask: Callable[["_Client", Entry], list[_Record]],
    ) -> None:
        self.base, self.host = base.rstrip("/"), _host(base)
        self._mailto, self._pause, self._ask = mailto, pause, ask
        self._trouble, self._left_out = "", 0

    @property
    def warning(self) -> str:
        """A sentence where it did not answer."""
        if not self._trouble:
            return ""
        noun = "entry was" if self._left_out == 1 else "entries were"
        why = f"{self.host} did not answer ({self._trouble})"
        return f"{why}: {self._left_out} {noun} not looked up there."

    def ask(self, entry: Entry) -> list[_Record] | None:
        """Return the works that may be meant, best first; None where it does not answer."""
        if not self._trouble:
            try:
                return self._ask(self, entry)
            except _SilentError as error:
                self._trouble = str(error)
        self._left_out += 1
        return None

    def get(self, path: str, **query: str) -> Mapping[str, Any] | None:
        """Return an answer; None for a work that is not there."""
        if self._mailto:
            query["mailto"] = self._mailto
        url = f"{self.base}{path}?{urlencode(query)}" if query else f"{self.base}{path}"
        trouble = ""
        for attempt in range(1, _TRIES + 1):
            self._pause(_PAUSE_SECONDS)
            try:
                answer = download(url, _LIMITS)
            except DownloadError as error:
                raise _SilentError(str(error)) from error
            if answer.status == 404:
                return None
            if answer.is_success:
                try:
                    read: Mapping[str, Any] = json.loads(answer.data)
                except ValueError as error:
                    raise _SilentError(f"no JSON: {error}") from error
                return read
            trouble = f"HTTP {answer.status}"
            if answer.status not in _BUSY:
                break
            asked = answer.headers.get("retry-after", "")
            wait = float(asked) if asked.isdigit() else float(attempt)
            if attempt < _TRIES:
                self._pause(min(wait, _LONGEST_WAIT_SECONDS))
        raise _SilentError(trouble)


def _host(base: str) -> str:
    return urlsplit(base).netloc


# Crossref.


def _ask_crossref(client: _Client, entry: Entry) -> list[_Record]:
    if entry.doi:
        answer = client.get(f"/works/{quote(entry.doi, safe='')}")
        return [_crossref_record(client.host, answer["message"])] if answer else []
    words = " ".join(entry.text.split())[:_LONGEST_QUERY]
    answer = client.get("/works", **{"query.bibliographic": words, "rows": str(_ROWS)})
    items = answer["message"]["items"] if answer else []
    records = [_crossref_record(client.host, item) for item in items]
    found = [record for record in records if _is_meant(entry, record)]
    # Notices are found by the title too, and name the work that they are about.
    about = {(one["DOI"].lower(), one["type"], item["DOI"])
             for item in items for one in item.get("update-to") or ()}  # fmt: skip
    return [
        replace(
            record,
            updates=(*record.updates, *(
                (_UPDATES[kind], notice) for doi, kind, notice in sorted(about)
                if doi == record.doi and kind in _UPDATES
            )),
        )
        for record in found
    ]  # fmt: skip


def _crossref_record(host: str, item: Mapping[str, Any]) -> _Record:
    dates = ("issued", "published", "published-print", "published-online")
    parts = [part for name in dates for part in (item.get(name) or {}).get("date-parts") or ()]
    years = {str(part[0]) for part in parts if part and part[0]}
    people = (str(p.get("family") or p.get("name") or "") for p in item.get("author") or ())
    updates = tuple(
        (_UPDATES[one["type"]], str(one.get("DOI") or ""))
        for one in item.get("updated-by") or ()
        if one.get("type") in _UPDATES
    )
    title = " ".join(" ".join(item.get("title") or ()).split())
    doi = str(item.get("DOI") or "").lower()
    return _Record(host, doi, title, frozenset(years), tuple(people), updates)


# OpenAlex.


def _ask_openalex(client: _Client, entry: Entry) -> list[_Record]:
    if entry.doi:
        answer = client.get(f"/works/doi:{quote(entry.doi, safe='/')}")
        return [_openalex_record(client.host, answer)] if answer else []
    words = (entry.title or entry.text)[:_LONGEST_QUERY]
    answer = client.get("/works", **{"search": words, "per-page": str(_ROWS)})
    records = [_openalex_record(client.host, item) for item in (answer or {}).get("results") or ()]
    return [record for record in records if _is_meant(entry, record)]


def _openalex_record(host: str, item: Mapping[str, Any]) -> _Record:
    people = tuple(
        str((one.get("author") or {}).get("display_name") or "")
        for one in item.get("authorships") or ()
    )
    year = str(item.get("publication_year") or "")
    return _Record(
        host, str(item.get("doi") or "").lower().removeprefix("https://doi.org/"),
        str(item.get("title") or ""), frozenset({year} - {""}), people,
        (("retracted", ""),) if item.get("is_retracted") else (),
    )  # fmt: skip


# What they say against an entry.


def _is_meant(entry: Entry, record: _Record) -> bool:
    title, other = fold(entry.title or entry.text), fold(record.title)
    if not other or max(fuzz.ratio(title, other), fuzz.partial_ratio(title, other)) < _SAME_TITLE:
        return False
    named = fold(" ".join(record.authors))
    return not entry.authors or not named or any(fold(name) in named for name in entry.authors)


def _compare(
    one: CheckedEntry, answers: Sequence[list[_Record]], clients: Sequence[_Client]
) -> Iterator[ReferenceFinding]:
    entry = one.entry
    records = [answer[0] for answer in answers if answer]

    def finding(code: FindingCode, text: str) -> ReferenceFinding:
        return ReferenceFinding(code, text, one.row)

    if answers and not records:
        what = f"the DOI {entry.doi}" if entry.doi else "a work of this title and these authors"
        hosts = [client.host for client in clients if not client.warning]
        yield finding("online_not_found", f"Not found at {' or '.join(hosts)}: {what}.")
    for record in records:
        title, other = fold(entry.title), fold(record.title)
        if title and other and fuzz.partial_ratio(title, other) < _LIKE_TITLE:
            yield finding(
                "online_title",
                f"The entry's title is “{entry.title}”, that of {record.service} “{record.title}”.",
            )
        for code, notice in dict.fromkeys(record.updates):
            said = {"retracted": "retracted", "concern": "of concern"}.get(code, "corrected")
            where = f" (notice {notice})" if notice else ""
            yield finding(code, f"{record.service}: the work is marked as {said}{where}.")
    # A year that one of them has may be that of print, the other's that of the web.
    years = frozenset[str]().union(*(record.years for record in records))
    if entry.year[:4].isdigit() and years and entry.year[:4] not in years:
        named = ", ".join(
            f"{record.service} {' or '.join(sorted(record.years))}" for record in records
        )
        yield finding("online_year", f"The entry says {entry.year}, {named}.")
