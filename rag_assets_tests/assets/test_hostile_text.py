"""Nothing that stands in a document, a name or a reason is rendered by the UI as what it is not."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag_assets.defs.assets.reporting import (
    outcome_metadata,
    run_metadata,
    sentence_list,
    text_preview,
    warnings_metadata,
)
from rag_assets.defs.checks.namespace import judge
from rag_assets.model import DocumentStatus, StageOutcome
from rag_assets.running import STAGES, materialize_partition, materialize_stages
from rag_assets.running.instance import open_instance
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, make_workspace

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_ACTIVE = {"image", "html_inline", "html_block", "link_open", "heading_open", "table_open"}
# Links of ours lead to pages of assets.
_OWN_LINK = re.compile(r"/assets/[\w-]+/\w+(\?view=partitions&partition=\w+)?")
_STAGE = dg.AssetKey(["thesis", "stage"])
HOSTILE = (
    "![a](/graphql?query=mutation{wipe})",
    "<img src=http://127.0.0.1:9/x.png>",
    "<http://127.0.0.1:9/>",
    "[a]: http://127.0.0.1:9/x",
    "[a]",
    "```",
    "~~~~",
    "``` `a` ``",
    "\\",
    "</code></pre><script>x</script>",
    "| a | b |",
    "|---|---|",
    "# A",
    "\n",
    "\n\n",
    "    ",
    "**",
    "<!--",
    "&lt;",
    "&#60;img src=x&#62;",
)
hostile_texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=8), max_size=8).map("".join)


def active_parts(markdown: str) -> list[str]:
    """Return what is rendered as more than text, but for links of ours."""

    def walk(tokens: list[Token]) -> Iterator[Token]:
        for token in tokens:
            yield token
            yield from walk(token.children or [])

    found = []
    for token in walk(_MARKDOWN.parse(markdown)):
        is_own = token.type == "link_open" and _OWN_LINK.fullmatch(str(token.attrs["href"]))
        if token.type in _ACTIVE and not is_own:
            found.append(f"{token.type}: {token.content or token.attrs}")
    return found


def active_in(metadata: Mapping[str, Any]) -> list[str]:
    shown = [v.value for v in metadata.values() if isinstance(v, dg.MarkdownMetadataValue)]
    return [part for markdown in shown for part in active_parts(markdown or "")]


@given(hostile_texts, hostile_texts, hostile_texts)
def test_whatever_a_stage_reports_is_text(name: str, reason: str, warning: str) -> None:
    document = DocumentStatus(name, "failed", reason, {})
    outcome = StageOutcome("d", (document,), {"documents": 1}, 1, 0.1, (warning,), "")
    assert active_in(outcome_metadata(outcome)) == []
    assert active_in(run_metadata(_STAGE, {"0": outcome, "1": outcome})) == []
    assert active_in(warnings_metadata([warning])) == []
    assert active_parts(sentence_list([name, reason, warning])) == []


@given(hostile_texts)
def test_whatever_a_preview_shows_is_one_block_of_code(text: str) -> None:
    shown = text_preview(text).value
    assert [token.type for token in _MARKDOWN.parse(shown or "")] == ["fence"]


@given(st.lists(hostile_texts, min_size=1, max_size=5))
def test_whatever_a_check_finds_is_text(sentences: list[str]) -> None:
    result = judge(sentences)
    assert active_in(result.metadata or {}) == []
    assert active_parts(result.description or "") == []


TEXT = "# Roofs\n\nA green roof was cooler at noon.\n\n" + "\n\n".join(HOSTILE)
# Where `search_index` sends the reader.
OWN = {"link_open: {'href': '/assets/thesis/parse_reports?view=checks'}"}
NAME = "![a](b) `` <img src=x> [c](d).md"


def test_no_asset_renders_a_hostile_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, str | bytes] = {
        f"evidence/{NAME}": TEXT,
        f"evidence/{NAME}.pdf": b"%PDF-1.7 broken",
        f"evidence/{NAME}.meta.yaml": "title: '![t](http://127.0.0.1:9/t.png) <b>x</b>'\n",
    }
    workspace = make_workspace(tmp_path / "library", files, {**HASHING, "graph": {"enabled": True}})
    monkeypatch.setenv("RAG_WORKSPACE", str(workspace.root))
    monkeypatch.setenv("DAGSTER_HOME", str(workspace.dagster_home))
    run = materialize_stages(workspace.namespace("thesis"), STAGES)
    assert run.is_published, run.errors
    fresh = Workspace.open(workspace.root)
    for asset, key in (
        ("evidence_packs", _write_question(fresh, "evidence")),
        ("agent_answers", _write_question(fresh, "answer")),
        *(("citation_audits", key) for key in _write_draft(fresh)),
        *(("claim_audits", key) for key in _write_draft(fresh)),
    ):
        made = materialize_partition(fresh, asset, key)
        assert made.is_success, made.errors
    shown = set[str]()
    with open_instance(fresh) as instance:
        for asset_key in instance.all_asset_keys():
            for record in instance.fetch_materializations(asset_key, limit=100).records:
                found = record.asset_materialization
                assert found is not None
                assert {*active_in(found.metadata)} <= OWN, asset_key
                shown.add(asset_key.path[-1])
    assert {*STAGES, "evidence_packs", "agent_answers", "citation_audits", "claim_audits"} <= shown


def _write_question(workspace: Workspace, mode: str) -> str:
    from rag_assets.evidence import read_question

    path = workspace.queries / f"{mode}.yaml"
    path.write_text(
        f"question: 'Which roof ![q](http://127.0.0.1:9/q.png) was cooler at noon?'\nmode: {mode}\n"
    )
    return read_question(path).key


def _write_draft(workspace: Workspace) -> list[str]:
    from rag_assets.auditing import draft_key

    path = workspace.root / "drafts" / "![a](b).md"
    path.write_text(
        "A green roof was 7 degrees cooler ![d](http://127.0.0.1:9/d.png) {#nothing}.\n\n"
        "A green roof always causes the coolest <img src=x> noon of all.\n"
    )
    return [draft_key(path)]
