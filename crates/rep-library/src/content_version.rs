//! Computes the content version of a UASP file on disk, compares it with the declared version, and stores it.

use std::path::{Path, PathBuf};

use rep_model::uasp::{FILE_SUFFIX, UaspView, VERSION_DIGITS, store_version};
use rep_model::yaml::YamlNode;
use rep_model::{Fault, FaultKind, Skill, SkillTree, SourceText, Span, content_hash};
use rep_storage::{WriteError, atomic};

use crate::LibraryError;
use crate::discovery::{self, SkillLocation};
use crate::skill_reader::{self, ReadExtent};

/// The reason a file has no content version, as a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentVersionCode {
    /// The path contains several skills, or none.
    Ambiguous,
    /// The file is not valid YAML.
    InvalidYaml,
    /// The content cannot be hashed.
    NotHashable,
    /// The version cannot be stored without changing the content.
    NotStored,
    /// The path has no UASP file.
    NotUasp,
    /// The file cannot be read.
    Unreadable,
}

impl ContentVersionCode {
    /// Returns the code used in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            ContentVersionCode::Ambiguous => "AMBIGUOUS",
            ContentVersionCode::InvalidYaml => "INVALID_YAML",
            ContentVersionCode::NotHashable => "NOT_HASHABLE",
            ContentVersionCode::NotStored => "NOT_STORED",
            ContentVersionCode::NotUasp => "NOT_UASP",
            ContentVersionCode::Unreadable => "UNREADABLE",
        }
    }
}

/// The reason a content version is missing or was not stored.
#[derive(Debug, thiserror::Error)]
pub enum ContentVersionError {
    /// The path could not be read.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The file could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The file cannot have a content version.
    #[error("{message}")]
    Unfit {
        /// The code.
        code: ContentVersionCode,
        /// The message, with the location.
        message: String,
        /// The remedy.
        help: Option<String>,
    },
}

fn unfit_error(code: ContentVersionCode, message: String) -> ContentVersionError {
    ContentVersionError::Unfit { code, message, help: None }
}

fn unfit_error_with_help(code: ContentVersionCode, message: String, help: impl Into<String>) -> ContentVersionError {
    ContentVersionError::Unfit { code, message, help: Some(help.into()) }
}

/// A UASP file and the version of its content.
pub struct VersionedFile {
    /// The path for display.
    pub shown: String,
    /// The full SHA-256 of the content.
    pub sha256: String,
    /// The version that the file declares.
    pub declared: Option<String>,
    path: PathBuf,
    source: SourceText,
    root: YamlNode,
}

impl VersionedFile {
    /// Loads the UASP file at a path: a YAML file with any name, or a directory that contains one skill.
    pub fn load(path: &Path) -> Result<Self, ContentVersionError> {
        let (path, tree) = locate_file(path)?;
        let shown = discovery::display_path(&path);
        let (mut skill, faults) = Skill::parse(tree);
        check_readable(&shown, &skill, &faults)?;
        let Some(file) = skill.uasp.pop() else {
            let message = format!("`{shown}` has no `*{FILE_SUFFIX}`");
            return Err(unfit_error_with_help(ContentVersionCode::NotUasp, message, "pass the path of the file"));
        };
        let Some(root) = file.root else {
            let (message, help) = (format!("`{shown}` is not valid YAML"), format!("run `rep check {shown}`"));
            return Err(unfit_error_with_help(ContentVersionCode::InvalidYaml, message, help));
        };
        let sha256 = content_hash::hash_content(&root).map_err(|fault| {
            let message = format!("{}: {}", render_place(&shown, &file.source, fault.span), fault.message);
            unfit_error_with_help(ContentVersionCode::NotHashable, message, fault.help)
        })?;
        let declared = UaspView(&root).version().map(|version| version.value.to_owned());
        Ok(Self { shown, sha256, declared, path, source: file.source, root })
    }

    /// Returns the computed version of the content.
    pub fn computed_version(&self) -> &str {
        &self.sha256[..VERSION_DIGITS]
    }

    /// Returns whether the declared version matches the content.
    pub fn is_current(&self) -> bool {
        self.declared.as_deref() == Some(self.computed_version())
    }

    /// Stores the computed version in the file.
    pub fn store_version(&self) -> Result<(), ContentVersionError> {
        let Some(text) = store_version(&self.source, &self.root, &self.sha256) else {
            let message = format!("storing the version in `{}` would change its content", self.shown);
            let help = "write `version` as a quoted string without an anchor or a tag";
            return Err(unfit_error_with_help(ContentVersionCode::NotStored, message, help));
        };
        Ok(atomic::update_file(&self.path, self.source.text().as_bytes(), text.as_bytes())?)
    }
}

fn render_place(shown: &str, source: &SourceText, span: Span) -> String {
    let position = source.position_at(span.start);
    format!("{shown}:{}:{}", position.line, position.column)
}

/// Finds the UASP file at a path, and the tree that contains it.
fn locate_file(path: &Path) -> Result<(PathBuf, SkillTree), ContentVersionError> {
    // Any YAML file can be hashed, regardless of its name.
    if path.is_file() {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = if name.ends_with(FILE_SUFFIX) { name } else { format!("{name}{FILE_SUFFIX}") };
        let entry = skill_reader::read_lone_file(path, &discovery::display_path(path)).entries.into_values().next();
        let mut tree = SkillTree { is_lone_file: true, ..SkillTree::default() };
        tree.entries.extend(entry.map(|entry| (file, entry)));
        return Ok((path.to_owned(), tree));
    }
    let mut found: Vec<SkillLocation> = Vec::new();
    discovery::find_skills(path, |skill| found.push(skill))?;
    let [only] = found.as_slice() else {
        let message = format!("`{}` contains {} skills", discovery::display_path(path), found.len());
        return Err(unfit_error_with_help(
            ContentVersionCode::Ambiguous,
            message,
            format!("pass the path of the `*{FILE_SUFFIX}` file"),
        ));
    };
    let tree = only.read(ReadExtent::Folder)?;
    let file = tree.entries.keys().find(|file| file.ends_with(FILE_SUFFIX) && !file.contains('/'));
    let path = match file.filter(|_| !only.is_lone_file) {
        Some(file) => only.path.join(file),
        None => only.path.clone(),
    };
    Ok((path, tree))
}

fn check_readable(shown: &str, skill: &Skill, faults: &[Fault]) -> Result<(), ContentVersionError> {
    let is_broken =
        |kind: FaultKind| kind.is_yaml_fault() && !matches!(kind, FaultKind::YamlAnchor | FaultKind::YamlTag);
    if let Some(fault) = faults.iter().find(|fault| is_broken(fault.kind)) {
        let source = skill.find_source(&fault.file);
        let place = source.map_or_else(|| shown.to_owned(), |source| render_place(shown, source, fault.span));
        let message = format!("{place}: {}", fault.message);
        return Err(unfit_error_with_help(ContentVersionCode::InvalidYaml, message, fault.help.clone()));
    }
    let unreadable =
        [FaultKind::EncodingNotUtf8, FaultKind::FileIrregular, FaultKind::FileTooLarge, FaultKind::FileUnreadable];
    match faults.iter().find(|fault| unreadable.contains(&fault.kind)) {
        Some(fault) => Err(unfit_error(ContentVersionCode::Unreadable, format!("`{shown}`: {}", fault.message))),
        None => Ok(()),
    }
}
