//! Checks names and English: duplicate public types, types named by a participle, banned names, and banned phrases.
//!
//! Known exceptions are listed in `xtask/vocabulary-exceptions.txt`, one `kind item count` per line. A count that is
//! lower than the listed one fails too, so the list can only shrink.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Names of types and files that are metaphors or have no meaning.
const BANNED_NAMES: &[&str] = &[
    "office", "clerk", "desk", "shelf", "door", "keep", "grounds", "ground", "turn", "misfit", "looker", "wish",
    "loan", "offer", "said", "told", "made", "held", "came", "over", "aside", "leads", "visitors", "visit", "dossier",
    "disclose", "piece", "aloud", "trial", "wires",
];

/// Participles that do not end in `ed`.
const IRREGULAR_PARTICIPLES: &[&str] = &[
    "Made", "Said", "Told", "Held", "Came", "Kept", "Shown", "Known", "Found", "Given", "Taken", "Gone", "Written",
    "Sent", "Left", "Lost", "Met", "Built", "Chosen", "Drawn", "Bound", "Brought", "Spent", "Meant", "Seen", "Done",
];

/// Words that end in `ed` without being participles, and the one participle that is a term of the sandbox.
const NOT_PARTICIPLES: &[&str] = &["Granted", "Feed", "Seed", "Speed"];

/// Phrases that are rejected in comments, strings and documents, as whole words.
const PHRASES: &[&str] =
    &["is no", "are no", "whoever", "mend", "mends", "mended", "mending", "in vain", "of who", "is told", "stands"];

/// Words after a phrase that make it ordinary English.
const ORDINARY_ENDINGS: &[&str] = &["longer", "more"];

/// Returns the differences from the exception list.
pub(crate) fn check_vocabulary(
    root: &Path,
    sources: &[(String, String)],
    documents: &[(String, String)],
) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    count_type_names(sources, &mut found);
    for (path, text) in sources {
        let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if BANNED_NAMES.contains(&stem) {
            *found.entry(format!("file {path}")).or_default() += 1;
        }
        count_phrases(path, &extract_prose(text), &mut found);
    }
    for (path, text) in documents {
        count_phrases(path, text, &mut found);
    }
    compare_with_exceptions(&found, &read_exceptions(root))
}

/// Counts public types that are declared more than once, and types with a banned name.
fn count_type_names(sources: &[(String, String)], found: &mut BTreeMap<String, usize>) {
    let mut public: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| path.contains("/src/")) {
        for line in text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")) {
            let Some((name, is_public)) = parse_declared_type(line) else { continue };
            if is_public {
                *public.entry(name.to_owned()).or_default() += 1;
            }
            if is_participle(name) || BANNED_NAMES.contains(&name.to_lowercase().as_str()) {
                *found.entry(format!("type {path}:{name}")).or_default() += 1;
            }
        }
    }
    found.extend(
        public.into_iter().filter(|(_, count)| *count > 1).map(|(name, count)| (format!("duplicate {name}"), count)),
    );
}

/// Returns the type a line declares at the top level of a file, and whether it is public.
fn parse_declared_type(line: &str) -> Option<(&str, bool)> {
    let is_public = line.starts_with("pub ");
    let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let rest = rest.strip_prefix("pub(super) ").unwrap_or(rest);
    let keyword =
        ["struct ", "enum ", "trait ", "type ", "union "].into_iter().find(|keyword| rest.starts_with(keyword))?;
    let name = &rest[keyword.len()..];
    let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(name.len());
    Some((&name[..end], is_public))
}

/// Whether a name of one word is a participle.
fn is_participle(name: &str) -> bool {
    let is_one_word = !name[1..].contains(char::is_uppercase);
    is_one_word && !NOT_PARTICIPLES.contains(&name) && (name.ends_with("ed") || IRREGULAR_PARTICIPLES.contains(&name))
}

/// Returns the comments and string literals of a source file.
fn extract_prose(text: &str) -> String {
    let mut prose = String::new();
    for line in text.lines() {
        let comment = line.find("//").map_or("", |at| &line[at..]);
        prose.push_str(comment);
        prose.push('\n');
        let code = &line[..line.len() - comment.len()];
        for literal in code.split('"').skip(1).step_by(2) {
            prose.push_str(literal);
            prose.push('\n');
        }
    }
    prose
}

fn count_phrases(path: &str, text: &str, found: &mut BTreeMap<String, usize>) {
    for line in text.lines() {
        let line = line.to_lowercase();
        let words: Vec<&str> = line
            .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
            .filter(|word| !word.is_empty())
            .collect();
        for phrase in PHRASES {
            let wanted: Vec<&str> = phrase.split(' ').collect();
            let matches = words.windows(wanted.len()).enumerate().filter(|(at, window)| {
                let next = words.get(at + wanted.len()).copied().unwrap_or_default();
                *window == wanted.as_slice() && !ORDINARY_ENDINGS.contains(&next)
            });
            let count = matches.count();
            if count > 0 {
                *found.entry(format!("phrase {path}:{}", phrase.replace(' ', "-"))).or_default() += count;
            }
        }
    }
}

fn read_exceptions(root: &Path) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root.join("xtask/vocabulary-exceptions.txt")).unwrap_or_default();
    let entries = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    entries
        .filter_map(|line| {
            let (item, count) = line.rsplit_once(' ')?;
            Some((item.to_owned(), count.parse().ok()?))
        })
        .collect()
}

fn compare_with_exceptions(found: &BTreeMap<String, usize>, excepted: &BTreeMap<String, usize>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (item, count) in found {
        let allowed = excepted.get(item).copied().unwrap_or_default();
        if *count > allowed {
            wrong.push(format!("vocabulary: {item}: found {count}, allowed {allowed}"));
        }
    }
    for (item, allowed) in excepted {
        let count = found.get(item).copied().unwrap_or_default();
        if count < *allowed {
            wrong.push(format!(
                "vocabulary: {item}: found {count}; lower its entry in xtask/vocabulary-exceptions.txt ({allowed})"
            ));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_phrases_are_found() {
        let source = |text: &str| vec![("crates/a/src/lib.rs".to_owned(), text.to_owned())];
        let check = |text: &str| check_vocabulary(Path::new("/nonexistent"), &source(text), &[]).len();
        assert_eq!(check("pub struct SkillPath;\npub(crate) struct Granted;"), 0);
        assert_eq!(check("struct Loaded;"), 1);
        assert_eq!(check("enum Desk {}"), 1);
        assert_eq!(check("pub struct Part;\npub struct Part;"), 1);
        assert_eq!(check("// It is no longer used."), 0);
        assert_eq!(check("// It is no file."), 1);
        assert_eq!(check("let text = \"mend this\";"), 1);
        assert_eq!(check("let mend = 1;"), 0);
    }

    #[test]
    fn the_exception_list_can_only_shrink() {
        let found = BTreeMap::from([("phrase a:mend".to_owned(), 1)]);
        let excepted = BTreeMap::from([("phrase a:mend".to_owned(), 2)]);
        assert_eq!(compare_with_exceptions(&found, &excepted).len(), 1);
        assert_eq!(compare_with_exceptions(&found, &found).len(), 0);
    }
}
