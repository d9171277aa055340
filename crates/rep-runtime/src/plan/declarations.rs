//! Parses the declarations of a skill: permissions, safety and secrets. Universal 2.1 §8.
//!
//! Missing or malformed declarations fall back to the safest choice: nothing is granted, everything needs
//! confirmation, everything is redacted.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::frontmatter::Frontmatter;
use rep_model::yaml::{YamlNode, core};
use serde_json::Value;

use super::{HostRule, IgnoredDeclaration, PlanError, Redaction, Risk, RunPermissions, SecretNeed, ToolRuntime};
use rep_permissions::glob::Glob;

/// The maximum length of a variable name.
const NAME_BYTES_MAX: usize = 256;

/// Parses the permissions of a skill, and the declarations that grant nothing.
pub fn parse_permissions(front: &Frontmatter) -> (RunPermissions, Vec<IgnoredDeclaration>) {
    parse_permissions_node(&front.root)
}

/// Parses the section `permissions` of a mapping.
pub(super) fn parse_permissions_node(root: &YamlNode) -> (RunPermissions, Vec<IgnoredDeclaration>) {
    let mut ignored = Vec::new();
    let Some(root) = root.get("permissions") else { return (RunPermissions::default(), ignored) };
    let permissions = RunPermissions {
        read: parse_grants(root, "filesystem", "read", "permissions.filesystem.read", &mut ignored, parse_glob),
        write: parse_grants(root, "filesystem", "write", "permissions.filesystem.write", &mut ignored, parse_glob),
        outbound: parse_grants(
            root,
            "network",
            "outbound",
            "permissions.network.outbound",
            &mut ignored,
            parse_host_rule,
        ),
        allow_subprocess: parse_allow_subprocess(root, &mut ignored),
    };
    (permissions, ignored)
}

/// Parses the entries of a list; malformed entries grant nothing.
fn parse_grants<T: Ord>(
    root: &YamlNode,
    group: &str,
    list: &str,
    field: &'static str,
    ignored: &mut Vec<IgnoredDeclaration>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let Some(node) = root.get(group).and_then(|group| group.get(list)) else { return Vec::new() };
    let mut refuse = |value: String, reason: String| ignored.push(IgnoredDeclaration { field, value, reason });
    let Some(items) = node.items() else {
        refuse(render_node(node), "it is not a list".to_owned());
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items {
        match item.text().map(&read) {
            Some(Ok(value)) => found.push(value),
            Some(Err(reason)) => refuse(render_node(item), reason),
            None => refuse(render_node(item), "it is not text".to_owned()),
        }
    }
    found.sort();
    found.dedup();
    found
}

fn render_node(node: &YamlNode) -> String {
    node.text().map_or_else(|| core::to_json(node).to_string(), str::to_owned)
}

fn parse_glob(text: &str) -> Result<Glob, String> {
    Glob::parse(text).map_err(|bad| bad.to_string())
}

fn parse_host_rule(text: &str) -> Result<HostRule, String> {
    HostRule::parse(text).map_err(|bad| bad.to_string())
}

fn parse_allow_subprocess(root: &YamlNode, ignored: &mut Vec<IgnoredDeclaration>) -> bool {
    let Some(node) = root.get("processes").and_then(|group| group.get("allow_subprocess")) else { return false };
    if let Some(core::CoreScalar::Bool(value)) = core::classify_scalar(node) {
        return value;
    }
    let field = "permissions.processes.allow_subprocess";
    ignored.push(IgnoredDeclaration { field, value: render_node(node), reason: "it is not a boolean".to_owned() });
    false
}

/// The rules of a skill for confirmation and redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafetyRules {
    /// The kinds of action that need confirmation.
    pub confirm: BTreeSet<Risk>,
    /// What is redacted from a run's output.
    pub redaction: Redaction,
}

/// Parses the section `safety`. By default, everything needs confirmation and is redacted.
pub fn parse_safety(front: &Frontmatter) -> SafetyRules {
    parse_safety_node(&front.root)
}

/// Parses the section `safety` of a mapping.
pub(super) fn parse_safety_node(root: &YamlNode) -> SafetyRules {
    let root = root.get("safety");
    let list = root.and_then(|root| root.get("require_confirmation_for")).and_then(YamlNode::items);
    let confirm = match list {
        Some(items) => items.iter().map(|item| item.text().and_then(parse_risk).unwrap_or(Risk::Always)).collect(),
        None => BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]),
    };
    // Only the word `false` disables a redaction.
    let is_kept = |name: &str| {
        let node = root.and_then(|root| root.get("redact")).and_then(|redact| redact.get(name));
        node.and_then(core::classify_scalar) != Some(core::CoreScalar::Bool(false))
    };
    SafetyRules { confirm, redaction: Redaction { secrets: is_kept("secrets"), pii: is_kept("pii") } }
}

/// Returns the kind of action for a word of the specification.
fn parse_risk(word: &str) -> Option<Risk> {
    match word {
        "destructive_writes" => Some(Risk::DestructiveWrites),
        "external_network" => Some(Risk::ExternalNetwork),
        _ => None,
    }
}

impl Risk {
    /// Returns the word used in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Risk::DestructiveWrites => "destructive_writes",
            Risk::ExternalNetwork => "external_network",
            Risk::Always => "always",
            Risk::Program => "program",
            Risk::ForeignTool => "foreign_tool",
        }
    }
}

/// Parses the confirmation level that a tool adds to its skill's rules. `never` adds and removes nothing: the
/// strictest rule wins.
pub fn parse_confirmation(tool: &Value) -> Result<Option<Risk>, PlanError> {
    let Some(level) = tool.pointer("/confirmation/level").filter(|level| !level.is_null()) else { return Ok(None) };
    match level.as_str() {
        Some("never") => Ok(None),
        Some("always") => Ok(Some(Risk::Always)),
        Some(word) if parse_risk(word).is_some() => Ok(parse_risk(word)),
        _ => Err(PlanError::new(
            "confirmation.level",
            format!("is {level}, which is not a confirmation level"),
            "use `never`, `always`, `destructive_writes` or `external_network`",
        )),
    }
}

/// Parses the declared secrets, by name. A secret that is declared twice is required if either declaration
/// requires it.
pub fn parse_secrets(front: &Frontmatter) -> Result<Vec<SecretNeed>, PlanError> {
    parse_secrets_node(&front.root)
}

/// Parses the section `secrets` of a mapping.
pub(super) fn parse_secrets_node(root: &YamlNode) -> Result<Vec<SecretNeed>, PlanError> {
    const FIELD: &str = "secrets.required";
    let Some(node) = root.get("secrets").and_then(|secrets| secrets.get("required")) else { return Ok(Vec::new()) };
    let items =
        node.items().ok_or_else(|| PlanError::new(FIELD, "is not a list", "write a list of `{name, usage: env}`"))?;
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let field = |name: &str| format!("{FIELD}[{index}].{name}");
        let name = item.get("name").and_then(YamlNode::text).unwrap_or_default();
        if let Err(reason) = check_variable_name(name) {
            return Err(PlanError::new(
                field("name"),
                format!("is `{name}`: {reason}"),
                "use a different variable name",
            ));
        }
        match item.get("usage").map(YamlNode::text) {
            None | Some(Some("env")) => {}
            Some(_) => {
                return Err(PlanError::new(field("usage"), "is not `env`", "use `env`, the only supported usage"));
            }
        }
        let is_optional = item.get("optional").and_then(core::classify_scalar) == Some(core::CoreScalar::Bool(true));
        found.entry(name.to_owned()).and_modify(|known| *known &= is_optional).or_insert(is_optional);
    }
    Ok(found.into_iter().map(|(name, is_optional)| SecretNeed { name, is_optional }).collect())
}

/// Checks whether a name can be used for a secret. Variables that control loaders and interpreters would
/// change what runs.
pub(crate) fn check_variable_name(name: &str) -> Result<(), String> {
    const TAKEN: &[&str] = &[
        "BASH_ENV",
        "CDPATH",
        "ENV",
        "GLOBIGNORE",
        "HOME",
        "IFS",
        "LANG",
        "LOGNAME",
        "NODE_OPTIONS",
        "NODE_PATH",
        "PATH",
        "PWD",
        "SHELL",
        "SHELLOPTS",
        "TMPDIR",
        "USER",
    ];
    const TAKEN_PREFIXES: &[&str] = &["BASH_FUNC_", "DYLD_", "GLIBC_", "LC_", "LD_", "PYTHON", "REP_"];
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_name = name.bytes().next().is_some_and(is_letter)
        && name.len() <= NAME_BYTES_MAX
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
    if !is_name {
        return Err("it is not a valid variable name".to_owned());
    }
    if TAKEN.contains(&name) || TAKEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Err("this variable changes how programs are loaded".to_owned());
    }
    Ok(())
}

/// Returns the packages that a tool needs from the registry of its runtime, in order and without duplicates.
/// Dependencies from elsewhere are informational.
pub fn parse_dependencies(tool: &Value, runtime: ToolRuntime) -> Vec<String> {
    let kind = match runtime {
        ToolRuntime::Python => "pip",
        ToolRuntime::Node => "npm",
        ToolRuntime::Bash => return Vec::new(),
    };
    let list = tool.pointer(&format!("/implementation/dependencies/{kind}")).and_then(Value::as_array);
    let names: BTreeSet<&str> = list.into_iter().flatten().filter_map(Value::as_str).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Finds the TypeScript runner that a host override names: `typescript_runner`, neither false nor null.
pub fn find_typescript_runner(front: &Frontmatter) -> Option<String> {
    let overrides = front.host_overrides();
    let mut runners = overrides.iter().filter_map(|(_, config)| config.as_ref()?.get("typescript_runner"));
    let runner = runners.find(|runner| core::classify_scalar(runner) != Some(core::CoreScalar::Bool(false)))?;
    Some(runner.text().unwrap_or("true").to_owned())
}
