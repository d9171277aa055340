//! Classifies text by the heading above it, or by the line before its list.

use super::blocks::{MarkdownBlock, MarkdownBlockKind, QuoteNotice};
use super::lexicon::LEXICON;
use super::words::WordList;

/// The role of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SectionRole {
    #[default]
    Plain,
    /// The introduction below the title describes the skill.
    Intro,
    /// A list of rules: a bare imperative is a rule.
    Rules,
    /// A list of prohibitions: a bare imperative is a prohibition.
    Forbidden,
    Mistakes,
    /// A list of alternatives, each with the case for it.
    Choices,
    /// A list of problems, each with its solution.
    Trouble,
    Trigger,
    Procedure,
    /// A list of options, features or fields, not of actions.
    Listing,
    /// An example: its content is shown, not stated.
    Example,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockContext {
    pub(super) role: SectionRole,
    /// Whether the block is in an example, regardless of its own heading.
    pub(super) is_example: bool,
    /// The block number of the line that introduces the list around the block.
    pub(super) lead: Option<usize>,
    pub(super) is_lead: bool,
    /// Whether the block is a step of a procedure: a numbered item, or below one.
    pub(super) is_step: bool,
}

impl BlockContext {
    pub(super) fn has_role(self, role: SectionRole) -> bool {
        self.role == role
    }

    /// Returns whether the text must not be taken literally.
    pub(super) fn is_wrong(self) -> bool {
        matches!(self.role, SectionRole::Forbidden | SectionRole::Mistakes)
    }
}

/// Classifies each block by the headings above it and the line before its list.
pub(super) fn classify_blocks(blocks: &[MarkdownBlock]) -> Vec<BlockContext> {
    let mut places: Vec<BlockContext> = Vec::with_capacity(blocks.len());
    let mut lead: Option<usize> = None;
    let has_sections = blocks.iter().any(|block| matches!(block.kind, MarkdownBlockKind::Heading(2..)));
    for (index, block) in blocks.iter().enumerate() {
        let above = block.heading.map_or(BlockContext::default(), |heading| places[heading]);
        if block.is_heading() {
            lead = None;
            let own = if block.kind == MarkdownBlockKind::Heading(1) {
                SectionRole::Plain
            } else {
                classify_heading(&block.prose.text)
            };
            places.push(inherit_context(above, own));
            continue;
        }
        let is_below_title = block.heading.is_some_and(|heading| blocks[heading].kind == MarkdownBlockKind::Heading(1));
        let mut place = above;
        if place.has_role(SectionRole::Plain)
            && is_below_title
            && has_sections
            && block.kind == MarkdownBlockKind::Paragraph
        {
            place.role = SectionRole::Intro;
        }
        if let Some(item) = block.item {
            let around = places[item];
            place = BlockContext { role: around.role, is_step: around.is_step, ..place };
            place.is_example |= around.is_example;
        }
        place.lead = lead.filter(|lead| introduces_block(&blocks[*lead], block));
        let own = place.lead.map_or(SectionRole::Plain, |lead| classify_lead_line(&blocks[lead].prose.text));
        if own != SectionRole::Plain {
            place.role = own;
        }
        place.is_example |= own == SectionRole::Example || block.notice == Some(QuoteNotice::Example);
        place.is_step |= block.is_ordered() && !place.has_role(SectionRole::Rules) && !place.is_wrong();
        let text = block.prose.text.trim_end();
        // A warning contains instructions even in a list of mistakes.
        if block.notice == Some(QuoteNotice::Warning) && place.is_wrong() {
            place.role = SectionRole::Rules;
        }
        place.is_lead = block.is_prose()
            && blocks.get(index + 1).is_some_and(|next| {
                let is_above = next.is_item() && next.depth > block.depth || next.is_quoted && !block.is_quoted;
                is_above && (text.ends_with([':', '：']) || text.split(' ').count() <= 4)
            });
        if place.is_lead {
            lead = Some(index);
        } else if block.kind == MarkdownBlockKind::Paragraph && !block.is_quoted && block.item.is_none() {
            lead = None;
        }
        places.push(place);
    }
    places
}

/// Returns whether a line introduces a block: the items or the quotation below it.
fn introduces_block(above: &MarkdownBlock, block: &MarkdownBlock) -> bool {
    above.heading == block.heading && (block.depth > above.depth || block.is_quoted && !above.is_quoted)
}

/// A section inherits the role of its parent, unless its heading states another one.
fn inherit_context(above: BlockContext, own: SectionRole) -> BlockContext {
    let inherited = if above.has_role(SectionRole::Trigger) { SectionRole::Plain } else { above.role };
    let role = if own == SectionRole::Plain { inherited } else { own };
    let is_example =
        own == SectionRole::Example || above.is_example && !matches!(own, SectionRole::Rules | SectionRole::Forbidden);
    BlockContext { role, is_example, ..BlockContext::default() }
}

pub(super) fn classify_heading(heading: &str) -> SectionRole {
    let (words, lexicon) = (WordList::parse(heading), &*LEXICON);
    let last = words.len().saturating_sub(1);
    let has = |of: &[&str]| words.contains_any(0..words.len(), of);
    let is_counted = words.is_any_of(0, "step phase stage part task")
        && lexicon.rules_headings.match_length_at(&words, last).is_none();
    let is_denied = has(&["does", "doesn't", "won't"]) && has(&["not", "doesn't", "won't"]);
    let is_scope = words.longest_phrase_at(0, &["out of scope", "not in scope"]).is_some();
    let has_both = has(&["do's", "dos", "do"]) && has(&["don'ts", "donts", "don't"]);
    let is_weighed = heading.ends_with(')') && words.is_any_of(last, "critical high medium low");
    let is_weak =
        words.len() <= 4 && !words.is_imperative(0) && lexicon.weak_rules_headings.contains(words.lower_at(last));
    let shown = lexicon.example_headings.match_length_at(&words, 0);
    if is_scope || lexicon.trigger_headings.occurs_in(&words) {
        SectionRole::Trigger
    } else if is_denied {
        SectionRole::Forbidden
    } else if is_counted {
        SectionRole::Procedure
    } else if !has_both && is_prohibition_heading(&words) {
        SectionRole::Forbidden
    } else if lexicon.mistake_headings.occurs_in(&words) {
        SectionRole::Mistakes
    } else if has_both || is_weighed || is_weak || lexicon.rules_headings.occurs_in(&words) {
        SectionRole::Rules
    } else if shown.is_some_and(|length| length == words.len())
        || has(&["examples", "example"])
        || words.is_any_of(last, "template templates") && words.len() <= 3
    {
        SectionRole::Example
    } else if lexicon.choice_headings.occurs_in(&words) {
        SectionRole::Choices
    } else if lexicon.trouble_headings.occurs_in(&words) {
        SectionRole::Trouble
    } else if lexicon.procedure_headings.occurs_in(&words) {
        SectionRole::Procedure
    } else if lexicon.listing_headings.match_length_at(&words, 0).is_some() {
        SectionRole::Listing
    } else {
        SectionRole::Plain
    }
}

/// Returns whether a heading announces prohibitions: `Never do this`, but not `Don't know what is wrong yet`. The text
/// below `Avoid rate limits` explains how to avoid them.
pub(super) fn is_prohibition_heading(words: &WordList<'_>) -> bool {
    let is_case = words.contains_any(0..words.len(), &["if", "when", "unless"]);
    let is_named = |index: usize| words.is_any_of(index, "prohibited forbidden banned what things");
    let stands = |index: usize| {
        let Some(length) = LEXICON.never_headings.match_length_at(words, index) else { return false };
        let mut rest = index + length..words.len();
        rest.len() <= 2 && is_named(index) || rest.all(|index| LEXICON.heading_fillers.contains(words.lower_at(index)))
    };
    !is_case && (0..words.len()).any(stands)
}

fn classify_lead_line(text: &str) -> SectionRole {
    let words = WordList::parse(text);
    let chosen = ["based on", "depending on", "according to", "pick one", "one of"];
    let remedy = ["instead", "fix", "fixes", "solution", "solutions", "remedy", "better", "correct", "prevention"];
    if (0..words.len()).any(|index| words.longest_phrase_at(index, &chosen).is_some()) {
        return SectionRole::Choices;
    }
    if words.is_any_of(0, "to instead") {
        return SectionRole::Procedure;
    }
    // The items describe what is wrong: `No opinions` is an observation there.
    if words.is_any_of(0, "symptom symptoms signs") {
        return SectionRole::Trouble;
    }
    if words.len() <= 4 && words.contains_any(0..words.len(), &remedy) {
        return SectionRole::Rules;
    }
    // A long sentence that merely contains such a word does not classify the list after it.
    match classify_heading(text) {
        _ if words.len() > 9 => SectionRole::Plain,
        SectionRole::Forbidden if words.len() > 5 && LEXICON.never_headings.match_length_at(&words, 0).is_none() => {
            SectionRole::Plain
        }
        SectionRole::Procedure | SectionRole::Listing | SectionRole::Trouble if words.len() > 4 => SectionRole::Plain,
        role => role,
    }
}

/// Returns whether a text has a mark for wrong things.
pub(super) fn has_bad_mark(text: &str) -> bool {
    text.starts_with(['❌', '✗', '✘', '✖', '🚫', '⛔', '👎'])
}

/// Returns whether a text has a mark for right things.
pub(super) fn has_good_mark(text: &str) -> bool {
    text.starts_with(['✅', '✔', '✓', '☑', '👍'])
}
