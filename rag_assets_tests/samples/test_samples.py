"""The sample library is what its README says: hard like real papers, consistent in itself."""

import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
import yaml
from numpy.typing import NDArray

from rag_assets.auditing import (
    CitationVerdict,
    CitedDocument,
    CitedDocumentRef,
    NoReferences,
    Passage,
    read_draft,
    verify_citations,
)
from rag_assets.chunking import chunk_document, model_input
from rag_assets.embedding import joint_tokenizer, load_embedder, load_tokenizer
from rag_assets.evidence.question import read_question
from rag_assets.model import PageBox, is_chinese
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import Settings, read_sidecar, slug

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
EVIDENCE = SAMPLES / "raw" / "evidence"
DRAFT = SAMPLES / "drafts" / "thesis-chapter-2.md"
SETTINGS = Settings.model_validate(
    yaml.safe_load((SAMPLES.parent / "configs" / "rag.yaml").read_text(encoding="utf-8"))
)
ENGLISH = ("cool-pavements-2023", "green-roofs-2024")
CHINESE = "行道树与夏季热环境-2022"
PAPERS = (*ENGLISH, CHINESE)
GUTTER = 270.0  # points; the middle of the page
HEAD, FOOT = 50.0, 680.0  # points; body text lies between

SAID = {
    "cool-pavements-2023": (
        "Air temperature at head height fell by 0.3 °C.",
        (
            "At 13:00 the mean radiant temperature of a person standing on the coating was 3.8 °C "
            "higher than on plain asphalt in the first summer and 2.5 °C higher in the second."
        ),
    ),
    "green-roofs-2024": (
        "Green roofs are a measure for buildings, not for streets.",
        (
            "On the first day after rain it was largest, and after ten days without rain it had "
            "shrunk from 16.7 °C to 9.8 °C, a loss of about 41%."
        ),
    ),
    CHINESE: (
        "覆盖率每增加10个百分点，气温约降低0.3 °C。",
        "在受访的305名行人中，78%表示会为了树荫而选择街道的某一侧，31%表示会为了树荫绕行。",
    ),
}
OVER_A_PAGE_END = {
    "cool-pavements-2023": "whether glare had disturbed them.",
    "green-roofs-2024": "since only 6% of the roof area in Marlbrook is planted today.",
    CHINESE: "每条街道的受访人数为48至54人，拒访率为22%。",
}


def open_paper(name: str) -> pymupdf.Document:
    return pymupdf.open(EVIDENCE / f"{name}.pdf")


def body_lines(page: pymupdf.Page) -> list[tuple[tuple[float, ...], str]]:
    lines = [
        (line["bbox"], "".join(span["text"] for span in line["spans"]).strip())
        for block in page.get_text("dict")["blocks"]
        for line in block.get("lines", [])
    ]
    return [(box, text) for box, text in lines if box[1] > HEAD and box[3] < FOOT]


def running_text(name: str, *, of_pages: slice = slice(None)) -> str:
    """Join lines and mend words broken at line ends; white space does not count."""
    with open_paper(name) as paper:
        lines = [text for page in list(paper)[of_pages] for _, text in body_lines(page)]
    text = re.sub(r"([a-z])-\n([a-z])", r"\1\2", "\n".join(lines))
    return without_space(text)


def without_space(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("name", PAPERS)
def test_sentences_can_be_read_from_the_pdf(name: str) -> None:
    text = running_text(name)
    assert [said for said in SAID[name] if without_space(said) not in text] == []


@pytest.mark.parametrize("name", PAPERS)
def test_a_sentence_runs_over_a_page_end(name: str) -> None:
    sentence = without_space(OVER_A_PAGE_END[name])
    with open_paper(name) as paper:
        pages = range(paper.page_count)
    assert sentence in running_text(name)
    assert not any(sentence in running_text(name, of_pages=slice(p, p + 1)) for p in pages)


@pytest.mark.parametrize("name", ENGLISH)
def test_words_are_broken_at_line_ends(name: str) -> None:
    with open_paper(name) as paper:
        broken = [text for page in paper for _, text in body_lines(page) if text.endswith("-")]
    assert len(broken) >= 10


@pytest.mark.parametrize("name", PAPERS)
def test_the_text_stands_in_two_columns(name: str) -> None:
    with open_paper(name) as paper:
        assert 3 <= paper.page_count <= 4
        for page in paper:
            sides = Counter(
                "left" if box[2] < GUTTER else "right" if box[0] > GUTTER else "both"
                for box, _ in body_lines(page)
            )
            assert min(sides["left"], sides["right"]) >= 10
            assert (sides["both"] > 0) is (page.number == 0)


@pytest.mark.parametrize("name", PAPERS)
def test_title_and_abstract_lie_over_both_columns(name: str) -> None:
    with open_paper(name) as paper:
        wide = [text for box, text in body_lines(paper[0]) if box[0] < GUTTER < box[2]]
        title = paper.metadata["title"]
    assert without_space("".join(wide)).startswith(without_space(title))
    assert without_space(SAID[name][0])[:20] in without_space("".join(wide))


@pytest.mark.parametrize("name", PAPERS)
def test_every_page_has_the_same_running_head_and_its_number(name: str) -> None:
    with open_paper(name) as paper:
        words = [[(w[1], w[3], w[4]) for w in page.get_text("words")] for page in paper]
    heads = {tuple(word for _, bottom, word in page if bottom < HEAD) for page in words}
    feet = [[word for top, _, word in page if top > FOOT] for page in words]
    assert len(heads) == 1
    assert heads != {()}
    assert feet == [[str(number)] for number in range(1, len(words) + 1)]


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_says_that_it_is_invented(name: str) -> None:
    notice = "均为虚构" if name == CHINESE else "Authors, city and data are fictional."
    assert without_space(notice) in running_text(name, of_pages=slice(0, 1))


@pytest.mark.slow
def test_the_papers_are_what_their_texts_make(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-B", str(SAMPLES / "make_papers.py"), str(tmp_path)], check=True
    )
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {f"{name}.pdf": (EVIDENCE / f"{name}.pdf").read_bytes() for name in PAPERS}


def test_the_library_is_small() -> None:
    sizes = {path: path.stat().st_size for path in (SAMPLES / "raw").rglob("*") if path.is_file()}
    assert sum(sizes.values()) < 1_000_000
    assert max(sizes.values()) < 200_000


def test_every_cited_uid_names_a_file_of_the_evidence() -> None:
    cited = re.findall(
        r"#([\w.\-]+)", " ".join(re.findall(r"\{#[^}]*\}", DRAFT.read_text("utf-8")))
    )
    files = [path for path in EVIDENCE.iterdir() if not path.name.endswith(".meta.yaml")]
    assert set(PAPERS) < set(cited) <= {slug(path.name) for path in files}


def test_the_truth_names_every_citation_of_the_draft_in_order() -> None:
    truth = yaml.safe_load((SAMPLES / "expected.yaml").read_text(encoding="utf-8"))
    named = [(entry["sentence"], entry["doc_uid"]) for entry in truth["citations"]]
    cited = [(s.claim, c.doc_uid) for s in read_draft(DRAFT).sentences for c in s.citations]
    assert truth["draft"] == DRAFT.name
    assert named == cited
    assert {entry["verdict"] for entry in truth["citations"]} == {"ok", "weak", "wrong"}


def test_the_means_in_the_notes_are_those_of_the_measurements() -> None:
    with (EVIDENCE / "measurements.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    notes = (EVIDENCE / "field-notes.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| (S\d) \| ([\w ]+) \| ([\d.]+) \| ([\d.]+) \|$", notes, re.MULTILINE)
    assert [station for station, *_ in stated] == sorted({row["station"] for row in rows})
    for station, surface, air, ground in stated:
        own = [row for row in rows if row["station"] == station]
        assert {row["surface"] for row in own} == {surface}
        for said, column in ((air, "air_temperature_c"), (ground, "surface_temperature_c")):
            mean = sum(float(row[column]) for row in own) / len(own)
            assert float(said) == pytest.approx(mean, abs=0.0501)


def test_questions_and_sidecar_can_be_read() -> None:
    questions = [read_question(path).question for path in sorted((SAMPLES / "queries").iterdir())]
    assert [(q.namespaces, q.top_k) for q in questions] == [(("thesis",), 8)] * 2
    assert read_sidecar(EVIDENCE / "green-roofs-2024.pdf.meta.yaml").year == 2024


class MiniLM:
    """The first of the default models, as auditing wants it."""

    def __init__(self) -> None:
        self.tokenizer = load_tokenizer(SETTINGS.embed.models[0])
        self._model = load_embedder(SETTINGS.embed.models[0])
        self.fingerprint = self._model.fingerprint

    def encode_queries(self, texts: list[str]) -> NDArray[np.float32]:
        return self._model.encode_queries(texts)

    def encode_passages(self, texts: list[str]) -> NDArray[np.float32]:
        return self._model.encode_passages(texts)

    def unknown_share(self, text: str) -> float:
        return self.tokenizer.unknown_share(text)


class SampleLibrary(NoReferences):
    """The samples' evidence, parsed and chunked with the default settings, nothing stored."""

    def __init__(self, model: MiniLM) -> None:
        self.publications = {"thesis": "in memory"}
        self._vectors: dict[str, dict[str, NDArray[np.float32]]] = {}
        paths = [path for path in EVIDENCE.iterdir() if not path.name.endswith(".meta.yaml")]
        self._documents = {slug(path.name): self._read(path, model) for path in sorted(paths)}

    def _read(self, path: Path, model: MiniLM) -> CitedDocument:
        hints = ParseHints(extension=path.suffix)
        document = parse_document(path.read_bytes(), hints, SETTINGS.parse)
        _, chunks = chunk_document(document, SETTINGS.chunk, joint_tokenizer(SETTINGS.embed))
        vectors = model.encode_passages(
            [model_input(chunk.text, chunk.context, chunk.prepared) for chunk in chunks]
        )
        uid = slug(path.name)
        passages = [
            Passage(
                chunk_id=f"{uid}:{chunk.order}",
                parent_id=f"{uid}:{chunk.parent_label}",
                text=chunk.text,
                page_start=chunk.page_start,
                page_end=chunk.page_end,
                char_start=chunk.char_start,
                char_end=chunk.char_end,
                section_path=chunk.section_path,
                content_hash="0" * 64,
                citation_id=f"kb:thesis__chunk-{chunk.order:016x}",
            )
            for chunk in chunks
        ]
        self._vectors[uid] = {model.fingerprint: vectors}
        return CitedDocument("thesis", uid, document.title, True, passages)

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        found = doc_uid in self._documents and namespace in {None, "thesis"}
        return [CitedDocumentRef("thesis", doc_uid, None, True)] if found else []

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        return self._documents[ref.doc_uid]

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        return [()] * len(spans)

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        return []

    def uids(self) -> list[tuple[str, str]]:
        return [("thesis", uid) for uid in self._documents]

    def keys(self) -> list[tuple[str, str]]:
        return []


Judged = list[tuple[dict[str, Any], CitationVerdict]]


@pytest.fixture(scope="module")
def library() -> tuple[SampleLibrary, MiniLM]:
    model = MiniLM()
    return SampleLibrary(model), model


def judge_draft(library: tuple[SampleLibrary, MiniLM], scorer: str) -> Judged:
    """Return each citation's truth with its verdict."""
    verify = SETTINGS.verify.model_copy(update={"scorer": scorer})
    audit = verify_citations(read_draft(DRAFT), *library, verify)
    truth = yaml.safe_load((SAMPLES / "expected.yaml").read_text(encoding="utf-8"))
    return list(zip(truth["citations"], audit.rows, strict=True))


@pytest.fixture(scope="module")
def judged(library: tuple[SampleLibrary, MiniLM]) -> Judged:
    return judge_draft(library, "similarity")


@pytest.mark.slow
@pytest.mark.model
def test_similarity_finds_what_a_careful_reader_finds(judged: Judged) -> None:
    said = {"ok": "OK", "weak": "WEAK", "wrong": "MISSING"}
    wrong = [
        (entry["sentence"], row.status, row.score)
        for entry, row in judged
        if row.status != said[entry["verdict"]] and row.reason_code != "unread"
    ]
    assert wrong == []
    # all-MiniLM-L6-v2 knows no Chinese, and a comparison by it would say nothing.
    unread = [row for _, row in judged if row.reason_code == "unread"]
    assert unread == [row for _, row in judged if is_chinese(row.claim)]


@pytest.mark.slow
@pytest.mark.model
def test_no_similarity_lies_near_a_threshold(judged: Judged) -> None:
    limits = (SETTINGS.verify.threshold, SETTINGS.verify.weak_threshold)
    scores = [row.score for _, row in judged if row.score is not None]
    assert len(scores) == len(judged)
    assert min(abs(score - limit) for score in scores for limit in limits) > 0.04


@pytest.mark.model
def test_what_nothing_has_read_is_never_called_supported(
    library: tuple[SampleLibrary, MiniLM],
) -> None:
    rows = [row for _, row in judge_draft(library, "facts")]
    assert {row.reason_code for row in rows} <= {"unread", "facts_differ", "supported"}
    assert all(row.status != "OK" or row.speaks_for for row in rows)
