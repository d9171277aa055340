//! Hosts that read folders as they are: the skill travels unchanged, under its own name, and what a host does not read is told.

use rep_model::Frontmatter;
use serde_json::{Map, Value, json};

use super::Host;
use crate::loss::{Loss, Weight};
use crate::projection::{Form, Made, MadeContent, Projection, Source, files, manifest, overlaid};

/// What a host that reads folders makes of one.
#[derive(Debug)]
pub(super) struct Reads {
    /// The fields it reads.
    pub(super) fields: &'static [&'static str],
    /// The names in `host_overrides` that mean it.
    pub(super) overrides: &'static [&'static str],
    /// The longest description it shows.
    pub(super) description_max: Option<usize>,
    /// Whether it reads `agents/openai.yaml`.
    pub(super) has_sidecar: bool,
}

/// Where Codex reads what it has no field for.
const SIDECAR: &str = "agents/openai.yaml";

pub(super) fn project(host: &Host, reads: &Reads, sources: &[Source<'_>]) -> Projection {
    let mut losses = Vec::new();
    let mut made = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        made.extend(one(host, reads, source, index, &format!("{}/", source.name), &mut losses));
    }
    Projection { form: Form::Folder(made), losses }
}

/// The files of one skill below a folder.
pub(super) fn one(
    host: &Host,
    reads: &Reads,
    source: &Source<'_>,
    index: usize,
    below: &str,
    losses: &mut Vec<Loss>,
) -> Vec<Made> {
    let (Some(manifest_file), Some(front)) = (&source.skill.manifest, source.skill.front()) else {
        losses.push(Loss::new(Weight::Refused, source.name, format!("without a SKILL.md {} reads nothing", host.name)));
        return Vec::new();
    };
    let (mut fields, is_changed) = overlaid(front, reads.overrides);
    let is_renamed = fields.get("name").and_then(Value::as_str) != Some(source.name);
    let content = if is_changed || is_renamed || manifest_file.file != "SKILL.md" {
        fields.insert("name".to_owned(), source.name.into());
        MadeContent::Bytes(manifest(&Value::Object(fields.clone()), manifest_file.body()))
    } else {
        MadeContent::Same(index, manifest_file.file.to_owned())
    };
    let mut made = vec![Made { path: format!("{below}SKILL.md"), content, is_executable: false }];
    made.extend(files(source, index, below, losses));
    unread(host, reads, front, &fields, losses);
    if reads.has_sidecar {
        sidecar(source, &fields, below, &mut made, losses);
    }
    made
}

/// Tells which fields a host does not read.
fn unread(host: &Host, reads: &Reads, front: &Frontmatter, fields: &Map<String, Value>, losses: &mut Vec<Loss>) {
    for key in fields.keys().filter(|key| !reads.fields.contains(&key.as_str())) {
        let weight = match key.as_str() {
            // What is not enforced or not offered there is more than a word that is not read.
            "permissions"
            | "safety"
            | "secrets"
            | "tools"
            | "disable-model-invocation"
            | "user-invocable"
            | "paths"
            | "hooks"
            | "disallowed-tools" => Weight::Narrowed,
            _ => Weight::Note,
        };
        losses.push(Loss::new(weight, key, format!("is not read by {}", host.name)));
    }
    let length = front.description().map_or(0, |text| text.value.chars().count());
    if let Some(max) = reads.description_max.filter(|max| length > *max) {
        let message = format!("is {length} characters, and {} takes {max}", host.name);
        losses
            .push(Loss::new(Weight::Narrowed, "description", message).help("say what it does and when in fewer words"));
    }
}

/// What Codex has no field for goes into a file beside the skill, unless the author wrote that file.
fn sidecar(
    source: &Source<'_>,
    fields: &Map<String, Value>,
    below: &str,
    made: &mut Vec<Made>,
    losses: &mut Vec<Loss>,
) {
    let path = format!("{below}{SIDECAR}");
    let mut content = Map::new();
    if fields.get("disable-model-invocation") == Some(&Value::Bool(true)) {
        content.insert("policy".to_owned(), json!({ "allow_implicit_invocation": false }));
        losses.retain(|loss| loss.at != "disable-model-invocation");
    }
    if !source.tools.is_empty() {
        let tool = json!({
            "type": "mcp",
            "value": "repertoire",
            "description": format!("Runs the tools of the skill {}", source.name),
            "transport": "stdio",
            "command": "rep serve --stdio --allow-run",
        });
        content.insert("dependencies".to_owned(), json!({ "tools": [tool] }));
    }
    if content.is_empty() {
        return;
    }
    if made.iter().any(|file| file.path == path) {
        losses.push(Loss::new(Weight::Note, SIDECAR, "is the author's own and stays as it is"));
        return;
    }
    let text = rep_model::yaml::write(&Value::Object(content));
    made.push(Made { path, content: MadeContent::Bytes(text.into_bytes()), is_executable: false });
    made.sort_by(|one, two| one.path.cmp(&two.path));
}
