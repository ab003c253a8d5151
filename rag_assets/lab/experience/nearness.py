"""Which lessons are near in meaning: vectors of a model, kept by the hash of the text."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from rag_assets.embedding import (
    can_read,
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_fingerprint,
)
from rag_assets.lab.experience.differences import find_differences, spell_out
from rag_assets.lab.experience.items import Item, Lesson
from rag_assets.lab.store import Reading, Store, Writing
from rag_assets.lab.store.tables import vectors
from rag_assets.model import ConfigurationError, hash_text
from rag_assets.settings import ModelSettings, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Experience is written in the experimenter's language: what searches it has to know both.
_CHINESE = "提高铜的含量增加了乙烯的选择性"
# Cosines from which two lessons are near enough to be the same where nothing speaks against it,
# by model. Fitted on pairs of known truth, BreakingNLI, counterfactually augmented SNLI and
# COVID-Fact: the least round value at which no contradiction is left (docs/laboratory.md).
NEAR_DUPLICATE = {
    "all-MiniLM-L6-v2": 0.85,
    "bge-small-en": 0.9,
    "multilingual-e5-small": 0.96,
}
# Of a model that nobody has measured: only what is all but equal.
_UNMEASURED = 0.97
# SQLite takes 32,766 values in a statement.
_ASKED_AT_ONCE = 10_000
FindEqual = Callable[[Lesson, Sequence[Item]], str | None]


class Nearness:
    """Meanings of texts, by the workspace's embedding models.

    Args:
        settings: of the workspace.
        store: keeps the vectors; what is lost of them is made again.
    """

    def __init__(self, settings: Settings, store: Store) -> None:
        self._models = settings.embed.dense
        self._searching = choose_model(self._models)
        self._store = store
        self._given = settings.lab.experience.near_duplicate if settings.lab is not None else None

    def search(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how near each text is to a question, as a cosine.

        One model compares them all: the first that reads Chinese, too.
        """
        import numpy as np

        if not texts:
            return []
        encoder = load_query_encoder(self._searching)
        asked = np.asarray(encoder.encode_queries([spell_out(question)])[0], np.float32)
        by_text = self._vectors(self._searching, texts)
        return [float(by_text[text] @ asked) for text in texts]

    def prepare(self, texts: Sequence[str]) -> int:
        """Make the vectors by which texts are searched, where they are missing; say how many."""
        fingerprint = model_fingerprint(self._searching)
        hashes = {hash_text(spell_out(text)) for text in texts}
        with self._store.reading() as reading:
            known = _read(reading, fingerprint, sorted(hashes))
        self._vectors(self._searching, texts)
        return len(hashes - known.keys())

    def finder(self, texts: Sequence[str]) -> FindEqual:
        """Return what finds the item that says what a lesson says.

        Same role, same kind, near in meaning, and nothing that speaks against it. Among several
        the nearest, then the oldest. Two texts are compared by the first model that reads both;
        where none does, as between languages, they are not the same.

        Args:
            texts: contents of all lessons and items that are to be compared, so that no vector has
                to be made while the store waits.
        """
        groups: dict[str, list[str]] = {}
        models = {model.model: model for model in self._models}
        for text in dict.fromkeys(texts):
            groups.setdefault(self._reader_of(text).model, []).append(text)
        placed = {
            text: (name, vector)
            for name, members in groups.items()
            for text, vector in self._vectors(models[name], members).items()
        }

        def find(lesson: Lesson, items: Sequence[Item]) -> str | None:
            name, own = placed[lesson.content]
            threshold = self._given or NEAR_DUPLICATE.get(name, _UNMEASURED)
            best: tuple[float, str] | None = None
            for item in items:
                other_name, other = placed[item.content]
                if (item.role, item.kind, other_name) != (lesson.role, lesson.kind, name):
                    continue
                score = float(other @ own)
                is_near = score >= threshold or item.content == lesson.content
                if not is_near or (best is not None and score <= best[0]):
                    continue
                if not find_differences(item.content, lesson.content):
                    best = (score, item.id)
            return best[1] if best is not None else None

        return find

    def _reader_of(self, text: str) -> ModelSettings:
        reading = (one for one in self._models if can_read(load_tokenizer(one), text))
        return next(reading, self._models[0])

    def _vectors(
        self, model: ModelSettings, texts: Sequence[str]
    ) -> dict[str, "NDArray[np.float32]"]:
        """Return the vector of each text, of length 1; made and kept where it is missing."""
        import numpy as np

        fingerprint = model_fingerprint(model)
        spelled = {text: spell_out(text) for text in texts}
        wanted = {hash_text(told): told for told in spelled.values()}
        with self._store.reading() as reading:
            known = _read(reading, fingerprint, list(wanted))
        missing = [key for key in wanted if key not in known]
        if missing:
            made = load_embedder(model).encode_passages([wanted[key] for key in missing])
            rows = dict(zip(missing, np.asarray(made, np.float32), strict=True))
            with self._store.writing("", "") as writing:
                _write(writing, fingerprint, rows)
            known |= rows
        return {text: known[hash_text(told)] for text, told in spelled.items()}


def choose_model(models: Sequence[ModelSettings]) -> ModelSettings:
    """Return the first model that reads Chinese too, else the first.

    Raises:
        ConfigurationError: there is no model with dense vectors.
    """
    if not models:
        raise ConfigurationError(
            "embed.models: experience is searched by an embedding model, and there is none."
        )
    reading = (one for one in models if can_read(load_tokenizer(one), _CHINESE))
    return next(reading, models[0])


def _read(
    reading: Reading, fingerprint: str, hashes: Sequence[str]
) -> dict[str, "NDArray[np.float32]"]:
    import numpy as np

    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(hashes), _ASKED_AT_ONCE):
        rows = reading.connection.execute(
            select(vectors.c.text_hash, vectors.c.vector).where(
                vectors.c.fingerprint == fingerprint,
                vectors.c.text_hash.in_(hashes[start : start + _ASKED_AT_ONCE]),
            )
        )
        found |= {row.text_hash: np.frombuffer(row.vector, np.float32) for row in rows}
    return found


def _write(writing: Writing, fingerprint: str, rows: Mapping[str, "NDArray[np.float32]"]) -> None:
    known = _read(writing, fingerprint, list(rows))  # another process may have been faster
    values = [
        {"fingerprint": fingerprint, "text_hash": key, "vector": vector.tobytes()}
        for key, vector in rows.items()
        if key not in known
    ]
    if values:
        writing.connection.execute(insert(vectors), values)
