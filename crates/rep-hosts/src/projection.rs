//! The projection of a skill into a host's format.

use rep_model::yaml::{self, core};
use rep_model::{Frontmatter, Skill, TreeEntry};
use serde_json::{Map, Value};

use crate::excluded_files::{EXCLUDED_FOLDERS, is_skill_part};
use crate::loss::{Loss, LossSeverity};

/// A skill to project.
#[derive(Clone, Copy, Debug)]
pub struct ProjectionSource<'a> {
    /// The name of the skill, without a package.
    pub name: &'a str,
    /// The skill: all paths of its directory, and the contents of its main files.
    pub skill: &'a Skill,
    /// The effective tools of the skill.
    pub tools: &'a [Value],
}

/// A file of a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectedFile {
    /// The path in the projection, separated by `/`.
    pub path: String,
    /// The contents of the file.
    pub content: ProjectedContent,
    /// Whether the file is executable.
    pub is_executable: bool,
}

/// The contents of a projected file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectedContent {
    /// The contents of a source file: the index of the source, and the path in it.
    FromSource(usize, String),
    /// The bytes themselves.
    Bytes(Vec<u8>),
}

/// The output for a host.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectionOutput {
    /// A directory.
    Folder(Vec<ProjectedFile>),
    /// A JSON document.
    Document(Value),
}

/// A projection of skills, and its losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The output for the host.
    pub form: ProjectionOutput,
    /// The losses. A refused part is not in the output.
    pub losses: Vec<Loss>,
}

impl Projection {
    /// Whether a part was refused.
    pub fn has_refusal(&self) -> bool {
        self.losses.iter().any(|loss| loss.weight == LossSeverity::Refused)
    }
}

/// Lists the unchanged files of a skill, except its SKILL.md, below a directory. Omitted files are reported.
pub(crate) fn project_files(
    source: &ProjectionSource<'_>,
    index: usize,
    below: &str,
    losses: &mut Vec<Loss>,
) -> Vec<ProjectedFile> {
    let mut made = Vec::new();
    let mut left: Vec<&str> = Vec::new();
    for (path, entry) in &source.skill.tree.entries {
        if !is_skill_part(path) {
            let folder = path.split('/').find(|part| EXCLUDED_FOLDERS.contains(part)).unwrap_or(path);
            if !left.contains(&folder) {
                left.push(folder);
            }
            continue;
        }
        match entry {
            TreeEntry::File { is_executable, .. } if !is_manifest(path) => made.push(ProjectedFile {
                path: format!("{below}{path}"),
                content: ProjectedContent::FromSource(index, path.clone()),
                is_executable: *is_executable,
            }),
            TreeEntry::File { .. } | TreeEntry::Directory => {}
            TreeEntry::Link { .. } if is_manifest(path) => {}
            TreeEntry::Link { target, .. } => {
                let message = format!("the link to `{target}` is omitted: projections cannot contain links");
                losses.push(
                    Loss::new(LossSeverity::Narrowed, path, message).help("replace the link with the linked file"),
                );
            }
            TreeEntry::Other(kind) => {
                losses.push(Loss::new(LossSeverity::Narrowed, path, format!("a {kind} is omitted")));
            }
        }
    }
    losses.extend(
        left.iter().map(|folder| Loss::new(LossSeverity::Note, *folder, "is not part of a skill and is omitted")),
    );
    made
}

fn is_manifest(path: &str) -> bool {
    path == "SKILL.md" || path == "skill.md"
}

/// Renders a SKILL.md with another frontmatter. The body is unchanged.
pub(crate) fn render_manifest(front: &Value, body: &str) -> Vec<u8> {
    format!("---\n{}---\n{body}", yaml::render_document(front)).into_bytes()
}

/// Converts the frontmatter to JSON, in the author's order.
pub(crate) fn frontmatter_to_json(front: &Frontmatter) -> Map<String, Value> {
    let named =
        front.fields().iter().filter_map(|field| Some((field.key.text()?.to_owned(), core::to_json(&field.value))));
    named.collect()
}

/// Applies the `host_overrides` of a host to the frontmatter. Mappings are merged, a null removes a field, and the
/// overrides themselves are omitted.
pub(crate) fn apply_host_overrides(front: &Frontmatter, hosts: &[&str]) -> (Map<String, Value>, bool) {
    let mut all = frontmatter_to_json(front);
    let mut is_changed = false;
    for (host, config) in front.host_overrides() {
        let Some(Value::Object(config)) = config.map(core::to_json).filter(|_| hosts.contains(&host.value)) else {
            continue;
        };
        for (key, value) in config {
            // Settings for the host that are not frontmatter fields are skipped.
            if !is_frontmatter_field(&key) {
                continue;
            }
            is_changed = true;
            merge_field(&mut all, key, value);
        }
    }
    all.shift_remove("host_overrides");
    (all, is_changed)
}

/// Whether a key of an override is a frontmatter field.
fn is_frontmatter_field(key: &str) -> bool {
    use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};
    STANDARD_FIELDS.contains(&key) || CLAUDE_CODE_FIELDS.contains(&key) || UNIVERSAL_FIELDS.contains(&key)
}

fn merge_field(fields: &mut Map<String, Value>, key: String, value: Value) {
    match (fields.get_mut(&key), value) {
        (_, Value::Null) => drop(fields.shift_remove(&key)),
        (Some(Value::Object(own)), Value::Object(over)) => {
            for (key, value) in over {
                merge_field(own, key, value);
            }
        }
        (_, value) => drop(fields.insert(key, value)),
    }
}
