use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::hidden_text::{is_hidden, is_tag};
use crate::text_files::text_files;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "hidden-characters",
    summary: "a text holds characters that people cannot see and agents read",
    since: "0.1.0",
    levels: Levels { error: Profile::Security.as_set(), ..Levels::NONE },
    cites: &[Cite::evidence("§5: bidi controls in 13 files, tag characters in 3"), Cite::house("security")],
    requirements: &["SEC-07"],
    page: include_str!("hidden_characters.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    escaped(skill, findings);
    for (file, text) in text_files(skill) {
        let Some((at, letter)) = first_hidden(&text) else { continue };
        let (message, help) = if is_tag(letter) {
            ("is an invisible tag character", "remove the run of them; agents read it as text")
        } else {
            ("makes the text show in another order than agents read it", "remove it")
        };
        let span = Span::new(at, at + letter.len_utf8());
        findings.add(file, span, format!("`U+{:04X}` {message}", u32::from(letter))).help(help);
    }
}

/// Name and description may hide characters behind YAML escapes, which no look at the bytes finds.
fn escaped(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    for field in [front.name(), front.description()].into_iter().flatten() {
        let is_written = field.value.chars().all(|letter| !is_hidden(letter))
            || first_hidden(manifest.source.slice(field.span())).is_some();
        if let Some((_, letter)) = first_hidden(field.value).filter(|_| !is_written) {
            findings
                .add(manifest.file, field.span(), format!("`U+{:04X}` is hidden behind an escape", u32::from(letter)))
                .help("remove the escape; agents read what it stands for");
        }
    }
}

fn first_hidden(text: &str) -> Option<(usize, char)> {
    if text.is_ascii() {
        return None;
    }
    // Every hidden character starts with one of these two bytes in UTF-8, and neither is ever a later byte.
    let is_lead = |byte: &u8| matches!(byte, 0xe2 | 0xf3);
    let mut from = 0;
    while let Some(step) = text.as_bytes().get(from..)?.iter().position(is_lead) {
        let at = from + step;
        let letter = text.get(at..)?.chars().next()?;
        from = at + letter.len_utf8();
        if !is_hidden(letter) {
            continue;
        }
        match flag_end(text, at) {
            Some(end) => from = end,
            None => return Some((at, letter)),
        }
    }
    None
}

/// The end of the tags that spell a region behind a black flag: 🏴 with `gbsct` and a closing tag is Scotland's.
fn flag_end(text: &str, at: usize) -> Option<usize> {
    if !text[..at].ends_with('\u{1f3f4}') {
        return None;
    }
    let is_code = |letter: &char| matches!(letter, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    // A longer run is no region, whatever stands before it.
    let letters = text[at..].chars().take(7).take_while(is_code).count();
    let end = at + letters * '\u{e0061}'.len_utf8();
    let closing = text[end..].chars().next().filter(|letter| *letter == '\u{e007f}')?;
    (3..=6).contains(&letters).then_some(end + closing.len_utf8())
}
