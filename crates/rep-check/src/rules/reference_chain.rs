use std::collections::BTreeSet;

use rep_model::markdown::parse_outline;
use rep_model::{ResolvedSkillPath, Skill, Span, resolve_skill_path};

use crate::draft::Findings;
use crate::grouping::add_group;
use crate::link_path::parse_local_path;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "reference-chain",
    summary: "a referenced file links to a file that SKILL.md does not mention",
    since: "0.1.0",
    levels: RuleLevels { info: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("file references")],
    requirements: &["PKG-16"],
    page: include_str!("reference_chain.md"),
    check: RuleCheck::Skill(check),
};

/// The maximum number of bytes of referenced files that are searched for links.
const LINKED_BYTES_MAX: usize = 4 << 20;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let outline = manifest.outline();
    let direct = outline.links.iter().filter_map(|link| resolve_markdown_file("", &link.target));
    let mentioned = outline.codes.iter().filter_map(|code| resolve_markdown_file("", &code.text));
    let known: BTreeSet<String> = direct.chain(mentioned).collect();
    let mut seen = BTreeSet::new();
    let mut onward_links: Vec<(Span, String)> = Vec::new();
    let mut bytes_left = LINKED_BYTES_MAX;
    for link in &outline.links {
        let Some(file) = resolve_markdown_file("", &link.target).filter(|file| seen.insert(file.clone())) else {
            continue;
        };
        if is_skill_md(&file) {
            continue;
        }
        let Some(text) = skill.tree.file_bytes(&file).and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            continue;
        };
        let Some(left) = bytes_left.checked_sub(text.len()) else { break };
        bytes_left = left;
        if let Some(onward) = find_onward_link(skill, &file, text, &known) {
            onward_links.push((link.span, format!("{file}` links to `{onward}")));
        }
    }
    let one = |chain: &str| format!("`{chain}`, which SKILL.md does not mention");
    let several = |count, list: &str| format!("{count} files link to files that SKILL.md does not mention: {list}");
    if let Some(draft) = add_group(findings, manifest.file, &onward_links, one, several) {
        draft.help("link to both files from SKILL.md");
    }
}

/// Finds the first Markdown file of the skill that a referenced file links to and SKILL.md does not.
fn find_onward_link(skill: &Skill, file: &str, text: &str, known: &BTreeSet<String>) -> Option<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let links = parse_outline(text, 0).links;
    let mut targets = links.iter().filter_map(|link| resolve_markdown_file(folder, &link.target));
    targets
        .find(|target| target != file && !is_skill_md(target) && !known.contains(target) && skill.tree.has_path(target))
}

/// Whether a file is the SKILL.md of this skill or of a nested skill.
fn is_skill_md(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case("SKILL.md"))
}

/// Resolves a link to a Markdown file of the skill.
fn resolve_markdown_file(folder: &str, target: &str) -> Option<String> {
    // Most code and many links do not name such a file, and need no closer look.
    if !names_markdown(target) {
        return None;
    }
    let path = parse_local_path(target).filter(|path| path.len() > 3 && path.to_ascii_lowercase().ends_with(".md"))?;
    match resolve_skill_path(folder, &path) {
        ResolvedSkillPath::Inside(inside) => Some(inside),
        ResolvedSkillPath::Outside | ResolvedSkillPath::Absolute => None,
    }
}

/// Whether a link can name a Markdown file: its path ends with `.md`, or has an escape.
fn names_markdown(target: &str) -> bool {
    let path = target.split(['#', '?']).next().unwrap_or("").as_bytes();
    path.contains(&b'%') || path.len().checked_sub(3).is_some_and(|at| path[at..].eq_ignore_ascii_case(b".md"))
}
