//! Prepares a tool call: validates its arguments, resolves its entrypoint and selects its shim.
#![expect(clippy::disallowed_methods, reason = "this module inspects the files it is about to run")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ExecuteOptions, build_search_path, common_variables};
use crate::environment;
use crate::error::ErrorCode;
use crate::interpreter::{self, Interpreter};
use crate::outcome::{self, ToolError};
use crate::plan::{Plan, PlannedTool, ToolRuntime};
use crate::schema::{self, SchemaCheck};
use crate::shim::{self, ToolLaunch};
use crate::typescript;
use rep_sandbox::SandboxJob;

/// Validates the arguments against their schema.
pub(super) fn check_arguments(plan: &Plan, tool: &PlannedTool) -> Result<(), ToolError> {
    match schema::validate_value(&tool.input_schema, &plan.input) {
        SchemaCheck::Valid if plan.input.is_object() => Ok(()),
        SchemaCheck::Valid => Err(ToolError::new(ErrorCode::InvalidArgument, "the arguments are not an object")),
        SchemaCheck::Violations(misfits) => Err(outcome::schema_violation_error(
            ErrorCode::InvalidArgument,
            "the arguments do not match `input_schema`",
            &misfits,
        )),
        SchemaCheck::UnusableSchema(reason) => {
            Err(ToolError::new(ErrorCode::InvalidSchema, format!("`input_schema` cannot be used: {reason}")))
        }
    }
}

pub(super) fn prepare_tool_job(
    plan: &Plan,
    tool: &PlannedTool,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
) -> Result<(SandboxJob, ToolLaunch), ToolError> {
    let (folder, entrypoint) = resolve_entrypoint(plan, tool)?;
    let interpreter =
        interpreter::find_interpreter(tool.runtime, &plan.workspace, options.search).map_err(|error| {
            ToolError::new(
                ErrorCode::RuntimeUnavailable,
                format!("{} tools cannot be run: {error}", tool.runtime.name()),
            )
        })?;
    let more = match &tool.typescript_runner {
        Some(runner) => typescript::resolve_node_arguments(runner, &interpreter.version).map_err(|reason| {
            ToolError::new(ErrorCode::RuntimeUnavailable, format!("`{}` cannot be run: {reason}", tool.entrypoint))
        })?,
        None => &[],
    };
    let packages =
        options.environments.and_then(|root| environment::find_installed(root, &plan.skill, tool, &interpreter));
    let interpreter = match &packages {
        Some(packages) => packages.adapt_interpreter(interpreter),
        None => interpreter,
    };
    let start = shim::build_launch(tool.runtime, &interpreter, more, &entrypoint, &tool.handler);
    let mut stdin = plan.input.to_string().into_bytes();
    stdin.push(b'\n');
    let mut readable = interpreter.readable.clone();
    readable.push(folder.clone());
    let job = SandboxJob {
        program: interpreter.program.clone(),
        argv: start.argv.clone(),
        env: build_variables(plan, &folder, &interpreter, packages.as_ref(), secrets),
        stdin,
        workspace: plan.workspace.clone(),
        readable,
        private_folder: None,
        injected_files: start.given.clone(),
        protection: options.build_guarding(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.hidden_folders.to_vec(),
        channel: None,
    };
    Ok((job, start))
}

/// Resolves the skill's directory and the entrypoint in it. Links to the outside are not followed.
fn resolve_entrypoint(plan: &Plan, tool: &PlannedTool) -> Result<(PathBuf, PathBuf), ToolError> {
    let endings: &[&str] = match tool.runtime {
        ToolRuntime::Python => &["py"],
        ToolRuntime::Node if tool.typescript_runner.is_some() => &["js", "mjs", "cjs", "ts"],
        ToolRuntime::Node => &["js", "mjs", "cjs"],
        ToolRuntime::Bash => &["sh"],
    };
    let refuse = |what: &str| {
        ToolError::new(ErrorCode::InvalidEntrypoint, format!("the entrypoint `{}` {what}", tool.entrypoint))
    };
    // The `.git` directory of a skill is not covered by its digest and trust.
    if tool.entrypoint.split('/').any(|part| part == ".git") {
        return Err(refuse("is in `.git`"));
    }
    let folder = fs::canonicalize(&plan.folder).map_err(|error| refuse(&format!("cannot be resolved: {error}")))?;
    let file = fs::canonicalize(folder.join(&tool.entrypoint)).map_err(|_| refuse("does not exist"))?;
    if !file.starts_with(&folder) {
        return Err(refuse("is outside the skill"));
    }
    if !file.is_file() {
        return Err(refuse("is not a file"));
    }
    let ending = Path::new(&tool.entrypoint).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    if !endings.contains(&ending) {
        return Err(refuse(&format!("must end in .{} to run with {}", endings.join(" or ."), tool.runtime.name())));
    }
    Ok((folder, file))
}

/// Builds the complete environment of a tool.
fn build_variables(
    plan: &Plan,
    folder: &Path,
    interpreter: &Interpreter,
    packages: Option<&environment::PackageEnvironment>,
    secrets: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let own = PathBuf::from(&interpreter.argv0).parent().map(Path::to_owned);
    let mut all = vec![("PATH".into(), build_search_path(own.as_deref()))];
    all.extend(common_variables(plan, folder));
    all.extend(packages.into_iter().flat_map(environment::PackageEnvironment::interpreter_variables));
    super::add_secrets(&mut all, secrets);
    all
}
