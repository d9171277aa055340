use rep_model::yaml::{Node, Value};
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::REFERENCE;
use crate::{Check, Cite, Level, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-flow-style",
    summary: "the frontmatter holds a value in brackets",
    since: "0.1.0",
    levels: Levels { warning: REFERENCE, unasked: Some(Level::Info), ..Levels::NONE },
    cites: &[Cite::reference("reading of frontmatter"), Cite::evidence("§2: 24% of skills, all refused by it")],
    requirements: &["PKG-33"],
    page: include_str!("yaml_flow_style.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some((span, path)) = first_flow(&front.root) else { return };
    let draft = findings
        .add(manifest.file, span, "a value is written in brackets, which the reference parser refuses")
        .help("write one item per line: `- item` in a list, `key: value` in a mapping");
    if !path.is_empty() {
        draft.path(path.trim_start_matches('.'));
    }
}

/// The first collection in `[…]` or `{…}`, and its data path below `node`, with a leading dot before a key.
fn first_flow(node: &Node) -> Option<(Span, String)> {
    match &node.value {
        Value::Scalar { .. } => None,
        Value::Sequence { is_flow: true, .. } | Value::Mapping { is_flow: true, .. } => {
            Some((node.span, String::new()))
        }
        Value::Sequence { items, .. } => items.iter().enumerate().find_map(|(at, item)| {
            let (span, path) = first_flow(item)?;
            Some((span, format!("[{at}]{path}")))
        }),
        Value::Mapping { entries, .. } => entries.iter().find_map(|entry| {
            let (span, path) = first_flow(&entry.value)?;
            Some((span, format!(".{}{path}", entry.key.text().unwrap_or_default())))
        }),
    }
}
