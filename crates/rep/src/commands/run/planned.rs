//! What a call needs and whether it may be made, as far as this build can say it.
//!
//! Stands where the plan, the policy and the store of secrets of the runtime belong; each function here is one of them.

use std::collections::BTreeSet;
use std::path::Path;

use rep_check::tools::effective_tools;
use rep_library::store::{Contents, Texts};
use rep_library::{CatalogEntry, read};
use rep_model::yaml::core;
use rep_runtime::glob::Glob;
use rep_runtime::plan::{Redaction, Risk, SecretNeed};
use rep_runtime::{Limits, Permissions, Plan, Runtime, ToolError};
use serde_json::{Value, json};

use crate::exit::Failure;

/// The plan of a call.
pub(super) fn plan(entry: &CatalogEntry, tool: &str, workspace: &Path, input: Value) -> Result<Plan, Failure> {
    let skill = read::skill(entry)?;
    let tools = effective_tools(&skill).tools;
    let named = |value: &&Value| value.get("name").and_then(Value::as_str) == Some(tool);
    let Some(declared) = tools.iter().find(named) else {
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        let failure = Failure::unable("TOOL_NOT_FOUND", format!("`{}` has no tool `{tool}`", entry.qualified_name));
        return Err(if names.is_empty() {
            failure.hint("it declares no tools")
        } else {
            failure.hint(format!("its tools: {}", names.join(", ")))
        });
    };
    let front = skill.front().map_or(Value::Null, |front| core::json(&front.root));
    let text = |pointer: &str| declared.pointer(pointer).and_then(Value::as_str);
    let runtime = match text("/implementation/runtime") {
        Some("python") => Runtime::Python,
        Some("node") => Runtime::Node,
        Some("bash") => Runtime::Bash,
        other => {
            let message = format!("`{tool}` has the runtime `{}`, which is none", other.unwrap_or(""));
            return Err(Failure::unable("VALIDATION_FAILED", message).hint("use `python`, `node` or `bash`"));
        }
    };
    let mut limits = Limits::default();
    if let Some(seconds) = declared.pointer("/implementation/timeout_seconds").and_then(Value::as_u64) {
        limits.timeout_ms = seconds.clamp(1, 86_400) * 1000;
    }
    Ok(Plan {
        skill: entry.qualified_name.clone(),
        digest: Contents::read(&entry.folder, Texts::Left).digest(),
        folder: entry.folder.clone(),
        tool: tool.to_owned(),
        runtime,
        entrypoint: text("/implementation/entrypoint").unwrap_or_default().to_owned(),
        handler: text("/implementation/handler").unwrap_or("handler").to_owned(),
        workspace: workspace.to_owned(),
        input,
        input_schema: declared.get("input_schema").cloned().unwrap_or_else(|| json!({ "type": "object" })),
        output_schema: declared.get("output_schema").filter(|schema| !schema.is_null()).cloned(),
        permissions: permissions(&front),
        confirm: confirm(&front, text("/confirmation/level")),
        prompt: text("/confirmation/prompt").map(str::to_owned),
        redaction: Redaction {
            secrets: front.pointer("/safety/redact/secrets") != Some(&Value::Bool(false)),
            pii: front.pointer("/safety/redact/pii") != Some(&Value::Bool(false)),
        },
        secrets: needs(&front),
        limits,
    })
}

fn permissions(front: &Value) -> Permissions {
    let globs = |pointer: &str| -> Vec<Glob> {
        let listed = front.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).filter_map(|text| Glob::parse(text).ok()).collect()
    };
    Permissions {
        read: globs("/permissions/filesystem/read"),
        write: globs("/permissions/filesystem/write"),
        outbound: Vec::new(),
        allow_subprocess: front.pointer("/permissions/processes/allow_subprocess") == Some(&Value::Bool(true)),
    }
}

/// What wants consent: what the skill lists, everything where it lists nothing, and what the tool adds.
fn confirm(front: &Value, level: Option<&str>) -> BTreeSet<Risk> {
    let risk = |word: &str| match word {
        "destructive_writes" => Some(Risk::DestructiveWrites),
        "external_network" => Some(Risk::ExternalNetwork),
        "always" => Some(Risk::Always),
        _ => None,
    };
    let listed = front.pointer("/safety/require_confirmation_for").and_then(Value::as_array);
    let mut risks: BTreeSet<Risk> = match listed {
        Some(listed) => listed.iter().filter_map(Value::as_str).filter_map(risk).collect(),
        None => BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]),
    };
    risks.extend(level.and_then(risk));
    risks
}

fn needs(front: &Value) -> Vec<SecretNeed> {
    let listed = front.pointer("/secrets/required").and_then(Value::as_array).into_iter().flatten();
    let need = |value: &Value| {
        let name = value.get("name")?.as_str()?.to_owned();
        Some(SecretNeed { name, is_optional: value.get("optional") == Some(&Value::Bool(true)) })
    };
    listed.filter_map(need).collect()
}

/// Whether a plan may run.
pub(super) fn grant(plan: &Plan, is_consent_given: bool) -> Result<(), ToolError> {
    let is_real = |risk: &Risk| match risk {
        Risk::DestructiveWrites => !plan.permissions.write.is_empty(),
        Risk::ExternalNetwork => !plan.permissions.outbound.is_empty(),
        Risk::Always => true,
    };
    if is_consent_given || !plan.confirm.iter().any(is_real) {
        return Ok(());
    }
    let message = format!("`{}:{}` wants consent, and nobody can be asked", plan.skill, plan.tool);
    Err(ToolError::new("CONFIRMATION_REQUIRED", message).with("remedy", "give consent with --yes"))
}

/// The values of the secrets a plan declares.
pub(super) fn secrets(plan: &Plan) -> Result<Vec<(String, String)>, ToolError> {
    let mut found = Vec::new();
    for need in &plan.secrets {
        match std::env::var(&need.name) {
            Ok(value) if !value.is_empty() => found.push((need.name.clone(), value)),
            _ if need.is_optional => {}
            _ => {
                let message = format!("`{}` needs the secret `{}`, which is not there", plan.skill, need.name);
                let remedy = format!("set {} in the environment", need.name);
                return Err(ToolError::new("SECRET_MISSING", message).with("remedy", remedy));
            }
        }
    }
    Ok(found)
}

/// A plan for people and programs.
pub(super) fn shown(plan: &Plan) -> Value {
    let globs = |globs: &[Glob]| -> Vec<String> { globs.iter().map(|glob| glob.as_str().to_owned()).collect() };
    json!({
        "skill": plan.skill,
        "digest": plan.digest,
        "folder": plan.folder.display().to_string(),
        "tool": plan.tool,
        "runtime": plan.runtime.name(),
        "entrypoint": plan.entrypoint,
        "handler": plan.handler,
        "workspace": plan.workspace.display().to_string(),
        "input": plan.input,
        "permissions": {
            "read": globs(&plan.permissions.read),
            "write": globs(&plan.permissions.write),
            "allow_subprocess": plan.permissions.allow_subprocess,
        },
        "secrets": plan.secrets.iter().map(|need| need.name.clone()).collect::<Vec<String>>(),
        "redact": { "secrets": plan.redaction.secrets, "pii": plan.redaction.pii },
        "timeout_ms": plan.limits.timeout_ms,
    })
}
