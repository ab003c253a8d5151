"""What a model wants in front of a text."""

from dataclasses import dataclass

from rag_assets.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before a question and before a passage; empty for nothing."""

    query: str = ""
    passage: str = ""

    def replaced_by(self, model: ModelSettings) -> "Prompts":
        """Return the prompts with those of the settings in place of the model's own."""
        return Prompts(
            self.query if model.query_prompt is None else model.query_prompt,
            self.passage if model.passage_prompt is None else model.passage_prompt,
        )
