//! A namespace with a gateway, and a program in it: the smallest launcher that can prove the gateway.
//!
//! The test binary runs itself again under `unshare`; that second process makes the sockets, sends them out and
//! becomes the program. Nothing here confines anything but the network.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rep_permissions::HostRule;
use rep_permissions::resolver::HostResolver;
use rep_sandbox::gateway::{self, Gateway, GatewayNeeds, GatewaySockets, RESOLVER_ADDRESS};
use rep_sandbox::{Cancel, Denial};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage};
use rustix::net::{SendFlags, recvmsg, sendmsg};
use serde_json::Value;

const ORDER: &str = "REP_TEST_INSIDE";

/// A program in a namespace, and the gateway it has.
pub(crate) struct Inside {
    child: Child,
    folder: tempfile::TempDir,
    pub(crate) gateway: Gateway,
    pub(crate) cancel: Cancel,
    pub(crate) asked: Asked,
}

/// The names that were looked up on the host's side.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A resolver that knows these names only, and remembers what it was asked.
fn resolver(known: &[(&str, u16, SocketAddr)], asked: &Asked) -> HostResolver {
    let known: Vec<(String, u16, SocketAddr)> =
        known.iter().map(|(name, port, address)| ((*name).to_owned(), *port, *address)).collect();
    let asked = asked.clone();
    HostResolver::new(move |name, port| {
        asked.0.lock().unwrap().push(name.to_owned());
        Ok(known.iter().filter(|(known, at, _)| known == name && *at == port).map(|(_, _, address)| *address).collect())
    })
}

/// Starts a program in a namespace that may reach these hosts.
pub(crate) fn start(declared: &[&str], known: &[(&str, u16, SocketAddr)], program: &[&str]) -> Inside {
    let asked = Asked::default();
    let resolver = resolver(known, &asked);
    start_with(declared, resolver, asked, program)
}

pub(crate) fn start_with(declared: &[&str], resolver: HostResolver, asked: Asked, program: &[&str]) -> Inside {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("resolv.conf", &format!("nameserver {RESOLVER_ADDRESS}\n"));
    file("hosts", "127.0.0.1 localhost\n::1 localhost\n");
    file("nsswitch.conf", "hosts: files dns\n");
    file("rules", &declared.join("\n"));
    file("program", &program.join("\0"));
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut child = again("unshare", &["--user", "--map-root-user", "--net", "--mount"], "inside::the_inner_side")
        .env(ORDER, folder.path())
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("`unshare` starts");
    let rules: Vec<HostRule> = declared.iter().map(|text| HostRule::parse(text).unwrap()).collect();
    let sockets = receive(&ours).unwrap_or_else(|| {
        drop(child.kill());
        drop(child.wait());
        panic!("no user and network namespace can be made here, so nothing about the gateway was proved")
    });
    let cancel = Cancel::default();
    let gateway = gateway::start_gateway(sockets, &rules, cancel.clone(), resolver).unwrap();
    (&ours).write_all(b"!").unwrap();
    Inside { child, folder, gateway, cancel, asked }
}

/// This test binary again, in a process of its own, for one test only.
pub(crate) fn again(before: &str, options: &[&str], test: &str) -> Command {
    let mut command = Command::new(before);
    command.args(options).arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    // The programs must find what they need, and no settings of proxies.
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/nonexistent");
    command
}

/// Says that less was proved than the test's name says. Not by a macro, whose words the harness would keep to itself.
pub(crate) fn not_proved(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "{reason}");
    std::io::stderr().write_all(format!("NOT PROVED: {reason}\n").as_bytes()).unwrap();
}

impl Inside {
    /// The program's standard output, after it ended.
    pub(crate) fn finish(&mut self) -> String {
        let mut harness = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut harness).unwrap();
        let status = self.child.wait().unwrap();
        let output = std::fs::read_to_string(self.folder.path().join("output")).unwrap();
        assert!(status.success(), "{status}\n{harness}\n{output}");
        output
    }

    pub(crate) fn denied(&self) -> Vec<(String, Option<String>)> {
        let told = |denial: Denial| (denial.target, denial.suggestion);
        self.gateway.denials().into_iter().map(told).collect()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What the steps of a script give, one each.
pub(crate) fn steps(inside: &mut Inside) -> Vec<Value> {
    inside.finish().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The client of these tests with a script, as a program.
pub(crate) struct Script {
    folder: tempfile::TempDir,
    certificate: PathBuf,
}

pub(crate) fn script(lines: &[Value], certificate: &Path) -> Script {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("client.py"), include_str!("client.py")).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("script"), text).unwrap();
    Script { folder, certificate: certificate.to_owned() }
}

impl Script {
    pub(crate) fn program(&self) -> [String; 3] {
        let folder = self.folder.path().display();
        let certificate = self.certificate.display();
        let line = format!("CERTIFICATE={certificate} exec python3 -I {folder}/client.py < {folder}/script");
        ["sh".to_owned(), "-c".to_owned(), line]
    }
}

/// Runs a script to its end.
pub(crate) fn run(declared: &[&str], known: &[(&str, u16, SocketAddr)], lines: &[Value]) -> (Inside, Vec<Value>) {
    let script = script(lines, Path::new("/nonexistent"));
    let [sh, option, line] = script.program();
    let mut inside = start(declared, known, &[&sh, &option, &line]);
    let results = steps(&mut inside);
    assert_eq!(results.len(), lines.len(), "each step says something");
    (inside, results)
}

/// Not a test of its own: what the second process does before it becomes the program.
#[test]
fn the_inner_side() {
    let Some(folder) = std::env::var_os(ORDER).map(PathBuf::from) else { return };
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let rules: Vec<HostRule> = text("rules").lines().map(|line| HostRule::parse(line).unwrap()).collect();
    let needs = GatewayNeeds::from_rules(&rules);
    let sockets = gateway::open_in_namespace(&needs.ports, &needs.literals).unwrap();
    let stdin = std::io::stdin();
    let fds = sockets.fds();
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
    sendmsg(stdin.as_fd(), &[IoSlice::new(b"!")], &mut control, SendFlags::empty()).unwrap();
    drop(sockets);
    assert_eq!(stdin.lock().read(&mut [0; 1]).unwrap(), 1, "the gateway serves");
    let mounts =
        "for name in resolv.conf hosts nsswitch.conf; do mount --bind \"$0/$name\" \"/etc/$name\" || exit 9; done
        exec \"$@\" < /dev/null > \"$0/output\"";
    let program = text("program");
    let mut command = Command::new("sh");
    command.args(["-c", mounts]).arg(&folder).args(program.split('\0')).env_remove(ORDER);
    panic!("{}", command.exec());
}

fn receive(channel: &UnixStream) -> Option<GatewaySockets> {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(channel, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    (!fds.is_empty()).then(|| GatewaySockets::from_fds(fds).unwrap())
}
