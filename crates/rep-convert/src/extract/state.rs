//! Extracts entities with a lifecycle: UASP's `state.entities`, by UASP §7.1 rule 5, only if the text names them.

use serde_json::{Value, json};

use super::blocks::MarkdownBlock;
use super::clauses::{clean_text, find_reason_start};
use super::draft::DocumentDraft;
use super::names;
use super::rules::STATE_ENTITY;
use super::sentences::split_sentences;
use super::words::{WordForm, WordList};

/// The maximum number of sentences searched for a lifecycle.
const LIFECYCLES_MAX: usize = 300;

/// The phases of a lifecycle: the key in the entity, the key in its commands, and the words for it.
const LIFECYCLE_PARTS: [(&str, &str, &[&str]); 3] = [
    ("created_by", "creates", &["created", "made", "opened", "issued", "started"]),
    ("consumed_by", "requires", &["used", "consumed", "needed", "required", "taken"]),
    ("invalidated_by", "invalidates", &["expire", "expires", "stale", "invalid", "invalidated", "closed", "removed"]),
];

/// The events of a lifecycle, by phase.
type EntityLifecycle = [Vec<String>; 3];

/// Extracts entities: things that are created and become stale.
pub(super) fn extract_entities(blocks: &[MarkdownBlock], draft: &mut DocumentDraft) {
    let mut left = LIFECYCLES_MAX;
    for block in blocks.iter().filter(|block| block.is_prose()) {
        for range in split_sentences(&block.prose) {
            let words = WordList::parse(&block.prose.text[range.clone()]);
            let lives =
                left > 0 && (1..words.len().min(10)).any(|index| find_lifecycle_part(words.lower_at(index)).is_some());
            if let Some(name) = parse_subject(&words).filter(|_| lives) {
                left -= 1;
                let (life, line) = (parse_lifecycle(&words, draft), block.prose.line_at(range.start));
                add_entity(json!({ "name": name }), &life, line, draft);
            }
        }
    }
}

fn find_lifecycle_part(word: &str) -> Option<usize> {
    LIFECYCLE_PARTS.iter().position(|(_, _, words)| words.contains(&word))
}

fn parse_subject(words: &WordList<'_>) -> Option<String> {
    let verbs = ["is", "are", "become", "becomes", "go", "goes", "get", "gets", "expire", "expires"];
    let verb = words.find_any(1..words.len().min(6), &verbs)?;
    let first = usize::from(matches!(words.lower_at(0), "the" | "a" | "an" | "all" | "any" | "each"));
    let adverbs = ["always", "never", "often", "usually", "then", "also"];
    let end = verb - usize::from(adverbs.contains(&words.lower_at(verb - 1)));
    let is_pronoun = matches!(words.lower_at(first), "if" | "when" | "it" | "they" | "this" | "that" | "these");
    let name = names::to_name_or(words.slice(first..end).trim_end_matches('s'), "");
    (first < end && end <= first + 3 && !is_pronoun && !name.is_empty()).then_some(name)
}

/// Returns the commands that create, use and invalidate an entity. Other events can invalidate it as well.
fn parse_lifecycle(words: &WordList<'_>, draft: &DocumentDraft) -> EntityLifecycle {
    let mut life = EntityLifecycle::default();
    let starts =
        (0..words.len().min(60)).filter_map(|index| Some((index, find_lifecycle_part(words.lower_at(index))?)));
    let starts: Vec<(usize, usize)> = starts.chain([(words.len(), 0)]).collect();
    for pair in starts.windows(2) {
        let ((start, part), (end, _)) = (pair[0], pair[1]);
        let codes = words.list[start..end].iter().filter(|word| word.form == WordForm::Code);
        let commands = codes.filter_map(|word| find_command_key(words.text[word.at.clone()].trim_matches('`'), draft));
        life[part].extend(commands);
        let after = words.find_any(start + 1..end.min(start + 4), &["after", "when", "once", "on", "if", "by"]);
        if let Some(after) = after.filter(|_| part == 2 && life[2].is_empty() && start < 10) {
            let cause = clean_text(words.slice(after + 1..find_reason_start(words, after..words.len())));
            life[2].extend((!cause.is_empty()).then_some(cause));
        }
    }
    life
}

fn find_command_key(code: &str, draft: &DocumentDraft) -> Option<String> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let calls = draft.commands.entries.iter().filter_map(|(key, found)| {
        let syntax = found.value["syntax"].as_str().unwrap_or_default().split_whitespace();
        let literal: Vec<&str> = syntax.take_while(|word| !word.starts_with(['<', '[', '-', '{'])).collect();
        let is_call = !literal.is_empty() && words.starts_with(&literal) || key == code;
        is_call.then_some((literal.len(), key))
    });
    calls.max_by_key(|(length, _)| *length).map(|(_, key)| key.clone())
}

/// Adds the lifecycle of an entity to the entity and to its commands.
fn add_entity(mut entity: Value, life: &EntityLifecycle, line: usize, draft: &mut DocumentDraft) {
    let is_known = draft.entities.items.iter().any(|known| known.value["name"] == entity["name"]);
    if is_known || life[0].is_empty() && life[2].is_empty() {
        return;
    }
    for ((field, link, _), commands) in LIFECYCLE_PARTS.iter().zip(life).filter(|(_, commands)| !commands.is_empty()) {
        entity[*field] = json!(commands);
        for (_, found) in draft.commands.entries.iter_mut().filter(|(key, _)| commands.contains(key)) {
            found.value[*link] = json!([entity["name"]]);
        }
    }
    let doubt = life[0].is_empty().then_some("only its invalidation is described");
    draft.entities.add_with_doubt(&STATE_ENTITY, line, doubt, entity);
}
