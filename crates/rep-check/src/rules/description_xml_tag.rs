use std::ops::Range;

use rep_model::truncate::ellipsize;
use rep_model::{Skill, Span};

use super::description_empty::description;
use crate::engine::Findings;
use crate::profile::CLAUDE_NAMING;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-xml-tag",
    summary: "`description` holds an XML tag",
    since: "0.1.0",
    levels: Levels {
        error: CLAUDE_NAMING,
        warning: ProfileSet::new(&[Profile::AgentSkills, Profile::OpenAi, Profile::Mcp]),
        ..Levels::NONE
    },
    cites: &[Cite::universal("§3"), Cite::pmcp("description field"), Cite::host("Claude API: no XML tags")],
    requirements: &["VAL-22", "HOST-10"],
    page: include_str!("description_xml_tag.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = description(skill) else { return };
    let Some(tag) = tags(description.value).next().map(|tag| &description.value[tag]) else { return };
    let span = place(manifest.source.slice(description.span()), tag, description.span());
    findings
        .add(manifest.file, span, format!("description holds the tag `{}`", brief(tag)))
        .path("description")
        .help("say it without angle brackets");
}

/// The tag-like parts of a text: `<`, perhaps `/`, a letter, and everything up to the next `>`.
pub(super) fn tags(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text[from..].find('<')?;
            let inner = &text[start + 1..];
            from = start + 1;
            if inner.strip_prefix('/').unwrap_or(inner).starts_with(|first: char| first.is_ascii_alphabetic()) {
                // Without a `>` behind this one there is none behind any later `<` either.
                from = start + 1 + inner.find('>')? + 1;
                return Some(start..from);
            }
        }
    })
}

/// Where a part of a value stands in the file; the whole value, where it is written in another way.
pub(super) fn place(source: &str, part: &str, whole: Span) -> Span {
    // The first line of a block is its header, whose `>` is no part of the text.
    let text = if source.starts_with(['|', '>']) { source.find('\n').unwrap_or(0) } else { 0 };
    let at = source[text..].find(part).map(|at| whole.start + text + at);
    at.map_or(whole, |start| Span::new(start, start + part.len()))
}

/// A tag on one line and not too long, for a message.
fn brief(tag: &str) -> String {
    ellipsize(tag, 40).replace(char::is_control, " ")
}
