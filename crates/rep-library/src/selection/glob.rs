//! File patterns: `*` matches within a segment, a segment `**` matches any number of segments, and nothing else is
//! special.
//!
//! The semantics follow Universal 2.1 §8, except that ASCII case is ignored, so that `*.pdf` matches what the file type
//! `.pdf` matches.

/// A compiled pattern.
pub(super) struct FileGlob {
    segments: Vec<String>,
}

/// A property of every path that a pattern matches. It limits the patterns tried for a path.
pub(super) enum GlobKey<'a> {
    /// A suffix of the file name that starts with a dot.
    Ending(&'a str),
    /// A segment.
    Segment(&'a str),
    /// No common property.
    None,
}

/// Normalizes a pattern. One without a `/` matches the file name in any directory.
pub(super) fn normalize_pattern(pattern: &str) -> String {
    let pattern = pattern.replace('\\', "/");
    let segments = split_segments(&pattern).join("/");
    if pattern.contains('/') || segments.is_empty() { segments } else { format!("**/{segments}") }
}

/// Returns the segments of a path or pattern, without empty ones, and with `.` and `..` resolved where possible.
pub(super) fn split_segments(path: &str) -> Vec<String> {
    let mut segments = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment.to_ascii_lowercase()),
        }
    }
    segments
}

impl FileGlob {
    /// Compiles a normalized pattern.
    pub(super) fn new(normal: &str) -> Self {
        let mut segments: Vec<String> = normal.split('/').map(str::to_owned).collect();
        if segments.last().is_some_and(|last| last == "**") {
            // A trailing `**` does not match the directory itself: at least one segment must follow.
            segments.push("*".to_owned());
        }
        Self { segments }
    }

    /// Returns the lookup key of the pattern.
    pub(super) fn key(&self) -> GlobKey<'_> {
        if let Some(ending) = self.segments.last().and_then(|last| last.strip_prefix('*'))
            && ending.starts_with('.')
            && !ending.contains('*')
        {
            return GlobKey::Ending(ending);
        }
        let literal = self.segments.iter().filter(|segment| !segment.contains('*')).max_by_key(|one| one.len());
        literal.map_or(GlobKey::None, |segment| GlobKey::Segment(segment))
    }

    /// Returns whether the pattern matches the whole path.
    pub(super) fn matches_path(&self, path: &[String]) -> bool {
        let in_segment = |pattern: &String, segment: &String| {
            is_wildcard_match(pattern.as_bytes(), segment.as_bytes(), |byte| *byte == b'*', |one, two| one == two)
        };
        is_wildcard_match(&self.segments, path, |segment| segment == "**", in_segment)
    }
}

/// Matches wildcards that stand for any sequence, including an empty one. Backtracking only to the last wildcard is
/// sufficient and bounds the work by the product of both lengths.
fn is_wildcard_match<P, T>(
    pattern: &[P],
    text: &[T],
    is_wild: impl Fn(&P) -> bool,
    is_same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while from < text.len() {
        if at < pattern.len() && is_wild(&pattern[at]) {
            back = Some((at, from));
            at += 1;
        } else if at < pattern.len() && is_same(&pattern[at], &text[from]) {
            at += 1;
            from += 1;
        } else if let Some((star, start)) = back {
            back = Some((star, start + 1));
            at = star + 1;
            from = start + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(is_wild)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn us_32_file_patterns_are_globs() {
        for (pattern, path) in [
            ("*.pdf", "a.pdf"),
            ("*.pdf", "deep/down/A.PDF"),
            ("**/*.pdf", "a.pdf"),
            ("**/*.pdf", "x/y/a.pdf"),
            ("*.stripe.js", "src/pay.stripe.js"),
            ("**/payments/**", "payments/a.js"),
            ("**/payments/**", "src/payments/x/y/a.js"),
            ("a/**/b", "a/b"),
            ("a/**/b", "a/x/y/b"),
            ("**/x", "x"),
            ("src\\*.rs", "src/a.rs"),
            ("src/*.rs", "src\\a.rs"),
            ("*", ".hidden"),
            ("**", "a/b"),
            ("data/*.csv", "./data/./x/../y.csv"),
            ("a*b*c", "aXbXbXc"),
            ("/x.md", "x.md"),
            ("**/a/**/b/*", "a/q/a/b/q/b/c"),
        ] {
            assert!(
                FileGlob::new(&normalize_pattern(pattern)).matches_path(&split_segments(path)),
                "{pattern} on {path}"
            );
        }
        for (pattern, path) in [
            ("*.pdf", "a.pdf.txt"),
            ("**/*.pdf", "x/y/a.txt"),
            ("src/*.rs", "src/x/a.rs"),
            ("src/*.rs", "lib/src/a.rs"),
            ("output/**", "outputx/a"),
            ("output/**", "output"),
            ("[ab].md", "a.md"),
            ("?.md", "a.md"),
            ("/x.md", "a/x.md"),
        ] {
            assert!(
                !FileGlob::new(&normalize_pattern(pattern)).matches_path(&split_segments(path)),
                "{pattern} on {path}"
            );
        }
    }
}
