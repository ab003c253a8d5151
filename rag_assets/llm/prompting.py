"""The prompts of this package: text files beside the code, known by their hash."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rag_assets.model import hash_text


@dataclass(frozen=True, slots=True)
class Prompt:
    """A packaged prompt; `hash` is the SHA-256 of its text."""

    name: str
    text: str
    hash: str


@cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt `prompts/<name>.txt`.

    Raises:
        FileNotFoundError: the package has no such prompt.
    """
    path = files("rag_assets.llm") / "prompts" / f"{name}.txt"
    text = path.read_text(encoding="utf-8").strip()
    return Prompt(name, text, hash_text(text))
