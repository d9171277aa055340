//! Whether a text is written in a language the rules of extraction do not know.

/// Words that English prose cannot do without, and that other languages do not have.
const ENGLISH: &[&str] = &[
    "the", "and", "to", "of", "for", "with", "that", "this", "or", "from", "when", "if", "not", "use", "by", "are",
    "you",
];
/// The fewest words a language is told by.
const WORDS_MIN: usize = 60;

/// Why a text is taken to be no English, where it is none.
pub(crate) fn foreign<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    let (mut letters, mut others, mut words, mut english) = (0usize, 0usize, 0usize, 0usize);
    for text in texts {
        // Code is in no language.
        for word in text.split('`').step_by(2).flat_map(|text| text.split(|letter: char| !letter.is_alphabetic())) {
            letters += word.chars().count();
            others += word.chars().filter(|letter| *letter > '\u{24f}').count();
            words += usize::from(!word.is_empty());
            english += usize::from(ENGLISH.iter().any(|known| known.eq_ignore_ascii_case(word)));
        }
    }
    if others * 3 > letters && others >= 20 {
        return Some("much of the text is in letters other than Latin");
    }
    (words >= WORDS_MIN && english * 50 < words).then_some("the text has hardly an English word")
}

/// The same of a whole Markdown file, without its frontmatter and its blocks of code.
pub(crate) fn foreign_file(source: &str) -> Option<&'static str> {
    let mut is_code = false;
    let is_front = source.starts_with("---");
    let body = source.lines().skip(usize::from(is_front)).skip_while(|line| is_front && line.trim_end() != "---");
    let prose = body.filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    foreign(prose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_known_however_terse_and_code_counts_for_nothing() {
        let german = "Prüfe zuerst alle Belege und lege sie danach in den richtigen Ordner. ".repeat(8);
        assert_eq!(foreign([german.as_str()].into_iter()), Some("the text has hardly an English word"));
        let english = "Check the receipts first, then file each in the right folder for the year. ".repeat(8);
        assert_eq!(foreign([english.as_str()].into_iter()), None);
        assert!(foreign(["先检查所有收据，然后把它们放进正确的文件夹里，最后写一份总结报告。"].into_iter()).is_some());
        assert_eq!(foreign(["Short."].into_iter()), None);
        let file = format!("---\nname: a\ndescription: {english}\n---\n\n{german}\n\n```\n{english}\n```\n");
        assert!(foreign_file(&file).is_some());
    }
}
