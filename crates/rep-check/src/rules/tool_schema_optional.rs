use std::collections::BTreeSet;

use rep_model::Skill;
use rep_model::yaml::Node;

use crate::data_path::join;
use crate::engine::Findings;
use crate::schema::{Side, schemas, subschemas};
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-optional",
    summary: "an argument that strict mode cannot leave out",
    since: "0.1.0",
    levels: Levels { warning: Profile::OpenAi.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§7, OpenAI strict-compatible schema profile"), Cite::host("openai: strict mode")],
    requirements: &["TOOL-24"],
    page: include_str!("tool_schema_optional.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        for (_, schema, path) in schemas(&declared).into_iter().filter(|(side, _, _)| *side == Side::Input) {
            for found in subschemas(schema, &path) {
                let required = found.node.get("required").and_then(Node::items).unwrap_or(&[]);
                let required: BTreeSet<&str> = required.iter().filter_map(Node::text).collect();
                let properties = found.node.get("properties").and_then(Node::entries).unwrap_or(&[]);
                for entry in
                    properties.iter().filter(|entry| !entry.key.text().is_some_and(|key| required.contains(key)))
                {
                    let path = join(&join(&found.path, "properties"), entry.key.text().unwrap_or("?"));
                    findings
                        .add(declared.file, entry.key.span, format!("`{path}` is not in `required`"))
                        .path(path)
                        .help("list it in `required`, and let its type be `null` too where it may be left out");
                }
            }
        }
    }
}
