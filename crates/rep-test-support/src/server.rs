//! A server that answers as a test wants, and remembers what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a server was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The first line, without the version.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as long as the head says.
    pub body: String,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// How a server answers.
pub enum Answer {
    /// With these bytes, and then hangs up.
    Bytes(Vec<u8>),
    /// Not at all, until the client hangs up.
    Never,
    /// With these bytes, and then with others without end.
    Endless(Vec<u8>),
}

/// A status with these lines of its head, and this body.
pub fn answer(status: &str, head: &[&str], body: &str) -> Answer {
    let lines: String = head.iter().map(|line| format!("{line}\r\n")).collect();
    Answer::Bytes(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{lines}\r\n{body}", body.len()).into_bytes())
}

/// A server on this machine, for as long as the tests run.
pub struct Server {
    /// Where it listens.
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers each connection once. `number` counts them from 0.
    pub fn start(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_with(answer, Some)
    }

    /// The same over what `greeted` makes of a connection.
    pub fn start_with<S: Read + Write>(
        answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static,
        greeted: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (all, known) = (Arc::new((answer, greeted)), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (all, known) = (all.clone(), known.clone());
                thread::spawn(move || {
                    let Some(mut stream) = all.1(stream) else { return };
                    let Some(asked) = read(&mut stream) else { return };
                    let number = {
                        let mut known = known.lock().expect("nobody panicked with it");
                        known.push(asked.clone());
                        known.len() - 1
                    };
                    reply(&mut stream, all.0(&asked, number));
                });
            }
        });
        Self { port, asked }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("nobody panicked with it").clone()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn read(stream: &mut impl Read) -> Option<Asked> {
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
    Some(Asked { line, headers, body: String::from_utf8(body).ok()? })
}

fn reply(stream: &mut (impl Read + Write), answer: Answer) {
    match answer {
        Answer::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).and_then(|()| stream.flush());
        }
        Answer::Never => {
            let _ = stream.read(&mut [0]);
        }
        Answer::Endless(bytes) => {
            let _ = stream.write_all(&bytes);
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
    }
}
