//! When a skill is wanted: UASP's `triggers`, by UASP §7.1 rule 10, from the frontmatter and from `When to use`.

use std::collections::BTreeSet;

use rep_model::Frontmatter;
use rep_model::yaml::Node;
use serde_json::json;

use super::blocks::{Block, Kind};
use super::constraints::tidy;
use super::draft::{Draft, List};
use super::phrases;
use super::sections::Place;
use super::words::Words;

/// The most of each.
const KEYWORDS_MAX: usize = 25;
const INTENTS_MAX: usize = 40;
/// The longest use case.
const INTENT_MAX: usize = 200;

/// Words that tell nothing about a subject.
const IDLE: &[&str] = &[
    "the",
    "and",
    "for",
    "use",
    "when",
    "with",
    "this",
    "that",
    "from",
    "are",
    "using",
    "user",
    "users",
    "any",
    "into",
    "such",
    "via",
    "other",
    "including",
    "needs",
    "wants",
    "also",
    "can",
    "skill",
    "skills",
    "used",
    "about",
    "asks",
    "their",
    "your",
    "you",
    "has",
    "have",
    "its",
    "not",
    "all",
    "how",
    "what",
    "where",
    "which",
    "who",
    "need",
    "want",
    "should",
    "will",
    "may",
    "like",
    "more",
    "most",
    "than",
    "then",
    "these",
    "those",
    "they",
    "them",
    "whenever",
    "e.g",
    "etc",
    "or",
    "a",
    "an",
    "of",
    "to",
    "in",
    "on",
    "at",
    "by",
    "as",
    "is",
    "be",
    "it",
    "if",
    "do",
    "does",
    "even",
    "only",
    "based",
    "across",
    "within",
    "before",
    "after",
    "during",
    "between",
    "through",
    "over",
    "first",
    "new",
    "i",
    "we",
    "asking",
    "mentions",
    "mention",
    "says",
    "request",
    "requests",
    "trigger",
    "triggers",
    "always",
    "must",
    "never",
    "please",
    "make",
    "makes",
    "get",
    "gets",
    "create",
    "creating",
    "provides",
    "provide",
    "supports",
    "support",
    "covers",
    "help",
    "helps",
    "working",
    "work",
    "guide",
    "comprehensive",
    "includes",
    "include",
    "best",
    "every",
    "so",
    "but",
];

/// Reads the triggers of a skill.
pub(super) fn read(
    front: Option<&Frontmatter>,
    name: &str,
    blocks: &[Block],
    places: &[Place],
    line_of: &dyn Fn(usize) -> usize,
    draft: &mut Draft,
) {
    let description = front.and_then(Frontmatter::description);
    let parts = phrases::positive(description.map_or("", |text| text.value));
    let line = description.map_or(1, |text| line_of(text.span().start));
    if let Some(front) = front {
        declared(front, line_of, draft);
    }
    for part in &parts {
        intents(part, line, &mut draft.intents);
    }
    for (index, (block, place)) in blocks.iter().zip(places).enumerate() {
        if place.is_trigger && block.is_item() && block.depth == 1 && !is_against(blocks, index) {
            for part in phrases::positive(&block.prose.text) {
                let item = tidy(part);
                if item.len() > 5 && item.len() <= 200 {
                    add_intent(&mut draft.intents, block.line, &item);
                }
            }
        }
    }
    let text = parts.join("\n");
    keywords(name, &text, line, &mut draft.keywords);
    for pattern in file_patterns(&text) {
        draft.file_patterns.add(line, None, json!(pattern));
    }
}

/// Whether an item says when *not* to use a skill, by its heading, by the line before its list, or by itself.
fn is_against(blocks: &[Block], index: usize) -> bool {
    const TURNS: &[&str] = &["not", "don't", "non-activation", "non-trigger", "never", "skip", "avoid"];
    let block = &blocks[index];
    let heading = Words::of(block.heading.map_or("", |heading| blocks[heading].prose.text.as_str()));
    let lead = blocks[..index].iter().rev().take(200).find(|before| before.depth < block.depth);
    let lead = lead.filter(|lead| lead.kind == Kind::Paragraph && lead.prose.text.len() <= 300);
    heading.has(0..heading.len(), TURNS)
        || lead.is_some_and(|lead| phrases::positive(&lead.prose.text) != [lead.prose.text.as_str()])
        || block.prose.text.starts_with('❌')
        || Words::of(block.prose.text.get(..40).unwrap_or(&block.prose.text)).has(0..2, &["don't", "not", "never"])
}

/// What the frontmatter declares: Universal's `when_to_use`, the hosts' own, `paths` and `tags`.
fn declared(front: &Frontmatter, line_of: &dyn Fn(usize) -> usize, draft: &mut Draft) {
    let texts = |node: Option<&Node>| -> Vec<(usize, String)> {
        let Some(node) = node else { return Vec::new() };
        let items = node.items().map_or_else(|| vec![node], |items| items.iter().collect());
        items.into_iter().filter_map(|item| Some((line_of(item.span.start), item.text()?.to_owned()))).collect()
    };
    if let Some(when) = front.get("when_to_use") {
        if when.entries().is_some() {
            for (line, word) in texts(when.get("mentions")) {
                draft.keywords.add(line, None, json!(word.to_lowercase()));
            }
            for (line, intent) in texts(when.get("intents")) {
                draft.intents.add(line, None, json!(intent));
            }
            for (line, kind) in texts(when.get("file_types")) {
                draft.file_patterns.add(line, None, json!(pattern(&kind)));
            }
        } else {
            for (line, text) in texts(Some(when)) {
                for part in phrases::positive(&text) {
                    intents(part, line, &mut draft.intents);
                    if draft.intents.items.is_empty() {
                        add_intent(&mut draft.intents, line, &tidy(part));
                    }
                }
            }
        }
    }
    for (line, pattern) in texts(front.get("paths")) {
        for part in pattern.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            draft.file_patterns.add(line, None, json!(part));
        }
    }
    let metadata = front.get("metadata");
    let either = |key: &str| [front.get(key), metadata.and_then(|metadata| metadata.get(key))];
    for words in ["tags", "keywords"].into_iter().flat_map(either) {
        for (line, text) in texts(words) {
            for word in phrases::listed(&text) {
                draft.keywords.add(line, None, json!(word.to_lowercase()));
            }
        }
    }
    for triggers in either("triggers").into_iter().flatten() {
        match triggers.entries() {
            None => texts(Some(triggers)).iter().for_each(|(line, text)| sort(*line, text, triggers, draft)),
            Some(entries) => {
                for entry in entries {
                    for (line, text) in texts(Some(&entry.value)) {
                        match entry.key.text().unwrap_or_default() {
                            "files" | "file_patterns" | "paths" | "globs" | "file_types" | "extensions" => {
                                draft.file_patterns.add(line, None, json!(pattern(&text)));
                            }
                            "intents" => add_intent(&mut draft.intents, line, &text),
                            "keywords" | "mentions" | "words" => phrases::listed(&text)
                                .iter()
                                .for_each(|word| draft.keywords.add(line, None, json!(word.to_lowercase()))),
                            key if is_turned(key) => {}
                            _ => sort(line, &text, &entry.value, draft),
                        }
                    }
                }
            }
        }
    }
}

/// Whether the name of a list of triggers says that they are none.
fn is_turned(key: &str) -> bool {
    let key = key.to_lowercase();
    ["exclu", "negative", "not", "never", "anti", "ignore", "skip"].iter().any(|mark| key.starts_with(mark))
}

/// Sorts declared triggers: a word or two is looked for, a phrase is what somebody means. Text holds several, an item
/// of a list one.
fn sort(line: usize, text: &str, node: &Node, draft: &mut Draft) {
    let parts = if node.items().is_some() { vec![tidy(text)] } else { phrases::listed(text) };
    for part in parts.iter().flat_map(|part| phrases::positive(part)) {
        match part.split_whitespace().count() {
            0 => {}
            1 | 2 => draft.keywords.add(line, None, json!(part.trim().to_lowercase())),
            _ => add_intent(&mut draft.intents, line, part),
        }
    }
}

/// A kind of file as a pattern: `pdf` and `.pdf` are `*.pdf`.
fn pattern(kind: &str) -> String {
    let is_bare = !kind.contains(['*', '/', '.']);
    if is_bare { format!("*.{kind}") } else { kind.replacen('.', "*.", usize::from(kind.starts_with('.'))) }
}

fn add_intent(list: &mut List, line: usize, text: &str) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if list.items.len() < INTENTS_MAX && text.chars().count() >= 3 {
        let kept: String = text.chars().take(INTENT_MAX).collect();
        // A word that was cut says something else.
        let end = if kept.len() < text.len() { kept.rfind(' ').unwrap_or(kept.len()) } else { kept.len() };
        let doubt = (end < text.len()).then_some("shortened");
        list.add(line, doubt, json!(kept[..end].trim_end_matches([',', ';', ' '])));
    }
}

/// The use cases of a description: what stands behind `Use when`, and what it puts in quotes.
fn intents(description: &str, line: usize, list: &mut List) {
    let words = Words::of(description);
    let mut index = 0;
    while index < words.len() {
        let label = words.any(index, phrases::LABELS).filter(|length| words.before(index + length).starts_with(':'));
        let Some(length) = words.any(index, phrases::LEADS).or(label) else {
            index += 1;
            continue;
        };
        let start = if words.is(index, "when the user") { index + 1 } else { index + length };
        let end = (start + 1..words.len()).find(|next| phrases::ends_sentence(&words, *next)).unwrap_or(words.len());
        let is_list = words.before(index + length).starts_with(':');
        let cases = if is_list { phrases::listed(words.slice(start..end)) } else { parts(&words, start, end) };
        for case in cases.iter().flat_map(|case| unlumped(case)) {
            add_intent(list, line, &case);
        }
        index = end.max(index + 1);
    }
    for text in phrases::quoted(description).into_iter().map(|at| description[at].trim_matches([',', '.', ' '])) {
        if text.chars().count() <= 100 {
            add_intent(list, line, text);
        }
    }
}

/// A case, without the phrases it quotes, which are cases of their own; a long list is one case for each of its parts.
fn unlumped(case: &str) -> Vec<String> {
    const SAYS: &[&str] = &[
        "user", "users", "someone", "the", "says", "say", "asks", "ask", "asked", "to", "for", "or", "and", "like",
        "as", "such", "mentions", "mention", "with", "phrases", "about", "a", "when",
    ];
    let quoted = phrases::quoted(case);
    if quoted.len() > 1 {
        let words = Words::of(case[..quoted[0].start].trim_end_matches(['"', '\'', '“', '‘']));
        let end = (0..words.len()).rev().find(|index| !SAYS.contains(&words.at(*index))).map_or(0, |last| last + 1);
        return vec![tidy(words.slice(0..end))];
    }
    let is_long = case.chars().count() > INTENT_MAX && case.matches(',').count() > 1;
    if is_long { phrases::listed(case) } else { vec![case.to_owned()] }
}

/// The cases of an enumeration, cut before `when` and `or when`, else whole.
fn parts(words: &Words<'_>, start: usize, end: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut from = start;
    for index in start + 1..end {
        let is_cut = words.before(index).contains(',')
            && (words.at(index) == "when"
                || words.at(index) == "or" && matches!(words.at(index + 1), "when" | "whenever" | "if"))
            || words.is(index, "or when");
        if is_cut {
            found.push(tidy(words.slice(from..index)));
            from = index;
            while matches!(words.at(from), "or" | "when" | "whenever" | "if") && from < end {
                from += 1;
            }
        }
    }
    found.push(tidy(words.slice(from..end)));
    found.retain(|text| !text.is_empty());
    found
}

/// The words a description turns on: those of the name first, then by how often they stand there.
fn keywords(name: &str, description: &str, line: usize, list: &mut List) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let lower = description.to_lowercase();
    let mut counts: Vec<(usize, usize, String)> = Vec::new();
    let is_break = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '+' | '#' | '.'));
    let all =
        name.split('-').map(str::to_owned).chain(lower.split(is_break).map(|word| word.trim_matches('.').to_owned()));
    for (order, word) in all.enumerate().take(2_000) {
        let is_word = word.chars().count() >= 2
            && !IDLE.contains(&word.as_str())
            && word.chars().any(char::is_alphabetic)
            && word.len() <= 40;
        if !is_word {
            continue;
        }
        if seen.insert(word.clone()) {
            counts.push((1, order, word));
        } else if let Some(known) = counts.iter_mut().find(|known| known.2 == word) {
            known.0 += 1;
        }
    }
    let parts: BTreeSet<&str> = name.split('-').collect();
    counts.sort_by_key(|(count, order, word)| (!parts.contains(word.as_str()), std::cmp::Reverse(*count), *order));
    for (_, _, word) in counts.into_iter().take(KEYWORDS_MAX) {
        list.add(line, None, json!(word));
    }
}

/// Globs a description names: `*.tsx`, and `.docx files`.
fn file_patterns(description: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in description
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | '(' | ')' | '"' | '`' | '/' | ';'))
    {
        let bare = word.trim_end_matches(['.', ':', '\'']);
        let ending = bare.strip_prefix("*.").or(bare.strip_prefix('.'));
        let is_ending = ending.is_some_and(|ending| {
            (1..=10).contains(&ending.len())
                && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
                && ending.contains(|letter: char| letter.is_ascii_lowercase())
        });
        if let Some(ending) =
            ending.filter(|ending| is_ending && *ending != "env" && *ending != "claude" && *ending != "net")
        {
            found.push(format!("*.{ending}"));
        }
    }
    found.dedup();
    found
}
