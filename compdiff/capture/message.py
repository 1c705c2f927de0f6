"""What a child process tells its parent. In: records. Out: bytes, not pickle: receipt runs nothing.

msgpack keeps NaN and infinity, which JSON cannot. A run travels as raw bytes and is decoded only if
it is the last one.
"""

from typing import Literal

import msgspec

from compdiff.model import Failure, Run


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `stage` that starts, a `partial` or `final` run, a `failure` that ended it, an `answer`."""

    kind: Literal["stage", "partial", "final", "failure", "answer"]
    stage: str = ""
    run: msgspec.Raw = msgspec.Raw()
    failure: Failure | None = None
    hint: str = ""
    answer: bool = False


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Message)
_RUN_DECODER = msgspec.msgpack.Decoder(Run)


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    return _ENCODER.encode(message)


def decode(data: bytes) -> Message:
    """Return the message in some bytes."""
    return _DECODER.decode(data)


def raw_run(run: Run) -> msgspec.Raw:
    """Return a run as it travels in a message."""
    return msgspec.Raw(_ENCODER.encode(run))


def run_of(message: Message) -> Run:
    """Return the run that a message carries."""
    return _RUN_DECODER.decode(message.run)
