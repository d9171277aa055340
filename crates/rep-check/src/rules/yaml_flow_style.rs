use rep_model::yaml::{YamlNode, YamlValue};
use rep_model::{Frontmatter, Skill, Span};

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::grouping::{add_places, list_names};
use crate::profile::REFERENCE;
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-flow-style",
    summary: "the frontmatter uses YAML flow style",
    since: "0.1.0",
    levels: RuleLevels { warning: REFERENCE, automatic: Some(Level::Info), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::reference_tool("parsing of frontmatter"),
        RuleCitation::public_survey("§2: 24% of skills, all rejected by it"),
    ],
    requirements: &["PKG-33"],
    page: include_str!("yaml_flow_style.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let mut flows: Vec<(Span, String)> = Vec::new();
    collect_flows(&front.root, &mut String::new(), &mut flows);
    let Some((span, path)) = flows.first() else { return };
    let message = match flows.as_slice() {
        [_] => "a value is written in brackets, which the reference parser rejects".to_owned(),
        flows => {
            let listed = list_names(flows.iter().map(|(_, path)| path.as_str()));
            format!("{} values are written in brackets, which the reference parser rejects: {listed}", flows.len())
        }
    };
    let draft = findings.add(manifest.file, *span, message);
    draft.help("write one item per line: `- item` in a list, `key: value` in a mapping");
    if !path.is_empty() {
        draft.with_data_path(path);
    }
    if flows.iter().all(|(_, path)| is_reported_by_others(front, path)) {
        draft.only_when_selected();
    }
    add_places(draft, manifest.file, flows.iter().map(|(span, path)| (*span, path.as_str())));
}

/// Whether another rule reports the value at a path in its own right, or only Claude Code reads it.
fn is_reported_by_others(front: &Frontmatter, path: &str) -> bool {
    let field = path.split(['.', '[']).next().unwrap_or("");
    match field {
        // Lists and mappings under `metadata` are not text.
        "metadata" => path != "metadata" || front.get("metadata").is_some_and(has_collection),
        // The whole frontmatter is in brackets.
        "" => false,
        // `allowed-tools-list` and the like, or `field-unknown`.
        _ => true,
    }
}

fn has_collection(node: &YamlNode) -> bool {
    node.entries().unwrap_or(&[]).iter().any(|entry| entry.value.text().is_none())
}

/// Collects the outermost collections in `[…]` or `{…}`, with their data paths.
fn collect_flows(node: &YamlNode, path: &mut String, flows: &mut Vec<(Span, String)>) {
    let above = path.len();
    match &node.value {
        YamlValue::Scalar { .. } => {}
        YamlValue::Sequence { is_flow: true, .. } | YamlValue::Mapping { is_flow: true, .. } => {
            flows.push((node.span, path.clone()));
        }
        YamlValue::Sequence { items, .. } => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                collect_flows(item, path, flows);
                path.truncate(above);
            }
        }
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                path.push_str(if above == 0 { "" } else { "." });
                path.push_str(shorten_key(entry.key.text().unwrap_or_default()));
                collect_flows(&entry.value, path, flows);
                path.truncate(above);
            }
        }
    }
}
