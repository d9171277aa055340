//! The one model both formats fill, and the reading of a tree into it.

use std::sync::OnceLock;

use crate::markdown::{self, Outline};
use crate::skill_md::{self, Parts, Unfenced};
use crate::uasp::{self, Uasp};
use crate::yaml::{self, Document, Node, Trouble};
use crate::{Content, Entry, Fault, FaultKind, Frontmatter, Leads, SkillTree, Source, Span, repair};

/// A SKILL.md as read.
#[derive(Debug, Default)]
pub struct Manifest {
    /// Its path: `SKILL.md`, or `skill.md` where only that exists.
    pub file: &'static str,
    /// Its text. Bytes that are no UTF-8 are replaced, and then nothing may be edited.
    pub source: Source,
    /// Whether bytes had to be replaced.
    pub is_lossy: bool,
    /// Whether the frontmatter could only be read by guessing where a list or mapping ends. Until that is mended no
    /// edit is safe: with other bytes around it, the guess may turn out differently.
    pub is_guessed: bool,
    /// Where its parts are; `None` without fences.
    pub parts: Option<Parts>,
    /// The frontmatter, where it is a mapping.
    pub front: Option<Frontmatter>,
    outline: OnceLock<Outline>,
}

impl Manifest {
    /// The body: everything after the frontmatter.
    pub fn body(&self) -> &str {
        self.source.slice(self.body_span())
    }

    /// Where the body stands. Without fences the whole file is body.
    pub fn body_span(&self) -> Span {
        self.parts.map_or(Span::new(0, self.source.text().len()), |parts| parts.body)
    }

    /// The outline of the body, made on first use.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| markdown::outline(self.body(), self.body_span().start))
    }
}

/// A `tools.json` as read.
#[derive(Debug)]
pub struct ToolsJson {
    /// Its text.
    pub source: Source,
    /// Its value with spans, where it is JSON.
    pub root: Option<Node>,
}

/// A `*.uasp.yaml` as read.
#[derive(Debug)]
pub struct UaspFile {
    /// Its path.
    pub file: String,
    /// Its text.
    pub source: Source,
    /// Its root, where it could be read.
    pub root: Option<Node>,
    /// Its comments.
    pub comments: Vec<Span>,
    document: OnceLock<crate::Document>,
}

impl UaspFile {
    fn new(file: &str, source: Source, root: Option<Node>, comments: Vec<Span>) -> Self {
        Self { file: file.to_owned(), source, root, comments, document: OnceLock::new() }
    }

    /// The fields of the file, if its root is a mapping.
    pub fn view(&self) -> Option<Uasp<'_>> {
        self.root.as_ref().filter(|root| root.entries().is_some()).map(Uasp)
    }

    /// The sections as typed values, if the root is a mapping. Parsed on first use.
    pub fn document(&self) -> Option<&crate::Document> {
        let Uasp(root) = self.view()?;
        Some(self.document.get_or_init(|| crate::Document::from_node(root)))
    }
}

/// A skill: its folder, and what its files say.
#[derive(Debug)]
pub struct Skill {
    /// The folder.
    pub tree: SkillTree,
    /// The SKILL.md, where it could be read.
    pub manifest: Option<Manifest>,
    /// The derived tool list, where there is one.
    pub tools_json: Option<ToolsJson>,
    /// The UASP files, by name.
    pub uasp: Vec<UaspFile>,
}

impl Skill {
    /// Reads a tree. Never fails: what could not be read is a fault.
    pub fn parse(tree: SkillTree) -> (Skill, Vec<Fault>) {
        let mut faults = tree_faults(&tree);
        let manifest = manifest(&tree, &mut faults);
        let tools_json = tools_json(&tree, &mut faults);
        let names = tree.entries.keys().filter(|path| path.ends_with(uasp::SUFFIX) && !path.contains('/'));
        let uasp: Vec<UaspFile> = names.filter_map(|file| uasp_file(&tree, file, &mut faults)).collect();
        (Skill { tree, manifest, tools_json, uasp }, faults)
    }

    /// The frontmatter of SKILL.md, where it could be read.
    pub fn front(&self) -> Option<&Frontmatter> {
        self.manifest.as_ref()?.front.as_ref()
    }

    /// The text of one of the files that were read as text.
    pub fn source(&self, file: &str) -> Option<&Source> {
        if let Some(manifest) = self.manifest.as_ref().filter(|manifest| manifest.file == file) {
            return Some(&manifest.source);
        }
        if file == "tools.json" {
            return self.tools_json.as_ref().map(|tools| &tools.source);
        }
        self.uasp.iter().find(|uasp| uasp.file == file).map(|uasp| &uasp.source)
    }

    /// The name the skill gives itself: in SKILL.md, else in its UASP file.
    pub fn name(&self) -> Option<&str> {
        let of_front = self.front().and_then(Frontmatter::name).map(|name| crate::names::strip(name.value));
        of_front.or_else(|| self.uasp.iter().find_map(|uasp| uasp.view()?.name().map(|name| name.value)))
    }
}

/// What is wrong with the folder before any file is understood.
fn tree_faults(tree: &SkillTree) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !tree.left_out.is_empty() {
        let message = format!("the folder was not read whole: {}", tree.left_out);
        let help = "move what the skill does not need elsewhere";
        faults.push(Fault::new(FaultKind::FolderTooLarge, "", Span::default(), message, help));
    }
    for (path, entry) in &tree.entries {
        let mut add = |kind, message, help| faults.push(Fault::new(kind, path, Span::default(), message, help));
        match entry {
            Entry::Other(kind) if path != "SKILL.md" && path != "skill.md" => {
                add(FaultKind::FileIrregular, format!("`{path}` is a {kind}"), "replace it with a regular file");
            }
            Entry::Other(_) | Entry::Directory => {}
            Entry::File { content, .. } => content_fault(content, &mut add),
            Entry::Link { content, leads, target } => {
                content_fault(content, &mut add);
                match leads {
                    Leads::Inside(_) => {}
                    Leads::Nowhere => {
                        let message = format!("the link leads nowhere: `{target}` does not exist");
                        add(FaultKind::SymlinkDangling, message, "replace the link with the file itself");
                    }
                    Leads::Outside => {
                        let message = format!("the link leaves the skill's folder: `{target}`");
                        let help = "copy the file into the skill; hosts copy the folder and nothing else";
                        add(FaultKind::SymlinkOutside, message, help);
                    }
                }
            }
        }
    }
    faults
}

fn content_fault(content: &Content, add: &mut impl FnMut(FaultKind, String, &'static str)) {
    match content {
        Content::Bytes(_) | Content::NotRead => {}
        Content::TooLarge(limit) => {
            let message = format!("the file is larger than {limit} bytes and was not read");
            add(FaultKind::FileTooLarge, message, "move detail into referenced files");
        }
        Content::Unreadable(reason) => {
            add(FaultKind::FileUnreadable, format!("the file could not be read: {reason}"), "make the file readable");
        }
    }
}

fn manifest(tree: &SkillTree, faults: &mut Vec<Fault>) -> Option<Manifest> {
    let file = ["SKILL.md", "skill.md"].into_iter().find(|file| tree.entries.contains_key(*file));
    let Some(file) = file else {
        // Where a UASP file is all there is, only a profile of SKILL.md minds; a folder that was not read has nothing to mind.
        if !(tree.is_lone_file && tree.entries.is_empty()) {
            let what = if tree.is_lone_file { "skill" } else { "folder" };
            let message = format!("the {what} has no SKILL.md");
            faults.push(Fault::new(
                FaultKind::SkillMdMissing,
                "",
                Span::default(),
                message,
                "add a file named exactly `SKILL.md`",
            ));
        }
        return None;
    };
    if let Some(kind) = match tree.entries.get(file) {
        Some(Entry::Directory) => Some("folder"),
        Some(Entry::Other(kind)) => Some(*kind),
        _ => None,
    } {
        let message = format!("`{file}` is a {kind}, not a file");
        faults.push(Fault::new(FaultKind::SkillMdNotAFile, file, Span::default(), message, "make it a regular file"));
        return None;
    }
    let (text, is_lossy) = decode(tree.bytes(file)?, file, faults);
    let mut manifest = Manifest { file, source: Source::new(text), is_lossy, ..Manifest::default() };
    // Every further fault of a file in another encoding would follow from that one.
    if !is_utf16(tree.bytes(file)?) {
        read_manifest(&mut manifest, faults);
    }
    Some(manifest)
}

/// Decodes UTF-8, with a fault where bytes had to be replaced.
fn decode(bytes: &[u8], file: &str, faults: &mut Vec<Fault>) -> (String, bool) {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (text.to_owned(), false),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    let message = if is_utf16(bytes) {
        "the file is UTF-16, not UTF-8".to_owned()
    } else {
        format!("byte {:#04x} is no UTF-8", bytes[at])
    };
    faults.push(Fault::new(FaultKind::EncodingNotUtf8, file, Span::at(at), message, "save the file as UTF-8"));
    (String::from_utf8_lossy(bytes).into_owned(), true)
}

/// Whether bytes start with the mark of UTF-16, which no UTF-8 holds.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

fn read_manifest(manifest: &mut Manifest, faults: &mut Vec<Fault>) {
    let file = manifest.file;
    let text = manifest.source.text();
    byte_faults(text, file, faults);
    let parts = match skill_md::split(text) {
        Ok(parts) => parts,
        Err(Unfenced::NoOpening(at)) => {
            let message = "the file does not start with a `---` line".to_owned();
            faults.push(Fault::new(
                FaultKind::FrontmatterMissing,
                file,
                at,
                message,
                "start the file with `---`, then `name` and `description`, then `---`",
            ));
            return;
        }
        Err(Unfenced::NoClosing(at)) => {
            let message = "the frontmatter is not closed by a second `---` line".to_owned();
            faults.push(Fault::new(
                FaultKind::FrontmatterUnclosed,
                file,
                at,
                message,
                "put a line that is exactly `---` after the last field",
            ));
            return;
        }
    };
    let front = &text[parts.front.range()];
    let document = if front.contains('\0') { Document::default() } else { yaml::parse(front, parts.front.start) };
    let has_nul = front.contains('\0');
    let known = faults.len();
    manifest.front = frontmatter(front, parts, document, file, has_nul, faults);
    manifest.is_guessed =
        faults[known..].iter().any(|fault| fault.kind == FaultKind::YamlValueUnquoted && fault.edit.is_none());
    manifest.parts = Some(parts);
}

/// What is wrong with the bytes, whatever they mean.
fn byte_faults(text: &str, file: &str, faults: &mut Vec<Fault>) {
    if text.starts_with('\u{feff}') {
        let message = "the file starts with a byte order mark".to_owned();
        let fault = Fault::new(
            FaultKind::ByteOrderMark,
            file,
            Span::new(0, 3),
            message,
            "save the file as UTF-8 without a mark",
        );
        faults.push(fault.with_edit(Span::new(0, 3), ""));
    }
    // Nearly no text has either, and one pass that never stops is quicker than two searches.
    let seen = text.bytes().fold(0, |seen, byte| seen | u8::from(byte == 0) | (u8::from(byte == b'\r') << 1));
    let (has_nul, has_return) = (seen & 1 != 0, seen & 2 != 0);
    if has_nul && let Some(at) = text.find('\0') {
        let message = "the file holds a NUL byte".to_owned();
        faults.push(Fault::new(
            FaultKind::NulByte,
            file,
            Span::new(at, at + 1),
            message,
            "remove it; is this really a text file?",
        ));
    }
    if has_return && let Some(at) = text.find("\r\n") {
        let message = "lines end with CR LF".to_owned();
        let fault =
            Fault::new(FaultKind::LineEndsCrlf, file, Span::new(at, at + 2), message, "let lines end with LF alone");
        faults.push(fault.with_edit(Span::new(0, text.len()), text.replace("\r\n", "\n")));
    }
}

fn frontmatter(
    front: &str,
    parts: Parts,
    mut document: Document,
    file: &str,
    has_nul: bool,
    faults: &mut Vec<Fault>,
) -> Option<Frontmatter> {
    if document.fatal().is_some()
        && let Some((mended, quoted)) = repair::repair(front, parts.front.start, &document)
    {
        for value in quoted {
            let message = format!("the value of `{}` is no valid YAML without quotes: {}", value.key, value.trouble);
            // Quotes would turn a list or mapping that lacks a bracket into text, which its author did not mean.
            faults.push(if value.lacks_bracket() {
                let help = "close the bracket, or put the value in quotes if it is text";
                Fault::new(FaultKind::YamlValueUnquoted, file, value.span, message, help)
            } else {
                let fault =
                    Fault::new(FaultKind::YamlValueUnquoted, file, value.span, message, "put the value in quotes");
                fault.with_edit(value.span, value.replacement)
            });
        }
        document = mended;
    }
    yaml_faults(&document, file, faults);
    if document.fatal().is_some() || has_nul {
        return None;
    }
    let Some(root) = document.root.filter(|root| root.entries().is_some()) else {
        let message = "the frontmatter is not a mapping of fields".to_owned();
        faults.push(Fault::new(
            FaultKind::FrontmatterNotMapping,
            file,
            parts.front,
            message,
            "write fields as `name: value`, one per line",
        ));
        return None;
    };
    Some(Frontmatter { root, comments: document.comments })
}

/// How often one oddity of a document is reported; a file made of nothing else says nothing more.
const REPEATS_MAX: usize = 20;

/// Turns what the YAML layer noticed into faults.
fn yaml_faults(document: &Document, file: &str, faults: &mut Vec<Fault>) {
    let mut oddities = 0;
    for (trouble, span) in &document.troubles {
        let is_oddity = matches!(trouble, Trouble::Anchor | Trouble::Tag(_));
        if is_oddity && oddities == REPEATS_MAX {
            continue;
        }
        oddities += usize::from(is_oddity);
        faults.push(match trouble {
            Trouble::Syntax(message) => Fault::new(
                FaultKind::YamlInvalid,
                file,
                *span,
                format!("invalid YAML: {message}"),
                "mend the syntax; quotes around a value often do",
            ),
            Trouble::TooComplex(message) => Fault::new(
                FaultKind::YamlTooComplex,
                file,
                *span,
                format!("the YAML is {message}"),
                "split it, or write it without aliases",
            ),
            Trouble::Anchor => Fault::new(
                FaultKind::YamlAnchor,
                file,
                *span,
                "an anchor or alias is used".to_owned(),
                "write the value out where it is needed",
            ),
            Trouble::Tab => Fault::new(
                FaultKind::YamlTab,
                file,
                *span,
                "a tab stands where YAML wants blanks".to_owned(),
                "replace it with a blank, or quote the value",
            ),
            Trouble::Tag(tag) => Fault::new(
                FaultKind::YamlTag,
                file,
                *span,
                format!("the tag `{}` is used", tag.replace("tag:yaml.org,2002:", "!!")),
                "remove the tag, or quote the value",
            ),
        });
    }
    for (key, span) in
        document.root.as_ref().map(yaml::duplicate_keys).unwrap_or_default().into_iter().take(REPEATS_MAX)
    {
        faults.push(Fault::new(
            FaultKind::YamlKeyDuplicate,
            file,
            span,
            format!("key `{key}` stands twice"),
            "remove one of the two",
        ));
    }
}

fn tools_json(tree: &SkillTree, faults: &mut Vec<Fault>) -> Option<ToolsJson> {
    let file = "tools.json";
    let (text, is_lossy) = decode(tree.bytes(file)?, file, faults);
    let source = Source::new(text);
    if is_lossy {
        return Some(ToolsJson { source, root: None });
    }
    if let Err(error) = serde_json::from_str::<serde_json::Value>(source.text()) {
        let mut lines = source.text().split_inclusive('\n');
        let before: usize = lines.by_ref().take(error.line().saturating_sub(1)).map(str::len).sum();
        let at = (before + error.column().saturating_sub(1)).min(source.text().len());
        // The place is in the report, counted in characters; the parser counts bytes.
        let words = error.to_string();
        let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
        let message = format!("invalid JSON: {words}");
        faults.push(Fault::new(
            FaultKind::ToolsJsonInvalid,
            file,
            Span::at(at),
            message,
            "regenerate it with `rep tools --write`",
        ));
        return Some(ToolsJson { source, root: None });
    }
    let root = yaml::parse(source.text(), 0).root;
    Some(ToolsJson { source, root })
}

fn uasp_file(tree: &SkillTree, file: &str, faults: &mut Vec<Fault>) -> Option<UaspFile> {
    let (text, _) = decode(tree.bytes(file)?, file, faults);
    let source = Source::new(text);
    let is_foreign = is_utf16(tree.bytes(file)?);
    if !is_foreign {
        byte_faults(source.text(), file, faults);
    }
    // What the parser would say of such bytes follows from what was said.
    if is_foreign || source.text().contains('\0') {
        return Some(UaspFile::new(file, source, None, Vec::new()));
    }
    let mark = if source.text().starts_with('\u{feff}') { 3 } else { 0 };
    let document = yaml::parse(&source.text()[mark..], mark);
    yaml_faults(&document, file, faults);
    Some(UaspFile::new(file, source, document.root, document.comments))
}
