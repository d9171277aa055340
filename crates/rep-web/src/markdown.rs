//! Renders the body of a skill, whose author is not trusted: HTML in it is shown as text, links point only to the web
//! or to files of the skill, and nothing is loaded from elsewhere.
//!
//! Tags open and close in different events, so the markup is built as text; `push_text` escapes all of the author's
//! text.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use rep_model::html_escape;

use super::fields::encode_query_value;

/// The maximum shown size of a body.
const BYTES_MAX: usize = 256 << 10;
/// The maximum nesting depth; deeper content is shown without markup.
const DEPTH_MAX: usize = 64;

/// Renders a body. `files` is the URL of the skill's files, to which a path is appended.
pub(super) fn render_body(text: &str, files: &str) -> Markup {
    let end = text.floor_char_boundary(BYTES_MAX);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = MarkdownRenderer { files, ..MarkdownRenderer::default() };
    for event in Parser::new_ext(&text[..end], options) {
        renderer.push_event(event);
    }
    if end < text.len() {
        renderer.push_tag("<p class=\"why\">The rest of the text is not shown here.</p>");
    }
    PreEscaped(renderer.out)
}

/// The state of the rendering.
#[derive(Default)]
struct MarkdownRenderer<'a> {
    out: String,
    files: &'a str,
    /// The levels of the headings above.
    levels: Vec<usize>,
    /// Whether each open link has a tag.
    links: Vec<bool>,
    depth: usize,
    is_in_table_head: bool,
}

impl MarkdownRenderer<'_> {
    /// Appends markup of this program.
    fn push_tag(&mut self, tag: &'static str) {
        self.out.push_str(tag);
    }

    /// Appends escaped text of the author.
    fn push_text(&mut self, text: &str) {
        text.chars().for_each(|letter| html_escape::push_escaped(letter, &mut self.out));
    }

    fn push_code(&mut self, start: &'static str, text: &str) {
        self.push_tag(start);
        self.push_text(text);
        self.push_tag("</code>");
    }

    fn push_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                if self.depth <= DEPTH_MAX {
                    self.open_tag(tag);
                }
            }
            Event::End(tag) => {
                if self.depth <= DEPTH_MAX {
                    self.close_tag(tag);
                }
                self.depth -= 1;
            }
            Event::Text(text) | Event::Html(text) => self.push_text(&text),
            Event::InlineHtml(text) => self.push_code("<code class=\"raw\">", &text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.push_code("<code>", &text);
            }
            Event::SoftBreak => self.push_tag("\n"),
            Event::HardBreak => self.push_tag("<br>"),
            Event::Rule => self.push_tag("<hr>"),
            Event::TaskListMarker(true) => self.push_tag("☑ "),
            Event::TaskListMarker(false) => self.push_tag("☐ "),
        }
    }

    fn open_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.enter_heading(level as usize);
                self.push_tag(match self.levels.len() {
                    0 | 1 => "<h3>",
                    2 => "<h4>",
                    3 => "<h5>",
                    _ => "<h6>",
                });
            }
            Tag::BlockQuote(_) => self.push_tag("<blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !language.is_empty() => {
                self.push_tag("<pre tabindex=\"0\" data-language=\"");
                self.push_text(&language);
                self.push_tag("\"><code>");
            }
            Tag::CodeBlock(_) => self.push_tag("<pre tabindex=\"0\"><code>"),
            Tag::HtmlBlock => self.push_tag("<pre class=\"raw\" tabindex=\"0\"><code>"),
            Tag::List(Some(first)) => self.out.push_str(&format!("<ol start=\"{first}\">")),
            Tag::List(None) => self.push_tag("<ul>"),
            Tag::Item => self.push_tag("<li>"),
            Tag::Table(_) => self.push_tag("<div class=\"scroll\" tabindex=\"0\"><table>"),
            Tag::TableHead => {
                self.is_in_table_head = true;
                self.push_tag("<thead><tr>");
            }
            Tag::TableRow => self.push_tag("<tr>"),
            Tag::TableCell if self.is_in_table_head => self.push_tag("<th scope=\"col\">"),
            Tag::TableCell => self.push_tag("<td>"),
            Tag::Emphasis => self.push_tag("<em>"),
            Tag::Strong => self.push_tag("<strong>"),
            Tag::Strikethrough => self.push_tag("<s>"),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                // A link cannot contain another link.
                if self.links.is_empty() {
                    self.open_link(&dest_url);
                } else {
                    self.links.push(false);
                }
                self.push_tag("image: ");
            }
            _ => self.push_tag("<p>"),
        }
    }

    fn close_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.push_tag(match self.levels.len() {
                0 | 1 => "</h3>",
                2 => "</h4>",
                3 => "</h5>",
                _ => "</h6>",
            }),
            TagEnd::BlockQuote(_) => self.push_tag("</blockquote>"),
            TagEnd::CodeBlock | TagEnd::HtmlBlock => self.push_tag("</code></pre>"),
            TagEnd::List(true) => self.push_tag("</ol>"),
            TagEnd::List(false) => self.push_tag("</ul>"),
            TagEnd::Item => self.push_tag("</li>"),
            TagEnd::Table => self.push_tag("</tbody></table></div>"),
            TagEnd::TableHead => {
                self.is_in_table_head = false;
                self.push_tag("</tr></thead><tbody>");
            }
            TagEnd::TableRow => self.push_tag("</tr>"),
            TagEnd::TableCell if self.is_in_table_head => self.push_tag("</th>"),
            TagEnd::TableCell => self.push_tag("</td>"),
            TagEnd::Emphasis => self.push_tag("</em>"),
            TagEnd::Strong => self.push_tag("</strong>"),
            TagEnd::Strikethrough => self.push_tag("</s>"),
            TagEnd::Link | TagEnd::Image => self.close_link(),
            _ => self.push_tag("</p>"),
        }
    }

    /// Enters a heading. The page uses the first two ranks itself, and no rank is skipped.
    fn enter_heading(&mut self, level: usize) {
        while self.levels.last().is_some_and(|above| *above >= level) {
            self.levels.pop();
        }
        self.levels.push(level);
    }

    fn open_link(&mut self, to: &str) {
        let destination = link_destination(to, self.files);
        self.links.push(destination.is_some());
        if let Some(destination) = destination {
            self.push_tag("<a href=\"");
            self.push_text(&destination);
            self.push_tag("\" rel=\"noopener noreferrer nofollow\">");
        }
    }

    fn close_link(&mut self) {
        if self.links.pop() == Some(true) {
            self.push_tag("</a>");
        }
    }
}

/// Returns the destination of a link: the web or a file of the skill. Other links are removed.
fn link_destination(to: &str, files: &str) -> Option<String> {
    let lower = to.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Some(to.to_owned());
    }
    let path = to.split(['#', '?']).next().unwrap_or_default();
    let path = path.strip_prefix("./").unwrap_or(path);
    let has_scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
    if path.is_empty() || path.starts_with(['/', '\\']) || has_scheme {
        return None;
    }
    // Markdown encodes a space in a path as `%20`.
    Some(format!("{files}{}", encode_query_value(&path.replace("%20", " "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_to_string(text: &str) -> String {
        render_body(text, "/skill?name=x&file=").into_string()
    }

    #[test]
    fn html_of_the_author_is_text() {
        let page =
            render_to_string("<script>alert(1)</script>\n\nA <b onclick=x>b</b> and `<i>`\n\n<img src=x onerror=y>\n");
        assert!(!page.contains("<script") && !page.contains("<b ") && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;script&gt;") && page.contains("&lt;b onclick=x&gt;"), "{page}");
    }

    #[test]
    fn links_lead_to_the_web_or_into_the_skill() {
        let page =
            render_to_string("[a](https://a.example/?x=\"y) [b](references/f%20g.md#h) ![c](https://c.example/c.png)");
        assert!(
            page.contains("href=\"https://a.example/?x=%22y\"")
                || page.contains("href=\"https://a.example/?x=&quot;y\"")
        );
        assert!(page.contains("href=\"/skill?name=x&amp;file=references%2Ff%20g.md\""), "{page}");
        assert!(page.contains(">image: c</a>") && !page.contains("<img"), "{page}");
        for to in [
            "javascript:alert(1)",
            "JAVASCRIPT:x",
            "data:text/html,x",
            "//evil.example/x",
            "/etc/passwd",
            "#x",
            "file:///x",
            "\\\\x\\y",
            "vbscript:x",
        ] {
            assert!(!render_to_string(&format!("[x](<{to}>)")).contains("<a "), "{to}");
        }
        // A link in a link is not rendered as a link.
        assert_eq!(render_to_string("[![i](https://i.example/i)](https://a.example)").matches("<a ").count(), 1);
    }

    #[test]
    fn no_rank_of_headings_is_skipped() {
        let page = render_to_string("# a\n\n#### b\n\n## c\n\n###### d\n");
        for heading in ["<h3>a</h3>", "<h4>b</h4>", "<h4>c</h4>", "<h5>d</h5>"] {
            assert!(page.contains(heading), "{heading}: {page}");
        }
    }

    #[test]
    fn every_tag_is_closed_whatever_the_text() {
        let deep = "> ".repeat(500) + "x\n\n" + &"- ".repeat(300) + "y";
        let tables = "|a|b|\n|-|-|\n|1|2|\n";
        for text in [
            deep.as_str(),
            tables,
            "- [x] a\n- [ ] b",
            "1. a\n\n   ```rust\n   <x>\n   ```\n",
            "a  \nb\n***\n~~c~~ [^1]\n",
        ] {
            let page = render_to_string(text);
            for tag in ["p", "blockquote", "ul", "ol", "li", "pre", "code", "table", "tbody", "td", "th", "s"] {
                let open = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
                assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag} in {page}");
            }
        }
        assert!(render_to_string(&"x ".repeat(BYTES_MAX)).contains("not shown here"));
    }
}
