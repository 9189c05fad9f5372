"""`make bench`: every benchmark in one run, on a machine that is otherwise idle."""

from __future__ import annotations

import asyncio

from tests.benchmarks import bench_eventstore, bench_path

if __name__ == "__main__":
    asyncio.run(bench_path.main())
    asyncio.run(bench_eventstore.main())
