use rep_model::{FileContent, Skill, Span, TreeEntry};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::profile::FORMAT;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "script-crlf",
    summary: "the first line of a script ends with CR LF",
    since: "0.1.0",
    levels: RuleLevels { warning: FORMAT, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::public_survey("§5: 144 scripts that cannot start"),
        RuleCitation::agentskills("scripts/ directory"),
    ],
    requirements: &["PKG-22"],
    page: include_str!("script_crlf.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for (path, entry) in &skill.tree.entries {
        let TreeEntry::File { content: FileContent::Bytes(bytes), .. } = entry else { continue };
        let Some(end) = find_shebang_end(bytes).filter(|end| bytes[..*end].ends_with(b"\r")) else { continue };
        let program = String::from_utf8_lossy(&bytes[2..end - 1]).trim().to_owned();
        findings
            .add(path, Span::new(0, end - 1), format!("the interpreter `{program}` is followed by a carriage return"))
            .help("save the script with LF line endings")
            .with_optional_fix(with_line_feeds(path, bytes));
    }
}

/// Returns the length of the first line without its LF, if it is a shebang with a path. Rust's `#![…]` is not.
fn find_shebang_end(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"#!")?.trim_ascii_start();
    let is_path = rest.starts_with(b"/");
    bytes.iter().position(|byte| *byte == b'\n').filter(|_| is_path)
}

/// Returns a fix that replaces the line ends. The script cannot start before, so its meaning does not change.
fn with_line_feeds(path: &str, bytes: &[u8]) -> Option<FindingFix> {
    let text = std::str::from_utf8(bytes).ok()?;
    let fix = FindingFix::safe("use LF line endings");
    Some(fix.replace(path, Span::new(0, text.len()), text.replace("\r\n", "\n")))
}
