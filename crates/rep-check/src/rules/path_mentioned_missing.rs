use std::collections::BTreeSet;

use rep_model::{ResolvedSkillPath, Skill, Span, TreeEntry, resolve_skill_path};

use crate::draft::Findings;
use crate::grouping::add_group;
use crate::profile::MARKDOWN;
use crate::yaml_edits::suggest_paths;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "path-mentioned-missing",
    summary: "a path in backticks does not exist in the skill",
    since: "0.1.0",
    levels: RuleLevels { info: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("file references"),
        RuleCitation::public_survey("§6: half of such paths were real errors"),
    ],
    requirements: &["PKG-15"],
    page: include_str!("path_mentioned_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    if !skill.tree.omissions.is_empty() {
        return;
    }
    let mut seen = BTreeSet::new();
    let mut missing: Vec<(Span, String)> = Vec::new();
    for code in &manifest.outline().codes {
        let Some(path) = parse_file_path(&code.text).filter(|path| seen.insert(path.clone())) else { continue };
        let folder = path.split('/').next().unwrap_or("");
        let (_, line) = manifest.source.line_at(code.span.start);
        // A path into a directory that the skill does not have probably belongs to the user's project.
        if skill.tree.entries.get(folder) == Some(&TreeEntry::Directory)
            && !skill.tree.has_path(&path)
            && !is_conditional_mention(line)
        {
            missing.push((code.span, path));
        }
    }
    let one = |path: &str| format!("`{path}` does not exist");
    let several = |count, list: &str| format!("{count} files do not exist: {list}");
    if let Some(draft) = add_group(findings, manifest.file, &missing, one, several) {
        draft.help("add the file, or fix the path; it is relative to the skill's directory");
        draft.with_optional_fix(suggest_paths(skill, &missing));
    }
}

/// Whether a line implies that the file need not exist: it is an example, will be created, or was removed.
fn is_conditional_mention(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["e.g.", "example", "such as", "create", "exist", "no longer"].iter().any(|word| lower.contains(word))
}

/// Parses inline code as a path, unless it is a pattern or a placeholder.
fn parse_file_path(code: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let (_, last) = code.rsplit_once('/')?;
    let (stem, ending) = last.rsplit_once('.')?;
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    if stem.is_empty() || !is_ending || !code.chars().all(is_plain) || is_placeholder_path(code) {
        return None;
    }
    match resolve_skill_path("", code) {
        ResolvedSkillPath::Inside(path) if path.contains('/') => Some(path),
        ResolvedSkillPath::Inside(_) | ResolvedSkillPath::Outside | ResolvedSkillPath::Absolute => None,
    }
}

/// Whether a path contains a placeholder: `example`, `foo`, `XX`, `...`.
fn is_placeholder_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_word = |word: &str| matches!(word, "example" | "my" | "your" | "foo" | "bar" | "name" | "new" | "output");
    let is_letters = |word: &str| word.len() > 1 && word.chars().all(|letter| matches!(letter, 'x' | 'n' | 'y'));
    path.contains("..") || words.any(|word| is_word(word) || is_letters(word))
}
