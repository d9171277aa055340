//! The page of a rule, cut into its examples.
//!
//! A page has `## Invalid` and `## Valid` headings. Below each stand one or more fenced files
//! with `file=FOLDER/PATH` in the info line, then, for an invalid example, a `report` fence.
//! `file=skill-{1..21}/SKILL.md` stands for 21 files, `{}` in the text for the number;
//! `link=TARGET` makes the file a link, `mode=x` executable, `size=BYTES` as large as that without
//! being read; `profile=NAME` behind `report`
//! names the profile, and the escapes `\\r`, `\\0`, `\\xff`, `\\u{feff}` work when the info line says `escaped`.
//!
//! `kind=` in the info line makes what text cannot show: a `directory`, a `pipe`, a file that is
//! `unreadable` (the fence holds the system's words) or `too-large` (it holds the bound), or
//! `left-out`, which is no file: the fence says what was left out of the folder.
//! `repeat=N` lets the last line of the file stand N times, for files that are long.

use std::ops::Range;

/// Whether an example shows the fault or its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Shows the fault.
    Invalid,
    /// Shows how it should be.
    Valid,
}

/// One file of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Folder and path: `pdf/SKILL.md`.
    pub path: String,
    /// The bytes; for what is no file, the words that go with it.
    pub bytes: Vec<u8>,
    /// What it is, where it is no plain file: the word behind `kind=`.
    pub kind: Option<String>,
    /// The target, where it is a link.
    pub link: Option<String>,
    /// Whether it is executable.
    pub is_executable: bool,
    /// The size on disk, where the example only needs that and not the bytes.
    pub size_bytes: Option<u64>,
}

/// One example.
#[derive(Clone, Debug)]
pub struct Example {
    /// What it shows.
    pub kind: Kind,
    /// Its files.
    pub files: Vec<File>,
    /// The profile, where one is named.
    pub profile: Option<String>,
    /// Other words behind `report`, such as `strict-schema`.
    pub words: Vec<String>,
    /// The expected report; empty for valid examples.
    pub report: String,
    /// Where the report's text stands in the page.
    pub report_range: Range<usize>,
    /// The line of the example's heading, for messages.
    pub line: usize,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The examples in order.
    pub examples: Vec<Example>,
}

impl Page {
    /// Reads a page.
    pub fn parse(text: &str) -> Page {
        let mut examples: Vec<Example> = Vec::new();
        let mut at = 0;
        let mut open: Option<(String, String, usize)> = None;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let start = at;
            at += line.len();
            let bare = line.trim_end();
            match &open {
                Some((fence, info, from)) if bare == fence => {
                    if let Some(example) = examples.last_mut() {
                        take(example, info, &repeated(info, &text[*from..start]), *from..start);
                    }
                    open = None;
                }
                None if bare.starts_with("```") => {
                    let fence: String = bare.chars().take_while(|letter| *letter == '`').collect();
                    let info = bare[fence.len()..].to_owned();
                    open = Some((fence, info, at));
                }
                None if bare == "## Invalid" || bare == "## Valid" => examples.push(Example {
                    kind: if bare == "## Valid" { Kind::Valid } else { Kind::Invalid },
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
        Page { examples }
    }
}

/// The text of a fence, its last line as often as `repeat=` says.
fn repeated(info: &str, text: &str) -> String {
    let times = info.split_whitespace().find_map(|word| word.strip_prefix("repeat=")?.parse().ok());
    let last = text.trim_end_matches('\n').rfind('\n').map_or(0, |newline| newline + 1);
    format!("{}{}", &text[..last], text[last..].repeat(times.unwrap_or(1)))
}

fn take(example: &mut Example, info: &str, text: &str, range: Range<usize>) {
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
    let file = |path: String, text: &str| File {
        path,
        bytes: if words.contains(&"escaped") { unescape(text) } else { text.into() },
        kind: value("kind").map(str::to_owned),
        link: value("link").map(str::to_owned),
        is_executable: value("mode") == Some("x"),
        size_bytes: value("size").and_then(|size| size.parse().ok()),
    };
    match numbered(path) {
        None => example.files.push(file(path.to_owned(), text)),
        Some((before, from, to, after)) => {
            for number in from..=to {
                let number = number.to_string();
                example.files.push(file(format!("{before}{number}{after}"), &text.replace("{}", &number)));
            }
        }
    }
}

fn numbered(path: &str) -> Option<(&str, usize, usize, &str)> {
    let (before, rest) = path.split_once('{')?;
    let (range, after) = rest.split_once('}')?;
    let (from, to) = range.split_once("..")?;
    Some((before, from.parse().ok()?, to.parse().ok()?, after))
}

/// Works out `\r`, `\0`, `\xNN` and `\u{…}`; anything else behind a backslash stays as it is.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.extend(before.bytes());
        let (bytes, behind) = escape(after).unwrap_or_else(|| (vec![b'\\'], after));
        out.extend(bytes);
        rest = behind;
    }
    out.extend(rest.bytes());
    out
}

/// The bytes of the escape at the start of `text`, which stands behind a backslash, and the text after it.
fn escape(text: &str) -> Option<(Vec<u8>, &str)> {
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
