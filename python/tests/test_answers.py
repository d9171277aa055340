"""Every method of ``rep api``, answered by the program and read with the generated types: no field is unknown or lost."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repertoire_skills import Library, types
from support import EXAMPLES, REPOSITORY, ScratchCase

METHODS_FILE = REPOSITORY / "schemas/api.d.ts"
# What each method is asked over the examples; `npm/tests` reads the file too. The test fails if a method is missing.
QUESTIONS: dict[str, list[dict[str, Any]]] = json.loads((Path(__file__).parent / "questions.json").read_text())


def result_types() -> dict[str, str]:
    """Returns the type of each method's result, from the description of the methods."""
    found = re.findall(r"@method (\w+)\n \* @result (\w+)", METHODS_FILE.read_text())
    return dict(found)


def find_lost_fields(value: Any, read: Any, path: str) -> Iterator[str]:
    """Lists the fields of a document that its value does not have."""
    if dataclasses.is_dataclass(read):
        assert isinstance(value, Mapping), path
        names = {field.name.rstrip("_") for field in dataclasses.fields(read)}
        for key, inner in value.items():
            name = re.sub(r"\W", "_", key).rstrip("_")
            if name not in names:
                yield f"{path}.{key}"
                continue
            attribute = name if hasattr(read, name) else f"{name}_"
            yield from find_lost_fields(inner, getattr(read, attribute), f"{path}.{key}")
    elif isinstance(read, tuple):
        assert isinstance(value, list) and len(value) == len(read), path
        for number, (inner, item) in enumerate(zip(value, read)):
            yield from find_lost_fields(inner, item, f"{path}[{number}]")
    elif isinstance(read, Mapping) and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from find_lost_fields(inner, read[key], f"{path}.{key}")
    elif read != value:
        yield f"{path}: {read!r} instead of {value!r}"


class AnswersTest(ScratchCase):
    def test_every_answer_is_read_completely(self) -> None:
        kinds = result_types()
        with Library([EXAMPLES]) as library:
            self.assertEqual(sorted(QUESTIONS), sorted(library.hello().methods))
            self.assertEqual(sorted(QUESTIONS), sorted(kinds))
            # The audit is asked last, so that it has something to tell.
            for method in sorted(QUESTIONS, key=lambda name: name == "audit"):
                kind: Any = getattr(types, kinds[method])
                for params in QUESTIONS[method]:
                    answer = library._engine.call(method, params)  # pyright: ignore[reportPrivateUsage]
                    if hasattr(kind, "from_json"):
                        read = kind.from_json(answer)
                    else:
                        read = self.read_union(kind, answer)
                    self.assertEqual(list(find_lost_fields(answer, read, method)), [])
            self.assertGreaterEqual(len(library.audit().runs), 2)

    @staticmethod
    def read_union(kind: Any, answer: Any) -> Any:
        """Reads an answer with the one type of several that has its fields."""
        for one in kind.__args__:
            try:
                return one.from_json(answer)
            except (KeyError, TypeError):
                continue
        raise AssertionError(f"no type of {kind} reads {answer}")
