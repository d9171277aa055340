//! Lossless YAML: the span, source style and tag of every node, and every comment.
//!
//! Typing is a later step, because the specifications type differently: as text ([`YamlNode::text`]), by the YAML 1.2
//! core schema ([`core`]), or like PyYAML ([`pyyaml`]). Depth, node count and alias expansion are bounded, so no input
//! makes this module panic or run without end. `granit-parser` parses the syntax; no other file depends on it.

pub mod core;
pub mod pyyaml;
mod writer;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

pub use writer::{format_number, quote_double, quote_if_needed, render_document};

use crate::Span;

/// The maximum nesting depth.
pub const DEPTH_MAX: usize = 64;
/// The maximum number of nodes in a document, including expanded aliases.
pub const NODES_MAX: usize = 100_000;

/// The style of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode {
    /// The location.
    pub span: Span,
    /// The content.
    pub value: YamlValue,
    /// The resolved tag, if there is one.
    pub tag: Option<String>,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    /// Text, not yet typed.
    Scalar {
        /// The text after escapes and folding.
        text: String,
        /// The style in the source.
        style: YamlScalarStyle,
    },
    /// A list.
    Sequence {
        /// The items, in order.
        items: Vec<YamlNode>,
        /// Whether it is written `[…]`.
        is_flow: bool,
    },
    /// A mapping.
    Mapping {
        /// The entries, in order.
        entries: Vec<YamlEntry>,
        /// Whether it is written `{…}`.
        is_flow: bool,
    },
}

/// An entry of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlEntry {
    /// The key.
    pub key: YamlNode,
    /// The value.
    pub value: YamlNode,
}

impl YamlNode {
    /// Returns the text of a scalar as written, regardless of its type.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Scalar { text, .. } => Some(text),
            YamlValue::Sequence { .. } | YamlValue::Mapping { .. } => None,
        }
    }

    /// Returns the style of a scalar.
    pub fn style(&self) -> Option<YamlScalarStyle> {
        match &self.value {
            YamlValue::Scalar { style, .. } => Some(*style),
            YamlValue::Sequence { .. } | YamlValue::Mapping { .. } => None,
        }
    }

    /// Returns the items of a list.
    pub fn items(&self) -> Option<&[YamlNode]> {
        match &self.value {
            YamlValue::Sequence { items, .. } => Some(items),
            YamlValue::Scalar { .. } | YamlValue::Mapping { .. } => None,
        }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[YamlEntry]> {
        match &self.value {
            YamlValue::Mapping { entries, .. } => Some(entries),
            YamlValue::Scalar { .. } | YamlValue::Sequence { .. } => None,
        }
    }

    /// Finds the entry of a mapping with the key `key`.
    pub fn find_entry(&self, key: &str) -> Option<&YamlEntry> {
        self.entries()?.iter().find(|entry| entry.key.text() == Some(key))
    }

    /// Returns the value of `key`, unless it is null.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.find_entry(key).map(|entry| &entry.value).filter(|value| !value.is_null())
    }

    /// Whether this is a plain scalar that YAML reads as null.
    pub fn is_null(&self) -> bool {
        core::classify_scalar(self) == Some(core::CoreScalar::Null)
    }

    /// Describes the kind of the node, for messages.
    pub fn describe_kind(&self) -> &'static str {
        match &self.value {
            YamlValue::Sequence { .. } => "a list",
            YamlValue::Mapping { .. } => "a mapping",
            YamlValue::Scalar { .. } => match core::classify_scalar(self) {
                Some(core::CoreScalar::Null) => "null",
                Some(core::CoreScalar::Bool(_)) => "a boolean",
                Some(core::CoreScalar::Int(_) | core::CoreScalar::Float(_)) => "a number",
                Some(core::CoreScalar::Text) | None => "text",
            },
        }
    }
}

/// A problem of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlProblem {
    /// The syntax is invalid.
    Syntax(String),
    /// A limit was exceeded.
    TooComplex(String),
    /// An anchor or alias is used.
    Anchor,
    /// An explicit tag is used.
    Tag(String),
    /// A tab outside quotes, block scalars and comments, which many parsers reject.
    Tab,
    /// A tab in the indentation of a line, because of which the document could not be parsed.
    TabIndentation,
}

/// A parsed document.
#[derive(Clone, Debug, Default)]
pub struct YamlDocument {
    /// The root, unless the document is empty or invalid.
    pub root: Option<YamlNode>,
    /// The problems, in order of occurrence.
    pub problems: Vec<(YamlProblem, Span)>,
    /// The comments, each from `#` to the end of its line.
    pub comments: Vec<Span>,
}

impl YamlDocument {
    /// Returns the first problem that prevented parsing.
    pub fn fatal_problem(&self) -> Option<&(YamlProblem, Span)> {
        let is_fatal = |trouble: &YamlProblem| {
            matches!(trouble, YamlProblem::Syntax(_) | YamlProblem::TooComplex(_) | YamlProblem::TabIndentation)
        };
        self.problems.iter().find(|(trouble, _)| is_fatal(trouble))
    }
}

/// Parses one document. Spans are offset by `base`, so that a part of a file can be parsed.
pub fn parse(text: &str, base: usize) -> YamlDocument {
    let mut options = granit_parser::Options::default();
    options.emit_anchor_events = true;
    options.flow_nesting_limit = DEPTH_MAX;
    options.block_nesting_limit = DEPTH_MAX;
    options.max_buffered_comment_events = usize::MAX;
    let mut builder =
        NodeBuilder { text, base, document: YamlDocument::default(), open: Vec::new(), anchors: Vec::new(), nodes: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        let stop = match next {
            Ok((event, span)) => builder.handle_event(event, span),
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
                let (trouble, span) = match error.kind() {
                    kind if is_limit_error(kind) => {
                        let message = format!("nested more than {DEPTH_MAX} levels deep");
                        (YamlProblem::TooComplex(message), Span::empty_at(at))
                    }
                    _ => match find_indenting_tab(text, at) {
                        Some(tab) => (YamlProblem::TabIndentation, tab),
                        None => (YamlProblem::Syntax(error.info()), Span::empty_at(at)),
                    },
                };
                builder.add_problem(trouble, Span::new(span.start + base, span.end + base));
                Err(())
            }
        };
        if stop.is_err() {
            builder.document.root = None;
            break;
        }
    }
    if let Some(tab) =
        builder.document.root.as_ref().and_then(|root| find_first_tab(text, base, root, &builder.document.comments))
    {
        builder.add_problem(YamlProblem::Tab, tab);
    }
    builder.document
}

/// Finds the first tab outside quoted scalars, block scalars and comments.
fn find_first_tab(text: &str, base: usize, root: &YamlNode, comments: &[Span]) -> Option<Span> {
    if !text.contains('\t') {
        return None;
    }
    let mut covered: Vec<Span> = comments.to_vec();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match &node.value {
            YamlValue::Scalar { style: YamlScalarStyle::Plain, .. } => {}
            YamlValue::Scalar { .. } => covered.push(node.span),
            YamlValue::Sequence { items, .. } => open.extend(items),
            YamlValue::Mapping { entries, .. } => {
                open.extend(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
        }
    }
    covered.sort();
    let mut next = 0;
    for (at, _) in text.match_indices('\t') {
        let at = at + base;
        while next < covered.len() && covered[next].end <= at {
            next += 1;
        }
        if next == covered.len() || at < covered[next].start {
            return Some(Span::new(at, at + 1));
        }
    }
    None
}

/// Finds a tab in the indentation of the line that contains `at`, or at the start of a line next to it, because parsers
/// report the token before or after a tab. A tab after spaces in those lines can be part of a block scalar.
fn find_indenting_tab(text: &str, at: usize) -> Option<Span> {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
    let line_start = |end: usize| text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let this = line_start(at);
    let before = this.checked_sub(1).map(line_start);
    let after = text[at..].find('\n').map(|newline| at + newline + 1);
    let find_tab = |start: usize| {
        let line = text[start..].split('\n').next().unwrap_or("");
        let content = line.find(|letter| letter != ' ' && letter != '\t').filter(|_| !line.trim().is_empty())?;
        line[..content].find('\t').map(|tab| Span::new(start + tab, start + tab + 1))
    };
    let find_leading_tab = |start: usize| find_tab(start).filter(|tab| tab.start == start);
    find_tab(this).or_else(|| [before, after].into_iter().flatten().find_map(find_leading_tab))
}

fn is_limit_error(kind: &granit_parser::ErrorKind) -> bool {
    let name = format!("{kind:?}");
    name.contains("Nesting") || name.contains("Recursion") || name.contains("TooMany")
}

/// A collection that is not yet complete.
struct OpenCollection {
    span: Span,
    tag: Option<String>,
    anchor: usize,
    is_flow: bool,
    content: PartialContent,
}

enum PartialContent {
    Items(Vec<YamlNode>),
    Entries { done: Vec<YamlEntry>, key: Option<YamlNode> },
}

struct NodeBuilder<'a> {
    text: &'a str,
    base: usize,
    document: YamlDocument,
    open: Vec<OpenCollection>,
    anchors: Vec<(usize, YamlNode)>,
    nodes: usize,
}

impl NodeBuilder<'_> {
    fn add_problem(&mut self, trouble: YamlProblem, span: Span) {
        self.document.problems.push((trouble, span));
    }

    fn convert_span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        Span::new(range.start + self.base, range.end + self.base)
    }

    fn handle_event(&mut self, event: Event<'_>, span: granit_parser::Span) -> Result<(), ()> {
        let at = self.convert_span(span);
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => YamlScalarStyle::Plain,
                    ScalarStyle::SingleQuoted => YamlScalarStyle::SingleQuoted,
                    ScalarStyle::DoubleQuoted => YamlScalarStyle::DoubleQuoted,
                    ScalarStyle::Literal => YamlScalarStyle::Literal,
                    ScalarStyle::Folded => YamlScalarStyle::Folded,
                };
                let tag = self.record_tag(tag.as_deref(), span, at);
                let at = if matches!(style, YamlScalarStyle::Literal | YamlScalarStyle::Folded) {
                    self.widen_block_scalar(at)
                } else {
                    at
                };
                // The parser returns `~` for a missing value; the source has no text.
                let text = if style == YamlScalarStyle::Plain && at.start == at.end {
                    String::new()
                } else {
                    value.into_owned()
                };
                self.add_node(YamlNode { span: at, value: YamlValue::Scalar { text, style }, tag }, anchor)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let tag = self.record_tag(tag.as_deref(), span, at);
                let at = if style == StructureStyle::Block { self.widen_to_first_dash(at) } else { at };
                self.start_collection(at, style, anchor, tag, PartialContent::Items(Vec::new()))
            }
            Event::MappingStart(style, anchor, tag) => {
                let tag = self.record_tag(tag.as_deref(), span, at);
                self.start_collection(at, style, anchor, tag, PartialContent::Entries { done: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end_collection(at),
            Event::Alias(id) => self.expand_alias(id, at),
            Event::Anchor(..) => {
                self.add_problem(YamlProblem::Anchor, at);
                Ok(())
            }
            Event::Comment(..) => {
                self.document.comments.push(at);
                Ok(())
            }
            Event::DocumentStart(..) if self.document.root.is_some() => {
                self.add_problem(YamlProblem::Syntax("a second document starts here".to_owned()), at);
                Err(())
            }
            _ => Ok(()),
        }
    }

    /// Extends the span of a block scalar's content to its `|` or `>`, and removes trailing line endings.
    fn widen_block_scalar(&self, content: Span) -> Span {
        let start = content.start - self.base;
        let head = self.text[..start].trim_end();
        let line = &head[head.rfind('\n').map_or(0, |newline| newline + 1)..];
        let is_header = |rest: &str| {
            let rest = rest[1..].trim_start_matches(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
            rest.trim_start().is_empty() || (rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#'))
        };
        let indicator = line.match_indices(['|', '>']).map(|(at, _)| at).find(|at| is_header(&line[*at..]));
        let from = indicator.map_or(start, |at| head.len() - line.len() + at);
        // The parser's end may be the first character of the next line.
        let body = self.text[..content.end - self.base].trim_end();
        Span::new(from + self.base, body.len().max(from) + self.base)
    }

    /// Extends the span of a block list to its first `-`. The parser starts a list that is not indented after the `-`.
    fn widen_to_first_dash(&self, at: Span) -> Span {
        let start = at.start - self.base;
        if self.text[start..].starts_with('-') {
            return at;
        }
        let head = self.text[..start].trim_end_matches([' ', '\t']);
        if head.ends_with('-') { Span::new(head.len() - 1 + self.base, at.end) } else { at }
    }

    fn record_tag(&mut self, tag: Option<&granit_parser::Tag>, span: granit_parser::Span, at: Span) -> Option<String> {
        let tag = tag?;
        let name = format!("{}{}", tag.handle(), tag.suffix());
        let place = span.tag_span().map_or(at, |tag| self.convert_span(tag));
        self.add_problem(YamlProblem::Tag(name.clone()), place);
        Some(name)
    }

    fn start_collection(
        &mut self,
        span: Span,
        style: StructureStyle,
        anchor: usize,
        tag: Option<String>,
        content: PartialContent,
    ) -> Result<(), ()> {
        if self.open.len() >= DEPTH_MAX {
            self.add_problem(YamlProblem::TooComplex(format!("nested more than {DEPTH_MAX} levels deep")), span);
            return Err(());
        }
        self.open.push(OpenCollection { span, tag, anchor, is_flow: style == StructureStyle::Flow, content });
        Ok(())
    }

    fn end_collection(&mut self, at: Span) -> Result<(), ()> {
        let Some(OpenCollection { span, tag, anchor, is_flow, content }) = self.open.pop() else { return Err(()) };
        let (value, last) = match content {
            PartialContent::Items(items) => {
                let last = items.last().map(|item| item.span.end);
                (YamlValue::Sequence { items, is_flow }, last)
            }
            PartialContent::Entries { done, .. } => {
                let last = done.last().map(|entry| entry.value.span.end.max(entry.key.span.end));
                (YamlValue::Mapping { entries: done, is_flow }, last)
            }
        };
        // A block collection ends with its last child; the parser's end is at the next token.
        let end = if is_flow { at.end } else { last.unwrap_or(span.end) };
        self.add_node(YamlNode { span: Span::new(span.start, end.max(span.start)), value, tag }, anchor)
    }

    fn expand_alias(&mut self, id: usize, at: Span) -> Result<(), ()> {
        self.add_problem(YamlProblem::Anchor, at);
        let Some((_, target)) = self.anchors.iter().rev().find(|(anchor, _)| *anchor == id) else {
            self.add_problem(YamlProblem::Syntax("the alias refers to a value that contains it".to_owned()), at);
            return Err(());
        };
        let mut copy = target.clone();
        copy.span = at;
        self.nodes += count_nodes(&copy, NODES_MAX.saturating_sub(self.nodes));
        self.add_node(copy, 0)
    }

    fn add_node(&mut self, node: YamlNode, anchor: usize) -> Result<(), ()> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            self.add_problem(
                YamlProblem::TooComplex(format!("too large: more than {NODES_MAX} values after alias expansion")),
                node.span,
            );
            return Err(());
        }
        if anchor != 0 {
            self.anchors.push((anchor, node.clone()));
        }
        let Some(parent) = self.open.last_mut() else {
            self.document.root = Some(node);
            return Ok(());
        };
        match &mut parent.content {
            PartialContent::Items(items) => items.push(node),
            PartialContent::Entries { done, key } => match key.take() {
                None => *key = Some(node),
                Some(key) => done.push(YamlEntry { key, value: node }),
            },
        }
        Ok(())
    }
}

/// Counts the nodes at and below `node`, and stops after `most`.
fn count_nodes(node: &YamlNode, most: usize) -> usize {
    let mut total = 1;
    let mut children: Vec<&YamlNode> = vec![node];
    while let Some(node) = children.pop() {
        match &node.value {
            YamlValue::Scalar { .. } => {}
            YamlValue::Sequence { items, .. } => children.extend(items),
            YamlValue::Mapping { entries, .. } => {
                children.extend(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
        }
        total += 1;
        if total > most {
            break;
        }
    }
    total
}

/// Finds duplicate keys in all mappings, each with the span of the later one.
pub fn find_duplicate_keys(root: &YamlNode) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match &node.value {
            YamlValue::Scalar { .. } => {}
            YamlValue::Sequence { items, .. } => open.extend(items),
            YamlValue::Mapping { entries, .. } => {
                let mut seen = std::collections::BTreeSet::new();
                for entry in entries {
                    if let Some(key) = entry.key.text()
                        && !seen.insert(key)
                    {
                        found.push((key.to_owned(), entry.key.span));
                    }
                    open.push(&entry.key);
                    open.push(&entry.value);
                }
            }
        }
    }
    found.sort_by_key(|(_, span)| *span);
    found
}

#[cfg(test)]
mod tests;
