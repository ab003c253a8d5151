"""Write every golden parse anew: `make golden`. Then read the difference."""

from rag_assets_tests.golden.papers import documents
from rag_assets_tests.golden.rendering import FOLDER, parse_golden


def main() -> None:
    """Write what parsers read now, and remove what no document has any more."""
    FOLDER.mkdir(exist_ok=True)
    written = set()
    for name, make in documents():
        target = FOLDER / f"{name}.txt"
        target.write_text(parse_golden(name, make()), encoding="utf-8")
        written.add(target)
    for path in set(FOLDER.glob("*.txt")) - written:
        path.unlink()


if __name__ == "__main__":
    main()
