"""Which citations belong to which assertion."""

from rag_assets.auditing import parse_draft
from rag_assets.auditing.claims import Assertion, find_claims


def assertions(text: str, name: str = "chapter.md") -> dict[str, Assertion]:
    claims = find_claims(parse_draft(name, text.encode()))
    return {item.sentence.claim: item for item in claims.assertions}


def links(assertion: Assertion) -> list[str]:
    return [citation.label for citation in assertion.citations]


def test_what_cites_something_itself_is_counted_alone() -> None:
    text = "Roofs reduce the load of offices {#a}. Walls reduce the noise of roads."
    assert list(assertions(text)) == ["Walls reduce the noise of roads."]
    assert find_claims(parse_draft("chapter.md", text.encode())).cited == 1


def test_the_end_of_a_paragraph_covers_what_leads_up_to_it() -> None:
    text = (
        "Trees reduce the wind in wide roads {#a}. Roofs reduce the load of offices. "
        "Walls reduce the noise of roads. {#b}\n\nShade reduces the heat of squares."
    )
    found = assertions(text)
    assert links(found["Roofs reduce the load of offices."]) == ["b"]
    assert "Trees reduce the wind in wide roads." not in found
    assert links(found["Shade reduces the heat of squares."]) == []


def test_a_cited_sentence_ends_what_the_last_citation_covers() -> None:
    text = "Ponds reduce the heat of parks. Trees reduce the wind {#a}. Walls reduce noise. {#b}"
    found = assertions(text)
    assert links(found["Ponds reduce the heat of parks."]) == []


def test_a_citation_within_the_last_sentence_covers_nothing_else() -> None:
    found = assertions(
        "Roofs reduce the load of offices. Walls {#b} reduce the noise of the widest roads."
    )
    assert links(found["Roofs reduce the load of offices."]) == []


def test_a_footnote_that_cites_something_is_a_citation() -> None:
    found = assertions("Roofs reduce the load of offices.[^1]\n\n[^1]: See the survey. {#a}\n")
    assert found == {}


def test_headings_code_heads_of_tables_and_lists_of_sources_assert_nothing() -> None:
    text = """# Roofs reduce the load of every office

| Roofs reduce the load of offices | effect |
|---|---|
| walls | Walls reduce the noise of roads by half |

```
Trees reduce the wind in wide roads.
```

- Shade reduces the heat of squares.

> Ponds reduce the heat of parks.

## References

Hill (2020). Roofs reduce the load of all the largest offices.
"""
    found = assertions(text)
    assert len(found) == 3
    assert {item.section for item in found.values()} == {"Roofs reduce the load of every office"}
    assert "Shade reduces the heat of squares." in found
    assert "Ponds reduce the heat of parks." in found


def test_plain_text_is_read_without_marks() -> None:
    found = assertions(
        "# 1 Roofs\n\nRoofs reduce the load of offices. It ends {#a}.", "chapter.txt"
    )
    assert links(found["Roofs reduce the load of offices."]) == ["a"]
