use rep_model::yaml::Node;
use rep_model::{Skill, Span};

use crate::data_path::join;
use crate::engine::Findings;
use crate::profile::TOOLS;
use crate::schema::{Side, schemas};
use crate::tools::declared;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-input-not-object",
    summary: "the arguments of a tool are not an object",
    since: "0.1.0",
    levels: Levels { error: TOOLS, ..Levels::NONE },
    cites: &[
        Cite::universal("§7, minimum portability rules"),
        Cite::host("mcp: inputSchema"),
        Cite::host("openai: strict mode"),
    ],
    requirements: &["TOOL-21", "VAL-71"],
    page: include_str!("tool_input_not_object.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        for (_, schema, path) in schemas(&declared).into_iter().filter(|(side, _, _)| *side == Side::Input) {
            let (span, message, path) = match schema.entry("type").map(|entry| &entry.value) {
                None => (Span::at(schema.span.start), format!("`{path}` has no `type`"), path),
                Some(kind) if kind.text() == Some("object") || !is_type(kind) => continue,
                Some(kind) => {
                    let path = join(&path, "type");
                    let found = kind.text().map_or_else(|| "a list".to_owned(), |text| format!("`{text}`"));
                    (kind.span, format!("`{path}` is {found}"), path)
                }
            };
            findings.add(declared.file, span, message).path(path).help("write `type: object`; arguments have names");
        }
    }
}

/// Whether a `type` is one at all; another value is the business of `tool-schema-invalid`.
fn is_type(kind: &Node) -> bool {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let words = kind.items().unwrap_or(std::slice::from_ref(kind));
    words.iter().all(|word| word.text().is_some_and(|text| TYPES.contains(&text)) && !word.is_null())
}
