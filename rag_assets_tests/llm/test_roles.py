"""What one role has otherwise stands below `llm.roles`; a script may answer by turn."""

from pathlib import Path

import pytest
import yaml

from rag_assets.llm import ChatRequest, Message, ScriptedModel, open_chat_model
from rag_assets.model import ConfigurationError
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.llm.models import script_of


def workspace_with(root: Path, roles: object) -> Workspace:
    settings = {"llm": {"kind": "openai_compatible", "model": "big", "roles": roles}}
    return make_workspace(root / "workspace", {}, settings)


def test_a_role_has_its_own_model_over_what_holds_for_all(tmp_path: Path) -> None:
    own = {"kind": "scripted", "model": "", "script": "answers.yaml"}
    workspace = workspace_with(tmp_path, {"agent": {"temperature": 0.5}, "verify": own})
    (workspace.root / "answers.yaml").write_text(yaml.safe_dump({"model": "small"}))
    opened = {role: open_chat_model(workspace, role=role) for role in ("agent", "verify", "route")}
    names = {role: model.name for role, model in opened.items() if model is not None}
    assert names == {
        "agent": "openai_compatible:big",
        "verify": "scripted:small",
        "route": "openai_compatible:big",
    }
    described = {role: model.describe() for role, model in opened.items() if model is not None}
    assert (described["agent"]["temperature"], described["route"]["temperature"]) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("roles", "told"),
    [({"agnet": {}}, "agnet"), ({"agent": {"modle": "x"}}, "did you mean 'model'")],
)
def test_a_role_that_there_is_not_is_refused(tmp_path: Path, roles: object, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        _ = workspace_with(tmp_path, roles).settings


def test_a_script_answers_by_turn() -> None:
    model = ScriptedModel(
        script_of(
            {"turn": 2, "answer": "second"}, {"turn": 1, "answer": "first"}, otherwise="later"
        )
    )
    said: list[Message] = []
    for _ in range(3):
        said.append(Message("user", "?"))
        said.append(Message("assistant", model.complete(ChatRequest(tuple(said))).text))
    assert [one.content for one in said if one.role == "assistant"] == ["first", "second", "later"]
