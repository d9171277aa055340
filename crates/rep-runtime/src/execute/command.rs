//! Starting a program a skill names: found outside, started inside, each word one argument.
//!
//! A name is looked for in the folders of the caller's `PATH`; what lies in the workspace is passed over, because tools can
//! write there. A script is started by the interpreter its first line names, found in the same way, so that the kernel
//! never reads that line inside.
#![expect(clippy::disallowed_methods, reason = "this room looks at the files it is about to run")]

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{ExecuteOptions, add_secrets, common, search_path};
use crate::interpreter::{self, Interpreter, InterpreterError};
use crate::outcome::ToolError;
use crate::plan::{Command, Plan, Program, Runtime, StartFolder};
use crate::sandbox::{GIVEN_FOLDER, Job};

/// How much of a file is read for its first line.
const LINE_BYTES_MAX: u64 = 256;
/// What an inline script is called inside.
const INLINE: &str = "inline";
/// How far above a script its package is looked for.
const PACKAGE_DEPTH_MAX: usize = 6;

/// A program as it is started.
struct Started {
    program: PathBuf,
    /// The words before the command's own arguments.
    words: Vec<OsString>,
    readable: Vec<PathBuf>,
}

/// The job of a command.
pub(super) fn prepared(
    plan: &Plan,
    command: &Command,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
) -> Result<Job, ToolError> {
    let folder = fs::canonicalize(&plan.folder)
        .map_err(|error| ToolError::new("UNFIT", format!("the skill's folder is not there: {error}")))?;
    let (started, given) = match &command.program {
        Program::Named(name) => (named(name, plan, options)?, Vec::new()),
        Program::File(path) => (file(path, &folder, plan, options)?, Vec::new()),
        Program::Inline(text) => {
            let inside = Path::new(GIVEN_FOLDER).join(INLINE);
            let first = text.lines().next().unwrap_or_default();
            let started = script(first, &inside, plan, options)?;
            (started, vec![(INLINE.to_owned(), text.as_bytes().to_vec())])
        }
    };
    let mut readable = started.readable;
    readable.push(folder.clone());
    let mut env = vec![("PATH".into(), search_path(started.program.parent()))];
    env.extend(common(plan, &folder));
    for (name, value) in &command.variables {
        let is_free = !env.iter().any(|(taken, _)| taken == name.as_str());
        if is_free && !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0') {
            env.push((name.into(), value.into()));
        }
    }
    add_secrets(&mut env, secrets);
    let mut argv = started.words;
    argv.extend(command.arguments.iter().map(OsString::from));
    if argv.iter().any(|word| word.as_encoded_bytes().contains(&0)) {
        return Err(ToolError::new("INVALID_ARGUMENT", "an argument holds a NUL, which no program can be given"));
    }
    Ok(Job {
        program: started.program,
        argv,
        env,
        stdin: command.stdin.clone(),
        workspace: match command.start {
            StartFolder::Workspace => plan.workspace.clone(),
            StartFolder::Skill => folder,
        },
        readable,
        given,
        guarding: options.guarding(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.unseen.to_vec(),
        channel: None,
    })
}

fn unavailable(message: String) -> ToolError {
    ToolError::new("RUNTIME_UNAVAILABLE", message)
}

/// A program of this machine, by its name.
fn named(name: &str, plan: &Plan, options: &ExecuteOptions<'_>) -> Result<Started, ToolError> {
    if name.is_empty() || name.contains(['/', '\0']) {
        let message = format!("`{name}` is no program's name");
        return Err(ToolError::new("INVALID_COMMAND", message).with("remedy", "name a program, without a path"));
    }
    let workspace = fs::canonicalize(&plan.workspace).unwrap_or_else(|_| plan.workspace.clone());
    let real = interpreter::on_path(name, options.search)
        .into_iter()
        .filter_map(|found| fs::canonicalize(found).ok())
        .find(|real| !real.starts_with(&workspace) || real.starts_with("/usr"));
    let Some(real) = real else {
        let remedy = format!("install `{name}`; what lies in the workspace is not started");
        return Err(unavailable(format!("there is no `{name}` on the PATH")).with("remedy", remedy));
    };
    match first_line(&real) {
        Some(line) => script(&line, &real, plan, options),
        None => Ok(Started { program: real, words: vec![name.into()], readable: Vec::new() }),
    }
}

/// A file of the skill.
fn file(path: &str, folder: &Path, plan: &Plan, options: &ExecuteOptions<'_>) -> Result<Started, ToolError> {
    let refuse = |what: &str| ToolError::new("INVALID_ENTRYPOINT", format!("the file `{path}` {what}"));
    if path.split('/').any(|part| part == ".git") {
        return Err(refuse("lies in `.git`"));
    }
    let real = fs::canonicalize(folder.join(path)).map_err(|_| refuse("is not there"))?;
    if !real.starts_with(folder) {
        return Err(refuse("lies outside of the skill"));
    }
    if !real.is_file() {
        return Err(refuse("is no file"));
    }
    let line = first_line(&real).ok_or_else(|| refuse("is no script: its first line does not start with `#!`"))?;
    script(&line, &real, plan, options)
}

/// The first line of a script; `None` where the file is none.
fn first_line(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(LINE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    if !bytes.starts_with(b"#!") {
        return None;
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Some(String::from_utf8_lossy(line).into_owned())
}

/// A script, started by what its first line names; `sh` where it names nothing.
fn script(line: &str, script: &Path, plan: &Plan, options: &ExecuteOptions<'_>) -> Result<Started, ToolError> {
    let words: Vec<&str> = line.strip_prefix("#!").unwrap_or("sh").split_whitespace().collect();
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = words.into_iter();
    let mut program = base(words.next().unwrap_or("sh"));
    let mut more: Vec<&str> = words.collect();
    if program == "env" {
        more.retain(|word| *word != "-S");
        program = if more.is_empty() { "sh".to_owned() } else { base(more.remove(0)) };
    }
    let runtime = match program.as_str() {
        "bash" => Some(Runtime::Bash),
        "node" | "nodejs" => Some(Runtime::Node),
        name if name.starts_with("python") => Some(Runtime::Python),
        _ => None,
    };
    let refuse = |error: InterpreterError| unavailable(format!("`{}` cannot be run: {error}", script.display()));
    let mut found = if let Some(runtime) = runtime {
        interpreter::find(runtime, &plan.workspace, options.search).map_err(refuse)?
    } else {
        let real = interpreter::on_path(&program, options.search)
            .into_iter()
            .filter_map(|found| fs::canonicalize(found).ok())
            .find(|real| !real.starts_with(&plan.workspace) && first_line(real).is_none())
            .ok_or_else(|| unavailable(format!("there is no `{program}` on the PATH")))?;
        Interpreter { argv0: program.into(), program: real, readable: Vec::new(), version: String::new() }
    };
    if !script.starts_with(GIVEN_FOLDER) && !script.starts_with(&plan.folder) {
        found.readable.extend(package(script));
        found = interpreter::narrow(found, &plan.workspace, options.search).map_err(refuse)?;
    }
    let mut words = vec![found.argv0];
    words.extend(more.into_iter().map(OsString::from));
    words.push(script.into());
    Ok(Started { program: found.program, words, readable: found.readable })
}

/// What a script of this machine reads besides itself: the package it belongs to, else the folder it lies in.
fn package(script: &Path) -> Option<PathBuf> {
    let is_package = |folder: &&Path| ["package.json", "pyvenv.cfg"].iter().any(|name| folder.join(name).is_file());
    let folder = script.ancestors().skip(1).take(PACKAGE_DEPTH_MAX).find(is_package).or_else(|| script.parent())?;
    Some(folder.to_owned())
}
