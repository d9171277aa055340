use rep_model::frontmatter::Text;
use rep_model::{Skill, names};

use crate::description::find_description;
use crate::engine::Findings;
use crate::hosts::CLAUDE_CODE_LISTING;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "listing-too-long",
    summary: "description and `when_to_use` together are longer than the listing shows",
    since: "0.1.0",
    levels: Levels { warning: Profile::ClaudeCode.as_set(), ..Levels::NONE },
    cites: &[Cite::host("Claude Code: skillListingMaxDescChars")],
    requirements: &["VAL-43"],
    page: include_str!("listing_too_long.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let when = manifest.front.as_ref().and_then(|front| front.text("when_to_use"));
    let count = |text: Text<'_>| names::length(names::strip(text.value));
    let total = count(description) + when.map_or(0, count);
    let max = usize::try_from(CLAUDE_CODE_LISTING.value).unwrap_or(usize::MAX);
    if total <= max {
        return;
    }
    let message = match when {
        Some(_) => format!("description and `when_to_use` have {total} characters, and {max} are shown"),
        None => format!("description has {total} characters, and {max} are shown"),
    };
    findings
        .add(manifest.file, when.unwrap_or(description).span(), message)
        .path(if when.is_some() { "when_to_use" } else { "description" })
        .help(format!("shorten it, because the rest is cut off ({})", CLAUDE_CODE_LISTING.origin()));
}
