//! The path patterns of permissions: Universal 2.1 §8.
//!
//! Patterns and paths are relative to the workspace, with `/` between parts; a backslash is read as `/` in both.
//! `*` stays within a part, `**` as a whole part stands for any number of parts, and nothing else is special:
//! no `?`, no braces, no exception for names with a dot before them. Case counts. `dir/**` is what lies below `dir`,
//! not `dir` itself. There is no negation.

use std::fmt;

/// The longest pattern, and the most stars in one part: beyond, matching could cost more than a run.
const PATTERN_BYTES_MAX: usize = 1024;

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Glob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    /// Any number of parts.
    Any,
    /// One part, with a star between each two of these texts.
    One(Vec<String>),
}

/// Why a pattern grants nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadGlob {
    /// It starts with `!`.
    Negated,
    /// It is absolute, or leads out of the workspace.
    Outside,
    /// It says nothing.
    Empty,
    /// It is too long.
    TooLong,
    /// It holds a NUL.
    Nul,
}

impl fmt::Display for BadGlob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            BadGlob::Negated => "negated patterns are not part of the specification",
            BadGlob::Outside => "it is not inside the workspace",
            BadGlob::Empty => "it is empty",
            BadGlob::TooLong => "it is too long",
            BadGlob::Nul => "it holds a NUL",
        })
    }
}

impl Glob {
    /// Reads a pattern.
    pub fn parse(pattern: &str) -> Result<Glob, BadGlob> {
        if pattern.starts_with('!') {
            return Err(BadGlob::Negated);
        }
        if pattern.contains('\0') {
            return Err(BadGlob::Nul);
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(BadGlob::TooLong);
        }
        let normal = normalise(pattern).ok_or(BadGlob::Outside)?;
        if normal.is_empty() {
            return Err(BadGlob::Empty);
        }
        let mut parts: Vec<Part> = Vec::new();
        for part in normal.split('/') {
            let part = if part == "**" {
                Part::Any
            } else {
                // `**` inside a part is no more than one star.
                let mut texts: Vec<String> = part.split('*').map(str::to_owned).collect();
                let last = texts.len() - 1;
                let mut at = 0;
                texts.retain(|text| {
                    at += 1;
                    !text.is_empty() || at == 1 || at - 1 == last
                });
                Part::One(texts)
            };
            if part != Part::Any || parts.last() != Some(&Part::Any) {
                parts.push(part);
            }
        }
        Ok(Glob { text: normal, parts })
    }

    /// The pattern, normalised.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a path that was normalised fits.
    pub fn fits(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        // The last `**` and where the path stood then: taking one part more is the only way back that can help.
        let (mut pattern_at, mut path_at) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while path_at < path.len() {
            match self.parts.get(pattern_at) {
                Some(Part::Any) => {
                    retry = Some((pattern_at, path_at));
                    pattern_at += 1;
                    // `dir/**` needs something below.
                    if pattern_at == self.parts.len() {
                        return true;
                    }
                    continue;
                }
                Some(Part::One(texts)) if part_fits(texts, path[path_at]) => {
                    pattern_at += 1;
                    path_at += 1;
                    continue;
                }
                Some(Part::One(_)) | None => {}
            }
            let Some((any, taken)) = retry else { return false };
            (pattern_at, path_at) = (any, taken + 1);
        }
        pattern_at == self.parts.len()
    }

    /// Whether a path whose last part is this could fit.
    pub fn may_end_in(&self, name: &str) -> bool {
        match self.parts.last() {
            Some(Part::One(texts)) => part_fits(texts, name),
            Some(Part::Any) | None => true,
        }
    }

    /// Whether some path fits both patterns.
    pub fn meets(&self, other: &Glob) -> bool {
        let (one, two) = (self.spelled_out(), other.spelled_out());
        // Whether what is left of the two patterns can be the same path, from the ends on.
        let mut meets = vec![vec![false; two.len() + 1]; one.len() + 1];
        for at in (0..=one.len()).rev() {
            for other_at in (0..=two.len()).rev() {
                meets[at][other_at] = match (one.get(at), two.get(other_at)) {
                    (None, None) => true,
                    (Some(Part::Any), _) => meets[at + 1][other_at] || other_at < two.len() && meets[at][other_at + 1],
                    (_, Some(Part::Any)) => meets[at][other_at + 1] || at < one.len() && meets[at + 1][other_at],
                    (Some(Part::One(texts)), Some(Part::One(others))) => {
                        meets[at + 1][other_at + 1] && parts_meet(texts, others)
                    }
                    (None, Some(_)) | (Some(_), None) => false,
                };
            }
        }
        meets[0][0]
    }

    /// The parts, with a star before a `**` at the end, which needs something below.
    fn spelled_out(&self) -> Vec<Part> {
        let mut parts = self.parts.clone();
        if parts.last() == Some(&Part::Any) {
            parts.insert(parts.len() - 1, Part::One(vec![String::new(), String::new()]));
        }
        parts
    }

    /// The folder whose whole content the pattern grants: `dir/**` gives `dir`, `**` the workspace itself (empty).
    pub fn whole_folder(&self) -> Option<String> {
        let (last, before) = self.parts.split_last()?;
        let literal = before.iter().map(|part| match part {
            Part::One(texts) if texts.len() == 1 => texts.first().cloned(),
            Part::One(_) | Part::Any => None,
        });
        let folder: Option<Vec<String>> = literal.collect();
        folder.filter(|_| *last == Part::Any).map(|parts| parts.join("/"))
    }

    /// The path itself, where no part has a star.
    pub fn literal(&self) -> Option<String> {
        let literal = self.parts.iter().map(|part| match part {
            Part::One(texts) if texts.len() == 1 => texts.first().cloned(),
            Part::One(_) | Part::Any => None,
        });
        literal.collect::<Option<Vec<String>>>().map(|parts| parts.join("/"))
    }

    /// The folder all that fits lies in: the parts before the first star.
    pub fn literal_prefix(&self) -> String {
        let literal = self.parts.iter().map_while(|part| match part {
            Part::One(texts) if texts.len() == 1 => texts.first().cloned(),
            Part::One(_) | Part::Any => None,
        });
        let mut parts: Vec<String> = literal.collect();
        if parts.len() == self.parts.len() {
            parts.pop();
        }
        parts.join("/")
    }
}

fn part_fits(texts: &[String], part: &str) -> bool {
    let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return false };
    if texts.len() == 1 {
        return part == first;
    }
    let Some(mut rest) = part.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else {
        return false;
    };
    for text in &texts[1..texts.len() - 1] {
        let Some(at) = rest.find(text.as_str()) else { return false };
        rest = &rest[at + text.len()..];
    }
    true
}

/// Whether some name fits both parts.
fn parts_meet(one: &[String], two: &[String]) -> bool {
    // A star is `None`.
    let letters = |texts: &[String]| -> Vec<Option<char>> {
        let mut letters: Vec<Option<char>> = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                letters.push(None);
            }
            letters.extend(text.chars().map(Some));
        }
        letters
    };
    let (one, two) = (letters(one), letters(two));
    let mut after = vec![false; two.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut row = vec![false; two.len() + 1];
        for other_at in (0..=two.len()).rev() {
            row[other_at] = match (one.get(at), two.get(other_at)) {
                (None, None) => true,
                (Some(None), _) => after[other_at] || other_at < two.len() && row[other_at + 1],
                (_, Some(None)) => row[other_at + 1] || at < one.len() && after[other_at],
                (Some(Some(letter)), Some(Some(other))) => letter == other && after[other_at + 1],
                (None, Some(_)) | (Some(_), None) => false,
            };
        }
        after = row;
    }
    after[0]
}

/// A path relative to the workspace, with `.` and `..` worked out; `None` where it is absolute or leads out.
pub fn normalise(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let has_drive = path.len() >= 2 && path.as_bytes()[1] == b':' && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || has_drive || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        let glob = Glob::parse(pattern).unwrap();
        normalise(path).is_some_and(|path| glob.fits(&path))
    }

    #[test]
    fn stars_stay_in_a_part_and_double_stars_span_them() {
        for (pattern, path, expected) in [
            ("**/*.pdf", "a.pdf", true),
            ("**/*.pdf", "x/y/a.pdf", true),
            ("**/*.pdf", "x/y/a.txt", false),
            ("*.pdf", "x/a.pdf", false),
            ("output/**", "output/a/b", true),
            ("output/**", "output", false),
            ("output/**", "outputx/a", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b/**/c", "a/b/b/x/c", true),
            ("a/**/b", "a/x", false),
            ("src\\*.rs", "src/a.rs", true),
            ("src/*.rs", "src\\a.rs", true),
            ("output/**", "output/../secret", false),
            ("**", "../x", false),
            ("**", "/etc/passwd", false),
            ("*.PDF", "a.pdf", false),
            ("*", ".hidden", true),
            ("data/*.csv", "data/./x.csv", true),
            ("a?", "ab", false),
            ("{a,b}", "a", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXc", false),
            ("a*b*c", "acb", false),
            ("a*bb*c", "abc", false),
            ("*a*a*", "a", false),
            ("*a*a*", "aa", true),
            ("a**b**c", "abc", true),
            ("a*b", "ab", true),
            ("ab*ba", "aba", false),
            ("a**b", "a/b", false),
            ("a**b", "axb", true),
            ("**", "a", true),
            ("./x", "x", true),
            ("x/", "x", true),
            ("C:\\x", "x", false),
        ] {
            let found = Glob::parse(pattern).is_ok() && fits(pattern, path);
            assert_eq!(found, expected, "{pattern} on {path}");
            let name = normalise(path).map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
            let may = Glob::parse(pattern).is_ok_and(|glob| name.is_some_and(|name| glob.may_end_in(&name)));
            assert!(may || !found, "{pattern} on the end of {path}");
        }
    }

    #[test]
    fn what_grants_nothing_is_told() {
        for (pattern, bad) in [
            ("!x", BadGlob::Negated),
            ("/etc/**", BadGlob::Outside),
            ("../**", BadGlob::Outside),
            ("a/../../b", BadGlob::Outside),
            ("", BadGlob::Empty),
            ("a\0b", BadGlob::Nul),
            (".", BadGlob::Empty),
            ("a/..", BadGlob::Empty),
            ("C:/x", BadGlob::Outside),
            (&"a".repeat(1025), BadGlob::TooLong),
        ] {
            assert_eq!(Glob::parse(pattern), Err(bad), "{pattern:?}");
        }
        assert_eq!(BadGlob::Negated.to_string(), "negated patterns are not part of the specification");
        assert_eq!(BadGlob::Outside.to_string(), "it is not inside the workspace");
        let longest = "a".repeat(1024);
        assert_eq!(Glob::parse(&longest).unwrap().literal(), Some(longest));
    }

    #[test]
    fn the_form_of_a_pattern_is_seen() {
        let glob = |text: &str| Glob::parse(text).unwrap();
        assert_eq!(glob("output/**").whole_folder().as_deref(), Some("output"));
        assert_eq!(glob("**").whole_folder().as_deref(), Some(""));
        assert_eq!(glob("**/*.pdf").whole_folder(), None);
        assert_eq!(glob("a/b.txt").literal().as_deref(), Some("a/b.txt"));
        assert_eq!(glob("a/b.txt").literal_prefix(), "a");
        assert_eq!(glob("reports/*.csv").literal_prefix(), "reports");
        assert_eq!(glob("**/*.pdf").literal_prefix(), "");
        assert_eq!(glob("a/b/*/c").literal_prefix(), "a/b");
        assert_eq!(glob("a.txt").literal_prefix(), "");
        assert_eq!(glob("a/b/**").whole_folder().as_deref(), Some("a/b"));
        for pattern in ["a/*/**", "**/a/**", "a", "a/*"] {
            assert_eq!(glob(pattern).whole_folder(), None, "{pattern}");
        }
        for pattern in ["a/**", "a/*.txt", "**/a"] {
            assert_eq!(glob(pattern).literal(), None, "{pattern}");
        }
        assert_eq!(glob("a/**/**/b").as_str(), "a/**/**/b");
        assert!(glob("a/*.pdf").may_end_in("x.pdf") && !glob("a/*.pdf").may_end_in("x.txt"));
        assert!(glob("a/**").may_end_in("x.txt"));
    }

    #[test]
    fn patterns_meet_where_a_path_fits_both() {
        let glob = |text: &str| Glob::parse(text).unwrap();
        for (one, two, expected) in [
            ("**/*.pdf", "secrets/**", true),
            ("docs/*.pdf", "secrets/**", false),
            ("docs/*.pdf", "docs/a*", true),
            ("docs/*.pdf", "docs/*.txt", false),
            ("docs/**", "docs", false),
            ("docs/**", "docs/**", true),
            ("**", "a", true),
            ("a/**/z", "a/z", true),
            ("a/**/z", "b/**", false),
            ("a*b", "ab", true),
            ("a*b", "*c", false),
            ("**/.git/**", "**", true),
            ("**/.git/**", "src/**", true),
            ("**/.git/**", "src/*.rs", false),
        ] {
            assert_eq!(glob(one).meets(&glob(two)), expected, "{one} and {two}");
            assert_eq!(glob(two).meets(&glob(one)), expected, "{two} and {one}");
        }
    }

    #[test]
    fn hostile_patterns_cost_little() {
        let glob = Glob::parse(&"**/a*".repeat(200)).unwrap();
        assert!(!glob.fits(&"aaaaaaaa/".repeat(2000)));
    }

    /// The definition of a match, written down without a thought for its cost.
    fn fits_by_definition(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) | (["**"], [_, ..]) => true,
            (["**", rest @ ..], _) if !rest.is_empty() && fits_by_definition(rest, path) => true,
            (["**", ..], [_, below @ ..]) => fits_by_definition(pattern, below),
            ([part, rest @ ..], [name, below @ ..]) => {
                name_fits_by_definition(part.as_bytes(), name.as_bytes()) && fits_by_definition(rest, below)
            }
            ([] | [_, ..], _) => false,
        }
    }

    fn name_fits_by_definition(part: &[u8], name: &[u8]) -> bool {
        match (part, name) {
            ([], []) => true,
            ([b'*', rest @ ..], _) if name_fits_by_definition(rest, name) => true,
            ([b'*', ..], [_, name @ ..]) => name_fits_by_definition(part, name),
            ([letter, part @ ..], [other, name @ ..]) => letter == other && name_fits_by_definition(part, name),
            ([] | [_, ..], _) => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn patterns_fit_and_meet_by_their_definition(
            one in "(a|b|c|\\*|\\*\\*|/|/\\*\\*/){1,6}",
            two in "(a|b|c|\\*|\\*\\*|/|/\\*\\*/){1,6}",
            path in "[abc]{1,3}(/[abc]{1,3}){0,3}",
        ) {
            let (Ok(one), Ok(two)) = (Glob::parse(&one), Glob::parse(&two)) else { return Ok(()) };
            let names: Vec<&str> = path.split('/').collect();
            let fits = |glob: &Glob| fits_by_definition(&glob.as_str().split('/').collect::<Vec<_>>(), &names);
            prop_assert_eq!(one.fits(&path), fits(&one));
            prop_assert_eq!(two.fits(&path), fits(&two));
            prop_assert!(one.meets(&two) || !(fits(&one) && fits(&two)));
            let literal = Glob::parse(&path).unwrap();
            prop_assert_eq!(literal.meets(&one), fits(&one));
            prop_assert_eq!(one.meets(&literal), fits(&one));
        }
    }
}
