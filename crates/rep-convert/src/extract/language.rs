//! Detects text in a language that the extraction rules do not support.

use super::blocks::parse_blocks;
use super::lexicon::LEXICON;

/// The minimum number of words for detecting a language.
const WORDS_MIN: usize = 60;

/// Returns why a text is assumed not to be English, or `None` if it is English.
pub(crate) fn detect_foreign_language<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let (mut letters, mut others, mut words, mut english) = (0usize, 0usize, 0usize, 0usize);
    // Code is ignored.
    let prose = texts.flat_map(|text| text.split('`').step_by(2));
    for word in prose.flat_map(|text| text.split(|letter: char| !letter.is_alphabetic())) {
        letters += word.chars().count();
        others += word.chars().filter(|letter| *letter > '\u{24f}').count();
        words += usize::from(!word.is_empty());
        english += usize::from(LEXICON.english_words.contains(&word.to_lowercase()));
    }
    if others * 3 > letters && others >= 20 {
        return Some("much of the text is not in Latin script");
    }
    (words >= WORDS_MIN && english * 50 < words).then_some("the text contains hardly any English words")
}

/// Checks a whole Markdown file, without its frontmatter and its code blocks.
pub(crate) fn detect_foreign_file(source: &str) -> Option<&'static str> {
    let front = source.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
    let blocks = parse_blocks(front.map_or(source, |(_, body)| body), 1);
    detect_foreign_language(
        blocks.iter().filter(|block| block.language().is_none()).map(|block| block.prose.text.as_str()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_known_however_terse_and_code_counts_for_nothing() {
        let german = "Prüfe zuerst alle Belege und lege sie danach in den richtigen Ordner. ".repeat(8);
        let english = "Check the receipts first, then file each in the right folder for the year. ".repeat(8);
        assert_eq!((detect_foreign_file(&english), detect_foreign_file("Short.")), (None, None));
        assert!(detect_foreign_file("先检查所有收据，然后把它们放进正确的文件夹里，最后写一份总结报告。").is_some());
        let file = format!("---\nname: a\ndescription: {english}\n---\n\n{german}\n\n```\n{english}\n```\n");
        assert_eq!(detect_foreign_file(&file), Some("the text contains hardly any English words"));
    }
}
