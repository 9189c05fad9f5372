"""The toy's messages, compiled from `toy.proto` when they are first imported; nothing generated is kept."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import grpc_tools
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

from grimoire.v1 import visibility_pb2  # noqa: F401  (the toy's file imports its descriptor)

_HERE = Path(__file__).parent
_PROTOS = _HERE.parents[2] / "protos"
_NAME = "toy.proto"


def _compile() -> FileDescriptor:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "toy.binpb"
        includes = (_HERE, _PROTOS, Path(grpc_tools.__file__).parent / "_proto")
        failed = protoc.main(["protoc", *(f"-I{path}" for path in includes), f"--descriptor_set_out={target}", _NAME])
        if failed:
            raise RuntimeError("toy.proto does not compile")
        files = descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes()).file
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(files[0].SerializeToString())
    return pool.FindFileByName(_NAME)


DESCRIPTOR = _compile()


def _message(name: str) -> Any:
    return GetMessageClass(DESCRIPTOR.message_types_by_name[name])


BeaconClosed = _message("BeaconClosed")
Chant = _message("Chant")
Chanted = _message("Chanted")
ChooseRune = _message("ChooseRune")
Counter = _message("Counter")
Countered = _message("Countered")
LetPass = _message("LetPass")
PassedOn = _message("PassedOn")
PositionArranged = _message("PositionArranged")
RoundStarted = _message("RoundStarted")
RuneBurnt = _message("RuneBurnt")
RuneChosen = _message("RuneChosen")
RunesDealt = _message("RunesDealt")
RunesDrawn = _message("RunesDrawn")
RunesShown = _message("RunesShown")
SeatRune = _message("SeatRune")
SeatRunes = _message("SeatRunes")
SeatView = _message("SeatView")
SetStance = _message("SetStance")
Spell = _message("Spell")
SpellUndone = _message("SpellUndone")
StanceSet = _message("StanceSet")
View = _message("View")
