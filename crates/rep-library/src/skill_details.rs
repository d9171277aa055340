//! Collects everything about a skill: the contents of its files, its origin, and the cost of each tier of disclosure.
//!
//! Details are available for every skill, active or not. The body is counted but not included, so that an untrusted
//! skill can be inspected without reading it.

use std::path::Path;

use rep_check::tools::{EffectiveTools, effective_tools};
use rep_check::{Profile, detect_dialects};
use rep_model::frontmatter::{Frontmatter, split_allowed_tools};
use rep_model::provenance::{self, DeclaredProvenance};
use rep_model::uasp::UaspView;
use rep_model::yaml::{YamlNode, core};
use rep_model::{DocumentOrigin, FileContent, Skill, SkillTree, TreeEntry, UaspFile, content_hash};
use serde_json::Value;

use crate::catalog::{CatalogEntry, is_switch_on};
use crate::discovery::SkillLocation;
use crate::prompt::{self, CatalogFormat, LocationDisplay, PromptEntry};
use crate::scan::ScannedSkill;
use crate::skill_reader::{self, ReadExtent};
use crate::validation::{SkillValidation, validate_skill};
use crate::{LibraryError, decisions};

/// The maximum number of bytes counted in all resources of a skill.
const COUNTED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The maximum size of a resource that is counted.
const RESOURCE_BYTES_MAX: u64 = 1024 * 1024;
/// The maximum size of a skill whose content is hashed.
const HASHED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The details of a skill.
pub struct SkillDetails {
    /// The complete parsed skill.
    pub skill: Skill,
    /// Its location.
    location: SkillLocation,
    /// The dialects it is written in.
    pub dialects: Vec<Profile>,
    /// The files, in order.
    pub files: Vec<FileEntry>,
    /// The effective tools.
    pub tools: EffectiveTools,
    /// The host tools that it requests.
    pub allowed_tools: Vec<String>,
    /// The declared author, license and version.
    pub provenance: SkillProvenance,
    /// The content versions of its UASP files.
    pub versions: Vec<ContentVersion>,
    /// The violations for which it must not be used, and declared versions that are not the hash of the content.
    pub validation: SkillValidation,
    /// Whether the author allows models to call it.
    pub is_model_invocable: bool,
    /// The cost of each tier.
    pub footprint: TokenFootprint,
}

/// A file of a skill.
pub struct FileEntry {
    /// The path in the skill's directory.
    pub path: String,
    /// The purpose, derived from the location.
    pub kind: &'static str,
    /// The form: text, binary or a link.
    pub form: FileForm,
    /// The size, unknown for a link.
    pub size_bytes: Option<u64>,
    /// Whether the file is executable.
    pub is_executable: bool,
    /// The number of tokens, if it is text and small enough to count.
    pub tokens: Option<usize>,
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// UTF-8 without NUL bytes.
    Text,
    /// Any other content.
    Binary,
    /// Too large, or beyond the limit per skill.
    Unread,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Irregular,
}

impl FileForm {
    /// Returns the word used in output.
    pub const fn name(self) -> &'static str {
        match self {
            FileForm::Text => "text",
            FileForm::Binary => "binary",
            FileForm::Unread => "unread",
            FileForm::Link => "link",
            FileForm::Irregular => "irregular",
        }
    }
}

/// The origin of a skill.
#[derive(Default)]
pub struct SkillProvenance {
    /// The declared version.
    pub version: Option<String>,
    /// The declared license.
    pub license: Option<String>,
    /// The declared author.
    pub author: Option<String>,
    /// The declared repository, commit, reviewers and signature.
    pub declared: Option<DeclaredProvenance>,
    /// The digest that trust is bound to, or `None` if the skill is too large to hash.
    pub digest: Option<String>,
}

/// The content version of a UASP file.
pub struct ContentVersion {
    /// The file.
    pub file: String,
    /// The declared version.
    pub declared: Option<String>,
    /// The computed version, if the content can be hashed.
    pub computed: Option<String>,
}

/// The token cost of a skill.
pub struct TokenFootprint {
    /// The tokenizer.
    pub tokenizer: &'static str,
    /// The tokens of its catalog entry, as XML with its location.
    pub catalogue: usize,
    /// The tokens of the body with its wrapper, or `None` if it is not text.
    pub activation: Option<usize>,
    /// The total tokens of the counted text files.
    pub resources: usize,
    /// The number of counted files.
    pub counted: usize,
    /// The number of files that were not counted.
    pub uncounted: usize,
    /// The frontmatter in bytes and tokens, if there is one.
    pub frontmatter: Option<(usize, usize)>,
    /// The tokens of each section when queried separately, in order.
    pub sections: Vec<(String, usize)>,
    /// Whether the document was written by the author or extracted.
    pub structure: Option<DocumentOrigin>,
}

impl TokenFootprint {
    /// Returns the total tokens of all tiers.
    pub fn total_tokens(&self) -> usize {
        self.catalogue + self.activation.unwrap_or(0) + self.resources
    }
}

impl SkillDetails {
    /// Reads a skill and counts its tokens.
    pub fn load(entry: &CatalogEntry) -> Result<SkillDetails, LibraryError> {
        let location = SkillLocation::from_entry(entry);
        let tree = location.read(ReadExtent::Folder)?;
        let files = list_files(entry, &tree);
        let (skill, faults) = Skill::parse(tree);
        let validation = validate_skill(&skill, faults);
        let front = skill.frontmatter();
        Ok(SkillDetails {
            dialects: detect_dialects(&skill),
            tools: effective_tools(&skill),
            allowed_tools: front.map(list_allowed_tools).unwrap_or_default(),
            provenance: collect_provenance(entry, &skill, &files),
            is_model_invocable: !is_switch_on(&skill, "disable-model-invocation", false),
            versions: skill.uasp.iter().map(compute_content_version).collect(),
            footprint: measure_footprint(entry, &skill, &files),
            validation,
            files,
            location,
            skill,
        })
    }

    /// Returns the frontmatter as JSON, or the `meta` section of a single UASP file. The address of its source has no
    /// credentials.
    pub fn frontmatter_json(&self) -> Value {
        let meta = || self.skill.uasp.iter().find_map(|uasp| uasp.view()?.meta_fields());
        let front = self.skill.frontmatter().map(|front| &front.root).or_else(meta);
        let mut fields = front.map_or(Value::Null, core::to_json);
        if let Some(address) = fields.pointer_mut("/provenance/source_repo")
            && let Some(text) = address.as_str()
        {
            *address = Value::String(provenance::remove_credentials(text));
        }
        fields
    }

    /// Scans the code of the skill, for which every file is read.
    pub fn scan(&self) -> ScannedSkill {
        let read = self.location.read(ReadExtent::Everything).map(|tree| Skill::parse(tree).0);
        let skill = read.as_ref().unwrap_or(&self.skill);
        ScannedSkill::from_skill(skill, &skill.tree.display_root)
    }

    /// Returns the permissions that the skill requests, as written.
    pub fn permissions_json(&self) -> Value {
        let asked = self.skill.frontmatter().and_then(|front| front.get("permissions"));
        asked.map_or(Value::Null, core::to_json)
    }
}

fn list_files(entry: &CatalogEntry, tree: &SkillTree) -> Vec<FileEntry> {
    let mut budget = COUNTED_BYTES_MAX;
    let mut files = Vec::new();
    for (path, held) in &tree.entries {
        let plain = |form, size_bytes| FileEntry {
            path: path.clone(),
            kind: classify_file(path),
            form,
            size_bytes,
            is_executable: false,
            tokens: None,
        };
        files.push(match held {
            TreeEntry::Directory => continue,
            TreeEntry::Link { .. } => plain(FileForm::Link, None),
            TreeEntry::Other(_) => plain(FileForm::Irregular, None),
            TreeEntry::File { size_bytes, is_executable, content } => {
                let (form, tokens) = count_file_tokens(&entry.folder.join(path), *size_bytes, content, &mut budget);
                FileEntry { is_executable: *is_executable, tokens, ..plain(form, Some(*size_bytes)) }
            }
        });
    }
    files
}

/// Determines the form of a regular file and counts its tokens. Files that may be binary are inspected.
fn count_file_tokens(
    path: &Path,
    size_bytes: u64,
    content: &FileContent,
    budget: &mut u64,
) -> (FileForm, Option<usize>) {
    if size_bytes > RESOURCE_BYTES_MAX.min(*budget) {
        let is_text = matches!(content, FileContent::Bytes(bytes) if std::str::from_utf8(bytes).is_ok());
        return (if is_text { FileForm::Text } else { FileForm::Unread }, None);
    }
    *budget -= size_bytes;
    let fetched;
    let bytes = match content {
        FileContent::Bytes(bytes) => bytes,
        FileContent::NotRead => match skill_reader::read_bytes(path, RESOURCE_BYTES_MAX) {
            Ok(bytes) => {
                fetched = bytes;
                &fetched
            }
            Err(_) => return (FileForm::Unread, None),
        },
        FileContent::TooLarge(_) | FileContent::Unreadable(_) => return (FileForm::Unread, None),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (FileForm::Text, Some(rep_tokens::count(text))),
        _ => (FileForm::Binary, None),
    }
}

/// Returns the purpose of a file, derived from its location. Unknown directories are `other`.
fn classify_file(path: &str) -> &'static str {
    let stem = path.split('.').next().unwrap_or(path).to_ascii_lowercase();
    match path.split_once('/').map(|(folder, _)| folder) {
        Some("scripts" | "bin") => "script",
        Some("references" | "reference" | "docs") => "reference",
        Some("assets") => "asset",
        Some("templates") => "template",
        Some("examples") => "example",
        Some("tests") => "test",
        None if path.eq_ignore_ascii_case("SKILL.md") || path.ends_with(rep_model::uasp::FILE_SUFFIX) => "main",
        None if path == "tools.json" => "tools",
        None if stem == "readme" => "readme",
        None if matches!(stem.as_str(), "license" | "licence" | "copying" | "notice") => "license",
        Some(_) | None => "other",
    }
}

fn list_allowed_tools(front: &Frontmatter) -> Vec<String> {
    let Some(node) = front.get("allowed-tools") else { return Vec::new() };
    match (node.text(), node.items()) {
        (Some(text), _) => split_allowed_tools(text).into_iter().map(str::to_owned).collect(),
        (None, Some(items)) => items.iter().filter_map(YamlNode::text).map(str::to_owned).collect(),
        (None, None) => Vec::new(),
    }
}

fn collect_provenance(entry: &CatalogEntry, skill: &Skill, files: &[FileEntry]) -> SkillProvenance {
    let said = |key: &str| {
        let front = skill.frontmatter();
        let own = front.and_then(|front| {
            let inside = |block: &str| front.get(block).and_then(|block| block.get(key));
            front.get(key).or_else(|| inside("metadata")).or_else(|| inside("provenance"))
        });
        let own = own.or_else(|| front?.get(rep_model::frontmatter::PERSONAL_MCP_FIELD)?.get(key));
        let meta = || skill.uasp.iter().find_map(|uasp| uasp.view()?.meta_fields()?.get(key));
        own.or_else(meta).and_then(YamlNode::text).map(str::to_owned)
    };
    let size: u64 = files.iter().filter_map(|file| file.size_bytes).sum();
    let is_small = size <= HASHED_BYTES_MAX && skill.tree.omissions.is_empty();
    let is_lone = skill.tree.is_lone_file;
    let digest =
        || if is_lone { decisions::digest_file(&entry.location) } else { decisions::digest_folder(&entry.folder) };
    SkillProvenance {
        version: said("version"),
        license: said("license"),
        author: said("author"),
        declared: entry.declared_provenance(),
        digest: is_small.then(digest),
    }
}

fn compute_content_version(uasp: &UaspFile) -> ContentVersion {
    let declared = uasp.view().and_then(UaspView::version).map(|text| text.value.to_owned());
    let sha256 = uasp.root.as_ref().and_then(|root| content_hash::hash_content(root).ok());
    ContentVersion { file: uasp.file.clone(), declared, computed: sha256.map(|sha256| sha256[..8].to_owned()) }
}

fn measure_footprint(entry: &CatalogEntry, skill: &Skill, files: &[FileEntry]) -> TokenFootprint {
    let is_resource = |file: &&FileEntry| entry.folder.join(&file.path) != entry.location;
    let resources = || files.iter().filter(is_resource);
    let frontmatter = skill.manifest.as_ref().and_then(|manifest| {
        let text = manifest.source.slice(manifest.parts?.front);
        Some((text.len(), rep_tokens::count(text)))
    });
    let document = rep_convert::document_from_skill(skill);
    let sections = document.as_ref().and_then(|document| document.raw_value().as_object()).into_iter().flatten();
    TokenFootprint {
        sections: sections.map(|(name, value)| (name.clone(), rep_tokens::count(&value.to_string()))).collect(),
        structure: document.as_ref().map(|document| document.origin),
        tokenizer: rep_tokens::NAME,
        catalogue: rep_tokens::count(&prompt::render_entry(
            &PromptEntry::from_entry(entry),
            CatalogFormat::Xml,
            LocationDisplay::Shown,
        )),
        activation: prompt::activate_skill(entry).ok().map(|text| rep_tokens::count(&text)),
        resources: resources().filter_map(|file| file.tokens).sum(),
        counted: resources().filter(|file| file.tokens.is_some()).count(),
        uncounted: resources().filter(|file| file.tokens.is_none()).count(),
        frontmatter,
    }
}
