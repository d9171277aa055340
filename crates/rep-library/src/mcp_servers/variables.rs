//! Variables in declarations of servers: `${NAME}` and `${NAME:-default}`, as in `.mcp.json`.

/// A variable that a text refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVariable {
    /// Its name.
    pub name: String,
    /// Whether the text says what to use without it.
    pub has_default: bool,
}

/// A part of a text.
enum TextPart<'a> {
    Plain(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

/// Lists the variables that a text refers to.
pub fn list_variables(text: &str) -> Vec<ServerVariable> {
    let variable = |part| match part {
        TextPart::Plain(_) => None,
        TextPart::Variable { name, default } => {
            Some(ServerVariable { name: name.to_owned(), has_default: default.is_some() })
        }
    };
    split_text(text).into_iter().filter_map(variable).collect()
}

/// Replaces the variables of a text. Returns the name of the first one that has neither a value nor a default.
pub fn expand_variables(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    expand_chosen_variables(text, |_| true, value)
}

/// Replaces some variables of a text in the same way, and leaves the others as they are.
pub fn expand_chosen_variables(
    text: &str,
    is_chosen: impl Fn(&str) -> bool,
    value: impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::new();
    for part in split_text(text) {
        match part {
            TextPart::Plain(text) => out.push_str(text),
            TextPart::Variable { name, default } if is_chosen(name) => match (value(name), default) {
                (Some(value), _) => out.push_str(&value),
                (None, Some(default)) => out.push_str(default),
                (None, None) => return Err(name.to_owned()),
            },
            TextPart::Variable { name, default: None } => out.push_str(&format!("${{{name}}}")),
            TextPart::Variable { name, default: Some(default) } => out.push_str(&format!("${{{name}:-{default}}}")),
        }
    }
    Ok(out)
}

/// Splits a text at its variables. What only looks like one stays as it is.
fn split_text(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let inside = &rest[start + 2..start + length];
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if is_variable_name(name) {
            parts.push(TextPart::Plain(&rest[..start]));
            parts.push(TextPart::Variable { name, default });
        } else {
            parts.push(TextPart::Plain(&rest[..=start + length]));
        }
        rest = &rest[start + length + 1..];
    }
    parts.push(TextPart::Plain(rest));
    parts
}

fn is_variable_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_letter) && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_as_in_the_files_of_other_hosts() {
        let value = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expected) in [
            ("plain", Ok("plain")),
            ("${A}", Ok("1")),
            ("x${A}y${A}z", Ok("x1y1z")),
            ("${B:-two}", Ok("two")),
            ("${A:-two}", Ok("1")),
            ("${B:-}", Ok("")),
            ("$A {A}", Ok("$A {A}")),
            ("${A", Ok("${A")),
            ("${1}", Ok("${1}")),
            ("${B}", Err("B")),
        ] {
            assert_eq!(expand_variables(text, value).as_deref().map_err(String::as_str), expected, "{text}");
        }
    }
}
