"""The published JSON Schema of packs."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rag_assets.evidence import (
    EvidencePack,
    Question,
    make_pack,
    pack_from_json,
    pack_to_json,
    write_pack,
)
from rag_assets.model import DamagedFileError
from rag_assets.workspace import Workspace
from rag_assets_tests.docs.pack_schema import pack_schema

PUBLISHED = Path(__file__).parents[2] / "docs/schemas/evidence_pack.schema.json"


@pytest.fixture(scope="module")
def pack(library: Workspace) -> EvidencePack:
    made = make_pack(library, Question(question="sedum roofs 树冠", filters=("year>=2000",)))
    assert made.items
    return made


def test_published_schema_is_that_of_the_types() -> None:
    """docs/schemas/evidence_pack.schema.json is made of the types."""
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == pack_schema()


def test_schema_is_a_schema_and_a_pack_follows_it(pack: EvidencePack) -> None:
    schema = pack_schema()
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(json.loads(write_pack(pack)))) == []


@pytest.mark.parametrize("path", [("query_id",), ("items", 0, "parent_id"), ("sources", 0, "hits")])
def test_schema_refuses_a_pack_that_lacks_a_field(
    pack: EvidencePack, path: tuple[str | int, ...]
) -> None:
    data: Any = json.loads(write_pack(pack))
    place = data
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    assert list(Draft202012Validator(pack_schema()).iter_errors(data))


def test_schema_refuses_a_field_that_it_does_not_know(pack: EvidencePack) -> None:
    data = json.loads(write_pack(pack))
    data["items"][0]["citeable"] = True
    assert list(Draft202012Validator(pack_schema()).iter_errors(data))


def test_every_field_of_the_issue_is_required_of_an_item() -> None:
    wanted = {
        "doc_uid", "citation_key", "source_type", "citable", "retrieval_score", "scores",
        "parent_id", "page_index", "page_start", "page_end", "char_start", "char_end",
        "anchor_begin", "anchor_end", "section_path", "locator_quality", "snippet", "exact_quote",
    }  # fmt: skip
    assert wanted <= set(pack_schema()["$defs"]["EvidenceItem"]["required"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "rag-assets/evidence-pack/2"}, "Ask the question again"),
        ({"extra": 1}, "'extra'"),
        ({"query_id": 3}, "'query_id'"),
    ],
)
def test_changed_pack_is_not_read(pack: EvidencePack, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DamagedFileError, match=message):
        pack_from_json({**pack_to_json(pack), **change})
