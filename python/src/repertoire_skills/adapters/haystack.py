"""A skill store for Haystack (``haystack-ai`` 3.1 and later).

>>> from haystack.tools import SkillToolset
>>> from repertoire_skills.adapters.haystack import RepSkillStore
>>> toolset = SkillToolset(RepSkillStore(["examples"]))
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from haystack.dataclasses import SkillInfo

from ..errors import InvalidSkill, NotFound, Refused
from ..library import Library


class RepSkillStore:
    """The active skills of some paths, or of a project and its user.

    ``budget`` limits the tokens of the catalog. Descriptions are shortened as in ``rep prompt``, and what it drops is not
    listed but named in :attr:`left_out`.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        project: str | None = None,
        trust: bool = False,
        budget: int | None = None,
    ) -> None:
        self._init = {
            "paths": None if paths is None else [os.fspath(path) for path in paths],
            "project": project,
            "trust": trust,
            "budget": budget,
        }
        self.budget = budget
        self.left_out: tuple[str, ...] = ()
        self.library = Library(paths, project=project, trust=trust, for_model=True)

    def list_skills(self) -> dict[str, SkillInfo]:
        """Returns the skills that ``rep prompt`` shows, in its order."""
        shown = self.library.prompt(budget=self.budget)
        self.left_out = shown.dropped
        return {name: SkillInfo(name, text) for name, text in zip(shown.skills, shown.descriptions)}

    def load_skill(self, name: str) -> tuple[str, list[str]]:
        """Returns the text of a skill and the files that it bundles."""
        try:
            text, shown = self.library.read(name), self.library.show(name)
        except (NotFound, InvalidSkill) as error:
            raise KeyError(name) from error
        return text, [file.path for file in shown.files if file.kind != "main"]

    def read_skill_file(self, name: str, path: str) -> str:
        """Returns one file of a skill as text."""
        try:
            return self.library.read(name, path)
        except NotFound as error:
            raise (KeyError(name) if error.code == "SKILL_NOT_FOUND" else FileNotFoundError(path)) from error
        except Refused as error:
            raise FileNotFoundError(path) from error

    def to_dict(self) -> dict[str, Any]:
        """Serializes the store."""
        return {"type": f"{type(self).__module__}.{type(self).__name__}", "init_parameters": dict(self._init)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RepSkillStore:
        """Restores a store."""
        return cls(**data["init_parameters"])
