//! Procedures in order: UASP's `workflows`, by UASP §7.1 rule 6.
//!
//! Numbered steps, headings that count, `first … then … finally`, and example sessions. A numbered list of rules,
//! of kinds or of questions is no procedure.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::blocks::{Block, Kind, Prose};
use super::commands::is_shell;
use super::constraints::tidy;
use super::draft::Draft;
use super::language;
use super::names;
use super::sections::Place;
use super::sentences::sentences;
use super::shell;
use super::words::{Words, is_gerund, is_verb};

/// A procedure as read.
struct Procedure {
    title: String,
    line: usize,
    steps: Vec<Value>,
    example: Option<String>,
}

/// The most steps of one procedure.
const STEPS_MAX: usize = 60;

/// Reads the procedures of a skill; `skill` names those that have no heading.
pub(super) fn read(blocks: &[Block], places: &[Place], skill: &str, draft: &mut Draft) {
    let is_foreign =
        language::foreign(blocks.iter().filter(|block| block.is_prose()).map(|block| block.prose.text.as_str()));
    let is_foreign = is_foreign.is_some();
    let doubt = is_foreign.then_some("in a language the rules do not know: it may be no procedure");
    let mut found = counted_headings(blocks, skill, is_foreign);
    found.extend(numbered_lists(blocks, places, skill, is_foreign));
    for (index, block) in blocks.iter().enumerate() {
        match &block.kind {
            Kind::Code(language) if is_shell(language) => found.extend(session(blocks, index)),
            Kind::Code(language) if matches!(language.as_str(), "" | "text" | "txt" | "plaintext") => {
                found.extend(numbered_code(blocks, index, skill));
            }
            Kind::Paragraph if !places[index].is_example => found.extend(told(blocks, index, skill)),
            _ => {}
        }
    }
    found.sort_by_key(|procedure| procedure.line);
    let headings: BTreeMap<usize, usize> =
        blocks.iter().filter_map(|block| Some((block.line, block.heading?))).collect();
    let throughout = invariants(blocks);
    for procedure in found {
        let mut value = json!({ "description": procedure.title, "steps": procedure.steps });
        if let Some(invariants) = headings.get(&procedure.line).and_then(|heading| throughout.get(heading)) {
            value["invariants"] = json!(invariants);
        }
        if let Some(example) = procedure.example {
            value["example"] = json!(example);
        }
        draft.workflows.add(&names::name(&procedure.title, "procedure"), procedure.line, doubt, value);
    }
}

/// What must hold throughout, by heading.
fn invariants(blocks: &[Block]) -> BTreeMap<usize, Vec<String>> {
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (heading, block) in blocks.iter().filter_map(|block| Some((block.heading?, block))) {
        let lower = block.prose.text.to_lowercase();
        if !block.is_prose() || !["throughout", " step", "at all times"].iter().any(|mark| lower.contains(mark)) {
            continue;
        }
        for range in sentences(&block.prose) {
            let words = Words::of(&block.prose.text[range]);
            let leads =
                ["throughout", "at every step", "at each step", "at all times", "during all steps", "in every step"];
            let lead = words.any(0, &leads).or_else(|| {
                let is_last = words.len() > 3 && words.at(words.len() - 1) == "throughout";
                is_last.then_some(0)
            });
            if let Some(lead) = lead.filter(|lead| words.len() > lead + 1) {
                let end = words.len() - usize::from(lead == 0);
                let rules = found.entry(heading).or_default();
                rules.extend((rules.len() < STEPS_MAX).then(|| tidy(words.slice(lead..end))));
            }
        }
    }
    found
}

/// The title of a block's section.
fn title(blocks: &[Block], index: usize, skill: &str) -> String {
    let heading = blocks[index].heading.map(|heading| blocks[heading].prose.text.as_str());
    let text = heading.map_or_else(|| skill.replace('-', " "), str::to_owned);
    let title = uncounted(&tidy(&text.replace(['`', '*'], "")));
    if title.is_empty() { "procedure".to_owned() } else { title }
}

/// Numbered lists that are procedures.
fn numbered_lists(blocks: &[Block], places: &[Place], skill: &str, is_foreign: bool) -> Vec<Procedure> {
    let mut found: Vec<Procedure> = Vec::new();
    let mut index = 0;
    while index < blocks.len() {
        let block = &blocks[index];
        if !(block.is_ordered() && block.depth == 1) {
            index += 1;
            continue;
        }
        // A list that is interrupted by an unindented block goes on with the next number.
        let mut items = vec![index];
        let mut next = index + 1;
        while next < blocks.len() && !blocks[next].is_heading() {
            if let (Kind::Item(Some(number)), 1) = (&blocks[next].kind, blocks[next].depth) {
                if blocks[next].list != block.list && usize::try_from(*number) != Ok(items.len() + 1) {
                    break;
                }
                items.push(next);
            } else if blocks[next].depth == 0
                && blocks[next].kind == Kind::Paragraph
                && !goes_on(blocks, next, items.len())
            {
                break;
            }
            next += 1;
        }
        let lead = index.checked_sub(1).map(|before| &blocks[before]).filter(|before| before.kind == Kind::Paragraph);
        let is_steps = is_procedure(blocks, &items, places[index], lead, is_foreign);
        if items.len() >= 2 && is_steps {
            let title = lead_title(lead).filter(|_| is_again(&found, &title(blocks, index, skill)));
            let title = title.unwrap_or_else(|| self::title(blocks, index, skill));
            let steps = items.iter().take(STEPS_MAX).map(|item| step(blocks, *item)).collect();
            found.push(Procedure { title, line: block.line, steps, example: None });
        }
        index = next.max(index + 1);
    }
    found
}

fn is_again(found: &[Procedure], title: &str) -> bool {
    found.iter().any(|procedure| procedure.title == title)
}

/// Whether the same list goes on behind an unindented paragraph.
fn goes_on(blocks: &[Block], index: usize, count: usize) -> bool {
    blocks[index + 1..]
        .iter()
        .take(4)
        .any(|block| matches!(block.kind, Kind::Item(Some(number)) if usize::try_from(number) == Ok(count + 1) && block.depth == 1))
}

fn lead_title(lead: Option<&Block>) -> Option<String> {
    let text = lead?.prose.text.trim_end_matches([':', ' ', '*']);
    (text.len() > 3 && text.len() <= 80).then(|| tidy(text))
}

/// Words in a title that say a list holds no steps.
const NOT_STEPS: &[&str] = &[
    "types",
    "type",
    "kinds",
    "criteria",
    "principles",
    "principle",
    "rules",
    "practices",
    "tips",
    "pitfalls",
    "mistakes",
    "priority",
    "priorities",
    "preference",
    "preferences",
    "selection",
    "features",
    "benefits",
    "reasons",
    "questions",
    "examples",
    "levels",
    "categories",
    "options",
    "sources",
    "references",
    "resources",
    "anti-patterns",
    "guidelines",
    "concepts",
    "components",
    "pillars",
    "dimensions",
    "layers",
    "factors",
    "assumptions",
    "outputs",
    "deliverables",
    "requirements",
    "constraints",
    "limitations",
    "checks",
    "order",
    "hierarchy",
    "modes",
    "inputs",
    "areas",
    "themes",
    "patterns",
    "strategies",
    "gotchas",
    "laws",
    "values",
    "tiers",
    "lenses",
    "metrics",
    "signals",
];

fn is_procedure(blocks: &[Block], items: &[usize], place: Place, lead: Option<&Block>, is_foreign: bool) -> bool {
    let heading = blocks[items[0]].heading.map_or("", |heading| blocks[heading].prose.text.as_str());
    let lead = lead.map_or("", |lead| lead.prose.text.get(..lead.prose.text.len().min(120)).unwrap_or_default());
    let heading_words = Words::of(heading);
    let lead_words = Words::of(lead);
    let names_other =
        heading_words.has(0..heading_words.len(), NOT_STEPS) || lead_words.has(0..lead_words.len(), NOT_STEPS);
    let lead_says =
        lead_words.has(0..lead_words.len(), &["steps", "workflow", "process", "follow", "sequence", "order"]);
    let is_named =
        place.is_procedure && !names_other || lead_says && !lead_words.has(0..lead_words.len(), &["priority"]);
    let deeds = items.iter().filter(|item| is_deed(&blocks[**item].prose)).count();
    if place.is_choice || place.is_forbidden || place.is_mistake || place.is_trigger {
        return false;
    }
    // A verb of another language is not known for one.
    if is_foreign {
        return items.len() >= 3 && !names_other && !place.has_rules && !place.is_listing;
    }
    if is_named {
        return items.len() >= 2 && deeds * 3 >= items.len();
    }
    !names_other && !place.has_rules && !place.is_listing && items.len() >= 3 && deeds * 10 >= items.len() * 7
}

/// Whether an item tells to do something: a command, behind its label or without, or something to run.
fn is_deed(prose: &Prose) -> bool {
    let words = Words::of(prose.text.get(..prose.text.len().min(400)).unwrap_or_default());
    let start = super::clauses::body_start(&words);
    let head = super::clauses::head(&words, 0..words.len());
    let is_told = |index: usize| {
        super::clauses::is_action(&words, index)
            || matches!(words.at(index), "if" | "when" | "once" | "after" | "before" | "optionally")
    };
    let is_label = is_verb(words.at(0)) && words.before(1).starts_with(':');
    let runs = is_label || prose.codes_in(0..prose.text.len().min(400)).any(looks_like_command);
    runs || is_told(head) || is_told(start) || is_gerund(words.at(0))
}

/// A list item as a step: a command where it has one, else its first sentence; the rest is the note.
fn step(blocks: &[Block], index: usize) -> Value {
    let prose = &blocks[index].prose;
    let code = blocks[index + 1..]
        .iter()
        .take(2)
        .find(|block| block.item == Some(index) && block.language().is_some_and(is_shell));
    let own = prose.codes_in(0..prose.text.len()).find(|code| looks_like_command(code));
    let from_block = code.and_then(|code| {
        code.prose.text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))
    });
    step_of(&prose.text, own.or(from_block).map(|command| command.trim_start_matches("$ ")), &sentences(prose))
}

fn looks_like_command(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let first = words.next().unwrap_or_default();
    let known = super::programs::known_depth(first).is_some() || super::programs::is_script(first);
    super::programs::is_program(first) && words.next().is_some() && (known || first.contains('-')) && code.len() <= 200
}

fn step_of(text: &str, command: Option<&str>, ranges: &[std::ops::Range<usize>]) -> Value {
    let whole = tidy(text.trim_start_matches("[ ] "));
    let first = ranges.first().map_or(whole.clone(), |range| tidy(text[range.clone()].trim_start_matches("[ ] ")));
    let rest = ranges.first().map_or(String::new(), |range| tidy(&text[range.end..]));
    let lower = first.to_lowercase();
    let is_optional = lower.starts_with("optional")
        || lower.starts_with("(optional")
        || lower.starts_with("if ")
        || lower.contains("(optional)");
    let empty = "go on".to_owned();
    let mut value = match command {
        Some(command) => json!({ "cmd": command, "note": whole }),
        None if rest.is_empty() => json!({ "cmd": if first.is_empty() { empty } else { first } }),
        None => json!({ "cmd": if first.is_empty() { empty } else { first }, "note": rest }),
    };
    if is_optional {
        value["optional"] = json!(true);
    }
    value
}

/// Headings that count: `Step 1: …`, `Phase 2`, `1. …`.
fn counted_headings(blocks: &[Block], skill: &str, is_foreign: bool) -> Vec<Procedure> {
    let mut found: Vec<Procedure> = Vec::new();
    let mut open: Option<(Option<usize>, u8, usize)> = None;
    let mut run: Vec<usize> = Vec::new();
    let headings: Vec<usize> = (0..blocks.len()).filter(|index| blocks[*index].is_heading()).collect();
    for index in headings {
        let block = &blocks[index];
        let Kind::Heading(level) = block.kind else { continue };
        let number = counted(&block.prose.text);
        let goes_on = open.is_some_and(|(parent, own, last)| {
            parent == block.heading
                && own == level
                && number.is_some_and(|(number, is_named)| number > last || is_named && number == last && last > 0)
        });
        if goes_on {
            run.push(index);
            open = open.map(|(parent, own, last)| (parent, own, number.map_or(last, |(number, _)| number)));
            continue;
        }
        if open.is_some_and(|(_, own, _)| level > own) {
            continue;
        }
        close_run(blocks, &mut run, (skill, is_foreign), &mut found);
        open = number.filter(|(number, _)| *number <= 1).map(|(number, _)| (block.heading, level, number));
        if open.is_some() {
            run.push(index);
        }
    }
    close_run(blocks, &mut run, (skill, is_foreign), &mut found);
    found
}

fn close_run(blocks: &[Block], run: &mut Vec<usize>, (skill, is_foreign): (&str, bool), found: &mut Vec<Procedure>) {
    let headings = std::mem::take(run);
    let named = headings
        .iter()
        .filter(|index| counted(&blocks[**index].prose.text).is_some_and(|(_, is_named)| is_named))
        .count();
    let deeds = headings.iter().filter(|index| is_told_heading(&blocks[**index].prose.text)).count();
    let parent = headings.first().and_then(|first| blocks[*first].heading);
    let above = parent.map_or("", |parent| blocks[parent].prose.text.as_str());
    let above_words = Words::of(above);
    let is_other = above_words.has(0..above_words.len(), NOT_STEPS);
    let is_steps = if named == headings.len() {
        headings.len() >= 2
    } else {
        // Below `Workflow`, `1. Discovery` is a step as well as `1. Find out`.
        let is_said = is_foreign || super::sections::read(above).is_procedure;
        headings.len() >= 3 && (is_said || deeds * 3 >= headings.len() * 2) && !is_other
    };
    if !is_steps {
        return;
    }
    let title = parent.map_or_else(
        || skill.replace('-', " "),
        |parent| {
            // `Workflow` alone says little; what the skill is about says the rest.
            let text = tidy(&blocks[parent].prose.text);
            let is_bare = Words::of(&text).len() == 1;
            if is_bare && names::slug(&text) != skill {
                format!("{} {}", skill.replace('-', " "), text.to_lowercase())
            } else {
                text
            }
        },
    );
    let steps =
        headings.iter().take(STEPS_MAX).map(|index| json!({ "cmd": uncounted(&blocks[*index].prose.text) })).collect();
    found.push(Procedure { title, line: blocks[headings[0]].line, steps, example: None });
}

/// The number a heading counts, and whether it says what it counts.
fn counted(text: &str) -> Option<(usize, bool)> {
    let words = Words::of(text);
    let is_named = matches!(words.at(0), "step" | "phase" | "stage");
    let word = words.at(usize::from(is_named));
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    let number = digits.parse::<usize>().ok().filter(|number| *number <= 40)?;
    let is_plain = digits.len() == word.len();
    let is_named = is_named && word.len() <= digits.len() + 1;
    let behind = text.trim_start().get(digits.len()..).unwrap_or_default();
    (is_named || is_plain && behind.starts_with(['.', ')', ':'])).then_some((number, is_named))
}

fn uncounted(text: &str) -> String {
    let bare =
        text.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ')' | ' ' | ':'));
    let words = Words::of(bare);
    let is_named = matches!(words.at(0), "step" | "phase" | "stage");
    let start = if is_named { 2 } else { 0 };
    let rest = tidy(words.slice(start..words.len()));
    if rest.is_empty() { tidy(text) } else { rest }
}

fn is_told_heading(text: &str) -> bool {
    let bare = uncounted(text);
    let words = Words::of(&bare);
    words.is_imperative(0) || is_gerund(words.at(0))
}

/// Numbered steps in a block of plain text.
fn numbered_code(blocks: &[Block], index: usize, skill: &str) -> Option<Procedure> {
    let block = &blocks[index];
    let text = &block.prose.text;
    if text.len() > 20_000 || text.contains(['├', '└']) {
        return None;
    }
    let mut steps: Vec<&str> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let bare = line.trim_start();
        let digits = bare.chars().take_while(char::is_ascii_digit).count();
        let rest = bare.get(digits..).unwrap_or_default();
        if digits > 0 && indent <= 2 && rest.starts_with(['.', ')']) && bare[..digits].parse() == Ok(steps.len() + 1) {
            steps.push(rest[1..].trim());
        }
    }
    let deeds = steps.iter().filter(|step| {
        let words = Words::of(step);
        is_verb(words.at(0)) || words.is_imperative(super::clauses::body_start(&words))
    });
    let count = deeds.count();
    let place = super::sections::read(&title(blocks, index, skill));
    (steps.len() >= 3 && count * 2 >= steps.len() && !place.is_example && !place.has_rules).then(|| Procedure {
        title: title(blocks, index, skill),
        line: block.line,
        steps: steps.iter().take(STEPS_MAX).map(|step| json!({ "cmd": tidy(step) })).collect(),
        example: None,
    })
}

/// A shell block that shows one session from beginning to end, not a list of alternatives.
fn session(blocks: &[Block], index: usize) -> Option<Procedure> {
    let block = &blocks[index];
    let heading = &blocks[block.heading?].prose.text;
    let words = Words::of(heading);
    if !words.has(0..words.len(), &["example", "workflow", "walkthrough", "end-to-end", "scenario", "session"]) {
        return None;
    }
    let commands: Vec<shell::Simple> =
        shell::commands(&block.prose.text).into_iter().filter(|simple| !simple.is_piped).collect();
    // What defines a function is a program, not a session.
    if block.prose.text.lines().any(|line| shell::defined(line).is_some()) {
        return None;
    }
    let programs: Vec<&str> = commands
        .iter()
        .filter_map(|simple| simple.words.first())
        .map(String::as_str)
        .filter(|word| super::programs::is_program(word))
        .collect();
    let explained = commands.iter().filter(|simple| simple.is_own_comment).count();
    let mut firsts: Vec<String> =
        commands.iter().map(|simple| simple.words.iter().take(2).cloned().collect::<Vec<_>>().join(" ")).collect();
    firsts.sort();
    firsts.dedup();
    let is_listing = explained * 2 > commands.len() || firsts.len() < 3;
    if programs.len() < 4 || is_listing || commands.len() > 40 {
        return None;
    }
    let steps = commands.iter().map(|simple| {
        let command = simple.words.join(" ").replace('\n', " ");
        match &simple.comment {
            Some(comment) => json!({ "cmd": command, "note": comment }),
            None => json!({ "cmd": command }),
        }
    });
    let title = tidy(&heading.replace('`', ""));
    let title = title.strip_prefix("Example: ").unwrap_or(&title).to_owned();
    let example = Some(block.prose.text.chars().take(4_000).collect());
    Some(Procedure { title, line: block.line, steps: steps.collect(), example })
}

/// `First, this. Then, that. Finally, the rest.`
fn told(blocks: &[Block], index: usize, skill: &str) -> Option<Procedure> {
    let prose = &blocks[index].prose;
    let lower = prose.text.get(..prose.text.len().min(4_000)).unwrap_or_default().to_lowercase();
    if !lower.contains("first") || !(lower.contains("then") || lower.contains("next")) {
        return None;
    }
    let mut steps: Vec<String> = Vec::new();
    let mut has_end = false;
    for range in sentences(prose) {
        let words = Words::of(&prose.text[range.clone()]);
        let at = words.at(0);
        let opens = matches!(at, "first" | "second" | "third" | "then" | "next" | "finally" | "lastly" | "afterwards")
            || words.is(0, "after that");
        let clauses = if at == "first" { in_one_sentence(&words) } else { Vec::new() };
        if clauses.len() >= 3 {
            steps.extend(clauses);
            has_end = true;
        } else if opens && (at == "first" || !steps.is_empty()) {
            let skip = if at == "after" { 2 } else { 1 };
            if words.is_imperative(skip) {
                steps.push(tidy(words.slice(skip..words.len())));
                has_end |= matches!(at, "finally" | "lastly");
            }
        }
    }
    (steps.len() >= 3 || steps.len() == 2 && has_end).then(|| Procedure {
        title: title(blocks, index, skill),
        line: blocks[index].line,
        steps: steps.into_iter().map(|step| json!({ "cmd": step })).collect(),
        example: None,
    })
}

/// The steps of `First do this, then do that, and finally the rest`.
fn in_one_sentence(words: &Words<'_>) -> Vec<String> {
    let marks = ["first", "then", "next", "finally", "lastly"];
    let starts: Vec<usize> = (0..words.len()).filter(|index| marks.contains(&words.at(*index))).collect();
    let mut steps = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let next = starts.get(number + 1).copied().unwrap_or(words.len());
        let end = if next < words.len() && words.at(next - 1) == "and" { next - 1 } else { next };
        if !words.is_imperative(start + 1) || start + 1 >= end {
            return Vec::new();
        }
        steps.push(tidy(words.slice(start + 1..end)));
    }
    steps
}
