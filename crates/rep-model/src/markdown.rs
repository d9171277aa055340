//! The outline of a Markdown text: headings, links, code and fences, with spans.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::Span;

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownHeading {
    /// The level, from 1 to 6.
    pub level: u8,
    /// The text without markup.
    pub text: String,
    /// The location of the whole heading.
    pub span: Span,
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownLink {
    /// The link target, as written.
    pub target: String,
    /// The location of the whole link.
    pub span: Span,
}

/// A fenced code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFence {
    /// The info string after the opening fence.
    pub info: String,
    /// The location of the whole block.
    pub span: Span,
    /// Whether a closing fence was found.
    pub is_closed: bool,
}

/// A code span in backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineCode {
    /// The text between the backticks.
    pub text: String,
    /// The location, including the backticks.
    pub span: Span,
}

/// The outline of a Markdown text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkdownOutline {
    /// The headings.
    pub headings: Vec<MarkdownHeading>,
    /// The links and images.
    pub links: Vec<MarkdownLink>,
    /// The fenced blocks.
    pub fences: Vec<CodeFence>,
    /// The inline code.
    pub codes: Vec<InlineCode>,
    /// HTML blocks and inline tags, including comments.
    pub html: Vec<Span>,
}

/// Parses the outline of a text. Spans are offset by `base`.
pub fn parse_outline(text: &str, base: usize) -> MarkdownOutline {
    let mut outline = MarkdownOutline::default();
    let mut heading: Option<MarkdownHeading> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let span = Span::new(range.start + base, range.end + base);
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some(MarkdownHeading { level: level as u8, text: String::new(), span });
            }
            Event::End(TagEnd::Heading(_)) => outline.headings.extend(heading.take()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                outline.links.push(MarkdownLink { target: dest_url.into_string(), span });
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let is_closed = is_fence_closed(&text[range]);
                outline.fences.push(CodeFence { info: info.into_string(), span, is_closed });
            }
            Event::Code(code) => {
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&code);
                }
                outline.codes.push(InlineCode { text: code.into_string(), span });
            }
            Event::Text(words) => {
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&words);
                }
            }
            Event::Html(_) | Event::InlineHtml(_) => outline.html.push(span),
            _ => {}
        }
    }
    outline
}

/// Whether the last line of a fenced block is its closing fence.
fn is_fence_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let Some(opening) = lines.next() else { return false };
    let strip = |line: &str| line.trim_start_matches([' ', '\t', '>']).to_owned();
    let opening = strip(opening);
    let Some(mark) = opening.chars().next() else { return false };
    let width = opening.chars().take_while(|letter| *letter == mark).count();
    lines.next_back().is_some_and(|last| {
        let last = strip(last);
        let last = last.trim_end();
        last.chars().count() >= width && last.chars().all(|letter| letter == mark)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_codes_and_fences_have_spans() {
        let text = "# A `b` c\n\nSee [x](refs/x.md) and `scripts/y.py`.\n\n```sh\nls\n```\n\n```\nopen\n";
        let outline = parse_outline(text, 0);
        assert_eq!(outline.headings[0].text, "A b c");
        assert_eq!(outline.links[0].target, "refs/x.md");
        assert_eq!(&text[outline.links[0].span.range()], "[x](refs/x.md)");
        assert_eq!(outline.codes[1].text, "scripts/y.py");
        assert_eq!(outline.fences.iter().map(|fence| fence.is_closed).collect::<Vec<_>>(), [true, false]);
    }
}
