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
    byte_order_mark,
    encoding_not_utf8,
    field_unknown,
    file_irregular,
    file_too_large,
    file_unreadable,
    folder_too_large,
    frontmatter_missing,
    frontmatter_not_mapping,
    frontmatter_unclosed,
    hidden_characters,
    line_ends_crlf,
    link_target_missing,
    metadata_sidecar,
    name_differs_from_folder,
    nul_byte,
    script_crlf,
    secret_in_text,
    skill_md_lowercase,
    skill_md_missing,
    skill_md_not_a_file,
    skills_too_many,
    symlink_dangling,
    symlink_outside,
    tools_json_invalid,
    value_cut_by_comment,
    value_not_allowed,
    yaml_anchor,
    yaml_flow_style,
    yaml_invalid,
    yaml_key_duplicate,
    yaml_tag,
    yaml_too_complex,
    yaml_value_unquoted,
}

pub(crate) use hidden_characters::is_hidden;

/// The rule of a name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.binary_search_by_key(&name, |rule| rule.name).ok().map(|at| RULES[at])
}

/// The name of a rule most like a word that names none.
pub fn nearest(word: &str) -> Option<&'static str> {
    let scored = RULES.iter().map(|rule| (strsim::jaro_winkler(word, rule.name), rule.name));
    scored.filter(|(score, _)| *score > 0.75).max_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, name)| name)
}
