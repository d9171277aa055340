//! Environment variables a skill needs: UASP's `environment`, by UASP §7.1 rule 9.
//!
//! A variable a script sets for itself is not one, nor is what the host fills in (`$ARGUMENTS`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::blocks::{Block, Kind};
use super::commands::is_shell;
use super::constraints::tidy;
use super::draft::Draft;
use super::sections::Place;
use super::sentences::sentences;

/// Names every shell has, and names a host fills in.
const GIVEN: &[&str] = &[
    "ARGUMENTS",
    "PATH",
    "HOME",
    "PWD",
    "USER",
    "SHELL",
    "TMPDIR",
    "EDITOR",
    "LANG",
    "OLDPWD",
    "RANDOM",
    "HOSTNAME",
    "BASH_SOURCE",
    "PIPESTATUS",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_SKILL_DIR",
    "SKILL_DIR",
    "CLAUDE_SESSION_ID",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "BASE_DIR",
    "GIT_DIR",
    "SCRIPT_DIR",
    "USERPROFILE",
    "APPDATA",
    "TEMP",
    "TMP",
    "TERM",
    "IFS",
    "PYTHONPATH",
    "EOF",
];

/// Endings that say a name is configuration.
const ENDINGS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "URL",
    "HOST",
    "PORT",
    "REGION",
    "ENDPOINT",
    "CREDENTIALS",
    "PROXY",
    "PROFILE",
    "SID",
    "DSN",
    "WEBHOOK",
];

/// What is known of a variable.
struct Variable {
    line: usize,
    purpose: Option<String>,
    default: Option<String>,
}

/// Reads the environment variables of a skill.
pub(super) fn read(blocks: &[Block], places: &[Place], draft: &mut Draft) {
    let locals = locals(blocks);
    let mut order: Vec<String> = Vec::new();
    let mut known: BTreeMap<String, Variable> = BTreeMap::new();
    let mut add = |name: &str, line: usize, purpose: Option<String>, default: Option<String>| {
        if !is_variable(name) || GIVEN.contains(&name) || locals.contains(name) {
            return;
        }
        let variable = known.entry(name.to_owned()).or_insert_with(|| {
            order.push(name.to_owned());
            Variable { line, purpose: None, default: None }
        });
        variable.purpose = variable.purpose.take().or(purpose);
        variable.default = variable.default.take().or(default);
    };
    for (index, block) in blocks.iter().enumerate() {
        let about = block.heading.map(|heading| blocks[heading].prose.text.to_lowercase()).unwrap_or_default();
        let is_named = about.contains("environment") || about.contains("env var") || about.contains(".env");
        match &block.kind {
            Kind::Code(language) => code(block, language, is_named, &mut add),
            Kind::Table => table(block, is_named, &mut add),
            Kind::Paragraph | Kind::Item(_) if !places[index].is_forbidden => prose(block, is_named, &mut add),
            _ => {}
        }
    }
    for name in order {
        let Some(variable) = known.remove(&name) else { continue };
        let is_said = variable.purpose.is_some();
        let purpose = variable.purpose.unwrap_or_else(|| name.to_lowercase().replace('_', " "));
        let mut value = json!({ "name": name, "purpose": purpose });
        if let Some(default) = variable.default {
            value["default"] = json!(default);
        }
        draft.environment.add(variable.line, (!is_said).then_some("the text does not say what it is for"), value);
    }
}

/// Names that shell blocks set from commands or use as plain variables of their own.
fn locals(blocks: &[Block]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for block in blocks {
        let Some(language) = block.language() else { continue };
        if !(is_shell(language) || language.is_empty()) {
            continue;
        }
        for line in block.prose.text.lines() {
            let bare = line.trim_start();
            let bare = bare.strip_prefix("local ").or(bare.strip_prefix("readonly ")).unwrap_or(bare);
            if let Some((name, value)) = bare.split_once('=')
                && is_upper(name)
                && (value.starts_with("$(")
                    || value.starts_with("\"$")
                    || value.starts_with('`')
                    || value.starts_with("${")
                    || line.trim_start().starts_with("local "))
            {
                found.insert(name.to_owned());
            }
            if let Some(name) = bare.strip_prefix("for ").and_then(|rest| rest.split(' ').next()) {
                found.insert(name.to_owned());
            }
            if let Some(rest) = bare.strip_prefix("read ") {
                found.extend(rest.split_whitespace().filter(|word| is_upper(word)).map(str::to_owned));
            }
        }
    }
    found
}

fn is_upper(text: &str) -> bool {
    text.len() >= 2
        && text.starts_with(|letter: char| letter.is_ascii_uppercase())
        && text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
}

fn is_variable(name: &str) -> bool {
    is_upper(name) && name.len() >= 4 && name.len() <= 60 && !name.ends_with('_')
}

fn is_configuration(name: &str) -> bool {
    name.contains('_') && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

type Add<'a> = dyn FnMut(&str, usize, Option<String>, Option<String>) + 'a;

fn code(block: &Block, language: &str, is_named: bool, add: &mut Add<'_>) {
    let is_file = matches!(language, "env" | "dotenv" | "ini" | "properties");
    let is_script = is_shell(language) || language.is_empty() || language == "text";
    for (number, line) in block.prose.text.lines().enumerate().take(5_000) {
        let at = block.line + 1 + number;
        let bare = line.trim_start();
        let (is_exported, assignment) = bare.strip_prefix("export ").map_or((false, bare), |rest| (true, rest));
        if let Some((name, rest)) = assignment.split_once('=')
            && (is_script || is_file)
            && !rest.starts_with("$(")
            && (is_exported || is_file || is_named || is_configuration(name))
        {
            let comment = rest.split_once(" #").map(|(_, comment)| tidy(comment)).filter(|text| !text.is_empty());
            add(name, at, comment, None);
        }
        for (lead, ends) in [
            ("process.env.", ""),
            ("os.environ[", "]"),
            ("os.getenv(", ")"),
            ("os.environ.get(", ")"),
            ("env::var(", ")"),
            ("ENV[", "]"),
            ("secrets.", ""),
            ("import.meta.env.", ""),
            ("$env:", ""),
        ] {
            for (found, _) in line.match_indices(lead).take(8) {
                let rest = line[found + lead.len()..].trim_start_matches(['"', '\'']);
                let name: String =
                    rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
                if !(ends.is_empty() && name == "NODE_ENV") {
                    add(&name, at, None, None);
                }
            }
        }
    }
}

fn table(block: &Block, is_named: bool, add: &mut Add<'_>) {
    let Some((head, rows)) = block.rows.split_first() else { return };
    let header = head.first().map(|cell| cell.text.to_lowercase()).unwrap_or_default();
    let is_table = is_named || header.contains("variable") || header.starts_with("env");
    for row in rows {
        let Some(first) = row.first() else { continue };
        let name = first.text.trim_matches(['`', ' ', '$', '*']);
        if is_table && name.contains(['_']) || is_configuration(name) {
            let purpose =
                row.iter().skip(1).map(|cell| tidy(&cell.text)).max_by_key(String::len).filter(|text| !text.is_empty());
            let column = head.iter().position(|cell| cell.text.to_lowercase().contains("default"));
            let default = column
                .and_then(|column| row.get(column))
                .map(|cell| cell.text.trim_matches(['`', ' ', '"']).to_owned());
            let default = default
                .filter(|text| !text.is_empty() && !matches!(text.as_str(), "-" | "—" | "–" | "none" | "None" | "N/A"));
            add(name, first.line_at(0), purpose, default);
        }
    }
}

fn prose(block: &Block, is_named: bool, add: &mut Add<'_>) {
    for range in sentences(&block.prose) {
        let text = &block.prose.text[range.clone()];
        let lower = text.to_lowercase();
        let speaks = is_named
            || ["environment", "env var", "`.env`", ".env ", "export "].iter().any(|mark| lower.contains(mark));
        for code in block.prose.codes_in(range.clone()) {
            let name = code.trim_start_matches("export ").trim_start_matches('$').trim_matches(['{', '}']);
            let name = name.split('=').next().unwrap_or_default();
            let is_dollar = code.starts_with('$') && name.contains('_');
            if name.contains('_') && (speaks || is_configuration(name)) || is_dollar && speaks {
                let clause = clause_of(text, name);
                let purpose = Some(tidy(clause)).filter(|text| text.len() <= 300);
                add(name, block.prose.line_at(range.start), purpose, default_in(clause));
            }
        }
    }
}

/// The part of a sentence that is about a variable.
fn clause_of<'a>(text: &'a str, name: &str) -> &'a str {
    text.split("; ").find(|part| part.contains(name)).unwrap_or(text)
}

/// The default a text names: `defaults to X`, `(default: X)`.
fn default_in(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let marks = ["defaults to ", "default: ", "default is "];
    let at = marks.iter().find_map(|mark| lower.find(mark).map(|at| at + mark.len()))?;
    let rest = text.get(at..)?;
    let value = match rest.strip_prefix('`') {
        Some(code) => code.split('`').next()?,
        None => rest.split([' ', ',', ';', ')']).next()?.trim_end_matches('.'),
    };
    Some(value.trim_matches('"').to_owned()).filter(|value| !value.is_empty())
}
