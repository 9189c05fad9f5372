"""Ties a process to the life of the one that started it, also when that one is killed without a chance to clean up.

Run as a program (`python tether.py PARENT_PID COMMAND…`) it becomes COMMAND, tied to PARENT_PID. On Linux the kernel
does the rest (prctl(2), PR_SET_PDEATHSIG survives execve). Elsewhere this program stays, watches the pipe that is its
standard input, and kills COMMAND when the parent's end of it closes. It imports nothing of the project: it starts fast.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

__all__ = ["tethered", "tie_to_parent"]

_PR_SET_PDEATHSIG = 1


def tethered(command: list[str]) -> list[str]:
    """The command line that runs a command tied to this process; give it a pipe as standard input."""
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), str(os.getpid()), *command]


def tie_to_parent(parent: int, at_end: signal.Signals = signal.SIGTERM) -> None:
    """Makes this process get a signal when its parent ends.

    Args:
        parent: pid of the parent; if it is gone already, the signal comes at once.
        at_end: the signal. On Linux the kernel sends it. Elsewhere a thread waits for the end of standard input,
            which must be a pipe held by the parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, at_end)
        if os.getppid() != parent:
            os.kill(os.getpid(), at_end)
        return

    def wait_for_end() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), at_end)

    threading.Thread(target=wait_for_end, name="tether", daemon=True).start()


def _watch(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 (the parent's own command)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())

    def wait_for_end() -> None:
        sys.stdin.buffer.read()
        child.kill()

    threading.Thread(target=wait_for_end, name="tether", daemon=True).start()
    return child.wait()


def _main(arguments: list[str]) -> int:
    parent, command = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        tie_to_parent(parent, signal.SIGKILL)
        os.execv(command[0], command)  # noqa: S606 (the parent's own command)
    return _watch(command)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
