use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "skill-md-lowercase",
    summary: "the file is named `skill.md` in small letters",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[
        Cite::client_guide("discovery"),
        Cite::reference("the file it looks for"),
        Cite::evidence("§2: 479 files named so"),
    ],
    requirements: &["PKG-07", "PKG-08"],
    page: include_str!("skill_md_lowercase.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = skill.manifest.as_ref().filter(|manifest| manifest.file == "skill.md") else { return };
    findings
        .add(manifest.file, Span::default(), "the file is named `skill.md`; hosts look for `SKILL.md`")
        .help("rename it to exactly `SKILL.md`");
}
