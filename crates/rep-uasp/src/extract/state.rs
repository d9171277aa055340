//! Things with a lifecycle: UASP's `state.entities`, by UASP §7.1 rule 5, only where the text names one.

use serde_json::{Value, json};

use super::blocks::Block;
use super::clauses;
use super::constraints::tidy;
use super::draft::Draft;
use super::names;
use super::sentences::sentences;
use super::words::Words;

/// Reads entities: references that commands hand to each other, and things that go stale.
pub(super) fn read(blocks: &[Block], draft: &mut Draft) {
    references(blocks, draft);
    let mut found: Vec<(usize, String, String)> = Vec::new();
    for block in blocks.iter().filter(|block| block.is_prose()) {
        for range in sentences(&block.prose) {
            let words = Words::of(&block.prose.text[range.clone()]);
            if let Some((name, cause)) = stale(&words) {
                found.push((block.prose.line_at(range.start), name, cause));
            }
        }
    }
    for (line, name, cause) in found.into_iter().take(20) {
        let known = draft.entities.items.iter_mut().find(|entity| entity.value["name"] == json!(name));
        if let Some(known) = known {
            if let Some(list) = known.value["invalidated_by"].as_array_mut() {
                list.push(json!(cause));
            } else {
                known.value["invalidated_by"] = json!([cause]);
            }
            continue;
        }
        let value = json!({ "name": name, "invalidated_by": [cause] });
        draft.entities.add(line, Some("only its end is named"), value);
    }
}

/// `Refs become invalid after navigation`: the thing, and what ends it.
fn stale(words: &Words<'_>) -> Option<(String, String)> {
    let ends = ["expire", "expires", "stale", "invalid", "invalidated"];
    let at = words.find(1..words.len().min(10), &ends)?;
    let after = words.find(at + 1..words.len().min(at + 4), &["after", "when", "once", "on", "if", "by"])?;
    let verbs = ["become", "becomes", "are", "is", "go", "goes", "get", "gets"];
    let verb = if words.at(at).starts_with("expire") { at } else { words.find(1..at, &verbs)? };
    let first = usize::from(matches!(words.at(0), "the" | "all" | "any" | "each"));
    let is_thing = verb > first
        && verb - first <= 3
        && !matches!(words.at(first), "if" | "when" | "it" | "they" | "this" | "that");
    let name = names::name(words.slice(first..verb).trim_end_matches('s'), "");
    let end = clauses::reason_start(words, after..words.len());
    let cause = tidy(words.slice(after + 1..end));
    (is_thing && !name.is_empty() && !cause.is_empty()).then_some((name, cause))
}

/// References like `@e1`: made by the command that shows them, used by those that take them.
fn references(blocks: &[Block], draft: &mut Draft) {
    let takes =
        |value: &Value| value["args"].as_array().is_some_and(|args| args.iter().any(|arg| arg["type"] == "ref"));
    let consumed: Vec<String> =
        draft.commands.entries.iter().filter(|(_, found)| takes(&found.value)).map(|(key, _)| key.clone()).collect();
    let speaks = |value: &Value| {
        let said = value["description"].as_str().unwrap_or_default();
        let variants = value["variants"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        let all = variants.iter().filter_map(|variant| variant["purpose"].as_str()).chain([said]);
        all.map(str::to_lowercase)
            .any(|text| text.contains("with refs") || text.contains("returns refs") || text.contains("element refs"))
    };
    let created: Vec<String> =
        draft.commands.entries.iter().filter(|(_, found)| speaks(&found.value)).map(|(key, _)| key.clone()).collect();
    if consumed.len() < 2 || created.is_empty() {
        return;
    }
    let Some((line, format)) = written(blocks) else { return };
    let again = format!("re-{}", created[0]);
    let mut ended: Vec<String> = Vec::new();
    for block in blocks.iter().filter(|block| block.is_prose()) {
        for range in sentences(&block.prose) {
            let words = Words::of(&block.prose.text[range]);
            if words.at(0) == again
                && let Some(after) = words.find(1..words.len().min(6), &["after", "when", "if"])
            {
                ended.push(tidy(words.slice(after + 1..words.len())));
            }
        }
    }
    let mut value = json!({ "name": "ref", "format": format, "created_by": created, "consumed_by": consumed });
    if !ended.is_empty() {
        value["invalidated_by"] = json!(ended);
    }
    draft.entities.add(line, None, value);
    for (key, found) in &mut draft.commands.entries {
        if created.contains(key) {
            found.value["creates"] = json!(["ref"]);
        } else if consumed.contains(key) {
            found.value["requires"] = json!(["ref"]);
        }
    }
}

/// How references are written: `@e1` is `@e{n}`.
fn written(blocks: &[Block]) -> Option<(usize, String)> {
    for block in blocks.iter().filter(|block| block.language().is_some()) {
        for word in block.prose.text.split_whitespace().take(2_000) {
            let letters: String = word.chars().skip(1).take_while(char::is_ascii_lowercase).collect();
            let digits = word.strip_prefix('@').and_then(|rest| rest.strip_prefix(letters.as_str()));
            if digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit()))
                && letters.len() <= 4
            {
                return Some((block.line, format!("@{letters}{{n}}")));
            }
        }
    }
    None
}
