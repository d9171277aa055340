//! The path patterns of permissions: Universal 2.1 §8.
//!
//! Patterns and paths are relative to the workspace, with `/` between components. A backslash is treated as `/` in
//! both. `*` matches within a component, and `**` as a whole component matches any number of components. Nothing else
//! is special: `?`, braces and leading dots have no meaning. Matching is case-sensitive. `dir/**` matches everything
//! below `dir`, but not `dir` itself. Negation is not supported.

use std::fmt;

/// The maximum length of a pattern, and the maximum number of stars in a component. They bound the cost of matching.
const PATTERN_BYTES_MAX: usize = 1024;

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Glob {
    text: String,
    parts: Vec<GlobPart>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum GlobPart {
    /// Any number of components.
    Any,
    /// One component: literal texts with a star between each two.
    One(Vec<String>),
}

/// Why a pattern is invalid and grants nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobError {
    /// It starts with `!`.
    Negated,
    /// It is absolute, or points outside the workspace.
    Outside,
    /// It is empty.
    Empty,
    /// It is too long.
    TooLong,
    /// It contains a NUL byte.
    Nul,
}

impl fmt::Display for GlobError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            GlobError::Negated => "negated patterns are not part of the specification",
            GlobError::Outside => "it is not inside the workspace",
            GlobError::Empty => "it is empty",
            GlobError::TooLong => "it is too long",
            GlobError::Nul => "it contains a NUL byte",
        })
    }
}

impl Glob {
    /// Parses a pattern.
    pub fn parse(pattern: &str) -> Result<Glob, GlobError> {
        if pattern.starts_with('!') {
            return Err(GlobError::Negated);
        }
        if pattern.contains('\0') {
            return Err(GlobError::Nul);
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(GlobError::TooLong);
        }
        let normal = normalise_path(pattern).ok_or(GlobError::Outside)?;
        if normal.is_empty() {
            return Err(GlobError::Empty);
        }
        let mut parts: Vec<GlobPart> = Vec::new();
        for part in normal.split('/') {
            let part = if part == "**" {
                GlobPart::Any
            } else {
                // `**` inside a component is the same as `*`.
                let mut texts: Vec<String> = part.split('*').map(str::to_owned).collect();
                let last = texts.len() - 1;
                let mut at = 0;
                texts.retain(|text| {
                    at += 1;
                    !text.is_empty() || at == 1 || at - 1 == last
                });
                GlobPart::One(texts)
            };
            if part != GlobPart::Any || parts.last() != Some(&GlobPart::Any) {
                parts.push(part);
            }
        }
        Ok(Glob { text: normal, parts })
    }

    /// Returns the normalised pattern.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a normalised path matches.
    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        // Backtracking only needs the last `**`: it continues with one more component.
        let (mut pattern_at, mut path_at) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while path_at < path.len() {
            match self.parts.get(pattern_at) {
                Some(GlobPart::Any) => {
                    retry = Some((pattern_at, path_at));
                    pattern_at += 1;
                    // `dir/**` requires at least one component below `dir`.
                    if pattern_at == self.parts.len() {
                        return true;
                    }
                    continue;
                }
                Some(GlobPart::One(texts)) if part_matches(texts, path[path_at]) => {
                    pattern_at += 1;
                    path_at += 1;
                    continue;
                }
                Some(GlobPart::One(_)) | None => {}
            }
            let Some((any, taken)) = retry else { return false };
            (pattern_at, path_at) = (any, taken + 1);
        }
        pattern_at == self.parts.len()
    }

    /// Whether a path with this last component could match.
    pub fn can_end_in(&self, name: &str) -> bool {
        match self.parts.last() {
            Some(GlobPart::One(texts)) => part_matches(texts, name),
            Some(GlobPart::Any) | None => true,
        }
    }

    /// Whether some path matches both patterns.
    pub fn overlaps(&self, other: &Glob) -> bool {
        let (one, two) = (self.expand_parts(), other.expand_parts());
        // Whether the rests of the two patterns can match the same path, computed from the ends.
        let mut meets = vec![vec![false; two.len() + 1]; one.len() + 1];
        for at in (0..=one.len()).rev() {
            for other_at in (0..=two.len()).rev() {
                meets[at][other_at] = match (one.get(at), two.get(other_at)) {
                    (None, None) => true,
                    (Some(GlobPart::Any), _) => {
                        meets[at + 1][other_at] || other_at < two.len() && meets[at][other_at + 1]
                    }
                    (_, Some(GlobPart::Any)) => meets[at][other_at + 1] || at < one.len() && meets[at + 1][other_at],
                    (Some(GlobPart::One(texts)), Some(GlobPart::One(others))) => {
                        meets[at + 1][other_at + 1] && parts_overlap(texts, others)
                    }
                    (None, Some(_)) | (Some(_), None) => false,
                };
            }
        }
        meets[0][0]
    }

    /// Returns the components, with a star before a trailing `**`, which requires at least one component.
    fn expand_parts(&self) -> Vec<GlobPart> {
        let mut parts = self.parts.clone();
        if parts.last() == Some(&GlobPart::Any) {
            parts.insert(parts.len() - 1, GlobPart::One(vec![String::new(), String::new()]));
        }
        parts
    }

    /// Returns the directory that the pattern grants as a whole: `dir` for `dir/**`, empty (the workspace) for `**`.
    pub fn whole_folder(&self) -> Option<String> {
        let (last, before) = self.parts.split_last()?;
        let literal = before.iter().map(|part| match part {
            GlobPart::One(texts) if texts.len() == 1 => texts.first().cloned(),
            GlobPart::One(_) | GlobPart::Any => None,
        });
        let folder: Option<Vec<String>> = literal.collect();
        folder.filter(|_| *last == GlobPart::Any).map(|parts| parts.join("/"))
    }

    /// Returns the path itself, if the pattern has no stars.
    pub fn literal_path(&self) -> Option<String> {
        let literal = self.parts.iter().map(|part| match part {
            GlobPart::One(texts) if texts.len() == 1 => texts.first().cloned(),
            GlobPart::One(_) | GlobPart::Any => None,
        });
        literal.collect::<Option<Vec<String>>>().map(|parts| parts.join("/"))
    }

    /// Returns the directory that contains all matches: the components before the first star.
    pub fn literal_prefix(&self) -> String {
        let literal = self.parts.iter().map_while(|part| match part {
            GlobPart::One(texts) if texts.len() == 1 => texts.first().cloned(),
            GlobPart::One(_) | GlobPart::Any => None,
        });
        let mut parts: Vec<String> = literal.collect();
        if parts.len() == self.parts.len() {
            parts.pop();
        }
        parts.join("/")
    }
}

fn part_matches(texts: &[String], part: &str) -> bool {
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

/// Whether some name matches both components.
fn parts_overlap(one: &[String], two: &[String]) -> bool {
    // `None` is a star.
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

/// Resolves `.` and `..` in a path relative to the workspace. Returns `None` if it is absolute or points outside.
pub fn normalise_path(path: &str) -> Option<String> {
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

    fn pattern_matches(pattern: &str, path: &str) -> bool {
        let glob = Glob::parse(pattern).unwrap();
        normalise_path(path).is_some_and(|path| glob.matches(&path))
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
            let found = Glob::parse(pattern).is_ok() && pattern_matches(pattern, path);
            assert_eq!(found, expected, "{pattern} on {path}");
            let name = normalise_path(path).map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
            let may = Glob::parse(pattern).is_ok_and(|glob| name.is_some_and(|name| glob.can_end_in(&name)));
            assert!(may || !found, "{pattern} on the last component of {path}");
        }
    }

    #[test]
    fn what_grants_nothing_is_told() {
        for (pattern, bad) in [
            ("!x", GlobError::Negated),
            ("/etc/**", GlobError::Outside),
            ("../**", GlobError::Outside),
            ("a/../../b", GlobError::Outside),
            ("", GlobError::Empty),
            ("a\0b", GlobError::Nul),
            (".", GlobError::Empty),
            ("a/..", GlobError::Empty),
            ("C:/x", GlobError::Outside),
            (&"a".repeat(1025), GlobError::TooLong),
        ] {
            assert_eq!(Glob::parse(pattern), Err(bad), "{pattern:?}");
        }
        assert_eq!(GlobError::Negated.to_string(), "negated patterns are not part of the specification");
        assert_eq!(GlobError::Outside.to_string(), "it is not inside the workspace");
        let longest = "a".repeat(1024);
        assert_eq!(Glob::parse(&longest).unwrap().literal_path(), Some(longest));
    }

    #[test]
    fn the_form_of_a_pattern_is_seen() {
        let glob = |text: &str| Glob::parse(text).unwrap();
        assert_eq!(glob("output/**").whole_folder().as_deref(), Some("output"));
        assert_eq!(glob("**").whole_folder().as_deref(), Some(""));
        assert_eq!(glob("**/*.pdf").whole_folder(), None);
        assert_eq!(glob("a/b.txt").literal_path().as_deref(), Some("a/b.txt"));
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
            assert_eq!(glob(pattern).literal_path(), None, "{pattern}");
        }
        assert_eq!(glob("a/**/**/b").as_str(), "a/**/**/b");
        assert!(glob("a/*.pdf").can_end_in("x.pdf") && !glob("a/*.pdf").can_end_in("x.txt"));
        assert!(glob("a/**").can_end_in("x.txt"));
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
            assert_eq!(glob(one).overlaps(&glob(two)), expected, "{one} and {two}");
            assert_eq!(glob(two).overlaps(&glob(one)), expected, "{two} and {one}");
        }
    }

    #[test]
    fn hostile_patterns_cost_little() {
        let glob = Glob::parse(&"**/a*".repeat(200)).unwrap();
        assert!(!glob.matches(&"aaaaaaaa/".repeat(2000)));
    }

    /// The definition of a match, implemented without regard to cost.
    fn matches_by_definition(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) | (["**"], [_, ..]) => true,
            (["**", rest @ ..], _) if !rest.is_empty() && matches_by_definition(rest, path) => true,
            (["**", ..], [_, below @ ..]) => matches_by_definition(pattern, below),
            ([part, rest @ ..], [name, below @ ..]) => {
                name_matches_by_definition(part.as_bytes(), name.as_bytes()) && matches_by_definition(rest, below)
            }
            ([] | [_, ..], _) => false,
        }
    }

    fn name_matches_by_definition(part: &[u8], name: &[u8]) -> bool {
        match (part, name) {
            ([], []) => true,
            ([b'*', rest @ ..], _) if name_matches_by_definition(rest, name) => true,
            ([b'*', ..], [_, name @ ..]) => name_matches_by_definition(part, name),
            ([letter, part @ ..], [other, name @ ..]) => letter == other && name_matches_by_definition(part, name),
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
            let fits = |glob: &Glob| matches_by_definition(&glob.as_str().split('/').collect::<Vec<_>>(), &names);
            prop_assert_eq!(one.matches(&path), fits(&one));
            prop_assert_eq!(two.matches(&path), fits(&two));
            prop_assert!(one.overlaps(&two) || !(fits(&one) && fits(&two)));
            let literal = Glob::parse(&path).unwrap();
            prop_assert_eq!(literal.overlaps(&one), fits(&one));
            prop_assert_eq!(one.overlaps(&literal), fits(&one));
        }
    }
}
