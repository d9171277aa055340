use rep_model::frontmatter::ToolDeclaration;
use rep_model::yaml::YamlNode;
use rep_model::{Manifest, Skill};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::tools::list_declared_tools;
use crate::yaml_edits::add_item;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "confirmation-missing",
    summary: "a risky permission is granted without confirmation",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8 and the MUST checklist, confirmation gates")],
    requirements: &["CONF-01", "CONF-05", "VAL-71"],
    page: include_str!("confirmation_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(permissions) = front.permissions() else { return };
    // `safety-missing` and `confirmation-undeclared` report absent lists.
    let Some(gates) = front.get("safety").and_then(|safety| safety.get("require_confirmation_for")) else { return };
    let granted = [
        (!permissions.write_globs().is_empty(), "destructive_writes", "write access"),
        (!permissions.outbound_hosts().is_empty(), "external_network", "network access"),
    ];
    let tools = list_declared_tools(skill);
    for (_, class, what) in granted.into_iter().filter(|(is_granted, _, _)| *is_granted) {
        if !has_gate(gates, class) && !tools.iter().any(|declared| wants_confirmation(declared.tool, class)) {
            findings
                .add(manifest.file, gates.span, format!("{what} is granted without confirmation"))
                .with_data_path("safety.require_confirmation_for")
                .help(format!("add `{class}` to the list, or set `confirmation` on the tool"))
                .with_optional_fix(suggest_gate(manifest, gates, class));
        }
    }
}

fn has_gate(gates: &YamlNode, class: &str) -> bool {
    let items = gates.items().unwrap_or(std::slice::from_ref(gates));
    items.iter().any(|item| item.text() == Some(class))
}

fn wants_confirmation(tool: ToolDeclaration<'_>, class: &str) -> bool {
    tool.confirmation_level().is_some_and(|level| level.value == class || level.value == "always")
}

fn suggest_gate(manifest: &Manifest, gates: &YamlNode, class: &str) -> Option<FindingFix> {
    let (at, text) = add_item(manifest.source.text(), gates, class)?;
    Some(FindingFix::suggestion(format!("add `{class}`")).replace(manifest.file, at, text))
}
