"""What a recipe must hold: –COOH by structure and by name, metals, ratio, configured rules."""

from typing import Any

import pytest

from rag_assets.lab import chemistry as carboxyl
from rag_assets.lab.acids import acids
from rag_assets.lab.chemistry import (
    Carboxyl,
    disagreement,
    find_carboxyl,
    has_rdkit,
    holds_carboxyl,
    read_smiles,
)
from rag_assets.lab.recipes import ProposedRecipe, check_recipe, show_rules
from rag_assets.model import UsageError
from rag_assets.model.settings import RecipeRule


def proposed(**changes: Any) -> ProposedRecipe:
    values = {"M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1",
              "small_molecule_modifier": {"name": "glycine"}, **changes}  # fmt: skip
    return ProposedRecipe.model_validate(values)


def check(*rules: RecipeRule, **changes: Any) -> Any:
    return check_recipe(proposed(**changes), rules, find_carboxyl)


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("glycine", True), ("L-histidine", True), ("glycine (Gly)", True), ("EDTA", True),
        ("4-aminobenzoic acid", True), ("acetic acid", True), ("citric acid monohydrate", True),
        ("amino acid", None), ("4-carboxyphenylboronic acid", True), ("甘氨酸", True),
        ("对氨基苯甲酸", True), ("2-aminoethanesulfonic acid", None), ("phosphoric acid", None),
        ("sulfanilic acid", None), ("taurocholic acid", None), ("picric acid", None),
        ("thioacetic acid", None), ("thiosalicylic acid", True), ("hexanoic acid", True),
        ("usnic acid", None), ("unobtainic acid", None), ("氯酸", None), ("没听过酸", None),
        ("ascorbic acid", None), ("苯磺酸", None), ("硫酸", None), ("tannic acid", None),
        ("trifluoromethanesulfonic acid", None), ("boronic acid", None),
        ("acetic acid ethyl ester", None), ("乙酸乙酯", None), ("imidazole", None),
        ("sodium benzoate", None), ("acid", None), ("the acid red dye", None), ("酸", None),
        ("glycinamide", None), ("4-carboxylate ester", None),
    ],
)  # fmt: skip
def test_a_name_tells_or_says_that_it_does_not(name: str, holds: bool | None) -> None:
    found = find_carboxyl(name, None)
    assert found.holds is holds, found
    assert found.by == (None if holds is None else "name")


@pytest.mark.parametrize("is_installed", [False, True])
@pytest.mark.parametrize(
    ("smiles", "holds"),
    [
        ("NCC(=O)O", True), ("[NH3+]CC(=O)[O-]", True), ("OC=O", True), ("CC(=O)OC", False),
        ("NC(=O)O", False), ("OC(=O)O", False), ("OS(=O)(=O)c1ccccc1", False),
        ("CC(=O)OO", False), ("C1=CC=C(C=C1)C(O)=O", True), ("O=C1CCCO1", False),
        ("[O-]C(=O)C%10CC%10.[Na+]", True), ("not a molecule", None), ("C1CC(", None),
    ],
)  # fmt: skip
def test_a_structure_decides_alone(
    smiles: str, holds: bool | None, is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_installed and not has_rdkit():
        pytest.skip("RDKit is not installed")
    monkeypatch.setattr(carboxyl, "has_rdkit", lambda: is_installed)
    found = find_carboxyl("benzoic acid", smiles)
    assert (found.holds, found.by) == (holds, "structure")
    if holds is not None and not is_installed:
        assert "valences were not checked, which takes RDKit" in found.why


@pytest.mark.parametrize(
    ("name", "smiles", "said"),
    [
        ("glycine", "[NH3+]CC(=O)[O-]", ""), ("L-alanine", "C[C@H](N)C(=O)O", ""),
        ("alanine", "CC(N)C(=O)O", ""), ("D-alanine", "C[C@@H](N)C(=O)O", ""),
        ("苯甲酸", "C1=CC=C(C=C1)C(O)=O", ""), ("Glycine (Gly)", "NCC(O)=O", ""),
        ("glycine", "OC(=O)c1ccccc1", "another molecule than glycine, which is NCC"),
        ("4-aminobenzoic acid", "Nc1ccccc1C(=O)O", "another molecule"),
        ("succinic acid", "OC(=O)C=CC(=O)O", "another molecule"),
        ("compound 7", "NCC(=O)O", None),
    ],
)  # fmt: skip
def test_name_and_structure_agree(name: str, smiles: str, said: str | None) -> None:
    found = disagreement(name, smiles)
    assert said in found if said and found else found == said
    if said:
        with pytest.raises(UsageError, match="Give the SMILES of what is meant"):
            check(small_molecule_modifier={"name": name, "smiles": smiles})


def test_structures_of_the_list_hold_what_their_names_say() -> None:
    for name, smiles in acids().structures.items():
        assert holds_carboxyl(read_smiles(smiles)), name
    assert set(acids().names.values()) == set(acids().structures)


def test_a_modifier_without_a_carboxyl_group_is_refused() -> None:
    sulfonic = {"name": "benzenesulfonic acid", "smiles": "OS(=O)(=O)c1ccccc1"}
    with pytest.raises(UsageError, match="must hold a carboxyl group"):
        check(small_molecule_modifier=sulfonic)
    for name in ("benzenesulfonic acid", "imidazole"):
        with pytest.raises(UsageError, match="Give its SMILES"):
            check(small_molecule_modifier={"name": name})


def test_the_structure_overrules_the_name() -> None:
    def judge(name: str, smiles: str | None) -> Carboxyl:
        return Carboxyl(False, "structure", "its structure holds no –COOH (CCO)")

    with pytest.raises(UsageError, match="its structure holds no"):
        check_recipe(proposed(), (), judge)


@pytest.mark.parametrize(
    ("given", "ratio"),
    [("1:1", "1:1"), ("2 : 1", "2:1"), ("Cu2Mo2", "2:2"), ("Cu₂Mo₂", "2:2"), ("MoCu3", "3:1"),
     ("0.5:1", "0.5:1"), ("1∶3", "1:3")],
)  # fmt: skip
def test_a_ratio_is_one_of_atoms(given: str, ratio: str) -> None:
    assert check(atomic_ratio=given).atomic_ratio == ratio


@pytest.mark.parametrize("given", ["1", "a lot of Cu", "1:0", "Cu2W2", "1:1:1", "-1:2"])
def test_other_ratios_are_refused(given: str) -> None:
    with pytest.raises(UsageError, match="atomic_ratio"):
        check(atomic_ratio=given)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"M1": "S"}, "M1: 'S' is no metal of the periodic table"),
        ({"M1": "Unobtainium"}, "'Unobtainium' is no metal of the periodic table"),
        ({"M1": "nothing"}, "no metal"),
        ({"M2": "ethanol"}, "no metal"),
        ({"M2": "Xx"}, "no metal"),
        ({"M2": "titanium"}, "M2: Ti is a metal of the host"),
        ({"M2": "copper"}, "both are Cu"),
        ({"linker": "BDC"}, "linker: it is fixed to BTB"),
    ],
)
def test_what_the_system_fixes_is_no_matter_of_taste(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check(**changes)


def test_a_kind_of_metal_may_stand_for_an_element() -> None:
    assert check(M2="rare-earth metal").M2 == "rare-earth metal"
    assert check(M2="lanthanides").M2 == "lanthanides"
    assert check(M2="稀土金属").M2 == "稀土金属"
    assert check(M1="copper").M1 == "Cu"
    assert check(M1="yttrium").M1 == "Y"
    assert check(M1="铜").M1 == "Cu"


def test_configured_rules_are_held_and_told() -> None:
    forbidden = RecipeRule(tell="No toxic metals.", field="M2", none_of=["Pb", "cd"])
    small = RecipeRule(
        tell="Ratios are of small numbers.", field="atomic_ratio", matches="[1-4]:[1-4]"
    )
    told = RecipeRule(tell="Solvents are water or ethanol.")
    assert check(forbidden, small, told).M2 == "Mo"
    with pytest.raises(UsageError, match=r"M2: No toxic metals\. Got 'Cd'"):
        check(forbidden, M2="Cd")
    with pytest.raises(UsageError, match="small numbers"):
        check(small, atomic_ratio="1:9")
    # However a ratio or an acid is written.
    assert check(small, atomic_ratio="0.5:1.5").atomic_ratio == "0.5:1.5"
    none = RecipeRule(tell="No glycine.", field="small_molecule_modifier", none_of=["Glycine"])
    with pytest.raises(UsageError, match="No glycine"):
        check(none, small_molecule_modifier={"name": "甘氨酸"})
    third = RecipeRule(tell="One to three.", field="atomic_ratio", any_of=["1:3"])
    assert check(third, atomic_ratio="Cu0.5Mo1.5").atomic_ratio == "0.5:1.5"
    with pytest.raises(UsageError, match="One to three"):
        check(third, atomic_ratio="0.33:1")
    with pytest.raises(UsageError, match="must be"):
        check(RecipeRule(tell="M1 must be Cu.", field="M1", any_of=["Cu"]), M1="W")
    assert show_rules([told])[-1] == "Solvents are water or ethanol. (told, not checked)"
    with pytest.raises(ValueError, match="names a field and how it is checked"):
        RecipeRule(tell="Nothing.", field="M1")


def test_a_field_without_a_ground_says_so() -> None:
    ground = {"statement": "Cu binds CO.", "basis": "evidence", "field": "M1",
              "citations": ["kb:a__chunk-1"]}  # fmt: skip
    made = check(grounds=[ground])
    assert [(g.field, g.basis) for g in made.grounds] == [
        ("M1", "evidence"), ("M2", "default"), ("atomic_ratio", "default"),
        ("small_molecule_modifier", "default"),
    ]  # fmt: skip


@pytest.mark.parametrize(("basis", "cited"), [("evidence", "mem:x"), ("experience", "kb:x")])
def test_a_basis_cites_its_own_kind(basis: str, cited: str) -> None:
    ground = {"statement": "So it is.", "basis": basis, "citations": [cited]}
    with pytest.raises(UsageError, match=f"basis '{basis}' cites"):
        check(grounds=[ground])
