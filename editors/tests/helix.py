#!/usr/bin/env python3
"""Drives the language server in a real Helix, which has no headless mode: in a pseudo-terminal.

helix.py HX CONFIG FILE WAIT KEYS…: opens FILE, and for each pair of WAIT and KEYS waits until the screen showed the
text WAIT, and then types KEYS. Exits with 1, and prints the screen, if a text does not appear. CONFIG is the directory
that contains `helix/languages.toml`.
"""
import codecs
import os
import pty
import re
import select
import struct
import sys
import time

import fcntl
import termios

WAIT_SECONDS = 30


def main():
    helix, config, file, *steps = sys.argv[1:]
    environment = {**os.environ, "XDG_CONFIG_HOME": config, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(helix, [helix, file], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 200, 0, 0))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    seen = ""
    for wanted, keys in zip(steps[::2], steps[1::2]):
        deadline = time.monotonic() + WAIT_SECONDS
        # Cells that do not change are not drawn again, spaces among them.
        while squeeze(wanted) not in squeeze(text := plain(seen)):
            if time.monotonic() > deadline:
                print(f"{wanted!r} did not appear; the screen showed:\n{text[-4000:]}")
                os.kill(child, 9)
                sys.exit(1)
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    seen += decoder.decode(os.read(terminal, 65536))
                except OSError:
                    print(f"Helix ended before {wanted!r}; the screen showed:\n{plain(seen)[-4000:]}")
                    sys.exit(1)
        print(f"saw {wanted!r}")
        seen = ""
        os.write(terminal, codecs.decode(keys, "unicode_escape").encode())
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                pass
    os.kill(child, 9)
    sys.exit("Helix did not end")


def squeeze(text):
    """Removes all white space."""
    return "".join(text.split())


def plain(text):
    """Removes what moves the cursor or changes colours."""
    text = re.sub(r"\x1b\[[0-9;]*[Hf]", "\n", text)
    return re.sub(r"\x1b(\[[?>=]?[0-9;:]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>78])", "", text)


main()
