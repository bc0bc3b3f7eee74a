"""Name the user of a command, for the records of what operators change."""

import getpass
import os


def operator() -> str:
    """Return the name of the account that runs this command; its number where the account has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
