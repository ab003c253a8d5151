"""Derived files are opened, listed and renamed by `storage/` and `workspace/` alone.

Every call of the file system outside of these two rooms is counted, and every one has to be of a
file that is a person's own or another program's (`OWNERS`), or one of those
that still stand (`ALLOWANCE`). The allowance only falls: a module with fewer calls than it says
fails too, until its number is lowered. A new call is made by key, through `Workspace.store`.

Not counted is what storage does for its callers (`read_json`, `read_entries`, `read_parquet`,
`build_folder` …), and Lance and DuckDB, which open what lies in a folder of `local_folder`.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "rag_assets"
HOLDERS = {"storage", "workspace"}

METHODS = {
    "chmod", "exists", "glob", "hardlink_to", "is_dir", "is_file", "is_symlink", "iterdir",
    "lstat", "mkdir", "read_bytes", "read_text", "rename", "rglob", "rmdir", "stat",
    "symlink_to", "touch", "unlink", "write_bytes", "write_text",
}  # fmt: skip
FUNCTIONS = {
    "open", "replace_file", "sync_path", "write_bytes", "write_private",
    "write_text",
}  # fmt: skip
# Of these modules any function that takes a path.
OF_MODULES = {
    "os": {"access", "link", "listdir", "makedirs", "open", "remove", "rename", "replace", "rmdir",
           "scandir", "stat", "symlink", "unlink", "utime", "walk"},
    "pq": {"ParquetFile", "read_metadata", "read_schema", "read_table", "write_table"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move", "rmtree"},
}  # fmt: skip
# What they open without a mode is not a path of ours.
LIBRARIES = {"pymupdf"}

# Whose files they are → "module" or "module:function".
OWNERS = {
    "a person's outputs": {
        "answering/saved.py:_noted",
        "answering/storing.py:_differences",
        "answering/storing.py:replay_stored",
        "answering/storing.py:store_answer",
        "defs/assets/audits.py",
        "defs/assets/questions.py",
        "auditing/storing.py:keep_audit",
        "cli/asking.py:_ask_law",
        "cli/asking.py:print_answer",
        "cli/checking.py",
        "desk/asking.py",
        "desk/review.py:_report",
        "cli/evaluating.py",
        "cli/asking.py:query",
        "evidence/asking.py:_add_page",
        "evidence/bibliography.py",
        "evidence/asking.py:_read",
        "evidence/asking.py:_open",
        "evidence/asking.py:_differences",
        "evidence/asking.py:pack_files",
        "publishing/gc.py:collect_garbage",
        "tracing/chain.py:_hash_of",
        "tracing/chain.py:changed_output",
        "tracing/health.py",
    },
    "readable folders, which a person opens": {
        "publishing/export.py",
        "tracing/knowledge_views.py",
    },
    "a person's outputs or questions": {
        "evidence/asking.py:ask",
    },
    "inside a table or catalogue of Lance or DuckDB, in a local folder": {
        "publishing/catalogue.py",
    },
    "a person's sources": {
        "retrieval/vaults.py:_read",
        "retrieval/vaults.py:copy_sample",
        "evidence/pictures.py",
        "knowledge/adding.py",
        "parsing/mineru.py",
        "parsing/mineru_service.py",
        "parsing/worker.py:_read_bytes",
        "running/examining.py",
    },
    "a person's bibliographies and tables of retractions": {
        "auditing/published.py:bibliography",
        "auditing/reference_check.py:_read_table",
        "auditing/reference_check.py:read_retractions",
        "auditing/references.py:read_bibliography",
        "auditing/references.py:repeated_keys",
        "knowledge/importing.py",
    },
    "a person's drafts": {
        "auditing/draft.py",
        "auditing/latex.py",
        "auditing/latex_source.py",
        "auditing/receiving.py",
        "auditing/storing.py:find_drafts",
        "auditing/storing.py:list_drafts",
        "cli/asking.py:_is_draft",
        "cli/asking.py:question_or_file",
        "auditing/reviewing/editing.py:add_passage",
        "auditing/reviewing/editing.py:replace_sentence",
        "auditing/reviewing/reviews.py:_stamp",
        "defs/sensors/workspace.py",
        "tracing/chain.py",
    },
    "a person's questions": {
        "cli/building.py:run_stages",
        "evidence/question.py",
    },
    "a person's evaluation sets": {
        "evaluation/sets.py",
    },
    "configuration and sources, where a workspace is made": {
        "evaluation/workspaces.py",
        "knowledge/stores.py",
    },
    "a file or folder that the caller names": {
        "cli/options.py",
        "cli/lab.py:lab_import",
        "knowledge/previewing/source.py",
    },
    "models, in a cache of the machine": {
        "embedding/bert.py",
        "embedding/bundled_files.py",
        "embedding/model_folder.py",
        "embedding/remote.py",
        "embedding/sparse_encoder.py",
        "judging/readers.py",
        "llm/local.py",
        "llm/local_models/cache.py",
        "llm/local_models/fetching.py",
        "retrieval/reranking/local.py",
    },
    "files of the package": {
        "desk/rendering.py",
        "embedding/taught.py",
        "lab/acids.py",
        "law/names.py",
        "llm/contract.py",
        "retrieval/languages.py",
    },
    "what a laboratory remembers, which nothing rebuilds": {
        "cli/lab.py:lab_show",
        "lab/importing.py",
        "lab/queue.py",
        "lab/showing.py",
        "lab/store.py",
        "lab/trace.py",
        "tracing/querying.py",
        "tracing/chain.py",
        "running/recording.py",
    },
    "a person's requests for recipes": {
        "defs/sensors/lab.py",
    },
    "configuration": {
        "lab/laboratory.py:init_laboratory",
        "llm/scripted.py",
        "retrieval/fusion.py",
    },
    "another program's": {
        "parsing/pdf/recognition.py",
        "parsing/worker.py:__init__",
        "parsing/worker.py:_limit_memory",
        "running/attended.py",
        "running/serving.py",
        "running/instance.py",
    },
}
NOT_DERIVED = frozenset[str]().union(*OWNERS.values())
# "module" → how many calls on derived files are still made there.
ALLOWANCE: dict[str, int] = {}


def calls_in(source: str) -> Iterator[tuple[str, int]]:
    """Yield (function, line) of every call of the file system; methods without their class."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not function:
                yield from walk(child, child.name)
                continue
            if isinstance(child, ast.Call) and is_of_files(child):
                yield function, child.lineno
            yield from walk(child, function)

    yield from walk(ast.parse(source), "")


def is_of_files(call: ast.Call) -> bool:
    """Say whether a call is one of the file system, by its name and the form of its arguments."""
    called = call.func
    if isinstance(called, ast.Name):
        return called.id in FUNCTIONS
    if not isinstance(called, ast.Attribute):
        return False
    if isinstance(called.value, ast.Name) and called.value.id in OF_MODULES:
        return called.attr in OF_MODULES[called.value.id]
    if called.attr == "open":  # of a path: a mode or nothing; others open something by its name
        modes = [each for each in call.args if not is_mode(each)]
        is_library = isinstance(called.value, ast.Name) and called.value.id in LIBRARIES
        return not modes and not is_library
    if called.attr == "replace":  # of a path: where to; of a text two, of a time by name
        return len(call.args) == 1 and not call.keywords
    return called.attr in METHODS


def is_mode(argument: ast.expr) -> bool:
    """Say whether an argument is how a file is opened, such as `"rb"`."""
    given = argument.value if isinstance(argument, ast.Constant) else None
    return isinstance(given, str) and re.fullmatch(r"[rwxa][bt+]*", given) is not None


def counted() -> tuple[Counter[str], set[str], list[str]]:
    """Return calls by module, the reasons that were used, and every call that has none."""
    found: Counter[str] = Counter()
    used: set[str] = set()
    places = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        if module.split("/")[0] in HOLDERS:
            continue
        for function, line in calls_in(path.read_text(encoding="utf-8")):
            reasons = {module, f"{module}:{function}"} & NOT_DERIVED
            used |= reasons
            if not reasons:
                found[module] += 1
                places.append(f"rag_assets/{module}:{line} in {function or 'the module'}")
    return found, used, places


def test_no_call_on_a_derived_file_is_added_and_each_that_went_is_taken_off() -> None:
    found, _, places = counted()
    more = [
        place for place in places if found[module_of(place)] > ALLOWANCE.get(module_of(place), 0)
    ]
    assert more == [], "use Workspace.store, or a function of storage/"
    fewer = {m: found[m] for m, allowed in ALLOWANCE.items() if found[m] < allowed}
    assert fewer == {}, "the allowance can be lowered to these numbers"


def module_of(place: str) -> str:
    return place.removeprefix("rag_assets/").partition(":")[0]


def test_every_owner_still_has_calls() -> None:
    assert NOT_DERIVED - counted()[1] == set()


@pytest.mark.parametrize(
    "source",
    ["path.open()", "path.open('rb')", "open(path)", "path.open(encoding='utf-8')", "a.glob('*')",
     "x = path.read_text('utf-8')", "temporary.replace(target)", "write_text(path, '')",
     "os.replace(a, b)", "shutil.rmtree(folder)", "(a / b).unlink()", "pq.write_table(t, path)",
     "def f():\n    return [p for p in folder.iterdir()]"],
)  # fmt: skip
def test_a_call_of_the_file_system_is_seen(source: str) -> None:
    assert len(list(calls_in(source))) == 1


@pytest.mark.parametrize(
    "source",
    ["Workspace.open(root)", "pymupdf.open()", "archive.open('[Content_Types].xml')",
     "text.replace('a', 'b')", "at.replace(microsecond=0)", "replace(entry, note={})",
     "items.remove(item)", "store.get(key)", "read_json(path, 'pack')"],
)  # fmt: skip
def test_what_only_has_such_a_name_is_not(source: str) -> None:
    assert list(calls_in(source)) == []


def test_a_call_is_told_with_the_function_that_makes_it() -> None:
    source = "class A:\n  def f(self):\n    def g():\n      p.unlink()\n    return g\np.stat()\n"
    assert list(calls_in(source)) == [("f", 4), ("", 6)]
