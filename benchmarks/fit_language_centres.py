"""The centres of English and Chinese questions in a model: configs/language_centres.json.

    python benchmarks/fit_language_centres.py [--write]

Encodes the pairs of questions in language_pairs.tsv (English, tab, Chinese: the same question)
and takes the means. Prints how far the languages lie apart, and, for each pair left out, how much
nearer the two come when one is moved by the others' difference. `--write` stores the centres.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from rag_assets.embedding import load_query_encoder, model_fingerprint
from rag_assets.retrieval.language_shift import CENTRES_FILE
from rag_assets.workspace import shipped_settings

_PAIRS = Path(__file__).with_name("language_pairs.tsv")
_MODEL = "multilingual-e5-small"
_DECIMALS = 5


def main() -> None:
    """Fit, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"store them in {CENTRES_FILE}")
    given = parser.parse_args()
    (model,) = (each for each in shipped_settings().embed.models if each.model == _MODEL)
    pairs = [line.split("\t") for line in _PAIRS.read_text("utf-8").splitlines()]
    encoder = load_query_encoder(model)
    found = {
        language: np.asarray(encoder.encode_queries([pair[column] for pair in pairs]), np.float64)
        for column, language in enumerate(("en", "zh"))
    }
    centres = {language: rows.mean(axis=0) for language, rows in found.items()}
    print(f"{len(pairs)} pairs; the centres lie {_length(centres['zh'] - centres['en']):.3f} apart")
    before, after = [], []
    for row, (english, chinese) in enumerate(zip(found["en"], found["zh"], strict=True)):
        shift = np.delete(found["en"] - found["zh"], row, axis=0).mean(axis=0)
        before.append(_length(english - chinese))
        after.append(_length(english - chinese - shift))
    print(f"distance within a pair, left out: {np.mean(before):.3f} → {np.mean(after):.3f}")
    if given.write:
        content = {
            "made_by": "benchmarks/fit_language_centres.py",
            "pairs": len(pairs),
            "models": [
                {
                    "model": _MODEL,
                    "fingerprint": model_fingerprint(model),
                    "centres": {
                        language: np.round(centre, _DECIMALS).tolist()
                        for language, centre in centres.items()
                    },
                }
            ],
        }
        file = Path(__file__).resolve().parents[1] / "configs" / CENTRES_FILE
        file.write_text(json.dumps(content) + "\n", "utf-8")


def _length(vector: "np.typing.NDArray[np.float64]") -> float:
    return float(np.linalg.norm(vector))


if __name__ == "__main__":
    main()
