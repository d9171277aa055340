"""Adapters over 5,000 public skills: each lists what ``rep list`` calls active, and one broken skill costs no other.

The skills are in ``../shared/selection`` beside the repository. Only names and descriptions are compared; nothing runs.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
import time
import unittest
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repertoire_skills import Library
from support import REPOSITORY, ScratchCase
from test_adapters import needs

POOL = REPOSITORY.parent / "shared/selection/pool5k.jsonl.gz"
SHARE_MIN = 0.995
# Skills that no catalog can show. They must not cost the others.
BROKEN = ("no frontmatter\n", "---\nname: [\n---\n")


def find_pool() -> Path | None:
    """Returns the file with the skills, which worktrees of the repository have further up."""
    for folder in REPOSITORY.parents:
        found = folder / "shared/selection/pool5k.jsonl.gz"
        if found.is_file():
            return found
    print(f"SKIPPED: {POOL} does not exist, so the adapters were not compared with `rep list`", file=sys.stderr)
    return None


@unittest.skipUnless(find_pool(), f"{POOL} does not exist")
class PoolTest(ScratchCase):
    pool: tempfile.TemporaryDirectory[str]
    active: set[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.pool = tempfile.TemporaryDirectory()
        folder = Path(cls.pool.name)
        known = find_pool()
        assert known is not None
        with gzip.open(known, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                skill = json.loads(line)
                place = folder / str(number) / (skill["dir"] or skill["name"] or "skill").replace("/", "-")
                place.mkdir(parents=True)
                head = f"name: {json.dumps(skill['name'])}\ndescription: {json.dumps(skill['description'])}\n"
                (place / "SKILL.md").write_text(f"---\n{head}---\n\n{skill['body']}\n", encoding="utf-8")
        for number, text in enumerate(BROKEN):
            place = folder / f"broken-{number}" / "broken"
            place.mkdir(parents=True)
            (place / "SKILL.md").write_text(text)
        with Library([folder]) as library:
            cls.active = {skill.qualified_name for skill in library.skills()}
            statuses = [skill.status for skill in library.skills(status=None)]
        assert len(cls.active) > 4000 and statuses.count("invalid") >= len(BROKEN), len(cls.active)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.pool.cleanup()

    def compare(self, adapter: str, listed: Iterable[str], started: float) -> None:
        listed = set(listed)
        missing = self.active - listed
        share = 1 - len(missing) / len(self.active)
        seconds = time.monotonic() - started
        print(f"{adapter}: {len(listed)} of {len(self.active)} active skills ({share:.2%}), {seconds:.1f} s", file=sys.stderr)
        self.assertGreaterEqual(share, SHARE_MIN, sorted(missing)[:5])
        self.assertEqual(listed - self.active, set(), "only active skills are listed")

    @needs("langchain")
    def test_langchain(self) -> None:
        from repertoire_skills.adapters.langchain import RepSkillsMiddleware

        started = time.monotonic()
        middleware = RepSkillsMiddleware([self.pool.name])
        text = middleware.render_catalog()
        names = {name.split("</name>", 1)[0] for name in text.split("<name>")[1:]}
        self.compare("langchain", (self.unescape(name) for name in names), started)
        middleware.library.close()

    @staticmethod
    def unescape(text: str) -> str:
        import html

        return html.unescape(text)

    @needs("haystack")
    def test_haystack(self) -> None:
        from repertoire_skills.adapters.haystack import RepSkillStore

        started = time.monotonic()
        store = RepSkillStore([self.pool.name])
        self.compare("haystack", store.list_skills(), started)
        store.library.close()

    @needs("agent_framework")
    def test_agent_framework(self) -> None:
        from repertoire_skills.adapters.agent_framework import RepSkillsSource

        async def work() -> list[str]:
            source = RepSkillsSource([self.pool.name])
            names = [skill.frontmatter.name for skill in await source.get_skills()]
            await source.library.close()
            return names

        started = time.monotonic()
        self.compare("agent-framework", asyncio.run(work()), started)

    @needs("google.adk.skills")
    def test_adk(self) -> None:
        from repertoire_skills.adapters.adk import RepSkillRegistry

        async def work() -> list[str]:
            registry = RepSkillRegistry([self.pool.name])
            names: list[str] = []
            # The registry has no list, so each skill is loaded by its name.
            for name in sorted(self.active):
                skill: Any = await registry.get_skill(name=name)
                names.append(skill.frontmatter.name)
            await registry.library.close()
            return names

        started = time.monotonic()
        self.compare("google-adk", asyncio.run(work()), started)

    @needs("pydantic_ai_skills")
    def test_pydantic_ai(self) -> None:
        from pydantic_ai_skills import SkillsCapability

        from repertoire_skills.adapters.pydantic_ai import rep_skills

        started = time.monotonic()
        with Library([self.pool.name], for_model=True) as library:
            skills = rep_skills(library=library)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                SkillsCapability(skills=skills)
            # A colon becomes a hyphen, so the skills are compared by the order that both have.
            shown = library.prompt().skills
            self.assertEqual([skill.name for skill in skills], [name.replace(":", "-") for name in shown])
            self.compare("pydantic-ai-skills", shown, started)


if __name__ == "__main__":
    unittest.main()
