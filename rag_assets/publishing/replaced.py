"""Warn where a uid went on to a text that has little to do with the one before."""

import re
from collections.abc import Iterable
from pathlib import Path

from rag_assets.model import DamagedFileError
from rag_assets.parsing import read_parsed
from rag_assets.publishing.facts import DocumentFacts
from rag_assets.stages import PARSES
from rag_assets.storage import read_entries
from rag_assets.workspace import Namespace

# Share of words in common (Jaccard) below which an edit looks like another document. A choice:
# two versions of one paper share well over half of their words, two papers of a field about 0.1.
_LITTLE = 0.3
_WORD = re.compile(r"\w+")


def replaced_texts(
    namespace: Namespace, publication: str, facts: Iterable[DocumentFacts]
) -> list[str]:
    """Return a sentence for every uid whose text shares little with the publication before."""
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue

    catalogue = namespace.publications / publication / catalogue_name(publication)
    if namespace.workspace.store.find(namespace.workspace.key_of(catalogue)) is None:
        return []
    try:
        with open_catalogue(catalogue) as connection:
            rows = connection.execute("SELECT doc_uid, content_hash FROM documents").fetchall()
    except DamagedFileError as error:
        return [f"texts that were replaced by others are not told this time: {error}"]
    before = dict(rows)
    sentences = []
    for fact in facts:
        old = before.get(fact.doc_uid)
        if fact.status != "published" or old is None or old == fact.content_hash:
            continue
        ours, theirs = _words(namespace, fact.content_hash), _words(namespace, old)
        if ours and theirs and len(ours & theirs) / len(ours | theirs) < _LITTLE:
            sentences.append(
                f"replaced: '{fact.doc_uid}' ({fact.living.first.source_uri}) now holds a text "
                "that shares little with the one before. If it is another document, give it its "
                "own name or pin doc_uid in a sidecar; drafts that cite it should be audited again."
            )
    return sentences


def _words(namespace: Namespace, content: str) -> frozenset[str]:
    """Return the words of a parse; empty where its record has expired."""
    partition = namespace.partition_of(content)
    entry = read_entries(namespace.record(PARSES, partition)).get(content)
    if entry is None or entry.note["status"] != "ok":
        return frozenset()
    path: Path = namespace.parsed_folder(partition) / entry.note["parsed_file"]
    try:
        document, _ = read_parsed(path)
    except (FileNotFoundError, DamagedFileError):
        return frozenset()  # an old parse is not needed for anything else
    return frozenset(_WORD.findall(document.text.lower()))
