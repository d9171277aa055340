//! Splits a Markdown body into a flat list of blocks: headings, paragraphs, list items, tables and code.
//!
//! The list is flat because nothing here may recurse on the depth of its input: a block refers to its heading and its
//! list item by number, and knows its depth. Follows `CommonMark` with tables.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::lexicon::LEXICON;

/// Text without emphasis. Code keeps its backticks, so that its content is not mistaken for words.
#[derive(Clone, Debug, Default)]
pub(super) struct ProseText {
    pub(super) text: String,
    /// The ranges of strong text, without overlaps.
    pub(super) strongs: Vec<Range<usize>>,
    pub(super) codes: Vec<Range<usize>>,
    /// The ranges of link texts, and the link targets.
    pub(super) links: Vec<(Range<usize>, String)>,
    /// The positions where a line of the source ended inside a paragraph.
    pub(super) breaks: Vec<usize>,
    /// The positions in the text where a line of the file starts, with the number of the line.
    lines: Vec<(usize, usize)>,
}

impl ProseText {
    /// Returns the line of the file that contains a position of the text.
    pub(super) fn line_at(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|(from, _)| *from <= at);
        self.lines.get(after.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }

    /// Returns the code inside a range, without backticks.
    pub(super) fn codes_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.codes.partition_point(|code| code.start < range.start);
        let inside = self.codes[first..].iter().take_while(move |code| code.end <= range.end);
        inside.map(|code| self.text[code.clone()].trim_matches('`').trim())
    }

    pub(super) fn links_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.links.partition_point(|(link, _)| link.start < range.start);
        let inside = self.links[first..].iter().take_while(move |(link, _)| link.end <= range.end);
        inside.map(|(_, target)| target.as_str())
    }

    fn push_text(&mut self, words: &str, line: usize) -> Range<usize> {
        let from = self.text.len();
        if self.lines.last().is_none_or(|(_, last)| *last != line) {
            self.lines.push((from, line));
        }
        self.text.push_str(words);
        from..self.text.len()
    }
}

/// A callout box: `> [!WARNING]`, `> **Example**`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteNotice {
    /// A warning: its instructions are rules.
    Warning,
    /// An example or quotation: its instructions are not rules.
    Example,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkdownBlockKind {
    Heading(u8),
    Paragraph,
    /// The first paragraph of a list item, with its number if the list is ordered.
    Item(Option<u64>),
    /// Code, with the language of its fence in lower case.
    Code(String),
    Table,
}

#[derive(Clone, Debug)]
pub(super) struct MarkdownBlock {
    pub(super) kind: MarkdownBlockKind,
    pub(super) prose: ProseText,
    /// The rows of a table, starting with the header.
    pub(super) rows: Vec<Vec<ProseText>>,
    pub(super) depth: usize,
    pub(super) is_quoted: bool,
    pub(super) notice: Option<QuoteNotice>,
    /// The block number of the heading above; for a heading, that of its parent heading.
    pub(super) heading: Option<usize>,
    /// The block number of the list item around it; for an item, that of the item around its list.
    pub(super) item: Option<usize>,
    pub(super) list: usize,
    pub(super) line: usize,
    /// Whether it is a list item with a checkbox.
    pub(super) is_task: bool,
}

impl MarkdownBlock {
    pub(super) fn is_item(&self) -> bool {
        matches!(self.kind, MarkdownBlockKind::Item(_))
    }

    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.kind, MarkdownBlockKind::Item(Some(_)))
    }

    pub(super) fn is_heading(&self) -> bool {
        matches!(self.kind, MarkdownBlockKind::Heading(_))
    }

    pub(super) fn is_prose(&self) -> bool {
        self.is_item() || self.kind == MarkdownBlockKind::Paragraph
    }

    pub(super) fn language(&self) -> Option<&str> {
        match &self.kind {
            MarkdownBlockKind::Code(language) => Some(language),
            _ => None,
        }
    }
}

/// The maximum number of blocks; the longest real skills have a few thousand.
const BLOCKS_MAX: usize = 50_000;

/// Splits a body into blocks. `first_line` is the line of the file where the body starts.
pub(super) fn parse_blocks(body: &str, first_line: usize) -> Vec<MarkdownBlock> {
    let mut source = ProseText::default();
    for (line, text) in (first_line..).zip(body.split_inclusive('\n')) {
        source.push_text(text, line);
    }
    let mut cutter = MarkdownBlockParser::default();
    cutter.parse_source(&source);
    cutter.blocks
}

#[derive(Default)]
struct MarkdownBlockParser {
    line: usize,
    blocks: Vec<MarkdownBlock>,
    open: Option<MarkdownBlock>,
    /// The text of the open block, or of the open table cell.
    prose: ProseText,
    headings: Vec<(u8, usize)>,
    /// The enclosing lists: their number, and the next number of their items.
    lists: Vec<(usize, Option<u64>)>,
    list_count: usize,
    /// The enclosing items; `None` until their block is closed and has a number.
    items: Vec<Option<usize>>,
    quotes: Vec<Option<QuoteNotice>>,
    /// Where the marker of the last box ends, and whether its title may follow.
    mark_end: usize,
    is_title: bool,
    strong: Option<usize>,
    link: Option<(usize, String)>,
    html: String,
}

impl MarkdownBlockParser {
    fn parse_source(&mut self, source: &ProseText) {
        let body = source.text.as_str();
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
            self.line = source.line_at(range.start);
            match event {
                Event::Start(Tag::BlockQuote(_)) => self.enter_quote(&body[range.clone()], range.start),
                Event::SoftBreak => self.push_break(&body[range.end..]),
                Event::Start(tag) => self.enter_tag(tag),
                Event::End(tag) => self.leave_tag(tag),
                // The marker of a box is not text.
                Event::Text(words) => {
                    words.get(self.mark_end.saturating_sub(range.start)..).map(|words| self.push_text(words));
                }
                Event::Code(code) => {
                    let place = self.push_text(&format!("`{code}`"));
                    self.prose.codes.push(place);
                }
                Event::HardBreak => drop(self.push_text("\n")),
                Event::Html(text) => self.html.push_str(&text),
                Event::TaskListMarker(_) => self.open.iter_mut().for_each(|block| block.is_task = true),
                _ => {}
            }
        }
        self.close_block();
    }

    fn start_block(&mut self, kind: MarkdownBlockKind) {
        self.close_block();
        // The innermost item around an item is the item itself.
        let own = usize::from(matches!(kind, MarkdownBlockKind::Item(_)));
        self.open = Some(MarkdownBlock {
            kind,
            prose: ProseText::default(),
            rows: Vec::new(),
            depth: self.lists.len(),
            is_quoted: !self.quotes.is_empty(),
            notice: self.quotes.last().copied().flatten(),
            heading: self.headings.last().map(|(_, block)| *block),
            item: self.items.iter().rev().nth(own).copied().flatten(),
            list: self.lists.last().map_or(0, |(list, _)| *list),
            line: self.line,
            is_task: false,
        });
    }

    fn close_block(&mut self) {
        let Some(mut block) = self.open.take() else { return };
        let number = self.blocks.len();
        block.prose = std::mem::take(&mut self.prose);
        block.prose.text.truncate(block.prose.text.trim_end().len());
        self.is_title = false;
        if number >= BLOCKS_MAX || block.kind == MarkdownBlockKind::Paragraph && block.prose.text.is_empty() {
            return;
        }
        if let MarkdownBlockKind::Heading(level) = block.kind {
            while self.headings.pop_if(|(above, _)| *above >= level).is_some() {}
            block.heading = self.headings.last().map(|(_, block)| *block);
            self.headings.push((level, number));
        }
        // An item without text still counts in its list.
        if let Some(item) = self.items.last_mut().filter(|_| block.is_item()) {
            *item = Some(number);
        }
        self.blocks.push(block);
    }

    fn push_text(&mut self, words: &str) -> Range<usize> {
        if self.open.is_none() {
            self.start_block(MarkdownBlockKind::Paragraph);
        }
        self.prose.push_text(words, self.line)
    }

    /// Ends a line. This also ends the title of a box, which is short, unless the sentence continues.
    fn push_break(&mut self, next: &str) {
        let goes_on = next.trim_start_matches([' ', '>']).starts_with(char::is_lowercase);
        let is_title = std::mem::take(&mut self.is_title) && self.prose.text.len() <= 60 && !goes_on;
        if !self.prose.text.is_empty() {
            let place = self.push_text(if is_title { "\n" } else { " " });
            self.prose.breaks.push(place.start);
        }
    }

    fn enter_quote(&mut self, quote: &str, at: usize) {
        self.close_block();
        let near = &quote[..quote.floor_char_boundary(40)];
        let start = near.len() - near.trim_start_matches(['>', ' ']).len();
        let line = near[start..].lines().next().unwrap_or_default();
        let is_kind = |kind: &str| kind.bytes().all(|letter| letter.is_ascii_alphabetic());
        let mark = line.strip_prefix("[!").and_then(|rest| rest.split_once(']')).filter(|(kind, _)| is_kind(kind));
        let kind = mark.map_or(line, |(kind, _)| kind).to_lowercase();
        let kind = kind.trim_matches(|letter: char| !letter.is_alphabetic());
        let shown = LEXICON.shown_notices.contains(kind).then_some(QuoteNotice::Example);
        let notice = LEXICON.grave_notices.contains(kind).then_some(QuoteNotice::Warning).or(shown);
        self.quotes.push(notice);
        let length = |rest: &str| line.len() - rest.trim_start_matches(['-', '+', ' ']).len();
        self.mark_end = mark.map_or(0, |(_, rest)| at + start + length(rest));
        self.is_title = notice.is_some() || mark.is_some();
    }

    fn enter_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.start_block(MarkdownBlockKind::Heading(level as u8)),
            Tag::Paragraph if self.prose.text.is_empty() && self.open.as_ref().is_some_and(MarkdownBlock::is_item) => {}
            Tag::Paragraph => self.start_block(MarkdownBlockKind::Paragraph),
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                self.start_block(MarkdownBlockKind::Code(
                    info.split([' ', ',', '{', '\t']).next().unwrap_or_default().to_lowercase(),
                ));
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => self.start_block(MarkdownBlockKind::Code(String::new())),
            Tag::List(first) => {
                self.close_block();
                self.list_count += 1;
                self.lists.push((self.list_count, first));
            }
            Tag::Item => {
                self.items.push(None);
                let next = self.lists.last_mut().and_then(|(_, next)| next.as_mut());
                let number = next.map(|next| std::mem::replace(next, *next + 1));
                self.start_block(MarkdownBlockKind::Item(number));
            }
            Tag::Table(_) => self.start_block(MarkdownBlockKind::Table),
            Tag::TableHead | Tag::TableRow => self.open.iter_mut().for_each(|block| block.rows.push(Vec::new())),
            Tag::Strong => self.strong = Some(self.prose.text.len()),
            Tag::Link { dest_url, .. } => self.link = Some((self.prose.text.len(), dest_url.into_string())),
            _ => {}
        }
    }

    fn leave_tag(&mut self, tag: TagEnd) {
        let until = self.prose.text.len();
        match tag {
            TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Table | TagEnd::Paragraph => self.close_block(),
            TagEnd::BlockQuote(_) => drop(self.quotes.pop()),
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Item => {
                self.close_block();
                self.items.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.prose);
                if let Some(row) = self.open.as_mut().and_then(|block| block.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::HtmlBlock => {
                // The converted Markdown contains no tags.
                let markdown = html_to_markdown(&std::mem::take(&mut self.html), self.line);
                self.mark_end = 0;
                self.parse_source(&markdown);
            }
            TagEnd::Strong => self.prose.strongs.extend(self.strong.take().map(|from| from..until)),
            TagEnd::Link => self.prose.links.extend(self.link.take().map(|(from, target)| (from..until, target))),
            _ => {}
        }
    }
}

/// Converts HTML prose to Markdown. Comments, code and unknown tags are removed.
fn html_to_markdown(html: &str, mut line: usize) -> ProseText {
    let mut markdown = ProseText::default();
    let mut rest = html;
    while !rest.is_empty() {
        let (text, tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        for words in text.split_inclusive('\n') {
            let is_inside = !markdown.text.ends_with('\n');
            markdown.push_text(if is_inside { words } else { words.trim_start_matches([' ', '\t']) }, line);
            line += usize::from(words.ends_with('\n'));
        }
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        let Some(mut length) = tag.find(end).map(|at| at + end.len()) else { break };
        let opens = !tag.starts_with("</");
        let inside = tag[..length].trim_start_matches(['<', '/']);
        let own = inside.split(['>', ' ', '\n', '\t', '/']).next().unwrap_or_default();
        let name = own.to_ascii_lowercase();
        let is_block = LEXICON.block_tags.contains(&name);
        if opens && !is_block && !own.starts_with('!') && !LEXICON.inline_tags.contains(&name) {
            let Some(unread) = tag.find(&format!("</{own}")) else { break };
            length = unread;
        }
        line += tag[..length].matches('\n').count();
        rest = &tag[length..];
        let mark = match (name.as_bytes(), opens) {
            (b"li", true) => "- ",
            ([b'h', level @ b'1'..=b'6'], true) => &"###### "[usize::from(b'6' - level)..],
            _ => "",
        };
        if is_block {
            markdown.push_text("\n\n", line);
            markdown.push_text(mark, line);
        }
    }
    markdown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_heading_their_item_and_their_line() {
        let body = "# A\n\nOne `x y`\ntwo.\n\n1. First\n   - inner\n\n   ```sh\n   ls\n   ```\n2. Second\n\n> [!TIP]\n> \
                    Quoted\n\n| a | b |\n|---|---|\n| [c](d) | e |\n\n<p class=a\n id=b>F<!-- g\n--> h</p>\n<script>x\ny</script>z";
        let blocks = parse_blocks(body, 4);
        let seen: Vec<String> = blocks.iter().map(|block| format!("{} {}", block.line, block.prose.text)).collect();
        assert_eq!(seen.join("|"), "4 A|6 One `x y` two.|9 First|10 inner|12 ls|15 Second|17 Quoted|20 |25 F h|28 z");
        assert_eq!(blocks[1].prose.line_at(12), 7);
        assert_eq!(blocks[1].prose.codes_in(0..14).collect::<Vec<_>>(), ["x y"]);
        assert_eq!((blocks[3].item, blocks[4].item, blocks[5].item), (Some(2), Some(2), None));
        assert!(blocks[6].is_quoted && blocks[1].heading == Some(0));
        assert_eq!(blocks[7].rows[1][0].links[0].1, "d");
    }
}
