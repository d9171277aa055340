//! A session of the language server with messages made of any bytes. The server ends when the input does, and no handler
//! panics.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use rep_lsp::{LanguageServerOptions, serve};
use serde_json::{Value, json};

const FILE: &str = "file:///no-such-folder/pdf/SKILL.md";

const METHODS: &[&str] = &[
    "textDocument/didChange",
    "textDocument/diagnostic",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/definition",
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
    "textDocument/didClose",
    "textDocument/didOpen",
    "workspace/symbol",
    "workspace/didChangeConfiguration",
];

fn frame(session: &mut Vec<u8>, content: &[u8]) {
    session.extend(format!("Content-Length: {}\r\n\r\n", content.len()).into_bytes());
    session.extend(content);
}

fn message(session: &mut Vec<u8>, id: usize, method: &str, params: &Value) {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    frame(session, message.to_string().as_bytes());
}

fuzz_target!(|bytes: &[u8]| {
    let (orders, text) = bytes.split_at(bytes.len().min(60) / 6 * 6);
    let text = String::from_utf8_lossy(text);
    let encoding = ["utf-8", "utf-16", "utf-32"][bytes.len() % 3];
    let mut session = Vec::new();
    let capabilities = json!({ "general": { "positionEncodings": [encoding] }, "textDocument": { "diagnostic": {} } });
    message(&mut session, 0, "initialize", &json!({ "capabilities": capabilities }));
    let item = json!({ "uri": FILE, "languageId": "markdown", "version": 1, "text": text });
    message(&mut session, 1, "textDocument/didOpen", &json!({ "textDocument": item }));
    for (number, order) in orders.chunks_exact(6).enumerate() {
        if order[0] == 255 {
            frame(&mut session, &order[1..]);
            continue;
        }
        let position = |at: usize| json!({ "line": order[at] % 40, "character": order[at + 1] });
        let range = json!({ "start": position(1), "end": position(3) });
        let piece = ["", "\n", "---\n", "😀", "name: x\n", "\r", "```\n", "a: ["][usize::from(order[5]) % 8];
        let params = json!({
            "textDocument": { "uri": FILE, "version": number, "text": piece },
            "position": position(1),
            "positions": [position(1), position(3)],
            "range": range,
            "contentChanges": [{ "range": range, "text": piece }],
            "context": { "diagnostics": [], "includeDeclaration": true },
            "newName": piece,
            "query": piece,
            "settings": { "repertoire": { "host": piece } },
        });
        message(&mut session, number + 2, METHODS[usize::from(order[0]) % METHODS.len()], &params);
    }
    serve(Cursor::new(session), std::io::sink(), LanguageServerOptions::default());
});
