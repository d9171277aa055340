//! A client of the language server: it starts the real binary, and keeps everything that the server sends.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rep_test_support::{DEADLINE, ScratchFolder, wait_for};
use serde_json::{Value, json};

/// A running server.
pub(crate) struct LspClient {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The messages that were received and not looked at.
    unread: VecDeque<Value>,
    /// Everything that was received.
    pub(crate) transcript: Vec<Value>,
    next_id: i64,
    /// The answer to `workspace/configuration`, for every item.
    pub(crate) configuration: Value,
    /// The result of `initialize`.
    pub(crate) initialized: Value,
}

/// The capabilities of a client that can do everything.
pub(crate) fn full_capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16", "utf-32"] },
        "window": { "workDoneProgress": true, "showDocument": { "support": true } },
        "workspace": {
            "configuration": true,
            "workspaceFolders": true,
            "didChangeWatchedFiles": { "dynamicRegistration": true },
            "diagnostics": { "refreshSupport": true },
            "inlayHint": { "refreshSupport": true },
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "snippetEditSupport": true,
            },
        },
        "textDocument": {
            "publishDiagnostics": { "relatedInformation": true, "tagSupport": { "valueSet": [1, 2] } },
            "hover": { "contentFormat": ["markdown", "plaintext"] },
            "completion": { "completionItem": { "snippetSupport": true } },
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "rename": { "prepareSupport": true },
        },
    })
}

/// The same, for a client that asks for diagnostics.
pub(crate) fn pull_capabilities() -> Value {
    let mut capabilities = full_capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({ "relatedDocumentSupport": true });
    capabilities
}

/// Returns the URI of a path.
pub(crate) fn uri(path: impl AsRef<Path>) -> String {
    let escape = |letter: char| match letter {
        '/' | '-' | '_' | '.' | '~' => letter.to_string(),
        letter if letter.is_ascii_alphanumeric() => letter.to_string(),
        letter => letter.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    };
    format!("file://{}", path.as_ref().to_string_lossy().chars().map(escape).collect::<String>())
}

impl LspClient {
    /// Starts the server without a handshake.
    pub(crate) fn spawn(scratch: &ScratchFolder) -> Self {
        Self::spawn_command(scratch, Command::new(super::super::rep()))
    }

    /// Starts the server with a command that ends with the binary.
    pub(crate) fn spawn_command(scratch: &ScratchFolder, mut command: Command) -> Self {
        let home = scratch.work_folder().with_file_name("home");
        let mut child = command
            .arg("lsp")
            .current_dir(scratch.work_folder())
            .env("HOME", home)
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary can be started");
        let mut output = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read_message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            messages,
            unread: VecDeque::new(),
            transcript: Vec::new(),
            next_id: 1,
            configuration: Value::Null,
            initialized: Value::Null,
        }
    }

    /// Starts the server in the work directory and initializes it.
    pub(crate) fn start(scratch: &ScratchFolder, capabilities: &Value) -> Self {
        Self::start_in(scratch, &[scratch.work_folder()], capabilities, &Value::Null)
    }

    /// Starts the server for these folders and initializes it.
    pub(crate) fn start_in(
        scratch: &ScratchFolder,
        folders: &[PathBuf],
        capabilities: &Value,
        options: &Value,
    ) -> Self {
        let mut client = Self::spawn(scratch);
        client.initialize(folders, capabilities, options);
        client
    }

    /// Initializes the server for these folders.
    pub(crate) fn initialize(&mut self, folders: &[PathBuf], capabilities: &Value, options: &Value) {
        let folders: Vec<Value> = folders.iter().map(|path| json!({ "uri": uri(path), "name": "x" })).collect();
        self.initialized = self.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": null,
                "workspaceFolders": folders,
                "capabilities": capabilities,
                "initializationOptions": options,
            }),
        );
        self.notify("initialized", json!({}));
    }

    /// Writes bytes as they are.
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the server reads");
        input.flush().expect("the server reads");
    }

    /// Writes a message.
    pub(crate) fn send(&mut self, message: &Value) {
        let content = message.to_string();
        self.write_raw(format!("Content-Length: {}\r\n\r\n{content}", content.len()).as_bytes());
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request, and returns its id without waiting.
    pub(crate) fn send_request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and returns the whole response.
    pub(crate) fn respond_to(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        self.wait_response(id)
    }

    /// Sends a request and returns the result.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.respond_to(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].take()
    }

    /// Waits for the response with an id.
    #[track_caller]
    pub(crate) fn wait_response(&mut self, id: i64) -> Value {
        self.wait_message(&format!("a response to request {id}"), |message| {
            message.get("method").is_none() && message["id"] == json!(id)
        })
    }

    /// Waits for a message that was not looked at yet, and removes it. Requests of the server are answered.
    #[track_caller]
    pub(crate) fn wait_message(&mut self, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            if let Some(at) = self.unread.iter().position(&is_wanted) {
                return self.unread.remove(at).expect("it was just found");
            }
            match self.messages.recv_timeout(DEADLINE.saturating_sub(start.elapsed())) {
                Ok(message) => self.take_message(message),
                Err(RecvTimeoutError::Timeout) => panic!("{what} did not arrive"),
                Err(RecvTimeoutError::Disconnected) => panic!("the server ended before {what}"),
            }
        }
    }

    fn take_message(&mut self, message: Value) {
        self.transcript.push(message.clone());
        if let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str)) {
            let result = match method {
                "workspace/configuration" => {
                    let count = message["params"]["items"].as_array().map_or(0, Vec::len);
                    Value::Array(vec![self.configuration.clone(); count])
                }
                _ => Value::Null,
            };
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
        self.unread.push_back(message);
    }

    /// Reads what has arrived, without waiting longer than needed for the messages on their way.
    pub(crate) fn drain(&mut self, wait: Duration) {
        while let Ok(message) = self.messages.recv_timeout(wait) {
            self.take_message(message);
        }
    }

    /// Opens a document with a text.
    pub(crate) fn open(&mut self, path: impl AsRef<Path>, version: i64, text: &str) {
        let item = json!({ "uri": uri(path), "languageId": "markdown", "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Opens a document with the text on disk.
    pub(crate) fn open_file(&mut self, path: impl AsRef<Path>) -> String {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        self.open(&path, 1, &text);
        text
    }

    /// Replaces the text of a document.
    pub(crate) fn replace(&mut self, path: impl AsRef<Path>, version: i64, text: &str) {
        let document = json!({ "uri": uri(path), "version": version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    /// Closes a document.
    pub(crate) fn close(&mut self, path: impl AsRef<Path>) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(path) } }));
    }

    /// Waits for pushed diagnostics of a file that fulfil a condition.
    #[track_caller]
    pub(crate) fn wait_diagnostics(
        &mut self,
        path: impl AsRef<Path>,
        is_wanted: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        let uri = uri(&path);
        let message = self.wait_message(&format!("diagnostics of {uri}"), |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == json!(uri)
                && is_wanted(message["params"]["diagnostics"].as_array().expect("diagnostics are a list"))
        });
        message["params"]["diagnostics"].as_array().expect("diagnostics are a list").clone()
    }

    /// Waits for pushed diagnostics of a version of a file.
    #[track_caller]
    pub(crate) fn wait_version(&mut self, path: impl AsRef<Path>, version: i64) -> Vec<Value> {
        let uri = uri(&path);
        let message = self.wait_message(&format!("diagnostics of version {version}"), |message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == json!(uri)
                && message["params"]["version"] == json!(version)
        });
        message["params"]["diagnostics"].as_array().expect("diagnostics are a list").clone()
    }

    /// Asks for the diagnostics of a file.
    #[track_caller]
    pub(crate) fn pull(&mut self, path: impl AsRef<Path>) -> Value {
        self.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri(path) } }))
    }

    /// Sends a request about a position of a document.
    #[track_caller]
    pub(crate) fn request_at(&mut self, method: &str, path: impl AsRef<Path>, (line, character): (u32, u32)) -> Value {
        let position = json!({ "line": line, "character": character });
        self.request(method, json!({ "textDocument": { "uri": uri(path) }, "position": position }))
    }

    /// Ends the session as the protocol demands, and returns the exit code.
    pub(crate) fn shut_down(mut self) -> i32 {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.wait_exit().code().unwrap_or(-1)
    }

    /// Closes the input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits until the server ends.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> ExitStatus {
        wait_for("the server ends", DEADLINE, || self.child.try_wait().expect("the child can be waited for"))
    }
}

impl Drop for LspClient {
    fn drop(&mut self) {
        // The test is over either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').expect("nothing but messages is on stdout");
        assert_eq!(name, "Content-Length", "nothing but messages is on stdout");
        length = value.trim().parse().expect("a length is a number");
    }
    let mut content = vec![0; length];
    output.read_exact(&mut content).ok()?;
    Some(serde_json::from_slice(&content).expect("a message is JSON"))
}

/// Returns the codes of diagnostics, sorted.
pub(crate) fn codes(diagnostics: &[Value]) -> Vec<&str> {
    let mut codes: Vec<&str> = diagnostics.iter().map(|item| item["code"].as_str().expect("a code is text")).collect();
    codes.sort_unstable();
    codes
}

/// Returns the position of the first occurrence of a text. Lines and columns start at zero, and columns count bytes,
/// as the client asks for.
#[track_caller]
pub(crate) fn position_of(text: &str, word: &str) -> (u32, u32) {
    let at = text.find(word).unwrap_or_else(|| panic!("`{word}` is not in the text"));
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    (u32::try_from(text[..at].matches('\n').count()).unwrap(), u32::try_from(at - start).unwrap())
}

/// Applies edits to a text, as a client that counts bytes does.
pub(crate) fn apply_edits(text: &str, edits: &[Value]) -> String {
    let offset = |position: &Value| {
        let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
        let column = usize::try_from(position["character"].as_u64().unwrap()).unwrap();
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        (start + column).min(text.len())
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let new = edit["newText"].as_str().unwrap_or_else(|| panic!("{edit}"));
            (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), new)
        })
        .collect();
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut out, mut done) = (String::new(), 0);
    for (start, end, new) in edits {
        assert!(done <= start && start <= end, "edits overlap");
        out.push_str(&text[done..start]);
        out.push_str(new);
        done = end;
    }
    out + &text[done..]
}
