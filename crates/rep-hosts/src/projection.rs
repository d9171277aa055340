//! A skill in a host's shape.

use rep_model::yaml::{self, core};
use rep_model::{Entry, Frontmatter, Skill};
use serde_json::{Map, Value};

use crate::loss::{Loss, Weight};

/// A skill to be projected.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name it goes by: its own, without a package.
    pub name: &'a str,
    /// The skill; every name of its folder, and the bytes of its main files.
    pub skill: &'a Skill,
    /// Its effective tools.
    pub tools: &'a [Value],
}

/// One file of a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Where it lies in the projection, with `/`.
    pub path: String,
    /// Its bytes.
    pub content: MadeContent,
    /// Whether it can be executed.
    pub is_executable: bool,
}

/// The bytes of a file of a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeContent {
    /// Those of a file of the source: which of the sources, and its path there.
    Same(usize, String),
    /// These.
    Bytes(Vec<u8>),
}

/// What a host gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A folder.
    Folder(Vec<Made>),
    /// A JSON document.
    Document(Value),
}

/// A skill in a host's shape, and what that shape loses.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// What the host gets.
    pub form: Form,
    /// What it loses; a refusal among them means that part is not in the shape.
    pub losses: Vec<Loss>,
}

impl Projection {
    /// Whether something was refused.
    pub fn is_refused(&self) -> bool {
        self.losses.iter().any(|loss| loss.weight == Weight::Refused)
    }
}

/// Names of folders that are never part of a skill.
const LEFT_FOLDERS: [&str; 4] = [".git", "__pycache__", "node_modules", ".venv"];

/// Whether a path is part of a skill: what version control, package managers and interpreters leave behind is not.
pub fn is_part(path: &str) -> bool {
    !path.split('/').any(|part| LEFT_FOLDERS.contains(&part) || part == ".DS_Store")
        && path.rsplit('.').next() != Some("pyc")
}

/// The files of a skill as they are, with its SKILL.md left out, below a folder. What is no part of a skill is left out and told.
pub(crate) fn files(source: &Source<'_>, index: usize, below: &str, losses: &mut Vec<Loss>) -> Vec<Made> {
    let mut made = Vec::new();
    let mut left: Vec<&str> = Vec::new();
    for (path, entry) in &source.skill.tree.entries {
        if !is_part(path) {
            let folder = path.split('/').find(|part| LEFT_FOLDERS.contains(part)).unwrap_or(path);
            if !left.contains(&folder) {
                left.push(folder);
            }
            continue;
        }
        match entry {
            Entry::File { is_executable, .. } if !is_manifest(path) => made.push(Made {
                path: format!("{below}{path}"),
                content: MadeContent::Same(index, path.clone()),
                is_executable: *is_executable,
            }),
            Entry::File { .. } | Entry::Directory => {}
            Entry::Link { .. } if is_manifest(path) => {}
            Entry::Link { target, .. } => {
                let message = format!("the link to `{target}` is left out: no link travels with a skill");
                losses.push(Loss::new(Weight::Narrowed, path, message).help("replace it with the file it leads to"));
            }
            Entry::Other(kind) => losses.push(Loss::new(Weight::Narrowed, path, format!("a {kind} is left out"))),
        }
    }
    losses.extend(left.iter().map(|folder| Loss::new(Weight::Note, *folder, "is no part of a skill and is left out")));
    made
}

fn is_manifest(path: &str) -> bool {
    path == "SKILL.md" || path == "skill.md"
}

/// The SKILL.md of a skill with another frontmatter. Its body is the author's, byte for byte.
pub(crate) fn manifest(front: &Value, body: &str) -> Vec<u8> {
    format!("---\n{}---\n{body}", yaml::write(front)).into_bytes()
}

/// The frontmatter as JSON, in the author's order.
pub(crate) fn fields(front: &Frontmatter) -> Map<String, Value> {
    let named =
        front.fields().iter().filter_map(|field| Some((field.key.text()?.to_owned(), core::json(&field.value))));
    named.collect()
}

/// The frontmatter as one host gets it: what `host_overrides` has for it, laid over the fields. Mappings are laid over
/// mappings, a null takes a field away, and the overrides themselves do not travel.
pub(crate) fn overlaid(front: &Frontmatter, hosts: &[&str]) -> (Map<String, Value>, bool) {
    let mut all = fields(front);
    let mut is_changed = false;
    for (host, config) in front.host_overrides() {
        let Some(Value::Object(config)) = config.map(core::json).filter(|_| hosts.contains(&host.value)) else {
            continue;
        };
        for (key, value) in config {
            // What a host is to do besides reading the skill is no field of it.
            if !is_field(&key) {
                continue;
            }
            is_changed = true;
            lay(&mut all, key, value);
        }
    }
    all.shift_remove("host_overrides");
    (all, is_changed)
}

/// Whether a key of an override is a field of a frontmatter.
fn is_field(key: &str) -> bool {
    use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};
    STANDARD_FIELDS.contains(&key) || CLAUDE_CODE_FIELDS.contains(&key) || UNIVERSAL_FIELDS.contains(&key)
}

fn lay(fields: &mut Map<String, Value>, key: String, value: Value) {
    match (fields.get_mut(&key), value) {
        (_, Value::Null) => drop(fields.shift_remove(&key)),
        (Some(Value::Object(own)), Value::Object(over)) => {
            for (key, value) in over {
                lay(own, key, value);
            }
        }
        (_, value) => drop(fields.insert(key, value)),
    }
}
