import random
from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.publishing.search import TABLE_NAME, SearchTable, quote_text
from rag_assets.publishing.search_table import check_search_table, write_search_table
from rag_assets.workspace import shipped_settings
from rag_assets_tests.publishing.made_up_tables import (
    DIMENSION,
    chunk_row,
    chunk_rows,
    chunk_table,
    direction,
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> SearchTable:
    folder = tmp_path_factory.mktemp("它的 'publication'")
    write_search_table(folder, chunk_table(chunk_rows()))
    check_search_table(folder, len(chunk_rows()))
    return SearchTable(folder)


def found_by(table: SearchTable, query: str, where: str | None = None) -> set[str]:
    return {key for key, _ in table.search_text(query, 10, where)}


@pytest.mark.parametrize(
    ("query", "chunk_id"),
    [
        ("stomatal", "leaf-2021:2"),
        ("DIOXIDE", "leaf-2021:0"),
        ("Einstein", "leaf-2021:1"),
        ("O'Brien", "leaf-2021:1"),
        ("narrow", "leaf-2021:0"),
        ("saving waters", "leaf-2021:2"),
        ("budgets", "rubric:0"),
        ("二氧化碳", "叶片-2020:0"),
        ("气孔导度", "叶片-2020:0"),
        ("违约责任", "叶片-2020:1"),
        ("合同", "叶片-2020:1"),
        ("第1024条", "叶片-2020:2"),
    ],
)
def test_words_of_both_languages_are_found(table: SearchTable, query: str, chunk_id: str) -> None:
    assert chunk_id in found_by(table, query)


def test_words_that_every_english_text_has_find_nothing(table: SearchTable) -> None:
    assert found_by(table, "what is the of a with by") == set()


def test_negations_are_words(tmp_path: Path) -> None:
    rows = [chunk_row("a", 0, "No, it does not."), chunk_row("b", 0, "Yes, it does.")]
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    assert found_by(table, "not") == found_by(table, "no") == {"a:0"}


@pytest.mark.parametrize("term", ["foo_bar.py", "CO2", "R2D2-17", "§230(c)", "民法典第577条"])
def test_exact_terms_are_told_from_their_neighbours(tmp_path: Path, term: str) -> None:
    others = ["foo_baz.rb", "NO2", "R2D2-18", "§231(d)", "民法典第578条"]
    rows = [
        chunk_row("one", index, f"As {text} says.") for index, text in enumerate([*others, term])
    ]
    write_search_table(tmp_path, chunk_table(rows))
    ((best, _),) = SearchTable(tmp_path).search_text(term, 1)
    assert best == f"one:{len(others)}"


def test_rows_of_common_words_pass_the_check(tmp_path: Path) -> None:
    rows = [chunk_row("a", 0, "This is what they were."), chunk_row("b", 0, "The leaf of it.")]
    write_search_table(tmp_path, chunk_table(rows))
    check_search_table(tmp_path, 2)


def test_vector_of_a_row_finds_the_row_first(table: SearchTable) -> None:
    found = table.search_vectors("vector", direction(4, lean=0.1), 3)
    assert found[0] == ("叶片-2020:1", pytest.approx(1 / 1.01**0.5, abs=1e-6))
    assert all(-1 <= score <= 1 for _, score in found)


def test_cosine_ignores_length_and_reaches_minus_one(table: SearchTable) -> None:
    opposite = [-20 * value for value in direction(0)]
    assert table.search_vectors("vector", opposite, 100)[-1] == ("leaf-2021:0", -1.0)


def test_vector_without_direction_finds_nothing(table: SearchTable) -> None:
    assert table.search_vectors("vector", [0.0] * DIMENSION, 5) == []


@pytest.mark.parametrize("wrong", [[1.0], [1.0] * (DIMENSION + 1)])
def test_vector_of_another_model_is_refused(table: SearchTable, wrong: list[float]) -> None:
    with pytest.raises(UsageError, match="made by another model"):
        table.search_vectors("vector", wrong, 5)


def test_vector_that_is_not_finite_is_refused(table: SearchTable) -> None:
    with pytest.raises(UsageError, match="not finite"):
        table.search_vectors("vector", [float("nan")] * DIMENSION, 5)


def test_rows_are_read_in_the_order_of_their_documents(table: SearchTable) -> None:
    rows = table.fetch().to_pylist()
    assert [(row["doc_uid"], row["chunk_index"]) for row in rows] == sorted(
        (row["doc_uid"], row["chunk_index"]) for row in chunk_rows()
    )
    assert rows[0]["vector"] == direction(0)


def test_empty_library_can_be_written_checked_and_searched(tmp_path: Path) -> None:
    write_search_table(tmp_path, chunk_table([]))
    check_search_table(tmp_path, 0)
    table = SearchTable(tmp_path)
    assert table.search_text("carbon", 5) == []
    assert table.search_vectors("vector", direction(0), 5) == []
    assert table.fetch().num_rows == 0


def test_rows_without_words_or_direction_pass_the_check(tmp_path: Path) -> None:
    rows = [
        chunk_row("empty", 0, "", vector=[0.0] * DIMENSION),
        chunk_row("punctuation", 0, "—— ?! 12 a", vector=[0.0] * DIMENSION),
        chunk_row("unbroken", 0, "x" * 5000, vector=direction(1)),
    ]
    write_search_table(tmp_path, chunk_table(rows))
    check_search_table(tmp_path, 3)


def test_large_texts_are_kept_whole_and_found(tmp_path: Path) -> None:
    text = "filler words " * 200_000 + "needle 针头"
    write_search_table(tmp_path, chunk_table([chunk_row("big", 0, text)]))
    check_search_table(tmp_path, 1)
    table = SearchTable(tmp_path)
    ((best, _),) = table.search_text("针头", 1)
    assert table.fetch_rows([best], ["chunk_id", "text"]).column("text").to_pylist() == [text]


def tied_rows(count: int) -> list[dict[str, object]]:
    rng = random.Random(3)
    words = ["leaf", "carbon", "water", "light", "植物", "合同"]
    return [
        chunk_row(
            f"doc-{number // 10:03d}",
            number % 10,
            " ".join(rng.choice(words) for _ in range(3)),
            vector=direction(rng.randrange(4)),
        )
        for number in range(count)
    ]


def test_two_builds_of_shuffled_rows_answer_alike_to_the_last_bit(tmp_path: Path) -> None:
    rows = tied_rows(3000)
    answers = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        random.Random(seed).shuffle(rows)
        write_search_table(folder, chunk_table(rows))
        table = SearchTable(folder)
        queries = ("leaf", "carbon 植物", "合同 water")
        by_words = [table.search_text(query, 20) for query in queries]
        directions = (direction(0), direction(1, 0.5))
        by_vectors = [table.search_vectors("vector", vector, 20) for vector in directions]
        answers.append([*by_words, *by_vectors])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_tie_at_the_cut_goes_to_the_lowest_ids(tmp_path: Path, limit: int) -> None:
    # Ids in an order that is not that of the rows: doc:10 sorts before doc:2.
    rows = [chunk_row("doc", number, "same words", vector=direction(0)) for number in range(300)]
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    expected = sorted(f"doc:{number}" for number in range(300))[:limit]
    assert [key for key, _ in table.search_text("words", limit)] == expected
    found = table.search_vectors("vector", direction(0), limit)
    assert [key for key, _ in found] == expected


def test_filter_is_applied_before_the_search(tmp_path: Path) -> None:
    rows = tied_rows(500)
    rows.append(chunk_row("rare", 0, "leaf " + "and so on " * 50, vector=direction(7)))
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    where = "doc_uid = 'rare'"
    assert [key for key, _ in table.search_text("leaf", 1, where)] == ["rare:0"]
    found = table.search_vectors("vector", direction(0), 1, where)
    assert [key for key, _ in found] == ["rare:0"]


@pytest.mark.parametrize("limit", [1, 5, 50])
def test_a_row_has_one_score_whatever_filter_and_limit_it_is_found_with(
    tmp_path: Path, limit: int
) -> None:
    better = [chunk_row("a-outside", number, "leaf leaf leaf") for number in range(300)]
    rows = [*better, *tied_rows(400)]
    write_search_table(tmp_path, chunk_table(rows))
    ids = [str(row["chunk_id"]) for row in rows]
    table, weights = SearchTable(tmp_path), shipped_settings().retrieve.text
    for query in ("leaf", "carbon 植物", "合同", "nowhere"):
        scores = table.score_text(query, ids, weights)
        assert (query == "nowhere") == (not any(scores.values()))
        for where in (None, "doc_uid <> 'a-outside'"):
            allowed = [one for one in ids if where is None or not one.startswith("a-outside")]
            truth = sorted((one for one in allowed if scores[one]), key=lambda o: (-scores[o], o))
            found = table.search_text(query, limit, where, weights)
            assert found == [(one, scores[one]) for one in truth[:limit]]


def test_rows_are_the_same_however_often_they_are_fetched(tmp_path: Path) -> None:
    rows = tied_rows(60)
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    stored = {row["chunk_id"]: row for row in rows}
    columns = ["text", "chunk_id", "chunk_index", "section_path", "page_start", "citable"]
    for step in (1, -1, 7, -7):
        wanted = list(stored)[::step]
        found = table.fetch_rows([*wanted, "unknown:0", wanted[0]], columns)
        assert found.column_names == columns
        assert found.to_pylist() == [
            {name: stored[key].get(name) for name in columns} for key in wanted
        ]


def test_quoted_text_is_only_text(tmp_path: Path) -> None:
    uids = ["it's", "a\\", "b' OR '1'='1", "new\nline", "--", "百分%_", '"x"']
    rows = [chunk_row(uid, 0, f"word {number}") for number, uid in enumerate(uids)]
    write_search_table(tmp_path, chunk_table(rows))
    table = SearchTable(tmp_path)
    for uid in uids:
        found = table.fetch(f"doc_uid = {quote_text(uid)}", ["doc_uid"])
        assert found.column("doc_uid").to_pylist() == [uid]


def test_missing_rows_are_noticed(tmp_path: Path) -> None:
    write_search_table(tmp_path, chunk_table(chunk_rows()))
    with pytest.raises(DamagedFileError, match="holds 8 rows, 9 were written"):
        check_search_table(tmp_path, 9)


def test_rows_missing_from_the_text_index_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_search_table(tmp_path, chunk_table(chunk_rows()))
    monkeypatch.setattr(SearchTable, "unindexed_rows", 1)
    with pytest.raises(DamagedFileError, match="1 rows are missing from the text index"):
        check_search_table(tmp_path, 8)


def test_a_table_that_an_older_version_let_grow_is_refused_with_what_to_run(tmp_path: Path) -> None:
    import lance

    write_search_table(tmp_path, chunk_table(chunk_rows()))
    later = chunk_table([chunk_row("later", 0, "later")])
    lance.write_dataset(later, str(tmp_path / TABLE_NAME), mode="append")
    with pytest.raises(DamagedFileError, match="Run `rag ingest`"):
        SearchTable(tmp_path)


@pytest.mark.parametrize("part", ["data/*.lance", "_indices/*/*invert*", "_versions/*.manifest"])
def test_truncated_file_is_damage_with_a_mend(tmp_path: Path, part: str) -> None:
    write_search_table(tmp_path, chunk_table(chunk_rows()))
    check_search_table(tmp_path, 8)
    SearchTable(tmp_path).search_text("carbon", 1)
    for file in (tmp_path / TABLE_NAME).glob(part):
        file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(DamagedFileError, match="rag ingest"):
        check_search_table(tmp_path, 8)


def test_folder_without_a_table_is_damage(tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match=r"chunks\.lance"):
        SearchTable(tmp_path)


def test_table_of_another_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="schema must be"):
        write_search_table(tmp_path, chunk_table(chunk_rows()).drop_columns(["is_cut"]))
    with pytest.raises(ValueError, match="schema must be"):
        write_search_table(tmp_path, chunk_table(chunk_rows()).drop_columns(["vector"]))
