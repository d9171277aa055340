//! The names of tools for MCP clients: as the author wrote them, or with the name of the skill.

use std::collections::{BTreeMap, BTreeSet};

/// The length of a tool's name that MCP recommends at most.
const MCP_NAME_CHARS_MAX: usize = 128;

/// How clients see the name of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolNaming {
    /// The author's name if no other tool has it, otherwise with the name of the skill.
    Auto,
    /// The author's name. Tools with the same name are refused.
    Plain,
    /// `SKILL__TOOL`. Such a name does not change when other skills are added.
    #[default]
    Qualified,
}

impl ToolNaming {
    /// The words for the three choices.
    pub const WORDS: [&'static str; 3] = ["auto", "plain", "qualified"];

    /// Parses one of [`ToolNaming::WORDS`].
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(Self::Auto),
            "plain" => Some(Self::Plain),
            "qualified" => Some(Self::Qualified),
            _ => None,
        }
    }
}

/// A tool that needs a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnnamedTool<'a> {
    /// The skill's name.
    pub skill: &'a str,
    /// The author's name of the tool.
    pub tool: &'a str,
    /// The name with the name of the skill, which is unique.
    pub qualified: String,
}

/// Chooses the name of each tool, or says why the author's name cannot be used. `reserved` are the names of the server's
/// own tools.
pub fn choose_tool_names(
    tools: &[UnnamedTool<'_>],
    reserved: &[&str],
    naming: ToolNaming,
) -> Vec<Result<String, String>> {
    let mut owners: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, one) in tools.iter().enumerate() {
        owners.entry(one.tool).or_default().push(index);
    }
    let qualified: BTreeMap<&str, usize> =
        tools.iter().enumerate().map(|(index, one)| (one.qualified.as_str(), index)).collect();
    let reserved: BTreeSet<&str> = reserved.iter().copied().collect();
    let find_obstacle = |index: usize, UnnamedTool { skill, tool, .. }: &UnnamedTool<'_>| {
        let same_name = owners.get(tool).into_iter().flatten().find(|other| **other != index);
        let as_qualified = qualified.get(tool).filter(|other| **other != index);
        if let Some(UnnamedTool { skill: owner, tool: own, .. }) =
            same_name.or(as_qualified).map(|other| &tools[*other])
        {
            Some(format!("`{skill}:{tool}` and `{owner}:{own}` have the same name `{tool}`"))
        } else if reserved.contains(tool) {
            Some(format!("`{skill}:{tool}` has the name of the server's own tool `{tool}`"))
        } else if !is_mcp_name(tool) {
            Some(format!("`{skill}:{tool}` has a name that MCP does not allow: use A-Z, a-z, 0-9, `_`, `-` and `.`"))
        } else {
            None
        }
    };
    let choose = |(index, one): (usize, &UnnamedTool<'_>)| match naming {
        ToolNaming::Qualified => Ok(one.qualified.clone()),
        ToolNaming::Auto if find_obstacle(index, one).is_some() => Ok(one.qualified.clone()),
        ToolNaming::Auto => Ok(one.tool.to_owned()),
        ToolNaming::Plain => find_obstacle(index, one).map_or_else(|| Ok(one.tool.to_owned()), Err),
    };
    tools.iter().enumerate().map(choose).collect()
}

/// Whether MCP clients accept a name.
fn is_mcp_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && name.len() <= MCP_NAME_CHARS_MAX && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::functions::function_name;

    #[test]
    fn a_plain_name_is_unique_or_refused_or_qualified() {
        let tools = [("a", "run"), ("b", "run"), ("b", "show"), ("c", "list_skills"), ("d", "a__run"), ("e", "x y")];
        let tools = tools.map(|(skill, tool)| UnnamedTool { skill, tool, qualified: function_name(skill, tool) });
        let names = |naming| choose_tool_names(&tools, &["list_skills"], naming);
        let qualified = tools.clone().map(|one| Ok(one.qualified));
        assert_eq!(names(ToolNaming::Qualified), qualified);
        let mut auto = qualified;
        auto[2] = Ok("show".to_owned());
        assert_eq!(names(ToolNaming::Auto), auto);
        let plain = names(ToolNaming::Plain);
        assert_eq!(plain[0], Err("`a:run` and `b:run` have the same name `run`".to_owned()));
        assert_eq!(plain[2], Ok("show".to_owned()));
        assert_eq!(plain[4], Err("`d:a__run` and `a:run` have the same name `a__run`".to_owned()));
        assert!([1, 3, 5].iter().all(|index| plain[*index].is_err()), "{plain:?}");
    }
}
