//! Messages over a stream to the server's process: one line of JSON each.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use rep_storage::platform::LocalStream;
use serde_json::Value;

use crate::client::Wait;
use crate::error::{ClientError, ClientErrorKind, shorten};
use crate::message::{self, LineBuffer, LineTooLongError, ServerMessage};

/// How often the deadline and cancellation are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// How many lines without a message are skipped. Some servers print a greeting first.
const STRAY_LINES_MAX: usize = 20;

/// A stream to a server.
pub(crate) struct StreamTransport<'a> {
    stream: &'a LocalStream,
    lines: LineBuffer,
    bytes_max: usize,
    stray_lines: usize,
    /// The first line that was no message, for errors.
    first_stray: Option<String>,
}

impl<'a> StreamTransport<'a> {
    pub(crate) fn new(stream: &'a LocalStream) -> Self {
        Self { stream, lines: LineBuffer::new(0), bytes_max: 0, stray_lines: 0, first_stray: None }
    }

    pub(crate) fn limit_messages(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        self.lines = LineBuffer::new(bytes_max);
    }

    /// Sends a request and waits for its answer. Other messages are answered or ignored.
    pub(crate) fn exchange(&mut self, request: &Value, id: u64, wait: &Wait<'_>) -> Result<Value, ClientError> {
        self.send(request, wait)?;
        loop {
            let line = self.receive_line(wait)?;
            match message::parse_message(&line) {
                Ok(ServerMessage::Result { id: answered, result }) if answered == id => return Ok(result),
                Ok(ServerMessage::Error { id: answered, code, message }) if answered.is_none_or(|one| one == id) => {
                    let message = format!("the server refused `{}`: {} ({code})", wait.method, shorten(&message));
                    return Err(ClientError::new(ClientErrorKind::Rejected { code }, message));
                }
                Ok(ServerMessage::Request { id, method }) => self.send(&message::build_answer(&id, &method), wait)?,
                // Late answers to requests that timed out, and notifications.
                Ok(ServerMessage::Result { .. } | ServerMessage::Error { .. } | ServerMessage::Notification { .. }) => {
                }
                Err(reason) => self.note_stray_line(&line, &reason)?,
            }
        }
    }

    /// Sends a message that has no answer.
    pub(crate) fn send(&mut self, message: &Value, wait: &Wait<'_>) -> Result<(), ClientError> {
        let text = format!("{message}\n");
        let mut rest = text.as_bytes();
        self.stream.set_write_timeout(Some(CHECK_INTERVAL)).map_err(|error| self.broken(&error))?;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(self.closed(wait)),
                Ok(count) => rest = &rest[count..],
                Err(error) if is_pause(&error) => self.check_wait(wait)?,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.closed(wait)),
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(())
    }

    fn receive_line(&mut self, wait: &Wait<'_>) -> Result<Vec<u8>, ClientError> {
        let mut block = [0; 16 * 1024];
        self.stream.set_read_timeout(Some(CHECK_INTERVAL)).map_err(|error| self.broken(&error))?;
        loop {
            match self.lines.take_line() {
                Ok(Some(line)) => return Ok(line),
                Ok(None) => {}
                Err(LineTooLongError) => {
                    let message = format!("the server sent a message of more than {} bytes", self.bytes_max);
                    return Err(ClientError::new(ClientErrorKind::TooLarge, message));
                }
            }
            self.check_wait(wait)?;
            match self.stream.read(&mut block) {
                Ok(0) => return Err(self.closed(wait)),
                Ok(count) => self.lines.push_bytes(&block[..count]),
                Err(error) if is_pause(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Err(self.closed(wait)),
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    /// Returns the error if the caller does not wait any longer.
    fn check_wait(&self, wait: &Wait<'_>) -> Result<(), ClientError> {
        if (wait.is_cancelled)() {
            return Err(ClientError::new(ClientErrorKind::Cancelled, "the call was cancelled"));
        }
        if Instant::now() >= wait.until {
            return Err(self.add_stray(wait.timeout_error()));
        }
        Ok(())
    }

    fn note_stray_line(&mut self, line: &[u8], reason: &str) -> Result<(), ClientError> {
        self.stray_lines += 1;
        let text = shorten(&String::from_utf8_lossy(line));
        let first = self.first_stray.get_or_insert(text).clone();
        if self.stray_lines <= STRAY_LINES_MAX {
            return Ok(());
        }
        let message = format!("the server does not speak MCP: it wrote `{first}` to stdout ({reason})");
        Err(ClientError::invalid(message).with_remedy("a server must write its messages, and nothing else, to stdout"))
    }

    fn closed(&self, wait: &Wait<'_>) -> ClientError {
        let message = format!("the server ended before it answered `{}`", wait.method);
        self.add_stray(ClientError::new(ClientErrorKind::Closed, message))
    }

    fn add_stray(&self, mut error: ClientError) -> ClientError {
        if let Some(first) = &self.first_stray {
            error.message.push_str(&format!("; it wrote `{first}`, which is not a message of MCP"));
        }
        error
    }

    fn broken(&self, error: &io::Error) -> ClientError {
        self.add_stray(ClientError::new(ClientErrorKind::Closed, format!("the stream to the server broke: {error}")))
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
