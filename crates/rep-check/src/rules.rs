//! The list of all rules. One rule is one `.rs` and one `.md` in `rules/`, and one line here.

use crate::rule::Rule;

macro_rules! rules {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every rule, sorted by name.
        pub static RULES: &[&Rule] = &[$(&$module::RULE,)*];
    };
}

rules! {
    allow_unknown,
    allow_unused,
    allow_without_reason,
    body_empty,
    body_too_long,
    body_too_many_tokens,
    code_fence_unclosed,
    depends_on_cycle,
    depends_on_unknown,
    field_unknown,
    frontmatter_missing,
    link_absolute,
    link_outside,
    link_target_missing,
    name_differs_from_folder,
    name_duplicate,
    path_absolute,
    path_mentioned_missing,
    pmcp_capability_missing,
    pmcp_depends_on_invalid,
    pmcp_id_differs_from_name,
    pmcp_reference_absolute,
    pmcp_reference_escapes,
    pmcp_reference_id_invalid,
    pmcp_reference_misplaced,
    pmcp_reference_missing,
    pmcp_reference_not_markdown,
    pmcp_reference_outside,
    pmcp_tag_not_kebab,
    reference_chain,
    skill_md_missing,
    skills_too_many,
    uasp_default_null,
    uasp_entity_created_and_invalidated,
    uasp_file_missing,
    uasp_file_name,
    uasp_key_unknown,
    uasp_list_in_reference,
    uasp_name_hyphens,
    uasp_not_hashable,
    uasp_not_mapping,
    uasp_path_missing,
    uasp_reference_unknown,
    uasp_scalar_ambiguous,
    uasp_section_not_applicable,
    uasp_source_url,
    uasp_template_doubled,
    uasp_template_empty,
    uasp_version_shape,
    uasp_version_stale,
    value_not_allowed,
}

/// The rule of a name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.binary_search_by_key(&name, |rule| rule.name).ok().map(|at| RULES[at])
}

/// The name of a rule most like a word that names none.
pub fn nearest(word: &str) -> Option<&'static str> {
    let scored = RULES.iter().map(|rule| (strsim::jaro_winkler(word, rule.name), rule.name));
    scored.filter(|(score, _)| *score > 0.75).max_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, name)| name)
}
