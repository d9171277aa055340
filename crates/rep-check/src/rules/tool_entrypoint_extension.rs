use rep_model::yaml::core;
use rep_model::{Frontmatter, Skill};

use crate::data_path::join;
use crate::engine::Findings;
use crate::tools::declared;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "tool-entrypoint-extension",
    summary: "the entrypoint of a tool has another ending than its runtime takes",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[
        Cite::universal("§5, entrypoint rules"),
        Cite::universal("the anti-pattern on TypeScript entrypoints"),
        Cite::house("`typescript_runner` in the `config` of a host override"),
    ],
    requirements: &["TOOL-06", "TOOL-07"],
    page: include_str!("tool_entrypoint_extension.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for declared in declared(skill) {
        let (Some(runtime), Some(entrypoint)) = (declared.tool.runtime(), declared.tool.entrypoint()) else { continue };
        let endings: &[&str] = match runtime.value {
            "python" => &[".py"],
            "node" => &[".js", ".mjs"],
            "bash" => &[".sh"],
            // Another runtime is the business of `value-not-allowed`.
            _ => continue,
        };
        let has = |endings: &[&str]| endings.iter().any(|ending| entrypoint.value.ends_with(ending));
        let is_typescript = runtime.value == "node" && has(&[".ts", ".mts"]);
        if has(endings) || is_typescript && skill.front().is_some_and(has_typescript_runner) {
            continue;
        }
        let listed: Vec<String> = endings.iter().map(|ending| format!("`{ending}`")).collect();
        let help = if is_typescript {
            "compile it to `.js`, or set `typescript_runner` in the `config` of a host override".to_owned()
        } else {
            format!("use a file that ends with {}", listed.join(" or "))
        };
        let message = format!("entrypoint `{}` is not for the runtime `{}`", entrypoint.value, runtime.value);
        findings
            .add(declared.file, entrypoint.span(), message)
            .path(join(&declared.path, "implementation.entrypoint"))
            .help(help);
    }
}

/// Whether some host override says that its host runs TypeScript: `typescript_runner`, neither false nor null.
fn has_typescript_runner(front: &Frontmatter) -> bool {
    let overrides = front.host_overrides();
    let runners = overrides.iter().filter_map(|(_, config)| config.as_ref()?.get("typescript_runner"));
    runners.map(core::scalar).any(|runner| runner != Some(core::Scalar::Bool(false)))
}
