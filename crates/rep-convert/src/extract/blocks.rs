//! Cuts a Markdown body into a flat list of blocks: headings, paragraphs, list items, tables and code.
//!
//! Flat, because nothing here may recurse on the depth of its input: a block knows its heading, its list item and
//! how deep it stands, by number. Follows `CommonMark` with tables.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::html::{self, Piece};
use super::notices::{self, Notice};

/// Text without emphasis; code keeps its backticks, so that nothing in it is mistaken for words.
#[derive(Clone, Debug, Default)]
pub(super) struct Prose {
    pub(super) text: String,
    /// What was strong, at most once per place.
    pub(super) strongs: Vec<Range<usize>>,
    /// Code with its backticks.
    pub(super) codes: Vec<Range<usize>>,
    /// The text of links, and where they point.
    pub(super) links: Vec<(Range<usize>, String)>,
    /// Where a line of the source ended without ending the paragraph.
    pub(super) breaks: Vec<usize>,
    /// From which place of the text on it stands on which line of the file.
    lines: Vec<(usize, usize)>,
}

impl Prose {
    /// The line of the file a place of the text stands on.
    pub(super) fn line_at(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|(from, _)| *from <= at);
        self.lines.get(after.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }

    /// The code inside a range, without backticks.
    pub(super) fn codes_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.codes.partition_point(|code| code.start < range.start);
        let inside = self.codes[first..].iter().take_while(move |code| code.end <= range.end);
        inside.map(|code| self.text[code.clone()].trim_matches('`').trim())
    }

    /// The links inside a range.
    pub(super) fn links_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.links.partition_point(|(link, _)| link.start < range.start);
        let inside = self.links[first..].iter().take_while(move |(link, _)| link.end <= range.end);
        inside.map(|(_, target)| target.as_str())
    }

    /// Takes some bytes off the front; what was marked there is forgotten.
    fn drop_front(&mut self, length: usize) {
        let moved = |range: &Range<usize>| range.start.saturating_sub(length)..range.end.saturating_sub(length);
        self.text.drain(..length);
        self.strongs = self.strongs.iter().map(moved).filter(|range| range.start < range.end).collect();
        self.codes = self.codes.iter().map(moved).filter(|range| range.start < range.end).collect();
        self.links.retain(|(range, _)| range.start >= length);
        self.links.iter_mut().for_each(|(range, _)| *range = moved(range));
        self.breaks = self.breaks.iter().filter_map(|at| at.checked_sub(length)).collect();
        let first = self.lines.partition_point(|(from, _)| *from <= length).saturating_sub(1);
        self.lines.drain(..first);
        self.lines.iter_mut().for_each(|(from, _)| *from = from.saturating_sub(length));
    }

    fn push(&mut self, words: &str, line: usize) {
        if self.lines.last().is_none_or(|(_, last)| *last != line) {
            self.lines.push((self.text.len(), line));
        }
        self.text.push_str(words);
    }
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading, 1 to 6.
    Heading(u8),
    Paragraph,
    /// The first paragraph of a list item, with its number where the list is ordered.
    Item(Option<u64>),
    /// Code, with the first word after the fence in lower case.
    Code(String),
    Table,
}

/// One block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) prose: Prose,
    /// The rows of a table, the header first.
    pub(super) rows: Vec<Vec<Prose>>,
    /// How many lists it stands in.
    pub(super) depth: usize,
    pub(super) is_quoted: bool,
    /// The box of the author's it stands in.
    pub(super) notice: Option<Notice>,
    /// The heading above it, by number of block; for a heading the one it stands below.
    pub(super) heading: Option<usize>,
    /// The list item it stands in, by number of block; for an item the one around its list.
    pub(super) item: Option<usize>,
    /// The list an item belongs to.
    pub(super) list: usize,
    /// The line it starts on.
    pub(super) line: usize,
}

impl Block {
    pub(super) fn is_item(&self) -> bool {
        matches!(self.kind, Kind::Item(_))
    }

    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.kind, Kind::Item(Some(_)))
    }

    pub(super) fn is_heading(&self) -> bool {
        matches!(self.kind, Kind::Heading(_))
    }

    pub(super) fn is_prose(&self) -> bool {
        self.is_item() || self.kind == Kind::Paragraph
    }

    /// The language of code.
    pub(super) fn language(&self) -> Option<&str> {
        match &self.kind {
            Kind::Code(language) => Some(language),
            _ => None,
        }
    }
}

/// The most blocks that are read. The longest skills people write have a few thousand; what has more was made to hurt.
const BLOCKS_MAX: usize = 50_000;

/// Cuts a body into blocks. `first_line` is the line of the file the body starts on.
pub(super) fn blocks(body: &str, first_line: usize) -> Vec<Block> {
    let mut cutter = Cutter {
        newlines: body.match_indices('\n').map(|(at, _)| at).collect(),
        first_line,
        blocks: Vec::new(),
        open: None,
        headings: Vec::new(),
        lists: Vec::new(),
        items: Vec::new(),
        quotes: Vec::new(),
        fenced: None,
        list_count: 0,
        strong: None,
        link: None,
        cell: None,
        html: None,
    };
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS).into_offset_iter() {
        cutter.take(event, &range);
        if cutter.blocks.len() >= BLOCKS_MAX {
            break;
        }
    }
    cutter.close();
    cutter.blocks
}

struct Cutter {
    newlines: Vec<usize>,
    first_line: usize,
    blocks: Vec<Block>,
    open: Option<Block>,
    /// The headings above, one per level at most.
    headings: Vec<(u8, usize)>,
    /// The lists around: their number, and the next number of their items.
    lists: Vec<(usize, Option<u64>)>,
    /// The items around; `None` until their block is closed and has a number.
    items: Vec<Option<usize>>,
    quotes: Vec<Quote>,
    /// The box around that is fenced by colons.
    fenced: Option<Notice>,
    list_count: usize,
    strong: Option<usize>,
    link: Option<(usize, String)>,
    /// The cell of a table that is open.
    cell: Option<Prose>,
    /// The HTML that is open, with how many lists and items it opened.
    html: Option<Html>,
}

/// A quotation around: whether its first text was read, and the box it is then.
#[derive(Clone, Copy, Default)]
struct Quote {
    is_read: bool,
    notice: Option<Notice>,
}

/// HTML that is open.
#[derive(Default)]
struct Html {
    reader: html::Reader,
    lists: usize,
    items: usize,
}

/// The deepest list of HTML; what is deeper was made to hurt.
const HTML_DEPTH_MAX: usize = 20;

impl Cutter {
    fn line(&self, at: usize) -> usize {
        self.first_line + self.newlines.partition_point(|newline| *newline < at)
    }

    fn start(&mut self, kind: Kind, at: usize) {
        self.close();
        let heading = self.headings.last().map(|(_, block)| *block);
        let around = if matches!(kind, Kind::Item(_)) {
            self.items.len().checked_sub(2).and_then(|above| self.items[above])
        } else {
            self.items.last().copied().flatten()
        };
        self.open = Some(Block {
            kind,
            prose: Prose::default(),
            rows: Vec::new(),
            depth: self.lists.len(),
            is_quoted: !self.quotes.is_empty(),
            notice: None,
            heading,
            item: around,
            list: self.lists.last().map_or(0, |(list, _)| *list),
            line: self.line(at),
        });
    }

    fn close(&mut self) {
        self.strong = None;
        self.link = None;
        let Some(mut block) = self.open.take() else { return };
        let number = self.blocks.len();
        self.unbox(&mut block);
        let end = block.prose.text.trim_end().len();
        block.prose.text.truncate(end);
        match block.kind {
            Kind::Heading(level) => {
                while self.headings.last().is_some_and(|(above, _)| *above >= level) {
                    self.headings.pop();
                }
                block.heading = self.headings.last().map(|(_, block)| *block);
                self.headings.push((level, number));
                self.fenced = None;
            }
            // An item without text of its own still numbers its list.
            Kind::Item(_) => {
                if let Some(item) = self.items.last_mut() {
                    *item = Some(number);
                }
            }
            Kind::Paragraph if end == 0 => return,
            Kind::Paragraph | Kind::Code(_) | Kind::Table => {}
        }
        self.blocks.push(block);
    }

    /// Takes the marks of a box off a text, and notes which box the text stands in.
    fn unbox(&mut self, block: &mut Block) {
        if !block.is_prose() {
            return;
        }
        let closes = block.prose.text.trim_end().ends_with(notices::FENCE);
        let mark = notices::mark(&block.prose.text, block.is_quoted);
        let length = mark.map_or(0, |mark| mark.length);
        let own = mark.map(|mark| mark.notice);
        // `> [!warning] Take care` has a title, which ends with its line unless its sentence goes on.
        let title = block.prose.breaks.first().copied().filter(|at| mark.is_some() && *at > length);
        let is_whole = |at: &usize| {
            let next = block.prose.text.get(at + 1..).and_then(|rest| rest.chars().next());
            *at - length <= 60 && next.is_some_and(|next| !next.is_lowercase())
        };
        if let Some(at) = title.filter(is_whole).filter(|at| block.prose.text[*at..].starts_with(' ')) {
            block.prose.text.replace_range(at..=at, "\n");
        }
        block.prose.drop_front(length);
        if closes && (mark.is_some() || self.fenced.is_some()) {
            let kept = block.prose.text.trim_end().trim_end_matches(':').len();
            block.prose.text.truncate(kept);
        }
        if let Some(quote) = self.quotes.last_mut().filter(|quote| !quote.is_read) {
            *quote = Quote { is_read: true, notice: own.or_else(|| notices::label(&block.prose.text)) };
        }
        block.notice = own.or(self.quotes.last().and_then(|quote| quote.notice)).or(self.fenced);
        if closes {
            self.fenced = None;
        } else if mark.is_some_and(|mark| mark.is_fenced) {
            self.fenced = own;
        }
    }

    fn prose(&mut self) -> Option<&mut Prose> {
        self.cell.as_mut().or(self.open.as_mut().map(|block| &mut block.prose))
    }

    fn length(&mut self) -> usize {
        self.prose().map_or(0, |prose| prose.text.len())
    }

    fn push(&mut self, words: &str, at: usize) {
        if self.cell.is_none() && self.open.as_ref().is_none_or(|block| block.kind == Kind::Table) {
            self.start(Kind::Paragraph, at);
        }
        let line = self.line(at);
        if let Some(prose) = self.prose() {
            prose.push(words, line);
        }
    }

    /// Reads a line of HTML.
    fn markup(&mut self, text: &str, at: usize) {
        let Some(mut html) = self.html.take() else { return };
        for piece in html.reader.read(text) {
            match piece {
                Piece::Open(tag) => self.open_tag(&tag, &mut html, at),
                Piece::Close(tag) => self.close_tag(&tag, &mut html),
                Piece::Text(text) => {
                    let text = html::decoded(text);
                    let is_first = self.prose().is_none_or(|prose| prose.text.is_empty());
                    if !text.is_empty() {
                        self.push(&if is_first { text } else { format!(" {text}") }, at);
                    }
                }
            }
        }
        self.html = Some(html);
    }

    fn open_tag(&mut self, tag: &str, html: &mut Html, at: usize) {
        if html::is_inline(tag) {
            return;
        }
        self.close();
        match tag {
            "ul" | "ol" if html.lists < HTML_DEPTH_MAX => {
                html.lists += 1;
                self.list_count += 1;
                self.lists.push((self.list_count, (tag == "ol").then_some(1)));
            }
            "li" if html.lists > 0 && html.items < html.lists => {
                html.items += 1;
                self.items.push(None);
                let number = self.lists.last().and_then(|(_, next)| *next);
                self.start(Kind::Item(number), at);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.start(Kind::Heading(tag.as_bytes()[1] - b'0'), at),
            "important" | "critical" | "warning" | "caution" | "hard-gate" | "extremely-important" => {
                self.fenced = Some(Notice::Grave);
            }
            _ => {}
        }
    }

    fn close_tag(&mut self, tag: &str, html: &mut Html) {
        if html::is_inline(tag) {
            return;
        }
        self.close();
        match tag {
            "ul" | "ol" if html.lists > 0 => {
                html.lists -= 1;
                self.lists.pop();
            }
            "li" if html.items > 0 => {
                html.items -= 1;
                self.items.pop();
            }
            "important" | "critical" | "warning" | "caution" | "hard-gate" | "extremely-important" => {
                self.fenced = None;
            }
            _ => {}
        }
    }

    fn take(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.enter(tag, range),
            Event::End(tag) => self.leave(tag),
            Event::Text(words) => self.push(&words, range.start),
            Event::Code(code) => {
                let from = self.length();
                self.push(&format!("`{code}`"), range.start);
                let until = self.length();
                let from = from.min(until);
                if let Some(prose) = self.prose() {
                    prose.codes.push(from..until);
                }
            }
            Event::SoftBreak => {
                let at = self.length();
                if let Some(prose) = self.prose() {
                    prose.breaks.push(at);
                }
                self.push(" ", range.start);
            }
            Event::HardBreak => self.push("\n", range.start),
            Event::Html(text) => self.markup(&text, range.start),
            _ => {}
        }
    }

    fn enter(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.start(Kind::Heading(level as u8), range.start),
            Tag::Paragraph => {
                let continues = self.open.as_ref().is_some_and(|block| block.is_item() && block.prose.text.is_empty());
                if !continues {
                    self.start(Kind::Paragraph, range.start);
                }
            }
            Tag::BlockQuote(_) => {
                self.close();
                self.quotes.push(Quote::default());
            }
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{', '\t']).next().unwrap_or_default().to_lowercase()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.start(Kind::Code(language), range.start);
            }
            Tag::List(first) => {
                self.close();
                self.list_count += 1;
                self.lists.push((self.list_count, first));
            }
            Tag::Item => {
                self.items.push(None);
                let number = self.lists.last_mut().and_then(|(_, next)| {
                    let number = *next;
                    *next = number.map(|number| number.saturating_add(1));
                    number
                });
                self.start(Kind::Item(number), range.start);
            }
            Tag::Table(_) => self.start(Kind::Table, range.start),
            Tag::TableHead | Tag::TableRow => {
                if let Some(block) = &mut self.open {
                    block.rows.push(Vec::new());
                }
            }
            Tag::TableCell => self.cell = Some(Prose::default()),
            Tag::Strong => self.strong = Some(self.length()),
            Tag::Link { dest_url, .. } => self.link = Some((self.length(), dest_url.into_string())),
            Tag::HtmlBlock => {
                self.close();
                self.html = Some(Html::default());
            }
            _ => {}
        }
    }

    fn leave(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Table | TagEnd::Paragraph => self.close(),
            TagEnd::BlockQuote(_) => {
                self.close();
                self.quotes.pop();
            }
            TagEnd::List(_) => {
                self.close();
                self.lists.pop();
            }
            TagEnd::Item => {
                self.close();
                self.items.pop();
            }
            TagEnd::HtmlBlock => {
                self.close();
                let html = self.html.take().unwrap_or_default();
                self.lists.truncate(self.lists.len().saturating_sub(html.lists));
                self.items.truncate(self.items.len().saturating_sub(html.items));
                self.fenced = None;
            }
            TagEnd::TableCell => {
                let cell = self.cell.take().unwrap_or_default();
                if let Some(row) = self.open.as_mut().and_then(|block| block.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Strong => {
                let until = self.length();
                if let (Some(from), Some(prose)) = (self.strong.take(), self.prose()) {
                    prose.strongs.push(from.min(until)..until);
                }
            }
            TagEnd::Link => {
                let until = self.length();
                if let (Some((from, target)), Some(prose)) = (self.link.take(), self.prose()) {
                    prose.links.push((from.min(until)..until, target));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_heading_their_item_and_their_line() {
        let body = "# A\n\nOne `x y`\ntwo.\n\n1. First\n   - inner\n\n   ```sh\n   ls\n   ```\n2. Second\n\n> Quoted\n\n| a | b |\n|---|---|\n| [c](d) | e |\n";
        let blocks = blocks(body, 4);
        let seen: Vec<(usize, &str)> = blocks.iter().map(|block| (block.line, block.prose.text.as_str())).collect();
        assert_eq!(
            seen,
            [
                (4, "A"),
                (6, "One `x y` two."),
                (9, "First"),
                (10, "inner"),
                (12, "ls"),
                (15, "Second"),
                (17, "Quoted"),
                (19, "")
            ]
        );
        assert_eq!(blocks[1].prose.line_at(12), 7);
        assert_eq!(blocks[1].prose.codes_in(0..14).collect::<Vec<_>>(), ["x y"]);
        assert_eq!((blocks[3].item, blocks[4].item, blocks[5].item), (Some(2), Some(2), None));
        assert!(blocks[6].is_quoted && blocks[1].heading == Some(0));
        assert_eq!(blocks[7].rows[1][0].links[0].1, "d");
    }
}
