"""What parsing and chunking make of one file, shown and forgotten: nothing is stored."""

from rag_assets.knowledge.previewing.source import ChunkPreview, PreviewSource, render_lines
