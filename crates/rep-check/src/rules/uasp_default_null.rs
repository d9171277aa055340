use rep_model::Skill;
use rep_model::uasp::Uasp;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-default-null",
    summary: "a default that is null",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.1, EnvironmentVar"), Cite::uasp("§5.11")],
    requirements: &["US-21"],
    page: include_str!("uasp_default_null.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // Taken to the letter the schema refuses null, which is `field-type`.
    if findings.strict_schema() {
        return;
    }
    for uasp in &skill.uasp {
        for (index, item) in uasp.view().map(Uasp::environment).unwrap_or_default().iter().enumerate() {
            let Some(entry) = item.entry("default").filter(|entry| entry.value.is_null()) else { continue };
            findings
                .add(&uasp.file, entry.key.span, "`default` is null, where the schema wants text")
                .path(format!("environment[{index}].default"))
                .help("leave the field out where there is no default");
        }
    }
}
