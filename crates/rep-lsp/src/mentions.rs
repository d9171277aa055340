//! Mentions of skills in prose: `/name`, `$name`, and `` `name` `` beside the word "skill".
//!
//! Fences, links, URLs and paths are not prose. A longer word that contains a name is not a mention.

use rep_model::Span;
use rep_model::markdown::MarkdownOutline;

/// Returns the mentions in a Markdown text: the location of each name, without its sigil.
pub(crate) fn find_mentions(
    text: &str,
    body: Span,
    outline: &MarkdownOutline,
    is_skill: &dyn Fn(&str) -> bool,
) -> Vec<(Span, String)> {
    let mut mentions = Vec::new();
    let mut add = |start: usize, name: &str| {
        if is_skill(name) {
            mentions.push((Span::new(start, start + name.len()), name.to_owned()));
        }
    };
    let covered = list_covered(outline);
    for (at, sigil) in text.get(body.range()).unwrap_or_default().match_indices(['/', '$']) {
        let at = body.start + at;
        if is_covered(&covered, at) || !is_open(text[..at].chars().next_back()) {
            continue;
        }
        let start = at + sigil.len();
        let name = read_name(&text[start..body.end]);
        if is_closed(&text[start + name.len()..body.end]) {
            add(start, name);
        }
    }
    for code in &outline.codes {
        let inner = code.text.trim();
        let Some(offset) = text.get(code.span.range()).and_then(|source| source.find(inner)) else { continue };
        let start = code.span.start + offset;
        if let Some(rest) = inner.strip_prefix(['/', '$']) {
            let name = read_name(rest);
            let after = &rest[name.len()..];
            if after.is_empty() || after.starts_with(char::is_whitespace) {
                add(start + 1, name);
            }
        } else if is_beside_skill(text, code.span) {
            add(start, inner);
        }
    }
    mentions
}

/// Returns the name at the start of a text. A full stop or hyphen at its end belongs to the sentence.
pub(crate) fn read_name(text: &str) -> &str {
    let end = text.find(|letter: char| !is_name_letter(letter)).unwrap_or(text.len());
    text[..end].trim_end_matches(['-', ':'])
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':')
}

/// Whether a mention can start behind a character.
pub(crate) fn is_open(before: Option<char>) -> bool {
    before.is_none_or(|letter| letter.is_whitespace() || "([{\"'*_>|,;".contains(letter))
}

/// Whether a mention can end before a text.
fn is_closed(after: &str) -> bool {
    let mut letters = after.chars();
    match letters.next() {
        None => true,
        Some('/' | '\\' | '$' | '=' | '(') => false,
        // A full stop ends a sentence, unless a file's ending follows.
        Some('.') => letters.next().is_none_or(|next| !next.is_alphanumeric()),
        Some(letter) => !is_name_letter(letter),
    }
}

/// Whether the word "skill" is directly before or behind a code span.
fn is_beside_skill(text: &str, code: Span) -> bool {
    let word_before = text[..code.start].trim_end().rsplit(|letter: char| !letter.is_alphanumeric()).next();
    let word_after = text[code.end..].trim_start().split(|letter: char| !letter.is_alphanumeric()).next();
    let is_skill = |word: Option<&str>| word.is_some_and(|word| word.eq_ignore_ascii_case("skill"));
    is_skill(word_before) || is_skill(word_after)
}

/// Lists what is not prose, sorted.
fn list_covered(outline: &MarkdownOutline) -> Vec<Span> {
    let mut covered: Vec<Span> = outline.fences.iter().map(|fence| fence.span).collect();
    covered.extend(outline.codes.iter().map(|code| code.span));
    covered.extend(outline.links.iter().map(|link| link.span));
    covered.extend(&outline.html);
    covered.sort_unstable();
    covered
}

fn is_covered(covered: &[Span], at: usize) -> bool {
    // Spans can be nested, so a few before the position are looked at.
    let end = covered.partition_point(|span| span.start <= at);
    covered[..end].iter().rev().take(8).any(|span| span.contains(at))
}

#[cfg(test)]
mod tests {
    use rep_model::markdown::parse_outline;

    use super::*;

    fn mentioned(text: &str) -> Vec<String> {
        let outline = parse_outline(text, 0);
        let body = Span::new(0, text.len());
        let found = find_mentions(text, body, &outline, &|name| matches!(name, "pdf" | "pdf-tools" | "usr"));
        for (span, name) in &found {
            assert_eq!(&text[span.range()], name);
        }
        found.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn sigils_and_the_word_skill_make_a_mention() {
        assert_eq!(mentioned("Run /pdf, then $pdf-tools. Or (/pdf)."), ["pdf", "pdf-tools", "pdf"]);
        assert_eq!(mentioned("Use the `pdf-tools` skill, or skill `pdf`."), ["pdf-tools", "pdf"]);
        assert_eq!(mentioned("Type `/pdf-tools file.pdf` or `$pdf`."), ["pdf-tools", "pdf"]);
    }

    #[test]
    fn paths_urls_fences_and_longer_words_are_no_mentions() {
        for text in [
            "See /usr/bin and a/pdf and /pdf/x and /pdf.md.",
            "https://example.org/pdf and <https://example.org/pdf>",
            "```sh\n/pdf\n$pdf\n```\n",
            "/pdf-toolsx and $pdfs and /pdf_ and x$pdf",
            "`pdf` alone, `/pdf/x`, [a](/pdf)",
            "$pdf=3 and $pdf(x)",
        ] {
            assert_eq!(mentioned(text), Vec::<String>::new(), "{text}");
        }
    }
}
