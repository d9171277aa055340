//! Extracts procedures: UASP's `workflows`, by UASP §7.1 rule 6, from numbered steps, numbered headings, steps in
//! prose, and example sessions. A numbered list of rules, of kinds or of questions is not a procedure.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::blocks::{self, MarkdownBlock, MarkdownBlockKind, ProseText};
use super::clauses::{clean_text, find_clause_head, find_label_end, is_action};
use super::commands::is_shell_language;
use super::draft::DocumentDraft;
use super::language;
use super::lexicon::{LEXICON, is_gerund, is_verb};
use super::names;
use super::programs;
use super::roles::{self, BlockContext, SectionRole};
use super::rules::WORKFLOW_STEPS;
use super::sentences::split_sentences;
use super::shell;
use super::words::WordList;

const STEPS_MAX: usize = 60;

struct ExtractedProcedure {
    title: String,
    line: usize,
    steps: Vec<Value>,
}

struct ProcedureReader<'a> {
    blocks: &'a [MarkdownBlock],
    places: &'a [BlockContext],
    skill: &'a str,
    is_foreign: bool,
}

/// Extracts the procedures of a skill; `skill` names those without a heading.
pub(super) fn extract_workflows(
    blocks: &[MarkdownBlock],
    places: &[BlockContext],
    skill: &str,
    draft: &mut DocumentDraft,
) {
    let prose = blocks.iter().filter(|block| block.is_prose()).map(|block| block.prose.text.as_str());
    let is_foreign = language::detect_foreign_language(prose).is_some();
    let doubt = is_foreign.then_some("in a language that the rules do not support: it may not be a procedure");
    let reader = ProcedureReader { blocks, places, skill, is_foreign };
    let mut found = reader.find_counted_headings();
    found.extend(reader.find_numbered_lists());
    for (index, block) in blocks.iter().enumerate() {
        let steps = match block.language() {
            Some(language) if is_shell_language(language) => reader.parse_session_steps(block),
            Some("" | "text" | "txt" | "plaintext") if !places[index].is_example => parse_numbered_code(block),
            None if block.kind == MarkdownBlockKind::Paragraph && !places[index].is_example => {
                parse_prose_steps(&block.prose)
            }
            _ => continue,
        };
        found.extend((steps.len() >= 3).then(|| reader.make_procedure(index, steps)));
    }
    found.sort_by_key(|procedure| procedure.line);
    for ExtractedProcedure { title, line, steps } in found {
        let value = json!({ "description": title, "steps": steps });
        draft.workflows.add(&WORKFLOW_STEPS, &names::to_name_or(&title, "procedure"), line, doubt, value);
    }
}

impl ProcedureReader<'_> {
    fn heading_text(&self, heading: Option<usize>) -> &str {
        heading.map_or("", |heading| self.blocks[heading].prose.text.as_str())
    }

    fn make_title(&self, heading: Option<usize>) -> String {
        let title = strip_heading_number(&self.heading_text(heading).replace(['`', '*'], ""));
        let title = title.strip_prefix("Example: ").unwrap_or(&title);
        if title.is_empty() { self.skill.replace('-', " ") } else { title.to_owned() }
    }

    /// Finds numbered lists that are procedures. An interrupted list continues with the next number.
    fn find_numbered_lists(&self) -> Vec<ExtractedProcedure> {
        let mut found = Vec::new();
        let mut items: Vec<usize> = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            let number = match block.kind {
                MarkdownBlockKind::Item(Some(number)) if block.depth == 1 => Some(number),
                MarkdownBlockKind::Heading(_) => None,
                _ => continue,
            };
            let is_same = items.first().is_some_and(|first| self.blocks[*first].list == block.list);
            if number.is_none_or(|number| !is_same && usize::try_from(number) != Ok(items.len() + 1)) {
                found.extend(self.parse_list(&std::mem::take(&mut items)));
            }
            items.extend(number.map(|_| index));
        }
        found.extend(self.parse_list(&items));
        found
    }

    fn parse_list(&self, items: &[usize]) -> Option<ExtractedProcedure> {
        let first = items.first().filter(|_| items.len() >= 2 && self.is_procedure(items))?;
        let steps = items.iter().take(STEPS_MAX).map(|item| self.make_step(*item)).collect();
        Some(self.make_procedure(*first, steps))
    }

    fn make_procedure(&self, first: usize, steps: Vec<Value>) -> ExtractedProcedure {
        let MarkdownBlock { heading, line, .. } = self.blocks[first];
        ExtractedProcedure { title: self.make_title(heading), line, steps }
    }

    fn is_procedure(&self, items: &[usize]) -> bool {
        let place = self.places[items[0]];
        let lead = items[0].checked_sub(1).map(|before| &self.blocks[before]);
        let lead =
            lead.filter(|lead| lead.kind == MarkdownBlockKind::Paragraph).map_or("", |lead| lead.prose.text.as_str());
        let lead = WordList::parse(&lead[..lead.floor_char_boundary(120)]);
        let heading = WordList::parse(self.heading_text(self.blocks[items[0]].heading));
        let names_other = [&heading, &lead].iter().any(|words| LEXICON.unordered_titles.occurs_in(words));
        let is_said = place.has_role(SectionRole::Procedure) && !names_other
            || lead.contains_any(0..lead.len(), &["steps", "workflow", "process", "follow", "sequence", "order"]);
        let deeds = items.iter().filter(|item| is_instruction(&self.blocks[**item].prose)).count();
        match place.role {
            SectionRole::Choices | SectionRole::Trigger | SectionRole::Forbidden | SectionRole::Mistakes => false,
            _ if is_said && deeds * 3 >= items.len() => true,
            SectionRole::Rules | SectionRole::Listing => false,
            // Verbs of other languages are not recognized.
            _ => !names_other && items.len() >= 3 && (self.is_foreign || deeds * 3 >= items.len() * 2),
        }
    }

    /// Creates a step from a list item: its command if it has one, otherwise its first sentence. The rest is the note.
    fn make_step(&self, index: usize) -> Value {
        let prose = &self.blocks[index].prose;
        let below = self.blocks[index + 1..].iter().take(2).find(|block| block.item == Some(index));
        let below =
            below.filter(|block| block.language().is_some_and(is_shell_language)).map_or("", |block| &block.prose.text);
        let below = below.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        let own = prose.codes_in(0..prose.text.len()).find(|code| is_command_line(code));
        let text = prose.text.as_str();
        let end = split_sentences(prose).first().map_or(text.len(), |range| range.end);
        let first = clean_text(&text[..end]);
        let opening = first.trim_start_matches('(').to_lowercase();
        let is_optional = opening.starts_with("optional") || opening.starts_with("if ");
        let (command, note) = match own.or(below) {
            Some(command) => (command.trim_start_matches("$ ").to_owned(), clean_text(text)),
            None if first.is_empty() => ("go on".to_owned(), String::new()),
            None => (first, clean_text(&text[end..])),
        };
        render_step(&command, Some(note).filter(|note| !note.is_empty()).as_deref(), is_optional)
    }

    /// Finds numbered headings: `Step 1: …`, `Phase 2`, `1. …`.
    fn find_counted_headings(&self) -> Vec<ExtractedProcedure> {
        let mut found = Vec::new();
        let mut run: Vec<usize> = Vec::new();
        let mut last = 0;
        for (index, block) in self.blocks.iter().enumerate() {
            let MarkdownBlockKind::Heading(level) = block.kind else { continue };
            let first = run.first().map(|first| &self.blocks[*first]);
            if first.is_some_and(|first| matches!(first.kind, MarkdownBlockKind::Heading(own) if level > own)) {
                continue;
            }
            let number = parse_heading_number(&block.prose.text).map(|(number, _)| number);
            let is_beside = first.is_some_and(|first| first.kind == block.kind && first.heading == block.heading);
            let goes_on = is_beside && number.is_some_and(|number| number >= last.max(1));
            if !goes_on {
                found.extend(self.make_heading_procedure(&std::mem::take(&mut run)));
            }
            if let Some(number) = number.filter(|number| goes_on || *number <= 1) {
                run.push(index);
                last = number;
            }
        }
        found.extend(self.make_heading_procedure(&run));
        found
    }

    fn make_heading_procedure(&self, run: &[usize]) -> Option<ExtractedProcedure> {
        let first = run.first()?;
        let steps: Vec<String> =
            run.iter().map(|index| strip_heading_number(&self.blocks[*index].prose.text)).collect();
        let deeds = steps.iter().map(|step| WordList::parse(step));
        let deeds = deeds.filter(|words| words.is_imperative(0) || is_gerund(words.lower_at(0))).count();
        let above = self.heading_text(self.blocks[*first].heading);
        let is_said =
            self.is_foreign || roles::classify_heading(above) == SectionRole::Procedure || deeds * 3 >= run.len() * 2;
        let is_named = |index: usize| matches!(parse_heading_number(&self.blocks[index].prose.text), Some((_, true)));
        let is_steps = run.len() >= 2 && run.iter().all(|index| is_named(*index))
            || run.len() >= 3 && is_said && !LEXICON.unordered_titles.occurs_in(&WordList::parse(above));
        let steps = steps.iter().take(STEPS_MAX).map(|step| json!({ "cmd": step })).collect();
        is_steps.then(|| self.make_procedure(*first, steps))
    }

    /// Returns the steps of a shell block that shows one session from start to end, not a list of alternatives.
    fn parse_session_steps(&self, block: &MarkdownBlock) -> Vec<Value> {
        let heading = WordList::parse(self.heading_text(block.heading));
        let shows = ["example", "workflow", "walkthrough", "end-to-end", "scenario", "session"];
        // A block that defines a function is a program, not a session.
        let is_program = || block.prose.text.lines().any(|line| shell::parse_function_name(line).is_some());
        if !heading.contains_any(0..heading.len(), &shows) || is_program() {
            return Vec::new();
        }
        let mut commands = shell::split_commands(&block.prose.text);
        commands.retain(|simple| !simple.is_piped);
        let explained = commands.iter().filter(|simple| simple.is_own_comment).count();
        let heads: BTreeSet<&[String]> = commands.iter().filter_map(|simple| simple.words.get(..2)).collect();
        let is_listing = explained * 2 > commands.len() || heads.len() < 3;
        let steps = commands.iter().filter(|_| (4..=40).contains(&commands.len()) && !is_listing);
        steps
            .map(|simple| render_step(&simple.words.join(" ").replace('\n', " "), simple.comment.as_deref(), false))
            .collect()
    }
}

fn render_step(command: &str, note: Option<&str>, is_optional: bool) -> Value {
    let mut value = json!({ "cmd": command });
    if let Some(note) = note {
        value["note"] = json!(note);
    }
    if is_optional {
        value["optional"] = json!(true);
    }
    value
}

/// Returns whether an item is an instruction: an imperative, with or without a label, or something to run.
fn is_instruction(prose: &ProseText) -> bool {
    let text = &prose.text[..prose.text.floor_char_boundary(400)];
    let words = WordList::parse(text);
    let is_told = |index: usize| {
        is_action(&words, index)
            || matches!(words.lower_at(index), "if" | "when" | "once" | "after" | "before" | "optionally")
    };
    let is_label = is_verb(words.lower_at(0)) && words.gap_before(1).starts_with(':');
    is_label
        || is_gerund(words.lower_at(0))
        || is_told(find_clause_head(&words, 0..words.len()))
        || is_told(find_label_end(&words))
        || prose.codes_in(0..text.len()).any(is_command_line)
}

fn is_command_line(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_known =
        programs::known_command_depth(first).is_some() || programs::is_script_file(first) || first.contains('-');
    is_known && programs::is_program_name(first) && words.next().is_some() && code.len() <= 200
}

/// Returns the number of a heading, and whether the heading names what it counts.
fn parse_heading_number(text: &str) -> Option<(usize, bool)> {
    let words = WordList::parse(text);
    let is_named = matches!(words.lower_at(0), "step" | "phase" | "stage");
    let word = words.lower_at(usize::from(is_named));
    let digits = word.chars().take_while(char::is_ascii_digit).count();
    let number = word[..digits].parse().ok().filter(|number| *number <= 40)?;
    let is_plain = word.len() == digits && words.gap_before(1).starts_with(['.', ')', ':']);
    (is_plain || is_named && word.len() <= digits + 1).then_some((number, is_named))
}

fn strip_heading_number(text: &str) -> String {
    let bare = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || ".): ".contains(letter));
    let words = WordList::parse(bare);
    let start = if matches!(words.lower_at(0), "step" | "phase" | "stage") { 2 } else { 0 };
    let rest = clean_text(words.slice(start..words.len()));
    if rest.is_empty() { clean_text(text) } else { rest }
}

/// Parses numbered steps in a block of plain text, which is read as Markdown.
fn parse_numbered_code(block: &MarkdownBlock) -> Vec<Value> {
    let blocks = blocks::parse_blocks(&block.prose.text, block.line);
    let reader =
        ProcedureReader { blocks: &blocks, places: &roles::classify_blocks(&blocks), skill: "", is_foreign: false };
    reader.find_numbered_lists().into_iter().next().map_or_else(Vec::new, |procedure| procedure.steps)
}

/// Parses the steps of `First, do this. Then do that, and finally the rest.`
fn parse_prose_steps(prose: &ProseText) -> Vec<Value> {
    let words = WordList::parse(&prose.text[..prose.text.floor_char_boundary(4_000)]);
    let marks = ["first", "second", "third", "then", "next", "finally", "lastly", "afterwards"];
    let opens = |index: &usize| {
        let is_start =
            *index == 0 || words.gap_before(*index).contains(['.', ',', ';']) || words.lower_at(index - 1) == "and";
        is_start && marks.contains(&words.lower_at(*index)) && words.is_imperative(index + 1)
    };
    let starts: Vec<usize> =
        (0..words.len()).filter(opens).skip_while(|start| words.lower_at(*start) != "first").collect();
    let steps = starts.iter().enumerate().map(|(number, start)| {
        let next = starts.get(number + 1).copied().unwrap_or(words.len());
        let end = (start + 2..next).find(|index| words.gap_before(*index).contains(". ")).unwrap_or(next);
        clean_text(words.slice(start + 1..end - usize::from(words.lower_at(end - 1) == "and")))
    });
    steps.map(|step| json!({ "cmd": step })).collect()
}
