//! Everything about one skill, as JSON.

use rep_check::render::json_finding;
use serde_json::{Map, Value, json};

use super::listing::dependencies_to_json;
use super::scan::scan_summary_document;
use crate::skill_details::{ContentVersion, FileEntry, SkillDetails, TokenFootprint};
use crate::validation::SkillViolation;
use crate::{Catalog, CatalogEntry, SkillStatus};

/// Renders everything about a skill: the document of `rep show`.
pub fn show_document(catalog: &Catalog, entry: &CatalogEntry, dossier: &SkillDetails) -> Value {
    let winner = entry.shadowed_by.and_then(|index| catalog.entries.get(index));
    let provenance = &dossier.provenance;
    let companion = list_companion_findings(entry, dossier).into_iter().map(SkillViolation::to_json);
    let version = |version: &ContentVersion| {
        json!({
            "file": version.file,
            "declared": version.declared,
            "computed": version.computed,
            "match": version.computed.is_some() && version.declared == version.computed,
        })
    };
    let mut provenance_fields = json!({
        "package": entry.package(),
        "version": provenance.version,
        "license": provenance.license,
        "author": provenance.author,
        "digest": provenance.digest,
        "content_versions": dossier.versions.iter().map(version).collect::<Vec<_>>(),
    });
    if let (Some(fields), Some(declared)) = (provenance_fields.as_object_mut(), &provenance.declared)
        && let Value::Object(declared) = declared.to_json()
    {
        fields.extend(declared);
    }
    json!({
        "name": entry.name,
        "qualified_name": entry.qualified_name,
        "description": entry.description,
        "dialects": dossier.dialects.iter().map(|dialect| dialect.name()).collect::<Vec<_>>(),
        "status": entry.status.name(),
        "scope": entry.scope.name(),
        "reason": entry.reason,
        "remedy": entry.suggest_remedy(),
        "shadowed_by": winner.map(|winner| &winner.location),
        "location": entry.location,
        "folder": entry.folder,
        "switches": {
            "model_invocable": dossier.is_model_invocable,
            "user_invocable": entry.is_user_invocable,
            "disabled": entry.status == SkillStatus::Disabled,
            "trusted": entry.status != SkillStatus::Untrusted,
        },
        "provenance": provenance_fields,
        "fields": dossier.frontmatter_json(),
        "files": dossier.files.iter().map(file_to_json).collect::<Vec<_>>(),
        "left_out": dossier.skill.tree.omissions,
        "tools": {
            "source": dossier.tools.source.name(),
            "stale": dossier.tools.stale,
            "tools": dossier.tools.tools,
        },
        "permissions": dossier.permissions_json(),
        "allowed_tools": dossier.allowed_tools,
        "scan": scan_summary_document(&dossier.scan()),
        "depends_on": dependencies_to_json(catalog, entry),
        "findings": entry.findings.iter().map(json_finding).chain(companion).collect::<Vec<_>>(),
        "tokens": tokens_to_json(&dossier.footprint),
    })
}

fn file_to_json(file: &FileEntry) -> Value {
    json!({
        "path": file.path,
        "kind": file.kind,
        "form": file.form.name(),
        "size_bytes": file.size_bytes,
        "executable": file.is_executable,
        "tokens": file.tokens,
    })
}

fn tokens_to_json(footprint: &TokenFootprint) -> Value {
    json!({
        "tokenizer": footprint.tokenizer,
        "catalogue": footprint.catalogue,
        "activation": footprint.activation,
        "resources": footprint.resources,
        "total": footprint.total_tokens(),
        "files_counted": footprint.counted,
        "files_not_counted": footprint.uncounted,
        "frontmatter": footprint.frontmatter.map(|(bytes, tokens)| json!({ "bytes": bytes, "tokens": tokens })),
        "sections": footprint.sections.iter().map(|(name, tokens)| (name.clone(), json!(tokens))).collect::<Map<_, _>>(),
        "structure": footprint.structure.map(rep_model::DocumentOrigin::name),
    })
}

/// Returns what the UASP file next to a SKILL.md violates. Discovery reads only the SKILL.md.
pub fn list_companion_findings<'a>(entry: &CatalogEntry, dossier: &'a SkillDetails) -> Vec<&'a SkillViolation> {
    let is_known = |violation: &&SkillViolation| {
        entry
            .findings
            .iter()
            .any(|finding| finding.rule.name == violation.rule && finding.place.file == violation.skill_file)
    };
    let found = dossier.validation.violations.iter().chain(&dossier.validation.version_warnings);
    found.filter(|violation| !is_known(violation)).collect()
}
