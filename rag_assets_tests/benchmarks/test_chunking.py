"""`evaluate_chunking` on a corpus made here, with vectors of words instead of a model."""

import json
from pathlib import Path

import pytest

from benchmarks.chunking.measuring import evaluate_chunking
from rag_assets.embedding import HashingEmbedder
from rag_assets.model import UsageError
from rag_assets.workspace import Settings, shipped_settings

FACTS = {
    "hens": "Hens lay more eggs where lamps burn until midnight.",
    "owls": "Owls hunt voles along hedges after dusk.",
    "gulls": "Gulls follow ploughs because worms come up.",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    over = tmp_path / "config.yaml"
    over.write_text(
        "embed: {kind: hashing}\nchunk: {target_tokens: 30, min_tokens: 10, max_tokens: 40}\n"
    )
    return shipped_settings(over)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpora").mkdir()
    filling = "Nothing of note is said in this sentence, which only fills the page. " * 3
    rows = []
    for corpus in ("one", "two"):
        text = "# Birds\n\n" + "\n\n".join(f"{filling}\n\n{fact}" for fact in FACTS.values())
        (tmp_path / f"corpora/{corpus}.md").write_text(text)
        for bird, fact in FACTS.items():
            start = text.index(fact)
            found = {"content": fact, "start": start, "end": start + len(fact)}
            rows.append({"question": f"What of {bird}?", "corpus": corpus, "references": [found]})
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_answers_are_found_and_the_recursive_splitter_is_the_baseline(
    folder: Path, settings: Settings
) -> None:
    report = evaluate_chunking(folder, settings)
    written = report.to_json()
    assert written["recall"] == 1
    assert 0 < written["precision"] < 1
    assert written["iou"] == pytest.approx(written["precision"])
    assert written["coverage"] == 1
    assert written["cut_share"] == 0
    assert written["by_corpus"].keys() == {"one", "two"}
    assert written["by_corpus"]["one"]["questions"] == 3
    assert set(written["baselines"]) == {"recursive 200 tokens"}
    assert written["counts"]["unplaced_characters"] == 0
    assert "rag-assets" in report.render()


@pytest.mark.parametrize("method", ["semantic", "lexical", "hybrid"])
def test_plain_names_are_by_the_configured_method(folder: Path, method: str) -> None:
    over = folder / "method.yaml"
    over.write_text(f"embed: {{kind: hashing}}\nretrieve: {{method: {method}}}\n")
    text = "# Birds\n\n" + "\n\n".join(f"{fact} " * 20 for fact in FACTS.values())
    (folder / "corpora/one.md").write_text(text)
    wanted = [{"content": text[9:], "start": 9, "end": len(text)}]
    # Words that the text index leaves out, so that the searchers differ.
    row = {"question": "where until after", "corpus": "one", "references": wanted}
    (folder / "questions.jsonl").write_text(json.dumps(row))
    written = evaluate_chunking(folder, shipped_settings(over)).to_json()
    assert written["method"] == method
    for name in ("recall", "precision", "iou", "hit_iou"):
        assert written[name] == written[f"{method}_{name}"]
        assert written["by_corpus"]["one"][name] == written[name]
    assert written["lexical_recall"] == 0 < written["semantic_recall"]


def test_second_run_encodes_nothing(
    folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []
    encode = HashingEmbedder.encode_passages

    def counting(self: HashingEmbedder, texts: list[str], on_progress: None = None) -> object:
        encoded.append(len(texts))
        return encode(self, texts, on_progress)

    monkeypatch.setattr(HashingEmbedder, "encode_passages", counting)
    first = evaluate_chunking(folder, settings, cache=folder / "cache")
    assert encoded
    encoded.clear()
    second = evaluate_chunking(folder, settings, cache=folder / "cache")
    assert encoded == []
    assert second.metrics["recall"] == first.metrics["recall"]


def test_reference_that_the_text_does_not_hold_counts_as_missed(
    folder: Path, settings: Settings
) -> None:
    path = folder / "corpora/one.md"
    text = "---\nnote: x\n---\n" + path.read_text()
    path.write_text(text)
    contents = ["note: x", FACTS["hens"]]
    row = {
        "question": "What of hens?",
        "corpus": "one",
        "references": [
            {
                "content": content,
                "start": text.index(content),
                "end": text.index(content) + len(content),
            }
            for content in contents
        ],
    }
    (folder / "questions.jsonl").write_text(json.dumps(row))
    report = evaluate_chunking(folder, settings)
    assert report.metrics["recall"] == pytest.approx(len(contents[1]) / sum(map(len, contents)))
    assert report.counts["unplaced_characters"] == len("note: x")


def test_corpus_that_is_missing_is_named(folder: Path, settings: Settings) -> None:
    (folder / "corpora/two.md").unlink()
    with pytest.raises(UsageError, match=r"two\.md"):
        evaluate_chunking(folder, settings)
