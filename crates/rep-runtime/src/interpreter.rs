//! Finds the program that runs a tool: the real one behind shims and links, and the folders it cannot do without.
//!
//! `python3` on a path is often a script that picks a version (pyenv, asdf) or a program that looks at its own name
//! (mise, volta). In a sandbox neither works, so whatever was found is asked once who it really is, outside, started in the
//! root folder so that no project steers the answer. Answers are kept under the path, inode and time of the file.
#![expect(clippy::disallowed_methods, reason = "this room looks programs up")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rep_model::truncate::truncate_chars;
use serde_json::{Map, Value, json};

use crate::plan::{Limits, Permissions, ToolRuntime};
use rep_permissions::glob::normalise;
use rep_sandbox::{Cancel, Exit, Guarding, Job, unconfined};

/// A program that runs tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The program itself, with every link resolved.
    pub program: PathBuf,
    /// What it is called by: an environment of its own is found by this name.
    pub argv0: OsString,
    /// Folders outside of the system's that it reads.
    pub readable: Vec<PathBuf>,
    /// What it says of itself; empty where it was not asked.
    pub version: String,
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The caller's environment: its `PATH` is searched, and shims are asked in it.
    pub env: Vec<(OsString, OsString)>,
    /// The file answers are kept in.
    pub cache: Option<PathBuf>,
}

/// Why a tool has no program to run it.
#[derive(Debug, thiserror::Error)]
pub enum InterpreterError {
    /// There is none.
    #[error("there is no `{0}` on the PATH")]
    Missing(&'static str),
    /// It does not say who it is.
    #[error("`{path}` was found, and does not run: {reason}")]
    Unusable {
        /// What was found.
        path: String,
        /// What it did.
        reason: String,
    },
    /// To run it, too much would have to be readable.
    #[error("`{program}` needs all of `{folder}`, which holds more than the interpreter")]
    TooWide {
        /// The interpreter.
        program: String,
        /// The folder.
        folder: String,
    },
}

/// Folders every run can read.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Variables version managers choose by.
const CHOOSING: [&str; 6] =
    ["HOME", "PYENV_VERSION", "ASDF_PYTHON_VERSION", "ASDF_NODEJS_VERSION", "MISE_PYTHON_VERSION", "MISE_NODE_VERSION"];
/// How long a program may think about who it is.
const ASKING_MS: u64 = 20_000;
/// What the cache is written in; another one is asked for anew.
const CACHE_VERSION: u64 = 2;
/// The largest cache that is read.
const CACHE_BYTES_MAX: u64 = 256 * 1024;

/// Finds what runs a tool of this runtime.
pub fn find(runtime: ToolRuntime, workspace: &Path, search: &Search) -> Result<Interpreter, InterpreterError> {
    let names: &[&'static str] = match runtime {
        ToolRuntime::Python => &["python3", "python"],
        ToolRuntime::Node => &["node", "nodejs"],
        ToolRuntime::Bash => &["bash"],
    };
    let mut passed = None;
    let mut all = names.iter().flat_map(|name| on_path(name, search));
    let (found, asked) = loop {
        let Some(found) = all.next() else { return Err(passed.unwrap_or(InterpreterError::Missing(names[0]))) };
        match outside(&found, workspace) {
            Some(asked) => break (found, asked),
            None => passed = passed.or_else(|| Some(InterpreterError::inside(&found))),
        }
    };
    known(runtime, &found, &asked, workspace, search)
}

/// The interpreter a script of this machine names by its path. It is asked who it is, so that no path a skill wrote may come
/// here.
pub(crate) fn at(
    runtime: ToolRuntime,
    found: &Path,
    workspace: &Path,
    search: &Search,
) -> Result<Interpreter, InterpreterError> {
    let asked = outside(found, workspace).ok_or_else(|| InterpreterError::inside(found))?;
    known(runtime, found, &asked, workspace, search)
}

/// What is known of an interpreter that was found, or what it answers now.
fn known(
    runtime: ToolRuntime,
    found: &Path,
    asked: &Path,
    workspace: &Path,
    search: &Search,
) -> Result<Interpreter, InterpreterError> {
    let interpreter = if let Some(interpreter) = kept(found, search) {
        interpreter
    } else {
        // Of a virtual environment in the workspace only the program it leads to is taken: what lies in it was written
        // by whoever writes there, and would be loaded into every run.
        let interpreter = resolve(runtime, asked, search)?;
        keep(found, &interpreter, search);
        interpreter
    };
    narrow(interpreter, workspace, search)
}

fn variable<'a>(search: &'a Search, name: &str) -> Option<&'a OsStr> {
    search.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
}

/// The folders programs are looked for in, as they are really called. One that is relative is meant from where the caller
/// stands, and is also given as it is, for where he may stand later. The folder he stands in is no such folder.
pub(crate) fn folders(search: &Search) -> Vec<PathBuf> {
    let Some(path) = variable(search, "PATH") else { return Vec::new() };
    let mut folders = Vec::new();
    for folder in std::env::split_paths(path) {
        let relative = folder.to_str().filter(|_| folder.is_relative()).and_then(normalise);
        if relative.as_ref().is_some_and(String::is_empty) {
            continue;
        }
        folders.extend(relative.map(PathBuf::from));
        folders.extend(fs::canonicalize(&folder).or_else(|_| std::path::absolute(&folder)));
    }
    folders
}

/// The caller's home, as it is really called.
pub(crate) fn home(search: &Search) -> Option<PathBuf> {
    let home = variable(search, "HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(fs::canonicalize(&home).unwrap_or(home))
}

/// The programs of this name. What is relative depends on where one stands, and is passed over.
pub(crate) fn on_path(name: &str, search: &Search) -> Vec<PathBuf> {
    let Some(path) = variable(search, "PATH") else { return Vec::new() };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    folders.map(|folder| folder.join(name)).filter(is_program).collect()
}

/// What can be asked who it is. Tools write in the workspace, so that nothing in it is run outside of the sandbox: of a
/// link in it the program it leads to is asked, under that program's own name, and a program in it is not.
pub(crate) fn outside(found: &Path, workspace: &Path) -> Option<PathBuf> {
    let is_inside = |path: &Path| path.starts_with(workspace) && !SYSTEM.iter().any(|system| path.starts_with(system));
    let folder = found.parent().and_then(|folder| fs::canonicalize(folder).ok())?;
    let real = fs::canonicalize(found).ok()?;
    match (is_inside(&real), is_inside(&folder) || is_inside(found)) {
        (true, _) => None,
        (false, true) => Some(real),
        (false, false) => Some(found.to_owned()),
    }
}

impl InterpreterError {
    fn inside(found: &Path) -> Self {
        let reason = "it lies in the workspace, where tools can change it".to_owned();
        Self::Unusable { path: found.display().to_string(), reason }
    }
}

fn resolve(runtime: ToolRuntime, found: &Path, search: &Search) -> Result<Interpreter, InterpreterError> {
    match runtime {
        ToolRuntime::Python => python(found, search),
        ToolRuntime::Node => node(found, search),
        ToolRuntime::Bash => bash(found, search),
    }
}

fn python(found: &Path, search: &Search) -> Result<Interpreter, InterpreterError> {
    let question = "import json, sys\nprint(json.dumps([sys.executable, '%d.%d.%d' % sys.version_info[:3], sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]))";
    let answer = ask(found, &["-I", "-c", question], search)?;
    let (executable, version) = (&answer[0], &answer[1]);
    let program = real(executable)?;
    let mut readable: Vec<PathBuf> = answer[2..].iter().map(PathBuf::from).collect();
    // A program outside of its own prefix must be readable itself.
    if !readable.iter().any(|folder| program.starts_with(folder)) {
        readable.extend(program.parent().map(Path::to_owned));
    }
    Ok(Interpreter { program, argv0: executable.into(), readable, version: version.clone() })
}

fn node(found: &Path, search: &Search) -> Result<Interpreter, InterpreterError> {
    let answer = ask(found, &["-p", "JSON.stringify([process.execPath, process.version])"], search)?;
    let program = real(&answer[0])?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    // An installation of its own has its headers or packages beside it; `~/.local` or the like is not to be read whole.
    let prefix = folder.parent().filter(|prefix| {
        folder.ends_with("bin") && prefix.join("include/node").is_dir() && !prefix.ends_with(".local")
    });
    let readable = vec![prefix.unwrap_or(folder).to_owned()];
    Ok(Interpreter { argv0: program.clone().into(), program, readable, version: answer[1].clone() })
}

fn bash(found: &Path, search: &Search) -> Result<Interpreter, InterpreterError> {
    let program = match fs::canonicalize(found) {
        Ok(real) if is_elf(&real) && real.file_name().is_some_and(|name| name.as_bytes().starts_with(b"bash")) => real,
        _ => real(&ask(found, &["-c", "printf '[\"%s\"]' \"$BASH\""], search)?[0])?,
    };
    let readable = program.parent().map(Path::to_owned).into_iter().collect();
    Ok(Interpreter { argv0: "bash".into(), program, readable, version: String::new() })
}

fn real(path: &str) -> Result<PathBuf, InterpreterError> {
    let unusable = |reason: String| InterpreterError::Unusable { path: path.to_owned(), reason };
    let real = fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    if is_elf(&real) { Ok(real) } else { Err(unusable("it is a script".to_owned())) }
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}

/// Asks a program who it is: it answers with a JSON list of strings.
fn ask(found: &Path, words: &[&str], search: &Search) -> Result<Vec<String>, InterpreterError> {
    let mut argv = vec![found.as_os_str().to_owned()];
    argv.extend(words.iter().map(OsString::from));
    let stdout = said(found, argv, search)?;
    let unusable = |reason: String| InterpreterError::Unusable { path: found.display().to_string(), reason };
    let answer: Option<Vec<String>> = serde_json::from_slice(&stdout).ok();
    let count = if words.contains(&"-I") { 6 } else { 1 + usize::from(words.contains(&"-p")) };
    answer.filter(|answer| answer.len() == count).ok_or_else(|| unusable("it does not say who it is".to_owned()))
}

/// What a program of the user's says on stdout, outside of any sandbox and in the caller's environment.
pub(crate) fn said(program: &Path, argv: Vec<OsString>, search: &Search) -> Result<Vec<u8>, InterpreterError> {
    let unusable = |reason: String| InterpreterError::Unusable { path: program.display().to_string(), reason };
    // What steers an interpreter besides its path is not carried into a run either.
    let is_steering = |name: &OsStr| {
        let name = name.as_bytes();
        name.starts_with(b"PYTHON") || name.starts_with(b"NODE_") || name.starts_with(b"LD_") || name == b"BASH_ENV"
    };
    let job = Job {
        program: program.to_owned(),
        argv,
        env: search.env.iter().filter(|(name, _)| !is_steering(name)).cloned().collect(),
        stdin: Vec::new(),
        workspace: PathBuf::from("/"),
        readable: Vec::new(),
        own: None,
        given: Vec::new(),
        guarding: Guarding::default(),
        permissions: Permissions::default(),
        limits: Limits { timeout_ms: ASKING_MS, output_bytes: 64 * 1024, ..Limits::default() },
        hidden: Vec::new(),
        channel: None,
    };
    let ended = unconfined::run(job, &Cancel::default()).map_err(|error| unusable(error.to_string()))?;
    if ended.exit != Exit::Code(0) || ended.killed.is_some() {
        let said = String::from_utf8_lossy(&ended.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").trim();
        return Err(unusable(truncate_chars(line, 200).to_owned()));
    }
    Ok(ended.stdout)
}

/// Leaves the folders that every run can read anyway out, and refuses what would open far more than an interpreter.
pub(crate) fn narrow(
    mut interpreter: Interpreter,
    workspace: &Path,
    search: &Search,
) -> Result<Interpreter, InterpreterError> {
    // Packages of one store refer to each other, and the store holds nothing of the user's.
    if interpreter.program.starts_with("/nix/store") {
        interpreter.readable.push(PathBuf::from("/nix/store"));
    }
    let home = variable(search, "HOME").map(|home| fs::canonicalize(home).unwrap_or_else(|_| PathBuf::from(home)));
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in &interpreter.readable {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        if SYSTEM.iter().any(|system| folder.starts_with(system)) || kept.contains(&folder) {
            continue;
        }
        let is_wide = folder == Path::new("/")
            || workspace.starts_with(&folder)
            || home.as_ref().is_some_and(|home| home.starts_with(&folder))
            // What the user installed for himself, and the data of all his programs.
            || folder.ends_with(".local");
        if is_wide {
            let program = interpreter.program.display().to_string();
            return Err(InterpreterError::TooWide { program, folder: folder.display().to_string() });
        }
        kept.push(folder);
    }
    let all = kept.clone();
    kept.retain(|folder| !all.iter().any(|other| other != folder && folder.starts_with(other)));
    interpreter.readable = kept;
    Ok(interpreter)
}

/// What an answer is bound to: the file that was found, and what a version manager decided by.
fn witness(found: &Path, search: &Search) -> Option<Value> {
    let stamp = |path: &Path| -> Value {
        fs::metadata(path).map_or(Value::Null, |seen| json!([seen.ino(), seen.mtime(), seen.mtime_nsec(), seen.size()]))
    };
    let text = |name: &str| variable(search, name).map(|value| value.to_string_lossy().into_owned());
    let home = PathBuf::from(variable(search, "HOME").unwrap_or_default());
    Some(json!({
        "found": stamp(found),
        "real": fs::canonicalize(found).ok()?.to_str()?,
        // pyenv keeps its choice beside its shims, the others below the home.
        "chosen": [
            stamp(&found.parent()?.parent()?.join("version")),
            stamp(&home.join(".tool-versions")),
            stamp(&home.join(".config/mise/config.toml")),
            stamp(&home.join(".volta/tools/user/platform.json")),
        ],
        "variables": CHOOSING.map(text),
    }))
}

/// What the cache holds, where it can be read and is ours. It is never trusted further than the files it names.
fn cache(search: &Search) -> Option<Map<String, Value>> {
    let mut text = String::new();
    let file = fs::File::open(search.cache.as_ref()?).ok()?;
    file.take(CACHE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let Ok(Value::Object(mut all)) = serde_json::from_str::<Value>(&text) else { return None };
    match (all.remove("version")?.as_u64()?, all.remove("interpreters")?) {
        (CACHE_VERSION, Value::Object(interpreters)) => Some(interpreters),
        _ => None,
    }
}

fn kept(found: &Path, search: &Search) -> Option<Interpreter> {
    let all = cache(search)?;
    let entry = all.get(found.to_str()?)?;
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let program = PathBuf::from(text("program")?);
    if *entry.get("witness")? != witness(found, search)? || !is_elf(&program) {
        return None;
    }
    let readable: Option<Vec<PathBuf>> =
        entry.get("readable")?.as_array()?.iter().map(|folder| folder.as_str().map(PathBuf::from)).collect();
    Some(Interpreter {
        program,
        argv0: text("argv0")?.into(),
        readable: readable?,
        version: text("version")?.to_owned(),
    })
}

/// Keeps an answer, where there is a place for it. What cannot be kept is asked again.
fn keep(found: &Path, interpreter: &Interpreter, search: &Search) {
    let (Some(file), Some(key), Some(witness)) = (&search.cache, found.to_str(), witness(found, search)) else {
        return;
    };
    let readable: Option<Vec<&str>> = interpreter.readable.iter().map(|folder| folder.to_str()).collect();
    let (Some(program), Some(argv0), Some(readable)) =
        (interpreter.program.to_str(), interpreter.argv0.to_str(), readable)
    else {
        return;
    };
    let mut all = cache(search).unwrap_or_default();
    let entry = json!({
        "witness": witness, "program": program, "argv0": argv0, "readable": readable, "version": interpreter.version,
    });
    all.insert(key.to_owned(), entry);
    let text = json!({ "version": CACHE_VERSION, "interpreters": all }).to_string();
    // Without the file the next run asks again, which is slower and as right.
    let _ = replace(file, text.as_bytes());
}

fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    fresh.write_all(bytes)?;
    fresh.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests;
