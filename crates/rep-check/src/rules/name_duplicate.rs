use std::collections::BTreeMap;

use rep_model::names;

use crate::report::Place;
use crate::report::{Facts, SetFindings};
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-duplicate",
    summary: "two skills of one set bear the same name",
    since: "0.1.0",
    levels: Levels {
        error: ProfileSet::new(&[Profile::Pmcp, Profile::Mcp]),
        warning: Profile::ClaudeApi.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::pmcp("frontmatter mapping, id"),
        Cite::client_guide("handling name collisions"),
        Cite::host("mcp: skill addresses"),
    ],
    requirements: &["DISC-13"],
    page: include_str!("name_duplicate.md"),
    check: Check::Set(check),
};

fn check(skills: &[Facts], findings: &mut SetFindings) {
    let mut named: Vec<(&str, &Place)> =
        skills.iter().filter_map(|skill| skill.name.as_ref()).map(|(name, place)| (name.as_str(), place)).collect();
    named.sort_by_key(|(_, place)| *place);
    let mut first: BTreeMap<String, &Place> = BTreeMap::new();
    for (name, place) in named.into_iter().filter(|(name, _)| !name.is_empty()) {
        let other = *first.entry(names::nfkc(name)).or_insert(place);
        if other.shown != place.shown {
            let message = format!("the name `{name}` is already borne by `{}`", other.shown);
            findings.add(place, message, "rename one of the two");
        }
    }
}
