use rep_model::Skill;

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-section-not-applicable",
    summary: "a section does not apply to this type of skill",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§4.3")],
    requirements: &["US-23"],
    page: include_str!("uasp_section_not_applicable.md"),
    check: RuleCheck::Skill(check),
};

/// The sections that do not apply to `knowledge`; every other type may use all of them.
const NOT_FOR_KNOWLEDGE: [&str; 4] = ["state", "commands", "global_flags", "templates"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(view) = uasp.view() else { continue };
        if view.kind().is_none_or(|kind| kind.value != "knowledge") {
            continue;
        }
        for section in NOT_FOR_KNOWLEDGE {
            let Some(entry) = view.0.find_entry(section) else { continue };
            let size = entry.value.entries().map(<[_]>::len).or(entry.value.items().map(<[_]>::len)).unwrap_or(0);
            if size > 0 {
                findings
                    .add(&uasp.file, entry.key.span, format!("`{section}` does not apply to a `knowledge` skill"))
                    .with_data_path(section)
                    .help("remove the section, or change the type to `cli`, `api` or `hybrid`");
            }
        }
    }
}
