use rep_model::uasp::{SUFFIX, Uasp};
use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-file-name",
    summary: "a UASP file whose name is not that of its skill",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.2")],
    requirements: &["PKG-29"],
    page: include_str!("uasp_file_name.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(name) = uasp.view().and_then(Uasp::name).filter(|name| name.is_text()) else { continue };
        let wanted = format!("{}{SUFFIX}", name.value);
        if uasp.file != wanted && names::is_id(name.value) {
            findings
                .add(&uasp.file, name.span(), format!("the skill is `{}` but the file is `{}`", name.value, uasp.file))
                .path("meta.name")
                .help(format!("rename the file to `{wanted}`, or change the name"));
        }
    }
}
