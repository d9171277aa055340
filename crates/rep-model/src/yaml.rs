//! YAML with everything kept: the span, source style and tag of every node, and every comment.
//!
//! Typing is a later step, because the specifications type differently: as text
//! ([`Node::text`]), by the YAML 1.2 core schema ([`core`]), or as PyYAML does ([`pyyaml`]).
//! Depth, node count and alias expansion are bounded; no input makes this module panic or
//! run away. Syntax comes from `granit-parser`; nothing outside this file knows that.

pub mod core;
pub mod pyyaml;
mod write;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

pub use write::{number, quote_double, quote_if_needed, write};

use crate::Span;

/// The deepest nesting that is read.
pub const DEPTH_MAX: usize = 64;
/// The most nodes a document may hold, counting what aliases expand to.
pub const NODES_MAX: usize = 100_000;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
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

/// One value of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The bytes it is written in.
    pub span: Span,
    /// What it holds.
    pub value: Value,
    /// The resolved tag, where one is written.
    pub tag: Option<String>,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, not yet typed.
    Scalar {
        /// The text after escapes and folding.
        text: String,
        /// How it is written.
        style: Style,
    },
    /// A list.
    Sequence {
        /// The items, in order.
        items: Vec<Node>,
        /// Whether it is written `[…]`.
        is_flow: bool,
    },
    /// A mapping.
    Mapping {
        /// The entries, in order.
        entries: Vec<Entry>,
        /// Whether it is written `{…}`.
        is_flow: bool,
    },
}

/// One entry of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Node,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The text of a scalar as written, whatever it might be typed as.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            Value::Sequence { .. } | Value::Mapping { .. } => None,
        }
    }

    /// The style of a scalar.
    pub fn style(&self) -> Option<Style> {
        match &self.value {
            Value::Scalar { style, .. } => Some(*style),
            Value::Sequence { .. } | Value::Mapping { .. } => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence { items, .. } => Some(items),
            Value::Scalar { .. } | Value::Mapping { .. } => None,
        }
    }

    /// The entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping { entries, .. } => Some(entries),
            Value::Scalar { .. } | Value::Sequence { .. } => None,
        }
    }

    /// The entry of a mapping whose key is written as `key`.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key.text() == Some(key))
    }

    /// The value under `key`, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value).filter(|value| !value.is_null())
    }

    /// Whether this is a plain scalar that reads as null.
    pub fn is_null(&self) -> bool {
        core::scalar(self) == Some(core::Scalar::Null)
    }

    /// A word for what this is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Sequence { .. } => "a list",
            Value::Mapping { .. } => "a mapping",
            Value::Scalar { .. } => match core::scalar(self) {
                Some(core::Scalar::Null) => "null",
                Some(core::Scalar::Bool(_)) => "a boolean",
                Some(core::Scalar::Int(_) | core::Scalar::Float(_)) => "a number",
                Some(core::Scalar::Text) | None => "text",
            },
        }
    }
}

/// Why a document could not be read, or what is odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The syntax is broken.
    Syntax(String),
    /// A bound was hit.
    TooComplex(String),
    /// An anchor or alias is used.
    Anchor,
    /// An explicit tag is used.
    Tag(String),
    /// A tab stands outside quotes, block scalars and comments, where many readers refuse it.
    Tab,
}

/// A read document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The root, unless the document is empty or broken.
    pub root: Option<Node>,
    /// What was wrong, in order of occurrence.
    pub troubles: Vec<(Trouble, Span)>,
    /// The comments, each from `#` to the end of its line.
    pub comments: Vec<Span>,
}

impl Document {
    /// The first trouble that kept the document from being read.
    pub fn fatal(&self) -> Option<&(Trouble, Span)> {
        self.troubles.iter().find(|(trouble, _)| matches!(trouble, Trouble::Syntax(_) | Trouble::TooComplex(_)))
    }
}

/// Reads one document. Spans are offset by `base`, so that a part of a file can be read.
pub fn parse(text: &str, base: usize) -> Document {
    let mut options = granit_parser::Options::default();
    options.emit_anchor_events = true;
    options.flow_nesting_limit = DEPTH_MAX;
    options.block_nesting_limit = DEPTH_MAX;
    options.max_buffered_comment_events = usize::MAX;
    let mut builder =
        Builder { text, base, document: Document::default(), open: Vec::new(), anchors: Vec::new(), nodes: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        let stop = match next {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
                let trouble = match error.kind() {
                    kind if is_limit(kind) => Trouble::TooComplex(format!("nested more than {DEPTH_MAX} deep")),
                    _ => Trouble::Syntax(error.info()),
                };
                builder.trouble(trouble, Span::at(at + base));
                Err(())
            }
        };
        if stop.is_err() {
            builder.document.root = None;
            break;
        }
    }
    if let Some(tab) =
        builder.document.root.as_ref().and_then(|root| first_tab(text, base, root, &builder.document.comments))
    {
        builder.trouble(Trouble::Tab, tab);
    }
    builder.document
}

/// The first tab outside quoted and block scalars and comments.
fn first_tab(text: &str, base: usize, root: &Node, comments: &[Span]) -> Option<Span> {
    if !text.contains('\t') {
        return None;
    }
    let mut covered: Vec<Span> = comments.to_vec();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match &node.value {
            Value::Scalar { style: Style::Plain, .. } => {}
            Value::Scalar { .. } => covered.push(node.span),
            Value::Sequence { items, .. } => open.extend(items),
            Value::Mapping { entries, .. } => open.extend(entries.iter().flat_map(|entry| [&entry.key, &entry.value])),
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

fn is_limit(kind: &granit_parser::ErrorKind) -> bool {
    let name = format!("{kind:?}");
    name.contains("Nesting") || name.contains("Recursion") || name.contains("TooMany")
}

/// A collection whose end has not been seen.
struct Open {
    span: Span,
    tag: Option<String>,
    anchor: usize,
    is_flow: bool,
    content: Partial,
}

enum Partial {
    Items(Vec<Node>),
    Entries { done: Vec<Entry>, key: Option<Node> },
}

struct Builder<'a> {
    text: &'a str,
    base: usize,
    document: Document,
    open: Vec<Open>,
    anchors: Vec<(usize, Node)>,
    nodes: usize,
}

impl Builder<'_> {
    fn trouble(&mut self, trouble: Trouble, span: Span) {
        self.document.troubles.push((trouble, span));
    }

    fn span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        Span::new(range.start + self.base, range.end + self.base)
    }

    fn take(&mut self, event: Event<'_>, span: granit_parser::Span) -> Result<(), ()> {
        let at = self.span(span);
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                };
                let tag = self.tag(tag.as_deref(), span, at);
                let at = if matches!(style, Style::Literal | Style::Folded) { self.block_scalar(at) } else { at };
                // The parser writes `~` for a value that is not there; the source is what counts.
                let text = if style == Style::Plain && at.start == at.end { String::new() } else { value.into_owned() };
                self.add(Node { span: at, value: Value::Scalar { text, style }, tag }, anchor)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let tag = self.tag(tag.as_deref(), span, at);
                let at = if style == StructureStyle::Block { self.first_dash(at) } else { at };
                self.start(at, style, anchor, tag, Partial::Items(Vec::new()))
            }
            Event::MappingStart(style, anchor, tag) => {
                let tag = self.tag(tag.as_deref(), span, at);
                self.start(at, style, anchor, tag, Partial::Entries { done: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(at),
            Event::Alias(id) => self.alias(id, at),
            Event::Anchor(..) => {
                self.trouble(Trouble::Anchor, at);
                Ok(())
            }
            Event::Comment(..) => {
                self.document.comments.push(at);
                Ok(())
            }
            Event::DocumentStart(..) if self.document.root.is_some() => {
                self.trouble(Trouble::Syntax("a second document starts here".to_owned()), at);
                Err(())
            }
            _ => Ok(()),
        }
    }

    /// Widens the span of a block scalar's content to its `|` or `>`, and drops trailing line ends.
    fn block_scalar(&self, content: Span) -> Span {
        let start = content.start - self.base;
        let head = self.text[..start].trim_end();
        let line = &head[head.rfind('\n').map_or(0, |newline| newline + 1)..];
        let is_header = |rest: &str| {
            let rest = rest[1..].trim_start_matches(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
            rest.trim_start().is_empty() || (rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#'))
        };
        let indicator = line.match_indices(['|', '>']).map(|(at, _)| at).find(|at| is_header(&line[*at..]));
        let from = indicator.map_or(start, |at| head.len() - line.len() + at);
        // The parser's end may lie at the next line's first letter.
        let body = self.text[..content.end - self.base].trim_end();
        Span::new(from + self.base, body.len().max(from) + self.base)
    }

    /// Widens the span of a block list to its first `-`, behind which the parser starts a list that is not indented.
    fn first_dash(&self, at: Span) -> Span {
        let start = at.start - self.base;
        if self.text[start..].starts_with('-') {
            return at;
        }
        let head = self.text[..start].trim_end_matches([' ', '\t']);
        if head.ends_with('-') { Span::new(head.len() - 1 + self.base, at.end) } else { at }
    }

    fn tag(&mut self, tag: Option<&granit_parser::Tag>, span: granit_parser::Span, at: Span) -> Option<String> {
        let tag = tag?;
        let name = format!("{}{}", tag.handle(), tag.suffix());
        let place = span.tag_span().map_or(at, |tag| self.span(tag));
        self.trouble(Trouble::Tag(name.clone()), place);
        Some(name)
    }

    fn start(
        &mut self,
        span: Span,
        style: StructureStyle,
        anchor: usize,
        tag: Option<String>,
        content: Partial,
    ) -> Result<(), ()> {
        if self.open.len() >= DEPTH_MAX {
            self.trouble(Trouble::TooComplex(format!("nested more than {DEPTH_MAX} deep")), span);
            return Err(());
        }
        self.open.push(Open { span, tag, anchor, is_flow: style == StructureStyle::Flow, content });
        Ok(())
    }

    fn end(&mut self, at: Span) -> Result<(), ()> {
        let Some(Open { span, tag, anchor, is_flow, content }) = self.open.pop() else { return Err(()) };
        let (value, last) = match content {
            Partial::Items(items) => {
                let last = items.last().map(|item| item.span.end);
                (Value::Sequence { items, is_flow }, last)
            }
            Partial::Entries { done, .. } => {
                let last = done.last().map(|entry| entry.value.span.end.max(entry.key.span.end));
                (Value::Mapping { entries: done, is_flow }, last)
            }
        };
        // A block collection ends with its last child; the parser's end mark lies at the next token.
        let end = if is_flow { at.end } else { last.unwrap_or(span.end) };
        self.add(Node { span: Span::new(span.start, end.max(span.start)), value, tag }, anchor)
    }

    fn alias(&mut self, id: usize, at: Span) -> Result<(), ()> {
        self.trouble(Trouble::Anchor, at);
        let Some((_, target)) = self.anchors.iter().rev().find(|(anchor, _)| *anchor == id) else {
            self.trouble(Trouble::Syntax("an alias inside the value it stands for".to_owned()), at);
            return Err(());
        };
        let mut copy = target.clone();
        copy.span = at;
        self.nodes += count(&copy, NODES_MAX.saturating_sub(self.nodes));
        self.add(copy, 0)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), ()> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            self.trouble(Trouble::TooComplex(format!("more than {NODES_MAX} values, aliases expanded")), node.span);
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
            Partial::Items(items) => items.push(node),
            Partial::Entries { done, key } => match key.take() {
                None => *key = Some(node),
                Some(key) => done.push(Entry { key, value: node }),
            },
        }
        Ok(())
    }
}

/// Counts the nodes below and at `node`, giving up once past `most`.
fn count(node: &Node, most: usize) -> usize {
    let mut total = 1;
    let mut children: Vec<&Node> = vec![node];
    while let Some(node) = children.pop() {
        match &node.value {
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => children.extend(items),
            Value::Mapping { entries, .. } => {
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

/// The keys that stand twice in some mapping, each with the span of the later one.
pub fn duplicate_keys(root: &Node) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match &node.value {
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => open.extend(items),
            Value::Mapping { entries, .. } => {
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
