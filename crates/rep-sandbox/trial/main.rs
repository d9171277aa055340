//! Runs jobs in sandboxes, as the tests describe them: JSON on stdin, JSON on stdout.
//!
//! A program of its own, because a sandbox starts the program it is made by a second time, and because the tests run
//! it as another user. What it can do that `rep` cannot: leave a layer out, so that a test can be seen to fail.
#![expect(clippy::print_stdout, reason = "its stdout is the result")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rep_permissions::RunLimits;
use rep_permissions::glob::Glob;
use rep_permissions::{HostRule, RunPermissions};
use rep_sandbox::{
    self, Cancel, ProcessExit, ProtectionOptions, SandboxChannel, SandboxError, SandboxJob, SandboxOutcome,
};
use serde_json::{Value, json};

fn main() {
    rep_sandbox::init();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("the tests write a job");
    let request: Value = serde_json::from_str(&text).expect("the tests write JSON");
    if request["probe"] == true {
        let layers: Vec<_> = rep_sandbox::probe_layers().iter().map(|layer| json!([layer.name, layer.state])).collect();
        println!("{}", json!({ "layers": layers }));
        return;
    }
    if let Some(files) = request["caller_files"].as_u64() {
        let few = rustix::process::Rlimit { current: Some(files), maximum: Some(files) };
        rustix::process::setrlimit(rustix::process::Resource::Nofile, few).expect("fewer files can always be had");
    }
    let times = request["times"].as_u64().unwrap_or(1);
    if times == 1 && request["threads"] != true {
        // A caller with one thread, whose sandbox is a copy of it.
        println!("{}", one(&request, 0));
        return;
    }
    let results: Vec<Value> = thread::scope(|scope| {
        let runs: Vec<_> = (0..times)
            .map(|number| {
                scope.spawn({
                    let request = &request;
                    move || one(request, number)
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().expect("a run does not panic")).collect()
    });
    println!("{}", if times == 1 { results[0].clone() } else { Value::Array(results) });
}

fn one(request: &Value, number: u64) -> Value {
    let cancel = Cancel::default();
    let mut job = job(request, number);
    let is_stdio = request["channel"] == "stdio";
    let ours = (is_stdio || request["channel"] == true).then(|| {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let as_channel = if is_stdio { SandboxChannel::Stdio } else { SandboxChannel::Descriptor };
        job.channel = Some(as_channel(theirs.into()));
        // Answers until the tool's end is closed.
        thread::spawn(move || answer(ours))
    });
    let without = words(&request["without"]);
    if let Some(after_ms) = request["cancel_ms"].as_u64() {
        let cancel = cancel.clone();
        // Waits for nobody: the run ends with the cancel, or before it.
        thread::spawn(move || {
            thread::park_timeout(Duration::from_millis(after_ms));
            cancel.cancel();
        });
    }
    match rep_sandbox::run_without_layers(job, &cancel, &without) {
        Ok(ended) => {
            let mut result = told(&ended);
            result["heard"] = ours.map(|ours| ours.join().expect("the channel ends with the tool")).into();
            result
        }
        Err(SandboxError::Unavailable { feature, remedy }) => json!({ "unavailable": feature, "remedy": remedy }),
        Err(SandboxError::Unstartable { program, reason }) => json!({ "unstartable": reason, "program": program }),
        Err(SandboxError::Rejected(reason)) => json!({ "rejected": reason, "peak_kib": peak_kib() }),
    }
}

/// The most memory this process ever had.
fn peak_kib() -> Option<u64> {
    let mut text = String::new();
    let flags = rustix::fs::OFlags::RDONLY;
    let status = rustix::fs::open("/proc/self/status", flags, rustix::fs::Mode::empty()).ok()?;
    std::fs::File::from(status).read_to_string(&mut text).ok()?;
    text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

fn answer(mut ours: UnixStream) -> String {
    let mut heard = String::new();
    let mut bytes = [0; 64];
    while let Ok(length @ 1..) = ours.read(&mut bytes) {
        heard.push_str(&String::from_utf8_lossy(&bytes[..length]));
        // A tool that is gone needs no answer.
        let _ = ours.write_all(b"pong");
    }
    heard
}

fn told(ended: &SandboxOutcome) -> Value {
    let (code, signal) = match ended.exit {
        ProcessExit::Code(code) => (Some(code), None),
        ProcessExit::Signal(signal) => (None, Some(signal)),
    };
    let denials: Vec<_> =
        ended.denials.iter().map(|denial| json!([denial.action, denial.target, denial.suggestion])).collect();
    json!({
        "code": code,
        "signal": signal,
        "killed": ended.kill_reason.map(|killed| format!("{killed:?}")),
        "stdout": String::from_utf8_lossy(&ended.stdout),
        "stdout_bytes": ended.stdout.len(),
        "stderr": String::from_utf8_lossy(&ended.stderr),
        "is_truncated": ended.is_truncated,
        "denials": denials,
        "denials_omitted": ended.denials_omitted,
        "layers": ended.layers.iter().map(|layer| json!([layer.name, layer.state])).collect::<Vec<_>>(),
        "written": ended.written,
        "conflicts": ended.conflicts,
        "notes": ended.notes,
        "duration_ms": ended.duration_ms,
    })
}

fn job(request: &Value, number: u64) -> SandboxJob {
    let globs = |value: &Value| words(value).into_iter().map(|word| Glob::parse(word).expect("a pattern")).collect();
    let numbered = |word: &str| word.replace("{number}", &number.to_string());
    let argv = words(&request["argv"]);
    let default = RunLimits::default();
    let limit = |name: &str, default: u64| request["limits"][name].as_u64().unwrap_or(default);
    SandboxJob {
        hidden: words(&request["hidden"]).into_iter().map(PathBuf::from).collect(),
        program: PathBuf::from(argv.first().expect("a program")),
        argv: argv.iter().map(|word| numbered(word).into()).collect(),
        env: request["env"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.into(), value.as_str().unwrap_or_default().into()))
            .collect(),
        stdin: request["stdin"].as_str().unwrap_or_default().repeat(repeat(request)).into_bytes(),
        workspace: PathBuf::from(request["workspace"].as_str().expect("a workspace")),
        readable: words(&request["readable"]).into_iter().map(PathBuf::from).collect(),
        private_folder: request["own"].as_str().map(PathBuf::from),
        injected_files: request["given"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, text)| (name.clone(), text.as_str().unwrap_or_default().as_bytes().to_vec()))
            .collect(),
        protection: ProtectionOptions {
            program_folders: words(&request["held"]).into_iter().map(PathBuf::from).collect(),
            home: request["home"].as_str().map(PathBuf::from),
            run_registry: request["register"].as_str().map(PathBuf::from),
            installs_packages: request["is_for_packages"] == true,
        },
        permissions: RunPermissions {
            read: globs(&request["read"]),
            write: globs(&request["write"]),
            outbound: words(&request["outbound"])
                .into_iter()
                .map(|host| HostRule::parse(host).expect("a host"))
                .collect(),
            allow_subprocess: request["allow_subprocess"] == true,
        },
        limits: RunLimits {
            timeout_ms: limit("timeout_ms", 20_000),
            grace_ms: limit("grace_ms", 500),
            cpu_s: limit("cpu_s", default.cpu_s),
            memory_bytes: limit("memory_bytes", default.memory_bytes),
            processes: limit("processes", default.processes),
            open_files: limit("open_files", default.open_files),
            file_bytes: limit("file_bytes", default.file_bytes),
            temporary_bytes: limit("temporary_bytes", default.temporary_bytes),
            output_bytes: limit("output_bytes", default.output_bytes),
        },
        channel: None,
    }
}

fn repeat(request: &Value) -> usize {
    request["stdin_times"].as_u64().and_then(|times| usize::try_from(times).ok()).unwrap_or(1)
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
