use rep_model::Skill;
use rep_model::frontmatter::Tool;
use rep_model::yaml::Node;

use crate::engine::Findings;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "confirmation-missing",
    summary: "a skill may do what nobody has to confirm",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8 and the MUST checklist, confirmation gates")],
    requirements: &["CONF-01", "CONF-05", "VAL-71"],
    page: include_str!("confirmation_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(permissions) = front.permissions() else { return };
    // Absent lists are the business of `safety-missing` and `confirmation-undeclared`.
    let Some(gates) = front.get("safety").and_then(|safety| safety.get("require_confirmation_for")) else { return };
    let granted = [
        (!permissions.write().is_empty(), "destructive_writes", "writing files"),
        (!permissions.outbound().is_empty(), "external_network", "the network"),
    ];
    let tools = declared(skill);
    for (_, class, what) in granted.into_iter().filter(|(is_granted, _, _)| *is_granted) {
        if !names(gates, class) && !tools.iter().any(|declared| confirms(declared.tool, class)) {
            findings
                .add(manifest.file, gates.span, format!("{what} is granted, and nobody has to confirm it"))
                .path("safety.require_confirmation_for")
                .help(format!("add `{class}`, or give the tool that does it a `confirmation`"));
        }
    }
}

fn names(gates: &Node, class: &str) -> bool {
    let items = gates.items().unwrap_or(std::slice::from_ref(gates));
    items.iter().any(|item| item.text() == Some(class))
}

fn confirms(tool: Tool<'_>, class: &str) -> bool {
    tool.confirmation().is_some_and(|level| level.value == class || level.value == "always")
}
