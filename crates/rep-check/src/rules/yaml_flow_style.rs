use rep_model::yaml::{YamlNode, YamlValue};
use rep_model::{Skill, Span};

use crate::engine::Findings;
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
    let Some((span, path)) = find_first_flow(&front.root) else { return };
    let draft = findings
        .add(manifest.file, span, "a value is written in brackets, which the reference parser rejects")
        .help("write one item per line: `- item` in a list, `key: value` in a mapping");
    if !path.is_empty() {
        draft.with_data_path(path.trim_start_matches('.'));
    }
}

/// Finds the first collection in `[…]` or `{…}`, and its data path relative to `node`, with a dot before each key.
fn find_first_flow(node: &YamlNode) -> Option<(Span, String)> {
    match &node.value {
        YamlValue::Scalar { .. } => None,
        YamlValue::Sequence { is_flow: true, .. } | YamlValue::Mapping { is_flow: true, .. } => {
            Some((node.span, String::new()))
        }
        YamlValue::Sequence { items, .. } => items.iter().enumerate().find_map(|(at, item)| {
            let (span, path) = find_first_flow(item)?;
            Some((span, format!("[{at}]{path}")))
        }),
        YamlValue::Mapping { entries, .. } => entries.iter().find_map(|entry| {
            let (span, path) = find_first_flow(&entry.value)?;
            Some((span, format!(".{}{path}", entry.key.text().unwrap_or_default())))
        }),
    }
}
