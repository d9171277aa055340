use rep_model::Skill;

use crate::data_path::join;
use crate::engine::Findings;
use crate::hosts::OPENAI_STRICT_REFUSED;
use crate::schema::{Side, schemas, subschemas};
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-unsupported",
    summary: "the schema of a tool uses a keyword strict mode refuses",
    since: "0.1.0",
    levels: Levels { error: Profile::OpenAi.as_set(), ..Levels::NONE },
    cites: &[Cite::host("openai: strict mode")],
    requirements: &["TOOL-23", "VAL-70", "HOST-17"],
    page: include_str!("tool_schema_unsupported.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        for (_, schema, path) in schemas(&declared).into_iter().filter(|(side, _, _)| *side == Side::Input) {
            for found in subschemas(schema, &path) {
                for entry in found.node.entries().unwrap_or(&[]) {
                    let Some(keyword) = entry.key.text().filter(|key| OPENAI_STRICT_REFUSED.contains(key)) else {
                        continue;
                    };
                    findings
                        .add(declared.file, entry.key.span, format!("`{}` uses `{keyword}`", found.path))
                        .path(join(&found.path, keyword))
                        .help("say it with `anyOf`, `enum` and closed objects, or in the description");
                }
            }
        }
    }
}
