"""The work that cannot be avoided, bare: PyMuPDF's text and sentence-transformers' vectors."""

import json
import os
import sys
import time
from pathlib import Path


def main(raw: Path, records: Path) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    laps: dict[str, dict[str, float]] = {}
    clock = [time.monotonic(), time.process_time()]

    def lap(name: str) -> None:
        now = [time.monotonic(), time.process_time()]
        laps[name] = {"wall_s": now[0] - clock[0], "user_plus_sys_s": now[1] - clock[1]}
        clock[:] = now

    import pymupdf

    lap("import pymupdf")
    pages = characters = 0
    for path in sorted(raw.rglob("*.pdf")):
        with pymupdf.open(path) as document:
            for page in document:
                pages += 1
                characters += len(page.get_text())
    lap("get_text")
    import pyarrow.parquet as pq

    texts = [
        text
        for path in sorted((records / "chunks").glob("*.parquet"))
        for text in pq.read_table(path, columns=["text"], partitioning=None)["text"].to_pylist()
    ]
    lap("reading the chunks (not counted)")
    from sentence_transformers import SentenceTransformer

    lap("import sentence_transformers")
    from rag_assets.embedding.bundled_files import bundled_folder

    folder = bundled_folder("all-MiniLM-L6-v2")
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    lap("load the model")
    model.encode(texts, show_progress_bar=False)
    lap("encode")
    print(json.dumps({"pages": pages, "characters": characters, "chunks": len(texts), **laps}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
