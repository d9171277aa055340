//! Things with a lifecycle: UASP's `state.entities`, by UASP §7.1 rule 5, only where the text names one.

use serde_json::{Value, json};

use super::blocks::Block;
use super::clauses;
use super::constraints::tidy;
use super::draft::Draft;
use super::names;
use super::sentences::sentences;
use super::words::{Form, Words};

/// The most sentences that are looked through for a lifecycle.
const LIFECYCLES_MAX: usize = 300;

/// Reads entities: references that commands hand to each other, and things that go stale.
pub(super) fn read(blocks: &[Block], draft: &mut Draft) {
    references(blocks, draft);
    lifecycles(blocks, draft);
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
        let command = command_of(cause.trim_matches('`'), draft);
        let known = draft.entities.items.iter_mut().find(|entity| entity.value["name"] == json!(name));
        if let Some(known) = known {
            if let Some(list) = known.value["invalidated_by"].as_array_mut() {
                let is_told = command.is_some_and(|command| list.contains(&json!(command)));
                list.extend((!is_told).then(|| json!(cause)));
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
    let adverbs = ["always", "never", "often", "usually", "automatically", "then", "also"];
    let verb = if verb > first && adverbs.contains(&words.at(verb - 1)) { verb - 1 } else { verb };
    let is_thing = verb > first
        && verb - first <= 3
        && !matches!(words.at(first), "if" | "when" | "it" | "they" | "this" | "that");
    let name = names::name(words.slice(first..verb).trim_end_matches('s'), "");
    let end = clauses::reason_start(words, after..words.len());
    let cause = tidy(words.slice(after + 1..end));
    (is_thing && !name.is_empty() && !cause.is_empty()).then_some((name, cause))
}

/// Sentences that name what makes a thing, what uses it, or what ends it, each by a command.
fn lifecycles(blocks: &[Block], draft: &mut Draft) {
    let mut left = LIFECYCLES_MAX;
    for block in blocks.iter().filter(|block| block.is_prose()) {
        for range in sentences(&block.prose) {
            let words = Words::of(&block.prose.text[range.clone()]);
            let line = block.prose.line_at(range.start);
            let lived = ["created", "made", "opened", "issued", "started"];
            if left == 0 || !words.has(0..words.len().min(40), &lived) {
                continue;
            }
            left -= 1;
            if let Some((name, deeds)) = lifecycle(&words, draft) {
                put_lifecycle(&name, &deeds, line, draft);
            }
        }
    }
}

/// A part of a lifecycle: the field it fills, and the commands that do it.
type Deed = (&'static str, Vec<String>);

fn lifecycle(words: &Words<'_>, draft: &Draft) -> Option<(String, Vec<Deed>)> {
    let verb = words.find(1..words.len().min(6), &["is", "are"])?;
    let first = usize::from(matches!(words.at(0), "the" | "a" | "an" | "each" | "all"));
    if verb <= first || verb - first > 3 || matches!(words.at(first), "it" | "they" | "this" | "that" | "these") {
        return None;
    }
    let mut deeds: Vec<Deed> = Vec::new();
    let mut field = None;
    for index in verb + 1..words.len().min(60) {
        match words.at(index) {
            "created" | "made" | "opened" | "issued" | "started" => field = Some("created_by"),
            "used" | "consumed" | "needed" | "required" | "taken" => field = Some("consumed_by"),
            "invalidated" | "closed" | "destroyed" | "ended" | "removed" | "invalid" | "stale" => {
                field = Some("invalidated_by");
            }
            _ => {}
        }
        let word = &words.list[index];
        let Some(field) = field.filter(|_| word.form == Form::Code) else { continue };
        let code = words.text[word.at.clone()].trim_matches('`');
        let Some(command) = command_of(code, draft) else { continue };
        match deeds.iter_mut().find(|(known, _)| *known == field) {
            Some((_, commands)) => commands.push(command),
            None => deeds.push((field, vec![command])),
        }
    }
    let name = names::name(words.slice(first..verb).trim_end_matches('s'), "");
    // What only is used somewhere has no lifecycle.
    let is_lived = deeds.iter().any(|(field, _)| *field == "created_by");
    (is_lived && !name.is_empty()).then_some((name, deeds))
}

/// The command some code calls.
fn command_of(code: &str, draft: &Draft) -> Option<String> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let mut best: Option<(usize, &str)> = None;
    for (key, found) in &draft.commands.entries {
        let syntax = found.value["syntax"].as_str().unwrap_or_default();
        let literal = syntax.split_whitespace().take_while(|word| !word.starts_with(['<', '[', '-', '{']));
        let literal: Vec<&str> = literal.collect();
        let is_call = !literal.is_empty() && words.starts_with(&literal) || key.as_str() == code;
        if is_call && best.is_none_or(|(length, _)| literal.len() > length) {
            best = Some((literal.len(), key));
        }
    }
    best.map(|(_, key)| key.to_owned())
}

/// Notes a lifecycle in the entity and in the commands it names.
fn put_lifecycle(name: &str, deeds: &[Deed], line: usize, draft: &mut Draft) {
    if draft.entities.items.iter().any(|entity| entity.value["name"] == json!(name)) {
        return;
    }
    let mut value = json!({ "name": name });
    for (field, commands) in deeds {
        value[*field] = json!(commands);
        let link = match *field {
            "created_by" => "creates",
            "consumed_by" => "requires",
            _ => "invalidates",
        };
        for (key, found) in &mut draft.commands.entries {
            if commands.contains(key) && found.value.get(link).is_none() {
                found.value[link] = json!([name]);
            }
        }
    }
    draft.entities.add(line, None, value);
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
