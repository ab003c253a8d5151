"""Measure whether a named article of a law is what is found first.

    python benchmarks/article_lookups.py [--limit N] [--json OUT]

The laws that `retrieval/law/lookups.jsonl` of RAG_SHARED_DATA (default ../shared/data) asks for,
in all their versions, are ingested and asked as `rag query` asks, but by words alone: no model
says which number an article has. Prints how often the first result's quote begins with the article
that was meant, how often it is among ten, and the same where no article is looked up.
"""

import argparse
import hashlib
import json
import os
import statistics
import tarfile
import tempfile
import time
from pathlib import Path

from processes import RAG, run

from rag_assets.evidence.making import make_pack
from rag_assets.evidence.question import Question
from rag_assets.law import find_begins
from rag_assets.law.names import plain_name
from rag_assets.workspace import Workspace

_CONFIG = """
embed:
  models:
    - {kind: hashing, model: words}
retrieve:
  method: lexical
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, help="look-ups at most")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


def _prepare(folder: Path, rows: list[dict[str, str]], vault: Path) -> Workspace:
    """Ingest the laws of the rows, under the paths that they have in the vault."""
    with tarfile.open(vault) as archive:
        archive.extractall(folder / "vault", filter="data")
    root = folder / "vault" / "law_vault"
    wanted = {plain_name(Path(row["relevant"].partition("#")[0]).name) for row in rows}
    target = folder / "workspace"
    run([RAG, "init", target])
    for path in sorted(root.rglob("*.md")):
        if plain_name(path.name) in wanted:
            copy = target / "raw" / "evidence" / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    with (target / "config.yaml").open("a", encoding="utf-8") as config:
        config.write(_CONFIG)
    run([RAG, "--workspace", target, "ingest"])
    return Workspace.open(target)


def _place(workspace: Workspace, row: dict[str, str], *, looks_up: bool) -> tuple[int, float]:
    """Return the rank of the article that is meant, 0 for none of ten, and the seconds."""
    path, _, label = row["relevant"].partition("#")
    raw = (workspace.root / "raw" / "evidence" / path).read_bytes()
    meant = hashlib.sha256(raw).hexdigest(), find_begins(label)[0].key
    settings = workspace.settings.retrieve
    if not looks_up:
        text = settings.text.model_copy(update={"phrase_boost": 0.0})
        settings = settings.model_copy(update={"text": text})
    started = time.perf_counter()
    pack = make_pack(workspace, Question(question=row["query"], top_k=10), settings=settings)
    seconds = time.perf_counter() - started
    hashes = {(one.namespace, one.doc_uid): one.content_hash for one in pack.sources}
    for item in pack.items:
        begins = find_begins(item.exact_quote)
        found = hashes[item.namespace, item.doc_uid], begins[0].key if begins else ""
        if found == meant:
            return item.rank, seconds
    return 0, seconds


def main() -> None:
    """Ingest, ask, print."""
    given = _arguments()
    data = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "retrieval" / "law"
    lines = (data / "lookups.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines][: given.limit]
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        workspace = _prepare(Path(folder), rows, data / "law_vault.tar.xz")
        for name, looks_up in (("looked up", True), ("searched only", False)):
            found = [_place(workspace, row, looks_up=looks_up) for row in rows]
            figures[name] = {
                "questions": len(found),
                "first": sum(rank == 1 for rank, _ in found) / len(found),
                "of_ten": sum(rank > 0 for rank, _ in found) / len(found),
                "median_seconds": round(statistics.median(s for _, s in found), 3),
            }
            print(name, *(f"{key} {value:g}" for key, value in figures[name].items()), flush=True)
            missed = [row["query"] for row, (rank, _) in zip(rows, found, strict=True) if rank != 1]
            print("  not first:", *missed[:10], sep="\n    ")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
