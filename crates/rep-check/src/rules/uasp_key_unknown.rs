use rep_model::Skill;
use rep_model::suggestion::nearest_name;
use rep_model::uasp::{SECTION_NAMES, UaspView};
use rep_model::yaml::YamlNode;

use crate::draft::Findings;
use crate::yaml_edits::suggest_value;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-key-unknown",
    summary: "a UASP file has an unknown section",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.1, properties")],
    requirements: &["US-01"],
    page: include_str!("uasp_key_unknown.md"),
    check: RuleCheck::Skill(check),
};

/// Sections beyond the specification: the permissions of `rep exec`, and the address that requests are sent to.
const EXTENSION_SECTIONS: [&str; 3] = ["permissions", "safety", "api"];
/// The fields of `meta`.
const META_FIELDS: [&str; 4] = ["name", "version", "type", "description"];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(root) = uasp.root.as_ref() else { continue };
        report_unknown_keys(
            skill,
            root,
            (&uasp.file, ""),
            &[&SECTION_NAMES[..], &EXTENSION_SECTIONS].concat(),
            findings,
        );
        if let Some(meta) = uasp.view().and_then(UaspView::meta_fields) {
            report_unknown_keys(skill, meta, (&uasp.file, "meta"), &META_FIELDS, findings);
        }
    }
}

fn report_unknown_keys(
    skill: &Skill,
    node: &YamlNode,
    (file, path): (&str, &str),
    known: &[&str],
    findings: &mut Findings<'_>,
) {
    for entry in node.entries().unwrap_or(&[]) {
        let Some(key) = entry.key.text().filter(|key| !key.starts_with("x-") && *key != "<<") else { continue };
        if known.contains(&key) {
            continue;
        }
        let (what, at) = match path {
            "" => ("section", key.to_owned()),
            path => ("field of `meta`", format!("{path}.{key}")),
        };
        let near = nearest_name(key, known.iter().copied()).filter(|near| node.find_entry(near).is_none());
        let fix = near.and_then(|near| suggest_value(skill, file, entry.key.span, near));
        let draft = findings.add(file, entry.key.span, format!("`{key}` is not a known {what}"));
        draft.with_data_path(at).with_optional_fix(fix).help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "readers skip it; remove it, or prefix it with `x-` to mark it as custom".to_owned(),
        });
    }
}
