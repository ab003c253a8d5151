"""What the laboratory's pages set: products, presets, experience, comparison, rules, language."""

from dataclasses import dataclass
from typing import Any  # values of settings

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import (
    LabOf,
    OpenLab,
    seen_of,
    status_of,
    texts_of,
    whole_number,
)
from rag_assets.desk.rendering import page
from rag_assets.desk.state import FormOf, text_of
from rag_assets.lab.experience import ROLES, list_templates, save_template
from rag_assets.lab.laboratory import read_lab_settings, save_lab_settings
from rag_assets.lab.products import (
    add_product,
    delete_preset,
    delete_product,
    list_presets,
    list_products,
    rename_product,
    restore_product,
    save_preset,
)
from rag_assets.lab.recipes import FIELDS, show_rules
from rag_assets.model import RagError

router = APIRouter(prefix="/settings")
_HOME = "/lab/settings"


@router.get("")
def products(request: Request, open_lab: LabOf) -> Response:
    """Show the catalogue of products."""
    return _products(request, open_lab)


@router.post("")
def change_product(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Add, rename, delete or restore a product."""
    do, name, product_id = (text_of(form, key) for key in ("do", "name", "which"))
    try:
        with open_lab.writing() as writing:
            if do == "add":
                add_product(writing, name)
            elif do == "rename":
                rename_product(writing, product_id, name, seen_of(form))
            elif do == "delete":
                delete_product(writing, product_id, seen_of(form))
            elif do == "restore":
                restore_product(writing, product_id, seen_of(form))
    except RagError as error:
        return _products(request, open_lab, str(error), status_of(error), {product_id: name})
    return RedirectResponse(_HOME, 303)


@router.get("/presets")
def presets(request: Request, open_lab: LabOf) -> Response:
    """Show the presets."""
    return _presets(request, open_lab)


@router.post("/presets")
def change_preset(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Save or delete a preset."""
    do, name, preset_id = (text_of(form, key) for key in ("do", "name", "which"))
    chosen = texts_of(form, "product")
    try:
        with open_lab.writing() as writing:
            if do == "delete":
                delete_preset(writing, preset_id, seen_of(form))
            elif preset_id:
                save_preset(writing, chosen, name, preset_id, seen_of(form))
            else:
                save_preset(writing, chosen, name)
    except RagError as error:
        typed = {preset_id: (name, chosen)}
        return _presets(request, open_lab, str(error), status_of(error), typed)
    return RedirectResponse(f"{_HOME}/presets", 303)


@router.get("/experience")
def experience(request: Request, open_lab: LabOf) -> Response:
    """Show how experience is searched and what of it enters prompts."""
    return _experience(request, open_lab)


@router.post("/experience")
def change_experience(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Save how many items are recalled, or a role's template."""
    role, text = text_of(form, "role"), text_of(form, "text")
    try:
        if role:
            with open_lab.writing() as writing:
                save_template(writing, role, text, seen_of(form))
        else:
            changes = {
                f"experience.{key}": whole_number(text_of(form, key), key)
                for key in ("k_role", "k_global")
            }
            _save(open_lab, changes, form)
    except RagError as error:
        return _experience(request, open_lab, str(error), status_of(error), {role: text})
    return RedirectResponse(f"{_HOME}/experience", 303)


@router.get("/comparison")
def comparison(request: Request, open_lab: LabOf) -> Response:
    """Show how a form for feedback begins."""
    return _plain(request, open_lab, "comparison")


@router.post("/comparison")
def change_comparison(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Save it."""
    changes = {
        "comparison.method3": bool(text_of(form, "method3")),
        "comparison.short_history": text_of(form, "short_history"),
    }
    try:
        _save(open_lab, changes, form)
    except RagError as error:
        return _plain(request, open_lab, "comparison", str(error), status_of(error))
    return RedirectResponse(f"{_HOME}/comparison", 303)


@router.get("/recipes")
def recipes(request: Request, open_lab: LabOf) -> Response:
    """Show the further rules that recipes follow."""
    return _rules(request, open_lab)


@router.post("/recipes")
def change_recipes(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Save the rules; or take them back to those of config.yaml."""
    typed = _typed_rules(form)
    rules = None if text_of(form, "do") == "file" else [rule.values() for rule in typed]
    try:
        _save(open_lab, {"recipes.rules": rules}, form)
    except RagError as error:
        return _rules(request, open_lab, str(error), status_of(error), typed)
    return RedirectResponse(f"{_HOME}/recipes", 303)


@router.get("/language")
def language(request: Request) -> Response:
    """Show the choice of language."""
    return page(request, "lab/settings_language.html")


def _save(open_lab: OpenLab, changes: dict[str, Any], form: FormData) -> None:
    save_lab_settings(
        open_lab.lab, changes, at=open_lab.now(), by=open_lab.person, seen=seen_of(form)
    )


def _saved(open_lab: OpenLab) -> Any:
    with open_lab.lab.store.reading() as reading:
        return read_lab_settings(reading)


def _products(
    request: Request, open_lab: OpenLab, trouble: str = "", status: int = 200,
    typed: dict[str, str] | None = None,
) -> Response:  # fmt: skip
    with open_lab.lab.store.reading() as reading:
        found = list_products(reading, deleted=True)
    return page(
        request, "lab/settings_products.html", status, products=found, trouble=trouble,
        typed=typed or {},
    )  # fmt: skip


def _presets(
    request: Request, open_lab: OpenLab, trouble: str = "", status: int = 200,
    typed: dict[str, tuple[str, list[str]]] | None = None,
) -> Response:  # fmt: skip
    with open_lab.lab.store.reading() as reading:
        found = list_presets(reading, deleted=True)
        known = list_products(reading, deleted=True)
    return page(
        request, "lab/settings_presets.html", status, presets=found, trouble=trouble,
        typed=typed or {}, products=[one for one in known if one.status == "active"],
        names={one.id: one.name for one in known},
    )  # fmt: skip


def _experience(
    request: Request, open_lab: OpenLab, trouble: str = "", status: int = 200,
    typed: dict[str, str] | None = None,
) -> Response:  # fmt: skip
    with open_lab.lab.store.reading() as reading:
        templates = {role: list_templates(reading, role) for role in ROLES}
    return page(
        request, "lab/settings_experience.html", status, trouble=trouble, typed=typed or {},
        templates=templates, saved=_saved(open_lab), settings=open_lab.lab.settings.experience,
    )  # fmt: skip


def _plain(
    request: Request, open_lab: OpenLab, part: str, trouble: str = "", status: int = 200
) -> Response:
    return page(
        request, f"lab/settings_{part}.html", status, trouble=trouble, saved=_saved(open_lab),
        settings=getattr(open_lab.lab.settings, part),
    )  # fmt: skip


@dataclass(frozen=True)
class TypedRule:
    """One rule as it was typed; several values stand between commas."""

    tell: str = ""
    field: str = ""
    any_of: str = ""
    none_of: str = ""
    matches: str = ""

    def values(self) -> dict[str, Any]:
        """Return the rule's values, without what is empty."""
        said: dict[str, Any] = {
            "tell": self.tell.strip(),
            "field": self.field,
            "any_of": _between_commas(self.any_of),
            "none_of": _between_commas(self.none_of),
            "matches": self.matches.strip(),
        }
        return {key: value for key, value in said.items() if value}


def _between_commas(text: str) -> list[str]:
    return [part.strip() for part in text.replace("，", ",").split(",") if part.strip()]


def _typed_rules(form: FormData) -> list[TypedRule]:
    parts = [texts_of(form, f"rule-{name}") for name in TypedRule.__dataclass_fields__]
    typed = [TypedRule(*values) for values in zip(*parts, strict=False)]
    return [rule for rule in typed if rule.values()]


def _rules(
    request: Request, open_lab: OpenLab, trouble: str = "", status: int = 200,
    typed: list[TypedRule] | None = None,
) -> Response:  # fmt: skip
    if typed is None:
        typed = [
            TypedRule(
                rule.tell, rule.field or "", ", ".join(rule.any_of), ", ".join(rule.none_of),
                rule.matches or "",
            )
            for rule in open_lab.lab.settings.recipes.rules
        ]  # fmt: skip
    saved = _saved(open_lab)
    return page(
        request, "lab/settings_recipes.html", status, trouble=trouble, saved=saved,
        rules=[*typed, TypedRule()], fields=FIELDS, is_saved="recipes.rules" in saved.values,
        fixed=show_rules(()),
    )  # fmt: skip
