//! The approval rules of Codex for a skill's risky tools: rules for commands (execpolicy), and approval modes for the
//! tools that `rep serve` offers over MCP.
//!
//! Codex reads neither from a skill's directory. The user copies them, so that a skill never changes what is approved.

use std::fmt::Write as _;

use rep_model::Skill;
use serde_json::{Value, json};

use super::functions::function_name;
use crate::loss::{Loss, LossSeverity};
use crate::projection::{ProjectedContent, ProjectedFile, ProjectionSource};

/// The rules for commands, in the skill's directory.
const RULES_PATH: &str = "agents/codex.rules";
/// The approval modes of MCP tools, in the skill's directory.
const MODES_PATH: &str = "agents/codex.toml";

/// Writes the approval rules of a skill's risky tools, unless the author provides them.
pub(super) fn write_approval_rules(
    source: &ProjectionSource<'_>,
    below: &str,
    made: &mut Vec<ProjectedFile>,
    losses: &mut Vec<Loss>,
) {
    let risky: Vec<(&str, &Value, String)> = source
        .tools
        .iter()
        .filter_map(|tool| Some((tool.get("name")?.as_str()?, tool, describe_risk(source.skill, tool)?)))
        .collect();
    if risky.is_empty() {
        return;
    }
    let rules_use = format!(
        "copy it to `.codex/rules/{0}.rules` or `~/.codex/rules/{0}.rules`: Codex then asks before it runs risky tools",
        source.name
    );
    let modes_use = "add it to `~/.codex/config.toml`, after `rep serve --print-config codex --allow-run`: Codex then \
                     asks before it calls risky tools";
    let files = [
        (RULES_PATH, render_rules(source.name, &risky), rules_use),
        (MODES_PATH, render_modes(source.name, &risky), modes_use.to_owned()),
    ];
    for (path, text, usage) in files {
        let path_in_export = format!("{below}{path}");
        if made.iter().any(|file| file.path == path_in_export) {
            losses.push(Loss::new(LossSeverity::Note, path, "is provided by the author and is not changed"));
            continue;
        }
        losses.push(Loss::new(LossSeverity::Note, path, usage));
        let content = ProjectedContent::Bytes(text.into_bytes());
        made.push(ProjectedFile { path: path_in_export, content, is_executable: false });
    }
    made.sort_by(|one, two| one.path.cmp(&two.path));
}

/// Describes why a tool is risky. Returns `None` if the skill declares that it neither writes, connects nor starts
/// programs, and the tool does not ask for confirmation.
fn describe_risk(skill: &Skill, tool: &Value) -> Option<String> {
    let Some(permissions) = skill.frontmatter().and_then(rep_model::Frontmatter::permissions) else {
        return Some("its permissions are not declared".to_owned());
    };
    let starts_programs = permissions
        .0
        .get("processes")
        .and_then(|node| node.get("allow_subprocess"))
        .is_some_and(|node| rep_model::yaml::core::to_json(node) != Value::Bool(false));
    let level = tool.pointer("/confirmation/level").and_then(Value::as_str);
    let risks: Vec<&str> = [
        (!permissions.write_globs().is_empty(), "it writes files"),
        (!permissions.outbound_hosts().is_empty(), "it connects to the network"),
        (starts_programs, "it starts programs"),
        (level == Some("always"), "it always asks for confirmation"),
    ]
    .into_iter()
    .filter_map(|(is_risk, text)| is_risk.then_some(text))
    .collect();
    (!risks.is_empty()).then(|| risks.join(", "))
}

/// Renders a rule for `rep run`, and one for the script itself. JSON strings are also strings of the rules language.
fn render_rules(skill: &str, risky: &[(&str, &Value, String)]) -> String {
    let mut text = format!("# Codex asks before it runs these tools of the skill `{skill}`.\n");
    for (name, tool, risk) in risky {
        let reason = format!("{skill}:{name}: {risk}");
        let command = ["rep", "run", &format!("{skill}:{name}")].map(Value::from);
        push_rule(&mut text, &command, &reason, &command);
        let Some((programs, script)) = find_script(tool) else { continue };
        let places = [format!(".agents/skills/{skill}/{script}"), script.to_owned()];
        let pattern = [json!(programs), json!(places)];
        push_rule(&mut text, &pattern, &reason, &[programs[0].into(), places[0].as_str().into()]);
    }
    text
}

fn push_rule(text: &mut String, pattern: &[Value], reason: &str, example: &[Value]) {
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\nprefix_rule(\n    pattern = {},\n    decision = \"prompt\",\n    justification = {},\n    match = [{}],\n)\n",
        json!(pattern),
        json!(reason),
        json!(example),
    );
}

/// Returns the programs that run a tool's script, and the script.
fn find_script(tool: &Value) -> Option<(&'static [&'static str], &str)> {
    let script = tool.pointer("/implementation/entrypoint")?.as_str()?;
    let programs: &[&str] = match tool.pointer("/implementation/runtime")?.as_str()? {
        "python" => &["python3", "python"],
        "node" => &["node"],
        "bash" => &["bash", "sh"],
        _ => return None,
    };
    (!script.is_empty()).then_some((programs, script))
}

/// Renders the approval modes of the tools as `rep serve` names them.
fn render_modes(skill: &str, risky: &[(&str, &Value, String)]) -> String {
    let mut text = format!("# Codex asks before it calls these tools of the skill `{skill}` over MCP.\n");
    for (name, _, _) in risky {
        let tool = function_name(skill, name);
        let _ = write!(text, "\n[mcp_servers.repertoire.tools.{}]\napproval_mode = \"prompt\"\n", json!(tool));
    }
    text
}
