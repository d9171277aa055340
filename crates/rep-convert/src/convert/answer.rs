//! Reads a document from the answer of a model.
//!
//! The answer is untrusted text: fences and prose around the document are removed, and every size is limited.

use rep_model::uasp::SECTION_NAMES;
use rep_model::yaml::{self, YamlProblem, core};
use serde_json::{Map, Value};

use super::VERSION_PLACEHOLDER;

/// The size limit of an answer.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Returns the document in an answer, or the reason why there is none, worded for the model.
pub fn parse_document(text: &str) -> Result<Value, String> {
    if text.len() > ANSWER_BYTES_MAX {
        return Err(format!("the answer is larger than {} MiB", ANSWER_BYTES_MAX >> 20));
    }
    // Reasoning models put their thoughts before the answer.
    let text = text.rfind("</think>").map_or(text, |at| &text[at + "</think>".len()..]);
    let mut reason = None;
    for candidate in find_candidates(text) {
        match parse_candidate(candidate) {
            Ok(value) => return Ok(normalize_document(value)),
            Err(why) => reason = reason.or(Some(why)),
        }
    }
    Err(reason.unwrap_or_else(|| "the answer contains no YAML document with `meta`".to_owned()))
}

/// Lists the parts of an answer that may be the document, the most likely first.
fn find_candidates(text: &str) -> Vec<&str> {
    let mut found = find_fenced_blocks(text);
    found.sort_by_key(|block| std::cmp::Reverse(block.len()));
    found.truncate(4);
    found.extend(find_unfenced_document(text));
    let braces = text.find('{').zip(text.rfind('}')).filter(|(open, close)| open < close);
    found.extend(braces.map(|(open, close)| &text[open..=close]));
    found
}

/// Finds the fenced blocks that look like a document. Only fences at the start of a line count: an indented fence is
/// part of a document.
fn find_fenced_blocks(text: &str) -> Vec<&str> {
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

/// Finds the lines from the first section on, as long as they can be YAML: each unindented line must be a key.
fn find_unfenced_document(text: &str) -> Option<&str> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_section =
            SECTION_NAMES.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
        let goes_on =
            is_section || line.trim().is_empty() || line.starts_with([' ', '\t', '#', '-']) || is_key_line(line);
        match start {
            None if is_section => start = Some(at),
            Some(start) if !goes_on || line.starts_with("---") => return Some(&text[start..at]),
            None | Some(_) => {}
        }
        at += line.len();
    }
    start.map(|start| &text[start..])
}

fn is_key_line(line: &str) -> bool {
    let is_letter =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '_' | '-');
    line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && key.chars().all(is_letter))
}

fn parse_candidate(text: &str) -> Result<Value, String> {
    let json = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    let value = match json {
        Some(value) => value,
        None => parse_yaml(text)?,
    };
    let Value::Object(mut root) = value else {
        return Err("the document is not a mapping of sections".to_owned());
    };
    match root.get("meta") {
        Some(Value::Object(_)) => return Ok(Value::Object(root)),
        Some(_) => return Err("`meta` is not a mapping".to_owned()),
        None => {}
    }
    // Some models wrap the document in an additional key.
    let only = if root.len() == 1 { root.values_mut().next().map(Value::take) } else { None };
    match only {
        Some(Value::Object(inside)) if inside.get("meta").is_some_and(Value::is_object) => Ok(Value::Object(inside)),
        _ => Err("the document has no `meta`".to_owned()),
    }
}

fn parse_yaml(text: &str) -> Result<Value, String> {
    let read = yaml::parse(text, 0);
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    if let Some((trouble, span)) = read.fatal_problem() {
        let why = match trouble {
            YamlProblem::Syntax(why) | YamlProblem::TooComplex(why) => why.as_str(),
            YamlProblem::TabIndentation => "a tab in the indentation",
            YamlProblem::Anchor | YamlProblem::Tag(_) | YamlProblem::Tab => "anchors, tags and tabs are not supported",
        };
        return Err(format!("the YAML cannot be read: line {}: {why}", line(span.start)));
    }
    let Some(root) = read.root else { return Err("the document is empty".to_owned()) };
    match yaml::find_duplicate_keys(&root).first() {
        Some((key, span)) => Err(format!("duplicate key `{key}` in the YAML: line {}", line(span.start))),
        None => Ok(core::to_json(&root)),
    }
}

/// Removes empty values, and sets the version placeholder.
fn normalize_document(value: Value) -> Value {
    let Value::Object(root) = remove_nulls(value) else { return Value::Null };
    let is_filled = |value: &Value| match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    let mut root: Map<String, Value> =
        root.into_iter().filter(|(key, value)| key == "meta" || is_filled(value)).collect();
    if let Some(meta) = root.get_mut("meta").and_then(Value::as_object_mut) {
        meta.insert("version".to_owned(), VERSION_PLACEHOLDER.into());
        if let Some(Value::String(text)) = meta.get_mut("description") {
            *text = text.trim().to_owned();
        }
    }
    Value::Object(root)
}

/// Removes the nulls and empty lists that only fill in a schema. A default may be null.
fn remove_nulls(value: Value) -> Value {
    let says = |key: &str, value: &Value| key == "default" || !(value.is_null() || *value == Value::Array(Vec::new()));
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, value)| (key, remove_nulls(value)))
                .filter(|(key, value)| says(key, value))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(remove_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse_name(text: &str) -> Result<String, String> {
        parse_document(text).map(|value| value["meta"]["name"].as_str().unwrap_or_default().to_owned())
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
            assert_eq!(parse_name(&text).as_deref(), Ok("pdf"), "{text}");
        }
    }

    #[test]
    fn what_is_no_document_is_told() {
        for (text, why) in [
            ("", "no YAML document"),
            ("I cannot do that.", "no YAML document"),
            ("```yaml\nmeta:\n  name: [pdf\n```", "cannot be read: line"),
            ("meta:\n  name: a\n  name: b\n", "duplicate key `name` in the YAML: line 3"),
            ("```\n- meta\n```", "not a mapping"),
            ("triggers:\n  keywords: [a]\n", "no `meta`"),
        ] {
            let told = parse_document(text).unwrap_err();
            assert!(told.contains(why), "{text:?}: {told}");
        }
        assert!(parse_document(&"x".repeat(ANSWER_BYTES_MAX + 1)).unwrap_err().contains("4 MiB"));
        let deep = format!("meta: {}", "[".repeat(100_000));
        assert!(parse_document(&deep).is_err());
    }

    #[test]
    fn what_says_nothing_is_left_out_and_the_version_is_worked_out_later() {
        let text = r#"{"meta": {"name": "pdf", "version": "deadbeef", "description": "x\n"}, "decisions": [], "state": null,
            "environment": [{"name": "A", "purpose": "b", "default": null}], "commands": {"go": {"syntax": "go", "note": null}}}"#;
        assert_eq!(
            parse_document(text).unwrap(),
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
            if let Ok(value) = parse_document(&text) {
                prop_assert!(value.get("meta").is_some());
            }
        }
    }
}
