"""Runs real agent hosts with a scripted model: each finds a skill through `rep serve`, loads it, and runs its tool.

    agents.py BINARY [--host NAME]... [--way stdio|http]... [--library FOLDER]... [--transcripts FOLDER]

The hosts are installed from npm into target/peers. Each gets the settings that `rep serve --print-config` prints, an empty
home, the examples and the libraries, and a model on loopback that knows what to call next: `search_skills`, `load_skill`, then the tool of the skill that
`load_skill` named. What the host gave the model is compared with what the server sent.
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import hosts

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPT = "What is in harvest.csv? Use the skills of the repertoire server."
# What the model calls, by the ending of the tool's name in the host.
STEPS = [
    ("search_skills", {"text": "what is in this csv file"}),
    ("load_skill", {"name": "csv-profile"}),
    ("csv-profile__profile", {"path": "harvest.csv"}),
]
# The tool of a host that keeps most tools from the model until it asks for them.
DEFERRING = "ToolSearch"
TOKEN = "a-token-nobody-can-guess"
FINAL = "The file has two rows."
TABLE = "plot,crates\nnorth,3\nsouth,14\n"
# A line of the skill's instructions, as a model must read it.
INSTRUCTION = "\n1. Call `profile` with the path of the file, relative to the workspace.\n"


def plain(name):
    """Returns the name of a tool without what hosts make of its punctuation."""
    return name.replace("-", "_").replace(".", "_").lower()


class Script:
    """The model: decides from a conversation what to call next, and notes what the host told it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tools, self.results, self.system, self.bodies = [], [], "", []
        self.has_answered = False

    def next(self, tools, results, system, body):
        """Returns the name and the arguments of the next call, or None for the answer."""
        with self.lock:
            self.bodies.append(body)
            if DEFERRING in tools and all(name != DEFERRING for name, _ in results):
                wanted = ",".join(f"mcp__repertoire__{ending}" for ending, _ in STEPS)
                return DEFERRING, {"query": f"select:{wanted}", "max_results": len(STEPS)}
            results = [result for result in results if result[0] != DEFERRING]
            found = [[name for name in tools if plain(name).endswith(plain(ending))] for ending, _ in STEPS]
            if not found[0]:
                # A request for a title, or one that checks the connection.
                return None
            self.tools = tools
            self.system = max(self.system, system, key=len)
            self.results = max(self.results, results, key=len)
            if len(results) >= len(STEPS) or not found[len(results)]:
                self.has_answered = len(results) >= len(STEPS)
                return None
            return found[len(results)][0], STEPS[len(results)][1]


def joined(content):
    """Returns the text of a message's content, however it is written."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(joined(part) for part in content)
    if isinstance(content, dict):
        for key in ("text", "content", "output", "parts"):
            if key in content:
                return joined(content[key])
        return json.dumps(content)
    return "" if content is None else str(content)


def anthropic(script, body, send):
    tools = [tool["name"] for tool in body.get("tools", []) if "name" in tool]
    results, called = [], {}
    for message in body["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else []:
            if part.get("type") == "tool_use":
                called[part["id"]] = part["name"]
            if part.get("type") == "tool_result":
                results.append((called.get(part["tool_use_id"]), joined(part.get("content"))))
    system = joined(body.get("system")) + joined([message["content"] for message in body["messages"]])
    call = script.next(tools, results, system, body)
    usage = {"input_tokens": 10, "output_tokens": 10}
    block = {"type": "text", "text": FINAL}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": call[0], "input": call[1]}
    message = {"id": f"msg_{len(results)}", "type": "message", "role": "assistant", "model": body["model"], "content": [block],
               "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return send([(None, message)], "application/json")
    first = {**block, **({"input": {}} if call else {"text": ""})}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call else {"type": "text_delta", "text": FINAL}
    events = [
        ("message_start", {"message": {**message, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": first}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]
    send([(name, {"type": name, **data}) for name, data in events])


def responses(script, body, send):
    # A tool may be in a namespace, and is then called by both names.
    tools = {}
    for tool in body.get("tools", []):
        if tool.get("type") == "namespace":
            for inner in tool.get("tools", []):
                tools[f"{tool['name']}/{inner['name']}"] = {"namespace": tool["name"], "name": inner["name"]}
        elif "name" in tool:
            tools[tool["name"]] = {"name": tool["name"]}
    results = []
    items = body["input"] if isinstance(body["input"], list) else []
    called = {item.get("call_id"): item.get("name") for item in items if item.get("type") == "function_call"}
    for item in items:
        if item.get("type") == "function_call_output":
            results.append((called.get(item["call_id"]), joined(item["output"])))
    system = (body.get("instructions") or "") + joined([item.get("content") for item in items])
    call = script.next(list(tools), results, system + json.dumps(body.get("tools", [])), body)
    item = {"type": "message", "id": f"m{len(results)}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": FINAL, "annotations": []}]}
    if call:
        item = {"type": "function_call", "id": f"f{len(results)}", "call_id": f"call_{len(results)}", "status": "completed",
                **tools[call[0]], "arguments": json.dumps(call[1])}
    whole = {"id": f"r{len(results)}", "object": "response", "created_at": 1, "model": body["model"], "status": "completed", "output": [item],
             "usage": {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
                       "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
    if not body.get("stream"):
        return send([(None, whole)], "application/json")
    events = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress"}}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    send([(name, {"type": name, "sequence_number": at, **data}) for at, (name, data) in enumerate(events)])


def chat(script, body, send):
    tools = [tool["function"]["name"] for tool in body.get("tools", []) if tool.get("type") == "function"]
    called, results = {}, []
    for message in body["messages"]:
        for call in message.get("tool_calls") or []:
            called[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            results.append((called.get(message["tool_call_id"]), joined(message["content"])))
    system = joined([message["content"] for message in body["messages"] if message["role"] in ("system", "developer", "user")])
    call = script.next(tools, results, system, body)
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    head = {"id": f"c{len(results)}", "created": 1, "model": body["model"]}
    message = {"role": "assistant", "content": None if call else FINAL}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        message["tool_calls"] = [{"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}]
    reason = "tool_calls" if call else "stop"
    if not body.get("stream"):
        whole = {**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
        return send([(None, whole)], "application/json")
    chunk = {**head, "object": "chat.completion.chunk"}
    send([
        (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
        (None, "[DONE]"),
    ])


def gemini(script, body, send, is_stream):
    tools = [one["name"] for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    results = []
    for message in body["contents"]:
        for part in message["parts"]:
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                results.append((part["functionResponse"]["name"], joined(response)))
    system = joined(body.get("systemInstruction")) + joined([message["parts"] for message in body["contents"]])
    call = script.next(tools, results, system, body)
    part = {"functionCall": {"name": call[0], "args": call[1], "id": f"call_{len(results)}"}} if call else {"text": FINAL}
    if not tools and body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": "{}"}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
              "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}}
    send([(None, answer)], "text/event-stream" if is_stream else "application/json")


def handler(script):
    class Handler(http.server.BaseHTTPRequestHandler):
        """Answers with the model's API that a host asks for."""

        def send(self, events, kind="text/event-stream"):
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            for name, data in events:
                text = data if isinstance(data, str) else json.dumps(data)
                if kind == "application/json":
                    self.wfile.write(text.encode())
                else:
                    self.wfile.write(f"{f'event: {name}' + chr(10) if name else ''}data: {text}\n\n".encode())

        def do_POST(self):
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.partition("?")[0]
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            if path.endswith("/count_tokens"):
                self.send([(None, {"input_tokens": 10})], "application/json")
            elif path.endswith(":countTokens"):
                self.send([(None, {"totalTokens": 10})], "application/json")
            elif path.endswith("/messages"):
                anthropic(script, body, self.send)
            elif path.endswith("/responses"):
                responses(script, body, self.send)
            elif path.endswith("/chat/completions"):
                chat(script, body, self.send)
            elif path.endswith("enerateContent"):
                gemini(script, body, self.send, "stream" in path)
            else:
                self.send_error(404)

        def do_GET(self):
            if self.path.partition("?")[0].endswith("/models"):
                models = [{"id": "scripted", "slug": "scripted", "object": "model"}]
                self.send([(None, {"object": "list", "data": models, "models": []})], "application/json")
            else:
                self.send_error(404)

        def log_message(self, *_):
            pass

    return Handler


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def claude_code(home, settings, url):
    write(home / "mcp.json", settings)
    env = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
           "DISABLE_AUTOUPDATER": "1"}
    return ["-p", PROMPT, "--mcp-config", str(home / "mcp.json"), "--strict-mcp-config", "--allowedTools", "mcp__repertoire",
            "--output-format", "stream-json", "--verbose"], env


def codex(home, settings, url):
    provider = f'model = "scripted"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "Scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n\n'
    write(home / ".codex/config.toml", provider + settings)
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", PROMPT], {}


def gemini_cli(home, settings, url):
    settings = {**json.loads(settings), "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "general": {"enableAutoUpdate": False}}
    write(home / ".gemini/settings.json", json.dumps(settings))
    env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_SANDBOX": "false"}
    return ["-p", PROMPT, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"], env


def opencode(home, settings, url):
    provider = {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "models": {"scripted": {"name": "Scripted", "tool_call": True}},
                             "options": {"baseURL": f"{url}/v1", "apiKey": "none"}}}
    settings = {**json.loads(settings), "provider": provider, "autoupdate": False, "share": "disabled", "small_model": "scripted/scripted"}
    write(home / ".config/opencode/opencode.json", json.dumps(settings))
    return ["run", "-m", "scripted/scripted", PROMPT], {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def copilot(home, settings, url):
    write(home / ".copilot/mcp-config.json", settings)
    env = {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": "none",
           "COPILOT_MODEL": "gpt-5", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
    return ["-p", PROMPT, "--allow-all-tools", "--no-color"], env


SETUPS = {"claude-code": claude_code, "codex": codex, "copilot": copilot, "gemini-cli": gemini_cli, "opencode": opencode}


class Server:
    """A server over HTTP, which requires a token."""

    def __init__(self, command, work, env):
        write(work.parent / "tokens.txt", TOKEN + "\n")
        self.child = subprocess.Popen([*command, "--http", "127.0.0.1:0", "--token-file", str(work.parent / "tokens.txt")],
                                      cwd=work, env=env, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        for line in self.child.stderr:
            found = re.search(r"listening on http://(.*)/mcp", line)
            if found:
                self.address = found.group(1)
                break
        threading.Thread(target=self.child.stderr.read, daemon=True).start()

    def end(self):
        self.child.terminate()
        self.child.wait(timeout=30)


def converse(host, program, rep, url, folder, way, libraries):
    """Runs a host in an empty home. Returns its exit code and what it wrote."""
    home, work = folder / "home", folder / "work"
    write(work / "harvest.csv", TABLE)
    write(folder / "bin/placeholder", "")
    (folder / "bin/rep").symlink_to(rep)
    env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb", "NO_COLOR": "1"}
    home.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=work, env=env, check=True)
    paths = [word for path in [ROOT / "examples", *libraries] for word in ("--path", str(path))]
    options = [*paths, "--allow-run", "--workspace", str(work)]
    server = Server([rep, "serve", *options], work, env) if way == "http" else None
    if server:
        options = ["--http", server.address, "--token-file", str(folder / "tokens.txt")]
    command = [rep, "serve", "--print-config", host, *options]
    settings = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=True)
    # Some hosts do not read the token from the environment.
    text = settings.stdout.replace("${REPERTOIRE_TOKEN}", TOKEN) if "replace `${REPERTOIRE_TOKEN}`" in settings.stderr else settings.stdout
    arguments, more = SETUPS[host](home, text, url)
    try:
        done = subprocess.run([str(program), *arguments], cwd=work, env={**env, "REPERTOIRE_TOKEN": TOKEN, **more}, capture_output=True,
                              text=True, errors="replace", timeout=240, stdin=subprocess.DEVNULL)
    finally:
        if server:
            server.end()
    return done.returncode, done.stdout + done.stderr


def judge(script, code, output):
    """Returns what is wrong with a conversation, and what it was like."""
    wrong = []
    if code != 0:
        wrong.append(f"the host ended with {code}: {output.strip()[-300:]}")
    if len(script.results) < len(STEPS):
        wrong.append(f"{len(script.results)} of {len(STEPS)} calls were answered; tools: {', '.join(script.tools)[:400] or 'none'}")
    texts = [text for _, text in script.results]
    if len(texts) > 0 and "csv-profile" not in texts[0]:
        wrong.append(f"search_skills: {texts[0][:200]}")
    if len(texts) > 1:
        if INSTRUCTION not in texts[1]:
            wrong.append(f"load_skill is not clean text: {texts[1][:200]!r}")
        if "csv-profile__profile" not in texts[1]:
            wrong.append("load_skill does not name the tool")
    if len(texts) > 2 and '"rows"' not in texts[2].replace('\\"', '"'):
        wrong.append(f"the run: {texts[2][:300]}")
    if not script.has_answered:
        wrong.append("the model was not asked for the answer")
    return wrong, texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rep")
    parser.add_argument("--host", action="append", help="only this host")
    parser.add_argument("--way", action="append", choices=["stdio", "http"], help="only this transport")
    parser.add_argument("--library", action="append", default=[], type=pathlib.Path, help="serve these skills too")
    parser.add_argument("--transcripts", type=pathlib.Path, help="write what the model was sent into this folder")
    options = parser.parse_args()
    rep = str(pathlib.Path(options.rep).resolve())
    missing, failed, ran = [], 0, 0
    for host, package, version, name, _, _ in hosts.HOSTS:
        if options.host and host not in options.host:
            continue
        try:
            program = hosts.install(package, version, ROOT / "target/peers/hosts" / name) / name
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            missing.append(f"{host} {version}: {error}")
            continue
        for way in options.way or ["stdio", "http"]:
            script = Script()
            code, output = run_scripted(script, host, program, rep, way, [path.resolve() for path in options.library])
            if options.transcripts:
                options.transcripts.mkdir(parents=True, exist_ok=True)
                (options.transcripts / f"{host}-{way}.json").write_text(json.dumps(script.bodies, indent=1))
                (options.transcripts / f"{host}-{way}.txt").write_text(output)
            wrong, texts = judge(script, code, output)
            ran += 1
            failed += bool(wrong)
            sizes = ", ".join(f"{ending} {len(text)}" for (ending, _), text in zip(STEPS, texts))
            gives = "with" if "search_skills" in script.system and "load_skill" in script.system else "without"
            print(f"{'FAIL' if wrong else 'pass'} {host:12} {version:9} {way:5} {len(script.tools):3} tools, {gives} instructions; characters: {sizes}")
            for line in wrong:
                print(f"       {line}")
    for line in missing:
        print(f"NOT RUN: {line}")
    print(f"{ran} conversations, {failed} failed; {len(missing)} hosts did not run")
    return 1 if failed else 0


def run_scripted(script, host, program, rep, way, libraries):
    """Runs a host with a scripted model. Returns its exit code and what it wrote."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(script))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            return converse(host, program, rep, url, pathlib.Path(scratch).resolve(), way, libraries)
        except subprocess.TimeoutExpired as error:
            return -1, f"no end after {error.timeout} s: {(error.stdout or b'')[-300:]!r}"
        finally:
            server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
