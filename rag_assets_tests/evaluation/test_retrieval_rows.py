"""Reading sets in the layout of BEIR."""

from pathlib import Path

import pytest

from rag_assets.evaluation.sets import find_sets, read_retrieval_set
from rag_assets.model import UsageError

from .beir import BIRDS, QUESTIONS, write_set


def test_a_set_is_read_with_its_judgements(tmp_path: Path) -> None:
    rows = read_retrieval_set(write_set(tmp_path / "birds"))
    assert rows.name == "birds"
    assert [row.id for row in rows.corpus] == [identity for identity, _, _ in BIRDS]
    assert rows.judgements["q2"] == {"hen": 2.0}, "a score of 0 is no relevance"


def test_questions_without_a_relevant_document_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = read_retrieval_set(
        write_set(tmp_path / "birds", questions=(*QUESTIONS, ("q5", "nothing", {"owl": 0})))
    )
    assert [query.id for query in rows.queries] == ["q1", "q2", "q3", "q4"]
    assert rows.unjudged == 1


def test_a_limit_keeps_the_corpus_whole(tmp_path: Path) -> None:
    rows = read_retrieval_set(write_set(tmp_path / "birds"), limit=2)
    assert len(rows.queries) == len(rows.judgements) == 2
    assert len(rows.corpus) == len(BIRDS)


def test_judged_documents_that_are_not_there_are_counted(tmp_path: Path) -> None:
    rows = read_retrieval_set(
        write_set(tmp_path / "birds", questions=(("q1", "night", {"owl": 1, "bat": 1}),))
    )
    assert rows.unknown_documents == 1
    assert rows.judgements["q1"] == {"owl": 1.0, "bat": 1.0}


def test_a_folder_of_sets_is_found_and_an_empty_one_refused(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_set(tmp_path / "sets" / name)
    assert [path.name for path in find_sets(tmp_path / "sets")] == ["a", "b"]
    assert find_sets(tmp_path / "sets" / "a") == [tmp_path / "sets" / "a"]
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="holds no evaluation set"):
        find_sets(tmp_path / "none")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("corpus.jsonl", '{"_id": "a"}\n{"_id": "a"}\n', "line 2: '_id' 'a' occurs twice"),
        ("queries.jsonl", '{"_id": "q1"}\n', "line 1: not a row of queries.jsonl"),
        ("queries.jsonl", "nonsense\n", "line 1: not a row"),
        ("qrels/test.tsv", "q1\towl\n", "line 1: expected query-id"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq9\towl\t1\n", "'q9'"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, file: str, text: str, said: str) -> None:
    folder = write_set(tmp_path / "birds")
    (folder / file).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_retrieval_set(folder)


def test_numbers_are_ids_too(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "birds", questions=(("q1", "night", {"7": 1}),))
    (folder / "corpus.jsonl").write_text('{"_id": 7, "title": null, "text": "x"}\n')
    assert read_retrieval_set(folder).corpus[0].id == "7"
