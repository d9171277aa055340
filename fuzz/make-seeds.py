#!/usr/bin/env python3
"""Writes fuzz/seeds: small inputs for each target, created with independent encoders. Deterministic; run it by hand."""

import base64
import gzip
import hashlib
import io
import json
import struct
import tarfile
import zipfile
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def seed(target, name, content):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    content = content.encode() if isinstance(content, str) else content
    assert len(content) <= 4096, (target, name, len(content))
    (folder / name).write_bytes(content)


def zip_of(files, method=zipfile.ZIP_DEFLATED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.comment = comment
        for path, text, mode in files:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_STORED if path.endswith("/") else method
            archive.writestr(entry, text)
    return out.getvalue()


def tar_of(files, form):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for path, text, mode in files:
            entry = tarfile.TarInfo(path)
            entry.mode = mode & 0o7777
            if path.endswith("/"):
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text))
    # The zero padding at the end fills up to 10 KiB; one block is enough.
    return out.getvalue().rstrip(b"\0") + bytes(1024)


def archives():
    files = [
        ("pdf/SKILL.md", b"---\nname: pdf\n---\nHello hello hello\n", 0o100644),
        ("pdf/scripts/", b"", 0o040755),
        ("pdf/scripts/x.sh", b"#!/bin/sh\n", 0o100755),
    ]
    flat = [("SKILL.md", b"x", 0o100644), ("a/b", b"", 0o100644), ("__MACOSX/a/._b", b"y", 0o100644)]
    seed("zip", "deflated", zip_of(files))
    seed("zip", "stored-with-comment", zip_of(files, zipfile.ZIP_STORED, b"made by hand"))
    seed("zip", "flat", zip_of(flat, zipfile.ZIP_STORED))
    dotted = [("./pdf/SKILL.md", b"x", 0o100644), ("./pdf/b", b"y", 0o100644)]
    seed("zip", "dotted", zip_of(dotted, zipfile.ZIP_STORED))
    seed("tar", "dotted", tar_of(dotted, tarfile.USTAR_FORMAT))
    seed("zip", "link", zip_of([("SKILL.md", b"x", 0o100644), ("evil", b"/etc/passwd", 0o120777)]))
    seed("zip", "outside", zip_of([("SKILL.md", b"x", 0o100644), ("../evil", b"x", 0o100644)]))
    long = [("pdf/" + "long/" * 25 + "x.md", b"text", 0o100644), ("pdf/SKILL.md", b"", 0o100644)]
    seed("tar", "gnu", tar_of(files, tarfile.GNU_FORMAT))
    seed("tar", "ustar", tar_of(flat, tarfile.USTAR_FORMAT))
    seed("tar", "gnu-long-name", tar_of(long, tarfile.GNU_FORMAT))
    seed("tar", "pax-long-name", tar_of(long, tarfile.PAX_FORMAT))
    seed("tar", "ustar-prefix", tar_of(long, tarfile.USTAR_FORMAT))
    seed("tar", "compressed", gzip.compress(tar_of(files, tarfile.GNU_FORMAT), mtime=0))


def dns():
    def question(name, kind, flags=0x0100, extra=b""):
        labels = b"".join(bytes([len(label)]) + label for label in name.split(b".") if label)
        header = struct.pack(">6H", 0x0709, flags, 1, 0, 0, 1 if extra else 0)
        return header + labels + b"\0" + struct.pack(">2H", kind, 1) + extra

    seed("dns", "a", question(b"api.Example.com", 1))
    seed("dns", "aaaa-with-edns", question(b"api.example.com", 28, extra=b"\0\0\x29\x10\0\0\0\0\0\0\0"))
    seed("dns", "reverse", question(b"1.0.0.127.in-addr.arpa", 12))
    seed("dns", "odd-bytes", question(b"evil\0%.com", 255))
    seed("dns", "update", question(b"a.b", 1, flags=0x2800))
    seed("dns", "answer", question(b"a.b", 1, flags=0x8180))
    seed("dns", "pointer", question(b"a.b", 1)[:12] + b"\xc0\x0c\0\x01\0\x01")


def hello():
    def sized(content, width=2):
        return len(content).to_bytes(width, "big") + content

    def client_hello(extensions):
        body = b"\x03\x03" + bytes(range(32)) + sized(b"\x07" * 32, 1) + sized(b"\x13\x01\x13\x02") + sized(b"\0", 1)
        if extensions is not None:
            body += sized(b"".join(struct.pack(">H", kind) + sized(content) for kind, content in extensions))
        return b"\x01" + sized(body, 3)

    def records(message, size):
        pieces = [message[at : at + size] for at in range(0, len(message), size)]
        return b"".join(b"\x16\x03\x01" + sized(piece) for piece in pieces)

    name = (0, sized(b"\0" + sized(b"API.example.com")))
    other = [(10, b"\0\x02\0\x1d"), (43, b"\x02\x03\x04")]
    seed("hello", "names", records(client_hello([name, *other]), 1 << 14))
    seed("hello", "in-pieces", records(client_hello([*other, name]), 40))
    seed("hello", "nameless", records(client_hello(other), 1 << 14))
    seed("hello", "without-extensions", records(client_hello(None), 1 << 14))
    seed("hello", "encrypted", records(client_hello([name, (0xFE0D, b"\0" * 8)]), 1 << 14))
    seed("hello", "unfinished", records(client_hello([name]), 1 << 14)[:60])
    seed("hello", "http", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")


def texts():
    for name, lines in {
        "literal": ("docs/a.txt", "docs/*.txt", "docs/a.txt"),
        "double-star": ("**/*.pdf", "secrets/**", "secrets/x/a.pdf"),
        "many-stars": ("a*b**c*/**/x*y", "**/x*", "aXbYcZ/p/q/xy"),
        "outside": ("a/../b\\*", "./../x", "b/c/../d"),
        "overlap": ("ab*ba", "aba*", "abba"),
        "costly": ("**/a*" * 20, "*a*a*a*a*b", "a/" * 30 + "aaaaaaaa"),
    }.items():
        seed("glob", name, "\n".join(lines))

    installed = {
        "source": "./pdf",
        "sourceType": "local",
        "computedHash": "11",
        "other": True,
        "rep": {
            "digest": "sha256:33",
            "files": {"SKILL.md": "sha256:44"},
            "hosts": ["codex"],
            "places": [{"path": ".agents/skills/pdf"}, {"path": ".claude/skills/pdf", "link": "../../.agents/skills/pdf"}],
            "mode": "link",
            "installed": "2026-01-01T00:00:00.000Z",
            "commit": "c0",
        },
    }
    foreign = {"source": "x/y", "ref": "main", "sourceType": "github", "sourceUrl": "u", "skillPath": "p", "wellKnownDigest": "d"}
    seed("lock", "ours", json.dumps({"version": 1, "skills": {"pdf": installed}}, indent=2))
    seed("lock", "mixed", json.dumps({"version": 1, "more": [1.5], "skills": {"b": foreign, "a": installed, "c": 7}}))
    seed("lock", "wrong-types", '{"version":1,"skills":{"a":{"rep":{"files":3,"places":[{}],"hosts":{}}}}}')
    seed("lock", "other-version", '{"version":2,"skills":{}}')

    address = "https://a.example/.well-known/agent-skills/index.json\n"
    digest = "sha256:" + "0" * 64
    listed = [
        {"name": "pdf", "type": "skill-md", "description": "d", "url": "pdf/SKILL.md", "digest": digest},
        {"name": "csv", "type": "archive", "url": "/x/b.tar.gz", "digest": digest},
        {"name": "far", "type": "archive", "url": "https://b.example/x", "digest": digest},
        {"name": "near", "type": "archive", "url": "//a.example/x?y#z", "digest": digest},
    ]
    schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    seed("index", "version-0.2", address + json.dumps({"$schema": schema, "skills": listed}))
    old = [{"name": "pdf", "description": "d", "files": ["SKILL.md", "scripts/x.sh"]}, {"name": "A", "files": ["../x"]}]
    seed("index", "version-0.1", "http://localhost:8080/index.json?a=b\n" + json.dumps({"skills": old}))


def audit():
    def record(seq, kind, more=""):
        return f'+{{"v":1,"seq":{seq},"prev":"@","at":"2026-01-01T00:00:00.000Z","kind":"{kind}","run":"r"{more}\n'

    def head(seq, broken=False):
        return f'={{"v":{2 if broken else 1},"seq":{seq},"hash":"@","bytes":0}}\n'

    run = record(1, "start") + record(2, "end")
    torn = '{"v":1,"seq":3,"pre'
    mended = f',"bytes":{len(torn)},"digest":"{hashlib.sha256(torn.encode()).hexdigest()}","is_headless":false,"is_foreign":false'
    seed("audit", "sound", run + head(2))
    seed("audit", "gap", run + record(9, "start") + head(9))
    seed("audit", "torn", run + head(2) + torn)
    seed("audit", "mended", run + torn + "\n" + record(3, "mended", mended) + head(3))
    seed("audit", "headless", run + record(3, "mended", ',"is_headless":true'))
    seed("audit", "newer-head", run + head(2, broken=True))
    seed("audit", "behind-the-head", record(1, "start") + head(1) + record(2, "end"))


def search():
    def number(value):
        out = b""
        while value >= 0x80:
            out += bytes([value & 0x7F | 0x80])
            value >>= 7
        return out + bytes([value])

    def text(value):
        return number(len(value)) + value

    def payload(terms, documents):
        out = number(len(terms)) + b"".join(map(text, terms)) + number(len(documents))
        for location, age, fields in documents:
            out += text(location) + struct.pack("<Q", 7) + number(age)
            out += b"".join(number(len(field)) + b"".join(map(number, field)) for field in fields)
        return out

    seed("search", "empty", payload([], []))
    seed("search", "two-skills", payload([b"pdf", b"form", b"fill"], [
        (b"/a/SKILL.md", 0, [[], [2], [], [], []]),
        (b"/b/SKILL.md", 3, [[0], [1, 0], [], [2], [1, 2, 1]]),
    ]))
    seed("search", "many-words", payload([b"w%d" % at for at in range(200)], [
        (b"/a/SKILL.md", 300, [[199], [130, 5], [128], [127], list(range(200))]),
    ]))


def signature():
    statement = json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "a", "digest": {"sha256": hashlib.sha256(b"").hexdigest()}}],
            "predicateType": "https://model_signing/signature/v1.0",
            "predicate": {
                "serialization": {
                    "method": "files",
                    "hash_type": "sha256",
                    "allow_symlinks": False,
                    "ignore_paths": ["skill.oms.sig", ".git"],
                },
                "resources": [],
            },
        }
    )
    envelope = {
        "payload": base64.b64encode(statement.encode()).decode(),
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"sig": "MAYCAQECAQE="}],
    }
    kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
    chain = {"x509CertificateChain": {"certificates": [{"rawBytes": "MAA="}]}}
    for name, material in [("key", {"publicKey": {"hint": "00"}}), ("chain", chain), ("keyless", {"certificate": {}})]:
        bundle = {"mediaType": kind, "verificationMaterial": material, "dsseEnvelope": envelope}
        seed("signature", f"bundle-{name}", json.dumps(bundle))
    seed("signature", "statement", statement)
    point = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004") + bytes(64)
    text = base64.b64encode(point).decode()
    seed("signature", "public-key", f"-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
    seed("signature", "signers", '{"version":1,"signers":{"a":{"for":["*"],"require":true,"pem":""}}}')


def source():
    seed("source", "github", "acme/skills/tools/pdf@pdf#v1.2.0")
    seed("source", "web", "https://github.com/acme/skills/tree/main/tools/pdf")
    seed("source", "ssh", "git@git.example:team/skills.git#0123456789")
    seed("source", "url", "ssh://git@git.example:2222/team/skills.git")
    seed("source", "pattern", "github:acme/*\ngithub:acme/skills")


def oci():
    digest = "sha256:" + "0" * 64
    layer = f'{{"mediaType":"application/x","digest":"{digest}","size":3}}'
    manifest = f'{{"schemaVersion":2,"config":{layer},"layers":[{layer}],"annotations":{{"a":"b"}}}}'
    seed("oci", "manifest", manifest)
    seed("oci", "index", f'{{"schemaVersion":2,"manifests":[{layer}]}}')
    seed("oci", "challenge", 'Bearer realm="https://r.example/token",service="r",scope="repository:a:pull"')
    seed("oci", "reference", f"oci://r.example:5000/team/pdf:1.2.0@{digest}")
    seed("oci", "range", "oci://r.example/pdf:>=1.2.3-rc.1 <2 || ~3.1.x")


def message():
    seed("message", "result", '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n')
    seed("message", "error", '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}\n\n')
    seed("message", "request", '{"jsonrpc":"2.0","id":"a","method":"ping"}\nhello\n')


def credentials():
    stored = {"auth": base64.b64encode(b"me:word").decode()}
    seed("credentials", "stored", json.dumps({"auths": {"r.example:5000": stored, "https://index.docker.io/v1/": {"identitytoken": "t"}}}))
    seed("credentials", "helpers", json.dumps({"credsStore": "all", "credHelpers": {"r.example": "own"}}))
    seed("credentials", "answer", json.dumps({"ServerURL": "", "Username": "<token>", "Secret": "t"}))
    seed("credentials", "challenge", 'Basic realm="r", Bearer realm="https://r.example/token",service="r"')


def settings():
    seed("settings", "sources", "sources:\n  allow: ['github:acme/*', 'oci://r.example/*']\n  deny: [\"*/secret\"]\n"
         "  mirrors: {'oci://a.example/': 'oci://b.example/a/'}\n  proxy: http://p.example:3128\n")
    seed("settings", "user", "library: {paths: [~/skills]}\npolicy: {deny: {skills: [a], hosts: ['*.x'], paths: ['**/.env']}}\n"
         "llm: {url: 'http://127.0.0.1:1', model: m}\nserve: {clients: {c: {skills: [a]}}}\ncheck: {profiles: [agentskills]}\n")


if __name__ == "__main__":
    archives()
    dns()
    hello()
    texts()
    audit()
    search()
    message()
    oci()
    signature()
    source()
    credentials()
    settings()
