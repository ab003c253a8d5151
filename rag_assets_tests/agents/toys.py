"""A toy task for agents: a shelf of passages and two tools over it."""

from typing import Annotated, Any

from pydantic import Field

from rag_assets.answering.agents import (
    AgentJob,
    AgentState,
    ContextTool,
    Found,
    FoundLine,
    Limits,
    LiveWorld,
    ModelPolicy,
    Passage,
    Policy,
    Toolset,
    Trace,
    run_agent,
    show_marks,
)
from rag_assets.llm import Budget, ChatModel, Prompt
from rag_assets.model import UsageError, hash_text

SHELF = {
    "roofs": "Sedum roofs were 16.7 degrees cooler than bitumen. Rain changed nothing about that.",
    "trees": "Streets with trees were 1.8 degrees cooler in the afternoon.",
}
PROMPT = Prompt("toy", "You look into a shelf.", hash_text("You look into a shelf."))
LIMITS = Limits(steps=5, calls=12, repairs=2)


def passage(name: str, text: str | None = None) -> Passage:
    said = SHELF[name] if text is None else text
    return Passage(
        namespace="thesis", doc_uid=name, chunk_id=f"{name}:0",
        citation_id=f"kb:thesis__chunk-{name}", content_hash=hash_text(said), title=name.title(),
        section_path=(), section_category=None, page_start=1, page_end=1, char_start=0,
        char_end=len(said), text=said, score=1.0,
    )  # fmt: skip


def look(
    shelf: dict[str, str],
    word: Annotated[str, Field(description="A word.")],
    k: Annotated[int, Field(ge=1, description="At most.")] = 1,
) -> Found:
    """Find passages that hold a word."""
    if word == "forbidden":
        raise UsageError("that word may not be looked for; take another.")
    names = [name for name, text in shelf.items() if word in text][:k]
    return Found(tuple(FoundLine(f"[{name}:0]", passage(name)) for name in names))


def finish(
    shelf: dict[str, str],
    answer: Annotated[str, Field(description="Sentences with marks.")],
    sources: Annotated[list[str], Field(description="Marks.")],
) -> dict[str, Any]:
    """End with an answer."""
    return {"answer": answer, "sources": sources}


TOOLS: Toolset[dict[str, str]] = Toolset({"look": ContextTool(look)}, ContextTool(finish))


def quote_all(state: AgentState) -> dict[str, Any]:
    said = [f"{one.text} {show_marks([alias])}" for alias, one in state.passages.items()]
    return {"answer": " ".join(said), "sources": list(state.passages)}


def job(policy: Policy, limits: Limits = LIMITS, fallback: Policy | None = None) -> AgentJob:
    return AgentJob(
        "How cool are roofs?", "", TOOLS, policy, limits, quote_all, "rules:all", fallback
    )


def policy_of(model: ChatModel) -> ModelPolicy:
    return ModelPolicy.of(model, PROMPT, TOOLS)


def run(model: ChatModel, limits: Limits = LIMITS, clock: Any = None, **more: Any) -> Trace:
    """Run a model over the shelf; the clock stands still without one."""
    budget = Budget(limits.tokens, limits.seconds, clock=clock or (lambda: 0.0))
    made = job(policy_of(model), limits, **more)
    return run_agent(made, LiveWorld(TOOLS, SHELF, model, budget))


def act(action: str, thought: str = "Because.", **arguments: Any) -> dict[str, Any]:
    return {"data": {"thought": thought, "action": action, "arguments": arguments}}
