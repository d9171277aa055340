use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tools-json-invalid",
    summary: "tools.json is not valid JSON",
    since: "0.1.0",
    levels: Levels { error: &[Profile::Universal, Profile::OpenAi, Profile::Mcp], ..Levels::NONE },
    cites: &[Cite::universal("§6, appendix B")],
    requirements: &["TOOL-18"],
    page: include_str!("tools_json_invalid.md"),
    check: Check::Parse,
};
