"""What passages name: each rule, and what becomes of what they find."""

import pytest

from rag_assets.publishing.graph import (
    ENTITY_RULES,
    EntityRule,
    entity_rules,
    find_mentions,
    normalise,
)


@pytest.mark.parametrize("rule", ENTITY_RULES, ids=lambda rule: rule.id)
def test_each_rule_fires_on_its_example_and_is_silent_on_the_other(rule: EntityRule) -> None:
    assert rule.check(rule.fires)
    assert not rule.check(rule.silent)


def test_ids_of_rules_are_unique() -> None:
    assert len({rule.id for rule in ENTITY_RULES}) == len(ENTITY_RULES)


def entities(*passages: str) -> list[list[str]]:
    return [[mention.entity for mention in found] for found in find_mentions(passages)]


def test_spans_are_those_of_the_passage_and_of_its_sentence() -> None:
    text = "Nothing is named. The film was made by Tim Burton in 1994. It stars Johnny Depp."
    (found,) = find_mentions([text])
    assert [text[m.start : m.end] for m in found] == ["Tim Burton", "Johnny Depp"]
    assert [text[slice(*m.sentence)] for m in found] == [
        "The film was made by Tim Burton in 1994.",
        "It stars Johnny Depp.",
    ]


def test_an_abbreviation_is_what_its_document_says_that_it_is() -> None:
    defined = "Patients with congestive heart failure (CHF) were seen."
    assert entities(defined, "Later CHF was rare.") == [
        ["congestive heart failure"],
        ["congestive heart failure"],
    ]
    # Another document is free to mean something else, and one that defines nothing means letters.
    assert entities("The bank paid in CHF.") == [["chf"]]
    # A parenthesis whose letters are not those of the words before it defines nothing.
    assert entities("Green roofs in towns (UHI) were cool.") == [["uhi"]]


def test_one_spelling_for_one_thing() -> None:
    assert normalise("TiO₂") == normalise("TiO2") == "tio2"
    assert normalise("UiO‑66") == normalise("UiO–66") == "uio-66"
    assert normalise("The Beatles’s") == "beatles"


def test_what_is_named_inside_a_longer_name_is_not_named_again() -> None:
    (found,) = entities("We used UiO-66-NH2 and g-C3N4/TiO₂ in New York City.")
    assert found == ["uio-66-nh2", "g-c3n4", "tio2", "new york city"]


def test_words_that_begin_sentences_and_headings_in_capitals_name_nothing() -> None:
    assert entities("However, it rained. When it was over we left.", "GREEN ROOFS") == [[], []]
    # What no other word is written as names something there, too.
    assert entities("UiO-66 is stable. Roofs are not. HKUST-1 is. McDonald saw it.") == [
        ["uio-66", "hkust-1", "mcdonald"]
    ]


LISTED = entity_rules([["formic acid", "HCOOH", "甲酸"], ["CO"], ["NU-1000"], ["C2H4", "ethylene"]])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Formic  acid and ethylene formed.", ["formic acid", "c2h4"]),
        ("With HCOOH, 也加入甲酸溶液。", ["formic acid", "formic acid"]),
        ("We made C₂H₄ over NU‑1000.", ["c2h4", "nu-1000"]),
        ("Peroxyformic acid, formic acids and polyethylene are others.", []),
        # Short ones as they are written alone: a company's co and CO2 are no CO.
        ("It gives CO for the co there and CO2.", ["co", "co2"]),
        # What a document abbreviates is called as the list calls it.
        ("The methanoic formic acid (FA) dried. More FA came.", ["formic acid"] * 3),
    ],
)
def test_listed_names_are_found_however_they_are_spelt(text: str, found: list[str]) -> None:
    (mentions,) = find_mentions([text], LISTED)
    assert [one.entity for one in mentions] == found
    assert all(text[one.start : one.end] == one.name for one in mentions)


def test_a_chinese_quotation_names_nothing_that_is_not_listed() -> None:
    text = "他们把它叫做“城市热岛”，又叫“heat island”。"
    assert entities(text) == [["heat island"]]
    (found,) = find_mentions([text], entity_rules([["城市热岛", "urban heat island"]]))
    assert [one.entity for one in found] == ["城市热岛", "heat island"]


def test_without_names_there_is_no_rule_for_them() -> None:
    assert entity_rules([]) == ENTITY_RULES
    assert [rule.id for rule in LISTED] == ["listed", *(rule.id for rule in ENTITY_RULES)]
