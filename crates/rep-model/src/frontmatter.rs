//! The frontmatter of every dialect as one typed view; unknown fields are kept.
//!
//! The view is lenient: a field of the wrong shape reads as absent here, and the rules of
//! `rep-check` say so. Every value keeps its node, and with it its span.

use crate::Span;
use crate::yaml::{Entry, Node, core};

/// The six fields of the agentskills specification.
pub const STANDARD_FIELDS: [&str; 6] = ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];

/// The fields Claude Code reads beyond the standard ones.
pub const CLAUDE_CODE_FIELDS: [&str; 14] = [
    "agent",
    "argument-hint",
    "arguments",
    "background",
    "context",
    "disable-model-invocation",
    "disallowed-tools",
    "effort",
    "hooks",
    "model",
    "paths",
    "shell",
    "user-invocable",
    "when_to_use",
];

/// The top-level fields of Universal 2.1.
pub const UNIVERSAL_FIELDS: [&str; 15] = [
    "depends_on",
    "description",
    "evaluation",
    "extensions",
    "host_overrides",
    "name",
    "permissions",
    "provenance",
    "safety",
    "secrets",
    "spec_version",
    "tags",
    "tools",
    "version",
    "when_to_use",
];

/// The block of the x-personal-mcp contract.
pub const PERSONAL_MCP: &str = "x-personal-mcp";

/// A scalar read as text.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text as written.
    pub value: &'a str,
    /// The node it stands in.
    pub node: &'a Node,
}

impl Text<'_> {
    /// Where it stands.
    pub fn span(self) -> Span {
        self.node.span
    }

    /// Whether YAML 1.2 reads it as text too, and not as a number, a boolean or null.
    pub fn is_text(self) -> bool {
        core::scalar(self.node) == Some(core::Scalar::Text)
    }
}

/// The frontmatter of one SKILL.md: a mapping with at least its braces.
#[derive(Clone, Debug)]
pub struct Frontmatter {
    /// The mapping.
    pub root: Node,
    /// The comments in it.
    pub comments: Vec<Span>,
}

/// Reads a node as text.
pub fn text(node: &Node) -> Option<Text<'_>> {
    node.text().map(|value| Text { value, node })
}

fn texts(node: Option<&Node>) -> Vec<Text<'_>> {
    node.and_then(Node::items).unwrap_or(&[]).iter().filter_map(text).collect()
}

impl Frontmatter {
    /// The fields in the order of the file.
    pub fn fields(&self) -> &[Entry] {
        self.root.entries().unwrap_or(&[])
    }

    /// A field, null or not.
    pub fn field(&self, key: &str) -> Option<&Entry> {
        self.root.entry(key)
    }

    /// A field's value, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.root.get(key)
    }

    /// A field as text.
    pub fn text(&self, key: &str) -> Option<Text<'_>> {
        self.get(key).and_then(text)
    }

    /// The skill's name.
    pub fn name(&self) -> Option<Text<'_>> {
        self.text("name")
    }

    /// What the skill does and when to use it.
    pub fn description(&self) -> Option<Text<'_>> {
        self.text("description")
    }

    /// The tools of Universal 2.1, in order.
    pub fn tools(&self) -> Vec<Tool<'_>> {
        self.get("tools").and_then(Node::items).unwrap_or(&[]).iter().map(Tool).collect()
    }

    /// What the skill asks to be allowed.
    pub fn permissions(&self) -> Option<Permissions<'_>> {
        self.get("permissions").map(Permissions)
    }

    /// The ids of skills this one needs, from either dialect that has them.
    pub fn depends_on(&self) -> Vec<Text<'_>> {
        let block = self.personal_mcp().map(PersonalMcp::depends_on).unwrap_or_default();
        texts(self.get("depends_on")).into_iter().chain(block).collect()
    }

    /// The x-personal-mcp block, where it is a mapping.
    pub fn personal_mcp(&self) -> Option<PersonalMcp<'_>> {
        self.get(PERSONAL_MCP).filter(|node| node.entries().is_some()).map(PersonalMcp)
    }

    /// The hosts named in `host_overrides`, with their configuration.
    pub fn host_overrides(&self) -> Vec<(Text<'_>, Option<&Node>)> {
        let items = self.get("host_overrides").and_then(Node::items).unwrap_or(&[]);
        items.iter().filter_map(|item| Some((text(item.get("host")?)?, item.get("config")))).collect()
    }
}

/// Splits `allowed-tools` text into entries: at blanks and commas outside parentheses.
pub fn split_allowed_tools(value: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    let mut depth = 0_usize;
    let mut start = None;
    for (at, letter) in value.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_gap = depth == 0 && (letter.is_whitespace() || letter == ',');
        match (is_gap, start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                entries.push(&value[from..at]);
                start = None;
            }
            _ => {}
        }
    }
    entries.extend(start.map(|from| &value[from..]));
    entries
}

/// One tool of Universal 2.1.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a>(pub &'a Node);

impl<'a> Tool<'a> {
    /// Its name.
    pub fn name(self) -> Option<Text<'a>> {
        self.0.get("name").and_then(text)
    }

    /// The contract of its arguments.
    pub fn input_schema(self) -> Option<&'a Node> {
        self.0.get("input_schema")
    }

    /// The contract of its result.
    pub fn output_schema(self) -> Option<&'a Node> {
        self.0.get("output_schema")
    }

    /// The runtime of its implementation.
    pub fn runtime(self) -> Option<Text<'a>> {
        self.0.get("implementation")?.get("runtime").and_then(text)
    }

    /// The file its implementation starts with.
    pub fn entrypoint(self) -> Option<Text<'a>> {
        self.0.get("implementation")?.get("entrypoint").and_then(text)
    }

    /// What it needs to have installed.
    pub fn dependencies(self) -> Option<&'a Node> {
        self.0.get("implementation")?.get("dependencies")
    }

    /// When it wants to be confirmed.
    pub fn confirmation(self) -> Option<Text<'a>> {
        self.0.get("confirmation")?.get("level").and_then(text)
    }
}

/// What a skill asks to be allowed.
#[derive(Clone, Copy, Debug)]
pub struct Permissions<'a>(pub &'a Node);

impl<'a> Permissions<'a> {
    /// The globs of files it wants to read.
    pub fn read(self) -> Vec<Text<'a>> {
        texts(self.0.get("filesystem").and_then(|node| node.get("read")))
    }

    /// The globs of files it wants to write.
    pub fn write(self) -> Vec<Text<'a>> {
        texts(self.0.get("filesystem").and_then(|node| node.get("write")))
    }

    /// The hosts it wants to reach.
    pub fn outbound(self) -> Vec<Text<'a>> {
        texts(self.0.get("network").and_then(|node| node.get("outbound")))
    }
}

/// The x-personal-mcp block.
#[derive(Clone, Copy, Debug)]
pub struct PersonalMcp<'a>(pub &'a Node);

impl<'a> PersonalMcp<'a> {
    /// The id.
    pub fn id(self) -> Option<Text<'a>> {
        self.0.get("id").and_then(text)
    }

    /// The version.
    pub fn version(self) -> Option<Text<'a>> {
        self.0.get("version").and_then(text)
    }

    /// The labels.
    pub fn tags(self) -> Vec<Text<'a>> {
        texts(self.0.get("tags"))
    }

    /// The URIs it publishes.
    pub fn capabilities(self) -> Vec<Text<'a>> {
        texts(self.0.get("capabilities"))
    }

    /// The ids of skills it needs.
    pub fn depends_on(self) -> Vec<Text<'a>> {
        texts(self.0.get("depends_on"))
    }

    /// The references: id and entry.
    pub fn references(self) -> &'a [Entry] {
        self.0.get("references").and_then(Node::entries).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_tools_split_outside_parentheses() {
        assert_eq!(split_allowed_tools("Bash(git add:*) Read, Write"), ["Bash(git add:*)", "Read", "Write"]);
        assert_eq!(split_allowed_tools("  "), Vec::<&str>::new());
    }
}
