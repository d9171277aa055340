use rep_model::uasp::SUFFIX;
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-file-missing",
    summary: "the skill has no UASP file",
    since: "0.1.0",
    levels: Levels { error: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.2")],
    requirements: &["PKG-29"],
    page: include_str!("uasp_file_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // A file that is there and could not be read is reported by itself.
    if skill.tree.entries.keys().any(|path| path.ends_with(SUFFIX) && !path.contains('/')) {
        return;
    }
    findings
        .add("", Span::default(), format!("the skill has no `*{SUFFIX}` file"))
        .help(format!("add `<name>{SUFFIX}` beside SKILL.md, or do not ask for the profile `uasp`"));
}
