"""Files and sidecars that are made to break what reads them."""

import io
import os
import random
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.attacks.attack import (
    Attack,
    Library,
    documents,
    ingest,
    require,
    require_good_is_published,
)

_SAMPLES = Path(__file__).parents[2] / "samples" / "raw" / "evidence"
_ENTITIES = '<!DOCTYPE a [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def _zipped(parts: dict[str, bytes]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return into.getvalue()


def _word(body: bytes, head: bytes = b"") -> bytes:
    space = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    types = (
        b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
        b'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
        b'.wordprocessingml.document.main+xml"/></Types>'
    )
    text = (
        head + b'<w:document xmlns:w="' + space + b'"><w:body>' + body + b"</w:body></w:document>"
    )
    return _zipped({"[Content_Types].xml": types, "word/document.xml": text})


def _flipped(content: bytes, chance: random.Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(20):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


# Name of the file → its bytes, made when it is its turn.
_CONTENTS: dict[str, Callable[[random.Random], bytes]] = {
    "bomb.docx": lambda _: _word(b"<w:p><w:r><w:t>" + b"a" * 400_000_000 + b"</w:t></w:r></w:p>"),
    "entities.docx": lambda _: _word(b"<w:p>&i;</w:p>", _ENTITIES.encode() + b"]>"),
    "deep.docx": lambda _: _word(b"<w:p>" * 100_000),
    "deep.html": lambda _: b"<div>" * 300_000 + b"deep",
    "entities.html": lambda _: (_ENTITIES + "]><p>&i;</p>").encode(),
    "deep.md": lambda _: b"> " * 50_000 + b"deep\n" + b"[" * 50_000,
    "emphasis.md": lambda _: b"*a_ " * 100_000,
    "one-line.csv": lambda _: b"a," * 2_000_000,
    "front-matter.md": lambda _: b"---\na: " + b"[" * 100_000 + b"\n---\ntext\n",
    "huge-page.pdf": lambda _: (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]"
        b"/Count 999999999>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 1e9 1e9]>>endobj"
        b"\ntrailer<</Root 1 0 R/Size 4>>\n"
    ),
    "own-parent.pdf": lambda _: (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R]"
        b"/Count 1/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R/Size 3>>\n"
    ),
    "cut.pdf": lambda chance: (_SAMPLES / "green-roofs-2024.pdf").read_bytes()[
        : chance.randint(100, 20_000)
    ],
    "flipped.pdf": lambda chance: _flipped(
        (_SAMPLES / "green-roofs-2024.pdf").read_bytes(), chance
    ),
    "zeros.md": lambda _: bytes(100_000),
    "random.docx": lambda chance: b"PK\x03\x04" + chance.randbytes(10_000),
    "escapes.md": lambda _: b"# \x1b]0;owned\x07\x1b[2J\n\nA roof\x9b31m was cool.\n",
}


def contents(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield hostile files in an order of chance; below `$RAG_SHARED_DATA`/nasty more of them."""
    made = dict(_CONTENTS)
    nasty = Path(os.environ.get("RAG_SHARED_DATA", "")) / "nasty"
    if "RAG_SHARED_DATA" in os.environ and nasty.is_dir():
        for path in sorted(nasty.rglob("*")):
            if path.is_file() and not path.name.endswith(".meta.yaml"):
                made[path.name] = lambda _, path=path: path.read_bytes()
    for name in chance.sample(sorted(made), len(made)):
        yield Attack("contents", name, "the build ends well; all other files are published",
                     partial(_content, library, name, made[name], chance))  # fmt: skip


def _content(
    library: Library,
    name: str,
    make: Callable[[random.Random], bytes],
    chance: random.Random,
    folder: Path,
) -> None:
    root = library.copy_to(folder)
    (root / "raw/evidence" / name).write_bytes(make(chance))
    require_good_is_published(root, ingest(root))


_ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
_SIDECARS = {
    "a date that does not exist": "accessed_at: 2026-02-30\n",
    "no whole number": "year: !!int abc\n",
    "no truth value": "citable: !!bool x\n",
    "a number of 5,000 digits": f"year: {'9' * 5000}\n",
    "an anchor in itself": "tags: &a [*a]\n",
    "bytes": "title: !!binary not-base64\n",
    "a bomb of aliases": _ALIASES,
    "100 kB of brackets": "[" * 100_000,
    "100,000 levels": "a: " + "{a: " * 100_000,
    "an object of Python": "title: !!python/object/apply:os.system [true]\n",
    "a list at its top": "- citable\n",
    "a key twice": "citable: false\ncitable: true\n",
    "an unknown key": "citabel: false\n",
    "not UTF-8": "title: \udcff\udcfe\n",
    "a null character": "title: a\x00b\n",
    "one that is not YAML": "citable: false\n  title: x\n",
}


def sidecars(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield refused sidecars, then what is no file or has another name, in an order of chance."""
    texts = {name: partial(_write_sidecar, text) for name, text in _SIDECARS.items()}
    made: dict[str, Callable[[Path], None]] = {
        **texts,
        "a link outside": lambda path: path.symlink_to("/etc/hostname"),
        "a link to nothing": lambda path: path.symlink_to("nowhere.yaml"),
        "a link to itself": lambda path: path.symlink_to(path.name),
        "a folder": lambda path: path.mkdir(),
        "a FIFO": os.mkfifo,
        "one in capitals": lambda path: path.with_name("bad.md.META.YAML").write_text(
            "citable: false\n", "utf-8"
        ),
    }
    for name in chance.sample(sorted(made), len(made)):
        yield Attack("sidecars", name, "that document alone is withheld, never published citable",
                     partial(_sidecar, library, made[name]))  # fmt: skip


def _write_sidecar(text: str, path: Path) -> None:
    path.write_text(text, "utf-8", errors="surrogateescape")


def _sidecar(library: Library, write: Callable[[Path], object], folder: Path) -> None:
    root = library.copy_to(folder)
    bad = root / "raw/evidence/bad.md"
    bad.write_text("# Bad\n\nA dark roof was warm.\n", "utf-8")
    write(bad.with_name("bad.md.meta.yaml"))
    require_good_is_published(root, ingest(root))
    citable = [row for row in documents(root) if row["doc_uid"] == "bad" and row["citable"]]
    require(not citable, "published as citable")
