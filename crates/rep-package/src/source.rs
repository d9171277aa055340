//! Loads skills from a source: a directory, an archive, an index at a URL, or a git repository. A skill is read
//! completely before it is checked.

mod comparison;
mod grammar;
mod local;
mod recorded;
mod registry;
mod repository;
mod well_known;

use std::path::Path;

use rep_library::skill_reader::{self, ReadExtent};
use rep_model::{Skill, SkillTree};

pub use comparison::{SourceComparison, SourceState, compare_with_sources};
pub use grammar::{InstallSource, RepositoryHost, RepositorySource};
pub(crate) use recorded::{RecordedSources, SourceMoment};
pub(crate) use registry::load_pulled;

use crate::atomic_dir::PackageFile;
use crate::client::SourceClient;
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::lock::InstallOrigin;
use crate::scope::InstallScope;
use crate::signature::{RecordedSignature, drop_unsigned_files};

/// The maximum number of skills from one source.
const SKILLS_MAX: usize = 1000;
/// The maximum number of names in a suggestion.
const NAMES_MAX: usize = 20;

/// A skill that can be installed.
#[derive(Clone, Debug)]
pub struct OfferedSkill {
    /// Its name, which is also a valid directory name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its files.
    pub files: Vec<PackageFile>,
    /// Its source.
    pub origin: InstallOrigin,
    /// Whether it is installed only because another skill requires it.
    pub is_dependency: bool,
    /// Its signature, once that was accepted.
    pub signature: Option<RecordedSignature>,
}

impl OfferedSkill {
    /// Creates a skill from its files. The name is the declared one, or else that of its directory.
    /// Files that a signature leaves out are dropped.
    pub(crate) fn new(
        fallback: &str,
        mut files: Vec<PackageFile>,
        origin: InstallOrigin,
    ) -> Result<Self, PackageError> {
        drop_unsigned_files(&mut files);
        let (skill, _) = Skill::parse(build_skill_tree(fallback, &files));
        let name = skill.name().unwrap_or(fallback).to_owned();
        let description =
            skill.frontmatter().and_then(rep_model::Frontmatter::description).map_or("", |text| text.value).to_owned();
        if !is_folder_name(&name) {
            let message = format!("its name `{}` is not a valid directory name", name.escape_debug());
            return Err(
                PackageError::new(PackageErrorCode::InvalidSkill, message).remedy("ask its author to rename it")
            );
        }
        Ok(Self { name, description, files, origin, is_dependency: false, signature: None })
    }

    /// Whether another skill has the same files.
    pub fn has_same_files(&self, other: &OfferedSkill) -> bool {
        files::digest_files(&self.files) == files::digest_files(&other.files)
    }

    /// Returns its files as the checks read them, in a directory with its name.
    pub fn to_skill_tree(&self) -> SkillTree {
        build_skill_tree(&self.name, &self.files)
    }

    /// Returns its files as a scan reads them.
    pub fn to_scanned_tree(&self) -> SkillTree {
        build_scanned_tree(&self.name, &self.files)
    }
}

/// The skills of a source.
#[derive(Debug)]
pub struct SourceSkills {
    /// Those that could be read, sorted by name.
    pub skills: Vec<OfferedSkill>,
    /// How many could not be read.
    pub skipped: usize,
}

/// A skill of a source, or why it cannot be read.
struct SourceMember {
    /// Its name, or that of its directory.
    name: String,
    skill: Result<OfferedSkill, PackageError>,
}

impl SourceMember {
    fn new(name: impl Into<String>, skill: Result<OfferedSkill, PackageError>) -> Self {
        Self { name: name.into(), skill }
    }
}

/// Finds a skill in a source by name. An unreadable skill with this name is an error.
fn find_member(members: Vec<SourceMember>, name: &str) -> Result<Option<OfferedSkill>, PackageError> {
    let has_name = |member: &SourceMember| match &member.skill {
        Ok(skill) => skill.name == name,
        Err(_) => member.name == name,
    };
    members.into_iter().find(has_name).map(|member| member.skill).transpose()
}

pub(crate) fn build_skill_tree(folder: &str, files: &[PackageFile]) -> SkillTree {
    build_tree(folder, files, ReadExtent::Folder)
}

/// Builds the tree that a scan reads.
pub(crate) fn build_scanned_tree(folder: &str, files: &[PackageFile]) -> SkillTree {
    build_tree(folder, files, ReadExtent::Everything)
}

fn build_tree(folder: &str, files: &[PackageFile], extent: ReadExtent) -> SkillTree {
    skill_reader::build_tree(
        folder,
        folder,
        extent,
        files.iter().map(|file| (file.path.as_str(), file.bytes(), file.is_executable)),
    )
}

/// Whether a skill's name is a valid directory name on every system. The checks decide whether it is a good name.
pub(crate) fn is_folder_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.ends_with('.')
        && name.chars().all(is_letter)
}

/// Loads the skills that a source offers, sorted by name. `wanted` are the requested names; empty means all. `warn`
/// receives a message for each skipped skill. It is an error if no skill can be read or a wanted one cannot, and if
/// content differs from its digest.
pub fn load_offered_skills(
    source: &str,
    wanted: &[String],
    scope: &InstallScope,
    client: &SourceClient,
    warn: &mut dyn FnMut(&str),
) -> Result<SourceSkills, PackageError> {
    let path = Path::new(source);
    let parsed = if path.exists() { InstallSource::Local(source.to_owned()) } else { InstallSource::parse(source)? };
    if matches!(parsed, InstallSource::Repository(_)) && is_mistyped_path(source) {
        return Err(PackageError::new(PackageErrorCode::UnknownSource, format!("`{source}` does not exist"))
            .remedy(format!("for the repository of that name, write `github:{source}`")));
    }
    if matches!(parsed, InstallSource::Local(_)) && path.exists() {
        let kind = "local".to_owned();
        client.check_origin(&InstallOrigin { kind, source: scope.portable_path(path), ..InstallOrigin::default() })?;
    }
    let mut wanted = wanted.to_vec();
    let members = match &parsed {
        InstallSource::Index(url) => well_known::load_from_index(url, &wanted, client, warn)?,
        InstallSource::Repository(repository) => {
            wanted.extend(repository.skill.clone());
            repository::load_from_repository(repository, &wanted, client, warn)?
        }
        InstallSource::Registry(reference) => registry::load_from_registry(reference, &wanted, client, warn)?,
        InstallSource::Local(_) if path.is_file() && rep_archive::is_archive_name(source) => {
            local::load_from_archive(path, scope)?
        }
        InstallSource::Local(_) if path.exists() => local::load_from_folder(path, scope, warn)?,
        InstallSource::Local(_) => return Err(unknown_source_error(source)),
    };
    if members.len() > SKILLS_MAX {
        let count = members.len();
        let message = format!("`{source}` has {count} skills; at most {SKILLS_MAX} can be installed at once");
        return Err(PackageError::new(PackageErrorCode::TooMany, message).remedy("pass a subdirectory"));
    }
    let (mut offered, mut unreadable) = (Vec::new(), Vec::new());
    for member in members {
        match member.skill {
            Ok(skill) => offered.push(skill),
            // If the content was changed, the rest of the source cannot be trusted either.
            Err(error) if error.code == PackageErrorCode::DigestMismatch => return Err(error),
            Err(error) => unreadable.push((member.name, error)),
        }
    }
    offered.sort_by(|one, two| one.name.cmp(&two.name));
    // Repositories often contain the same skill for several hosts; it counts once. Different skills with one name
    // are ambiguous.
    offered.dedup_by(|two, one| one.name == two.name && one.has_same_files(two));
    let missing = wanted.iter().find(|name| !offered.iter().any(|one| one.name == **name));
    let is_cause = |name: &str| missing.map_or(offered.is_empty(), |missing| missing == name);
    let cause = unreadable.iter().position(|(name, _)| is_cause(name)).map(|at| unreadable.swap_remove(at).1);
    if wanted.is_empty() || missing.is_some() && cause.is_none() {
        for (name, error) in &unreadable {
            warn(&format!("skipped `{}`: {error}", name.escape_debug()));
        }
    }
    if let Some(error) = cause.or_else(|| missing.map(|missing| missing_skill_error(missing, source, &offered))) {
        return Err(error);
    }
    if !wanted.is_empty() {
        offered.retain(|one| wanted.contains(&one.name));
        unreadable.clear();
    }
    if let Some(pair) = offered.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let [one, two] = [&pair[0], &pair[1]].map(|one| one.origin.skill_path.as_deref().unwrap_or("SKILL.md"));
        let message = format!("`{source}` has two skills named `{}`: {one} and {two}", pair[0].name);
        return Err(PackageError::new(PackageErrorCode::Ambiguous, message).remedy("pass the directory of one of them"));
    }
    Ok(SourceSkills { skills: offered, skipped: unreadable.len() })
}

/// Whether `owner/repo` is more likely a path, because a directory `owner` exists. A typing error in a path must not
/// install what a stranger published under that name.
fn is_mistyped_path(source: &str) -> bool {
    !source.contains(':') && source.split('/').next().is_some_and(|first| Path::new(first).is_dir())
}

/// Parses the address of an artifact in a registry.
pub fn parse_registry_reference(text: &str) -> Result<rep_net::oci::OciReference, PackageError> {
    rep_net::oci::OciReference::parse(text).map_err(|reason| {
        let message = format!("`{}`: {reason}", text.escape_debug());
        PackageError::new(PackageErrorCode::RefusedSource, message).remedy("write `oci://HOST/REPOSITORY:TAG`")
    })
}

fn unknown_source_error(source: &str) -> PackageError {
    PackageError::new(PackageErrorCode::UnknownSource, format!("`{source}` does not exist")).remedy(
        "pass a directory, a .skill, .zip or .tar.gz file, a git repository such as `owner/repo`, an artifact such as \
         `oci://HOST/REPOSITORY:TAG`, or an https URL with an index of skills",
    )
}

fn missing_skill_error(name: &str, source: &str, offered: &[OfferedSkill]) -> PackageError {
    let error = PackageError::new(PackageErrorCode::SkillNotFound, format!("`{source}` has no skill `{name}`"));
    let names: Vec<&str> = offered.iter().map(|one| one.name.as_str()).take(NAMES_MAX).collect();
    if names.is_empty() { error } else { error.remedy(format!("its skills are: {}", names.join(", "))) }
}

fn open_archive(bytes: &[u8], shown: &str) -> Result<(Vec<rep_archive::ArchiveEntry>, Option<String>), PackageError> {
    rep_archive::open(bytes).map_err(|error| {
        PackageError::new(PackageErrorCode::InvalidArchive, format!("could not open `{shown}`: {error}"))
    })
}

fn no_manifest_error(shown: &str) -> PackageError {
    PackageError::new(PackageErrorCode::NotASkill, format!("`{shown}` does not contain a SKILL.md"))
}
