//! Top-level fields that public skills carry although no profile defines them.

/// Fields that describe a skill and that hosts ignore, with the number of skills that have them, sorted by name.
///
/// Counted in November 2026 over 34,187 distinct skills of 37 public collections. A field is listed if at least 20
/// skills or three collections have it. Fields that authors expect to have an effect are not: see [`INTENDED_EFFECTS`].
const WIDESPREAD_FIELDS: &[(&str, u32)] = &[
    ("aliases", 5),
    ("args", 12),
    ("atlas_techniques", 224),
    ("author", 11749),
    ("authors", 7),
    ("capabilities", 61),
    ("category", 4199),
    ("command", 26),
    ("compatible-with", 532),
    ("compatible_tools", 33),
    ("complexity", 163),
    ("created_at", 163),
    ("d3fend_techniques", 373),
    ("date_added", 1242),
    ("dependencies", 1158),
    ("depends_on", 41),
    ("domain", 2165),
    ("emoji", 30),
    ("framework", 2930),
    ("frameworks", 27),
    ("github_stars", 2545),
    ("goal_approach_exempt", 36),
    ("handler", 81),
    ("homepage", 1732),
    ("inputs", 995),
    ("invoked_by", 54),
    ("keywords", 29),
    ("language", 38),
    ("languages", 36),
    ("layer", 60),
    ("level", 29),
    ("library", 27),
    ("metrics", 22),
    ("mitre_attack", 1394),
    ("mitre_f3", 158),
    ("models", 39),
    ("nist_ai_rmf", 239),
    ("nist_csf", 2110),
    ("origin", 759),
    ("output-format", 20),
    ("outputs", 997),
    ("package", 119),
    ("permissions", 22),
    ("preamble-tier", 78),
    ("prerequisites", 21),
    ("primary_tool", 569),
    ("priority", 20),
    ("publisher_type", 1124),
    ("qc_checkpoints", 39),
    ("quality", 163),
    ("related_skills", 23),
    ("repo", 8),
    ("repository", 24),
    ("required_environment_variables", 33),
    ("requires", 921),
    ("risk", 1516),
    ("role", 81),
    ("runtime_orphan", 34),
    ("salesforce-version", 984),
    ("scope", 25),
    ("slug", 2938),
    ("source", 4684),
    ("source_language", 22),
    ("source_repo", 22),
    ("source_type", 23),
    ("source_url", 163),
    ("subdomain", 2123),
    ("system", 82),
    ("tags", 6801),
    ("tier", 9),
    ("title", 11),
    ("tool-name", 81),
    ("tool_ecosystem", 2559),
    ("tool_type", 569),
    ("type", 43),
    ("updated", 991),
    ("updated_at", 163),
    ("verification", 2922),
    ("version", 11069),
    ("well-architected-pillars", 984),
    ("workflow", 41),
];

/// Fields that look as if a host reads them, and what to write instead, sorted by name.
const INTENDED_EFFECTS: &[(&str, &str)] = &[
    ("auto_invoke", "remove `auto_invoke`; models may invoke a skill unless `disable-model-invocation` is `true`"),
    ("disabled", "remove `disabled`; users switch skills on and off, with `rep disable` for example"),
    ("enabled", "remove `enabled`; users switch skills on and off, with `rep enable` for example"),
    ("globs", "write the patterns of `globs` under `paths`, which Claude Code and Cursor read"),
    ("invocable", "use `user-invocable`, which Claude Code and VS Code read"),
    ("mcp_servers", "name the servers under `compatibility`; hosts read their own list of MCP servers"),
    ("trigger", "put the words of `trigger` into `description`, by which hosts select skills"),
    ("trigger_keywords", "put the words of `trigger_keywords` into `description`, by which hosts select skills"),
    ("trigger_patterns", "put the words of `trigger_patterns` into `description`, by which hosts select skills"),
    ("triggers", "put the words of `triggers` into `description`, by which hosts select skills"),
    ("when", "put the text of `when` into `description`, by which hosts select skills"),
];

/// Whether a field is common in public skills and harmless.
pub(crate) fn is_widespread(field: &str) -> bool {
    WIDESPREAD_FIELDS.binary_search_by_key(&field, |(name, _)| name).is_ok()
}

/// Returns what to write instead of a field that looks as if a host reads it.
pub(crate) fn find_intended_effect(field: &str) -> Option<&'static str> {
    INTENDED_EFFECTS.binary_search_by_key(&field, |(name, _)| name).ok().map(|row| INTENDED_EFFECTS[row].1)
}

#[cfg(test)]
mod tests {
    use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS};

    use super::*;

    #[test]
    fn the_tables_are_sorted_and_name_no_field_of_a_host() {
        assert!(WIDESPREAD_FIELDS.is_sorted_by(|one, two| one.0 < two.0));
        assert!(INTENDED_EFFECTS.is_sorted_by(|one, two| one.0 < two.0));
        let names = WIDESPREAD_FIELDS.iter().map(|(name, _)| name).chain(INTENDED_EFFECTS.iter().map(|(name, _)| name));
        for name in names {
            assert!(!STANDARD_FIELDS.contains(name) && !CLAUDE_CODE_FIELDS.contains(name), "{name}");
        }
    }
}
