use rep_model::frontmatter::text;
use rep_model::yaml::Node;
use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::personal_mcp::find_block;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-tag-not-kebab",
    summary: "a tag that is not in kebab case",
    since: "0.1.0",
    levels: Levels { warning: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("repository metadata, tags")],
    requirements: &["VAL-55"],
    page: include_str!("pmcp_tag_not_kebab.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_block(skill) else { return };
    let items = block.0.get("tags").and_then(Node::items).unwrap_or(&[]);
    for (index, item) in items.iter().enumerate() {
        let Some(tag) = text(item).filter(|tag| tag.is_text()) else { continue };
        let word = names::strip(tag.value);
        let is_kebab = names::is_plain(word) && word.split('-').all(|part| !part.is_empty());
        if !is_kebab {
            findings
                .add(file, item.span, format!("tag `{word}` is not in kebab case"))
                .path(format!("x-personal-mcp.tags[{index}]"))
                .help("write lower-case letters and digits, with single hyphens between words");
        }
    }
}
