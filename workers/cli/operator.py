"""Name the user of a command, for the records of what operators change."""

import os
import pwd


def operator() -> str:
    """Return the name of the account that runs this command, whatever its environment says; its number without a name."""
    account = os.getuid()
    try:
        return pwd.getpwuid(account).pw_name
    except KeyError:
        return f"uid {account}"
