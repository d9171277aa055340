use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-not-mapping",
    summary: "a UASP file that is no mapping of sections",
    since: "0.1.0",
    levels: Levels { error: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§3.1, type: object")],
    requirements: &["US-01"],
    page: include_str!("uasp_not_mapping.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let (span, found) = match &uasp.root {
            Some(root) if root.entries().is_some() => continue,
            Some(root) => (root.span, root.kind()),
            None if is_blank(uasp.source.text()) => (Span::default(), "nothing"),
            // The syntax is broken, which is reported by itself.
            None => continue,
        };
        findings
            .add(&uasp.file, span, format!("the file holds {found} instead of a mapping of sections"))
            .help("start with `meta:`, and `name`, `version` and `type` below it");
    }
}

/// Whether nothing stands in a text but comments and document marks.
fn is_blank(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#') || line == "---" || line == "...")
}
