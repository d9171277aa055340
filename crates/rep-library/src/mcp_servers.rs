//! MCP servers that the user, a project or a skill declares: the third source of tools (Universal 2.1 §6).
//!
//! ```yaml
//! mcp_servers:
//!   files:
//!     command: files-server
//!     args: [--root, docs]
//!     env: {FILES_TOKEN: '${FILES_TOKEN}'}
//!     permissions: {filesystem: {read: ['docs/**']}}
//!   search:
//!     type: http
//!     url: https://search.example.org/mcp
//!     headers: {Authorization: 'Bearer ${SEARCH_TOKEN}'}
//! ```
//!
//! An entry has the shape of `.mcp.json`, with `permissions` in the language of skills. In a skill, the same mapping is
//! `extensions.mcp_servers`, and `extensions.requires_mcp` lists the servers that its tools call. What only the user can
//! know (whether a server is trusted, and whether it runs without a sandbox) is read from the user's file only. This
//! module reads declarations; it connects to nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rep_model::frontmatter::Frontmatter;
use rep_model::yaml::{YamlEntry, YamlNode, core};
use rep_model::{Span, yaml};
use rep_permissions::{Glob, HostRule, RunPermissions};
use serde_json::{Value, json};

mod variables;

pub use variables::{ServerVariable, expand_chosen_variables, expand_variables, list_variables};

/// The maximum number of servers in one declaration.
const SERVERS_MAX: usize = 100;
const NAME_BYTES_MAX: usize = 64;
/// The maximum time limit of a call, in seconds.
const TIMEOUT_S_MAX: u64 = 86_400;
/// The keys of an entry, and those that only the user's file may contain.
const ENTRY_KEYS: [&str; 8] = ["type", "command", "args", "env", "url", "headers", "permissions", "timeout"];
const USER_KEYS: [&str; 3] = ["trust", "sandbox", "readable"];

/// Who declares a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerOrigin {
    /// The user, in the user's own `rep.yaml`.
    User,
    /// A project, in its `rep.yaml`.
    Project,
    /// A skill, by its qualified name.
    Skill(String),
}

impl ServerOrigin {
    /// Returns the word used in listings.
    pub const fn name(&self) -> &'static str {
        match self {
            ServerOrigin::User => "user",
            ServerOrigin::Project => "project",
            ServerOrigin::Skill(_) => "skill",
        }
    }
}

/// How a server is reached. Values may contain `${VARIABLES}`, which are expanded for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// A program that speaks over its stdin and stdout.
    Stdio {
        /// The program: a name, or a path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables.
        env: BTreeMap<String, String>,
    },
    /// An endpoint over HTTP.
    Http {
        /// The address.
        url: String,
        /// Further headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl ServerAddress {
    /// Returns the address with every value replaced.
    pub fn map_texts<E>(&self, replace: impl Fn(&str) -> Result<String, E>) -> Result<Self, E> {
        let replace_all = |values: &BTreeMap<String, String>| {
            values.iter().map(|(key, value)| Ok((key.clone(), replace(value)?))).collect::<Result<BTreeMap<_, _>, E>>()
        };
        Ok(match self {
            ServerAddress::Stdio { command, args, env } => ServerAddress::Stdio {
                command: replace(command)?,
                args: args.iter().map(|word| replace(word)).collect::<Result<_, E>>()?,
                env: replace_all(env)?,
            },
            ServerAddress::Http { url, headers } => {
                ServerAddress::Http { url: replace(url)?, headers: replace_all(headers)? }
            }
        })
    }
}

/// A declared server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerDeclaration {
    /// The name.
    pub name: String,
    /// Who declares it.
    pub origin: ServerOrigin,
    /// How it is reached.
    pub address: ServerAddress,
    /// What its process may do.
    pub permissions: RunPermissions,
    /// Directories outside the workspace that its process may read.
    pub readable: Vec<PathBuf>,
    /// Whether its process is confined.
    pub is_sandboxed: bool,
    /// Whether the user believes what it says about its tools.
    pub is_trusted: bool,
    /// The time limit of a call, in seconds.
    pub timeout_s: Option<u64>,
}

impl ServerDeclaration {
    /// Returns the word for its transport.
    pub const fn transport_name(&self) -> &'static str {
        match self.address {
            ServerAddress::Stdio { .. } => "stdio",
            ServerAddress::Http { .. } => "http",
        }
    }

    /// Renders the declaration as it was written, without the values of variables. Approvals are bound to it.
    pub fn to_json(&self) -> Value {
        let address = match &self.address {
            ServerAddress::Stdio { command, args, env } => json!({ "command": command, "args": args, "env": env }),
            ServerAddress::Http { url, headers } => json!({ "url": url, "headers": headers }),
        };
        json!({
            "name": self.name,
            "from": self.origin.name(),
            "transport": self.transport_name(),
            "address": address,
            "readable": self.readable.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>(),
            "sandbox": self.is_sandboxed,
            "trust": self.is_trusted,
        })
    }

    /// Returns the declaration with another address.
    #[must_use]
    pub fn with_address(self, address: ServerAddress) -> Self {
        Self { address, ..self }
    }

    /// Returns every value in which variables are expanded.
    pub fn texts(&self) -> Vec<&str> {
        match &self.address {
            ServerAddress::Stdio { command, args, env } => {
                let first = std::iter::once(command.as_str());
                first.chain(args.iter().map(String::as_str)).chain(env.values().map(String::as_str)).collect()
            }
            ServerAddress::Http { url, headers } => {
                std::iter::once(url.as_str()).chain(headers.values().map(String::as_str)).collect()
            }
        }
    }
}

/// Why a declaration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ServerDeclarationError {
    /// Where the fault is.
    pub span: Span,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

type DeclarationResult<T> = Result<T, ServerDeclarationError>;

fn fault<T>(span: Span, message: impl Into<String>, remedy: impl Into<String>) -> DeclarationResult<T> {
    Err(ServerDeclarationError { span, message: message.into(), remedy: remedy.into() })
}

/// Parses the mapping `mcp_servers`. An invalid entry is an error, so that a typing error cannot widen what a server
/// may do.
pub fn parse_servers(node: &YamlNode, origin: &ServerOrigin) -> DeclarationResult<Vec<ServerDeclaration>> {
    let entries = expect_entries(node)?;
    if entries.len() > SERVERS_MAX {
        return fault(node.span, format!("there are more than {SERVERS_MAX} servers"), "remove some");
    }
    if let Some((key, span)) = yaml::find_duplicate_keys(node).first() {
        return fault(*span, format!("duplicate key `{key}`"), "remove one of the two");
    }
    entries.iter().map(|entry| parse_server(entry, origin)).collect()
}

/// Returns the servers that a skill declares.
pub fn list_skill_servers(front: &Frontmatter, skill: &str) -> DeclarationResult<Vec<ServerDeclaration>> {
    match front.root.get("extensions").and_then(|extensions| extensions.get("mcp_servers")) {
        Some(node) => parse_servers(node, &ServerOrigin::Skill(skill.to_owned())),
        None => Ok(Vec::new()),
    }
}

/// A server, or one tool of it, that the tools of a skill call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRequirement {
    /// The server.
    pub server: String,
    /// The tool; `None` for all of them.
    pub tool: Option<String>,
}

impl ServerRequirement {
    /// Returns whether it covers a tool of a server.
    pub fn covers(&self, server: &str, tool: &str) -> bool {
        self.server == server && self.tool.as_deref().is_none_or(|own| own == tool)
    }
}

/// Returns what `extensions.requires_mcp` of a skill lists: `server`, or `server:tool`. Malformed entries require
/// nothing, and therefore allow nothing.
pub fn list_required_servers(front: &Frontmatter) -> Vec<ServerRequirement> {
    let node = front.root.get("extensions").and_then(|extensions| extensions.get("requires_mcp"));
    let items = node.and_then(YamlNode::items).unwrap_or_default();
    let requirement = |text: &str| {
        let (server, tool) = match text.split_once(':') {
            Some((server, tool)) => (server, Some(tool.to_owned())),
            None => (text, None),
        };
        let is_whole = is_server_name(server) && tool.as_ref().is_none_or(|tool| !tool.is_empty());
        is_whole.then(|| ServerRequirement { server: server.to_owned(), tool })
    };
    items.iter().filter_map(YamlNode::text).filter_map(requirement).collect()
}

/// Returns whether a text can name a server.
pub fn is_server_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    name.len() <= NAME_BYTES_MAX
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(is_part)
}

fn parse_server(entry: &YamlEntry, origin: &ServerOrigin) -> DeclarationResult<ServerDeclaration> {
    let name = entry.key.text().unwrap_or_default();
    if !is_server_name(name) {
        let remedy = "use letters, digits, `_`, `.` and `-`, at most 64 of them";
        return fault(entry.key.span, format!("`{name}` cannot be the name of a server"), remedy);
    }
    let node = &entry.value;
    for part in expect_entries(node)? {
        check_key(part, origin)?;
    }
    let address = parse_address(node, name)?;
    check_command(&address, node, origin)?;
    let timeout_s = match node.get("timeout") {
        None => None,
        Some(value) => match value.text().and_then(|text| text.parse().ok()) {
            Some(seconds @ 1..=TIMEOUT_S_MAX) => Some(seconds),
            _ => return fault(value.span, "`timeout` is not a number of seconds", "write a whole number, 1 or more"),
        },
    };
    let readable = match node.get("readable") {
        None => Vec::new(),
        Some(list) => parse_texts(list)?.into_iter().map(PathBuf::from).collect(),
    };
    if let Some(folder) = readable.iter().find(|folder| folder.is_relative()) {
        let message = format!("`{}` is not an absolute path", folder.display());
        return fault(
            node.span,
            message,
            "directories in the workspace are allowed with `permissions.filesystem.read`",
        );
    }
    Ok(ServerDeclaration {
        name: name.to_owned(),
        origin: origin.clone(),
        address,
        permissions: node.get("permissions").map(parse_permissions).transpose()?.unwrap_or_default(),
        readable,
        is_sandboxed: parse_flag(node, "sandbox")?.unwrap_or(true),
        is_trusted: parse_flag(node, "trust")?.unwrap_or(false),
        timeout_s,
    })
}

fn check_key(part: &YamlEntry, origin: &ServerOrigin) -> DeclarationResult<()> {
    let key = part.key.text().unwrap_or_default();
    if ENTRY_KEYS.contains(&key) || (USER_KEYS.contains(&key) && *origin == ServerOrigin::User) {
        return Ok(());
    }
    if USER_KEYS.contains(&key) {
        let message = format!("only you can set `{key}` for a server");
        return fault(part.key.span, message, "declare the server in your own rep.yaml if you want this");
    }
    let mut known = ENTRY_KEYS.to_vec();
    if *origin == ServerOrigin::User {
        known.extend(USER_KEYS);
    }
    fault(part.key.span, format!("unknown setting `{key}`"), format!("the settings here are: {}", known.join(", ")))
}

fn parse_address(node: &YamlNode, name: &str) -> DeclarationResult<ServerAddress> {
    let text = |key: &str| match node.get(key) {
        None => Ok(None),
        Some(value) => match value.text().filter(|text| !text.is_empty() && !text.contains('\0')) {
            Some(text) => Ok(Some(text.to_owned())),
            None => fault(value.span, format!("`{key}` is not text"), "write one value"),
        },
    };
    let kind = text("type")?;
    let (command, url) = (text("command")?, text("url")?);
    let misplaced = |keys: &[&str], of: &str| match keys.iter().find_map(|key| node.find_entry(key)) {
        Some(entry) => {
            let key = entry.key.text().unwrap_or_default();
            fault(entry.key.span, format!("a server with `{of}` has no `{key}`"), format!("remove `{key}` or `{of}`"))
        }
        None => Ok(()),
    };
    match (kind.as_deref(), command, url) {
        (None | Some("stdio"), Some(command), None) => {
            misplaced(&["headers"], "command")?;
            let args = node.get("args").map(parse_texts).transpose()?.unwrap_or_default();
            Ok(ServerAddress::Stdio { command, args, env: parse_text_map(node.get("env"))? })
        }
        (None | Some("http" | "streamable-http"), None, Some(url)) => {
            misplaced(&["args", "env"], "url")?;
            if !url.starts_with("http://") && !url.starts_with("https://") && !url.starts_with("${") {
                return fault(node.span, format!("`{url}` is not an address of HTTP"), "write `https://…`");
            }
            Ok(ServerAddress::Http { url, headers: parse_text_map(node.get("headers"))? })
        }
        (Some("sse"), _, _) => {
            let message = format!("`{name}` uses the transport `sse`, which the protocol has replaced");
            fault(node.span, message, "use the server's address for `type: http`")
        }
        (Some(other), _, _) if !["stdio", "http", "streamable-http"].contains(&other) => {
            fault(node.span, format!("unknown type `{other}` of a server"), "use `stdio` or `http`")
        }
        _ => fault(
            node.span,
            format!("`{name}` has no way to be reached"),
            "write either `command`, for a program, or `url`, for a server over HTTP",
        ),
    }
}

/// Checks that a program comes from where its declaration may point to. A path of a project or a skill would start a
/// program of its choice.
fn check_command(address: &ServerAddress, node: &YamlNode, origin: &ServerOrigin) -> DeclarationResult<()> {
    let ServerAddress::Stdio { command, .. } = address else { return Ok(()) };
    let is_allowed = match origin {
        ServerOrigin::User => !command.contains('/') || command.starts_with('/') || command.starts_with("${"),
        ServerOrigin::Project => !command.contains('/'),
        ServerOrigin::Skill(_) => !command.starts_with('/') && !command.contains("${"),
    };
    if is_allowed {
        return Ok(());
    }
    let remedy = match origin {
        ServerOrigin::User => "name a program on your PATH, or give its absolute path",
        ServerOrigin::Project => "name a program on the PATH, such as `python3`, and its file in `args`",
        ServerOrigin::Skill(_) => "name a program on the PATH, or a file of the skill",
    };
    fault(
        node.get("command").map_or(node.span, |command| command.span),
        format!("`{command}` cannot be started"),
        remedy,
    )
}

fn parse_permissions(node: &YamlNode) -> DeclarationResult<RunPermissions> {
    let mut permissions = RunPermissions::default();
    for group in expect_entries(node)? {
        let name = group.key.text().unwrap_or_default();
        for list in expect_entries(&group.value)? {
            let key = list.key.text().unwrap_or_default();
            match (name, key) {
                ("filesystem", "read") => permissions.read = parse_list(&list.value, parse_glob)?,
                ("filesystem", "write") => permissions.write = parse_list(&list.value, parse_glob)?,
                ("network", "outbound") => permissions.outbound = parse_list(&list.value, parse_host)?,
                ("processes", "allow_subprocess") => {
                    permissions.allow_subprocess = parse_flag(&group.value, key)?.unwrap_or(false);
                }
                _ => {
                    let remedy = "the permissions are: filesystem.read, filesystem.write, network.outbound, \
                                  processes.allow_subprocess";
                    return fault(list.key.span, format!("unknown permission `{name}.{key}`"), remedy);
                }
            }
        }
    }
    Ok(permissions)
}

fn parse_glob(text: &str) -> Result<Glob, String> {
    Glob::parse(text).map_err(|error| error.to_string())
}

fn parse_host(text: &str) -> Result<HostRule, String> {
    HostRule::parse(text).map_err(|error| error.to_string())
}

fn parse_list<T: Ord>(node: &YamlNode, parse: impl Fn(&str) -> Result<T, String>) -> DeclarationResult<Vec<T>> {
    let mut found = Vec::new();
    for item in expect_items(node)? {
        match item.text().map(&parse) {
            Some(Ok(value)) => found.push(value),
            Some(Err(reason)) => return fault(item.span, format!("this is not valid: {reason}"), "correct it"),
            None => return fault(item.span, "this is not text", "write a pattern"),
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn parse_flag(node: &YamlNode, key: &str) -> DeclarationResult<Option<bool>> {
    match node.get(key) {
        None => Ok(None),
        Some(value) => match core::classify_scalar(value) {
            Some(core::CoreScalar::Bool(flag)) => Ok(Some(flag)),
            _ => fault(value.span, format!("`{key}` is not a boolean"), "use `true` or `false`"),
        },
    }
}

fn parse_texts(node: &YamlNode) -> DeclarationResult<Vec<String>> {
    let text = |item: &YamlNode| match item.text().filter(|text| !text.contains('\0')) {
        Some(text) => Ok(text.to_owned()),
        None => fault(item.span, "this is not text", "write text"),
    };
    expect_items(node)?.iter().map(text).collect()
}

fn parse_text_map(node: Option<&YamlNode>) -> DeclarationResult<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let Some(node) = node else { return Ok(found) };
    for entry in expect_entries(node)? {
        let key = entry.key.text().filter(|key| !key.is_empty() && !key.contains(['=', '\0', '\n', '\r', ':']));
        let value = entry.value.text().filter(|value| !value.contains(['\0', '\n', '\r']));
        match (key, value) {
            (Some(key), Some(value)) => found.insert(key.to_owned(), value.to_owned()),
            (None, _) => return fault(entry.key.span, "this is not a name", "write a name"),
            (_, None) => return fault(entry.value.span, "this is not one line of text", "write text"),
        };
    }
    Ok(found)
}

fn expect_entries(node: &YamlNode) -> DeclarationResult<&[YamlEntry]> {
    match node.entries() {
        Some(entries) => Ok(entries),
        None => {
            fault(node.span, format!("this is {}, not a mapping", node.describe_kind()), "write `key: value` lines")
        }
    }
}

fn expect_items(node: &YamlNode) -> DeclarationResult<&[YamlNode]> {
    match node.items() {
        Some(items) => Ok(items),
        None => fault(node.span, format!("this is {}, not a list", node.describe_kind()), "write `[one, two]`"),
    }
}

#[cfg(test)]
mod tests;
