"""Agents: a policy that looks before it decides, within limits, traced and replayed.

What an agent says is checked sentence by sentence against what it cites (`statements`). Built once
for every task: tools and prompts are the task's own.
"""

from typing import TYPE_CHECKING

from rag_assets.answering.agents.tools import ContextTool, Found, FoundLine, Toolset
from rag_assets.answering.agents.trace import (
    AliasRegistry,
    Passage,
    drop_marks,
    find_marks,
    show_marks,
)
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.answering.agents.loop import (
        AgentJob,
        LiveWorld,
        RecordedWorld,
        replay_agent,
        run_agent,
    )
    from rag_assets.answering.agents.policy import (
        AgentState,
        Decision,
        ModelPolicy,
        Policy,
        RulesPolicy,
        World,
    )
    from rag_assets.answering.agents.statements import (
        CheckedStatement,
        CitedQuote,
        RecordedJudge,
        ScorerJudge,
        check_statements,
    )
    from rag_assets.answering.agents.trace import Limits, Step, Trace, show_observation

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("statements", "trace")


# Imported on first use: who only lists tools must not wait for what reads and judges.
__getattr__ = lazy_names(
    __name__,
    {
        "AgentJob": "loop",
        "AgentState": "policy",
        "CheckedStatement": "statements",
        "CitedQuote": "statements",
        "Decision": "policy",
        "Limits": "trace",
        "LiveWorld": "loop",
        "ModelPolicy": "policy",
        "Policy": "policy",
        "RecordedJudge": "statements",
        "RecordedWorld": "loop",
        "RulesPolicy": "policy",
        "ScorerJudge": "statements",
        "Step": "trace",
        "Trace": "trace",
        "World": "policy",
        "check_statements": "statements",
        "replay_agent": "loop",
        "run_agent": "loop",
        "show_observation": "trace",
    },
)
