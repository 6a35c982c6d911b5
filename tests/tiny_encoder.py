"""A real sentence-transformers model that is small enough to encode with in a test.

One random transformer layer over bytes: texts that share bytes come out alike, which is all the
tests need of a meaning, and every code path of a large model is walked.
"""

from __future__ import annotations

from pathlib import Path

DIMENSION = 32
MAX_TOKENS = 256


def make_tiny_encoder(folder: Path, *, seed: int = 7) -> Path:
    """Write the model into ``folder``, another one for each ``seed``."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    vocabulary = {token: number for number, token in enumerate([*special, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    plain = folder / "plain"
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        model_max_length=MAX_TOKENS,
    ).save_pretrained(plain)
    torch.manual_seed(seed)
    BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=DIMENSION,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=MAX_TOKENS,
        )
    ).save_pretrained(plain)
    body = Transformer(str(plain), max_seq_length=MAX_TOKENS)
    SentenceTransformer(modules=[body, Pooling(DIMENSION, "mean"), Normalize()]).save(
        str(folder / "model")
    )
    return folder / "model"
