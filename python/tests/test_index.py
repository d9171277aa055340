"""The wheel in an index on this machine: installed by pip into every layout, and used from there.

``pypiserver`` serves the index. Without it, the tests say so and pass; ``.ci/registries`` installs it.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import repertoire_skills
from support import EXAMPLES, REPOSITORY, ScratchCase

PROGRAM = (
    "import asyncio, sys\n"
    "from repertoire_skills import AsyncLibrary, Library, find_rep\n"
    f"print(find_rep()); print(Library([{str(EXAMPLES)!r}]).query('slugify:meta.name').value)\n"
)
VERSION = repertoire_skills.__version__
HAS_SERVER = importlib.util.find_spec("pypiserver") is not None
# Interpreters that the tests try, as far as they are installed.
INTERPRETERS = ("python3.10", "python3.11", "python3.12", "python3.13", "python3.14")


def find_interpreters() -> list[str]:
    """Returns the interpreters that start. A shim of a version manager may be there without one."""
    named = os.environ.get("REP_PYTHONS", "").split()
    found: list[str] = []
    for name in [*named, *INTERPRETERS]:
        program = shutil.which(name)
        if program is not None and subprocess.run([program, "-c", ""], capture_output=True).returncode == 0:
            found.append(program)
    return found or [sys.executable]


class IndexTest(ScratchCase):
    sbom: str

    @classmethod
    def setUpClass(cls) -> None:
        # Each test has a home of its own, in which cargo finds no toolchain.
        listing = subprocess.run([sys.executable, str(REPOSITORY / "release/sbom.py")], capture_output=True, text=True)
        assert listing.returncode == 0, listing.stderr
        cls.sbom = listing.stdout

    def start_index(self, packages: Path) -> str:
        """Starts the index with the wheels of a directory, and returns its address."""
        if not HAS_SERVER:
            print("SKIPPED: pypiserver is not installed, so no index was tried", file=sys.stderr)
            self.skipTest("pypiserver is not installed")
        for _ in range(20):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            arguments = ["run", "--interface", "127.0.0.1", "--port", str(port), "--disable-fallback", str(packages)]
            server = subprocess.Popen(
                [sys.executable, "-m", "pypiserver", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)
            while server.poll() is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                try:
                    connection.request("GET", "/simple/")
                    if connection.getresponse().status == 200:
                        return f"http://127.0.0.1:{port}/simple/"
                except OSError:
                    pass  # It does not listen yet.
                finally:
                    connection.close()
        raise AssertionError("the index does not start")

    def build(self) -> Path:
        script = REPOSITORY / "python/build_wheel.py"
        sbom = self.root / "rep.cdx.json"
        sbom.write_text(self.sbom)
        arguments = [sys.executable, str(script), repertoire_skills.find_rep(), str(self.root / "dist"), "--sbom", str(sbom)]
        printed = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
        return Path(printed.strip())

    def run_in(self, python: str, *arguments: str, **more: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in ("REP_BINARY", "PYTHONPATH")}
        environment.update(PIP_CONFIG_FILE=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1", **more)
        ran = subprocess.run([python, *arguments], capture_output=True, text=True, env=environment, cwd=self.root)
        self.assertEqual(ran.returncode, 0, ran)
        return ran.stdout

    def test_every_interpreter_installs_from_an_index(self) -> None:
        wheel = self.build()
        index = self.start_index(wheel.parent)
        install = ("-m", "pip", "install", "-q", "--index-url", index, f"repertoire-skills=={VERSION}")
        interpreters = find_interpreters()
        print(f"interpreters: {', '.join(interpreters)}", file=sys.stderr)
        for number, interpreter in enumerate(interpreters):
            venv = self.root / f"venv-{number}"
            self.run_in(interpreter, "-m", "venv", str(venv))
            python = str(venv / "bin/python")
            self.run_in(python, *install)
            self.assertEqual(self.run_in(python, "-c", PROGRAM).split(), [str(venv / "bin/rep"), "slugify"])
            self.assertEqual(self.run_in(python, "-m", "repertoire_skills", "--version"), f"rep {VERSION}\n")
            self.assertEqual(self.run_in(str(venv / "bin/rep"), "--version"), f"rep {VERSION}\n")

    def test_a_user_and_a_directory_are_places_to_install_to(self) -> None:
        wheel = self.build()
        index = self.start_index(wheel.parent)
        install = ("-m", "pip", "install", "-q", "--no-warn-script-location", "--index-url", index)
        user = self.root / "user"
        # The interpreter of a virtual environment refuses `--user`, so that of the system is used.
        base = os.path.join(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
        own = {"PYTHONUSERBASE": str(user), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
        self.run_in(base, *install, "--user", "repertoire-skills", **own)
        self.assertEqual(self.run_in(base, "-c", PROGRAM, **own).split(), [str(user / "bin/rep"), "slugify"])
        target = self.root / "target"
        self.run_in(base, *install, "--target", str(target), "repertoire-skills")
        found = self.run_in(base, "-c", PROGRAM, PYTHONPATH=str(target)).split()
        self.assertEqual(found, [str(target / "bin/rep"), "slugify"])

    def test_the_wheel_lists_its_parts(self) -> None:
        wheel = self.build()
        info = f"repertoire_skills-{VERSION}.dist-info"
        with zipfile.ZipFile(wheel) as archive:
            record = archive.read(f"{info}/RECORD").decode()
            metadata = archive.read(f"{info}/METADATA").decode()
            parts = json.loads(archive.read(f"{info}/sboms/rep.cdx.json"))
            program = archive.read(f"repertoire_skills-{VERSION}.data/scripts/rep")
        self.assertIn("License-Expression: MIT OR Apache-2.0", metadata)
        self.assertNotIn("\nRequires-Dist: ", metadata.split("\nProvides-Extra", 1)[0], "no dependencies")
        self.assertIn(f"{info}/sboms/rep.cdx.json,sha256=", record)
        self.assertEqual((parts["bomFormat"], parts["metadata"]["component"]["version"]), ("CycloneDX", VERSION))
        names = {part["name"] for part in parts["components"]}
        self.assertTrue({"rep-library", "serde_json", "rustls"} <= names, "crates that are linked")
        self.assertFalse({"insta", "proptest", "rep-test-support"} & names, "crates of the tests are not")
        self.assertTrue(all(part["purl"].startswith("pkg:cargo/") for part in parts["components"]))
        foreign = [part for part in parts["components"] if not part["name"].startswith("rep")]
        self.assertTrue(all(part.get("licenses") and part.get("hashes") for part in foreign))
        binary = Path(repertoire_skills.find_rep()).read_bytes()
        self.assertEqual(hashlib.sha256(program).digest(), hashlib.sha256(binary).digest())

    def test_auditwheel_agrees_with_the_tag(self) -> None:
        auditwheel = shutil.which("auditwheel", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
        if auditwheel is None:
            print("SKIPPED: auditwheel is not installed, so the tag was not verified", file=sys.stderr)
            return
        wheel = self.build()
        tag = wheel.name.rsplit("-", 1)[1].removesuffix(".whl")
        shown = subprocess.run([auditwheel, "show", str(wheel)], capture_output=True, text=True)
        if "not a platform wheel" in shown.stdout + shown.stderr:
            self.fail("auditwheel does not see a platform wheel")
        self.assertIn(tag, " ".join(shown.stdout.split()), shown.stdout + shown.stderr)


if __name__ == "__main__":
    unittest.main()
