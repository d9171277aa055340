use rep_model::Skill;
use rep_model::suggestion::nearest_name;
use rep_model::uasp::{SECTIONS, Uasp};
use rep_model::yaml::Node;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-key-unknown",
    summary: "a section that UASP does not know",
    since: "0.1.0",
    levels: Levels { info: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.1, properties")],
    requirements: &["US-01"],
    page: include_str!("uasp_key_unknown.md"),
    check: Check::Skill(check),
};

/// Sections beyond the specification: what `rep exec` lets a skill do, and where it sends its requests.
const OURS: [&str; 3] = ["permissions", "safety", "api"];
/// The fields of `meta`.
const META: [&str; 4] = ["name", "version", "type", "description"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(root) = uasp.root.as_ref() else { continue };
        strangers(root, &uasp.file, "", &[&SECTIONS[..], &OURS].concat(), findings);
        if let Some(meta) = uasp.view().and_then(Uasp::meta_fields) {
            strangers(meta, &uasp.file, "meta", &META, findings);
        }
    }
}

fn strangers(node: &Node, file: &str, path: &str, known: &[&str], findings: &mut Findings<'_>) {
    for entry in node.entries().unwrap_or(&[]) {
        let Some(key) = entry.key.text().filter(|key| !key.starts_with("x-") && *key != "<<") else { continue };
        if known.contains(&key) {
            continue;
        }
        let (what, at) = match path {
            "" => ("section", key.to_owned()),
            path => ("field of `meta`", format!("{path}.{key}")),
        };
        let draft = findings.add(file, entry.key.span, format!("`{key}` is no {what} that UASP knows"));
        draft.path(at).help(match nearest_name(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "readers pass over it; remove it, or start it with `x-` to say that it is yours".to_owned(),
        });
    }
}
