//! What a skill does beside what it declares: the smallest permissions that cover a scan, what is missing from the
//! declaration, and the edits that add it.
//!
//! The workspace is what patterns are relative to, so files elsewhere cannot be declared. A skill reads its own files, and
//! has a temporary directory of its own, without a declaration.

use std::collections::BTreeSet;

use rep_model::yaml::{YamlNode, YamlValue, core, quote_double};
use rep_model::{Skill, SkillTree, Span};
use rep_permissions::glob::normalise_path;
use rep_permissions::{Glob, HostRule, RunPermissions};
use rep_scan::{Capabilities, CapabilityKind};
use serde_json::{Value, json};

use crate::fix::{FindingFix, FixEdit};
use crate::yaml_edits::{add_item, line_end};

/// The maximum number of entries that are added to a declaration.
const ADDED_MAX: usize = 500;

/// What a skill needs that it does not get without a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeededDeclaration {
    /// The smallest permissions.
    pub permissions: RunPermissions,
    /// The secrets, sorted.
    pub secrets: Vec<String>,
    /// What cannot be declared.
    pub impossible: Vec<ImpossibleDeclaration>,
}

/// A capability that no declaration grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpossibleDeclaration {
    /// The kind.
    pub kind: CapabilityKind,
    /// The path, host or name.
    pub argument: String,
    /// Why.
    pub reason: String,
}

/// What covers one argument.
enum Cover<T> {
    /// A declaration.
    Declared(T),
    /// Nothing is needed.
    Implicit,
    /// No declaration does, for a reason.
    Impossible(String),
}

impl NeededDeclaration {
    /// Returns the smallest declaration that covers what a skill does.
    pub fn from_capabilities(capabilities: &Capabilities) -> Self {
        let mut needed = Self::default();
        for kind in CapabilityKind::ALL {
            for argument in capabilities.arguments(kind) {
                if let Err(reason) = needed.add(kind, argument) {
                    needed.impossible.push(ImpossibleDeclaration { kind, argument: argument.to_owned(), reason });
                }
            }
        }
        let permissions = &mut needed.permissions;
        permissions.read = widest(&permissions.read, covers_glob);
        permissions.write = widest(&permissions.write, covers_glob);
        permissions.outbound = widest(&permissions.outbound, covers_host);
        needed
    }

    fn add(&mut self, kind: CapabilityKind, argument: &str) -> Result<(), String> {
        match kind {
            CapabilityKind::Read | CapabilityKind::Write => match cover_path(kind, argument) {
                Cover::Declared(glob) if kind == CapabilityKind::Read => self.permissions.read.push(glob),
                Cover::Declared(glob) => self.permissions.write.push(glob),
                Cover::Implicit => {}
                Cover::Impossible(reason) => return Err(reason),
            },
            CapabilityKind::Connect => match cover_host(argument) {
                Cover::Declared(rule) => self.permissions.outbound.push(rule),
                Cover::Implicit => {}
                Cover::Impossible(reason) => return Err(reason),
            },
            CapabilityKind::Spawn => self.permissions.allow_subprocess = true,
            CapabilityKind::Secrets if argument.contains('*') => return Err("its name is not known".to_owned()),
            CapabilityKind::Secrets => self.secrets.push(argument.to_owned()),
            CapabilityKind::Env => {}
        }
        Ok(())
    }

    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.permissions == RunPermissions::default() && self.secrets.is_empty()
    }

    /// Returns the declaration as a block of YAML.
    pub fn to_yaml(&self) -> String {
        let mut yaml = String::from("permissions:\n");
        for line in permission_lines(&self.permissions) {
            yaml.push_str(&format!("  {line}\n"));
        }
        if !self.secrets.is_empty() {
            yaml.push_str("secrets:\n  required:\n");
            for name in &self.secrets {
                yaml.push_str(&format!("    - {}\n", secret_item(name)));
            }
        }
        yaml
    }

    /// Returns the declaration as JSON.
    pub fn to_json(&self) -> Value {
        let impossible = |one: &ImpossibleDeclaration| json!({ "kind": one.kind.name(), "argument": one.argument, "reason": one.reason });
        json!({
            "permissions": self.permissions.to_json(),
            "secrets": self.secrets,
            "cannot_declare": self.impossible.iter().map(impossible).collect::<Vec<_>>(),
        })
    }
}

fn permission_lines(permissions: &RunPermissions) -> Vec<String> {
    let list = |texts: Vec<&str>| texts.into_iter().map(quote_double).collect::<Vec<_>>().join(", ");
    let globs = |globs: &[Glob]| list(globs.iter().map(Glob::as_str).collect());
    let hosts: Vec<String> = permissions.outbound.iter().map(ToString::to_string).collect();
    vec![
        "filesystem:".to_owned(),
        format!("  read: [{}]", globs(&permissions.read)),
        format!("  write: [{}]", globs(&permissions.write)),
        "network:".to_owned(),
        format!("  outbound: [{}]", list(hosts.iter().map(String::as_str).collect())),
        "processes:".to_owned(),
        format!("  allow_subprocess: {}", permissions.allow_subprocess),
    ]
}

fn secret_item(name: &str) -> String {
    format!("{{name: {name}, usage: env, optional: true}}")
}

/// The pattern that covers a path of a scan.
fn cover_path(kind: CapabilityKind, argument: &str) -> Cover<Glob> {
    let outside = || Cover::Impossible("it is outside the workspace".to_owned());
    if argument.starts_with("@skill") {
        return match kind {
            CapabilityKind::Write => Cover::Impossible("a skill cannot change its own directory".to_owned()),
            _ => Cover::Implicit,
        };
    }
    if argument == "/tmp" || argument.starts_with("/tmp/") {
        return Cover::Implicit;
    }
    if argument.starts_with(['~', '/']) {
        return outside();
    }
    let Some(path) = normalise_path(argument) else { return outside() };
    let mut parts: Vec<&str> = path.split('/').collect();
    // What is not known may have several components at the ends of a path.
    let last = parts.len() - 1;
    for (index, part) in parts.iter_mut().enumerate() {
        if *part == "*" && (index == 0 || index == last) || part.is_empty() {
            *part = "**";
        }
    }
    match Glob::parse(&parts.join("/")) {
        Ok(glob) => Cover::Declared(glob),
        Err(error) => Cover::Impossible(error.to_string()),
    }
}

/// The rule that covers a host of a scan.
fn cover_host(argument: &str) -> Cover<HostRule> {
    let (host, port) = match argument.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (argument, None),
    };
    let host = if host.contains('*') {
        // The labels after the last one that is not known.
        let known: Vec<&str> = host.rsplit('.').take_while(|label| !label.contains('*')).collect();
        let below: Vec<&str> = known.into_iter().rev().collect();
        if below.len() < 2 { "*".to_owned() } else { format!("*.{}", below.join(".")) }
    } else {
        host.to_owned()
    };
    let text = match port.filter(|port| !port.contains('*')) {
        Some(port) => format!("{host}:{port}"),
        None => host,
    };
    match HostRule::parse(&text) {
        Ok(rule) => Cover::Declared(rule),
        Err(error) => Cover::Impossible(error.to_string()),
    }
}

/// Returns those that no other one covers, sorted.
fn widest<T: Ord + Clone>(all: &[T], covers: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let unique: BTreeSet<T> = all.iter().cloned().collect();
    let is_widest = |one: &&T| !unique.iter().any(|other| other != *one && covers(other, one));
    unique.iter().filter(is_widest).cloned().collect()
}

/// Whether every path of a pattern matches a wider one.
fn covers_glob(wide: &Glob, narrow: &Glob) -> bool {
    if wide.as_str() == "**" {
        return true;
    }
    // A name that no pattern contains takes the place of what a star matches.
    let some = |text: &str, any: &str| text.replace("**", any).replace('*', "\u{1}");
    ["\u{1}", "\u{1}/\u{1}"].iter().all(|any| wide.matches(&some(narrow.as_str(), any)))
}

/// Whether every host of a rule matches a wider one.
fn covers_host(wide: &HostRule, narrow: &HostRule) -> bool {
    let ports = |rule: &HostRule| rule.port.map_or_else(|| vec![443, 80], |port| vec![port]);
    let has_ports = ports(narrow).iter().all(|port| ports(wide).contains(port));
    let host = narrow.host.replace('*', "x");
    has_ports
        && (wide.host == narrow.host
            || wide.matches_host(&host) && (wide.host.contains('*') || !narrow.host.contains('*')))
}

/// What a skill declares in its manifest.
pub(crate) struct SkillDeclaration<'a> {
    /// The patterns of files that may be read, with their places.
    pub(crate) read: Vec<(Glob, Span)>,
    /// The patterns of files that may be changed, with their places.
    pub(crate) write: Vec<(Glob, Span)>,
    /// The hosts, with their places.
    pub(crate) outbound: Vec<(HostRule, Span)>,
    /// Whether programs may be started.
    pub(crate) allow_subprocess: bool,
    /// The place of `allow_subprocess`.
    pub(crate) subprocess_span: Option<Span>,
    /// The declared names of secrets.
    pub(crate) secrets: Vec<&'a str>,
}

impl<'a> SkillDeclaration<'a> {
    /// Reads the declaration of a skill. A skill without the section `permissions` has none.
    pub(crate) fn from_skill(skill: &'a Skill) -> Option<Self> {
        let front = skill.frontmatter()?;
        let section = front.get("permissions").filter(|section| section.entries().is_some())?;
        let list = |group: &str, name: &str| -> Vec<(&'a str, Span)> {
            let items = section.get(group).and_then(|group| group.get(name)?.items()).unwrap_or(&[]);
            items.iter().filter_map(|item| Some((item.text()?, item.span))).collect()
        };
        let globs = |name: &str| {
            list("filesystem", name)
                .into_iter()
                .filter_map(|(text, span)| Some((Glob::parse(text).ok()?, span)))
                .collect()
        };
        let secrets = front.get("secrets").and_then(|node| node.get("required")?.items()).unwrap_or(&[]);
        let subprocess = section.get("processes").and_then(|group| group.get("allow_subprocess"));
        Some(Self {
            read: globs("read"),
            write: globs("write"),
            outbound: list("network", "outbound")
                .into_iter()
                .filter_map(|(text, span)| Some((HostRule::parse(text).ok()?, span)))
                .collect(),
            allow_subprocess: subprocess.and_then(core::classify_scalar) == Some(core::CoreScalar::Bool(true)),
            subprocess_span: subprocess.map(|node| node.span),
            secrets: secrets.iter().filter_map(|item| item.get("name")?.text()).collect(),
        })
    }

    /// Returns what has to be added for an argument, or nothing if it is declared or cannot be.
    ///
    /// A part that the scan does not know may be what is declared, so a pattern is missing only if nothing that is declared
    /// fits it.
    pub(crate) fn find_missing(&self, kind: CapabilityKind, argument: &str) -> Option<MissingDeclaration> {
        match kind {
            CapabilityKind::Read | CapabilityKind::Write => {
                let Cover::Declared(glob) = cover_path(kind, argument) else { return None };
                let declared = if kind == CapabilityKind::Read { &self.read } else { &self.write };
                let is_declared = declared
                    .iter()
                    .any(|(known, _)| covers_glob(known, &glob) || argument.contains('*') && known.overlaps(&glob));
                (!is_declared).then(|| MissingDeclaration::Path(kind, glob.as_str().to_owned()))
            }
            CapabilityKind::Connect => {
                let Cover::Declared(rule) = cover_host(argument) else { return None };
                let is_declared = self
                    .outbound
                    .iter()
                    .any(|(known, _)| covers_host(known, &rule) || argument.contains('*') && covers_host(&rule, known));
                (!is_declared).then(|| MissingDeclaration::Host(rule.to_string()))
            }
            CapabilityKind::Spawn => (!self.allow_subprocess).then_some(MissingDeclaration::Subprocess),
            CapabilityKind::Secrets => (!argument.contains('*') && !self.secrets.contains(&argument))
                .then(|| MissingDeclaration::Secret(argument.to_owned())),
            CapabilityKind::Env => None,
        }
    }
}

/// Whether a path of a scan may be one that a declared pattern matches.
pub(crate) fn may_use_glob(kind: CapabilityKind, argument: &str, declared: &Glob) -> bool {
    matches!(cover_path(kind, argument), Cover::Declared(glob) if declared.overlaps(&glob))
}

/// Whether a host of a scan may be one that a declared rule matches.
pub(crate) fn may_use_host(argument: &str, declared: &HostRule) -> bool {
    matches!(cover_host(argument), Cover::Declared(rule) if covers_host(declared, &rule) || covers_host(&rule, declared))
}

/// Something to add to a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MissingDeclaration {
    Path(CapabilityKind, String),
    Host(String),
    Subprocess,
    Secret(String),
}

impl MissingDeclaration {
    /// The field that it belongs to.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::Path(CapabilityKind::Write, _) => "permissions.filesystem.write",
            Self::Path(..) => "permissions.filesystem.read",
            Self::Host(_) => "permissions.network.outbound",
            Self::Subprocess => "permissions.processes.allow_subprocess",
            Self::Secret(_) => "secrets.required",
        }
    }

    /// The fix that adds it to the frontmatter.
    pub(crate) fn suggest_fix(&self, skill: &Skill) -> Option<FindingFix> {
        let manifest = skill.manifest.as_ref()?;
        let source = manifest.source.text();
        let root = &skill.frontmatter()?.root;
        let keys: Vec<&str> = self.field().split('.').collect();
        let (span, text) = match self {
            Self::Subprocess => {
                match root.get("permissions")?.get("processes").and_then(|group| group.get("allow_subprocess")) {
                    Some(value) => (value.span, "true".to_owned()),
                    None => add_value(source, root, &keys, "true")?,
                }
            }
            Self::Path(_, item) | Self::Host(item) => add_to_list(source, root, &keys, &quote_double(item))?,
            Self::Secret(name) => add_to_list(source, root, &keys, &secret_item(name))?,
        };
        let shown = match self {
            Self::Path(_, item) | Self::Host(item) | Self::Secret(item) => item,
            Self::Subprocess => "true",
        };
        let title = format!("declare `{shown}` in `{}`", self.field());
        Some(FindingFix::suggestion(title).replace(manifest.file, span, text))
    }
}

/// Adds an item to the list at a path of keys, and what is missing on the way.
fn add_to_list(source: &str, root: &YamlNode, keys: &[&str], item: &str) -> Option<(Span, String)> {
    let list = keys.iter().try_fold(root, |node, key| node.get(key));
    match list {
        Some(list) if list.items().is_some() => add_item(source, list, item),
        // An empty value.
        Some(list) if list.span.start == list.span.end => Some((list.span, format!(" [{item}]"))),
        Some(_) => None,
        None => add_value(source, root, keys, &format!("[{item}]")),
    }
}

/// Adds a value at a path of keys, after the last key that exists.
fn add_value(source: &str, root: &YamlNode, keys: &[&str], value: &str) -> Option<(Span, String)> {
    let mut node = root;
    let mut depth = 0;
    while let Some(next) = keys.get(depth).and_then(|key| node.get(key)) {
        node = next;
        depth += 1;
    }
    let rest = &keys[depth..];
    let YamlValue::Mapping { entries, is_flow } = &node.value else { return None };
    if *is_flow {
        let nested = rest.iter().rev().fold(value.to_owned(), |inner, key| {
            if inner == value { format!("{key}: {inner}") } else { format!("{key}: {{{inner}}}") }
        });
        let separator = if entries.is_empty() { "" } else { ", " };
        let is_braced = source.get(node.span.range())?.starts_with('{');
        return is_braced.then(|| (Span::empty_at(node.span.start + 1), format!("{nested}{separator}")));
    }
    let last = entries.last()?;
    let first = entries.first()?.key.span.start;
    let line = source[..first].rfind('\n').map_or(0, |at| at + 1);
    let indent = &source[line..first];
    if !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let end = last.value.span.end.max(last.key.span.end);
    // After the line that the mapping ends in. A block text may end with its line break.
    let at = if source[..end].ends_with('\n') { end } else { source[end..].find('\n').map(|more| end + more + 1)? };
    let line_break = line_end(source, at.saturating_sub(1));
    let mut text = String::new();
    for (level, key) in rest.iter().enumerate() {
        let value = if level + 1 == rest.len() { format!(" {value}") } else { String::new() };
        text.push_str(&format!("{indent}{}{key}:{value}{line_break}", "  ".repeat(level)));
    }
    Some((Span::empty_at(at), text))
}

/// Adds to the frontmatter of a skill what it does and does not declare. Returns the new text of the manifest, or `None` if
/// nothing is missing.
///
/// Fails if the frontmatter is written in a way that cannot be edited with certainty.
pub fn add_declaration(skill: &Skill, capabilities: &Capabilities) -> Result<Option<String>, String> {
    let needed = NeededDeclaration::from_capabilities(capabilities);
    let Some(manifest) = skill.manifest.as_ref() else { return Err("it has no SKILL.md".to_owned()) };
    let before = manifest.source.text().to_owned();
    let mut text = before.clone();
    for _ in 0..ADDED_MAX {
        let current = with_manifest(skill, manifest.file, &text);
        let Some(missing) = first_missing(&current, &needed) else {
            return Ok((text != before).then_some(text));
        };
        let uncertain = || format!("`{}` cannot be edited with certainty", missing.field());
        let fix = missing.suggest_fix(&current).ok_or_else(uncertain)?;
        let [FixEdit::Replace { edit, .. }] = fix.edits.as_slice() else { return Err(uncertain()) };
        text.replace_range(edit.span.range(), &edit.replacement);
        let after = with_manifest(skill, manifest.file, &text);
        if first_missing(&after, &needed).as_ref() == Some(&missing) {
            return Err(uncertain());
        }
    }
    Err(format!("it needs more than {ADDED_MAX} entries"))
}

fn with_manifest(skill: &Skill, file: &str, text: &str) -> Skill {
    Skill::parse(SkillTree::from_texts(&skill.tree.folder, &[(file, text)])).0
}

fn first_missing(skill: &Skill, needed: &NeededDeclaration) -> Option<MissingDeclaration> {
    let (permissions, declared) = (&needed.permissions, SkillDeclaration::from_skill(skill));
    let is_covered = |known: &[(Glob, Span)], glob: &Glob| known.iter().any(|(known, _)| covers_glob(known, glob));
    let path = |kind, globs: &[Glob], known: Option<&[(Glob, Span)]>| {
        let glob = globs.iter().find(|glob| !known.is_some_and(|known| is_covered(known, glob)))?;
        Some(MissingDeclaration::Path(kind, glob.as_str().to_owned()))
    };
    let known = declared.as_ref();
    path(CapabilityKind::Read, &permissions.read, known.map(|known| known.read.as_slice()))
        .or_else(|| path(CapabilityKind::Write, &permissions.write, known.map(|known| known.write.as_slice())))
        .or_else(|| {
            let is_known = |rule: &HostRule| {
                known.is_some_and(|known| known.outbound.iter().any(|(known, _)| covers_host(known, rule)))
            };
            let rule = permissions.outbound.iter().find(|rule| !is_known(rule))?;
            Some(MissingDeclaration::Host(rule.to_string()))
        })
        .or_else(|| {
            (permissions.allow_subprocess && !known.is_some_and(|known| known.allow_subprocess))
                .then_some(MissingDeclaration::Subprocess)
        })
        .or_else(|| {
            let front = skill.frontmatter()?;
            let items = front.get("secrets").and_then(|node| node.get("required")?.items()).unwrap_or(&[]);
            let is_known =
                |name: &str| items.iter().any(|item| item.get("name").and_then(YamlNode::text) == Some(name));
            let name = needed.secrets.iter().find(|name| !is_known(name))?;
            Some(MissingDeclaration::Secret(name.clone()))
        })
}

#[cfg(test)]
mod tests;
