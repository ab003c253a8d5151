"""The configuration of spec 001, as our settings."""

import pytest

from rag_assets import KnowledgeConfig
from rag_assets.knowledge.config import ChunkConfig, chunk_settings, retrieve_settings
from rag_assets.model import ConfigurationError
from rag_assets.workspace import shipped_settings

SHIPPED = shipped_settings()


def test_empty_configuration_changes_nothing() -> None:
    config = KnowledgeConfig()
    assert retrieve_settings(SHIPPED.retrieve, config) == SHIPPED.retrieve
    assert chunk_settings(SHIPPED.chunk, config.chunk_config) == SHIPPED.chunk


def test_names_of_the_specification_reach_our_settings() -> None:
    config = KnowledgeConfig(
        retrieve_config={
            "method": "semantic",
            "top_k": 4,
            "tuning": {"pool_k": 30, "rrf_k": 10},
            "quality": {"max_per_document": 2},
            "rerank": {"mode": "weighted", "params": {"text": 2.0}},
            "inject": {"mode": "window", "format": "xml"},
        }
    )
    settings = retrieve_settings(SHIPPED.retrieve, config)
    assert (settings.method, settings.top_k) == ("semantic", 4)
    assert (settings.pool_k, settings.rerank_k, settings.rrf_k) == (30, 50, 10)
    assert settings.quality.max_per_document == 2
    assert settings.quality.dedupe_threshold == SHIPPED.retrieve.quality.dedupe_threshold
    assert settings.rerank.mode == "weighted"
    assert (settings.inject.mode, settings.inject.format) == ("window", "xml")
    assert settings.inject.max_tokens == SHIPPED.retrieve.inject.max_tokens


def test_rerank_none_turns_it_off() -> None:
    base = retrieve_settings(
        SHIPPED.retrieve, KnowledgeConfig(retrieve_config={"rerank": {"mode": "weighted"}})
    )
    config = KnowledgeConfig(retrieve_config={"rerank": None})
    assert retrieve_settings(base, config).rerank.mode == "off"


def test_later_configuration_wins_and_keeps_the_rest() -> None:
    first = KnowledgeConfig(retrieve_config={"top_k": 3, "quality": {"dedupe": False}})
    second = KnowledgeConfig(retrieve_config={"top_k": 5})
    settings = retrieve_settings(SHIPPED.retrieve, first, second)
    assert settings.top_k == 5
    assert not settings.quality.dedupe


def test_parent_and_child_and_an_overlap_in_tokens() -> None:
    config = KnowledgeConfig(
        chunk_config={
            "parent_child": {
                "parent": {"mode": "section", "max_tokens": 500},
                "child": {"target_tokens": 100, "min_tokens": 40, "max_tokens": 150},
            },
            "general": {"max_tokens": 200, "overlap": 50},
        }
    )
    chunk = chunk_settings(SHIPPED.chunk, config.chunk_config)
    assert (chunk.parents, chunk.parent_tokens) == ("section", 500)
    assert (chunk.min_tokens, chunk.target_tokens, chunk.max_tokens) == (40, 100, 150)
    assert chunk.general.overlap == 0.25
    assert chunk.general.delimiter == SHIPPED.chunk.general.delimiter


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"retrieve_config": {"topk": 3}}, r"retrieve_config\.topk': unknown key"),
        ({"retrieve_config": {"tuning": {"pool": 3}}}, r"tuning\.pool': unknown key"),
        ({"retrieve_config": {"top_k": 0}}, "greater than or equal to 1, got 0"),
        ({"retrieve_config": {"method": "sparse"}}, "method"),
        ({"store": {}}, "'store': unknown key"),
        ({"base_config": {"vector_store": {"type": "milvus", "path": "x"}}}, "'lance'"),
        (
            {"base_config": {"embedding": {"provider": "openai", "model": "m", "api_key": "k"}}},
            "api_key_variable",
        ),
    ],
)
def test_wrong_key_or_value_is_an_error_that_names_it(values: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        KnowledgeConfig(**values)


def test_sizes_that_must_be_smaller_follow_one_that_is_set() -> None:
    child = {"child": {"max_tokens": 40}}
    settings = chunk_settings(SHIPPED.chunk, ChunkConfig(parent_child=child))
    assert (settings.max_tokens, settings.target_tokens, settings.min_tokens) == (40, 40, 40)
    child = {"child": {"max_tokens": 400, "target_tokens": 60}}
    settings = chunk_settings(SHIPPED.chunk, ChunkConfig(parent_child=child))
    assert (settings.max_tokens, settings.target_tokens, settings.min_tokens) == (400, 60, 60)


def test_rule_of_our_settings_holds_for_what_is_laid_over() -> None:
    config = KnowledgeConfig(retrieve_config={"fusion": {"kind": "sum"}})
    with pytest.raises(ConfigurationError, match=r"retrieve_config: 'fusion\.kind'"):
        retrieve_settings(SHIPPED.retrieve, config)
