use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::profile::{CODING_AGENTS, MARKDOWN};
use crate::skill_name::{find_name, suggest_name};
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-uppercase",
    summary: "`name` has upper-case letters",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN.without(CODING_AGENTS), info: CODING_AGENTS, ..Levels::NONE },
    cites: &[
        Cite::agentskills("name field"),
        Cite::reference("validate: must be lowercase"),
        Cite::universal("Appendix A, pattern"),
    ],
    requirements: &["VAL-04", "VAL-06", "VAL-07", "VAL-12", "VAL-15"],
    page: include_str!("name_uppercase.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(name) = find_name(skill) else { return };
    if names::is_lowercase(&name.text) {
        return;
    }
    let help = suggest_name(&name.text.to_lowercase(), "use lower-case letters, and call the folder the same");
    findings.add(name.file, name.span, "name has upper-case letters").path("name").help(help);
}
