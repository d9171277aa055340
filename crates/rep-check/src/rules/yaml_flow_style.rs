use rep_model::yaml::{YamlEntry, YamlNode, YamlValue};
use rep_model::{Frontmatter, Manifest, Skill, Span};

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::grouping::{add_places, list_names};
use crate::profile::REFERENCE;
use crate::yaml_edits::line_end;
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
    draft.with_optional_fix(rewrite_as_blocks(manifest, &front.root, front, &flows));
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

/// Returns a fix that writes every list and mapping in brackets with one item on each line. All of them must be values of
/// block mappings, on one line, and contain only scalars.
fn rewrite_as_blocks(
    manifest: &Manifest,
    root: &YamlNode,
    front: &Frontmatter,
    flows: &[(Span, String)],
) -> Option<FindingFix> {
    let source = manifest.source.text();
    let mut fix = FindingFix::safe("write one item per line");
    for (span, _) in flows {
        let entry = find_value_entry(root, *span)?;
        let line = source[..entry.key.span.start].rfind('\n').map_or(0, |at| at + 1);
        let column = entry.key.span.start - line;
        let is_plain = source[line..entry.key.span.start].bytes().all(|byte| byte == b' ' || byte == b'-')
            && source[entry.key.span.end..span.start].trim() == ":"
            && entry.value.tag.is_none()
            && !front.comments.iter().any(|comment| comment.start >= line && comment.start <= span.end + 1)
            && !source[span.range()].contains('\n');
        if !is_plain {
            return None;
        }
        let lines = list_items(source, &entry.value)?;
        let separator = format!("{}{}", line_end(source, span.end), " ".repeat(column + 2));
        let text: String = lines.iter().map(|line| format!("{separator}{line}")).collect();
        fix = fix.replace(manifest.file, Span::new(entry.key.span.end + 1, span.end), text);
    }
    Some(fix)
}

/// Returns the items of a list or mapping as lines of a block.
fn list_items(source: &str, node: &YamlNode) -> Option<Vec<String>> {
    let write = |node: &YamlNode| {
        let written = source.get(node.span.range())?;
        let is_simple = node.text().is_some() && node.tag.is_none() && !written.is_empty();
        // What is plain text in brackets means the same outside of them, unless it looks like the start of something else.
        (is_simple && !written.starts_with(['-', '?', ':', '&', '*', '!'])).then(|| written.to_owned())
    };
    let lines: Option<Vec<String>> = match &node.value {
        YamlValue::Sequence { items, .. } => items.iter().map(|item| Some(format!("- {}", write(item)?))).collect(),
        YamlValue::Mapping { entries, .. } => {
            entries.iter().map(|entry| Some(format!("{}: {}", write(&entry.key)?, write(&entry.value)?))).collect()
        }
        YamlValue::Scalar { .. } => None,
    };
    lines.filter(|lines| !lines.is_empty())
}

/// Finds the entry of a block mapping whose value is at a span.
fn find_value_entry(node: &YamlNode, span: Span) -> Option<&YamlEntry> {
    match &node.value {
        YamlValue::Mapping { entries, is_flow: false } => {
            let own = entries.iter().find(|entry| entry.value.span == span);
            own.or_else(|| entries.iter().find_map(|entry| find_value_entry(&entry.value, span)))
        }
        YamlValue::Sequence { items, is_flow: false } => items.iter().find_map(|item| find_value_entry(item, span)),
        YamlValue::Scalar { .. } | YamlValue::Mapping { .. } | YamlValue::Sequence { .. } => None,
    }
}
