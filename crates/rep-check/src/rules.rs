//! The list of all rules. Each rule is one `.rs` and one `.md` file in `rules/`, and two lines here.

use rep_model::FaultKind;
use rep_model::suggestion::nearest_name;

use crate::rule::LintRule;
pub use secret_in_text::redact_secrets;

mod agent_file_changed;
mod agent_hook_bundled;
mod allow_unknown;
mod allow_unused;
mod allow_without_reason;
mod allowed_tools_commas;
mod allowed_tools_list;
mod allowed_tools_mapping;
mod bash_unrestricted;
mod body_empty;
mod body_too_long;
mod body_too_many_tokens;
mod boolean_as_text;
mod byte_order_mark;
mod code_fence_unclosed;
mod compatibility_empty;
mod compatibility_list;
mod compatibility_not_mapping;
mod compatibility_not_text;
mod compatibility_too_long;
mod compatibility_unneeded;
mod confirmation_missing;
mod confirmation_undeclared;
mod credentials_collected;
mod data_destroyed;
mod data_in_dns_query;
mod decoded_code_run;
mod dependencies_declared;
mod depends_on_cycle;
mod depends_on_unknown;
mod description_angle_bracket;
mod description_costly;
mod description_empty;
mod description_missing;
mod description_not_text;
mod description_too_long;
mod description_vague;
mod description_xml_tag;
mod encoding_not_utf8;
mod environment_sent;
mod field_missing;
mod field_not_universal;
mod field_type;
mod field_unexpected;
mod field_unknown;
mod file_evaluated;
mod file_irregular;
mod file_not_scanned;
mod file_opaque;
mod file_too_large;
mod file_too_large_for_host;
mod file_unreadable;
mod files_too_many;
mod folder_too_large;
mod frontmatter_long;
mod frontmatter_missing;
mod frontmatter_not_mapping;
mod frontmatter_unclosed;
mod hidden_characters;
mod host_anonymous;
mod host_hidden;
mod host_lookalike;
mod host_named_in_body;
mod host_unknown;
mod install_hook_present;
mod instruction_override;
mod instruction_sends_data;
mod instruction_stealth;
mod license_not_text;
mod line_ends_crlf;
mod link_absolute;
mod link_outside;
mod link_target_missing;
mod list_empty;
mod listing_too_long;
mod lure_download;
mod metadata_not_mapping;
mod metadata_service_read;
mod metadata_sidecar;
mod metadata_value_not_text;
mod miner_started;
mod name_characters;
mod name_differs_from_folder;
mod name_duplicate;
mod name_empty;
mod name_hyphen_at_edge;
mod name_hyphen_doubled;
mod name_missing;
mod name_not_ascii;
mod name_not_text;
mod name_reserved_word;
mod name_start_not_letter;
mod name_too_long;
mod name_uppercase;
mod network_declared;
mod nul_byte;
mod package_index_foreign;
mod package_name_lookalike;
mod package_run_unpinned;
mod path_absolute;
mod path_mentioned_missing;
mod permission_broader_than_used;
mod permission_glob_literal;
mod permission_glob_negated;
mod permission_outside;
mod permission_overbroad;
mod permission_undeclared;
mod permission_unused;
mod permissions_missing;
mod persistence_added;
mod placeholder_text;
mod pmcp_alias_ambiguous;
mod pmcp_capability_missing;
mod pmcp_capability_unserved;
mod pmcp_depends_on_invalid;
mod pmcp_id_differs_from_name;
mod pmcp_reference_absolute;
mod pmcp_reference_escapes;
mod pmcp_reference_id_invalid;
mod pmcp_reference_misplaced;
mod pmcp_reference_missing;
mod pmcp_reference_not_markdown;
mod pmcp_reference_outside;
mod pmcp_tag_not_kebab;
mod private_file_read;
mod private_file_sent;
mod privilege_raised;
mod program_not_approved;
mod protection_disabled;
mod redaction_off;
mod redaction_undeclared;
mod reference_chain;
mod remote_code_run;
mod reverse_shell;
mod safety_missing;
mod safety_mistyped;
mod script_crlf;
mod secret_in_text;
mod secret_sent;
mod self_modified;
mod skill_md_lowercase;
mod skill_md_missing;
mod skill_md_not_a_file;
mod skills_above_seed_limit;
mod skills_too_many;
mod spec_version_invalid;
mod spec_version_unknown;
mod symlink_dangling;
mod symlink_outside;
mod test_config_invalid;
mod text_hidden;
mod tool_entrypoint_absolute;
mod tool_entrypoint_extension;
mod tool_entrypoint_missing;
mod tool_entrypoint_outside;
mod tool_input_not_object;
mod tool_name_duplicate;
mod tool_name_invalid;
mod tool_schema_invalid;
mod tool_schema_open;
mod tool_schema_optional;
mod tool_schema_too_large;
mod tool_schema_unsupported;
mod tool_schema_untyped;
mod tools_json_invalid;
mod tools_json_stale;
mod uasp_consumer_unknown;
mod uasp_default_null;
mod uasp_entity_created_and_invalidated;
mod uasp_file_missing;
mod uasp_file_name;
mod uasp_key_unknown;
mod uasp_lifecycle_contradiction;
mod uasp_list_in_reference;
mod uasp_name_hyphens;
mod uasp_not_hashable;
mod uasp_not_mapping;
mod uasp_path_missing;
mod uasp_reference_unknown;
mod uasp_scalar_ambiguous;
mod uasp_section_not_applicable;
mod uasp_source_url;
mod uasp_template_doubled;
mod uasp_template_empty;
mod uasp_version_shape;
mod uasp_version_stale;
mod uasp_workflow_illegal;
mod upload_above_seed_limit;
mod upload_too_large;
mod value_cut_by_comment;
mod value_length;
mod value_not_allowed;
mod value_pattern;
mod value_too_small;
mod version_not_semver;
mod yaml_anchor;
mod yaml_flow_style;
mod yaml_invalid;
mod yaml_key_duplicate;
mod yaml_tab;
mod yaml_tag;
mod yaml_too_complex;
mod yaml_value_unquoted;

/// Every rule, sorted by name.
pub static RULES: &[&LintRule] = &[
    &agent_file_changed::RULE,
    &agent_hook_bundled::RULE,
    &allow_unknown::RULE,
    &allow_unused::RULE,
    &allow_without_reason::RULE,
    &allowed_tools_commas::RULE,
    &allowed_tools_list::RULE,
    &allowed_tools_mapping::RULE,
    &bash_unrestricted::RULE,
    &body_empty::RULE,
    &body_too_long::RULE,
    &body_too_many_tokens::RULE,
    &boolean_as_text::RULE,
    &byte_order_mark::RULE,
    &code_fence_unclosed::RULE,
    &compatibility_empty::RULE,
    &compatibility_list::RULE,
    &compatibility_not_mapping::RULE,
    &compatibility_not_text::RULE,
    &compatibility_too_long::RULE,
    &compatibility_unneeded::RULE,
    &confirmation_missing::RULE,
    &confirmation_undeclared::RULE,
    &credentials_collected::RULE,
    &data_destroyed::RULE,
    &data_in_dns_query::RULE,
    &decoded_code_run::RULE,
    &dependencies_declared::RULE,
    &depends_on_cycle::RULE,
    &depends_on_unknown::RULE,
    &description_angle_bracket::RULE,
    &description_costly::RULE,
    &description_empty::RULE,
    &description_missing::RULE,
    &description_not_text::RULE,
    &description_too_long::RULE,
    &description_vague::RULE,
    &description_xml_tag::RULE,
    &encoding_not_utf8::RULE,
    &environment_sent::RULE,
    &field_missing::RULE,
    &field_not_universal::RULE,
    &field_type::RULE,
    &field_unexpected::RULE,
    &field_unknown::RULE,
    &file_evaluated::RULE,
    &file_irregular::RULE,
    &file_not_scanned::RULE,
    &file_opaque::RULE,
    &file_too_large::RULE,
    &file_too_large_for_host::RULE,
    &file_unreadable::RULE,
    &files_too_many::RULE,
    &folder_too_large::RULE,
    &frontmatter_long::RULE,
    &frontmatter_missing::RULE,
    &frontmatter_not_mapping::RULE,
    &frontmatter_unclosed::RULE,
    &hidden_characters::RULE,
    &host_anonymous::RULE,
    &host_hidden::RULE,
    &host_lookalike::RULE,
    &host_named_in_body::RULE,
    &host_unknown::RULE,
    &install_hook_present::RULE,
    &instruction_override::RULE,
    &instruction_sends_data::RULE,
    &instruction_stealth::RULE,
    &license_not_text::RULE,
    &line_ends_crlf::RULE,
    &link_absolute::RULE,
    &link_outside::RULE,
    &link_target_missing::RULE,
    &list_empty::RULE,
    &listing_too_long::RULE,
    &lure_download::RULE,
    &metadata_not_mapping::RULE,
    &metadata_service_read::RULE,
    &metadata_sidecar::RULE,
    &metadata_value_not_text::RULE,
    &miner_started::RULE,
    &name_characters::RULE,
    &name_differs_from_folder::RULE,
    &name_duplicate::RULE,
    &name_empty::RULE,
    &name_hyphen_at_edge::RULE,
    &name_hyphen_doubled::RULE,
    &name_missing::RULE,
    &name_not_ascii::RULE,
    &name_not_text::RULE,
    &name_reserved_word::RULE,
    &name_start_not_letter::RULE,
    &name_too_long::RULE,
    &name_uppercase::RULE,
    &network_declared::RULE,
    &nul_byte::RULE,
    &package_index_foreign::RULE,
    &package_name_lookalike::RULE,
    &package_run_unpinned::RULE,
    &path_absolute::RULE,
    &path_mentioned_missing::RULE,
    &permission_broader_than_used::RULE,
    &permission_glob_literal::RULE,
    &permission_glob_negated::RULE,
    &permission_outside::RULE,
    &permission_overbroad::RULE,
    &permission_undeclared::RULE,
    &permission_unused::RULE,
    &permissions_missing::RULE,
    &persistence_added::RULE,
    &placeholder_text::RULE,
    &pmcp_alias_ambiguous::RULE,
    &pmcp_capability_missing::RULE,
    &pmcp_capability_unserved::RULE,
    &pmcp_depends_on_invalid::RULE,
    &pmcp_id_differs_from_name::RULE,
    &pmcp_reference_absolute::RULE,
    &pmcp_reference_escapes::RULE,
    &pmcp_reference_id_invalid::RULE,
    &pmcp_reference_misplaced::RULE,
    &pmcp_reference_missing::RULE,
    &pmcp_reference_not_markdown::RULE,
    &pmcp_reference_outside::RULE,
    &pmcp_tag_not_kebab::RULE,
    &private_file_read::RULE,
    &private_file_sent::RULE,
    &privilege_raised::RULE,
    &program_not_approved::RULE,
    &protection_disabled::RULE,
    &redaction_off::RULE,
    &redaction_undeclared::RULE,
    &reference_chain::RULE,
    &remote_code_run::RULE,
    &reverse_shell::RULE,
    &safety_missing::RULE,
    &safety_mistyped::RULE,
    &script_crlf::RULE,
    &secret_in_text::RULE,
    &secret_sent::RULE,
    &self_modified::RULE,
    &skill_md_lowercase::RULE,
    &skill_md_missing::RULE,
    &skill_md_not_a_file::RULE,
    &skills_above_seed_limit::RULE,
    &skills_too_many::RULE,
    &spec_version_invalid::RULE,
    &spec_version_unknown::RULE,
    &symlink_dangling::RULE,
    &symlink_outside::RULE,
    &test_config_invalid::RULE,
    &text_hidden::RULE,
    &tool_entrypoint_absolute::RULE,
    &tool_entrypoint_extension::RULE,
    &tool_entrypoint_missing::RULE,
    &tool_entrypoint_outside::RULE,
    &tool_input_not_object::RULE,
    &tool_name_duplicate::RULE,
    &tool_name_invalid::RULE,
    &tool_schema_invalid::RULE,
    &tool_schema_open::RULE,
    &tool_schema_optional::RULE,
    &tool_schema_too_large::RULE,
    &tool_schema_unsupported::RULE,
    &tool_schema_untyped::RULE,
    &tools_json_invalid::RULE,
    &tools_json_stale::RULE,
    &uasp_consumer_unknown::RULE,
    &uasp_default_null::RULE,
    &uasp_entity_created_and_invalidated::RULE,
    &uasp_file_missing::RULE,
    &uasp_file_name::RULE,
    &uasp_key_unknown::RULE,
    &uasp_lifecycle_contradiction::RULE,
    &uasp_list_in_reference::RULE,
    &uasp_name_hyphens::RULE,
    &uasp_not_hashable::RULE,
    &uasp_not_mapping::RULE,
    &uasp_path_missing::RULE,
    &uasp_reference_unknown::RULE,
    &uasp_scalar_ambiguous::RULE,
    &uasp_section_not_applicable::RULE,
    &uasp_source_url::RULE,
    &uasp_template_doubled::RULE,
    &uasp_template_empty::RULE,
    &uasp_version_shape::RULE,
    &uasp_version_stale::RULE,
    &uasp_workflow_illegal::RULE,
    &upload_above_seed_limit::RULE,
    &upload_too_large::RULE,
    &value_cut_by_comment::RULE,
    &value_length::RULE,
    &value_not_allowed::RULE,
    &value_pattern::RULE,
    &value_too_small::RULE,
    &version_not_semver::RULE,
    &yaml_anchor::RULE,
    &yaml_flow_style::RULE,
    &yaml_invalid::RULE,
    &yaml_key_duplicate::RULE,
    &yaml_tab::RULE,
    &yaml_tag::RULE,
    &yaml_too_complex::RULE,
    &yaml_value_unquoted::RULE,
];

/// Returns the rule with the given name.
pub fn find_rule(name: &str) -> Option<&'static LintRule> {
    RULES.binary_search_by_key(&name, |rule| rule.name).ok().map(|at| RULES[at])
}

/// Returns the rule that reports a kind of fault.
///
/// The match has no catch-all arm, so that a kind of fault without a rule does not compile.
pub fn rule_for_fault(kind: FaultKind) -> &'static LintRule {
    match kind {
        FaultKind::ByteOrderMark => &byte_order_mark::RULE,
        FaultKind::EncodingNotUtf8 => &encoding_not_utf8::RULE,
        FaultKind::FileIrregular => &file_irregular::RULE,
        FaultKind::FileTooLarge => &file_too_large::RULE,
        FaultKind::FileUnreadable => &file_unreadable::RULE,
        FaultKind::FolderTooLarge => &folder_too_large::RULE,
        FaultKind::FrontmatterMissing => &frontmatter_missing::RULE,
        FaultKind::FrontmatterNotMapping => &frontmatter_not_mapping::RULE,
        FaultKind::FrontmatterUnclosed => &frontmatter_unclosed::RULE,
        FaultKind::LineEndsCrlf => &line_ends_crlf::RULE,
        FaultKind::NulByte => &nul_byte::RULE,
        FaultKind::SkillMdMissing => &skill_md_missing::RULE,
        FaultKind::SkillMdNotAFile => &skill_md_not_a_file::RULE,
        FaultKind::SymlinkDangling => &symlink_dangling::RULE,
        FaultKind::SymlinkOutside => &symlink_outside::RULE,
        FaultKind::ToolsJsonInvalid => &tools_json_invalid::RULE,
        FaultKind::YamlAnchor => &yaml_anchor::RULE,
        FaultKind::YamlInvalid => &yaml_invalid::RULE,
        FaultKind::YamlKeyDuplicate => &yaml_key_duplicate::RULE,
        FaultKind::YamlTab => &yaml_tab::RULE,
        FaultKind::YamlTag => &yaml_tag::RULE,
        FaultKind::YamlTooComplex => &yaml_too_complex::RULE,
        FaultKind::YamlValueUnquoted => &yaml_value_unquoted::RULE,
    }
}

/// The rule that reports an allow comment for an unknown rule.
pub(crate) static ALLOW_UNKNOWN: &LintRule = &allow_unknown::RULE;
/// The rule that reports an allow comment without effect.
pub(crate) static ALLOW_UNUSED: &LintRule = &allow_unused::RULE;
/// The rule that reports an allow comment without a reason.
pub(crate) static ALLOW_WITHOUT_REASON: &LintRule = &allow_without_reason::RULE;

/// Returns the rule name most similar to a word.
pub fn nearest_rule_name(word: &str) -> Option<&'static str> {
    nearest_name(word, RULES.iter().map(|rule| rule.name))
}
