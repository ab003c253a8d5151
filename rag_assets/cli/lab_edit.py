"""`rag lab edit`: products, presets, settings, experience and templates as one YAML text."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from rag_assets.cli.options import (
    by_option,
    json_option,
    now,
    opened_laboratory,
    print_json,
    reason_option,
    who,
)
from rag_assets.lab.experience import Role
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    from rag_assets.lab.laboratory import Laboratory
    from rag_assets.lab.store import Writing

# Fields of an item that are edited as they are.
_FIELDS = ("role", "kind", "title", "description", "content", "extra")


class _Wanted(BaseModel):
    """What a file asks for; None is a section that stays as it is."""

    model_config = ConfigDict(extra="forbid", strict=True)

    products: list[str] | None = None
    presets: dict[str, list[str]] | None = None
    settings: dict[str, Any] = {}
    templates: dict[Role, str] = {}
    experience: list[dict[str, Any]] = []


@click.command(
    "edit",
    help="Print products, presets, settings, templates and experience as YAML, or apply FILE (- "
    "for standard input). Missing sections stay. Products and presets that are not listed are "
    "deleted; a null setting returns to config.yaml. Items of experience are matched by `id`: "
    "without an id they are new, with `status: archived` they are archived, unlisted ones "
    "stay. If an item has changed since its `version`, nothing is done.",
)
@click.argument("source", metavar="[FILE]", required=False, type=click.Path(
    exists=True, dir_okay=False, allow_dash=True))  # fmt: skip
@reason_option
@by_option
@json_option
def lab_edit(source: str | None, reason: str, by: str | None, as_json: bool) -> None:
    """Print or change what people keep in a laboratory."""
    lab = opened_laboratory()
    done: list[str] = []
    if source is not None:
        from rag_assets.workspace.bounded_yaml import parse_yaml

        with click.open_file(source, "rb") as stream:
            values = parse_yaml(stream.read(), source)
        try:
            wanted = _Wanted.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise UsageError(
                f"{source}: '{key}': {first['msg']}. `rag lab edit` prints the form: "
                f"{', '.join(_Wanted.model_fields)}."
            ) from error
        done = _apply(lab, wanted, reason, who(by))
    if as_json:
        print_json({**_state(lab), "changed": done})
    elif source is None:
        click.echo(
            yaml.safe_dump(_state(lab), allow_unicode=True, sort_keys=False, width=100), nl=False
        )
    else:
        click.echo("\n".join(done) or "nothing is new: nothing was written")


def _state(lab: "Laboratory") -> dict[str, Any]:
    """Return what can be edited, as it is now."""
    from rag_assets.lab.experience import CITATION, ROLES, list_items, read_template
    from rag_assets.lab.laboratory import SAVABLE
    from rag_assets.lab.products import list_presets, list_products, product_names

    in_force = lab.settings.model_dump(mode="json")
    with lab.store.reading() as reading:
        return {
            "products": [one.name for one in list_products(reading)],
            "presets": {
                one.name: product_names(reading, one.product_ids) for one in list_presets(reading)
            },
            "settings": {
                key: in_force[key.partition(".")[0]][key.partition(".")[2]] for key in SAVABLE
            },
            "templates": {role: read_template(reading, role).text for role in ROLES},
            "experience": [
                {
                    "id": f"{CITATION}{one.id}", "version": one.version, "status": one.status,
                    **{key: _plain(getattr(one, key)) for key in _FIELDS},
                }
                for one in list_items(reading)
                if not one.rolled_back
            ],
        }  # fmt: skip


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _apply(lab: "Laboratory", wanted: _Wanted, reason: str, by: str) -> list[str]:
    """Make the laboratory as a file says, and return what was done; a refusal changes nothing."""
    from rag_assets.lab.experience import read_template, save_template
    from rag_assets.lab.laboratory import SavedSettings, save_lab_settings, settings_in_force
    from rag_assets.lab.products import (
        add_product,
        delete_preset,
        delete_product,
        find_product,
        list_presets,
        list_products,
        save_preset,
    )

    done: list[str] = []
    settings = wanted.settings
    # Looked at before anything is written.
    chosen = {key: value for key, value in settings.items() if value is not None}
    settings_in_force(lab.written, SavedSettings(chosen, 0))
    with lab.store.writing(now(), by) as writing:
        if wanted.products is not None:
            names = wanted.products
            there = {one.name.casefold(): one for one in list_products(writing)}
            kept = {name.strip().casefold() for name in names}
            new = [name for name in names if name.strip().casefold() not in there]
            gone = [one.id for key, one in there.items() if key not in kept]
            done += [f"product {add_product(writing, name).name} added" for name in new]
            done += [f"product {delete_product(writing, one).name} deleted" for one in gone]
        if wanted.presets is not None:
            presets = {one.name: one for one in list_presets(writing)}
            for name, members in wanted.presets.items():
                ids = [find_product(writing, member).id for member in members]
                old = presets.pop(name, None)
                if old is None or list(old.product_ids) != ids:
                    save_preset(writing, ids, name, old.id if old else None)
                    done.append(f"preset {name} saved")
            for old in presets.values():
                delete_preset(writing, old.id)
                done.append(f"preset {old.name} deleted")
        for role, text in wanted.templates.items():
            before = read_template(writing, role)
            if text != before.text:
                saved = save_template(writing, role, text)
                done.append(f"template of {role} is at version {saved.version}")
        for values in wanted.experience:
            done += _edit_item(writing, values, reason)
    if settings:
        in_force = _state(lab)["settings"]
        changes = {k: v for k, v in settings.items() if in_force.get(k, ...) != v}
        if changes:
            save_lab_settings(lab, changes, at=now(), by=by)
            done.append(f"{count_of(len(changes), 'setting')} saved: {', '.join(changes)}")
    return done


def _edit_item(writing: "Writing", values: Mapping[str, Any], reason: str) -> list[str]:
    from rag_assets.lab.experience import (
        CITATION,
        add_note,
        archive_item,
        edit_item,
        find_item,
        restore_item,
    )

    given = dict(values)
    named, seen = given.pop("id", None), given.pop("version", None)
    status = given.pop("status", "active")
    if status not in {"active", "archived"}:
        raise UsageError(f"'status' of an item is active or archived, got {status!r}.")
    if named is None:
        return [f"{CITATION}{add_note(writing, given, reason).id} added"]
    item = find_item(writing, named)
    if (status, given) == (item.status, {key: _plain(getattr(item, key)) for key in given}):
        return []
    if status == "active" and not item.is_active:
        item = restore_item(writing, named, seen, reason)
        seen = item.version
    edited = edit_item(writing, named, given, seen, reason)
    if status == "archived" and item.is_active:
        edited = archive_item(writing, named, edited.version, reason)
    return [f"{CITATION}{edited.id} is {edited.status}, at version {edited.version}"]
