//! HTML blocks, as far as people write prose in them: paragraphs, items, headings and boxes.
//!
//! Reads tag by tag in one pass. What stands in a tag it does not know, in a comment or in code is not read.

/// A piece of HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A tag, in lower case.
    Open(String),
    Close(String),
    Text(&'a str),
}

/// Tags whose text is prose.
const PROSE: &[&str] = &[
    "p",
    "div",
    "ul",
    "ol",
    "li",
    "details",
    "summary",
    "section",
    "article",
    "span",
    "b",
    "strong",
    "i",
    "em",
    "a",
    "code",
    "kbd",
    "br",
    "hr",
    "table",
    "tbody",
    "thead",
    "tr",
    "td",
    "th",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "center",
    "u",
    "mark",
    "small",
    "img",
    "rules",
    "constraints",
    "instructions",
    "guidelines",
    "important",
    "critical",
    "warning",
    "note",
    "tip",
    "caution",
    "hard-gate",
    "extremely-important",
    "requirements",
];

/// Tags that do not interrupt a line.
const INLINE: &[&str] = &["span", "b", "strong", "i", "em", "a", "code", "kbd", "u", "mark", "small", "img"];

/// Reads HTML that comes line by line.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The tag around whose text is not read.
    skipped: Option<String>,
    /// Whether a comment or a tag goes on from the line before.
    is_comment: bool,
    is_tag: bool,
}

impl Reader {
    /// The pieces of a line.
    pub(super) fn read<'a>(&mut self, line: &'a str) -> Vec<Piece<'a>> {
        let mut found = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            if self.is_comment || self.is_tag {
                let end = if self.is_comment { "-->" } else { ">" };
                let Some(at) = rest.find(end) else { return found };
                rest = &rest[at + end.len()..];
                (self.is_comment, self.is_tag) = (false, false);
            } else if let Some(inside) = rest.strip_prefix("<!--") {
                self.is_comment = true;
                rest = inside;
            } else if let Some(inside) = rest.strip_prefix('<') {
                self.is_tag = true;
                rest = inside;
                self.tag(inside, &mut found);
            } else {
                let end = rest.find('<').unwrap_or(rest.len());
                if self.skipped.is_none() {
                    found.push(Piece::Text(&rest[..end]));
                }
                rest = &rest[end..];
            }
        }
        found
    }

    fn tag(&mut self, inside: &str, found: &mut Vec<Piece<'_>>) {
        let (bare, is_close) = inside.strip_prefix('/').map_or((inside, false), |bare| (bare, true));
        let end = bare.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).unwrap_or(bare.len());
        let name = bare[..end].to_ascii_lowercase();
        match &self.skipped {
            Some(skipped) if is_close && *skipped == name => self.skipped = None,
            Some(_) => {}
            None if !PROSE.contains(&name.as_str()) => self.skipped = Some(name).filter(|_| !is_close),
            None => found.push(if is_close { Piece::Close(name) } else { Piece::Open(name) }),
        }
    }
}

/// Whether a tag stands inside a line.
pub(super) fn is_inline(tag: &str) -> bool {
    INLINE.contains(&tag)
}

/// Text with the entities people write by hand.
pub(super) fn decoded(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    entities.iter().fold(joined, |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_comments_and_foreign_text_are_told_apart() {
        let mut reader = Reader::default();
        let mut texts = Vec::new();
        for line in
            ["<div class=\"a\"", "  id=b>Keep <b>it</b><!-- not", "this --> up</div>", "<script>x", "y</script>z"]
        {
            texts.extend(reader.read(line).into_iter().filter_map(|piece| match piece {
                Piece::Text(text) => Some(text.to_owned()),
                Piece::Open(_) | Piece::Close(_) => None,
            }));
        }
        assert_eq!(texts, ["Keep ", "it", " up", "z"]);
        assert_eq!(decoded(" a  &lt;b&gt;\n"), "a <b>");
    }
}
