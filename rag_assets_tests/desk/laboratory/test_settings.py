"""Settings by their pages: products, sets, experience, comparison, rules, language."""

from typing import Any

from rag_assets.lab.experience import read_template
from rag_assets.lab.products import Preset, Product, list_presets, list_products
from rag_assets_tests.desk.laboratory.visits import HOSTILE, Visit, text_of


def products(visited: Visit) -> dict[str, Product]:
    with visited.lab.store.reading() as reading:
        return {one.name: one for one in list_products(reading, deleted=True)}


def presets(visited: Visit) -> list[Preset]:
    with visited.lab.store.reading() as reading:
        return list_presets(reading, deleted=True)


def test_products_are_added_renamed_deleted_and_taken_back(visited: Visit) -> None:
    answer = visited.post("/lab/settings", do="add", name=HOSTILE)
    assert HOSTILE in text_of(visited.get("/lab/settings/presets"))
    assert "<img" not in answer.text
    co = products(visited)["CO"]
    visited.post("/lab/settings", do="rename", which=co.id, name="Carbon monoxide", seen="1")
    stale = visited.post("/lab/settings", 409, do="rename", which=co.id, name="Other", seen="1")
    assert "'CO' → 'Carbon monoxide'" in text_of(stale)
    assert 'value="Other"' in stale.text
    visited.post("/lab/settings", do="delete", which=co.id, seen="2")
    assert "Take back Carbon monoxide" in visited.get("/lab/settings").text
    visited.post("/lab/settings", do="restore", which=co.id, seen="3")
    assert products(visited)["Carbon monoxide"].status == "active"
    taken = visited.post("/lab/settings", 400, do="add", name="c2h4")
    assert "there is a product 'C2H4' already" in text_of(taken)


def test_sets_are_named_by_their_products_renamed_and_deleted(visited: Visit) -> None:
    ids = visited.products()
    path = "/lab/settings/presets"
    visited.post(path, do="save", name="", product=[ids["C2H4"], ids["CO"]])
    (one,) = presets(visited)
    assert one.name == "C2H4 + CO"
    visited.post(path, do="save", which=one.id, seen="1", name="Main", product=[ids["C2H4"]])
    (one,) = presets(visited)
    assert (one.name, one.product_ids) == ("Main", (ids["C2H4"],))
    stale = visited.post(path, 409, do="save", which=one.id, seen="1", name="X", product=ids["CO"])
    assert 'value="X"' in stale.text
    assert "at least one" in visited.post(path, 400, do="save", name="").text
    visited.post(path, do="delete", which=one.id, seen="2")
    assert presets(visited)[0].status == "deleted"
    visited.post(path, do="save", which=one.id, seen="3", name="Main", product=[ids["C2H4"]])
    assert presets(visited)[0].status == "active"


def test_how_much_experience_is_given_is_saved_and_holds(visited: Visit) -> None:
    path = "/lab/settings/experience"
    visited.post(path, seen="0", k_role="7", k_global="0")
    settings = visited.lab.settings.experience
    assert (settings.k_role, settings.k_global) == (7, 0)
    assert "k_global" in text_of(visited.post(path, 400, seen="1", k_role="1", k_global="99"))
    stale = visited.post(path, 409, seen="0", k_role="1", k_global="1")
    assert "you have seen 0" in stale.text
    assert visited.lab.settings.experience.k_role == 7
    run = visited.run(visited.ask())
    saved: Any = run.snapshot["settings"]
    assert saved["experience"]["k_role"] == 7


def test_a_template_has_versions_and_one_that_cannot_be_used_is_refused(visited: Visit) -> None:
    path = "/lab/settings/experience"
    first = "{{ citation }}: {{ content }} {{ extra.solvent }}"
    visited.post(path, role="mof_expert", text=first, seen="0")
    with visited.lab.store.reading() as reading:
        assert read_template(reading, "mof_expert").text == first
    refused = visited.post(path, 400, role="mof_expert", text="{{ nothing }}", seen="1")
    assert "cannot be used" in refused.text
    assert "{{ nothing }}" in refused.text
    visited.post(path, role="mof_expert", text="{{ content }}", seen="1")
    text = visited.see(path)
    assert "MOF expert version 2" in text
    before = text.partition("Versions before")[2]
    assert first in before
    assert "as shipped" in before
    assert (
        "version 2" in visited.post(path, 409, role="mof_expert", text="{{ kind }}", seen="1").text
    )


def test_defaults_of_the_comparison_are_saved(visited: Visit) -> None:
    path = "/lab/settings/comparison"
    visited.post(path, seen="0", short_history="note")
    found = visited.lab.settings.comparison
    assert (found.method3, found.short_history) == (False, "note")
    visited.post(path, 400, seen="1", short_history="shout")


def test_rules_of_recipes_are_replaced_and_hold_for_the_next_run(visited: Visit) -> None:
    path = "/lab/settings/recipes"
    names = ("tell", "field", "any_of", "none_of", "matches")

    def form(*rules: tuple[str, ...]) -> dict[str, list[str]]:
        return {f"rule-{name}": [rule[at] for rule in rules] for at, name in enumerate(names)}

    assert "The linker is fixed: BTB." in visited.see(path)
    rules = (
        ("No molybdenum.", "M2", "", "Mo， W", ""), ("Water only.", "", "", "", ""),
        ("", "", "", "", ""),
    )  # fmt: skip
    visited.post(path, seen="0", do="save", **form(*rules))
    first, second = visited.lab.settings.recipes.rules
    assert (first.none_of, second.field) == (["Mo", "W"], None)
    assert "Further rules that the recipes follow No molybdenum." in visited.see("/lab/runs/new")
    run_id = visited.ask()
    run = visited.run(run_id)
    assert all(recipe.M2 not in {"Mo", "W"} for recipe in run.recipes)
    assert "No molybdenum." in visited.see(f"/lab/runs/{run_id}/trace")
    wrong = visited.post(path, 400, seen="1", do="save", **form(("Bad.", "M1", "", "", "(")))
    assert "not a regular expression" in wrong.text
    assert 'value="Bad."' in wrong.text
    visited.post(path, seen="1", do="file", **form())
    assert visited.lab.settings.recipes.rules == []


def test_the_language_changes_static_text_alone(visited: Visit) -> None:
    assert "Data, recipes and logs are never translated." in visited.see("/lab/settings/language")
    answer = visited.post("/language", language="zh", back="/lab/settings/language")
    assert "数据、配方和日志从不翻译" in answer.text
    assert 'value="C2H4"' in visited.get("/lab/settings").text
