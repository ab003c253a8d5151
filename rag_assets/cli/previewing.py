"""`rag chunks FILE`, `rag parse show FILE`: what a file becomes, without storing anything."""

import dataclasses
from pathlib import Path

import click

from rag_assets.cli.failing import DONE
from rag_assets.cli.options import (
    OutputPath,
    default_output,
    json_option,
    open_namespaces,
    print_json,
    write_output,
)
from rag_assets.model import count_of
from rag_assets.workspace import Settings, shipped_settings

_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_namespace = click.option(
    "--namespace", "-n", "name", metavar="NAME",
    help="Use this namespace's settings; without it the shipped ones.",
)  # fmt: skip
_password = click.option("--password", help="Of a protected file.")


def _settings(name: str | None) -> Settings:
    return open_namespaces((name,))[0].settings if name else shipped_settings()


@click.command(
    help="Preview how FILE would be parsed and cut: chunks with place, span, section, size. "
    "Stores nothing."
)
@_file
@_namespace
@_password
@click.option(
    "--html", "page", type=OutputPath(), metavar="OUT",
    help="Write the preview as a page to OUT instead of printing it.",
)  # fmt: skip
@click.option("--whole", is_flag=True, help="Print chunks whole instead of their beginning.")
@json_option
def chunks(
    file: Path, name: str | None, password: str | None, page: Path | None, whole: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Print or write the preview."""
    from rag_assets.previewing import PreviewSource, render_html, render_lines

    settings = _settings(name)
    preview = PreviewSource(file, password=password).chunk(settings=settings)
    if page is not None:
        write_output(page, render_html(preview, settings.chunk.max_tokens).encode())
        click.echo(f"{count_of(len(preview.chunks), 'chunk')} in {page}")
    if as_json:
        print_json(
            {
                "report": dataclasses.asdict(preview.report),
                "parents": [dataclasses.asdict(parent) for parent in preview.parents],
                "chunks": [dataclasses.asdict(chunk) for chunk in preview.chunks],
                **({"articles": preview.articles} if preview.articles else {}),
            }
        )
    elif page is None:
        for line in render_lines(preview, whole=whole):
            click.echo(line)
    click.get_current_context().exit(DONE)


@click.command(
    help="Draw the blocks that were found on a page of FILE (a PDF): order, kind, level. Without "
    "--page: list all blocks as text."
)
@_file
@_namespace
@_password
@click.option("--page", "number", type=click.IntRange(1), metavar="N", help="The page, from 1.")
@click.option(
    "-o", "--output", type=OutputPath(), metavar="OUT",
    help="The PNG to write; by default the file's name with the page's number.",
)  # fmt: skip
@click.option("--dpi", type=click.IntRange(30, 600), default=110, show_default=True,
              help="Dots per inch of the picture.")  # fmt: skip
def show(
    file: Path, name: str | None, password: str | None, number: int | None, output: Path | None,
    dpi: int,
) -> None:  # fmt: skip
    """Write the picture of a page, or print the blocks."""
    from rag_assets.previewing import PreviewSource

    source = PreviewSource(file, password=password)
    if number is not None:
        target = output or default_output(f"{file.stem}-page-{number}.png")
        write_output(target, source.draw(number, dpi, _settings(name)))
        click.echo(f"{target}")
        return
    document = source.parse(_settings(name))
    for order, block in enumerate(document.blocks):
        place = f"page {block.page} " if block.page else ""
        level = f" {block.level}" if block.level else ""
        text = " ".join(document.text[block.start : block.end].split())
        click.echo(f"{order:>5} {place}{block.kind}{level}: {text}")
