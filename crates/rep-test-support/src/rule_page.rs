//! Parses the examples on the page of a rule.
//!
//! A page has `## Invalid` and `## Valid` headings. Each is followed by one or more fenced files with
//! `file=FOLDER/PATH` in the info string. An invalid example ends with a `report` fence.
//!
//! - `file=skill-{1..21}/SKILL.md` creates 21 files; `{}` in the text is replaced by the number.
//! - `link=TARGET` creates a link, `mode=x` an executable file, and `size=BYTES` a file of that size that is not
//!   read.
//! - `escaped` enables the escapes `\r`, `\0`, `\xff` and `\u{feff}`.
//! - `repeat=N` repeats the last line of the file N times.
//! - `kind=` creates entries that text cannot show: a `directory`, a `pipe`, a file that is `unreadable` (the fence
//!   contains the system's error) or `too-large` (the fence contains the limit), or `left-out` (the fence says what
//!   was left out of the directory).
//! - `profile=NAME` after `report` selects the profile.

use std::ops::Range;

/// Whether an example is invalid or valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleKind {
    /// Shows the problem.
    Invalid,
    /// Shows correct content.
    Valid,
}

/// A file of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFile {
    /// The directory and path: `pdf/SKILL.md`.
    pub path: String,
    /// The content. For an entry other than a file, the text that describes it.
    pub bytes: Vec<u8>,
    /// The value of `kind=`, if the entry is not a plain file.
    pub kind: Option<String>,
    /// The target, if it is a link.
    pub link: Option<String>,
    /// Whether it is executable.
    pub is_executable: bool,
    /// The size on disk, if the example needs only the size and not the content.
    pub size_bytes: Option<u64>,
}

/// An example on a page.
#[derive(Clone, Debug)]
pub struct RuleExample {
    /// Whether it is invalid or valid.
    pub kind: ExampleKind,
    /// Its files.
    pub files: Vec<ExampleFile>,
    /// The profile, if one is named.
    pub profile: Option<String>,
    /// Other words after `report`, such as `strict-schema`.
    pub words: Vec<String>,
    /// The expected report; empty for valid examples.
    pub report: String,
    /// The range of the report in the page.
    pub report_range: Range<usize>,
    /// The line of the example's heading, for messages.
    pub line: usize,
}

/// The page of a rule.
#[derive(Clone, Debug)]
pub struct RulePage {
    /// The examples in order.
    pub examples: Vec<RuleExample>,
}

impl RulePage {
    /// Parses a page.
    pub fn parse(text: &str) -> RulePage {
        let mut examples: Vec<RuleExample> = Vec::new();
        let mut at = 0;
        let mut open: Option<(String, String, usize)> = None;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let start = at;
            at += line.len();
            let bare = line.trim_end();
            match &open {
                Some((fence, info, from)) if bare == fence => {
                    if let Some(example) = examples.last_mut() {
                        add_fence(example, info, &repeat_last_line(info, &text[*from..start]), *from..start);
                    }
                    open = None;
                }
                None if bare.starts_with("```") => {
                    let fence: String = bare.chars().take_while(|letter| *letter == '`').collect();
                    let info = bare[fence.len()..].to_owned();
                    open = Some((fence, info, at));
                }
                None if bare == "## Invalid" || bare == "## Valid" => examples.push(RuleExample {
                    kind: if bare == "## Valid" { ExampleKind::Valid } else { ExampleKind::Invalid },
                    files: Vec::new(),
                    profile: None,
                    words: Vec::new(),
                    report: String::new(),
                    report_range: at..at,
                    line: index + 1,
                }),
                Some(_) | None => {}
            }
        }
        RulePage { examples }
    }
}

/// Returns the text of a fence, with its last line repeated as `repeat=` says.
fn repeat_last_line(info: &str, text: &str) -> String {
    let times = info.split_whitespace().find_map(|word| word.strip_prefix("repeat=")?.parse().ok());
    let last = text.trim_end_matches('\n').rfind('\n').map_or(0, |newline| newline + 1);
    format!("{}{}", &text[..last], text[last..].repeat(times.unwrap_or(1)))
}

fn add_fence(example: &mut RuleExample, info: &str, text: &str, range: Range<usize>) {
    let words: Vec<&str> = info.split_whitespace().collect();
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    if words.first() == Some(&"report") || words.first() == Some(&"options") {
        example.profile = value("profile").map(str::to_owned);
        example.words = words[1..].iter().map(|word| (*word).to_owned()).collect();
        if words[0] == "report" {
            text.clone_into(&mut example.report);
            example.report_range = range;
        }
        return;
    }
    let Some(path) = value("file") else { return };
    let file = |path: String, text: &str| ExampleFile {
        path,
        bytes: if words.contains(&"escaped") { unescape_text(text) } else { text.into() },
        kind: value("kind").map(str::to_owned),
        link: value("link").map(str::to_owned),
        is_executable: value("mode") == Some("x"),
        size_bytes: value("size").and_then(|size| size.parse().ok()),
    };
    match parse_numbered_path(path) {
        None => example.files.push(file(path.to_owned(), text)),
        Some((before, from, to, after)) => {
            for number in from..=to {
                let number = number.to_string();
                example.files.push(file(format!("{before}{number}{after}"), &text.replace("{}", &number)));
            }
        }
    }
}

fn parse_numbered_path(path: &str) -> Option<(&str, usize, usize, &str)> {
    let (before, rest) = path.split_once('{')?;
    let (range, after) = rest.split_once('}')?;
    let (from, to) = range.split_once("..")?;
    Some((before, from.parse().ok()?, to.parse().ok()?, after))
}

/// Replaces `\r`, `\0`, `\xNN` and `\u{…}`. Any other backslash is preserved.
fn unescape_text(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.extend(before.bytes());
        let (bytes, behind) = parse_escape(after).unwrap_or_else(|| (vec![b'\\'], after));
        out.extend(bytes);
        rest = behind;
    }
    out.extend(rest.bytes());
    out
}

/// Parses the escape at the start of `text`, after the backslash. Returns its bytes and the remaining text.
fn parse_escape(text: &str) -> Option<(Vec<u8>, &str)> {
    let (letter, rest) = text.split_at_checked(1)?;
    match letter {
        "r" => Some((vec![b'\r'], rest)),
        "0" => Some((vec![0], rest)),
        "x" => {
            let (digits, rest) = rest.split_at_checked(2)?;
            Some((vec![u8::from_str_radix(digits, 16).ok()?], rest))
        }
        "u" => {
            let (digits, rest) = rest.strip_prefix('{')?.split_once('}')?;
            let letter = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((letter.to_string().into_bytes(), rest))
        }
        _ => None,
    }
}
