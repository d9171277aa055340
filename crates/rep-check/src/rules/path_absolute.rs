use rep_model::Skill;
use rep_model::yaml::{YamlNode, YamlValue};

use crate::data_path::shorten_key;
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "path-absolute",
    summary: "a frontmatter value is an absolute path",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§1")],
    requirements: &["PKG-14"],
    page: include_str!("path_absolute.md"),
    check: RuleCheck::Skill(check),
};

/// Fields whose values other rules check, that may be absolute, or that describe data outside the skill.
const SKIPPED_FIELDS: [&str; 9] = [
    "description",
    "entrypoint",
    "evaluation",
    "input_schema",
    "mentions",
    "name",
    "output_schema",
    "permissions",
    "safety",
];

/// The directories that an absolute path starts with. `/api/v1` is an address, and `/commit` a command.
const MACHINE_ROOTS: [&str; 14] = [
    "/Applications/",
    "/Library/",
    "/Users/",
    "/Volumes/",
    "/etc/",
    "/home/",
    "/mnt/",
    "/opt/",
    "/private/",
    "/root/",
    "/srv/",
    "/tmp/",
    "/usr/",
    "/var/",
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let mut found = Vec::new();
    collect_machine_paths(&front.root, &mut String::new(), &mut found);
    for (node, path) in found {
        let value = node.text().unwrap_or("");
        findings
            .add(manifest.file, node.span, format!("`{value}` is an absolute path"))
            .with_data_path(path)
            .help("add the file to the skill, and use a path relative to the skill's directory");
    }
}

fn collect_machine_paths<'a>(node: &'a YamlNode, path: &mut String, found: &mut Vec<(&'a YamlNode, String)>) {
    let above = path.len();
    match &node.value {
        YamlValue::Scalar { text, .. } => {
            if is_machine_path(text) {
                found.push((node, path.clone()));
            }
        }
        YamlValue::Sequence { items, .. } => {
            for (index, item) in items.iter().enumerate() {
                path.extend(["[", &index.to_string(), "]"]);
                collect_machine_paths(item, path, found);
                path.truncate(above);
            }
        }
        YamlValue::Mapping { entries, .. } => {
            for entry in entries {
                let Some(key) = entry.key.text().filter(|key| !SKIPPED_FIELDS.contains(key)) else { continue };
                path.push_str(if above == 0 { "" } else { "." });
                path.push_str(shorten_key(key));
                collect_machine_paths(&entry.value, path, found);
                path.truncate(above);
            }
        }
    }
}

fn is_machine_path(text: &str) -> bool {
    let has_drive = match text.as_bytes() {
        [drive, b':', b'\\' | b'/', next, ..] => drive.is_ascii_alphabetic() && *next != b'/',
        _ => false,
    };
    let has_root = MACHINE_ROOTS.iter().any(|root| text.len() > root.len() && text.starts_with(root));
    let is_pattern = text.contains(|letter: char| letter.is_whitespace() || "{}<>$*".contains(letter));
    (has_drive || has_root) && !is_pattern
}
