"""Signed notes, keys and checkpoints: against notes signed by others, and against everything that is not one."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.fairness import Secret
from grimoire.fairness.transparency import Checkpoint, NoteError, SigningKey, VerifierKey, tree_root
from grimoire.fairness.transparency.checkpoint import open_checkpoint, sign_checkpoint
from grimoire.fairness.transparency.note import MAX_NOTE_BYTES, open_note, sign_note

# The key and note with which the first implementation of the format (Go's sumdb/note) is tested.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS_SEED = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"  # type byte and seed
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNED = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"

# Keys of other implementations, one with a plus in its base64.
OTHERS = [
    "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop",
    "TEST+7997405c+AQcC+FTVKf0jlTdHDY3rbevmnKxxPjigCXlVtGe6RIr6",
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
]

# RFC 8032, section 7.1: private key, public key, message, signature.
RFC_8032 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]

KEY = SigningKey("grimoire.example/log", Secret(bytes(range(32))))
OTHER = SigningKey("grimoire.example/log", Secret(bytes(range(1, 33))))


# ---- what others signed ----------------------------------------------------------------------------------------------


def test_a_note_signed_by_another_implementation_opens() -> None:
    assert open_note((TEXT + "\n" + SIGNED).encode(), VerifierKey.parse(PETER)) == TEXT


def test_signing_gives_the_bytes_another_implementation_gave() -> None:
    key = SigningKey("PeterNeumann", Secret(base64.b64decode(PETERS_SEED)[1:]))
    assert str(key.verifier) == PETER
    assert sign_note(TEXT, key) == (TEXT + "\n" + SIGNED).encode()


@pytest.mark.parametrize("vkey", [PETER, *OTHERS])
def test_keys_of_others_are_read_and_written_unchanged(vkey: str) -> None:
    assert str(VerifierKey.parse(vkey)) == vkey


@pytest.mark.parametrize(("private", "public", "message", "signature"), RFC_8032)
def test_signatures_are_those_of_rfc_8032(private: str, public: str, message: str, signature: str) -> None:
    key = SigningKey("k", Secret(bytes.fromhex(private)))
    assert key.verifier.public.hex() == public
    assert key.sign(bytes.fromhex(message)).hex() == signature
    assert key.verifier.verify(bytes.fromhex(message), bytes.fromhex(signature))


def test_the_key_id_is_what_the_specification_says() -> None:
    hashed = b"grimoire.example/log\n\x01" + KEY.verifier.public
    assert KEY.verifier.key_id == hashlib.sha256(hashed).digest()[:4]


# ---- notes -----------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]) | st.just("\n"), max_size=200))
def test_what_is_signed_opens_again(text: str) -> None:
    assert open_note(sign_note(text + "\n", KEY), KEY.verifier, alone=True) == text + "\n"


@pytest.mark.parametrize("text", ["no line feed", "", "tab\t\n", "return\r\n", "null\0\n"])
def test_what_cannot_be_a_notes_text_is_not_signed(text: str) -> None:
    with pytest.raises(NoteError):
        sign_note(text, KEY)


def test_every_changed_byte_is_found() -> None:
    note = sign_checkpoint(7, tree_root([]), KEY)
    for at in range(len(note)):
        for change in (note[at] ^ 1, note[at] ^ 0x20, 0x0A, 0x20):
            bad = note[:at] + bytes([change]) + note[at + 1 :]
            if bad != note:
                with pytest.raises(NoteError):
                    open_checkpoint(bad, KEY.verifier, alone=True)
        with pytest.raises(NoteError):
            open_checkpoint(note[:at] + note[at + 1 :], KEY.verifier, alone=True)
        with pytest.raises(NoteError):
            open_checkpoint(note[:at], KEY.verifier, alone=True)
    with pytest.raises(NoteError):
        open_checkpoint(note + b"\n", KEY.verifier, alone=True)


def test_signatures_of_others_are_passed_over_unless_the_note_must_stand_alone() -> None:
    note = sign_note(TEXT, KEY) + SIGNED.encode()
    assert open_note(note, KEY.verifier) == TEXT
    assert open_note(note, VerifierKey.parse(PETER)) == TEXT
    with pytest.raises(NoteError, match="other signatures"):
        open_note(note, KEY.verifier, alone=True)


def test_a_key_of_the_same_name_is_another_key() -> None:
    with pytest.raises(NoteError, match="not signed by"):
        open_note(sign_note(TEXT, OTHER), KEY.verifier)


def test_a_false_signature_beside_a_good_one_ends_it() -> None:
    lying = base64.b64encode(KEY.verifier.key_id + bytes(64)).decode()
    note = sign_note(TEXT, KEY) + f"— {KEY.verifier.name} {lying}\n".encode()
    with pytest.raises(NoteError, match="does not hold"):
        open_note(note, KEY.verifier)


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"\n\n",
        TEXT.encode(),
        (TEXT + "\n").encode(),
        (TEXT + SIGNED).encode(),
        (TEXT + "\n" + SIGNED[:-1]).encode(),
        (TEXT + "\n" + SIGNED.replace("— ", "- ")).encode(),
        (TEXT + "\n" + SIGNED.replace("— ", "—")).encode(),
        (TEXT + "\n— PeterNeumann x08goA==\n").encode(),
        (TEXT + "\n— PeterNeumann no base64!\n").encode(),
        (TEXT + "\n—  x08go/ZJkuBS9UG/\n").encode(),
        (TEXT + "\n" + SIGNED).encode() + b"\xff",
        b"\xff" * 50,
        (TEXT + "\n" + SIGNED * (MAX_NOTE_BYTES // 100)).encode(),
    ],
)
def test_what_is_no_signed_note_is_refused(note: bytes) -> None:
    with pytest.raises(NoteError):
        open_note(note, VerifierKey.parse(PETER))


def test_sixteen_signatures_are_taken() -> None:
    keys = [SigningKey(f"witness-{n}", Secret(bytes([n]) * 32)) for n in range(1, 16)]
    lines = [sign_note(TEXT, key).decode().removeprefix(TEXT + "\n") for key in keys]
    note = (sign_note(TEXT, KEY).decode() + "".join(lines)).encode()
    for key in (KEY, *keys):
        assert open_note(note, key.verifier) == TEXT


# ---- keys ------------------------------------------------------------------------------------------------------------


def test_every_piece_and_every_slip_of_a_key_is_refused() -> None:
    for start in range(len(PETER) + 1):
        for end in range(start + 1, len(PETER) + 1):
            if (start, end) != (0, len(PETER)):
                with pytest.raises(NoteError):
                    VerifierKey.parse(PETER[start:end])
    for at in range(len(PETER)):
        with pytest.raises(NoteError):
            VerifierKey.parse(PETER[:at] + chr(ord(PETER[at]) + 1) + PETER[at + 1 :])


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\tb", "a\u2003b", "a\nb"])
def test_a_keys_name_is_one_word(name: str) -> None:
    with pytest.raises(NoteError):
        VerifierKey(name, bytes(32))


def test_a_key_has_its_size() -> None:
    with pytest.raises(NoteError):
        VerifierKey("k", bytes(31))
    with pytest.raises(NoteError):
        SigningKey("k", Secret(bytes(33)))


def test_a_signing_key_does_not_show() -> None:
    assert repr(KEY) == "SigningKey('grimoire.example/log')"
    assert not any(bytes(range(32)).hex() in text for text in (repr(KEY), str(KEY), repr(vars(KEY))))


# ---- checkpoints -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**63 - 1), st.binary(min_size=32, max_size=32))
def test_a_checkpoint_says_what_was_signed(size: int, root: bytes) -> None:
    note = sign_checkpoint(size, root, KEY)
    assert open_checkpoint(note, KEY.verifier) == Checkpoint("grimoire.example/log", size, root)


def test_a_checkpoint_looks_as_the_specification_shows() -> None:
    note = sign_checkpoint(20852163, bytes.fromhex("0ac51869918" + "0" * 53), KEY).decode()
    lines = note.split("\n")
    assert lines[0] == "grimoire.example/log"
    assert lines[1] == "20852163"
    assert len(base64.b64decode(lines[2])) == 32
    assert lines[3] == ""
    assert lines[4].startswith("— grimoire.example/log ")
    assert lines[5:] == [""]


@pytest.mark.parametrize(
    "text",
    [
        "another.example/log\n7\n{root}\n",
        "grimoire.example/log\n07\n{root}\n",
        "grimoire.example/log\n-7\n{root}\n",
        "grimoire.example/log\n7\n{root}\nmore\n",
        "grimoire.example/log\n7\n",
        "grimoire.example/log\n{root}\n7\n",
        "grimoire.example/log\n9999999999999999999\n{root}\n",
        "grimoire.example/log\n7\n{short}\n",
        "grimoire.example/log\n7\n{loose}\n",
        "\n7\n{root}\n",
    ],
)
def test_a_signed_text_that_is_no_checkpoint_of_this_log_is_refused(text: str) -> None:
    root = base64.b64encode(bytes(32)).decode()
    text = text.format(root=root, short=root[:-5], loose=root[:-2] + "B=")
    with pytest.raises(NoteError):
        open_checkpoint(sign_note(text, KEY), KEY.verifier)


@pytest.mark.parametrize(("size", "root"), [(-1, bytes(32)), (2**63, bytes(32)), (0, bytes(31))])
def test_what_is_no_tree_head_is_not_signed(size: int, root: bytes) -> None:
    with pytest.raises(NoteError):
        sign_checkpoint(size, root, KEY)
