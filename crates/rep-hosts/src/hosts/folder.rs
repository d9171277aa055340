//! Hosts that read skill directories. The skill is copied unchanged under its own name, and fields that the host does
//! not read are reported.

use rep_model::Frontmatter;
use serde_json::{Map, Value, json};

use super::{ProjectionHost, codex_approvals};
use crate::loss::{Loss, LossSeverity};
use crate::projection::{
    ProjectedContent, ProjectedFile, Projection, ProjectionOutput, ProjectionSource, apply_host_overrides,
    project_files, render_manifest,
};

/// The features of skill directories that a host supports.
#[derive(Debug)]
pub(super) struct FolderSupport {
    /// The fields that the host reads.
    pub(super) fields: &'static [&'static str],
    /// The names of the host in `host_overrides`.
    pub(super) overrides: &'static [&'static str],
    /// The maximum length of a description.
    pub(super) description_max: Option<usize>,
    /// Whether the host is Codex, which reads `agents/openai.yaml` and approval rules.
    pub(super) has_sidecar: bool,
}

/// The file from which Codex reads settings that it has no frontmatter field for.
const SIDECAR_PATH: &str = "agents/openai.yaml";

pub(super) fn project_skills(
    host: &ProjectionHost,
    reads: &FolderSupport,
    sources: &[ProjectionSource<'_>],
) -> Projection {
    let mut losses = Vec::new();
    let mut made = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        made.extend(project_skill(host, reads, source, index, &format!("{}/", source.name), &mut losses));
    }
    Projection { form: ProjectionOutput::Folder(made), losses }
}

/// Projects the files of a skill to a directory.
pub(super) fn project_skill(
    host: &ProjectionHost,
    reads: &FolderSupport,
    source: &ProjectionSource<'_>,
    index: usize,
    below: &str,
    losses: &mut Vec<Loss>,
) -> Vec<ProjectedFile> {
    let (Some(manifest_file), Some(front)) = (&source.skill.manifest, source.skill.frontmatter()) else {
        losses.push(Loss::new(
            LossSeverity::Refused,
            source.name,
            format!("{} cannot read a skill without `SKILL.md`", host.name),
        ));
        return Vec::new();
    };
    let (mut fields, is_changed) = apply_host_overrides(front, reads.overrides);
    let is_renamed = fields.get("name").and_then(Value::as_str) != Some(source.name);
    let content = if is_changed || is_renamed || manifest_file.file != "SKILL.md" {
        fields.insert("name".to_owned(), source.name.into());
        ProjectedContent::Bytes(render_manifest(&Value::Object(fields.clone()), manifest_file.body()))
    } else {
        ProjectedContent::FromSource(index, manifest_file.file.to_owned())
    };
    let mut made = vec![ProjectedFile { path: format!("{below}SKILL.md"), content, is_executable: false }];
    made.extend(project_files(source, index, below, losses));
    report_unread_fields(host, reads, front, &fields, losses);
    if reads.has_sidecar {
        write_sidecar(source, &fields, below, &mut made, losses);
        codex_approvals::write_approval_rules(source, below, &mut made, losses);
    }
    made
}

/// Reports the fields that a host does not read.
fn report_unread_fields(
    host: &ProjectionHost,
    reads: &FolderSupport,
    front: &Frontmatter,
    fields: &Map<String, Value>,
    losses: &mut Vec<Loss>,
) {
    for key in fields.keys().filter(|key| !reads.fields.contains(&key.as_str())) {
        let weight = match key.as_str() {
            // Losing a restriction or a capability is worse than losing text.
            "permissions"
            | "safety"
            | "secrets"
            | "tools"
            | "disable-model-invocation"
            | "user-invocable"
            | "paths"
            | "hooks"
            | "disallowed-tools" => LossSeverity::Narrowed,
            _ => LossSeverity::Note,
        };
        losses.push(Loss::new(weight, key, format!("is not read by {}", host.name)));
    }
    let length = front.description().map_or(0, |text| text.value.chars().count());
    if let Some(max) = reads.description_max.filter(|max| length > *max) {
        let message = format!("has {length} characters; {} reads at most {max}", host.name);
        losses.push(
            Loss::new(LossSeverity::Narrowed, "description", message)
                .help("shorten it: say what the skill does and when to use it"),
        );
    }
}

/// Writes the settings that Codex has no field for to a file of the skill, unless the author provides that file.
fn write_sidecar(
    source: &ProjectionSource<'_>,
    fields: &Map<String, Value>,
    below: &str,
    made: &mut Vec<ProjectedFile>,
    losses: &mut Vec<Loss>,
) {
    let path = format!("{below}{SIDECAR_PATH}");
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
        losses.push(Loss::new(LossSeverity::Note, SIDECAR_PATH, "is provided by the author and is not changed"));
        return;
    }
    let text = rep_model::yaml::render_document(&Value::Object(content));
    made.push(ProjectedFile { path, content: ProjectedContent::Bytes(text.into_bytes()), is_executable: false });
    made.sort_by(|one, two| one.path.cmp(&two.path));
}
