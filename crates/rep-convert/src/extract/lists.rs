//! Extracts decisions from lists and drawings: named alternatives, arrows, and cases with instructions below them.

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText};
use super::clauses::{ConditionOpening, clean_text, find_clause_head, is_action, match_condition_opening};
use super::decision_trees;
use super::decisions::{FACT_BYTES_MAX, add_decision};
use super::draft::DocumentDraft;
use super::lexicon::LEXICON;
use super::roles::{BlockContext, SectionRole};
use super::rules;
use super::words::{WordForm, WordList};

/// The maximum number of blocks examined below a case.
const BLOCKS_BELOW_MAX: usize = 40;

/// The maximum number of items below a case that count as its instructions.
const STEPS_MAX: usize = 6;

/// The maximum length of the instruction after a name, in bytes.
const REST_BYTES_MAX: usize = 240;

/// Extracts the decisions in lists and drawings. Returns the blocks that were fully read: their instructions
/// apply to their case only.
pub(super) fn extract_list_decisions(
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    draft: &mut DocumentDraft,
) -> Vec<bool> {
    let mut is_read = vec![false; blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        let place = places[index];
        if place.has_role(SectionRole::Trigger) && block.is_prose() {
            if !add_arrow_decision(block, place, draft) {
                add_elsewhere_decision(block, draft);
            }
            if let Some(lead) = place.lead.filter(|_| block.is_item()) {
                add_listed_case(block, &blocks[lead], draft);
            }
        }
        if place.is_example || place.has_role(SectionRole::Trigger) {
            continue;
        }
        if block.language().is_some() {
            for (offset, when, then) in decision_trees::parse_decision_tree(&block.prose.text) {
                add_decision(&rules::DECISION_TREE, block.line + 1 + offset, &when, &then, draft);
            }
        }
        if block.is_prose() && place.is_lead {
            add_case_decision(blocks, index, place, draft);
        }
        if block.is_prose() {
            let before = draft.decisions.items.len();
            if let Some(lead) = place.lead.filter(|_| block.is_item()) {
                add_listed_case(block, &blocks[lead], draft);
            }
            if !add_arrow_decision(block, place, draft)
                && !add_fitting_decision(blocks, index, place, draft)
                && (block.is_item() || place.has_role(SectionRole::Trouble))
            {
                add_named_decision(blocks, index, place, draft);
            }
            is_read[index] = draft.decisions.items.len() > before;
        }
    }
    is_read
}

/// Adds a case with the instructions in the list below it: `If the build fails:`.
fn add_case_decision(blocks: &[MarkdownBlock], index: usize, place: BlockContext, draft: &mut DocumentDraft) {
    let block = &blocks[index];
    let words = WordList::parse(block.prose.text.trim_end().trim_end_matches([':', '：']));
    let is_below = |next: &&MarkdownBlock| next.is_item() && next.depth > block.depth;
    let below = blocks[index + 1..].iter().take(BLOCKS_BELOW_MAX).take_while(is_below);
    let steps = below.filter(|next| next.is_prose() && next.depth <= block.depth + 1);
    let steps: Vec<String> = steps.map(|step| clean_text(&step.prose.text)).take(STEPS_MAX).collect();
    let start = find_clause_head(&words, 0..words.len());
    let Some((opens, length)) = match_condition_opening(&words, start) else {
        let is_named =
            place.has_role(SectionRole::Trouble) && block.is_item() && words.len() <= 8 && !words.is_imperative(0);
        if is_named && steps.iter().all(|step| is_action(&WordList::parse(step), 0)) {
            add_decision(&rules::DECISION_TROUBLE, block.line, words.text, &steps.join("; "), draft);
        }
        return;
    };
    let from = start + length;
    if opens != ConditionOpening::If
        || words.is_any_of(from, "to it this that these")
        || from >= words.len()
        || words.len() > 24
    {
        return;
    }
    // A case with an action after a comma is complete, and the list only adds details.
    let action = (from + 1..words.len()).find(|at| words.gap_before(*at).contains(',') && is_action(&words, *at));
    let then = match action.map(|at| words.slice(at..words.len())) {
        Some(own) if steps.is_empty() => own.to_owned(),
        Some(own) => format!("{own}: {}", steps.join("; ")),
        None => steps.join("; "),
    };
    let then: String = then.chars().take(FACT_BYTES_MAX / 2).collect();
    let when = words.slice(from..action.unwrap_or(words.len()));
    add_decision(&rules::DECISION_CASE, block.line, when, &then, draft);
}

/// Adds a case from a list below a common instruction: `Ask first if:`.
fn add_listed_case(block: &MarkdownBlock, lead: &MarkdownBlock, draft: &mut DocumentDraft) {
    let words = WordList::parse(lead.prose.text.trim_end_matches([' ', ':', '：']));
    let last = words.len().saturating_sub(1);
    let is_own = words.is_any_of(0, "use trigger activate invoke apply load") && words.len() < 4;
    let is_told = is_action(&words, 0) && last > 1 && !is_own && !words.contains_any(0..last, &["skill", "this"]);
    if is_told && words.is_any_of(last, "if when whenever") && block.prose.text.len() <= REST_BYTES_MAX {
        add_decision(&rules::DECISION_CASE, block.line, &block.prose.text, words.slice(0..last), draft);
    }
}

/// Adds what to use instead of the skill: `Static pages → use the other skill`.
fn add_elsewhere_decision(block: &MarkdownBlock, draft: &mut DocumentDraft) {
    let is_told = |rest: &str| {
        let words = WordList::parse(rest);
        let next = find_clause_head(&words, 0..words.len()) + 1;
        words.is_any_of(next - 1, "use see prefer run try route load switch")
            && words.len() > next
            && !words.is_any_of(next, "when this for")
    };
    let cuts = [" → ", " -> ", " — ", " – ", ": ", "; ", ", ", " - ", " (", ". "];
    let mut parts = cuts.into_iter().filter_map(|cut| block.prose.text.split_once(cut));
    let is_case = |when: &str| !LEXICON.idle_labels.contains(WordList::parse(when).lower_at(0));
    if let Some((when, then)) = parts.find(|(when, rest)| is_told(rest) && is_case(when)) {
        let words = WordList::parse(when);
        let when = words.slice(LEXICON.elsewhere_openings.match_length_at(&words, 0).unwrap_or(0)..words.len());
        add_decision(&rules::DECISION_ELSEWHERE, block.line, when, then.trim_end_matches(')'), draft);
    }
}

/// Adds a decision written with an arrow: `Static page → read the file`.
fn add_arrow_decision(block: &MarkdownBlock, place: BlockContext, draft: &mut DocumentDraft) -> bool {
    let text = block.prose.text.as_str();
    let mut arrows = [" → ", " -> ", " => ", " ➜ "].into_iter().filter(|arrow| text.matches(arrow).count() == 1);
    let Some((when, then)) = arrows.next().and_then(|arrow| text.split_once(arrow)) else { return false };
    let words = WordList::parse(when);
    let is_said = match_condition_opening(&words, 0).is_some_and(|(opens, _)| opens != ConditionOpening::To);
    let is_chosen = matches!(place.role, SectionRole::Choices | SectionRole::Trouble) && words.len() <= 14;
    // A name after a name is a mapping.
    let is_told = is_action(&WordList::parse(then), 0) || then.starts_with('`') && !when.starts_with('`');
    if words.is_imperative(0) || !(is_said || block.is_item() && (is_chosen || is_told)) {
        return false;
    }
    add_decision(&rules::DECISION_ARROW, block.line, words.slice(usize::from(is_said)..words.len()), then, draft);
    true
}

/// Adds `**Use when**: …` below the name of the alternative.
fn add_fitting_decision(
    blocks: &[MarkdownBlock],
    index: usize,
    place: BlockContext,
    draft: &mut DocumentDraft,
) -> bool {
    let block = &blocks[index];
    let words = WordList::parse(&block.prose.text);
    let labelled =
        LEXICON.fitting_labels.match_length_at(&words, 0).filter(|length| words.gap_before(*length).starts_with(':'));
    let item = block.item.map(|item| &blocks[item]).filter(|item| item.depth >= 1);
    let lead = place.lead.map(|lead| &blocks[lead]).filter(|lead| lead.prose.text.split(' ').count() <= 8);
    let name = item.or(lead).or_else(|| block.heading.map(|heading| &blocks[heading]));
    let (Some(length), Some(name)) = (labelled, name.filter(|name| name.kind != MarkdownBlockKind::Heading(1))) else {
        return false;
    };
    let strong = name.prose.strongs.first().filter(|strong| strong.start == 0);
    let title = &name.prose.text[strong.cloned().unwrap_or(0..name.prose.text.len())];
    let title = title.trim_start_matches(|letter: char| letter.is_ascii_digit() || " .)".contains(letter));
    let verb = if words.lower_at(0) == "apply" { "apply" } else { "use" };
    let rest = words.slice(length..words.len());
    let is_whole = (1..=REST_BYTES_MAX).contains(&rest.len());
    if is_whole {
        add_decision(&rules::DECISION_FITTING, block.line, rest, &format!("{verb} {title}"), draft);
    }
    is_whole
}

/// Adds an item that names a case or a goal and what to use: `Restrict to one provider: pass --source`.
fn add_purpose_decision(block: &MarkdownBlock, draft: &mut DocumentDraft) -> bool {
    let text = block.prose.text.as_str();
    let Some((name, rest)) = text.split_once(": ").or_else(|| text.split_once(" — ")) else { return false };
    let (words, behind) = (WordList::parse(name), WordList::parse(rest));
    let opens = match_condition_opening(&words, 0);
    let is_told = LEXICON.choosing_verbs.contains(behind.lower_at(0))
        && behind.len() > 1
        && !behind.is_any_of(1, "when for if this it");
    // A command or a parameter with what it does is described, not chosen.
    let is_described = words.list.first().is_some_and(|word| word.form == WordForm::Code)
        || words.lower_at(words.len().saturating_sub(1)) == behind.lower_at(0);
    if is_described
        || !(1..=12).contains(&words.len())
        || !is_told
        || matches!(opens, Some((ConditionOpening::If, _)))
        || LEXICON.never_markers.match_length_at(&words, 0).is_some()
        || LEXICON.idle_labels.contains(words.lower_at(0))
        || LEXICON.property_labels.contains(words.lower_at(words.len() - 1))
    {
        return false;
    }
    let from = opens
        .filter(|(opens, _)| matches!(opens, ConditionOpening::For | ConditionOpening::To))
        .map_or(0, |(_, length)| length);
    add_decision(&rules::DECISION_NAMED_USE, block.line, words.slice(from..words.len()), rest, draft);
    true
}

/// Returns the document of the skill that an item is about: `[forms](references/forms.md) - how forms are filled`.
fn find_document_path(prose: &ProseText) -> Option<&str> {
    let link = prose.links.first().filter(|(range, _)| range.start <= 4).map(|(_, link)| link.as_str());
    let code = prose.codes_in(0..prose.text.len().min(80)).next().filter(|code| !code.contains(' '));
    link.or(code).filter(|path| {
        path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
            && !path.contains("://")
            && !path.ends_with("SKILL.md")
    })
}

/// Adds the decision of an item that names an alternative: `**Lines** - Trends over time`.
fn add_named_decision(blocks: &[MarkdownBlock], index: usize, place: BlockContext, draft: &mut DocumentDraft) {
    let (block, prose) = (&blocks[index], &blocks[index].prose);
    if !place.is_step && !place.has_role(SectionRole::Rules) && !place.is_wrong() && add_purpose_decision(block, draft)
    {
        return;
    }
    let links = prose.links.first().map(|(range, _)| range);
    let mut labels = prose.strongs.first().into_iter().chain(prose.codes.first()).chain(links);
    let Some(label) = labels.find(|range| range.start == 0) else { return };
    let (name, rest) = prose.text.split_at(label.end);
    let has_gap = rest.trim_start().starts_with(['-', '—', '–', ':', '→']) || name.trim_end().ends_with(':');
    let (name, rest) = (clean_text(name), clean_text(rest.trim_start_matches([' ', '-', '—', '–', ':', '→'])));
    let (words, behind) = (WordList::parse(&name), WordList::parse(&rest));
    if !has_gap
        || !(1..=REST_BYTES_MAX).contains(&rest.len())
        || words.len() > 7
        || prose.text.ends_with('?')
        || words.longest_phrase_at(0, &["and more", "more", "other", "others"]).is_some()
        || LEXICON.property_labels.contains(words.lower_at(words.len().saturating_sub(1)))
    {
        return;
    }
    let is_told = is_action(&behind, 0);
    let lead = WordList::parse(place.lead.map_or("", |lead| blocks[lead].prose.text.as_str()));
    let is_by_case =
        (0..lead.len()).any(|at| lead.longest_phrase_at(at, &["based on", "depending on", "according to"]).is_some());
    let mut add = |rule, when: &str, then: &str| add_decision(rule, block.line, when, then, draft);
    match match_condition_opening(&words, 0) {
        Some((ConditionOpening::If, length)) => add(&rules::DECISION_IF, words.slice(length..words.len()), &rest),
        Some((ConditionOpening::For, _)) if !is_told => {}
        Some((ConditionOpening::For, length)) => add(&rules::DECISION_FOR, words.slice(length..words.len()), &rest),
        _ if is_by_case => {
            let verb = if lead.is_imperative(0) && !is_told { lead.lower_at(0) } else { "" };
            add(&rules::DECISION_BY_CASE, &name, format!("{verb} {rest}").trim_start());
        }
        _ => {
            let rule = &rules::DECISION_NAMED_WHEN;
            let later = |at: &usize| behind.gap_before(*at).starts_with(". ");
            let told = (1..behind.len()).filter(later).find(|at| is_action(&behind, *at));
            let used = told.filter(|at| behind.lower_at(*at) == "use" && behind.is_any_of(at + 1, "to for when if"));
            if let Some(length) = LEXICON.fitting_openings.match_length_at(&behind, 0) {
                add(rule, behind.slice(length..behind.len()), &format!("use {name}"));
            } else if place.has_role(SectionRole::Trouble) && is_told {
                add(&rules::DECISION_TROUBLE, &name, &rest);
            } else if let Some(at) = told.filter(|_| place.has_role(SectionRole::Trouble)) {
                add(&rules::DECISION_TROUBLE, &name, behind.slice(at..behind.len()));
            } else if let Some(at) = used {
                add(rule, behind.slice(at + 2..behind.len()), &format!("use {name}"));
            } else if let Some(path) = find_document_path(prose) {
                let is_path = name.contains(path) || prose.codes.first().is_some_and(|code| code.start == 0);
                let said = if rest.trim_matches('`') == path { "" } else { rest.as_str() };
                let when = if is_path { rest.clone() } else { format!("{name} {said}") };
                add(&rules::DECISION_REFERENCE, &when, &format!("read {path}"));
            }
        }
    }
}
