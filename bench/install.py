"""Installs with `rep` and with the npm tool `skills`, and asks real hosts and both tools for the installed skills."""
import argparse
import functools
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import hosts

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target/peers"
TOOL, TOOL_VERSION, NODE_VERSION = "skills", "1.7.4", "22"
# Names whose order differs between bytes and JavaScript's localeCompare.
FILES = {"scripts/Fill.sh": "#!/bin/sh\necho filled\n", "scripts/fill-all.sh": "#!/bin/sh\n", "scripts/fill_all.sh": "#!/bin/sh\n",
         "references/B.md": "a\n", "references/a.md": "b\n", "references/c1.md": "c\n"}


def skills(base):
    for name, word in (("bench-pdf", "PDF"), ("bench-docx", "DOCX")):
        folder = base / name
        folder.mkdir(parents=True)
        about = f"Fills {word} forms. Use when the user brings a {word} form."
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about}\n---\n\n# {name}\n\n1. Fill the form.\n")
    for path, text in FILES.items():
        file = base / "bench-pdf" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return base


def project(base, name):
    folder = base / name
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


def rep(program, folder, home, *words):
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1"}
    done = subprocess.run([program, *words], cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"rep {' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def ask_hosts(program, source, base, wanted):
    """Asks each host in a separate project, with linked and copied skills. Returns the errors and the hosts that did not run."""
    wrong, missing, rows = [], [], []
    for host, package, version, name, listing, _ in hosts.HOSTS:
        if wanted and host not in wanted:
            continue
        for how in ("link", "copy"):
            home = base / f"home-{host}-{how}"
            home.mkdir()
            folder = project(base, f"{host}-{how}")
            # For two hosts, so that one of the two directories is a link in link mode.
            other = "codex" if host == "claude-code" else "claude-code"
            rep(program, folder, home, "install", str(source), "--host", host, "--host", other, *(["--copy"] if how == "copy" else []))
            environment = {"GEMINI_CLI_TRUST_WORKSPACE": "true"} if host == "gemini-cli" else {}
            try:
                binary = hosts.install(package, version, PEERS / "hosts" / name) / name
                listed = [row[0] for row in listing(binary, folder, home, environment)]
            except (OSError, RuntimeError, ValueError, StopIteration, subprocess.SubprocessError) as error:
                missing.append(f"{host} {version}: {error}")
                break
            lacks = [skill for skill in ("bench-docx", "bench-pdf") if skill not in listed]
            rows.append(f"{host:12} {how:5} {'lists both' if not lacks else 'LACKS ' + ', '.join(lacks)}")
            if lacks:
                wrong.append(f"{host} ({how}) does not list {', '.join(lacks)}")
    print("\n".join(rows))
    return wrong, missing


def node_for_tool():
    """Returns a Node that is new enough for the npm tool: the installed one, or one from the registry."""
    done = subprocess.run(["node", "--version"], capture_output=True, text=True)
    if done.returncode == 0 and int(done.stdout.lstrip("v").split(".")[0]) >= 22:
        return shutil.which("node")
    hosts.install("node", NODE_VERSION, PEERS / "node")
    return str(PEERS / "node/node_modules/node/bin/node")


def npm_tool(folder, home, *words):
    hosts.install(TOOL, TOOL_VERSION, PEERS / "npm-skills")
    cli = PEERS / "npm-skills/node_modules/skills/bin/cli.mjs"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
    done = subprocess.run([node_for_tool(), str(cli), *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"skills {' '.join(words)}: exit {done.returncode}: {(done.stdout + done.stderr)[-400:]}")
    return done.stdout


def content(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def compare_tools(program, source, base):
    """Serves an index written by `rep` to the npm tool, and lets each tool check the work of the other."""
    wrong = []
    home = base / "home-npm"
    home.mkdir()
    public = base / "public"
    rep(program, base, home, "export", "--host", "well-known", str(source / "bench-pdf"), str(source / "bench-docx"), "--out", str(public))
    handler = functools.partial(Quiet, directory=str(public))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    theirs, ours = project(base, "theirs"), project(base, "ours")
    npm_tool(theirs, home, "add", address, "-a", "claude-code", "-a", "codex", "--skill", "*", "-y")
    rep(program, ours, home, "install", address, "--host", "codex", "--host", "claude-code")
    locks = [json.loads((folder / "skills-lock.json").read_text())["skills"] for folder in (theirs, ours)]
    for name in ("bench-docx", "bench-pdf"):
        for folder in (theirs, ours):
            if content(folder / ".agents/skills" / name) != content(source / name):
                wrong.append(f"{folder.name}: {name} is not what was exported")
        for key in ("source", "sourceUrl", "sourceType", "computedHash", "wellKnownDigest"):
            if locks[0][name].get(key) != locks[1][name].get(key):
                wrong.append(f"{name}: {key} is {locks[0][name].get(key)!r} there and {locks[1][name].get(key)!r} here")
    print("index of ours: installed by both, lock files agree" if not wrong else "index of ours: DIFFER")
    # rep verifies the files of the npm tool.
    rep(program, theirs, home, "verify")
    # The npm tool lists, preserves and removes the files of rep.
    rep(program, ours, home, "install", str(source / "bench-pdf"), "--force")
    npm_tool(ours, home, "add", str(source / "bench-docx"), "-a", "codex", "--skill", "*", "-y")
    lock = json.loads((ours / "skills-lock.json").read_text())["skills"]
    if "digest" not in lock["bench-pdf"].get("rep", {}):
        wrong.append("the npm tool does not keep what rep wrote")
    listed = npm_tool(ours, home, "list")
    if "bench-pdf" not in listed:
        wrong.append("the npm tool does not list what rep installed")
    local = project(base, "local")
    npm_tool(local, home, "add", str(source / "bench-pdf"), "-a", "codex", "--skill", "*", "-y")
    other = json.loads((local / "skills-lock.json").read_text())["skills"]["bench-pdf"]["computedHash"]
    if other != lock["bench-pdf"]["computedHash"]:
        wrong.append(f"computedHash: {other} there, {lock['bench-pdf']['computedHash']} here")
    server.shutdown()
    print("lock file: each tool reads what the other wrote" if not wrong else "lock file: DIFFER")
    return wrong


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rep")
    parser.add_argument("--host", action="append", help="only this host")
    parser.add_argument("--no-hosts", action="store_true", help="only the npm tool")
    options = parser.parse_args()
    program = str(pathlib.Path(options.rep).absolute())
    wrong, missing = [], []
    with tempfile.TemporaryDirectory() as scratch:
        base = pathlib.Path(scratch).resolve()
        source = skills(base / "source")
        if not options.no_hosts:
            wrong, missing = ask_hosts(program, source, base, options.host)
        try:
            wrong += compare_tools(program, source, base)
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            missing.append(f"{TOOL} {TOOL_VERSION}: {error}")
    for line in missing:
        print(f"NOT COMPARED: {line}")
    print("\n".join(wrong) if wrong else "nothing differs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
