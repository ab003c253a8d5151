from pathlib import Path

import pytest

from rag_assets.model import ConfigurationError, UsageError, WorkspaceError
from rag_assets.workspace import Workspace
from rag_assets_tests.laws.driver import make_workspace


def configure(workspace: Workspace, text: str | bytes) -> Path:
    path = workspace.namespace_file("lib")
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_namespace_wins_over_workspace_over_defaults(workspace: Workspace) -> None:
    (workspace.root / "config.yaml").write_text("retrieve: {top_k: 7, pool_k: 40}\n")
    configure(workspace, "retrieve: {top_k: 5}\n")
    retrieve = workspace.namespace("lib").settings.retrieve
    assert (retrieve.top_k, retrieve.pool_k, retrieve.rrf_k) == (5, 40, 60)


def test_places_of_a_namespace_replace_the_default_ones(workspace: Workspace) -> None:
    configure(workspace, 'places: {"": {source_type: statute, citable: true}}\n')
    assert list(workspace.namespace("lib").settings.places) == [""]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("chnk: {target_tokens: 9}\n", ["unknown key 'chnk'", "did you mean 'chunk'", "embed"]),
        ("chunk: {target_token: 9}\n", ["'chunk.target_token'", "did you mean 'target_tokens'"]),
        ("retrieve: {top_k: 0}\n", ["'retrieve.top_k'", "greater than or equal to 1", "got 0"]),
        ("retrieve: {top_k: many}\n", ["'retrieve.top_k'", "got 'many'"]),
        ("verify: {threshold: .nan}\n", ["'verify.threshold'"]),
        (
            'places: {"": {source_type: evidenz, citable: true}}\n',
            ["source_type'", "did you mean 'evidence'?", "instruction, unsorted", "got 'evidenz'"],
        ),
        ("verify: {scorer: nli}\n", ["'verify.scorer: nli' was removed", "verify.scorer: llm"]),
        ("verify: {scorer: coverage}\n", ["'verify.scorer: coverage'", "verify.scorer: facts"]),
        ("verify: {nli: {model: a}}\n", ["'verify.nli' was removed", "verify.scorer: llm"]),
        (
            "retrieve: {section_gain: 0.3}\n",
            ["'retrieve.section_gain' was removed", "Leave it out"],
        ),
        (
            "retrieve: {fusion: {score_mode: rank}}\n",
            ["'retrieve.fusion.score_mode' was removed", "rrf"],
        ),
        ("retrieve: {graph: mix}\n", ["'retrieve.graph' was removed", "Leave it out"]),
        ("hex_digits: 4\n", ["'hex_digits'", "got 4"]),
        ("chunk: {min_tokens: 250}\n", ["'chunk'", "min_tokens <= target_tokens <= max_tokens"]),
        ("verify: {weak_threshold: 0.9}\n", ["'verify.weak_threshold' was removed", "one value"]),
        ("publish: {keep_hours: 0}\n", ["'publish' was removed", "Leave it out"]),
        ("retrieve: {rewrite: false}\n", ["'retrieve.rewrite' was removed", "llm.roles"]),
        ("[1, 2]\n", ["expected `key: value` lines", "list"]),
        ("raw: [raw\n", ["line 2", "not valid YAML"]),
        ("raw: [raw]\nraw: [b]\n", ["line 2", "'raw' occurs twice"]),
        ("chunk:\n  overlap: 0.0\n  overlap: 0.1\n", ["line 3", "'overlap' occurs twice"]),
        ("{[1]: 2}\n", ["a mapping or list is used as a key"]),
        ("raw: [!!python/object/apply:os.getcwd []]\n", ["not valid YAML"]),
        (b"raw: [\xff]\n", ["not UTF-8", "byte 6"]),
        ("embed: {kind: bundled}\n", ["'embed.kind' stands without 'model'", "embed.models"]),
        ("embed: {model: bge}\n", ["'embed.model' stands without 'kind'"]),
        ("embed: {kid: hashing}\n", ["'embed.kid'", "did you mean 'kind'"]),
        ("embed: {kind: hash, model: a}\n", ["'embed.models.0.kind'", "'hashing'", "got 'hash'"]),
        ("embed: {models: []}\n", ["'embed.models'", "at least 1 item"]),
        ("embed: {kind: sparse_encoder, model: a}\n", ["'embed.models'", "a dense model before"]),
        ("embed: {models: [{kind: hashing}], kind: hashing}\n", ["both 'models' and 'kind'"]),
        ("embed: {models: [{kind: hashing, modl: a}]}\n", ["'embed.models.0.modl'", "'model'"]),
        (
            "embed: {models: [{kind: hashing}, {kind: hashing, dimension: 8}]}\n",
            ["'embed.models'", "a different name", "got 'hashing'"],
        ),
        (
            "places: {evidence: {source_typ: evidence, citable: true}}\n",
            ["'places.evidence.source_typ'", "did you mean 'source_type'"],
        ),
        (
            "places: {evidence: {source_type: evidence}}\n",
            ["'places.evidence.citable' is missing", "set are: source_type"],
        ),
        ("places: {evidence: evidence}\n", ["'places.evidence'", "`key: value` lines"]),
        ("raw: [papers, /elsewhere/papers]\n", ["'papers'", "differ"]),
    ],
)
def test_wrong_configuration_names_file_key_and_mend(
    tmp_path: Path, text: str | bytes, words: list[str]
) -> None:
    workspace = make_workspace(tmp_path)
    path = configure(workspace, text)
    with pytest.raises(ConfigurationError) as caught:
        workspace.namespace("lib")
    message = str(caught.value)
    assert str(path) in message
    for word in words:
        assert word in message


def test_wrong_value_is_blamed_on_the_file_that_holds_it(workspace: Workspace) -> None:
    config = workspace.root / "config.yaml"
    config.write_text("retrieve: {top_k: 0}\n")
    configure(workspace, "chunk: {overlap: 0.1}\n")
    with pytest.raises(ConfigurationError) as caught:
        workspace.namespace("lib")
    assert str(caught.value).startswith(f"{config}: 'retrieve.top_k'")


def test_wrong_value_is_blamed_on_its_file_though_another_sets_its_neighbour(
    workspace: Workspace,
) -> None:
    config = workspace.root / "config.yaml"
    config.write_text("retrieve: {top_k: 0}\n")
    configure(workspace, "retrieve: {pool_k: 40}\n")
    with pytest.raises(ConfigurationError) as caught:
        workspace.namespace("lib")
    assert str(caught.value).startswith(f"{config}: 'retrieve.top_k'")


@pytest.mark.parametrize("name", ["law.yml", "law.YAML"])
def test_namespace_file_with_another_suffix_is_refused_with_its_right_name(
    workspace: Workspace, name: str
) -> None:
    (workspace.root / "namespaces" / name).write_text("raw: [raw]\n")
    with pytest.raises(ConfigurationError, match=rf"{name}.*Rename it to law\.yaml"):
        workspace.namespaces()
    assert workspace.namespace("lib").name == "lib"


def test_two_files_of_one_namespace_are_refused(workspace: Workspace) -> None:
    workspace.namespace_file("lib").with_suffix(".yml").write_text("raw: [raw]\n")
    with pytest.raises(ConfigurationError, match=r"lib\.yml.*Keep one of the two, as lib\.yaml"):
        workspace.namespace("lib")


def test_empty_file_is_no_settings(workspace: Workspace) -> None:
    configure(workspace, "\ufeff# nothing\n")
    assert workspace.namespace("lib").settings.raw == ["raw"]


def test_unknown_namespace_names_those_that_exist(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"'other'.*known: lib.*rag namespace add other"):
        workspace.namespace("other")


@pytest.mark.parametrize("name", ["Thesis", "1st", "a-b", "evidence_packs", "论文", "a" * 41])
def test_name_that_cannot_be_a_namespace_is_refused(workspace: Workspace, name: str) -> None:
    workspace.namespace_file(name).write_text("{}\n")
    with pytest.raises(ConfigurationError, match="cannot be a namespace"):
        workspace.namespace(name)


def test_folder_that_is_no_workspace_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="rag init"):
        Workspace.open(tmp_path / "nowhere")


def models_of(workspace: Workspace) -> list[tuple[str, str]]:
    models = workspace.namespace("lib").settings.embed.models
    return [(model.kind, model.model) for model in models]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("embed: {kind: hashing}\n", [("hashing", "hashing")]),
        ("embed: {kind: hashing, model: words}\n", [("hashing", "words")]),
        ("embed: {kind: sentence_transformers, model: a/b}\n", [("sentence_transformers", "a/b")]),
        (
            "embed: {models: [{kind: bundled, model: a}, {kind: hashing}]}\n",
            [("bundled", "a"), ("hashing", "hashing")],
        ),
        (
            "{}\n",
            [
                ("bundled", "all-MiniLM-L6-v2"),
                ("bundled", "bge-small-en"),
                ("bundled", "multilingual-e5-small"),
            ],
        ),
    ],
)
def test_single_model_and_list_of_models_are_the_same_setting(
    workspace: Workspace, text: str, expected: list[tuple[str, str]]
) -> None:
    (workspace.root / "config.yaml").write_text("{}\n")
    configure(workspace, text)
    assert models_of(workspace) == expected


def test_single_model_of_a_namespace_replaces_the_models_below_it(workspace: Workspace) -> None:
    config = workspace.root / "config.yaml"
    config.write_text("embed: {models: [{kind: bundled, model: a}, {kind: bundled, model: b}]}\n")
    configure(workspace, "embed: {kind: hashing, dimension: 64}\n")
    assert models_of(workspace) == [("hashing", "hashing")]
    assert workspace.namespace("lib").settings.embed.models[0].dimension == 64
    configure(workspace, "chunk: {overlap: 0.1}\n")
    assert models_of(workspace) == [("bundled", "a"), ("bundled", "b")]
