"""What a benchmark says of the machine it ran on, and how it waits until others leave it alone."""

from __future__ import annotations

import os
import platform
import time

import psutil

_LOOK_S = 1.0


def wait_until_idle(busy_percent: float = 15.0, give_up_s: float = 60.0) -> float:
    """Waits until other processes use little of the machine.

    Returns:
        Percent of all processors that others used in the last second: if it is high, the figures that follow are low.
    """
    give_up = time.monotonic() + give_up_s
    while True:
        busy = psutil.cpu_percent(_LOOK_S)
        if busy <= busy_percent or time.monotonic() > give_up:
            return busy


def told(busy: float) -> str:
    """One line on the machine."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return (
        f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()} {platform.release()}; "
        f"others used {busy:.0f} % before the start, load average {load}"
    )
