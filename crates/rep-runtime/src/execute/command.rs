//! Starts a program that a skill names: resolved outside the sandbox, started inside, one argument per word.
//!
//! A name is searched in the directories of the caller's `PATH`. Programs in the workspace are skipped,
//! because tools can write there. A script is started with the interpreter that its first line names,
//! resolved in the same way, so that the kernel never reads that line inside the sandbox.
#![expect(clippy::disallowed_methods, reason = "this module inspects the files it is about to run")]

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{ExecuteOptions, add_secrets, build_search_path, common_variables};
use crate::error::ErrorCode;
use crate::interpreter::{self, Interpreter, InterpreterError};
use crate::outcome::ToolError;
use crate::plan::{CommandProgram, Plan, PlannedCommand, StartFolder, ToolRuntime};
use crate::typescript;
use rep_sandbox::{INJECTED_FILES_FOLDER, SandboxJob};

/// How many bytes of a file are read for its first line.
const SHEBANG_BYTES_MAX: u64 = 256;
/// The name of an embedded script inside the sandbox.
const INLINE_SCRIPT_NAME: &str = "inline";
/// How many directories above a script are searched for its package.
const PACKAGE_DEPTH_MAX: usize = 6;

/// A program to start.
pub(super) struct ProgramLaunch {
    pub(super) program: PathBuf,
    /// The words before the command's own arguments.
    pub(super) words: Vec<OsString>,
    pub(super) readable: Vec<PathBuf>,
}

/// Prepares the job of a command.
pub(super) fn prepare_command_job(
    plan: &Plan,
    command: &PlannedCommand,
    secrets: &[(String, String)],
    options: &ExecuteOptions<'_>,
) -> Result<SandboxJob, ToolError> {
    let folder = fs::canonicalize(&plan.folder).map_err(|error| {
        ToolError::new(ErrorCode::SkillUnreadable, format!("could not open the skill's directory: {error}"))
    })?;
    let (started, given) = match &command.program {
        CommandProgram::Named(name) => (resolve_named_program(name, plan, options)?, Vec::new()),
        CommandProgram::File(path) => (resolve_skill_file(path, &folder, plan, options)?, Vec::new()),
        CommandProgram::Inline(text) => {
            let inside = Path::new(INJECTED_FILES_FOLDER).join(INLINE_SCRIPT_NAME);
            let first = text.lines().next().unwrap_or_default();
            let started = resolve_script(first, &inside, ScriptOwner::Skill, plan, options)?;
            (started, vec![(INLINE_SCRIPT_NAME.to_owned(), text.as_bytes().to_vec())])
        }
    };
    let mut readable = started.readable;
    let mut path = build_search_path(started.program.parent());
    let own = (command.start == StartFolder::OwnCopy).then(|| folder.clone());
    match own {
        None => readable.push(folder.clone()),
        Some(_) => path = add_interpreter_folders(path, &mut readable, plan, options),
    }
    let mut env = vec![("PATH".into(), path)];
    env.extend(common_variables(plan, &folder));
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
            "an argument contains a NUL byte, which no program can receive",
        ));
    }
    Ok(SandboxJob {
        program: started.program,
        argv,
        env,
        stdin: command.stdin.clone(),
        workspace: match command.start {
            StartFolder::Workspace => plan.workspace.clone(),
            StartFolder::Skill | StartFolder::OwnCopy => folder,
        },
        readable,
        private_folder: own,
        injected_files: given,
        protection: options.build_guarding(),
        permissions: plan.permissions.clone(),
        limits: plan.limits,
        hidden: options.hidden_folders.to_vec(),
        channel: None,
    })
}

/// Puts the directories of the machine's interpreters first on the path and makes their files readable. An
/// interpreter that is missing or cannot be shown is omitted.
fn add_interpreter_folders(
    path: OsString,
    readable: &mut Vec<PathBuf>,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> OsString {
    let mut folders = Vec::new();
    for runtime in [ToolRuntime::Python, ToolRuntime::Node] {
        let Ok(found) = interpreter::find_interpreter(runtime, &plan.workspace, options.search) else { continue };
        folders.extend(Path::new(&found.argv0).parent().filter(|folder| folder.is_absolute()).map(Path::to_owned));
        readable.extend(found.readable.into_iter().filter(|folder| !readable.contains(folder)).collect::<Vec<_>>());
    }
    let system = std::env::split_paths(&path).collect::<Vec<PathBuf>>();
    folders.retain(|folder| !system.contains(folder));
    // A directory with a colon in its name cannot be on a path.
    std::env::join_paths(folders.into_iter().chain(system)).unwrap_or(path)
}

fn unavailable_error(message: String) -> ToolError {
    ToolError::new(ErrorCode::RuntimeUnavailable, message)
}

/// Resolves a program of this machine by its name.
pub(super) fn resolve_named_program(
    name: &str,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> Result<ProgramLaunch, ToolError> {
    if name.is_empty() || name.contains(['/', '\0']) {
        let message = format!("`{name}` is not a program name");
        return Err(
            ToolError::new(ErrorCode::InvalidCommand, message).with_detail("remedy", "name a program, without a path")
        );
    }
    // Interpreters of tools are resolved like for tools: behind shims, with the directories they need.
    let runtime = match name {
        "python" | "python3" => Some(ToolRuntime::Python),
        "node" => Some(ToolRuntime::Node),
        "bash" => Some(ToolRuntime::Bash),
        _ => None,
    };
    if let Some(runtime) = runtime {
        let found = interpreter::find_interpreter(runtime, &plan.workspace, options.search)
            .map_err(|error| unavailable_error(format!("`{name}` cannot be run: {error}")))?;
        return Ok(ProgramLaunch { program: found.program, words: vec![found.argv0], readable: found.readable });
    }
    let real = find_programs_outside(name, plan, options).next();
    let Some(real) = real else {
        let remedy = format!("install `{name}`; programs in the workspace are not started");
        return Err(unavailable_error(format!("`{name}` was not found on the PATH")).with_detail("remedy", remedy));
    };
    match read_shebang(&real) {
        Some(line) => resolve_script(&line, &real, ScriptOwner::Machine, plan, options),
        None => Ok(ProgramLaunch { program: real, words: vec![name.into()], readable: Vec::new() }),
    }
}

/// Resolves a program that the user names by its path. An interpreter finds its environment by this path.
pub(super) fn resolve_program_at(
    path: &Path,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> Result<ProgramLaunch, ToolError> {
    let shown = path.display();
    let real = fs::canonicalize(path).ok().filter(|real| real.is_file());
    let real = real.ok_or_else(|| {
        unavailable_error(format!("`{shown}` is not a program")).with_detail("remedy", "check the path of `command`")
    })?;
    if interpreter::resolve_outside_workspace(path, &plan.workspace).is_none() {
        let message = format!("`{shown}` is in the workspace, where tools can modify it");
        return Err(unavailable_error(message).with_detail("remedy", "install it outside the workspace"));
    }
    if let Some(line) = read_shebang(&real) {
        return resolve_script(&line, &real, ScriptOwner::Machine, plan, options);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let runtime = match &*name {
        "node" | "nodejs" => Some(ToolRuntime::Node),
        name if name.starts_with("python") => Some(ToolRuntime::Python),
        _ => None,
    };
    let Some(runtime) = runtime else {
        return Ok(ProgramLaunch { program: real, words: vec![path.into()], readable: Vec::new() });
    };
    let found = interpreter::resolve_interpreter_at(runtime, path, &plan.workspace, options.search)
        .map_err(|error| unavailable_error(format!("`{shown}` cannot be run: {error}")))?;
    Ok(ProgramLaunch { program: found.program, words: vec![found.argv0], readable: found.readable })
}

/// Finds the programs with a name outside the workspace, with links resolved.
fn find_programs_outside(name: &str, plan: &Plan, options: &ExecuteOptions<'_>) -> impl Iterator<Item = PathBuf> {
    let all = interpreter::find_on_path(name, options.search).into_iter();
    all.filter_map(|found| interpreter::resolve_outside_workspace(&found, &plan.workspace))
        .filter_map(|found| fs::canonicalize(found).ok())
}

/// The owner of a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptOwner {
    /// A script installed on this machine.
    Machine,
    /// A script of the skill.
    Skill,
}

/// Resolves a file of the skill.
pub(super) fn resolve_skill_file(
    path: &str,
    folder: &Path,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> Result<ProgramLaunch, ToolError> {
    let refuse = |what: &str| ToolError::new(ErrorCode::InvalidEntrypoint, format!("the file `{path}` {what}"));
    if path.split('/').any(|part| part == ".git") {
        return Err(refuse("is in `.git`"));
    }
    let real = fs::canonicalize(folder.join(path)).map_err(|_| refuse("does not exist"))?;
    if !real.starts_with(folder) {
        return Err(refuse("is outside the skill"));
    }
    if !real.is_file() {
        return Err(refuse("is not a file"));
    }
    let line = read_shebang(&real).or_else(|| shebang_for_extension(path)).ok_or_else(|| {
        refuse("is not a script: it does not start with `#!`, and its extension is not .sh, .py, .js, .mjs or .ts")
    })?;
    resolve_script(&line, &real, ScriptOwner::Skill, plan, options)
}

/// Returns the first line that a script would have, by its extension.
fn shebang_for_extension(path: &str) -> Option<String> {
    let program = match path.rsplit_once('.')?.1 {
        "sh" | "bash" => "bash",
        "py" => "python3",
        "js" | "mjs" | "cjs" | "ts" | "mts" => "node",
        _ => return None,
    };
    Some(format!("#!{program}"))
}

/// Reads the first line of a script; `None` if the file is not a script.
fn read_shebang(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(SHEBANG_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    if !bytes.starts_with(b"#!") {
        return None;
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Some(String::from_utf8_lossy(line).into_owned())
}

/// Resolves a script to its interpreter, which its first line names; the default is `sh`.
fn resolve_script(
    line: &str,
    script: &Path,
    whose: ScriptOwner,
    plan: &Plan,
    options: &ExecuteOptions<'_>,
) -> Result<ProgramLaunch, ToolError> {
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
    let refuse = |error: InterpreterError| unavailable_error(format!("`{}` cannot be run: {error}", script.display()));
    let mut found = match runtime {
        // A program with its own environment names the interpreter of that environment. A skill may not
        // choose which program is queried outside the sandbox.
        Some(runtime)
            if whose == ScriptOwner::Machine && path.is_absolute() && path.is_file() && !path.ends_with("env") =>
        {
            interpreter::resolve_interpreter_at(runtime, path, &plan.workspace, options.search).map_err(refuse)?
        }
        Some(runtime) => interpreter::find_interpreter(runtime, &plan.workspace, options.search).map_err(refuse)?,
        None => {
            let real = find_programs_outside(&program, plan, options).find(|real| read_shebang(real).is_none());
            let real = real.ok_or_else(|| unavailable_error(format!("`{program}` was not found on the PATH")))?;
            Interpreter { argv0: program.into(), program: real, readable: Vec::new(), version: String::new() }
        }
    };
    if whose == ScriptOwner::Machine {
        found.readable.extend(find_package_folder(script));
        found = interpreter::narrow_readable_folders(found, &plan.workspace, options.search).map_err(refuse)?;
    }
    let mut words = vec![found.argv0];
    if runtime == Some(ToolRuntime::Node) && is_typescript(script) {
        let typed = typescript::resolve_node_arguments("node", &found.version);
        let typed =
            typed.map_err(|reason| unavailable_error(format!("`{}` cannot be run: {reason}", script.display())))?;
        words.extend(typed.iter().map(OsString::from));
    }
    words.extend(more.into_iter().map(OsString::from));
    words.push(script.into());
    Ok(ProgramLaunch { program: found.program, words, readable: found.readable })
}

/// Returns whether a script is written in TypeScript, which not every node can run.
fn is_typescript(script: &Path) -> bool {
    script.extension().is_some_and(|ending| ending == "ts" || ending == "mts")
}

/// Returns what an installed script reads besides itself: its package, otherwise its directory.
fn find_package_folder(script: &Path) -> Option<PathBuf> {
    let is_package = |folder: &&Path| ["package.json", "pyvenv.cfg"].iter().any(|name| folder.join(name).is_file());
    let folder = script.ancestors().skip(1).take(PACKAGE_DEPTH_MAX).find(is_package).or_else(|| script.parent())?;
    Some(folder.to_owned())
}
