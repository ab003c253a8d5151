"""A model whose calls can be watched and ended: by a time limit, a cancel button or Ctrl-C."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from rag_assets.llm.contract import Budget, ChatModel, ChatRequest, Completion

# How long a cancelled run may go on.
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class WatchedModel:
    """Asks a model in a thread, so that the caller stays free to end the call.

    Args:
        model: what is asked.
        budget: of the whole task; its time limit ends a call that is still running.
        listen: called before each call; what it returns is called with each piece of the answer
            as it is written, and with "" while nothing comes. What that raises ends the call.
    """

    model: ChatModel
    budget: Budget
    listen: Callable[[], Callable[[str], None]]

    @property
    def name(self) -> str:
        """The name of the model that is asked."""
        return self.model.name

    def describe(self) -> dict[str, str | int | float]:
        """Return what the asked model says of itself."""
        return self.model.describe()

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        """Return the answer; `budget` limits the call beside that of the task."""
        hear = self.listen()
        heard: SimpleQueue[str | Completion | BaseException] = SimpleQueue()
        own = (budget or self.budget).of_call(heard.put)

        def ask() -> None:
            try:
                heard.put(self.model.complete(request, own))
            except BaseException as error:  # noqa: BLE001 - raised again below
                heard.put(error)

        threading.Thread(target=ask, daemon=True, name="language model").start()
        try:
            while True:
                self.budget.require_time()
                with suppress(Empty):
                    found = heard.get(timeout=_POLL_SECONDS)
                    if not isinstance(found, str):
                        break
                    hear(found)
                    continue
                hear("")
        except BaseException:
            own.stop()
            raise
        if isinstance(found, Completion):
            return found
        self.budget.require_time()  # a request that was cut off there failed for that reason
        raise found
