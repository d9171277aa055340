use rep_model::Skill;
use rep_model::yaml::{Node, Value};

use crate::data_path::short_key;
use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "path-absolute",
    summary: "a frontmatter value that is an absolute path",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§1")],
    requirements: &["PKG-14"],
    page: include_str!("path_absolute.md"),
    check: Check::Skill(check),
};

/// Fields whose values are judged elsewhere, may well be absolute, or describe data that is not the skill's.
const LEFT_ALONE: [&str; 9] = [
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

/// The folders an absolute path of a machine starts with. `/api/v1` is an address, and `/commit` a command.
const ROOTS: [&str; 14] = [
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
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let mut found = Vec::new();
    walk(&front.root, &mut String::new(), &mut found);
    for (node, path) in found {
        let value = node.text().unwrap_or("");
        findings
            .add(manifest.file, node.span, format!("`{value}` is an absolute path"))
            .path(path)
            .help("put the file into the skill, and write its path from the skill's folder");
    }
}

fn walk<'a>(node: &'a Node, path: &mut String, found: &mut Vec<(&'a Node, String)>) {
    let above = path.len();
    match &node.value {
        Value::Scalar { text, .. } => {
            if is_machine_path(text) {
                found.push((node, path.clone()));
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
                let Some(key) = entry.key.text().filter(|key| !LEFT_ALONE.contains(key)) else { continue };
                path.push_str(if above == 0 { "" } else { "." });
                path.push_str(short_key(key));
                walk(&entry.value, path, found);
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
    let has_root = ROOTS.iter().any(|root| text.len() > root.len() && text.starts_with(root));
    let is_pattern = text.contains(|letter: char| letter.is_whitespace() || "{}<>$*".contains(letter));
    (has_drive || has_root) && !is_pattern
}
