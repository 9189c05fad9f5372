"""`python -m gateway.appoint NAME [moderator|player]`: what the operator makes of somebody.

There is no such call over the network: nobody can talk a server into it.
"""

from __future__ import annotations

import asyncio
import sys

from gateway.callers import Role
from gateway.database import Database
from gateway.names import name_key
from gateway.people import People
from grimoire.runtime.config import Config

__all__ = ["appoint"]


async def appoint(config: Config, name: str, role: Role) -> None:
    """Makes somebody with a password a moderator, or a player again; running sessions learn of it within seconds.

    Raises:
        LookupError: nobody with a password has this name.
        DatabaseError: the edge's database cannot be had.
    """
    async with Database(config.database_url("gateway")) as database:
        people = People(database)
        account = await people.by_name(name_key(name))
        if account is None:
            raise LookupError(f"nobody with a password is called {name!r}")
        await people.set_role(account.account_id, role)


def main(arguments: list[str]) -> int:
    """The command; gives its exit status."""
    try:
        name, role = arguments[0], Role[(arguments[1] if len(arguments) > 1 else "moderator").upper()]
    except (IndexError, KeyError):
        sys.stderr.write("usage: python -m gateway.appoint NAME [moderator|player]\n")
        return 2
    try:
        asyncio.run(appoint(Config.from_env(), name, role))
    except LookupError as error:
        sys.stderr.write(f"{error.args[0]}\n")
        return 1
    sys.stdout.write(f"{name} is a {role.name.lower()} now.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
