//! A document that a request is about, with the skill it belongs to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_model::markdown::{self, MarkdownOutline};
use rep_model::yaml::YamlNode;
use rep_model::{Manifest, Span, UaspFile};
use serde_json::{Value, json};

use crate::bundle::ParsedSkill;
use crate::position::{LineIndex, LspPosition, PositionEncoding};
use crate::session::Session;

/// What a document is in its skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// The SKILL.md.
    Manifest,
    /// A `*.uasp.yaml` file in the skill's own directory.
    Uasp,
    /// The `tools.json`.
    ToolsJson,
    /// Another Markdown file.
    Markdown,
    /// Any other file.
    Other,
}

/// An open document, and the skill it belongs to.
pub(crate) struct DocumentView {
    /// The path.
    pub(crate) path: PathBuf,
    /// The URI, as the client writes it.
    pub(crate) uri: String,
    /// The text.
    pub(crate) text: Arc<str>,
    /// The lines of the text.
    pub(crate) lines: LineIndex,
    /// The encoding of positions.
    pub(crate) encoding: PositionEncoding,
    /// The innermost skill that contains the document, parsed with its newest text.
    pub(crate) parsed: Arc<ParsedSkill>,
    /// The path of the document in the skill.
    pub(crate) relative: String,
    /// What the document is in the skill.
    pub(crate) kind: DocumentKind,
    /// The workspace folder.
    pub(crate) root: Option<PathBuf>,
    outline: std::cell::OnceCell<MarkdownOutline>,
}

impl Session {
    /// Returns the document that a request is about. Documents that belong to no skill have no view.
    pub(crate) fn view(&mut self, params: &Value) -> Option<DocumentView> {
        self.view_path(&Self::document_path(params)?)
    }

    /// Returns the open document with a path.
    pub(crate) fn view_path(&mut self, path: &Path) -> Option<DocumentView> {
        if !self.documents.contains_key(path) {
            return None;
        }
        let key = self.load_bundle(path)?;
        let bundle = self.bundles.get_mut(&key)?;
        bundle.refresh(&self.open);
        let parsed = Arc::clone(bundle.innermost(path)?);
        let relative = parsed.relative_path(path)?;
        let document = self.documents.get(path)?;
        Some(DocumentView {
            path: path.to_owned(),
            uri: document.uri.clone(),
            text: Arc::clone(&document.text),
            lines: document.lines.clone(),
            encoding: self.features.encoding,
            kind: classify(&relative),
            parsed,
            relative,
            root: bundle.root.clone(),
            outline: std::cell::OnceCell::new(),
        })
    }
}

/// Returns what a file is in its skill.
pub(crate) fn classify(relative: &str) -> DocumentKind {
    let has_ending = |ending: &str| relative.to_ascii_lowercase().ends_with(ending);
    match relative {
        "SKILL.md" | "skill.md" => DocumentKind::Manifest,
        "tools.json" => DocumentKind::ToolsJson,
        _ if has_ending(rep_model::uasp::FILE_SUFFIX) && !relative.contains('/') => DocumentKind::Uasp,
        _ if has_ending(".md") || has_ending(".markdown") => DocumentKind::Markdown,
        _ => DocumentKind::Other,
    }
}

impl DocumentView {
    /// Returns the SKILL.md, if this is it.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.parsed.skill.manifest.as_ref().filter(|manifest| manifest.file == self.relative)
    }

    /// Returns the UASP file, if this is one.
    pub(crate) fn uasp(&self) -> Option<&UaspFile> {
        self.parsed.skill.uasp.iter().find(|uasp| uasp.file == self.relative)
    }

    /// Returns the root of the document's data: the frontmatter, the UASP file or the JSON.
    pub(crate) fn data(&self) -> Option<&YamlNode> {
        match self.kind {
            DocumentKind::Manifest => self.manifest()?.front.as_ref().map(|front| &front.root),
            DocumentKind::Uasp => self.uasp()?.root.as_ref(),
            DocumentKind::ToolsJson => self.parsed.skill.tools_json.as_ref()?.root.as_ref(),
            DocumentKind::Markdown | DocumentKind::Other => None,
        }
    }

    /// Returns the location of the Markdown text, or `None` if the document is not Markdown.
    pub(crate) fn body_span(&self) -> Option<Span> {
        match self.kind {
            DocumentKind::Manifest => self.manifest().map(Manifest::body_span),
            DocumentKind::Markdown => Some(Span::new(0, self.text.len())),
            DocumentKind::Uasp | DocumentKind::ToolsJson | DocumentKind::Other => None,
        }
    }

    /// Returns the outline of the Markdown text. It is empty if the document is not Markdown.
    pub(crate) fn outline(&self) -> &MarkdownOutline {
        self.outline.get_or_init(|| {
            let Some(body) = self.body_span() else { return MarkdownOutline::default() };
            self.text.get(body.range()).map(|text| markdown::parse_outline(text, body.start)).unwrap_or_default()
        })
    }

    /// Returns the offset of a position.
    pub(crate) fn offset(&self, position: LspPosition) -> usize {
        self.lines.offset_at(&self.text, position, self.encoding)
    }

    /// Returns the offset of the position of a request.
    pub(crate) fn offset_of(&self, params: &Value) -> Option<usize> {
        Some(self.offset(LspPosition::from_json(params.get("position")?)?))
    }

    /// Returns a span as a range of the protocol.
    pub(crate) fn range(&self, span: Span) -> Value {
        let start = self.lines.position_at(&self.text, span.start, self.encoding);
        let end = self.lines.position_at(&self.text, span.end.max(span.start), self.encoding);
        json!({ "start": start.to_json(), "end": end.to_json() })
    }

    /// Returns the span of a range of the protocol.
    pub(crate) fn span_of(&self, range: &Value) -> Option<Span> {
        let start = self.offset(LspPosition::from_json(range.get("start")?)?);
        let end = self.offset(LspPosition::from_json(range.get("end")?)?);
        Some(Span::new(start.min(end), start.max(end)))
    }

    /// Returns the text of a span, or an empty text if the span is out of range.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Returns the number of the line that contains an offset.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines.line_of(offset.min(self.text.len()))
    }
}

/// Returns the location of a scalar's text without its quotes, if the text is written as it is.
pub(crate) fn inner_span(text: &str, node: &YamlNode) -> Option<Span> {
    let value = node.text()?;
    let source = text.get(node.span.range())?;
    if source == value {
        return Some(node.span);
    }
    let at = source.find(value).filter(|_| !value.is_empty())?;
    let is_quoted = source.starts_with(['"', '\'']) && at == 1 && source.len() == value.len() + 2;
    is_quoted.then(|| Span::new(node.span.start + 1, node.span.end - 1))
}
