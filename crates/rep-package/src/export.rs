//! Exports skills in a host's format: reads, checks and projects them, and writes whole directories.

use std::path::{Path, PathBuf};

use rep_check::{CheckOptions, Level, Profile, check_skill, tools};
use rep_hosts::hosts::UploadedSkill;
use rep_hosts::{
    HOSTS, HostInput, Loss, LossSeverity, ProjectedContent, ProjectedFile, Projection, ProjectionHost,
    ProjectionOptions, ProjectionOutput, ProjectionSource, hosts,
};
use rep_library::{CatalogEntry, skill_reader};
use rep_model::suggestion::nearest_name;
use rep_model::{FileContent, Skill, SkillTree, TreeEntry};
use rep_storage::WriteError;
use rep_storage::atomic;
use serde_json::Value;

use crate::atomic_dir::{AtomicDirError, OnExistingFolder, PackageFile, PackageFileContent, write_folder_atomically};
use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::install::format_error_count;

/// The maximum size of a file in an archive.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A skill to export.
#[derive(Debug)]
pub struct ExportSource {
    /// Its name.
    pub name: String,
    /// Its directory.
    pub folder: PathBuf,
    /// The skill.
    pub skill: Skill,
    /// Its effective tools.
    pub tools: Vec<Value>,
}

impl ExportSource {
    /// Reads and checks a skill. A skill with errors is not exported. `word` is how the user named it.
    pub fn load(entry: &CatalogEntry, word: &str) -> Result<Self, PackageError> {
        let shown = entry.folder.to_string_lossy().into_owned();
        let (skill, faults) =
            Skill::parse(skill_reader::read_folder(&entry.folder, &shown, skill_reader::ReadExtent::Folder)?);
        let mut errors = check_skill(&skill, faults, &CheckOptions::default()).findings;
        errors.retain(|finding| finding.level == Level::Error);
        if let Some(first) = errors.first() {
            let message =
                format!("`{word}` has {} and is not exported: {}", format_error_count(errors.len()), first.message);
            return Err(PackageError::new(PackageErrorCode::InvalidSkill, message)
                .remedy(format!("run `rep check {shown}` to see all errors")));
        }
        let name = skill.name().unwrap_or(&entry.name).to_owned();
        let tools = tools::effective_tools(&skill).tools;
        Ok(Self { name, folder: entry.folder.clone(), skill, tools })
    }
}

/// Finds a host by name.
pub fn find_host(name: &str) -> Result<&'static ProjectionHost, PackageError> {
    ProjectionHost::find(name).ok_or_else(|| {
        let error = PackageError::new(PackageErrorCode::UnknownHost, format!("unknown host `{name}`"));
        error.remedy(match nearest_name(name, HOSTS.iter().map(|host| host.id)) {
            Some(near) => format!("did you mean `{near}`? run `rep hosts` to see all hosts"),
            None => "run `rep hosts` to see all hosts".to_owned(),
        })
    })
}

/// Skills in a host's format, before they are written.
#[derive(Debug)]
pub struct Export {
    /// The host.
    pub host: &'static ProjectionHost,
    /// The projected files, and the losses.
    pub projection: Projection,
    sources: Vec<ExportSource>,
}

/// Where and how to write an export.
#[derive(Clone, Debug)]
pub struct ExportTarget {
    /// The target directory.
    pub folder: PathBuf,
    /// What to do with existing directories.
    pub existing: OnExistingFolder,
    /// The name of a collection, which is also the name of its directory.
    pub collection: String,
    /// Whether to write each skill as a zip too.
    pub is_zipped: bool,
}

/// The reason why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A directory could not be written.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A zip could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

impl Export {
    /// Projects skills into a host's format. Skills for uploads are checked with the host's rules.
    pub fn new(
        host: &'static ProjectionHost,
        sources: Vec<ExportSource>,
        wanted: &ProjectionOptions,
    ) -> Result<Self, PackageError> {
        for (at, one) in sources.iter().enumerate() {
            if let Some(other) = sources[..at].iter().find(|other| other.name == one.name) {
                let (first, second) = (other.folder.display(), one.folder.display());
                let message = format!("`{first}` and `{second}` have the same name `{}`", one.name);
                return Err(PackageError::new(PackageErrorCode::Duplicate, message).remedy("export them separately"));
            }
        }
        let views: Vec<ProjectionSource<'_>> = sources
            .iter()
            .map(|one| ProjectionSource { name: &one.name, skill: &one.skill, tools: &one.tools })
            .collect();
        let projection = host.project_skills(&views, wanted);
        let mut export = Self { host, projection, sources };
        if host.takes == HostInput::Upload {
            export.check_upload();
        }
        Ok(export)
    }

    /// Checks the skills as they would be uploaded. An error refuses the export.
    fn check_upload(&mut self) {
        let ProjectionOutput::Folder(files) = &self.projection.form else { return };
        let Some(profile) = Profile::from_name(self.host.id) else { return };
        let options = CheckOptions { profiles: vec![profile], ..CheckOptions::default() };
        let mut losses = Vec::new();
        for one in &self.sources {
            let (skill, faults) = Skill::parse(build_projected_tree(one, files));
            for finding in check_skill(&skill, faults, &options).findings {
                if finding.level == Level::Error {
                    let at = format!("{}/{}", one.name, finding.rule.name);
                    let loss = Loss::new(LossSeverity::Refused, at, finding.message.clone());
                    losses.push(loss.help(finding.help.clone()));
                }
            }
        }
        self.projection.losses.extend(losses);
    }

    /// Builds the request that uses the uploaded skills, for a host that takes uploads.
    pub fn build_upload_request(&self) -> Option<Value> {
        (self.host.takes == HostInput::Upload).then(|| {
            let names: Vec<String> = self.sources.iter().map(|one| format!("<id of {}>", one.name)).collect();
            hosts::build_attachment_request(&names.iter().map(String::as_str).collect::<Vec<&str>>())
        })
    }

    /// Describes all calls from the upload to the download of results, for a host that takes uploads.
    pub fn describe_upload_calls(&self) -> Option<Value> {
        (self.host.takes == HostInput::Upload).then(|| hosts::describe_upload_calls(&self.list_uploaded_skills()))
    }

    /// Renders all calls from the upload to the download of results as a script, for a host that takes uploads.
    pub fn render_upload_script(&self) -> Option<String> {
        (self.host.takes == HostInput::Upload).then(|| hosts::render_upload_script(&self.list_uploaded_skills()))
    }

    fn list_uploaded_skills(&self) -> Vec<UploadedSkill<'_>> {
        let ProjectionOutput::Folder(files) = &self.projection.form else { return Vec::new() };
        let files_of = |name: &str| {
            let below = format!("{name}/");
            files.iter().map(|file| file.path.as_str()).filter(|path| path.starts_with(&below)).collect()
        };
        self.sources.iter().map(|one| UploadedSkill { name: &one.name, files: files_of(&one.name) }).collect()
    }

    /// Writes the directories of an export, each atomically. Returns the written paths; empty if the export is a
    /// document.
    pub fn write_folders(&self, target: &ExportTarget) -> Result<Vec<PathBuf>, ExportError> {
        let ProjectionOutput::Folder(files) = &self.projection.form else { return Ok(Vec::new()) };
        if self.host.id == "well-known" {
            return Ok(vec![self.write_index(files, target)?]);
        }
        if self.host.takes == HostInput::Collection {
            let all: Vec<PackageFile> = files.iter().map(|file| self.to_package_file(file, &file.path)).collect();
            let folder = target.folder.join(&target.collection);
            write_folder(&all, &folder, target.existing)?;
            return Ok(vec![folder]);
        }
        let mut written = Vec::new();
        for one in &self.sources {
            let below = format!("{}/", one.name);
            let own = files.iter().filter_map(|file| Some(self.to_package_file(file, file.path.strip_prefix(&below)?)));
            let folder = target.folder.join(&one.name);
            write_folder(&own.collect::<Vec<PackageFile>>(), &folder, target.existing)?;
            written.push(folder);
            if target.is_zipped {
                let packed = rep_archive::write_zip(&self.read_contents(files, &below, &below)?);
                let bytes = packed.map_err(|error| packing_error(&one.name, &error))?;
                let file = target.folder.join(format!("{}.zip", one.name));
                let existing = match target.existing {
                    OnExistingFolder::Refuse => atomic::OnExistingFile::Keep,
                    OnExistingFolder::Replace => atomic::OnExistingFile::Replace,
                };
                atomic::write_file(&file, &bytes, existing)?;
                written.push(file);
            }
        }
        Ok(written)
    }

    fn to_package_file(&self, file: &ProjectedFile, path: &str) -> PackageFile {
        let content = match &file.content {
            ProjectedContent::Bytes(bytes) => PackageFileContent::InMemory(bytes.clone()),
            ProjectedContent::FromSource(index, from) => {
                PackageFileContent::CopyOf(self.sources[*index].folder.join(from))
            }
        };
        PackageFile { path: path.to_owned(), content, is_executable: file.is_executable }
    }

    /// Reads the files of one skill, each below a directory.
    fn read_contents(
        &self,
        files: &[ProjectedFile],
        own: &str,
        below: &str,
    ) -> Result<Vec<(String, Vec<u8>, bool)>, PackageError> {
        let mut found = Vec::new();
        for file in files {
            let Some(path) = file.path.strip_prefix(own) else { continue };
            let bytes = match &file.content {
                ProjectedContent::Bytes(bytes) => bytes.clone(),
                ProjectedContent::FromSource(index, from) => {
                    skill_reader::read_bytes(&self.sources[*index].folder.join(from), FILE_BYTES_MAX)?
                }
            };
            found.push((format!("{below}{path}"), bytes, file.is_executable));
        }
        found.sort_by(|one, two| one.0.cmp(&two.0));
        Ok(found)
    }

    /// Writes the index of skills, and for each skill an archive or its SKILL.md.
    fn write_index(&self, files: &[ProjectedFile], target: &ExportTarget) -> Result<PathBuf, PackageError> {
        let (mut all, mut index) = (Vec::new(), Vec::new());
        for one in &self.sources {
            let held = self.read_contents(files, &format!("{}/", one.name), "")?;
            let is_archive = held.len() > 1;
            let (path, bytes) = if is_archive {
                let bytes = rep_archive::write_tar_gz(&held).map_err(|error| packing_error(&one.name, &error))?;
                (format!("{}.tar.gz", one.name), bytes)
            } else {
                let bytes = held.into_iter().next().map(|(_, bytes, _)| bytes).unwrap_or_default();
                (format!("{}/SKILL.md", one.name), bytes)
            };
            let front = one.skill.frontmatter();
            let description = front.and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
            let digest = files::digest_bytes(&bytes);
            index.push(hosts::WellKnownIndexEntry {
                name: &one.name,
                description,
                url: path.clone(),
                is_archive,
                digest,
            });
            all.push(PackageFile { path, content: PackageFileContent::InMemory(bytes), is_executable: false });
        }
        let content =
            PackageFileContent::InMemory(format!("{:#}\n", hosts::build_well_known_index(&index)).into_bytes());
        all.push(PackageFile { path: "index.json".to_owned(), content, is_executable: false });
        let folder = target.folder.join(".well-known/agent-skills");
        write_folder(&all, &folder, target.existing)?;
        Ok(folder)
    }
}

/// Builds a skill as it would be uploaded.
fn build_projected_tree(one: &ExportSource, files: &[ProjectedFile]) -> SkillTree {
    let below = format!("{}/", one.name);
    let mut tree = SkillTree { display_root: one.name.clone(), folder: one.name.clone(), ..SkillTree::default() };
    for file in files {
        let Some(path) = file.path.strip_prefix(&below) else { continue };
        let entry = match &file.content {
            ProjectedContent::Bytes(bytes) => TreeEntry::File {
                size_bytes: bytes.len() as u64,
                is_executable: file.is_executable,
                content: FileContent::Bytes(bytes.clone()),
            },
            ProjectedContent::FromSource(_, from) => match one.skill.tree.entries.get(from) {
                Some(entry) => entry.clone(),
                None => continue,
            },
        };
        tree.entries.insert(path.to_owned(), entry);
    }
    tree
}

fn packing_error(name: &str, error: &std::io::Error) -> PackageError {
    PackageError::new(PackageErrorCode::Unwritable, format!("`{name}`: {error}"))
}

fn write_folder(files: &[PackageFile], folder: &Path, existing: OnExistingFolder) -> Result<(), PackageError> {
    write_folder_atomically(files, folder, existing).map_err(|error| {
        let code = match error {
            AtomicDirError::Exists(_) => PackageErrorCode::TargetExists,
            AtomicDirError::Unsupported { .. } | AtomicDirError::Failed { .. } => PackageErrorCode::Unwritable,
        };
        PackageError::new(code, error.to_string())
    })
}
