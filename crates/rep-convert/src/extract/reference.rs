//! Extracts syntax patterns: UASP's `reference`, by UASP §7.1 rule 7.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::blocks::MarkdownBlock;
use super::clauses::clean_text;
use super::commands::is_shell_language;
use super::draft::DocumentDraft;
use super::lexicon::LEXICON;
use super::names;
use super::rules::REFERENCE_BLOCK;
use super::words::WordList;

/// The maximum length of a pattern.
const PATTERN_BYTES_MAX: usize = 4_000;

/// Extracts the patterns of a skill, and the values that a label lists.
pub(super) fn extract_reference(blocks: &[MarkdownBlock], skill: &str, draft: &mut DocumentDraft) {
    let mut seen = BTreeSet::new();
    let mut add = |domain: &str, feature: &str, line: usize, value: Value| {
        let key = format!("{}.{feature}", names::to_name_or(domain, "text"));
        draft.reference.add(&REFERENCE_BLOCK, &key, line, None, value);
    };
    for (index, block) in blocks.iter().enumerate() {
        if let Some((feature, values)) = parse_value_list(block) {
            add(skill, &feature, block.line, json!({ "values": values }));
        }
        let Some(language) = block.language().filter(|language| !is_shell_language(language)) else { continue };
        let text = block.prose.text.trim_end();
        let is_call = ["GET ", "POST ", "PUT ", "DELETE "].iter().any(|method| text.starts_with(method));
        if text.is_empty() || text.len() > PATTERN_BYTES_MAX || text.contains(['├', '└']) || is_call {
            continue;
        }
        let heading = block.heading.map_or("", |heading| blocks[heading].prose.text.as_str());
        let lead = index.checked_sub(1).map(|before| &blocks[before]).filter(|before| before.is_prose());
        let lead = lead.map_or("", |lead| lead.prose.text.as_str());
        let lead = if lead.len() <= 200 { clean_text(lead) } else { String::new() };
        let is_announced = [heading, &lead].iter().any(|text| LEXICON.pattern_words.occurs_in(&WordList::parse(text)));
        let is_written = LEXICON.written_languages.contains(language);
        let is_plain = matches!(language, "" | "text" | "txt" | "plaintext");
        let is_pattern = has_placeholder(text);
        let is_short = text.lines().count() <= 12;
        let is_kept = is_written || if is_plain { is_pattern && (is_announced || is_short) } else { is_announced };
        if !is_kept || !seen.insert(text) {
            continue;
        }
        let mut value = json!({ if is_pattern { "syntax" } else { "example" }: text });
        if !lead.is_empty() {
            value["notes"] = json!(lead);
        }
        let domain = if is_written && !matches!(language, "markdown" | "md") { language } else { skill };
        add(domain, &names::to_name_or(heading, "pattern"), block.line, value);
    }
}

/// Parses a list of values after a label: `Allowed types: a, b, c`.
fn parse_value_list(block: &MarkdownBlock) -> Option<(String, Vec<&str>)> {
    let (label, rest) = block.prose.text.split_once(": ").filter(|(label, _)| label.len() <= 60 && block.is_prose())?;
    let words = WordList::parse(label);
    let allows = ["allowed", "valid", "available", "supported", "accepted", "permitted"];
    if words.len() > 4 || !words.contains_any(0..words.len(), &allows) {
        return None;
    }
    let mut values: Vec<&str> = block.prose.codes_in(label.len()..block.prose.text.len()).collect();
    if values.len() < 2 {
        values = rest.trim_end_matches('.').split(", ").map(|part| part.trim_start_matches("and ")).collect();
        if values.len() < 3 || values.iter().any(|value| value.split(' ').count() > 2) {
            return None;
        }
    }
    Some((names::to_name_or(words.slice(1..words.len()), "values"), values))
}

/// Returns whether a text has placeholders: `<subject>`, `{name}`, `[TITLE]`.
fn has_placeholder(text: &str) -> bool {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || " -_/|".contains(letter);
    text.match_indices(['<', '{', '[']).any(|(at, open)| {
        let inside = &text[at + 1..];
        let gap = &inside[..inside.find(|letter| !is_inner(letter)).unwrap_or(inside.len())];
        let close = match open {
            "<" => '>',
            "{" => '}',
            _ => ']',
        };
        (2..=40).contains(&gap.len())
            && gap.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && inside[gap.len()..].starts_with(close)
    })
}
