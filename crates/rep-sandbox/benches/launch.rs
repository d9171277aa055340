//! What a sandbox costs in a process that makes many of them: `cargo bench -p rep-runtime`.
//!
//! Every round starts each program once by itself and once in a sandbox; told are the middle and the fastest tenth, of
//! the clock and of the CPU time of all processes. Options: `--rounds N` (60), `--json` (every number).
#![expect(clippy::print_stdout, reason = "a benchmark talks on the terminal")]
#![expect(clippy::disallowed_methods, reason = "a benchmark has arguments, starts processes and writes a script")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set itself up may stop")]
#![expect(unsafe_code, reason = "the kernel's account of CPU time")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rep_permissions::RunLimits;
use rep_permissions::RunPermissions;
use rep_sandbox::{self, Cancel, ProcessExit, SandboxJob};
use serde_json::json;

const PATH: &str = "/usr/bin:/bin";

/// A program that does nothing.
struct Idle {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// Milliseconds of the clock and of CPU time, by itself and in a sandbox.
    spent: [Vec<[f64; 2]>; 2],
}

fn main() {
    rep_sandbox::init();
    let arguments: Vec<String> = std::env::args().collect();
    let rounds =
        arguments.iter().position(|word| word == "--rounds").map_or(60, |at| arguments[at + 1].parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("tool.sh");
    std::fs::write(&script, "echo '{}'\n").unwrap();
    let script = script.to_string_lossy().into_owned();
    let mut idle: Vec<Idle> = [
        ("true", "/usr/bin/true", vec![]),
        ("bash", "/usr/bin/bash", vec![script]),
        ("python", "/usr/bin/python3", vec!["-c".to_owned(), "pass".to_owned()]),
        ("node", "/usr/bin/node", vec!["-e".to_owned(), "0".to_owned()]),
    ]
    .into_iter()
    .filter_map(|(name, program, arguments)| {
        let program = std::fs::canonicalize(program).ok()?;
        Some(Idle { name, program, arguments, spent: [Vec::new(), Vec::new()] })
    })
    .collect();
    for round in 0..=rounds {
        for one in &mut idle {
            let spent = [measured(|| plain(one)), measured(|| sandboxed(one, folder.path()))];
            // The first round warms up.
            if round > 0 {
                one.spent.iter_mut().zip(spent).for_each(|(all, spent)| all.push(spent));
            }
        }
    }
    for one in &idle {
        if arguments.iter().any(|word| word == "--json") {
            println!("{}", json!({ "what": one.name, "plain": one.spent[0], "sandbox": one.spent[1] }));
            continue;
        }
        for (how, spent) in ["plain", "sandbox"].iter().zip(&one.spent) {
            let at = |which: usize, part: usize| {
                let mut values: Vec<f64> = spent.iter().map(|both| both[which]).collect();
                values.sort_by(f64::total_cmp);
                values.get(values.len() * part / 100).copied().unwrap_or_default()
            };
            println!(
                "{:7} {how:8} clock {:6.2} ms (fastest tenth {:6.2}), CPU {:6.2} ms (fastest tenth {:6.2})",
                one.name,
                at(0, 50),
                at(0, 10),
                at(1, 50),
                at(1, 10)
            );
        }
    }
}

fn measured(work: impl FnOnce()) -> [f64; 2] {
    let (begin, before) = (Instant::now(), cpu_ms());
    work();
    [begin.elapsed().as_secs_f64() * 1e3, cpu_ms() - before]
}

/// CPU time of this process and of all children that ended.
fn cpu_ms() -> f64 {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|whose| {
            // SAFETY: all zeroes is a valid value of this structure of integers, which the kernel fills.
            let mut used: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: the structure outlives the call.
            unsafe { libc::getrusage(whose, &raw mut used) };
            let ms = |time: libc::timeval| {
                Duration::from_micros((time.tv_sec * 1_000_000 + time.tv_usec).cast_unsigned()).as_secs_f64() * 1e3
            };
            ms(used.ru_utime) + ms(used.ru_stime)
        })
        .sum()
}

fn plain(one: &Idle) {
    let mut command = Command::new(&one.program);
    command.args(&one.arguments).env_clear().env("PATH", PATH).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {output:?}", one.name);
}

fn sandboxed(one: &Idle, folder: &Path) {
    let job = SandboxJob {
        hidden: Vec::new(),
        protection: rep_sandbox::ProtectionOptions::default(),
        program: one.program.clone(),
        argv: [one.name.to_owned()].iter().chain(&one.arguments).map(Into::into).collect(),
        env: vec![("PATH".into(), PATH.into())],
        stdin: Vec::new(),
        workspace: folder.to_path_buf(),
        readable: vec![folder.to_path_buf()],
        private_folder: None,
        injected_files: Vec::new(),
        permissions: RunPermissions::default(),
        limits: RunLimits::default(),
        channel: None,
    };
    let ended = rep_sandbox::run_confined(job, &Cancel::default()).unwrap();
    assert_eq!(ended.exit, ProcessExit::Code(0), "{}: {ended:?}", one.name);
}
