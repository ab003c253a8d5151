"""Where a run takes its answers from: models and tools that are there, or the trace of a run."""

from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.agents import LiveWorld
from rag_assets.answering.agents.trace import ModelTurn
from rag_assets.lab.chemistry import Carboxyl, find_carboxyl
from rag_assets.lab.runs import Support
from rag_assets.lab.tools import LabLibrary, tools_of
from rag_assets.lab.trace import Observed, Role
from rag_assets.lab.weighing import CitedStatement, Weigh
from rag_assets.llm import Budget, ChatModel, ChatRequest, request_key
from rag_assets.model import BudgetError, DamagedFileError, RecordingError, UsageError

Stop = Literal["canceled", "seconds"]
Watch = Callable[[str], None]
_Result = TypeVar("_Result")
# How soon a canceled run lets go of a call.
_LOOKS_EVERY_SECONDS = 0.2


class LiveLab:
    """Asks the models, calls the tools, looks whether the run was canceled.

    `seq` is the number of the event that will tell of a call.

    Args:
        library: what the tools look into.
        models: by role; none where rules decide.
        budget: tokens and seconds of the whole run, with the clock that it was given.
        weigh: holds statements against what they cite.
        is_canceled: looked at before every call.
        limit_call: begins the time of one answer.
        watch: called with a line when a model is asked.
    """

    def __init__(
        self, library: LabLibrary, models: Mapping[Role, ChatModel], budget: Budget, weigh: Weigh,
        is_canceled: Callable[[], bool], limit_call: Callable[[], Budget] = Budget,
        watch: Watch = lambda _: None,
    ) -> None:  # fmt: skip
        tools = tools_of("orchestrator", is_root=True)
        self._worlds: dict[str, LiveWorld[LabLibrary]] = {
            role: LiveWorld(tools, library, model, budget, watch) for role, model in models.items()
        }
        self._limit_call = limit_call
        self._tools = tools
        self._library = library
        self._clock = LiveWorld(tools, library, None, budget)
        self._budget = budget
        self._weigh = weigh
        self._watch = watch
        self._is_canceled = is_canceled

    def ask(self, seq: int, role: str, request: ChatRequest) -> ModelTurn:  # noqa: ARG002 - of recorded worlds
        """Return what the model of a role answers, or that nobody waits for it any longer."""
        world = self._worlds[role]
        key = request_key(world.model_name, request)
        try:
            turn = self._unless_over(lambda: world.ask(request), self._limit_call())
        except BudgetError:
            self._budget.stop()
            said = (
                f"{world.model_name} gave no answer within 'lab.recipes.call_seconds'. Check the "
                "service or give it more time, then begin the run again (--again)."
            )
            return ModelTurn(key, error=said, error_kind="failed")
        return turn or ModelTurn(key, error="the run was over before it was answered")

    def call(self, seq: int, name: str, arguments: Mapping[str, Any]) -> Observed:  # noqa: ARG002
        """Return what a tool finds."""
        found: Observed = self._tools.get(name).call(self._library, arguments)
        return found

    def judge(self, seq: int, name: str, smiles: str | None) -> Carboxyl:  # noqa: ARG002
        """Say it by structure where RDKit is there, else by name."""
        return find_carboxyl(name, smiles)

    def weigh(self, seq: int, claims: Sequence[CitedStatement]) -> list[Support] | None:  # noqa: ARG002
        """Let them be read."""
        self._watch("reads the grounds and their sources")
        return self._unless_over(lambda: self._weigh(claims))

    def _unless_over(
        self, call: Callable[[], _Result], limit: Budget | None = None
    ) -> _Result | None:
        """Return what a call returns, or None as soon as the run is canceled or its time is over.

        A call over the network cannot be taken back: it goes on in a thread of its own until its
        time is over, nobody waits for it, and it is not tried again.

        Raises:
            BudgetError: the time of this call is over.
        """
        came: SimpleQueue[tuple[_Result | None, BaseException | None]] = SimpleQueue()

        def work() -> None:
            try:
                came.put((call(), None))
            except BaseException as error:  # noqa: BLE001 - raised below, in the run's own thread
                came.put((None, error))

        Thread(target=work, name="call of a recipe run", daemon=True).start()
        while True:
            try:
                result, error = came.get(timeout=_LOOKS_EVERY_SECONDS)
            except Empty:
                if self.stop(0) is not None:
                    self._budget.stop()
                    return None
                if limit is not None:
                    limit.require_time()
                continue
            if error is not None:
                raise error
            return result

    def stop(self, seq: int) -> Stop | None:  # noqa: ARG002
        """Look at the store and the clock."""
        if self._is_canceled():
            return "canceled"
        return "seconds" if self._clock.is_time_over(0) else None


class RecordedLab:
    """Answers as a trace has it, event by event: no model, no search, no clock, no chemistry."""

    def __init__(self, events: Sequence[Mapping[str, Any]]) -> None:
        self._events = events
        self._models = events[0]["job"]["models"] if events else {}

    def ask(self, seq: int, role: str, request: ChatRequest) -> ModelTurn:
        """Return the recorded answer to the same request."""
        event = self._event(seq, "asked")
        key = request_key(str(self._models[role]["name"]), request)
        turn = _checked(ModelTurn, event["turn"])
        if event["role"] != role or turn.request != key:
            raise _other_way(seq, f"asks {role}'s model otherwise")
        # What is wrong with an answer is found again.
        return ModelTurn(key, turn.text, turn.usage, None, turn.error, turn.error_kind)

    def call(self, seq: int, name: str, arguments: Mapping[str, Any]) -> Observed:
        """Return what the recorded call of the same tool found."""
        event = self._event(seq, "called")
        if (event["tool"], event["arguments"]) != (name, dict(arguments)):
            raise _other_way(seq, f"calls {name} otherwise")
        if event["error"] is not None:
            raise UsageError(event["error"])
        observed: Observed = _checked(Observed, event["observed"])
        return observed

    def judge(self, seq: int, name: str, smiles: str | None) -> Carboxyl:
        """Return what was found of the same molecule then."""
        for each in self._event(seq).get("judged", ()):
            if (each["name"], each["smiles"]) == (name, smiles):
                return Carboxyl(each["holds"], each["by"], each["why"])
        raise _other_way(seq, f"judges '{name}' otherwise")

    def weigh(self, seq: int, claims: Sequence[CitedStatement]) -> list[Support] | None:
        """Return what was found of each then."""
        if self.stop(seq) is not None:
            return None
        verdicts = self._event(seq, "weighed")["verdicts"]
        if len(verdicts) != len(claims):
            raise _other_way(seq, "cites otherwise")
        places = ("recipe", "ground")
        return [
            _checked(Support, {k: v for k, v in each.items() if k not in places})
            for each in verdicts
        ]

    def stop(self, seq: int) -> Stop | None:
        """Say whether the recorded run was stopped here."""
        event = self._events[seq - 1] if seq <= len(self._events) else None
        if event is not None and event["kind"] == "stopped":
            return "canceled" if event["why"] == "canceled" else "seconds"
        return None

    def _event(self, seq: int, kind: str | None = None) -> Mapping[str, Any]:
        if seq > len(self._events) or (kind and self._events[seq - 1]["kind"] != kind):
            raise _other_way(seq, "goes another way")
        return self._events[seq - 1]


LabWorld = LiveLab | RecordedLab


def _checked(kind: Any, values: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        raise DamagedFileError(
            f"this trace was changed: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}."
        ) from error


def _other_way(seq: int, what: str) -> RecordingError:
    return RecordingError(
        f"at event {seq} the run {what} than it did: another version of rag-assets, or of a "
        "prompt, made this trace. Run it again."
    )
