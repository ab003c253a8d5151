"""Drafts that cite `[law > chapter > article]`: each is judged against exactly what it names."""

import os
import re
import tarfile
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag_assets.auditing import (
    CitationAudit,
    CitationVerdict,
    audit_citations,
    outdated_drafts,
    parse_draft,
)
from rag_assets.auditing.storing import audit_claims
from rag_assets.cli.main import build_cli
from rag_assets.tracing import trace
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace, write_raw
from rag_assets_tests.parsing.made_up_office import make_docx, word_paragraph
from rag_assets_tests.statutes.test_shelf import AMENDED, NEW, OLD

SETTINGS = {**HASHING, "chunk": {"mode": "law"}, "verify": {"scorer": "similarity"}}
DAY = date(2021, 1, 1)
ROOT = Path(__file__).parents[2]
ARCHIVE = (
    Path(os.environ.get("RAG_SHARED_DATA", ROOT.parent / "shared" / "data"))
    / "retrieval/law/law_vault.tar.xz"
)


def cited(text: str) -> list[tuple[str, str]]:
    return [
        (citation.doc_uid, citation.form)
        for sentence in parse_draft("chapter.md", text.encode()).sentences
        for citation in sentence.citations
    ]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (
            "醉驾入刑[刑法 > 第二编 分则 > 第一百三十三条之一]。",
            ["刑法 > 第二编 分则 > 第一百三十三条之一"],
        ),
        ("应当复议[行政复议法 > 第十条第一款]。", ["行政复议法 > 第十条第一款"]),
        ("Review [行政复议法(2023-09-01) > 第十条] is due.", ["行政复议法(2023-09-01) > 第十条"]),
        ("甲[刑法 > 第一条]，乙[民法典 > 第2条]。", ["刑法 > 第一条", "民法典 > 第2条"]),
        ("Both [刑法 > 第一条][民法典 > 第二条].", ["刑法 > 第一条", "民法典 > 第二条"]),
        ("二者［刑法 ＞ 第一条；民法典＞第二条］。", ["刑法 ＞ 第一条", "民法典＞第二条"]),
        ("【刑法 > 第三条第（二）项】规定如此。", ["刑法 > 第三条第（二）项"]),
        ("分行[刑法 >\n第一条]。", ["刑法 > 第一条"]),
        ("如案例[甲诉乙案 > 【判决理由】 > 第六条]。", ["甲诉乙案 > 【判决理由】 > 第六条"]),
    ],
)
def test_a_bracket_that_ends_with_an_article_is_a_citation(text: str, labels: list[str]) -> None:
    assert cited(text) == [(label, "statute") for label in labels]
    assert all("条" not in s.claim for s in parse_draft("chapter.md", text.encode()).sentences)


@pytest.mark.parametrize(
    "text",
    [
        "For [a > b] it holds.",
        "见[第一章 > 第二节]。",
        "[刑法 > 第一条](https://example.org/1)说。",
        "[刑法 > 第一条][ref]说。",
        "![刑法 > 第一条](a.png)",
        "注[^刑法 > 第一条]。",
        "`[刑法 > 第一条]`说。",
        r"\[刑法 > 第一条\]说。",
        "[刑法 > 第一条规定的行为]是罪。",
        "[第一条]说。",
    ],
)
def test_links_notes_code_and_other_brackets_are_none(text: str) -> None:
    assert cited(text) == []


def test_a_word_document_cites_so_too() -> None:
    texts = (
        "醉驾入刑[刑法 > 第二编 分则 > 第一百三十三条之一]。",
        "Also [刑法 > 第二条] in English.",
    )
    data = make_docx("".join(map(word_paragraph, texts)))
    labels = [c.doc_uid for s in parse_draft("a.docx", data).sentences for c in s.citations]
    assert labels == ["刑法 > 第二编 分则 > 第一百三十三条之一", "刑法 > 第二条"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files = {
        "evidence/甲乙市养犬条例(2015-03-01).md": OLD,
        "evidence/甲乙市养犬条例(2020-05-01).md": NEW,
        "evidence/丙丁办法(2019-04-01).md": AMENDED,
        "evidence/戊省条例.md": OLD.replace("甲乙市养犬", "戊省养鸟"),
        "evidence/己省条例.md": OLD.replace("甲乙市养犬", "己省养鸟"),
        "notes/庚省养猫条例.md": OLD.replace("甲乙市养犬", "庚省养猫"),
    }
    root = tmp_path_factory.mktemp("laws")
    made = make_workspace(root, files, SETTINGS)
    build(made.namespace("thesis"))
    return made


def audit(
    workspace: Workspace, text: str, day: date | None = DAY, name: str = "chapter.md"
) -> CitationAudit:
    draft = workspace.drafts / name
    draft.write_text(text, encoding="utf-8")
    return audit_citations(workspace, draft, as_of=day).audit


def judged(workspace: Workspace, text: str, day: date | None = DAY) -> CitationVerdict:
    (row,) = audit(workspace, text, day).rows
    return row


def test_a_sentence_is_judged_against_that_article_alone(workspace: Workspace) -> None:
    said = "不牵绳的，罚款二百元"
    row = judged(workspace, f"{said}[甲乙市养犬条例 > 第一章 总则 > 第二条]。")
    assert (row.status, row.title) == ("OK", "甲乙市养犬条例")
    assert row.locator is not None
    assert row.locator.startswith("第二条, ")
    for wording in ("2015-03-01", "2015年"):
        older = judged(workspace, f"《甲乙市养犬条例》（{wording}）第二条规定，{said}。")
        assert (older.status, older.doc_uid) == ("WEAK", "甲乙市养犬条例-2015-03-01")
    other = judged(workspace, f"{said}[甲乙市养犬条例 > 第一条]。")
    assert (other.status, other.reason_code) == ("MISSING", "not_found")
    assert all("二百元" not in passage.text for passage in other.passages)


def test_a_paragraph_and_an_item_are_judged_alone(workspace: Workspace) -> None:
    row = judged(workspace, "依照第二条的规定处理[甲乙市养犬条例 > 第一条第二款]。")
    assert (row.status, row.passage) == ("OK", "依照第二条的规定处理。")
    assert (
        judged(workspace, "依照第二条的规定处理[甲乙市养犬条例 > 第一条第一款]。").status
        == "MISSING"
    )
    # An item is read with the words that lead to it, and without the other items.
    item = judged(workspace, "扰民的，罚款二百元[甲乙市养犬条例 > 第二条第二项]。")
    (passage,) = {one.text for one in item.passages}
    assert re.sub(r"\s", "", passage) == "第二条有下列情形之一的，罚款二百元：（二）扰民。"
    # A paragraph holds its items.
    whole = judged(workspace, "不牵绳、扰民的，罚款二百元[甲乙市养犬条例 > 第二条第一款]。")
    assert re.sub(r"\s", "", whole.passages[0].text).endswith("（一）不牵绳；（二）扰民。")


def test_a_verdict_is_traced_to_the_passage_and_the_file(workspace: Workspace) -> None:
    audit(workspace, "扰民的，罚款二百元[甲乙市养犬条例 > 第二条第二项]。", name="traced.md")
    (chain,) = trace(workspace, "traced.md#1")
    assert {step.kind for step in chain.steps} >= {"verdict", "passage", "file"}
    assert chain.holds


def test_the_words_of_a_quotation_must_stand_in_that_article(workspace: Workspace) -> None:
    quoted = "条例规定“有下列情形之一的，罚款二百元”"
    assert judged(workspace, f"{quoted}[甲乙市养犬条例 > 第二条]。").quotations[0].state == "exact"
    lost = judged(workspace, f"{quoted}[甲乙市养犬条例 > 第二条之一]。")
    assert lost.quotations[0].state == "not_found"


def test_the_wording_is_that_of_the_day_or_the_one_that_is_named(workspace: Workspace) -> None:
    said = "违反条例的，罚款一百元"
    before = judged(workspace, f"{said}[甲乙市养犬条例 > 第二条]。", date(2016, 1, 1))
    assert (before.status, before.scoring_note) == ("OK", None)
    after = judged(workspace, f"{said}[甲乙市养犬条例 > 第二条]。")
    assert (after.status, after.reason_code) == ("WEAK", "facts_differ")
    named = audit(workspace, f"{said}[甲乙市养犬条例(2015-03-01) > 第二条]。")
    assert named.rows[0].status == "OK"
    assert named.as_of == "2021-01-01"
    assert "2015-03-01 that is cited is superseded" in (named.rows[0].scoring_note or "")
    assert any("superseded" in warning for warning in named.warnings)
    early = judged(workspace, "不牵绳的[甲乙市养犬条例(2020-05-01) > 第二条]。", date(2016, 1, 1))
    assert "holds from 2020-09-01" in (early.scoring_note or "")


@pytest.mark.parametrize(
    ("written", "code", "told"),
    [
        ("甲乙市养犬条例 > 第九条", "unknown_article", "[甲乙市养犬条例 > 第二章 附则 > 第三条]"),
        ("甲乙市养犬条例 > 第二条之二", "unknown_article", "第二条之一]"),
        ("甲乙市养犬条例 > 第一条第三款", "unknown_article", "no 第三款"),
        ("甲乙市养犬条例 > 第二条第七项", "unknown_article", "no 第七项"),
        (
            "甲乙市养犬条例 > 第二章 附则 > 第二条",
            "unknown_article",
            "It is [甲乙市养犬条例 > 第一章 总则 >",
        ),
        ("甲乙市养犬条例(2018-01-01) > 第二条", "unknown_article", "2020-05-01 (in_force)"),
        ("甲乙市养狗条例 > 第二条", "unknown_uid", "The nearest names are 《甲乙市养犬条例》"),
        ("养鸟条例 > 第二条", "unknown_uid", "《养鸟条例》 is not in this vault"),
        ("庚省养猫条例 > 第二条", "not_citable", "must not be cited"),
    ],
)
def test_what_is_not_there_is_an_error_that_names_the_nearest(
    workspace: Workspace, written: str, code: str, told: str
) -> None:
    row = judged(workspace, f"可以教育[{written}]。")
    assert (row.status, row.reason_code, row.cites) == ("ERROR", code, written)
    assert told in row.reason


def test_without_a_day_no_wording_is_chosen(workspace: Workspace) -> None:
    assert (
        "pass `as_of`" in judged(workspace, "可以教育[甲乙市养犬条例 > 第二条之一]。", None).reason
    )
    assert audit(workspace, "罚款一百元{#甲乙市养犬条例-2015-03-01}。").as_of is None


def test_the_same_verdicts_on_another_day_are_the_same_audit(workspace: Workspace) -> None:
    text = "可以教育[甲乙市养犬条例 > 第二条之一]。"
    first = audit(workspace, text)
    again = audit(workspace, text, date(2021, 2, 2))
    assert (again.audit_id, again.as_of) == (first.audit_id, "2021-01-01")


def test_an_audit_is_outdated_when_another_wording_comes_into_force(tmp_path: Path) -> None:
    files = {"evidence/甲乙市养犬条例(2015-03-01).md": OLD}
    made = make_workspace(tmp_path, files, SETTINGS)
    build(made.namespace("thesis"))
    audit(
        made,
        "罚款一百元[甲乙市养犬条例 > 第二条]。又罚[甲乙市养犬条例 > 第九条]。",
        date(2020, 6, 1),
    )
    assert list(outdated_drafts(made)) == []
    write_raw(made, "evidence/甲乙市养犬条例(2020-05-01).md", NEW)
    build(made.namespace("thesis"))
    assert list(outdated_drafts(made)) == []
    (outdated,) = outdated_drafts(made, date(2020, 9, 1))
    assert outdated.rows == {1}
    assert "means another wording now" in outdated.stale[0]


def test_an_article_at_the_end_of_a_paragraph_speaks_for_its_assertions(
    workspace: Workspace,
) -> None:
    draft = workspace.drafts / "claims.md"
    draft.write_text(
        "所有不牵绳的犬只都必须罚款二百元。这一点没有争议[甲乙市养犬条例 > 第二条第一项]。\n",
        encoding="utf-8",
    )
    found = audit_claims(workspace, draft, as_of=DAY).audit
    (row,) = found.rows
    (linked,) = row.linked_evidence
    assert linked.verdict.cites == "甲乙市养犬条例 > 第二条第一项"
    assert all("扰民" not in passage.text for passage in linked.verdict.passages)
    assert found.as_of == "2021-01-01"


def test_the_command_takes_the_day(workspace: Workspace) -> None:
    draft = workspace.drafts / "day.md"
    draft.write_text("罚款一百元[甲乙市养犬条例 > 第二条]。\n", encoding="utf-8")
    command = ["--workspace", str(workspace.root), "verify-citations", str(draft)]
    ran = CliRunner().invoke(build_cli(), [*command, "--as-of", "2016-01-01", "--json"])
    assert ran.exit_code == 0, ran.stderr
    assert '"as_of": "2016-01-01"' in ran.stdout


@pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no {ARCHIVE}; set RAG_SHARED_DATA")
def test_articles_of_the_vault_support_what_they_say_and_no_other_does(tmp_path: Path) -> None:
    wanted = re.compile(r"/(?:行政复议法|刑法)[^/]*\.md$")
    with tarfile.open(ARCHIVE) as archive:
        files = {
            f"evidence/{Path(member.name).name}": (archive.extractfile(member) or _none()).read()
            for member in archive
            if member.isfile() and wanted.search(member.name)
        }
    made = make_workspace(tmp_path, files, SETTINGS)
    build(made.namespace("thesis"))
    found = audit(
        made,
        "在道路上驾驶机动车，追逐竞驶，情节恶劣的，处拘役，并处罚金"
        "[刑法 > 第二编 分则 > 第一百三十三条之一第一款]。\n\n"
        "在道路上驾驶机动车，追逐竞驶，情节恶劣的，处拘役，并处罚金[刑法 > 第二百条]。\n\n"
        "在道路上驾驶机动车，追逐竞驶的，处拘役[刑法 > 第一编 总则 > 第一百三十三条之一]。\n",
        date(2025, 1, 1),
    )
    assert [row.status for row in found.rows] == ["OK", "MISSING", "ERROR"]
    assert "第二编" in found.rows[2].reason


def _none() -> Path:
    raise AssertionError("a file of the archive cannot be read")


DRUGS = """# 丙市药品条例

2019年8月26日 丙市人民代表大会常务委员会通过

第一条 为了管理药品，制定本条例。

第二条 禁止销售假药、劣药。

有下列情形之一的，为假药：

（一）药品所含成份与标准规定的成份不符；

（二）变质的药品。

有下列情形之一的，为劣药：

（一）药品成份的含量不符合标准；

（二）被污染的药品。

第三条 借款人应当支付利息，但是利率超过四倍的除外。

第四条 本条例自2019年12月1日起施行。《丙市旧药条例》同时废止。
"""
OLD_DRUGS = """# 丙市旧药条例

2001年3月1日 丙市人民代表大会常务委员会通过

第一条 为了管理旧药，制定本条例。

第二条 销售者应当登记每一批药品。

第三条 本条例自2001年6月1日起施行。
"""


@pytest.fixture(scope="module")
def drugs(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    files = {"evidence/药品条例.md": DRUGS, "evidence/旧药条例.md": OLD_DRUGS}
    made = make_workspace(tmp_path_factory.mktemp("drugs"), files, SETTINGS)
    build(made.namespace("thesis"))
    return made


MARKS = ["[丙市药品条例 > {}]", "{{#药品条例}}"]


@pytest.mark.parametrize("article", ["第二条", "第二条第二款"])
@pytest.mark.parametrize("mark", MARKS)
def test_an_item_belongs_to_the_words_that_lead_to_it(
    drugs: Workspace, mark: str, article: str
) -> None:
    cited = mark.format(article)
    assert judged(drugs, f"药品所含成份与标准规定的成份不符的，为假药{cited}。").status == "OK"
    row = judged(drugs, f"药品所含成份与标准规定的成份不符的，为劣药{cited}。")
    assert (row.status, row.reason_code) == ("WEAK", "wrong_article")
    assert (
        "is below “有下列情形之一的，为假药：”, not below “有下列情形之一的，为劣药：”"
        in row.reason
    )


@pytest.mark.parametrize("mark", MARKS)
def test_who_drops_the_exception_says_too_much(drugs: Workspace, mark: str) -> None:
    cited = mark.format("第三条")
    row = judged(drugs, f"借款人应当支付利息{cited}。")
    assert (row.status, row.reason_code) == ("WEAK", "drops_exception")
    assert "但是利率超过四倍的除外" in row.reason
    assert judged(drugs, f"借款人应当支付利息，但是利率超过四倍的除外{cited}。").status == "OK"


@pytest.mark.parametrize("mark", ["[丙市旧药条例 > 第二条]", "{#旧药条例}"])
def test_a_repealed_law_is_weak_with_the_sentence_that_repeals_it(
    drugs: Workspace, mark: str
) -> None:
    said = f"销售者应当登记每一批药品{mark}。"
    row = judged(drugs, said)
    assert (row.status, row.reason_code) == ("WEAK", "not_in_force")
    assert "第四条 《丙市旧药条例》同时废止。" in row.reason
    assert judged(drugs, said, date(2019, 1, 1)).status == "OK"


def test_articles_of_no_national_law_without_title_marks_are_counted_and_not_checked(
    drugs: Workspace,
) -> None:
    found = audit(
        drugs,
        "根据戊市绿化条例第三十九条，用人单位可以解除劳动合同。\n\n"
        "依照合同第三条，双方付款。 See Section 3 of this paper.\n\n"
        "《丙市药品条例》第三条规定，借款人应当支付利息。\n",
    )
    assert [row.line for row in found.rows] == [5]
    (warning,) = [one for one in found.warnings if "not checked" in one]
    assert "line 1: 1 article named in words alone (第三十九条)" in warning


def test_every_spelling_of_a_national_law_is_cited_without_title_marks(drugs: Workspace) -> None:
    found = audit(
        drugs,
        "根据刑法133之一应当处罚。\n\n《劳动合同法》39条规定了解除。\n\n"
        "In China, theft is punished (Criminal Law art. 264).\n",
    )
    assert [row.cites for row in found.rows] == [
        "刑法 > 第133条之一", "劳动合同法 > 第39条", "刑法 > 第264条",
    ]  # fmt: skip


def test_an_article_that_is_named_in_words_is_checked_and_counted(drugs: Workspace) -> None:
    found = audit(
        drugs,
        "《丙市药品条例》第三条规定，借款人应当支付利息。\n\n"
        "《合同法》第五十二条规定，恶意串通的合同无效。\n\n"
        "《丙市药品条例》第一条、第三条都是这样规定的。\n\n"
        "# 《丙市药品条例》第二条\n\n"
        "《丙市药品条例》第三条规定，借款人应当支付利息{#药品条例}。\n\n"
        "《丙市药品条例》第三条规定，借款人应当支付利息[丙市药品条例 > 第三条]。\n",
    )
    assert [(row.cites, row.line) for row in found.rows] == [
        ("丙市药品条例 > 第三条", 1),
        ("合同法 > 第五十二条", 3),
        ("丙市药品条例 > 第一条", 5),
        ("丙市药品条例 > 第三条", 5),
        ("药品条例", 9),
        ("丙市药品条例 > 第三条", 11),
    ]
    assert (found.rows[0].status, found.rows[0].reason_code) == ("WEAK", "drops_exception")
    assert (found.rows[1].status, found.rows[1].reason_code) == ("ERROR", "unknown_uid")
    assert "《合同法》 is not in this vault" in found.rows[1].reason
    assert not any("cites nothing" in warning for warning in found.warnings)
