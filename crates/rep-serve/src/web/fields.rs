//! The fields of a form, out of an address or a body.

/// The most fields that are looked at.
const FIELDS_MAX: usize = 64;

/// Fields with their values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=b&c=d` as browsers write it. Never fails: what cannot be read is what it looks like.
    pub(crate) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).take(FIELDS_MAX);
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decoded(name), decoded(value))
                })
                .collect(),
        )
    }

    /// The value of a field, without blanks at its ends; empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    /// The value of a field, where it holds something.
    pub(crate) fn some(&self, name: &str) -> Option<String> {
        Some(self.get(name)).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Whether there is such a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(own, _)| own == name)
    }

    /// The number in a field.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.get(name).parse().ok()
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let pair = (bytes[at] == b'%').then(|| digit(at + 1).zip(digit(at + 2))).flatten();
        match (bytes[at], pair) {
            (_, Some((high, low))) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A value as it stands in an address.
pub(crate) fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["", "a b", "&=?#%+\"<>", "ä…\u{1f600}", "100%", "a/../b"] {
            let fields = Fields::read(&format!("x=1&q={}", encoded(text)));
            assert_eq!(fields.get("q"), text);
        }
        let fields = Fields::read("a=%zz&b=1+1&&c&=d&n=7");
        assert_eq!((fields.get("a"), fields.get("b"), fields.get("c"), fields.has("c")), ("%zz", "1 1", "", true));
        assert_eq!((fields.number("n"), fields.number("a")), (Some(7), None));
    }
}
