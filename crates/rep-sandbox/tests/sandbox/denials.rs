//! What a tool is denied is reported, whether it fails of it or not: each path once, only what exists on the host, and
//! with the declaration that would allow it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{Scene, bash, everyone, node};

/// The denials of a result, without their suggestions.
fn denied(result: &Value) -> Vec<(String, String)> {
    let word = |denial: &Value, at: usize| denial[at].as_str().unwrap().to_owned();
    result["denials"].as_array().unwrap().iter().map(|denial| (word(denial, 0), word(denial, 1))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(action, target)| ((*action).to_owned(), (*target).to_owned())).collect()
}

/// Lines of Python that try each expression and ignore its errors.
fn trying(expressions: &[&str]) -> String {
    let mut code = "import os\n".to_owned();
    for expression in expressions {
        code.push_str(&format!("try: {expression}\nexcept OSError: pass\n"));
    }
    code
}

#[test]
fn a_denied_read_that_the_tool_survives_is_reported() {
    for who in everyone() {
        let scene = Scene::new(who);
        let home = scene.outside().join("home/.ssh/id_canary").display().to_string();
        let code = trying(&[
            "open('secret/key.txt')",
            "open('./docs/../secret/key.txt')",
            "open('docs/b.txt')",
            "os.listdir('secret')",
            &format!("os.stat({home:?})"),
            "open('docs/a.pdf')",
            "open('docs/missing.pdf')",
            "open('secret/missing.txt')",
            "open('/nowhere/at/all')",
        ]);
        let result = scene.python(&code, json!({}));
        assert_eq!((&result["code"], &result["stderr"]), (&json!(0), &json!("")), "{result:#}");
        let expected =
            [("read", "secret/key.txt"), ("read", "docs/b.txt"), ("read", "secret"), ("read", home.as_str())];
        assert_eq!(denied(&result), pairs(&expected), "{result:#}");
        let suggestions: Vec<&str> =
            result["denials"].as_array().unwrap().iter().filter_map(|denial| denial[2].as_str()).collect();
        assert_eq!(suggestions[0], "permissions.filesystem.read: [\"secret/key.txt\"]");
        assert_eq!(suggestions[2], "permissions.filesystem.read: [\"secret/**\"]");
        assert!(suggestions[3].contains("[\"id_canary\"] in a run whose workspace is "), "{suggestions:?}");
    }
}

/// What is missing in a directory that the view shows as it is on the host is missing there as well, unless a link leads
/// out of it.
#[test]
fn links_out_of_a_readable_directory_are_reported_and_missing_files_in_it_are_not() {
    for who in everyone() {
        let scene = Scene::new(who);
        let library = scene.outside().join("library");
        fs::create_dir_all(library.join("inner")).unwrap();
        std::os::unix::fs::symlink("../home/.ssh/id_canary", library.join("away")).unwrap();
        std::os::unix::fs::symlink("../../home/.ssh", library.join("inner/keys")).unwrap();
        fs::write(library.join("inner/there.txt"), "there\n").unwrap();
        fs::write(scene.outside().join("home/.ssh/other"), "other\n").unwrap();
        scene.own();
        let opened =
            ["inner/there.txt", "none", "none/at/all", "inner/none", "inner/there.txt/x", "away", "inner/keys/other"];
        let lines: Vec<String> =
            opened.iter().map(|name| format!("open({:?})", library.join(name).display().to_string())).collect();
        let code = trying(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let result = scene.python(&code, json!({ "readable": [library] }));
        let found = denied(&result);
        assert_eq!(found.len(), 2, "{result:#}");
        assert!(found.iter().all(|(action, target)| action == "read" && !target.contains("none")), "{result:#}");
    }
}

#[test]
fn a_denied_write_is_reported_where_its_directory_exists() {
    for who in everyone() {
        let scene = Scene::new(who);
        let outside = scene.outside().join("home/new.txt").display().to_string();
        let code = trying(&[
            "open('new.txt', 'w')",
            "open('docs/a.pdf', 'a')",
            &format!("open({outside:?}, 'w')"),
            "open('secret/key.txt', 'r+')",
            "open('/nowhere/x', 'w')",
            "open('missing/x', 'w')",
            "open('missing', 'r+')",
            "open('output/fine.txt', 'w').close()",
            "open('output/missing/x', 'w')",
        ]);
        let result = scene.python(&code, json!({}));
        let expected =
            [("write", "new.txt"), ("write", "docs/a.pdf"), ("write", outside.as_str()), ("write", "secret/key.txt")];
        assert_eq!(denied(&result), pairs(&expected), "{result:#}");
        assert_eq!(result["denials"][0][2], "permissions.filesystem.write: [\"new.txt\"]");
        assert!(!Path::new(&outside).exists());
    }
}

#[test]
fn bash_and_node_are_observed_as_well() {
    for who in everyone() {
        let scene = Scene::new(who);
        let outside = scene.outside().join("home/x").display().to_string();
        let script = format!("echo x > {outside}; echo y > docs/y; [ -e secret/key.txt ]; read a < docs/b.txt; :");
        let change = json!({ "argv": [bash(), "-c", script] });
        let expected =
            [("write", outside.as_str()), ("write", "docs/y"), ("read", "secret/key.txt"), ("read", "docs/b.txt")];
        let result = scene.run(change);
        assert_eq!(denied(&result), pairs(&expected), "{result:#}");
        let Some(node) = node() else { continue };
        let script = format!(
            "const fs = require('fs');\nconst work = [() => fs.writeFileSync({outside:?}, 'x'), \
             () => fs.writeFileSync('docs/y', 'x'), () => fs.existsSync('secret/key.txt'), \
             () => fs.readFileSync('docs/b.txt')];\nfor (const one of work) try {{ one() }} catch {{}}"
        );
        let result = scene.run(json!({ "argv": [node, "-e", script] }));
        assert_eq!(denied(&result), pairs(&expected), "{result:#}");
    }
}

#[test]
fn removing_renaming_and_making_directories_is_reported() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = trying(&[
            "os.remove('secret/key.txt')",
            "os.rename('docs/a.pdf', 'output/a.pdf')",
            "os.rename('output', 'moved')",
            "os.mkdir('made')",
            "os.rmdir('secret')",
            "os.chmod('docs/b.txt', 0o600)",
            "os.link('docs/a.pdf', 'docs/linked')",
            "os.mkdir('output')",
            "os.remove('missing')",
            "os.makedirs('output/deep/er')",
            "os.remove('sk/s.sock')",
            "os.remove('sk/missing')",
        ]);
        let result = scene.python(&code, json!({}));
        let targets = [
            "secret/key.txt",
            "docs/a.pdf",
            "output",
            "moved",
            "made",
            "secret",
            "docs/b.txt",
            "docs/linked",
            "sk/s.sock",
        ];
        assert_eq!(denied(&result), pairs(&targets.map(|target| ("write", target))), "{result:#}");
        assert_eq!(result["denials"][4][2], "permissions.filesystem.write: [\"made/**\"]");
        assert_eq!(scene.text("docs/a.pdf").as_deref(), Some("PDFDATA\n"));
    }
}

#[test]
fn starting_an_interpreter_is_denied_nothing() {
    for who in everyone() {
        let scene = Scene::new(who);
        scene.put("package.json", "{}");
        let code = "import asyncio, json, os, sqlite3, ssl, tempfile, threading, urllib.request\n\
                    tempfile.TemporaryFile().close()\nos.makedirs('output/a/b', exist_ok=True)";
        for result in [scene.python(code, json!({})), scene.run(json!({ "argv": [bash(), "-c", ":"] }))] {
            assert_eq!((&result["code"], &result["denials"]), (&json!(0), &json!([])), "{result:#}");
        }
        if let Some(node) = node() {
            fs::write(scene.outside().join("skill/tool.js"), "require('os').cpus(); fetch").unwrap();
            scene.own();
            let skill = scene.outside().join("skill");
            let result = scene.run(json!({ "argv": [node, skill.join("tool.js")], "readable": [skill] }));
            assert_eq!((&result["code"], &result["denials"]), (&json!(0), &json!([])), "{result:#}");
        }
    }
}

#[test]
fn many_denials_are_counted_and_the_same_one_is_reported_once() {
    for who in everyone() {
        let scene = Scene::new(who);
        let code = "for again in range(3):\n  for name in range(1000):\n    try: open(f'new-{name}', 'w')\n    except OSError: pass";
        let result = scene.python(code, json!({}));
        assert_eq!(result["denials"].as_array().unwrap().len(), 100, "{result:#}");
        assert_eq!(result["denials_omitted"], 900);
        assert_eq!(result["denials"][99][1], "new-99");
    }
}

#[test]
fn names_that_are_not_text_and_links_are_reported_too() {
    for who in everyone() {
        let scene = Scene::new(who);
        std::os::unix::fs::symlink("../secret/key.txt", scene.workspace().join("docs/link")).unwrap();
        let code = trying(&["open(b'odd-\\xff\\n', 'w')", "open('output/../docs/link')"]);
        let result = scene.python(&code, json!({}));
        assert_eq!(denied(&result), pairs(&[("write", "odd-\u{fffd}\\n"), ("read", "secret/key.txt")]), "{result:#}");
    }
}

#[test]
fn a_path_is_not_looked_up_where_that_has_effects() {
    // Observing changes nothing: a pipe is not opened, and a file keeps its time of access.
    for who in everyone() {
        let scene = Scene::new(who);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            scene.workspace().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        scene.own();
        let result = scene.python(&trying(&["open('pipe')", "open('pipe', 'w')"]), json!({}));
        assert_eq!(denied(&result), pairs(&[("read", "pipe"), ("write", "pipe")]), "{result:#}");
    }
}

#[test]
fn a_refused_connection_is_reported_with_its_host_and_a_mere_socket_is_not() {
    let code = "import socket\n\
                def attempt(work):\n  try: work()\n  except OSError as error: print(type(error).__name__)\n\
                probe = socket.socket(socket.AF_INET6)\n\
                attempt(lambda: probe.bind(('::1', 0)))\n\
                one = socket.socket(); one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n\
                attempt(lambda: one.connect(('192.0.2.7', 8080)))\n\
                attempt(lambda: socket.create_connection(('192.0.2.7', 8080)))\n\
                attempt(lambda: socket.socket(socket.AF_INET6).connect(('2001:db8::1', 443)))\n\
                attempt(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.8', 9000)))\n\
                attempt(lambda: socket.getaddrinfo('api.example.com', 443))\n\
                a, b = socket.socketpair(); a.send(b'pair'); print(b.recv(4).decode())";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({}));
        let refused = "PermissionError\n";
        assert_eq!(result["stdout"], format!("{}gaierror\npair\n", refused.repeat(5)), "{result:#}");
        let expected = [
            ("connect", "192.0.2.7:8080"),
            ("connect", "[2001:db8::1]:443"),
            ("connect", "192.0.2.8:9000"),
            ("resolve", "api.example.com"),
        ];
        assert_eq!(denied(&result), pairs(&expected), "{result:#}");
        assert_eq!(result["denials"][0][2], "permissions.network.outbound: [\"192.0.2.7:8080\"]");
        let Some(node) = node() else { continue };
        let script =
            "fetch('http://192.0.2.7:8080/').catch(() => {}); fetch('http://api.example.com/').catch(() => {})";
        let result = scene.run(json!({ "argv": [node, "-e", script] }));
        let mut found = denied(&result);
        found.sort();
        assert_eq!(found, pairs(&[("connect", "192.0.2.7:8080"), ("resolve", "api.example.com")]), "{result:#}");
    }
}

#[test]
fn with_declared_hosts_a_connection_to_another_port_or_address_is_reported() {
    let code = "import socket\n\
                def attempt(*address):\n\
                \x20 try: socket.create_connection(address, timeout=10)\n  except OSError: pass\n\
                attempt('127.0.0.1', 8123)\nattempt('192.0.2.7', 443)\nattempt('api.example.com', 8443)\n\
                attempt('other.example.com', 443)";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({ "outbound": ["api.example.com:443"] }));
        let mut found = denied(&result);
        found.sort();
        let expected = [
            ("connect", "127.0.0.1:8123"),
            ("connect", "192.0.2.7:443"),
            ("connect", "api.example.com:8443"),
            ("resolve", "other.example.com"),
        ];
        assert_eq!(found, pairs(&expected), "{result:#}");
    }
}

#[test]
fn a_placeholder_for_a_socket_reaches_nothing() {
    let code = "import os, socket\nfor kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n\
                \x20 one = socket.socket(type=kind); raw = socket.socket(socket.AF_UNIX, kind, fileno=os.dup(one.fileno()))\n\
                \x20 for work in (lambda: raw.connect('sk/s.sock'), lambda: raw.sendto(b'x', 'sk/s.sock'), \
                lambda: raw.bind('output/made.sock'), lambda: raw.listen(), lambda: raw.send(b'x')):\n\
                \x20   try: work(); print('done')\n    except OSError as error: print(error.strerror)";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({}));
        assert_eq!(result["stdout"], "Permission denied\n".repeat(10), "{result:#}");
        assert!(!scene.was_reached() && scene.text("output/made.sock").is_none());
    }
}
