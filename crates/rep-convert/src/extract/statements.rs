//! Extracts constraints, preferences and decisions from sentences.

use std::ops::Range;

use super::blocks::{MarkdownBlock, MarkdownBlockKind, ProseText, QuoteNotice};
use super::clauses::{
    ClauseMarker, ConditionOpening, ParsedSentence, SentenceClause, SentenceCondition, clean_text, find_reason_start,
    is_action, is_activity, is_label_separator,
};
use super::decisions::{add_decision, add_linked_decision};
use super::draft::DocumentDraft;
use super::lexicon::{LEXICON, is_gerund, is_verb};
use super::preferences;
use super::roles::{BlockContext, SectionRole, has_bad_mark, has_good_mark};
use super::rules::{self, ExtractionRule};
use super::sentences::split_sentences;
use super::words::{WordForm, WordList};

pub(super) fn extract_statements(
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    is_read: &[bool],
    draft: &mut DocumentDraft,
) {
    for (index, block) in blocks.iter().enumerate() {
        let place = places[index];
        if place.is_example {
            continue;
        }
        if block.is_heading() && !place.has_role(SectionRole::Forbidden) {
            let numbers = |letter: char| letter.is_ascii_digit() || " .)".contains(letter);
            let words = WordList::parse(block.prose.text.trim_start_matches(numbers));
            let marker = LEXICON.never_markers.match_length_at(&words, 0).filter(|length| words.len() > length + 1);
            let is_rule = words.is_any_of(0, "never do") && !ends_with_any(&words, "when if for");
            if let Some(from) = marker.filter(|_| is_rule) {
                draft.never.add(&rules::NEVER_MARKER, block.line, clean_text(words.slice(from..words.len())).into());
            }
        }
        let lead = place.lead.map(|lead| blocks[lead].prose.text.as_str());
        let is_told = block.is_quoted && (lead.is_some_and(introduces_speech) || is_quotation(&block.prose.text));
        if !block.is_prose() || place.has_role(SectionRole::Trigger) || is_told {
            continue;
        }
        let standing = if is_read[index] {
            CommandPurpose::Decision
        } else if lead.is_some_and(introduces_abilities) {
            CommandPurpose::Ability
        } else if block.heading.is_some_and(|heading| {
            let next = blocks.get(index + 1);
            let title = blocks[heading].prose.text.trim();
            // `SearchTool` is the name of a program, too.
            let is_name = !title.contains(' ') && title.chars().skip(1).any(char::is_uppercase);
            is_name
                || !blocks[heading].prose.codes.is_empty()
                || heading + 1 == index && next.is_some_and(|next| next.language().is_some())
        }) {
            CommandPurpose::Code
        } else {
            CommandPurpose::Unrestricted
        };
        let shows_code =
            ends_with_colon(&block.prose.text) && blocks.get(index + 1).is_some_and(|next| next.language().is_some());
        let reader = SentenceReader {
            block,
            place,
            command_purpose: standing,
            case: lead.and_then(parse_list_case),
            shows_code,
            is_pitfall: block.heading.is_some_and(|heading| is_pitfall_heading(&blocks[heading].prose.text)),
        };
        let ranges = split_sentences(&block.prose).into_iter();
        let ranges = ranges.flat_map(|range| split_at_conditions(&block.prose.text, range));
        let mut was_wrong = false;
        for (number, range) in ranges.enumerate() {
            was_wrong = reader.extract_sentence(&block.prose, range, number == 0, was_wrong, draft);
        }
    }
}

/// Extracts the statements in a cell of a table of rules.
pub(super) fn extract_cell_statements(block: &MarkdownBlock, prose: &ProseText, draft: &mut DocumentDraft) {
    let place = BlockContext { role: SectionRole::Rules, ..BlockContext::default() };
    let reader = SentenceReader {
        block,
        place,
        command_purpose: CommandPurpose::Unrestricted,
        case: None,
        shows_code: false,
        is_pitfall: false,
    };
    for (number, range) in split_sentences(prose).into_iter().enumerate() {
        reader.extract_sentence(prose, range, number == 0, false, draft);
    }
}

/// Whether a section collects pitfalls, whose items may say how to avoid them.
fn is_pitfall_heading(text: &str) -> bool {
    let words = WordList::parse(text);
    words.contains_any(0..words.len(), &["pitfall", "pitfalls", "gotcha", "gotchas", "errors", "issues"])
}

fn ends_with_colon(text: &str) -> bool {
    text.trim_end().ends_with([':', '：'])
}

/// Returns whether the line before a list describes abilities: `It helps you to:`.
fn introduces_abilities(text: &str) -> bool {
    let lead = WordList::parse(text);
    ends_with_any(&lead, "to you by and") || LEXICON.ability_words.has_word_in(&lead, 0..lead.len())
}

fn ends_with_any(words: &WordList<'_>, ends: &str) -> bool {
    words.is_any_of(words.len().saturating_sub(1), ends)
}

/// Returns whether a line introduces text that is addressed to another person.
fn introduces_speech(text: &str) -> bool {
    let words = WordList::parse(text);
    LEXICON.speech_words.has_word_in(&words, 0..words.len().min(4))
}

/// Returns whether a quotation belongs to another speaker: signed, reported, or in the first person.
fn is_quotation(text: &str) -> bool {
    let is_name =
        |name: &str| name.split(' ').count() <= 4 && name.split(' ').all(|word| word.starts_with(char::is_uppercase));
    let words = WordList::parse(text);
    text.rsplit_once("— ").is_some_and(|(_, name)| is_name(name))
        || words.contains_any(0..words.len(), &["i", "i'll", "i'm", "said", "says", "wrote"])
}

/// Returns the case that a line states for the list below it: `If the user is an admin:`.
fn parse_list_case(text: &str) -> Option<&str> {
    let bare = text.trim_end().strip_suffix([':', '：'])?;
    let rest = bare.strip_prefix("If ").or_else(|| bare.strip_prefix("When "))?;
    (rest.len() < 120 && !rest.contains(',') && !rest.starts_with("to ")).then_some(rest)
}

/// Splits a sentence where a new condition follows a semicolon or a dash: `Start it; if it fails, stop`.
fn split_at_conditions(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let words = WordList::parse(&text[range.clone()]);
    let opens =
        |index: &usize| words.is_any_of(*index, "if when unless") && words.gap_before(*index).contains([';', '—', '–']);
    let inner = (1..words.len()).filter(opens).map(|index| range.start + words.list[index].at.start);
    let cuts: Vec<usize> = [range.start].into_iter().chain(inner).chain([range.end]).collect();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The role of the imperatives in a block, apart from rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandPurpose {
    Unrestricted,
    Decision,
    Ability,
    /// The heading names a command, and the first sentence describes it.
    Code,
}

struct SentenceReader<'a> {
    block: &'a MarkdownBlock,
    place: BlockContext,
    command_purpose: CommandPurpose,
    /// The case of the list around the block: `If the user is an admin:`.
    case: Option<&'a str>,
    shows_code: bool,
    /// Whether the section collects pitfalls.
    is_pitfall: bool,
}

impl SentenceReader<'_> {
    /// Extracts the statements of a sentence. Returns whether it was marked as wrong, which also applies to the text
    /// after it.
    fn extract_sentence(
        &self,
        prose: &ProseText,
        range: Range<usize>,
        is_first: bool,
        was_wrong: bool,
        draft: &mut DocumentDraft,
    ) -> bool {
        let (before, text) = (&prose.text[..range.start], &prose.text[range.clone()]);
        let is_right = has_good_mark(text);
        let is_wrong = has_bad_mark(text) || was_wrong && !is_right;
        let is_marked = has_bad_mark(text) || is_right;
        let opens = before.ends_with('\n') || before.trim_end().ends_with(['.', '!', '?', ':', ';']);
        let is_inside = is_marked && !opens && !before.trim_end().is_empty();
        let text =
            text.trim_start_matches(|letter: char| !letter.is_alphanumeric() && !"`\"'“<$([{/@.-".contains(letter));
        let words = WordList::parse(text);
        let is_shown = words.list.iter().all(|word| word.form != WordForm::Plain);
        if is_inside || is_shown || text.ends_with('?') {
            return is_wrong;
        }
        let strong = prose.strongs.iter().find(|strong| strong.start <= range.start + 4 && strong.end > range.start);
        let labelled =
            strong.map_or(0, |strong| count_label_words(&words, strong.end.saturating_sub(range.end - text.len())));
        let mut place = self.place;
        if is_wrong {
            place.role = SectionRole::Forbidden;
        } else if is_right && place.is_wrong() {
            place.role = SectionRole::Rules;
        }
        let mut said = SentenceExtractor {
            words: &words,
            sentence: &ParsedSentence::parse(&words, labelled),
            block_reader: self,
            place,
            line: prose.line_at(range.start),
            is_marked,
            is_first,
            link: prose.links_in(range.clone()).chain(prose.codes_in(range)).next(),
            draft,
        };
        if place.has_role(SectionRole::Forbidden) {
            said.extract_forbidden();
        } else if place.has_role(SectionRole::Mistakes)
            && (self.block.is_item() || self.block.kind == MarkdownBlockKind::Paragraph && is_first)
        {
            said.extract_mistake();
        } else {
            said.extract_label_rule(labelled);
            said.extract_ordinary();
        }
        is_wrong && is_first
    }
}

/// Returns the number of words in a bold start that is a label: `**Keep it short** - …`, `**Never:** …`.
fn count_label_words(words: &WordList<'_>, end: usize) -> usize {
    let count = words.list.iter().take_while(|word| word.at.end <= end).count();
    if count > 0 && count < words.len() && is_label_separator(words.gap_before(count)) { count } else { 0 }
}

/// Returns whether a sentence starts with code or a file name, and describes it.
fn starts_with_code_or_file(words: &WordList<'_>) -> bool {
    let text = &words.text[words.list[0].at.clone()];
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    words.list[0].form == WordForm::Code || (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric)
}

/// Returns where the first part of a wrong example ends.
fn find_first_part_end(words: &WordList<'_>) -> usize {
    let ends =
        |index: &usize| is_label_separator(words.gap_before(*index)) || words.gap_before(*index).contains([';', '(']);
    let end = find_reason_start(words, 0..words.len());
    (1..end).find(ends).unwrap_or(end)
}

struct SentenceExtractor<'a> {
    words: &'a WordList<'a>,
    sentence: &'a ParsedSentence,
    block_reader: &'a SentenceReader<'a>,
    place: BlockContext,
    line: usize,
    is_marked: bool,
    is_first: bool,
    link: Option<&'a str>,
    draft: &'a mut DocumentDraft,
}

impl SentenceExtractor<'_> {
    fn add_never(&mut self, rule: &'static ExtractionRule, text: String) {
        self.draft.never.add(rule, self.line, text.into());
    }

    fn add_always(&mut self, rule: &'static ExtractionRule, text: String) {
        self.draft.always.add(rule, self.line, text.into());
    }

    fn add_condition_decision(
        &mut self,
        rule: &'static ExtractionRule,
        condition: &SentenceCondition,
        action: Range<usize>,
    ) {
        let when = self.clean_slice(condition.words.clone());
        let when = if condition.opening == ConditionOpening::Unless { format!("unless {when}") } else { when };
        let then = self.clean_slice(action);
        add_linked_decision(rule, self.line, [&when, &then], self.link, self.draft);
    }

    fn clean_slice(&self, range: Range<usize>) -> String {
        clean_text(self.words.slice(range))
    }

    /// Returns the text with its label in front, if the label names the topic.
    fn text_with_label(&self, range: Range<usize>) -> String {
        let label = self.sentence.label.clone();
        let is_idle = label.is_empty() || LEXICON.idle_labels.contains(self.words.lower_at(0));
        if is_idle {
            self.clean_slice(range)
        } else {
            format!("{}: {}", self.clean_slice(label), self.clean_slice(range))
        }
    }

    /// Returns the text with its leading condition moved to the end.
    fn text_with_condition(&self, range: Range<usize>, word: &str, condition: &SentenceCondition) -> String {
        format!("{} {word} {}", self.clean_slice(range), self.clean_slice(condition.words.clone()))
    }

    fn is_idle_condition(&self, condition: &SentenceCondition) -> bool {
        LEXICON.idle_conditions.is_whole_text(&WordList::parse(self.words.slice(condition.words.clone())))
    }

    /// Extracts a label that is itself a rule: `**Use bundled scripts as black boxes** - …`.
    fn extract_label_rule(&mut self, labelled: usize) {
        let is_followed = self.sentence.clauses.first().is_some_and(|clause| clause.marker == ClauseMarker::Command);
        let least = if self.place.has_role(SectionRole::Rules) { 2 } else { 3 };
        if labelled < least
            || is_followed && labelled < 4
            || self.block_reader.command_purpose == CommandPurpose::Decision
        {
            return;
        }
        let label = WordList::parse(self.words.slice(0..labelled));
        let inner = ParsedSentence::parse(&label, 0);
        let [clause] = inner.clauses.as_slice() else { return };
        let is_listed = self.place.has_role(SectionRole::Rules) && !self.place.is_step;
        match clause.marker {
            ClauseMarker::Must | ClauseMarker::Only => {
                self.add_always(&rules::ALWAYS_MARKER, self.clean_slice(0..labelled));
            }
            ClauseMarker::Command if is_listed => self.add_always(&rules::ALWAYS_LISTED, self.clean_slice(0..labelled)),
            ClauseMarker::Prefer => {
                preferences::parse_prefer_clause(&label, clause, None).add_to_draft(self.line, self.draft);
            }
            _ => {}
        }
    }

    /// Extracts the statements of a sentence outside of lists of wrong things.
    fn extract_ordinary(&mut self) {
        let (words, sentence) = (self.words, self.sentence);
        if let Some(condition) = &sentence.condition {
            return self.extract_conditional(condition);
        }
        let label = sentence.label.clone();
        let label_ends = |ends: &str| (1..=3).contains(&label.end) && words.is_any_of(label.end - 1, ends);
        let label_is = |marks: &str| !label.is_empty() && label.clone().all(|index| words.is_any_of(index, marks));
        let is_contrast =
            preferences::parse_contrast(words, sentence).is_some_and(|found| found.add_to_draft(self.line, self.draft));
        if is_contrast || label_ends("when if for") || self.is_called_wrong() {
            return;
        }
        if let Some(length) = LEXICON.never_markers.match_length_at(words, 0).filter(|length| label.len() > *length) {
            let is_open = label.len() == length + 1 && is_verb(words.lower_at(length));
            let object = if is_open { self.clean_slice(label.end..words.len()) } else { String::new() };
            let text = format!("{} {object}", self.clean_slice(length..label.end));
            return self.add_never(&rules::NEVER_MARKER, clean_text(&text));
        }
        if self.block_reader.block.is_task && self.is_first && words.len() > 1 {
            return self.add_always(&rules::ALWAYS_CHECKLIST, self.clean_slice(0..words.len()));
        }
        if self.extract_principle() {
            return;
        }
        let mut marker =
            if label_is("never don't do must not avoid forbidden dont prohibited don'ts") && !label_is("do must") {
                Some(ClauseMarker::Never)
            } else {
                label_ends("always must do required mandatory dos").then_some(ClauseMarker::Must)
            };
        for clause in &sentence.clauses {
            self.extract_clause(clause, marker.take());
        }
    }

    /// Returns whether a label calls its text wrong (`Wrong: …`), or the sentence calls an aside between dashes wrong.
    fn is_called_wrong(&self) -> bool {
        let (words, label) = (self.words, self.sentence.label.clone());
        let is_labelled = label.len() <= 3 && LEXICON.wrong_labels.has_word_in(words, label.clone());
        let is_mistake = words.contains_any(label, &["mistake", "mistakes", "trap", "pitfall"]);
        let forbids = self.sentence.clauses.first().is_some_and(|clause| clause.marker == ClauseMarker::Never);
        // `The naive way — retry forever — costs a day`: the text between the dashes is not advice.
        let second = (1..words.len()).filter(|index| words.gap_before(*index).contains(['—', '–'])).nth(1);
        let is_aside = second.is_some_and(|second| words.is_any_of(second, "is are was makes costs causes leads"));
        is_aside && !words.is_imperative(0) || is_labelled && !(is_mistake && forbids)
    }

    /// Extracts a rule that is stated as a fact: `**Pure core** — services return values`.
    fn extract_principle(&mut self) -> bool {
        let (words, label, block) = (self.words, self.sentence.label.clone(), self.block_reader.block);
        let is_figure = words.slice(label.end..words.len()).starts_with(|letter: char| letter.is_ascii_digit());
        let is_item = block.is_item() && block.depth == 1 && self.place.has_role(SectionRole::Rules) && self.is_first;
        let is_stated = self.sentence.clauses.iter().all(|clause| clause.marker == ClauseMarker::Statement);
        if !is_item || !is_stated || self.place.is_lead || words.len() < 3 || is_figure {
            return false;
        }
        let end = find_reason_start(words, label.end..words.len());
        let describes = words.lower_at(label.end).strip_suffix('s').is_some_and(is_verb);
        let is_whole = words.is_imperative(0) || words.len() - label.end > 4 && !describes;
        let is_named = !label.is_empty() && !starts_with_code_or_file(words) || words.is_any_of(0, "every all each");
        if is_named && is_whole {
            self.add_always(&rules::ALWAYS_PRINCIPLE, self.clean_slice(0..end));
        }
        true
    }

    fn extract_clause(&mut self, clause: &SentenceClause, labelled: Option<ClauseMarker>) {
        let (words, body) = (self.words, clause.body.clone());
        let leads = self.block_reader.shows_code || ends_with_colon(words.text);
        let is_said_of = body == clause.whole;
        let (first, second) = (body.start, body.start + 1);
        match (labelled, clause.marker) {
            (Some(ClauseMarker::Never), ClauseMarker::Command | ClauseMarker::Statement | ClauseMarker::No)
            | (_, ClauseMarker::Never) => {
                let is_pronoun = body.len() < 3 && words.is_any_of(body.end - 1, "it them this that")
                    || body.len() < 4
                        && words.is_any_of(first, "on in at elsewhere here there it this that both just as");
                let is_bare =
                    body.len() < 2 && labelled.is_none() && !words.is_any_of(clause.whole.start, "never avoid");
                let is_labelled = labelled == Some(ClauseMarker::Never) && clause.marker != ClauseMarker::Never;
                let (rule, text) = if is_said_of && !is_labelled {
                    (&rules::NEVER_MODAL, render_prohibition(words, body.clone()))
                } else {
                    (&rules::NEVER_MARKER, Some(self.clean_slice(body.clone())))
                };
                if let Some(text) = text.filter(|_| !(is_bare || is_pronoun || leads && body.len() < 3)) {
                    let case = self.block_reader.case.map(|case| format!(" if {case}")).unwrap_or_default();
                    self.add_never(rule, text + &case);
                }
            }
            (Some(_), ClauseMarker::Command | ClauseMarker::Statement | ClauseMarker::No) | (_, ClauseMarker::Must) => {
                let is_modal = is_said_of && LEXICON.must_markers.match_length_at(words, first).is_none();
                let rule = if is_modal { &rules::ALWAYS_MODAL } else { &rules::ALWAYS_MARKER };
                let announces =
                    words.lower_at(body.end - 2) == "following" || words.lower_at(body.end - 1) == "following";
                let points_back = announces
                    || is_said_of
                        && words.is_any_of(first, "this that it they these both there all")
                        && words.is_any_of(second, "must should is are shall always section");
                if body.len() >= if leads { 4 } else { 2 } && !points_back {
                    self.add_always(rule, self.text_with_label(body));
                }
            }
            (_, ClauseMarker::Only) => self.add_always(&rules::ALWAYS_ONLY, self.text_with_label(clause.whole.clone())),
            (_, ClauseMarker::Prefer) => {
                preferences::parse_prefer_clause(words, clause, None).add_to_draft(self.line, self.draft);
            }
            (_, ClauseMarker::Should) if !leads => self.extract_advice(clause),
            (_, ClauseMarker::Command) if !leads => self.extract_command(clause),
            (_, ClauseMarker::No) => {
                let is_allowed = words.is_any_of(body.end - 1, "allowed permitted accepted");
                let is_shouted = words.len() > 2 && !words.text.contains(char::is_lowercase);
                let is_past = words.lower_at(body.end - 1).ends_with("ed") && !is_allowed;
                let is_rule = self.place.has_role(SectionRole::Rules) && !is_past || is_shouted || is_allowed;
                let text = self.clean_slice(first..body.end - usize::from(is_allowed && body.len() > 1));
                for part in text.split(", no ").filter(|_| is_rule) {
                    self.add_never(&rules::NEVER_NO, clean_text(part));
                }
            }
            (_, ClauseMarker::Should | ClauseMarker::Command | ClauseMarker::Statement) => {}
        }
    }

    fn extract_advice(&mut self, clause: &SentenceClause) {
        let body = clause.body.clone();
        if let Some(condition) = clause.trailing.as_ref().filter(|condition| !self.is_idle_condition(condition)) {
            self.add_condition_decision(&rules::DECISION_TRAILING, condition, body.start..condition.words.start - 1);
        } else if body.len() > 1 && !self.words.is_any_of(body.start, "it this that them") {
            let rule =
                if self.place.has_role(SectionRole::Rules) { &rules::ALWAYS_LISTED } else { &rules::ALWAYS_SHOULD };
            self.add_always(rule, self.text_with_label(body));
        }
    }

    /// Extracts an imperative without a marker: a choice, or a rule depending on its position.
    fn extract_command(&mut self, clause: &SentenceClause) {
        let (words, mut body, is_step) = (self.words, clause.body.clone(), self.place.is_step);
        body.start += usize::from(words.lower_at(body.start) == "do" && words.is_imperative(body.start + 1));
        let (first, last) = (body.start, body.end - 1);
        if self.block_reader.command_purpose == CommandPurpose::Decision
            || LEXICON.pointing_verbs.contains(words.lower_at(first))
            || self.is_description()
        {
            return;
        }
        if let Some(condition) = clause.trailing.as_ref().filter(|condition| !self.is_idle_condition(condition)) {
            let action = first..condition.words.start - 1;
            if action.len() > 1 || words.is_any_of(first, "stop abort exit ask skip retry") {
                if !is_step {
                    self.add_condition_decision(&rules::DECISION_TRAILING, condition, action);
                }
                return;
            }
        }
        let pairs = if LEXICON.using_verbs.contains(words.lower_at(first)) {
            find_use_pairs(words, body.clone())
        } else {
            Vec::new()
        };
        if pairs.len() > usize::from(self.place.has_role(SectionRole::Rules)) {
            let verb = if pairs.len() > 1 { words.lower_at(first) } else { words.slice(first..first + 1) };
            for (thing, when) in pairs.into_iter().filter(|_| !is_step) {
                let then = format!("{verb} {}", self.clean_slice(thing));
                add_decision(&rules::DECISION_USE_FOR, self.line, &self.clean_slice(when), &then, self.draft);
            }
            return;
        }
        let goes_on = words.is_any_of(first, "proceed continue go move return skip jump")
            && words.contains_any(body.clone(), &["step", "phase", "stage", "section", "next"]);
        let is_short = body.len() <= 3 && words.lower_at(last) == "instead"
            || body.len() <= 2 && words.is_any_of(last, "below above them it there again order this");
        if let Some(rule) = self.choose_command_rule(&body).filter(|_| body.len() > 1 && !is_short && !goes_on) {
            self.add_always(rule, self.text_with_label(body));
        }
    }

    fn choose_command_rule(&self, body: &Range<usize>) -> Option<&'static ExtractionRule> {
        let (words, block, role) = (self.words, self.block_reader.block, self.place.role);
        let is_process =
            matches!(role, SectionRole::Procedure | SectionRole::Listing | SectionRole::Choices | SectionRole::Trouble);
        // An instruction with a limit is a rule and not just a step.
        let is_bounded = body.clone().any(|index| {
            let is_before = words.lower_at(index) == "before" && is_gerund(words.lower_at(index + 1));
            is_before || LEXICON.bounds.match_length_at(words, index).is_some()
        });
        let is_counsel = words.is_any_of(body.start, "advise point direct refer encourage prioritize prioritise favor");
        let is_described = self.is_first && self.block_reader.command_purpose == CommandPurpose::Code;
        Some(if role == SectionRole::Rules && !self.place.is_step {
            &rules::ALWAYS_LISTED
        } else if block.notice == Some(QuoteNotice::Warning) || self.is_marked {
            &rules::ALWAYS_NOTICE
        } else if self.place.is_step || is_process {
            match role {
                _ if is_bounded => &rules::ALWAYS_BOUNDED,
                SectionRole::Listing => return None,
                _ if !self.is_first && (block.is_item() || block.item.is_some()) => &rules::ALWAYS_STEP_DETAIL,
                _ => &rules::ALWAYS_STEP,
            }
        } else if block.is_item() && is_bounded {
            &rules::ALWAYS_BOUNDED
        } else if role == SectionRole::Intro || block.is_item() || is_described || is_counsel || body.len() < 3 {
            return None;
        } else {
            &rules::ALWAYS_COMMAND
        })
    }

    /// Returns whether an imperative describes the behavior of something.
    fn is_description(&self) -> bool {
        let (words, last) = (self.words, self.words.len() - 1);
        let name = &words.text[words.list[0].at.clone()];
        let is_rule_name = self.place.has_role(SectionRole::Rules) && name.contains('-') && !name.starts_with("`-");
        let names =
            ["use when", "description", "when to use", "example", "purpose", "goal", "usage", "output", "what it does"];
        let is_field = starts_with_code_or_file(words) && !is_rule_name || words.longest_phrase_at(0, &names).is_some();
        let shows = words.list[last].form == WordForm::Code && words.gap_before(last).starts_with(':');
        is_field && !self.sentence.label.is_empty()
            || shows
            || self.block_reader.command_purpose == CommandPurpose::Ability
    }

    fn extract_conditional(&mut self, condition: &SentenceCondition) {
        let (words, when, opening) = (self.words, condition.words.clone(), condition.opening);
        let Some(first) = self.sentence.clauses.first() else { return };
        let (from, body) = (first.whole.start, first.body.clone());
        let end = find_reason_start(words, from..words.len());
        let is_pronoun = when.len() <= 2
            && words.is_any_of(when.start + 1, "does is do doesn't isn't are happens applies")
            || words.is_any_of(when.start, "these those");
        if self.is_idle_condition(condition) || is_pronoun || ends_with_colon(words.text) && end - from < 2 {
            return;
        }
        let is_told = is_action(words, from) || !matches!(first.marker, ClauseMarker::Statement | ClauseMarker::No);
        let is_named = !words.contains_any(body.start..body.start + 2, &["it", "this", "that"]);
        let is_if = matches!(opening, ConditionOpening::If | ConditionOpening::Unless | ConditionOpening::After);
        match (opening, first.marker) {
            (ConditionOpening::Where, _) => return self.extract_bounded_rules(when),
            (_, ClauseMarker::Prefer) if opening != ConditionOpening::To && is_named => {
                preferences::parse_prefer_clause(words, first, Some(when)).add_to_draft(self.line, self.draft);
                return;
            }
            (ConditionOpening::If | ConditionOpening::Unless, ClauseMarker::Never) => {
                let word = if opening == ConditionOpening::If { "if" } else { "unless" };
                self.add_never(&rules::NEVER_IF, self.text_with_condition(body, word, condition));
            }
            (ConditionOpening::After, ClauseMarker::Must) => {
                return self.add_always(&rules::ALWAYS_MARKER, self.text_with_condition(body, "after", condition));
            }
            (ConditionOpening::Before, _) if is_told => {
                return self
                    .add_always(&rules::ALWAYS_BEFORE, self.text_with_condition(from..end, "before", condition));
            }
            _ => {}
        }
        let rule = match opening {
            _ if opening != ConditionOpening::If && LEXICON.pointing_verbs.contains(words.lower_at(from)) => {
                &rules::DECISION_POINTER
            }
            _ if is_if && is_told => &rules::DECISION_IF,
            _ if is_if => &rules::DECISION_STATEMENT,
            ConditionOpening::For if is_told => &rules::DECISION_FOR,
            _ => return,
        };
        self.add_condition_decision(rule, condition, from..end);
    }

    /// Extracts rules that apply in some place only: `In production, never restart it`.
    fn extract_bounded_rules(&mut self, place: Range<usize>) {
        let place = self.clean_slice(place);
        let mut letters = place.chars();
        let place: String = letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
        for clause in &self.sentence.clauses {
            let text = format!("{} {place}", self.clean_slice(clause.body.clone()));
            match clause.marker {
                ClauseMarker::Never => self.add_never(&rules::NEVER_MARKER, text),
                ClauseMarker::Must | ClauseMarker::Only => self.add_always(&rules::ALWAYS_MARKER, text),
                ClauseMarker::Command if self.place.has_role(SectionRole::Rules) => {
                    self.add_always(&rules::ALWAYS_LISTED, text);
                }
                _ => {}
            }
        }
    }

    fn extract_forbidden(&mut self) {
        let (words, clauses) = (self.words, &self.sentence.clauses);
        let rule = if self.is_marked { &rules::NEVER_MARKED } else { &rules::NEVER_LISTED };
        let first = clauses.first();
        let told = first.filter(|clause| matches!(clause.marker, ClauseMarker::Must | ClauseMarker::Only));
        let is_behind = !self.is_first && !self.is_marked;
        // `Don't forget to flush` is an instruction, also in a list of prohibitions.
        if let Some(clause) = told
            && (is_behind || LEXICON.never_markers.match_length_at(words, clause.whole.start).is_some())
        {
            return self.add_always(&rules::ALWAYS_MARKER, self.clean_slice(clause.body.clone()));
        }
        let is_denied = |clause: &&SentenceClause| matches!(clause.marker, ClauseMarker::Never | ClauseMarker::No);
        for clause in clauses.iter().filter(is_denied) {
            self.add_never(rule, self.clean_slice(clause.body.clone()));
        }
        let is_legend = self.is_marked && (words.text.contains('→') || words.gap_before(0).contains(','));
        if let (true, Some(condition), Some(clause)) = (self.is_first, &self.sentence.condition, first) {
            self.add_never(rule, self.text_with_condition(clause.whole.start..words.len(), "if", condition));
        } else if told.is_none()
            && !clauses.iter().any(|clause| is_denied(&clause))
            && !words.is_any_of(0, "instead rather because why fix result reason")
            && !is_legend
            && !is_behind
            && (self.block_reader.block.is_item() || self.is_marked)
            && (!self.place.is_lead || is_activity(words, 0))
            && !words.contains_any(1..4, &["cannot", "can't"])
        {
            self.add_never(rule, self.clean_slice(0..find_first_part_end(words)));
        }
    }

    fn extract_mistake(&mut self) {
        let (words, sentence, block) = (self.words, self.sentence, self.block_reader.block);
        for clause in &sentence.clauses {
            // `Always retry` is the mistake. After a name or another clause it is the solution.
            let is_remedy = clause.whole.start > 0 && matches!(clause.marker, ClauseMarker::Must | ClauseMarker::Only);
            if clause.marker == ClauseMarker::Never {
                return self.add_never(&rules::NEVER_MARKER, self.clean_slice(clause.body.clone()));
            } else if is_remedy {
                return self.add_always(&rules::ALWAYS_MARKER, self.clean_slice(clause.body.clone()));
            }
        }
        if let Some(condition) = &sentence.condition {
            return self.extract_conditional(condition);
        }
        // The text after the name of a pitfall is its solution.
        let remedy =
            sentence.clauses.first().filter(|clause| clause.marker == ClauseMarker::Command && clause.whole.start > 0);
        if let Some(clause) = remedy.filter(|_| block.is_item() && !is_gerund(words.lower_at(0))) {
            return self.add_always(&rules::ALWAYS_REMEDY, self.clean_slice(clause.body.clone()));
        }
        let end = find_first_part_end(words);
        // An imperative such as `check` is the solution, not the mistake.
        let is_remedy = words.is_any_of(0, "check verify ensure confirm validate remember test");
        // `Publishing makes it public` describes, and `Publishing drafts` is a mistake.
        let is_finite = |index: usize| {
            let stem = words.lower_at(index).strip_suffix('s').unwrap_or_default();
            words.is_any_of(index, "is are was can will")
                || LEXICON.finite_verbs.contains(stem)
                || index > 1 && is_verb(stem) && !words.lower_at(index - 1).ends_with('s')
        };
        let is_said_of = (1..end.min(5)).any(is_finite) || words.lower_at(1).strip_suffix('s').is_some_and(is_verb);
        let is_commanded = self.is_first && words.is_imperative(0) && !self.block_reader.is_pitfall;
        let is_done = (is_gerund(words.lower_at(0)) || is_commanded) && !is_said_of;
        if block.is_item() && is_done && !is_remedy && end > 1 {
            self.add_never(&rules::NEVER_MISTAKE, self.clean_slice(0..end));
        }
    }
}

/// Finds pairs of things and their purposes: `use A for x, B for y`.
fn find_use_pairs(words: &WordList<'_>, range: Range<usize>) -> Vec<(Range<usize>, Range<usize>)> {
    let is_case = |index: &usize| words.is_any_of(*index, "for when whenever");
    let mut found = Vec::new();
    let mut from = range.start + 1;
    while let Some(case) = (from + 1..range.end).find(is_case) {
        // The next pair follows a comma, an `and` or an `or`, and has a separate case.
        let next = (case + 1..range.end).find(|next| {
            let is_joint = words.gap_before(*next).contains([',', ';']) || words.is_any_of(*next, "and or");
            is_joint
                && words.lower_at(*next) != "not"
                && (*next + 1..range.end.min(*next + 5)).any(|index| is_case(&index))
        });
        let end = next.unwrap_or(range.end);
        found.push((from..case, case + 1..end));
        from = end + usize::from(words.is_any_of(end, "and or"));
    }
    let is_alone = found.len() == 1;
    found.retain(|(thing, when)| {
        let is_idle = words.is_any_of(when.start, "you it them this that now each every all")
            || is_alone && LEXICON.idle_conditions.is_whole_text(&WordList::parse(words.slice(when.clone())));
        let is_long = is_alone && (thing.len() > 6 || when.len() > 12);
        let is_vague = words.contains_any(thing.clone(), &["it", "them", "right", "appropriate", "best", "not"]);
        !is_idle && !is_long && !is_vague && !words.contains_any(when.clone(), &["not"])
    });
    found
}

/// Renders a prohibition about a thing as an action: `Secrets must never be logged` becomes `let secrets be logged`.
/// A sentence that only describes what never happens forbids nothing.
fn render_prohibition(words: &WordList<'_>, range: Range<usize>) -> Option<String> {
    let text = |range: Range<usize>| clean_text(words.slice(range));
    let rest = |at: usize, idle: &str| {
        let from = (at + 1..range.end).find(|index| !words.is_any_of(*index, idle));
        text(from.unwrap_or(range.end)..range.end)
    };
    let modals = ["must", "should", "shall", "may", "mustn't", "shouldn't"];
    if let Some(verb) = words.find_any(range.start + 1..range.end, &modals) {
        let subject = text(range.start..verb);
        let is_word = subject.chars().nth(1).is_some_and(char::is_lowercase);
        let subject = if is_word { subject.to_lowercase() } else { subject };
        let is_pronoun = verb == range.start + 1 && words.is_any_of(range.start, "they it this that these those");
        return (!is_pronoun).then(|| format!("let {subject} {}", rest(verb, "not never ever")));
    }
    let is = words.find_any(range.clone(), &["is", "are"])?;
    let idle = "strictly not allowed forbidden prohibited banned absolutely explicitly permitted";
    let is_forbidden = (is + 1..range.end.min(is + 4)).any(|index| words.is_any_of(index, &idle[13..]));
    is_forbidden.then(|| format!("{} {}", text(range.start..is), rest(is, idle)).trim().to_owned())
}
