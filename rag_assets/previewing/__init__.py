"""What parsing and chunking make of one file, shown and forgotten: nothing is stored."""

from rag_assets.previewing.source import ChunkPreview, PreviewSource, render_html, render_lines

__all__ = ["ChunkPreview", "PreviewSource", "render_html", "render_lines"]
