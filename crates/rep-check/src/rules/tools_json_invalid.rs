use crate::profile::TOOLS;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tools-json-invalid",
    summary: "tools.json is not valid JSON",
    since: "0.1.0",
    levels: Levels { error: TOOLS, ..Levels::NONE },
    cites: &[Cite::universal("§6, appendix B")],
    requirements: &["TOOL-18"],
    page: include_str!("tools_json_invalid.md"),
    check: Check::Parse,
};
