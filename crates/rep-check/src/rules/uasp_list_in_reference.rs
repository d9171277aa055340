use rep_model::Skill;
use rep_model::uasp::Uasp;

use crate::data_path::short_key;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-list-in-reference",
    summary: "a list where the schema of `reference` wants text",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.1, ReferenceEntry"), Cite::uasp("§8.2")],
    requirements: &["US-19"],
    page: include_str!("uasp_list_in_reference.md"),
    check: Check::Skill(check),
};

/// The fields of a reference entry whose type the schema gives by name.
const TYPED: [&str; 4] = ["syntax", "example", "notes", "values"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // Taken to the letter the schema refuses such a list, which is `field-type`.
    if findings.strict_schema() {
        return;
    }
    for uasp in &skill.uasp {
        for entry in uasp.view().map(Uasp::reference).unwrap_or_default() {
            for field in entry.value.entries().unwrap_or(&[]) {
                let (Some(name), Some(key)) = (entry.key.text().map(short_key), field.key.text()) else { continue };
                if field.value.items().is_some() && !TYPED.contains(&key) {
                    findings
                        .add(&uasp.file, field.value.span, format!("`{key}` is a list, where the schema wants text"))
                        .path(format!("reference.{name}.{key}"))
                        .help("write one text, or put the list under `values`");
                }
            }
        }
    }
}
