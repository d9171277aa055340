use rep_model::names;

use crate::report::{Facts, SetFindings};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "depends-on-unknown",
    summary: "a dependency on a skill that is not there",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("frontmatter mapping, depends_on"), Cite::universal("§3, depends_on")],
    requirements: &["DISC-17", "DISC-18"],
    page: include_str!("depends_on_unknown.md"),
    check: Check::Set(check),
};

fn check(skills: &[Facts], findings: &mut SetFindings) {
    // A skill checked alone does not show what stands beside it.
    if findings.skills() < 2 {
        return;
    }
    for (id, place) in skills.iter().flat_map(|skill| &skill.depends_on) {
        // What cannot be an id at all is `pmcp-depends-on-invalid`.
        if names::is_plain(id) && !findings.is_name(id) {
            let help = "add that skill to the set, or mend the id";
            findings.add(place, format!("depends on the unknown skill `{id}`"), help);
        }
    }
}
