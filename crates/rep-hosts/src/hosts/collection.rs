//! Collections of skills: Agent Plugins 1.0, Claude marketplaces, and indexes at well-known URLs.

use serde_json::{Value, json};

use super::ProjectionHost;
use super::folder::{FolderSupport, project_skill};
use crate::loss::{Loss, LossSeverity};
use crate::projection::{ProjectedContent, ProjectedFile, Projection, ProjectionOutput, ProjectionSource};

/// The maximum length of a plugin's name.
const NAME_CHARS_MAX: usize = 64;

/// The description of a collection.
#[derive(Clone, Debug, Default)]
pub struct CollectionInfo {
    /// The name of the collection.
    pub name: String,
    /// The purpose of the collection.
    pub description: String,
    /// The owner of the collection.
    pub owner: String,
    /// The version of the collection.
    pub version: String,
}

/// Projects the skills to `plugin.json` at the root and `skills/NAME/` below it.
pub(super) fn project_agent_plugins(
    host: &ProjectionHost,
    reads: &FolderSupport,
    sources: &[ProjectionSource<'_>],
    about: &CollectionInfo,
) -> Projection {
    let mut losses = check_collection_name(about);
    let mut plugin = json!({
        "$schema": "https://agentplugins.org/schemas/1.0.0/plugin.schema.json",
        "name": about.name,
    });
    for (key, value) in [("description", &about.description), ("version", &about.version)] {
        if !value.is_empty() {
            plugin[key] = value.clone().into();
        }
    }
    let mut made = vec![make_json_file("plugin.json", &plugin)];
    made.extend(project_all_skills(host, reads, sources, "skills/", &mut losses));
    Projection { form: ProjectionOutput::Folder(made), losses }
}

/// Projects the skills to `.claude-plugin/marketplace.json` with one plugin that contains the skills.
pub(super) fn project_claude_marketplace(
    host: &ProjectionHost,
    reads: &FolderSupport,
    sources: &[ProjectionSource<'_>],
    about: &CollectionInfo,
) -> Projection {
    let mut losses = check_collection_name(about);
    let owner = if about.owner.is_empty() { &about.name } else { &about.owner };
    let paths: Vec<String> = sources.iter().map(|source| format!("./skills/{}", source.name)).collect();
    let mut plugin = json!({ "name": about.name, "source": "./", "strict": false, "skills": paths });
    for (key, value) in [("description", &about.description), ("version", &about.version)] {
        if !value.is_empty() {
            plugin[key] = value.clone().into();
        }
    }
    let marketplace = json!({ "name": about.name, "owner": { "name": owner }, "plugins": [plugin] });
    let mut made = vec![make_json_file(".claude-plugin/marketplace.json", &marketplace)];
    made.extend(project_all_skills(host, reads, sources, "skills/", &mut losses));
    Projection { form: ProjectionOutput::Folder(made), losses }
}

/// A skill in an index.
#[derive(Clone, Debug)]
pub struct WellKnownIndexEntry<'a> {
    /// The name of the skill.
    pub name: &'a str,
    /// The description of the skill.
    pub description: &'a str,
    /// The URL of the skill, relative to the index.
    pub url: String,
    /// Whether the URL points to an archive, not to a single SKILL.md.
    pub is_archive: bool,
    /// The digest of the file at the URL.
    pub digest: String,
}

/// Builds the version 0.2.0 index for `/.well-known/agent-skills/index.json`.
pub fn build_well_known_index(skills: &[WellKnownIndexEntry<'_>]) -> Value {
    let one = |skill: &WellKnownIndexEntry<'_>| {
        json!({
            "name": skill.name,
            "type": if skill.is_archive { "archive" } else { "skill-md" },
            "description": skill.description,
            "url": skill.url,
            "digest": skill.digest,
        })
    };
    json!({
        "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
        "skills": skills.iter().map(one).collect::<Vec<Value>>(),
    })
}

fn project_all_skills(
    host: &ProjectionHost,
    reads: &FolderSupport,
    sources: &[ProjectionSource<'_>],
    below: &str,
    losses: &mut Vec<Loss>,
) -> Vec<ProjectedFile> {
    let numbered = sources.iter().enumerate();
    numbered
        .flat_map(|(index, source)| {
            project_skill(host, reads, source, index, &format!("{below}{}/", source.name), losses)
        })
        .collect()
}

fn check_collection_name(about: &CollectionInfo) -> Vec<Loss> {
    let name = &about.name;
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-' || letter == '.';
    let is_fine = name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        && name.chars().all(is_plain)
        && name.chars().count() <= NAME_CHARS_MAX
        && !name.contains("--")
        && !name.contains("..")
        && !name.ends_with(['-', '.']);
    if is_fine {
        return Vec::new();
    }
    let message = format!("invalid collection name `{name}`: use lower-case letters, digits, `-` and `.`");
    vec![Loss::new(LossSeverity::Refused, "name", message).help("set a valid name with `--name`")]
}

fn make_json_file(path: &str, content: &Value) -> ProjectedFile {
    let bytes = format!("{content:#}\n").into_bytes();
    ProjectedFile { path: path.to_owned(), content: ProjectedContent::Bytes(bytes), is_executable: false }
}
