//! What a converted file says of where it came from: one comment line, which no hash and no schema sees.
//!
//! With it, an author may improve the file by hand, and a change of the Markdown is noticed all the same.

use rep_model::hash;

const LEAD: &str = "# Converted from SKILL.md by `rep convert`: ";
/// Comments in front of the content that are looked through.
const LINES_MAX: usize = 20;

/// Where a file came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What read the Markdown.
    pub engine: String,
    /// The SHA-256 of the Markdown's bytes.
    pub source: String,
    /// The version of what the rules read out of it, whichever engine made the file.
    pub facts: String,
    /// The version of the file as it was made.
    pub content: String,
}

impl Stamp {
    /// The stamp of a file made from a Markdown.
    pub fn new(engine: &str, markdown: &[u8], facts: &str, content: &str) -> Self {
        let (engine, source) = (engine.to_owned(), hash::digest(markdown));
        Self { engine, source, facts: facts.to_owned(), content: content.to_owned() }
    }

    /// The stamp a file bears.
    pub fn of(yaml: &str) -> Option<Self> {
        let heads = yaml.lines().take(LINES_MAX).take_while(|line| line.starts_with('#') || line.trim().is_empty());
        let line = heads.into_iter().find_map(|line| line.strip_prefix(LEAD))?;
        let field = |name: &str| {
            let words = line.split(", ").find_map(|part| part.strip_prefix(name)?.strip_prefix(' '))?;
            Some(words.trim_end().to_owned())
        };
        let stamp = Self {
            engine: field("engine")?,
            source: field("source")?.strip_prefix("sha256:")?.to_owned(),
            facts: field("facts")?,
            content: field("content")?,
        };
        Some(stamp)
    }

    /// The text with this stamp in place of the one it had, or in front.
    pub fn put(&self, yaml: &str) -> String {
        let own = format!(
            "{LEAD}engine {}, source sha256:{}, facts {}, content {}",
            self.engine, self.source, self.facts, self.content
        );
        if Self::of(yaml).is_none() {
            return format!("{own}\n{yaml}");
        }
        let is_stamp = |line: &str| line.starts_with(LEAD);
        let mut is_done = false;
        yaml.split_inclusive('\n')
            .map(|line| {
                let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
                if is_done || !is_stamp(line) {
                    return line.to_owned();
                }
                is_done = true;
                format!("{own}{end}")
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back_and_replaced_in_its_place() {
        let one = Stamp::new("rules", b"text", "11111111", "22222222");
        let text = one.put("meta: {}\n");
        assert_eq!((Stamp::of(&text), text.ends_with("\nmeta: {}\n")), (Some(one.clone()), true));
        let two = Stamp::new("llm", b"other", "33333333", "44444444");
        let again = two.put(&format!("# a word of the author's\n{text}"));
        assert_eq!(Stamp::of(&again), Some(two));
        assert!(again.starts_with("# a word") && again.matches(LEAD).count() == 1, "{again}");
    }

    #[test]
    fn what_is_no_stamp_is_none() {
        let text = Stamp::new("rules", b"", "a", "b").put("x: 1\n");
        assert_eq!(Stamp::of(&format!("x: 1\n{text}")), None);
        for text in ["", "# Converted from SKILL.md by `rep convert`: engine x\n", "meta: {}\n"] {
            assert_eq!(Stamp::of(text), None);
        }
    }
}
