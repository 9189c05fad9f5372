"""What a person must hear when a backup cannot be made or put back."""

from __future__ import annotations

__all__ = ["BackupError"]


class BackupError(RuntimeError):
    """It cannot be done; the message says why, and `hint` what to do. Nothing was changed."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
