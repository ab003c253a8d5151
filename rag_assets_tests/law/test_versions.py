"""What is known of a wording, from where, and how the wordings of one law stand on a day."""

from datetime import date

import pytest

from rag_assets.law.metadata import read_facts
from rag_assets.law.structure import read_laws
from rag_assets.law.versions import (
    Standing,
    Wording,
    common_value,
    describe_laws,
    describe_wording,
    judge_wordings,
)

TEXT = """# 甲乙市养犬条例

2015年3月1日 甲乙市第十五届人民代表大会常务委员会第三次会议通过

2020年5月1日 甲乙市第十六届人民代表大会常务委员会第九次会议修订

第一条 为了规范养犬，制定本条例。

第二条 本条例自2020年9月1日起施行。
"""


def wording_of(text: str, *paths: str) -> Wording:
    (law,) = read_laws(text)
    return describe_laws([read_facts(text, law).to_record()], paths)[0]


def test_each_fact_has_the_place_that_it_was_read_from() -> None:
    found = wording_of(TEXT, "raw/甲.md")
    assert found.origins is not None
    told = {name: TEXT[slice(*place)] for name, place in found.origins.items()}
    assert told == {
        "passed_on": "2015年3月1日",
        "amended_on": "2020年5月1日",
        "version_date": "2020年5月1日",
        "effective_on": "2020年9月1日",
        "issuer": "甲乙市第十六届人民代表大会常务委员会",
        "law_level": "甲乙市第十六届人民代表大会常务委员会",
        "region": "甲乙市",
    }
    assert found.issuer == "甲乙市人民代表大会常务委员会"
    assert found.effective_on == date(2020, 9, 1)


def test_what_the_text_does_not_say_comes_from_the_files_name_and_folders() -> None:
    bare = "# 养犬办法\n\n第一条 甲。\n"
    found = wording_of(bare, "raw/其他/养犬办法.md", "raw/地方性法规/广东/养犬办法(2019-02-03).md")
    assert (found.version_date, found.law_level, found.region) == (
        date(2019, 2, 3), "local_regulation", "广东"
    )  # fmt: skip
    assert found.origins == {
        "version_date": "file name", "law_level": "folder", "region": "folder"
    }  # fmt: skip
    assert wording_of(bare, "raw/养犬办法.md").holds_from is None


def test_a_name_with_no_such_day_dates_nothing() -> None:
    assert wording_of("# 办法\n\n第一条 甲。\n", "raw/办法(2019-13-41).md").version_date is None


def test_a_later_day_in_the_name_makes_an_older_day_of_effect_one_of_another_wording() -> None:
    found = wording_of(TEXT, "raw/甲(2022-01-01).md")
    assert found.version_date == date(2022, 1, 1)
    assert found.effective_on is None
    assert "effective_on" not in (found.origins or {})


def test_the_name_of_a_file_of_several_laws_dates_none_of_them() -> None:
    text = TEXT + TEXT.replace("甲乙市", "丙丁市").replace("2020年5月1日", "2021年5月1日")
    records = [read_facts(text, law).to_record() for law in read_laws(text)]
    found = describe_laws(records, ["raw/汇编(2024-01-01).md"])
    assert [one.version_date for one in found] == [date(2020, 5, 1), date(2021, 5, 1)]
    assert common_value(found, "law_level") == "local_regulation"
    assert common_value(found, "version_date") is None
    assert common_value([], "version_date") is None


def test_a_wording_comes_back_from_its_record() -> None:
    found = wording_of(TEXT, "raw/甲.md")
    assert Wording.from_record(found.to_record()) == found


def made(version: str | None, effective: str | None = None, repealed: str | None = None) -> Wording:
    days = [date.fromisoformat(day) if day else None for day in (version, effective, repealed)]
    return Wording("甲", version_date=days[0], effective_on=days[1], repealed_on=days[2])


@pytest.mark.parametrize(
    ("wordings", "standings"),
    [
        # The newest that holds is in force, whatever the order they are given in.
        ([made("2010-01-01"), made("2020-01-01")], ["superseded", "in_force"]),
        ([made("2020-01-01", "2022-01-01"), made("2010-01-01")], ["not_yet_in_force", "in_force"]),
        # A repealed one leaves none in force.
        ([made("2020-01-01", None, "2020-12-31"), made("2010-01-01")], ["repealed", "superseded"]),
        # Not yet repealed.
        ([made("2020-01-01", None, "2021-06-02")], ["in_force"]),
        # Made within the year, and no text says since when: it may hold, and so may the one before.
        ([made("2020-09-01"), made("2010-01-01")], ["unknown", "unknown"]),
        ([made("2020-09-01", "2020-09-01"), made("2010-01-01")], ["in_force", "superseded"]),
        # Two files state one day of effect: one was dated by its passing, one by its publication.
        ([made("2020-02-15", "2020-03-15"), made("2020-03-01", "2020-03-15")], ["in_force"] * 2),
        # What is not known stays unknown, and takes nothing from the others.
        ([made(None), made("2010-01-01")], ["unknown", "in_force"]),
        # Files of one day are one wording: what one states holds for all.
        ([made("2020-05-28"), made("2020-05-28", "2021-07-01")], ["not_yet_in_force"] * 2),
        ([made("2020-05-28"), made("2020-05-28", "2021-01-01")], ["in_force"] * 2),
    ],
)
def test_how_wordings_stand_on_the_first_of_june_2021(
    wordings: list[Wording], standings: list[Standing]
) -> None:
    judged = judge_wordings(wordings, date(2021, 6, 1))
    assert [one.standing for one in judged] == standings


def test_whether_a_text_states_since_when_a_wording_holds_is_told() -> None:
    told, silent = judge_wordings([made("2020-05-28", "2021-01-01"), made("2010-01-01")], date.max)
    assert (told.holds_from, told.is_stated) == (date(2021, 1, 1), True)
    assert (silent.holds_from, silent.is_stated) == (date(2010, 1, 1), False)


def test_a_document_that_says_nothing_is_no_statute() -> None:
    (law,) = read_laws("# 一个案例\n\n韩先生作为小儿子。\n")
    facts = read_facts("# 一个案例\n\n韩先生作为小儿子。\n", law)
    assert not describe_wording(facts, ["raw/案例/甲.md"]).is_statute
