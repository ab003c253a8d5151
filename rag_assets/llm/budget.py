"""How much a task may ask of a language model: tokens and seconds."""

import threading
import time
from collections.abc import Callable

from rag_assets.model import BudgetError

# English is about four bytes a token, Chinese at least three bytes a token: three is on the safe
# side of both.
_BYTES_PER_TOKEN = 3


def estimate_tokens(*texts: str) -> int:
    """Return about how many tokens texts are, rather too many than too few."""
    return sum(-(-len(text.encode()) // _BYTES_PER_TOKEN) for text in texts)


class Budget:
    """What all calls of one task may use together. Calls may come from several threads.

    Args:
        tokens: of prompts and answers; None for no limit.
        seconds: of wall time from now; None for no limit.
        clock: seconds from any beginning.
    """

    def __init__(
        self,
        tokens: int | None = None,
        seconds: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens = tokens
        self._seconds = seconds
        self._clock = clock
        self._started = clock()
        self._used = 0
        self._is_stopped = False
        self._lock = threading.Lock()

    @property
    def used_tokens(self) -> int:
        """Tokens spent so far."""
        return self._used

    def stop(self) -> None:
        """Let no further call of the task begin; one that runs is left alone."""
        self._is_stopped = True

    def limit_call(self, prompt_tokens: int, max_tokens: int, seconds: float) -> tuple[int, float]:
        """Return (tokens of the answer, seconds) that one call may take of what is left.

        Args:
            prompt_tokens: of the prompt, about.
            max_tokens: of the answer, as it would be without a budget; `seconds` likewise.

        Raises:
            BudgetError: not even one token or no time is left.
        """
        room = max_tokens
        if self._tokens is not None:
            room = min(max_tokens, self._tokens - self._used - prompt_tokens)
            if room < 1:
                raise BudgetError(
                    f"the task may use {self._tokens} tokens; {self._used} are used and the next "
                    f"prompt has about {prompt_tokens}. Give it more, or a smaller task."
                )
        return room, min(seconds, self.require_time())

    def require_time(self) -> float:
        """Return the seconds that are left, infinite without a limit.

        Raises:
            BudgetError: none are, or the task was stopped.
        """
        if self._is_stopped:
            raise BudgetError("the task was stopped.")
        if self._seconds is None:
            return float("inf")
        left = self._seconds - (self._clock() - self._started)
        if left <= 0:
            raise BudgetError(
                f"the task may take {self._seconds:g} seconds and they are over. Give it more "
                "time, a smaller task or a faster model."
            )
        return left

    def spend(self, tokens: int) -> None:
        """Take what a call has used from the budget."""
        with self._lock:
            self._used += tokens
