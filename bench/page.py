#!/usr/bin/env python3
"""Measures the dashboard of `rep serve --http`: size, time to first byte, load together with MCP traffic, and axe-core.

    bench/page.py BINARY measure
    bench/page.py BINARY load [SECONDS]
    bench/page.py BINARY axe AXE_MIN_JS      needs chromium
    bench/page.py BINARY pictures            takes the pictures of the documentation anew; needs chromium and Pillow
"""

import base64
import gzip
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
VERBS = "profile merge convert review plan draft check sort export rename".split()
NOUNS = "tables invoices photos commits reports letters queries recipes routes forms".split()


def library(folder, count):
    for number in range(count):
        verb, noun = VERBS[number % 10], NOUNS[number // 10 % 10]
        name = f"{verb}-{noun}-{number:05}"
        skill = folder / name
        skill.mkdir(parents=True)
        about = f"Helps to {verb} {noun} of a project, step by step, and says what it did. Use when somebody wants to {verb} {noun}."
        body = "".join(f"\n## Step {step}\n\n1. Look at the {noun}.\n2. Then {verb} one of them.\n" for step in range(4))
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about}\n---\n\n# {name}\n{body}")


class Server:
    def __init__(self, binary, folder, home, *more):
        command = [binary, "serve", "--http", "127.0.0.1:0", "--path", str(folder), *more]
        environment = {**os.environ, "HOME": str(home)}
        self.child = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, cwd=home)
        line = self.child.stderr.readline().decode()
        self.address = re.search(r"//([^/]+)/", line).group(1)
        threading.Thread(target=self.child.stderr.read, daemon=True).start()

    def memory_mb(self):
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def end(self):
        self.child.terminate()
        self.child.wait(timeout=30)


def get(connection, path):
    """Returns the status, the body, and the time to first byte."""
    begun = time.perf_counter()
    connection.request("GET", path, headers={"Accept": "text/html"})
    answer = connection.getresponse()
    first = time.perf_counter() - begun
    return answer.status, answer.read(), first * 1000


def measure(binary):
    for count in (20, 10_000):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "skills"
            library(folder, count)
            server = Server(binary, folder, place)
            connection = http.client.HTTPConnection(server.address)
            _, page, first = get(connection, "/")
            parts = re.findall(rb'(?:href|src)="(/assets/[^"]+)"', page)
            assets = [get(connection, part.decode())[1] for part in parts]
            weight = len(page) + sum(map(len, assets))
            small = sum(len(gzip.compress(part)) for part in [page, *assets])
            print(f"{count:6} skills: first page {len(page):6} bytes, with style and script {weight:6} ({small} gzipped); first view after {first:.1f} ms")
            assert weight < 100_000, weight
            # The search index is built once, before the first search.
            _, _, searched = get(connection, "/?q=merge+photos&part=1")
            print(f"{'':14} first search {searched:9.1f} ms")
            paths = ["/", "/?page=2", "/?q=merge+photos&part=1", f"/skill?name={VERBS[0]}-{NOUNS[0]}-00000", "/try?panel=query&text=" + f"{VERBS[0]}-{NOUNS[0]}-00000:", "/costs", "/graph", "/runs", "/metrics"]
            for path in paths:
                get(connection, path)
                times, size = [], 0
                for _ in range(30):
                    status, body, first = get(connection, path)
                    assert status == 200, (path, status)
                    times.append(first)
                    size = len(body)
                print(f"{'':14} {path[:48]:48} {size:7} bytes   first byte {statistics.median(times):7.2f} ms median {max(times):7.2f} most")
            print(f"{'':14} {server.memory_mb():.1f} MB")
            server.end()


def call(address, tool, arguments):
    """Calls a tool over MCP."""
    connection = http.client.HTTPConnection(address, timeout=60)
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": META}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
    connection.request("POST", "/mcp", json.dumps(request), headers)
    return connection.getresponse().read()


def load(binary, seconds):
    """Loads pages while MCP clients send requests; every answer must arrive and be correct."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "skills"
        library(folder, 2000)
        server = Server(binary, folder, place)
        until = time.monotonic() + seconds
        counts, lost, lock = {"page": 0, "mcp": 0, "listener": 0}, [], threading.Lock()

        def note(kind, fault=None):
            with lock:
                counts[kind] += 1
                if fault:
                    lost.append(fault)

        def views(number):
            connection = http.client.HTTPConnection(server.address, timeout=60)
            paths = ["/", "/?q=merge&part=1", f"/skill?name={VERBS[number % 10]}-{NOUNS[0]}-{number % 10:05}", "/graph", "/runs"]
            while time.monotonic() < until:
                for path in paths:
                    try:
                        status, body, _ = get(connection, path)
                        note("page", None if status == 200 and body else (path, status))
                    except (OSError, http.client.HTTPException) as error:
                        note("page", (path, repr(error)))
                        connection = http.client.HTTPConnection(server.address, timeout=60)

        def asks(number):
            connection = http.client.HTTPConnection(server.address, timeout=60)
            uri = f"skill://{VERBS[number % 10]}-{NOUNS[0]}-{number % 10:05}/SKILL.md"
            request = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri, "_meta": META}}
            headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/read", "Mcp-Name": uri}
            while time.monotonic() < until:
                try:
                    connection.request("POST", "/mcp", json.dumps(request), headers)
                    answer = connection.getresponse()
                    text = answer.read()
                    note("mcp", None if answer.status == 200 and b"description" in text else ("mcp", answer.status))
                except (OSError, http.client.HTTPException) as error:
                    note("mcp", ("mcp", repr(error)))
                    connection = http.client.HTTPConnection(server.address, timeout=60)

        def listens():
            connection = http.client.HTTPConnection(server.address, timeout=60)
            connection.request("GET", "/events")
            answer = connection.getresponse()
            first = answer.readline()
            note("listener", None if first.startswith(b"event: hello") else ("events", first))
            while time.monotonic() < until:
                time.sleep(0.1)
            connection.close()

        workers = [threading.Thread(target=views, args=(n,)) for n in range(16)]
        workers += [threading.Thread(target=asks, args=(n,)) for n in range(32)]
        workers += [threading.Thread(target=listens) for _ in range(16)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(f"{counts['page']} page views, {counts['mcp']} MCP reads and {counts['listener']} listeners in {seconds} s: {len(lost)} lost; {server.memory_mb():.1f} MB")
        server.end()
        if lost:
            print(lost[:10])
            sys.exit(1)


class Browser:
    """Controls Chromium with its DevTools protocol over two pipes."""

    def __init__(self, place):
        script = 'exec chromium --headless=new --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe --user-data-dir="$0" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1'
        self.child = subprocess.Popen(["sh", "-c", script, f"{place}/profile"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.rest, self.session = 0, b"", None
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.ask("Page.enable", {})
        # axe is injected into the page, which the content security policy of the page would prevent.
        self.ask("Page.setBypassCSP", {"enabled": True})

    def ask(self, method, params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.child.stdin.write(json.dumps(message).encode() + b"\0")
        self.child.stdin.flush()
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.child.stdout.fileno(), 1 << 20)
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                return answer["result"]

    def js(self, expression):
        answer = self.ask("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        return answer["result"].get("value")

    def go(self, address):
        self.ask("Page.navigate", {"url": address})
        while self.js("document.readyState") != "complete":
            time.sleep(0.02)


AXE_PAGES = ["/", "/?q=table", "/?view=table&sort=tokens", "/skill?name=csv-profile", "/skill?name=sql-review", "/try?panel=search&text=table",
             "/try?panel=query&text=csv-profile:", "/costs", "/costs?budget=60", "/graph", "/graph?name=style-guide", "/overview", "/connect",
             "/runs", "/tasks", "/audit", "/audit?calls=1", "/sign-in", "/skill?name=nobody"]


def axe(binary, script):
    source = Path(script).read_text()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        examples = Path(__file__).parent.parent / "examples"
        server = Server(binary, examples, place, "--allow-run", "--no-token")
        shutil.copy(examples / "csv-profile/data/harvest.csv", place)
        for arguments in ({"path": "harvest.csv"}, {"path": "missing.csv"}):
            call(server.address, "csv-profile__profile", arguments)
        browser = Browser(place)
        amiss = 0
        for scheme, width in (("light", 1280), ("light", 390), ("dark", 1280), ("dark", 390)):
            browser.ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            browser.ask("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
            for path in AXE_PAGES:
                browser.go(f"http://{server.address}{path}")
                browser.js("document.querySelectorAll('details').forEach((one) => one.open = true)")
                browser.js(source)
                found = browser.js("axe.run().then((done) => done.violations.map((one) => [one.id, one.nodes.length, one.nodes[0].html]))")
                amiss += 1 if found is None else len(found)
                print(f"{scheme:5} {width:4} {path:34} {'NOT CHECKED' if found is None else found or 'nothing'}")
        browser.child.kill()
        server.end()
        sys.exit(1 if amiss else 0)


PICTURES = [("library", "/?view=table&sort=used"), ("skill", "/skill?name=csv-profile")]


def pictures(binary):
    import io

    from PIL import Image

    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        server = Server(binary, root / "examples", place, "--allow-run", "--no-token")
        shutil.copy(root / "examples/csv-profile/data/harvest.csv", place)
        call(server.address, "csv-profile__profile", {"path": "harvest.csv"})
        call(server.address, "load_skill", {"name": "sql-review"})
        browser = Browser(place)
        browser.ask("Emulation.setDeviceMetricsOverride", {"width": 1200, "height": 860, "deviceScaleFactor": 1, "mobile": False})
        for name, path in PICTURES:
            while True:
                browser.go(f"http://{server.address}{path}")
                if "still to be checked" not in browser.js("document.body.innerText"):
                    break
                time.sleep(0.5)
            browser.js("document.querySelectorAll('main details').forEach((one, at) => { one.open = at === 0; })")
            time.sleep(0.5)
            data = base64.b64decode(browser.ask("Page.captureScreenshot", {"format": "png"})["data"])
            # A palette is enough for a page, and half the size.
            picture = Image.open(io.BytesIO(data)).convert("RGB")
            picture = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            picture.save(root / f"docs/images/{name}.png", optimize=True)
        browser.child.kill()
        server.end()


def main():
    binary, work, *rest = sys.argv[1:]
    binary = shutil.which(binary) or binary
    match work:
        case "measure":
            measure(os.path.abspath(binary))
        case "load":
            load(os.path.abspath(binary), int(rest[0]) if rest else 10)
        case "axe":
            axe(os.path.abspath(binary), rest[0])
        case "pictures":
            pictures(os.path.abspath(binary))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
