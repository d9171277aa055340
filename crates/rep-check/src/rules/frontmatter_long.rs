use rep_model::frontmatter::PERSONAL_MCP_FIELD;
use rep_model::yaml::YamlEntry;
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels, token_estimate};

pub(super) static RULE: LintRule = LintRule {
    name: "frontmatter-long",
    summary: "the frontmatter is long",
    since: "0.1.0",
    levels: RuleLevels {
        info: ProfileSet::new(&[Profile::AgentSkills, Profile::Universal, Profile::Aam]),
        ..RuleLevels::NONE
    },
    citations: &[RuleCitation::universal("§10"), RuleCitation::public_survey("§5: sizes")],
    requirements: &["PKG-19"],
    page: include_str!("frontmatter_long.md"),
    check: RuleCheck::Skill(check),
};

/// A description of the maximum length fits in any script. Four of 410 public skills exceed this.
const FRONTMATTER_BYTES_MAX: usize = 4500;
/// Fields whose data cannot be moved elsewhere.
const EXCLUDED_FIELDS: [&str; 2] = ["tools", PERSONAL_MCP_FIELD];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(parts) = manifest.parts else { return };
    let mut counted = manifest.source.slice(parts.front).to_owned();
    for entry in front.fields().iter().rev().filter(|entry| is_excluded_field(entry)) {
        let from = entry.key.span.start.saturating_sub(parts.front.start);
        let to = entry.value.span.end.saturating_sub(parts.front.start);
        if counted.get(from..to).is_some() {
            counted.replace_range(from..to, "");
        }
    }
    if counted.len() > FRONTMATTER_BYTES_MAX {
        let tokens = token_estimate::estimate_tokens(&counted);
        let message = format!("the frontmatter is {} bytes long, about {tokens} tokens", counted.len());
        findings
            .add(manifest.file, Span::empty_at(front.root.span.start), message)
            .help("move details into the body or into referenced files");
    }
}

fn is_excluded_field(entry: &YamlEntry) -> bool {
    entry.key.text().is_some_and(|key| EXCLUDED_FIELDS.contains(&key))
}
