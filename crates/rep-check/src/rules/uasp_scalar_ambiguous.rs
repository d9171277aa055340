use std::collections::BTreeMap;

use rep_model::yaml::{YamlNode, YamlValue, core, pyyaml, quote_double};
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::uasp_version::find_unhashable;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-scalar-ambiguous",
    summary: "YAML 1.1 and YAML 1.2 read a value differently",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.3"), RuleCitation::yaml("§10.3, core schema")],
    requirements: &["VER-06"],
    page: include_str!("uasp_scalar_ambiguous.md"),
    check: RuleCheck::Skill(check),
};

/// The maximum number of findings per file.
const REPORTED_MAX: usize = 20;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(root) = &uasp.root else { continue };
        let mut found = BTreeMap::new();
        find_ambiguous_scalars(root, &mut String::new(), &mut found);
        // Each fault is reported once.
        let unhashable = find_unhashable(uasp).map(|unhashable| unhashable.span);
        found.retain(|span, (path, _)| path != "meta.version" && Some(*span) != unhashable);
        for (span, (path, message)) in found.into_iter().take(REPORTED_MAX) {
            findings
                .add(&uasp.file, span, message)
                .with_data_path(path)
                .help("quote it if it is text; otherwise write it so that both versions agree")
                .with_optional_fix(quote_text(&uasp.file, uasp.source.slice(span), span));
        }
    }
}

/// Returns a fix that puts a value in quotes.
fn quote_text(file: &str, written: &str, span: Span) -> Option<FindingFix> {
    let is_plain =
        !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:+-".contains(&byte));
    is_plain.then(|| FindingFix::suggestion("put it in quotes").replace(file, span, quote_double(written)))
}

fn find_ambiguous_scalars(node: &YamlNode, path: &mut String, found: &mut BTreeMap<Span, (String, String)>) {
    // Two of them may be dropped later.
    if found.len() >= REPORTED_MAX + 2 {
        return;
    }
    let above = path.len();
    match &node.value {
        YamlValue::Scalar { text, .. } => {
            if let Some((old, recent)) = compare_readings(node) {
                let message = format!("`{text}` is {old} in YAML 1.1 and {recent} in YAML 1.2");
                found.insert(node.span, (path.clone(), message));
            }
        }
        YamlValue::Sequence { items, .. } => {
            for (index, item) in items.iter().enumerate() {
                path.extend(["[", &index.to_string(), "]"]);
                find_ambiguous_scalars(item, path, found);
                path.truncate(above);
            }
        }
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                path.push_str(if above == 0 { "" } else { "." });
                path.push_str(entry.key.text().unwrap_or("?"));
                find_ambiguous_scalars(&entry.key, path, found);
                find_ambiguous_scalars(&entry.value, path, found);
                path.truncate(above);
            }
        }
    }
}

/// Describes how the two versions read a scalar, if they differ.
fn compare_readings(node: &YamlNode) -> Option<(String, String)> {
    // A tag makes the type explicit.
    if node.tag.is_some() {
        return None;
    }
    let recent = match core::classify_scalar(node)? {
        core::CoreScalar::Null => "null".to_owned(),
        core::CoreScalar::Bool(value) => format!("the boolean {value}"),
        core::CoreScalar::Int(value) => format!("the number {value}"),
        core::CoreScalar::Float(value) => format!("the number {value}"),
        core::CoreScalar::Text => "text".to_owned(),
    };
    let old = match pyyaml::classify_scalar(node)? {
        pyyaml::PyyamlScalar::Null => "null".to_owned(),
        pyyaml::PyyamlScalar::Bool(value) => format!("the boolean {value}"),
        pyyaml::PyyamlScalar::Int(digits) => format!("the number {digits}"),
        pyyaml::PyyamlScalar::Float(value) => format!("the number {value}"),
        pyyaml::PyyamlScalar::Text => "text".to_owned(),
        pyyaml::PyyamlScalar::Timestamp => "a date".to_owned(),
        pyyaml::PyyamlScalar::Refused(what) => what.to_owned(),
        // The rule on anchors reports merges.
        pyyaml::PyyamlScalar::Merge => return None,
    };
    (old != recent).then_some((old, recent))
}
