//! What the Agent Skills specification demands of frontmatter, as the strict clients of the Skills extension of MCP read
//! it: as JSON. They reject a whole listing for one skill that violates it.

use serde_json::{Map, Value};

const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;
const COMPATIBILITY_CHARS_MAX: usize = 500;

/// Returns how frontmatter violates the specification, or `None` if it conforms. Fields that the specification does not
/// name are permitted.
///
/// ```
/// use rep_check::served_frontmatter::find_violation;
/// use serde_json::json;
///
/// let front = json!({ "name": "Bad", "description": "Does things." });
/// let violation = find_violation(front.as_object().unwrap());
/// assert_eq!(violation.as_deref(), Some("`name` may contain only a-z, 0-9 and single hyphens between them"));
/// ```
pub fn find_violation(front: &Map<String, Value>) -> Option<String> {
    find_name_violation(front)
        .or_else(|| find_length_violation(front, "description", DESCRIPTION_CHARS_MAX, true))
        .or_else(|| find_length_violation(front, "compatibility", COMPATIBILITY_CHARS_MAX, false))
        .or_else(|| {
            let is_text = |field: &&str| front.get(*field).is_none_or(Value::is_string);
            let odd = ["license", "allowed-tools"].into_iter().find(|field| !is_text(field))?;
            Some(format!("`{odd}` must be text"))
        })
        .or_else(|| {
            let metadata = front.get("metadata")?;
            let is_flat = metadata.as_object().is_some_and(|all| all.values().all(Value::is_string));
            (!is_flat).then(|| "`metadata` must map text to text".to_owned())
        })
}

fn find_name_violation(front: &Map<String, Value>) -> Option<String> {
    let Some(name) = front.get("name").and_then(Value::as_str) else {
        return Some("`name` is missing or not text".to_owned());
    };
    let is_plain =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if name.len() > NAME_CHARS_MAX {
        return Some(format!("`name` is longer than {NAME_CHARS_MAX} characters"));
    }
    let is_valid = name.split('-').all(is_plain);
    (!is_valid).then(|| "`name` may contain only a-z, 0-9 and single hyphens between them".to_owned())
}

fn find_length_violation(front: &Map<String, Value>, field: &str, most: usize, is_required: bool) -> Option<String> {
    match front.get(field) {
        None if !is_required => None,
        Some(Value::String(text)) if text.trim().is_empty() => Some(format!("`{field}` is empty")),
        Some(Value::String(text)) if text.chars().count() > most => {
            Some(format!("`{field}` is longer than {most} characters"))
        }
        Some(Value::String(_)) => None,
        _ => Some(format!("`{field}` is missing or not text")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(front: &Value) -> Option<String> {
        find_violation(front.as_object().unwrap())
    }

    #[test]
    fn strict_clients_accept_what_is_accepted_here() {
        let fine =
            json!({ "name": "a-1", "description": "d", "metadata": { "version": "1" }, "license": "MIT", "x": [1] });
        assert_eq!(check(&fine), None);
        for (field, value) in [
            ("name", json!("A")),
            ("name", json!("a--b")),
            ("name", json!("-a")),
            ("name", json!("\u{e9}")),
            ("name", json!("a".repeat(65))),
            ("name", json!(1)),
            ("description", json!("")),
            ("description", json!("x".repeat(1025))),
            ("compatibility", json!({})),
            ("compatibility", json!("x".repeat(501))),
            ("license", json!(1.0)),
            ("allowed-tools", json!(["Read"])),
            ("metadata", json!({ "version": 1.0 })),
            ("metadata", json!("text")),
        ] {
            let mut front = fine.clone();
            front[field] = value.clone();
            let violation = check(&front).unwrap_or_else(|| panic!("{field}: {value}"));
            assert!(violation.contains(&format!("`{field}`")), "{violation}");
        }
    }
}
