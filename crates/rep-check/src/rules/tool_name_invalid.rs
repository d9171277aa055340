use rep_model::{Skill, names};

use crate::data_path::join;
use crate::engine::Findings;
use crate::profile::TOOLS;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-name-invalid",
    summary: "the name of a tool that hosts do not take",
    since: "0.1.0",
    levels: Levels { error: TOOLS, ..Levels::NONE },
    cites: &[Cite::universal("§4, tool naming"), Cite::host("mcp: tool names"), Cite::host("openai: function names")],
    requirements: &["TOOL-03"],
    page: include_str!("tool_name_invalid.md"),
    check: Check::Skill(check),
};

/// A profile, what it takes, and how to say that.
type Form = (Profile, fn(&str) -> bool, &'static str);

static FORMS: [Form; 3] = [
    (Profile::Universal, names::is_plain, "use `a-z`, `0-9` and `-`"),
    (Profile::Mcp, is_mcp, "use up to 128 of `A-Z`, `a-z`, `0-9`, `_`, `-` and `.`"),
    (Profile::OpenAi, is_openai, "use up to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-`"),
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        // An empty name is the business of `value-length`, a number that of `field-type`.
        let Some(name) = declared.tool.name().filter(|name| name.is_text() && !name.value.is_empty()) else { continue };
        for (profile, _, help) in FORMS.iter().filter(|(_, is_fine, _)| !is_fine(name.value)) {
            findings
                .add(declared.file, name.span(), format!("tool name is `{}`", name.value))
                .path(join(&declared.path, "name"))
                .help(*help)
                .only(profile.as_set());
        }
    }
}

fn is_mcp(name: &str) -> bool {
    name.len() <= 128 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

fn is_openai(name: &str) -> bool {
    name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}
