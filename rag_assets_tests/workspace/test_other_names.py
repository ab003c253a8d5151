"""The keys that specification 000 names are other names of ours."""

from pathlib import Path

import pytest

from rag_assets.embedding.remote import TASKS
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import Settings
from rag_assets.workspace.configuration import default_layer, merge_layers, parse_layer
from rag_assets.workspace.naming import TASK_TYPES

CONFIG = """\
embedding:
  provider: vertex
  model: gemini-embedding-001
  output_dim: 1536
  task_type: {document: RETRIEVAL_DOCUMENT, query: RETRIEVAL_QUERY}
  concurrency: 8
  backoff: 2.0
  timeout: 30.0
rerank:
  enabled: true
  model: semantic-ranker-default-004
  candidate_k: 40
  topN: 5
verify_citations_k: 12
verify_citations_threshold_T: 0.6
counterevidence_mode: soft
"""


def read(text: str) -> Settings:
    return merge_layers([default_layer(), parse_layer(Path("config.yaml"), text.encode())])


def test_the_configuration_of_spec_000_is_taken_as_it_stands() -> None:
    settings = read(CONFIG)
    (model,) = settings.embed.models
    assert (model.kind, model.model, model.dimension) == ("vertex", "gemini-embedding-001", 1536)
    assert (model.concurrency, model.backoff_seconds, model.timeout_seconds) == (8, 2.0, 30.0)
    rerank = settings.retrieve.rerank
    assert (rerank.mode, rerank.provider) == ("model", "vertex")
    assert rerank.model == "semantic-ranker-default-004"
    assert (settings.retrieve.pool_k, settings.retrieve.top_k) == (40, 5)
    assert (settings.verify.k, settings.verify.threshold) == (12, 0.6)
    assert settings.audit.counterevidence == "soft"
    assert read("rerank: {enabled: false}").retrieve.rerank.mode == "off"
    assert read("counterevidence_mode: off").audit.counterevidence == "off"


def test_what_vertex_is_asked_for_is_what_the_key_may_say() -> None:
    assert set(TASK_TYPES.values()) == set(TASKS.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("verify: {k: 3}\nverify_citations_k: 4", "'verify_citations_k' and 'verify.k' are one"),
        ("rerank: {enabled: true, topn: 3}", "unknown key 'rerank.topn'"),
        ("rerank: {enabled: 1}", "'rerank.enabled' must be true or false"),
        ("embedding: vertex", "'embedding': expected"),
        ("embedding: {provider: vertex, model: m, task_type: x}", "'embedding.task_type' must be"),
        ("verify_citations_k: 0", "'verify.k'"),
    ],
)
def test_a_wrong_or_doubled_name_is_told(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.yaml") as caught:
        read(text)
    assert words in str(caught.value)
