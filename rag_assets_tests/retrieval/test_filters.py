import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import UsageError
from rag_assets.retrieval import Reader, SearchFilters, parse_filter
from rag_assets_tests.publishing.made_up_tables import chunk_row, direction
from rag_assets_tests.retrieval.publications import MODELS, PublicationMaker

ROWS = [
    chunk_row("old", 0, "leaf", year=1999, language="en", tags=["a", "b"], section_category=2),
    chunk_row("new", 0, "leaf", year=2021, language="zh", tags=["b"], section_category=3),
    chunk_row("it's", 0, "leaf", year=2020, tags=["it's"], source_subtype="slides"),
    chunk_row("bare", 0, "leaf", section_category=None, source_type="instruction"),
]


@pytest.fixture(scope="module")
def reader(make_publication: PublicationMaker) -> Reader:
    return make_publication("filtered", ROWS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year>=2020", {"new", "it's"}),
        ("year<=2020", {"old", "it's"}),
        ("year = 2021", {"new"}),
        ("year=2000..2020", {"it's"}),
        ("year=..2000", {"old"}),
        ("doc_uid=old,it's", {"old", "it's"}),
        ("source_type=instruction", {"bare"}),
        ("source-subtype=slides", {"it's"}),
        ("section_category=method,3", {"old", "new", "it's"}),
        ("section_category=2", {"old"}),
        ("tag=b", {"old", "new"}),
        ("tag=it's,a", {"old", "it's"}),
        ("language=zh", {"new"}),
    ],
)
def test_filter_confines_both_searches(reader: Reader, text: str, expected: set[str]) -> None:
    filters = parse_filter(text)
    by_words = {hit.doc_uid for hit, _ in reader.search_text("leaf", 9, filters)}
    found = reader.search_vectors(MODELS[0], direction(0), 9, filters)
    assert by_words == {hit.doc_uid for hit, _ in found} == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yaer>=2020", "Did you mean 'year'"),
        ("section_category=methd", "did you mean 'method'"),
        ("section_category=7", "no section category"),
        ("year>=soon", "must be a number"),
        ("year=2021..2019", "must not be after"),
        ("tag>=b", "only years are compared"),
        ("tag=", "a value must follow"),
        ("tag=a,,b", "missing beside a comma"),
        ("leaf", "a name, a sign and values"),
    ],
)
def test_wrong_filter_is_told_with_the_nearest_right_one(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_filter(text)


def test_filters_are_narrowed_by_each_further_one() -> None:
    filters = SearchFilters(citable_only=True).with_filter("year>=2000").with_filter("year<=2010")
    assert filters == SearchFilters(citable_only=True, years=(2000, 2010))
    assert filters.with_filter("doc_uid=a,b").with_filter("doc_uid=b,c").doc_uids == ("b",)


def test_filters_that_together_pass_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="nothing can pass"):
        parse_filter("doc_uid=a").with_filter("doc_uid=b")
    with pytest.raises(UsageError, match="nothing can pass"):
        parse_filter("year>=2020").with_filter("year<=2019")
    with pytest.raises(UsageError, match="tag=a,b"):
        parse_filter("tag=a").with_filter("tag=b")


@pytest.mark.parametrize("name", ["doc_uids", "source_types", "tags", "languages"])
def test_no_value_allowed_finds_nothing(reader: Reader, name: str) -> None:
    filters = SearchFilters(**{name: ()})
    assert filters.excludes_everything
    assert reader.search_text("leaf", 9, filters) == []


@given(st.text(max_size=40))
def test_any_text_is_a_filter_or_a_told_error(text: str) -> None:
    try:
        assert isinstance(parse_filter(text), SearchFilters)
    except UsageError as error:
        assert "filter" in str(error)


@given(st.text(alphabet="a'\"\\;-%_ 条", min_size=1, max_size=8))
def test_values_are_quoted_in_conditions(value: str) -> None:
    escaped = value.replace("'", "''")
    assert f"'{escaped}'" in SearchFilters(tags=(value,)).condition()


def test_documents_are_left_out_by_uid_or_of_one_namespace() -> None:
    filters = SearchFilters().with_filter("doc_uid!=a,lib:b").with_filter("doc_uid!=c")
    assert filters.without == ("a", "lib:b", "c")
    condition = filters.condition()
    assert "doc_uid <> 'a' AND doc_uid <> 'c'" in condition
    assert "(doc_uid <> 'b' OR namespace <> 'lib')" in condition
    with pytest.raises(UsageError, match="only documents are left out"):
        parse_filter("year!=2020")
