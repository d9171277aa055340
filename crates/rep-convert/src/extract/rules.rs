//! Walks over the prose of a skill and gives every sentence to the readers of constraints, preferences and decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};

use super::blocks::{Block, Kind, Prose};
use super::clauses::{self, Conditional, Opening};
use super::constraints::{self, Rule, Sort};
use super::decisions::{self, Decision, Memory};
use super::draft::Draft;
use super::notices::Notice;
use super::preferences::{self, Preference};
use super::sections::{self, Place};
use super::sentences::sentences;
use super::words::{Words, is_gerund};
use super::{choices, contrasts, quotations, terse, trees};

/// Where a decision's link became a source: link as written → id.
pub(super) type SourceIds = BTreeMap<String, String>;

/// Reads constraints, preferences and decisions.
pub(super) fn read(blocks: &[Block], places: &[Place], ids: &SourceIds, draft: &mut Draft) {
    let parallel = parallel_lists(blocks);
    let mut reader = Reader {
        ids,
        draft,
        memory: Memory::default(),
        priority: None,
        led: BTreeMap::new(),
        condition: None,
        denied: None,
        cases: BTreeSet::new(),
        is_case: false,
    };
    for (index, block) in blocks.iter().enumerate() {
        let place = places[index];
        match &block.kind {
            Kind::Heading(_) => reader.heading(block, place),
            Kind::Paragraph | Kind::Item(_) => {
                let is_parallel = block.is_item() && parallel.get(&block.list).is_some_and(|count| *count >= 2);
                reader.prose(blocks, index, place, is_parallel);
            }
            Kind::Table => reader.table(block, place),
            Kind::Code(language) => reader.code(block, language),
        }
    }
}

/// How many items of each list choose something for a case.
fn parallel_lists(blocks: &[Block]) -> BTreeMap<usize, usize> {
    let mut lists = BTreeMap::new();
    for block in blocks.iter().filter(|block| block.is_item()) {
        let words = Words::of(block.prose.text.get(..block.prose.text.len().min(300)).unwrap_or_default());
        let cases = ["for", "when", "to", "if"];
        let separator = (1..words.len().min(12)).find(|index| clauses::is_separator(words.before(*index)));
        if words.at(0) == "use" && words.has(2..separator.unwrap_or(words.len().min(12)), &cases) {
            *lists.entry(block.list).or_insert(0) += 1;
        }
    }
    lists
}

struct Reader<'a> {
    ids: &'a SourceIds,
    draft: &'a mut Draft,
    memory: Memory,
    /// What the sentence before put first.
    priority: Option<String>,
    /// The conditions that lead in lists, by the lines of their items; and that of the item being read.
    led: BTreeMap<usize, String>,
    condition: Option<String>,
    /// For what the sentence before forbids something.
    denied: Option<String>,
    /// The lines of items below `When to choose it:`, which name cases; and whether one of them is being read.
    cases: BTreeSet<usize>,
    is_case: bool,
}

impl Reader<'_> {
    /// A heading can be a rule itself: `### Never commit secrets`.
    fn heading(&mut self, block: &Block, place: Place) {
        self.memory = Memory::default();
        self.is_case = false;
        let words = Words::of(&block.prose.text);
        let start = usize::from(words.at(0).chars().all(|letter| letter.is_ascii_digit()));
        let is_said = matches!(words.at(start), "never" | "always" | "don't") || words.is(start, "do not");
        if is_said
            && words.len() - start >= 3
            && !place.is_trigger
            && !place.is_example
            && !block.prose.text.ends_with([':', '?'])
        {
            let rule = constraints::marked(&words, start..words.len());
            self.add_rule(rule, None, block.line);
        } else if place.is_antipattern && is_gerund(words.at(start)) && words.len() - start >= 2 {
            // `### Using global state`, below `Anti-patterns`.
            self.add_rule(constraints::listed_prohibition(&words, place), None, block.line);
        }
    }

    fn prose(&mut self, blocks: &[Block], index: usize, place: Place, is_parallel: bool) {
        let block = &blocks[index];
        self.condition = self.led.get(&block.line).cloned();
        self.is_case = self.cases.contains(&block.line);
        let mut place = place;
        let is_own = is_callout(&block.prose.text) && !quotations::is_signed(&block.prose.text);
        let is_quotation = block.is_quoted && block.notice.is_none() && !is_own;
        // Where nobody is quoted, what a quotation forbids or commands outright is the author's.
        let is_boxed = is_quotation && !place.is_spoken && !quotations::is_somebodys(blocks, index);
        place.is_spoken |= is_quotation;
        if block.notice == Some(Notice::Grave) {
            // A warning speaks for itself, also among what is forbidden; a list in it goes on with that.
            place = if block.is_item() { place } else { sections::right(place) };
            place.has_rules = true;
        }
        place.is_spoken |= block.notice == Some(Notice::Shown);
        if block.kind == Kind::Paragraph {
            self.memory = Memory::default();
        }
        self.denied = None;
        if place.is_trigger {
            return;
        }
        if self.led_list(blocks, index, place) {
            return;
        }
        if let Some(decision) = choices::of_item(block, place).or_else(|| choices::of_arrow(block, place)) {
            self.add_decision(&decision, block.line, block.prose.links.first().map(|(_, target)| target.as_str()));
            return;
        }
        for (number, range) in sentences(&block.prose).into_iter().enumerate() {
            let words = Words::of(&block.prose.text[range.clone()]);
            if words.len() == 0 {
                continue;
            }
            let line = block.prose.line_at(range.start);
            let link = block.prose.links_in(range.clone()).next();
            // What is shown as wrong commands nothing.
            if is_shown_wrong(&block.prose.text[range.clone()]) {
                continue;
            }
            let mut place = place;
            // A mark inside a sentence is spoken of.
            let is_marked = sections::is_bad_mark(words.text) && (number == 0 || is_mark(&block.prose.text));
            place.is_forbidden |= is_marked;
            place.has_rules |= sections::is_good_mark(words.text);
            let is_first = number == 0 && block.is_item() || is_marked;
            self.sentence(&words, place, Where { block, line, link, is_parallel, is_first, is_boxed });
            self.denied = decisions::denied(&words);
        }
    }

    fn sentence(&mut self, words: &Words<'_>, place: Place, at: Where<'_>) {
        let start = clauses::body_start(words);
        let found = clauses::conditional(words, start);
        let mut made: Vec<Decision> = Vec::new();
        if !place.is_example && constraints::can_rule(words) {
            made = match &found {
                Some(found) => self.conditional(words, found, place, at),
                None => self.plain(words, start, place, at),
            };
        }
        for decision in &made {
            self.add_decision(decision, at.line, at.link);
        }
        self.memory.keep(words, &made);
    }

    /// A sentence with its condition in front.
    fn conditional(&mut self, words: &Words<'_>, found: &Conditional, place: Place, at: Where<'_>) -> Vec<Decision> {
        let when = decisions::condition(words, found, &self.memory);
        if place.is_forbidden && at.is_first && words.is_imperative(found.then.start) && !place.is_spoken {
            // `If the build is red, merge anyway` below `Don't` says what not to do then.
            let rule = constraints::listed(words, found.then.clone());
            self.add_rule(rule, when.as_deref().map(|when| (found.opening, when)), at.line);
            return Vec::new();
        }
        let decision = decisions::leading(words, found, &self.memory);
        if at.is_boxed {
            for rule in told(words, found.then.clone()) {
                self.add_rule(Some(rule), when.as_deref().map(|when| (found.opening, when)), at.line);
            }
        }
        if place.is_spoken {
            return decision.into_iter().collect();
        }
        let condition = when.as_deref().filter(|_| found.opening != Opening::To);
        let preference = preferences::preference(words, found.then.clone(), condition);
        self.add_preference(preference, at.line);
        for clause in clauses::clauses(words, found.then.clone()) {
            let rule = constraints::marked(words, clause);
            self.add_rule(rule, condition.map(|when| (found.opening, when)), at.line);
        }
        let bounds_deed =
            matches!(found.opening, Opening::Before | Opening::To) && words.is_imperative(found.then.start);
        if bounds_deed && decision.is_none() {
            // `Before this, do that` orders two deeds; `to do this, include only that` sets a bound.
            let is_bound = found.opening == Opening::Before || words.has(found.then.clone(), &["only"]);
            let mut ruled = place;
            ruled.has_rules |= is_bound;
            let rule = constraints::unmarked(words, found.then.clone(), ruled, !is_bound);
            self.add_rule(rule, Some((found.opening, words.slice(found.when.clone()))), at.line);
        }
        let tail = clauses::clauses(words, found.then.clone());
        let tail = tail.into_iter().skip(1).filter(|clause| constraints::marked(words, clause.clone()).is_none());
        let more = tail.flat_map(|clause| decisions::trailing(words, clause, false));
        decision.into_iter().chain(more.collect::<Vec<_>>()).collect()
    }

    /// A sentence without a condition in front.
    fn plain(&mut self, words: &Words<'_>, start: usize, place: Place, at: Where<'_>) -> Vec<Decision> {
        let all = start..words.len();
        let mut made = Vec::new();
        let mut has_marker = false;
        if place.is_spoken {
            for rule in told(words, all).into_iter().filter(|_| at.is_boxed) {
                self.add_rule(Some(rule), None, at.line);
            }
            return made;
        }
        let is_against = place.is_forbidden || place.is_mistake;
        if is_against && at.is_first {
            let rule =
                clauses::clauses(words, all.clone()).into_iter().find_map(|clause| constraints::marked(words, clause));
            // `❌ Always commit to main` is what not to do, in words that say to do it.
            let is_duty = words.any(start, &["don't forget", "do not forget"]).is_some();
            if rule.as_ref().is_some_and(|rule| rule.sort == Sort::Always) && !is_duty {
                return made;
            }
            let rule = rule.or_else(|| constraints::listed_prohibition(words, place));
            self.add_rule(rule, None, at.line);
            return made;
        }
        if clauses::is_mistaken(words) {
            self.add_mistaken(words, all, at.line);
            return made;
        }
        let preference = preferences::preference(words, all.clone(), None);
        let is_preferred = preference.is_some();
        self.add_preference(preference, at.line);
        for clause in clauses::clauses(words, all.clone()) {
            let rule = constraints::marked(words, clause.clone());
            has_marker |= rule.is_some();
            let rule = rule.map(|rule| match bounds(words) {
                Some(bounds) => Rule { text: constraints::tidy(&format!("{} {bounds}", rule.text)), ..rule },
                None => rule,
            });
            if !place.is_forbidden && (rule.is_none() || words.has(clause.clone(), &["either"])) {
                made.extend(decisions::trailing(words, clause, at.is_parallel && at.is_first));
            }
            self.add_rule(rule, None, at.line);
        }
        self.after_priority(words, all.clone(), at.line);
        let is_step = (at.block.is_ordered() || place.is_listing) && !place.has_rules;
        // Behind what is forbidden, a bare command may be more of it as well as what to do instead.
        if has_marker || is_preferred || !made.is_empty() || place.is_forbidden || place.is_antipattern {
            return made;
        }
        let short = terse::rules(words, all.clone());
        if short.is_empty() {
            let rule = labelled(words, all.clone(), place, is_step);
            // What helps against a fault, or where something else must not be used, holds for that alone.
            let case =
                decisions::fault(words, &all).or_else(|| self.denied.clone().filter(|_| words.at(start) == "use"));
            match (case, rule) {
                // Among rules, what is missing may be the rule.
                (Some(_), Some(rule)) if place.has_rules && start > 0 && !words.before(start).contains('→') => {
                    let text = constraints::tidy(words.slice(0..words.len()));
                    self.add_rule(Some(Rule { text, ..rule }), None, at.line);
                }
                (Some(case), Some(_)) => made.extend(Decision::of(&case, words.slice(all))),
                (_, rule) => self.add_rule(rule, None, at.line),
            }
        } else if !is_step {
            self.add_terse(short, words, place, at);
        }
        made
    }

    /// What is told to do below the name of a mistake is not to be done, and only what forbids it counts.
    fn add_mistaken(&mut self, words: &Words<'_>, all: Range<usize>, line: usize) {
        let marked = |clause| constraints::marked(words, clause).filter(|rule| rule.sort == Sort::Never);
        for rule in clauses::clauses(words, all).into_iter().filter_map(marked) {
            self.add_rule(Some(rule), None, line);
        }
    }

    /// `No tabs` is a rule among rules; in other prose it may describe.
    fn add_terse(&mut self, rules: Vec<Rule>, words: &Words<'_>, place: Place, at: Where<'_>) {
        let is_listed = place.is_trouble || place.is_choice || place.is_procedure;
        // `One click to start. No credit card.` goes on describing.
        let is_firm = place.has_rules && (at.is_first || !at.block.is_item()) || words.at(0) != "no";
        let is_open = self.condition.is_some() || is_listed || !at.block.is_item() && words.len() > 5;
        if !is_firm && (is_open || !place.has_rules && !terse::is_several(&rules)) {
            return;
        }
        for rule in rules {
            let doubt = rule.doubt.or((!is_firm).then_some("it may describe"));
            self.add_rule(Some(Rule { doubt, ..rule }), None, at.line);
        }
    }

    /// `Put this first. That is an acceptable alternative if …` prefers this over that.
    fn after_priority(&mut self, words: &Words<'_>, all: Range<usize>, line: usize) {
        if let Some(first) = self.priority.take()
            && let Some(verb) = words.find(all.start + 1..all.end.min(all.start + 8), &["is"])
            && (verb + 1..(verb + 4).min(all.end)).any(|index| words.is(index, "acceptable alternative"))
        {
            let start = all.start + usize::from(words.at(all.start) == "the");
            let over = words.slice(start..verb).to_owned();
            self.add_preference(Some(Preference { use_: first, over, when: None }), line);
        }
        self.priority = preferences::priority(words, all);
    }

    /// A lead-in that is a condition or a marker, with the list below it: `If this fails:`, `Never:`.
    fn led_list(&mut self, blocks: &[Block], index: usize, place: Place) -> bool {
        let block = &blocks[index];
        let text = block.prose.text.trim_end_matches(['*', ' ']);
        if !text.ends_with(':') || place.is_example {
            return false;
        }
        let Some(range) = sentences(&block.prose).pop() else { return false };
        let words = Words::of(&block.prose.text[range.clone()]);
        let line = block.prose.line_at(range.start);
        let below = led_items(blocks, index);
        if below.is_empty() {
            return self.led_code(blocks, index, &words, line);
        }
        let start = clauses::body_start(&words);
        if words.is(start, "when to") {
            self.cases.extend(below.iter().map(|item| item.line));
        }
        let is_condition = matches!(words.at(start), "if" | "when" | "whenever" | "unless" | "once" | "after")
            && clauses::conditional(&words, start).is_none()
            && words.at(start + 1) != "to"
            && words.len() > start + 1;
        if is_condition {
            let found = Conditional { opening: Opening::If, when: start + 1..words.len(), then: 0..0 };
            let items: Vec<&str> = below
                .iter()
                .take(6)
                .map(|item| item.prose.text.trim_start_matches("[ ] ").trim_end_matches(['.', ';', ':']))
                .collect();
            let when = decisions::condition(&words, &found, &self.memory);
            // What is said in the list holds under its condition.
            if let Some(when) = &when {
                let lead = if words.at(start) == "unless" { "unless" } else { "if" };
                self.led.extend(below.iter().map(|item| (item.line, format!("{lead} {when}"))));
            }
            if let Some(decision) = when.and_then(|when| Decision::of(&when, &items.join("; "))) {
                self.add_decision(&decision, line, None);
            }
            return true;
        }
        self.led_markers(&words, start, &below)
    }

    /// `Always do this when:` and `Never:` speak for each item below.
    fn led_markers(&mut self, words: &Words<'_>, start: usize, below: &[&Block]) -> bool {
        let always = words.any(start, &["always", "you must", "must", "make sure to", "be sure to"]);
        let never =
            words.any(start, &["never", "do not", "don't", "avoid", "you must not", "must not", "you must never"]);
        let Some((sort, length)) =
            never.map(|length| (Sort::Never, length)).or(always.map(|length| (Sort::Always, length)))
        else {
            return false;
        };
        // `Never do:` says no more than `Never:`.
        let length = length + usize::from(words.at(start + length) == "do");
        let lead = words.slice(start + length..words.len());
        if words.len() > start + length + 6 {
            return false;
        }
        for item in below {
            let own = Words::of(&item.prose.text);
            let end = clauses::reason_start(&own, 0..own.len());
            let from = if lead.is_empty() { constraints::repeated(&own, 0, sort) } else { 0 };
            let text = constraints::tidy(&format!("{lead} {}", own.slice(from..end)));
            let is_rule = constraints::can_rule(&own) && text.len() <= 300 && own.len() > 0;
            let last = words.at(words.len() - 1);
            if is_rule && matches!(last, "when" | "if") && sort == Sort::Always {
                let action = words.slice(start + length..words.len() - 1);
                if let Some(decision) = Decision::of(own.slice(0..end), action) {
                    self.add_decision(&decision, item.line, None);
                }
            } else if is_rule {
                self.add_rule(Some(Rule { sort, text, doubt: None }), None, item.line);
            }
        }
        true
    }

    /// `For sites like these:` with one command below.
    fn led_code(&mut self, blocks: &[Block], index: usize, words: &Words<'_>, line: usize) -> bool {
        let is_condition = matches!(words.at(0), "if" | "when" | "for") && clauses::conditional(words, 0).is_none();
        let Some(code) = blocks.get(index + 1).filter(|next| is_condition && next.language().is_some()) else {
            return false;
        };
        let lines: Vec<&str> = code.prose.text.lines().filter(|line| !line.trim().is_empty()).collect();
        let idle = ["example", "instance", "each", "every", "more", "all"];
        if let [command] = lines.as_slice()
            && super::commands::is_shell(code.language().unwrap_or_default())
            && words.len() >= 3
            && !idle.contains(&words.at(1))
        {
            let then = format!("run `{}`", command.trim());
            if let Some(decision) = Decision::of(words.slice(1..words.len()), &then) {
                self.add_decision(&decision, line, None);
            }
        }
        true
    }

    fn table(&mut self, block: &Block, place: Place) {
        self.is_case = false;
        if place.is_example || place.is_trigger {
            return;
        }
        if let Some(columns) = contrasts::columns(block) {
            for (line, said) in contrasts::read(block, columns) {
                match said {
                    contrasts::Said::Rule(rule) => self.add_rule(Some(rule), None, line),
                    contrasts::Said::Preference(preference) => self.add_preference(Some(preference), line),
                }
            }
            self.cells(block, |column| columns.holds(column));
            return;
        }
        self.listed_rules(block);
        let when = choices::columns(block).map(|columns| columns.when);
        self.cells(block, |column| when == Some(column));
        for (line, decision, link) in choices::of_table(block, self.ids) {
            self.add_decision(&decision, line, link.as_deref());
        }
    }

    /// What the cells of a table say outright: `Do not send it`. What is too short to stand alone keeps its row's name.
    fn cells(&mut self, block: &Block, is_read: impl Fn(usize) -> bool) {
        let Some((titles, rows)) = block.rows.split_first() else { return };
        let choice = choices::columns(block).filter(|columns| !columns.is_fault);
        let is_shown = |column: usize| {
            titles.get(column).is_some_and(|title| quotations::shows(&title.text) || choices::is_case(&title.text))
        };
        for row in rows {
            let name = |column: usize| row.get(column).map(|cell| constraints::tidy(&cell.text));
            let case = choice.and_then(|columns| name(columns.when)).map(|case| format!("when: {case}"));
            let named = name(0).filter(|name| name.parse::<u32>().is_err() && !name.is_empty());
            let cells = row.iter().enumerate().filter(|(column, _)| !is_read(*column) && !is_shown(*column));
            for (column, cell) in cells {
                let own = named.clone().filter(|_| column > 0 && !is_read(0));
                for range in sentences(cell) {
                    let words = Words::of(&cell.text[range.clone()]);
                    let start = clauses::body_start(&words);
                    let is_open = words.len() > 0 && constraints::can_rule(&words);
                    for rule in told(&words, start..words.len()).into_iter().filter(|_| is_open) {
                        let rule = quotations::of_row(&rule, case.as_deref(), own.as_deref());
                        self.add_rule(rule, None, cell.line_at(range.start));
                    }
                }
            }
        }
    }

    /// The rules of a table that lists them: `| Rule | Why |`.
    fn listed_rules(&mut self, block: &Block) {
        const TITLES: [&str; 9] =
            ["rule", "rules", "guideline", "constraint", "requirement", "principle", "policy", "practice", "guardrail"];
        let Some((titles, rows)) = block.rows.split_first() else { return };
        let is_listing = |cell: &Prose| {
            let words = Words::of(&cell.text);
            words.len() <= 2 && words.len() > 0 && TITLES.contains(&words.at(words.len() - 1))
        };
        let Some(column) = titles.iter().position(is_listing) else { return };
        let place = Place { has_rules: true, ..Place::default() };
        for cell in rows.iter().filter_map(|row| row.get(column)) {
            let Some(range) = sentences(cell).into_iter().next() else { continue };
            let words = Words::of(&cell.text[range]);
            if words.len() > 1 && constraints::can_rule(&words) {
                let all = 0..words.len();
                let rule = constraints::marked(&words, all.clone())
                    .or_else(|| constraints::named(&words))
                    .or_else(|| constraints::unmarked(&words, all, place, false));
                self.add_rule(rule, None, cell.line_at(0));
            }
        }
    }

    /// Code holds no rules, with two exceptions: a drawn tree, and a law in capitals that stands alone in its block.
    fn code(&mut self, block: &Block, language: &str) {
        if !matches!(language, "" | "text" | "txt" | "plaintext") {
            return;
        }
        for (number, decision) in trees::decisions(&block.prose.text) {
            self.add_decision(&decision, block.line + 1 + number, None);
        }
        let text = block.prose.text.trim();
        let is_law = text.lines().count() <= 3 && text.len() > 8 && !text.contains(char::is_lowercase);
        if is_law && text.contains(char::is_alphabetic) {
            for (number, line) in text.lines().enumerate() {
                let words = Words::of(line);
                let lower = line.to_lowercase();
                let rule = constraints::marked(&words, 0..words.len());
                let rule = rule.filter(|rule| rule.text.is_ascii() && lower.is_ascii());
                let rule = rule.map(|rule| Rule { text: rule.text.to_lowercase(), ..rule });
                self.add_rule(rule, None, block.line + 1 + number);
            }
        }
        self.procedure(block);
    }

    /// `If NO: …` below a question, in a procedure that is written as code.
    fn procedure(&mut self, block: &Block) {
        if block.prose.text.len() > 20_000 {
            return;
        }
        let mut memory = Memory::default();
        for (number, line) in block.prose.text.lines().enumerate() {
            let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
            let words = Words::of(line);
            let Some(found) = clauses::conditional(&words, 0).filter(|_| words.at(0) == "if") else {
                memory.keep_question(&words);
                continue;
            };
            let is_answer = matches!(words.at(1), "yes" | "no" | "so" | "not") && found.when.len() == 1;
            if let Some(decision) = decisions::leading(&words, &found, &memory).filter(|_| is_answer) {
                self.add_decision(&decision, block.line + 1 + number, None);
            }
        }
    }

    fn add_rule(&mut self, rule: Option<Rule>, condition: Option<(Opening, &str)>, line: usize) {
        let Some(rule) = rule else { return };
        let lead = |opening| match opening {
            Opening::If => "if",
            Opening::Unless => "",
            Opening::For => "for",
            Opening::Before => "before",
            Opening::After => "after",
            Opening::To => "to",
        };
        let text = match condition {
            Some((opening, when)) => constraints::tidy(&format!("{} {} {when}", rule.text, lead(opening))),
            None => match &self.condition {
                Some(condition) => constraints::tidy(&format!("{} {condition}", rule.text)),
                None => rule.text,
            },
        };
        let list = match rule.sort {
            Sort::Never => &mut self.draft.never,
            Sort::Always => &mut self.draft.always,
        };
        let doubt = rule.doubt.or(self.is_case.then_some("it may name a case"));
        list.add(line, doubt, Value::String(text));
    }

    fn add_preference(&mut self, preference: Option<Preference>, line: usize) {
        let Some(Preference { use_, over, when }) = preference else { return };
        let points = [&use_, &over].iter().any(|side| constraints::points_back(&Words::of(side), 0));
        let doubt = points.then_some("it points at something said before");
        let value = match when {
            Some(when) => json!({ "use": use_, "over": over, "when": when }),
            None => json!({ "use": use_, "over": over }),
        };
        self.draft.prefer.add(line, doubt, value);
    }

    /// The source an action names by its path: ``read `references/a.md` ``.
    fn named(&self, action: &str) -> Option<&String> {
        let is_edge = |letter: char| letter.is_whitespace() || "`\"'()[],;".contains(letter);
        let words = action.split(is_edge).filter(|word| word.contains(['.', '/']));
        let mut found =
            words.filter_map(|word| self.ids.get(word).or_else(|| self.ids.get(word.trim_end_matches('.'))));
        found.next()
    }

    fn add_decision(&mut self, decision: &Decision, line: usize, link: Option<&str>) {
        let mut value = json!({ "when": decision.when, "then": decision.then });
        if let Some(id) = self.named(&decision.then).or_else(|| link.and_then(|link| self.ids.get(link))) {
            value["ref"] = json!(id);
        }
        self.draft.decisions.add(line, decision.doubt, value);
    }
}

/// Whether a text starts with a mark of right or wrong.
fn is_mark(text: &str) -> bool {
    sections::is_bad_mark(text) || sections::is_good_mark(text)
}

/// Whether quoted text is a box of the author's own: `> **Warning**: …`, or what is printed bold as a whole.
fn is_callout(text: &str) -> bool {
    const LABELS: [&str; 14] = [
        "important",
        "note",
        "warning",
        "caution",
        "tip",
        "critical",
        "remember",
        "rule",
        "attention",
        "danger",
        "never",
        "always",
        "mandatory",
        "required",
    ];
    let first = text.trim_start_matches(['*', '_', '[', '!', ' ', '⚠', '\u{fe0f}', '❗', '💡', '🚨', '📌', '🛑']);
    let word: String = first.chars().take_while(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase).collect();
    LABELS.contains(&word.as_str())
}

/// Where a rule holds, said before it: `In production, never …`.
fn bounds(words: &Words<'_>) -> Option<String> {
    const LEADS: [&str; 9] = ["in", "on", "as", "during", "within", "under", "except", "outside", "only"];
    if !LEADS.contains(&words.at(0)) {
        return None;
    }
    let end = (2..words.len().min(8)).find(|index| words.before(*index).contains([',', ':']))?;
    let text = constraints::tidy(words.slice(0..end).trim_end_matches([',', ':']));
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect())
}

/// Whether a sentence stands behind a label that says it is wrong: `Bad: always push`.
fn is_shown_wrong(text: &str) -> bool {
    let Some((label, rest)) = text.split_once(':') else { return false };
    let label = label.trim_matches(['*', '_', ' ', '❌', '✗']).to_lowercase();
    let labels = ["wrong", "bad", "incorrect", "myth", "anti-pattern", "antipattern", "not like this"];
    !rest.trim().is_empty() && labels.contains(&label.as_str())
}

/// A command without a marker, behind its label or with it.
fn labelled(words: &Words<'_>, all: Range<usize>, place: Place, is_step: bool) -> Option<Rule> {
    if words.is_imperative(0) && !clauses::is_titled(words) {
        return constraints::unmarked(words, 0..words.len(), place, is_step);
    }
    let shouts = matches!(words.at(0), "important" | "critical" | "mandatory" | "required") && all.start > 0;
    let mut place = place;
    place.has_rules |= shouts;
    constraints::unmarked(words, all, place, is_step && !shouts)
}

/// The rules of the clauses that say so outright.
fn told(words: &Words<'_>, all: Range<usize>) -> Vec<Rule> {
    let clauses = clauses::clauses(words, all.clone()).into_iter();
    let is_told = clauses::is_action(words, all.start);
    // `They look fine but don't help` goes on describing.
    let is_joined = |clause: &Range<usize>| matches!(words.at(clause.start), "and" | "but" | "so" | "or") && !is_told;
    let outright = clauses.filter(|clause| quotations::is_outright(words, clause.clone()) && !is_joined(clause));
    outright.filter_map(|clause| constraints::marked(words, clause)).collect()
}

/// Where a sentence stands.
#[derive(Clone, Copy)]
struct Where<'a> {
    block: &'a Block,
    line: usize,
    link: Option<&'a str>,
    is_parallel: bool,
    /// The first sentence of an item.
    is_first: bool,
    /// Whether it stands in a quotation that quotes nobody.
    is_boxed: bool,
}

/// The items of the list a lead-in leads in.
pub(super) fn led_items(blocks: &[Block], index: usize) -> Vec<&Block> {
    let lead = &blocks[index];
    let mut found: Vec<&Block> = Vec::new();
    for block in blocks[index + 1..].iter().take(200) {
        match block.kind {
            Kind::Item(_) if block.depth == lead.depth + 1 => {
                if found.first().is_some_and(|first| first.list != block.list) {
                    break;
                }
                found.push(block);
            }
            Kind::Item(_) if block.depth > lead.depth + 1 => {}
            Kind::Code(_) | Kind::Paragraph if !found.is_empty() && block.depth > lead.depth => {}
            _ => break,
        }
    }
    found
}
