//! A typed view of the frontmatter of every dialect. Unknown fields are preserved.
//!
//! The view is lenient: a field of the wrong type is treated as absent, and the rules of `rep-check` report it. Every
//! value has its node, and therefore its span.

use crate::Span;
use crate::yaml::{YamlEntry, YamlNode, core};

/// The six fields of the agentskills specification.
pub const STANDARD_FIELDS: [&str; 6] = ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];

/// The fields that Claude Code reads in addition to the standard ones.
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
pub const PERSONAL_MCP_FIELD: &str = "x-personal-mcp";

/// A scalar read as text.
#[derive(Clone, Copy, Debug)]
pub struct ScalarText<'a> {
    /// The text as written.
    pub value: &'a str,
    /// The node of the scalar.
    pub node: &'a YamlNode,
}

impl ScalarText<'_> {
    /// Returns the location of the scalar.
    pub fn span(self) -> Span {
        self.node.span
    }

    /// Whether YAML 1.2 also reads it as a string, not as a number, a boolean or null.
    pub fn is_text(self) -> bool {
        core::classify_scalar(self.node) == Some(core::CoreScalar::Text)
    }
}

/// The frontmatter of a SKILL.md: a mapping, possibly empty.
#[derive(Clone, Debug)]
pub struct Frontmatter {
    /// The mapping.
    pub root: YamlNode,
    /// The comments in it.
    pub comments: Vec<Span>,
}

/// Reads a node as text.
pub fn read_text(node: &YamlNode) -> Option<ScalarText<'_>> {
    node.text().map(|value| ScalarText { value, node })
}

fn read_texts(node: Option<&YamlNode>) -> Vec<ScalarText<'_>> {
    node.and_then(YamlNode::items).unwrap_or(&[]).iter().filter_map(read_text).collect()
}

impl Frontmatter {
    /// Returns the fields in file order.
    pub fn fields(&self) -> &[YamlEntry] {
        self.root.entries().unwrap_or(&[])
    }

    /// Finds a field, even if its value is null.
    pub fn find_field(&self, key: &str) -> Option<&YamlEntry> {
        self.root.find_entry(key)
    }

    /// Returns a field's value, unless it is null.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.root.get(key)
    }

    /// Returns a field as text.
    pub fn get_text(&self, key: &str) -> Option<ScalarText<'_>> {
        self.get(key).and_then(read_text)
    }

    /// Returns the skill's name.
    pub fn name(&self) -> Option<ScalarText<'_>> {
        self.get_text("name")
    }

    /// Returns the description: what the skill does and when to use it.
    pub fn description(&self) -> Option<ScalarText<'_>> {
        self.get_text("description")
    }

    /// Returns the tools of Universal 2.1, in order.
    pub fn tools(&self) -> Vec<ToolDeclaration<'_>> {
        self.get("tools").and_then(YamlNode::items).unwrap_or(&[]).iter().map(ToolDeclaration).collect()
    }

    /// Returns the permissions that the skill declares.
    pub fn permissions(&self) -> Option<PermissionDeclaration<'_>> {
        self.get("permissions").map(PermissionDeclaration)
    }

    /// Returns the ids of required skills, from both dialects that declare them.
    pub fn depends_on(&self) -> Vec<ScalarText<'_>> {
        let block = self.personal_mcp().map(PersonalMcpBlock::depends_on).unwrap_or_default();
        read_texts(self.get("depends_on")).into_iter().chain(block).collect()
    }

    /// Returns the x-personal-mcp block, if it is a mapping.
    pub fn personal_mcp(&self) -> Option<PersonalMcpBlock<'_>> {
        self.get(PERSONAL_MCP_FIELD).filter(|node| node.entries().is_some()).map(PersonalMcpBlock)
    }

    /// Returns the hosts named in `host_overrides`, with their configuration.
    pub fn host_overrides(&self) -> Vec<(ScalarText<'_>, Option<&YamlNode>)> {
        let items = self.get("host_overrides").and_then(YamlNode::items).unwrap_or(&[]);
        items.iter().filter_map(|item| Some((read_text(item.get("host")?)?, item.get("config")))).collect()
    }
}

/// Splits `allowed-tools` text into entries, at whitespace and commas outside parentheses.
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

/// A tool of Universal 2.1.
#[derive(Clone, Copy, Debug)]
pub struct ToolDeclaration<'a>(pub &'a YamlNode);

impl<'a> ToolDeclaration<'a> {
    /// Returns the tool's name.
    pub fn name(self) -> Option<ScalarText<'a>> {
        self.0.get("name").and_then(read_text)
    }

    /// Returns the schema of the arguments.
    pub fn input_schema(self) -> Option<&'a YamlNode> {
        self.0.get("input_schema")
    }

    /// Returns the schema of the result.
    pub fn output_schema(self) -> Option<&'a YamlNode> {
        self.0.get("output_schema")
    }

    /// Returns the runtime of the implementation.
    pub fn runtime(self) -> Option<ScalarText<'a>> {
        self.0.get("implementation")?.get("runtime").and_then(read_text)
    }

    /// Returns the entrypoint file of the implementation.
    pub fn entrypoint(self) -> Option<ScalarText<'a>> {
        self.0.get("implementation")?.get("entrypoint").and_then(read_text)
    }

    /// Returns the packages that the implementation depends on.
    pub fn dependencies(self) -> Option<&'a YamlNode> {
        self.0.get("implementation")?.get("dependencies")
    }

    /// Returns the confirmation level.
    pub fn confirmation_level(self) -> Option<ScalarText<'a>> {
        self.0.get("confirmation")?.get("level").and_then(read_text)
    }
}

/// The permissions that a skill declares.
#[derive(Clone, Copy, Debug)]
pub struct PermissionDeclaration<'a>(pub &'a YamlNode);

impl<'a> PermissionDeclaration<'a> {
    /// Returns the globs of readable files.
    pub fn read_globs(self) -> Vec<ScalarText<'a>> {
        read_texts(self.0.get("filesystem").and_then(|node| node.get("read")))
    }

    /// Returns the globs of writable files.
    pub fn write_globs(self) -> Vec<ScalarText<'a>> {
        read_texts(self.0.get("filesystem").and_then(|node| node.get("write")))
    }

    /// Returns the allowed network hosts.
    pub fn outbound_hosts(self) -> Vec<ScalarText<'a>> {
        read_texts(self.0.get("network").and_then(|node| node.get("outbound")))
    }
}

/// The x-personal-mcp block.
#[derive(Clone, Copy, Debug)]
pub struct PersonalMcpBlock<'a>(pub &'a YamlNode);

impl<'a> PersonalMcpBlock<'a> {
    /// Returns the id.
    pub fn id(self) -> Option<ScalarText<'a>> {
        self.0.get("id").and_then(read_text)
    }

    /// Returns the version.
    pub fn version(self) -> Option<ScalarText<'a>> {
        self.0.get("version").and_then(read_text)
    }

    /// Returns the tags.
    pub fn tags(self) -> Vec<ScalarText<'a>> {
        read_texts(self.0.get("tags"))
    }

    /// Returns the published URIs.
    pub fn capabilities(self) -> Vec<ScalarText<'a>> {
        read_texts(self.0.get("capabilities"))
    }

    /// Returns the ids of required skills.
    pub fn depends_on(self) -> Vec<ScalarText<'a>> {
        read_texts(self.0.get("depends_on"))
    }

    /// Returns the references: id and entry.
    pub fn references(self) -> &'a [YamlEntry] {
        self.0.get("references").and_then(YamlNode::entries).unwrap_or(&[])
    }

    /// Returns the other ids of a reference, which stay valid after it was renamed.
    pub fn reference_aliases(self, reference: &'a YamlEntry) -> Vec<ScalarText<'a>> {
        read_texts(reference.value.get("aliases"))
    }

    /// Finds a reference by its id, or else by an alias.
    pub fn find_reference(self, id: &str) -> Option<&'a YamlEntry> {
        let references = self.references();
        let by_alias = |reference: &&YamlEntry| self.reference_aliases(reference).iter().any(|alias| alias.value == id);
        let by_id = references.iter().find(|reference| reference.key.text() == Some(id));
        by_id.or_else(|| references.iter().find(by_alias))
    }

    /// Returns the path of the file at a URI that the block publishes. `name` is the skill's name, which is the default
    /// of `id`. The file may not exist.
    ///
    /// `resource://skills/ID/document` is `SKILL.md`, and `resource://skills/ID/references/REF` is a reference. A further
    /// URI of the skill is the file with that path, if `capabilities` lists it.
    pub fn resolve_uri(self, name: &str, uri: &str) -> Option<String> {
        let id = self.id().map_or(name, |id| id.value);
        let rest = uri.strip_prefix("resource://skills/")?.strip_prefix(id)?.strip_prefix('/')?;
        if rest == "document" {
            return Some("SKILL.md".to_owned());
        }
        if let Some(reference) = rest.strip_prefix("references/").and_then(|id| self.find_reference(id)) {
            return reference.value.get("path").and_then(YamlNode::text).map(str::to_owned);
        }
        let is_plain = rest.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        let is_listed = || self.capabilities().iter().any(|listed| listed.value == uri);
        (is_plain && is_listed()).then(|| rest.to_owned())
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
