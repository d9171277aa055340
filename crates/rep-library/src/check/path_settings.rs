//! Settings of some paths: which skills and files are not checked, and which have rules of their own.
//!
//! Patterns are those of `.gitignore`, relative to the directory of the settings file or, for `--exclude`, to the working
//! directory. A pattern that matches a directory covers everything below it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rep_check::{CheckOptions, PathOverride, PathPatterns};

/// Compiled patterns.
#[derive(Clone, Debug)]
pub struct PathMatcher {
    folder: PathBuf,
    patterns: Gitignore,
}

/// The reason a pattern is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the pattern `{pattern}` is not valid: {reason}")]
pub struct PatternError {
    pattern: String,
    reason: String,
}

/// The maximum length of a pattern.
const PATTERN_BYTES_MAX: usize = 1024;

impl PatternError {
    /// How to correct a pattern.
    pub const REMEDY: &str = "write a pattern as in `.gitignore`, such as `vendor/**`";
}

impl PathMatcher {
    /// Compiles patterns.
    pub fn new(given: &PathPatterns) -> Result<Self, PatternError> {
        let mut builder = GitignoreBuilder::new(&given.folder);
        for pattern in &given.patterns {
            let refuse = |reason: String| PatternError { pattern: pattern.clone(), reason };
            if pattern.trim().is_empty() || pattern.len() > PATTERN_BYTES_MAX {
                return Err(refuse("it is empty or too long".to_owned()));
            }
            if pattern.starts_with('!') {
                return Err(refuse("a pattern cannot be negated here".to_owned()));
            }
            // What starts with `#` is a comment in a file of patterns, and a name here.
            let line = pattern.strip_prefix('#').map(|rest| format!("\\#{rest}"));
            builder.add_line(None, line.as_deref().unwrap_or(pattern)).map_err(|error| refuse(error.to_string()))?;
        }
        let patterns = builder
            .build()
            .map_err(|error| PatternError { pattern: given.patterns.join(", "), reason: error.to_string() })?;
        Ok(Self { folder: given.folder.clone(), patterns })
    }

    /// Whether a pattern matches an absolute path or a directory above it.
    pub fn matches(&self, path: &Path, is_folder: bool) -> bool {
        let is_matched = |path: &Path| {
            let relative = path.strip_prefix(&self.folder).ok().filter(|path| !path.as_os_str().is_empty());
            relative.map(|path| self.patterns.matched_path_or_any_parents(path, is_folder).is_ignore())
        };
        // The working directory may have been reached through a link.
        let real = || std::fs::canonicalize(path).ok().and_then(|real| is_matched(&real));
        is_matched(path).or_else(real).unwrap_or(false)
    }
}

/// The compiled settings of paths.
#[derive(Clone, Debug, Default)]
pub(super) struct PathSettings {
    exclude: Vec<PathMatcher>,
    overrides: Vec<(PathMatcher, PathOverride)>,
}

impl PathSettings {
    /// Compiles the patterns of options.
    pub(super) fn new(options: &CheckOptions) -> Result<Self, PatternError> {
        let exclude = options.exclude.iter().map(PathMatcher::new).collect::<Result<_, _>>()?;
        let compile = |one: &PathOverride| Ok((PathMatcher::new(&one.paths)?, one.clone()));
        Ok(Self { exclude, overrides: options.overrides.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// Whether nothing depends on paths.
    pub(super) fn is_empty(&self) -> bool {
        self.exclude.is_empty() && self.overrides.is_empty()
    }

    /// Whether a path is not checked.
    pub(super) fn is_excluded(&self, path: &Path, is_folder: bool) -> bool {
        self.exclude.iter().any(|matcher| matcher.matches(path, is_folder))
    }

    /// Returns the numbers of the overrides that apply to a skill.
    pub(super) fn applicable(&self, path: &Path, is_folder: bool) -> Vec<usize> {
        let matches = |(_, (matcher, _)): &(usize, &(PathMatcher, PathOverride))| matcher.matches(path, is_folder);
        self.overrides.iter().enumerate().filter(matches).map(|(number, _)| number).collect()
    }

    /// Returns options with overrides applied. Later ones win.
    pub(super) fn apply<'a>(&self, options: &'a CheckOptions, numbers: &[usize]) -> Cow<'a, CheckOptions> {
        let mut options = Cow::Borrowed(options);
        for number in numbers {
            let (_, one) = &self.overrides[*number];
            let changed = options.to_mut();
            if !one.profiles.is_empty() {
                changed.profiles.clone_from(&one.profiles);
            }
            // A level that is set means that the rule should run.
            changed.ignore.retain(|rule| !one.levels.contains_key(rule));
            changed.ignore.extend(one.ignore.iter().cloned());
            changed.levels.extend(one.levels.iter().map(|(rule, level)| (rule.clone(), *level)));
        }
        options
    }
}

/// Returns the options that apply to the skill at a path, or `None` if it is excluded.
pub fn options_for_path<'a>(
    options: &'a CheckOptions,
    path: &Path,
    is_folder: bool,
) -> Result<Option<Cow<'a, CheckOptions>>, PatternError> {
    let settings = PathSettings::new(options)?;
    let path = absolute_path(path);
    if settings.is_excluded(&path, is_folder) {
        return Ok(None);
    }
    Ok(Some(settings.apply(options, &settings.applicable(&path, is_folder))))
}

/// Returns the absolute form of a path, without `.` and `..` but with links.
pub(super) fn absolute_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut out = PathBuf::new();
    for part in absolute.components() {
        if part == std::path::Component::ParentDir {
            out.pop();
        } else {
            out.push(part);
        }
    }
    out
}
