use rep_model::yaml::{YamlNode, core};
use rep_model::{Skill, Span};

use crate::boolean_words::parse_boolean_word;
use crate::draft::Findings;
use crate::yaml_edits::suggest_literal;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "safety-mistyped",
    summary: "a part of `safety` has the wrong type",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8, safety structure")],
    requirements: &["VAL-48", "CONF-01", "SEC-05"],
    page: include_str!("safety_mistyped.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(safety) = front.get("safety") else { return };
    let mut add = |span: Span, path: &str, found: &YamlNode, help: &str| {
        findings
            .add(manifest.file, span, format!("`{path}` is {}", found.describe_kind()))
            .with_data_path(path)
            .help(help)
            .with_optional_fix(
                found
                    .text()
                    .and_then(parse_boolean_word)
                    .filter(|_| help.ends_with("`false`"))
                    .and_then(|meant| suggest_literal(skill, manifest.file, span, &meant.to_string())),
            );
    };
    if let Some(classes) = safety.get("require_confirmation_for") {
        let is_words = classes.items().is_some_and(|items| items.iter().all(|item| item.text().is_some()));
        if !is_words {
            let help = "write a list of action classes: `[destructive_writes, external_network]`";
            add(classes.span, "safety.require_confirmation_for", classes, help);
        }
    }
    let Some(redact) = safety.get("redact") else { return };
    if redact.entries().is_none() {
        add(redact.span, "safety.redact", redact, "write a mapping: `{secrets: true, pii: true}`");
    }
    for part in ["secrets", "pii"] {
        let Some(switch) = redact.get(part) else { continue };
        if !matches!(core::classify_scalar(switch), Some(core::CoreScalar::Bool(_))) {
            add(switch.span, &format!("safety.redact.{part}"), switch, "write `true` or `false`");
        }
    }
}
