use rep_model::{Skill, names};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::profile::TOOLS;
use crate::tools::list_declared_tools;
use crate::yaml_edits::suggest_id;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-name-invalid",
    summary: "a tool name is not accepted by hosts",
    since: "0.1.0",
    levels: RuleLevels { error: TOOLS, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("§4, tool naming"),
        RuleCitation::host_table("mcp: tool names"),
        RuleCitation::host_table("openai: function names"),
    ],
    requirements: &["TOOL-03"],
    page: include_str!("tool_name_invalid.md"),
    check: RuleCheck::Skill(check),
};

/// A profile, its test of a name, and the help text.
type ToolNameForm = (Profile, fn(&str) -> bool, &'static str);

static TOOL_NAME_FORMS: [ToolNameForm; 3] = [
    (Profile::Universal, names::is_plain_name, "use `a-z`, `0-9` and `-`"),
    (Profile::Mcp, is_mcp_name, "use up to 128 of `A-Z`, `a-z`, `0-9`, `_`, `-` and `.`"),
    (Profile::OpenAi, is_openai_name, "use up to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-`"),
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        // `value-length` reports an empty name, and `field-type` a number.
        let Some(name) = declared.tool.name().filter(|name| name.is_text() && !name.value.is_empty()) else { continue };
        for (profile, _, help) in TOOL_NAME_FORMS.iter().filter(|(_, is_fine, _)| !is_fine(name.value)) {
            findings
                .add(declared.file, name.span(), format!("invalid tool name `{}`", name.value))
                .with_data_path(join_path(&declared.path, "name"))
                .help(*help)
                .only_for_profiles(profile.as_set())
                .with_optional_fix(suggest_id(skill, declared.file, name.span(), name.value));
        }
    }
}

fn is_mcp_name(name: &str) -> bool {
    name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

fn is_openai_name(name: &str) -> bool {
    name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}
