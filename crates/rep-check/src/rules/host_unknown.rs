use rep_model::Skill;
use rep_model::frontmatter::text;
use rep_model::yaml::Node;

use crate::engine::Findings;
use crate::hosts::HOST_IDS;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "host-unknown",
    summary: "`host_overrides` names a host that has no reserved identifier",
    since: "0.1.0",
    levels: Levels { info: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§3, reserved host identifiers")],
    requirements: &["VAL-53"],
    page: include_str!("host_unknown.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let overrides = front.get("host_overrides").and_then(Node::items).unwrap_or(&[]);
    for (index, item) in overrides.iter().enumerate() {
        let Some(host) = item.get("host").and_then(text) else { continue };
        if !HOST_IDS.contains(&host.value) {
            let listed: Vec<String> = HOST_IDS.iter().map(|id| format!("`{id}`")).collect();
            findings
                .add(manifest.file, host.span(), format!("host `{}` is not a reserved identifier", host.value))
                .path(format!("host_overrides[{index}].host"))
                .help(format!("the reserved ones are {}", listed.join(", ")));
        }
    }
}
