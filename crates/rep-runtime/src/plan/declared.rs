//! What a skill declares about all its tools: permissions, safety, secrets. Universal 2.1 §8.
//!
//! Whatever is missing or cannot be read is taken in the safest way: nothing is granted, everything is confirmed, everything
//! is redacted.

use std::collections::{BTreeMap, BTreeSet};

use rep_model::frontmatter::Frontmatter;
use rep_model::yaml::{Node, core};
use serde_json::Value;

use super::{HostRule, Ignored, Permissions, PlanError, Redaction, Risk, SecretNeed, ToolRuntime};
use rep_permissions::glob::Glob;

/// The longest name of a variable.
const NAME_BYTES_MAX: usize = 256;

/// What a skill may do, and what it declared in vain.
pub fn permissions(front: &Frontmatter) -> (Permissions, Vec<Ignored>) {
    permissions_in(&front.root)
}

/// What the section `permissions` of a mapping grants.
pub(super) fn permissions_in(root: &Node) -> (Permissions, Vec<Ignored>) {
    let mut ignored = Vec::new();
    let Some(root) = root.get("permissions") else { return (Permissions::default(), ignored) };
    let permissions = Permissions {
        read: granted(root, "filesystem", "read", "permissions.filesystem.read", &mut ignored, glob),
        write: granted(root, "filesystem", "write", "permissions.filesystem.write", &mut ignored, glob),
        outbound: granted(root, "network", "outbound", "permissions.network.outbound", &mut ignored, host),
        allow_subprocess: allow_subprocess(root, &mut ignored),
    };
    (permissions, ignored)
}

/// The entries of one list that can be read; those that cannot grant nothing.
fn granted<T: Ord>(
    root: &Node,
    group: &str,
    list: &str,
    field: &'static str,
    ignored: &mut Vec<Ignored>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let Some(node) = root.get(group).and_then(|group| group.get(list)) else { return Vec::new() };
    let mut refuse = |value: String, reason: String| ignored.push(Ignored { field, value, reason });
    let Some(items) = node.items() else {
        refuse(shown(node), "it is no list".to_owned());
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items {
        match item.text().map(&read) {
            Some(Ok(value)) => found.push(value),
            Some(Err(reason)) => refuse(shown(item), reason),
            None => refuse(shown(item), "it is no text".to_owned()),
        }
    }
    found.sort();
    found.dedup();
    found
}

fn shown(node: &Node) -> String {
    node.text().map_or_else(|| core::json(node).to_string(), str::to_owned)
}

fn glob(text: &str) -> Result<Glob, String> {
    Glob::parse(text).map_err(|bad| bad.to_string())
}

fn host(text: &str) -> Result<HostRule, String> {
    HostRule::parse(text).map_err(|bad| bad.to_string())
}

fn allow_subprocess(root: &Node, ignored: &mut Vec<Ignored>) -> bool {
    let Some(node) = root.get("processes").and_then(|group| group.get("allow_subprocess")) else { return false };
    if let Some(core::Scalar::Bool(value)) = core::scalar(node) {
        return value;
    }
    let field = "permissions.processes.allow_subprocess";
    ignored.push(Ignored { field, value: shown(node), reason: "it is no boolean".to_owned() });
    false
}

/// What a skill says about consent and redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// The kinds of action that want consent.
    pub confirm: BTreeSet<Risk>,
    /// What must not leave a run.
    pub redaction: Redaction,
}

/// Reads the section `safety`. Where it is silent, everything is confirmed and redacted.
pub fn safety(front: &Frontmatter) -> Safety {
    safety_in(&front.root)
}

/// What the section `safety` of a mapping says.
pub(super) fn safety_in(root: &Node) -> Safety {
    let root = root.get("safety");
    let list = root.and_then(|root| root.get("require_confirmation_for")).and_then(Node::items);
    let confirm = match list {
        Some(items) => items.iter().map(|item| item.text().and_then(risk).unwrap_or(Risk::Always)).collect(),
        None => BTreeSet::from([Risk::DestructiveWrites, Risk::ExternalNetwork]),
    };
    // Only the word `false` switches a redaction off.
    let is_kept = |name: &str| {
        let node = root.and_then(|root| root.get("redact")).and_then(|redact| redact.get(name));
        node.and_then(core::scalar) != Some(core::Scalar::Bool(false))
    };
    Safety { confirm, redaction: Redaction { secrets: is_kept("secrets"), pii: is_kept("pii") } }
}

/// The kind of action a word of the specification names.
fn risk(word: &str) -> Option<Risk> {
    match word {
        "destructive_writes" => Some(Risk::DestructiveWrites),
        "external_network" => Some(Risk::ExternalNetwork),
        _ => None,
    }
}

impl Risk {
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Risk::DestructiveWrites => "destructive_writes",
            Risk::ExternalNetwork => "external_network",
            Risk::Always => "always",
            Risk::Program => "program",
        }
    }
}

/// What a tool adds to its skill's demands. `never` adds nothing, and takes nothing away: the strictest answer wins.
pub fn confirmation(tool: &Value) -> Result<Option<Risk>, PlanError> {
    let Some(level) = tool.pointer("/confirmation/level").filter(|level| !level.is_null()) else { return Ok(None) };
    match level.as_str() {
        Some("never") => Ok(None),
        Some("always") => Ok(Some(Risk::Always)),
        Some(word) if risk(word).is_some() => Ok(risk(word)),
        _ => Err(PlanError::new(
            "confirmation.level",
            format!("is {level}, which is no level"),
            "use `never`, `always`, `destructive_writes` or `external_network`",
        )),
    }
}

/// The secrets a skill declares, by name. One that is declared twice is needed where either says so.
pub fn secrets(front: &Frontmatter) -> Result<Vec<SecretNeed>, PlanError> {
    secrets_in(&front.root)
}

/// The secrets the section `secrets` of a mapping declares.
pub(super) fn secrets_in(root: &Node) -> Result<Vec<SecretNeed>, PlanError> {
    const FIELD: &str = "secrets.required";
    let Some(node) = root.get("secrets").and_then(|secrets| secrets.get("required")) else { return Ok(Vec::new()) };
    let items = node.items().ok_or_else(|| PlanError::new(FIELD, "is no list", "list `{name, usage: env}`"))?;
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let field = |name: &str| format!("{FIELD}[{index}].{name}");
        let name = item.get("name").and_then(Node::text).unwrap_or_default();
        if let Err(reason) = variable(name) {
            return Err(PlanError::new(field("name"), format!("is `{name}`: {reason}"), "name a variable of its own"));
        }
        match item.get("usage").map(Node::text) {
            None | Some(Some("env")) => {}
            Some(_) => return Err(PlanError::new(field("usage"), "is not `env`", "use `env`; there is nothing else")),
        }
        let is_optional = item.get("optional").and_then(core::scalar) == Some(core::Scalar::Bool(true));
        found.entry(name.to_owned()).and_modify(|known| *known &= is_optional).or_insert(is_optional);
    }
    Ok(found.into_iter().map(|(name, is_optional)| SecretNeed { name, is_optional }).collect())
}

/// Whether a name can be a secret's. Variables that steer loaders and interpreters are not secrets, and would change what runs.
pub(crate) fn variable(name: &str) -> Result<(), String> {
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
        return Err("that is no name of a variable".to_owned());
    }
    if TAKEN.contains(&name) || TAKEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Err("that variable steers the programs themselves".to_owned());
    }
    Ok(())
}

/// The packages a tool wants from the registry of its runtime, in order and once each. What it wants from elsewhere is for
/// people to read.
pub fn dependencies(tool: &Value, runtime: ToolRuntime) -> Vec<String> {
    let kind = match runtime {
        ToolRuntime::Python => "pip",
        ToolRuntime::Node => "npm",
        ToolRuntime::Bash => return Vec::new(),
    };
    let list = tool.pointer(&format!("/implementation/dependencies/{kind}")).and_then(Value::as_array);
    let names: BTreeSet<&str> = list.into_iter().flatten().filter_map(Value::as_str).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// The runner of TypeScript some host override names: `typescript_runner`, neither false nor null.
pub fn typescript_runner(front: &Frontmatter) -> Option<String> {
    let overrides = front.host_overrides();
    let mut runners = overrides.iter().filter_map(|(_, config)| config.as_ref()?.get("typescript_runner"));
    let runner = runners.find(|runner| core::scalar(runner) != Some(core::Scalar::Bool(false)))?;
    Some(runner.text().unwrap_or("true").to_owned())
}
