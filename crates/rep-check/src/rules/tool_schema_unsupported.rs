use rep_model::Skill;
use rep_model::yaml::YamlEntry;

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::host_limits::{OPENAI_STRICT_FORMATS, OPENAI_STRICT_UNSUPPORTED};
use crate::tool_schema::{SchemaSide, collect_subschemas, list_tool_schemas};
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-schema-unsupported",
    summary: "a tool's schema uses what strict mode rejects",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::OpenAi.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::host_table("openai: strict mode")],
    requirements: &["TOOL-23", "VAL-70", "HOST-17"],
    page: include_str!("tool_schema_unsupported.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        for (_, schema, path) in
            list_tool_schemas(&declared).into_iter().filter(|(side, _, _)| *side == SchemaSide::Input)
        {
            for (at, found) in collect_subschemas(schema, &path).into_iter().enumerate() {
                for entry in found.node.entries().unwrap_or(&[]) {
                    let Some((what, help)) = describe_rejected(entry, at == 0) else { continue };
                    findings
                        .add(declared.file, entry.key.span, format!("`{}` {what}", found.path))
                        .with_data_path(join_path(&found.path, entry.key.text().unwrap_or_default()))
                        .help(help);
                }
            }
        }
    }
}

/// Describes what strict mode rejects about a keyword, and what to write instead.
fn describe_rejected(entry: &YamlEntry, is_root: bool) -> Option<(String, &'static str)> {
    let keyword = entry.key.text()?;
    let value = entry.value.text().unwrap_or_default();
    if OPENAI_STRICT_UNSUPPORTED.contains(&keyword) {
        let help = "use `anyOf`, `enum` and closed objects, or state it in the description";
        return Some((format!("uses `{keyword}`"), help));
    }
    match keyword {
        "anyOf" if is_root => {
            Some(("is a union".to_owned(), "make it an object, with the union in one of its properties"))
        }
        "format" if !OPENAI_STRICT_FORMATS.contains(&value) => {
            Some((format!("uses the format `{value}`"), "use `pattern`, or state the format in the description"))
        }
        "$ref" if !value.starts_with('#') => {
            Some((format!("refers to `{value}`"), "copy the other schema into `$defs`, and refer to `#/$defs/NAME`"))
        }
        _ => None,
    }
}
