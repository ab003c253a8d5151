"""Answers of a workspace: stored once, made again from their record, asked by `rag ask`."""

import json
import re
import shutil
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from rag_assets.answering import ask_papers, replay_stored
from rag_assets.cli.main import build_cli
from rag_assets.model import ConfigurationError, DamagedFileError, RecordingError, UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.agents.toys import act
from rag_assets_tests.libraries import HASHING
from rag_assets_tests.llm.models import script_of
from rag_assets_tests.llm.server import serve_script

TEXT = "How much cooler are green roofs than bitumen?"
TRUE = "The response rate was 58%"
SCRIPT: dict[str, Any] = {
    "model": "writer",
    "answers": [
        {"turn": 1, **act("search_by_section", query=TRUE, k=1)},
        {"turn": 2, **act("finish", answer=f"{TRUE} [C1]. Nobody slept [C1].", sources=["C1"])},
    ],
}


def configured(workspace: Workspace, **settings: Any) -> Workspace:
    """Return the workspace with other settings."""
    text = yaml.safe_dump({**HASHING, **settings})
    (workspace.root / "config.yaml").write_text(text, encoding="utf-8")
    return Workspace.open(workspace.root)


def run_rag(*arguments: object) -> Result:
    """Run `rag` in this process."""
    return CliRunner().invoke(build_cli(), [str(argument) for argument in arguments])


def test_the_same_answer_is_stored_once_and_made_again_without_the_workspace(
    own: Workspace,
) -> None:
    first = ask_papers(own, TEXT, clock=lambda: 0.0)
    assert (first.is_new, first.json.name) == (True, "answer_v001.json")
    again = ask_papers(own, TEXT, clock=lambda: 99.0)
    assert (again.is_new, again.json) == (False, first.json)
    shutil.rmtree(own.root / "index")
    shutil.rmtree(own.root / "data")
    assert replay_stored(first.markdown).is_same


def test_an_answer_that_was_edited_is_told_by_field_and_line(own: Workspace) -> None:
    made = ask_papers(own, TEXT, clock=lambda: 0.0)
    data = json.loads(made.json.read_text(encoding="utf-8"))
    data["match"]["likelihood"] = 1.0
    made.json.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = made.markdown.read_text(encoding="utf-8").replace("16.7", "61.7", 1)
    made.markdown.write_text(page, encoding="utf-8")
    found = replay_stored(made.json)
    assert any("match.likelihood" in one for one in found.differences)
    assert any("answer_v001.md differs: line" in one for one in found.differences)
    made.markdown.unlink()
    assert "answer_v001.md is missing" in replay_stored(made.json).differences
    with pytest.raises(UsageError, match="there is no answer"):
        replay_stored(own.outputs / "answer_v009.md")


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        (("statements", 0, "text"), "Green roofs are hot.", "no verdict on"),
        (("statements", 0, "quote", "text"), "Green roofs are hot.", "quote of statement 1"),
        (("statements", 0, "reason_code"), "unread", "kept though it is not supported"),
        (("trace", "passages", "C1", "text"), "Green roofs are hot.", "has not its hash"),
        (("trace", "steps", 0, "arguments", "query"), "hot", "otherwise than it did"),
        (("trace", "steps", 0, "colour"), "red", r"answer was changed: 'trace\.steps\.0\.colour'"),
        (("schema",), "rag-assets/answer/0", "another version of rag-assets made it"),
    ],
)
def test_words_that_were_edited_are_told(
    own: Workspace, part: tuple[Any, ...], value: str, told: str
) -> None:
    made = ask_papers(own, TEXT, clock=lambda: 0.0)
    data = json.loads(made.json.read_text(encoding="utf-8"))
    place = data
    for key in part[:-1]:
        place = place[key]
    place[part[-1]] = value
    made.json.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises((DamagedFileError, RecordingError), match=told):
        replay_stored(made.json)


@pytest.mark.parametrize("scorer", ["auto", "similarity"])
def test_a_scripted_model_of_the_settings_answers_and_a_lie_is_struck_out(
    own: Workspace, scorer: str
) -> None:
    roles = {"agent": {"kind": "scripted", "script": "writer.yaml"}}
    workspace = configured(own, llm={"roles": roles}, verify={"scorer": scorer})
    (workspace.root / "writer.yaml").write_text(yaml.safe_dump(SCRIPT), encoding="utf-8")
    made = ask_papers(workspace, TEXT, clock=lambda: 0.0)
    assert [one.text for one in made.answer.statements] == [f"{TRUE}."]
    assert [one.text for one in made.answer.unsupported] == ["Nobody slept."]
    assert made.answer.trace.policy["name"] == "scripted:writer"
    assert made.answer.reader.name == "facts"
    assert len(list((workspace.meta / "llm").rglob("*.json"))) == 2
    assert replay_stored(made.json).is_same


READ: dict[str, Any] = {
    "model": "reader",
    "answers": [
        {"system": "check citations", "when": "STATEMENT: Nobody slept",
         "data": {"parts": [{"verdict": "not_stated", "sentences": []}]}},
    ],
    "otherwise": json.dumps({"parts": [{"verdict": "supported", "sentences": [1]}]}),
}  # fmt: skip
SAID = {
    "The rate of response was 58%": True,
    "Nobody slept": False,
    # The reader believes it; the program sees the number.
    "The rate of response was 85%": False,
}


def test_a_model_of_its_own_reads_what_was_written(own: Workspace) -> None:
    said = " ".join(f"{text} [C1]." for text in SAID)
    written = [SCRIPT["answers"][0], {"turn": 2, **act("finish", answer=said, sources=["C9"])}]
    roles = {
        "agent": {"kind": "scripted", "script": "writer.yaml"},
        "verify": {"kind": "scripted", "script": "reader.yaml"},
    }
    workspace = configured(own, llm={"roles": roles})
    for name, script in (("writer", {**SCRIPT, "answers": written}), ("reader", READ)):
        (workspace.root / f"{name}.yaml").write_text(yaml.safe_dump(script), encoding="utf-8")
    made = ask_papers(workspace, TEXT, clock=lambda: 0.0)
    kept = [one.text.rstrip(".") for one in made.answer.statements]
    assert kept == [text for text, is_true in SAID.items() if is_true]
    assert {one.reason_code for one in made.answer.unsupported} == {"not_found", "facts_differ"}
    assert made.answer.reader.name == "scripted:reader"
    assert made.answer.notices == ("The answer names sources that were not found: C9.",)
    assert replay_stored(made.json).is_same
    one_model = configured(own, llm={"kind": "scripted", "script": "both.yaml"})
    both = {
        "model": "both",
        "answers": [*written, *READ["answers"]],
        "otherwise": READ["otherwise"],
    }
    both["answers"] = [READ["answers"][0], *({**one, "system": "retrieval"} for one in written)]
    (workspace.root / "both.yaml").write_text(yaml.safe_dump(both), encoding="utf-8")
    alone = ask_papers(one_model, TEXT, clock=lambda: 0.0)
    assert [one.text for one in alone.answer.statements] == [
        one.text for one in made.answer.statements
    ]
    assert any("by the model that wrote them" in one for one in alone.answer.notices)


def test_by_a_setting_one_search_is_all(own: Workspace) -> None:
    workspace = configured(own, enable_agentic_rag=False)
    trace = ask_papers(workspace, TEXT, clock=lambda: 0.0).answer.trace
    assert [step.action for step in trace.steps] == ["search_by_section", "finish"]


def test_a_model_that_is_not_there_is_an_error_that_tells_what_to_do(own: Workspace) -> None:
    with pytest.raises(ConfigurationError, match=r"llm\.roles\.agent"):
        ask_papers(own, TEXT, clock=lambda: 0.0, policy="model")


@pytest.mark.parametrize("mode", ["agent", "single"])
def test_a_document_that_is_not_there_is_an_error_and_no_answer(own: Workspace, mode: Any) -> None:
    with pytest.raises(UsageError, match=r"holds a document 'nobody-1999'"):
        ask_papers(own, TEXT, clock=lambda: 0.0, doc_id="nobody-1999", mode=mode)
    assert not list(own.outputs.glob("answer_*"))


def test_a_document_that_must_not_be_cited_is_an_error_and_no_answer(own: Workspace) -> None:
    with pytest.raises(UsageError, match=r"`rubric` must not be cited"):
        ask_papers(own, TEXT, clock=lambda: 0.0, doc_id="rubric")


def test_a_program_asks_as_the_command_does(own: Workspace) -> None:
    import rag_assets

    outcome = rag_assets.ask(own, TEXT, doc_id="green-roofs-2024", mode="single")
    assert outcome.answer.mode == "single"
    assert {one.doc_uid for one in outcome.answer.trace.passages.values()} == {"green-roofs-2024"}
    asked = run_rag(
        "--workspace", own.root, "ask", TEXT, "--doc", "green-roofs-2024", "--no-agent", "--json"
    )
    assert json.loads(asked.stdout) == json.loads(outcome.json.read_text(encoding="utf-8"))


def test_the_command_prints_quotes_and_replays_them(own: Workspace) -> None:
    at = ("--workspace", own.root)
    ran = run_rag(*at, "ask", TEXT)
    assert ran.exit_code == 0, ran.output
    first, _, rest = ran.stdout.partition("\n\n")
    assert re.search(r"\[\S+2024\S*, p. 1\]$", " ".join(first.split()))
    assert re.search(r"Sources\n   \S+2024\S*: Green roofs", rest)
    assert "no language model wrote this" in rest
    nothing = run_rag(*at, "ask", "What is the capital of France?")
    assert nothing.exit_code == 1
    assert nothing.stdout.startswith("No answer found in this library.\n\nNearest passages\n")
    again = run_rag(*at, "replay", own.outputs / "answer_v001.md")
    assert (again.exit_code, "the same, byte for byte" in again.stdout) == (0, True)
    data = json.loads(run_rag(*at, "ask", TEXT, "--json", "--no-agent").stdout)
    assert (data["schema"], data["mode"]) == ("rag-assets/answer/1", "single")
    page = run_rag(*at, "ask", TEXT, "--full", "--doc", "green-roofs-2024", "--policy", "rules")
    assert "## How it was found" in page.stdout
    assert "SPECIFIC_PAPER" in page.stdout
    wrong = run_rag(*at, "ask", TEXT, "--policy", "model")
    assert (wrong.exit_code, "llm.roles.agent" in wrong.output) == (2, True)


def test_a_draft_is_told_before_it_is_checked_and_a_dead_service_leaves_it_to_rules(
    own: Workspace,
) -> None:
    said = {"turn": 2, **act("finish", answer=f"{TRUE} [C1]. Nobody slept [C1].", sources=["C1"])}
    script = script_of(
        {"system": "retrieval", **SCRIPT["answers"][0]}, {"system": "retrieval", **said},
        otherwise="no route",
    )  # fmt: skip
    told: list[str] = []
    with serve_script(script) as server:
        llm = {"kind": "openai_compatible", "model": "demo", "base_url": server.base_url}
        workspace = configured(own, llm=llm, verify={"scorer": "facts"})
        made = ask_papers(workspace, TEXT, watch=told.append)
    drafts = [one for one in told if one.startswith("Draft, not checked yet: ")]
    assert drafts == [f"Draft, not checked yet: {TRUE}."]
    assert [one.text for one in made.answer.statements] == [f"{TRUE}."]
    slow = configured(own, llm={**llm, "base_url": "http://127.0.0.1:9/v1"}, answer={"seconds": 3})
    left = ask_papers(slow, TEXT).answer
    assert left.is_found
    assert any("could not be used" in one for one in left.notices)
    local = configured(own, llm={"kind": "local"}, verify={"scorer": "facts"})
    assert any("longer than two minutes" in one for one in ask_papers(local, TEXT).answer.notices)
