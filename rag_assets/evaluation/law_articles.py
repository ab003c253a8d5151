"""Which passages of a publication are which articles, named `path.md#第X条`."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rag_assets.evaluation.law_rows import article_file, article_number, is_excluded, path_tails
from rag_assets.law.structure import read_laws
from rag_assets.model import UsageError
from rag_assets.parsing import read_parsed

if TYPE_CHECKING:
    from rag_assets.retrieval import Hit, Reader
    from rag_assets.workspace import Workspace


class LawArticles:
    """The articles of a publication that somebody asks for.

    Args:
        workspace: that holds the parsed texts.
        reader: of its publication.
        named: ids of articles.

    Raises:
        UsageError: an id names no article, or its file's path is that of two documents.
    """

    def __init__(self, workspace: "Workspace", reader: "Reader", named: Iterable[str]) -> None:
        self._paths = _paths(reader)
        by_file: dict[str, list[str]] = defaultdict(list)
        for article in named:
            by_file[article_file(article)].append(article)
        documents = _documents_of(self._paths, by_file)
        rows = {
            row["doc_uid"]: row for row in reader.fetch_documents(documents.values()).to_pylist()
        }
        self._articles: dict[str, list[str]] = defaultdict(list)
        found: set[str] = set()
        for file, uid in documents.items():
            keys = _chunks_by_article(workspace, reader, rows[uid])
            for article in by_file[file]:
                for key in keys.get(article_number(article), ()):
                    self._articles[key].append(article)
                    found.add(article)
        self.found: Collection[str] = found
        """Articles that some passage, one that can be found, holds."""

    def of_hits(self, hits: "Iterable[Hit]") -> list[str]:
        """Return the ids of the hits' articles, best first, each once; of others the chunk's key.

        A hit that stands for others of the same text (`copies`) brings these with it.
        """
        ranking: dict[str, None] = {}
        for hit in hits:
            for key in (hit.chunk_key, *hit.copies):
                ranking.update(dict.fromkeys(self._articles.get(key) or (key,)))
        return list(ranking)

    def of_hit(self, hit: "Hit") -> Collection[str]:
        """Return the articles of one hit, without those of its copies."""
        return self._articles.get(hit.chunk_key, ())

    def passing(self, exclude: Collection[str], without: Collection[str]) -> tuple[str, ...] | None:
        """Return the documents that are searched; None for all.

        Args:
            exclude: patterns of files.
            without: uids.
        """
        if not exclude and not without:
            return None
        left_out = {
            uid
            for uid, paths in self._paths.items()
            if uid in without or all(is_excluded(path, exclude) for path in paths)
        }
        return tuple(sorted(self._paths.keys() - left_out))


def _paths(reader: "Reader") -> dict[str, list[str]]:
    """Return the paths of each published document's files."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in reader.sources().select(["doc_uid", "path", "status"]).to_pylist():
        if row["status"] == "published":
            found[row["doc_uid"]].append(row["path"])
    return dict(found)


def _documents_of(paths: Mapping[str, list[str]], files: Collection[str]) -> dict[str, str]:
    """Return the document of each file that is there: its path is the file's, or ends with it."""
    found: dict[str, str] = {}
    for uid, own in paths.items():
        for path in own:
            for tail in path_tails(path):
                if tail not in files:
                    continue
                if found.setdefault(tail, uid) != uid:
                    raise UsageError(
                        f"{tail} is the path of two documents, {found[tail]} and {uid}. Ask a "
                        "library that holds the vault once."
                    )
    return found


def _chunks_by_article(
    workspace: "Workspace", reader: "Reader", document: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return the keys of the chunks that hold each article, by its number."""
    text = read_parsed(workspace.root / "data" / document["content_ref"])[0].text
    columns = ["chunk_id", "char_start", "char_end", "kind"]
    chunks = [
        row
        for row in reader.fetch_chunks(document["doc_uid"], columns).to_pylist()
        if row["kind"] != "heading"
    ]
    found: dict[str, list[str]] = defaultdict(list)
    for law in read_laws(text):
        for unit in law.units:
            if unit.article is None:
                continue
            for chunk in chunks:
                if chunk["char_start"] < unit.end and unit.start < chunk["char_end"]:
                    found[unit.article.key].append(f"{reader.namespace}::{chunk['chunk_id']}")
    return found
