//! Collections of skills: Agent Plugins 1.0, Claude marketplaces, and indexes at well-known addresses.

use serde_json::{Value, json};

use super::Host;
use super::folder::{Reads, one};
use crate::loss::{Loss, Weight};
use crate::projection::{Form, Made, MadeContent, Projection, Source};

/// The longest name of a plugin.
const NAME_CHARS_MAX: usize = 64;

/// What a collection says of itself.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Who makes it.
    pub owner: String,
    /// Its version.
    pub version: String,
}

/// `plugin.json` at the root, `skills/NAME/` one level below.
pub(super) fn agent_plugins(host: &Host, reads: &Reads, sources: &[Source<'_>], about: &About) -> Projection {
    let mut losses = named(about);
    let mut plugin = json!({
        "$schema": "https://agentplugins.org/schemas/1.0.0/plugin.schema.json",
        "name": about.name,
    });
    for (key, value) in [("description", &about.description), ("version", &about.version)] {
        if !value.is_empty() {
            plugin[key] = value.clone().into();
        }
    }
    let mut made = vec![file("plugin.json", &plugin)];
    made.extend(skills(host, reads, sources, "skills/", &mut losses));
    Projection { form: Form::Folder(made), losses }
}

/// `.claude-plugin/marketplace.json` with one plugin that holds the skills.
pub(super) fn claude_marketplace(host: &Host, reads: &Reads, sources: &[Source<'_>], about: &About) -> Projection {
    let mut losses = named(about);
    let owner = if about.owner.is_empty() { &about.name } else { &about.owner };
    let paths: Vec<String> = sources.iter().map(|source| format!("./skills/{}", source.name)).collect();
    let mut plugin = json!({ "name": about.name, "source": "./", "strict": false, "skills": paths });
    for (key, value) in [("description", &about.description), ("version", &about.version)] {
        if !value.is_empty() {
            plugin[key] = value.clone().into();
        }
    }
    let marketplace = json!({ "name": about.name, "owner": { "name": owner }, "plugins": [plugin] });
    let mut made = vec![file(".claude-plugin/marketplace.json", &marketplace)];
    made.extend(skills(host, reads, sources, "skills/", &mut losses));
    Projection { form: Form::Folder(made), losses }
}

/// A skill as an index tells of it.
#[derive(Clone, Debug)]
pub struct Published<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// Its address, as seen from the index.
    pub url: String,
    /// Whether that is an archive, and not a SKILL.md alone.
    pub is_archive: bool,
    /// The digest of what is there.
    pub digest: String,
}

/// The index of version 0.2.0 that stands at `/.well-known/agent-skills/index.json`.
pub fn index(skills: &[Published<'_>]) -> Value {
    let one = |skill: &Published<'_>| {
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

fn skills(host: &Host, reads: &Reads, sources: &[Source<'_>], below: &str, losses: &mut Vec<Loss>) -> Vec<Made> {
    let numbered = sources.iter().enumerate();
    numbered
        .flat_map(|(index, source)| one(host, reads, source, index, &format!("{below}{}/", source.name), losses))
        .collect()
}

fn named(about: &About) -> Vec<Loss> {
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
    let message = format!("`{name}` cannot be the name of a collection: small letters, digits, `-` and `.`");
    vec![Loss::new(Weight::Refused, "name", message).help("give it one with --name")]
}

fn file(path: &str, content: &Value) -> Made {
    let bytes = format!("{content:#}\n").into_bytes();
    Made { path: path.to_owned(), content: MadeContent::Bytes(bytes), is_executable: false }
}
