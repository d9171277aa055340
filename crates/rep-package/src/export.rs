//! Skills in the shape of a host: read and checked, projected, and written as whole folders.

use std::path::{Path, PathBuf};

use rep_check::{Level, Options, Profile, check, tools};
use rep_hosts::{Form, HOSTS, Host, Loss, Made, MadeContent, Projection, Source, Takes, Wanted, Weight, hosts};
use rep_library::{CatalogEntry, read};
use rep_model::suggestion::nearest_name;
use rep_model::{Content, Entry, Skill, SkillTree};
use rep_storage::WriteError;
use rep_storage::atomic;
use serde_json::Value;

use crate::error::{PackageError, PackageErrorCode};
use crate::files;
use crate::install::counted;
use crate::place::{Bytes, Existing, PlaceError, Placed, place};

/// The largest file that goes into an archive.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A skill that is exported.
#[derive(Debug)]
pub struct ExportSource {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The skill.
    pub skill: Skill,
    /// Its effective tools.
    pub tools: Vec<Value>,
}

impl ExportSource {
    /// Reads and checks a skill: one with errors is not exported. `word` is what the user calls it.
    pub fn load(entry: &CatalogEntry, word: &str) -> Result<Self, PackageError> {
        let shown = entry.folder.to_string_lossy().into_owned();
        let (skill, faults) = Skill::parse(read::folder(&entry.folder, &shown, read::Extent::Folder)?);
        let mut errors = check(&skill, faults, &Options::default()).findings;
        errors.retain(|finding| finding.level == Level::Error);
        if let Some(first) = errors.first() {
            let message = format!("`{word}` has {} and is not exported: {}", counted(errors.len()), first.message);
            return Err(PackageError::new(PackageErrorCode::InvalidSkill, message)
                .remedy(format!("`rep check {shown}` shows them all")));
        }
        let name = skill.name().unwrap_or(&entry.name).to_owned();
        let tools = tools::effective_tools(&skill).tools;
        Ok(Self { name, folder: entry.folder.clone(), skill, tools })
    }
}

/// The host of a name.
pub fn find_host(name: &str) -> Result<&'static Host, PackageError> {
    Host::named(name).ok_or_else(|| {
        let error = PackageError::new(PackageErrorCode::UnknownHost, format!("there is no host `{name}`"));
        error.remedy(match nearest_name(name, HOSTS.iter().map(|host| host.id)) {
            Some(near) => format!("did you mean `{near}`? `rep hosts` lists them"),
            None => "`rep hosts` lists them".to_owned(),
        })
    })
}

/// Skills in the shape of a host, not written yet.
#[derive(Debug)]
pub struct Export {
    /// The host.
    pub host: &'static Host,
    /// The shape, and what it loses.
    pub projection: Projection,
    sources: Vec<ExportSource>,
}

/// Where an export is written, and how.
#[derive(Clone, Debug)]
pub struct ExportTarget {
    /// The folder.
    pub folder: PathBuf,
    /// What happens to what is there.
    pub existing: Existing,
    /// The name of a collection, which is the name of its folder.
    pub collection: String,
    /// Whether each skill is written as a zip too.
    pub is_zipped: bool,
}

/// Why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A folder could not be made.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A zip could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

impl Export {
    /// Projects skills into the shape of a host. What goes to an upload is checked by the rules of the host it is for.
    pub fn new(host: &'static Host, sources: Vec<ExportSource>, wanted: &Wanted) -> Result<Self, PackageError> {
        for (at, one) in sources.iter().enumerate() {
            if let Some(other) = sources[..at].iter().find(|other| other.name == one.name) {
                let (first, second) = (other.folder.display(), one.folder.display());
                let message = format!("`{first}` and `{second}` are both called `{}`", one.name);
                return Err(PackageError::new(PackageErrorCode::Duplicate, message).remedy("export them one by one"));
            }
        }
        let views: Vec<Source<'_>> =
            sources.iter().map(|one| Source { name: &one.name, skill: &one.skill, tools: &one.tools }).collect();
        let projection = host.project(&views, wanted);
        let mut export = Self { host, projection, sources };
        if host.takes == Takes::Upload {
            export.check_upload();
        }
        Ok(export)
    }

    /// Checks what would be uploaded; an error refuses it.
    fn check_upload(&mut self) {
        let Form::Folder(files) = &self.projection.form else { return };
        let Some(profile) = Profile::named(self.host.id) else { return };
        let options = Options { profiles: vec![profile], ..Options::default() };
        let mut losses = Vec::new();
        for one in &self.sources {
            let (skill, faults) = Skill::parse(projected_tree(one, files));
            for finding in check(&skill, faults, &options).findings {
                if finding.level == Level::Error {
                    let at = format!("{}/{}", one.name, finding.rule.name);
                    let loss = Loss::new(Weight::Refused, at, finding.message.clone());
                    losses.push(loss.help(finding.help.clone()));
                }
            }
        }
        self.projection.losses.extend(losses);
    }

    /// The request that attaches uploaded skills, for a host that takes uploads.
    pub fn request(&self) -> Option<Value> {
        (self.host.takes == Takes::Upload).then(|| {
            let names: Vec<String> = self.sources.iter().map(|one| format!("<id of {}>", one.name)).collect();
            hosts::request(&names.iter().map(String::as_str).collect::<Vec<&str>>())
        })
    }

    /// Writes the folders of an export, each as a whole. Returns what was written; nothing for one that is a document.
    pub fn write(&self, target: &ExportTarget) -> Result<Vec<PathBuf>, ExportError> {
        let Form::Folder(files) = &self.projection.form else { return Ok(Vec::new()) };
        if self.host.id == "well-known" {
            return Ok(vec![self.write_index(files, target)?]);
        }
        if self.host.takes == Takes::Collection {
            let all: Vec<Placed> = files.iter().map(|file| self.placed(file, &file.path)).collect();
            let folder = target.folder.join(&target.collection);
            write_folder(&all, &folder, target.existing)?;
            return Ok(vec![folder]);
        }
        let mut written = Vec::new();
        for one in &self.sources {
            let below = format!("{}/", one.name);
            let own = files.iter().filter_map(|file| Some(self.placed(file, file.path.strip_prefix(&below)?)));
            let folder = target.folder.join(&one.name);
            write_folder(&own.collect::<Vec<Placed>>(), &folder, target.existing)?;
            written.push(folder);
            if target.is_zipped {
                let packed = rep_archive::write_zip(&self.contents(files, &below, &below)?);
                let bytes = packed.map_err(|error| unpackable(&one.name, &error))?;
                let file = target.folder.join(format!("{}.zip", one.name));
                let existing = match target.existing {
                    Existing::Refuse => atomic::Existing::Keep,
                    Existing::Replace => atomic::Existing::Replace,
                };
                atomic::write(&file, &bytes, existing)?;
                written.push(file);
            }
        }
        Ok(written)
    }

    fn placed(&self, file: &Made, path: &str) -> Placed {
        let content = match &file.content {
            MadeContent::Bytes(bytes) => Bytes::Here(bytes.clone()),
            MadeContent::Same(index, from) => Bytes::Of(self.sources[*index].folder.join(from)),
        };
        Placed { path: path.to_owned(), content, is_executable: file.is_executable }
    }

    /// The files of one skill with their bytes, each below a folder.
    fn contents(&self, files: &[Made], own: &str, below: &str) -> Result<Vec<(String, Vec<u8>, bool)>, PackageError> {
        let mut found = Vec::new();
        for file in files {
            let Some(path) = file.path.strip_prefix(own) else { continue };
            let bytes = match &file.content {
                MadeContent::Bytes(bytes) => bytes.clone(),
                MadeContent::Same(index, from) => read::bytes(&self.sources[*index].folder.join(from), FILE_BYTES_MAX)?,
            };
            found.push((format!("{below}{path}"), bytes, file.is_executable));
        }
        found.sort_by(|one, two| one.0.cmp(&two.0));
        Ok(found)
    }

    /// Writes the index of skills and what it names: an archive each, or the SKILL.md alone.
    fn write_index(&self, files: &[Made], target: &ExportTarget) -> Result<PathBuf, PackageError> {
        let (mut all, mut index) = (Vec::new(), Vec::new());
        for one in &self.sources {
            let held = self.contents(files, &format!("{}/", one.name), "")?;
            let is_archive = held.len() > 1;
            let (path, bytes) = if is_archive {
                let bytes = rep_archive::write_tar_gz(&held).map_err(|error| unpackable(&one.name, &error))?;
                (format!("{}.tar.gz", one.name), bytes)
            } else {
                let bytes = held.into_iter().next().map(|(_, bytes, _)| bytes).unwrap_or_default();
                (format!("{}/SKILL.md", one.name), bytes)
            };
            let front = one.skill.front();
            let description = front.and_then(rep_model::Frontmatter::description).map_or("", |text| text.value);
            let digest = files::digest_of(&bytes);
            index.push(hosts::Published { name: &one.name, description, url: path.clone(), is_archive, digest });
            all.push(Placed { path, content: Bytes::Here(bytes), is_executable: false });
        }
        let content = Bytes::Here(format!("{:#}\n", hosts::index(&index)).into_bytes());
        all.push(Placed { path: "index.json".to_owned(), content, is_executable: false });
        let folder = target.folder.join(".well-known/agent-skills");
        write_folder(&all, &folder, target.existing)?;
        Ok(folder)
    }
}

/// A skill as it would be uploaded.
fn projected_tree(one: &ExportSource, files: &[Made]) -> SkillTree {
    let below = format!("{}/", one.name);
    let mut tree = SkillTree { shown: one.name.clone(), folder: one.name.clone(), ..SkillTree::default() };
    for file in files {
        let Some(path) = file.path.strip_prefix(&below) else { continue };
        let entry = match &file.content {
            MadeContent::Bytes(bytes) => Entry::File {
                size_bytes: bytes.len() as u64,
                is_executable: file.is_executable,
                content: Content::Bytes(bytes.clone()),
            },
            MadeContent::Same(_, from) => match one.skill.tree.entries.get(from) {
                Some(entry) => entry.clone(),
                None => continue,
            },
        };
        tree.entries.insert(path.to_owned(), entry);
    }
    tree
}

fn unpackable(name: &str, error: &std::io::Error) -> PackageError {
    PackageError::new(PackageErrorCode::Unwritable, format!("`{name}`: {error}"))
}

fn write_folder(files: &[Placed], folder: &Path, existing: Existing) -> Result<(), PackageError> {
    place(files, folder, existing).map_err(|error| {
        let code = match error {
            PlaceError::Exists(_) => PackageErrorCode::TargetExists,
            PlaceError::Unfit { .. } | PlaceError::Failed { .. } => PackageErrorCode::Unwritable,
        };
        PackageError::new(code, error.to_string())
    })
}
