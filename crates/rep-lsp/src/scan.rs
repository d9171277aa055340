//! Finds references in all skills of a workspace folder. Runs on another thread, on a copy of the session's state.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;

use rep_library::discovery::SkillLocation;
use rep_library::open_files::OpenFiles;
use rep_model::markdown::{self, MarkdownOutline};
use rep_model::{Span, TreeEntry};
use serde_json::{Value, json};

use crate::bundle::ParsedSkill;
use crate::diagnostics::FileText;
use crate::file_uri::format_file_uri;
use crate::message::RpcError;
use crate::outbox::Outbox;
use crate::position::PositionEncoding;
use crate::references::{Reference, ReferenceSource, collect_references};
use crate::session::Session;
use crate::view::{DocumentKind, classify};

/// The maximum number of references that are reported.
const FOUND_MAX: usize = 10_000;

/// A copy of what is needed to look through a workspace folder.
pub(crate) struct WorkspaceScan {
    pub(crate) open: OpenFiles,
    pub(crate) locations: Vec<SkillLocation>,
    pub(crate) names: BTreeSet<String>,
    pub(crate) encoding: PositionEncoding,
    /// The URIs and versions of open documents.
    pub(crate) documents: BTreeMap<PathBuf, (String, i64)>,
    outbox: Outbox,
    id: Value,
}

/// A reference in a file of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct FoundReference {
    /// The file.
    pub(crate) file: PathBuf,
    /// The range of the word.
    pub(crate) range: Value,
    /// The word as it is written.
    pub(crate) written: String,
    /// The directory of the file's skill.
    pub(crate) skill_folder: PathBuf,
    /// What it refers to.
    pub(crate) reference: Reference,
}

/// A scan was cancelled by the client.
pub(crate) struct ScanCancelled;

impl Session {
    /// Answers a request on another thread, which looks through the workspace folder of a path.
    pub(crate) fn spawn_scan(
        &mut self,
        id: &Value,
        around: &Path,
        work: impl FnOnce(&WorkspaceScan) -> Result<Result<Value, RpcError>, ScanCancelled> + Send + 'static,
    ) {
        let scan = self.prepare_scan(id, around);
        self.outbox.mark_active(id);
        thread::spawn(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&scan)));
            let answer = match result {
                Ok(Ok(answer)) => answer,
                Ok(Err(ScanCancelled)) => Err(RpcError::new(RpcError::REQUEST_CANCELLED, "cancelled")),
                Err(_) => Err(RpcError::new(RpcError::INTERNAL_ERROR, "a bug in rep stopped this request")),
            };
            scan.outbox.respond(&scan.id, answer);
        });
    }

    fn prepare_scan(&mut self, id: &Value, around: &Path) -> WorkspaceScan {
        let root = self.root_of(around).map(Path::to_owned);
        let index = root.as_ref().and_then(|root| self.indexes.get(root));
        let mut locations: BTreeMap<PathBuf, SkillLocation> = BTreeMap::new();
        for skill in index.iter().flat_map(|index| index.skills.values()) {
            locations.insert(skill.location.path.clone(), skill.location.clone());
        }
        // Skills that are open count even if they are outside of the workspace or not indexed yet.
        for bundle in self.bundles.values().filter(|bundle| bundle.root == root) {
            for member in &bundle.members {
                locations.insert(member.parsed.location.path.clone(), member.parsed.location.clone());
            }
        }
        let documents = self.documents.iter();
        WorkspaceScan {
            open: self.open.clone(),
            names: self.skill_names(root.as_deref()),
            locations: locations.into_values().collect(),
            encoding: self.features.encoding,
            documents: documents
                .map(|(path, document)| (path.clone(), (document.uri.clone(), document.version)))
                .collect(),
            outbox: self.outbox.clone(),
            id: id.clone(),
        }
    }

    /// Returns the names of the skills of a workspace folder, and of those that are open outside of all folders.
    pub(crate) fn skill_names(&self, root: Option<&Path>) -> BTreeSet<String> {
        let index = root.and_then(|root| self.indexes.get(root));
        let mut names: BTreeSet<String> =
            index.iter().flat_map(|index| index.skills.values()).map(|skill| skill.name.clone()).collect();
        let loaded = self.bundles.values().filter(|bundle| bundle.root.as_deref() == root);
        for member in loaded.flat_map(|bundle| &bundle.members) {
            names.extend(member.parsed.skill.name().map(str::to_owned));
        }
        names
    }
}

impl WorkspaceScan {
    /// Finds the references that are wanted, in files whose text contains `needle`.
    pub(crate) fn find(
        &self,
        needle: &str,
        is_wanted: &dyn Fn(&Reference, &ParsedSkill) -> bool,
    ) -> Result<Vec<FoundReference>, ScanCancelled> {
        let mut found = Vec::new();
        for location in &self.locations {
            if self.outbox.is_cancelled(&self.id) {
                return Err(ScanCancelled);
            }
            if found.len() >= FOUND_MAX {
                break;
            }
            self.find_in_skill(location, needle, is_wanted, &mut found);
        }
        found.truncate(FOUND_MAX);
        Ok(found)
    }

    /// Finds the references that are wanted, in the skills that contain a file.
    pub(crate) fn find_around(
        &self,
        file: &Path,
        is_wanted: &dyn Fn(&Reference, &ParsedSkill) -> bool,
    ) -> Vec<FoundReference> {
        let mut found = Vec::new();
        for location in self.locations.iter().filter(|location| file.starts_with(&location.path)) {
            self.find_in_skill(location, "", is_wanted, &mut found);
        }
        found
    }

    fn find_in_skill(
        &self,
        location: &SkillLocation,
        needle: &str,
        is_wanted: &dyn Fn(&Reference, &ParsedSkill) -> bool,
        found: &mut Vec<FoundReference>,
    ) {
        let parsed = ParsedSkill::read(location, &self.open);
        let is_nested = |file: &str| {
            let path = parsed.absolute_path(file);
            self.locations.iter().any(|other| {
                other.path != location.path && other.path.starts_with(&location.path) && path.starts_with(&other.path)
            })
        };
        let files = parsed.skill.tree.entries.iter().filter(|(_, entry)| !matches!(entry, TreeEntry::Directory));
        for (file, _) in files.filter(|(file, _)| !file.contains('/') || !is_nested(file)) {
            let kind = classify(file);
            let Some(text) =
                file_text(&parsed, file).filter(|text| kind != DocumentKind::Other && text.contains(needle))
            else {
                continue;
            };
            let (outline, body) = outline_of(&parsed, file, kind, &text);
            let is_skill = |name: &str| self.names.contains(name);
            let source = ReferenceSource {
                parsed: &parsed,
                relative: file,
                kind,
                text: &text,
                outline: &outline,
                body,
                is_skill: &is_skill,
            };
            let converted = FileText::new(Cow::Borrowed(&*text));
            for reference in collect_references(&source).into_iter().filter(|one| is_wanted(one, &parsed)) {
                found.push(FoundReference {
                    file: parsed.absolute_path(file),
                    range: converted.range(reference.span, self.encoding),
                    written: text.get(reference.span.range()).unwrap_or_default().to_owned(),
                    skill_folder: parsed.folder().to_owned(),
                    reference,
                });
            }
        }
    }

    /// Returns the URI of a file.
    pub(crate) fn uri(&self, file: &Path) -> String {
        self.documents.get(file).map_or_else(|| format_file_uri(file), |(uri, _)| uri.clone())
    }

    /// Returns the location of a reference.
    pub(crate) fn location(&self, found: &FoundReference) -> Value {
        json!({ "uri": self.uri(&found.file), "range": found.range })
    }
}

/// Returns the text of a file of a skill, if it is UTF-8.
fn file_text<'a>(parsed: &'a ParsedSkill, file: &str) -> Option<Cow<'a, str>> {
    match parsed.skill.find_source(file) {
        Some(source) => Some(Cow::Borrowed(source.text())),
        None => std::str::from_utf8(parsed.skill.tree.file_bytes(file)?).ok().map(Cow::Borrowed),
    }
}

/// Returns the outline of a Markdown file, and the location of its Markdown text.
fn outline_of(parsed: &ParsedSkill, file: &str, kind: DocumentKind, text: &str) -> (MarkdownOutline, Option<Span>) {
    let manifest = parsed.skill.manifest.as_ref().filter(|manifest| manifest.file == file);
    match (kind, manifest) {
        (DocumentKind::Manifest, Some(manifest)) => (manifest.outline().clone(), Some(manifest.body_span())),
        (DocumentKind::Markdown, _) => (markdown::parse_outline(text, 0), Some(Span::new(0, text.len()))),
        _ => (MarkdownOutline::default(), None),
    }
}
