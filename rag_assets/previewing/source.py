"""One source and its stateless preview (spec 001)."""

import base64
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rag_assets.chunking import chunk_document
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
    hash_bytes,
)
from rag_assets.parsing import (
    ParseJob,
    WorkerDiedError,
    WorkerProcess,
    WorkerTimeoutError,
    parse_files,
    read_parsed,
)
from rag_assets.settings import ChunkSettings
from rag_assets.workspace import Settings, shipped_settings


@dataclass(frozen=True, slots=True)
class ChunkPreview:
    """What a source becomes: the parse with its report, its parents and chunks, in order.

    Args:
        articles: of each chunk those that it holds or is a part of, as the law writes them; empty
            but in mode `law`.
    """

    name: str
    document: ParsedDocument
    report: ParseReport
    parents: Sequence[Parent]
    chunks: Sequence[Chunk]
    articles: Sequence[Sequence[str]] = ()


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
        with self._parsed(chosen) as (_, parsed):
            document, report = read_parsed(parsed)
        parents, chunks = chunk_document(document, chunking, joint_tokenizer(chosen.embed))
        articles = _articles(document.text, chunks) if chunking.mode == "law" else ()
        return ChunkPreview(Path(self.source_uri).name, document, report, parents, chunks, articles)

    def parse(self, settings: Settings | None = None) -> ParsedDocument:
        """Parse the source in a worker, under the limits of a build.

        Raises:
            ParseFailure: the source cannot be read.
            UsageError: there is no such file.
        """
        with self._parsed(settings or shipped_settings()) as (_, parsed):
            return read_parsed(parsed)[0]

    def draw(self, page: int, dpi: int = 110, settings: Settings | None = None) -> bytes:
        """Return a page of a PDF with the blocks that were found drawn on it, as PNG.

        It is drawn in a worker under the limits of a build: a page is a program of its author.

        Args:
            page: number, from 1.
            dpi: dots per inch of the picture.
            settings: of a namespace; without it the shipped ones.

        Raises:
            ParseFailure: the source cannot be read, or the page cannot be drawn.
            UsageError: there is no such file, or it has no such page.
        """
        chosen = (settings or shipped_settings()).parse
        with self._parsed(settings or shipped_settings()) as (path, parsed):
            document = read_parsed(parsed)[0]
            count = len(document.pages)
            if document.media_type != "application/pdf":
                raise UsageError(
                    f"{self.source_uri} is {document.media_type}; only pages of a PDF can be "
                    "drawn. Leave --page out to list its blocks."
                )
            if page > count:
                raise UsageError(
                    f"{self.source_uri} has {count_of(count, 'page')}; --page {page} is not there."
                )
            with closing(WorkerProcess(chosen)) as worker:
                arguments = {"path": str(path), "parsed": str(parsed), "page": page, "dpi": dpi,
                             "password": self.password}  # fmt: skip
                try:
                    drawn = worker.call("rag_assets.parsing.pdf.printed:draw_in_worker", arguments)
                except WorkerTimeoutError as error:
                    raise ParseFailure(
                        "time_limit",
                        f"Page {page} takes longer to draw than {chosen.seconds_per_document:g} s "
                        "(parse.seconds_per_document).",
                    ) from error
                except WorkerDiedError as error:
                    raise ParseFailure(
                        "memory_limit",
                        f"Page {page} needs more memory to be drawn than "
                        f"{chosen.megabytes_of_memory} MB (parse.megabytes_of_memory), or is "
                        "damaged.",
                    ) from error
        if "trouble" in drawn:
            raise ParseFailure("damaged_file", drawn["trouble"])
        return base64.b64decode(drawn["png"])

    @contextmanager
    def _parsed(self, settings: Settings) -> Iterator[tuple[Path, Path]]:
        """Yield the file that was parsed, and its parse, which is then removed."""
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
            yield path, job.folder / str(report.parsed_file)

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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"chunk_config: '{key}': {first['msg']}") from error
