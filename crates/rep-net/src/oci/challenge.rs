//! Parses `WWW-Authenticate`, by which a registry says what it wants (RFC 9110 §11.6.1).

/// The longest header, and the maximum number of parameters.
const HEADER_BYTES_MAX: usize = 8 << 10;
const PARAMETERS_MAX: usize = 32;

/// What a registry wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthChallenge {
    /// A name and a password.
    Basic,
    /// A token.
    Bearer {
        /// The URL that gives tokens.
        realm: String,
        /// The name of the registry there.
        service: Option<String>,
        /// What the token has to allow.
        scope: Option<String>,
    },
}

/// Returns the challenges of a header that are known, in order. Unknown schemes are skipped; the rest of a header that
/// cannot be parsed is ignored.
pub fn parse_challenges(header: &str) -> Vec<AuthChallenge> {
    let mut found = Vec::new();
    let mut rest = header.get(..header.len().min(HEADER_BYTES_MAX)).unwrap_or_default().trim_start();
    while !rest.is_empty() {
        let Some((scheme, after)) = take_token(rest) else { break };
        let (parameters, next) = take_parameters(after.trim_start());
        let value = |name: &str| {
            parameters.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        if scheme.eq_ignore_ascii_case("basic") {
            found.push(AuthChallenge::Basic);
        } else if scheme.eq_ignore_ascii_case("bearer")
            && let Some(realm) = value("realm")
        {
            found.push(AuthChallenge::Bearer { realm, service: value("service"), scope: value("scope") });
        }
        if next.len() >= rest.len() {
            break;
        }
        rest = next;
    }
    found
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn take_token(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !is_token_byte(byte)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Takes `name=value` pairs, separated by commas, up to the next scheme.
fn take_parameters(mut rest: &str) -> (Vec<(String, String)>, &str) {
    let mut parameters = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let Some((name, after)) = take_token(rest) else { return (parameters, "") };
        let Some(after) = after.trim_start().strip_prefix('=') else { return (parameters, rest) };
        let Some((value, after)) = take_value(after.trim_start()) else { return (parameters, "") };
        if parameters.len() < PARAMETERS_MAX {
            parameters.push((name.to_owned(), value));
        }
        rest = after;
    }
}

fn take_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        return take_token(text).map(|(value, rest)| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(letters.next()?.1),
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn challenges_of_real_registries_are_read() {
        let header =
            r#"Bearer realm="https://auth.example/token",service="registry.example",scope="repository:a/b:pull,push""#;
        let bearer = AuthChallenge::Bearer {
            realm: "https://auth.example/token".to_owned(),
            service: Some("registry.example".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(parse_challenges(header), std::slice::from_ref(&bearer));
        assert_eq!(parse_challenges(r#"Basic realm="skills""#), [AuthChallenge::Basic]);
        let both = format!(r#"Negotiate, Basic realm="a, b=\"c\"", {header}"#);
        assert_eq!(parse_challenges(&both), [AuthChallenge::Basic, bearer]);
        for text in ["", ",", "=", "Bearer", "Bearer realm", "Bearer realm=\"x", "\"", "Bearer service=\"x\""] {
            assert_eq!(parse_challenges(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_header_is_a_panic_or_a_loop(header in "[A-Za-z=\", \\\\é]{0,60}") {
            prop_assert!(parse_challenges(&header).len() <= header.len());
        }
    }
}
