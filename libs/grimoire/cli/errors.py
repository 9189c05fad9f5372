"""Failures that a person can mend, in sentences."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from grimoire.bus import BusError
from grimoire.cli.say import fail
from grimoire.client import Alarm, ClientError, NotSignedInError, Rejected, UnavailableError
from grimoire.plugins import UnknownGameError
from grimoire.runtime.config import AlreadyRunningError, ConfigError
from grimoire.runtime.keys import KeyFileError
from grimoire.runtime.stack import StackError

__all__ = ["explained"]


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turns expected failures into a sentence, a hint and an exit code."""
    try:
        yield
    except Rejected as error:
        rule = f" ({error.rule})" if error.rule else ""
        fail(f"{error.message}{rule}", hint=f"code {error.code}")
    except Alarm as error:
        fail(f"Alarm: {error}", hint="The evidence is kept in your keepsake folder. Do not play on.", code=4)
    except NotSignedInError:
        fail("You are not signed in.", hint="Give --name, or remove the stored session and try again.")
    except UnavailableError as error:
        fail(
            f"The server does not answer ({error}).", hint="Start one here with `grimoire up`, or name it by --server."
        )
    except (ClientError, UnknownGameError) as error:
        fail(str(error))
    except (ConfigError, KeyFileError, AlreadyRunningError, StackError, BusError) as error:
        fail(str(error), code=2)
