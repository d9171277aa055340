"""What the tests share: a scratch library, and a home of its own for every test."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples"

PDF = "---\nname: pdf\ndescription: Fills PDF forms. Use when the user brings a form.\n---\n\n# PDF\n\n1. Fill the form.\n"

CAREFUL = """---
name: careful
version: 1.0.0
spec_version: "2.1.0"
description: Greets with care. Use when a greeting must be confirmed.
tools:
  - name: greet
    description: Greets.
    version: 1.0.0
    input_schema: {type: object, properties: {who: {type: string}}, required: [who]}
    output_schema: {type: object, properties: {text: {type: string}}, required: [text]}
    implementation: {runtime: bash, entrypoint: scripts/greet.sh}
    confirmation: {level: always, prompt: "Greet somebody?"}
---
# Careful
"""


class ScratchCase(unittest.TestCase):
    """A test with a library of its own. The variables of this process name a home of its own too."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name).resolve()
        self.skills = self.root / "skills"
        (self.root / "home").mkdir()
        kept = dict(os.environ)

        def restore() -> None:
            os.environ.clear()
            os.environ.update(kept)

        self.addCleanup(restore)
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS"):
            os.environ.pop(name, None)
        os.environ.update(HOME=str(self.root / "home"), A_TOKEN="tops3cret-value")
        self.write("pdf/SKILL.md", PDF)
        self.write("pdf/references/forms.md", "Fields have names.\n")
        self.write("pdf/scripts/env.sh", 'printf "%s|" "$@"; printf "%s" "$A_TOKEN"; read -r x < /etc/hostname || exit 5\n')
        self.write("secret/SKILL.md", "---\nname: secret\ndescription: Deploys. Use when asked.\n"
                   "disable-model-invocation: true\n---\nGo.\n")
        self.write("broken/SKILL.md", "no frontmatter\n")

    def write(self, path: str, text: str) -> None:
        file = self.skills / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def write_careful(self) -> None:
        self.write("careful/SKILL.md", CAREFUL)
        self.write("careful/scripts/greet.sh", "read -r input; echo '{\"text\": \"hello\"}'\n")
