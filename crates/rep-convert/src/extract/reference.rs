//! Patterns to write by: UASP's `reference`, by UASP §7.1 rule 7.

use std::collections::BTreeSet;

use serde_json::json;

use super::blocks::Block;
use super::commands::is_shell;
use super::constraints::tidy;
use super::draft::Draft;
use super::names;
use super::words::Words;

/// The longest pattern that is kept.
const LENGTH_MAX: usize = 4_000;

/// Languages that are written, not run: patterns for generating text.
const WRITTEN: &[&str] = &[
    "mermaid", "dot", "plantuml", "d2", "ebnf", "bnf", "abnf", "markdown", "md", "template", "regex", "latex", "dsl",
    "hcl", "graphql", "cypher", "jq",
];

/// Words of a heading or a lead-in that announce a pattern.
const ANNOUNCED: &[&str] = &[
    "syntax",
    "format",
    "template",
    "structure",
    "grammar",
    "schema",
    "pattern",
    "notation",
    "convention",
    "layout",
    "follow",
];

/// Reads the patterns of a skill.
pub(super) fn read(blocks: &[Block], skill: &str, draft: &mut Draft) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (index, block) in blocks.iter().enumerate() {
        let Some(language) = block.language() else { continue };
        let text = block.prose.text.trim_end();
        let heading = block.heading.map_or("", |heading| blocks[heading].prose.text.as_str());
        let lead = index
            .checked_sub(1)
            .map(|before| &blocks[before])
            .filter(|before| before.is_prose() && before.prose.text.len() <= 200);
        let lead =
            lead.map(|before| before.prose.text.trim_end_matches([':', '*', ' ']).to_owned()).unwrap_or_default();
        if text.is_empty() || text.len() > LENGTH_MAX || is_shell(language) || text.contains(['├', '└']) {
            continue;
        }
        let announces = |text: &str| {
            let words = Words::of(text);
            words.has(0..words.len(), ANNOUNCED)
        };
        let is_announced = announces(heading) || announces(&lead);
        let is_pattern = has_placeholder(text);
        let is_written = WRITTEN.contains(&language);
        let is_plain = matches!(language, "" | "text" | "txt" | "plaintext");
        if !(is_written
            || is_plain && is_pattern && (is_announced || text.lines().count() <= 12)
            || is_announced && !is_plain)
        {
            continue;
        }
        let domain = if is_written && !matches!(language, "markdown" | "md") { language } else { skill };
        let key = format!("{}.{}", names::name(domain, "text"), names::name(heading, "pattern"));
        if !seen.insert(text.to_owned())
            || text.contains("http")
                && is_plain
                && text.starts_with(|letter: char| letter.is_ascii_uppercase())
                && text.contains("GET ")
        {
            continue;
        }
        let field = if is_pattern { "syntax" } else { "example" };
        let mut value = json!({ field: text });
        if !lead.is_empty() {
            value["notes"] = json!(tidy(&lead));
        }
        draft.reference.add(&key, block.line, None, value);
    }
    values(blocks, skill, draft);
}

/// Values that a label lists: `Allowed types: a, b, c`.
fn values(blocks: &[Block], skill: &str, draft: &mut Draft) {
    for block in blocks.iter().filter(|block| block.is_prose()) {
        let Some((label, rest)) = block.prose.text.split_once(": ") else { continue };
        let words = Words::of(label);
        let is_label = words.len() <= 4
            && words.has(0..words.len(), &["allowed", "valid", "available", "supported", "accepted", "permitted"]);
        let start = label.len() + 2;
        let codes: Vec<&str> = block.prose.codes_in(start..block.prose.text.len()).collect();
        let plain: Vec<&str> =
            rest.trim_end_matches('.').split(", ").map(|part| part.trim_start_matches("and ")).collect();
        let listed = if codes.len() >= 2 {
            codes
        } else if plain.len() >= 3 && plain.iter().all(|part| part.split(' ').count() <= 2) {
            plain
        } else {
            continue;
        };
        if is_label {
            let feature = names::name(words.slice(1..words.len()), "values");
            draft.reference.add(
                &format!("{}.{feature}", names::name(skill, "text")),
                block.line,
                None,
                json!({ "values": listed }),
            );
        }
    }
}

/// Whether a text has gaps to fill: `<subject>`, `{name}`, `[TITLE]`.
fn has_placeholder(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{', '[']) {
        let inside = &rest[at + 1..];
        let end = inside.find(['>', '}', ']', '\n']).unwrap_or(inside.len());
        let word = &inside[..end];
        let is_gap = word.len() >= 2
            && word.len() <= 40
            && word.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || " -_/|".contains(letter));
        let closes = match rest.as_bytes()[at] {
            b'<' => '>',
            b'{' => '}',
            _ => ']',
        };
        if is_gap && inside[end..].starts_with(closes) {
            return true;
        }
        rest = inside;
    }
    false
}
