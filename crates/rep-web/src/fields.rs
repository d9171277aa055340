//! The fields of a form, from a query string or a body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The most fields that are read.
const FIELDS_MAX: usize = 64;
/// What is encoded in a query: everything but the unreserved characters of RFC 3986.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Fields with their values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses `a=b&c=d`. Never fails: an invalid escape stays as it is.
    pub(crate) fn parse(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .take(FIELDS_MAX)
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// The value of a field without surrounding whitespace; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    /// The value of a field, if it is not empty.
    pub(crate) fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// Whether there is such a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    /// The number in a field.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.get(name).parse().ok()
    }

    /// The number in a field that counts something of this process.
    pub(crate) fn id(&self, name: &str) -> Option<u64> {
        self.get(name).parse().ok()
    }
}

/// Encodes a value for a query.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_parsed_again() {
        for text in ["", "a b", "&=?#%+\"<>", "ä…\u{1f600}", "100%", "a/../b"] {
            let fields = Fields::parse(&format!("x=1&q={}", encode(text)));
            assert_eq!(fields.get("q"), text);
        }
        let fields = Fields::parse("a=%zz&b=1+1&&c&=d&n=7");
        assert_eq!((fields.get("a"), fields.get("b"), fields.get("c"), fields.has("c")), ("%zz", "1 1", "", true));
        assert_eq!((fields.number("n"), fields.number("a"), fields.id("n")), (Some(7), None, Some(7)));
    }
}
