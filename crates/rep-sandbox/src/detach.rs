//! Starts this program again as a process that outlives its parent.
#![cfg_attr(unix, expect(unsafe_code, reason = "the session is created between fork and exec"))]
#![expect(clippy::disallowed_methods, reason = "this module starts processes")]

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The maximum number of bytes read from its output.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// A process that continues after this one has ended.
pub struct DetachedProcess {
    child: Child,
    stdout: Option<BufReader<io::Take<ChildStdout>>>,
    /// The first line of its stdout.
    pub first_line: String,
}

impl DetachedProcess {
    /// Starts this program with the given arguments and stdin, and waits for the first line of output.
    pub fn start(arguments: &[OsString], stdin: &[u8]) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        leave_session(&mut command);
        let mut child = command.spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            // If the process ended before it read everything, its first line says why.
            let _ = pipe.write_all(stdin);
        }
        let mut line = String::new();
        let mut stdout = child.stdout.take().map(|stdout| BufReader::new(stdout.take(OUTPUT_BYTES_MAX)));
        if let Some(stdout) = &mut stdout {
            stdout.read_line(&mut line)?;
        }
        Ok(Self { child, stdout, first_line: line })
    }

    /// Waits until the process exits. Returns its complete output and its exit code.
    pub fn wait_for_exit(mut self) -> io::Result<(String, i32)> {
        let mut said = self.first_line;
        if let Some(stdout) = &mut self.stdout {
            stdout.read_to_string(&mut said)?;
        }
        Ok((said, self.child.wait()?.code().unwrap_or(-1)))
    }
}

/// Starts the program in a session of its own, so that the end of the terminal does not end it.
#[cfg(unix)]
fn leave_session(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    // SAFETY: a single system call that accesses no memory.
    unsafe {
        command.pre_exec(|| if libc::setsid() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
    }
}

/// Starts the program without the console of its parent.
#[cfg(windows)]
fn leave_session(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;

    const DETACHED_PROCESS: u32 = 0x0000_0008;
    command.creation_flags(DETACHED_PROCESS);
}
