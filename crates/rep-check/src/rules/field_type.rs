use rep_model::Skill;

use crate::boolean_words::{BOOLEAN_FIELDS, parse_boolean_word};
use crate::draft::Findings;
use crate::tools::TOOLS_JSON;
use crate::value_schema::{ValueViolation, ViolationKind};
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "field-type",
    summary: "a value has the wrong type for its field",
    since: "0.1.0",
    levels: RuleLevels {
        error: ProfileSet::new(&[Profile::Universal, Profile::Pmcp, Profile::Uasp]),
        warning: ProfileSet::new(&[Profile::AgentSkills, Profile::Aam, Profile::ClaudeCode]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::universal("Appendix A and B, type"),
        RuleCitation::uasp("§3.1, type"),
        RuleCitation::pmcp("validate_skill_frontmatter"),
        RuleCitation::host_table("Claude Code: frontmatter fields"),
        RuleCitation::yaml("§10.3 core schema"),
    ],
    requirements: &[
        "VAL-03", "VAL-24", "VAL-45", "VAL-46", "VAL-47", "VAL-48", "VAL-50", "VAL-51", "VAL-52", "VAL-70", "TOOL-18",
    ],
    page: include_str!("field_type.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.find_value_violations(skill) {
        let ViolationKind::Type { expected, found } = misfit.kind else { continue };
        if is_reported_elsewhere(&misfit, expected, found) {
            continue;
        }
        let subject = if misfit.path.is_empty() { &misfit.file } else { &misfit.path };
        let message = format!("`{subject}` is {found}, not {expected}");
        let quoted = quote_plain_value(skill, &misfit, expected);
        let draft = findings.add(&misfit.file, misfit.span, message).only_for_profiles(misfit.profiles);
        match quoted {
            Some(quoted) if is_part_of_hash(&misfit) => draft.help(format!("put it in quotes: `{quoted}`")),
            Some(quoted) => draft.help(format!("put it in quotes: `{quoted}`")).with_replacement(misfit.span, quoted),
            None if misfit.path.is_empty() && misfit.file == TOOLS_JSON => {
                draft.help("regenerate it with `rep tools --write`")
            }
            None => draft.help(suggest_fix(expected)),
        };
        if !misfit.path.is_empty() {
            draft.with_data_path(misfit.path);
        }
    }
}

/// Null `name` and `description` count as missing, and another rule reports booleans written as text.
fn is_reported_elsewhere(misfit: &ValueViolation, expected: &str, found: &str) -> bool {
    match misfit.path.as_str() {
        "name" | "description" => found == "null",
        path if BOOLEAN_FIELDS.contains(&path) => {
            expected == "a boolean"
                && found == "text"
                && misfit.text.as_deref().is_some_and(|text| parse_boolean_word(text).is_some())
        }
        _ => false,
    }
}

/// Whether the value is part of the content hash of a UASP file, which quotes would change.
fn is_part_of_hash(misfit: &ValueViolation) -> bool {
    misfit.file.ends_with(rep_model::uasp::FILE_SUFFIX) && misfit.path != "meta.version"
}

/// Returns the value in quotes, with its spelling unchanged, if it is a plain scalar and text is expected.
fn quote_plain_value(skill: &Skill, misfit: &ValueViolation, expected: &str) -> Option<String> {
    let text = misfit.text.as_deref().filter(|text| !text.is_empty() && expected == "text")?;
    let is_plain = skill.find_source(&misfit.file)?.slice(misfit.span) == text;
    let is_simple = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.:_~ ".contains(&byte));
    (is_plain && is_simple && text != "~" && !text.eq_ignore_ascii_case("null")).then(|| format!("\"{text}\""))
}

fn suggest_fix(expected: &str) -> &'static str {
    match expected {
        "a list" => "write a list: one item per line, each after `- `",
        "a mapping" => "write a mapping: one `field: value` per line",
        "a boolean" => "write `true` or `false`, without quotes",
        "a number" | "a whole number" => "write a whole number, without quotes",
        _ => "write text",
    }
}
