use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "name-missing",
    summary: "the frontmatter has no `name`",
    since: "0.1.0",
    levels: Levels {
        error: MARKDOWN.without(Profile::ClaudeCode.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[
        Cite::agentskills("name field"),
        Cite::universal("§3"),
        Cite::pmcp("frontmatter model"),
        Cite::host("Claude Code: the folder names the skill"),
    ],
    requirements: &["VAL-01", "VAL-02", "VAL-64"],
    page: include_str!("name_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let folder = &skill.tree.folder;
    let help = if rep_model::names::is_plain(folder) {
        format!("add `name: {folder}`, as the folder is called")
    } else {
        "add `name`, with the name of the folder".to_owned()
    };
    report(skill, "name", &help, findings);
}

/// Reports a required field that is absent, or that is there without a value.
pub(super) fn report(skill: &Skill, field: &str, help: &str, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    match front.field(field) {
        None => {
            let start = Span::at(front.root.span.start);
            findings.add(manifest.file, start, format!("field `{field}` is missing")).help(help);
        }
        Some(entry) if entry.value.is_null() => {
            findings.add(manifest.file, entry.key.span, format!("field `{field}` has no value")).path(field).help(help);
        }
        Some(_) => {}
    }
}
