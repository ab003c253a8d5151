"""`rag manifest`, `build-bm25`, `briefs`, `health`: what a workspace says of itself, in files."""

import dataclasses

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.options import (
    json_option,
    namespace_option,
    open_namespaces,
    open_workspace,
    print_json,
)
from rag_assets.model import count_of


@click.command(
    "build-bm25",
    help="Say what the text index (BM25) of each namespace holds. There is nothing to build: "
    "every publication has one. Exit code 1 when an index lacks rows.",
)
@namespace_option
@json_option
def build_bm25(names: tuple[str, ...], as_json: bool) -> None:
    """Print the text indexes of the current publications."""
    from rag_assets.publishing import describe_text_indexes

    found = [each for name in open_namespaces(names) for each in describe_text_indexes(name)]
    lacking = [index for index in found if index.unindexed_rows]
    if as_json:
        print_json([dataclasses.asdict(index) for index in found])
    else:
        for index in found:
            what = "headings" if index.column == "search_heading" else "headings and text"
            click.echo(f"{index.namespace}: {what}: {count_of(index.rows, 'chunk')}, "
                       f"{count_of(index.words, 'word')}, {index.unindexed_rows} not indexed, "
                       f"{index.size_bytes / 1e6:.1f} MB")  # fmt: skip
            rules = ", ".join((f"words cut by {index.tokenizer}", *index.rules))
            click.echo(f"    publication {index.publication}; {rules}")
        for index in lacking:
            click.echo(f"mend: rag index --namespace {index.namespace}", err=True)
        if not lacking:
            click.echo("Nothing to build: the text index is made with each publication.")
    click.get_current_context().exit(FAILED if lacking else DONE)


@click.command(
    help="Write meta/instruction_brief.md and meta/style_brief.md from raw/instruction/: what is "
    "asked for, word for word with its place, and how the exemplars are written. Never evidence."
)
@json_option
def briefs(as_json: bool) -> None:
    """Write both briefs and say where they lie."""
    from rag_assets.briefing import write_briefs

    made = write_briefs(open_workspace())
    for sentence in made.amiss:
        click.echo(f"warning: {sentence}", err=True)
    if as_json:
        print_json(dataclasses.asdict(made))
        return
    click.echo(f"{made.instruction}: {count_of(made.demands, 'sentence')} from "
               f"{count_of(made.texts, 'text')}")  # fmt: skip
    click.echo(f"{made.style}: {count_of(made.exemplars, 'exemplar')} measured")


@click.command(
    help="Write and print meta/health_report.md: documents that failed, what is stale, conflicts, "
    "citations and strong assertions that are not supported, settings changed without a decision, "
    "disk, versions. Exit code 1 when there is something to look at."
)
@json_option
def health(as_json: bool) -> None:
    """Write the report and print it."""
    from rag_assets.embedding import model_fingerprints
    from rag_assets.tracing import write_health_report

    found = write_health_report(
        open_workspace(), lambda namespace: model_fingerprints(namespace.settings.embed)
    )
    if as_json:
        print_json({"file": str(found.path), "todo": list(found.todo)})
    else:
        click.echo(found.text)
        click.echo(f"saved: {found.path}", err=True)
    click.get_current_context().exit(FAILED if found.todo else DONE)


@click.command(
    help="Say what a publication was made from, by whom and how: inputs with their hashes, "
    "models, configuration, runs, counts and digests. BUILD is a publication or a build id; "
    "without it those that readers see now. Written to meta/builds/BUILD/ where it is not there."
)
@click.argument("build", required=False)
@namespace_option
@json_option
def manifest(build: str | None, names: tuple[str, ...], as_json: bool) -> None:
    """Print the build manifests, writing those that are missing."""
    from rag_assets.tracing import find_builds, write_build_manifest

    workspace = open_workspace()
    chosen = find_builds(workspace, names or workspace.namespace_names, build)
    made = [write_build_manifest(namespace, name) for namespace, name in chosen]
    if as_json:
        print_json([each.content for each in made])
        return
    for each in made:
        content = each.content
        models = ", ".join(model["model"] for model in content["models"])
        click.echo(f"{each.build_id}")
        click.echo(f"  namespace {content['namespace']}, created {content['created_at']}, "
                   f"run {content['run_id'] or 'not recorded'}")  # fmt: skip
        click.echo(f"  {count_of(len(content['inputs']), 'document')}, "
                   f"{count_of(content['counts']['chunks'], 'chunk')}; "
                   f"models {models}")  # fmt: skip
        click.echo(f"  config_hash {content['config_hash']}")
        click.echo(f"  {each.path}")
    if not made:
        click.echo("nothing is published. Run `rag ingest` first.")
