//! An HTTP server with canned responses that records the requests it receives.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread;

/// A request that a server received.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The request line, without the version.
    pub line: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, with the length given in the headers.
    pub body: String,
}

impl ReceivedRequest {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A response of the server.
pub enum TestResponse {
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Sends nothing until the client closes the connection.
    Never,
    /// Sends these bytes, then more bytes without end.
    Endless(Vec<u8>),
    /// Sends the first bytes, waits until somebody sends a word or is gone, and sends the rest.
    Held(Vec<u8>, Receiver<()>, Vec<u8>),
}

/// Builds a response from a status, header lines and a body.
pub fn build_response(status: &str, head: &[&str], body: &str) -> TestResponse {
    let lines: String = head.iter().map(|line| format!("{line}\r\n")).collect();
    TestResponse::Bytes(
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{lines}\r\n{body}", body.len()).into_bytes(),
    )
}

/// A server on this machine that lives as long as the tests.
pub struct TestServer {
    /// The port it listens on.
    pub port: u16,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl TestServer {
    /// Answers each connection once. `number` counts connections from 0.
    pub fn start(answer: impl Fn(&ReceivedRequest, usize) -> TestResponse + Send + Sync + 'static) -> Self {
        Self::start_with_handshake(answer, Some)
    }

    /// Does the same over the stream that `greeted` makes of a connection.
    pub fn start_with_handshake<S: Read + Write>(
        answer: impl Fn(&ReceivedRequest, usize) -> TestResponse + Send + Sync + 'static,
        greeted: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let received: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let (all, known) = (Arc::new((answer, greeted)), received.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (all, known) = (all.clone(), known.clone());
                thread::spawn(move || {
                    let Some(mut stream) = all.1(stream) else { return };
                    let Some(asked) = read_request(&mut stream) else { return };
                    let number = {
                        let mut known = known.lock().expect("no thread panicked while holding it");
                        known.push(asked.clone());
                        known.len() - 1
                    };
                    send_response(&mut stream, all.0(&asked, number));
                });
            }
        });
        Self { port, received }
    }

    /// Returns the requests received so far.
    pub fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.received.lock().expect("no thread panicked while holding it").clone()
    }

    /// Returns the server's URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn read_request(stream: &mut impl Read) -> Option<ReceivedRequest> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, text)| text.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { line, headers, body: String::from_utf8(body).ok()? })
}

fn send_response(stream: &mut (impl Read + Write), answer: TestResponse) {
    match answer {
        TestResponse::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).and_then(|()| stream.flush());
        }
        TestResponse::Held(first, word, rest) => {
            let _ = stream.write_all(&first).and_then(|()| stream.flush());
            let _ = word.recv();
            let _ = stream.write_all(&rest).and_then(|()| stream.flush());
        }
        TestResponse::Never => {
            let _ = stream.read(&mut [0]);
        }
        TestResponse::Endless(bytes) => {
            let _ = stream.write_all(&bytes);
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
    }
}
