#!/usr/bin/env python3
"""Lists the crates that are linked into the program, as CycloneDX 1.5: `release/sbom.py [TARGET]`.

The list comes from Cargo.lock and from the manifests of the crates. The same source gives the same bytes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Links of the graph that end up in the program.
LINKED = (None, "build")


def read_metadata(target: str | None) -> dict[str, Any]:
    arguments = ["cargo", "metadata", "--locked", "--format-version", "1"]
    if target is not None:
        arguments += ["--filter-platform", target]
    printed = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    if printed.returncode != 0:
        sys.exit(printed.stderr)
    return json.loads(printed.stdout)


def find_linked(metadata: dict[str, Any], root: str) -> dict[str, list[str]]:
    """Returns the packages that the program needs, each with those that it needs itself."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    linked: dict[str, list[str]] = {}
    waiting = [root]
    while waiting:
        package = waiting.pop()
        if package in linked:
            continue
        needed = [
            dependency["pkg"]
            for dependency in nodes[package]["deps"]
            if any(kind["kind"] in LINKED for kind in dependency["dep_kinds"])
        ]
        linked[package] = sorted(needed)
        waiting.extend(needed)
    return linked


def read_checksums() -> dict[tuple[str, str], str]:
    """Returns the digest of each crate that comes from a registry."""
    checksums: dict[tuple[str, str], str] = {}
    for block in (ROOT / "Cargo.lock").read_text().split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in fields:
            checksums[fields["name"], fields["version"]] = fields["checksum"]
    return checksums


def reference(package: dict[str, Any]) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def describe(package: dict[str, Any], checksums: dict[tuple[str, str], str]) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package.get("description"):
        component["description"] = " ".join(package["description"].split())
    if package.get("license"):
        component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum is not None:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return component


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else None
    metadata = read_metadata(target)
    packages = {package["id"]: package for package in metadata["packages"]}
    root = next(one for one, package in packages.items() if package["name"] == "rep")
    linked = find_linked(metadata, root)
    checksums = read_checksums()
    program = describe(packages[root], checksums) | {"type": "application"}
    components = [describe(packages[one], checksums) for one in linked if one != root]
    components.sort(key=lambda component: component["bom-ref"])
    dependencies = [
        {"ref": reference(packages[one]), "dependsOn": sorted(reference(packages[other]) for other in needed)}
        for one, needed in linked.items()
    ]
    dependencies.sort(key=lambda dependency: dependency["ref"])
    bom: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": dependencies,
    }
    if target is not None:
        bom["metadata"]["properties"] = [{"name": "cargo:target", "value": target}]
    # The number follows from the content, so that two builds have the same one.
    bom["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True)).urn
    print(json.dumps(bom, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
