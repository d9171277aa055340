//! Git repositories of tests, and an HTTP server that offers them with git's own `http-backend`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// A repository with a working tree, in which a test makes commits.
pub struct TestRepository {
    folder: PathBuf,
}

impl TestRepository {
    /// Creates a repository with the branch `main`.
    pub fn create(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).expect("the directory can be created");
        let repository = Self { folder: folder.to_owned() };
        repository.run_git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// Returns the directory of the working tree.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file of the working tree.
    pub fn write_file(&self, path: &str, content: impl AsRef<[u8]>) {
        let full = self.folder.join(path);
        std::fs::create_dir_all(full.parent().expect("a file has a parent")).expect("the directory can be created");
        std::fs::write(full, content).expect("the file can be written");
    }

    /// Commits everything in the working tree, and returns the id of the commit.
    pub fn commit_all(&self, message: &str) -> String {
        self.run_git(&["add", "--all"]);
        self.run_git(&["commit", "--quiet", "--allow-empty", "--no-verify", "-m", message]);
        self.run_git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Runs git in the working tree, without the configuration of the machine. Returns its output.
    pub fn run_git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(&self.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .output()
            .expect("git can be started");
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }
}

/// An HTTP server that offers the repositories below a directory.
pub struct GitServer {
    /// The port it listens on.
    pub port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl GitServer {
    /// Offers every repository below `root`: `NAME/.git` at `/NAME/.git` and at `/NAME.git`. With a login
    /// (`user:password`), requests without it are refused.
    pub fn start(root: &Path, login: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (root, login, known) = (root.to_owned(), login.map(encode_base64), requests.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, login, known) = (root.clone(), login.clone(), known.clone());
                // A client may close its connection at any time.
                thread::spawn(move || drop(answer(stream, &root, login.as_deref(), &known)));
            }
        });
        Self { port, requests }
    }

    /// Returns the URL of a repository.
    pub fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}.git", self.port)
    }

    /// Returns the request lines received so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no thread panicked while holding it").clone()
    }
}

fn answer(mut stream: TcpStream, root: &Path, login: Option<&str>, known: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    known.lock().expect("no thread panicked while holding it").push(line.clone());
    if login.is_some_and(|login| header("authorization") != format!("Basic {login}")) {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        return stream.write_all(refusal.as_bytes());
    }
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    stream.read_exact(&mut body)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // `/NAME.git/…` is the repository of the working tree `NAME`.
    let path = path.replacen(".git/", "/.git/", 1);
    let output = run_backend(root, method, &path, query, &header, &body)?;
    let split = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(0);
    let (fields, content) =
        (String::from_utf8_lossy(&output[..split]).into_owned(), &output[(split + 4).min(output.len())..]);
    let status = fields.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let rest: String =
        fields.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n")).collect();
    let start = format!("HTTP/1.1 {status}\r\n{rest}Content-Length: {}\r\nConnection: close\r\n\r\n", content.len());
    stream.write_all(start.as_bytes())?;
    stream.write_all(content)
}

fn run_backend<'a>(
    root: &Path,
    method: &str,
    path: &str,
    query: &str,
    header: &dyn Fn(&str) -> &'a str,
    body: &[u8],
) -> std::io::Result<Vec<u8>> {
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let body = body.to_vec();
    let writer = thread::spawn(move || drop(stdin.write_all(&body)));
    let output = child.wait_with_output()?;
    writer.join().expect("the writer does not panic");
    Ok(output.stdout)
}

fn encode_base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let number = chunk.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_padded() {
        for (text, expected) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("me:word", "bWU6d29yZA==")]
        {
            assert_eq!(super::encode_base64(text), expected);
        }
    }
}
