"""Tries what a tool may not do, and says what came of it: one JSON list per line, [name, word, detail].

The word is the name of the error, or "done", or for what is looked at "held" and "open".
"""
import ctypes
import errno
import json
import os
import socket
import sys

told = json.loads(os.environ["PROBE"])
kernel = ctypes.CDLL(None, use_errno=True)


def say(name, word, detail=""):
    print(json.dumps([name, word, str(detail)[:200]]), flush=True)


def tried(name, action):
    try:
        say(name, "done", action())
    except OSError as error:
        say(name, errno.errorcode.get(error.errno, f"error {error.errno}"), error)


def looked(name, is_held, detail=""):
    say(name, "held" if is_held else "open", detail)


def call(number, *arguments):
    whole = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = kernel.syscall(ctypes.c_long(number), *whole)
    if result == -1:
        raise OSError(ctypes.get_errno(), "system call")
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read(20)


def write(path):
    with open(path, "w") as file:
        file.write("0")


def through_link(name, target):
    path = "output/" + name
    os.symlink(target, path)
    return read(path)


def connected(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(5)
        one.connect(address)
        one.send(b"x")


outside = told["outside"]
# Files.
tried("read-shadow", lambda: read("/etc/shadow"))
tried("read-home", lambda: read(outside + "/home/.ssh/id_canary"))
tried("list-home", lambda: os.listdir(outside + "/home"))
tried("read-undeclared", lambda: read("secret/key.txt"))
looked("list-workspace", sorted(os.listdir(".")) == ["docs", "output", "sk"], os.listdir("."))
looked("list-docs", os.listdir("docs") == ["a.pdf"], os.listdir("docs"))
tried("link-to-home", lambda: through_link("l1", outside + "/home/.ssh/id_canary"))
tried("link-to-undeclared", lambda: through_link("l2", "../secret/key.txt"))
tried("link-through-proc", lambda: through_link("l3", "/proc/self/cwd/secret/key.txt"))
tried("make-link", lambda: os.symlink("x", "output/planted"))
tried("make-pipe", lambda: os.mkfifo("output/pipe"))
tried("make-device", lambda: os.mknod(os.environ["TMPDIR"] + "/null", 0o20666, 0x103))
tried("hard-link-undeclared", lambda: os.link("secret/key.txt", "output/h1"))
tried("hard-link-declared", lambda: os.link("docs/a.pdf", "output/h2"))
tried("dot-dot", lambda: read("docs/../secret/key.txt"))
tried("proc-root", lambda: read("/proc/self/root" + outside + "/home/.ssh/id_canary"))
tried("proc-first", lambda: os.stat("/proc/1"))
tried("proc-runtime", lambda: read(f"/proc/{told['runtime']}/environ"))
tried("create-in-workspace", lambda: write("new.txt"))
tried("create-in-docs", lambda: write("docs/new.txt"))
# Changed to what it is: where a layer is left out, these are the real ones.
for name, path in [("etc", "/etc"), ("usr", "/usr"), ("root", "/")]:
    times = (os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns)
    tried("change-" + name, lambda: os.utime(path, ns=times))
tried("create-outside", lambda: write(outside + "/x"))
tried("core-pattern", lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
tried("oom-score", lambda: write("/proc/self/oom_score_adj"))
tried("utime-declared", lambda: os.utime("docs/a.pdf"))
tried("chmod-declared", lambda: os.chmod("docs/a.pdf", 0o600))
tried("truncate-declared", lambda: os.truncate("docs/a.pdf", 0))
tried("unlink-declared", lambda: os.unlink("docs/a.pdf"))
tried("rename-output", lambda: os.rename("output", "output2"))
if os.path.isdir("output2"):
    os.rename("output2", "output")
tried("stat-sys", lambda: os.stat("/sys/kernel"))
looked("proc-sys", not os.path.exists("/proc/sys") or os.listdir("/proc/sys") == [])
devices = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm"}
looked("devices", set(os.listdir("/dev")) <= devices, os.listdir("/dev"))
# Network.
tried("tcp", lambda: connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", told["tcp"])))
tried("udp", lambda: connected(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", told["udp"])))
tried("abstract-socket", lambda: connected(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + told["abstract"]))
tried("path-socket", lambda: connected(socket.AF_UNIX, socket.SOCK_STREAM, "sk/s.sock"))
tried("path-datagram", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].close())
for name, family, kind in [("vsock", 40, 1), ("packet", 17, 3), ("netlink", 16, 3), ("alg", 38, 5), ("inet-raw", 2, 3)]:
    tried("socket-" + name, lambda: socket.socket(family, kind).close())
# System calls. Bad arguments tell a filter, which does not look at them, from the kernel, which does.
BAD = 1
tried("process-vm-readv", lambda: call(310, 0x7FFFFFF, 0, 0, 0, 0, 0))
tried("pidfd-getfd", lambda: call(438, -1, 0, 0))
tried("io-uring", lambda: call(425, 4, BAD))
tried("memfd", lambda: call(319, b"x", 0))
tried("add-key", lambda: call(248, b"user", b"p", b"x", 1, -1))
tried("keyctl", lambda: call(250, 0, -3, 0, 0, 0))
tried("setns", lambda: call(308, -1, 0))
tried("clone3", lambda: call(435, 0, 0))
tried("clone-namespace", lambda: call(56, 0x10000000 | 0x10000, 0, 0, 0, 0))
tried("mount", lambda: call(165, BAD, BAD, BAD, 0, 0))
tried("umount", lambda: call(166, b"/proc", 0xFF00))
tried("chroot", lambda: call(161, BAD))
tried("fsopen", lambda: call(430, b"tmpfs", 0))
tried("open-tree", lambda: call(428, -100, b"/", 0))
tried("openat2", lambda: call(437, -100, b"/", BAD, 24))
tried("name-to-handle", lambda: call(303, -100, b"/", BAD, BAD, 0))
tried("perf", lambda: call(298, BAD, 0, -1, -1, 0))
tried("userfault", lambda: call(323, 1))
tried("own-filter", lambda: call(317, 2, 0, BAD))
tried("own-filter-prctl", lambda: call(157, 22, 2, BAD, 0, 0))
tried("terminal-input", lambda: call(16, 0, 0x5412, b"x"))
tried("terminal-input-high-bits", lambda: call(16, 0, 0x100005412, b"x"))
tried("personality", lambda: call(135, 0x0040000))
write("output/plain")
tried("set-user-id", lambda: os.chmod("output/plain", 0o4755))
tried("writable-for-all", lambda: os.chmod("output/plain", 0o666))
tried("create-set-user-id", lambda: os.close(os.open("output/suid", os.O_CREAT | os.O_WRONLY, 0o4755)))
tried("execveat", lambda: call(322, -1, b"/nonexistent", 0, 0, 0))
# Processes.
if not told["subprocess"]:
    tried("execve", lambda: os.execv("/nonexistent", ["x"]))
    tried("spawn", lambda: os.waitpid(os.posix_spawn("/usr/bin/true", ["true"], {}), 0))
    child = -1

    def fork():
        global child
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    tried("fork", fork)
tried("signal-first", lambda: os.kill(1, 0))
tried("signal-runtime", lambda: os.kill(told["runtime"], 0))
# What it was given.
descriptors = sorted(int(one) for one in os.listdir("/proc/self/fd"))
looked("descriptors", descriptors[:-1] == [0, 1, 2], descriptors)
looked("environment", "RUNTIME_ONLY" not in os.environ)
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
capabilities = [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
looked("capabilities", all(int(one, 16) == 0 for one in capabilities), capabilities)
looked("no-new-privileges", status["NoNewPrivs"] == "1")
looked("filter", status["Seccomp"] == "2")
looked("user", os.getuid() == os.geteuid() == 1000 and os.getgid() == 1000, os.getuid())
# Last, because they change who this process is.
tried("unshare", lambda: call(272, 0x10000000))
tried("ptrace", lambda: call(101, 0, 0, 0, 0))
