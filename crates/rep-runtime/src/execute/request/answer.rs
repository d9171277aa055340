//! What a server answered, as a command's result.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use ureq::http::HeaderMap;

use crate::outcome::ToolError;

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: u16,
    /// In lower case; several of one name are one, with commas. Cookies are left out: they are credentials.
    headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn new(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in headers.iter().filter(|(name, _)| *name != "set-cookie") {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            all.entry(name.as_str().to_owned()).and_modify(|known| *known += &format!(", {text}")).or_insert(text);
        }
        Self { status, headers: all, body }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Where a redirect leads to.
    pub(super) fn location(&self) -> Option<&str> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| self.header("location")).flatten()
    }

    /// The result of the command, or its error: a status from 400 on is one.
    pub(super) fn reply(&self) -> Result<Value, ToolError> {
        let (text, body, note) = self.content();
        let mut response = Map::new();
        response.insert("status".to_owned(), self.status.into());
        response.insert("headers".to_owned(), json!(self.headers));
        response.insert("body".to_owned(), body);
        if let Some(note) = note {
            response.insert("note".to_owned(), note.into());
        }
        if self.status < 400 {
            return Ok(json!({ "stdout": text, "stderr": "", "returncode": 0, "response": response }));
        }
        let error = ToolError::new("COMMAND_FAILED", format!("the server answered {}", self.status));
        let error = if matches!(self.status, 408 | 425 | 429 | 502..=504) { error.retriable() } else { error };
        Err(error.with("stdout", text).with("stderr", "").with("returncode", 1).with("response", response))
    }

    /// The body as text, as a value, and what is odd about it.
    fn content(&self) -> (String, Value, Option<String>) {
        if self.body.is_empty() {
            return (String::new(), Value::Null, None);
        }
        let kind = self.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_json = kind == "application/json" || kind.ends_with("+json");
        let text = std::str::from_utf8(&self.body).ok().filter(|text| !text.contains('\0'));
        match text {
            Some(text) if is_json => match serde_json::from_str::<Value>(text) {
                Ok(value) => (text.to_owned(), value, None),
                Err(error) => {
                    let note = format!("the body says that it is JSON, and is not: {error}");
                    (text.to_owned(), text.into(), Some(note))
                }
            },
            Some(text) => (text.to_owned(), text.into(), None),
            None => {
                let coded = base64(&self.body);
                (coded.clone(), coded.into(), Some("the body is no text, and is shown in base64".to_owned()))
            }
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_coded() {
        for (bytes, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(bytes.as_bytes()), coded);
        }
    }
}
