"""For every test of the project."""

from __future__ import annotations

import os

# gRPC's fork handlers disturb the processes that tests start; must be set before gRPC is imported.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
