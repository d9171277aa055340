//! Reads a document out of what a model said, which is text of a stranger: fences and prose around it are left out, everything is
//! bounded, and nothing is believed.

use rep_model::uasp::SECTIONS;
use rep_model::yaml::{self, Trouble, core};
use serde_json::{Map, Value};

use super::PLACEHOLDER;

/// The largest answer that is read.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;

/// The document in an answer, or why there is none, as it can be told to the model.
pub fn read(text: &str) -> Result<Value, String> {
    if text.len() > ANSWER_BYTES_MAX {
        return Err(format!("the answer is larger than {} MiB", ANSWER_BYTES_MAX >> 20));
    }
    // Models that think aloud do so in front.
    let text = text.rfind("</think>").map_or(text, |at| &text[at + "</think>".len()..]);
    let mut reason = None;
    for candidate in candidates(text) {
        match document(candidate) {
            Ok(value) => return Ok(tidied(value)),
            Err(why) => reason = reason.or(Some(why)),
        }
    }
    Err(reason.unwrap_or_else(|| "the answer holds no YAML document with `meta` in it".to_owned()))
}

/// The parts of an answer that may be the document, the likeliest first.
fn candidates(text: &str) -> Vec<&str> {
    let mut found = fenced(text);
    found.sort_by_key(|block| std::cmp::Reverse(block.len()));
    found.truncate(4);
    found.extend(bare(text));
    let braces = text.find('{').zip(text.rfind('}')).filter(|(open, close)| open < close);
    found.extend(braces.map(|(open, close)| &text[open..=close]));
    found
}

/// The blocks between fences that look like a document. Fences count at the line's beginning: an indented one is in a document.
fn fenced(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let from = at;
        at += line.len();
        let bare = line.trim_end();
        let marks = bare.len() - bare.trim_start_matches(['`', '~']).len();
        match open {
            None if marks >= 3 => open = Some((&bare[..marks], at)),
            Some((fence, start)) if bare.len() == marks && bare.starts_with(fence) => {
                found.push(&text[start..from]);
                open = None;
            }
            None | Some(_) => {}
        }
    }
    found.extend(open.map(|(_, start)| &text[start..]));
    found.retain(|block| block.contains("meta"));
    found
}

/// The lines from the first section on, as far as they can be YAML: what follows at the margin must be a key.
fn bare(text: &str) -> Option<&str> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_section = SECTIONS.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
        let goes_on = is_section || line.trim().is_empty() || line.starts_with([' ', '\t', '#', '-']) || is_key(line);
        match start {
            None if is_section => start = Some(at),
            Some(start) if !goes_on || line.starts_with("---") => return Some(&text[start..at]),
            None | Some(_) => {}
        }
        at += line.len();
    }
    start.map(|start| &text[start..])
}

fn is_key(line: &str) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '_' | '-');
    line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && key.chars().all(is_letter))
}

fn document(text: &str) -> Result<Value, String> {
    let json = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    let value = match json {
        Some(value) => value,
        None => from_yaml(text)?,
    };
    let Value::Object(mut root) = value else {
        return Err("the document is no mapping of sections".to_owned());
    };
    match root.get("meta") {
        Some(Value::Object(_)) => return Ok(Value::Object(root)),
        Some(_) => return Err("`meta` is no mapping".to_owned()),
        None => {}
    }
    // Some wrap the document in a key of their own.
    let only = if root.len() == 1 { root.values_mut().next().map(Value::take) } else { None };
    match only {
        Some(Value::Object(inside)) if inside.get("meta").is_some_and(Value::is_object) => Ok(Value::Object(inside)),
        _ => Err("the document has no `meta`".to_owned()),
    }
}

fn from_yaml(text: &str) -> Result<Value, String> {
    let read = yaml::parse(text, 0);
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    if let Some((trouble, span)) = read.fatal() {
        let why = match trouble {
            Trouble::Syntax(why) | Trouble::TooComplex(why) => why.as_str(),
            Trouble::Anchor | Trouble::Tag(_) | Trouble::Tab => "anchors, tags and tabs are not read",
        };
        return Err(format!("the YAML cannot be read: line {}: {why}", line(span.start)));
    }
    let Some(root) = read.root else { return Err("the document is empty".to_owned()) };
    match yaml::duplicate_keys(&root).first() {
        Some((key, span)) => Err(format!("the YAML has `{key}` twice: line {}", line(span.start))),
        None => Ok(core::json(&root)),
    }
}

/// Without what says nothing, and with the version to be worked out.
fn tidied(value: Value) -> Value {
    let Value::Object(root) = without_nulls(value) else { return Value::Null };
    let is_filled = |value: &Value| match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    let mut root: Map<String, Value> =
        root.into_iter().filter(|(key, value)| key == "meta" || is_filled(value)).collect();
    if let Some(meta) = root.get_mut("meta").and_then(Value::as_object_mut) {
        meta.insert("version".to_owned(), PLACEHOLDER.into());
        if let Some(Value::String(text)) = meta.get_mut("description") {
            *text = text.trim().to_owned();
        }
    }
    Value::Object(root)
}

/// Without the nulls and empty lists that fill in a schema; a default may be null.
fn without_nulls(value: Value) -> Value {
    let says = |key: &str, value: &Value| key == "default" || !(value.is_null() || *value == Value::Array(Vec::new()));
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, value)| (key, without_nulls(value)))
                .filter(|(key, value)| says(key, value))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn name(text: &str) -> Result<String, String> {
        read(text).map(|value| value["meta"]["name"].as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn a_document_is_found_however_it_is_wrapped() {
        let yaml = "meta:\n  name: pdf\n  type: cli\n";
        for text in [
            yaml.to_owned(),
            format!("---\n{yaml}---\n"),
            format!("```yaml\n{yaml}```\n"),
            format!("Here is the document:\n\n```\n{yaml}```\nI hope it helps: it is short.\n"),
            format!("~~~~yml\n{yaml}~~~~"),
            format!("```yaml\n{yaml}"),
            format!("Sure! Here it is.\n\n{yaml}\nThat is all."),
            format!("<think>\nmeta: should be short\n</think>\n{yaml}"),
            format!("{yaml}workflows:\n  one:\n    example: |\n      ```bash\n      x\n      ```\n"),
            "{\"meta\": {\"name\": \"pdf\", \"type\": \"cli\"}}".to_owned(),
            "Result: {\"uasp\": {\"meta\": {\"name\": \"pdf\"}}} done".to_owned(),
            "skill:\n  meta:\n    name: pdf\n".to_owned().replace("skill:", "```yaml\nskill:"),
        ] {
            assert_eq!(name(&text).as_deref(), Ok("pdf"), "{text}");
        }
    }

    #[test]
    fn what_is_no_document_is_told() {
        for (text, why) in [
            ("", "no YAML document"),
            ("I cannot do that.", "no YAML document"),
            ("```yaml\nmeta:\n  name: [pdf\n```", "cannot be read: line"),
            ("meta:\n  name: a\n  name: b\n", "`name` twice: line 3"),
            ("```\n- meta\n```", "no mapping"),
            ("triggers:\n  keywords: [a]\n", "no `meta`"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.contains(why), "{text:?}: {told}");
        }
        assert!(read(&"x".repeat(ANSWER_BYTES_MAX + 1)).unwrap_err().contains("4 MiB"));
        let deep = format!("meta: {}", "[".repeat(100_000));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn what_says_nothing_is_left_out_and_the_version_is_worked_out_later() {
        let text = r#"{"meta": {"name": "pdf", "version": "deadbeef", "description": "x\n"}, "decisions": [], "state": null,
            "environment": [{"name": "A", "purpose": "b", "default": null}], "commands": {"go": {"syntax": "go", "note": null}}}"#;
        assert_eq!(
            read(text).unwrap(),
            json!({
                "meta": { "name": "pdf", "version": "00000000", "description": "x" },
                "environment": [{ "name": "A", "purpose": "b", "default": null }],
                "commands": { "go": { "syntax": "go" } },
            })
        );
    }

    proptest! {
        #[test]
        fn nothing_a_model_says_is_too_much(text in "(meta:|\\{|\\}|```|yaml|name: a|\n|  |- |\"|x|&a|\\*a|</think>|\u{1f600}){0,40}") {
            if let Ok(value) = read(&text) {
                prop_assert!(value.get("meta").is_some());
            }
        }
    }
}
