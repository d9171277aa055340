//! Plans a conversation with an MCP server: the list of its tools, or a call of one.
//!
//! The tools of a server are foreign, so a call needs confirmation. It does not if the user trusts the server and the
//! server marks the tool as read-only; the runtime finds that out before it decides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rep_library::mcp_servers::{
    ServerAddress, ServerDeclaration, ServerOrigin, expand_chosen_variables, expand_variables, list_variables,
};
use rep_net::HttpOrigin;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::declarations::check_variable_name;
use super::{Confinement, HostRule, Plan, PlannedWork, Redaction, Risk, RunLimits, RunPermissions, SecretNeed};
use crate::error::{CallError, ErrorCode};

/// The prefix of the names of servers among the names of skills.
pub const SERVER_PREFIX: &str = "mcp:";

/// A conversation with a server.
#[derive(Clone, Debug)]
pub struct PlannedServerCall {
    /// The server. Variables that are not secrets are replaced.
    pub server: ServerDeclaration,
    /// What is asked of it.
    pub action: ServerAction,
    /// The digest of the tool's definition that the user approved. The call is refused if the server lists another.
    pub approved_definition: Option<String>,
}

/// What is asked of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAction {
    /// The list of its tools.
    ListTools,
    /// A call of a tool.
    CallTool {
        /// Its name.
        tool: String,
        /// Whether the call was granted because the server marks the tool as read-only.
        must_be_read_only: bool,
    },
}

/// A conversation to plan, with its context.
pub(crate) struct ServerPlanInput<'a> {
    /// The server.
    pub(crate) server: &'a ServerDeclaration,
    /// What is asked of it.
    pub(crate) action: ServerAction,
    /// The digest and the directory of the skill that declares the server.
    pub(crate) owner: Option<(&'a str, &'a Path)>,
    /// The directory that patterns are relative to, absolute.
    pub(crate) workspace: &'a Path,
    /// The arguments.
    pub(crate) input: Value,
    /// Looks up the caller's environment.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Plan {
    /// Plans a conversation with a server.
    pub(crate) fn from_server(call: ServerPlanInput<'_>) -> Result<Plan, CallError> {
        let server = resolve_plain_variables(call.server, call.variable)?;
        check_variables(&server)?;
        let confirm = match (&call.action, &server.origin) {
            // The user declared the server, so that it is asked.
            (ServerAction::ListTools, ServerOrigin::User) => BTreeSet::new(),
            _ => BTreeSet::from([Risk::ForeignTool]),
        };
        let (skill, tool) = name_conversation(&server, &call.action);
        let digest = match call.owner {
            Some((digest, _)) => digest.to_owned(),
            None => hex::encode(Sha256::digest(call.server.to_json().to_string().as_bytes())),
        };
        let limits = RunLimits::default();
        Ok(Plan {
            confinement: if server.is_sandboxed { Confinement::Sandboxed } else { Confinement::Unconfined },
            skill,
            digest,
            folder: call.owner.map_or(call.workspace, |(_, folder)| folder).to_owned(),
            tool,
            workspace: call.workspace.to_owned(),
            input: call.input,
            permissions: derive_permissions(&server)?,
            confirm,
            prompt: None,
            redaction: Redaction { secrets: true, pii: true },
            secrets: list_secrets(&server),
            limits: server.timeout_s.map_or(limits, |seconds| limits.with_timeout(seconds)),
            ignored: Vec::new(),
            provenance: None,
            callees: Vec::new(),
            work: PlannedWork::Server(Box::new(PlannedServerCall {
                server,
                action: call.action,
                approved_definition: None,
            })),
        })
    }

    /// Returns the conversation with a server, if this is one.
    pub(crate) fn server_call(&self) -> Option<&PlannedServerCall> {
        match &self.work {
            PlannedWork::Server(call) => Some(call),
            PlannedWork::Tool(_) | PlannedWork::Command(_) | PlannedWork::Script(_) | PlannedWork::Request(_) => None,
        }
    }

    /// Returns whether a tool of a server is called, so that an approval needs the tool's definition.
    pub(crate) fn is_server_tool_call(&self) -> bool {
        self.server_call().is_some_and(|call| matches!(call.action, ServerAction::CallTool { .. }))
    }

    /// Returns the target, `SKILL:TOOL`, of a call of a server that the skill itself declares.
    pub(crate) fn name_own_server_tool(&self) -> Option<String> {
        let call = self.server_call()?;
        match (&call.server.origin, &call.action) {
            (ServerOrigin::Skill(skill), ServerAction::CallTool { tool, .. }) => Some(format!("{skill}:{tool}")),
            _ => None,
        }
    }

    /// Restricts a call of a server's tool to the definition with this digest.
    pub(crate) fn require_definition(&mut self, digest: &str) {
        if let PlannedWork::Server(call) = &mut self.work {
            call.approved_definition = Some(digest.to_owned());
        }
    }

    /// Plans the list of the tools of the server that this plan calls.
    pub(crate) fn to_tool_listing(&self) -> Plan {
        let mut listing = Plan { input: json!({}), ..self.clone() };
        if let PlannedWork::Server(call) = &mut listing.work {
            call.action = ServerAction::ListTools;
            (listing.skill, listing.tool) = name_conversation(&call.server, &call.action);
        }
        listing
    }

    /// Grants a call of a tool that changes nothing, on the condition that the server still says so.
    pub(crate) fn accept_read_only(&mut self) {
        if let PlannedWork::Server(call) = &mut self.work
            && let ServerAction::CallTool { must_be_read_only, .. } = &mut call.action
        {
            *must_be_read_only = true;
            self.confirm.remove(&Risk::ForeignTool);
        }
    }
}

impl PlannedServerCall {
    /// Renders the conversation for a plan and for the binding of approvals. Values of secrets are not part of it.
    pub(super) fn to_json(&self) -> Value {
        let mut value = json!({ "server": self.server.to_json() });
        if let ServerAction::CallTool { must_be_read_only: true, .. } = &self.action {
            value["read_only"] = true.into();
        }
        value
    }

    /// Describes what its process may always read.
    pub(super) fn describe_own_files(&self) -> String {
        let mut words = match &self.server.origin {
            ServerOrigin::Skill(_) => super::description::OWN_FOLDER.to_owned(),
            ServerOrigin::User | ServerOrigin::Project => "its own program".to_owned(),
        };
        for folder in &self.server.readable {
            words.push_str(&format!(" and `{}`", folder.display()));
        }
        words
    }

    /// Describes the server in plain words.
    pub(super) fn describe_server(&self) -> String {
        let by = match &self.server.origin {
            ServerOrigin::User => "you declare".to_owned(),
            ServerOrigin::Project => "the project declares".to_owned(),
            ServerOrigin::Skill(skill) => format!("the skill `{skill}` declares"),
        };
        let name = &self.server.name;
        match &self.server.address {
            ServerAddress::Stdio { command, args, .. } => {
                let words: Vec<String> = args.iter().map(|word| json!(word).to_string()).collect();
                format!("starts the MCP server `{name}`, which {by}: `{command}` {}", words.join(" "))
            }
            ServerAddress::Http { url, .. } => format!("asks the MCP server `{name}`, which {by}: {url}"),
        }
    }
}

/// Returns the names of a conversation in records: of the server or its skill, and of the tool.
fn name_conversation(server: &ServerDeclaration, action: &ServerAction) -> (String, String) {
    let word = match action {
        ServerAction::ListTools => "tools/list",
        ServerAction::CallTool { tool, .. } => tool,
    };
    match &server.origin {
        ServerOrigin::User | ServerOrigin::Project => (format!("{SERVER_PREFIX}{}", server.name), word.to_owned()),
        ServerOrigin::Skill(skill) => (skill.clone(), format!("{SERVER_PREFIX}{}:{word}", server.name)),
    }
}

/// Returns the address of a server with all its variables replaced.
pub(crate) fn expand_address(
    server: &ServerDeclaration,
    secrets: &BTreeMap<&str, &str>,
) -> Result<ServerAddress, CallError> {
    let value = |name: &str| secrets.get(name).map(|value| (*value).to_owned());
    server.address.map_texts(|text| expand_variables(text, value).map_err(|name| missing_variable(server, &name)))
}

fn missing_variable(server: &ServerDeclaration, name: &str) -> CallError {
    let message = format!("the MCP server `{}` needs the variable `{name}`, which is not set", server.name);
    CallError::refused(ErrorCode::VariableMissing, message).with_remedy(format!("set {name} in the environment"))
}

/// Returns whether a variable is not a secret: those that describe the machine and its user.
fn is_plain_variable(name: &str) -> bool {
    check_variable_name(name).is_err()
}

/// Replaces the variables that are not secrets, and those that determine the host of an address.
fn resolve_plain_variables(
    server: &ServerDeclaration,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<ServerDeclaration, CallError> {
    let missing = |name: String| missing_variable(server, &name);
    let plain = |text: &str| expand_chosen_variables(text, is_plain_variable, variable).map_err(missing);
    let address = match server.address.map_texts(plain)? {
        ServerAddress::Http { url, headers } => {
            let (base, rest) = url.split_at(find_base_end(&url));
            ServerAddress::Http { url: expand_variables(base, variable).map_err(missing)? + rest, headers }
        }
        stdio @ ServerAddress::Stdio { .. } => stdio,
    };
    Ok(server.clone().with_address(address))
}

/// Returns the end of the part of an address that determines its host.
fn find_base_end(url: &str) -> usize {
    let start = match url.find("://") {
        Some(at) if !url.starts_with("${") => at + 3,
        _ => url.find('}').map_or(0, |at| at + 1),
    };
    url[start..].find(['/', '?']).map_or(url.len(), |at| start + at)
}

/// Refuses variables that change how programs are loaded, unless the user sets them.
fn check_variables(server: &ServerDeclaration) -> Result<(), CallError> {
    let ServerAddress::Stdio { env, .. } = &server.address else { return Ok(()) };
    if server.origin == ServerOrigin::User {
        return Ok(());
    }
    for name in env.keys() {
        check_variable_name(name).map_err(|reason| {
            let message = format!("the MCP server `{}` cannot set the variable `{name}`: {reason}", server.name);
            CallError::refused(ErrorCode::PermissionDenied, message)
                .with_remedy("declare the server in your own rep.yaml if you want this")
        })?;
    }
    Ok(())
}

/// Returns what a conversation may do: the permissions of the process, or the host of the address.
fn derive_permissions(server: &ServerDeclaration) -> Result<RunPermissions, CallError> {
    let ServerAddress::Http { url, .. } = &server.address else { return Ok(server.permissions.clone()) };
    let unusable = |reason: String| {
        let message = format!("the address of the MCP server `{}` cannot be used: {reason}", server.name);
        CallError::unable(ErrorCode::BrokenSettings, message).with_remedy("write `https://HOST/PATH`")
    };
    let (origin, _) = HttpOrigin::split_url(url).map_err(unusable)?;
    let bare = HostRule { host: origin.host.clone(), port: Some(origin.port) };
    let rule = HostRule::parse(&bare.to_string()).map_err(|error| unusable(error.to_string()))?;
    Ok(RunPermissions { outbound: vec![rule], ..RunPermissions::default() })
}

fn list_secrets(server: &ServerDeclaration) -> Vec<SecretNeed> {
    let mut needs: BTreeMap<String, bool> = BTreeMap::new();
    for variable in server.texts().into_iter().flat_map(list_variables) {
        needs.entry(variable.name).and_modify(|known| *known &= variable.has_default).or_insert(variable.has_default);
    }
    needs.into_iter().map(|(name, is_optional)| SecretNeed { name, is_optional }).collect()
}
