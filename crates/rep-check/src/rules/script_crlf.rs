use rep_model::{Content, Entry, Skill, Span};

use crate::engine::Findings;
use crate::profile::FORMAT;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "script-crlf",
    summary: "the first line of a script ends with CR LF",
    since: "0.1.0",
    levels: Levels { warning: FORMAT, ..Levels::NONE },
    cites: &[Cite::evidence("§5: 144 scripts that cannot start"), Cite::agentskills("scripts/ directory")],
    requirements: &["PKG-22"],
    page: include_str!("script_crlf.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for (path, entry) in &skill.tree.entries {
        let Entry::File { content: Content::Bytes(bytes), .. } = entry else { continue };
        let Some(end) = shebang_end(bytes).filter(|end| bytes[..*end].ends_with(b"\r")) else { continue };
        let program = String::from_utf8_lossy(&bytes[2..end - 1]).trim().to_owned();
        findings
            .add(path, Span::new(0, end - 1), format!("the script asks for `{program}` followed by a carriage return"))
            .help("save the script with LF line ends");
    }
}

/// The length of the first line without its LF, where it names a program by its path. Rust's `#![…]` does not.
fn shebang_end(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"#!")?.trim_ascii_start();
    let is_path = rest.starts_with(b"/");
    bytes.iter().position(|byte| *byte == b'\n').filter(|_| is_path)
}
