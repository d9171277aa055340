//! What two documents say differently, fact by fact. Order does not count, nor do case, blanks and marks in a text.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

/// Keys by which an item of a list is known again, the surest first.
const IDENTITIES: [&str; 6] = ["name", "id", "when", "use", "syntax", "cmd"];

/// One fact that is not the same on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where it stands: `commands.open.syntax`, `constraints.never`.
    pub path: String,
    /// What the Markdown says, where it says anything.
    pub markdown: Option<Value>,
    /// What the UASP file says, where it says anything.
    pub uasp: Option<Value>,
}

/// Compares what a Markdown says with what a UASP file says. The version is no fact.
pub fn differences(markdown: &Value, uasp: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(markdown), Some(uasp), &mut found);
    found
}

fn compare(path: &str, markdown: Option<&Value>, uasp: Option<&Value>, found: &mut Vec<Difference>) {
    match (markdown, uasp) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            for (key, value) in one {
                if path != "meta" || key != "version" {
                    compare(&below(path, key), Some(value), two.get(key), found);
                }
            }
            for (key, value) in two.iter().filter(|(key, _)| !one.contains_key(*key)) {
                if path != "meta" || key != "version" {
                    compare(&below(path, key), None, Some(value), found);
                }
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => lists(path, one, two, found),
        // A whole list or section that the other side lacks is told item by item.
        (Some(Value::Array(one)), None) => lists(path, one, &[], found),
        (None, Some(Value::Array(two))) => lists(path, &[], two, found),
        (Some(Value::Object(one)), None) if !path.contains('.') => {
            one.iter().for_each(|(key, value)| compare(&below(path, key), Some(value), None, found));
        }
        (None, Some(Value::Object(two))) if !path.contains('.') => {
            two.iter().for_each(|(key, value)| compare(&below(path, key), None, Some(value), found));
        }
        (one, two) if one.map(likeness) == two.map(likeness) => {}
        (one, two) => {
            found.push(Difference { path: path.to_owned(), markdown: one.cloned(), uasp: two.cloned() });
        }
    }
}

/// Items that are known again are compared, the others are there or not.
fn lists(path: &str, one: &[Value], two: &[Value], found: &mut Vec<Difference>) {
    let mut left: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (number, item) in two.iter().enumerate() {
        left.entry(identity(item)).or_default().push_back(number);
    }
    for item in one {
        let Some(at) = left.get_mut(&identity(item)).and_then(VecDeque::pop_front) else {
            found.push(Difference { path: path.to_owned(), markdown: Some(item.clone()), uasp: None });
            continue;
        };
        let other = &two[at];
        let named = IDENTITIES.iter().find_map(|key| item.get(key)?.as_str());
        compare(&below(path, named.unwrap_or("?")), Some(item), Some(other), found);
    }
    let mut left: Vec<usize> = left.into_values().flatten().collect();
    left.sort_unstable();
    for at in left {
        found.push(Difference { path: path.to_owned(), markdown: None, uasp: Some(two[at].clone()) });
    }
}

fn identity(item: &Value) -> String {
    let key = IDENTITIES.iter().find(|key| item.get(**key).is_some_and(Value::is_string));
    key.map_or_else(|| likeness(item), |key| format!("{key} {}", likeness(&item[*key])))
}

/// A value without case, blanks and marks. A text of marks alone is what it is.
fn likeness(value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    let like: String = text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if like.is_empty() { text.clone() } else { like }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(markdown: &Value, uasp: &Value) -> Vec<String> {
        let mark = |one: &Difference| match (&one.markdown, &one.uasp) {
            (Some(_), None) => '+',
            (None, _) => '-',
            (Some(_), Some(_)) => '~',
        };
        differences(markdown, uasp).iter().map(|one| format!("{}{}", mark(one), one.path)).collect()
    }

    #[test]
    fn order_version_and_marks_do_not_count() {
        let one = json!({ "meta": { "version": "1", "name": "t" }, "constraints": { "never": ["Use `X`", "lie"] } });
        let two = json!({ "constraints": { "never": ["lie", "use x."] }, "meta": { "name": "t" } });
        assert_eq!(paths(&one, &two), [""; 0]);
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
        assert_eq!(paths(&one, &two), ["+constraints.never", "~commands.a.args.x.type", "+commands.b", "-environment"]);
    }
}
