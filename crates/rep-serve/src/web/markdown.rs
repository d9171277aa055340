//! The body of a skill as markup. Its author is a stranger: markup in it is shown as text, links lead where they say or
//! to files of the skill, and nothing is loaded from elsewhere.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::fields::encoded;
use super::html::{Html, put};

/// How much of a body is shown.
const BYTES_MAX: usize = 256 << 10;
/// How deep a body may be nested before the rest is shown as it is written.
const DEPTH_MAX: usize = 64;

/// Renders a body. `files` is the address that files of the skill are shown at, to be followed by a path.
pub(super) fn rendered(text: &str, files: &str) -> Html {
    let mut end = text.len().min(BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page { files, ..Page::default() };
    for event in Parser::new_ext(&text[..end], options) {
        page.take(event);
    }
    if end < text.len() {
        put!(page.out, "<p class=\"why\">The rest of it is not shown here.</p>");
    }
    page.out
}

/// What was rendered so far.
#[derive(Default)]
struct Page<'a> {
    out: Html,
    files: &'a str,
    /// The levels of the headings one is below.
    levels: Vec<usize>,
    /// Whether each link that is open became one.
    links: Vec<bool>,
    /// How deep in images, whose text is read out and not shown as markup.
    images: usize,
    depth: usize,
    is_in_head: bool,
}

impl Page<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                self.depth += 1;
                if self.depth <= DEPTH_MAX {
                    self.start(tag);
                }
            }
            Event::End(tag) => {
                if self.depth <= DEPTH_MAX {
                    self.end(tag);
                }
                self.depth -= 1;
            }
            Event::Text(text) | Event::Html(text) => self.out.text(&text),
            Event::Code(text) => put!(self.out, "<code>{}</code>", &*text),
            Event::InlineHtml(text) => put!(self.out, "<code class=\"raw\">{}</code>", &*text),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                put!(self.out, "<code>{}</code>", &*text);
            }
            Event::SoftBreak => self.out.text("\n"),
            Event::HardBreak => put!(self.out, "<br>"),
            Event::Rule => put!(self.out, "<hr>"),
            Event::TaskListMarker(true) => self.out.text("☑ "),
            Event::TaskListMarker(false) => self.out.text("☐ "),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.enter(level as usize);
                self.heading(false);
            }
            Tag::BlockQuote(_) => put!(self.out, "<blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !language.is_empty() => {
                put!(self.out, "<pre tabindex=\"0\" data-language=\"{}\"><code>", &*language);
            }
            Tag::CodeBlock(_) => put!(self.out, "<pre tabindex=\"0\"><code>"),
            Tag::HtmlBlock => put!(self.out, "<pre class=\"raw\" tabindex=\"0\"><code>"),
            Tag::List(Some(first)) => put!(self.out, "<ol start=\"{}\">", first),
            Tag::List(None) => put!(self.out, "<ul>"),
            Tag::Item => put!(self.out, "<li>"),
            Tag::Table(_) => put!(self.out, "<div class=\"scroll\" tabindex=\"0\"><table>"),
            Tag::TableHead => {
                self.is_in_head = true;
                put!(self.out, "<thead><tr>");
            }
            Tag::TableRow => put!(self.out, "<tr>"),
            Tag::TableCell if self.is_in_head => put!(self.out, "<th scope=\"col\">"),
            Tag::TableCell => put!(self.out, "<td>"),
            Tag::Emphasis => put!(self.out, "<em>"),
            Tag::Strong => put!(self.out, "<strong>"),
            Tag::Strikethrough => put!(self.out, "<s>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                // What is in a link already cannot be another one.
                if self.links.is_empty() {
                    self.link(&dest_url);
                } else {
                    self.links.push(false);
                }
                self.images += 1;
                self.out.text("image: ");
            }
            _ => put!(self.out, "<p>"),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.heading(true),
            TagEnd::BlockQuote(_) => put!(self.out, "</blockquote>"),
            TagEnd::CodeBlock | TagEnd::HtmlBlock => put!(self.out, "</code></pre>"),
            TagEnd::List(true) => put!(self.out, "</ol>"),
            TagEnd::List(false) => put!(self.out, "</ul>"),
            TagEnd::Item => put!(self.out, "</li>"),
            TagEnd::Table => put!(self.out, "</tbody></table></div>"),
            TagEnd::TableHead => {
                self.is_in_head = false;
                put!(self.out, "</tr></thead><tbody>");
            }
            TagEnd::TableRow => put!(self.out, "</tr>"),
            TagEnd::TableCell if self.is_in_head => put!(self.out, "</th>"),
            TagEnd::TableCell => put!(self.out, "</td>"),
            TagEnd::Emphasis => put!(self.out, "</em>"),
            TagEnd::Strong => put!(self.out, "</strong>"),
            TagEnd::Strikethrough => put!(self.out, "</s>"),
            TagEnd::Link => self.unlink(),
            TagEnd::Image => {
                self.images -= 1;
                self.unlink();
            }
            _ => put!(self.out, "</p>"),
        }
    }

    /// Enters a heading: below those of higher rank, and never more than one step down at a time.
    fn enter(&mut self, level: usize) {
        while self.levels.last().is_some_and(|above| *above >= level) {
            self.levels.pop();
        }
        self.levels.push(level);
    }

    /// The tag of the heading one is in. The page itself has the first two ranks.
    fn heading(&mut self, is_end: bool) {
        match (self.levels.len(), is_end) {
            (0 | 1, false) => put!(self.out, "<h3>"),
            (2, false) => put!(self.out, "<h4>"),
            (3, false) => put!(self.out, "<h5>"),
            (_, false) => put!(self.out, "<h6>"),
            (0 | 1, true) => put!(self.out, "</h3>"),
            (2, true) => put!(self.out, "</h4>"),
            (3, true) => put!(self.out, "</h5>"),
            (_, true) => put!(self.out, "</h6>"),
        }
    }

    fn link(&mut self, to: &str) {
        let place = destination(to, self.files);
        self.links.push(place.is_some());
        if let Some(place) = place {
            put!(self.out, "<a href=\"{}\" rel=\"noopener noreferrer nofollow\">", place);
        }
    }

    fn unlink(&mut self) {
        if self.links.pop() == Some(true) {
            put!(self.out, "</a>");
        }
    }
}

/// Where a link leads: to the web, or to a file of the skill. Everything else leads nowhere.
fn destination(to: &str, files: &str) -> Option<String> {
    let lower = to.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return Some(to.to_owned());
    }
    let path = to.split(['#', '?']).next().unwrap_or_default();
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
    if path.is_empty() || path.starts_with(['/', '\\']) || is_scheme {
        return None;
    }
    Some(format!("{files}{}", encoded(&unescaped(path))))
}

/// A path without what addresses write for blanks.
fn unescaped(path: &str) -> String {
    path.replace("%20", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        rendered(text, "/skill?name=x&file=").into_string()
    }

    #[test]
    fn markup_of_strangers_is_text() {
        let page = shown("<script>alert(1)</script>\n\nA <b onclick=x>b</b> and `<i>`\n\n<img src=x onerror=y>\n");
        assert!(!page.contains("<script") && !page.contains("<b ") && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;script&gt;") && page.contains("&lt;b onclick=x&gt;"), "{page}");
    }

    #[test]
    fn links_lead_to_the_web_or_into_the_skill() {
        let page = shown("[a](https://a.example/?x=\"y) [b](references/f%20g.md#h) ![c](https://c.example/c.png)");
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
            assert!(!shown(&format!("[x](<{to}>)")).contains("<a "), "{to}");
        }
        // A link in a link is none.
        assert_eq!(shown("[![i](https://i.example/i)](https://a.example)").matches("<a ").count(), 1);
    }

    #[test]
    fn headings_go_down_one_step_at_a_time() {
        let page = shown("# a\n\n#### b\n\n## c\n\n###### d\n");
        for heading in ["<h3>a</h3>", "<h4>b</h4>", "<h4>c</h4>", "<h5>d</h5>"] {
            assert!(page.contains(heading), "{heading}: {page}");
        }
    }

    #[test]
    fn whatever_it_is_every_tag_is_closed() {
        let deep = "> ".repeat(500) + "x\n\n" + &"- ".repeat(300) + "y";
        let tables = "|a|b|\n|-|-|\n|1|2|\n";
        for text in [
            deep.as_str(),
            tables,
            "- [x] a\n- [ ] b",
            "1. a\n\n   ```rust\n   <x>\n   ```\n",
            "a  \nb\n***\n~~c~~ [^1]\n",
        ] {
            let page = shown(text);
            for tag in ["p", "blockquote", "ul", "ol", "li", "pre", "code", "table", "tbody", "td", "th", "s"] {
                let open = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
                assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag} in {page}");
            }
        }
        assert!(shown(&"x ".repeat(BYTES_MAX)).contains("not shown here"));
    }
}
