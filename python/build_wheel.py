"""Builds a wheel of this package around a built program: `python3 build_wheel.py PROGRAM OUT [--tag TAG] [--sbom FILE]`.

A wheel is an archive with three files of metadata. Two builds of the same program have the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "src" / "repertoire_skills"
LICENSES = ("LICENSE-MIT", "LICENSE-APACHE")
# The earliest time that an archive can hold, so that builds are reproducible.
TIME = (1980, 1, 1, 0, 0, 0)
MACHINES = {62: "x86_64", 183: "aarch64"}


def read_metadata() -> tuple[str, str]:
    """Returns the metadata of the wheel and its version. `tomllib` is missing in Python 3.10, so this reads less."""
    text = (HERE / "pyproject.toml").read_text()

    def field(name: str) -> str:
        found = re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE)
        if found is None:
            raise SystemExit(f"pyproject.toml has no `{name}`")
        return found.group(1)

    lines = [
        "Metadata-Version: 2.4",
        f"Name: {field('name')}",
        f"Version: {field('version')}",
        f"Summary: {field('description')}",
        f"Requires-Python: {field('requires-python')}",
        f"License-Expression: {field('license')}",
        *(f"License-File: {name}" for name in LICENSES),
        *(f"Classifier: {line}" for line in re.findall(r'^  "(.* :: .*)",$', text, re.MULTILINE)),
        "Description-Content-Type: text/markdown",
    ]
    extras = text.split("[project.optional-dependencies]", 1)[1].split("\n[", 1)[0]
    for extra, requirement in re.findall(r'^([\w-]+) = \["(.*)"\]$', extras, re.MULTILINE):
        lines += [f"Provides-Extra: {extra}", f'Requires-Dist: {requirement}; extra == "{extra}"']
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text(), field("version")


def find_tag(program: bytes) -> str:
    """Returns the platform tag that the program itself asks for: its machine, and its highest version of glibc."""
    if program[:4] != b"\x7fELF":
        raise SystemExit("the program is not an ELF file; pass --tag")
    machine = MACHINES.get(int.from_bytes(program[18:20], "little"))
    if machine is None:
        raise SystemExit("the machine of the program is not known; pass --tag")
    versions = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)\b", program)}
    if b"GLIBC_ABI_DT_RELR" in program:
        # Loaders before glibc 2.36 refuse packed relocations.
        versions.add((2, 36))
    if not versions:
        return f"musllinux_1_2_{machine}"
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{machine}"


def build(program: Path, out: Path, tag: str | None, sbom: Path | None) -> Path:
    """Writes the wheel and returns its path."""
    metadata, version = read_metadata()
    binary = program.read_bytes()
    tag = tag or find_tag(binary)
    base = f"repertoire_skills-{version}"
    info = f"{base}.dist-info"
    files: list[tuple[str, bytes, int]] = []
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(PACKAGE.parent).as_posix()
            files.append((name, path.read_bytes(), 0o644))
    files.append((f"{base}.data/scripts/rep", binary, 0o755))
    for name in LICENSES:
        files.append((f"{info}/licenses/{name}", (HERE.parent / name).read_bytes(), 0o644))
    if sbom is not None:
        # The place that PEP 770 names.
        files.append((f"{info}/sboms/rep.cdx.json", sbom.read_bytes(), 0o644))
    files.append((f"{info}/METADATA", metadata.encode(), 0o644))
    wheel = f"Wheel-Version: 1.0\nGenerator: build_wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    files.append((f"{info}/WHEEL", wheel.encode(), 0o644))
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data, _ in files
    )
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{base}-py3-none-{tag}.whl"
    with tempfile.NamedTemporaryFile(dir=out, delete=False) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data, mode in files:
                entry = zipfile.ZipInfo(name, TIME)
                entry.external_attr = (0o100000 | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, data)
    Path(temporary.name).chmod(0o644)
    Path(temporary.name).replace(path)
    return path


def check_version(program: Path, version: str) -> None:
    """Fails if the program has another version than the package."""
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if printed != f"rep {version}":
        raise SystemExit(f"the package has the version {version}, and `{program}` is `{printed}`")


def main() -> None:
    """Reads the arguments and builds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tag", help="the platform tag, such as manylinux_2_28_x86_64")
    parser.add_argument("--sbom", type=Path, help="the list of the program's parts, from release/sbom.py")
    parser.add_argument("--foreign", action="store_true", help="the program cannot be started on this machine")
    arguments = parser.parse_args()
    if not arguments.foreign:
        check_version(arguments.program, read_metadata()[1])
    path = build(arguments.program, arguments.out, arguments.tag, arguments.sbom)
    print(path)
    print(f"{path.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
