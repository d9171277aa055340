"""The code of `docs/python.md`, run from top to bottom beside the examples."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import unittest
from typing import Any

from test_adapters import is_installed
from support import EXAMPLES, REPOSITORY, ScratchCase


def scripted_model() -> Any:
    """A chat model of LangChain that says one thing."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    return Scripted(messages=iter([AIMessage("creme-brulee")]))


class DocumentTest(ScratchCase):
    def test_the_code_of_the_guide_runs(self) -> None:
        shutil.copytree(EXAMPLES, self.root / "examples")
        kept = os.getcwd()
        os.chdir(self.root)
        self.addCleanup(os.chdir, kept)
        text = (REPOSITORY / "docs/python.md").read_text()
        blocks = re.findall(r"^```python(?:,needs=([\w.]+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 6)
        names: dict[str, Any] = {}
        printed = io.StringIO()
        for needed, code in blocks:
            if needed and not is_installed(needed):
                print(f"SKIPPED: {needed} is not installed, so its block did not run", file=sys.stderr)
                continue
            if needed == "langchain":
                names["model"] = scripted_model()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "docs/python.md", "exec"), names)
        self.assertIn("creme-brulee 0 ()", printed.getvalue().replace("\n", " ").replace("  ", " "))
        self.assertIn("needs confirmation", printed.getvalue())
        names["library"].close()


if __name__ == "__main__":
    unittest.main()
