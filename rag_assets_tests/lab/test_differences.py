"""What speaks against two lessons being the same."""

import pytest

from rag_assets.lab.differences import (
    RULES,
    exchanged_words,
    find_differences,
    named_substances,
)

# Of each rule two lessons that it tells apart, and two that it does not.
EXAMPLES = {
    "other-numbers": (
        ("Three hours at 60 °C helped.", "Three hours at 80 °C helped."),
        ("Three hours at 60 °C helped.", "At 60 °C, three hours helped."),
    ),
    "other-substances": (
        ("Cu beside Mo helped ethylene.", "Cu beside W helped ethylene."),
        ("Cu–Mo raised C2H4.", "Copper with molybdenum raised ethylene."),
    ),
    "other-directions": (
        ("More copper raised the yield.", "Less copper raised the yield."),
        ("Copper raised the yield.", "Copper increased the yield."),
    ),
    "other-denial": (
        ("Annealing mattered.", "Annealing did not matter."),
        ("Annealing did not matter.", "It was not annealing that mattered."),
    ),
    "other-order": (
        (
            "It raised activity but lowered selectivity.",
            "It lowered activity but raised selectivity.",
        ),
        (
            "It raised activity but lowered selectivity.",
            "It enhanced activity but reduced selectivity.",
        ),
    ),
    "exchanged-word": (
        ("The green light helped the film.", "The red light helped the film."),
        ("The green light helped the film.", "The green light improved the film."),
    ),
    "other-words": (
        ("Washing with ethanol left the film whole.", "The film was whole again with brushing."),
        ("Washing with ethanol improved the film.", "The film was improved by ethanol washing."),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_tells_apart_in_both_orders(name: str) -> None:
    fires, silent = EXAMPLES[name]
    assert RULES[name](*fires)
    assert RULES[name](*reversed(fires))
    assert not RULES[name](*silent)
    assert find_differences(*silent) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("More Cu helps.", "Less Cu helps."),
        ("提高铜含量增加了乙烯产量。", "降低铜含量增加了乙烯产量。"),
        ("Glycine doubled the yield.", "Glycine tripled the yield."),
        ("铜提高了活性。", "铜没有提高活性。"),
        ("Cu2Mo2 gave the best selectivity.", "Cu1Mo3 gave the best selectivity."),
        ("Benzoic acid at the node helped ethylene.", "Formic acid at the node helped ethylene."),
        ("Cu outperforms Mo for CO.", "Mo outperforms Cu for CO."),
        ("The doping does not help activity but helps selectivity.",
         "The doping helps activity but does not help selectivity."),
        ("Anneal before grafting.", "Anneal after grafting."),
        ("The sample was inactive in light.", "The sample was active in light."),
        ("Selectivity rises with Cu loading.", "Selectivity falls with Cu loading."),
        ("Less Cu lowers activity.", "Activity falls with Cu."),
    ],
)  # fmt: skip
def test_a_contradiction_is_seen(one: str, other: str) -> None:
    assert find_differences(one, other)
    assert find_differences(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cu–Mo doping raised the selectivity to ethylene.",
         "The selectivity to C₂H₄ was increased by doping with copper and molybdenum."),
        ("More copper raised the yield of methane.", "The CH4 yield rose with more Cu."),
        ("CO2 reduction improved with glycine at the node.",
         "With glycine at the node, photoreduction of CO2 improved."),
    ],
)  # fmt: skip
def test_other_words_for_the_same_are_no_difference(one: str, other: str) -> None:
    assert find_differences(one, other) == ()


def test_words_are_exchanged_where_nothing_else_differs_and_not_by_their_letters() -> None:
    said = "A {} amount near the nodes helped."
    assert exchanged_words(said.format("small"), said.format("little")) == (("small", "little"),)
    assert exchanged_words("It lay near the node.", "It lay close to the node.") == (
        ("near", "close to"),
    )
    assert exchanged_words(said.format("small"), "A small amount helped.") == ()
    assert exchanged_words("Adsorption was slow.", "Desorption was slow.") == ()
    assert exchanged_words("催化剂很小。", "催化剂很少。") == ()


def test_molecules_are_known_by_systematic_names_and_words_like_them_are_none() -> None:
    named = named_substances("Glycerol and 1,4-butanediol replaced thioacetamide.")
    assert named == {"molecule:glycerol", "molecule:1,4-butanediol", "molecule:thioacetamide"}
    assert named_substances("We examine the control of each protocol.") == frozenset()
