use rep_model::yaml::core;
use rep_model::{Frontmatter, Skill};

use crate::data_path::join_path;
use crate::draft::Findings;
use crate::tools::list_declared_tools;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "tool-entrypoint-extension",
    summary: "a tool's entrypoint has the wrong extension for its runtime",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("§5, entrypoint rules"),
        RuleCitation::universal("the anti-pattern on TypeScript entrypoints"),
        RuleCitation::own_project("`typescript_runner` in the `config` of a host override"),
    ],
    requirements: &["TOOL-06", "TOOL-07"],
    page: include_str!("tool_entrypoint_extension.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in list_declared_tools(skill) {
        let (Some(runtime), Some(entrypoint)) = (declared.tool.runtime(), declared.tool.entrypoint()) else { continue };
        let endings: &[&str] = match runtime.value {
            "python" => &[".py"],
            "node" => &[".js", ".mjs"],
            "bash" => &[".sh"],
            // `value-not-allowed` reports any other runtime.
            _ => continue,
        };
        let has = |endings: &[&str]| endings.iter().any(|ending| entrypoint.value.ends_with(ending));
        let is_typescript = runtime.value == "node" && has(&[".ts", ".mts"]);
        if has(endings) || is_typescript && skill.frontmatter().is_some_and(has_typescript_runner) {
            continue;
        }
        let listed: Vec<String> = endings.iter().map(|ending| format!("`{ending}`")).collect();
        let help = if is_typescript {
            "compile it to `.js`, or set `typescript_runner` in the `config` of a host override".to_owned()
        } else {
            format!("use a file that ends with {}", listed.join(" or "))
        };
        let message = format!("entrypoint `{}` does not match the runtime `{}`", entrypoint.value, runtime.value);
        findings
            .add(declared.file, entrypoint.span(), message)
            .with_data_path(join_path(&declared.path, "implementation.entrypoint"))
            .help(help);
    }
}

/// Whether a host override declares that its host runs TypeScript: `typescript_runner`, neither false nor null.
fn has_typescript_runner(front: &Frontmatter) -> bool {
    let overrides = front.host_overrides();
    let runners = overrides.iter().filter_map(|(_, config)| config.as_ref()?.get("typescript_runner"));
    runners.map(core::classify_scalar).any(|runner| runner != Some(core::CoreScalar::Bool(false)))
}
