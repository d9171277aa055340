"""The wheel: built twice with the same bytes, installed without a network, and used from there."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import repertoire_skills
from support import EXAMPLES, REPOSITORY, ScratchCase

PROGRAM = (
    "from repertoire_skills import Library, find_rep\n"
    f"print(find_rep()); print(Library([{str(EXAMPLES)!r}]).query('slugify:meta.name').value)\n"
)


class WheelTest(ScratchCase):
    def build(self, out: Path) -> Path:
        script = REPOSITORY / "python/build_wheel.py"
        arguments = [sys.executable, str(script), repertoire_skills.find_rep(), str(out)]
        return Path(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip())

    def run_python(self, python: str, *arguments: str, **more: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in ("REP_BINARY", "PYTHONPATH")}
        environment.update(more)
        ran = subprocess.run([python, *arguments], capture_output=True, text=True, env=environment, cwd=self.root)
        self.assertEqual(ran.returncode, 0, ran)
        return ran.stdout

    def test_a_wheel_is_reproducible_and_works_where_it_is_installed(self) -> None:
        wheel = self.build(self.root / "one")
        self.assertEqual(wheel.read_bytes(), self.build(self.root / "two").read_bytes())
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        self.assertIn("repertoire_skills/py.typed", names)
        self.assertIn("repertoire_skills-0.1.0.dist-info/licenses/LICENSE-MIT", names)
        subprocess.run([sys.executable, "-m", "venv", str(self.root / "venv")], check=True)
        python = str(self.root / "venv/bin/python")
        install = ("-m", "pip", "--disable-pip-version-check", "-q", "install", "--no-index")
        self.run_python(python, *install, str(wheel))
        found, name = self.run_python(python, "-c", PROGRAM).split()
        self.assertEqual((found, name), (str(self.root / "venv/bin/rep"), "slugify"))
        self.assertEqual(self.run_python(python, "-m", "repertoire_skills", "--version"), "rep 0.1.0\n")
        self.assertEqual(self.run_python(str(self.root / "venv/bin/rep"), "--version"), "rep 0.1.0\n")
        target = self.root / "target"
        self.run_python(python, *install, "--target", str(target), str(wheel))
        self.run_python(python, "-m", "pip", "-q", "uninstall", "-y", "repertoire-skills")
        found, name = self.run_python(python, "-c", PROGRAM, PYTHONPATH=str(target)).split()
        self.assertEqual((found, name), (str(target / "bin/rep"), "slugify"))


if __name__ == "__main__":
    unittest.main()
