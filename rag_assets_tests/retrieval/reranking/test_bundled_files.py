"""The files of the bundled cross-encoder are those that we know."""

import hashlib
import sys
from pathlib import Path

import pytest

from rag_assets.embedding.bundled_files import BUNDLED_RERANKERS, checked_reranker
from rag_assets.model import DamagedFileError
from rag_assets.retrieval.reranking.local import load_bundled
from rag_assets.workspace import shipped_settings


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_of_the_bundled_reranker_is_refused_with_both_hashes(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled, source = BUNDLED_RERANKERS["reranker-en"], checked_reranker("reranker-en")
    folder = tmp_path / bundled.package / bundled.folder
    folder.mkdir(parents=True)
    (tmp_path / bundled.package / "__init__.py").touch()
    for name in bundled.files:
        (folder / name).symlink_to(source / name)
    (folder / file).unlink()
    (folder / file).write_bytes(b"altered")
    monkeypatch.delitem(sys.modules, bundled.package, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = hashlib.sha256(b"altered").hexdigest()
    with pytest.raises(DamagedFileError, match=rf"{file}.*force-reinstall.*==") as raised:
        load_bundled(shipped_settings(None).retrieve.rerank.model_copy(
            update={"model": "reranker-en"}
        ))  # fmt: skip
    assert found in str(raised.value)
    assert bundled.files[file] in str(raised.value)
