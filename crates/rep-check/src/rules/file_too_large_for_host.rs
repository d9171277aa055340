use rep_model::{Entry, Skill, Span};

use crate::engine::Findings;
use crate::hosts::OPENAI_FILE_BYTES;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "file-too-large-for-host",
    summary: "a file larger than its host takes",
    since: "0.1.0",
    levels: Levels { error: Profile::OpenAi.as_set(), ..Levels::NONE },
    cites: &[Cite::host("openai: bytes per file")],
    requirements: &["HOST-19"],
    page: include_str!("file_too_large_for_host.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for (path, entry) in &skill.tree.entries {
        let Entry::File { size_bytes, .. } = entry else { continue };
        if *size_bytes > OPENAI_FILE_BYTES.value {
            let message = format!("the file has {size_bytes} bytes; the host takes {}", OPENAI_FILE_BYTES.value);
            findings
                .add(path, Span::default(), message)
                .help(format!("split it, or fetch it when it is needed ({})", OPENAI_FILE_BYTES.origin()));
        }
    }
}
