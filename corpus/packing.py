"""Putting neighbouring units of a text together into passages that an encoder reads whole."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.passage_limit import Limit, Unit

# Below these shares of the limit a passage is small, and joins a neighbour where it may.
_SMALL = 0.25
_TINY = 0.06


def packed(units: list[Unit], limit: Limit) -> list[list[Unit]]:
    """Put neighbouring units together into groups that fit."""
    groups: list[list[Unit]] = []
    for section in _sections(units):
        groups.extend(_filled(section, limit))
    return _joined(groups, limit)


def _sections(units: list[Unit]) -> list[list[Unit]]:
    """Part the units where the heading path changes."""
    sections: list[list[Unit]] = []
    for unit in units:
        same = bool(sections) and sections[-1][-1].headings == unit.headings
        # A heading of the same words begins a section of its own, but not the rest of a cut one.
        if same and (not unit.is_heading or sections[-1][-1].is_heading):
            sections[-1].append(unit)
        else:
            sections.append([unit])
    return sections


def _filled(section: list[Unit], limit: Limit) -> list[list[Unit]]:
    """Divide one section into groups of like size, as few as the limit allows."""
    room = limit.room(section[0].headings)
    groups: list[list[Unit]] = []
    used = 0
    left = sum(unit.tokens for unit in section)
    aim = _aim(left, room)
    for unit in section:
        size = groups[-1][-1].end - groups[-1][0].start if groups else 0
        fits = used + unit.tokens <= room and size + unit.end - unit.start < limit.characters
        only_heading = bool(groups) and all(member.is_heading for member in groups[-1])
        if groups and fits and (only_heading or used + unit.tokens / 2 <= aim):
            groups[-1].append(unit)
            used += unit.tokens
        else:
            groups.append([unit])
            used = unit.tokens
            aim = _aim(left, room)
        left -= unit.tokens
    return groups


def _aim(tokens: int, room: int) -> float:
    """Return the size of a passage when ``tokens`` are shared out evenly over as few as fit."""
    return tokens / max(1, -(-tokens // room))


def _joined(groups: list[list[Unit]], limit: Limit) -> list[list[Unit]]:
    """Join groups that are too small to stand alone: lone headings, short sections, remnants.

    A lone heading goes to what it is the heading of. Short sections under one parent go together,
    and whatever is tiny after that goes to the neighbour it has more headings in common with.
    """
    joined: list[list[Unit]] = []
    for group in groups:
        before = joined[-1] if joined else None
        if before and all(unit.is_heading for unit in before) and _below(before, group):
            fits = _fits(before, group, limit)
        else:
            fits = bool(before) and _are_short(joined[-1], group, limit)
        if fits:
            joined[-1] = joined[-1] + group
        else:
            joined.append(group)
    return _without_tiny(joined, limit)


def _below(before: list[Unit], after: list[Unit]) -> bool:
    path = before[-1].headings
    return after[0].headings[: len(path)] == path


def _are_short(before: list[Unit], after: list[Unit], limit: Limit) -> bool:
    """Say whether two sections are short enough to share a passage.

    Across a top heading both must be on the top level themselves, and one hardly a section.
    """
    smaller, larger = sorted((_size(before), _size(after)))
    paths = before[-1].headings, after[0].headings
    if paths[0][:1] == paths[1][:1]:
        short = _SMALL
    elif max(map(len, paths)) <= 1:
        short = _SMALL / 2
    else:
        return False
    return (
        smaller < short * limit.max_tokens
        and larger < 2 * _SMALL * limit.max_tokens
        and _fits(before, after, limit)
    )


def _without_tiny(groups: list[list[Unit]], limit: Limit) -> list[list[Unit]]:
    kept: list[list[Unit]] = []
    for index, group in enumerate(groups):
        if kept and min(_size(kept[-1]), _size(group)) < _TINY * limit.max_tokens:
            following = groups[index + 1] if index + 1 < len(groups) else None
            nearer = (
                _size(group) < _TINY * limit.max_tokens
                and following is not None
                and len(common([*group, *following])) > len(common([*kept[-1], *group]))
                and _fits(group, following, limit)
            )
            if not nearer and _fits(kept[-1], group, limit):
                kept[-1] = kept[-1] + group
                continue
        kept.append(group)
    return kept


def _size(group: list[Unit]) -> int:
    return sum(unit.tokens for unit in group)


def _fits(before: list[Unit], after: list[Unit], limit: Limit) -> bool:
    room = limit.room(common([*before, *after]))
    length = after[-1].end - before[0].start
    return _size(before) + _size(after) <= room and length <= limit.characters


def common(units: Sequence[Unit]) -> tuple[str, ...]:
    """Return the heading path that all units share."""
    path = units[0].headings
    for unit in units[1:]:
        shared = 0
        for ours, theirs in zip(path, unit.headings, strict=False):
            if ours != theirs:
                break
            shared += 1
        path = path[:shared]
    return path
