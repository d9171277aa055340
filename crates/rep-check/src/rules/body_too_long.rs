use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "body-too-long",
    summary: "SKILL.md has more than 500 lines",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("progressive disclosure")],
    requirements: &["PKG-17"],
    page: include_str!("body_too_long.md"),
    check: RuleCheck::Skill(check),
};

/// The recommended maximum number of lines of a SKILL.md.
const LINES_MAX: usize = 500;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let text = manifest.source.text();
    // A line is at least one byte, so a short file needs no counting.
    if text.len() <= LINES_MAX {
        return;
    }
    // Compilers vectorize a loop that treats every byte alike; a search for each line is slower.
    let newlines = text.bytes().fold(0_usize, |count, byte| count + usize::from(byte == b'\n'));
    let lines = newlines + usize::from(!text.ends_with('\n'));
    if lines > LINES_MAX {
        let first_over = text.split_inclusive('\n').take(LINES_MAX).map(str::len).sum();
        let draft = findings.add(
            manifest.file,
            Span::empty_at(first_over),
            format!("the file has {lines} lines; the recommended maximum is {LINES_MAX}"),
        );
        draft.help("move details into separate files and link to them");
        // Few authors shorten a file that is a little too long.
        if lines <= LINES_MAX * 3 / 2 {
            draft.only_when_selected();
        } else if lines <= 2 * LINES_MAX {
            draft.level_when_detected(Level::Info);
        }
    }
}
