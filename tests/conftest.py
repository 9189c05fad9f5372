"""For every test of the project."""

from __future__ import annotations

import os

# gRPC's fork handlers disturb the processes that tests start; must be set before gRPC is imported.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from hypothesis import settings

# A test never asserts wall time: a busy machine may be slow with an example.
settings.register_profile("grimoire", deadline=None)
settings.load_profile("grimoire")
