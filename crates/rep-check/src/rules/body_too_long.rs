use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "body-too-long",
    summary: "a SKILL.md of more than 500 lines",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("progressive disclosure")],
    requirements: &["PKG-17"],
    page: include_str!("body_too_long.md"),
    check: Check::Skill(check),
};

/// The lines a SKILL.md should not go beyond.
const LINES_MAX: usize = 500;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let text = manifest.source.text();
    // A line is at least one byte, so a short file needs no counting.
    if text.len() <= LINES_MAX {
        return;
    }
    // Every byte is looked at alike, which compilers make quick; going from line to line is not.
    let newlines = text.bytes().fold(0_usize, |count, byte| count + usize::from(byte == b'\n'));
    let lines = newlines + usize::from(!text.ends_with('\n'));
    if lines > LINES_MAX {
        let first_over = text.split_inclusive('\n').take(LINES_MAX).map(str::len).sum();
        findings
            .add(manifest.file, Span::at(first_over), format!("the file has {lines} lines, more than {LINES_MAX}"))
            .help("move detail into files of their own, and link to them where they are needed");
    }
}
