//! Converses with an MCP server: starts its process, or connects to its host, lists the tools, and calls one.
//!
//! A process is started for one conversation and ends with it. Its stdin and stdout are one stream, whose other end is
//! the client's. When the conversation is over, the stream is closed; a server that does not end then is killed.
#![expect(clippy::disallowed_methods, reason = "the directories of a server are resolved before it runs")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rep_library::mcp_servers::{ServerAddress, ServerOrigin};
use rep_mcp_client::{
    ClientError, ClientErrorKind, ConversationLimits, HttpServer, McpClient, McpTransport, ServerTool, ToolResult,
};
use rep_model::suggestion::nearest_name;
use rep_net::{HttpHeader, HttpOrigin};
use rep_permissions::{Redactor, is_public_address};
use rep_sandbox::{Cancel, KillReason, ProcessExit, SandboxChannel, SandboxError, SandboxJob, SandboxOutcome};
use rep_storage::platform::{LocalStream, OwnedStream, connect_streams};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ExecuteOptions, command};
use crate::error::ErrorCode;
use crate::outcome::{self, Outcome, ToolError};
use crate::plan::server::{PlannedServerCall, ServerAction, expand_address};
use crate::plan::{Confinement, Plan};
use crate::schema::{SchemaCheck, validate_value};

/// How long a server may take to end after the conversation.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// The maximum number of tools named when one is missing.
const TOOLS_SHOWN_MAX: usize = 12;
/// Variables that a server without a sandbox gets from the caller, as from other hosts.
const INHERITED_VARIABLES: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Holds the conversation that a plan describes.
pub(super) fn converse(
    plan: &Plan,
    call: &PlannedServerCall,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
    cancel: &Cancel,
    redactor: &Redactor,
    run: impl FnOnce(SandboxJob, &Cancel) -> Result<SandboxOutcome, SandboxError>,
) -> Outcome {
    let values: BTreeMap<&str, &str> = secrets.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refuse = |error: ToolError| Outcome::not_started(super::redact_error(error, redactor));
    let address = match expand_address(&call.server, &values) {
        Ok(address) => address,
        Err(error) => return refuse(error.into()),
    };
    match &address {
        ServerAddress::Stdio { command, args, env } => {
            match prepare_server_job(plan, call, command, args, env, options) {
                Ok(job) => converse_with_process(plan, call, job, cancel, redactor, run),
                Err(error) => refuse(error),
            }
        }
        ServerAddress::Http { url, headers } => match prepare_http_server(plan, call, url, headers) {
            Ok(server) => converse_over_http(plan, call, server, cancel, redactor),
            Err(error) => refuse(error),
        },
    }
}

/// Prepares the job of a server's process.
fn prepare_server_job(
    plan: &Plan,
    call: &PlannedServerCall,
    program: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    options: &ExecuteOptions<'_>,
) -> Result<SandboxJob, ToolError> {
    let folder = std::fs::canonicalize(&plan.folder).unwrap_or_else(|_| plan.folder.clone());
    let started = match &call.server.origin {
        ServerOrigin::Skill(_) if program.contains('/') => command::resolve_skill_file(program, &folder, plan, options),
        ServerOrigin::User if program.starts_with('/') => {
            command::resolve_program_at(Path::new(program), plan, options)
        }
        ServerOrigin::User | ServerOrigin::Project | ServerOrigin::Skill(_) => {
            command::resolve_named_program(program, plan, options)
        }
    }
    .map_err(|error| name_server(error, call))?;
    let mut readable = started.readable;
    readable.extend(call.server.readable.iter().map(|one| std::fs::canonicalize(one).unwrap_or_else(|_| one.clone())));
    if let ServerOrigin::Skill(_) = call.server.origin {
        readable.push(folder.clone());
    }
    let mut variables: Vec<(OsString, OsString)> =
        vec![("PATH".into(), super::build_search_path(started.program.parent()))];
    variables.extend(super::common_variables(plan, &folder));
    if plan.confinement == Confinement::Unconfined {
        let inherited = options.search.env.iter().filter(|(name, _)| INHERITED_VARIABLES.iter().any(|one| name == one));
        inherited.for_each(|(name, value)| set_variable(&mut variables, name.clone(), value.clone()));
    }
    for (name, value) in env {
        set_variable(&mut variables, name.into(), value.into());
    }
    let mut argv = started.words;
    argv.extend(args.iter().map(OsString::from));
    if argv.iter().any(|word| word.as_encoded_bytes().contains(&0)) {
        return Err(ToolError::new(ErrorCode::InvalidArgument, "an argument of the server contains a NUL byte"));
    }
    Ok(SandboxJob {
        program: started.program,
        argv,
        env: variables,
        stdin: Vec::new(),
        workspace: plan.workspace.clone(),
        readable,
        private_folder: None,
        injected_files: Vec::new(),
        protection: options.build_guarding(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.hidden_folders.to_vec(),
        channel: None,
    })
}

fn set_variable(variables: &mut Vec<(OsString, OsString)>, name: OsString, value: OsString) {
    variables.retain(|(known, _)| *known != name);
    variables.push((name, value));
}

fn name_server(mut error: ToolError, call: &PlannedServerCall) -> ToolError {
    error.message = format!("the MCP server `{}` cannot be started: {}", call.server.name, error.message);
    error
}

/// Runs the server's process and holds the conversation with it.
fn converse_with_process(
    plan: &Plan,
    call: &PlannedServerCall,
    mut job: SandboxJob,
    cancel: &Cancel,
    redactor: &Redactor,
    run: impl FnOnce(SandboxJob, &Cancel) -> Result<SandboxOutcome, SandboxError>,
) -> Outcome {
    let (ours, theirs) = match connect_streams() {
        Ok(pair) => pair,
        Err(error) => return Outcome::not_started(ToolError::new(ErrorCode::RuntimeUnavailable, error.to_string())),
    };
    job.channel = Some(SandboxChannel::Stdio(OwnedStream::from(theirs)));
    let stop = Cancel::default();
    let (over, ended) = channel::<()>();
    let (stream, stopper) = (&ours, &stop);
    let (reply, ended) = thread::scope(|scope| {
        let conversation = scope.spawn(move || {
            let reply = hold_conversation(plan, call, McpTransport::over_stream(stream), cancel);
            let is_stopped = end_process(stream, &ended, cancel, stopper);
            (reply, is_stopped)
        });
        let result = run(job, &stop);
        drop(over);
        // A process that left the run may still have the other end open; what it wrote so far is still read.
        let _ = ours.shutdown(std::net::Shutdown::Both);
        (conversation.join(), result)
    });
    let (reply, is_stopped) = reply.unwrap_or_else(|_| {
        let message = "the conversation with the server could not be held";
        (Err(ClientErrorReply::Tool(ToolError::new(ErrorCode::ServerFailed, message))), false)
    });
    match ended {
        Ok(mut ended) => {
            let reply = reply.map_err(|error| match (&error, ended.kill_reason) {
                (ClientErrorReply::Client(_), Some(killed)) if killed != KillReason::Cancelled => {
                    outcome::kill_error(plan, killed)
                }
                _ => error.into_tool_error(call, Some(&ended)),
            });
            let reply = check_stopped_server(plan, call, reply, is_stopped, &mut ended);
            outcome::conclude_server_call(plan, ended, reply, redactor)
        }
        Err(error) => outcome::outcome_from_sandbox_error(&error, redactor),
    }
}

/// Closes the stream and waits until the process has ended; kills it if it does not. Returns whether it was killed
/// only because it did not end by itself.
fn end_process(ours: &LocalStream, ended: &Receiver<()>, cancel: &Cancel, stop: &Cancel) -> bool {
    // An already closed stream is fine.
    let _ = ours.shutdown(std::net::Shutdown::Both);
    let grace = if cancel.is_cancelled() { Duration::ZERO } else { EXIT_GRACE };
    let is_running = ended.recv_timeout(grace) == Err(RecvTimeoutError::Timeout);
    if is_running {
        stop.cancel();
    }
    is_running && !cancel.is_cancelled()
}

/// Reports a server that was killed after its answer. Changes of files by a killed run are discarded, so the answer
/// alone would be misleading.
fn check_stopped_server(
    plan: &Plan,
    call: &PlannedServerCall,
    reply: Result<Value, ToolError>,
    is_stopped: bool,
    ended: &mut SandboxOutcome,
) -> Result<Value, ToolError> {
    if !is_stopped || ended.kill_reason != Some(KillReason::Cancelled) {
        return reply;
    }
    ended.kill_reason = None;
    let name = &call.server.name;
    let note = format!("the MCP server `{name}` did not end after the call and was stopped");
    ended.notes.push(note.clone());
    match reply {
        Ok(value) if !plan.permissions.write.is_empty() && plan.confinement.is_sandboxed() => {
            let message = format!("{note}; the files that it wrote were discarded");
            let remedy = "the server must end when its stdin is closed; its answer is in `result`";
            Err(ToolError::new(ErrorCode::ServerFailed, message)
                .with_detail("result", value)
                .with_detail("remedy", remedy))
        }
        reply => reply,
    }
}

/// Prepares the connection to a server over HTTP. A secret is not sent over an unencrypted connection, except to this
/// machine and its neighbors.
fn prepare_http_server(
    plan: &Plan,
    call: &PlannedServerCall,
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<HttpServer, ToolError> {
    let refuse = |message: String| ToolError::new(ErrorCode::PermissionDenied, message);
    let (origin, _) = HttpOrigin::split_url(url).map_err(&refuse)?;
    let is_near = origin.host == "localhost" || origin.host.parse().is_ok_and(|address| !is_public_address(address));
    if !(origin.is_encrypted || is_near || plan.secrets.is_empty() && headers.is_empty()) {
        let message =
            format!("the headers of the MCP server `{}` are not sent over an unencrypted connection", call.server.name);
        return Err(refuse(message).with_detail("remedy", "use `https`"));
    }
    let header =
        |(name, value): (&String, &String)| HttpHeader { name: name.clone(), value: value.clone(), is_secret: true };
    Ok(HttpServer {
        url: url.to_owned(),
        headers: headers.iter().map(header).collect(),
        rules: plan.permissions.outbound.clone(),
    })
}

fn converse_over_http(
    plan: &Plan,
    call: &PlannedServerCall,
    server: HttpServer,
    cancel: &Cancel,
    redactor: &Redactor,
) -> Outcome {
    let start = Instant::now();
    let reply = hold_conversation(plan, call, McpTransport::over_http(server), cancel)
        .map_err(|error| error.into_tool_error(call, None));
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let ended = outcome::build_exchange_ending(reply.is_ok(), duration_ms);
    outcome::conclude_server_call(plan, ended, reply, redactor)
}

/// Why a conversation has no result.
enum ClientErrorReply {
    /// The conversation failed.
    Client(ClientError),
    /// The call was not made, or its result cannot be used.
    Tool(ToolError),
}

impl From<ClientError> for ClientErrorReply {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl ClientErrorReply {
    /// Converts the failure. How the process ended says more than the closed stream.
    fn into_tool_error(self, call: &PlannedServerCall, ended: Option<&SandboxOutcome>) -> ToolError {
        let error = match self {
            ClientErrorReply::Tool(error) => return error,
            ClientErrorReply::Client(error) => error,
        };
        let name = &call.server.name;
        let mut tool_error = match error.kind {
            ClientErrorKind::Timeout => ToolError::new(ErrorCode::Timeout, error.message).retriable(),
            ClientErrorKind::Cancelled => ToolError::new(ErrorCode::Cancelled, "the run was cancelled").retriable(),
            ClientErrorKind::Closed => {
                let how = ended.map(describe_exit).unwrap_or_default();
                ToolError::new(ErrorCode::ServerFailed, format!("{}{how}", error.message)).retriable()
            }
            ClientErrorKind::InvalidMessage => ToolError::new(ErrorCode::InvalidResponse, error.message),
            ClientErrorKind::TooLarge => ToolError::new(ErrorCode::OutputTooLarge, error.message),
            ClientErrorKind::Rejected { code: -32602 } => ToolError::new(ErrorCode::ToolFailed, error.message),
            ClientErrorKind::Rejected { code } => {
                ToolError::new(ErrorCode::ToolFailed, error.message).with_detail("server_code", code)
            }
            ClientErrorKind::Unsupported => ToolError::new(ErrorCode::Unsupported, error.message),
            ClientErrorKind::Unreachable(net) => {
                let (reason, _) = super::request::convert_net_error(*net);
                ToolError { message: error.message, ..reason }
            }
        };
        tool_error.message = format!("MCP server `{name}`: {}", tool_error.message);
        if let Some(remedy) = error.remedy {
            tool_error = tool_error.with_detail("remedy", remedy);
        }
        tool_error
    }
}

fn describe_exit(ended: &SandboxOutcome) -> String {
    match (ended.kill_reason, ended.exit) {
        (Some(KillReason::Memory), _) => ": it used too much memory".to_owned(),
        (_, ProcessExit::Code(code)) => format!(" (exit code {code})"),
        (_, ProcessExit::Signal(signal)) => format!(" (signal {signal})"),
    }
}

/// Agrees on a revision, lists the tools, and calls one if the plan says so.
fn hold_conversation(
    plan: &Plan,
    call: &PlannedServerCall,
    transport: McpTransport<'_>,
    cancel: &Cancel,
) -> Result<Value, ClientErrorReply> {
    let until = Instant::now() + Duration::from_millis(plan.limits.timeout_ms);
    let limits = ConversationLimits {
        message_bytes_max: usize::try_from(plan.limits.output_bytes).unwrap_or(usize::MAX),
        ..ConversationLimits::until(until)
    };
    let is_cancelled = || cancel.is_cancelled();
    let mut client = McpClient::connect(transport, limits, &is_cancelled)?;
    let tools = client.list_tools()?;
    let reply = match &call.action {
        ServerAction::ListTools => Ok(json!({ "tools": tools.iter().map(tool_to_json).collect::<Vec<Value>>() })),
        ServerAction::CallTool { tool, must_be_read_only } => {
            let tool = find_tool(&tools, tool, call).map_err(ClientErrorReply::Tool)?;
            check_call(plan, call, tool, *must_be_read_only).map_err(ClientErrorReply::Tool)?;
            let result = client.call_tool(tool, &plan.input)?;
            read_result(call, tool, result).map_err(ClientErrorReply::Tool)
        }
    };
    client.close();
    reply
}

/// Renders a tool in the terms of skills.
fn tool_to_json(tool: &ServerTool) -> Value {
    let mut value = json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "read_only": tool.is_read_only,
        "definition": digest_definition(tool),
    });
    if let Some(schema) = &tool.output_schema {
        value["output_schema"] = schema.clone();
    }
    value
}

/// Computes the digest of what a server says about a tool. An approval of the tool is bound to it.
fn digest_definition(tool: &ServerTool) -> String {
    let definition =
        json!([tool.name, tool.description, tool.input_schema, tool.output_schema, tool.annotations]).to_string();
    hex::encode(Sha256::digest(definition.as_bytes()))
}

fn find_tool<'a>(tools: &'a [ServerTool], name: &str, call: &PlannedServerCall) -> Result<&'a ServerTool, ToolError> {
    if let Some(tool) = tools.iter().find(|tool| tool.name == name) {
        return Ok(tool);
    }
    let names = || tools.iter().map(|tool| tool.name.as_str());
    let remedy = match nearest_name(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if tools.is_empty() => "it offers no tools".to_owned(),
        None => format!("its tools: {}", names().take(TOOLS_SHOWN_MAX).collect::<Vec<_>>().join(", ")),
    };
    let message = format!("the MCP server `{}` has no tool `{name}`", call.server.name);
    Err(ToolError::new(ErrorCode::ToolNotFound, message).with_detail("remedy", remedy))
}

/// Checks what can be checked before the server receives the call.
fn check_call(
    plan: &Plan,
    call: &PlannedServerCall,
    tool: &ServerTool,
    must_be_read_only: bool,
) -> Result<(), ToolError> {
    if must_be_read_only && !tool.is_read_only {
        let message = format!(
            "the MCP server `{}` does not mark `{}` as read-only any more, so it needs confirmation",
            call.server.name, tool.name
        );
        let remedy = "call it again, and confirm it";
        return Err(ToolError::new(ErrorCode::ConfirmationRequired, message).with_detail("remedy", remedy));
    }
    if call.approved_definition.as_ref().is_some_and(|approved| *approved != digest_definition(tool)) {
        let message = format!(
            "the MCP server `{}` changed `{}` after you approved it, so it needs confirmation",
            call.server.name, tool.name
        );
        let remedy = format!("review the tool, run `rep policy {} --forget`, and approve it again", plan.skill);
        return Err(ToolError::new(ErrorCode::ConfirmationRequired, message).with_detail("remedy", remedy));
    }
    if !plan.input.is_object() {
        return Err(ToolError::new(ErrorCode::InvalidArgument, "the arguments are not an object"));
    }
    match validate_value(&tool.input_schema, &plan.input) {
        SchemaCheck::Valid => Ok(()),
        SchemaCheck::Violations(misfits) => Err(outcome::schema_violation_error(
            ErrorCode::InvalidArgument,
            "the arguments do not match the schema of the tool",
            &misfits,
        )),
        SchemaCheck::UnusableSchema(reason) => {
            let message = format!("the schema of `{}` cannot be used: {reason}", tool.name);
            Err(ToolError::new(ErrorCode::InvalidSchema, message))
        }
    }
}

/// Returns the result of a call: the structured one, or the blocks of content.
fn read_result(call: &PlannedServerCall, tool: &ServerTool, result: ToolResult) -> Result<Value, ToolError> {
    if result.is_error {
        let text = result.join_text();
        let said = if text.trim().is_empty() { "it gave no reason" } else { text.trim() };
        let message = format!("`{}` of the MCP server `{}` failed: {said}", tool.name, call.server.name);
        return Err(ToolError::new(ErrorCode::ToolFailed, message).with_detail("content", result.content));
    }
    let invalid = |message: String| ToolError::new(ErrorCode::InvalidResult, message);
    if let Some(schema) = &tool.output_schema {
        let Some(structured) = &result.structured else {
            return Err(invalid(format!("`{}` declares a schema of its result, but returned none", tool.name)));
        };
        match validate_value(schema, structured) {
            SchemaCheck::Valid => {}
            SchemaCheck::Violations(misfits) => {
                let what = "the result does not match the schema that the server declares";
                return Err(outcome::schema_violation_error(ErrorCode::InvalidResult, what, &misfits));
            }
            SchemaCheck::UnusableSchema(reason) => {
                return Err(invalid(format!("the schema of the result of `{}` cannot be used: {reason}", tool.name)));
            }
        }
    }
    Ok(match result.structured {
        Some(structured @ Value::Object(_)) => structured,
        Some(other) => json!({ "structuredContent": other, "content": result.content }),
        None => json!({ "content": result.content }),
    })
}
