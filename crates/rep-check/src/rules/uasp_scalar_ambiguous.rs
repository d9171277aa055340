use std::collections::BTreeMap;

use rep_model::yaml::{Node, Value, core, pyyaml};
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::uasp_version::find_unhashable;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-scalar-ambiguous",
    summary: "a value that YAML 1.1 and YAML 1.2 read differently",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.3"), Cite::yaml("§10.3, core schema")],
    requirements: &["VER-06"],
    page: include_str!("uasp_scalar_ambiguous.md"),
    check: Check::Skill(check),
};

/// The most values that are reported of one file.
const REPORTED_MAX: usize = 20;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(root) = &uasp.root else { continue };
        let mut found = BTreeMap::new();
        walk(root, &mut String::new(), &mut found);
        // One fault is reported once.
        let unhashable = find_unhashable(uasp).map(|unhashable| unhashable.span);
        found.retain(|span, (path, _)| path != "meta.version" && Some(*span) != unhashable);
        for (span, (path, message)) in found.into_iter().take(REPORTED_MAX) {
            findings
                .add(&uasp.file, span, message)
                .path(path)
                .help("quote it if text is meant; else write it so that both agree");
        }
    }
}

fn walk(node: &Node, path: &mut String, found: &mut BTreeMap<Span, (String, String)>) {
    // Two of them may be dropped again.
    if found.len() >= REPORTED_MAX + 2 {
        return;
    }
    let above = path.len();
    match &node.value {
        Value::Scalar { text, .. } => {
            if let Some((old, recent)) = readings(node) {
                let message = format!("`{text}` is {old} in YAML 1.1 and {recent} in YAML 1.2");
                found.insert(node.span, (path.clone(), message));
            }
        }
        Value::Sequence { items, .. } => {
            for (index, item) in items.iter().enumerate() {
                path.extend(["[", &index.to_string(), "]"]);
                walk(item, path, found);
                path.truncate(above);
            }
        }
        Value::Mapping { entries, .. } => {
            for entry in entries {
                path.push_str(if above == 0 { "" } else { "." });
                path.push_str(entry.key.text().unwrap_or("?"));
                walk(&entry.key, path, found);
                walk(&entry.value, path, found);
                path.truncate(above);
            }
        }
    }
}

/// What the two versions take a scalar for, in words, where that differs.
fn readings(node: &Node) -> Option<(String, String)> {
    // A tag says what is meant.
    if node.tag.is_some() {
        return None;
    }
    let recent = match core::scalar(node)? {
        core::Scalar::Null => "null".to_owned(),
        core::Scalar::Bool(value) => format!("the boolean {value}"),
        core::Scalar::Int(value) => format!("the number {value}"),
        core::Scalar::Float(value) => format!("the number {value}"),
        core::Scalar::Text => "text".to_owned(),
    };
    let old = match pyyaml::scalar(node)? {
        pyyaml::Scalar::Null => "null".to_owned(),
        pyyaml::Scalar::Bool(value) => format!("the boolean {value}"),
        pyyaml::Scalar::Int(digits) => format!("the number {digits}"),
        pyyaml::Scalar::Float(value) => format!("the number {value}"),
        pyyaml::Scalar::Text => "text".to_owned(),
        pyyaml::Scalar::Timestamp => "a date".to_owned(),
        pyyaml::Scalar::Refused(what) => what.to_owned(),
        // A merge is an anchor's business.
        pyyaml::Scalar::Merge => return None,
    };
    (old != recent).then_some((old, recent))
}
