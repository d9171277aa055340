use rep_model::hash::{self, Unhashable};
use rep_model::yaml::duplicate_keys;
use rep_model::{Skill, UaspFile};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-not-hashable",
    summary: "a value that keeps the content from being hashed",
    since: "0.1.0",
    levels: Levels { error: &[Profile::Uasp], ..Levels::NONE },
    cites: &[Cite::uasp("§3.3")],
    requirements: &["VER-01", "VER-06", "US-31"],
    page: include_str!("uasp_not_hashable.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(fault) = fault(uasp) else { continue };
        findings.add(&uasp.file, fault.span, fault.message).help(fault.help);
    }
}

/// Why the content of a file has no hash, unless another rule says it: `meta` that is no mapping, and doubled keys.
pub(super) fn fault(uasp: &UaspFile) -> Option<Unhashable> {
    let root = uasp.root.as_ref()?;
    uasp.view()?.meta_fields()?.entries()?;
    let fault = hash::normalise(root).err()?;
    let is_doubled = duplicate_keys(root).iter().any(|(_, span)| *span == fault.span);
    (!is_doubled).then_some(fault)
}
