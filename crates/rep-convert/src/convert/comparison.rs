//! Compares two documents fact by fact, ignoring order, and in texts also case, spaces and punctuation.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

/// The keys that identify an item of a list, the most reliable first.
const IDENTITY_KEYS: [&str; 6] = ["name", "id", "when", "use", "syntax", "cmd"];

/// A fact that differs between the two documents.
#[derive(Clone, Debug, PartialEq)]
pub struct FactDifference {
    /// The path of the fact: `commands.open.syntax`, `constraints.never`.
    pub path: String,
    /// The value in the Markdown, if it has one.
    pub markdown: Option<Value>,
    /// The value in the UASP file, if it has one.
    pub uasp: Option<Value>,
}

/// Compares the facts of a Markdown skill with those of a UASP file. The version is not compared.
pub fn find_differences(markdown: &Value, uasp: &Value) -> Vec<FactDifference> {
    let mut found = Vec::new();
    compare_values("", Some(markdown), Some(uasp), &mut found);
    found
}

fn compare_values(path: &str, markdown: Option<&Value>, uasp: Option<&Value>, found: &mut Vec<FactDifference>) {
    match (markdown, uasp) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            for (key, value) in one {
                if path != "meta" || key != "version" {
                    compare_values(&join_path(path, key), Some(value), two.get(key), found);
                }
            }
            for (key, value) in two.iter().filter(|(key, _)| !one.contains_key(*key)) {
                if path != "meta" || key != "version" {
                    compare_values(&join_path(path, key), None, Some(value), found);
                }
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => compare_lists(path, one, two, found),
        // A list or section that only one side has is reported item by item.
        (Some(Value::Array(one)), None) => compare_lists(path, one, &[], found),
        (None, Some(Value::Array(two))) => compare_lists(path, &[], two, found),
        (Some(Value::Object(one)), None) if !path.contains('.') => {
            one.iter().for_each(|(key, value)| compare_values(&join_path(path, key), Some(value), None, found));
        }
        (None, Some(Value::Object(two))) if !path.contains('.') => {
            two.iter().for_each(|(key, value)| compare_values(&join_path(path, key), None, Some(value), found));
        }
        (one, two) if one.map(normalize_value) == two.map(normalize_value) => {}
        (one, two) => {
            found.push(FactDifference { path: path.to_owned(), markdown: one.cloned(), uasp: two.cloned() });
        }
    }
}

/// Compares the items that both lists have, and reports the others as added or removed.
fn compare_lists(path: &str, one: &[Value], two: &[Value], found: &mut Vec<FactDifference>) {
    let mut left: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (number, item) in two.iter().enumerate() {
        left.entry(item_identity(item)).or_default().push_back(number);
    }
    for item in one {
        let Some(at) = left.get_mut(&item_identity(item)).and_then(VecDeque::pop_front) else {
            found.push(FactDifference { path: path.to_owned(), markdown: Some(item.clone()), uasp: None });
            continue;
        };
        let other = &two[at];
        let named = IDENTITY_KEYS.iter().find_map(|key| item.get(key)?.as_str());
        compare_values(&join_path(path, named.unwrap_or("?")), Some(item), Some(other), found);
    }
    let mut left: Vec<usize> = left.into_values().flatten().collect();
    left.sort_unstable();
    for at in left {
        found.push(FactDifference { path: path.to_owned(), markdown: None, uasp: Some(two[at].clone()) });
    }
}

fn item_identity(item: &Value) -> String {
    let key = IDENTITY_KEYS.iter().find(|key| item.get(**key).is_some_and(Value::is_string));
    key.map_or_else(|| normalize_value(item), |key| format!("{key} {}", normalize_value(&item[*key])))
}

/// Removes case, spaces and punctuation from a text. A text of punctuation only is returned unchanged.
fn normalize_value(value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    let like: String = text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if like.is_empty() { text.clone() } else { like }
}

fn join_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differing_paths(markdown: &Value, uasp: &Value) -> Vec<String> {
        let mark = |one: &FactDifference| match (&one.markdown, &one.uasp) {
            (Some(_), None) => '+',
            (None, _) => '-',
            (Some(_), Some(_)) => '~',
        };
        find_differences(markdown, uasp).iter().map(|one| format!("{}{}", mark(one), one.path)).collect()
    }

    #[test]
    fn order_version_and_marks_do_not_count() {
        let one = json!({ "meta": { "version": "1", "name": "t" }, "constraints": { "never": ["Use `X`", "lie"] } });
        let two = json!({ "constraints": { "never": ["lie", "use x."] }, "meta": { "name": "t" } });
        assert_eq!(differing_paths(&one, &two), [""; 0]);
    }

    #[test]
    fn items_are_known_by_name_and_told_by_section() {
        let one = json!({
            "constraints": { "never": ["lie", "steal"] },
            "commands": { "a": { "syntax": "a <x>", "args": [{ "name": "x", "type": "int" }] }, "b": { "syntax": "b" } },
            "sources": [{ "id": "s", "url": "u" }],
        });
        let two = json!({
            "constraints": { "never": ["lie"] },
            "commands": { "a": { "syntax": "a <x>", "args": [{ "name": "x", "type": "string" }] } },
            "sources": [{ "id": "s", "url": "u" }],
            "environment": [{ "name": "E" }],
        });
        assert_eq!(
            differing_paths(&one, &two),
            ["+constraints.never", "~commands.a.args.x.type", "+commands.b", "-environment"]
        );
    }
}
