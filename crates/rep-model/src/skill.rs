//! The model of a skill, and the parser that creates it from a tree.

use std::sync::OnceLock;

use crate::markdown::{self, MarkdownOutline};
use crate::skill_md::{self, FrontmatterFenceError, SkillMdParts};
use crate::uasp::{self, UaspView};
use crate::yaml::{self, YamlDocument, YamlNode, YamlProblem};
use crate::{
    Fault, FaultKind, FileContent, Frontmatter, SkillTree, SourceText, Span, SymlinkTarget, TreeEntry, repair,
};

/// A parsed SKILL.md.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// The path: `SKILL.md`, or `skill.md` if only that exists.
    pub file: &'static str,
    /// The text. If invalid UTF-8 was replaced, the file must not be edited.
    pub source: SourceText,
    /// Whether invalid bytes were replaced.
    pub is_lossy: bool,
    /// Whether the end of a list or mapping in the frontmatter was guessed. No edit is safe until that is fixed,
    /// because the guess may differ after an edit.
    pub is_guessed: bool,
    /// The location of the parts, or `None` without fences.
    pub parts: Option<SkillMdParts>,
    /// The frontmatter, if it is a mapping.
    pub front: Option<Frontmatter>,
    outline: OnceLock<MarkdownOutline>,
}

impl Manifest {
    /// Returns the body: everything after the frontmatter.
    pub fn body(&self) -> &str {
        self.source.slice(self.body_span())
    }

    /// Returns the location of the body. Without fences, the whole file is the body.
    pub fn body_span(&self) -> Span {
        self.parts.map_or(Span::new(0, self.source.text().len()), |parts| parts.body)
    }

    /// Returns the outline of the body, computed on first use.
    pub fn outline(&self) -> &MarkdownOutline {
        self.outline.get_or_init(|| markdown::parse_outline(self.body(), self.body_span().start))
    }
}

/// A parsed `tools.json`.
#[derive(Clone, Debug)]
pub struct ToolsJson {
    /// The text.
    pub source: SourceText,
    /// The value with spans, if the text is valid JSON.
    pub root: Option<YamlNode>,
}

/// A parsed `*.uasp.yaml`.
#[derive(Clone, Debug)]
pub struct UaspFile {
    /// The path.
    pub file: String,
    /// The text.
    pub source: SourceText,
    /// The root, if the file could be parsed.
    pub root: Option<YamlNode>,
    /// The comments.
    pub comments: Vec<Span>,
    document: OnceLock<crate::SkillDocument>,
}

impl UaspFile {
    fn new(file: &str, source: SourceText, root: Option<YamlNode>, comments: Vec<Span>) -> Self {
        Self { file: file.to_owned(), source, root, comments, document: OnceLock::new() }
    }

    /// Returns the fields of the file, if its root is a mapping.
    pub fn view(&self) -> Option<UaspView<'_>> {
        self.root.as_ref().filter(|root| root.entries().is_some()).map(UaspView)
    }

    /// Returns the sections as typed values, if the root is a mapping. They are parsed on first use.
    pub fn document(&self) -> Option<&crate::SkillDocument> {
        let UaspView(root) = self.view()?;
        Some(self.document.get_or_init(|| crate::SkillDocument::from_node(root)))
    }
}

/// A skill: its directory, and the parsed contents of its files.
#[derive(Clone, Debug)]
pub struct Skill {
    /// The directory.
    pub tree: SkillTree,
    /// The SKILL.md, if it could be read.
    pub manifest: Option<Manifest>,
    /// The generated tool list, if there is one.
    pub tools_json: Option<ToolsJson>,
    /// The UASP files, sorted by name.
    pub uasp: Vec<UaspFile>,
}

impl Skill {
    /// Parses a tree. Never fails: unreadable parts are reported as faults.
    pub fn parse(tree: SkillTree) -> (Skill, Vec<Fault>) {
        let mut faults = find_tree_faults(&tree);
        let manifest = parse_manifest(&tree, &mut faults);
        let tools_json = parse_tools_json(&tree, &mut faults);
        let names = tree.entries.keys().filter(|path| path.ends_with(uasp::FILE_SUFFIX) && !path.contains('/'));
        let uasp: Vec<UaspFile> = names.filter_map(|file| parse_uasp_file(&tree, file, &mut faults)).collect();
        (Skill { tree, manifest, tools_json, uasp }, faults)
    }

    /// Returns the frontmatter of SKILL.md, if it could be parsed.
    pub fn frontmatter(&self) -> Option<&Frontmatter> {
        self.manifest.as_ref()?.front.as_ref()
    }

    /// Returns the text of a file that was read as text.
    pub fn find_source(&self, file: &str) -> Option<&SourceText> {
        if let Some(manifest) = self.manifest.as_ref().filter(|manifest| manifest.file == file) {
            return Some(&manifest.source);
        }
        if file == "tools.json" {
            return self.tools_json.as_ref().map(|tools| &tools.source);
        }
        self.uasp.iter().find(|uasp| uasp.file == file).map(|uasp| &uasp.source)
    }

    /// Returns the skill's declared name: from SKILL.md, or else from its UASP file.
    pub fn name(&self) -> Option<&str> {
        let of_front =
            self.frontmatter().and_then(Frontmatter::name).map(|name| crate::names::strip_whitespace(name.value));
        of_front.or_else(|| self.uasp.iter().find_map(|uasp| uasp.view()?.name().map(|name| name.value)))
    }
}

/// Finds the faults of the directory, before any file is parsed.
fn find_tree_faults(tree: &SkillTree) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !tree.omissions.is_empty() {
        let message = format!("the directory was not read completely: {}", tree.omissions);
        let help = "move unrelated files elsewhere";
        faults.push(Fault::new(FaultKind::FolderTooLarge, "", Span::default(), message, help));
    }
    for (path, entry) in &tree.entries {
        let mut add = |kind, message, help| faults.push(Fault::new(kind, path, Span::default(), message, help));
        match entry {
            TreeEntry::Other(kind) if path != "SKILL.md" && path != "skill.md" => {
                add(FaultKind::FileIrregular, format!("`{path}` is a {kind}"), "replace it with a regular file");
            }
            TreeEntry::Other(_) | TreeEntry::Directory => {}
            TreeEntry::File { content, .. } => report_content_fault(content, &mut add),
            TreeEntry::Link { content, destination: leads, target } => {
                report_content_fault(content, &mut add);
                match leads {
                    SymlinkTarget::Inside(_) => {}
                    SymlinkTarget::Nowhere => {
                        let message = format!("broken link: `{target}` does not exist");
                        add(FaultKind::SymlinkDangling, message, "replace the link with the file itself");
                    }
                    SymlinkTarget::Outside => {
                        let message = format!("the link points outside the skill's directory: `{target}`");
                        let help = "copy the file into the skill; hosts copy only its directory";
                        add(FaultKind::SymlinkOutside, message, help);
                    }
                }
            }
        }
    }
    faults
}

fn report_content_fault(content: &FileContent, add: &mut impl FnMut(FaultKind, String, &'static str)) {
    match content {
        FileContent::Bytes(_) | FileContent::NotRead => {}
        FileContent::TooLarge(limit) => {
            let message = format!("the file is larger than {limit} bytes and was not read");
            add(FaultKind::FileTooLarge, message, "move details into referenced files");
        }
        FileContent::Unreadable(reason) => {
            add(FaultKind::FileUnreadable, format!("could not read the file: {reason}"), "make the file readable");
        }
    }
}

fn parse_manifest(tree: &SkillTree, faults: &mut Vec<Fault>) -> Option<Manifest> {
    let file = ["SKILL.md", "skill.md"].into_iter().find(|file| tree.entries.contains_key(*file));
    let Some(file) = file else {
        // For a lone UASP file, only a profile of SKILL.md reports this. For a directory that was not read, nothing is
        // reported.
        if !(tree.is_lone_file && tree.entries.is_empty()) {
            let what = if tree.is_lone_file { "skill" } else { "directory" };
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
        Some(TreeEntry::Directory) => Some("directory"),
        Some(TreeEntry::Other(kind)) => Some(*kind),
        _ => None,
    } {
        let message = format!("`{file}` is a {kind}, not a file");
        faults.push(Fault::new(FaultKind::SkillMdNotAFile, file, Span::default(), message, "make it a regular file"));
        return None;
    }
    let (text, is_lossy) = decode_utf8(tree.file_bytes(file)?, file, faults);
    let mut manifest = Manifest { file, source: SourceText::new(text), is_lossy, ..Manifest::default() };
    // All further faults of a file in another encoding would be consequences of the encoding.
    if !is_utf16(tree.file_bytes(file)?) {
        parse_manifest_text(&mut manifest, faults);
    }
    Some(manifest)
}

/// Decodes UTF-8, and reports a fault if bytes were replaced.
fn decode_utf8(bytes: &[u8], file: &str, faults: &mut Vec<Fault>) -> (String, bool) {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (text.to_owned(), false),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    let message = if is_utf16(bytes) {
        "the file is UTF-16, not UTF-8".to_owned()
    } else {
        format!("byte {:#04x} is not valid UTF-8", bytes[at])
    };
    faults.push(Fault::new(FaultKind::EncodingNotUtf8, file, Span::empty_at(at), message, "save the file as UTF-8"));
    (String::from_utf8_lossy(bytes).into_owned(), true)
}

/// Whether bytes start with the byte order mark of UTF-16, which is never valid UTF-8.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

fn parse_manifest_text(manifest: &mut Manifest, faults: &mut Vec<Fault>) {
    let file = manifest.file;
    let text = manifest.source.text();
    find_byte_faults(text, file, faults);
    let parts = match skill_md::split_frontmatter(text) {
        Ok(parts) => parts,
        Err(FrontmatterFenceError::NoOpening(at)) => {
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
        Err(FrontmatterFenceError::NoClosing(at)) => {
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
    let document = if front.contains('\0') { YamlDocument::default() } else { yaml::parse(front, parts.front.start) };
    let has_nul = front.contains('\0');
    let known = faults.len();
    manifest.front = parse_frontmatter(front, parts, document, file, has_nul, faults);
    manifest.is_guessed =
        faults[known..].iter().any(|fault| fault.kind == FaultKind::YamlValueUnquoted && fault.edit.is_none());
    manifest.parts = Some(parts);
}

/// Finds faults in the raw text, independent of its meaning.
fn find_byte_faults(text: &str, file: &str, faults: &mut Vec<Fault>) {
    if text.starts_with('\u{feff}') {
        let message = "the file starts with a byte order mark".to_owned();
        let fault = Fault::new(
            FaultKind::ByteOrderMark,
            file,
            Span::new(0, 3),
            message,
            "save the file as UTF-8 without a byte order mark",
        );
        faults.push(fault.with_edit(Span::new(0, 3), ""));
    }
    // Almost no text has either, and a single pass without early exit is faster than two searches.
    let seen = text.bytes().fold(0, |seen, byte| seen | u8::from(byte == 0) | (u8::from(byte == b'\r') << 1));
    let (has_nul, has_return) = (seen & 1 != 0, seen & 2 != 0);
    if has_nul && let Some(at) = text.find('\0') {
        let message = "the file contains a NUL byte".to_owned();
        faults.push(Fault::new(
            FaultKind::NulByte,
            file,
            Span::new(at, at + 1),
            message,
            "remove it, and make sure that this is a text file",
        ));
    }
    if has_return && let Some(at) = text.find("\r\n") {
        let message = "lines end with CR LF".to_owned();
        let fault = Fault::new(FaultKind::LineEndsCrlf, file, Span::new(at, at + 2), message, "use LF line endings");
        faults.push(fault.with_edit(Span::new(0, text.len()), text.replace("\r\n", "\n")));
    }
}

fn parse_frontmatter(
    front: &str,
    parts: SkillMdParts,
    mut document: YamlDocument,
    file: &str,
    has_nul: bool,
    faults: &mut Vec<Fault>,
) -> Option<Frontmatter> {
    if document.fatal_problem().is_some()
        && let Some((repaired, quoted)) = repair::quote_broken_values(front, parts.front.start, &document)
    {
        for value in quoted {
            let message = format!("`{}` must be quoted: {}", value.key, value.problem);
            // Quoting a list or mapping with a missing bracket would turn it into text, which the author did not
            // intend.
            faults.push(if value.lacks_bracket() {
                let help = "close the bracket, or put the value in quotes if it is text";
                Fault::new(FaultKind::YamlValueUnquoted, file, value.span, message, help)
            } else {
                let fault =
                    Fault::new(FaultKind::YamlValueUnquoted, file, value.span, message, "put the value in quotes");
                fault.with_edit(value.span, value.replacement)
            });
        }
        document = repaired;
    }
    report_yaml_faults(&document, file, faults);
    if document.fatal_problem().is_some() || has_nul {
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

/// The maximum number of reported anchors, tags and duplicate keys of a document.
const REPEATS_MAX: usize = 20;

/// Converts the problems of the YAML parser to faults.
fn report_yaml_faults(document: &YamlDocument, file: &str, faults: &mut Vec<Fault>) {
    let mut oddities = 0;
    for (trouble, span) in &document.problems {
        let is_oddity = matches!(trouble, YamlProblem::Anchor | YamlProblem::Tag(_));
        if is_oddity && oddities == REPEATS_MAX {
            continue;
        }
        oddities += usize::from(is_oddity);
        faults.push(match trouble {
            YamlProblem::Syntax(message) => Fault::new(
                FaultKind::YamlInvalid,
                file,
                *span,
                format!("invalid YAML: {message}"),
                "fix the syntax; quoting a value often helps",
            ),
            YamlProblem::TooComplex(message) => Fault::new(
                FaultKind::YamlTooComplex,
                file,
                *span,
                format!("the YAML is {message}"),
                "split the file, or remove aliases",
            ),
            YamlProblem::Anchor => Fault::new(
                FaultKind::YamlAnchor,
                file,
                *span,
                "the YAML uses an anchor or alias".to_owned(),
                "repeat the value instead",
            ),
            YamlProblem::Tab => Fault::new(
                FaultKind::YamlTab,
                file,
                *span,
                "a tab where YAML requires spaces".to_owned(),
                "replace it with a space, or quote the value",
            ),
            YamlProblem::TabIndentation => Fault::new(
                FaultKind::YamlInvalid,
                file,
                *span,
                "invalid YAML: a tab in the indentation, where YAML allows only spaces".to_owned(),
                "replace the tab with spaces",
            ),
            YamlProblem::Tag(tag) => Fault::new(
                FaultKind::YamlTag,
                file,
                *span,
                format!("the YAML uses the tag `{}`", tag.replace("tag:yaml.org,2002:", "!!")),
                "remove the tag, or quote the value",
            ),
        });
    }
    for (key, span) in
        document.root.as_ref().map(yaml::find_duplicate_keys).unwrap_or_default().into_iter().take(REPEATS_MAX)
    {
        faults.push(Fault::new(
            FaultKind::YamlKeyDuplicate,
            file,
            span,
            format!("duplicate key `{key}`"),
            "remove one of the two",
        ));
    }
}

fn parse_tools_json(tree: &SkillTree, faults: &mut Vec<Fault>) -> Option<ToolsJson> {
    let file = "tools.json";
    let (text, is_lossy) = decode_utf8(tree.file_bytes(file)?, file, faults);
    let source = SourceText::new(text);
    if is_lossy {
        return Some(ToolsJson { source, root: None });
    }
    if let Err(error) = serde_json::from_str::<serde_json::Value>(source.text()) {
        let at = crate::test_config::locate_json_error(source.text(), &error);
        // The report contains the position, counted in characters; the parser counts bytes.
        let words = error.to_string();
        let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
        let message = format!("invalid JSON: {words}");
        faults.push(Fault::new(
            FaultKind::ToolsJsonInvalid,
            file,
            at,
            message,
            "regenerate it with `rep tools --write`",
        ));
        return Some(ToolsJson { source, root: None });
    }
    let root = yaml::parse(source.text(), 0).root;
    Some(ToolsJson { source, root })
}

fn parse_uasp_file(tree: &SkillTree, file: &str, faults: &mut Vec<Fault>) -> Option<UaspFile> {
    let (text, _) = decode_utf8(tree.file_bytes(file)?, file, faults);
    let source = SourceText::new(text);
    let is_foreign = is_utf16(tree.file_bytes(file)?);
    if !is_foreign {
        find_byte_faults(source.text(), file, faults);
    }
    // Further errors of the parser would be consequences of faults already reported.
    if is_foreign || source.text().contains('\0') {
        return Some(UaspFile::new(file, source, None, Vec::new()));
    }
    let mark = if source.text().starts_with('\u{feff}') { 3 } else { 0 };
    let document = yaml::parse(&source.text()[mark..], mark);
    report_yaml_faults(&document, file, faults);
    Some(UaspFile::new(file, source, document.root, document.comments))
}
