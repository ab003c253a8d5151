"""Articles are found by questions that people ask about them."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import taught
from rag_assets.embedding.taught import KnownQuestions, load_known_questions, load_question_encoder
from rag_assets.law import wording_keys
from rag_assets.retrieval import Retriever
from rag_assets.retrieval.asked import AskedPassages
from rag_assets_tests.libraries import build, make_workspace

DOGS = "在公共场所携带犬只的，应当使用束犬链，并为犬只佩戴嘴套；违反的，处二百元罚款。"
SHOPS = "经营者应当按照国家有关规定或者商业惯例向消费者出具发票等购货凭证，不得拒绝。"
LAW = f"# 甲乙市条例\n\n第一条 {DOGS}\n\n第二条 {SHOPS}\n\n第三条 本条例自公布之日起施行。\n"
QUESTION = "遛狗忘了拴绳会怎么样"


def test_a_wording_is_known_out_of_any_file() -> None:
    (key,) = wording_keys(f"第十条 {DOGS}")
    spaced = DOGS.replace("，", " ，\n")
    assert wording_keys(f"第十一条\u3000{DOGS}") == [key]
    assert wording_keys(f"## 第一章\n\n第十条 {spaced}") == [key]
    assert wording_keys(f"第十条 {SHOPS}\n第十一条 {DOGS}")[1:] == [key]
    assert wording_keys(f"第十条 不{DOGS}") != [key]
    assert wording_keys("第十条 本法自公布日施行。") == wording_keys(DOGS) == []


def test_a_passage_has_the_cosine_of_its_likest_question() -> None:
    (dogs,), (shops,) = wording_keys(f"第一条 {DOGS}"), wording_keys(f"第一条 {SHOPS}")
    keys, vectors = [dogs, dogs, shops, 1], np.eye(4, dtype=np.float32)
    order = np.argsort(keys, kind="stable")
    known = KnownQuestions(np.array(keys)[order], vectors[order])
    passages = [
        ("law:0", f"第一条 {DOGS}"),
        ("law:1", "第二条 另有规定的，从其规定，并且应当说明理由。"),
        ("both:0", f"第一条 {DOGS}\n第二条 {SHOPS}"),
    ]
    scores = AskedPassages(passages, known).ask([0.1, 0.6, 0.8, 0.0])
    assert scores is not None
    assert list(scores.ranked()) == [("both:0", 0.8), ("law:0", 0.6)]
    assert scores.of(["law:1", "law:0"]) == {"law:0": 0.6}
    assert AskedPassages(passages[1:2], known).ask([1.0, 0.0, 0.0, 0.0]) is None


def test_a_search_finds_an_article_by_a_known_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        "chunk": {"mode": "law"},
        "embed": {"kind": "bundled", "model": "multilingual-e5-small", "dtype": "int8"},
        "retrieve": {"questions": "law"},
    }
    workspace = make_workspace(tmp_path, {"evidence/甲乙市条例.md": LAW}, settings)
    build(workspace.namespace("thesis"))
    vectors = load_question_encoder("law").encode_queries([QUESTION])
    known = KnownQuestions(np.array(wording_keys(f"第二条 {SHOPS}")), vectors)
    monkeypatch.setattr(taught, "load_known_questions", lambda _: known)
    with Retriever(workspace) as retriever:
        hits = retriever.retrieve(QUESTION).hits
        semantic = retriever.settings.model_copy(update={"method": "semantic"})
        others = retriever.retrieve(QUESTION, settings=semantic).hits
    found = {hit.articles[0].shown: hit for hit in hits}
    assert found["第二条"].scores["asked"] == pytest.approx(1.0)
    assert found["第二条"].explanation["weights"]["asked"] == pytest.approx(0.5)
    assert "asked" not in found["第一条"].scores
    assert all("asked" not in hit.scores for hit in others)


def test_the_shipped_questions_are_sorted_by_their_articles() -> None:
    known = load_known_questions("law")
    assert len(known.wordings) == len(known.vectors)
    assert (np.diff(known.wordings) >= 0).all()
    assert np.linalg.norm(known.vectors, axis=1) == pytest.approx(1.0, abs=0.02)
