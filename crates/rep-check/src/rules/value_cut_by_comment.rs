use rep_model::truncate::truncate_with_ellipsis;
use rep_model::yaml::{YamlScalarStyle, quote_double};
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "value-cut-by-comment",
    summary: "the end of a value is read as a comment",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::yaml("§6.6"), RuleCitation::public_survey("§2: descriptions cut short")],
    requirements: &["VAL-23"],
    page: include_str!("value_cut_by_comment.md"),
    check: RuleCheck::Skill(check),
};

/// Words that a deliberate comment without a space after `#` starts with.
const NOTE_MARKERS: [&str; 9] = ["todo", "fixme", "xxx", "hack", "note", "noqa", "nosec", "yamllint", "rep:"];
/// Words that no sentence ends with.
const OPEN_WORDS: [&str; 20] = [
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "like", "of", "on", "or", "than", "the", "to",
    "using", "via", "with",
];
/// The maximum number of characters of the lost text in a message.
const COMMENT_CHARS_MAX: usize = 24;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    for field in front.fields() {
        let (Some(key), Some(value)) = (field.key.text(), field.value.text()) else { continue };
        let end = field.value.span.end;
        // Comments are in file order.
        let next = front.comments.partition_point(|comment| comment.start < end);
        let Some(comment) = front.comments.get(next) else { continue };
        let gap = manifest.source.slice(Span::new(end, comment.start));
        let is_behind = !gap.is_empty() && gap.bytes().all(|byte| byte == b' ' || byte == b'\t');
        let lost = manifest.source.slice(*comment).trim_end();
        if field.value.style() != Some(YamlScalarStyle::Plain) || !is_behind || !is_rest_of_value(value, lost) {
            continue;
        }
        let shown = truncate_with_ellipsis(lost, COMMENT_CHARS_MAX);
        let message = format!("`{key}` ends before `{shown}`, which YAML reads as a comment");
        let whole = Span::new(field.value.span.start, comment.start + lost.len());
        let quoted = quote_double(manifest.source.slice(whole));
        let draft = findings.add(manifest.file, *comment, message);
        draft.with_data_path(key).help("put the value in quotes");
        if !manifest.source.slice(whole).contains('\n') {
            draft.with_suggestion("put the whole line in quotes", whole, quoted);
        }
    }
}

/// Whether a comment reads as the rest of the value before it. A single word, such as a name or a version, is complete.
fn is_rest_of_value(value: &str, comment: &str) -> bool {
    let Some(rest) = comment.strip_prefix('#') else { return false };
    let inner = rest.trim_start().to_lowercase();
    if !value.trim().contains(' ') || NOTE_MARKERS.iter().any(|note| inner.starts_with(note)) {
        return false;
    }
    rest.starts_with(char::is_alphanumeric) || (!inner.is_empty() && is_unfinished_text(value))
}

/// Whether a text ends in the middle of a sentence.
fn is_unfinished_text(value: &str) -> bool {
    let value = value.trim_end();
    let last = value.rsplit(char::is_whitespace).next().unwrap_or("").to_lowercase();
    let count = |letter: char| value.chars().filter(|found| *found == letter).count();
    value.ends_with([',', '(', '[', '/', '&', '+'])
        || OPEN_WORDS.contains(&last.as_str())
        || count('(') > count(')')
        || count('"') % 2 == 1
        || count('`') % 2 == 1
}
