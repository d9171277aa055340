//! Extracts decisions, preferences and prohibitions from tables.

use serde_json::json;

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText};
use super::clauses::{ClauseMarker, ParsedSentence, clean_text, is_activity};
use super::decisions::{add_decision, add_linked_decision};
use super::draft::DocumentDraft;
use super::lexicon::{LEXICON, PhraseSet, is_verb};
use super::preferences::PreferenceCandidate;
use super::roles::{BlockContext, SectionRole};
use super::rules::{self, ExtractionRule};
use super::sentences::split_sentences;
use super::statements;
use super::words::WordList;

/// Extracts the statements of every table.
pub(super) fn extract_tables(blocks: &[MarkdownBlock], places: &[BlockContext], draft: &mut DocumentDraft) {
    for (block, place) in blocks.iter().zip(places) {
        // A condition for using the skill is a trigger, unless the table also has actions.
        let is_told = block.rows.first().is_some_and(|head| {
            find_contrast_columns(head).is_none()
                && find_decision_columns(head).is_some_and(|columns| !columns.is_thing)
        });
        if block.kind == MarkdownBlockKind::Table
            && !place.is_example
            && (is_told || !place.has_role(SectionRole::Trigger))
        {
            extract_table(block, place.has_role(SectionRole::Rules), draft);
        }
    }
}

fn extract_table(block: &MarkdownBlock, is_rules: bool, draft: &mut DocumentDraft) {
    let Some((head, rows)) = block.rows.split_first() else { return };
    let columns = find_contrast_columns(head);
    let when = head.iter().position(is_condition_header).filter(|_| columns.is_none());
    let rule = head.iter().position(|cell| WordList::parse(&cell.text).is_any_of(0, "rule guideline principle"));
    let decisions = find_decision_columns(head);
    let is_plain = is_rules && columns.is_none() && decisions.is_none();
    let told = rule.or(is_plain.then_some(1));
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let is_paired = columns.is_some_and(|(bad, good)| column == bad || column == good);
            let is_named = column > 0 && !is_paired && when.is_none() && !row[0].text.starts_with("`-");
            // Outside of rules, only a cell that forbids an action is a statement.
            let words = WordList::parse(&cell.text);
            let forbids = || {
                let marker = LEXICON.never_markers.match_length_at(&words, 0);
                marker.is_some_and(|length| words.len() > length + 1 && is_verb(words.lower_at(length)))
            };
            if told.map_or_else(|| is_named && forbids(), |told| column >= told) {
                statements::extract_cell_statements(block, cell, draft);
            }
        }
    }
    let is_never = |cell: &ProseText| {
        WordList::parse(&cell.text).is_any_of(0, "never don't forbidden avoid") && cell.text.len() < 20
    };
    if let Some(columns) = columns {
        for row in rows {
            add_row_contrast(head, row, columns, draft);
        }
    } else if head.len() <= 3 && head.first().is_some_and(is_never) {
        for cell in rows.iter().filter_map(|row| row.first()) {
            draft.never.add(&rules::NEVER_TABLE, cell.line_at(0), json!(clean_text(&cell.text)));
        }
    } else if let Some(columns) = decisions {
        for row in rows {
            add_row_decision(head, row, &columns, draft);
        }
    }
}

/// The columns of a decision table.
struct DecisionColumns {
    rule: &'static ExtractionRule,
    when: usize,
    then: usize,
    /// Whether the action is a thing to use.
    is_thing: bool,
}

/// Returns whether a header starts with one of the phrases and has at most two more words.
fn matches_header(cell: &ProseText, wanted: &PhraseSet) -> bool {
    let words = WordList::parse(&cell.text);
    let last = words.len().saturating_sub(1);
    let is_figure =
        |length: usize| words.contains_any(length..words.len(), &["time", "rate", "count", "level", "size"]);
    wanted.match_length_at(&words, 0).is_some_and(|length| length + 2 >= words.len() && !is_figure(length))
        || words.len() <= 3 && wanted.match_length_at(&words, last) == Some(1)
}

fn is_condition_header(cell: &ProseText) -> bool {
    let words = WordList::parse(&cell.text);
    words.contains_any(0..words.len(), &["if", "when", "condition", "trigger", "scenario", "situation"])
}

fn find_decision_columns(head: &[ProseText]) -> Option<DecisionColumns> {
    let column = |wanted: &PhraseSet| head.iter().position(|cell| matches_header(cell, wanted));
    let is_then = |index: usize| matches_header(&head[index], &LEXICON.then_headers);
    let beside = |own: usize| (0..head.len()).find(|index| *index != own && is_then(*index));
    let columns = |rule, when, then, is_thing| Some(DecisionColumns { rule, when, then, is_thing });
    let when = head.iter().position(is_condition_header).or_else(|| column(&LEXICON.when_headers));
    let is_fault = |fault: &usize| when.is_none_or(|when| *fault < when && !is_condition_header(&head[when]));
    let is_fitting =
        |when: &usize| LEXICON.fitting_openings.match_length_at(&WordList::parse(&head[*when].text), 0).is_some();
    if let Some(when) = when.filter(is_fitting) {
        let then = beside(when).or((when > 0).then_some(0)).or((head.len() == 2).then_some(1))?;
        columns(&rules::DECISION_TABLE, when, then, true)
    } else if let Some(fault) = column(&LEXICON.fault_headers).filter(is_fault) {
        let then = beside(fault).filter(|then| *then > fault)?;
        columns(&rules::DECISION_FAULT_TABLE, fault, then, false)
    } else if let Some(when) = when {
        let is_beside = when == 0 && head.get(1).is_some_and(|cell| !matches_header(cell, &LEXICON.describing_headers));
        columns(&rules::DECISION_TABLE, when, beside(when).or(is_beside.then_some(1))?, false)
    } else {
        // A thing to use or do is next to its purpose, regardless of the header of that column.
        let then = beside(0).filter(|then| matches_header(&head[*then], &LEXICON.remedy_headers))?;
        let is_listing = matches_header(&head[0], &LEXICON.listing_headings);
        columns(&rules::DECISION_TABLE, 0, then, false).filter(|_| !is_listing)
    }
}

fn add_row_decision(head: &[ProseText], row: &[ProseText], columns: &DecisionColumns, draft: &mut DocumentDraft) {
    let (Some(condition), Some(action)) = (row.get(columns.when), row.get(columns.then)) else { return };
    let (words, title) = (WordList::parse(&action.text), WordList::parse(&head[columns.then].text));
    let is_told = words.is_imperative(0)
        || ParsedSentence::parse(&words, 0).clauses.iter().any(|clause| clause.marker != ClauseMarker::Statement);
    let verb = match title.lower_at(0) {
        _ if is_told => "",
        "reference" | "file" | "read" | "load" | "document" | "guide" | "resource" => "read ",
        "command" | "run" | "script" => "run ",
        "use" | "tool" | "skill" | "choose" | "template" | "agent" | "tools" => "use ",
        _ if columns.is_thing => "use ",
        _ => "",
    };
    // `Use` next to a thing states its purpose, unless it names another thing.
    let is_purpose = title.lower_at(0) == "use" && title.len() == 1 && !is_told && !action.text.starts_with('`');
    if is_purpose && columns.when == 0 {
        let then = format!("use {}", condition.text);
        return add_decision(columns.rule, condition.line_at(0), &action.text, &then, draft);
    }
    let text = condition.text.trim_start_matches(|letter: char| !letter.is_alphanumeric() && !"`\"“".contains(letter));
    let when = WordList::parse(text);
    let from = usize::from(when.is_any_of(0, "when if for")) + usize::from(when.has_phrase_at(0, "use when"));
    let when = if from > 0 && from < when.len() { when.slice(from..when.len()) } else { text };
    let mut links = action.links.iter().chain(row.iter().flat_map(|cell| &cell.links)).map(|(_, link)| link.as_str());
    let link = links.next().or_else(|| action.codes_in(0..action.text.len()).next());
    let then = format!("{verb}{}", action.text);
    add_linked_decision(columns.rule, condition.line_at(0), [when, &then], link, draft);
}

/// Returns the column of things to avoid, in a table that compares them with the right ones.
pub(super) fn find_wrong_column(block: &MarkdownBlock) -> Option<usize> {
    find_contrast_columns(block.rows.first()?).map(|(bad, _)| bad)
}

fn find_contrast_columns(head: &[ProseText]) -> Option<(usize, usize)> {
    let is = |cell: &ProseText, wanted, mark| matches_header(cell, wanted) || cell.text.trim_start().starts_with(mark);
    let bad = head.iter().position(|cell| is(cell, &LEXICON.bad_headers, '❌'))?;
    let good = (0..head.len()).find(|index| *index != bad && is(&head[*index], &LEXICON.good_headers, '✅'))?;
    Some((bad, good))
}

fn add_row_contrast(head: &[ProseText], row: &[ProseText], (bad, good): (usize, usize), draft: &mut DocumentDraft) {
    let (Some(wrong), Some(right)) = (row.get(bad), row.get(good)) else { return };
    let line = wrong.line_at(0);
    let first = |cell: &ProseText| {
        split_sentences(cell).first().map_or(String::new(), |range| clean_text(&cell.text[range.clone()]))
    };
    let title = WordList::parse(&head[good].text);
    let is_told = title.is_any_of(0, "do dos always")
        && !title.has_phrase_at(0, "do instead")
        && is_activity(&WordList::parse(&right.text), 0);
    if is_told {
        draft.always.add(&rules::ALWAYS_TABLE, line, json!(first(right)));
    } else {
        let is_topic = |(cell, _): &(&ProseText, &ProseText)| WordList::parse(&cell.text).lower_at(0) == "topic";
        let when = head.iter().zip(row).find(is_topic).map(|(_, cell)| clean_text(&cell.text));
        let (thing, over) = (clean_text(&right.text), Some(clean_text(&wrong.text)));
        PreferenceCandidate { rule: &rules::PREFER_TABLE, thing, over, when }.add_to_draft(line, draft);
    }
    if is_told || WordList::parse(&head[bad].text).is_any_of(0, "avoid never") {
        draft.never.add(&rules::NEVER_TABLE, line, json!(first(wrong)));
    }
}
