//! Fixes of findings: what they change, and how they are applied to the files of a skill.
//!
//! A fix is applied as a whole or not at all. [`fix_skill`] checks and fixes a skill in memory until nothing changes;
//! the caller writes the files.

use std::collections::BTreeMap;

use rep_model::{Fault, FileContent, Skill, SkillTree, Span, TextEdit, TreeEntry};

use crate::SkillChecker;

/// Whether a fix can be applied without asking the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FixApplicability {
    /// The meaning of the skill does not change. `rep check --fix` applies it.
    Safe,
    /// The fix is a suggestion: it changes what the skill says, or it guesses what the author meant.
    Unsafe,
}

impl FixApplicability {
    /// Returns the name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            FixApplicability::Safe => "safe",
            FixApplicability::Unsafe => "unsafe",
        }
    }
}

/// A change to one file of the finding's skill. Paths are relative to the skill's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixEdit {
    /// Replaces bytes of a text file.
    Replace {
        /// The file.
        file: String,
        /// The bytes to replace, and the text that replaces them.
        edit: TextEdit,
    },
    /// Renames a file. Nothing exists at the new path.
    Rename {
        /// The file.
        file: String,
        /// The new path.
        new_file: String,
    },
}

impl FixEdit {
    /// Returns the file that the edit changes.
    pub fn file(&self) -> &str {
        match self {
            FixEdit::Replace { file, .. } | FixEdit::Rename { file, .. } => file,
        }
    }
}

/// A change that resolves a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingFix {
    /// What the fix does, as an imperative phrase.
    pub title: String,
    /// Whether it can be applied without asking.
    pub applicability: FixApplicability,
    /// The changes. They may concern several files, and are applied together.
    pub edits: Vec<FixEdit>,
}

impl FindingFix {
    /// Creates a fix that does not change the meaning of the skill.
    pub fn safe(title: impl Into<String>) -> Self {
        Self { title: title.into(), applicability: FixApplicability::Safe, edits: Vec::new() }
    }

    /// Creates a fix that the author must agree to.
    pub fn suggestion(title: impl Into<String>) -> Self {
        Self { title: title.into(), applicability: FixApplicability::Unsafe, edits: Vec::new() }
    }

    /// Adds the replacement of a span of a file.
    #[must_use]
    pub fn replace(mut self, file: &str, span: Span, replacement: impl Into<String>) -> Self {
        let edit = TextEdit { span, replacement: replacement.into() };
        self.edits.push(FixEdit::Replace { file: file.to_owned(), edit });
        self
    }

    /// Adds the renaming of a file.
    #[must_use]
    pub fn rename(mut self, file: &str, new_file: &str) -> Self {
        self.edits.push(FixEdit::Rename { file: file.to_owned(), new_file: new_file.to_owned() });
        self
    }

    /// Returns the files that the fix changes.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.edits.iter().map(FixEdit::file)
    }
}

/// A file of a skill with fixes applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedSkillFile {
    /// The path before the fixes, relative to the skill.
    pub file: String,
    /// The path after the fixes.
    pub new_file: String,
    /// The content before the fixes.
    pub before: Vec<u8>,
    /// The content after the fixes.
    pub after: Vec<u8>,
}

/// The maximum number of rounds of checking and fixing.
const ROUNDS_MAX: usize = 10;

/// Checks and fixes a skill until nothing changes. Applies fixes up to the given applicability. Returns the files that
/// change, in the order of their paths.
pub fn fix_skill(
    skill: Skill,
    faults: Vec<Fault>,
    checker: &SkillChecker,
    applicability: FixApplicability,
) -> Vec<FixedSkillFile> {
    let original = skill.tree.clone();
    let (mut skill, mut faults) = (skill, faults);
    let mut renames: BTreeMap<String, String> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let findings = checker.collect_findings(&skill, std::mem::take(&mut faults));
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        let round = FixRound::select(&skill.tree, fixes.filter(|fix| fix.applicability <= applicability));
        let Some(tree) = round.apply(&skill.tree) else { break };
        let (next, next_faults) = Skill::parse(tree);
        // A fix that makes a file unreadable is not applied.
        if is_less_readable(&skill, &next) {
            break;
        }
        renames.extend(round.renames.iter().map(|(from, to)| (to.clone(), from.clone())));
        (skill, faults) = (next, next_faults);
    }
    let fixed = |(new_file, entry): (&String, &TreeEntry)| {
        let file = renames.get(new_file).unwrap_or(new_file);
        let (before, after) = (original.file_bytes(file)?, entry_bytes(entry)?);
        let is_changed = file != new_file || before != after;
        is_changed.then(|| FixedSkillFile {
            file: file.clone(),
            new_file: new_file.clone(),
            before: before.to_vec(),
            after: after.to_vec(),
        })
    };
    let mut files: Vec<FixedSkillFile> = skill.tree.entries.iter().filter_map(fixed).collect();
    files.sort_by(|one, two| one.file.cmp(&two.file));
    files
}

/// Applies the fixes that change only one file to its text. A fix that overlaps an earlier one is left out.
pub fn apply_fixes<'a>(file: &str, text: &str, fixes: impl IntoIterator<Item = &'a FindingFix>) -> String {
    let mut edits = Vec::new();
    let is_in_file = |edit: &FixEdit| matches!(edit, FixEdit::Replace { file: of, .. } if of == file);
    for fix in sorted_fixes(fixes.into_iter().filter(|fix| fix.edits.iter().all(is_in_file))) {
        let replacements = fix.edits.iter().filter_map(as_replacement).map(|(_, edit)| edit);
        accept_edits(text, replacements, &mut edits);
    }
    apply_edits(text, &edits)
}

/// The fixes that are applied together in one round.
#[derive(Default)]
struct FixRound<'a> {
    edits: BTreeMap<&'a str, Vec<&'a TextEdit>>,
    renames: BTreeMap<String, String>,
}

impl<'a> FixRound<'a> {
    /// Selects the fixes that do not overlap. The others are left for the next round.
    fn select(tree: &SkillTree, fixes: impl IntoIterator<Item = &'a FindingFix>) -> Self {
        let mut round = Self::default();
        for fix in sorted_fixes(fixes) {
            round.accept(tree, fix);
        }
        round
    }

    fn accept(&mut self, tree: &SkillTree, fix: &'a FindingFix) {
        let mut edits = self.edits.clone();
        let mut renames = self.renames.clone();
        for edit in &fix.edits {
            match edit {
                FixEdit::Replace { file, edit } => {
                    let bytes = tree.file_bytes(file).unwrap_or_default();
                    let Ok(text) = std::str::from_utf8(bytes) else { return };
                    if !accept_edits(text, [edit], edits.entry(file).or_default()) {
                        return;
                    }
                }
                FixEdit::Rename { file, new_file } => {
                    let is_free = !tree.entries.contains_key(new_file) && !renames.values().any(|to| to == new_file);
                    if !is_free || tree.file_bytes(file).is_none() {
                        return;
                    }
                    renames.insert(file.clone(), new_file.clone());
                }
            }
        }
        (self.edits, self.renames) = (edits, renames);
    }

    /// Returns the changed tree, or `None` if nothing changes.
    fn apply(&self, tree: &SkillTree) -> Option<SkillTree> {
        let mut changed = tree.clone();
        let mut is_changed = false;
        for (file, edits) in &self.edits {
            let Ok(text) = std::str::from_utf8(tree.file_bytes(file)?) else { continue };
            let after = apply_edits(text, edits);
            is_changed |= after != text && set_text(&mut changed, file, after);
        }
        for (file, new_file) in &self.renames {
            if let Some(entry) = changed.entries.remove(file) {
                changed.entries.insert(new_file.clone(), entry);
                is_changed = true;
            }
        }
        is_changed.then_some(changed)
    }
}

/// Sorts fixes by the place of their first change, so that the result does not depend on the order of the rules.
fn sorted_fixes<'a>(fixes: impl IntoIterator<Item = &'a FindingFix>) -> Vec<&'a FindingFix> {
    let mut fixes: Vec<&FindingFix> = fixes.into_iter().collect();
    fixes.sort_by_key(|fix| fix.edits.iter().filter_map(as_replacement).map(|(_, edit)| edit.span).min());
    fixes
}

fn as_replacement(edit: &FixEdit) -> Option<(&str, &TextEdit)> {
    match edit {
        FixEdit::Replace { file, edit } => Some((file, edit)),
        FixEdit::Rename { .. } => None,
    }
}

/// Adds edits of a text to those that are accepted, unless one of them is invalid or overlaps another.
fn accept_edits<'a>(
    text: &str,
    edits: impl IntoIterator<Item = &'a TextEdit>,
    accepted: &mut Vec<&'a TextEdit>,
) -> bool {
    let before = accepted.len();
    for edit in edits {
        let is_repeated = accepted.contains(&edit);
        if text.get(edit.span.range()).is_none()
            || (!is_repeated && accepted.iter().any(|other| overlaps(other.span, edit.span)))
        {
            accepted.truncate(before);
            return false;
        }
        // Two rules may propose the same change.
        if !is_repeated {
            accepted.push(edit);
        }
    }
    true
}

/// Whether two spans share a byte, or one is inserted inside of the other.
fn overlaps(one: Span, two: Span) -> bool {
    one.start < two.end && two.start < one.end
}

fn apply_edits(text: &str, edits: &[&TextEdit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.push_str(&text[from..edit.span.start]);
        out.push_str(&edit.replacement);
        from = edit.span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Returns whether a file was readable before and is not afterwards.
fn is_less_readable(before: &Skill, after: &Skill) -> bool {
    let readable = |skill: &Skill| skill.uasp.iter().filter(|uasp| uasp.root.is_some()).count();
    (before.frontmatter().is_some() && after.frontmatter().is_none()) || readable(before) > readable(after)
}

fn entry_bytes(entry: &TreeEntry) -> Option<&[u8]> {
    match entry {
        TreeEntry::File { content: FileContent::Bytes(bytes), .. }
        | TreeEntry::Link { content: FileContent::Bytes(bytes), .. } => Some(bytes),
        _ => None,
    }
}

fn set_text(tree: &mut SkillTree, file: &str, text: String) -> bool {
    match tree.entries.get_mut(file) {
        Some(TreeEntry::File { content, size_bytes, .. }) => {
            *size_bytes = text.len() as u64;
            *content = FileContent::Bytes(text.into_bytes());
            true
        }
        Some(TreeEntry::Link { content, .. }) => {
            *content = FileContent::Bytes(text.into_bytes());
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(edits: &[(usize, usize, &str)]) -> FindingFix {
        edits.iter().fold(FindingFix::safe("change it"), |fix, (start, end, text)| {
            fix.replace("SKILL.md", Span::new(*start, *end), *text)
        })
    }

    #[test]
    fn a_fix_is_applied_as_a_whole_or_not_at_all() {
        let (first, second) = (fix(&[(0, 2, "X")]), fix(&[(1, 3, "Y"), (4, 5, "Z")]));
        assert_eq!(apply_fixes("SKILL.md", "abcdef", [&second, &first]), "Xcdef");
    }

    #[test]
    fn insertions_at_the_same_place_are_all_applied_and_repeated_ones_once() {
        let (one, two) = (fix(&[(3, 3, "1")]), fix(&[(3, 3, "2"), (0, 1, "-")]));
        assert_eq!(apply_fixes("SKILL.md", "abcdef", [&one, &one, &two]), "-bc21def");
    }

    #[test]
    fn edits_outside_of_the_text_or_of_another_file_are_left_out() {
        let other = FindingFix::safe("change both").replace("SKILL.md", Span::new(0, 1), "X").replace(
            "a.md",
            Span::default(),
            "Y",
        );
        assert_eq!(apply_fixes("SKILL.md", "aä", [&fix(&[(2, 3, "X")]), &fix(&[(3, 9, "")]), &other]), "aä");
    }
}
