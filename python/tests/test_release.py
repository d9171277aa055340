"""The container image that ``release/image.py`` writes, read part by part."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path
from typing import Any

from support import REPOSITORY, ScratchCase

PARTS = ["config", "data", "skills", "tmp", "usr/share/doc/rep/LICENSE-MIT", "usr/share/doc/rep/rep.cdx.json", "rep"]


class ImageTest(ScratchCase):
    def write_archives(self) -> None:
        for machine in ("x86_64", "aarch64"):
            name = f"rep-1.2.3-{machine}-unknown-linux-musl"
            parts = {"rep": b"\x7fELF of " + machine.encode(), "LICENSE-MIT": b"MIT\n", "rep.cdx.json": b"{}\n"}
            with tarfile.open(self.root / f"{name}.tar.gz", "w:gz") as archive:
                for part, data in parts.items():
                    entry = tarfile.TarInfo(f"{name}/{part}")
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))

    def build(self, out: str) -> Path:
        arguments = [sys.executable, str(REPOSITORY / "release/image.py"), ".", out, "--commit", "0123abc"]
        built = subprocess.run(arguments, cwd=self.root, capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built)
        return self.root / out

    def test_it_holds_the_static_programs_and_nothing_else(self) -> None:
        self.write_archives()
        image = self.build("one.tar")
        self.assertEqual(image.read_bytes(), self.build("two.tar").read_bytes(), "the same archives give the same image")
        with tarfile.open(image) as archive:
            files = {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]

        def blob(descriptor: dict[str, Any]) -> bytes:
            kind, digest = descriptor["digest"].split(":")
            data = files[f"blobs/{kind}/{digest}"]
            self.assertEqual((len(data), hashlib.sha256(data).hexdigest()), (descriptor["size"], digest))
            return data

        images = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
        machines = {one["platform"]["architecture"]: one for one in images["manifests"]}
        self.assertEqual(sorted(machines), ["amd64", "arm64"])
        for architecture, machine in (("amd64", b"x86_64"), ("arm64", b"aarch64")):
            manifest = json.loads(blob(machines[architecture]))
            config = json.loads(blob(manifest["config"]))
            self.assertEqual((config["os"], config["architecture"]), ("linux", architecture))
            self.assertEqual((config["config"]["Entrypoint"], config["config"]["User"]), (["/rep"], "65534:65534"))
            self.assertEqual(config["config"]["Labels"]["org.opencontainers.image.revision"], "0123abc")
            layer = gzip.decompress(blob(manifest["layers"][0]))
            self.assertEqual(config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(layer).hexdigest()}"])
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                self.assertEqual(archive.getnames(), PARTS)
                program = archive.getmember("rep")
                self.assertEqual((program.mode, archive.extractfile(program).read()), (0o755, b"\x7fELF of " + machine))  # type: ignore[union-attr]
                self.assertEqual((archive.getmember("data").uid, archive.getmember("data").mode), (65534, 0o700))
        skopeo = shutil.which("skopeo")
        if skopeo is None:
            print("SKIPPED: skopeo is not installed, so no other program read the image", file=sys.stderr)
            return
        shown = subprocess.run([skopeo, "inspect", "--raw", f"oci-archive:{image}"], capture_output=True, check=True)
        self.assertEqual(json.loads(shown.stdout), images)

    def test_archives_of_several_versions_are_refused(self) -> None:
        self.write_archives()
        older = self.root / "rep-1.2.2-x86_64-unknown-linux-musl.tar.gz"
        shutil.copy(self.root / "rep-1.2.3-x86_64-unknown-linux-musl.tar.gz", older)
        arguments = [sys.executable, str(REPOSITORY / "release/image.py"), ".", "out.tar"]
        refused = subprocess.run(arguments, cwd=self.root, capture_output=True, text=True)
        self.assertEqual((refused.returncode, (self.root / "out.tar").exists()), (1, False))
        self.assertIn("of one version", refused.stderr)


if __name__ == "__main__":
    unittest.main()
