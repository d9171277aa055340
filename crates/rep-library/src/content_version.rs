//! The content version of a UASP file on disk: computed, compared with the declared one, and stored.

use std::path::{Path, PathBuf};

use rep_model::uasp::{SUFFIX, Uasp, VERSION_DIGITS, with_version};
use rep_model::yaml::Node;
use rep_model::{Fault, FaultKind, Skill, SkillTree, Source, Span, hash};
use rep_storage::{WriteError, atomic};

use crate::LibraryError;
use crate::find::{self, Found};
use crate::read::{self, Extent};

/// Why a file has no content version, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentVersionCode {
    /// The path holds several skills, or none.
    Ambiguous,
    /// The file is not readable YAML.
    InvalidYaml,
    /// The content cannot be hashed.
    NotHashable,
    /// The version cannot be stored without changing the content.
    NotStored,
    /// There is no UASP file.
    NotUasp,
    /// The file cannot be read.
    Unreadable,
}

impl ContentVersionCode {
    /// The word in results.
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

/// Why a file has no content version, or it was not stored.
#[derive(Debug, thiserror::Error)]
pub enum ContentVersionError {
    /// The path could not be read.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The file could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
    /// The file is not fit for it.
    #[error("{message}")]
    Unfit {
        /// The code for programs.
        code: ContentVersionCode,
        /// What is wrong, with its place.
        message: String,
        /// What to do.
        help: Option<String>,
    },
}

fn unfit(code: ContentVersionCode, message: String) -> ContentVersionError {
    ContentVersionError::Unfit { code, message, help: None }
}

fn unfit_with(code: ContentVersionCode, message: String, help: impl Into<String>) -> ContentVersionError {
    ContentVersionError::Unfit { code, message, help: Some(help.into()) }
}

/// A UASP file, and the version of its content.
pub struct VersionedFile {
    /// The path as the user knows it.
    pub shown: String,
    /// The full SHA-256 of the content.
    pub sha256: String,
    /// The version the file declares.
    pub declared: Option<String>,
    path: PathBuf,
    source: Source,
    root: Node,
}

impl VersionedFile {
    /// Loads the one UASP file a path stands for: a YAML file of any name, or a folder that holds one skill.
    pub fn load(path: &Path) -> Result<Self, ContentVersionError> {
        let (path, tree) = locate(path)?;
        let shown = find::shown(&path);
        let (mut skill, faults) = Skill::parse(tree);
        check_readable(&shown, &skill, &faults)?;
        let Some(file) = skill.uasp.pop() else {
            let message = format!("`{shown}` has no `*{SUFFIX}`");
            return Err(unfit_with(ContentVersionCode::NotUasp, message, "name the file"));
        };
        let Some(root) = file.root else {
            let (message, help) = (format!("`{shown}` is no readable YAML"), format!("`rep check {shown}` says where"));
            return Err(unfit_with(ContentVersionCode::InvalidYaml, message, help));
        };
        let sha256 = hash::sha256(&root).map_err(|fault| {
            let message = format!("{}: {}", place(&shown, &file.source, fault.span), fault.message);
            unfit_with(ContentVersionCode::NotHashable, message, fault.help)
        })?;
        let declared = Uasp(&root).version().map(|version| version.value.to_owned());
        Ok(Self { shown, sha256, declared, path, source: file.source, root })
    }

    /// The version of the content.
    pub fn computed(&self) -> &str {
        &self.sha256[..VERSION_DIGITS]
    }

    /// Whether the file declares the version of its content.
    pub fn is_current(&self) -> bool {
        self.declared.as_deref() == Some(self.computed())
    }

    /// Stores the version of the content in the file.
    pub fn store(&self) -> Result<(), ContentVersionError> {
        let Some(text) = with_version(&self.source, &self.root, &self.sha256) else {
            let message = format!("the version cannot be stored in `{}` without changing its content", self.shown);
            let help = "write `version` as a plain quoted text, without an anchor or a tag";
            return Err(unfit_with(ContentVersionCode::NotStored, message, help));
        };
        Ok(atomic::update(&self.path, self.source.text().as_bytes(), text.as_bytes())?)
    }
}

fn place(shown: &str, source: &Source, span: Span) -> String {
    let position = source.position(span.start);
    format!("{shown}:{}:{}", position.line, position.column)
}

/// The UASP file a path stands for, and the tree that holds it.
fn locate(path: &Path) -> Result<(PathBuf, SkillTree), ContentVersionError> {
    // Any YAML file may be hashed, whatever it is called.
    if path.is_file() {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = if name.ends_with(SUFFIX) { name } else { format!("{name}{SUFFIX}") };
        let entry = read::lone_file(path, &find::shown(path)).entries.into_values().next();
        let mut tree = SkillTree { is_lone_file: true, ..SkillTree::default() };
        tree.entries.extend(entry.map(|entry| (file, entry)));
        return Ok((path.to_owned(), tree));
    }
    let mut found: Vec<Found> = Vec::new();
    find::skills(path, |skill| found.push(skill))?;
    let [only] = found.as_slice() else {
        let message = format!("`{}` holds {} skills", find::shown(path), found.len());
        return Err(unfit_with(ContentVersionCode::Ambiguous, message, format!("name the `*{SUFFIX}` file")));
    };
    let tree = only.read(Extent::Folder)?;
    let file = tree.entries.keys().find(|file| file.ends_with(SUFFIX) && !file.contains('/'));
    let path = match file.filter(|_| !only.is_lone_file) {
        Some(file) => only.path.join(file),
        None => only.path.clone(),
    };
    Ok((path, tree))
}

fn check_readable(shown: &str, skill: &Skill, faults: &[Fault]) -> Result<(), ContentVersionError> {
    let is_broken = |kind: FaultKind| kind.is_yaml() && !matches!(kind, FaultKind::YamlAnchor | FaultKind::YamlTag);
    if let Some(fault) = faults.iter().find(|fault| is_broken(fault.kind)) {
        let source = skill.source(&fault.file);
        let place = source.map_or_else(|| shown.to_owned(), |source| place(shown, source, fault.span));
        let message = format!("{place}: {}", fault.message);
        return Err(unfit_with(ContentVersionCode::InvalidYaml, message, fault.help.clone()));
    }
    let unreadable =
        [FaultKind::EncodingNotUtf8, FaultKind::FileIrregular, FaultKind::FileTooLarge, FaultKind::FileUnreadable];
    match faults.iter().find(|fault| unreadable.contains(&fault.kind)) {
        Some(fault) => Err(unfit(ContentVersionCode::Unreadable, format!("`{shown}`: {}", fault.message))),
        None => Ok(()),
    }
}
