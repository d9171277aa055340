//! What a server answered.

use std::collections::BTreeMap;

use ureq::http::HeaderMap;

/// An answer, read to its end.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The status code.
    pub status: u16,
    /// In lower case; several of one name are one, with commas. Cookies are left out: they are credentials.
    headers: BTreeMap<String, String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in headers.iter().filter(|(name, _)| *name != "set-cookie") {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            all.entry(name.as_str().to_owned()).and_modify(|known| *known += &format!(", {text}")).or_insert(text);
        }
        Self { status, headers: all, body }
    }

    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Where a redirect leads to.
    pub(crate) fn location(&self) -> Option<&str> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| self.header("location")).flatten()
    }

    /// The headers, by their names in lower case.
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }
}
