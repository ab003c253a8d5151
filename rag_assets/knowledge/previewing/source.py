"""One source and its stateless preview (spec 001)."""

import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rag_assets.chunking import chunk_document, merging_note
from rag_assets.embedding import joint_tokenizer
from rag_assets.law.structure import read_laws
from rag_assets.model import (
    Chunk,
    ConfigurationError,
    Parent,
    ParsedDocument,
    ParseFailure,
    ParseReport,
    UsageError,
    count_of,
    first_fault,
    hash_bytes,
    show_figures,
)
from rag_assets.model.settings import ChunkSettings
from rag_assets.parsing import ParseJob, parse_files, read_parsed
from rag_assets.workspace import Settings, shipped_settings


@dataclass(frozen=True, slots=True)
class ChunkPreview:
    """What a source becomes: the parse with its report, its parents and chunks, in order.

    Args:
        articles: of each chunk those that it holds or is a part of, as the law writes them; empty
            but in mode `law`.
        note: what `search_unit: merged` makes for the models; None where it is not asked for.
    """

    name: str
    document: ParsedDocument
    report: ParseReport
    parents: Sequence[Parent]
    chunks: Sequence[Chunk]
    articles: Sequence[Sequence[str]] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PreviewSource:
    """A file, or content that is not in a file.

    Args:
        source_uri: a path; with `content` any name, whose extension decides between text formats.
        content: taken instead of the file's.
        password: of a protected file.
    """

    source_uri: str | Path
    content: str | bytes | None = None
    password: str | None = None

    def chunk(
        self,
        chunk_config: ChunkSettings | Mapping[str, Any] | None = None,
        *,
        settings: Settings | None = None,
    ) -> ChunkPreview:
        """Parse and cut the source as a build would, in a worker under the same limits.

        Args:
            chunk_config: the settings below `chunk:`; a mapping changes only the keys it names.
            settings: of a namespace; without it the shipped ones.

        Raises:
            ParseFailure: the source cannot be read; its reason code and message say why.
            UsageError: there is no such file.
            ConfigurationError: `chunk_config` names a key or value that is not allowed.
        """
        chosen = settings or shipped_settings()
        chunking = _chunk_settings(chosen.chunk, chunk_config)
        with self._parsed(chosen) as parsed:
            document, report = read_parsed(parsed)
        tokenizer = joint_tokenizer(chosen.embed)
        parents, chunks = chunk_document(document, chunking, tokenizer)
        articles = _articles(document.text, chunks) if chunking.mode == "law" else ()
        note = merging_note(chunking, lambda: tokenizer)
        name = Path(self.source_uri).name
        return ChunkPreview(name, document, report, parents, chunks, articles, note)

    def parse(self, settings: Settings | None = None) -> ParsedDocument:
        """Parse the source in a worker, under the limits of a build.

        Raises:
            ParseFailure: the source cannot be read.
            UsageError: there is no such file.
        """
        with self._parsed(settings or shipped_settings()) as parsed:
            return read_parsed(parsed)[0]

    @contextmanager
    def _parsed(self, settings: Settings) -> Iterator[Path]:
        """Yield the parse, which is then removed."""
        given = Path(self.source_uri)
        with tempfile.TemporaryDirectory(prefix="rag-preview-") as folder:
            path, data = given, self._read(given)
            if self.content is not None:
                path = Path(folder) / "content"
                path.write_bytes(data)
            job = ParseJob(
                content_hash=hash_bytes(data),
                path=path,
                extension=given.suffix,
                password=self.password,
                folder=Path(folder),
                blobs=Path(folder) / "attachments",
                request="preview",
                stem=given.stem,
            )
            (report,) = parse_files([job], settings.parse)
            if report.status != "ok":
                raise ParseFailure(
                    report.reason_code or "parser_crashed", f"{given.name}: {report.message}"
                )
            yield job.folder / str(report.parsed_file)

    def _read(self, path: Path) -> bytes:
        if self.content is not None:
            return self.content.encode() if isinstance(self.content, str) else self.content
        try:
            return path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}): name a file.") from error


def _articles(text: str, chunks: Sequence[Chunk]) -> list[list[str]]:
    marks = [unit.article for law in read_laws(text) for unit in law.units if unit.article]
    return [
        [m.shown for m in marks if m.start < chunk.char_end and chunk.char_start < m.end]
        for chunk in chunks
    ]


def _chunk_settings(
    base: ChunkSettings, changes: ChunkSettings | Mapping[str, Any] | None
) -> ChunkSettings:
    if isinstance(changes, ChunkSettings):
        return changes
    try:
        return ChunkSettings.model_validate({**base.model_dump(), **(changes or {})})
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise ConfigurationError(f"chunk_config: '{key}': {said}") from error


_SHOWN_CHARACTERS = 240
_FEW_ARTICLES = 3


def render_lines(preview: ChunkPreview, *, whole: bool = False) -> Iterator[str]:
    """Yield the summary, then for each chunk its place, size, section and text.

    Args:
        whole: show chunks whole instead of their beginning.
    """
    document, chunks = preview.document, preview.chunks
    # A line break in a file's name must not begin a line of its own.
    yield " ".join(f"{preview.name}: {document.title or 'no title'}".split())
    yield (
        f"{count_of(len(document.text), 'character')}, "
        f"{count_of(len(document.pages), 'page')}, {count_of(len(document.sections), 'section')}, "
        f"{count_of(len(preview.parents), 'parent')}, {count_of(len(chunks), 'chunk')}"
    )
    if chunks:
        sizes = [chunk.token_count for chunk in chunks]
        yield (
            f"tokens a chunk: {min(sizes)} to {max(sizes)}, median {statistics.median(sizes):g}; "
            f"{sum(chunk.is_cut for chunk in chunks)} hold part of a sentence"
        )
    if preview.note is not None:
        yield preview.note
    yield from (f"warning: {' '.join(warning.split())}" for warning in document.warnings)
    for number, chunk in enumerate(chunks):
        yield ""
        yield describe_place(chunk)
        if chunk.section_path:
            yield f"  {' '.join(' > '.join(chunk.section_path).split())}"
        if preview.articles and preview.articles[number]:
            yield f"  {describe_articles(preview.articles[number])}"
        text = show_figures(chunk.text)
        text = text if whole else _beginning(text)
        yield from (f"  | {line}" for line in text.split("\n"))


def describe_articles(shown: Sequence[str]) -> str:
    """Return the articles of a chunk in one line: all of a few, else the first and the last."""
    if len(shown) <= _FEW_ARTICLES:
        return ", ".join(shown)
    return f"{shown[0]} to {shown[-1]} ({len(shown)} articles)"


def describe_place(chunk: Chunk) -> str:
    """Return a chunk's number, place, span, kind and size in one line."""
    place = chunk.parent_label
    if chunk.page_start is not None and chunk.page_end != chunk.page_start:
        place += f" (pages {chunk.page_start} to {chunk.page_end})"
    cut = ", cut inside a sentence" if chunk.is_cut else ""
    return (
        f"[{chunk.order}] {place} · {chunk.char_start}–{chunk.char_end} · {chunk.kind} · "
        f"{chunk.token_count} tokens{cut}"
    )


def _beginning(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return text[:_SHOWN_CHARACTERS].rstrip() + " …"
