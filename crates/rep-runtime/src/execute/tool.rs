//! Calling a tool: its arguments held against their contract, its file found, its shim chosen.
#![expect(clippy::disallowed_methods, reason = "this room looks at the files it is about to run")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ExecuteOptions, common, search_path};
use crate::environment;
use crate::error::ErrorCode;
use crate::interpreter::{self, Interpreter};
use crate::outcome::{self, ToolError};
use crate::plan::{Plan, Tool, ToolRuntime};
use crate::schema::{self, Fit};
use crate::shim::{self, Start};
use crate::typescript;
use rep_sandbox::Job;

/// Holds the arguments against their schema.
pub(super) fn accepts(plan: &Plan, tool: &Tool) -> Result<(), ToolError> {
    match schema::fit(&tool.input_schema, &plan.input) {
        Fit::Fits if plan.input.is_object() => Ok(()),
        Fit::Fits => Err(ToolError::new(ErrorCode::InvalidArgument, "the arguments are not an object")),
        Fit::Misfits(misfits) => {
            Err(outcome::misfit(ErrorCode::InvalidArgument, "the arguments do not fit `input_schema`", &misfits))
        }
        Fit::Broken(reason) => {
            Err(ToolError::new(ErrorCode::InvalidSchema, format!("`input_schema` cannot be used: {reason}")))
        }
    }
}

pub(super) fn prepared(
    plan: &Plan,
    tool: &Tool,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
) -> Result<(Job, Start), ToolError> {
    let (folder, entrypoint) = entrypoint(plan, tool)?;
    let interpreter = interpreter::find(tool.runtime, &plan.workspace, options.search).map_err(|error| {
        ToolError::new(ErrorCode::RuntimeUnavailable, format!("{} tools cannot be run: {error}", tool.runtime.name()))
    })?;
    let more = match &tool.typescript_runner {
        Some(runner) => typescript::words(runner, &interpreter.version).map_err(|reason| {
            ToolError::new(ErrorCode::RuntimeUnavailable, format!("`{}` cannot be run: {reason}", tool.entrypoint))
        })?,
        None => &[],
    };
    let packages = options.environments.and_then(|root| environment::installed(root, &plan.skill, tool, &interpreter));
    let interpreter = match &packages {
        Some(packages) => packages.entered(interpreter),
        None => interpreter,
    };
    let start = shim::start(tool.runtime, &interpreter, more, &entrypoint, &tool.handler);
    let mut stdin = plan.input.to_string().into_bytes();
    stdin.push(b'\n');
    let mut readable = interpreter.readable.clone();
    readable.push(folder.clone());
    let job = Job {
        program: interpreter.program.clone(),
        argv: start.argv.clone(),
        env: variables(plan, &folder, &interpreter, packages.as_ref(), secrets),
        stdin,
        workspace: plan.workspace.clone(),
        readable,
        own: None,
        given: start.given.clone(),
        guarding: options.guarding(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.unseen.to_vec(),
        channel: None,
    };
    Ok((job, start))
}

/// The skill's real folder and the file in it. Links that lead out are not followed.
fn entrypoint(plan: &Plan, tool: &Tool) -> Result<(PathBuf, PathBuf), ToolError> {
    let endings: &[&str] = match tool.runtime {
        ToolRuntime::Python => &["py"],
        ToolRuntime::Node if tool.typescript_runner.is_some() => &["js", "mjs", "cjs", "ts"],
        ToolRuntime::Node => &["js", "mjs", "cjs"],
        ToolRuntime::Bash => &["sh"],
    };
    let refuse = |what: &str| {
        ToolError::new(ErrorCode::InvalidEntrypoint, format!("the entrypoint `{}` {what}", tool.entrypoint))
    };
    // The `.git` of a skill is no part of what was looked at and trusted.
    if tool.entrypoint.split('/').any(|part| part == ".git") {
        return Err(refuse("lies in `.git`"));
    }
    let folder = fs::canonicalize(&plan.folder).map_err(|error| refuse(&format!("is not there: {error}")))?;
    let file = fs::canonicalize(folder.join(&tool.entrypoint)).map_err(|_| refuse("is not there"))?;
    if !file.starts_with(&folder) {
        return Err(refuse("lies outside of the skill"));
    }
    if !file.is_file() {
        return Err(refuse("is no file"));
    }
    let ending = Path::new(&tool.entrypoint).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    if !endings.contains(&ending) {
        return Err(refuse(&format!("does not end in .{}, as {} needs", endings.join(" or ."), tool.runtime.name())));
    }
    Ok((folder, file))
}

/// The whole environment of a tool.
fn variables(
    plan: &Plan,
    folder: &Path,
    interpreter: &Interpreter,
    packages: Option<&environment::Environment>,
    secrets: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let own = PathBuf::from(&interpreter.argv0).parent().map(Path::to_owned);
    let mut all = vec![("PATH".into(), search_path(own.as_deref()))];
    all.extend(common(plan, folder));
    all.extend(packages.into_iter().flat_map(environment::Environment::variables));
    super::add_secrets(&mut all, secrets);
    all
}
