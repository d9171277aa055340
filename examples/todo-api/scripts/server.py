#!/usr/bin/env python3
"""A to-do service on 127.0.0.1 for trying out the todo-api skill. Standard library only; forgets everything on exit.

    python3 scripts/server.py [PORT]        default 8787; 0 takes any free port
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

ITEM = re.compile(r"/v1/todos/(t[1-9][0-9]{0,8})")
MAX_BODY = 10_000


class Problem(Exception):
    def __init__(self, status, title, field=None):
        super().__init__(title)
        self.status, self.body = status, {"title": title, "field": field}


class Todos:
    """The list, in memory."""

    def __init__(self, titles):
        self.items = {}
        self.last = 0
        for title in titles:
            self.create({"title": title})

    def page(self, query):
        state = query.get("state", ["open"])[-1]
        if state not in ("open", "done", "all"):
            raise Problem(422, "state must be open, done or all", "state")
        limit = query.get("limit", ["20"])[-1]
        if not limit.isdecimal() or not 1 <= int(limit) <= 100:
            raise Problem(422, "limit must be 1 to 100", "limit")
        after = re.fullmatch(r"t([0-9]{1,9})", query.get("after", ["t0"])[-1])
        if not after:
            raise Problem(422, "after must be the next value of a page", "after")
        wanted = [
            item
            for item in self.items.values()
            if int(item["id"][1:]) > int(after[1]) and (state == "all" or item["done"] == (state == "done"))
        ]
        items = wanted[: int(limit)]
        return {"items": items, "next": items[-1]["id"] if len(wanted) > len(items) else None}

    def get(self, name):
        if name not in self.items:
            raise Problem(404, f"there is no task {name}")
        return self.items[name]

    def create(self, fields):
        title = checked(fields, {"title"}, needs_title=True)["title"]
        self.last += 1
        item = {"id": f"t{self.last}", "title": title, "done": False}
        self.items[item["id"]] = item
        return item

    def update(self, name, fields):
        self.get(name).update(checked(fields, {"title", "done"}))
        return self.items[name]

    def delete(self, name):
        self.get(name)
        del self.items[name]


def checked(fields, known, needs_title=False):
    if not isinstance(fields, dict):
        raise Problem(400, "the body must be a JSON object")
    for field in fields:
        if field not in known:
            raise Problem(422, f"there is no field {field}", field)
    if needs_title or "title" in fields:
        title = fields.get("title")
        if not isinstance(title, str) or not 1 <= len(title.strip()) <= 200:
            raise Problem(422, "title must have 1 to 200 characters", "title")
    if not isinstance(fields.get("done", False), bool):
        raise Problem(422, "done must be true or false", "done")
    return fields


class Handler(BaseHTTPRequestHandler):
    todos = Todos(["Water the beans", "Return the library books", "Sharpen the saw"])

    def answer(self):
        try:
            status, body, headers = self.route()
        except Problem as problem:
            status, body, headers = problem.status, problem.body, {}
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def route(self):
        url = urlsplit(self.path)
        item = ITEM.fullmatch(url.path)
        at = (self.command, "item" if item else url.path)
        if at == ("GET", "/v1/health"):
            return 200, {"status": "ok"}, {}
        if at == ("GET", "/v1/todos"):
            return 200, self.todos.page(parse_qs(url.query)), {}
        if at == ("POST", "/v1/todos"):
            made = self.todos.create(self.body())
            return 201, made, {"Location": f"/v1/todos/{made['id']}"}
        if at == ("GET", "item"):
            return 200, self.todos.get(item[1]), {}
        if at == ("PATCH", "item"):
            return 200, self.todos.update(item[1], self.body()), {}
        if at == ("DELETE", "item"):
            self.todos.delete(item[1])
            return 204, None, {}
        raise Problem(404, f"there is no {self.command} {url.path}")

    def body(self):
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            raise Problem(400, f"the body must have at most {MAX_BODY} bytes")
        try:
            return json.loads(self.rfile.read(int(length)))
        except ValueError:
            raise Problem(400, "the body is not JSON") from None


def main(argv):
    if len(argv) > 2 or (len(argv) == 2 and not argv[1].isdecimal()):
        print("usage: server.py [PORT]", file=sys.stderr)
        return 2
    server = HTTPServer(("127.0.0.1", int(argv[1]) if len(argv) == 2 else 8787), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
