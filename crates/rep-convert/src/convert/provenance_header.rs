//! The stamp of a converted file: a comment line that names its origin and does not affect hashes or schemas.
//!
//! With the stamp, changes of the Markdown are detected even after an author has edited the file by hand.

use rep_model::content_hash;

const HEADER_PREFIX: &str = "# Converted from SKILL.md by `rep convert`: ";
/// The number of leading comment lines that are searched for the stamp.
const HEADER_LINES_MAX: usize = 20;

/// The origin of a converted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenanceHeader {
    /// The engine that read the Markdown.
    pub engine: String,
    /// The SHA-256 of the Markdown file.
    pub source: String,
    /// The version of the facts that the rules extract from it, independent of the engine.
    pub facts: String,
    /// The version of the file at the time of the conversion.
    pub content: String,
}

impl ProvenanceHeader {
    /// Creates the stamp of a file converted from Markdown.
    pub fn new(engine: &str, markdown: &[u8], facts: &str, content: &str) -> Self {
        let (engine, source) = (engine.to_owned(), content_hash::sha256_hex(markdown));
        Self { engine, source, facts: facts.to_owned(), content: content.to_owned() }
    }

    /// Reads the stamp of a file.
    pub fn parse(yaml: &str) -> Option<Self> {
        let heads =
            yaml.lines().take(HEADER_LINES_MAX).take_while(|line| line.starts_with('#') || line.trim().is_empty());
        let line = heads.into_iter().find_map(|line| line.strip_prefix(HEADER_PREFIX))?;
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

    /// Replaces the stamp in a text, or inserts it at the start.
    pub fn insert_into(&self, yaml: &str) -> String {
        let own = format!(
            "{HEADER_PREFIX}engine {}, source sha256:{}, facts {}, content {}",
            self.engine, self.source, self.facts, self.content
        );
        if Self::parse(yaml).is_none() {
            return format!("{own}\n{yaml}");
        }
        let is_stamp = |line: &str| line.starts_with(HEADER_PREFIX);
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
        let one = ProvenanceHeader::new("rules", b"text", "11111111", "22222222");
        let text = one.insert_into("meta: {}\n");
        assert_eq!((ProvenanceHeader::parse(&text), text.ends_with("\nmeta: {}\n")), (Some(one.clone()), true));
        let two = ProvenanceHeader::new("llm", b"other", "33333333", "44444444");
        let again = two.insert_into(&format!("# a word of the author's\n{text}"));
        assert_eq!(ProvenanceHeader::parse(&again), Some(two));
        assert!(again.starts_with("# a word") && again.matches(HEADER_PREFIX).count() == 1, "{again}");
    }

    #[test]
    fn what_is_no_stamp_is_none() {
        let text = ProvenanceHeader::new("rules", b"", "a", "b").insert_into("x: 1\n");
        assert_eq!(ProvenanceHeader::parse(&format!("x: 1\n{text}")), None);
        for text in ["", "# Converted from SKILL.md by `rep convert`: engine x\n", "meta: {}\n"] {
            assert_eq!(ProvenanceHeader::parse(text), None);
        }
    }
}
