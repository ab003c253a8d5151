"""Briefs say what is asked for, word for word with its place; and never become evidence."""

from pathlib import Path

import pytest

from rag_assets.evidence import Question, make_pack
from rag_assets.evidence.briefing import (
    find_demands,
    gather_instructions,
    measure_style,
    write_briefs,
)
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace, write_raw
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

TASK = """# Assignment

The essay is due on 14 December 2026. It has at most 3,000 words, without references.
Students should compare two methods. You may not cite blogs. The library opens at nine.
Every source must be peer-reviewed.

| Criterion | Weight |
|---|---|
| Use of evidence | 35 % |

- Discuss two counter-arguments.
- 论文不得抄袭，参考文献必须符合国家标准。
"""
FEEDBACK = "# Draft 1\n\nGood work. Figure 2 has no caption. You never say which roofs.\n"
MODEL = """# Introduction

Roofs have been studied for decades (Smith, 2010; Lee, 2014). We think that moss may help.

# Method

Samples were collected by students in May [3]. They were weighed.
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files: dict[str, str | bytes] = {
        "instruction/guidance/task.md": TASK,
        "instruction/feedback/one.md": FEEDBACK,
        "instruction/exemplars/model.md": MODEL,
        "instruction/slides/week.pdf": make_pdf([[], paragraph("Reports must have a summary.")]),
        "evidence/roofs.md": "# Roofs\n\nMoss roofs must be watered in May.\n",
    }
    made = make_workspace(tmp_path_factory.mktemp("briefs"), files)
    build(made.namespace("thesis"))
    return made


def demands(workspace: Workspace) -> dict[str, tuple[str, str]]:
    texts, amiss = gather_instructions(workspace)
    assert amiss == []
    return {d.text: (d.kind, d.where) for text in texts for d in find_demands(text)}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The essay is due on 14 December 2026.", "date"),
        ("It has at most 3,000 words, without references.", "length"),
        ("Use of evidence · 35 %", "weight"),
        ("You may not cite blogs.", "prohibition"),
        ("Every source must be peer-reviewed.", "demand"),
        ("Discuss two counter-arguments.", "demand"),
        ("Students should compare two methods.", "advice"),
        ("论文不得抄袭，参考文献必须符合国家标准。", "prohibition"),
        ("Figure 2 has no caption.", "feedback"),
        ("You never say which roofs.", "feedback"),
        ("Reports must have a summary.", "demand"),
    ],
)
def test_a_demand_is_found_and_told_from_others(workspace: Workspace, text: str, kind: str) -> None:
    assert demands(workspace)[text][0] == kind


@pytest.mark.parametrize("text", ["The library opens at nine.", "Good work.", "Assignment"])
def test_what_asks_for_nothing_is_left_out(workspace: Workspace, text: str) -> None:
    assert text not in demands(workspace)


def test_each_demand_says_where_it_stands(workspace: Workspace) -> None:
    found = demands(workspace)
    assert found["You may not cite blogs."][1] == "Assignment, line 4"
    assert found["Use of evidence · 35 %"][1] == "Assignment, line 9"
    assert found["Reports must have a summary."][1] == "p. 2"


def test_exemplars_are_measured_and_ask_for_nothing(workspace: Workspace) -> None:
    (text,) = [t for t in gather_instructions(workspace)[0] if t.subtype == "exemplars"]
    style = measure_style(text)
    assert style is not None
    assert (style.sentences, style.unit) == (4, "words")
    assert style.shares["passive"] == 0.75
    assert style.shares["first person"] == 0.25
    assert style.shares["hedged"] == 0.25
    assert style.citations == {"(Author, year)": 1, "[number]": 1}
    assert [title for title, _, _ in style.sections] == ["Introduction", "Method"]
    assert sum(share for _, _, share in style.sections) == pytest.approx(1)
    assert find_demands(text) == []


def test_lines_of_code_and_items_of_lists_are_no_sentences(tmp_path: Path) -> None:
    model = (
        "# Method\n\nWe call `sort(x)` first. Two steps follow:\n\n- collect the nodes\n"
        "- sort them by cost\n\nThey were run twice.\n\n```python\nprint(x)\n```\n\n"
        "Input: a list of nodes\n\n1. for each node u do\n2. cost[u] = inf\n3. end for\n"
        "4. return cost\n\n    more = code(2)\n"
    )
    workspace = make_workspace(tmp_path, {"instruction/exemplars/model.md": model})
    build(workspace.namespace("thesis"))
    (text,) = gather_instructions(workspace)[0]
    style = measure_style(text)
    assert style is not None
    assert style.sentences == 3
    words = (
        "We call sort x first Two steps follow collect the nodes sort them by cost They were run"
    )
    assert style.length == len(f"{words} twice".split())


def test_briefs_are_marked_and_can_enter_no_pack(workspace: Workspace) -> None:
    made = write_briefs(workspace)
    for path in (made.instruction, made.style):
        assert path.read_text(encoding="utf-8").startswith("---\ncitable: false\n---\n")
    assert "raw/evidence" not in made.instruction.read_text(encoding="utf-8")
    # The question is a demand itself, word for word.
    for demand in demands(workspace):
        pack = make_pack(workspace, Question(question=demand))
        assert set(pack.doc_uids) <= {"roofs"}
        assert all(demand not in item.parent_text for item in pack.items)


def test_a_brief_copied_into_raw_stays_out_of_evidence(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"instruction/guidance/task.md": TASK})
    build(workspace.namespace("thesis"))
    brief = write_briefs(workspace).instruction.read_bytes()
    write_raw(workspace, "instruction/brief.md", brief)
    build(workspace.namespace("thesis"))
    assert make_pack(workspace, Question(question="What must students do?")).items == ()


def test_an_unchanged_brief_is_left_untouched(workspace: Workspace) -> None:
    before = write_briefs(workspace).instruction.stat()
    after = write_briefs(workspace).instruction.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_workspace_without_instructions_says_where_to_put_them(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "# A\n\nRoofs must be cool.\n"})
    build(workspace.namespace("thesis"))
    made = write_briefs(workspace)
    assert made.texts == 0
    assert "raw/instruction/" in made.instruction.read_text(encoding="utf-8")


def test_an_instruction_that_could_not_be_read_is_named_in_the_brief(tmp_path: Path) -> None:
    files = {"instruction/guidance/task.md": TASK, "instruction/guidance/broken.pdf": "%PDF-1.7"}
    workspace = make_workspace(tmp_path, files)
    build(workspace.namespace("thesis"))
    made = write_briefs(workspace)
    assert made.amiss[0].startswith("raw/instruction/guidance/broken.pdf is left out")
    assert made.amiss[0] in made.instruction.read_text(encoding="utf-8")
