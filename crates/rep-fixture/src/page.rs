//! The page of a rule, cut into its examples.
//!
//! A page has `## Invalid` and `## Valid` headings. Below each stand one or more fenced files
//! with `file=FOLDER/PATH` in the info line, then, for an invalid example, a `report` fence.
//! `file=skill-{1..21}/SKILL.md` stands for 21 files, `{}` in the text for the number;
//! `link=TARGET` makes the file a link, `mode=x` executable, `size=BYTES` as large as that without being read; `profile=NAME` behind `report`
//! names the profile, and the escapes `\\r`, `\\0`, `\\u{feff}` work when the info line says `escaped`.

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
    /// The text.
    pub text: String,
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
        let mut line_number = 0;
        let mut open: Option<(String, String, usize)> = None;
        for line in text.split_inclusive('\n') {
            line_number += 1;
            let start = at;
            at += line.len();
            let bare = line.trim_end();
            match &open {
                Some((fence, info, from)) => {
                    if bare == fence {
                        if let Some(example) = examples.last_mut() {
                            take(example, info, &text[*from..start], *from..start);
                        }
                        open = None;
                    }
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
                    line: line_number,
                }),
                None => {}
            }
        }
        Page { examples }
    }
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
    let text = if words.contains(&"escaped") { unescape(text) } else { text.to_owned() };
    let file = |path: String, text: String| File {
        path,
        text,
        link: value("link").map(str::to_owned),
        is_executable: value("mode") == Some("x"),
        size_bytes: value("size").and_then(|size| size.parse().ok()),
    };
    match numbered(path) {
        None => example.files.push(file(path.to_owned(), text)),
        Some((before, from, to, after)) => {
            for number in from..=to {
                let number = number.to_string();
                example.files.push(file(format!("{before}{number}{after}"), text.replace("{}", &number)));
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

/// Works out `\r`, `\0` and `\u{…}`; anything else behind a backslash stays as it is.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.strip_prefix("u{").and_then(|inner| inner.split_once('}'));
        let letter =
            code.and_then(|(digits, rest)| Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, rest)));
        rest = match (letter, after.as_bytes().first()) {
            (Some((letter, rest)), _) => {
                out.push(letter);
                rest
            }
            (None, Some(b'r')) => {
                out.push('\r');
                &after[1..]
            }
            (None, Some(b'0')) => {
                out.push('\0');
                &after[1..]
            }
            _ => {
                out.push('\\');
                after
            }
        };
    }
    out.push_str(rest);
    out
}
