"""A plain BERT in torch, for passages. Imports torch when it is loaded, not sentence-transformers.

The weights are those of bert_model.py's questions, so both give the same vectors. Word embeddings
stay where they are: a batch needs a few hundred rows of a table that may take 400 MB unpacked.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert_parts import PlainBert, unit_vectors
from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.token_batches import encode_in_batches
from rag_assets.embedding.torch_device import prepare_device
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_PADDING = 0  # any id does: what is padded is masked


class BertEmbedder:
    """Encodes passages in batches of texts of one length, by `transformers`' BERT."""

    def __init__(self, bert: PlainBert, model: ModelSettings) -> None:
        import torch

        self.name = bert.name
        self.fingerprint = bert.fingerprint
        self.dimension = bert.dimension
        self._bert = bert
        self._batch_tokens = model.batch_tokens
        self._device = prepare_device(model)
        self._type: Any = getattr(torch, model.dtype)
        self._network = load_network(bert).to(self._device, self._type).eval()

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "Floats":
        """Return the vectors of `texts`; its last bits depend on the batch (about 1e-7)."""
        return self._encode(texts, self._bert.passage_prompt, on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "Floats":
        """Return the vectors of questions."""
        return self._encode(texts, self._bert.query_prompt, None)

    def _encode(
        self, texts: Sequence[str], prompt: str, on_progress: EncodeProgress | None
    ) -> "Floats":
        return encode_in_batches(
            texts,
            self.dimension,
            self._batch_tokens,
            lambda window: self._bert.token_ids([prompt + text for text in window]),
            lambda ids, _texts: self._encode_batch(ids),
            on_progress,
        )

    def _encode_batch(self, ids: Sequence[Sequence[int]]) -> "Floats":
        import numpy as np
        import torch

        width = max(map(len, ids))
        padded = np.full((len(ids), width), _PADDING, np.int64)
        mask = np.zeros((len(ids), width), np.float32)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = each
            mask[row, : len(each)] = 1
        distinct, places = np.unique(padded, return_inverse=True)
        words = self._bert.weights.words(distinct.tolist())[places.reshape(padded.shape)]
        kept = torch.from_numpy(mask).to(self._device)
        with torch.inference_mode():
            states = self._network(
                inputs_embeds=torch.from_numpy(words).to(self._device, self._type),
                # Without padding there is nothing to mask, and attention is faster.
                attention_mask=None if mask.all() else kept,
            ).last_hidden_state.float()
            if self._bert.is_mean:
                states = (states * kept.unsqueeze(-1)).sum(1) / kept.sum(1, keepdim=True)
            else:
                states = states[:, 0]
            return unit_vectors(states.cpu().numpy(), self.dimension)


def load_network(bert: PlainBert) -> Any:
    """Return `transformers`' BertModel with the weights of `bert`, on the processor.

    It takes `inputs_embeds`: its own table of words is empty.
    """
    import torch
    from transformers.models.bert import BertConfig, BertModel

    shape = bert.weights.shape
    config = BertConfig(
        vocab_size=1,  # word embeddings come from `bert.weights.words`
        pad_token_id=0,
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=shape.positions,
        layer_norm_eps=shape.epsilon,
    )
    with torch.device("meta"):
        network: Any = BertModel(config, add_pooling_layer=False)
    names = [name for name, _ in network.named_parameters() if "word_embeddings" not in name]
    weights = {name: torch.from_numpy(bert.weights[name].copy()) for name in names}
    weights["embeddings.word_embeddings.weight"] = torch.zeros(1, shape.hidden)
    network.load_state_dict(weights, strict=False, assign=True)
    positions = torch.arange(shape.positions).unsqueeze(0)
    network.embeddings.position_ids = positions
    network.embeddings.token_type_ids = torch.zeros_like(positions)
    return network
