"""What is said of pages that were recognised, or could not be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from corpus.document import Extracted

_MANY = 5


def marked(extracted: Extracted, recognised: Collection[int]) -> Extracted:
    """Mark the blocks of the recognised pages as such."""
    blocks = tuple(replace(block, ocr=block.page in recognised) for block in extracted.blocks)
    return replace(extracted, blocks=blocks)


def refusals(refused: Mapping[int, str]) -> list[str]:
    """Name the pages that could not be recognised, those of one reason together."""
    by_reason: dict[str, list[int]] = {}
    for number, reason in refused.items():
        by_reason.setdefault(reason, []).append(number)
    return [f"{numbered(numbers)}: {reason}" for reason, numbers in by_reason.items()]


def numbered(numbers: Sequence[int]) -> str:
    """Name pages, not more than a few of them one by one."""
    shown = ", ".join(map(str, numbers[:_MANY]))
    if len(numbers) > _MANY:
        shown += f" and {len(numbers) - _MANY} more"
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"
