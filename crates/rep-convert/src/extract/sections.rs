//! What a heading, or the line before a list, says about the text below it.

use super::blocks::{Block, Kind};
use super::words::Words;

/// What the place of a text says about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of a place")]
pub(super) struct Place {
    /// Rules are collected here: a bare command is one.
    pub(super) has_rules: bool,
    /// What stands here is shown, not said.
    pub(super) is_example: bool,
    /// What stands here is forbidden: a bare command is a prohibition.
    pub(super) is_forbidden: bool,
    /// What people do wrong is collected here.
    pub(super) is_mistake: bool,
    /// What people do wrong is collected here by name: a bare command is one of these.
    pub(super) is_antipattern: bool,
    /// Somebody is told these words.
    pub(super) is_spoken: bool,
    /// Alternatives are listed here, each with when it fits.
    pub(super) is_choice: bool,
    /// Faults are listed here, each with its remedy.
    pub(super) is_trouble: bool,
    /// When to use the skill itself.
    pub(super) is_trigger: bool,
    /// Steps are listed here.
    pub(super) is_procedure: bool,
    /// Options, parameters, features or fields are listed here, not deeds.
    pub(super) is_listing: bool,
}

impl Place {
    fn or(self, other: Place) -> Place {
        Place {
            has_rules: self.has_rules || other.has_rules,
            is_example: self.is_example || other.is_example,
            is_forbidden: self.is_forbidden || other.is_forbidden,
            is_mistake: self.is_mistake || other.is_mistake,
            is_antipattern: self.is_antipattern || other.is_antipattern,
            is_spoken: self.is_spoken || other.is_spoken,
            is_choice: self.is_choice || other.is_choice,
            is_trouble: self.is_trouble || other.is_trouble,
            is_trigger: self.is_trigger || other.is_trigger,
            is_procedure: self.is_procedure || other.is_procedure,
            is_listing: self.is_listing || other.is_listing,
        }
    }
}

/// Words that announce rules wherever they stand in a heading.
const RULES: &[&str] = &[
    "best practice",
    "best practices",
    "rule",
    "rules",
    "principle",
    "principles",
    "guideline",
    "guidelines",
    "constraints",
    "conventions",
    "guardrails",
    "guardrail",
    "gotchas",
    "pitfall",
    "pitfalls",
    "non-negotiable",
    "non-negotiables",
    "invariants",
    "imperatives",
    "practices",
    "iron law",
    "quality bar",
    "restrictions",
    "must do",
];

/// Words that announce rules where they are all a heading is about: `Security notes`, but not `Patch notes format`.
const RULES_ALONE: &[&str] = &[
    "tip",
    "tips",
    "requirement",
    "requirements",
    "must",
    "always",
    "do",
    "dos",
    "do's",
    "standard",
    "standards",
    "policy",
    "policies",
    "safety",
    "important",
    "critical",
    "notes",
    "note",
    "gotcha",
    "reminders",
    "reminder",
    "style",
    "security",
    "key points",
    "considerations",
    "constraint",
    "convention",
    "discipline",
    "mandatory",
    "etiquette",
];

const FORBIDDEN: &[&str] = &[
    "don't",
    "don'ts",
    "do not",
    "never",
    "avoid",
    "what not to do",
    "prohibited",
    "forbidden",
    "not allowed",
    "must not",
    "should not",
    "things to avoid",
    "negative requirements",
    "banned",
    "dont",
    "donts",
    "not this",
    "not like this",
    "not to do",
    "what to avoid",
];

const MISTAKES: &[&str] = &[
    "anti-patterns",
    "anti-pattern",
    "antipatterns",
    "red flags",
    "mistakes",
    "mistake",
    "mistakes to avoid",
    "smells",
];

const EXAMPLES: &[&str] = &[
    "example",
    "examples",
    "sample",
    "samples",
    "scenario",
    "sample output",
    "example output",
    "rationalization",
    "rationalizations",
    "excuses",
    "case study",
    "demo",
    "walkthrough",
    "transcript",
    "incident",
];

/// Headings that show something by themselves, but open an ordinary one when more words follow.
const LABELS: &[&str] = &["before", "after", "bad", "good", "wrong", "correct", "incorrect", "input", "output"];

const CHOICES: &[&str] = &[
    "choose",
    "choosing",
    "selection",
    "select",
    "selecting",
    "which",
    "decision tree",
    "decision guide",
    "decision guidance",
    "decision table",
    "decision matrix",
    "decision framework",
    "decisions",
    "when to use each",
    "picking",
    "pick",
    "routing",
    "decide",
    "deciding",
    "use cases",
    "when to use what",
    "when to use which",
];

const TROUBLES: &[&str] = &[
    "troubleshooting",
    "troubleshoot",
    "common issues",
    "common errors",
    "common problems",
    "issues",
    "errors",
    "problems",
    "error handling",
    "failure modes",
    "debugging",
    "failures",
];

const TRIGGERS: &[&str] = &[
    "when to use",
    "when to use this skill",
    "when to activate",
    "use this skill when",
    "when this skill activates",
    "when to apply",
    "triggers",
    "trigger",
    "activation",
    "when not to use",
    "use when",
    "when to use this",
    "use this skill",
    "when to invoke",
    "invoke this skill",
    "invoke when",
    "activate when",
    "activate this skill",
    "when to activate this skill",
    "when not to use this skill",
    "do not use",
    "don't use",
    "non-activation",
    "when to trigger",
    "trigger phrases",
    "use for",
    "not for",
    "use it when",
    "apply this skill",
];

const PROCEDURES: &[&str] = &[
    "workflow",
    "workflows",
    "steps",
    "step",
    "process",
    "procedure",
    "instructions",
    "how it works",
    "phase",
    "flow",
    "quick start",
    "quickstart",
    "setup",
    "installation",
    "usage",
    "pipeline",
    "getting started",
    "protocol",
    "loop",
    "how to",
    "methodology",
    "approach",
    "pattern",
    "runbook",
    "playbook",
    "sequence",
    "routine",
    "cycle",
    "method",
];

const LISTINGS: &[&str] = &[
    "options",
    "parameters",
    "fields",
    "features",
    "capabilities",
    "arguments",
    "types",
    "type",
    "columns",
    "contents",
    "properties",
    "related skills",
    "see also",
    "references",
    "resources",
    "further reading",
    "outputs",
    "inputs",
    "deliverables",
    "checklist",
    "prerequisites",
    "overview",
    "purpose",
    "about",
    "what it does",
    "scope",
    "goals",
    "success criteria",
    "core concepts",
    "concepts",
    "key concepts",
    "glossary",
    "questions",
    "changelog",
    "license",
];

/// What the place of a block says, from all headings above it and from the line before its list.
pub(super) fn places(blocks: &[Block]) -> Vec<Place> {
    let mut of_heading: Vec<Place> = vec![Place::default(); blocks.len()];
    let mut places = Vec::with_capacity(blocks.len());
    let mut lead: Option<(usize, Lead)> = None;
    for (index, block) in blocks.iter().enumerate() {
        let above = block.heading.map_or(Place::default(), |heading| of_heading[heading]);
        let mut own = if block.is_heading() { read(&block.prose.text) } else { Place::default() };
        // A title names the skill: `# Demo` does not make all of it an example.
        if block.kind == Kind::Heading(1) {
            own.is_example = false;
            own.is_trigger = false;
        }
        if block.is_heading() {
            of_heading[index] = inherit(above, own, &block.prose.text);
            lead = None;
            places.push(of_heading[index]);
            continue;
        }
        let around = block.item.map_or(above, |item| inherit(above, places[item], ""));
        let led = lead.filter(|(depth, _)| block.is_item() && block.depth > *depth).map(|(_, lead)| lead);
        let around = if led.is_some_and(|led| led.is_remedy) { right(around) } else { around };
        let mut place = led.map_or(around, |led| around.or(led.place));
        if block.kind == Kind::Paragraph || block.is_item() {
            let text = block.prose.text.trim_end();
            let is_label = is_title(block) || is_parent(blocks, index);
            if text.ends_with(':') || text.ends_with("：") || is_label {
                // A lead-in speaks for the list or quotation below it and says nothing itself.
                lead = Some((block.depth, Lead { place: lead_in(text), is_remedy: is_remedy(&Words::of(text)) }));
            } else if block.kind == Kind::Paragraph && !block.is_quoted {
                lead = None;
            }
        }
        place.is_spoken |= block.is_quoted && lead.is_some_and(|(_, led)| led.place.is_spoken);
        places.push(place);
    }
    places
}

/// What the line before a list says.
#[derive(Clone, Copy)]
struct Lead {
    place: Place,
    is_remedy: bool,
}

/// Whether a line announces what to do against what stands before it: `Instead:`, `To break this pattern:`.
fn is_remedy(words: &Words<'_>) -> bool {
    let remedies = ["instead", "fix", "fixes", "solution", "solutions", "remedy", "remedies", "better", "correct"];
    matches!(words.at(0), "to" | "do") && words.len() > 1 && !words.is(0, "do not")
        || words.has(0..words.len(), &remedies)
}

/// A place in which nothing is wrong.
pub(super) fn right(place: Place) -> Place {
    Place { is_forbidden: false, is_mistake: false, is_antipattern: false, ..place }
}

/// A section takes over what the section around it says, unless its own heading says something else.
fn inherit(above: Place, own: Place, heading: &str) -> Place {
    let says = |place: Place| {
        place.has_rules
            || place.is_forbidden
            || place.is_mistake
            || place.is_choice
            || place.is_procedure
            || place.is_listing
    };
    if heading.is_empty() {
        return above.or(own);
    }
    let mut merged = if says(own) { own } else { above.or(own) };
    merged.is_example |= above.is_example;
    merged.is_trigger = own.is_trigger;
    merged.is_forbidden = own.is_forbidden || (above.is_forbidden && !says(own));
    merged.is_mistake = own.is_mistake || (above.is_mistake && !says(own));
    merged.is_antipattern = own.is_antipattern || (above.is_antipattern && !says(own));
    if is_remedy(&Words::of(heading)) {
        merged = right(merged);
    }
    merged
}

/// What a heading says.
pub(super) fn read(text: &str) -> Place {
    let words = Words::of(text);
    let has = |phrases: &[&str]| (0..words.len()).any(|index| words.any(index, phrases).is_some());
    let starts = |phrases: &[&str]| words.any(0, phrases).is_some();
    let is_trigger = has(TRIGGERS);
    let is_mistake = !is_trigger && has(MISTAKES);
    let last = words.len().saturating_sub(1);
    let is_counted = matches!(words.at(0), "step" | "phase" | "stage");
    let is_alone = words.len() <= 3 && !words.is_imperative(0) && words.any(last, RULES_ALONE).is_some();
    let names_other = words.has(0..words.len(), &["patch", "release", "speaker", "meeting", "release", "functional"]);
    let has_rules = !is_counted && !names_other && (has(RULES) || is_alone);
    // `If you don't have one` forbids nothing.
    let strict = ["must never", "should never", "must not", "should not", "may not", "never do"];
    let is_strict = (0..words.len()).any(|index| words.any(index, &strict).is_some());
    let is_conditional =
        words.has(0..words.len(), &["if", "when", "unless"]) || words.has(0..words.len(), &["you"]) && !is_strict;
    // `Do's and don'ts` holds both, each below its own line.
    let has_both =
        words.has(0..words.len(), &["do's", "dos", "do"]) && words.has(0..words.len(), &["don'ts", "donts", "don't"]);
    let is_forbidden = !is_trigger && !is_mistake && !is_conditional && !has_both && forbids(&words);
    Place {
        has_rules: !is_trigger && has_rules && !is_forbidden && !is_mistake,
        is_example: starts(EXAMPLES)
            || words.len() == 1 && starts(LABELS)
            || has(&["examples", "rationalization", "rationalizations", "excuses"]),
        is_forbidden,
        is_mistake,
        is_antipattern: is_mistake && has(&["anti-pattern", "anti-patterns", "antipattern", "antipatterns"]),
        is_spoken: false,
        is_choice: has(CHOICES),
        is_trouble: has(TROUBLES),
        is_trigger,
        is_procedure: has(PROCEDURES),
        is_listing: has(LISTINGS) && !has_rules,
    }
}

/// Whether a heading is about what is forbidden: `Never do this`, but not `Don't know what is wrong yet`. What stands
/// below `Avoid rate limits` is how to.
fn forbids(words: &Words<'_>) -> bool {
    const FILLERS: &[&str] = &[
        "do",
        "doing",
        "this",
        "these",
        "that",
        "those",
        "the",
        "following",
        "things",
        "patterns",
        "mistakes",
        "ever",
        "list",
        "anti-patterns",
        "rules",
        "items",
        "all",
        "of",
        "at",
        "costs",
        "be",
        "say",
        "section",
    ];
    (0..words.len()).any(|index| {
        words.any(index, FORBIDDEN).is_some_and(|length| {
            let next = index + length;
            let rest = words.len() - next.min(words.len());
            let is_named = matches!(words.at(index), "prohibited" | "forbidden" | "banned" | "what" | "things");
            let fills = (next..words.len()).all(|rest| FILLERS.contains(&words.at(rest)));
            rest <= 2 && is_named || fills
        })
    })
}

/// Marks that say what stands behind them is wrong.
pub(super) fn is_bad_mark(text: &str) -> bool {
    text.starts_with(['❌', '✗', '✘', '✖', '🚫', '⛔', '👎'])
}

/// Marks that say what stands behind them is right.
pub(super) fn is_good_mark(text: &str) -> bool {
    text.starts_with(['✅', '✔', '✓', '☑', '👍'])
}

/// Whether an item only names what the list below it holds: `- Must not`.
fn is_parent(blocks: &[Block], index: usize) -> bool {
    let block = &blocks[index];
    let has_list = blocks.get(index + 1).is_some_and(|next| next.is_item() && next.depth > block.depth);
    block.is_item() && has_list && block.prose.text.split(' ').count() <= 3 && block.prose.codes.is_empty()
}

/// Whether a paragraph is printed bold as a whole and stands for a heading.
fn is_title(block: &Block) -> bool {
    let text = block.prose.text.as_str();
    let [strong] = block.prose.strongs.as_slice() else { return false };
    let outside = [&text[..strong.start], text.get(strong.end..).unwrap_or_default()];
    block.kind == Kind::Paragraph
        && outside.iter().all(|part| !part.contains(char::is_alphanumeric))
        && !text.ends_with(['.', '!', '?'])
        && text.split(' ').count() <= 6
}

fn lead_in(text: &str) -> Place {
    let words = Words::of(text);
    // A long sentence that merely holds such a word says nothing about the list behind it.
    let mut place = if words.len() <= 9 { read(text) } else { Place::default() };
    let speech = ["tell", "say", "reply", "respond", "answer", "ask", "inform", "message", "output", "print", "show"];
    place.is_forbidden &= words.any(super::clauses::body_start(&words), FORBIDDEN).is_some() || words.len() <= 4;
    place.is_spoken = words.has(0..words.len().min(4), &speech);
    place.is_example |= words.has(0..words.len(), &["example", "e.g", "examples", "instance", "looks", "sample"]);
    place
}
