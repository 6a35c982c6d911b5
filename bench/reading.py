"""How fast files are read, and in how much memory: the reading side alone, nothing is kept.

    python -m bench.reading FOLDER [--workers 2]
    python -m bench.reading --giants [--text-mb 2048] [--pages 5000] [--folder DIR]

The first form reads every file below FOLDER as an ingest does, containers as folders, and prints
files, megabytes, files a second and megabytes a second for each media type or reason, and the peak
resident memory of this process and of its largest reader. Seconds of a type are the wall clock from
the file that came before to each of its own, so that the types add up to the whole. The second form
makes a text and a PDF of those sizes in a temporary folder below DIR, reads them the same way and
deletes them; it needs twice the size of the text on that disk. Nothing here is a timed assertion.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.containers import container_kind
from indexer.extraction import extract_files
from indexer.unpacking import Held, Unpacker

MB = 2**20


@dataclass(slots=True)
class Tally:
    """What was read of one kind: files, their bytes, characters of text, seconds of wall clock."""

    files: int = 0
    size: int = 0
    characters: int = 0
    seconds: float = 0.0


def main() -> None:
    """Read what was asked for and print one table."""
    options = _options()
    if options.giants:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            for make, amount in ((_giant_text, options.text_mb), (_giant_pdf, options.pages)):
                if amount:
                    path = make(Path(folder), amount)
                    print(f"\n{path.name}: {path.stat().st_size / MB:,.1f} MB")
                    _measure([path], options.workers, folder)
                    path.unlink()
    else:
        paths = sorted(path for path in options.source.rglob("*") if path.is_file())
        _measure(paths, options.workers, options.folder)


def _measure(paths: list[Path], workers: int, folder: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as unpacked:
        started = time.perf_counter()
        files = list(_files(paths, Path(unpacked)))
        looked = time.perf_counter() - started
        size_of = {key: os.stat(path).st_size for key, path in files}
        tallies: dict[str, Tally] = defaultdict(Tally)
        started = last = time.perf_counter()
        for read in extract_files(files, workers=workers):
            kind = read.extracted.media_type if read.extracted else "(not read)"
            if read.failure is not None and len(files) < 10:
                print(f"{read.key}: {read.failure.reason}")
            now = time.perf_counter()
            tally = tallies[kind]
            tally.files += 1
            tally.size += size_of[read.key]
            tally.characters += len(read.extracted.text) if read.extracted else 0
            tally.seconds += now - last
            last = now
        elapsed = time.perf_counter() - started
    print(f"{'kind':66}{'files':>7}{'MB':>9}{'M chars':>9}{'s':>8}{'files/s':>9}{'MB/s':>8}")
    for kind, tally in sorted(tallies.items(), key=lambda item: -item[1].seconds):
        print(_row(kind, tally))
    whole = Tally(
        len(files),
        sum(size_of.values()),
        sum(tally.characters for tally in tallies.values()),
        elapsed,
    )
    print(_row(f"all, {workers} workers", whole))
    print(
        f"looking and unpacking {looked:.1f} s; peak memory: this process "
        f"{_peak(resource.RUSAGE_SELF):,.0f} MB, largest reader "
        f"{_peak(resource.RUSAGE_CHILDREN):,.0f} MB"
    )


def _files(paths: list[Path], unpacked: Path) -> Iterator[tuple[str, bytes]]:
    """Every file to read, what containers hold instead of them, as (key, path)."""
    with Unpacker(unpacked) as unpacker:
        for path in paths:
            raw = os.fsencode(path)
            held = unpacker.unpack(raw) if container_kind(path) else None
            if held is None:
                yield str(path), raw
            elif isinstance(held, Held):
                for name, at in held.members:
                    yield f"{path}/{os.fsdecode(name)}", at
            else:
                print(f"{path}: {held.reason}")


def _row(kind: str, tally: Tally) -> str:
    seconds = max(tally.seconds, 1e-9)
    return (
        f"{kind[:65]:66}{tally.files:>7,}{tally.size / MB:>9,.1f}{tally.characters / 1e6:>9,.1f}"
        f"{tally.seconds:>8,.1f}{tally.files / seconds:>9,.1f}{tally.size / MB / seconds:>8,.2f}"
    )


def _peak(who: int) -> float:
    """Peak resident memory in MB; Linux counts in kilobytes, macOS in bytes."""
    return resource.getrusage(who).ru_maxrss / (MB if sys.platform == "darwin" else 1024)


def _giant_text(folder: Path, megabytes: int) -> Path:
    """A log of that many megabytes in lines and paragraphs, no megabyte like another."""
    path = folder / "giant.log"
    lines = [
        f"2024-05-07 10:02:{n % 60:02d} node{n % 97} ERROR E-{n % 9973:04d} "
        f"the purge valve of compressor {n} is stuck, see step {n % 311}\n"
        for n in range(11_000)
    ]
    lines[::20] = ["\n"] * len(lines[::20])
    block = "".join(lines)[: MB - 100]
    with path.open("w", encoding="ascii") as out:
        for number in range(megabytes):
            out.write(f"{block}\n\nblock {number}\n".ljust(MB))
    return path


def _giant_pdf(folder: Path, pages: int) -> Path:
    """A manual of that many full pages, each with a heading, running head and number."""
    from reportlab.pdfgen.canvas import Canvas

    path = folder / "giant.pdf"
    canvas = Canvas(str(path))
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(50, 810, "Pump manual PX-310")
        canvas.drawString(520, 30, str(page))
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(50, 780, f"Step {page}")
        canvas.setFont("Helvetica", 10)
        for line in range(45):
            canvas.drawString(
                50,
                755 - line * 15,
                f"Tighten bolt B-{page * 45 + line} of flange {line} to {20 + line % 30} Nm and "
                f"write down E-{page:04d}-{line} in the log.",
            )
        canvas.showPage()
    canvas.save()
    return path


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("source", nargs="?", type=Path)
    what.add_argument("--giants", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", help="where temporary files go")
    parser.add_argument("--text-mb", type=int, default=2048)
    parser.add_argument("--pages", type=int, default=5000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
