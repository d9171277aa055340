//! Starting this program again, to go on by itself after whoever started it has ended.
#![expect(unsafe_code, reason = "a session of its own is made between the copy of the process and its program")]
#![expect(clippy::disallowed_methods, reason = "this room starts processes")]

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The most that is read of what it says.
const SAID_BYTES_MAX: u64 = 1 << 20;

/// A process that goes on by itself.
pub struct Detached {
    child: Child,
    stdout: Option<BufReader<io::Take<ChildStdout>>>,
    /// The first line it said on stdout.
    pub line: String,
}

impl Detached {
    /// Starts this program with other arguments, hands it something on stdin, and waits for its first line.
    pub fn start(arguments: &[OsString], stdin: &[u8]) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: one plain system call, which touches no memory.
        unsafe {
            command.pre_exec(|| if libc::setsid() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
        }
        let mut child = command.spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            // One that ended before it read everything says so in its first line.
            let _ = pipe.write_all(stdin);
        }
        let mut line = String::new();
        let mut stdout = child.stdout.take().map(|stdout| BufReader::new(stdout.take(SAID_BYTES_MAX)));
        if let Some(stdout) = &mut stdout {
            stdout.read_line(&mut line)?;
        }
        Ok(Self { child, stdout, line })
    }

    /// Waits for the end of one that does not go on: all it said, and its exit code.
    pub fn end(mut self) -> io::Result<(String, i32)> {
        let mut said = self.line;
        if let Some(stdout) = &mut self.stdout {
            stdout.read_to_string(&mut said)?;
        }
        Ok((said, self.child.wait()?.code().unwrap_or(-1)))
    }
}
