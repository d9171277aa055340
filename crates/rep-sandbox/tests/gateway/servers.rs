//! Servers on the host's side: what a run may reach, and what it must not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags};

/// A server that lives as long as the test's process.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    visits: Arc<AtomicUsize>,
}

impl Server {
    /// How many connected.
    pub(crate) fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }

    /// As a declaration of its address.
    pub(crate) fn declared(&self) -> String {
        self.address.to_string()
    }
}

fn server(at: &str, serve: fn(TcpStream)) -> Server {
    let listener = TcpListener::bind(at).unwrap();
    let address = listener.local_addr().unwrap();
    let visits = Arc::new(AtomicUsize::new(0));
    let seen = visits.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            seen.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || serve(stream));
        }
    });
    Server { address, visits }
}

/// Answers every request with `plain`.
pub(crate) fn http() -> Server {
    server("127.0.0.1:0", |mut stream| {
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while request.read_line(&mut line).is_ok_and(|count| count > 2) {
            line.clear();
        }
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nplain"));
    })
}

/// Sends back what comes, while it comes, and ends when the client does.
pub(crate) fn echo() -> Server {
    echo_at("127.0.0.1:0")
}

pub(crate) fn echo_at(at: &str) -> Server {
    server(at, |mut stream| {
        let mut buffer = vec![0; 65536];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..count]).is_err() {
                return;
            }
        }
        drop(stream.shutdown(Shutdown::Write));
    })
}

/// Says nothing until the client has finished, then says how much it got.
pub(crate) fn late() -> Server {
    server("127.0.0.1:0", |mut stream| {
        let mut all = Vec::new();
        drop(stream.read_to_end(&mut all));
        drop(stream.write_all(format!("got {} bytes", all.len()).as_bytes()));
    })
}

/// Says one letter when the client has finished, and keeps the connection until it breaks.
pub(crate) fn lingering() -> Server {
    server("127.0.0.1:0", |mut stream| {
        drop(stream.read_to_end(&mut Vec::new()));
        drop(stream.write_all(b"y"));
        rustix::event::poll(&mut [PollFd::new(&stream, PollFlags::empty())], None).unwrap();
    })
}

/// A server of HTTPS with a certificate for the names of these tests. Gone when dropped.
pub(crate) struct Https {
    pub(crate) address: SocketAddr,
    pub(crate) certificate: PathBuf,
    child: Child,
    _folder: tempfile::TempDir,
}

const SERVER: &str = "
import http.server, ssl, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Length', '6'); self.end_headers(); self.wfile.write(b'secure')
    def log_message(self, *arguments): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
";

/// A server with a certificate, where what makes one and serves it is installed.
pub(crate) fn https() -> Option<Https> {
    if !["openssl", "python3", "curl"].into_iter().all(rep_test_support::is_program_installed) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=rep", "-addext", "subjectAltName=DNS:api.example.com,DNS:*.foo.dev,DNS:other.example.com"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .stderr(Stdio::null())
        .status()
        .expect("`openssl` starts");
    assert!(made.success(), "a certificate is made");
    let mut child = Command::new("python3")
        .args(["-I", "-c", SERVER])
        .arg(&certificate)
        .arg(&key)
        .stdout(Stdio::piped())
        .spawn()
        .expect("`python3` starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port: u16 = line.trim().parse().unwrap();
    Some(Https { address: SocketAddr::from(([127, 0, 0, 1], port)), certificate, child, _folder: folder })
}

impl Drop for Https {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
