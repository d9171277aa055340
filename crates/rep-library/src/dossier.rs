//! Everything about one skill: what its files say, where it comes from, and what each tier of disclosure costs.
//!
//! For people and their tools, so it is made for every skill, active or not. The body is counted and never part of
//! it: a skill nobody trusts yet can be looked at without being read.

use std::path::Path;

use rep_check::tools::{EffectiveTools, effective_tools};
use rep_check::{Profile, dialects};
use rep_model::frontmatter::{Frontmatter, split_allowed_tools};
use rep_model::uasp::Uasp;
use rep_model::yaml::{Node, core};
use rep_model::{Content, Entry, Origin, Skill, SkillTree, UaspFile, hash};
use serde_json::Value;

use crate::catalog::{CatalogEntry, is_switch};
use crate::disclose::{self, Locations, Style, Told};
use crate::find::Found;
use crate::read::{self, Extent};
use crate::{LibraryError, store};

/// What is counted of the resources of one skill altogether.
const COUNTED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The largest resource that is counted.
const RESOURCE_BYTES_MAX: u64 = 1024 * 1024;
/// The largest skill whose content is hashed.
const HASHED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Everything about one skill.
pub struct Dossier {
    /// The whole skill as read.
    pub skill: Skill,
    /// The dialects it is written in.
    pub dialects: Vec<Profile>,
    /// Its files, in order.
    pub files: Vec<FileEntry>,
    /// Its effective tools.
    pub tools: EffectiveTools,
    /// The tools of the host it wants to be allowed to use.
    pub allowed_tools: Vec<String>,
    /// Who made it and under which terms, as far as it says.
    pub provenance: Provenance,
    /// The content versions of its UASP files.
    pub versions: Vec<ContentVersion>,
    /// Whether models may call it, as far as its author decides.
    pub is_model_invocable: bool,
    /// What each tier costs.
    pub footprint: Footprint,
}

/// One file of a skill.
pub struct FileEntry {
    /// Its path in the skill's folder.
    pub path: String,
    /// What it is for, by where it lies.
    pub kind: &'static str,
    /// What it is: text, bytes or a link.
    pub form: Form,
    /// Its size; unknown for a link.
    pub size_bytes: Option<u64>,
    /// Whether somebody may execute it.
    pub is_executable: bool,
    /// What it costs to read it whole, where it is text and small enough to count.
    pub tokens: Option<usize>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// UTF-8 without NUL bytes.
    Text,
    /// Something else.
    Binary,
    /// Too large, or beyond what is read of one skill.
    Unread,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Irregular,
}

impl Form {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Binary => "binary",
            Form::Unread => "unread",
            Form::Link => "link",
            Form::Irregular => "irregular",
        }
    }
}

/// Where a skill comes from.
#[derive(Default)]
pub struct Provenance {
    /// The version it says it has.
    pub version: Option<String>,
    /// The terms it may be used under.
    pub license: Option<String>,
    /// Who made it.
    pub author: Option<String>,
    /// The digest trust is bound to; `None` where the skill is too large to hash.
    pub digest: Option<String>,
}

/// The content version of a UASP file.
pub struct ContentVersion {
    /// The file.
    pub file: String,
    /// What it says.
    pub declared: Option<String>,
    /// What its content gives, where it can be hashed.
    pub computed: Option<String>,
}

/// What a skill costs, in tokens.
pub struct Footprint {
    /// The tokenizer.
    pub tokenizer: &'static str,
    /// Its entry in the catalogue, as XML with its location.
    pub catalogue: usize,
    /// Its body with what goes around it; unknown where it is not text.
    pub activation: Option<usize>,
    /// Its text files altogether, as far as they were counted.
    pub resources: usize,
    /// How many files that are counts.
    pub counted: usize,
    /// How many files were not counted.
    pub uncounted: usize,
    /// The frontmatter in bytes and tokens; none without one.
    pub frontmatter: Option<(usize, usize)>,
    /// What each section costs when it is asked for by itself, in the order of the sections.
    pub sections: Vec<(String, usize)>,
    /// Whether the author structured the skill or we did.
    pub structure: Option<Origin>,
}

impl Footprint {
    /// All tiers together.
    pub fn total(&self) -> usize {
        self.catalogue + self.activation.unwrap_or(0) + self.resources
    }
}

impl Dossier {
    /// Reads and counts a skill.
    pub fn of(entry: &CatalogEntry) -> Result<Dossier, LibraryError> {
        let tree = Found::from_entry(entry).read(Extent::Folder)?;
        let files = files(entry, &tree);
        let (skill, _) = Skill::parse(tree);
        let front = skill.front();
        Ok(Dossier {
            dialects: dialects(&skill),
            tools: effective_tools(&skill),
            allowed_tools: front.map(allowed_tools).unwrap_or_default(),
            provenance: provenance(entry, &skill, &files),
            is_model_invocable: !is_switch(&skill, "disable-model-invocation", false),
            versions: skill.uasp.iter().map(version).collect(),
            footprint: footprint(entry, &skill, &files),
            files,
            skill,
        })
    }

    /// The frontmatter as JSON, or the `meta` of a UASP file that stands alone.
    pub fn fields(&self) -> Value {
        let meta = || self.skill.uasp.iter().find_map(|uasp| uasp.view()?.meta_fields());
        self.skill.front().map(|front| &front.root).or_else(meta).map_or(Value::Null, core::json)
    }

    /// What the skill asks to be allowed, as it is written.
    pub fn permissions(&self) -> Value {
        let asked = self.skill.front().and_then(|front| front.get("permissions"));
        asked.map_or(Value::Null, core::json)
    }
}

fn files(entry: &CatalogEntry, tree: &SkillTree) -> Vec<FileEntry> {
    let mut budget = COUNTED_BYTES_MAX;
    let mut files = Vec::new();
    for (path, held) in &tree.entries {
        let plain = |form, size_bytes| FileEntry {
            path: path.clone(),
            kind: kind(path),
            form,
            size_bytes,
            is_executable: false,
            tokens: None,
        };
        files.push(match held {
            Entry::Directory => continue,
            Entry::Link { .. } => plain(Form::Link, None),
            Entry::Other(_) => plain(Form::Irregular, None),
            Entry::File { size_bytes, is_executable, content } => {
                let (form, tokens) = weigh(&entry.folder.join(path), *size_bytes, content, &mut budget);
                FileEntry { is_executable: *is_executable, tokens, ..plain(form, Some(*size_bytes)) }
            }
        });
    }
    files
}

/// What a regular file is, and what it costs to read. Files nobody promised to be text are looked into.
fn weigh(path: &Path, size_bytes: u64, content: &Content, budget: &mut u64) -> (Form, Option<usize>) {
    if size_bytes > RESOURCE_BYTES_MAX.min(*budget) {
        let is_text = matches!(content, Content::Bytes(bytes) if std::str::from_utf8(bytes).is_ok());
        return (if is_text { Form::Text } else { Form::Unread }, None);
    }
    *budget -= size_bytes;
    let fetched;
    let bytes = match content {
        Content::Bytes(bytes) => bytes,
        Content::NotRead => match read::bytes(path, RESOURCE_BYTES_MAX) {
            Ok(bytes) => {
                fetched = bytes;
                &fetched
            }
            Err(_) => return (Form::Unread, None),
        },
        Content::TooLarge(_) | Content::Unreadable(_) => return (Form::Unread, None),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (Form::Text, Some(rep_tokens::count(text))),
        _ => (Form::Binary, None),
    }
}

/// What a file is for, by where it lies. The list of folders is open: everything else is `other`.
fn kind(path: &str) -> &'static str {
    let stem = path.split('.').next().unwrap_or(path).to_ascii_lowercase();
    match path.split_once('/').map(|(folder, _)| folder) {
        Some("scripts" | "bin") => "script",
        Some("references" | "reference" | "docs") => "reference",
        Some("assets") => "asset",
        Some("templates") => "template",
        Some("examples") => "example",
        Some("tests") => "test",
        None if path.eq_ignore_ascii_case("SKILL.md") || path.ends_with(rep_model::uasp::SUFFIX) => "main",
        None if path == "tools.json" => "tools",
        None if stem == "readme" => "readme",
        None if matches!(stem.as_str(), "license" | "licence" | "copying" | "notice") => "license",
        Some(_) | None => "other",
    }
}

fn allowed_tools(front: &Frontmatter) -> Vec<String> {
    let Some(node) = front.get("allowed-tools") else { return Vec::new() };
    match (node.text(), node.items()) {
        (Some(text), _) => split_allowed_tools(text).into_iter().map(str::to_owned).collect(),
        (None, Some(items)) => items.iter().filter_map(Node::text).map(str::to_owned).collect(),
        (None, None) => Vec::new(),
    }
}

fn provenance(entry: &CatalogEntry, skill: &Skill, files: &[FileEntry]) -> Provenance {
    let said = |key: &str| {
        let front = skill.front();
        let own = front.and_then(|front| {
            let inside = |block: &str| front.get(block).and_then(|block| block.get(key));
            front.get(key).or_else(|| inside("metadata")).or_else(|| inside("provenance"))
        });
        let own = own.or_else(|| front?.get(rep_model::frontmatter::PERSONAL_MCP)?.get(key));
        let meta = || skill.uasp.iter().find_map(|uasp| uasp.view()?.meta_fields()?.get(key));
        own.or_else(meta).and_then(Node::text).map(str::to_owned)
    };
    let size: u64 = files.iter().filter_map(|file| file.size_bytes).sum();
    let is_small = size <= HASHED_BYTES_MAX && skill.tree.left_out.is_empty();
    let is_lone = skill.tree.is_lone_file;
    let digest = || if is_lone { store::file_digest(&entry.location) } else { store::digest(&entry.folder) };
    Provenance {
        version: said("version"),
        license: said("license"),
        author: said("author"),
        digest: is_small.then(digest),
    }
}

fn version(uasp: &UaspFile) -> ContentVersion {
    let declared = uasp.view().and_then(Uasp::version).map(|text| text.value.to_owned());
    let sha256 = uasp.root.as_ref().and_then(|root| hash::sha256(root).ok());
    ContentVersion { file: uasp.file.clone(), declared, computed: sha256.map(|sha256| sha256[..8].to_owned()) }
}

fn footprint(entry: &CatalogEntry, skill: &Skill, files: &[FileEntry]) -> Footprint {
    let is_resource = |file: &&FileEntry| entry.folder.join(&file.path) != entry.location;
    let resources = || files.iter().filter(is_resource);
    let frontmatter = skill.manifest.as_ref().and_then(|manifest| {
        let text = manifest.source.slice(manifest.parts?.front);
        Some((text.len(), rep_tokens::count(text)))
    });
    let document = rep_convert::document_of(skill);
    let sections = document.as_ref().and_then(|document| document.raw().as_object()).into_iter().flatten();
    Footprint {
        sections: sections.map(|(name, value)| (name.clone(), rep_tokens::count(&value.to_string()))).collect(),
        structure: document.as_ref().map(|document| document.origin),
        tokenizer: rep_tokens::NAME,
        catalogue: rep_tokens::count(&disclose::piece(&Told::whole(entry), Style::Xml, Locations::Shown)),
        activation: disclose::activate(entry).ok().map(|text| rep_tokens::count(&text)),
        resources: resources().filter_map(|file| file.tokens).sum(),
        counted: resources().filter(|file| file.tokens.is_some()).count(),
        uncounted: resources().filter(|file| file.tokens.is_none()).count(),
        frontmatter,
    }
}
