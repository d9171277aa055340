use rep_model::Skill;

use crate::boolean_words::{BOOLEAN_FIELDS, parse_boolean_word};
use crate::engine::Findings;
use crate::shape::{Kind, Misfit};
use crate::tools::TOOLS_JSON;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "field-type",
    summary: "a value of another type than its field takes",
    since: "0.1.0",
    levels: Levels {
        error: ProfileSet::new(&[Profile::Universal, Profile::Pmcp, Profile::Uasp]),
        warning: ProfileSet::new(&[Profile::Aam, Profile::ClaudeCode]),
        ..Levels::NONE
    },
    cites: &[
        Cite::universal("Appendix A and B, type"),
        Cite::uasp("§3.1, type"),
        Cite::pmcp("validate_skill_frontmatter"),
        Cite::yaml("§10.3 core schema"),
    ],
    requirements: &[
        "VAL-03", "VAL-24", "VAL-45", "VAL-46", "VAL-47", "VAL-48", "VAL-50", "VAL-51", "VAL-52", "VAL-70", "TOOL-18",
    ],
    page: include_str!("field_type.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Type { expected, found } = misfit.kind else { continue };
        if is_said_elsewhere(&misfit, expected, found) {
            continue;
        }
        let subject = if misfit.path.is_empty() { &misfit.file } else { &misfit.path };
        let message = format!("`{subject}` is {found}, not {expected}");
        let quoted = quoted(skill, &misfit, expected);
        let draft = findings.add(&misfit.file, misfit.span, message).only(misfit.profiles);
        match quoted {
            Some(quoted) if is_hashed(&misfit) => draft.help(format!("put it in quotes: `{quoted}`")),
            Some(quoted) => draft.help(format!("put it in quotes: `{quoted}`")).replace(misfit.span, quoted),
            None if misfit.path.is_empty() && misfit.file == TOOLS_JSON => {
                draft.help("regenerate it with `rep tools --write`")
            }
            None => draft.help(advice(expected)),
        };
        if !misfit.path.is_empty() {
            draft.path(misfit.path);
        }
    }
}

/// Null `name` and `description` count as missing, and switches written as text have a rule of their own.
fn is_said_elsewhere(misfit: &Misfit, expected: &str, found: &str) -> bool {
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

/// Whether the value counts in the content hash of a UASP file, which quotes would change.
fn is_hashed(misfit: &Misfit) -> bool {
    misfit.file.ends_with(rep_model::uasp::SUFFIX) && misfit.path != "meta.version"
}

/// The value in quotes, where it is a plain scalar and text is wanted; its spelling stays.
fn quoted(skill: &Skill, misfit: &Misfit, expected: &str) -> Option<String> {
    let text = misfit.text.as_deref().filter(|text| !text.is_empty() && expected == "text")?;
    let is_plain = skill.source(&misfit.file)?.slice(misfit.span) == text;
    let is_simple = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.:_~ ".contains(&byte));
    (is_plain && is_simple && text != "~" && !text.eq_ignore_ascii_case("null")).then(|| format!("\"{text}\""))
}

fn advice(expected: &str) -> &'static str {
    match expected {
        "a list" => "write a list: one item per line, each after `- `",
        "a mapping" => "write a mapping: one `field: value` per line",
        "a boolean" => "write `true` or `false`, without quotes",
        "a number" | "a whole number" => "write a whole number, without quotes",
        _ => "write text",
    }
}
