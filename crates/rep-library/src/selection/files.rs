//! Matches file types and file patterns by file name suffix and by directory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::MatchKind;
use super::glob::{self, FileGlob, GlobKey};
use super::triggers::SkillTrigger;

/// The maximum length of a path, which is the limit of Linux.
const PATH_BYTES_MAX: usize = 4096;

/// All file types and patterns, with their triggers.
#[derive(Default)]
pub(super) struct FileTriggers {
    /// File types by suffix, including the dot.
    endings: HashMap<String, Vec<usize>>,
    /// Each distinct pattern with its triggers.
    globs: Vec<(FileGlob, Vec<usize>)>,
    globs_by_ending: HashMap<String, Vec<usize>>,
    globs_by_segment: HashMap<String, Vec<usize>>,
    globs_of_anything: Vec<usize>,
}

/// Normalizes a file type: `.tar.gz` for `tar.gz` and `.TAR.GZ`.
pub(super) fn normalize_file_type(text: &str) -> String {
    match text.trim_start_matches('.') {
        "" => String::new(),
        bare => format!(".{}", bare.to_ascii_lowercase()),
    }
}

impl FileTriggers {
    pub(super) fn new(triggers: &[SkillTrigger]) -> Self {
        let mut files = Self::default();
        let mut globs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (id, trigger) in triggers.iter().enumerate() {
            match trigger.kind {
                MatchKind::FileType => files.endings.entry(trigger.key.clone()).or_default().push(id),
                MatchKind::FilePattern => globs.entry(&trigger.key).or_default().push(id),
                MatchKind::Explicit | MatchKind::Mention | MatchKind::Keyword | MatchKind::Intent => {}
            }
        }
        for (normal, triggers) in globs {
            let (glob, place) = (FileGlob::new(normal), files.globs.len());
            match glob.key() {
                GlobKey::Ending(ending) => files.globs_by_ending.entry(ending.to_owned()).or_default().push(place),
                GlobKey::Segment(segment) => files.globs_by_segment.entry(segment.to_owned()).or_default().push(place),
                GlobKey::None => files.globs_of_anything.push(place),
            }
            files.globs.push((glob, triggers));
        }
        files
    }

    /// Adds the triggers that match any of the files.
    pub(super) fn find_matches(&self, files: &[String], hits: &mut BTreeSet<usize>, notes: &mut Vec<String>) {
        let too_long = files.iter().filter(|file| file.len() > PATH_BYTES_MAX).count();
        if too_long > 0 {
            notes.push(format!("skipped {too_long} files with paths over {PATH_BYTES_MAX} bytes"));
        }
        for file in files.iter().filter(|file| file.len() <= PATH_BYTES_MAX) {
            let path = glob::split_segments(file);
            let Some(name) = path.last() else { continue };
            let mut likely: BTreeSet<usize> = self.globs_of_anything.iter().copied().collect();
            for (at, _) in name.match_indices('.') {
                hits.extend(self.endings.get(&name[at..]).into_iter().flatten());
                likely.extend(self.globs_by_ending.get(&name[at..]).into_iter().flatten());
            }
            for segment in &path {
                likely.extend(self.globs_by_segment.get(segment).into_iter().flatten());
            }
            let matching =
                likely.into_iter().map(|place| &self.globs[place]).filter(|(glob, _)| glob.matches_path(&path));
            for (_, triggers) in matching {
                hits.extend(triggers);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_found(kind: MatchKind, text: &str, file: &str) -> bool {
        let key = if kind == MatchKind::FileType { normalize_file_type(text) } else { glob::normalize_pattern(text) };
        let trigger = SkillTrigger { entry: 0, kind, text: text.to_owned(), key };
        let mut hits = BTreeSet::new();
        FileTriggers::new(&[trigger]).find_matches(&[file.to_owned()], &mut hits, &mut Vec::new());
        !hits.is_empty()
    }

    #[test]
    fn sel_02_file_types_are_endings() {
        for (text, file) in [
            (".pdf", "a.pdf"),
            (".pdf", "in/a folder/A.PDF"),
            ("pdf", "a.pdf"),
            (".PDF", "a.pdf"),
            (".tar.gz", "x.tar.gz"),
            ("tar.gz", "C:\\x\\y.TAR.gz"),
            (".gz", "x.tar.gz"),
            (".env", ".env"),
        ] {
            assert!(is_found(MatchKind::FileType, text, file), "{text} on {file}");
        }
        for (text, file) in [
            (".pdf", "a.pdf.txt"),
            ("pdf", "apdf"),
            (".tar.gz", "x.gz"),
            (".pdf", "a.pdf/b"),
            (".", "a."),
            (".pdf", ""),
        ] {
            assert!(!is_found(MatchKind::FileType, text, file), "{text} on {file}");
        }
    }

    #[test]
    fn us_32_every_pattern_is_found_through_its_key() {
        for pattern in ["*.md", "docs/**", "**/docs/*.md", "*", "**/d*s/*", "docs/a.md", "**"] {
            assert!(is_found(MatchKind::FilePattern, pattern, "docs/a.md"), "{pattern}");
            assert_eq!(is_found(MatchKind::FilePattern, pattern, "a.txt"), matches!(pattern, "*" | "**"), "{pattern}");
        }
    }
}
