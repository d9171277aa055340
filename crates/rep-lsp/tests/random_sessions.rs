//! Sessions that no client would have: random messages never end the server, and random edits leave it with the text of
//! the client.

use std::io::{BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::JoinHandle;

use proptest::prelude::*;
use proptest::sample::select;
use rep_lsp::transport::{IncomingFrame, read_frame, write_frame};
use rep_lsp::{LanguageServerOptions, SessionEnd, serve};
use serde_json::{Value, json};

/// A session with a server in this process.
struct Client {
    input: PipeWriter,
    output: BufReader<PipeReader>,
    server: JoinHandle<SessionEnd>,
    received: Vec<Value>,
}

impl Client {
    fn start(encoding: &str) -> Self {
        let (server_input, input) = pipe().expect("a pipe can be created");
        let (output, server_output) = pipe().expect("a pipe can be created");
        let server = std::thread::spawn(|| serve(server_input, server_output, LanguageServerOptions::default()));
        let mut client = Self { input, output: BufReader::new(output), server, received: Vec::new() };
        let capabilities = json!({
            "general": { "positionEncodings": [encoding] },
            "textDocument": { "diagnostic": {}, "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } },
        });
        client.request("start", "initialize", &json!({ "capabilities": capabilities }));
        client
    }

    fn send(&mut self, message: &Value) {
        write_frame(&mut self.input, message).expect("the server reads");
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request, and waits for its answer.
    fn request(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let Ok(Some(IncomingFrame::Json(message))) = read_frame(&mut self.output) else {
                panic!("the server ended before it answered {method}");
            };
            self.received.push(message.clone());
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Ends the session, and returns everything that was received.
    fn finish(mut self) -> Vec<Value> {
        assert_eq!(self.request("end", "shutdown", &Value::Null)["error"], Value::Null);
        self.notify("exit", &Value::Null);
        assert_eq!(self.server.join().expect("the server does not panic"), SessionEnd::Orderly);
        self.received
    }

    fn open(&mut self, text: &str) {
        let item = json!({ "uri": FILE, "languageId": "markdown", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": item }));
    }

    /// What the server says about the document.
    fn describe(&mut self) -> Vec<Value> {
        let document = json!({ "textDocument": { "uri": FILE } });
        ["textDocument/diagnostic", "textDocument/documentSymbol", "textDocument/foldingRange"]
            .map(|method| self.request(method, method, &document)["result"].clone())
            .map(|mut result| {
                result.as_object_mut().map(|object| object.remove("resultId"));
                result
            })
            .to_vec()
    }
}

/// A file that does not exist on disk.
const FILE: &str = "file:///no-such-folder/pdf/SKILL.md";

const METHODS: &[&str] = &[
    "$/cancelRequest",
    "$/setTrace",
    "initialize",
    "initialized",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/diagnostic",
    "textDocument/didChange",
    "textDocument/didClose",
    "textDocument/didOpen",
    "textDocument/didSave",
    "textDocument/documentHighlight",
    "textDocument/documentLink",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/prepareRename",
    "textDocument/references",
    "textDocument/rename",
    "textDocument/selectionRange",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/range",
    "workspace/diagnostic",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeWorkspaceFolders",
    "workspace/executeCommand",
    "workspace/symbol",
    "workspace/willRenameFiles",
    "no/such/method",
];

/// Keys that messages have.
const KEYS: &[&str] = &[
    "added",
    "arguments",
    "changes",
    "character",
    "code",
    "command",
    "contentChanges",
    "context",
    "diagnostics",
    "end",
    "event",
    "files",
    "id",
    "line",
    "method",
    "newName",
    "newUri",
    "oldUri",
    "only",
    "position",
    "positions",
    "previousResultId",
    "previousResultIds",
    "query",
    "range",
    "removed",
    "repertoire",
    "result",
    "settings",
    "start",
    "text",
    "textDocument",
    "type",
    "uri",
    "value",
    "version",
];

/// Any JSON made of what messages are made of.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        select(vec![0_i64, 1, 2, 3, 7, -1, i64::MAX, i64::MIN]).prop_map(Value::from),
        select(vec![u64::MAX, u64::from(u32::MAX)]).prop_map(Value::from),
        Just(json!(1e300)),
        select(vec![FILE, "file:///no-such-folder", "untitled:x", "", "name", "pdf", "😀", "---\nname: "])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((select(KEYS.to_vec()), inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// Parameters that fit a method, with a value replaced.
fn params() -> impl Strategy<Value = Value> {
    let position =
        || (0_u32..12, 0_u32..40).prop_map(|(line, character)| json!({ "line": line, "character": character }));
    let range = (position(), position()).prop_map(|(start, end)| json!({ "start": start, "end": end }));
    let proper =
        (position(), range, select(vec!["", "x", "\n---\n", "a: [b", "😀\r\n"])).prop_map(|(at, range, text)| {
            json!({
                "textDocument": { "uri": FILE, "version": 2, "languageId": "markdown", "text": SKILL },
                "position": at,
                "positions": [at],
                "range": range,
                "contentChanges": [{ "range": range, "text": text }],
                "context": { "diagnostics": [], "includeDeclaration": true },
                "newName": text,
                "query": text,
                "files": [{ "oldUri": FILE, "newUri": FILE }],
                "previousResultIds": [],
                "options": { "tabSize": 2, "insertSpaces": true },
                "changes": [{ "uri": FILE, "type": 2 }],
            })
        });
    let mutated = (proper.clone(), select(KEYS.to_vec()), values()).prop_map(|(mut params, key, value)| {
        params[key] = value;
        params
    });
    prop_oneof![proper, mutated, values()]
}

/// A message of a kind that the protocol has, or has not.
#[derive(Clone, Debug)]
enum Sent {
    Request(&'static str, Value),
    Notification(&'static str, Value),
    Response(Value),
    Raw(Vec<u8>),
}

fn messages() -> impl Strategy<Value = Sent> {
    prop_oneof![
        6 => (select(METHODS.to_vec()), params()).prop_map(|(method, params)| Sent::Request(method, params)),
        4 => (select(METHODS.to_vec()), params()).prop_map(|(method, params)| Sent::Notification(method, params)),
        1 => values().prop_map(Sent::Response),
        1 => prop::collection::vec(any::<u8>(), 0..60).prop_map(Sent::Raw),
    ]
}

const SKILL: &str = "---\nname: pdf\ndescription: Fills forms: text fields.\ntags: [a, b]\n---\n\n# PDF\n\nSee \
                     [the guide](guide.md) and /pdf.\n\n```sh\nls\n```\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_messages_never_end_the_server(
        encoding in select(vec!["utf-8", "utf-16", "utf-32"]),
        sent in prop::collection::vec(messages(), 1..40),
    ) {
        let mut client = Client::start(encoding);
        client.open(SKILL);
        let mut ids = 0;
        for message in sent {
            match message {
                Sent::Request(method, params) => {
                    ids += 1;
                    client.send(&json!({ "jsonrpc": "2.0", "id": ids, "method": method, "params": params }));
                }
                Sent::Notification(method, params) => client.notify(method, &params),
                Sent::Response(value) => client.send(&json!({ "jsonrpc": "2.0", "id": value, "result": value })),
                Sent::Raw(bytes) => {
                    let header = format!("Content-Length: {}\r\n\r\n", bytes.len());
                    client.input.write_all(&[header.as_bytes(), &bytes].concat()).expect("the server reads");
                }
            }
        }
        // The server still answers, and no handler failed.
        let found = client.request("alive", "workspace/symbol", &json!({ "query": "" }));
        prop_assert!(found.get("result").is_some());
        let received = client.finish();
        for id in 1..=ids {
            let is_answer = |message: &&Value| message["id"] == json!(id) && message.get("method").is_none();
            prop_assert!(received.iter().filter(is_answer).count() <= 1, "{id} is answered once");
        }
        let failed: Vec<&Value> = received.iter().filter(|message| message["error"]["code"] == -32603).collect();
        prop_assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn random_edits_leave_the_server_with_the_text_of_the_client(
        encoding in select(vec!["utf-8", "utf-16", "utf-32"]),
        start in texts(),
        edits in prop::collection::vec(prop::collection::vec((any::<u16>(), any::<u16>(), texts()), 1..4), 1..8),
    ) {
        let mut text = format!("{SKILL}{start}");
        let mut client = Client::start(encoding);
        client.open(&text);
        for (number, changes) in edits.iter().enumerate() {
            let mut content = Vec::new();
            for (from, length, new_text) in changes {
                let (from, to) = pick_range(&text, *from, *length);
                let range = json!({ "start": position(&text, from, encoding), "end": position(&text, to, encoding) });
                content.push(json!({ "range": range, "text": new_text }));
                text.replace_range(from..to, new_text);
            }
            let document = json!({ "uri": FILE, "version": number + 2 });
            client.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": content }));
        }
        let mut fresh = Client::start(encoding);
        fresh.open(&text);
        prop_assert_eq!(client.describe(), fresh.describe(), "{:?}", text);
        client.finish();
        fresh.finish();
    }
}

/// Pieces of skills, and characters that encodings count differently.
fn texts() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a",
        " ",
        "é",
        "😀",
        "\u{301}",
        "\u{feff}",
        "\n",
        "\r\n",
        "\r",
        "---\n",
        "name: x\n",
        "# A\n",
        "```\n",
        ": ",
        "[l](a.md)",
        "# rep: allow(yaml-invalid) because",
        "\t",
        "- b\n",
        "\"",
    ]);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Returns a range of whole characters that a position can express: none starts or ends inside `\r\n`.
fn pick_range(text: &str, from: u16, length: u16) -> (usize, usize) {
    let is_place =
        |at: &usize| text.is_char_boundary(*at) && !(text[..*at].ends_with('\r') && text[*at..].starts_with('\n'));
    let snap = |at: usize| (0..=at.min(text.len())).rev().find(is_place).unwrap_or(0);
    let start = snap(usize::from(from) % (text.len() + 1));
    let end = snap(start + usize::from(length) % 20);
    (start, end.max(start))
}

/// The position of an offset, counted character by character.
fn position(text: &str, offset: usize, encoding: &str) -> Value {
    let (mut line, mut character) = (0, 0);
    let before = &text[..offset];
    for (at, letter) in before.char_indices() {
        let is_end = letter == '\n' || (letter == '\r' && !text[at + 1..].starts_with('\n'));
        if is_end {
            (line, character) = (line + 1, 0);
        } else if letter != '\r' {
            character += match encoding {
                "utf-8" => letter.len_utf8(),
                "utf-16" => letter.len_utf16(),
                _ => 1,
            };
        }
    }
    json!({ "line": line, "character": character })
}
