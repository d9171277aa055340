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
    allowed_tools_commas,
    allowed_tools_list,
    boolean_as_text,
    compatibility_empty,
    compatibility_not_mapping,
    compatibility_not_text,
    compatibility_too_long,
    compatibility_unneeded,
    description_angle_bracket,
    description_empty,
    description_missing,
    description_not_text,
    description_too_long,
    description_vague,
    description_xml_tag,
    field_not_universal,
    field_unknown,
    frontmatter_long,
    frontmatter_missing,
    license_not_text,
    link_target_missing,
    listing_too_long,
    metadata_not_mapping,
    metadata_value_not_text,
    name_characters,
    name_differs_from_folder,
    name_empty,
    name_hyphen_at_edge,
    name_hyphen_doubled,
    name_missing,
    name_not_ascii,
    name_not_text,
    name_reserved_word,
    name_start_not_letter,
    name_too_long,
    name_uppercase,
    confirmation_missing,
    confirmation_undeclared,
    dependencies_declared,
    field_missing,
    field_type,
    field_unexpected,
    field_unknown,
    file_too_large_for_host,
    files_too_many,
    frontmatter_missing,
    host_named_in_body,
    host_unknown,
    link_target_missing,
    list_empty,
    name_differs_from_folder,
    network_declared,
    permission_glob_literal,
    permission_glob_negated,
    permission_outside,
    permission_overbroad,
    permissions_missing,
    redaction_off,
    redaction_undeclared,
    safety_missing,
    skill_md_missing,
    skills_above_seed_limit,
    skills_too_many,
    spec_version_invalid,
    spec_version_unknown,
    tool_entrypoint_absolute,
    tool_entrypoint_extension,
    tool_entrypoint_missing,
    tool_entrypoint_outside,
    tool_input_not_object,
    tool_name_duplicate,
    tool_name_invalid,
    tool_schema_invalid,
    tool_schema_open,
    tool_schema_optional,
    tool_schema_unsupported,
    tools_json_stale,
    upload_above_seed_limit,
    upload_too_large,
    value_length,
    value_not_allowed,
    value_pattern,
    value_too_small,
    version_not_semver,
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
