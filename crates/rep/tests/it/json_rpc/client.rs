//! A client of `rep api`: it starts the real binary, and keeps what it does not wait for.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rep_test_support::{DEADLINE, ScratchFolder, wait_for};
use serde_json::{Value, json};

/// A running server.
pub(crate) struct ApiClient {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    unread: VecDeque<Value>,
    next_id: u64,
}

impl ApiClient {
    /// Starts the server in the work directory.
    pub(crate) fn start(scratch: &ScratchFolder, arguments: &[&str]) -> Self {
        let mut child = Command::new(super::super::rep())
            .arg("api")
            .args(arguments)
            .current_dir(scratch.work_folder())
            .env_clear()
            .env("HOME", scratch.work_folder().with_file_name("home"))
            .env("PATH", std::env::var_os("PATH").expect("tests have a path"))
            .env("A_TOKEN", "tops3cret-value")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary can be started");
        let output = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, messages, unread: VecDeque::new(), next_id: 1 }
    }

    /// Writes bytes as they are.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Writes a message.
    pub(crate) fn send(&mut self, message: Value) {
        self.write_raw(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its id.
    pub(crate) fn start_call(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for a message, and keeps all others.
    pub(crate) fn wait_for(&mut self, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.unread.iter().position(&is_wanted) {
            return self.unread.remove(index).expect("the index exists");
        }
        loop {
            let message = self.messages.recv_timeout(DEADLINE);
            let message = message.unwrap_or_else(|error| panic!("no {what} ({error}); {:?}", self.unread));
            if is_wanted(&message) {
                return message;
            }
            self.unread.push_back(message);
        }
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait_for("answer", |message| message["id"] == id && message.get("method").is_none())
    }

    /// Makes a request that succeeds.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_call(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Makes a request that fails, and returns the data of its error.
    pub(crate) fn call_error(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_call(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"]["data"].take()
    }

    /// Closes the input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits until the server ends.
    pub(crate) fn wait_for_end(&mut self) -> ExitStatus {
        wait_for("the end of the server", DEADLINE, || self.child.try_wait().expect("the server can be waited for"))
    }
}

impl Drop for ApiClient {
    fn drop(&mut self) {
        // The test is over either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
