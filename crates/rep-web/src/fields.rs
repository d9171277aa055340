//! The fields of a form, from a query string or a body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The maximum number of fields.
const FIELDS_MAX: usize = 64;
/// The characters to encode in a query: all except the unreserved characters of RFC 3986.
const QUERY_ESCAPES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Fields with their values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Parses `a=b&c=d`. Never fails: an invalid escape is preserved as written.
    pub(crate) fn parse(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .take(FIELDS_MAX)
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// Returns the value of a field without surrounding whitespace, or an empty string if the field is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    /// Returns the value of a field with its whitespace, or an empty string if the field is missing.
    pub(crate) fn get_exact(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// Returns the value of a field if it is not empty.
    pub(crate) fn non_empty(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// Whether the field exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    /// Parses the number in a field.
    pub(crate) fn parse_number(&self, name: &str) -> Option<usize> {
        self.get(name).parse().ok()
    }

    /// Parses an id of this process in a field.
    pub(crate) fn parse_id(&self, name: &str) -> Option<u64> {
        self.get(name).parse().ok()
    }
}

/// Encodes a value for a query.
pub(crate) fn encode_query_value(text: &str) -> String {
    utf8_percent_encode(text, QUERY_ESCAPES).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_parsed_again() {
        for text in ["", "a b", "&=?#%+\"<>", "ä…\u{1f600}", "100%", "a/../b"] {
            let fields = FormFields::parse(&format!("x=1&q={}", encode_query_value(text)));
            assert_eq!(fields.get("q"), text);
        }
        let fields = FormFields::parse("a=%zz&b=1+1&&c&=d&n=7");
        assert_eq!((fields.get("a"), fields.get("b"), fields.get("c"), fields.has("c")), ("%zz", "1 1", "", true));
        assert_eq!(
            (fields.parse_number("n"), fields.parse_number("a"), fields.parse_id("n")),
            (Some(7), None, Some(7))
        );
    }
}
