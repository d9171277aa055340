#!/usr/bin/env python3
"""Writes a container image of the static programs in a directory: `release/image.py DIST OUT.tar`.

DIST holds archives of `release/build.sh`. The image has one layer with the program and nothing else, for each processor. It
is an OCI image layout in a tar archive, which `podman load`, `skopeo copy oci-archive:` and `docker load` read. The same
archives give the same bytes. `release/Containerfile` describes the same image for other builders.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
from pathlib import Path
from typing import Any

ARCHIVE = re.compile(r"rep-(?P<version>.+)-(?P<machine>x86_64|aarch64)-unknown-linux-musl\.tar\.gz")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
USER = 65534
CONFIG = {
    "User": f"{USER}:{USER}",
    "Env": ["HOME=/home", "XDG_DATA_HOME=/data", "XDG_CACHE_HOME=/data/cache", "XDG_CONFIG_HOME=/config"],
    "Entrypoint": ["/rep"],
    "Cmd": ["serve", "--http", "0.0.0.0:8300", "--path", "/skills", "--token-file", "/config/tokens", "--log", "json"],
    "ExposedPorts": {"8300/tcp": {}},
    "Volumes": {"/data": {}},
}
# Directories that the program's user writes to. The others are mounted.
FOLDERS = {"data": USER, "tmp": USER, "skills": 0, "config": 0}


class Layout:
    """The files of an OCI image layout."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def add_blob(self, data: bytes, media_type: str, **more: Any) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data), **more}

    def add_json(self, value: Any, kind: str, **more: Any) -> dict[str, Any]:
        data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
        return self.add_blob(data, f"application/vnd.oci.image.{kind}.v1+json", **more)

    def write(self, out: Path) -> None:
        with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name in sorted(self.files):
                add_file(archive, name, self.files[name], 0o644)


def add_file(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    archive.addfile(entry, io.BytesIO(data))


def make_layer(program: bytes, documents: dict[str, bytes]) -> bytes:
    """Returns the layer, uncompressed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, owner in sorted(FOLDERS.items()):
            folder = tarfile.TarInfo(name)
            folder.type, folder.uid, folder.gid = tarfile.DIRTYPE, owner, owner
            folder.mode = 0o755 if owner == 0 else 0o700
            archive.addfile(folder)
        for name, data in sorted(documents.items()):
            add_file(archive, f"usr/share/doc/rep/{name}", data, 0o644)
        add_file(archive, "rep", program, 0o755)
    return buffer.getvalue()


def read_archive(path: Path) -> tuple[bytes, dict[str, bytes]]:
    """Returns the program of an archive, and its licences and list of parts."""
    documents: dict[str, bytes] = {}
    program = b""
    with tarfile.open(path) as archive:
        for entry in archive:
            data = archive.extractfile(entry) if entry.isfile() else None
            if data is None:
                continue
            name = Path(entry.name).name
            if name == "rep":
                program = data.read()
            elif name.startswith("LICENSE") or name.endswith(".cdx.json"):
                documents[name] = data.read()
    if not program.startswith(b"\x7fELF"):
        sys.exit(f"{path} holds no program")
    return program, documents


def add_image(layout: Layout, path: Path, version: str, machine: str, source: str) -> dict[str, Any]:
    program, documents = read_archive(path)
    layer = make_layer(program, documents)
    compressed = gzip.compress(layer, 9, mtime=0)
    platform = {"os": "linux", "architecture": ARCHITECTURES[machine]}
    annotations = {
        "org.opencontainers.image.title": "rep",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
        **({"org.opencontainers.image.revision": source} if source else {}),
    }
    config = {
        **platform,
        "config": {**CONFIG, "Labels": annotations},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created_by": "release/image.py"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": layout.add_json(config, "config"),
        "layers": [layout.add_blob(compressed, "application/vnd.oci.image.layer.v1.tar+gzip")],
        "annotations": annotations,
    }
    return layout.add_json(manifest, "manifest", platform=platform)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--commit", default="", help="the commit that the programs were built from")
    arguments = parser.parse_args()
    layout = Layout()
    manifests: list[dict[str, Any]] = []
    versions: set[str] = set()
    for path in sorted(arguments.dist.glob("rep-*.tar.gz")):
        found = ARCHIVE.fullmatch(path.name)
        if found is not None:
            versions.add(found["version"])
            manifests.append(add_image(layout, path, found["version"], found["machine"], arguments.commit))
    if len(versions) != 1:
        sys.exit(f"{arguments.dist} needs the static archives of one version")
    image = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": manifests,
    }
    name = {"org.opencontainers.image.ref.name": versions.pop()}
    layout.files["index.json"] = json.dumps(
        {"schemaVersion": 2, "manifests": [layout.add_json(image, "index", annotations=name)]}, sort_keys=True
    ).encode()
    layout.write(arguments.out)
    print(f"{arguments.out} {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
