//! Version ranges as npm reads them: `^1.2`, `~1.2.3`, `1.x`, `>=1 <3`, `1.0 - 2.0`, `1.2.3`, and alternatives with `||`.
//!
//! A full version without an operator means exactly that version. A pre-release is in a range only if the range names a
//! pre-release of the same version. Follows the documentation of npm's `semver`, "Ranges".

use std::cmp::Ordering;
use std::fmt;

use semver::{Prerelease, Version};

/// The maximum length of a range, and the maximum number of its comparisons.
const RANGE_BYTES_MAX: usize = 256;
const COMPARISONS_MAX: usize = 32;

/// A set of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange {
    text: String,
    /// A version is in the range if all comparisons of one of these lists hold.
    alternatives: Vec<Vec<Comparison>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparison {
    operator: Operator,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

/// A version of which parts may be missing or `x`.
struct PartialVersion {
    major: Option<u64>,
    minor: Option<u64>,
    patch: Option<u64>,
    pre: Prerelease,
}

impl fmt::Display for VersionRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Parses a version, with or without `v`, whose last parts may be missing: `1.2` is `1.2.0`.
pub fn parse_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if text.len() > RANGE_BYTES_MAX {
        return None;
    }
    if let Ok(version) = Version::parse(text) {
        return Some(version);
    }
    let is_short = text.split('.').count() < 3 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let padded = [text, ".0", ".0"].concat();
    let padded = padded.splitn(4, '.').take(3).collect::<Vec<_>>().join(".");
    if is_short { Version::parse(&padded).ok() } else { None }
}

impl VersionRange {
    /// Returns the range of all versions, even of those that cannot be compared.
    pub fn any() -> Self {
        Self { text: "*".to_owned(), alternatives: vec![Vec::new()] }
    }

    /// Parses a range. Returns a message if it is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > RANGE_BYTES_MAX {
            return Err(format!("the range is longer than {RANGE_BYTES_MAX} bytes"));
        }
        let text = text.trim();
        let alternatives: Vec<Vec<Comparison>> =
            text.split("||").map(|part| parse_alternative(part.trim())).collect::<Result<_, String>>()?;
        if alternatives.iter().map(Vec::len).sum::<usize>() > COMPARISONS_MAX {
            return Err(format!("the range has more than {COMPARISONS_MAX} comparisons"));
        }
        let text = if text.is_empty() { "*".to_owned() } else { text.to_owned() };
        Ok(Self { text, alternatives })
    }

    /// Whether every version is in the range.
    pub fn is_any(&self) -> bool {
        self.alternatives.iter().any(Vec::is_empty)
    }

    /// Whether a version is in the range.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|all| {
            let is_allowed = version.pre.is_empty()
                || all.iter().any(|one| !one.version.pre.is_empty() && is_same_release(&one.version, version));
            is_allowed && all.iter().all(|one| one.holds(version))
        })
    }

    /// Whether a declared version is in the range. A version that is missing or cannot be compared is only in the range
    /// of all versions.
    pub fn contains_text(&self, version: Option<&str>) -> bool {
        match version.and_then(parse_version) {
            Some(version) => self.contains(&version) || self.text == "*",
            None => self.is_any(),
        }
    }
}

impl Comparison {
    fn holds(&self, version: &Version) -> bool {
        let order = version.cmp_precedence(&self.version);
        match self.operator {
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            Operator::GreaterOrEqual => order != Ordering::Less,
            Operator::Equal => order == Ordering::Equal,
        }
    }
}

fn is_same_release(one: &Version, two: &Version) -> bool {
    (one.major, one.minor, one.patch) == (two.major, two.minor, two.patch)
}

/// Parses comparisons that must all hold, separated by spaces.
fn parse_alternative(text: &str) -> Result<Vec<Comparison>, String> {
    let words = join_operators(text);
    if let [from, dash, to] = words.iter().map(String::as_str).collect::<Vec<_>>().as_slice()
        && *dash == "-"
    {
        let mut all = at_least(&PartialVersion::parse(from)?);
        all.extend(at_most(&PartialVersion::parse(to)?)?);
        return Ok(all);
    }
    let mut all = Vec::new();
    for word in &words {
        all.extend(parse_comparison(word)?);
    }
    Ok(all)
}

/// Splits at spaces. An operator belongs to the version after it, also across spaces.
fn join_operators(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if !last.is_empty() && last.chars().all(|letter| "<>=^~".contains(letter)) => {
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn parse_comparison(word: &str) -> Result<Vec<Comparison>, String> {
    let end = word.find(|letter| !"<>=^~".contains(letter)).unwrap_or(word.len());
    let (operator, version) = word.split_at(end);
    if version.is_empty() {
        return Err(format!("`{operator}` has no version"));
    }
    let version = PartialVersion::parse(version)?;
    match operator {
        "" | "=" => match version.exact() {
            Some(exact) => Ok(vec![compare(Operator::Equal, exact)]),
            None => Ok(range_from_to(&version, version.next_after_named()?)),
        },
        "^" => Ok(range_from_to(&version, version.next_incompatible()?)),
        "~" | "~>" => Ok(range_from_to(&version, version.next_minor()?)),
        ">=" => Ok(at_least(&version)),
        "<=" => at_most(&version),
        ">" => Ok(match version.next_after_named()? {
            _ if version.exact().is_some() => vec![compare(Operator::Greater, version.floor())],
            Some(next) => vec![compare(Operator::GreaterOrEqual, without_pre(next))],
            // Nothing is greater than every version.
            None => vec![compare(Operator::Less, lowest(Version::new(0, 0, 0)))],
        }),
        "<" if version.major.is_none() => Ok(vec![compare(Operator::Less, lowest(Version::new(0, 0, 0)))]),
        "<" if version.exact().is_some() => Ok(vec![compare(Operator::Less, version.floor())]),
        "<" => Ok(vec![compare(Operator::Less, lowest(version.floor()))]),
        other => Err(format!("`{other}` is not an operator of a range")),
    }
}

fn compare(operator: Operator, version: Version) -> Comparison {
    Comparison { operator, version }
}

/// Returns the comparisons `>=version <end`, without those that always hold.
fn range_from_to(version: &PartialVersion, end: Option<Version>) -> Vec<Comparison> {
    let mut all = at_least(version);
    all.extend(end.map(|end| compare(Operator::Less, end)));
    all
}

fn at_least(version: &PartialVersion) -> Vec<Comparison> {
    if version.major.is_none() { Vec::new() } else { vec![compare(Operator::GreaterOrEqual, version.floor())] }
}

fn at_most(version: &PartialVersion) -> Result<Vec<Comparison>, String> {
    Ok(match version.exact() {
        Some(exact) => vec![compare(Operator::LessOrEqual, exact)],
        None => version.next_after_named()?.map(|end| compare(Operator::Less, end)).into_iter().collect(),
    })
}

/// Returns the lowest pre-release of a version, so that none of its pre-releases is below it.
fn lowest(mut version: Version) -> Version {
    version.pre = Prerelease::new("0").unwrap_or_default();
    version
}

fn without_pre(mut version: Version) -> Version {
    version.pre = Prerelease::EMPTY;
    version
}

fn add_one(number: u64) -> Result<u64, String> {
    number.checked_add(1).ok_or_else(|| "a number in it is too large".to_owned())
}

impl PartialVersion {
    fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{}` is not a version of a range", text.escape_debug());
        let bare = text.strip_prefix(['v', 'V', '=']).unwrap_or(text);
        // Build metadata has no meaning in a range.
        let bare = bare.split('+').next().unwrap_or(bare);
        let (numbers, pre) = match bare.split_once('-') {
            Some((_, "")) => return Err(invalid()),
            Some((numbers, pre)) => (numbers, Prerelease::new(pre).map_err(|_| invalid())?),
            None => (bare, Prerelease::EMPTY),
        };
        let mut parts = Vec::new();
        for part in numbers.split('.').filter(|_| !numbers.is_empty()) {
            let is_plain = part == "0" || !part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
            match part {
                "x" | "X" | "*" => parts.push(None),
                _ if is_plain && !part.is_empty() => parts.push(Some(part.parse().map_err(|_| invalid())?)),
                _ => return Err(invalid()),
            }
        }
        if parts.len() > 3 {
            return Err(invalid());
        }
        parts.resize(3, None);
        // After `x`, everything is `x`.
        let (major, mut minor, mut patch) = (parts[0], parts[1], parts[2]);
        if major.is_none() {
            minor = None;
        }
        if minor.is_none() {
            patch = None;
        }
        let pre = if patch.is_some() { pre } else { Prerelease::EMPTY };
        Ok(Self { major, minor, patch, pre })
    }

    fn exact(&self) -> Option<Version> {
        (self.major.is_some() && self.minor.is_some() && self.patch.is_some()).then(|| self.floor())
    }

    /// Returns the version with zeros for the missing parts.
    fn floor(&self) -> Version {
        let part = |part: Option<u64>| part.unwrap_or(0);
        let mut version = Version::new(part(self.major), part(self.minor), part(self.patch));
        version.pre = self.pre.clone();
        version
    }

    /// Returns the first version above all versions with the named parts; `None` if no part is named.
    fn next_after_named(&self) -> Result<Option<Version>, String> {
        Ok(match (self.major, self.minor, self.patch) {
            (None, ..) => None,
            (Some(major), None, _) => Some(lowest(Version::new(add_one(major)?, 0, 0))),
            (Some(major), Some(minor), None) => Some(lowest(Version::new(major, add_one(minor)?, 0))),
            (Some(major), Some(minor), Some(patch)) => Some(lowest(Version::new(major, minor, add_one(patch)?))),
        })
    }

    /// Returns the end of `~`.
    fn next_minor(&self) -> Result<Option<Version>, String> {
        Ok(match (self.major, self.minor) {
            (Some(major), Some(minor)) => Some(lowest(Version::new(major, add_one(minor)?, 0))),
            _ => self.next_after_named()?,
        })
    }

    /// Returns the end of `^`: the first number that is not zero may not change.
    fn next_incompatible(&self) -> Result<Option<Version>, String> {
        Ok(match (self.major, self.minor, self.patch) {
            (Some(0), Some(0), Some(patch)) => Some(lowest(Version::new(0, 0, add_one(patch)?))),
            (Some(0), Some(minor), _) => Some(lowest(Version::new(0, add_one(minor)?, 0))),
            (Some(major), ..) => Some(lowest(Version::new(add_one(major)?, 0, 0))),
            (None, ..) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `semver` 7 of npm answers, as lists of versions in a range.
    #[test]
    fn ranges_mean_what_they_mean_to_npm() {
        let versions = [
            "0.0.0",
            "0.0.1",
            "0.0.3",
            "0.0.4",
            "0.1.0",
            "0.2.3",
            "0.2.5",
            "0.3.0-rc.1",
            "0.3.0",
            "1.0.0-alpha",
            "1.0.0",
            "1.2.0",
            "1.2.2",
            "1.2.3-beta.1",
            "1.2.3-beta.2",
            "1.2.3",
            "1.2.4",
            "1.3.0-0",
            "1.3.0",
            "1.9.9",
            "2.0.0-rc.1",
            "2.0.0",
            "2.3.4",
            "3.0.0",
        ];
        let table = include_str!("version_range_npm.txt");
        assert!(table.lines().count() > 40);
        for line in table.lines() {
            let (range, expected) = line.split_once('\t').unwrap();
            let parsed = VersionRange::parse(range).unwrap_or_else(|error| panic!("{range}: {error}"));
            let found: Vec<&str> =
                versions.into_iter().filter(|version| parsed.contains(&parse_version(version).unwrap())).collect();
            assert_eq!(found.join(" "), expected, "{range}");
        }
    }

    #[test]
    fn what_is_not_a_range_is_refused() {
        for text in ["a", "1.2.3.4", "^", "1,2", "==>1", "01.2", "1..2", "latest", "^18446744073709551615", "1.2.3-"] {
            assert!(VersionRange::parse(text).is_err(), "{text}");
        }
        assert!(VersionRange::parse(&"1 ".repeat(200)).is_err());
        assert!(VersionRange::any().contains_text(None) && VersionRange::any().contains_text(Some("soon")));
        let range = VersionRange::parse("^1").unwrap();
        assert!(range.contains_text(Some("v1.4")) && !range.contains_text(None) && !range.contains_text(Some("soon")));
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "[0-9x*.^~<>=| v+a-]{0,30}", version in "[0-9]{1,2}\\.[0-9]\\.[0-9](-[a-z0-9.]{1,4})?") {
            if let (Ok(range), Some(version)) = (VersionRange::parse(&text), parse_version(&version)) {
                let _ = range.contains(&version);
                prop_assert_eq!(VersionRange::parse(&range.to_string()), Ok(range));
            }
        }
    }
}
