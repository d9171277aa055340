use rep_model::Skill;
use rep_model::yaml::Node;

use crate::data_path::join;
use crate::engine::Findings;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "dependencies-declared",
    summary: "a skill for the Claude API wants packages installed",
    since: "0.1.0",
    levels: Levels { warning: Profile::ClaudeApi.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("host profile Claude API"), Cite::host("claude-api: runtime")],
    requirements: &["HOST-12", "HOST-15", "HOST-19"],
    page: include_str!("dependencies_declared.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        let Some(dependencies) = declared.tool.dependencies() else { continue };
        for kind in ["pip", "npm", "system"] {
            let Some(first) = dependencies.get(kind).and_then(Node::items).and_then(<[Node]>::first) else { continue };
            let path = join(&declared.path, &format!("implementation.dependencies.{kind}"));
            findings
                .add(
                    declared.file,
                    first.span,
                    format!("`{kind}` packages are asked for: `{}`", first.text().unwrap_or("?")),
                )
                .path(path)
                .help("ship what the tool needs in the skill; the containers of the Claude API install nothing");
        }
    }
}
