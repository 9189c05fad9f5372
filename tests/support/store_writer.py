"""A process that writes to a store until it is killed: `python -m tests.support.store_writer URL`.

After each append it prints the version that all matches `m0`..`m7` have reached: what was printed was acknowledged.
"""

from __future__ import annotations

import asyncio
import sys

from grimoire.eventstore import open_store
from tests.support.eventstore import new_entry

MATCHES = [f"m{number}" for number in range(8)]


async def main(url: str) -> None:
    store = await open_store(url)
    head = await store.head(MATCHES[0])
    version = head.version if head else 0
    while True:
        version += 1
        await store.append([new_entry(match_id, version) for match_id in MATCHES])
        print(version, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
