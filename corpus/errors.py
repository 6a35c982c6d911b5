"""The root of every error this project raises on purpose, and the one that extraction raises.

The whole tree is drawn at the top of ``store/errors.py``; these two live here because ``corpus``
imports nothing of ours.
"""

from __future__ import annotations


class CounterpointError(Exception):
    """A situation with a sentence for its user: what, which one, and what to do next.

    ``exit_code`` is what a command ends with when this error reaches its edge.
    """

    exit_code = 2


class NotExtractable(CounterpointError):
    """A file has no text to offer, and the message is the reason a maintainer reads.

    ``stage`` names the step that gave up: ``read``, ``type``, ``extract`` or ``text``. ``waiting``
    counts the pages that could be recognised (OCR) but were not.
    """

    def __init__(self, reason: str, *, stage: str = "extract", waiting: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.stage = stage
        self.waiting = waiting
