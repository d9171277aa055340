use rep_model::{Entry, Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "metadata-sidecar",
    summary: "a `metadata.yaml` stands beside SKILL.md",
    since: "0.1.0",
    levels: Levels { warning: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("metadata stays in the frontmatter")],
    requirements: &["PKG-27"],
    page: include_str!("metadata_sidecar.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    const FILE: &str = "metadata.yaml";
    let is_file = matches!(skill.tree.entries.get(FILE), Some(Entry::File { .. } | Entry::Link { .. }));
    if is_file && skill.manifest.is_some() {
        findings
            .add(FILE, Span::default(), "a `metadata.yaml` stands beside SKILL.md, and nothing reads it")
            .help("move what it says into the `x-personal-mcp` block of SKILL.md, and delete it");
    }
}
