//! Translates grants into the steps that build a view: which directories and files, in which order. Runs on the host,
//! and changes nothing there except for creating directories that are granted for writing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use super::guard::{self, EnclosingRepositories, GuardedFolder};
use super::hidden_paths::HiddenPaths;
use super::launch_spec::MountStep;
use super::mount_table::MountTable;
use super::protected_paths::ProtectedPaths;
use super::run_registry::{RunEntry, RunRegistry};
use super::{INJECTED_FILES_FOLDER, SandboxError, SandboxJob, commit_journal, mounts, repository, staging, walk};
use rep_permissions::glob::Glob;

/// System directories that every tool may read and, if it may start programs, execute from.
const SYSTEM_FOLDERS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Entries of `/etc` that programs read and that reveal nothing about users.
const ETC_FOLDERS: &[&str] =
    &["/etc/ssl/certs", "/etc/alternatives", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"];
const ETC_FILES: &[&str] = &["/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/mime.types"];

/// Directories that every sandbox has its own version of, so that the host's cannot be mounted there.
const RESERVED_FOLDERS: &[&str] = &["/dev", "/proc", "/sys"];

/// The maximum number of bytes copied into stages. Beyond it, a whole directory should be granted.
const COPIED_BYTES_MAX: u64 = 1 << 30;

/// The maximum number of stages, which are all returned in one message.
const STAGES_MAX: usize = 100;

/// The view of a run.
pub(super) struct SandboxView {
    pub(super) steps: Vec<MountStep>,
    pub(super) workspace: PathBuf,
    pub(super) program: PathBuf,
    pub(super) temporary: PathBuf,
    pub(super) stages: Vec<WriteStage>,
    pub(super) guarded: Vec<GuardedFolder>,
    pub(super) protected: ProtectedPaths,
    /// The record of this run, if it writes directly.
    pub(super) run_entry: Option<RunEntry>,
    /// What killed runs left.
    pub(super) leftovers: Vec<String>,
    pub(super) runnable: Vec<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
}

/// A directory of the workspace whose content is checked after the run.
#[derive(Clone, Debug)]
pub(super) struct WriteStage {
    /// Relative to the workspace; empty for the workspace itself.
    pub(super) prefix: String,
    /// The copied files, relative to the workspace.
    pub(super) copied: BTreeSet<PathBuf>,
    /// Mount points inside the stage, relative to the workspace.
    pub(super) covered: BTreeSet<PathBuf>,
}

/// Computes the view of a job.
pub(super) fn compile_view(job: &SandboxJob) -> Result<SandboxView, SandboxError> {
    let workspace = resolve_workspace(job)?;
    let program = resolve_path(&job.program).map_err(|error| path_error(&job.program, &error))?;
    if read_file_type(&program) != Some(FileType::RegularFile) {
        return Err(unstartable_error(job, "it is not a regular file"));
    }
    let readable = resolve_readable(job)?;
    let mounted = MountTable::read().map_err(|error| path_error(Path::new("/proc/self/mountinfo"), &error))?;
    let hidden = resolve_hidden(job, &workspace, &mounted)?;
    let is_in_system = is_in_system(job, &workspace, &program)?;
    let trusted = find_protected_paths(job, &workspace, &mounted);
    let mut pieces = ViewBuilder {
        job,
        workspace: workspace.clone(),
        protected: trusted.clone(),
        steps: BTreeMap::new(),
        stages: Vec::new(),
        guarded: Vec::new(),
        run_entry: None,
        leftovers: job.protection.run_registry.as_deref().map(commit_journal::recover_commits).unwrap_or_default(),
    };
    pieces.add_system(is_in_system || readable.iter().any(|folder| workspace.starts_with(folder)));
    for folder in &readable {
        pieces.add_folder(folder.clone(), false, true);
    }
    let own = job
        .private_folder
        .as_ref()
        .map(|folder| resolve_path(folder).map_err(|error| path_error(folder, &error)))
        .transpose()?;
    if let Some(own) = &own {
        pieces.add_private_folder(own, &readable)?;
    }
    // The workspace hides the content of a readable directory that contains it.
    let kept: Vec<PathBuf> =
        readable.iter().filter(|folder| **folder == workspace || !workspace.starts_with(folder)).cloned().collect();
    // In a private directory, nothing has to be granted.
    if own.as_ref().is_none_or(|own| !workspace.starts_with(own)) {
        pieces.add_writable(&kept)?;
        pieces.add_readable()?;
    }
    for folder in &hidden.folders {
        pieces.hide_folder(folder, &readable)?;
    }
    pieces.refuse_hidden_files(&hidden)?;
    pieces.add_program(&program);
    let temporary = pieces.choose_temporary();
    pieces.add_etc(&temporary);
    let mut runnable = find_runnable(job, &program, &readable);
    runnable.extend(own.filter(|_| job.permissions.allow_subprocess));
    let writable = pieces.list_writable_targets();
    let watched = std::mem::take(&mut pieces.guarded);
    let (note, found) = (pieces.run_entry.take(), std::mem::take(&mut pieces.leftovers));
    let (steps, stages) = pieces.into_steps();
    Ok(SandboxView {
        steps,
        workspace,
        program,
        temporary,
        stages,
        guarded: watched,
        protected: trusted,
        run_entry: note,
        leftovers: found,
        runnable,
        readable: add_system_folders(readable),
        writable,
    })
}

/// Returns the resolved paths of the readable directories.
fn resolve_readable(job: &SandboxJob) -> Result<Vec<PathBuf>, SandboxError> {
    let resolve = |folder: &PathBuf| match resolve_path(folder) {
        Ok(folder) if folder == Path::new("/") => Err(unstartable_error(job, "it would read the whole file system")),
        other => other.map_err(|error| path_error(folder, &error)),
    };
    job.readable.iter().map(resolve).collect()
}

/// Returns the protected paths, with link targets if the job may write.
fn find_protected_paths(job: &SandboxJob, workspace: &Path, mounted: &MountTable) -> ProtectedPaths {
    if job.protection.installs_packages {
        return ProtectedPaths::for_package_install();
    }
    // The workspace may show these directories under other paths.
    let mut program_folders = job.protection.program_folders.clone();
    let absolute = job.protection.program_folders.iter().filter(|folder| folder.is_absolute());
    program_folders.extend(absolute.flat_map(|folder| mounted.find_aliases(folder)));
    let homes = job.protection.home.iter().flat_map(|home| [vec![home.clone()], mounted.find_aliases(home)].concat());
    let home = homes.into_iter().find(|home| home.starts_with(workspace));
    let trusted = ProtectedPaths::for_workspace(workspace, &program_folders, home.as_deref());
    if job.permissions.write.is_empty() { trusted } else { trusted.with_link_targets(workspace) }
}

/// Returns the resolved path of the workspace, if it is a valid one.
fn resolve_workspace(job: &SandboxJob) -> Result<PathBuf, SandboxError> {
    let workspace = resolve_path(&job.workspace).map_err(|error| path_error(&job.workspace, &error))?;
    if workspace == Path::new("/") {
        return Err(unstartable_error(job, "the workspace is the root of the file system"));
    }
    if let Some(own) = RESERVED_FOLDERS.iter().find(|own| workspace.starts_with(own)) {
        let reason = format!("the workspace is in `{own}`, which every tool gets its own version of; choose another");
        return Err(unstartable_error(job, &reason));
    }
    Ok(workspace)
}

fn add_system_folders(mut readable: Vec<PathBuf>) -> Vec<PathBuf> {
    readable.extend(SYSTEM_FOLDERS.iter().map(PathBuf::from).filter(|path| read_file_type(path).is_some()));
    readable.push(PathBuf::from(INJECTED_FILES_FOLDER));
    readable
}

/// Returns what may be executed: all visible programs, or only the tool's program and its loader.
fn find_runnable(job: &SandboxJob, program: &Path, readable: &[PathBuf]) -> Vec<PathBuf> {
    let mut runnable = vec![program.to_path_buf()];
    if job.permissions.allow_subprocess {
        runnable.extend(SYSTEM_FOLDERS.iter().map(PathBuf::from).filter(|path| read_file_type(path).is_some()));
        runnable.extend(readable.iter().cloned());
    } else {
        runnable.extend(find_loader(program).filter(|path| read_file_type(path).is_some()));
    }
    runnable
}

/// Returns the paths of the hidden directories, whatever path leads there.
fn resolve_hidden(job: &SandboxJob, workspace: &Path, mounted: &MountTable) -> Result<HiddenPaths, SandboxError> {
    let hidden: Vec<PathBuf> = job.hidden.iter().map(|path| resolve_existing_part(path)).collect();
    let hidden = HiddenPaths::find(&hidden, mounted);
    // The copy of a skill is in a directory of the runtime and may be the workspace.
    let is_own = |folder: &Path| {
        let readable = job.readable.iter().filter_map(|own| resolve_path(own).ok());
        readable.into_iter().any(|own| own.starts_with(folder) && workspace.starts_with(own))
    };
    match hidden.folders.iter().find(|folder| workspace.starts_with(folder) && !is_own(folder)) {
        Some(folder) => {
            let reason = format!("the workspace is in `{}`, which is hidden from tools", folder.display());
            Err(unstartable_error(job, &reason))
        }
        None => Ok(hidden),
    }
}

/// Whether the workspace is inside a system directory, which every tool sees. A workspace that is a system directory or
/// contains the interpreter would hide the system, and is an error.
fn is_in_system(job: &SandboxJob, workspace: &Path, program: &Path) -> Result<bool, SandboxError> {
    let system: Vec<PathBuf> = SYSTEM_FOLDERS.iter().filter_map(|path| resolve_path(Path::new(path)).ok()).collect();
    let is_in = system.iter().any(|folder| workspace.starts_with(folder));
    if system.iter().any(|folder| folder.starts_with(workspace)) || is_in && program.starts_with(workspace) {
        return Err(unstartable_error(job, "the workspace is a system directory; choose another"));
    }
    Ok(is_in)
}

struct ViewBuilder<'a> {
    job: &'a SandboxJob,
    workspace: PathBuf,
    protected: ProtectedPaths,
    /// The steps by target, so that parents come before their content.
    steps: BTreeMap<PathBuf, MountStep>,
    stages: Vec<WriteStage>,
    guarded: Vec<GuardedFolder>,
    run_entry: Option<RunEntry>,
    leftovers: Vec<String>,
}

impl ViewBuilder<'_> {
    fn add_system(&mut self, is_covered: bool) {
        for path in SYSTEM_FOLDERS.iter().map(PathBuf::from) {
            match read_file_type(&path) {
                Some(FileType::Symlink) => {
                    if let Ok(to) = rustix::fs::readlink(&path, Vec::new()) {
                        let to = PathBuf::from(OsString::from_vec(to.into_bytes()));
                        self.steps.insert(path.clone(), MountStep::Link { target: path, to });
                    }
                }
                Some(FileType::Directory) => self.add_folder(path, false, true),
                _ => {}
            }
        }
        for path in
            ETC_FOLDERS.iter().map(PathBuf::from).filter(|path| read_file_type(path) == Some(FileType::Directory))
        {
            self.add_folder(path, false, false);
        }
        for path in
            ETC_FILES.iter().map(PathBuf::from).filter(|path| read_file_type(path) == Some(FileType::RegularFile))
        {
            self.add_file(path, false);
        }
        self.steps.insert(INJECTED_FILES_FOLDER.into(), MountStep::Empty { target: INJECTED_FILES_FOLDER.into() });
        for (name, bytes) in &self.job.injected_files {
            self.add_text(Path::new(INJECTED_FILES_FOLDER).join(name), bytes.clone());
        }
        let target = self.workspace.clone();
        let step = if is_covered { MountStep::Cover { target } } else { MountStep::Empty { target } };
        self.steps.entry(self.workspace.clone()).or_insert(step);
    }

    fn add_etc(&mut self, temporary: &Path) {
        let home = temporary.join("home");
        let name_server = if self.job.permissions.outbound.is_empty() {
            String::new()
        } else {
            "nameserver 198.18.0.1\noptions timeout:2 attempts:2 single-request\n".to_owned()
        };
        for (path, text) in [
            (
                "/etc/passwd",
                format!("tool:x:1000:1000::{}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n", home.display()),
            ),
            ("/etc/group", "tool:x:1000:\nnogroup:x:65534:\n".to_owned()),
            ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n".to_owned()),
            ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
            ("/etc/resolv.conf", name_server),
        ] {
            self.add_text(PathBuf::from(path), text.into_bytes());
        }
        let (target, to) = (PathBuf::from("/etc/localtime"), PathBuf::from("/usr/share/zoneinfo/UTC"));
        self.steps.insert(target.clone(), MountStep::Link { target, to });
    }

    fn add_folder(&mut self, path: PathBuf, is_writable: bool, may_run: bool) {
        let step = MountStep::Folder { source: path.clone(), target: path.clone(), is_writable, may_run };
        self.steps.insert(path, step);
    }

    fn add_file(&mut self, path: PathBuf, may_run: bool) {
        self.steps.insert(path.clone(), MountStep::File { source: path.clone(), target: path, may_run });
    }

    fn add_text(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.steps.insert(path.clone(), MountStep::Text { target: path, bytes });
    }

    /// Adds the private directory. It must not contain, or be inside, another visible directory.
    fn add_private_folder(&mut self, own: &Path, readable: &[PathBuf]) -> Result<(), SandboxError> {
        if own == Path::new("/") || readable.iter().any(|folder| folder.starts_with(own) || own.starts_with(folder)) {
            return Err(unstartable_error(self.job, &format!("`{}` is not private to it", own.display())));
        }
        self.add_folder(own.to_path_buf(), true, true);
        Ok(())
    }

    /// Adds the program itself, unless a visible directory contains it.
    fn add_program(&mut self, program: &Path) {
        if !self.is_shown(program) {
            self.add_file(program.to_path_buf(), true);
        }
    }

    fn is_shown(&self, path: &Path) -> bool {
        for folder in path.ancestors() {
            match self.steps.get(folder) {
                Some(MountStep::Cover { .. }) => return false,
                Some(MountStep::Folder { .. }) if folder != path => return true,
                _ => {}
            }
        }
        false
    }

    /// Hides a directory, except for parts that the skill or the interpreter needs.
    fn hide_folder(&mut self, hidden: &Path, readable: &[PathBuf]) -> Result<(), SandboxError> {
        let is_own = |path: &Path| readable.iter().any(|own| own.starts_with(hidden) && path.starts_with(own));
        let inside: Vec<PathBuf> =
            self.steps.keys().filter(|path| path.starts_with(hidden) && !is_own(path)).cloned().collect();
        let granted = self.stages.iter().map(|stage| stage.prefix.as_str());
        let mut granted = granted.chain(self.guarded.iter().map(GuardedFolder::folder));
        let is_inside = |folder: &Path| folder.starts_with(hidden) && !is_own(folder);
        if granted.any(|folder| is_inside(&self.workspace.join(folder))) {
            let reason = format!("it would write to `{}`, which is hidden from tools", hidden.display());
            return Err(unstartable_error(self.job, &reason));
        }
        for path in inside {
            self.steps.remove(&path);
            let relative = path.strip_prefix(&self.workspace).unwrap_or(&path);
            for stage in &mut self.stages {
                stage.copied.remove(relative);
            }
        }
        let is_staged = self.stages.iter().any(|stage| hidden.starts_with(self.workspace.join(&stage.prefix)));
        if self.is_writable(hidden) {
            // A mount point must exist, and no parent may be renamed.
            let relative = hidden.strip_prefix(&self.workspace).unwrap_or(hidden);
            mounts::make_folder(&self.workspace, relative).map_err(|error| path_error(hidden, &error))?;
            if let Some(grant) = hidden.ancestors().filter(|folder| self.is_folder(folder)).last() {
                let grant = grant.to_path_buf();
                self.pin_parents(&grant, hidden);
            }
        }
        let is_there = read_file_type(hidden) == Some(FileType::Directory);
        let has_own = readable.iter().any(|own| own.starts_with(hidden));
        if is_staged || is_there && (self.is_shown(hidden) || has_own) {
            self.steps.insert(hidden.to_path_buf(), MountStep::Cover { target: hidden.to_path_buf() });
        }
        Ok(())
    }

    /// Refuses grants that show a hidden file under another name, which no directory can cover.
    fn refuse_hidden_files(&self, hidden: &HiddenPaths) -> Result<(), SandboxError> {
        let refuse = |path: &Path, what: &str| {
            let reason = format!("`{}` is {what} to a file that is hidden from tools; remove it", path.display());
            Err(unstartable_error(self.job, &reason))
        };
        let is_granted = |path: &&PathBuf| self.is_shown(path) || self.steps.contains_key(*path);
        if let Some(file) = hidden.files.iter().find(is_granted) {
            return refuse(file, "a mount that leads");
        }
        for step in self.steps.values() {
            let found = match step {
                MountStep::File { source, .. } | MountStep::Copy { source, .. } => {
                    hidden.is_hard_link(source).then(|| source.clone())
                }
                MountStep::Folder { source, .. } if !mounts::is_system_path(source) => {
                    hidden.find_hard_link(source).map_err(|error| unstartable_error(self.job, &error))?
                }
                _ => None,
            };
            if let Some(path) = found {
                return refuse(&path, "a hard link");
            }
        }
        Ok(())
    }

    /// Chooses the directory for temporary files. It is never above a grant, because Landlock rules apply recursively.
    fn choose_temporary(&self) -> PathBuf {
        let is_used = |place: &Path| self.steps.keys().any(|target| target.starts_with(place));
        ["/tmp", "/run/tmp", "/var/tmp", "/mnt/tmp"]
            .iter()
            .map(PathBuf::from)
            .find(|place| !is_used(place))
            .unwrap_or_else(|| PathBuf::from("/tool-tmp"))
    }

    fn add_writable(&mut self, kept: &[PathBuf]) -> Result<(), SandboxError> {
        let (mut folders, mut patterns) = (Vec::new(), Vec::new());
        for glob in &self.job.permissions.write {
            match glob.whole_folder() {
                // The whole workspace and protected directories are checked file by file.
                Some(folder) if !folder.is_empty() && !self.is_protected_folder(&folder) => folders.push(folder),
                _ => patterns.push(glob.clone()),
            }
        }
        // A directory grant needs no check by pattern.
        patterns.retain(|glob| !folders.iter().any(|folder| is_same_or_inside(&glob.literal_prefix(), folder)));
        if !folders.is_empty() {
            // Locked until this run is recorded, so that files of a concurrent run are not mistaken for existing ones.
            let register = self.job.protection.run_registry.as_deref().map(RunRegistry::lock).transpose();
            let register = register.map_err(|error| unstartable_error(self.job, &error.to_string()))?;
            if let Some(register) = &register {
                self.leftovers.extend(guard::clean_up_killed_runs(register));
            }
            folders.iter().try_for_each(|folder| self.add_direct_folder(folder, kept))?;
            if let Some(register) = &register {
                self.run_entry = Some(self.register_run(register)?);
            }
        }
        let mut prefixes: BTreeSet<String> = patterns.iter().map(Glob::literal_prefix).collect();
        let all = prefixes.clone();
        prefixes.retain(|prefix| !all.iter().any(|other| other != prefix && is_same_or_inside(prefix, other)));
        if prefixes.len() > STAGES_MAX {
            let reason = "its write patterns cover too many directories; grant `dir/**` instead";
            return Err(unstartable_error(self.job, reason));
        }
        prefixes.into_iter().try_for_each(|prefix| self.add_stage(prefix, &patterns, kept))
    }

    /// Whether a directory is protected as a whole: by its name, or because a repository or virtual environment
    /// executes its content.
    fn is_protected_folder(&self, folder: &str) -> bool {
        let whole = self.workspace.join(folder);
        let is_kept = || staging::is_in_environment(&whole) || repository::is_inside_repository(&whole);
        self.protected.is_protected(&format!("{folder}/x")) || !self.job.protection.installs_packages && is_kept()
    }

    /// Records this run, and takes concurrent runs into account.
    fn register_run(&mut self, register: &RunRegistry) -> Result<RunEntry, SandboxError> {
        for other in register.read_runs().iter().filter(|note| note.is_alive).flat_map(|note| &note.entries) {
            self.guarded.iter_mut().for_each(|watched| watched.forget_unknown_to(&self.workspace, other));
        }
        let entries: Vec<_> = self.guarded.iter().map(|watched| watched.to_baseline(&self.workspace)).collect();
        register.add_run(&entries).map_err(|error| unstartable_error(self.job, &error.to_string()))
    }

    fn add_direct_folder(&mut self, folder: &str, kept: &[PathBuf]) -> Result<(), SandboxError> {
        let path = self.workspace.join(folder);
        if let Some(kept) = kept.iter().find(|kept| path.starts_with(kept) && !self.workspace.starts_with(kept)) {
            let reason = format!("`{folder}/**` is inside `{}`, which is read-only for tools", kept.display());
            return Err(unstartable_error(self.job, &reason));
        }
        let above = EnclosingRepositories::find_above(&self.workspace, folder);
        mounts::make_folder(&self.workspace, folder).map_err(|error| path_error(&path, &error))?;
        self.add_folder(path.clone(), true, false);
        let watched = GuardedFolder::new(&self.workspace, folder, above, &self.protected);
        let watched = watched.map_err(|error| unstartable_error(self.job, &error))?;
        for inner in kept.iter().filter(|kept| kept.starts_with(&path)) {
            self.pin_parents(&path, inner);
        }
        for inner in watched.read_only_folders() {
            let inner = self.workspace.join(inner);
            if !self.is_inside_read_only(&path, &inner) {
                self.pin_parents(&path, &inner);
                let (source, target) = (inner.clone(), inner.clone());
                self.steps.entry(inner).or_insert(MountStep::Folder {
                    source,
                    target,
                    is_writable: false,
                    may_run: false,
                });
            }
        }
        for (name, is_file) in watched.protected_names() {
            let name = self.workspace.join(name);
            if !self.is_inside_read_only(&path, &name) {
                self.pin_parents(&path, &name);
                if is_file {
                    self.add_file(name, false);
                }
            }
        }
        self.guarded.push(watched);
        Ok(())
    }

    /// Makes every directory between a grant and an entry in it a mount point, which cannot be renamed.
    fn pin_parents(&mut self, grant: &Path, inner: &Path) {
        for folder in inner.ancestors().skip(1).take_while(|folder| *folder != grant) {
            let (source, target) = (folder.to_path_buf(), folder.to_path_buf());
            let step = MountStep::Folder { source, target, is_writable: true, may_run: false };
            self.steps.entry(folder.to_path_buf()).or_insert(step);
        }
    }

    /// Whether a path is in a read-only directory inside a grant.
    fn is_inside_read_only(&self, grant: &Path, path: &Path) -> bool {
        let is_it = |folder| matches!(self.steps.get(folder), Some(MountStep::Folder { is_writable: false, .. }));
        path.ancestors().take_while(|folder| *folder != grant).any(is_it)
    }

    fn add_stage(&mut self, prefix: String, patterns: &[Glob], kept: &[PathBuf]) -> Result<(), SandboxError> {
        let target = if prefix.is_empty() { self.workspace.clone() } else { self.workspace.join(&prefix) };
        if self.is_folder(&target) {
            let reason = format!("its write patterns cover `{}`, which is read-only for tools", target.display());
            return Err(unstartable_error(self.job, &reason));
        }
        if self.is_shown(&target) {
            // In a directory that is mounted as it is, a mount point must exist on disk.
            mounts::make_folder(&self.workspace, &prefix).map_err(|error| path_error(&target, &error))?;
        }
        let found = walk::find_files(&self.workspace, &prefix, patterns, &[])
            .map_err(|error| unstartable_error(self.job, &error))?;
        let bytes: u64 = found.iter().map(|file| file.size_bytes).sum();
        if bytes > COPIED_BYTES_MAX {
            let reason =
                format!("too much to copy below `{prefix}`: {bytes} bytes; grant whole directories (`dir/**`)");
            return Err(unstartable_error(self.job, &reason));
        }
        let bytes_max = self.job.limits.temporary_bytes.saturating_add(bytes);
        let is_kept = kept.iter().any(|kept| target.starts_with(kept));
        self.steps.insert(target.clone(), MountStep::Stage { target, bytes_max });
        let mut copied = BTreeSet::new();
        for file in found {
            let path = self.workspace.join(&file.path);
            if self.is_shown(&path) {
                continue;
            }
            self.steps.insert(path.clone(), MountStep::Copy { source: path.clone(), target: path });
            copied.insert(file.path);
        }
        if is_kept {
            // The stage hides a part of a visible directory, so the files in it are mounted again.
            let all = Glob::parse("**").map_err(|error| unstartable_error(self.job, &error.to_string()))?;
            self.add_matching_files(&prefix, &[all], &[])?;
        }
        self.stages.push(WriteStage { prefix, copied, covered: BTreeSet::new() });
        Ok(())
    }

    fn add_readable(&mut self) -> Result<(), SandboxError> {
        let stages: Vec<String> = self.stages.iter().map(|stage| stage.prefix.clone()).collect();
        let mut names = Vec::new();
        for glob in &self.job.permissions.read {
            let Some(folder) = glob.whole_folder() else {
                names.push(glob.clone());
                continue;
            };
            // In a stage, files are mounted individually, so that the tool can write next to them.
            for stage in stages.iter().filter(|stage| is_same_or_inside(stage, &folder)) {
                self.add_matching_files(stage, std::slice::from_ref(glob), &[])?;
            }
            if stages.iter().any(|stage| is_same_or_inside(&folder, stage)) {
                self.add_matching_files(&folder, std::slice::from_ref(glob), &[])?;
                continue;
            }
            let path = self.workspace.join(&folder);
            let is_there = self.has_file_type(&folder, FileType::Directory);
            if is_there && !self.is_shown(&path) && !self.is_folder(&path) {
                self.add_folder(path, false, false);
            }
        }
        let shown: Vec<PathBuf> = self.steps.keys().filter(|path| self.is_folder(path)).cloned().collect();
        for prefix in names.iter().map(Glob::literal_prefix).collect::<BTreeSet<_>>() {
            let below: Vec<Glob> = names.iter().filter(|glob| glob.literal_prefix() == prefix).cloned().collect();
            self.add_matching_files(&prefix, &below, &shown)?;
        }
        Ok(())
    }

    /// Mounts every matching file that is not visible yet.
    fn add_matching_files(&mut self, prefix: &str, globs: &[Glob], shown: &[PathBuf]) -> Result<(), SandboxError> {
        let found = walk::find_files(&self.workspace, prefix, globs, shown);
        for file in found.map_err(|error| unstartable_error(self.job, &error))? {
            let path = self.workspace.join(file.path);
            if !self.steps.contains_key(&path) && !self.is_writable(&path) {
                self.add_file(path, false);
            }
        }
        Ok(())
    }

    /// Whether a path is in a writable directory. Writable paths are also readable.
    fn is_writable(&self, path: &Path) -> bool {
        let is_it = |folder| matches!(self.steps.get(folder), Some(MountStep::Folder { is_writable: true, .. }));
        path.ancestors().skip(1).any(is_it)
    }

    fn is_folder(&self, path: &Path) -> bool {
        matches!(self.steps.get(path), Some(MountStep::Folder { .. }))
    }

    /// Whether a path in the workspace has this file type and no link on the way.
    fn has_file_type(&self, relative: impl AsRef<Path>, wanted: FileType) -> bool {
        walk::open_without_links(&self.workspace, relative.as_ref())
            .and_then(|opened| Ok(rustix::fs::fstat(&opened)?))
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == wanted)
    }

    fn list_writable_targets(&self) -> Vec<PathBuf> {
        let written = self.steps.values().filter_map(|step| match step {
            // A rule applies recursively.
            MountStep::Folder { target, is_writable: true, .. } if !self.is_writable(target) => Some(target.clone()),
            MountStep::Stage { target, .. } => Some(target.clone()),
            _ => None,
        });
        written.collect()
    }

    fn into_steps(mut self) -> (Vec<MountStep>, Vec<WriteStage>) {
        for stage in &mut self.stages {
            let root = self.workspace.join(&stage.prefix);
            let covers = self.steps.iter().filter(|(path, step)| {
                path.starts_with(&root)
                    && **path != root
                    && matches!(step, MountStep::File { .. } | MountStep::Folder { .. } | MountStep::Cover { .. })
            });
            stage
                .covered
                .extend(covers.filter_map(|(path, _)| path.strip_prefix(&self.workspace).ok().map(Path::to_path_buf)));
        }
        (self.steps.into_values().collect(), self.stages)
    }
}

/// Returns the size of the file system for temporary files and stages: the limit, and room for the copies.
pub(super) fn compute_pool_bytes(steps: &[MountStep], temporary_bytes: u64) -> u64 {
    let copied = steps.iter().map(|step| match step {
        MountStep::Stage { bytes_max, .. } => bytes_max.saturating_sub(temporary_bytes),
        _ => 0,
    });
    copied.fold(temporary_bytes, u64::saturating_add)
}

/// Whether a path is a directory or inside it.
fn is_same_or_inside(path: &str, folder: &str) -> bool {
    folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the file type of a path without following links.
fn read_file_type(path: &Path) -> Option<FileType> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
}

#[expect(clippy::disallowed_methods, reason = "mounts need resolved paths")]
fn resolve_path(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Resolves the existing part of a path, and appends the rest.
fn resolve_existing_part(path: &Path) -> PathBuf {
    for known in path.ancestors() {
        if let Ok(found) = resolve_path(known) {
            return found.join(path.strip_prefix(known).unwrap_or(Path::new("")));
        }
    }
    path.to_owned()
}

/// Returns the dynamic loader of a program, as named in its program headers.
fn find_loader(program: &Path) -> Option<PathBuf> {
    let file = rustix::fs::open(program, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = Vec::new();
    // The header table and the name are at the start of every real program.
    File::from(file).take(64 << 10).read_to_end(&mut bytes).ok()?;
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = bytes.get(at..at.checked_add(length)?)?;
        bytes.iter().rev().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))
    };
    // A 64-bit, little-endian program.
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let entry = (0..count).filter_map(|at| table.checked_add(at * size)).find(|entry| number(*entry, 4) == Some(3))?;
    let (start, length) = (number(entry + 8, 8)?, number(entry + 32, 8)?);
    let name = bytes.get(start..start.checked_add(length)?)?.split(|byte| *byte == 0).next()?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
}

fn path_error(path: &Path, error: &io::Error) -> SandboxError {
    SandboxError::Unstartable { program: path.display().to_string(), reason: error.to_string() }
}

fn unstartable_error(job: &SandboxJob, reason: &str) -> SandboxError {
    SandboxError::Unstartable { program: job.program.display().to_string(), reason: reason.to_owned() }
}
