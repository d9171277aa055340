//! A tool that declares hosts reaches these, through the gateway, and nothing else. How the gateway judges is tried in
//! tests of its own; here it is plugged into a sandbox.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::scene::{Scene, everyone};

/// Answers every request with a word, as long as the tests run.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    port
}

#[test]
fn declared_hosts_are_reached_and_no_others() {
    let port = server();
    let code = "import json, os, socket, urllib.request\ntold = json.loads(os.environ['PROBE'])\n\
                print(urllib.request.urlopen(f'http://127.0.0.1:{told[\"port\"]}/').read().decode())\n\
                def tried(family, kind, address):\n\
                \x20 try:\n    one = socket.socket(family, kind); one.settimeout(10); one.connect(address)\n    one.send(b'x'); return one.recv(1)\n\
                \x20 except OSError as error: return type(error).__name__\n\
                print(tried(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', told['tcp'])))\n\
                print(tried(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', told['udp'])))\n\
                print(tried(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 80)))\n\
                print(tried(socket.AF_INET, socket.SOCK_STREAM, ('192.0.2.1', 443)))\n\
                print(tried(socket.AF_UNIX, socket.SOCK_STREAM, 'sk/s.sock'))\n\
                print(tried(socket.AF_INET, socket.SOCK_RAW, ('127.0.0.1', 1)))\n\
                print(tried(40, socket.SOCK_STREAM, (2, 1)))";
    for who in everyone() {
        let scene = Scene::new(who);
        let mut told = scene.told(false);
        told["port"] = json!(port);
        let result = scene
            .python(code, json!({ "outbound": [format!("127.0.0.1:{port}")], "env": { "PROBE": told.to_string() } }));
        let lines: Vec<&str> = result["stdout"].as_str().unwrap().lines().collect();
        assert_eq!(lines[0], "hello", "{result:#}");
        assert_eq!(lines[1], "PermissionError", "a port that is not declared: {result:#}");
        assert!(lines[2..].iter().all(|line| line.ends_with("Error") || *line == "b''"), "{result:#}");
        assert_eq!(lines.len(), 8, "{result:#}");
        assert!(!scene.was_reached());
        assert!(result["denials"].as_array().unwrap().iter().any(|denial| denial[0] == "connect"), "{result:#}");
        assert!(result["layers"].to_string().contains("declared hosts"));
    }
}

#[test]
fn names_that_are_not_declared_do_not_exist() {
    let code = "import socket\nfor name in ('other.example.org', 'example.org'):\n\
                \x20 try: print(socket.getaddrinfo(name, 443, socket.AF_INET, socket.SOCK_STREAM)[0][4][0].startswith('198.18.'))\n\
                \x20 except OSError as error: print(type(error).__name__)";
    for who in everyone() {
        let scene = Scene::new(who);
        let result = scene.python(code, json!({ "outbound": ["example.org"] }));
        assert_eq!(result["stdout"], "gaierror\nTrue\n", "{result:#}");
        let result = scene.python(code, json!({}));
        assert_eq!(result["stdout"], "gaierror\ngaierror\n", "without a declaration there are no names: {result:#}");
    }
}

#[test]
fn only_the_usual_protocols_are_spoken() {
    let code = "import socket\nfor protocol in (0, 6, 132, 262):\n\
                \x20 try: socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol).close(); print('made')\n\
                \x20 except OSError as error: print(error.strerror)\n\
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 17).close()\n\
                try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)\nexcept OSError as error: print(error.strerror)";
    for who in everyone() {
        let result = Scene::new(who).python(code, json!({ "outbound": ["example.com:443"] }));
        let no = "Permission denied\n";
        assert_eq!(result["stdout"], format!("made\nmade\n{no}{no}{no}"), "{result:#}");
    }
}
