//! From grants to the pieces of a view: which folders, which files, in which order. Runs on the host and changes
//! nothing there, except that folders which are granted for writing are made.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

use super::guard::{self, Above, Watched};
use super::order::Step;
use super::register::{Note, Register};
use super::trusted::Trusted;
use super::{GIVEN_FOLDER, Job, SandboxError, mounts, repository, staging, walk};
use rep_permissions::glob::Glob;

/// The folders of the system every tool may read and, where it may start programs, run from.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What programs read of `/etc` and what says nothing about this machine's people.
const ETC_FOLDERS: &[&str] =
    &["/etc/ssl/certs", "/etc/alternatives", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"];
const ETC_FILES: &[&str] = &["/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/mime.types"];

/// What every tool has its own of, so that nothing of the machine's can be shown there.
const OWN: &[&str] = &["/dev", "/proc", "/sys"];

/// Existing files that are copied into stages, in bytes: beyond, a folder should be granted.
const COPIED_BYTES_MAX: u64 = 1 << 30;

/// The most stages: all of them are handed back in one message.
const STAGES_MAX: usize = 100;

/// The view of one run.
pub(super) struct View {
    pub(super) steps: Vec<Step>,
    pub(super) workspace: PathBuf,
    pub(super) program: PathBuf,
    pub(super) temporary: PathBuf,
    pub(super) stages: Vec<Stage>,
    pub(super) watched: Vec<Watched>,
    pub(super) trusted: Trusted,
    /// Says that this run goes on, where it writes directly.
    pub(super) note: Option<Note>,
    /// What runs that were ended by force left.
    pub(super) found: Vec<String>,
    pub(super) runnable: Vec<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
}

/// A folder of the workspace whose content is judged after the run.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// Relative to the workspace; empty for the workspace itself.
    pub(super) prefix: String,
    /// Files that were copied in, relative to the workspace.
    pub(super) copied: BTreeSet<PathBuf>,
    /// Places something else is mounted on, relative to the workspace.
    pub(super) covered: BTreeSet<PathBuf>,
}

/// Works out the view of a job.
pub(super) fn compile(job: &Job) -> Result<View, SandboxError> {
    let workspace = workspace(job)?;
    let program = real(&job.program).map_err(|error| bad(&job.program, &error))?;
    if kind(&program) != Some(FileType::RegularFile) {
        return Err(unstartable(job, "it is no regular file"));
    }
    let mut readable = Vec::new();
    for folder in &job.readable {
        let folder = real(folder).map_err(|error| bad(folder, &error))?;
        if folder == Path::new("/") {
            return Err(unstartable(job, "it would read the whole file system"));
        }
        readable.push(folder);
    }
    let hidden = hidden(job, &workspace)?;
    let is_in_system = is_in_system(job, &workspace, &program)?;
    let trusted = trusted(job, &workspace);
    let mut pieces = Pieces {
        job,
        workspace: workspace.clone(),
        trusted: trusted.clone(),
        at: BTreeMap::new(),
        stages: Vec::new(),
        watched: Vec::new(),
        note: None,
        found: Vec::new(),
    };
    pieces.system(is_in_system || readable.iter().any(|folder| workspace.starts_with(folder)));
    for folder in &readable {
        pieces.folder(folder.clone(), false, true);
    }
    let own = job.own.as_ref().map(|folder| real(folder).map_err(|error| bad(folder, &error))).transpose()?;
    if let Some(own) = &own {
        pieces.own(own, &readable)?;
    }
    // What a folder that holds the workspace shows besides ends at the workspace.
    let kept: Vec<PathBuf> =
        readable.iter().filter(|folder| **folder == workspace || !workspace.starts_with(folder)).cloned().collect();
    // In a folder of its own nothing is left to grant.
    if own.as_ref().is_none_or(|own| !workspace.starts_with(own)) {
        pieces.writable(&kept)?;
        pieces.readable()?;
    }
    for folder in &hidden {
        pieces.hide(folder, &readable)?;
    }
    pieces.program(&program);
    let temporary = pieces.temporary();
    pieces.etc(&temporary);
    let mut runnable = runnable(job, &program, &readable);
    runnable.extend(own.filter(|_| job.permissions.allow_subprocess));
    let writable = pieces.written();
    let watched = std::mem::take(&mut pieces.watched);
    let (note, found) = (pieces.note.take(), std::mem::take(&mut pieces.found));
    let (steps, stages) = pieces.into_steps();
    Ok(View {
        steps,
        workspace,
        program,
        temporary,
        stages,
        watched,
        trusted,
        note,
        found,
        runnable,
        readable: system_and(readable),
        writable,
    })
}

/// What is trusted there: also what links lead to, where something may be written.
fn trusted(job: &Job, workspace: &Path) -> Trusted {
    if job.guarding.is_for_packages {
        return Trusted::for_packages();
    }
    let trusted = Trusted::of(workspace, &job.guarding.held, job.guarding.home.as_deref());
    if job.permissions.write.is_empty() { trusted } else { trusted.and_where_links_lead(workspace) }
}

/// The workspace as it is really called, where one can be there.
fn workspace(job: &Job) -> Result<PathBuf, SandboxError> {
    let workspace = real(&job.workspace).map_err(|error| bad(&job.workspace, &error))?;
    if workspace == Path::new("/") {
        return Err(unstartable(job, "the workspace is the root of the file system"));
    }
    if let Some(own) = OWN.iter().find(|own| workspace.starts_with(own)) {
        let reason = format!("the workspace lies in `{own}`, of which every tool has its own; choose another folder");
        return Err(unstartable(job, &reason));
    }
    Ok(workspace)
}

fn system_and(mut readable: Vec<PathBuf>) -> Vec<PathBuf> {
    readable.extend(SYSTEM.iter().map(PathBuf::from).filter(|path| kind(path).is_some()));
    readable.push(PathBuf::from(GIVEN_FOLDER));
    readable
}

/// What may be executed: all programs it can see, or its own and the loader of that.
fn runnable(job: &Job, program: &Path, readable: &[PathBuf]) -> Vec<PathBuf> {
    let mut runnable = vec![program.to_path_buf()];
    if job.permissions.allow_subprocess {
        runnable.extend(SYSTEM.iter().map(PathBuf::from).filter(|path| kind(path).is_some()));
        runnable.extend(readable.iter().cloned());
    } else {
        runnable.extend(loader(program).filter(|path| kind(path).is_some()));
    }
    runnable
}

/// The folders no tool sees, as they are really called.
fn hidden(job: &Job, workspace: &Path) -> Result<Vec<PathBuf>, SandboxError> {
    let hidden: Vec<PathBuf> = job.hidden.iter().map(|path| real_or_future(path)).collect();
    // A copy of a skill lies in a folder of the runtime's, and may be the one it starts in.
    let is_own = |folder: &Path| {
        let readable = job.readable.iter().filter_map(|own| real(own).ok());
        readable.into_iter().any(|own| own.starts_with(folder) && workspace.starts_with(own))
    };
    match hidden.iter().find(|folder| workspace.starts_with(folder) && !is_own(folder)) {
        Some(folder) => {
            let reason = format!("the workspace lies in `{}`, which is no tool's business", folder.display());
            Err(unstartable(job, &reason))
        }
        None => Ok(hidden),
    }
}

/// Whether the workspace lies in a folder of the system, which every tool sees. One that is such a folder, or holds
/// the interpreter, would hide the system.
fn is_in_system(job: &Job, workspace: &Path, program: &Path) -> Result<bool, SandboxError> {
    let system: Vec<PathBuf> = SYSTEM.iter().filter_map(|path| real(Path::new(path)).ok()).collect();
    let is_in = system.iter().any(|folder| workspace.starts_with(folder));
    if system.iter().any(|folder| folder.starts_with(workspace)) || is_in && program.starts_with(workspace) {
        return Err(unstartable(job, "the workspace is a folder of the system; choose one of your own"));
    }
    Ok(is_in)
}

struct Pieces<'a> {
    job: &'a Job,
    workspace: PathBuf,
    trusted: Trusted,
    /// By target, so that what is inside comes after what it is in.
    at: BTreeMap<PathBuf, Step>,
    stages: Vec<Stage>,
    watched: Vec<Watched>,
    note: Option<Note>,
    found: Vec<String>,
}

impl Pieces<'_> {
    fn system(&mut self, is_covered: bool) {
        for path in SYSTEM.iter().map(PathBuf::from) {
            match kind(&path) {
                Some(FileType::Symlink) => {
                    if let Ok(to) = rustix::fs::readlink(&path, Vec::new()) {
                        let to = PathBuf::from(OsString::from_vec(to.into_bytes()));
                        self.at.insert(path.clone(), Step::Link { target: path, to });
                    }
                }
                Some(FileType::Directory) => self.folder(path, false, true),
                _ => {}
            }
        }
        for path in ETC_FOLDERS.iter().map(PathBuf::from).filter(|path| kind(path) == Some(FileType::Directory)) {
            self.folder(path, false, false);
        }
        for path in ETC_FILES.iter().map(PathBuf::from).filter(|path| kind(path) == Some(FileType::RegularFile)) {
            self.file(path, false);
        }
        self.at.insert(GIVEN_FOLDER.into(), Step::Empty { target: GIVEN_FOLDER.into() });
        for (name, bytes) in &self.job.given {
            self.text(Path::new(GIVEN_FOLDER).join(name), bytes.clone());
        }
        let target = self.workspace.clone();
        let step = if is_covered { Step::Cover { target } } else { Step::Empty { target } };
        self.at.entry(self.workspace.clone()).or_insert(step);
    }

    fn etc(&mut self, temporary: &Path) {
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
            self.text(PathBuf::from(path), text.into_bytes());
        }
        let (target, to) = (PathBuf::from("/etc/localtime"), PathBuf::from("/usr/share/zoneinfo/UTC"));
        self.at.insert(target.clone(), Step::Link { target, to });
    }

    fn folder(&mut self, path: PathBuf, is_writable: bool, may_run: bool) {
        let step = Step::Folder { source: path.clone(), target: path.clone(), is_writable, may_run };
        self.at.insert(path, step);
    }

    fn file(&mut self, path: PathBuf, may_run: bool) {
        self.at.insert(path.clone(), Step::File { source: path.clone(), target: path, may_run });
    }

    fn text(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.at.insert(path.clone(), Step::Text { target: path, bytes });
    }

    /// The folder that is the run's alone. One that something else is shown in or through would not be.
    fn own(&mut self, own: &Path, readable: &[PathBuf]) -> Result<(), SandboxError> {
        if own == Path::new("/") || readable.iter().any(|folder| folder.starts_with(own) || own.starts_with(folder)) {
            return Err(unstartable(self.job, &format!("`{}` is not its own alone", own.display())));
        }
        self.folder(own.to_path_buf(), true, true);
        Ok(())
    }

    /// The program itself, where it is in no folder that is shown.
    fn program(&mut self, program: &Path) {
        if !self.is_shown(program) {
            self.file(program.to_path_buf(), true);
        }
    }

    fn is_shown(&self, path: &Path) -> bool {
        for folder in path.ancestors() {
            match self.at.get(folder) {
                Some(Step::Cover { .. }) => return false,
                Some(Step::Folder { .. }) if folder != path => return true,
                _ => {}
            }
        }
        false
    }

    /// Covers a folder no tool sees, except for what is shown of it as the skill's or the interpreter's.
    fn hide(&mut self, hidden: &Path, readable: &[PathBuf]) -> Result<(), SandboxError> {
        let is_own = |path: &Path| readable.iter().any(|own| own.starts_with(hidden) && path.starts_with(own));
        let inside: Vec<PathBuf> =
            self.at.keys().filter(|path| path.starts_with(hidden) && !is_own(path)).cloned().collect();
        let granted = self.stages.iter().map(|stage| stage.prefix.as_str());
        let mut granted = granted.chain(self.watched.iter().map(Watched::folder));
        let is_inside = |folder: &Path| folder.starts_with(hidden) && !is_own(folder);
        if granted.any(|folder| is_inside(&self.workspace.join(folder))) {
            let reason = format!("it would write into `{}`, which is no tool's business", hidden.display());
            return Err(unstartable(self.job, &reason));
        }
        for path in inside {
            self.at.remove(&path);
            let relative = path.strip_prefix(&self.workspace).unwrap_or(&path);
            for stage in &mut self.stages {
                stage.copied.remove(relative);
            }
        }
        let is_staged = self.stages.iter().any(|stage| hidden.starts_with(self.workspace.join(&stage.prefix)));
        if self.is_writable(hidden) {
            // There must be something to mount on, and nothing on the way may be renamed.
            let relative = hidden.strip_prefix(&self.workspace).unwrap_or(hidden);
            mounts::make_folder(&self.workspace, relative).map_err(|error| bad(hidden, &error))?;
            if let Some(grant) = hidden.ancestors().filter(|folder| self.is_folder(folder)).last() {
                let grant = grant.to_path_buf();
                self.pin(&grant, hidden);
            }
        }
        let is_there = kind(hidden) == Some(FileType::Directory);
        let has_own = readable.iter().any(|own| own.starts_with(hidden));
        if is_staged || is_there && (self.is_shown(hidden) || has_own) {
            self.at.insert(hidden.to_path_buf(), Step::Cover { target: hidden.to_path_buf() });
        }
        Ok(())
    }

    /// Where the tool keeps temporary files: never above a grant, because rules hold for all that is below.
    fn temporary(&self) -> PathBuf {
        let is_used = |place: &Path| self.at.keys().any(|target| target.starts_with(place));
        ["/tmp", "/run/tmp", "/var/tmp", "/mnt/tmp"]
            .iter()
            .map(PathBuf::from)
            .find(|place| !is_used(place))
            .unwrap_or_else(|| PathBuf::from("/tool-tmp"))
    }

    fn writable(&mut self, kept: &[PathBuf]) -> Result<(), SandboxError> {
        let (mut folders, mut patterns) = (Vec::new(), Vec::new());
        for glob in &self.job.permissions.write {
            match glob.whole_folder() {
                // The whole workspace is judged name by name, and so is a folder somebody trusts.
                Some(folder) if !folder.is_empty() && !self.is_trusted(&folder) => folders.push(folder),
                _ => patterns.push(glob.clone()),
            }
        }
        // What a folder grants anyway needs no judge.
        patterns.retain(|glob| !folders.iter().any(|folder| is_in(&glob.literal_prefix(), folder)));
        if !folders.is_empty() {
            // Held until this run is noted: what another makes meanwhile must not be taken for what was always there.
            let register = self.job.guarding.register.as_deref().map(Register::hold).transpose();
            let register = register.map_err(|error| unstartable(self.job, &error.to_string()))?;
            if let Some(register) = &register {
                self.found = guard::clean(register);
            }
            folders.iter().try_for_each(|folder| self.direct(folder, kept))?;
            if let Some(register) = &register {
                self.note = Some(self.noted(register)?);
            }
        }
        let mut prefixes: BTreeSet<String> = patterns.iter().map(Glob::literal_prefix).collect();
        let all = prefixes.clone();
        prefixes.retain(|prefix| !all.iter().any(|other| other != prefix && is_in(prefix, other)));
        if prefixes.len() > STAGES_MAX {
            let reason = "it writes by name into too many folders; grant folders (`dir/**`) instead";
            return Err(unstartable(self.job, reason));
        }
        prefixes.into_iter().try_for_each(|prefix| self.stage(prefix, &patterns, kept))
    }

    /// Whether all of a folder is trusted: by its name, or because a repository or a virtual environment keeps there what
    /// is run.
    fn is_trusted(&self, folder: &str) -> bool {
        let whole = self.workspace.join(folder);
        let is_kept = || staging::is_in_environment(&whole) || repository::holds(&whole);
        self.trusted.is(&format!("{folder}/x")) || !self.job.guarding.is_for_packages && is_kept()
    }

    /// Notes this run, and heeds those that go on.
    fn noted(&mut self, register: &Register) -> Result<Note, SandboxError> {
        for other in register.notes().iter().filter(|note| note.is_alive).flat_map(|note| &note.entries) {
            self.watched.iter_mut().for_each(|watched| watched.heed(&self.workspace, other));
        }
        let entries: Vec<_> = self.watched.iter().map(|watched| watched.entry(&self.workspace)).collect();
        register.note(&entries).map_err(|error| unstartable(self.job, &error.to_string()))
    }

    fn direct(&mut self, folder: &str, kept: &[PathBuf]) -> Result<(), SandboxError> {
        let path = self.workspace.join(folder);
        if let Some(kept) = kept.iter().find(|kept| path.starts_with(kept) && !self.workspace.starts_with(kept)) {
            let reason = format!("`{folder}/**` is inside of `{}`, which a tool only reads", kept.display());
            return Err(unstartable(self.job, &reason));
        }
        let above = Above::of(&self.workspace, folder);
        mounts::make_folder(&self.workspace, folder).map_err(|error| bad(&path, &error))?;
        self.folder(path.clone(), true, false);
        let watched = Watched::new(&self.workspace, folder, above, &self.trusted);
        let watched = watched.map_err(|error| unstartable(self.job, &error))?;
        for inner in kept.iter().filter(|kept| kept.starts_with(&path)) {
            self.pin(&path, inner);
        }
        for inner in watched.folders() {
            let inner = self.workspace.join(inner);
            if !self.is_kept(&path, &inner) {
                self.pin(&path, &inner);
                let (source, target) = (inner.clone(), inner.clone());
                self.at.entry(inner).or_insert(Step::Folder { source, target, is_writable: false, may_run: false });
            }
        }
        for (name, is_file) in watched.names() {
            let name = self.workspace.join(name);
            if !self.is_kept(&path, &name) {
                self.pin(&path, &name);
                if is_file {
                    self.file(name, false);
                }
            }
        }
        self.watched.push(watched);
        Ok(())
    }

    /// Makes every folder between a grant and something in it a mount of its own: a mount cannot be renamed.
    fn pin(&mut self, grant: &Path, inner: &Path) {
        for folder in inner.ancestors().skip(1).take_while(|folder| *folder != grant) {
            let (source, target) = (folder.to_path_buf(), folder.to_path_buf());
            let step = Step::Folder { source, target, is_writable: true, may_run: false };
            self.at.entry(folder.to_path_buf()).or_insert(step);
        }
    }

    /// Whether a path lies in a folder inside of a grant that is shown for reading as a whole.
    fn is_kept(&self, grant: &Path, path: &Path) -> bool {
        let is_it = |folder| matches!(self.at.get(folder), Some(Step::Folder { is_writable: false, .. }));
        path.ancestors().take_while(|folder| *folder != grant).any(is_it)
    }

    fn stage(&mut self, prefix: String, patterns: &[Glob], kept: &[PathBuf]) -> Result<(), SandboxError> {
        let target = if prefix.is_empty() { self.workspace.clone() } else { self.workspace.join(&prefix) };
        if self.is_folder(&target) {
            let reason = format!("it may write by name into `{}`, which a tool only reads", target.display());
            return Err(unstartable(self.job, &reason));
        }
        if self.is_shown(&target) {
            // Inside of a folder that is shown as it is, there is nothing to mount on unless it exists.
            mounts::make_folder(&self.workspace, &prefix).map_err(|error| bad(&target, &error))?;
        }
        let found =
            walk::files(&self.workspace, &prefix, patterns, &[]).map_err(|error| unstartable(self.job, &error))?;
        let bytes: u64 = found.iter().map(|file| file.size_bytes).sum();
        if bytes > COPIED_BYTES_MAX {
            let reason =
                format!("what it may change below `{prefix}` is {bytes} bytes; grant folders (`dir/**`) instead");
            return Err(unstartable(self.job, &reason));
        }
        let bytes_max = self.job.limits.temporary_bytes.saturating_add(bytes);
        let is_kept = kept.iter().any(|kept| target.starts_with(kept));
        self.at.insert(target.clone(), Step::Stage { target, bytes_max });
        let mut copied = BTreeSet::new();
        for file in found {
            let path = self.workspace.join(&file.path);
            if self.is_shown(&path) {
                continue;
            }
            self.at.insert(path.clone(), Step::Copy { source: path.clone(), target: path });
            copied.insert(file.path);
        }
        if is_kept {
            // It hides a part of a folder that is shown, so the files in it are shown again.
            let all = Glob::parse("**").map_err(|error| unstartable(self.job, &error.to_string()))?;
            self.files(&prefix, &[all], &[])?;
        }
        self.stages.push(Stage { prefix, copied, covered: BTreeSet::new() });
        Ok(())
    }

    fn readable(&mut self) -> Result<(), SandboxError> {
        let stages: Vec<String> = self.stages.iter().map(|stage| stage.prefix.clone()).collect();
        let mut names = Vec::new();
        for glob in &self.job.permissions.read {
            let Some(folder) = glob.whole_folder() else {
                names.push(glob.clone());
                continue;
            };
            // In a stage each file is shown by itself, so that others can be written beside it.
            for stage in stages.iter().filter(|stage| is_in(stage, &folder)) {
                self.files(stage, std::slice::from_ref(glob), &[])?;
            }
            if stages.iter().any(|stage| is_in(&folder, stage)) {
                self.files(&folder, std::slice::from_ref(glob), &[])?;
                continue;
            }
            let path = self.workspace.join(&folder);
            let is_there = self.is_plain(&folder, FileType::Directory);
            if is_there && !self.is_shown(&path) && !self.is_folder(&path) {
                self.folder(path, false, false);
            }
        }
        let shown: Vec<PathBuf> = self.at.keys().filter(|path| self.is_folder(path)).cloned().collect();
        for prefix in names.iter().map(Glob::literal_prefix).collect::<BTreeSet<_>>() {
            let below: Vec<Glob> = names.iter().filter(|glob| glob.literal_prefix() == prefix).cloned().collect();
            self.files(&prefix, &below, &shown)?;
        }
        Ok(())
    }

    /// Shows every file that fits, where nothing is shown yet.
    fn files(&mut self, prefix: &str, globs: &[Glob], shown: &[PathBuf]) -> Result<(), SandboxError> {
        let found = walk::files(&self.workspace, prefix, globs, shown);
        for file in found.map_err(|error| unstartable(self.job, &error))? {
            let path = self.workspace.join(file.path);
            if !self.at.contains_key(&path) && !self.is_writable(&path) {
                self.file(path, false);
            }
        }
        Ok(())
    }

    /// Whether a folder it is in may be written: what may be written may be read.
    fn is_writable(&self, path: &Path) -> bool {
        let is_it = |folder| matches!(self.at.get(folder), Some(Step::Folder { is_writable: true, .. }));
        path.ancestors().skip(1).any(is_it)
    }

    fn is_folder(&self, path: &Path) -> bool {
        matches!(self.at.get(path), Some(Step::Folder { .. }))
    }

    /// Whether a path of the workspace leads to such a thing without a link on the way.
    fn is_plain(&self, relative: impl AsRef<Path>, wanted: FileType) -> bool {
        walk::open(&self.workspace, relative.as_ref())
            .and_then(|opened| Ok(rustix::fs::fstat(&opened)?))
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == wanted)
    }

    fn written(&self) -> Vec<PathBuf> {
        let written = self.at.values().filter_map(|step| match step {
            // A rule holds for all that is below.
            Step::Folder { target, is_writable: true, .. } if !self.is_writable(target) => Some(target.clone()),
            Step::Stage { target, .. } => Some(target.clone()),
            _ => None,
        });
        written.collect()
    }

    fn into_steps(mut self) -> (Vec<Step>, Vec<Stage>) {
        for stage in &mut self.stages {
            let root = self.workspace.join(&stage.prefix);
            let covers = self.at.iter().filter(|(path, step)| {
                path.starts_with(&root)
                    && **path != root
                    && matches!(step, Step::File { .. } | Step::Folder { .. } | Step::Cover { .. })
            });
            stage
                .covered
                .extend(covers.filter_map(|(path, _)| path.strip_prefix(&self.workspace).ok().map(Path::to_path_buf)));
        }
        (self.at.into_values().collect(), self.stages)
    }
}

/// Whether a folder is another one, or in it.
fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What a path is, without following it.
fn kind(path: &Path) -> Option<FileType> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
}

#[expect(clippy::disallowed_methods, reason = "mounts are made of real paths")]
fn real(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// A path as it will really be called once it is there: what exists of it is resolved.
fn real_or_future(path: &Path) -> PathBuf {
    for known in path.ancestors() {
        if let Ok(found) = real(known) {
            return found.join(path.strip_prefix(known).unwrap_or(Path::new("")));
        }
    }
    path.to_owned()
}

/// The program that loads a program: named in an entry of its header.
fn loader(program: &Path) -> Option<PathBuf> {
    let file = rustix::fs::open(program, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = Vec::new();
    // The table of entries and the name are at the start of every real program.
    File::from(file).take(64 << 10).read_to_end(&mut bytes).ok()?;
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = bytes.get(at..at.checked_add(length)?)?;
        bytes.iter().rev().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))
    };
    // A program of 64 bits, lowest byte first.
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let entry = (0..count).filter_map(|at| table.checked_add(at * size)).find(|entry| number(*entry, 4) == Some(3))?;
    let (start, length) = (number(entry + 8, 8)?, number(entry + 32, 8)?);
    let name = bytes.get(start..start.checked_add(length)?)?.split(|byte| *byte == 0).next()?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
}

fn bad(path: &Path, error: &io::Error) -> SandboxError {
    SandboxError::Unstartable { program: path.display().to_string(), reason: error.to_string() }
}

fn unstartable(job: &Job, reason: &str) -> SandboxError {
    SandboxError::Unstartable { program: job.program.display().to_string(), reason: reason.to_owned() }
}
