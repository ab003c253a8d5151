"""`policy: collect`: candidates and sentences for and against, as found; nothing is concluded."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_assets.lab.chemistry import modifiers_at, name_parts
from rag_assets.lab.runs import Recipe, Run
from rag_assets.lab.showing import render_run, replay_trace
from rag_assets.lab.trace import Observed, RunNote, Source
from rag_assets.model import hash_text
from rag_assets.model.settings import RecipeRule
from rag_assets.model.settings.section import RecipeSettings
from rag_assets_tests.lab.laboratories import run_of
from rag_assets_tests.lab.scripted_runs import LESSON, Made, Shelf, kb, lesson, run


@pytest.mark.parametrize(
    ("text", "metals"),
    [
        ("CuMo-TiO2 and Cu2W2-TiO2", ("Cu", "Mo", "W")),
        ("copper- and platinum-doped TiO2", ("Cu", "Pt")),
        ("W-doped TiO2", ("W",)),
        ("铜钼双掺杂 TiO2", ("Cu", "Mo")),
        # Compounds, products, methods and words are no dopants.
        ("TiO2 beside ZnO, Al2O3 and BiVO4", ()),
        ("CO2 became CO and CH4 on TiO2", ()),
        ("In TiO2, UV light and XPS; As shown. I think. No. He said so.", ()),
        ("Zr-BTB and doped TiO2", ()),
        ("TiO2: Cu K-alpha X-rays, a Pt plate as the counter electrode, Ag/AgCl electrode", ()),
        ("TiO2 from copper nitrate, Cu(NO 3 ) 2 and Bi (NO3 )3", ()),
        ("Ga 2 O 3 and Bi 2 WO 6 with TiO2, In-situ infrared, U87-MG cells", ()),
        ("Highly dispersed Cu was incorporated into the TiO2 lattice.", ("Cu",)),
        ("Plasmonic metals (Ag, Cu) were loaded.", ("Ag", "Cu")),
        ("Copper pans are used in kitchens.", ()),
    ],
)
def test_dopants_are_told_from_what_else_is_written(text: str, metals: tuple[str, ...]) -> None:
    assert name_parts(text).metals == metals


@pytest.mark.parametrize(
    ("text", "modifiers"),
    [
        ("The nodes were modified with 4-aminobenzoic acid.", ("4-aminobenzoic acid",)),
        ("It was grafted with the L-histidine of old.", ("L-histidine",)),
        ("The modulator trifluoroacetic acid was removed.", ("trifluoroacetic acid",)),
        ("用甘氨酸修饰的 MOF", ("glycine",)),
        ("Modified with benzenesulfonic acid and with phosphoric acid.", ()),
        ("Formic acid was a product.", ()),
        ("The MOF was synthesized by a modified report from terephthalic acid.", ()),
        ("A carboxylic acid modified it.", ()),
        # By kind, in both languages, one name for one molecule.
        ("以甲酸为调节剂合成 Zr-BTB 纳米片。", ("formic acid",)),
        ("用对氨基苯甲酸取代节点上的甲酸根。", ("4-aminobenzoic acid",)),
        ("加入 50 当量的乙酸作为调制剂。", ("acetic acid",)),
        ("以三氟乙酸和 2-溴丙酸作调节剂。", ("trifluoroacetic acid", "2-bromopropionic acid")),
        ("将 L-组氨酸负载到 Zr-BTB 上。", ("L-histidine",)),
        ("苯丙氨酸修饰的节点", ("L-phenylalanine",)),
        ("Histidine and L-histidine were anchored at the nodes.", ("L-histidine",)),
        ("氨基酸修饰，苯磺酸修饰，磷酸修饰", ()),
        ("甲酸酯、乙酸根和苯甲酰氯修饰", ()),
        ("对苯二甲酸配体与均苯三甲酸配体", ()),
        ("CO2 还原为甲酸和乙酸，缺陷更多。", ()),
        ("修饰后甲酸的产率提高", ()),
        ("1,3,5-tris(benzoic acid) and tribenzoic acid ligands at the nodes", ()),
        ("Fumaric acid was used as the linker and formic acid as modulator.", ("formic acid",)),
        ("Formic acid and acetic acid were the main products at the defects.", ()),
    ],
)
def test_modifiers_are_told_from_other_acids(text: str, modifiers: tuple[str, ...]) -> None:
    assert name_parts(text).modifiers == modifiers


@pytest.mark.parametrize(
    ("sentence", "modifiers"),
    [
        ("Zr-BTB was grown with benzoic acid as modulator.", ("benzoic acid",)),
        ("Zr-BTB was washed with benzoic acid.", ()),
        ("Stearic acid was tethered to the sheets.", ("stearic acid",)),
        ("Stearic acid was bought.", ()),
        ("Glutamic acid coordinated to Zr.", ("L-glutamic acid",)),
        ("Glutamic acid dissolved.", ()),
        ("Formate was exchanged for 4-aminobenzoic acid.", ("4-aminobenzoic acid",)),
        ("4-aminobenzoic acid is a vitamin.", ()),
        ("It grew in the presence of 30 equivalents of acetic acid.", ("acetic acid",)),
        ("It grew in acetic acid.", ()),
        ("CO2 was reduced to formic acid over defective TiO2.", ()),
        ("The defects were capped by formic acid.", ("formic acid",)),
        ("Fumaric acid was used as linker beside the modulator.", ()),
        ("Fumaric acid was used beside the linker as modulator.", ("fumaric acid",)),
        ("Lactic acid was the sacrificial agent for the modified MOF.", ()),
        ("The MOF was modified with lactic acid, without a sacrificial agent.", ("lactic acid",)),
    ],
)
def test_words_around_a_molecule_tell_a_modifier(sentence: str, modifiers: tuple[str, ...]) -> None:
    assert tuple(name for _, _, name in modifiers_at(sentence)) == modifiers


@pytest.mark.parametrize(
    ("text", "ratios"),
    [
        (
            "TiO2: a Cu:Mo atomic ratio of 2:1 was best under a 300 W xenon lamp.",
            {("Cu", "Mo"): "2:1"},
        ),
        ("Cu3Mo1-TiO2 made more methane than Cu2Mo1-TiO2.", {}),
        ("Cu2Mo1-TiO2", {("Cu", "Mo"): "2:1"}),
        ("Doped TiO2. The Cu:Mo atomic ratio of 3:1 was best.", {("Cu", "Mo"): "3:1"}),
        ("Doped TiO2. Cu to Mo ratios of 1:1 and 3:1 were tried.", {}),
        ("Cu and Mo in TiO2 were tried at 10:30.", {}),
        ("Doped TiO2 of Cu, Mo and W at a ratio of 1:2.", {}),
    ],
)
def test_a_ratio_is_taken_where_it_is_clear_whose_it_is(
    text: str, ratios: dict[tuple[str, str], str]
) -> None:
    assert name_parts(text).ratios == ratios


SHARED = Path(os.environ.get("RAG_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no {SHARED}; set RAG_SHARED_DATA")
def test_metals_of_papers_on_solar_fuels_are_those_of_catalysts() -> None:
    """Each of these 25 was read: none is of an electrode, a reagent, a salt or an X-ray tube."""
    path = SHARED / "claims" / "support" / "solarchem_papers.jsonl"
    papers = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    named = [name_parts(chunk) for paper in papers for chunk in paper["chunks"]]
    assert len(named) == 130
    assert Counter(metal for one in named for metal in one.metals) == {
        "Cu": 9, "Ag": 4, "Mg": 4, "Al": 4, "Zn": 2, "Pt": 1, "Pd": 1,
    }  # fmt: skip
    assert not any(one.modifiers or one.ratios for one in named)


def test_a_sentence_is_shown_before_a_heading_that_names_the_same() -> None:
    text = "# Molybdenum on TiO2\n\nIt was tried. Doping with Mo helped.\n"
    (recipe,) = run(shelf=Fixed(f"{text} Cu-TiO2. Modified by glycine.")).outcome.recipes
    assert said_of(recipe, "M1") == ['"Doping with Mo helped."']


class Fixed(Shelf):
    """Holds these passages, found in this order, and nothing else."""

    def __init__(self, *texts: str, lessons: Sequence[Source] = ()) -> None:
        super().__init__(lessons)
        self._texts = texts

    def search(self, base: str, query: str) -> Observed:
        return Observed(
            tuple(
                Source(kb(text), text, hash_text(text), "t", "", "kb_shelf") for text in self._texts
            )
        )


def said_of(recipe: Recipe, field: str) -> list[str]:
    return [ground.statement for ground in recipe.grounds if ground.field == field]


def replayed(made: Made) -> Made:
    again, outcome = replay_trace(made.text, "trace")
    assert (again, outcome) == (made.text, made.outcome)
    return made


def test_parts_that_stand_together_come_first_each_with_its_words() -> None:
    made = replayed(run(wanted=2))
    first, second = made.outcome.recipes
    assert (first.M1, first.M2, first.atomic_ratio) == ("Cu", "Mo", "2:1")
    assert first.small_molecule_modifier.name == "4-aminobenzoic acid"
    # “Modification with glycine did less.”
    assert second.small_molecule_modifier.name != "glycine"
    by_field = {ground.field: ground for ground in first.grounds}
    assert by_field["atomic_ratio"].citations == (kb("coupling"),)
    assert by_field["small_molecule_modifier"].citations == (kb("acids"),)
    assert first.why_ranked == (
        "C2H4. Cu + Mo: 1 for, 0 against; 4-aminobenzoic acid: 1 for, 0 against."
    )
    assert by_field["M1"].bearing == "for"
    assert by_field[None].citations == (kb("acids"),)
    assert "Zr nodes were modified with 4-aminobenzoic acid" in (
        by_field["small_molecule_modifier"].statement
    )
    assert all(ground.citations for ground in first.grounds)
    assert made.kinds("asked") == []


def test_sentences_against_a_modifier_are_collected_with_those_for_it() -> None:
    texts = (
        "CuMo-TiO2 was modified with glycine.",
        "Glycine suppressed ethylene over CuMo-TiO2.",
        "Modification with glycine was tried. It poisoned the sites.",
        "CuMo-TiO2 modified with benzoic acid gave more ethylene.",
    )
    made = replayed(run(shelf=Fixed(*texts), wanted=2))
    first, second = made.outcome.recipes
    # Glycine was found first, and two passages speak against it.
    assert first.small_molecule_modifier.name == "benzoic acid"
    bearings = {
        ground.statement: ground.bearing
        for ground in second.grounds
        if ground.field == "small_molecule_modifier"
    }
    # What merely names it says nothing beside them.
    assert bearings == {f'"{texts[1]}"': "against", f'"{texts[2]}"': "against"}
    assert said_of(first, "small_molecule_modifier") == [f'"{texts[3]}"']
    collected = run_of("r9").model_copy(update={"kind": "collect", "recipes": made.outcome.recipes})
    page = render_run(collected, made.events)
    assert "## 2 candidates, the best supported first" in page
    assert "against, by its words" in page
    assert "| glycine |  | 2:" in page


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A recipe without copper for ethylene.", ("Mo", "W", "glycine")),
        ("Ethylene, no glycine please", ("Cu", "Mo", "benzoic acid")),
        ("With tungsten, for ethylene", ("Cu", "W", "glycine")),
        ("Zn and Mo for ethylene", None),
        ("不用甘氨酸，提高乙烯", ("Cu", "Mo", "benzoic acid")),
        ("A recipe modified with benzoic acid", ("Cu", "Mo", "benzoic acid")),
        # What is to be made is no modifier.
        ("A recipe for formic acid from CO2", ("Cu", "Mo", "glycine")),
    ],
)
def test_what_was_asked_for_is_heeded(text: str, found: tuple[str, str, str] | None) -> None:
    shelf = Fixed(
        "CuMo-TiO2 was modified with glycine.", "CuW-TiO2 was modified with benzoic acid.",
        "MoW-TiO2 was known.",
    )  # fmt: skip
    made = replayed(run(shelf=shelf, text=text))
    if found is None:
        assert made.outcome.state == "failed"
        assert "the request names Mo, Zn" in made.outcome.reason
        return
    (one,) = made.outcome.recipes
    assert (one.M1, one.M2, one.small_molecule_modifier.name) == found


def test_what_failed_here_goes_down_and_says_so() -> None:
    failed = lesson(kind="failure", content="L-histidine leached at once.", well_scored=False)
    made = replayed(run(shelf=Shelf([failed]), text="With L-histidine.", wanted=3))
    metals = [(one.M1, one.M2) for one in made.outcome.recipes]
    assert metals == [("Cu", "W"), ("Mo", "W"), ("Cu", "Mo")]
    last = made.outcome.recipes[-1]
    assert "It failed here: L-histidine leached at once." in last.why_ranked
    (ground,) = (one for one in last.grounds if one.citations == (LESSON,))
    assert (ground.statement, ground.bearing) == ('"L-histidine leached at once."', "against")


def test_a_range_is_no_ratio() -> None:
    assert name_parts("Doped TiO2. Cu:Mo ratios of 1:2-5 were tried.").ratios == {}
    assert name_parts("Doped TiO2. Cu:Mo = 1:1–3:1.").ratios == {}


def test_a_run_that_was_called_one_of_rules_is_read_as_collected() -> None:
    assert Run.model_validate({**run_of("r1").model_dump(), "kind": "rules"}).kind == "collect"
    assert RecipeSettings(policy="rules").policy == "collect"  # type: ignore[arg-type]


def test_what_was_not_found_together_and_what_is_assumed_is_said() -> None:
    class Apart(Shelf):
        def search(self, base: str, query: str) -> Observed:
            text = {"principles": "Cu-doped TiO2. Mo-doped TiO2.", "modulation": "Nodes were "
                    "modified with glycine."}[base]  # fmt: skip
            return Observed((Source(kb(base), text, hash_text(text), base, "", "kb_shelf"),))

    (recipe,) = replayed(run(shelf=Apart())).outcome.recipes
    by_field = {ground.field: ground for ground in recipe.grounds}
    assert by_field[None].basis == "default"
    assert "Not found together in one source" in by_field[None].statement
    assert (recipe.atomic_ratio, by_field["atomic_ratio"].basis) == ("1:1", "default")
    assert by_field["atomic_ratio"].citations == ()


def test_lessons_of_success_count_and_are_cited_as_experience() -> None:
    class OnlyLessons(Shelf):
        def search(self, base: str, query: str) -> Observed:
            return Observed()

    (recipe,) = replayed(run(shelf=OnlyLessons([lesson()]))).outcome.recipes
    assert recipe.small_molecule_modifier.name == "L-histidine"
    # The recipe that was made stands beside the lesson.
    assert recipe.atomic_ratio == "3:1"
    assert {g.basis for g in recipe.grounds if g.citations} == {"experience"}
    assert {c for g in recipe.grounds for c in g.citations} == {LESSON}
    badly = replayed(run(shelf=OnlyLessons([lesson(well_scored=False)])))
    assert badly.outcome.state == "failed"
    failure = replayed(run(shelf=Shelf([lesson(kind="failure")])))
    assert any(one.citations == (LESSON,) for one in failure.outcome.note.entries("risks"))


def test_a_source_that_cannot_be_asked_is_said() -> None:
    class Half(Shelf):
        def search(self, base: str, query: str) -> Observed:
            return super().search(base, "broken" if base == "modulation" else query)

    made = replayed(run(shelf=Half()))
    assert (made.outcome.state, made.outcome.ended_by) == ("failed", "nothing")
    assert "do not name enough metals and modifiers" in made.outcome.reason
    assert made.outcome.reason.endswith("in sentences on modifying: none)")
    assert any("search_modulation could not be asked" in e.text
               for e in made.outcome.note.entries("risks"))  # fmt: skip


def test_configured_rules_are_held_by_rules_too() -> None:
    rules = (RecipeRule(tell="No glycine.", field="small_molecule_modifier",
                        none_of=["glycine", "4-aminobenzoic acid"]),)  # fmt: skip
    (recipe,) = replayed(run(rules=rules)).outcome.recipes
    assert recipe.small_molecule_modifier.name == "L-histidine"
    assert any("No glycine." in one.why for one in recipe.dropped)


def test_the_same_sources_give_the_same_run() -> None:
    one, other = run(wanted=3), run(wanted=3)
    assert one.text == other.text
    assert json.loads(one.text.splitlines()[0])["job"]["policy"] == "collect"
    assert isinstance(one.outcome.note, RunNote)


def test_a_canceled_collection_stops_before_its_next_look() -> None:
    shelf = Shelf()
    made = replayed(run(shelf=shelf, is_canceled=lambda: len(shelf.asked) >= 2))
    assert (len(shelf.asked), made.outcome.state) == (2, "canceled")
