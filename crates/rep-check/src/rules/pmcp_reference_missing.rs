use rep_model::{Skill, TreeEntry};

use crate::draft::Findings;
use crate::personal_mcp::find_references;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-reference-missing",
    summary: "a referenced file does not exist",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("validation behaviour, broken required mappings")],
    requirements: &["VAL-60", "VAL-66"],
    page: include_str!("pmcp_reference_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    if !skill.tree.omissions.is_empty() {
        return;
    }
    for reference in find_references(skill) {
        let Ok(path) = &reference.normal_path else { continue };
        // `pmcp-reference-escapes` reports a path that leaves the skill through a link.
        let is_folder = matches!(skill.tree.entries.get(path), Some(TreeEntry::Directory));
        if (!skill.tree.has_path(path) || is_folder) && !skill.tree.has_outside_link(path) {
            findings
                .add(reference.file, reference.path.span(), format!("reference `{path}` does not exist"))
                .with_data_path(&reference.field)
                .help("add the file, or fix the path; it is relative to the skill's directory");
        }
    }
}
