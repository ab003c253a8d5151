"""How much of the text of Word and PowerPoint files the parsers keep.

`python -m benchmarks.office_text`; needs the data of RAG_SHARED_DATA (default ../shared/data).
"""

from rag_assets_tests.parsing.test_real_office import score_expected, score_kept


def main() -> None:
    """Print the figures of each file, then their means."""
    for title, scores in (
        ("F1 of words against the expected text", score_expected()),
        ("share of the words in the XML that is kept", score_kept()),
    ):
        for path, score in scores.items():
            print(f"{score:.3f}  {path}")
        values = scores.values()
        print(f"{sum(values) / len(values):.3f}  {title}, mean; lowest {min(values):.3f}\n")


if __name__ == "__main__":
    main()
