"""Questions of all kinds as the shipped multilingual model sees them: configs/usual_questions.json.

    python benchmarks/encode_usual_questions.py [--write]

Encodes the pairs of questions in configs/usual_questions.tsv (English, tab, Chinese: the same
question). Prints how far the languages' means lie apart, and, for each pair left out, how much
nearer the two come when one is moved by the others' difference. `--write` stores the vectors.
"""

import argparse
import base64
import json
from pathlib import Path

import numpy as np

from rag_assets.embedding import load_query_encoder, model_fingerprint
from rag_assets.retrieval.languages import LANGUAGES, STORED, VECTORS_FILE, read_texts
from rag_assets.workspace import shipped_settings

_MODEL = "multilingual-e5-small"


def main() -> None:
    """Encode, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"store them in {VECTORS_FILE}")
    given = parser.parse_args()
    (model,) = (each for each in shipped_settings().embed.models if each.model == _MODEL)
    encoder = load_query_encoder(model)
    columns = zip(LANGUAGES, zip(*read_texts(), strict=True), strict=True)
    found = {
        language: np.asarray(encoder.encode_queries(texts), np.float64)
        for language, texts in columns
    }
    count, dimension = found["en"].shape
    apart = _length(found["zh"].mean(axis=0) - found["en"].mean(axis=0))
    print(f"{count} pairs; the means lie {apart:.3f} apart")
    before, after = [], []
    for row, (english, chinese) in enumerate(zip(found["en"], found["zh"], strict=True)):
        shift = np.delete(found["en"] - found["zh"], row, axis=0).mean(axis=0)
        before.append(_length(english - chinese))
        after.append(_length(english - chinese - shift))
    print(f"distance within a pair, left out: {np.mean(before):.3f} → {np.mean(after):.3f}")
    if given.write:
        content = {
            "made_by": "benchmarks/encode_usual_questions.py",
            "models": [
                {
                    "model": _MODEL,
                    # Questions are encoded in float32 whatever passages are encoded in.
                    "fingerprints": [
                        model_fingerprint(model.model_copy(update={"dtype": dtype}))
                        for dtype in ("int8", "float32")
                    ],
                    "dimension": dimension,
                    "vectors": {
                        language: base64.b64encode(rows.astype(STORED).tobytes()).decode()
                        for language, rows in found.items()
                    },
                }
            ],
        }
        file = Path(__file__).resolve().parents[1] / "configs" / VECTORS_FILE
        file.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def _length(vector: "np.typing.NDArray[np.float64]") -> float:
    return float(np.linalg.norm(vector))


if __name__ == "__main__":
    main()
