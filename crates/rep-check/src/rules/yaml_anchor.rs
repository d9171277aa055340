use crate::profile::{MARKDOWN, REFERENCE};
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "yaml-anchor",
    summary: "the YAML uses an anchor",
    since: "0.1.0",
    levels: Levels { error: REFERENCE, warning: MARKDOWN.without(REFERENCE), ..Levels::NONE },
    cites: &[Cite::reference("reading of frontmatter"), Cite::evidence("§2: no skill needs one")],
    requirements: &["PKG-32"],
    page: include_str!("yaml_anchor.md"),
    check: Check::Parse,
};
