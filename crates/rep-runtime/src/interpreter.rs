//! Finds the program that runs a tool: the real one behind shims and links, and the directories it needs.
//!
//! `python3` on a path is often a script that selects a version (pyenv, asdf) or a program that checks its
//! own name (mise, volta). Neither works in a sandbox. The program is therefore queried once for its real
//! location, outside the sandbox and from the root directory, so that no project affects the answer. Answers
//! are cached by the path, inode and modification time of the file.
#![expect(clippy::disallowed_methods, reason = "this module looks up programs")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use rep_model::truncate::truncate_chars;
use rep_storage::atomic;
use rep_storage::platform::{FileId, FileMarks, is_executable};
use serde_json::{Map, Value, json};

use crate::plan::{RunLimits, RunPermissions, ToolRuntime};
use rep_permissions::glob::normalise_path;
use rep_sandbox::{Cancel, ProcessExit, ProtectionOptions, SandboxJob, unconfined};

/// An interpreter of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The program itself, with links resolved.
    pub program: PathBuf,
    /// The name it is started with; Python finds its environment by this name.
    pub argv0: OsString,
    /// Directories outside the system's that it reads.
    pub readable: Vec<PathBuf>,
    /// The version it reports; empty if it was not queried.
    pub version: String,
}

/// Where interpreters are searched.
#[derive(Clone, Debug, Default)]
pub struct InterpreterSearch {
    /// The caller's environment: its `PATH` is searched, and shims are queried with it.
    pub env: Vec<(OsString, OsString)>,
    /// The file of cached answers.
    pub cache: Option<PathBuf>,
}

/// The reason why a tool has no interpreter.
#[derive(Debug, thiserror::Error)]
pub enum InterpreterError {
    /// No interpreter was found.
    #[error("`{0}` was not found on the PATH")]
    Missing(&'static str),
    /// The program does not report its location.
    #[error("`{path}` was found but does not run: {reason}")]
    Unusable {
        /// The program that was found.
        path: String,
        /// What it reported.
        reason: String,
    },
    /// Too many files would have to be readable to run it.
    #[error("`{program}` needs to read all of `{folder}`, which contains more than the interpreter")]
    TooWide {
        /// The interpreter.
        program: String,
        /// The directory.
        folder: String,
    },
}

/// Directories that every run can read.
const SYSTEM_FOLDERS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Variables that version managers use to select a version.
const VERSION_MANAGER_VARIABLES: [&str; 6] =
    ["HOME", "PYENV_VERSION", "ASDF_PYTHON_VERSION", "ASDF_NODEJS_VERSION", "MISE_PYTHON_VERSION", "MISE_NODE_VERSION"];
/// The maximum number of links on the way to a program, as in the kernel.
const LINKS_MAX: usize = 40;
/// The time limit of a query.
const QUERY_TIMEOUT_MS: u64 = 20_000;
/// The format version of the cache; other versions are ignored.
const CACHE_VERSION: u64 = 2;
/// The maximum size of the cache.
const CACHE_BYTES_MAX: u64 = 256 * 1024;

/// Finds the interpreter for tools of this runtime.
pub fn find_interpreter(
    runtime: ToolRuntime,
    workspace: &Path,
    search: &InterpreterSearch,
) -> Result<Interpreter, InterpreterError> {
    let names: &[&'static str] = match runtime {
        ToolRuntime::Python => &["python3", "python"],
        ToolRuntime::Node => &["node", "nodejs"],
        ToolRuntime::Bash => &["bash"],
    };
    let mut passed = None;
    let mut all = names.iter().flat_map(|name| find_on_path(name, search));
    let asked = loop {
        let Some(found) = all.next() else { return Err(passed.unwrap_or(InterpreterError::Missing(names[0]))) };
        match resolve_outside_workspace(&found, workspace) {
            Some(asked) => break asked,
            None => passed = passed.or_else(|| Some(InterpreterError::inside_workspace(&found))),
        }
    };
    load_or_query_interpreter(runtime, &asked, workspace, search)
}

/// Resolves the interpreter that an installed script names by its path. The interpreter is started outside
/// the sandbox, so a path written by a skill must never get here.
pub(crate) fn resolve_interpreter_at(
    runtime: ToolRuntime,
    found: &Path,
    workspace: &Path,
    search: &InterpreterSearch,
) -> Result<Interpreter, InterpreterError> {
    let asked = resolve_outside_workspace(found, workspace).ok_or_else(|| InterpreterError::inside_workspace(found))?;
    load_or_query_interpreter(runtime, &asked, workspace, search)
}

/// Returns the cached answer for an interpreter, or queries it.
fn load_or_query_interpreter(
    runtime: ToolRuntime,
    asked: &Path,
    workspace: &Path,
    search: &InterpreterSearch,
) -> Result<Interpreter, InterpreterError> {
    let interpreter = if let Some(interpreter) = find_cached_interpreter(asked, search) {
        interpreter
    } else {
        // For a virtual environment in the workspace, only the program it points to is used: any process that
        // can write to the workspace could have modified its packages, and they would be loaded into every
        // run.
        let interpreter = query_interpreter(runtime, asked, &search_outside_workspace(search, workspace))?;
        store_interpreter(asked, &interpreter, search);
        interpreter
    };
    narrow_readable_folders(interpreter, workspace, search)
}

fn find_variable<'a>(search: &'a InterpreterSearch, name: &str) -> Option<&'a OsStr> {
    search.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
}

/// Lists the search directories with links resolved. A relative directory is resolved against the current
/// directory and also returned as it is, because the caller may change directory. The current directory
/// itself is not included.
pub(crate) fn list_search_folders(search: &InterpreterSearch) -> Vec<PathBuf> {
    let Some(path) = find_variable(search, "PATH") else { return Vec::new() };
    let mut folders = Vec::new();
    for folder in std::env::split_paths(path) {
        let relative = folder.to_str().filter(|_| folder.is_relative()).and_then(normalise_path);
        if relative.as_ref().is_some_and(String::is_empty) {
            continue;
        }
        folders.extend(relative.map(PathBuf::from));
        folders.extend(fs::canonicalize(&folder).or_else(|_| std::path::absolute(&folder)));
    }
    folders
}

/// Returns the caller's home directory, with links resolved.
pub(crate) fn resolve_home(search: &InterpreterSearch) -> Option<PathBuf> {
    let home = find_variable(search, "HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(fs::canonicalize(&home).unwrap_or(home))
}

/// Finds the programs with this name. Relative directories are skipped, because they depend on the current
/// directory.
pub(crate) fn find_on_path(name: &str, search: &InterpreterSearch) -> Vec<PathBuf> {
    let Some(path) = find_variable(search, "PATH") else { return Vec::new() };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let is_program =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata));
    folders.map(|folder| folder.join(name)).filter(is_program).collect()
}

/// Returns the program to query. Tools can write to the workspace, so nothing in it runs outside the sandbox,
/// and nothing in it decides which program does. If the way to a program leads through the workspace, the
/// program is queried under its resolved path, which no link in the workspace can redirect. A program in the
/// workspace is not queried.
pub(crate) fn resolve_outside_workspace(found: &Path, workspace: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(found).ok()?;
    let workspace = WorkspaceFolder::new(workspace);
    if workspace.contains(&real) {
        return None;
    }
    Some(if workspace.is_on_way_to(found)? { real } else { found.to_owned() })
}

/// The workspace, recognised by device and inode: bind mounts show it under other paths.
struct WorkspaceFolder<'a> {
    path: &'a Path,
    id: Option<FileId>,
}

impl<'a> WorkspaceFolder<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, id: FileId::of_target(path).ok() }
    }

    /// Whether a path without links is the workspace or inside it.
    fn contains(&self, path: &Path) -> bool {
        let is_workspace =
            |folder: &Path| folder == self.path || self.id.is_some() && self.id == FileId::of_entry(folder).ok();
        path.ancestors().any(is_workspace) && !SYSTEM_FOLDERS.iter().any(|system| path.starts_with(system))
    }

    /// Whether one of the directories that the kernel passes when it opens a path is the workspace or inside it.
    /// Returns `None` if the path cannot be resolved.
    fn is_on_way_to(&self, path: &Path) -> Option<bool> {
        let mut links = 0;
        let mut folder = PathBuf::from("/");
        let mut rest: Vec<OsString> = path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
        while let Some(part) = rest.pop() {
            match Path::new(&part).components().next() {
                Some(Component::RootDir) => folder = PathBuf::from("/"),
                Some(Component::ParentDir) => {
                    folder.pop();
                }
                Some(Component::Normal(_)) if self.contains(&folder) => return Some(true),
                Some(Component::Normal(name)) => {
                    let next = folder.join(name);
                    match fs::read_link(&next) {
                        Ok(target) => {
                            links += 1;
                            if links > LINKS_MAX {
                                return None;
                            }
                            rest.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
                        }
                        // It is not a link.
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => folder = next,
                        Err(_) => return None,
                    }
                }
                Some(Component::CurDir | Component::Prefix(_)) | None => {}
            }
        }
        Some(self.contains(&folder))
    }
}

/// Returns the search with the directories on its path that are outside the workspace: scripts that select a
/// version start further programs by name.
fn search_outside_workspace(search: &InterpreterSearch, workspace: &Path) -> InterpreterSearch {
    let workspace = WorkspaceFolder::new(workspace);
    let mut outside = search.clone();
    for (_, value) in outside.env.iter_mut().filter(|(name, _)| name == "PATH") {
        let folders = std::env::split_paths(value)
            .filter(|folder| folder.is_absolute() && workspace.is_on_way_to(folder) == Some(false));
        // A directory that was on a path can be on another one.
        *value = std::env::join_paths(folders.collect::<Vec<_>>()).unwrap_or_default();
    }
    outside
}

impl InterpreterError {
    fn inside_workspace(found: &Path) -> Self {
        let reason = "it is in the workspace, where tools can modify it".to_owned();
        Self::Unusable { path: found.display().to_string(), reason }
    }
}

fn query_interpreter(
    runtime: ToolRuntime,
    found: &Path,
    search: &InterpreterSearch,
) -> Result<Interpreter, InterpreterError> {
    match runtime {
        ToolRuntime::Python => query_python(found, search),
        ToolRuntime::Node => query_node(found, search),
        ToolRuntime::Bash => query_bash(found, search),
    }
}

fn query_python(found: &Path, search: &InterpreterSearch) -> Result<Interpreter, InterpreterError> {
    let question = "import json, sys\nprint(json.dumps([sys.executable, '%d.%d.%d' % sys.version_info[:3], sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]))";
    let answer = query_program(found, &["-I", "-c", question], search)?;
    let (executable, version) = (&answer[0], &answer[1]);
    let program = resolve_elf_program(executable)?;
    let mut readable: Vec<PathBuf> = answer[2..].iter().map(PathBuf::from).collect();
    // A program outside its own prefix must be readable itself.
    if !readable.iter().any(|folder| program.starts_with(folder)) {
        readable.extend(program.parent().map(Path::to_owned));
    }
    Ok(Interpreter { program, argv0: executable.into(), readable, version: version.clone() })
}

fn query_node(found: &Path, search: &InterpreterSearch) -> Result<Interpreter, InterpreterError> {
    let answer = query_program(found, &["-p", "JSON.stringify([process.execPath, process.version])"], search)?;
    let program = resolve_elf_program(&answer[0])?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    // A separate installation has its headers or packages next to it; `~/.local` and the like must not become
    // readable as a whole.
    let prefix = folder.parent().filter(|prefix| {
        folder.ends_with("bin") && prefix.join("include/node").is_dir() && !prefix.ends_with(".local")
    });
    let readable = vec![prefix.unwrap_or(folder).to_owned()];
    Ok(Interpreter { argv0: program.clone().into(), program, readable, version: answer[1].clone() })
}

fn query_bash(found: &Path, search: &InterpreterSearch) -> Result<Interpreter, InterpreterError> {
    let program = match fs::canonicalize(found) {
        Ok(real)
            if is_elf_file(&real)
                && real.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"bash")) =>
        {
            real
        }
        _ => resolve_elf_program(&query_program(found, &["-c", "printf '[\"%s\"]' \"$BASH\""], search)?[0])?,
    };
    let readable = program.parent().map(Path::to_owned).into_iter().collect();
    Ok(Interpreter { argv0: "bash".into(), program, readable, version: String::new() })
}

fn resolve_elf_program(path: &str) -> Result<PathBuf, InterpreterError> {
    let unusable = |reason: String| InterpreterError::Unusable { path: path.to_owned(), reason };
    let real = fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    if is_elf_file(&real) { Ok(real) } else { Err(unusable("it is a script".to_owned())) }
}

fn is_elf_file(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}

/// Queries a program for its location: it prints a JSON list of strings.
fn query_program(found: &Path, words: &[&str], search: &InterpreterSearch) -> Result<Vec<String>, InterpreterError> {
    let mut argv = vec![found.as_os_str().to_owned()];
    argv.extend(words.iter().map(OsString::from));
    let stdout = capture_stdout(found, argv, search)?;
    let unusable = |reason: String| InterpreterError::Unusable { path: found.display().to_string(), reason };
    let answer: Option<Vec<String>> = serde_json::from_slice(&stdout).ok();
    let count = if words.contains(&"-I") { 6 } else { 1 + usize::from(words.contains(&"-p")) };
    answer
        .filter(|answer| answer.len() == count)
        .ok_or_else(|| unusable("it does not report its version and location".to_owned()))
}

/// Captures the stdout of a program of the user, outside the sandbox and in the caller's environment.
pub(crate) fn capture_stdout(
    program: &Path,
    argv: Vec<OsString>,
    search: &InterpreterSearch,
) -> Result<Vec<u8>, InterpreterError> {
    let unusable = |reason: String| InterpreterError::Unusable { path: program.display().to_string(), reason };
    // Variables that affect an interpreter, besides its path, are not passed to a run either.
    let is_steering = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(b"PYTHON") || name.starts_with(b"NODE_") || name.starts_with(b"LD_") || name == b"BASH_ENV"
    };
    let job = SandboxJob {
        program: program.to_owned(),
        argv,
        env: search.env.iter().filter(|(name, _)| !is_steering(name)).cloned().collect(),
        stdin: Vec::new(),
        workspace: PathBuf::from("/"),
        readable: Vec::new(),
        private_folder: None,
        injected_files: Vec::new(),
        protection: ProtectionOptions::default(),
        permissions: RunPermissions::default(),
        limits: RunLimits { timeout_ms: QUERY_TIMEOUT_MS, output_bytes: 64 * 1024, ..RunLimits::default() },
        hidden: Vec::new(),
        channel: None,
    };
    let ended = unconfined::run_unconfined(job, &Cancel::default()).map_err(|error| unusable(error.to_string()))?;
    if ended.exit != ProcessExit::Code(0) || ended.kill_reason.is_some() {
        let said = String::from_utf8_lossy(&ended.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").trim();
        return Err(unusable(truncate_chars(line, 200).to_owned()));
    }
    Ok(ended.stdout)
}

/// Omits the directories that every run can read, and refuses a directory that contains far more than an
/// interpreter.
pub(crate) fn narrow_readable_folders(
    mut interpreter: Interpreter,
    workspace: &Path,
    search: &InterpreterSearch,
) -> Result<Interpreter, InterpreterError> {
    // Packages of one store refer to each other, and the store contains no user data.
    if interpreter.program.starts_with("/nix/store") {
        interpreter.readable.push(PathBuf::from("/nix/store"));
    }
    let home = find_variable(search, "HOME").map(|home| fs::canonicalize(home).unwrap_or_else(|_| PathBuf::from(home)));
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in &interpreter.readable {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        if SYSTEM_FOLDERS.iter().any(|system| folder.starts_with(system)) || kept.contains(&folder) {
            continue;
        }
        let is_wide = folder == Path::new("/")
            || workspace.starts_with(&folder)
            || home.as_ref().is_some_and(|home| home.starts_with(&folder))
            // The user's own installations, and the data of all programs.
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

/// Computes what a cached answer is bound to: the file that was found, and the inputs of version managers.
fn compute_cache_witness(found: &Path, search: &InterpreterSearch) -> Option<Value> {
    let stamp = |path: &Path| -> Value {
        let seen = fs::metadata(path).map(|metadata| FileMarks::from_metadata(&metadata));
        seen.map_or(Value::Null, |seen| json!([seen.number, seen.modified.0, seen.modified.1, seen.size_bytes]))
    };
    let text = |name: &str| find_variable(search, name).map(|value| value.to_string_lossy().into_owned());
    let home = PathBuf::from(find_variable(search, "HOME").unwrap_or_default());
    Some(json!({
        "found": stamp(found),
        "real": fs::canonicalize(found).ok()?.to_str()?,
        // pyenv stores its selection next to its shims, the others below the home directory.
        "chosen": [
            stamp(&found.parent()?.parent()?.join("version")),
            stamp(&home.join(".tool-versions")),
            stamp(&home.join(".config/mise/config.toml")),
            stamp(&home.join(".volta/tools/user/platform.json")),
        ],
        "variables": VERSION_MANAGER_VARIABLES.map(text),
    }))
}

/// Reads the cache if it is valid. It is trusted only as far as the files it names are unchanged.
fn read_cache(search: &InterpreterSearch) -> Option<Map<String, Value>> {
    let mut text = String::new();
    let file = fs::File::open(search.cache.as_ref()?).ok()?;
    file.take(CACHE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let Ok(Value::Object(mut all)) = serde_json::from_str::<Value>(&text) else { return None };
    match (all.remove("version")?.as_u64()?, all.remove("interpreters")?) {
        (CACHE_VERSION, Value::Object(interpreters)) => Some(interpreters),
        _ => None,
    }
}

fn find_cached_interpreter(found: &Path, search: &InterpreterSearch) -> Option<Interpreter> {
    let all = read_cache(search)?;
    let entry = all.get(found.to_str()?)?;
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let program = PathBuf::from(text("program")?);
    if *entry.get("witness")? != compute_cache_witness(found, search)? || !is_elf_file(&program) {
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

/// Caches an answer, if possible. Without a cached answer, the program is queried again.
fn store_interpreter(found: &Path, interpreter: &Interpreter, search: &InterpreterSearch) {
    let (Some(file), Some(key), Some(witness)) = (&search.cache, found.to_str(), compute_cache_witness(found, search))
    else {
        return;
    };
    let readable: Option<Vec<&str>> = interpreter.readable.iter().map(|folder| folder.to_str()).collect();
    let (Some(program), Some(argv0), Some(readable)) =
        (interpreter.program.to_str(), interpreter.argv0.to_str(), readable)
    else {
        return;
    };
    let mut all = read_cache(search).unwrap_or_default();
    let entry = json!({
        "witness": witness, "program": program, "argv0": argv0, "readable": readable, "version": interpreter.version,
    });
    all.insert(key.to_owned(), entry);
    let text = json!({ "version": CACHE_VERSION, "interpreters": all }).to_string();
    // Without the file the next run queries again, which is slower but equally correct.
    let _ = replace_file(file, text.as_bytes());
}

fn replace_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    atomic::write_cache_file(file, bytes)
}

#[cfg(test)]
mod tests;
