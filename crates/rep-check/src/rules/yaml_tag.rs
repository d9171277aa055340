use crate::profile::{MARKDOWN, REFERENCE};
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-tag",
    summary: "the YAML uses an explicit tag",
    since: "0.1.0",
    levels: Levels { error: REFERENCE, warning: MARKDOWN.without(REFERENCE), ..Levels::NONE },
    cites: &[Cite::reference("reading of frontmatter"), Cite::evidence("§2: no skill needs one")],
    requirements: &["PKG-32"],
    page: include_str!("yaml_tag.md"),
    check: Check::Parse,
};
