//! Starts the programs that `rep` needs for its own connections: git and credential helpers.
//!
//! A program gets arguments, never a shell string. Its output and its run time are bounded, and it never shares our
//! terminal. Tools of skills are not started here: `rep-sandbox` confines those.
#![expect(clippy::disallowed_methods, reason = "this module starts git and credential helpers")]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running program is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(25);
/// The maximum size of the messages that a program prints.
const MESSAGES_BYTES_MAX: u64 = 64 << 10;

/// What a program reads from stdin.
pub(crate) enum ProgramInput {
    /// These bytes.
    Bytes(Vec<u8>),
    /// An open file. The program holds the lock of the file for as long as it runs, even if `rep` is killed.
    Held(File),
}

/// A program to start.
pub(crate) struct ProgramCall<'a> {
    /// The name or path of the program.
    pub(crate) program: &'a str,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Variables that are set in addition to the inherited ones.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// Inherited variables that are removed.
    pub(crate) removed_environment: &'static [&'static str],
    /// The working directory.
    pub(crate) folder: Option<&'a Path>,
    /// Its input.
    pub(crate) input: ProgramInput,
    /// The maximum size of its output.
    pub(crate) output_bytes_max: u64,
    /// The time limit.
    pub(crate) timeout: Duration,
}

/// How a program ended.
pub(crate) struct ProgramOutput {
    /// Whether it reported success.
    pub(crate) is_success: bool,
    /// Its output.
    pub(crate) stdout: Vec<u8>,
    /// Its messages, cut to a maximum length.
    pub(crate) stderr: String,
}

/// Why a program has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// The program does not exist.
    #[error("`{0}` is not installed")]
    Missing(String),
    /// The program could not be started, or its output could not be read.
    #[error("could not run `{program}`: {error}")]
    Failed {
        /// The program.
        program: String,
        /// The system's error.
        error: io::Error,
    },
    /// The time limit was exceeded.
    #[error("`{program}` was stopped after {seconds} seconds")]
    TimedOut {
        /// The program.
        program: String,
        /// The time limit.
        seconds: u64,
    },
    /// The output exceeds its limit.
    #[error("`{program}` printed more than {bytes} bytes")]
    TooMuchOutput {
        /// The program.
        program: String,
        /// The limit.
        bytes: u64,
    },
    /// The caller stopped it.
    #[error("{0}")]
    Stopped(String),
}

/// Runs a program until it ends. `watch` is called while it runs; an error stops the program.
pub(crate) fn run_program(
    call: ProgramCall<'_>,
    watch: &mut dyn FnMut() -> Result<(), String>,
) -> Result<ProgramOutput, ProgramError> {
    let failed = |error: io::Error| ProgramError::Failed { program: call.program.to_owned(), error };
    let mut command = Command::new(call.program);
    command.args(&call.arguments).envs(call.environment.iter().map(|(name, value)| (name, value)));
    for name in call.removed_environment {
        command.env_remove(name);
    }
    if let Some(folder) = call.folder {
        command.current_dir(folder);
    }
    let bytes = match call.input {
        ProgramInput::Bytes(bytes) => {
            command.stdin(Stdio::piped());
            bytes
        }
        ProgramInput::Held(file) => {
            command.stdin(Stdio::from(file));
            Vec::new()
        }
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProgramError::Missing(call.program.to_owned()),
        _ => failed(error),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read everything closes the pipe.
        thread::spawn(move || drop(stdin.write_all(&bytes)));
    }
    let stdout = read_in_background(child.stdout.take(), call.output_bytes_max + 1);
    let stderr = read_in_background(child.stderr.take(), MESSAGES_BYTES_MAX);
    let limits = (call.program, call.output_bytes_max, call.timeout);
    let ended = wait_for_output(&mut child, &stdout, limits, watch);
    if ended.is_err() {
        // The program may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
    let (status, output) = ended?;
    let messages = stderr.recv_timeout(CHECK_INTERVAL * 4).ok().and_then(Result::ok).unwrap_or_default();
    let messages = String::from_utf8_lossy(&messages).into_owned();
    Ok(ProgramOutput { is_success: status.success(), stdout: output, stderr: messages })
}

/// Reads a stream to its end or its limit in another thread. Everything after the limit is discarded.
fn read_in_background(stream: Option<impl Read + Send + 'static>, bytes_max: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut bytes = Vec::new();
        let read = (&mut stream).take(bytes_max).read_to_end(&mut bytes);
        let is_cut = bytes.len() as u64 == bytes_max;
        // The caller may have stopped waiting.
        let _ = sender.send(read.map(|_| bytes));
        if is_cut {
            let _ = io::copy(&mut stream, &mut io::sink());
        }
    });
    receiver
}

/// Waits until a program has closed its output and ended.
fn wait_for_output(
    child: &mut Child,
    stdout: &Receiver<io::Result<Vec<u8>>>,
    (program, bytes_max, timeout): (&str, u64, Duration),
    watch: &mut dyn FnMut() -> Result<(), String>,
) -> Result<(ExitStatus, Vec<u8>), ProgramError> {
    let failed = |error: io::Error| ProgramError::Failed { program: program.to_owned(), error };
    let until = Instant::now() + timeout;
    let mut output = None;
    loop {
        if output.is_none() {
            match stdout.recv_timeout(CHECK_INTERVAL) {
                Ok(read) => output = Some(read.map_err(failed)?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(failed(io::Error::other("its output was lost"))),
            }
        }
        if let Some(bytes) = &output {
            if bytes.len() as u64 > bytes_max {
                return Err(ProgramError::TooMuchOutput { program: program.to_owned(), bytes: bytes_max });
            }
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok((status, output.unwrap_or_default()));
            }
            // The output is closed: the program is about to end.
            thread::park_timeout(Duration::from_millis(1));
        }
        watch().map_err(ProgramError::Stopped)?;
        if Instant::now() >= until {
            return Err(ProgramError::TimedOut { program: program.to_owned(), seconds: timeout.as_secs() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'a>(program: &'a str, arguments: &[&str]) -> ProgramCall<'a> {
        ProgramCall {
            program,
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
            removed_environment: &[],
            folder: None,
            input: ProgramInput::Bytes(b"in".to_vec()),
            output_bytes_max: 1000,
            timeout: Duration::from_mins(1),
        }
    }

    #[test]
    fn a_program_gets_its_input_and_its_output_comes_back() {
        let done = run_program(call("cat", &[]), &mut || Ok(())).unwrap();
        assert!(done.is_success && done.stdout == b"in");
        let done = run_program(call("sh", &["-c", "echo no >&2; exit 3"]), &mut || Ok(())).unwrap();
        assert!(!done.is_success && done.stderr == "no\n");
        let missing = run_program(call("no-such-program", &[]), &mut || Ok(())).err().unwrap();
        assert_eq!(missing.to_string(), "`no-such-program` is not installed");
    }

    #[test]
    fn a_program_that_never_ends_is_stopped() {
        let endless = ProgramCall { timeout: Duration::from_millis(50), ..call("sleep", &["1000"]) };
        assert!(matches!(run_program(endless, &mut || Ok(())), Err(ProgramError::TimedOut { .. })));
        let loud = run_program(call("cat", &["/dev/zero"]), &mut || Ok(()));
        assert!(matches!(loud, Err(ProgramError::TooMuchOutput { bytes: 1000, .. })));
        let stopped = run_program(call("sleep", &["1000"]), &mut || Err("enough".to_owned()));
        assert_eq!(stopped.err().unwrap().to_string(), "enough");
    }
}
