"""What holds of a namespace of laws: no text lost, articles whole, citations that lead back."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest

from rag_assets.chunking.rows import chunks_schema, parents_schema
from rag_assets.definitions import build_definitions
from rag_assets.defs.checks import build_namespace_checks
from rag_assets.retrieval import vaults
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.retrieval.vaults import CutFaults, find_cut_faults, unresolved_citations
from rag_assets.storage import read_entries, read_rows, write_record
from rag_assets.workspace import Namespace, require_inventory
from rag_assets_tests.libraries import HASHING, build, make_workspace, write_raw

DAY = date(2026, 1, 1)
_BODY = "".join(f"第{n}条 养犬人应当办理第{n}类登记。\n\n" for n in "一二三四五")
OLD = f"# 甲市养犬条例\n\n2010年5月1日 甲市人民代表大会通过\n\n## 第一章 总则\n\n{_BODY}"
NEW = OLD.replace("2010", "2020").replace("养犬人", "养犬单位")


def made(root: Path, search_unit: str = "article") -> Namespace:
    chunk = {"mode": "law", "law": {"search_unit": search_unit}}
    files = {
        "evidence/甲市养犬条例(2010-05-01).md": OLD,
        "evidence/甲市养犬条例(2020-05-01).md": NEW,
        "evidence/乙市养犬条例.md": NEW.replace("甲市", "乙市") + "<!-- " + "x" * 30 + " -->\n",
    }
    namespace = make_workspace(root, files, {**HASHING, "chunk": chunk}).namespace("thesis")
    build(namespace)
    return namespace


@pytest.fixture
def namespace(tmp_path: Path) -> Namespace:
    return made(tmp_path / "library")


def rewrite(
    namespace: Namespace, stage: str, schema: pa.Schema, wanted: Callable[[dict[str, Any]], bool]
) -> None:
    """Take rows out of the records of a stage."""
    for partition in namespace.partition_keys:
        path = namespace.record(stage, partition)
        entries = read_entries(path)
        if entries:
            rows = read_rows(path, schema, list(entries)).to_pylist()
            kept = [row for row in rows if wanted(row)]
            sizes = Counter(row["content_hash"] for row in kept)
            cut = {c: replace(e, rows=sizes[c], digest=f"{e.digest}!") for c, e in entries.items()}
            write_record(path, schema, cut, [pa.Table.from_pylist(kept, schema)])


def faults(namespace: Namespace) -> CutFaults:
    return find_cut_faults(namespace, require_inventory(namespace), lambda _: None)


@pytest.mark.parametrize("search_unit", ["article", "merged"])
def test_a_sound_namespace_has_nothing_to_tell(tmp_path: Path, search_unit: str) -> None:
    namespace = made(tmp_path / "library", search_unit)
    assert faults(namespace) == CutFaults((), ())
    assert not list(unresolved_citations(namespace, DAY))


def test_text_that_no_parent_holds_is_told(namespace: Namespace) -> None:
    rewrite(namespace, "parents", parents_schema(), lambda row: "第三条" not in row["text"])
    found = faults(namespace).lost
    assert len(found) == 3
    assert all("no passage holds “第一条 养犬" in sentence for sentence in found)


def test_an_article_that_begins_no_passage_is_told(namespace: Namespace) -> None:
    rewrite(namespace, "chunks", chunks_schema(), lambda row: "第三条" not in row["text"])
    found = faults(namespace).broken
    assert len(found) == 3
    assert all("第三条 does not begin a passage" in sentence for sentence in found)


def test_a_law_that_was_looked_at_is_not_read_again(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    real = vaults.LawFile
    monkeypatch.setattr(
        vaults, "LawFile", lambda name, text: looked.append(text) or real(name, text)
    )
    faults(namespace)
    assert len(looked) == len(require_inventory(namespace).contents)
    looked.clear()
    write_raw(namespace.workspace, "evidence/丙县养犬条例.md", OLD.replace("第三条", "第三款"))
    build(namespace)
    again = faults(namespace)
    assert len(looked) == 1
    assert [one.partition(":")[0] for one in again.broken] == ["raw/evidence/丙县养犬条例.md"]
    assert faults(namespace) == again
    assert len(looked) == 1


def test_numbers_that_are_missing_are_told(tmp_path: Path) -> None:
    files = {"evidence/甲市养犬条例.md": OLD.replace("第三条", "第三款")}
    settings = {**HASHING, "chunk": {"mode": "law"}}
    namespace = make_workspace(tmp_path / "library", files, settings).namespace("thesis")
    build(namespace)
    (told,) = faults(namespace).broken
    assert told.endswith("第二条 is followed by 第四条: 第三条 is missing.")


def test_a_citation_that_leads_elsewhere_is_told(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = LawShelf.article
    monkeypatch.setattr(
        LawShelf, "article", lambda self, asked: real(self, asked.replace("第三条", "第四条"))
    )
    found = list(unresolved_citations(namespace, DAY))
    assert len(found) == 3
    assert all("第三条] leads to other text" in sentence for sentence in found)


def test_the_checks_belong_to_namespaces_of_laws(namespace: Namespace) -> None:
    graph = build_definitions(namespace.workspace).resolve_asset_graph()
    specs = {key.name: graph.get_check_spec(key) for key in graph.asset_check_keys}
    ours = {"no_text_of_laws_is_lost", "articles_are_whole", "citations_resolve"}
    assert ours <= specs.keys()
    # Nothing that is published waits for them.
    assert not any(specs[name].blocking for name in ours)
    assert all(specs[name].asset_key.path == ["thesis", "search_index"] for name in ours)


def test_what_the_checks_say(namespace: Namespace) -> None:
    checks = {
        spec.name: definition
        for definition in build_namespace_checks(namespace)
        for spec in definition.check_specs
    }
    names = ("no_text_of_laws_is_lost", "articles_are_whole")
    looking = dg.build_asset_check_context()
    assert all(checks[name](looking).passed for name in names)
    assert checks["citations_resolve"]().passed
    rewrite(namespace, "chunks", chunks_schema(), lambda row: "第三条" not in row["text"])
    whole = checks["articles_are_whole"](looking)
    assert (whole.passed, whole.severity) == (False, dg.AssetCheckSeverity.WARN)
    rewrite(namespace, "parents", parents_schema(), lambda row: "第三条" not in row["text"])
    lost = checks["no_text_of_laws_is_lost"](looking)
    assert (lost.passed, lost.severity) == (False, dg.AssetCheckSeverity.ERROR)
