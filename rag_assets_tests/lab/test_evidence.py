"""What sentences say that a part does: direction, product, value; and the order that it gives."""

import pytest

from rag_assets.lab.evidence import (
    OwnResult,
    own_results,
    read_findings,
    requested_product,
    weigh_evidence,
)
from rag_assets_tests.lab.scripted_runs import run
from rag_assets_tests.lab.test_collecting import Fixed, replayed

Found = set[tuple[str, str, str]]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        (
            "Cu–Mo raised the C2H4 selectivity from 12 to 34 % (n = 3), while CO fell.",
            {("Cu + Mo", "C2H4", "raises"), ("Cu + Mo", "CO", "lowers")},
        ),
        # Who is compared with does worse.
        (
            "Cu–Mo gave more ethylene than Cu–Zn.",
            {("Cu + Mo", "C2H4", "raises"), ("Cu + Zn", "C2H4", "lowers")},
        ),
        # What happens without a part is the contrary of what the part does.
        ("Without glycine the ethylene rate dropped by half.", {("glycine", "C2H4", "raises")}),
        ("Copper is needed: in its absence C2H4 vanishes.", {("Cu", "C2H4", "raises")}),
        ("Glycine did not raise ethylene.", {("glycine", "C2H4", "no effect")}),
        ("No ethylene was detected over Cu–Zn.", {("Cu + Zn", "C2H4", "no effect")}),
        (
            "We could not reproduce the higher ethylene yield of Cu–Zn.",
            {("Cu + Zn", "C2H4", "no effect")},
        ),
        (
            "The C2H4 ascribed to Cu–Zn stems from carbon contamination.",
            {("Cu + Zn", "C2H4", "no effect")},
        ),
        (
            "Cu–Ag favoured CO over C2H4.",
            {("Ag + Cu", "CO", "raises"), ("Ag + Cu", "C2H4", "lowers")},
        ),
        # Numbers alone say it too.
        ("Selectivity to ethylene went from 22 to 64% with glycine.",
         {("glycine", "C2H4", "raises")}),
        ("Cu–Zn gave CO at 16 against 17 µmol.", {("Cu + Zn", "CO", "no effect")}),
        # The reaction is no direction, a plan no result, *CO no product.
        ("Cu–Mo reduced CO2 in the lamp.", set()),
        ("If Cu–Mo holds, a higher ethylene yield ought to be seen.", set()),
        ("Cu–Mo lowers the barrier of *CO coupling.", set()),
        ("A Cu:Mo ratio of 2:1 gave more C2H4.", {("Cu:Mo = 2:1", "C2H4", "raises")}),
        ("With copper alone it gave CO and hardly any ethylene.", {("Cu", "C2H4", "lowers")}),
        ("The yield was 35 %, less than others report for Cu–Mo.", {("Cu + Mo", "", "raises")}),
        # Formic acid is a product here, and benzoic acid holds none.
        ("Malic acid at the nodes raised formic acid.", {("malic acid", "HCOOH", "raises")}),
        ("苯甲酸修饰降低了一氧化碳。", {("benzoic acid", "CO", "lowers")}),
        (
            "用甘氨酸修饰节点后，铜钼掺杂的乙烯选择性提高到 34%。",
            {("glycine", "C2H4", "raises"), ("Cu + Mo", "C2H4", "raises")},
        ),
        ("未加甘氨酸时，乙烯产率下降了一半。", {("glycine", "C2H4", "raises")}),
    ],
)  # fmt: skip
def test_a_sentence_says_what_a_part_does(sentence: str, found: Found) -> None:
    said = [one for one in read_findings(f"Doped TiO2.\n\n{sentence}") if one.direction != "names"]
    assert {(one.part, one.product, one.direction) for one in said} == found
    assert all(one.sentence == sentence for one in said)


def test_value_with_its_whole_unit_and_the_number_of_experiments_are_kept() -> None:
    (one,) = read_findings("Glycine raised ethylene to 5.2 µmol g-1 h-1 (n = 4).")
    assert (one.value.replace("μ", "µ"), one.n) == ("5.2 µmol g-1 h-1", "4")


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("A selective recipe", "C2H4"),
        ("More methane from CO2", "CH4"),
        ("提高一氧化碳", "CO"),
        ("Without hydrogen, for CO", "CO"),
    ],
)
def test_the_product_that_is_asked_for_is_the_first_that_is_wanted(text: str, product: str) -> None:
    assert requested_product(text) == product


PAPERS = (
    "Cu–Mo doped TiO2 with glycine at the Zr nodes raised ethylene to 14 µmol/h.",
    "Cu–Mo doped TiO2 doubled the C2H4 selectivity.",
    "Over Cu–Mo on TiO2 the ethylene rate climbed; CO fell.",
    "Without glycine at the nodes Cu–Mo on TiO2 lost half of its ethylene.",
    "Cu–Ag doped TiO2 gave a record ethylene selectivity of 71 %.",
    "Cu–Ag doped TiO2 is known for its higher ethylene yield.",
    "We could not reproduce the ethylene of Cu–Ag doped TiO2.",
    "The ethylene of Cu–Ag doped TiO2 came from carbon contamination.",
    "No ethylene was detected over Cu–Ag doped TiO2 in five runs.",
    "Cu–Zn doped TiO2 raised CO and lowered ethylene. Grafting lactic acid did nothing for C2H4.",
)


def test_of_papers_that_contradict_each_other_the_best_supported_comes_first() -> None:
    made = replayed(run(shelf=Fixed(*PAPERS), wanted=3, text="Ethylene from CO2"))
    first = made.outcome.recipes[0]
    assert (first.M1, first.M2) == ("Cu", "Mo")
    assert first.small_molecule_modifier.name == "glycine"
    (refuted,) = replayed(
        run(shelf=Fixed(*PAPERS), text="Ethylene from CO2 with copper and silver")
    ).outcome.recipes
    bearings = [one.bearing for one in refuted.grounds if one.field == "M2"]
    assert {"for", "against"} <= set(bearings)
    assert "Ag + Cu: 2 for, 3 against" in refuted.why_ranked


def result(run_id: str, parts: tuple[str, ...], fraction: float) -> dict[str, object]:
    products = {"C2H4": [1.0, fraction]}
    return {"run": run_id, "recipe": run_id, "parts": parts, "score": 5.0, "products": products}


def test_what_was_made_here_counts_beside_the_literature() -> None:
    made = [result("r1", ("Cu + Zn", "glycine"), 0.1), result("r2", ("Ag + Cu", "glycine"), 0.6)]
    results = own_results(made, "C2H4")
    assert [one.compared for one in results] == [-1, 1]
    said = [("p1", one) for one in read_findings("Doped. Cu–Zn raised ethylene.")]
    rows = {row.part: row for row in weigh_evidence(said, results, "C2H4")}
    assert [rows[part].net for part in ("Cu + Zn", "Ag + Cu", "glycine")] == [0, 1, 0]
    assert isinstance(rows["glycine"].here[0], OwnResult)
    # Of the same document a thing counts once.
    (row,) = weigh_evidence(said * 3, [], "C2H4")
    assert row.raising == 1
