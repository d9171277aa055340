//! The effective tools of a skill: those of its frontmatter, or else those of `tools.json`.
//!
//! Follows Universal 2.1 §6: the frontmatter is the source, `tools.json` is derived from it,
//! and if the two differ, `tools.json` is stale.

use rep_model::frontmatter::ToolDeclaration;
use rep_model::yaml::{YamlNode, core};
use rep_model::{Skill, Span};
use serde_json::Value as Json;

/// The derived file.
pub(crate) const TOOLS_JSON: &str = "tools.json";

/// Where the tools of a skill are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSource {
    /// In the frontmatter of SKILL.md.
    Frontmatter,
    /// In `tools.json` only.
    ToolsJson,
    /// Nowhere.
    None,
}

impl ToolSource {
    /// Returns the name used in output.
    pub const fn name(self) -> &'static str {
        match self {
            ToolSource::Frontmatter => "frontmatter",
            ToolSource::ToolsJson => "tools.json",
            ToolSource::None => "none",
        }
    }
}

/// The tools of a skill, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveTools {
    /// Where they are declared.
    pub source: ToolSource,
    /// Whether there is a `tools.json` that differs from the frontmatter.
    pub stale: bool,
    /// The tools, in order.
    pub tools: Vec<Json>,
}

/// Determines the effective tools of a skill.
pub fn effective_tools(skill: &Skill) -> EffectiveTools {
    let derived = skill.tools_json.as_ref().map(|tools| tools.source.text());
    let derived = derived.map(|text| serde_json::from_str::<Json>(text).unwrap_or(Json::Null));
    if let Some(items) = find_frontmatter_tools(skill) {
        let tools: Vec<Json> = items.iter().filter(|item| item.entries().is_some()).map(core::to_json).collect();
        let stale =
            derived.is_some_and(|derived| derived.as_array().is_none_or(|derived| !is_same_list(derived, &tools)));
        return EffectiveTools { source: ToolSource::Frontmatter, stale, tools };
    }
    match derived {
        Some(Json::Array(items)) => {
            let tools = items.into_iter().filter(Json::is_object).collect();
            EffectiveTools { source: ToolSource::ToolsJson, stale: false, tools }
        }
        _ => EffectiveTools { source: ToolSource::None, stale: false, tools: Vec::new() },
    }
}

/// Renders a `tools.json` for these tools. The same tools give the same bytes.
pub fn render_tools_json(tools: &[Json]) -> String {
    let text = serde_json::to_string_pretty(tools).expect("JSON values can always be written as JSON");
    text + "\n"
}

/// A tool and where it is declared.
#[derive(Clone, Debug)]
pub(crate) struct LocatedTool<'a> {
    pub(crate) tool: ToolDeclaration<'a>,
    pub(crate) file: &'a str,
    /// The data path: `tools[0]` in SKILL.md, `[0]` in `tools.json`.
    pub(crate) path: String,
}

/// Returns the effective tools with their locations.
pub(crate) fn list_declared_tools(skill: &Skill) -> Vec<LocatedTool<'_>> {
    let (items, file, list) = match (find_frontmatter_tools(skill), &skill.manifest) {
        (Some(items), Some(manifest)) => (items, manifest.file, "tools"),
        _ => (find_derived_tools(skill), TOOLS_JSON, ""),
    };
    let is_tool = |item: &YamlNode| item.entries().is_some();
    let place = |(index, item)| LocatedTool { tool: ToolDeclaration(item), file, path: format!("{list}[{index}]") };
    items.iter().enumerate().filter(|(_, item)| is_tool(item)).map(place).collect()
}

/// Returns where `tools.json` first differs from the frontmatter, or `None` if it does not, or is not a list.
pub(crate) fn find_first_difference(skill: &Skill) -> Option<(Span, Option<usize>)> {
    let root = skill.tools_json.as_ref()?.root.as_ref()?;
    let derived = root.items()?;
    let effective = effective_tools(skill);
    if !effective.stale {
        return None;
    }
    let mut pairs = derived.iter().enumerate();
    let differs = |index: usize, item: &YamlNode| {
        effective.tools.get(index).is_none_or(|tool| !is_same_value(tool, &core::to_json(item)))
    };
    let found = pairs.find(|(index, item)| differs(*index, item));
    Some(found.map_or((Span::empty_at(root.span.start), None), |(index, item)| (item.span, Some(index))))
}

/// Returns the `tools` of the frontmatter, unless they are names of host tools, as in other dialects.
fn find_frontmatter_tools(skill: &Skill) -> Option<&[YamlNode]> {
    let items = skill.frontmatter()?.get("tools")?.items()?;
    (items.is_empty() || items.iter().any(|item| item.entries().is_some())).then_some(items)
}

fn find_derived_tools(skill: &Skill) -> &[YamlNode] {
    let root = skill.tools_json.as_ref().and_then(|tools| tools.root.as_ref());
    root.and_then(YamlNode::items).unwrap_or(&[])
}

fn is_same_list(one: &[Json], two: &[Json]) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| is_same_value(one, two))
}

/// Whether two values are equal. The order of keys does not matter, and `1` equals `1.0`.
fn is_same_value(one: &Json, two: &Json) -> bool {
    match (one, two) {
        (Json::Number(one), Json::Number(two)) => one == two || one.as_f64() == two.as_f64(),
        (Json::Array(one), Json::Array(two)) => is_same_list(one, two),
        (Json::Object(one), Json::Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(key, value)| two.get(key).is_some_and(|other| is_same_value(value, other)))
        }
        _ => one == two,
    }
}

#[cfg(test)]
mod tests {
    use rep_model::SkillTree;

    use super::*;

    const SKILL: &str = "---\nname: a\ntools:\n  - {name: x, timeout: 1.0}\n---\n";

    fn tools(files: &[(&str, &str)]) -> EffectiveTools {
        effective_tools(&Skill::parse(SkillTree::from_texts("a", files)).0)
    }

    #[test]
    fn the_order_of_keys_does_not_make_tools_json_stale() {
        let found = tools(&[("SKILL.md", SKILL), ("tools.json", "[{\"timeout\": 1, \"name\": \"x\"}]")]);
        assert_eq!((found.source, found.stale), (ToolSource::Frontmatter, false));
    }

    #[test]
    fn frontmatter_wins_over_a_stale_tools_json() {
        for derived in ["[]", "{}", "[{\"name\": \"y\"}]", "no json"] {
            let found = tools(&[("SKILL.md", SKILL), ("tools.json", derived)]);
            assert!(found.stale, "{derived}");
            assert_eq!(found.tools[0]["name"], "x", "{derived}");
        }
    }

    #[test]
    fn tools_json_counts_where_the_frontmatter_has_no_tools() {
        let found = tools(&[("SKILL.md", "---\nname: a\n---\n"), ("tools.json", "[{\"name\": \"y\"}]")]);
        assert_eq!((found.source, found.stale, found.tools.len()), (ToolSource::ToolsJson, false, 1));
        let found = tools(&[("SKILL.md", "---\nname: a\ntools: [Read]\n---\n")]);
        assert_eq!((found.source, found.tools.len()), (ToolSource::None, 0));
    }

    #[test]
    fn a_written_tools_json_is_fresh_and_keeps_the_order_of_keys() {
        let text = render_tools_json(&tools(&[("SKILL.md", SKILL)]).tools);
        assert_eq!(text, "[\n  {\n    \"name\": \"x\",\n    \"timeout\": 1.0\n  }\n]\n");
        assert!(!tools(&[("SKILL.md", SKILL), ("tools.json", &text)]).stale);
    }
}
