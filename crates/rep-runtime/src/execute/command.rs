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
use crate::error::ErrorCode;
use crate::interpreter::{self, Interpreter, InterpreterError};
use crate::outcome::ToolError;
use crate::plan::{Command, Plan, Program, StartFolder, ToolRuntime};
use rep_sandbox::{GIVEN_FOLDER, Job};

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
    let folder = fs::canonicalize(&plan.folder).map_err(|error| {
        ToolError::new(ErrorCode::SkillUnreadable, format!("the skill's folder is not there: {error}"))
    })?;
    let (started, given) = match &command.program {
        Program::Named(name) => (named(name, plan, options)?, Vec::new()),
        Program::File(path) => (file(path, &folder, plan, options)?, Vec::new()),
        Program::Inline(text) => {
            let inside = Path::new(GIVEN_FOLDER).join(INLINE);
            let first = text.lines().next().unwrap_or_default();
            let started = script(first, &inside, Whose::Skill, plan, options)?;
            (started, vec![(INLINE.to_owned(), text.as_bytes().to_vec())])
        }
    };
    let mut readable = started.readable;
    let mut path = search_path(started.program.parent());
    let own = (command.start == StartFolder::OwnCopy).then(|| folder.clone());
    match own {
        None => readable.push(folder.clone()),
        Some(_) => path = with_interpreters(path, &mut readable, plan, options),
    }
    let mut env = vec![("PATH".into(), path)];
    env.extend(common(plan, &folder));
    for (name, value) in &command.variables {
        let is_text = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
        match env.iter_mut().find(|(taken, _)| taken == name.as_str()) {
            Some((_, usual)) if is_text && ["LANG", "PYTHONDONTWRITEBYTECODE"].contains(&name.as_str()) => {
                *usual = value.into();
            }
            None if is_text => env.push((name.into(), value.into())),
            _ => {}
        }
    }
    add_secrets(&mut env, secrets);
    let mut argv = started.words;
    argv.extend(command.arguments.iter().map(OsString::from));
    if argv.iter().any(|word| word.as_encoded_bytes().contains(&0)) {
        return Err(ToolError::new(
            ErrorCode::InvalidArgument,
            "an argument holds a NUL, which no program can be given",
        ));
    }
    Ok(Job {
        program: started.program,
        argv,
        env,
        stdin: command.stdin.clone(),
        workspace: match command.start {
            StartFolder::Workspace => plan.workspace.clone(),
            StartFolder::Skill | StartFolder::OwnCopy => folder,
        },
        readable,
        own,
        given,
        guarding: options.guarding(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.unseen.to_vec(),
        channel: None,
    })
}

/// The path with the folders of the interpreters this machine has, first. What they read becomes readable. One that is not
/// there, or cannot be shown, is not on it.
fn with_interpreters(
    path: OsString,
    readable: &mut Vec<PathBuf>,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> OsString {
    let mut folders = Vec::new();
    for runtime in [ToolRuntime::Python, ToolRuntime::Node] {
        let Ok(found) = interpreter::find(runtime, &plan.workspace, options.search) else { continue };
        folders.extend(Path::new(&found.argv0).parent().filter(|folder| folder.is_absolute()).map(Path::to_owned));
        readable.extend(found.readable.into_iter().filter(|folder| !readable.contains(folder)).collect::<Vec<_>>());
    }
    let system = std::env::split_paths(&path).collect::<Vec<PathBuf>>();
    folders.retain(|folder| !system.contains(folder));
    // A folder with a colon in its name cannot be on a path.
    std::env::join_paths(folders.into_iter().chain(system)).unwrap_or(path)
}

fn unavailable(message: String) -> ToolError {
    ToolError::new(ErrorCode::RuntimeUnavailable, message)
}

/// A program of this machine, by its name.
fn named(name: &str, plan: &Plan, options: &ExecuteOptions<'_>) -> Result<Started, ToolError> {
    if name.is_empty() || name.contains(['/', '\0']) {
        let message = format!("`{name}` is no program's name");
        return Err(ToolError::new(ErrorCode::InvalidCommand, message).with("remedy", "name a program, without a path"));
    }
    // What runs tools is found as it is for tools: behind shims, with the folders it cannot do without.
    let runtime = match name {
        "python" | "python3" => Some(ToolRuntime::Python),
        "node" => Some(ToolRuntime::Node),
        "bash" => Some(ToolRuntime::Bash),
        _ => None,
    };
    if let Some(runtime) = runtime {
        let found = interpreter::find(runtime, &plan.workspace, options.search)
            .map_err(|error| unavailable(format!("`{name}` cannot be run: {error}")))?;
        return Ok(Started { program: found.program, words: vec![found.argv0], readable: found.readable });
    }
    let real = outside(name, plan, options).next();
    let Some(real) = real else {
        let remedy = format!("install `{name}`; what lies in the workspace is not started");
        return Err(unavailable(format!("there is no `{name}` on the PATH")).with("remedy", remedy));
    };
    match first_line(&real) {
        Some(line) => script(&line, &real, Whose::Machine, plan, options),
        None => Ok(Started { program: real, words: vec![name.into()], readable: Vec::new() }),
    }
}

/// The programs of a name that do not lie in the workspace, links resolved.
fn outside(name: &str, plan: &Plan, options: &ExecuteOptions<'_>) -> impl Iterator<Item = PathBuf> {
    let all = interpreter::on_path(name, options.search).into_iter();
    all.filter_map(|found| interpreter::outside(&found, &plan.workspace))
        .filter_map(|found| fs::canonicalize(found).ok())
}

/// Whose a script is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Installed on this machine.
    Machine,
    /// The skill's own.
    Skill,
}

/// A file of the skill.
fn file(path: &str, folder: &Path, plan: &Plan, options: &ExecuteOptions<'_>) -> Result<Started, ToolError> {
    let refuse = |what: &str| ToolError::new(ErrorCode::InvalidEntrypoint, format!("the file `{path}` {what}"));
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
    let line = first_line(&real).or_else(|| by_ending(path)).ok_or_else(|| {
        refuse("is no script: its first line does not start with `#!`, and its ending is none of .sh, .py, .js, .mjs")
    })?;
    script(&line, &real, Whose::Skill, plan, options)
}

/// The first line a script would have, by the ending of its name.
fn by_ending(path: &str) -> Option<String> {
    let program = match path.rsplit_once('.')?.1 {
        "sh" | "bash" => "bash",
        "py" => "python3",
        "js" | "mjs" | "cjs" => "node",
        _ => return None,
    };
    Some(format!("#!{program}"))
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
fn script(
    line: &str,
    script: &Path,
    whose: Whose,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> Result<Started, ToolError> {
    let words: Vec<&str> = line.strip_prefix("#!").unwrap_or("sh").split_whitespace().collect();
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = words.into_iter();
    let path = Path::new(words.next().unwrap_or("sh"));
    let mut program = base(&path.to_string_lossy());
    let mut more: Vec<&str> = words.collect();
    if program == "env" {
        more.retain(|word| *word != "-S");
        program = if more.is_empty() { "sh".to_owned() } else { base(more.remove(0)) };
    }
    let runtime = match program.as_str() {
        "bash" => Some(ToolRuntime::Bash),
        "node" | "nodejs" => Some(ToolRuntime::Node),
        name if name.starts_with("python") => Some(ToolRuntime::Python),
        _ => None,
    };
    let refuse = |error: InterpreterError| unavailable(format!("`{}` cannot be run: {error}", script.display()));
    let mut found = match runtime {
        // A program with an environment of its own names that environment's interpreter. A skill does not say what is
        // asked outside of the sandbox.
        Some(runtime) if whose == Whose::Machine && path.is_absolute() && path.is_file() && !path.ends_with("env") => {
            interpreter::at(runtime, path, &plan.workspace, options.search).map_err(refuse)?
        }
        Some(runtime) => interpreter::find(runtime, &plan.workspace, options.search).map_err(refuse)?,
        None => {
            let real = outside(&program, plan, options).find(|real| first_line(real).is_none());
            let real = real.ok_or_else(|| unavailable(format!("there is no `{program}` on the PATH")))?;
            Interpreter { argv0: program.into(), program: real, readable: Vec::new(), version: String::new() }
        }
    };
    if whose == Whose::Machine {
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
