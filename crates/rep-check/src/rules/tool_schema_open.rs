use rep_model::yaml::{Node, core};
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::schema::{Side, is_object, schemas, subschemas};
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-schema-open",
    summary: "an object in the schema of a tool takes properties it does not name",
    since: "0.1.0",
    levels: Levels { error: Profile::OpenAi.as_set(), warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§7, additionalProperties"), Cite::host("openai: strict mode")],
    requirements: &["TOOL-22", "TOOL-23", "HOST-17", "VAL-71"],
    page: include_str!("tool_schema_open.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        for (side, schema, path) in schemas(&declared) {
            for found in subschemas(schema, &path).into_iter().filter(|found| is_object(found.node)) {
                // Closing a part would refuse what the other parts name, so Universal lets it be.
                let only = match (openness(found.node), side, found.is_part) {
                    (Openness::Closed, _, _) | (Openness::Sealed, Side::Output, _) | (_, Side::Output, true) => {
                        continue;
                    }
                    (Openness::Open, Side::Input, false) => ProfileSet::new(&[Profile::Universal, Profile::OpenAi]),
                    (Openness::Open, Side::Output, false) => Profile::Universal.as_set(),
                    (_, Side::Input, true) | (Openness::Sealed, Side::Input, false) => Profile::OpenAi.as_set(),
                };
                findings
                    .add(declared.file, Span::at(found.node.span.start), format!("`{}` is an open object", found.path))
                    .path(found.path)
                    .help("add `additionalProperties: false`")
                    .only(only);
            }
        }
    }
}

/// What an object does with properties it does not name.
enum Openness {
    Closed,
    /// They are refused by `unevaluatedProperties`, which strict hosts do not know.
    Sealed,
    Open,
}

fn openness(schema: &Node) -> Openness {
    let is_false = |key| schema.get(key).is_some_and(|value| core::scalar(value) == Some(core::Scalar::Bool(false)));
    if is_false("additionalProperties") {
        Openness::Closed
    } else if is_false("unevaluatedProperties") {
        Openness::Sealed
    } else {
        Openness::Open
    }
}
