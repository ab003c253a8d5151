"""`rag lab init|products|presets|settings|export`."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from rag_assets.cli.lab_options import by_option, now, opened_laboratory, seen_option, who
from rag_assets.cli.options import (
    OutputPath,
    json_option,
    open_workspace,
    print_json,
    write_output,
)
from rag_assets.model import UsageError, count_of


@click.command(
    "init",
    help="Give the workspace a laboratory: a section 'lab' in config.yaml, and its memory, "
    "meta/lab/lab.sqlite. One that is there is left as it is.",
)
def lab_init() -> None:
    """Make a laboratory."""
    from rag_assets.lab.laboratory import init_laboratory, lab_file

    workspace = open_workspace()
    is_new = init_laboratory(workspace)
    where = lab_file(workspace).relative_to(workspace.root)
    click.echo(f"{'made' if is_new else 'there is'} a laboratory: {where}")
    if is_new:
        click.echo("next: rag lab products add NAME")


@click.group("products", help="List, add, rename and delete products.")
def lab_products() -> None:
    """Group of the commands about products."""


@lab_products.command("list", help="List the products that feedback may name.")
@click.option("--deleted", is_flag=True, help="Also those that were deleted.")
@json_option
def list_all(deleted: bool, as_json: bool) -> None:
    """List products."""
    from rag_assets.lab.products import list_products

    lab = opened_laboratory()
    with lab.store.reading() as reading:
        found = list_products(reading, deleted=deleted)
    if as_json:
        print_json([asdict(one) for one in found])
    for one in () if as_json else found:
        click.echo(f"{one.name}{' (deleted)' if one.status == 'deleted' else ''}  {one.id}")


@lab_products.command("add", help="Add products by their names.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@by_option
def add(names: tuple[str, ...], by: str | None) -> None:
    """Add products."""
    from rag_assets.lab.products import add_product

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        added = [add_product(writing, name) for name in names]
    for one in added:
        click.echo(f"{one.name}  {one.id}")


@lab_products.command("rename", help="Give PRODUCT (a name or id) the name NAME.")
@click.argument("product")
@click.argument("name")
@seen_option
@by_option
def rename(product: str, name: str, seen: int | None, by: str | None) -> None:
    """Rename a product."""
    from rag_assets.lab.products import find_product, rename_product

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        renamed = rename_product(writing, find_product(writing, product).id, name, seen)
    click.echo(f"{renamed.name}  {renamed.id}")


@lab_products.command("delete", help="Take PRODUCT (a name or id) out of the lists; feedback that "
                      "names it keeps it.")  # fmt: skip
@click.argument("product")
@seen_option
@by_option
def delete(product: str, seen: int | None, by: str | None) -> None:
    """Delete a product."""
    from rag_assets.lab.products import delete_product, find_product

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        deleted = delete_product(writing, find_product(writing, product).id, seen)
    click.echo(f"deleted: {deleted.name}  {deleted.id}")


@lab_products.command("restore", help="Take the deleted product of ID back into the lists.")
@click.argument("product_id", metavar="ID")
@by_option
def restore(product_id: str, by: str | None) -> None:
    """Restore a product."""
    from rag_assets.lab.products import restore_product

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        restored = restore_product(writing, product_id)
    click.echo(f"{restored.name}  {restored.id}")


@click.group("presets", help="List, save and delete sets of products.")
def lab_presets() -> None:
    """Group of the commands about presets."""


@lab_presets.command("list", help="List the presets with their products.")
@json_option
def list_presets_(as_json: bool) -> None:
    """List presets."""
    from rag_assets.lab.products import list_presets, product_names

    lab = opened_laboratory()
    with lab.store.reading() as reading:
        found = list_presets(reading)
        names = [product_names(reading, one.product_ids) for one in found]
    if as_json:
        print_json([asdict(one) for one in found])
    for one, members in () if as_json else zip(found, names, strict=True):
        click.echo(f"{one.name}: {', '.join(members)}  {one.id}")


@lab_presets.command("save", help="Save the set of PRODUCTS (names or ids).")
@click.argument("products", nargs=-1, required=True)
@click.option("--name", help="What it is called; the names of the products without.")
@click.option("--change", metavar="PRESET", help="The preset (name or id) that it replaces.")
@seen_option
@by_option
def save(
    products: tuple[str, ...], name: str | None, change: str | None, seen: int | None,
    by: str | None,
) -> None:  # fmt: skip
    """Save a preset."""
    from rag_assets.lab.products import find_preset, find_product, save_preset

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        ids = [find_product(writing, one).id for one in products]
        old = find_preset(writing, change).id if change else None
        saved = save_preset(writing, ids, name, old, seen)
    click.echo(f"{saved.name}  {saved.id}")


@lab_presets.command("delete", help="Take PRESET (a name or id) out of the lists.")
@click.argument("preset")
@seen_option
@by_option
def delete_one(preset: str, seen: int | None, by: str | None) -> None:
    """Delete a preset."""
    from rag_assets.lab.products import delete_preset, find_preset

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        deleted = delete_preset(writing, find_preset(writing, preset).id, seen)
    click.echo(f"deleted: {deleted.name}  {deleted.id}")


@click.command(
    "export",
    help="Write everything that the laboratory remembers to FILE, a row as a line of JSON. "
    "`rag lab import` makes the laboratory again.",
)
@click.argument("target", metavar="FILE", type=OutputPath())
def lab_export(target: Path) -> None:
    """Export the rows."""
    lab = opened_laboratory()
    lines = list(lab.store.export())
    write_output(target, "".join(f"{line}\n" for line in lines).encode())
    click.echo(f"{count_of(len(lines), 'row')} in {target}")


@click.command(
    "settings",
    help="Show the settings that are changed at work, or save some: KEY=VALUE (YAML), over what "
    "config.yaml says. Each saving is a version, kept with who did it.",
)
@click.argument("changes", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--reset", "resets", multiple=True, metavar="KEY",
              help="Take KEY back to what config.yaml says; may be repeated.")  # fmt: skip
@click.option("--seen", type=click.IntRange(0), metavar="VERSION",
              help="The version that you looked at; 0 where nothing was saved yet.")  # fmt: skip
@by_option
@json_option
def lab_settings(
    changes: tuple[str, ...], resets: tuple[str, ...], seen: int | None, by: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Print or save settings."""
    from rag_assets.lab.laboratory import SAVABLE, read_lab_settings, save_lab_settings

    wanted = {**dict(map(_setting, changes)), **dict.fromkeys(resets)}
    lab = opened_laboratory()
    if wanted:
        saved = save_lab_settings(lab, wanted, at=now(), by=who(by), seen=seen)
    else:
        with lab.store.reading() as reading:
            saved = read_lab_settings(reading)
    in_force = lab.settings.model_dump(mode="json")
    shown = {key: in_force[key.partition(".")[0]][key.partition(".")[2]] for key in SAVABLE}
    if as_json:
        print_json({"in_force": shown, **asdict(saved)})
        return
    for key, value in shown.items():
        origin = f"saved, version {saved.version}" if key in saved.values else "config.yaml"
        click.echo(f"{key}: {value if isinstance(value, str) else _plain(value)}  ({origin})")
        click.echo(f"  {SAVABLE[key]}")


def _setting(given: str) -> tuple[str, object]:
    from rag_assets.workspace.bounded_yaml import parse_yaml

    key, sign, value = given.partition("=")
    if not sign:
        raise UsageError(f"a setting is saved as KEY=VALUE, got '{given}'.")
    return key.strip(), parse_yaml(value.encode(), f"the value of {key.strip()}")


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
