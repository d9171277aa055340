//! A workspace, things outside of it that must not be reached, and the program that runs jobs.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rep_test_support::{DEADLINE, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Who calls the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever runs the tests, if that is root.
    Root,
    /// Somebody without any rights.
    User,
}

/// An ordinary user nobody else is.
const USER: u32 = 54_321;

/// Root and an ordinary user; for an ordinary user only himself, and that is said.
pub(crate) fn everyone() -> Vec<Who> {
    if is_root() {
        return vec![Who::Root, Who::User];
    }
    rep_test_support::skip_unless_ci("as root: only root can be two people");
    vec![Who::User]
}

pub(crate) fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").unwrap().lines().any(|line| line.starts_with("Uid:\t0\t0\t"))
}

/// A scene. All of it is gone with it.
pub(crate) struct Scene {
    pub(crate) who: Who,
    /// Whether the caller of the sandbox has several threads.
    pub(crate) has_threads: bool,
    folder: TempDir,
    program: PathBuf,
    marker: String,
    tcp: TcpListener,
    udp: UdpSocket,
    abstract_socket: UnixListener,
    _path_socket: UnixListener,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Scene {
    pub(crate) fn new(who: Who) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let workspace = folder.path().join("ws");
        for name in ["ws/docs", "ws/secret", "ws/sk", "ws/output", "home/.ssh", "skill"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(workspace.join("docs/a.pdf"), "PDFDATA\n").unwrap();
        fs::write(workspace.join("docs/b.txt"), "text\n").unwrap();
        fs::write(workspace.join("secret/key.txt"), "SECRET\n").unwrap();
        fs::write(folder.path().join("home/.ssh/id_canary"), "CANARY\n").unwrap();
        fs::write(folder.path().join("skill/lib.txt"), "of the skill\n").unwrap();
        let marker = format!("rep-trial-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path_socket = UnixListener::bind(workspace.join("sk/s.sock")).unwrap();
        fs::set_permissions(workspace.join("sk/s.sock"), fs::Permissions::from_mode(0o777)).unwrap();
        let scene = Scene {
            who,
            has_threads: false,
            program: program(folder.path()),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            abstract_socket: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&marker).unwrap()).unwrap(),
            _path_socket: path_socket,
            folder,
            marker,
        };
        scene.own();
        scene
    }

    /// The same with a caller that has several threads.
    pub(crate) fn with_threads(self) -> Scene {
        Scene { has_threads: true, ..self }
    }

    /// Gives all of it to the one who runs.
    pub(crate) fn own(&self) {
        if self.who == Who::User && is_root() {
            let done = Command::new("chown").args(["-hR", &format!("{USER}:{USER}")]).arg(self.folder.path()).status();
            assert!(done.unwrap().success());
        }
    }

    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self.own();
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.workspace().join(path)).ok()
    }

    /// What a job says unless it says otherwise.
    pub(crate) fn job(&self, change: Value) -> Value {
        let mut job = json!({
            "workspace": self.workspace(),
            "read": ["docs/*.pdf", "sk/**"],
            "write": ["output/**"],
            "env": { "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "MARKER": self.marker },
        });
        for (name, value) in change.as_object().cloned().into_iter().flatten() {
            job[name] = value;
        }
        job
    }

    pub(crate) fn start(&self, job: &Value) -> Child {
        self.start_after("exec \"$@\"", job)
    }

    /// Starts a job after a line of shell, which gets the command that starts it as its arguments.
    fn start_after(&self, line: &str, job: &Value) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", line, "sh"]);
        if self.who == Who::User && is_root() {
            command.args(["setpriv", &format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups"]);
        }
        command.arg(&self.program);
        let mut child = command
            .env("RUNTIME_ONLY", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program that runs jobs starts");
        child.stdin.take().unwrap().write_all(job.to_string().as_bytes()).unwrap();
        child
    }

    /// Runs a job and gives what came of it.
    pub(crate) fn run(&self, change: Value) -> Value {
        self.run_after("exec \"$@\"", change)
    }

    /// Runs lines of Python where other mounts are seen: those that lines of shell make, which only root can.
    pub(crate) fn python_behind_mounts(&self, mounts: &str, code: &str, mut change: Value) -> Value {
        change["argv"] = json!([python(), "-I", "-c", code]);
        let line = format!("exec unshare -m --propagation private sh -ec '{mounts}; exec \"$@\"' sh \"$@\"");
        self.run_after(&line, change)
    }

    /// Runs a job after a line of shell, which gets the command that runs it as its arguments.
    pub(crate) fn run_after(&self, line: &str, change: Value) -> Value {
        let job = self.job(change);
        let output = self.start_after(line, &job).wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
    }

    /// Starts lines of Python with a pause between them, and waits until they have come so far.
    pub(crate) fn begin(&self, name: &str, before: &str, after: &str, mut job: Value) -> Child {
        let pause = format!(
            "import os, time\n{before}\nopen('output/{name}.here', 'w')\n\
             while not os.path.exists('output/{name}.go'): time.sleep(0.01)\n{after}"
        );
        job["argv"] = json!([python(), "-I", "-c", pause]);
        let mut child = self.start(&self.job(job));
        let is_paused = || self.text(&format!("output/{name}.here")).is_some();
        wait_until("the lines reach their pause, or end", DEADLINE, || {
            is_paused() || child.try_wait().unwrap().is_some()
        });
        assert!(is_paused(), "they ended before their pause: {:?}", child.wait_with_output());
        child
    }

    /// Lets lines of Python go on, and gives what came of them.
    pub(crate) fn end(&self, name: &str, child: Child) -> Value {
        fs::write(self.workspace().join(format!("output/{name}.go")), "").unwrap();
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    }

    /// Runs lines of Python.
    pub(crate) fn python(&self, code: &str, mut change: Value) -> Value {
        change["argv"] = json!([python(), "-I", "-c", code]);
        self.run(change)
    }

    /// Runs lines of Bash, which may start programs.
    pub(crate) fn bash(&self, code: &str, mut change: Value) -> Value {
        change["argv"] = json!([bash(), "-c", code]);
        if change["allow_subprocess"].is_null() {
            change["allow_subprocess"] = json!(true);
        }
        self.run(change)
    }

    /// What the tool is told about things it must not reach.
    pub(crate) fn told(&self, subprocess: bool) -> Value {
        json!({
            "outside": self.outside(),
            "runtime": std::process::id(),
            "tcp": self.tcp.local_addr().unwrap().port(),
            "udp": self.udp.local_addr().unwrap().port(),
            "abstract": self.marker,
            "subprocess": subprocess,
        })
    }

    /// Whether anything reached a listener outside.
    pub(crate) fn was_reached(&self) -> bool {
        self.tcp.set_nonblocking(true).unwrap();
        self.udp.set_nonblocking(true).unwrap();
        self.abstract_socket.set_nonblocking(true).unwrap();
        self.tcp.accept().is_ok() || self.udp.recv(&mut [0; 8]).is_ok() || self.abstract_socket.accept().is_ok()
    }

    /// Processes that were started in this scene and still live.
    pub(crate) fn survivors(&self) -> Vec<u32> {
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_ours = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.windows(self.marker.len()).any(|window| window == self.marker.as_bytes())
        };
        numbers.filter(is_ours).collect()
    }

    /// Every path of the scene but the program's, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        fn below(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                found.push(entry.path().strip_prefix(root).unwrap().display().to_string());
                if entry.file_type().unwrap().is_dir() {
                    below(&entry.path(), root, found);
                }
            }
        }
        let mut found = Vec::new();
        below(&self.workspace(), &self.workspace(), &mut found);
        found.sort();
        found
    }
}

/// The program that runs jobs, where everybody may execute it.
fn program(folder: &Path) -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_sandbox-trial"));
    let is_open = built
        .ancestors()
        .skip(1)
        .all(|folder| fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o005 == 0o005));
    if is_open {
        return built;
    }
    let copy = folder.join("sandbox-trial");
    fs::copy(built, &copy).unwrap();
    copy
}

/// A real interpreter, not one of the scripts some version managers put in its place.
fn interpreter(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/usr/local/bin", "/bin"];
    let found = folders.iter().filter_map(|folder| fs::canonicalize(Path::new(folder).join(name)).ok());
    found.into_iter().find(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")))
}

pub(crate) fn python() -> PathBuf {
    interpreter("python3").expect("these tests need python3 in /usr/bin or /usr/local/bin")
}

pub(crate) fn bash() -> PathBuf {
    interpreter("bash").expect("these tests need bash")
}

/// Node, where it is; where it is not, that is said, and in CI it is a fault.
pub(crate) fn node() -> Option<PathBuf> {
    let node = interpreter("node");
    if node.is_none() {
        rep_test_support::skip_unless_ci("node is not installed");
    }
    node
}
