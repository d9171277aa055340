//! Tools of MCP servers: which servers there are, which one a call means, and what they offer.
//!
//! A server of the user comes before one of the project with the same name, and both before one of a skill, so that
//! nothing foreign replaces what the user declared. A tool of a skill comes before every tool of a server.

use std::sync::Arc;

use rep_library::mcp_servers::{ServerDeclaration, ServerOrigin, is_server_name};
use rep_library::trust::is_project_trusted;
use rep_library::{Catalog, settings};
use rep_model::suggestion::nearest_name;
use rep_sandbox::Cancel;
use serde_json::{Value, json};

use super::call::{CallerConsent, PreparedCall, ToolCall};
use super::{RunAccess, RunDecision, Runtime, current_time, expose_secrets};
use crate::approval::Approvals;
use crate::error::{CallError, ErrorCode};
use crate::executable_skill::{ExecutableSkill, tool_name};
use crate::grant::ExecutionTrust;
use crate::outcome::{Outcome, RunReply};
use crate::plan::Plan;
use crate::plan::server::{SERVER_PREFIX, ServerAction, ServerPlanInput};
use crate::prompter::{NobodyToAsk, Prompter};

/// A server and what it answered when it was asked for its tools.
pub struct ServerTools {
    /// The server.
    pub server: ServerDeclaration,
    /// How the question ended.
    pub outcome: Outcome,
}

impl ServerTools {
    /// Returns the tools, if the server listed them.
    pub fn tools(&self) -> &[Value] {
        list_replied_tools(&self.outcome.reply)
    }
}

fn list_replied_tools(reply: &RunReply) -> &[Value] {
    match reply {
        RunReply::Result(value) => value["tools"].as_array().map_or(&[], Vec::as_slice),
        RunReply::Task(_) | RunReply::Error(_) => &[],
    }
}

/// Splits `mcp:SERVER:TOOL`. A skill with that qualified name comes first, so it is not split.
pub fn parse_server_target<'a>(catalog: &Catalog, target: &'a str) -> Option<(&'a str, &'a str)> {
    let (server, tool) = target.strip_prefix(SERVER_PREFIX)?.split_once(':')?;
    let is_skill =
        || catalog.entries.iter().any(|entry| entry.qualified_name == target[..SERVER_PREFIX.len() + server.len()]);
    (is_server_name(server) && !tool.is_empty() && !is_skill()).then_some((server, tool))
}

impl Runtime {
    /// Lists the servers of the user and of the project, by name.
    pub fn list_servers(&self) -> Result<Vec<ServerDeclaration>, CallError> {
        let mut servers = match &self.paths.settings {
            Some(file) => settings::load_user_servers(file)?,
            None => Vec::new(),
        };
        if let Some(project) = &self.options.library.project {
            for server in settings::load_project_servers(project)? {
                if servers.iter().all(|known| known.name != server.name) {
                    servers.push(server);
                }
            }
        }
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(servers)
    }

    /// Finds a server of the user or of the project.
    pub fn find_server(&self, name: &str) -> Result<ServerDeclaration, CallError> {
        let servers = self.list_servers()?;
        if let Some(server) = servers.iter().find(|server| server.name == name) {
            return Ok(server.clone());
        }
        let error = CallError::unable(ErrorCode::ServerNotFound, format!("no MCP server is named `{name}`"));
        Err(match nearest_name(name, servers.iter().map(|server| server.name.as_str())) {
            Some(near) => error.with_remedy(format!("did you mean `{near}`?")),
            None => error.with_remedy(format!("declare it in rep.yaml: `mcp_servers: {{{name}: {{command: …}}}}`")),
        })
    }

    /// Finds the server that a skill means by a name: the user's, the project's, or its own.
    fn find_server_for_skill(&self, skill: &ExecutableSkill, name: &str) -> Result<ServerDeclaration, CallError> {
        match self.find_server(name) {
            Err(missing) if missing.code == ErrorCode::ServerNotFound => {
                let own = skill.own_servers()?.into_iter().find(|server| server.name == name);
                own.ok_or_else(|| {
                    let message = format!("`{}` requires the MCP server `{name}`, which is not declared", skill.name);
                    CallError { message, ..missing }
                })
            }
            found => found,
        }
    }

    /// Lists the servers that a skill requires or declares.
    pub fn list_skill_servers(&self, skill: &ExecutableSkill) -> Result<Vec<ServerDeclaration>, CallError> {
        let mut names: Vec<String> = skill.required_servers()?.into_iter().map(|one| one.server).collect();
        names.sort();
        names.dedup();
        names.iter().map(|name| self.find_server_for_skill(skill, name)).collect()
    }

    /// Finds the server whose tool a skill means by a name that none of its own tools has.
    pub(super) fn find_required_server(
        &self,
        skill: &ExecutableSkill,
        tool: &str,
    ) -> Result<Option<ServerDeclaration>, CallError> {
        let required = skill.required_servers()?;
        let exact = required.iter().find(|one| one.tool.as_deref() == Some(tool));
        let mut whole: Vec<&str> =
            required.iter().filter(|one| one.tool.is_none()).map(|one| one.server.as_str()).collect();
        whole.sort_unstable();
        whole.dedup();
        match (exact, &whole[..]) {
            (Some(exact), _) => self.find_server_for_skill(skill, &exact.server).map(Some),
            (None, [server]) => self.find_server_for_skill(skill, server).map(Some),
            (None, []) => Ok(None),
            (None, several) => {
                let message = format!(
                    "`{}` has no tool `{tool}`, and requires several MCP servers: {}",
                    skill.name,
                    several.join(", ")
                );
                let remedy = format!("its author can say which one: `requires_mcp: ['{}:{tool}']`", several[0]);
                Err(CallError::unable(ErrorCode::ToolNotFound, message).with_remedy(remedy))
            }
        }
    }

    /// Plans a call of a server by its name.
    pub(super) fn plan_server_call(
        &self,
        server: &str,
        tool: &str,
        input: &Value,
        call: &ToolCall,
    ) -> Result<PreparedCall, CallError> {
        let server = self.find_server(server)?;
        let action = ServerAction::CallTool { tool: tool.to_owned(), must_be_read_only: false };
        self.plan_conversation(&server, None, action, input.clone(), call)
    }

    /// Plans a call of a server from inside a tool of a skill.
    pub(super) fn plan_skill_server_call(
        &self,
        skill: &Arc<ExecutableSkill>,
        server: &str,
        tool: &str,
        input: Value,
    ) -> Result<PreparedCall, CallError> {
        let server = self.find_server_for_skill(skill, server)?;
        let call = ToolCall::for_server(&server.name, tool, Value::Null);
        let action = ServerAction::CallTool { tool: tool.to_owned(), must_be_read_only: false };
        self.plan_conversation(&server, Some(skill), action, input, &call)
    }

    /// Plans a conversation with a server. `owner` is the skill that declares it.
    pub(super) fn plan_conversation(
        &self,
        server: &ServerDeclaration,
        owner: Option<&Arc<ExecutableSkill>>,
        action: ServerAction,
        input: Value,
        call: &ToolCall,
    ) -> Result<PreparedCall, CallError> {
        let owner = owner.filter(|_| matches!(server.origin, ServerOrigin::Skill(_)));
        let mut plan = Plan::from_server(ServerPlanInput {
            server,
            action,
            owner: owner.map(|skill| (skill.digest.as_str(), skill.folder.as_path())),
            workspace: &self.options.workspace,
            input,
            variable: &|name| self.find_variable(name),
        })?;
        if !self.options.confinement.is_sandboxed() {
            plan.confinement = self.options.confinement;
        }
        if let Some(seconds) = call.timeout_s {
            plan.limits = plan.limits.with_timeout(seconds);
        }
        let trust = match owner {
            Some(skill) => skill.trust.clone(),
            None => self.determine_server_trust(server)?,
        };
        Ok(PreparedCall {
            skill: owner.cloned(),
            trust,
            plan,
            command: None,
            consent: call.consent.clone(),
            client: call.client.clone(),
            missing_state: Vec::new(),
        })
    }

    /// Returns whether a server may be started: one of a project only if the user trusts the project.
    pub(super) fn determine_server_trust(&self, server: &ServerDeclaration) -> Result<ExecutionTrust, CallError> {
        let is_trusted = server.origin != ServerOrigin::Project || is_project_trusted(&self.options.library)?;
        Ok(if is_trusted {
            ExecutionTrust::Trusted
        } else {
            let reason = "its project declares it, and you have not trusted the project".to_owned();
            ExecutionTrust::Untrusted(reason)
        })
    }

    /// Asks a server for its tools. The question is decided and recorded like a call; one of a server that the user did
    /// not declare needs confirmation.
    pub fn list_server_tools(
        &self,
        server: &ServerDeclaration,
        owner: Option<&Arc<ExecutableSkill>>,
        consent: CallerConsent,
        prompter: &dyn Prompter,
        cancel: &Cancel,
    ) -> Result<ServerTools, CallError> {
        let call = ToolCall { consent, ..ToolCall::for_server(&server.name, "tools/list", json!({})) };
        let prepared = self.plan_conversation(server, owner, ServerAction::ListTools, json!({}), &call)?;
        let secrets = self.gather_secrets(&prepared.plan)?;
        let decided =
            self.decide_plan(prepared.plan.clone(), &prepared.trust, &secrets, &prepared.consent, prompter)?;
        let decided = match decided {
            RunDecision::Granted(granted) => Ok(*granted),
            RunDecision::Refused(refusal) => Err(refusal),
            RunDecision::Deferred(question) => Err(question.into_declined()),
        };
        let values = expose_secrets(&secrets);
        let access = RunAccess { secrets: &values, redacted_values: &[], caller: None, client: None };
        let outcome = self.run_decided(decided, &prepared.plan, &access, prompter, cancel);
        Ok(ServerTools { server: server.clone(), outcome })
    }

    /// Stores a lasting approval. That of a server's tool is bound to what the server lists now, so it is asked.
    pub(super) fn store_approval(&self, plan: &Plan, trust: &ExecutionTrust) -> Result<(), CallError> {
        let mut plan = plan.clone();
        if plan.is_server_tool_call() {
            let definition = self.ask_definition(&plan, trust)?;
            plan.require_definition(&definition);
        }
        Approvals::store_for_plan(&self.approvals_file()?, &plan, current_time())?;
        Ok(())
    }

    /// Asks the server of a call for the digest of the tool's definition. The user has agreed to the call.
    fn ask_definition(&self, plan: &Plan, trust: &ExecutionTrust) -> Result<String, CallError> {
        let Some(ServerAction::CallTool { tool, .. }) = plan.server_call().map(|call| &call.action) else {
            return Err(CallError::unable(ErrorCode::InvalidTool, "only a tool of a server has a definition"));
        };
        let listing = plan.to_tool_listing();
        let secrets = self.gather_secrets(&listing)?;
        let outcome = self.run_with_consent(&listing, trust, &secrets, &Cancel::default())?;
        if let RunReply::Error(error) = &outcome.reply {
            return Err(CallError::unable(error.code.clone(), error.message.clone()));
        }
        let definition = list_replied_tools(&outcome.reply)
            .iter()
            .find(|listed| tool_name(listed) == tool)
            .and_then(|listed| listed["definition"].as_str());
        definition.map(str::to_owned).ok_or_else(|| {
            let message = format!("the MCP server of `{}` has no tool `{tool}`", plan.skill);
            CallError::unable(ErrorCode::ToolNotFound, message).with_remedy("`rep tools --mcp` lists the tools")
        })
    }

    /// Finds out whether a call needs no confirmation: the user trusts the server, and the server marks the tool as
    /// read-only. The server is asked for its tools, which is recorded.
    pub(super) fn classify_server_call(&self, prepared: &mut PreparedCall, cancel: &Cancel) -> Result<(), CallError> {
        let Some(call) = prepared.plan.server_call() else { return Ok(()) };
        let ServerAction::CallTool { tool, .. } = &call.action else { return Ok(()) };
        if !call.server.is_trusted || prepared.consent != CallerConsent::Ask {
            return Ok(());
        }
        let server = self.find_server(&call.server.name)?;
        let nobody = NobodyToAsk::default();
        let listed = self.list_server_tools(&server, None, CallerConsent::Ask, &nobody, cancel)?;
        let found = listed.tools().iter().find(|listed| tool_name(listed) == tool);
        if found.is_some_and(|found| found["read_only"] == true) {
            prepared.plan.accept_read_only();
        }
        Ok(())
    }
}
