//! Extracts the cases for using a skill: UASP's `triggers`, by UASP §7.1 rule 10, from the frontmatter and from `When
//! to use`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use rep_model::{Frontmatter, Manifest};
use serde_json::json;

use super::blocks::MarkdownBlock;
use super::clauses::clean_text;
use super::draft::{CandidateList, DocumentDraft};
use super::lexicon::LEXICON;
use super::roles::{BlockContext, SectionRole, has_bad_mark};
use super::rules::TRIGGER_TEXT;
use super::shorten_text;
use super::words::WordList;

const KEYWORDS_MAX: usize = 25;
const INTENTS_MAX: usize = 40;
const INTENT_CHARS_MAX: usize = 200;

pub(super) fn extract_triggers(
    manifest: &Manifest,
    name: &str,
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    draft: &mut DocumentDraft,
) {
    extract_declared_triggers(manifest, draft);
    let description = manifest.front.as_ref().and_then(Frontmatter::description);
    let line = description.map_or(1, |text| manifest.source.position_at(text.span().start).line);
    let parts = remove_denials(description.map_or("", |text| text.value));
    for part in &parts {
        extract_intents(part, line, &mut draft.intents);
    }
    for (block, place) in blocks.iter().zip(places) {
        if place.has_role(SectionRole::Trigger)
            && block.is_item()
            && block.depth == 1
            && !is_exclusion_item(blocks, block, *place)
        {
            let cases = remove_denials(&block.prose.text).into_iter().map(clean_text);
            let cases = cases.filter(|case| (6..=INTENT_CHARS_MAX).contains(&case.len()));
            cases.for_each(|case| add_intent(&mut draft.intents, block.line, &case));
        }
    }
    let text = parts.join("\n");
    extract_keywords(name, &text, line, &mut draft.keywords);
    for pattern in find_file_patterns(&text) {
        draft.file_patterns.add(&TRIGGER_TEXT, line, json!(pattern));
    }
}

/// Returns whether an item states when *not* to use a skill, by its mark, its heading or the line before its list.
fn is_exclusion_item(blocks: &[MarkdownBlock], block: &MarkdownBlock, place: BlockContext) -> bool {
    let denies = |above: usize| {
        let text = blocks[above].prose.text.as_str();
        let words = WordList::parse(&text[..text.floor_char_boundary(100)]);
        words.contains_any(0..words.len(), &["not", "don't", "non-activation", "non-trigger", "never", "skip", "avoid"])
    };
    has_bad_mark(&block.prose.text) || block.heading.is_some_and(denies) || place.lead.is_some_and(denies)
}

/// Extracts the triggers declared in the frontmatter, at the top level or in metadata, under separate keys or as text.
fn extract_declared_triggers(manifest: &Manifest, draft: &mut DocumentDraft) {
    let Some(front) = &manifest.front else { return };
    for key in ["when_to_use", "paths", "tags", "keywords", "triggers"] {
        let within = front.get("metadata").and_then(|metadata| metadata.get(key));
        for node in front.get(key).into_iter().chain(within) {
            let entries = node.entries().unwrap_or_default().iter();
            let named = entries.map(|entry| (entry.key.text().unwrap_or_default(), &entry.value));
            for (key, node) in named.chain(node.entries().is_none().then_some((key, node))) {
                for item in node.items().unwrap_or(std::slice::from_ref(node)) {
                    let line = manifest.source.position_at(item.span.start).line;
                    add_declared_trigger(key, item.text().unwrap_or_default(), node.items().is_some(), line, draft);
                }
            }
        }
    }
}

/// Adds a declared trigger by its key. A text contains several triggers, a list item only one.
fn add_declared_trigger(key: &str, text: &str, is_item: bool, line: usize, draft: &mut DocumentDraft) {
    let parts = if is_item { vec![text.trim().to_owned()] } else { split_phrases(text) };
    match key {
        "when_to_use" => remove_denials(text).iter().for_each(|part| extract_intents(part, line, &mut draft.intents)),
        "intents" => add_intent(&mut draft.intents, line, text),
        "paths" | "globs" | "files" | "file_patterns" | "file_types" | "extensions" => {
            for file in parts {
                let kind = file.trim_start_matches('.');
                let is_kind = !matches!(key, "paths" | "globs") && !kind.contains(['*', '/', '.']);
                let pattern = if is_kind { format!("*.{kind}") } else { file };
                draft.file_patterns.add(&TRIGGER_TEXT, line, json!(pattern));
            }
        }
        _ if ["exclu", "negative", "not", "never", "anti", "ignore", "skip"].iter().any(|no| key.starts_with(no)) => {}
        _ => {
            let is_word = matches!(key, "keywords" | "mentions" | "words" | "tags");
            for part in parts.iter().flat_map(|part| remove_denials(part)) {
                // One or two words are a keyword, and a longer phrase is an intent.
                if is_word || part.split_whitespace().count() <= 2 {
                    draft.keywords.add(&TRIGGER_TEXT, line, json!(part.trim().to_lowercase()));
                } else {
                    add_intent(&mut draft.intents, line, part);
                }
            }
        }
    }
}

fn add_intent(list: &mut CandidateList, line: usize, text: &str) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if list.items.len() < INTENTS_MAX && text.chars().count() >= 3 {
        let short = shorten_text(&text, INTENT_CHARS_MAX);
        list.add_with_doubt(&TRIGGER_TEXT, line, (short.len() < text.len()).then_some("shortened"), json!(short));
    }
}

/// Extracts the use cases of a text: the text after `Use when`, and quoted phrases.
fn extract_intents(text: &str, line: usize, list: &mut CandidateList) {
    let words = WordList::parse(text);
    let mut index = 0;
    while index < words.len() {
        let Some(length) = match_use_lead(&words, index) else {
            index += 1;
            continue;
        };
        let start = if words.has_phrase_at(index, "when the user") { index + 1 } else { index + length };
        let end = (start + 1..words.len()).find(|next| ends_sentence(&words, *next)).unwrap_or(words.len());
        let is_list = words.gap_before(index + length).starts_with(':');
        let found = if is_list { split_phrases(words.slice(start..end)) } else { split_cases(&words, start..end) };
        for case in &found {
            add_intent(list, line, case);
        }
        index = end.max(index + 1);
    }
    for case in find_quotations(text).into_iter().map(|at| text[at].trim_matches([',', '.', ' '])) {
        if case.chars().count() <= 100 {
            add_intent(list, line, case);
        }
    }
}

fn match_use_lead(words: &WordList<'_>, index: usize) -> Option<usize> {
    let label = LEXICON.use_labels.match_length_at(words, index);
    let label = label.filter(|length| words.gap_before(index + length).starts_with(':'));
    LEXICON.use_leads.match_length_at(words, index).or(label)
}

/// Splits a sentence into cases before `or when`, and at commas if it is long.
fn split_cases(words: &WordList<'_>, range: Range<usize>) -> Vec<String> {
    let is_or = |index: usize| usize::from(words.lower_at(index - 1) == "or");
    let is_cut = |index: &usize| {
        matches!(words.lower_at(*index), "when" | "whenever" | "if")
            && (is_or(*index) == 1 || words.gap_before(*index).contains(',') && words.lower_at(*index) != "if")
    };
    let mut from = range.start;
    let mut found = Vec::new();
    for cut in (range.start + 1..range.end).filter(is_cut).chain([range.end]) {
        let case = words.slice(from..cut - is_or(cut));
        // Quoted phrases are separate cases.
        let quotes = find_quotations(case);
        let before = quotes.first().filter(|_| quotes.len() > 1).map(|first| &case[..first.start]);
        let case = before.map_or(case, |before| before.rsplit_once(',').map_or("", |(kept, _)| kept));
        let is_long = case.chars().count() > INTENT_CHARS_MAX && case.matches(',').count() > 1;
        found.extend(if is_long { split_phrases(case) } else { vec![clean_text(case)] });
        from = cut + 1;
    }
    found
}

fn remove_denials(text: &str) -> Vec<&str> {
    let words = WordList::parse(text);
    let mut parts = Vec::new();
    let (mut from, mut index) = (0, 0);
    while index < words.len() {
        if !starts_denial(&words, index) {
            index += 1;
            continue;
        }
        parts.push(&text[from..words.list[index].at.start]);
        index = (index + 1..words.len()).find(|next| ends_denial(&words, *next)).unwrap_or(words.len());
        from = words.list.get(index).map_or(text.len(), |word| word.at.start);
    }
    parts.push(&text[from..]);
    parts.retain(|part| part.contains(char::is_alphanumeric));
    parts
}

/// Returns whether an exclusion starts at this word: `Do NOT use for`, `Not for`, `SKIP:`.
fn starts_denial(words: &WordList<'_>, index: usize) -> bool {
    let is_cut =
        index == 0 || words.gap_before(index).contains(|letter: char| !letter.is_whitespace() || letter == '\n');
    if !is_cut && !matches!(words.lower_at(index - 1), "but" | "and" | "or" | "skill" | "this" | "please" | "when") {
        return false;
    }
    let is_label = |index: usize| words.gap_before(index).starts_with(':');
    if LEXICON.use_denials.match_length_at(words, index).is_some()
        || words.lower_at(index) == "skip" && is_label(index + 1)
    {
        return true;
    }
    let denials = ["do not", "don't", "never", "must not", "should not", "cannot", "not to"];
    let Some(length) = words.longest_phrase_at(index, &denials) else { return false };
    let (verb, next) = (words.lower_at(index + length), index + length + 1);
    // `Users sign up but don't use the product` is about users.
    let objects = ["for", "when", "if", "this", "it", "to", "in", "on", "with", "as", "unless"];
    let is_skill =
        verb == "trigger" || next >= words.len() || objects.contains(&words.lower_at(next)) || is_label(next);
    LEXICON.use_verbs.contains(verb) && is_skill
}

/// Returns whether an exclusion has ended before a word: with its sentence, or where a case for the skill follows.
fn ends_denial(words: &WordList<'_>, index: usize) -> bool {
    let opens = words.lower_at(index) != "when" && match_use_lead(words, index).is_some();
    let is_cut = words.gap_before(index).contains([',', ';', '—', '–', '\n']) || words.lower_at(index - 1) == "but";
    ends_sentence(words, index) || opens && is_cut || words.gap_before(index).contains("\n\n")
}

fn ends_sentence(words: &WordList<'_>, index: usize) -> bool {
    let between = words.gap_before(index).trim_start_matches([')', '"', '\'', '”', '’', ']']);
    let is_capital = words.text[words.list[index].at.clone()].starts_with(char::is_uppercase);
    between.starts_with(['.', '!', '?', ';']) && is_capital || between.contains('\n') && between.contains('.')
}

/// Returns the phrases of a list: quoted phrases if there are any, otherwise the text between commas.
fn split_phrases(text: &str) -> Vec<String> {
    let quoted = find_quotations(text);
    if quoted.len() > 1 {
        return quoted.into_iter().map(|at| clean_text(&text[at])).collect();
    }
    let mut depth = 0_usize;
    let parts = text.split(|letter: char| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(letter, ',' | ';' | '，' | '、')
    });
    let bare = |part: &str| {
        let part = clean_text(part);
        let part = part.strip_prefix("or ").or(part.strip_prefix("and ")).unwrap_or(&part);
        let marks = ['"', '\'', '“', '”'];
        // A quotation at the end keeps its quotation marks.
        if part.starts_with(marks) { part.trim_matches(marks).trim().to_owned() } else { part.trim().to_owned() }
    };
    parts.map(bare).filter(|part| !part.is_empty()).collect()
}

fn find_quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut last = ' ';
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map_or(' ', |(_, next)| *next);
        // An apostrophe follows a letter.
        let is_single = !last.is_alphanumeric() && !next.is_whitespace();
        open = match (open, letter) {
            (Some((from, close)), _) if letter == close && ("\"”".contains(close) || !next.is_alphanumeric()) => {
                found.push(from..at);
                None
            }
            (None, '"') => Some((at + 1, '"')),
            (None, '\'') if is_single => Some((at + 1, '\'')),
            (None, '“') => Some((at + letter.len_utf8(), '”')),
            (None, '‘') if is_single => Some((at + letter.len_utf8(), '’')),
            _ => open,
        };
        last = letter;
    }
    found
}

/// Extracts the main words of a description: those of the name first, then the others by frequency.
fn extract_keywords(name: &str, description: &str, line: usize, list: &mut CandidateList) {
    let lower = description.to_lowercase();
    let is_break = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '+' | '#' | '.'));
    let all = name.split('-').chain(lower.split(is_break).map(|word| word.trim_matches('.')));
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (order, word) in all.enumerate().take(2_000) {
        let is_word = word.chars().nth(1).is_some() && word.len() <= 40 && word.contains(char::is_alphabetic);
        if is_word && !LEXICON.idle_words.contains(word) {
            counts.entry(word).or_insert((order, 0)).1 += 1;
        }
    }
    let mut words: Vec<_> = counts.into_iter().collect();
    let of_name = name.split('-').count();
    words.sort_by_key(|(_, (order, count))| (*order >= of_name, Reverse(*count), *order));
    for (word, _) in words.into_iter().take(KEYWORDS_MAX) {
        list.add(&TRIGGER_TEXT, line, json!(word));
    }
}

/// Finds the globs that a description names: `*.tsx`, and `.docx files`.
fn find_file_patterns(description: &str) -> impl Iterator<Item = String> {
    let words = description.split(|letter: char| letter.is_whitespace() || ",()\"`/;".contains(letter));
    let endings = words.map(|word| word.trim_end_matches(['.', ':', '\''])).filter_map(|word| {
        word.strip_prefix("*.").or(word.strip_prefix('.')).filter(|ending| {
            (1..=10).contains(&ending.len())
                && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
                && ending.contains(|letter: char| letter.is_ascii_lowercase())
                && !matches!(*ending, "env" | "claude" | "net")
        })
    });
    endings.map(|ending| format!("*.{ending}"))
}
