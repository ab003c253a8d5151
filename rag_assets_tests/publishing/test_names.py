"""Citation keys as people write them."""

from collections.abc import Sequence

import pytest

from rag_assets.publishing.names import distinct_keys, short_key


@pytest.mark.parametrize(
    ("authors", "year", "title", "key"),
    [
        (["Hye-Ju Lee", "Dong-Hun Han"], 2021, "Oral care", "lee2021"),
        (["Sundström, Anna"], 2014, "Stress", "sundstrom2014"),
        (["Ludwig van Beethoven"], 1801, "Sonata", "vanbeethoven1801"),
        (["张三", "李四"], 2024, "热环境", "张三2024"),
        (["Минаев Борис Юрьевич"], 2017, None, "минаев2017"),
        (["Буздалов М.В."], 2017, None, "буздалов2017"),
        (["Новак Джокович"], 2013, None, "джокович2013"),
        (["J. R. R. Tolkien"], 1954, None, "tolkien1954"),
        (["World Health Organization"], 2020, "Imaging", "who2020"),
        (["Ziyu Zhao"], None, "Several improvements", "zhaond"),
        ([], 2024, "The “Cool” roofs", "cool2024"),
        ([], 2020, "中华人民共和国劳动合同法", "劳动合同法2020"),
        ([], None, "Bone Aging with Networks", "field-notes"),
        ([], 2020, "2019 1984", "field-notes"),
    ],
)
def test_key_is_as_people_write_it(
    authors: Sequence[str], year: int | None, title: str | None, key: str
) -> None:
    assert short_key(authors, year, title, "field-notes") == key


def test_long_file_name_is_cut_between_words() -> None:
    uid = "bone-aging-with-generative-adversarial-network"
    assert short_key([], None, None, uid) == "bone-aging-with"
    assert short_key([], None, None, "x" * 80) == "x" * 24


def test_equal_keys_get_letters_in_the_order_in_which_documents_came() -> None:
    wanted = [("one", "lee2021"), ("two", "lee2021"), ("three", "Lee2021")]
    uids = ["one", "two", "three"]
    assert distinct_keys(wanted, [], uids) == {
        "one": "lee2021", "two": "lee2021a", "three": "Lee2021b",
    }  # fmt: skip
    assert distinct_keys([("four", "lee2021")], ["LEE2021", "lee2021a"], uids)["four"] == "lee2021b"


def test_no_key_is_the_uid_of_another_document() -> None:
    uids = ["lee2021", "two"]
    assert distinct_keys([("two", "lee2021")], [], uids) == {"two": "lee2021a"}
    assert distinct_keys([("lee2021", "lee2021")], [], uids) == {"lee2021": "lee2021"}
