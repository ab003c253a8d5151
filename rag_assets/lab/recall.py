"""Experience that is asked for: what is near in meaning, of the role that asks and of all.

Vectors are those of the workspace's embedding models, kept by the hash of the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.embedding import (
    can_read,
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_fingerprint,
)
from rag_assets.embedding.taught import load_pair_model
from rag_assets.lab.differences import REWORDED, exchanged_words, find_differences, spell_out
from rag_assets.lab.experience import (
    CITATION,
    ROLES,
    FindEqual,
    Item,
    Lesson,
    list_items,
    project,
    read_template,
)
from rag_assets.lab.store import Reading, Store
from rag_assets.model import ConfigurationError, UsageError, hash_text
from rag_assets.model.settings import ModelSettings, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Experience is written in the experimenter's language: what searches it has to know both.
_CHINESE = "提高铜的含量增加了乙烯的选择性"
# Cosines from which two lessons are near enough to be the same where nothing speaks against it,
# by model. Fitted on pairs of known truth, BreakingNLI, counterfactually augmented SNLI and
# COVID-Fact: the least round value at which no contradiction is left (docs/laboratory.md).
NEAR_DUPLICATE = {"all-MiniLM-L6-v2": 0.85, "bge-small-en": 0.9, "multilingual-e5-small": 0.96}
# Of a model that nobody has measured: only what is all but equal.
_UNMEASURED = 0.97
# Words that stand instead of others mean the same from this cosine of the model named, where the
# packaged reader finds each whole text supported by the other with these log-odds at least. Of
# 174 synonym pairs of BreakingNLI that joins 110, of its 7,159 contradictions and of 3,558
# antonyms of WordNet in one sentence none that the rules had not (docs/laboratory.md).
_WORDS = ModelSettings(kind="bundled", model="bge-small-en")
_SAME_WORD, _SUPPORTED = 0.87, 1.0
# SQLite takes 32,766 values in a statement.
_ASKED_AT_ONCE = 10_000


class Nearness:
    """Meanings of texts, by the workspace's embedding models.

    Args:
        settings: of the workspace.
        store: keeps the vectors; what is lost of them is made again.
    """

    def __init__(self, settings: Settings, store: Store) -> None:
        self._models = settings.embed.dense
        if not self._models:
            raise ConfigurationError(
                "embed.models: experience needs an embedding model, and none is configured."
            )
        # The first model that reads Chinese too, else the first.
        reading = (one for one in self._models if can_read(load_tokenizer(one), _CHINESE))
        self._searching = next(reading, self._models[0])
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
            reading = (one for one in self._models if can_read(load_tokenizer(one), text))
            groups.setdefault(next(reading, self._models[0]).model, []).append(text)
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
                if say_the_same(item.content, lesson.content):
                    best = (score, item.id)
            return best[1] if best is not None else None

        return find

    def _vectors(
        self, model: ModelSettings, texts: Sequence[str]
    ) -> dict[str, "NDArray[np.float32]"]:
        """Return the vector of each text, of length 1; made and kept where it is missing."""
        import numpy as np

        fingerprint = model_fingerprint(model)
        spelled = {text: spell_out(text) for text in texts}
        wanted = {hash_text(told): told for told in spelled.values()}
        with self._store.reading() as reading:
            known = _read_vectors(reading, fingerprint, list(wanted))
        missing = [key for key in wanted if key not in known]
        if missing:
            made = load_embedder(model).encode_passages([wanted[key] for key in missing])
            rows = dict(zip(missing, np.asarray(made, np.float32), strict=True))
            with self._store.writing("", "") as writing:
                for key, vector in rows.items():
                    row = {"fingerprint": fingerprint, "text_hash": key}
                    writing.put("experience_vectors", {**row, "vector": vector.tobytes()})
            known |= rows
        return {text: known[hash_text(told)] for text, told in spelled.items()}


def say_the_same(one: str, other: str) -> bool:
    """Say whether two texts that are near in meaning say the same.

    No rule tells them apart, or only words do that mean the same: by their vectors, and for the
    packaged reader, which reads each text as a statement about the other.
    """
    signs = set(find_differences(one, other))
    words = exchanged_words(one, other) if signs and signs <= REWORDED else ()
    if not words:
        return not signs
    first, second = (
        load_embedder(_WORDS).encode_passages(list(side)) for side in zip(*words, strict=True)
    )
    if (first * second).sum(axis=1).min() < _SAME_WORD:
        return False
    told = spell_out(one), spell_out(other)
    return min(each.supports for each in load_pair_model().read([told, told[::-1]])) >= _SUPPORTED


def _read_vectors(
    reading: Reading, fingerprint: str, hashes: Sequence[str]
) -> dict[str, "NDArray[np.float32]"]:
    import numpy as np

    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(hashes), _ASKED_AT_ONCE):
        asked = hashes[start : start + _ASKED_AT_ONCE]
        marks = ", ".join("?" * len(asked))
        rows = reading.connection.execute(
            "SELECT text_hash, vector FROM experience_vectors WHERE fingerprint = ? AND "
            f"text_hash IN ({marks})",
            [fingerprint, *asked],
        )
        found |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
    return found


@dataclass(frozen=True, slots=True)
class Recalled:
    """An item as it was found and shown; a run keeps both, for an item may change.

    Args:
        citation: `mem:<id>`; `version` of the item.
        score: cosine of question and item.
        text: what enters a prompt, by the template of the role that asked.
        template_version: of that template; 0 is the shipped one.
    """

    item: Item
    citation: str
    version: int
    score: float
    text: str
    template_version: int


def recall(
    store: Store,
    nearness: Nearness,
    question: str,
    role: str,
    *,
    k_role: int,
    k_global: int,
    for_run: str | None = None,
) -> list[Recalled]:
    """Return the items that are nearest to a question, of a role and of all, each once.

    Archived ones are never found. What a run itself taught is never shown to it.

    Args:
        role: that asks.
        k_role: items of that role at most; `k_global` of the role `global`.
        for_run: the run that asks.

    Raises:
        UsageError: no such role, or the question is empty.
    """
    known = next((one for one in ROLES if one == role), None)
    if known is None:
        raise UsageError(f"there is no role '{role}' (there are {', '.join(ROLES)}).")
    if not question.strip():
        raise UsageError("experience is asked for by a question, got an empty one.")
    with store.reading() as reading:
        found: dict[str, list[Item]] = {}
        for each in dict.fromkeys((role, "global")):
            # Without what the run taught: whole items, or what joined them.
            found[each] = [
                replace(one, lessons=tuple(x for x in one.lessons if x.run_id != for_run))
                for one in list_items(reading, status="active", role=each)
                if one.type == "manual_note" or one.lessons[0].run_id != for_run
            ]
        template = read_template(reading, known)
    # One call for all: a remote model is asked once.
    items = [item for each in found.values() for item in each]
    scores = dict(
        zip(
            (i.id for i in items),
            nearness.search(question, [i.content for i in items]),
            strict=True,
        )
    )
    best: dict[str, Item] = {}
    for each, most in ((role, k_role), ("global", k_global)):
        ranked = sorted(found[each], key=lambda i: (-scores[i.id], i.created_at, i.id))
        best |= {item.id: item for item in ranked[:most]}
    return [
        Recalled(
            item,
            f"{CITATION}{item.id}",
            item.version,
            round(scores[item.id], 6),
            project(item, item.variants, template),
            template.version,
        )
        for item in best.values()
    ]
