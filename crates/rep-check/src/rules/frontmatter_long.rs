use rep_model::frontmatter::PERSONAL_MCP;
use rep_model::yaml::Entry;
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule, tokens};

pub(super) static RULE: Rule = Rule {
    name: "frontmatter-long",
    summary: "the frontmatter is long",
    since: "0.1.0",
    levels: Levels { info: ProfileSet::new(&[Profile::AgentSkills, Profile::Universal, Profile::Aam]), ..Levels::NONE },
    cites: &[Cite::universal("§10"), Cite::evidence("§5: sizes")],
    requirements: &["PKG-19"],
    page: include_str!("frontmatter_long.md"),
    check: Check::Skill(check),
};

/// A description of full length fits in any script. Of 410 public skills, four are longer than this.
const MAX: usize = 4500;
/// Fields whose data has no other home.
const NOT_COUNTED: [&str; 2] = ["tools", PERSONAL_MCP];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(parts) = manifest.parts else { return };
    let mut counted = manifest.source.slice(parts.front).to_owned();
    for entry in front.fields().iter().rev().filter(|entry| is_left_out(entry)) {
        let from = entry.key.span.start.saturating_sub(parts.front.start);
        let to = entry.value.span.end.saturating_sub(parts.front.start);
        if counted.get(from..to).is_some() {
            counted.replace_range(from..to, "");
        }
    }
    if counted.len() > MAX {
        let tokens = tokens::estimate(&counted);
        let message = format!("frontmatter is {} bytes long, about {tokens} tokens", counted.len());
        findings
            .add(manifest.file, Span::at(front.root.span.start), message)
            .help("move detail into the body, or into files it names");
    }
}

fn is_left_out(entry: &Entry) -> bool {
    entry.key.text().is_some_and(|key| NOT_COUNTED.contains(&key))
}
