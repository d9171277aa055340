use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-not-mapping",
    summary: "a UASP file is not a mapping of sections",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.1, type: object")],
    requirements: &["US-01"],
    page: include_str!("uasp_not_mapping.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let (span, found) = match &uasp.root {
            Some(root) if root.entries().is_some() => continue,
            Some(root) => (root.span, root.describe_kind()),
            None if is_blank_document(uasp.source.text()) => (Span::default(), "nothing"),
            // Another rule reports the syntax error.
            None => continue,
        };
        findings
            .add(&uasp.file, span, format!("the file contains {found} instead of a mapping of sections"))
            .help("start with `meta:` and put `name`, `version` and `type` under it");
    }
}

/// Whether a text consists only of comments and document markers.
fn is_blank_document(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#') || line == "---" || line == "...")
}
