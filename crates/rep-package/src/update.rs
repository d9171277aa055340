//! Finds what the sources of installed skills have now, and what would change.

use std::collections::BTreeMap;

use rep_library::decisions::{SkillFileChange, SkillFileState};

use crate::atomic_dir::PackageFile;
use crate::capabilities::{AddedCapability, SkillCapabilities};
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::lock::InstalledSkill;
use crate::scope::InstallScope;
use crate::source::{OfferedSkill, RecordedSources, SourceMoment};

/// The maximum size of a file whose text is compared.
const TEXT_BYTES_MAX: usize = 128 << 10;

/// An installed skill, and what its source has now.
#[derive(Clone, Debug)]
pub struct SkillUpdate {
    /// Its name.
    pub name: String,
    /// Its source: a URL, or a path as in the lock file.
    pub source: String,
    /// What its source has.
    pub state: UpdateState,
}

/// What the source of an installed skill has.
#[derive(Clone, Debug)]
pub enum UpdateState {
    /// The installed content.
    Current,
    /// Other content.
    Available(Box<AvailableUpdate>),
    /// It is pinned, so its source was not read.
    Pinned,
    /// Its source no longer has it.
    Gone,
    /// Its source could not be read.
    Unknown(PackageError),
}

/// Other content of an installed skill.
#[derive(Clone, Debug)]
pub struct AvailableUpdate {
    /// The skill, as its source has it.
    pub offered: OfferedSkill,
    /// What differs from the recorded content.
    pub changes: Vec<SkillFileChange>,
    /// The revisions before and after, if the source has any.
    pub revisions: Option<(String, String)>,
    /// What the new code needs, and the installed code does not.
    pub added: Vec<AddedCapability>,
}

impl UpdateState {
    /// Returns the name in JSON results.
    pub const fn as_str(&self) -> &'static str {
        match self {
            UpdateState::Current => "current",
            UpdateState::Available(_) => "available",
            UpdateState::Pinned => "pinned",
            UpdateState::Gone => "gone",
            UpdateState::Unknown(_) => "unknown",
        }
    }
}

/// Compares the named installed skills, or all, with their sources. Pinned skills are not compared.
pub fn find_updates(
    names: &[String],
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<Vec<SkillUpdate>, PackageError> {
    let lock = scope.read_lock_file()?;
    let all = if names.is_empty() { lock.skill_names() } else { names.to_vec() };
    let mut updates = Vec::with_capacity(all.len());
    for name in all {
        let skill = scope.find_installed(&lock, &name)?;
        let state = if skill.is_pinned { UpdateState::Pinned } else { find_update(&name, &skill, scope, client, warn) };
        let source = skill.origin.url.unwrap_or(skill.origin.source);
        updates.push(SkillUpdate { name, source, state });
    }
    Ok(updates)
}

fn find_update(
    name: &str,
    skill: &InstalledSkill,
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> UpdateState {
    let sources = RecordedSources { scope, client };
    let mut offered = match sources.load(name, &skill.origin, SourceMoment::Newest, warn) {
        Ok(Some(offered)) => offered,
        Ok(None) => return UpdateState::Gone,
        Err(error) if error.code == PackageErrorCode::NotASkill => return UpdateState::Gone,
        Err(error) => return UpdateState::Unknown(error),
    };
    offered.is_dependency = skill.is_dependency;
    let is_same = if skill.is_foreign {
        files::compute_npm_hash(&offered.files) == skill.computed_hash
    } else {
        files::digest_files(&offered.files) == skill.digest
    };
    if is_same {
        return UpdateState::Current;
    }
    let before = scope.read_installed_files(name, skill).or_else(|| client.content().load(&skill.digest));
    let revision = |origin: &crate::lock::InstallOrigin| origin.manifest.clone().or_else(|| origin.commit.clone());
    let revisions = revision(&skill.origin).zip(revision(&offered.origin)).filter(|(old, new)| old != new);
    let changes = list_changes(skill, before.as_deref(), &offered.files);
    let after = SkillCapabilities::from_tree(offered.to_scanned_tree());
    let added = scope.known_capabilities(name, skill).added_in(&after);
    UpdateState::Available(Box::new(AvailableUpdate { offered, changes, revisions, added }))
}

/// Lists the files that differ from the recorded ones. Without the recorded content, only digests are known.
fn list_changes(skill: &InstalledSkill, before: Option<&[PackageFile]>, after: &[PackageFile]) -> Vec<SkillFileChange> {
    let fingerprints = |marks: &BTreeMap<String, String>| -> BTreeMap<String, SkillFileState> {
        marks.iter().map(|(path, mark)| (path.clone(), SkillFileState::Fingerprint(mark.clone()))).collect()
    };
    let states = |found: &[PackageFile]| found.iter().map(|file| (file.path.clone(), file_state(file))).collect();
    let marks_after = files::digest_each_file(after);
    let texts: BTreeMap<String, SkillFileState> = before.map(states).unwrap_or_default();
    let old = fingerprints(&skill.files);
    let new: BTreeMap<String, SkillFileState> = states(after);
    let mut paths: Vec<&String> = old.keys().chain(new.keys()).collect();
    paths.sort();
    paths.dedup();
    let is_changed = |path: &&String| skill.files.get(*path) != marks_after.get(*path);
    let change = |path: &String| SkillFileChange {
        path: path.clone(),
        before: texts.get(path).or_else(|| old.get(path)).cloned(),
        after: new.get(path).cloned(),
    };
    paths.into_iter().filter(is_changed).map(change).collect()
}

fn file_state(file: &PackageFile) -> SkillFileState {
    let text =
        std::str::from_utf8(file.bytes()).ok().filter(|text| text.len() <= TEXT_BYTES_MAX && !text.contains('\0'));
    let kind = if file.is_executable { "executable" } else { "file" };
    let mark = || format!("{kind} {}", files::digest_bytes(file.bytes()));
    text.map_or_else(|| SkillFileState::Fingerprint(mark()), |text| SkillFileState::Text(text.to_owned()))
}

/// Whether updates skip a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinChange {
    /// Updates skip it from now on.
    Pin,
    /// Updates include it again.
    Unpin,
}

/// Pins skills to what is installed, or releases them. Returns the names that changed.
pub fn change_pins(names: &[String], change: PinChange, scope: &InstallScope) -> Result<Vec<String>, PackageError> {
    let turn = scope.acquire_lock()?;
    let mut lock = scope.read_lock_file()?;
    let mut changed = Vec::new();
    for name in names {
        let mut skill = scope.find_installed(&lock, name)?;
        if skill.is_foreign {
            let message = format!("`{name}` was installed by another tool, which does not know pins");
            return Err(PackageError::new(PackageErrorCode::NotOurs, message).remedy("install it with rep first"));
        }
        let is_pinned = change == PinChange::Pin;
        if skill.is_pinned != is_pinned {
            skill.is_pinned = is_pinned;
            lock.insert_skill(name, &skill);
            changed.push(name.clone());
        }
    }
    if !changed.is_empty() {
        turn.apply_steps(&[], Some(&lock.to_json_text()))?;
    }
    Ok(changed)
}
