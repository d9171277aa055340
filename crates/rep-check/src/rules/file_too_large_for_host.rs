use rep_model::{Skill, Span, TreeEntry};

use crate::draft::Findings;
use crate::host_limits::OPENAI_FILE_BYTES;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "file-too-large-for-host",
    summary: "a file exceeds the host's size limit",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::OpenAi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::host_table("openai: bytes per file")],
    requirements: &["HOST-19"],
    page: include_str!("file_too_large_for_host.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for (path, entry) in &skill.tree.entries {
        let TreeEntry::File { size_bytes, .. } = entry else { continue };
        if *size_bytes > OPENAI_FILE_BYTES.value {
            let message =
                format!("the file has {size_bytes} bytes; the host accepts at most {}", OPENAI_FILE_BYTES.value);
            findings
                .add(path, Span::default(), message)
                .help(format!("split it, or download it when needed ({})", OPENAI_FILE_BYTES.describe_origin()));
        }
    }
}
