//! Responses of servers.

use std::collections::BTreeMap;

use ureq::http::HeaderMap;

/// A complete response.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Names are in lower case, and repeated headers are joined with commas. Cookies are left out, because they are
    /// credentials.
    headers: BTreeMap<String, String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in headers.iter().filter(|(name, _)| *name != "set-cookie") {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            all.entry(name.as_str().to_owned()).and_modify(|known| *known += &format!(", {text}")).or_insert(text);
        }
        Self { status, headers: all, body }
    }

    /// Returns a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the target of a redirect.
    pub(crate) fn redirect_location(&self) -> Option<&str> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| self.header("location")).flatten()
    }

    /// Returns the headers by their names in lower case.
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }
}
