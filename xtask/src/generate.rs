//! Generates the reference documents from the code.
//!
//! `docs/reference` is committed. The complete rule pages are not: they repeat the pages next to the rules, and are
//! written to `target` for a website.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rep_check::{LintRule, Profile, ProfileSet, RULES};
use rep_convert::extract::rules as extraction;
use rep_library::settings::{KEYS, SettingsFile};
use serde_json::Value;

use crate::api_types;
use crate::deviations;
use crate::schemas::{self, SchemaOutput};

/// The committed documents.
const REFERENCE: &str = "docs/reference";

/// The committed JSON Schemas.
const SCHEMAS: &str = "schemas";

/// The rule pages.
const RULE_PAGES: &str = "target/reference/rules";

/// Writes `docs/reference` and the rule pages.
pub(crate) fn write_documents(root: &Path) -> Result<(), String> {
    for (name, text) in render_documents(root)? {
        write_file(&root.join(REFERENCE), name, &text)?;
    }
    write_schemas(root)?;
    for (file, text) in api_types::render_files(root)? {
        write_file(root, file, &text)?;
    }
    // The page of a rule that no longer exists must be removed.
    let pages = root.join(RULE_PAGES);
    if pages.exists() {
        fs::remove_dir_all(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
    }
    for rule in RULES {
        write_file(&pages, &format!("{}.md", rule.name), &render_rule_page(rule))?;
    }
    println!("wrote {REFERENCE}, {SCHEMAS} and {RULE_PAGES}");
    Ok(())
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Fails if a committed document is out of date.
pub(crate) fn check_documents(root: &Path) -> Result<(), String> {
    let stale: Vec<String> = render_documents(root)?
        .into_iter()
        .filter(|(name, text)| fs::read_to_string(root.join(REFERENCE).join(name)).ok().as_ref() != Some(text))
        .map(|(name, _)| format!("{REFERENCE}/{name} is out of date; run `cargo xtask gen`"))
        .chain(find_stale_schemas(root)?)
        .chain(find_stale_api_files(root)?)
        .collect();
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}

/// Returns which files of `rep api` are out of date.
fn find_stale_api_files(root: &Path) -> Result<Vec<String>, String> {
    let files = api_types::render_files(root)?.into_iter();
    let stale = files.filter(|(file, text)| fs::read_to_string(root.join(file)).ok().as_ref() != Some(text));
    Ok(stale.map(|(file, _)| format!("{file} is out of date; run `cargo xtask gen`")).collect())
}

/// Writes the JSON Schemas, unless one would lose a field of the committed schema.
fn write_schemas(root: &Path) -> Result<(), String> {
    let outputs = schemas::load_outputs(root)?;
    for output in &outputs {
        let committed = fs::read_to_string(root.join(SCHEMAS).join(output.file_name())).ok();
        if let Some(old) = committed.and_then(|text| serde_json::from_str::<Value>(&text).ok()) {
            schemas::check_fields_kept(&old, output)?;
        }
    }
    outputs.iter().try_for_each(|output| write_file(&root.join(SCHEMAS), &output.file_name(), &render_schema(output)))
}

fn render_schema(output: &SchemaOutput) -> String {
    format!("{:#}\n", output.schema)
}

/// Returns what is wrong with the committed JSON Schemas.
fn find_stale_schemas(root: &Path) -> Result<Vec<String>, String> {
    let outputs = schemas::load_outputs(root)?;
    let folder = root.join(SCHEMAS);
    let is_stale = |output: &&SchemaOutput| {
        fs::read_to_string(folder.join(output.file_name())).ok().as_ref() != Some(&render_schema(output))
    };
    let mut wrong: Vec<String> = outputs
        .iter()
        .filter(is_stale)
        .map(|output| format!("{SCHEMAS}/{} is out of date; run `cargo xtask gen`", output.file_name()))
        .collect();
    let entries = fs::read_dir(&folder).map_err(|error| format!("{SCHEMAS}: {error}"))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_known = |name: &String| outputs.iter().any(|output| output.file_name() == *name);
    let strange =
        names.filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "json") && !is_known(name));
    wrong.extend(strange.map(|name| format!("{SCHEMAS}/{name} does not belong to any output; remove it")));
    Ok(wrong)
}

fn render_documents(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    Ok(vec![
        ("rules.md", render_rules()),
        ("extraction.md", render_extraction_rules()),
        ("requirements.md", render_requirements()),
        ("deviations.md", format!("{GENERATED_NOTE}{}", deviations::render_deviations())),
        ("settings.md", render_settings()),
        ("commands.md", render_commands(root)?),
        ("json.md", render_json_outputs(root)?),
    ])
}

pub(crate) const GENERATED_NOTE: &str = "<!-- Generated by `cargo xtask gen`. -->\n\n";

/// Returns a link from a document in `docs/reference` to the page next to a rule.
fn link_to_rule(rule: &str) -> String {
    format!("[{rule}](../../crates/rep-check/src/rules/{}.md)", rule.replace('-', "_"))
}

fn join_profile_names(profiles: ProfileSet) -> String {
    profiles.iter().map(Profile::name).collect::<Vec<_>>().join(", ")
}

fn render_rules() -> String {
    let mut out = format!(
        "{GENERATED_NOTE}# Rules\n\n{} rules. `rep explain RULE` prints a rule's page, where it applies and where it \
         comes from.\n\n",
        RULES.len()
    );
    out.push_str("| rule | finds | error | warning | info |\n|---|---|---|---|---|\n");
    for rule in RULES {
        let levels = &rule.levels;
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            link_to_rule(rule.name),
            rule.summary.replace('|', "\\|"),
            join_profile_names(levels.error),
            join_profile_names(levels.warning),
            join_profile_names(levels.info)
        ));
    }
    out
}

fn render_extraction_rules() -> String {
    let mut out = format!(
        "{GENERATED_NOTE}# Rules of extraction\n\n{} rules extract facts from a Markdown skill. `rep convert SKILL \
         --explain` names the rule behind each fact, and `rep explain RULE` prints its page with examples. Facts \
         from rules below {} % are doubtful and are included only with `--include-doubtful`.\n\n",
        extraction::RULES.len(),
        extraction::CONFIDENT_PERCENT_MIN
    );
    out.push_str("| rule | section | sure | finds |\n|---|---|---:|---|\n");
    for rule in extraction::RULES {
        let sure = if rule.is_confident() { "" } else { ", doubtful" };
        let (confidence, summary) = (rule.confidence, rule.summary.replace('|', "\\|"));
        out.push_str(&format!("| `{}` | {} | {confidence} %{sure} | {summary} |\n", rule.id, rule.section));
    }
    out
}

/// Renders the complete page of a rule, with where it applies and where it comes from.
pub(crate) fn render_rule_page(rule: &LintRule) -> String {
    let mut out = format!("{GENERATED_NOTE}{}\n\n## Where it applies\n", rule.page.trim_end());
    for (word, profiles) in [("error", rule.levels.error), ("warning", rule.levels.warning), ("info", rule.levels.info)]
    {
        if !profiles.is_empty() {
            out.push_str(&format!("- {word}: {}\n", join_profile_names(profiles)));
        }
    }
    if let Some(level) = rule.levels.automatic {
        out.push_str(&format!("- {} if no profile is named\n", level.name()));
    }
    out.push_str("\n## Where it comes from\n");
    for cite in rule.citations {
        out.push_str(&format!("- {}: {}\n", cite.source, cite.place));
    }
    out
}

fn render_requirements() -> String {
    let mut by_id: BTreeMap<(String, u32), Vec<&str>> = BTreeMap::new();
    for rule in RULES {
        for id in rule.requirements {
            let (area, number) = id.split_once('-').unwrap_or((id, "0"));
            by_id.entry((area.to_owned(), number.parse().unwrap_or(0))).or_default().push(rule.name);
        }
    }
    let mut out =
        format!("{GENERATED_NOTE}# Requirements and the rules that check them\n\n| requirement | rules |\n|---|---|\n");
    for ((area, number), rules) in by_id {
        let links: Vec<String> = rules.iter().map(|rule| link_to_rule(rule)).collect();
        out.push_str(&format!("| {area}-{number:02} | {} |\n", links.join(", ")));
    }
    out
}

fn render_settings() -> String {
    let mut out = format!(
        "{GENERATED_NOTE}# Settings\n\n`rep` reads two kinds of YAML files, both named `rep.yaml`: *project* files and \
         the *user* file, `~/.config/repertoire/rep.yaml` (`$XDG_CONFIG_HOME/repertoire/rep.yaml`). An unknown key is an \
         error, and every error names the full path of the file.\n\n`rep check` reads the project files from each \
         checked path upward, to the root of the repository, but not one in the directory of a skill, which must not \
         decide how it is checked. The nearest file wins: its `profiles`, `strict-schema` and `levels` replace those of \
         files above it, and `ignore` is added to theirs; a level in a nearer file lets an ignored rule run again. \
         `--settings FILE` reads that file instead. `library.paths` is read from the root of the project \
         only.\n\nA flag overrides an environment \
         variable, and a variable overrides the file. A project cannot set what concerns your machine: a policy or \
         the address of a model in a project file is an error.\n\n"
    );
    out.push_str("| key | file | example | what it does |\n|---|---|---|---|\n");
    for key in KEYS {
        let file = match key.file {
            SettingsFile::Project => "project",
            SettingsFile::User => "user",
            SettingsFile::Both => "both",
        };
        out.push_str(&format!("| `{}` | {file} | `{}` | {} |\n", key.path, key.example, key.summary));
    }
    out
}

/// Renders every command by group, with its help.
fn render_commands(root: &Path) -> Result<String, String> {
    let program = build_program(root)?;
    let overview = run_help(&program, &["--help"])?;
    let mut out = format!("{GENERATED_NOTE}# Commands\n\n```text\n{overview}```\n");
    let groups: Vec<String> =
        parse_rows(&overview, "More commands, by group:").into_iter().map(|(name, _)| name).collect();
    if groups.is_empty() {
        return Err("`rep --help` lists no groups of commands".to_owned());
    }
    for group in groups {
        // If a group has the name of a command, the command's help comes first.
        let text = run_help(&program, &["help", &group])?;
        let heading = text.lines().find_map(|line| line.strip_prefix(&format!("{group}: ")));
        let summary = heading.ok_or_else(|| format!("`rep help {group}` shows no group"))?;
        out.push_str(&format!("\n## {group}\n\n{summary}.\n"));
        for (command, _) in parse_rows(&text, &format!("{group}: ")) {
            let own = run_help(&program, &[&command, "--help"])?;
            out.push_str(&format!("\n### rep {command}\n\n```text\n{own}```\n"));
            for (nested, _) in parse_rows(&own, "Commands:").into_iter().filter(|(name, _)| name != "help") {
                let own = run_help(&program, &[&command, &nested, "--help"])?;
                out.push_str(&format!("\n#### rep {command} {nested}\n\n```text\n{own}```\n"));
            }
        }
    }
    Ok(out)
}

/// Returns the rows below a heading, up to an empty line: a name and the text next to it.
fn parse_rows(text: &str, heading: &str) -> Vec<(String, String)> {
    let lines = text.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let lines = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    // Continuation lines of a row are indented more than its name.
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let row = |line: &str| line.trim().split_once(' ').map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()));
    lines.filter_map(row).collect()
}

/// Builds `rep` and returns its path. Running it through cargo would check all crates again for each command.
fn build_program(root: &Path) -> Result<PathBuf, String> {
    let arguments = ["build", "--quiet", "-p", "rep"];
    let status = crate::cargo_command().args(arguments).current_dir(root).status();
    if !status.map_err(|error| format!("could not start cargo: {error}"))?.success() {
        return Err("`cargo build -p rep` failed".to_owned());
    }
    let own = std::env::current_exe().map_err(|error| format!("could not find the target directory: {error}"))?;
    Ok(own.with_file_name("rep"))
}

fn run_help(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(["--color", "never"])
        .args(arguments)
        .env("COLUMNS", "80")
        .output()
        .map_err(|error| format!("could not run rep: {error}"))?;
    if !output.status.success() {
        return Err(format!("rep {arguments:?} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// The text before the list of outputs.
const JSON_HEAD: &str = include_str!("json_head.md");

fn render_json_outputs(root: &Path) -> Result<String, String> {
    let outputs = schemas::load_outputs(root)?;
    let table = |title: &str, column: &str, places: fn(&SchemaOutput) -> Vec<String>| {
        let mut text = format!("\n## {title}\n\n| {column} | schema | content |\n|---|---|---|\n");
        for output in outputs.iter().filter(|output| !places(output).is_empty()) {
            let (name, file, about) = (&output.name, output.file_name(), &output.about);
            let row = format!("{} | [{name}](../../schemas/{file}) | {about}", places(output).join("<br>"));
            text.push_str(&format!("| {row} |\n"));
        }
        text
    };
    let commands = |output: &SchemaOutput| output.commands.iter().map(|line| format!("`{line}`")).collect();
    let files = |output: &SchemaOutput| output.files.iter().map(|file| render_file_cell(file)).collect();
    Ok(format!(
        "{GENERATED_NOTE}{JSON_HEAD}{}{}",
        table("What commands print", "command", commands),
        table("What commands write", "file", files)
    ))
}

/// Renders a file and its location: `NAME: place`.
fn render_file_cell(file: &str) -> String {
    match file.split_once(": ") {
        Some((name, place)) => format!("`{name}` {place}"),
        None => format!("`{file}`"),
    }
}
