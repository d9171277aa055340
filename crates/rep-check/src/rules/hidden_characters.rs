use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::hidden_text::{is_hidden_character, is_tag_character};
use crate::text_files::list_text_files;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "hidden-characters",
    summary: "a text contains characters that are invisible to people but read by agents",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::public_survey("§5: bidi controls in 13 files, tag characters in 3"),
        RuleCitation::own_project("security"),
    ],
    requirements: &["SEC-07"],
    page: include_str!("hidden_characters.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    report_escaped_characters(skill, findings);
    for (file, text) in list_text_files(skill) {
        let Some((at, letter)) = find_first_hidden(&text) else { continue };
        let (message, help) = if is_tag_character(letter) {
            ("is an invisible tag character", "remove the whole run; agents read it as text")
        } else {
            ("displays the text in a different order than agents read it", "remove it")
        };
        let span = Span::new(at, at + letter.len_utf8());
        findings
            .add(file, span, format!("`U+{:04X}` {message}", u32::from(letter)))
            .help(help)
            .with_optional_fix(remove_hidden(file, &text));
    }
}

/// Reports hidden characters in YAML escapes of name and description, which a search of the bytes does not find.
fn report_escaped_characters(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    for field in [front.name(), front.description()].into_iter().flatten() {
        let is_written = field.value.chars().all(|letter| !is_hidden_character(letter))
            || find_first_hidden(manifest.source.slice(field.span())).is_some();
        if let Some((_, letter)) = find_first_hidden(field.value).filter(|_| !is_written) {
            findings
                .add(
                    manifest.file,
                    field.span(),
                    format!("`U+{:04X}` is hidden in an escape sequence", u32::from(letter)),
                )
                .help("remove the escape; agents read the character it encodes");
        }
    }
}

/// The maximum number of runs that one fix removes. A file with more is examined by its author.
const RUNS_MAX: usize = 100;

/// Returns a fix that removes every hidden character of a file.
fn remove_hidden(file: &str, text: &str) -> Option<FindingFix> {
    let mut fix = FindingFix::suggestion("remove the hidden characters");
    let mut from = 0;
    while let Some((step, _)) = find_first_hidden(&text[from..]) {
        let start = from + step;
        let run: usize =
            text[start..].chars().take_while(|letter| is_hidden_character(*letter)).map(char::len_utf8).sum();
        if fix.edits.len() == RUNS_MAX {
            return None;
        }
        fix = fix.replace(file, Span::new(start, start + run), "");
        from = start + run;
    }
    Some(fix)
}

fn find_first_hidden(text: &str) -> Option<(usize, char)> {
    if text.is_ascii() {
        return None;
    }
    // In UTF-8, every hidden character starts with one of these two bytes, and neither is a continuation byte.
    let is_lead = |byte: &u8| matches!(byte, 0xe2 | 0xf3);
    let mut from = 0;
    while let Some(step) = text.as_bytes().get(from..)?.iter().position(is_lead) {
        let at = from + step;
        let letter = text.get(at..)?.chars().next()?;
        from = at + letter.len_utf8();
        if !is_hidden_character(letter) {
            continue;
        }
        match find_flag_end(text, at) {
            Some(end) => from = end,
            None => return Some((at, letter)),
        }
    }
    None
}

/// Returns the end of the tags that spell a region after a black flag. Scotland's flag is 🏴, `gbsct` and a closing tag.
fn find_flag_end(text: &str, at: usize) -> Option<usize> {
    if !text[..at].ends_with('\u{1f3f4}') {
        return None;
    }
    let is_code = |letter: &char| matches!(letter, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    // A longer run is not a region, whatever precedes it.
    let letters = text[at..].chars().take(7).take_while(is_code).count();
    let end = at + letters * '\u{e0061}'.len_utf8();
    let closing = text[end..].chars().next().filter(|letter| *letter == '\u{e007f}')?;
    (3..=6).contains(&letters).then_some(end + closing.len_utf8())
}
