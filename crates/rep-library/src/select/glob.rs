//! File patterns: `*` stays in one segment, a segment `**` crosses them, nothing else is special.
//!
//! The semantics are those Universal 2.1 §8 gives its globs, except for case: a pattern `*.pdf` is
//! to find what a file type `.pdf` finds, so ASCII case does not count.

/// A compiled pattern.
pub(super) struct Glob {
    segments: Vec<String>,
}

/// What every path a pattern matches has, so that only few patterns are tried on a path.
pub(super) enum Key<'a> {
    /// An ending of the file's name that starts with a dot.
    Ending(&'a str),
    /// A segment.
    Segment(&'a str),
    /// Nothing.
    None,
}

/// A pattern as it is compared. One without a `/` is about the name alone, in whatever folder.
pub(super) fn normal(pattern: &str) -> String {
    let pattern = pattern.replace('\\', "/");
    let segments = segments(&pattern).join("/");
    if pattern.contains('/') || segments.is_empty() { segments } else { format!("**/{segments}") }
}

/// The segments of a path or pattern: one separator, no empty ones, `.` and `..` resolved as far as they can be.
pub(super) fn segments(path: &str) -> Vec<String> {
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

impl Glob {
    /// Compiles a pattern in its normal form.
    pub(super) fn new(normal: &str) -> Self {
        let mut segments: Vec<String> = normal.split('/').map(str::to_owned).collect();
        if segments.last().is_some_and(|last| last == "**") {
            // What is below a folder does not include the folder: at least one segment follows.
            segments.push("*".to_owned());
        }
        Self { segments }
    }

    /// What to look the pattern up by.
    pub(super) fn key(&self) -> Key<'_> {
        if let Some(ending) = self.segments.last().and_then(|last| last.strip_prefix('*'))
            && ending.starts_with('.')
            && !ending.contains('*')
        {
            return Key::Ending(ending);
        }
        let literal = self.segments.iter().filter(|segment| !segment.contains('*')).max_by_key(|one| one.len());
        literal.map_or(Key::None, |segment| Key::Segment(segment))
    }

    /// Whether the pattern matches the whole path.
    pub(super) fn matches(&self, path: &[String]) -> bool {
        let in_segment = |pattern: &String, segment: &String| {
            wild(pattern.as_bytes(), segment.as_bytes(), |byte| *byte == b'*', |one, two| one == two)
        };
        wild(&self.segments, path, |segment| segment == "**", in_segment)
    }
}

/// Matches with wildcards that stand for any run, none included. Goes back to the last wildcard only, which
/// is enough, and keeps the work within the product of both lengths.
fn wild<P, T>(pattern: &[P], text: &[T], is_wild: impl Fn(&P) -> bool, is_same: impl Fn(&P, &T) -> bool) -> bool {
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
            assert!(Glob::new(&normal(pattern)).matches(&segments(path)), "{pattern} on {path}");
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
            assert!(!Glob::new(&normal(pattern)).matches(&segments(path)), "{pattern} on {path}");
        }
    }
}
