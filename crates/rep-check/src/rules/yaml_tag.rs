use crate::profile::{MARKDOWN, REFERENCE};
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "yaml-tag",
    summary: "the YAML uses an explicit tag",
    since: "0.1.0",
    levels: RuleLevels { error: REFERENCE, warning: MARKDOWN.without(REFERENCE), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::reference_tool("parsing of frontmatter"),
        RuleCitation::public_survey("§2: no skill needs one"),
    ],
    requirements: &["PKG-32"],
    page: include_str!("yaml_tag.md"),
    check: RuleCheck::Parse,
};
