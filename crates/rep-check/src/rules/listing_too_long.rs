use rep_model::frontmatter::ScalarText;
use rep_model::{Skill, names};

use crate::description::find_description;
use crate::draft::Findings;
use crate::host_limits::CLAUDE_CODE_LISTING;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "listing-too-long",
    summary: "`description` and `when_to_use` together exceed the listing limit",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::ClaudeCode.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::host_table("Claude Code: skillListingMaxDescChars")],
    requirements: &["VAL-43"],
    page: include_str!("listing_too_long.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let when = manifest.front.as_ref().and_then(|front| front.get_text("when_to_use"));
    let count = |text: ScalarText<'_>| names::count_chars(names::strip_whitespace(text.value));
    let total = count(description) + when.map_or(0, count);
    let max = usize::try_from(CLAUDE_CODE_LISTING.value).unwrap_or(usize::MAX);
    if total <= max {
        return;
    }
    let message = match when {
        Some(_) => format!("`description` and `when_to_use` have {total} characters, but only {max} are shown"),
        None => format!("`description` has {total} characters, but only {max} are shown"),
    };
    findings
        .add(manifest.file, when.unwrap_or(description).span(), message)
        .with_data_path(if when.is_some() { "when_to_use" } else { "description" })
        .help(format!("shorten it; the rest is cut off ({})", CLAUDE_CODE_LISTING.describe_origin()));
}
