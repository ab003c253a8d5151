"""How recipes are made: tasks of roles, one shared note, a trace that can be made again."""

from rag_assets.lab.orchestrating.collecting import COLLECT_NAME, WHAT_IT_IS, collect_recipes
from rag_assets.lab.orchestrating.engine import run_recipes
from rag_assets.lab.orchestrating.job import RecipeJob, RunOutcome, job_from_json
from rag_assets.lab.orchestrating.note import SECTIONS, Role, RunNote, fold_note
from rag_assets.lab.orchestrating.prompting import ROLES, prompt_hashes, room_of
from rag_assets.lab.orchestrating.sources import Observed, Source, TurnAliases, sources_of
from rag_assets.lab.orchestrating.tools import LabTools
from rag_assets.lab.orchestrating.tracing import TraceWriter, parse_trace, read_trace
from rag_assets.lab.orchestrating.weighing import CitedStatement, ScorerWeigh
from rag_assets.lab.orchestrating.worlds import LabWorld, LiveLab, RecordedLab

__all__ = [
    "COLLECT_NAME",
    "ROLES",
    "SECTIONS",
    "WHAT_IT_IS",
    "CitedStatement",
    "LabTools",
    "LabWorld",
    "LiveLab",
    "Observed",
    "RecipeJob",
    "RecordedLab",
    "Role",
    "RunNote",
    "RunOutcome",
    "ScorerWeigh",
    "Source",
    "TraceWriter",
    "TurnAliases",
    "collect_recipes",
    "fold_note",
    "job_from_json",
    "parse_trace",
    "prompt_hashes",
    "read_trace",
    "room_of",
    "run_recipes",
    "sources_of",
]
