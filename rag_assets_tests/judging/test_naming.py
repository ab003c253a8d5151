"""A name is found however it is written, and where the title has it; another name is not."""

import pytest

from rag_assets.judging import PassageText
from rag_assets.judging.features import answer
from rag_assets.judging.names import read_names
from rag_assets.judging.naming import read_named
from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.signs import find_reservations, signs_for
from rag_assets.judging.support import load_support_scorer
from rag_assets.workspace.settings import SupportSettings
from rag_assets_tests.judging.sentences import passage


def _missing(claim: str, source: str) -> list[str]:
    own, text = read_named(claim), read_named(source)
    return [n.text for n in read_names(claim) if n.is_sure and not text.holds(n, own)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The roof was planted by Zoe Lindqvist.", "Zoë Lindqvist planted the roof."),
        ("The coating AB-666 wears off.", "Of all coatings AB666 wore off first."),
        ("The coating AB666 wears off.", "Of all coatings AB-666 wore off first."),
        ("The film Save My Roof was banned.", "They banned Save My Roof at once."),
        ("It was told by the Moreau–Lee report.", "Moreau and Lee told it."),
        ("The firm is Lisbon-based.", "A firm from Lisbon."),
        ("The roofs are French.", "These roofs are common in France."),
        ("The roofs were built in the United States.", "A roof of the U.S. kind."),
        ("The roofs were built in the US.", "An American roof."),
        ("The wards were full of COVID-19 patients.", "Patients with SARS-CoV-2 filled them."),
        ("As Anna Moreau et al. claim, roofs are hot.", "Roofs are hot."),
        ("A mean radiant temperature (MRT) was taken.", "The radiant temperature was taken."),
        ("这些屋顶在法国很常见。", "Such roofs are common in France."),
    ],
)
def test_a_name_is_found_in_another_spelling(claim: str, source: str) -> None:
    assert _missing(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "name"),
    [
        ("The roofs are German.", "These roofs are common in France.", "German"),
        ("The firm is a US one.", "They told us that the firm is Dutch.", "US"),
        ("The Poland office closed.", "It has two poles.", "Poland"),
        ("The coating AB-667 wears off.", "Of all coatings AB666 wore off first.", "AB-667"),
        ("The film Save My Roof was banned.", "They banned Save Your Roof.", "My"),
        (
            "It was told by the Moreau–Lee report.",
            "The Moreau–Brandvold report told it.",
            "Moreau–Lee",
        ),
        ("A panel of the (MRT) was taken.", "The panel was taken.", "MRT"),
    ],
)
def test_another_name_is_not_found(claim: str, source: str, name: str) -> None:
    assert _missing(claim, source) == [name]


def test_what_the_title_names_need_not_be_named_again() -> None:
    claim = "In Marlbrook the pavement under plane trees was the coolest station."
    told = passage("The pavement under the plane trees was the coolest station.")
    titled = PassageText(told.text, told.sentences, "Field notes, Marlbrook. Means")
    assert [sign.claim for sign in find_reservations(answer(claim, [told]))] == ["Marlbrook"]
    assert find_reservations(answer(claim, [titled])) == []
    beside = passage("At S5 it was 31.8 °C.", told.text)
    near = PassageText(beside.text, beside.sentences, titled.context)
    assert find_reservations(answer(claim, [near])) == []
    told_where = [sign.text for sign in signs_for(answer(claim, [titled]))]
    assert "Named in the title or a heading: Marlbrook." in told_where
    elsewhere = PassageText(told.text, told.sentences, "Field notes, Port Aldermere. Means")
    assert [sign.claim for sign in find_reservations(answer(claim, [elsewhere]))] == ["Marlbrook"]


@pytest.mark.parametrize(
    "title",
    [
        "Streets of Marlbrook and of Port Aldermere",
        "Hot Streets in Marlbrook and Lindau: Field Notes",
    ],
)
def test_a_title_with_two_towns_does_not_say_which(title: str) -> None:
    claim = "In Marlbrook the pavement under plane trees was the coolest station."
    told = passage("The pavement under the plane trees was the coolest station.")
    found = answer(claim, [PassageText(told.text, told.sentences, title)])
    assert [sign.claim for sign in find_reservations(found)] == ["Marlbrook"]
    assert found.title == ""


def test_a_claim_that_names_the_title_s_town_scores_as_without_it() -> None:
    scorer = load_support_scorer(
        SupportSettings(threshold=None, weak_threshold=None), BundledPairReader()
    )
    told = passage("The pavement under the plane trees was the coolest of all the stations.")
    titled = PassageText(told.text, told.sentences, "Field notes, Marlbrook")
    claim = "Of all the stations the pavement under the plane trees was the coolest."
    (plain,) = scorer.judge([(claim, [told])])
    (named,) = scorer.judge([(f"In Marlbrook, {claim[0].lower()}{claim[1:]}", [titled])])
    (unnamed,) = scorer.judge([(f"In Marlbrook, {claim[0].lower()}{claim[1:]}", [told])])
    assert unnamed.status != "OK"
    assert (named.status, unnamed.score < named.score) == (plain.status, True)
