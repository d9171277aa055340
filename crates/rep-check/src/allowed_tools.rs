//! The field `allowed-tools`: which tools of the host, and which programs, an agent may use without asking.

use rep_model::{Skill, Span};

/// The approved tools, with the place of the list.
pub(crate) fn allowed_tools(skill: &Skill) -> Option<(Span, Vec<&str>)> {
    let front = skill.frontmatter()?;
    let node = ["allowed-tools", "allowed_tools"].into_iter().find_map(|field| front.get(field))?;
    let tools = match node.items() {
        Some(items) => items.iter().filter_map(|item| item.text()).collect(),
        None => rep_model::frontmatter::split_allowed_tools(node.text()?),
    };
    Some((node.span, tools))
}

/// The pattern in `Bash(…)`; empty for `Bash` alone.
pub(crate) fn bash_pattern(tool: &str) -> Option<&str> {
    let rest = tool.trim().strip_prefix("Bash")?;
    if rest.is_empty() {
        return Some("");
    }
    rest.strip_prefix('(').map(|inner| inner.trim_end_matches(')').trim_matches(['*', ' ', ':']))
}
