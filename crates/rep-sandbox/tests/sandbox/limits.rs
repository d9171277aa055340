//! How much a tool may use, and how it ends.

use rep_test_support::with_growing_timeout;
use serde_json::json;

use crate::scene::{Scene, everyone};

const MEGABYTE: u64 = 1 << 20;

#[test]
fn processes_are_counted() {
    let code = "import os, time\nmade = 0\ntry:\n  while made < 400:\n    if os.fork() == 0: time.sleep(60)\n    made += 1\n\
                except OSError as error: print(error.strerror, made)";
    for who in everyone() {
        let scene = Scene::new(who);
        let job =
            |without: &[&str]| json!({ "allow_subprocess": true, "limits": { "processes": 40 }, "without": without });
        let result = scene.python(code, job(&[]));
        let stdout = result["stdout"].as_str().unwrap();
        assert!(stdout.starts_with("Resource temporarily unavailable "), "{result:#}");
        let made: u32 = stdout.split_whitespace().last().unwrap().parse().unwrap();
        assert!(made < 40, "{made}");
        assert_eq!(scene.survivors(), Vec::<u32>::new());
        let result = scene.python(code, job(&["limits"]));
        let made =
            result["stdout"].as_str().unwrap().split_whitespace().last().map(|made| made.parse::<u32>().unwrap());
        // Newer kernels bound the namespace as well, from 301 on.
        assert!(made.is_none_or(|made| made > 200), "without limits that does not stop it: {result:#}");
        assert_eq!(scene.survivors(), Vec::<u32>::new());
    }
}

#[test]
fn memory_is_watched_in_every_form() {
    let private = "a = [bytearray(20 << 20) for _ in range(12)]; import time; time.sleep(60)";
    let shared = "import mmap, time\nm = mmap.mmap(-1, 240 << 20)\n\
                  for at in range(0, 240 << 20, 4096): m[at] = 1\ntime.sleep(60)";
    let many = "import os, time\nfor _ in range(6):\n  if os.fork() == 0:\n    a = bytearray(40 << 20); time.sleep(60)\n\
                time.sleep(60)";
    for who in everyone() {
        let scene = Scene::new(who);
        for code in [private, shared, many] {
            let limits = json!({ "memory_bytes": 150 * MEGABYTE });
            let result = scene.python(code, json!({ "limits": limits, "allow_subprocess": true }));
            assert_eq!(result["killed"], "Memory", "{code}: {result:#}");
            assert_eq!(result["signal"], 9);
            assert_eq!(scene.survivors(), Vec::<u32>::new());
        }
        let limits = json!({ "memory_bytes": 150 * MEGABYTE, "timeout_ms": 1500 });
        let result = scene.python(shared, json!({ "limits": limits, "without": ["watchdog"] }));
        assert_eq!(result["killed"], "Timeout", "without the watchdog it goes on: {result:#}");
    }
}

#[test]
fn tables_of_memory_are_memory() {
    let code = "import mmap, time\nm = mmap.mmap(-1, 60 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)\n\
                for at in range(0, 60 << 30, 2 << 20): m[at]\ntime.sleep(5)";
    for who in everyone() {
        let result = Scene::new(who).python(code, json!({ "limits": { "memory_bytes": 64 * MEGABYTE } }));
        assert_eq!(result["killed"], "Memory", "{result:#}");
    }
}

#[test]
fn buffers_of_sockets_keep_their_size() {
    let code = "import socket\na, b = socket.socketpair()\nfor what in (socket.SO_SNDBUF, socket.SO_RCVBUF):\n\
                \x20 before = a.getsockopt(socket.SOL_SOCKET, what)\n  a.setsockopt(socket.SOL_SOCKET, what, before * 2 - 4096)\n\
                \x20 a.setsockopt(socket.SOL_SOCKET, what, 4096)\n\
                \x20 print(a.getsockopt(socket.SOL_SOCKET, what) == before)\n\
                a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1); print(a.getsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED))";
    for who in everyone() {
        for outbound in [json!([]), json!(["example.com:443"])] {
            let result = Scene::new(who).python(code, json!({ "outbound": outbound }));
            assert_eq!(result["stdout"], "True\nTrue\n1\n", "{result:#}");
        }
    }
}

#[test]
fn more_memory_than_there_is_fails_at_once() {
    for who in everyone() {
        let result = Scene::new(who).python(
            "try: bytearray(2 << 30)\nexcept MemoryError: print('no memory')",
            json!({ "limits": { "memory_bytes": 100 * MEGABYTE } }),
        );
        assert_eq!(result["stdout"], "no memory\n", "{result:#}");
    }
}

#[test]
fn room_for_files_ends() {
    let fill = "import os\nfor folder in (os.environ['TMPDIR'], '/dev/shm'):\n  try:\n    with open(folder + '/x', 'wb') as file:\n\
                \x20     for _ in range(64): file.write(b'x' * (1 << 20))\n    print('all')\n  except OSError as error: print(error.strerror)";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(fill, json!({ "limits": { "temporary_bytes": 16 * MEGABYTE } }));
        assert_eq!(result["stdout"], "No space left on device\nNo space left on device\n", "{result:#}");
        let result = scene.python(fill, json!({ "limits": { "temporary_bytes": 80 * MEGABYTE } }));
        assert_eq!(result["stdout"], "all\nNo space left on device\n", "it is room for all together: {result:#}");
        let result = scene.python(fill, json!({ "limits": { "temporary_bytes": 140 * MEGABYTE } }));
        assert_eq!(result["stdout"], "all\nall\n", "{result:#}");
        let stages = "import os\nfor path in ('docs/x.csv', 'secret/x.csv'):\n  try:\n    with open(path, 'wb') as file:\n\
                      \x20     for _ in range(12): file.write(b'x' * (1 << 20))\n    print('all')\n  except OSError as error: print(error.strerror)\n\
                      \x20 finally: os.truncate(path, 1) if path[0] == 's' else None";
        let write = json!(["docs/*.csv", "secret/*.csv"]);
        let result = scene.python(stages, json!({ "write": write, "limits": { "temporary_bytes": 16 * MEGABYTE } }));
        assert_eq!(result["stdout"], "all\nNo space left on device\n", "{result:#}");
        assert_eq!(result["written"], json!(["docs/x.csv", "secret/x.csv"]), "{result:#}");
        let large = "open('output/x', 'wb').write(b'x' * (20 << 20))";
        let result = scene.python(large, json!({ "limits": { "file_bytes": 8 * MEGABYTE } }));
        assert!(result["stderr"].as_str().unwrap().contains("File too large") || result["signal"] == 25, "{result:#}");
        let result = scene.python(large, json!({ "limits": { "file_bytes": 8 * MEGABYTE }, "without": ["limits"] }));
        assert_eq!(result["code"], 0, "without limits it is written: {result:#}");
    }
}

#[test]
fn open_files_are_counted() {
    let code = "import os\ncount = 0\ntry:\n  while count < 1000: os.dup(1); count += 1\n  print('all')\n\
                except OSError as error: print(error.strerror)";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({ "limits": { "open_files": 256 } }));
        assert_eq!(result["stdout"], "Too many open files\n", "{result:#}");
        let result = scene.python(code, json!({ "limits": { "open_files": 2000 } }));
        assert_eq!(result["stdout"], "all\n", "{result:#}");
    }
}

#[test]
fn processor_time_ends() {
    for who in everyone() {
        let result = Scene::new(who).python("while True: pass", json!({ "limits": { "cpu_s": 1 } }));
        assert_eq!(result["killed"], json!(null), "the limit, and not the clock: {result:#}");
        assert!(result["signal"] == 24 || result["signal"] == 9, "{result:#}");
    }
}

#[test]
fn time_ends_whatever_the_tool_thinks_of_it() {
    let ignores = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(60)";
    let stops = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)";
    let says_goodbye = "import signal, sys, time\n\
                        signal.signal(15, lambda *_: (print('bye'), sys.exit(3)))\nwhile True: time.sleep(60)";
    for who in everyone() {
        let scene = Scene::new(who);
        for code in [ignores, stops] {
            let result = with_growing_timeout("the tool ignores the signal", 700, |timeout_ms| {
                let limits = json!({ "timeout_ms": timeout_ms, "grace_ms": 300 });
                let result = scene.python(code, json!({ "limits": limits }));
                // Ended by the polite signal: the tool had not come so far as to ignore it.
                (result["signal"] != 15).then_some(result)
            });
            assert_eq!((&result["killed"], &result["signal"]), (&json!("Timeout"), &json!(9)), "{result:#}");
            assert_eq!(scene.survivors(), Vec::<u32>::new());
        }
        let result = with_growing_timeout("the tool handles the signal", 1500, |timeout_ms| {
            let limits = json!({ "timeout_ms": timeout_ms, "grace_ms": 15_000 });
            let result = scene.python(says_goodbye, json!({ "limits": limits }));
            (result["signal"] != 15).then_some(result)
        });
        assert_eq!((&result["killed"], &result["code"]), (&json!("Timeout"), &json!(3)), "{result:#}");
        assert_eq!(result["stdout"], "bye\n");
        let result = scene.python(ignores, json!({ "cancel_ms": 300, "limits": { "grace_ms": 300 } }));
        assert_eq!(result["killed"], "Cancelled", "{result:#}");
        assert_eq!(scene.survivors(), Vec::<u32>::new());
    }
}

#[test]
fn what_sockets_hold_is_memory_too() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "import socket, time\npairs = []\nfor n in range(480):\n  pairs.append(socket.socketpair())\n\
                    \x20 for end in pairs[-1]:\n    end.setblocking(False)\n    try:\n\
                    \x20     while True: end.send(b'x' * 32768)\n    except BlockingIOError: pass\ntime.sleep(60)";
        let result = scene.python(code, json!({ "limits": { "memory_bytes": 128 << 20 } }));
        assert_eq!(result["killed"], "Memory", "{result:#}");
        let result = scene.python("import socket\npairs = [socket.socketpair() for n in range(20)]", json!({}));
        assert_eq!(result["code"], 0, "{result:#}");
    }
}

#[test]
fn sockets_of_the_network_are_memory_too() {
    for who in everyone() {
        let scene = Scene::new(who);
        let limits = json!({ "memory_bytes": 128 * MEGABYTE });
        let code = "import socket, time\nall = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(700)]\n\
                    for one in all: one.bind(('127.0.0.1', 0))\ntime.sleep(60)";
        let result = scene.python(code, json!({ "limits": limits, "outbound": ["example.com:443"] }));
        assert_eq!(result["killed"], "Memory", "{result:#}");
        // The sockets of the gateway are not the tool's.
        let ports: Vec<String> = (1000..1060).map(|port| format!("example.com:{port}")).collect();
        let job = json!({ "limits": limits, "outbound": ports });
        let result = scene.python("import socket\nall = [socket.socket() for _ in range(20)]\nprint(1)", job);
        assert_eq!(result["stdout"], "1\n", "{result:#}");
    }
}

#[test]
fn mappings_and_locks_are_memory_too() {
    let mappings = "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n\
                    for _ in range(4):\n  if os.fork(): continue\n\
                    \x20 start = libc.mmap(None, ctypes.c_size_t(4096 * 130000), 0, 0x22, -1, ctypes.c_long(0))\n\
                    \x20 for at in range(0, 130000, 2): libc.mprotect(ctypes.c_void_p(start + at * 4096), ctypes.c_size_t(4096), 1)\n\
                    \x20 time.sleep(60)\ntime.sleep(60)";
    let locks = "import fcntl, os, time\nfor name in range(200):\n  file = os.open(f'/run/tmp/{name}', os.O_CREAT | os.O_RDWR)\n\
                 \x20 for at in range(0, 400, 2): fcntl.lockf(file, fcntl.LOCK_EX, 1, at)\ntime.sleep(60)";
    for who in everyone() {
        let scene = Scene::new(who);
        let job = json!({ "limits": { "memory_bytes": 64 * MEGABYTE }, "allow_subprocess": true });
        let result = scene.python(mappings, job);
        assert_eq!(result["killed"], "Memory", "{result:#}");
        let result = scene.python(locks, json!({}));
        assert_eq!(result["killed"], "Memory", "{result:#}");
        // Locks that belong to no process cannot be counted, and do not exist.
        let open_file_lock = "import fcntl, struct\nfile = open('output/x', 'w')\n\
                              try: fcntl.fcntl(file, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 1, 0))\n\
                              except OSError as error: print(error.strerror)";
        let result = scene.python(open_file_lock, json!({}));
        assert_eq!(result["stdout"], "Invalid argument\n", "{result:#}");
    }
}
