//! Tests that every JSON output has a schema.

use clap::{Arg, CommandFactory};
use serde_json::Value;

use crate::Cli;

/// Options that read JSON, that do not change what is printed, or that add a field to another JSON output.
const NOT_PRINTED: &[(&str, &str)] =
    &[("rep run", "input"), ("rep exec", "args"), ("rep why", "style"), ("rep check", "statistics")];

/// Option values that request JSON. SARIF has its own standard.
const JSON_VALUES: &[&str] = &["json", "jsonl", "manifest"];

/// Returns the command lines and files that the schemas name.
fn read_described_outputs() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
    let files = std::fs::read_dir(folder).expect("the schemas exist").flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let texts = |schema: Value| {
        let lists = ["x-commands", "x-files"].map(|key| schema[key].as_array().cloned().unwrap_or_default());
        lists.concat().iter().filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<String>>()
    };
    let read = |path| std::fs::read_to_string(path).expect("a schema can be read");
    files.flat_map(|path| texts(serde_json::from_str(&read(path)).expect("a schema is JSON"))).collect()
}

/// Returns the options that request JSON: `--json`, `--format json`, or the option alone if only its help mentions
/// JSON.
fn find_json_options(path: &str, arg: &Arg) -> Vec<String> {
    let Some(long) = arg.get_long().filter(|long| !NOT_PRINTED.contains(&(path, *long))) else { return Vec::new() };
    let values = arg.get_possible_values();
    let asked: Vec<String> = values
        .iter()
        .filter(|value| JSON_VALUES.contains(&value.get_name()))
        .map(|value| format!("--{long} {}", value.get_name()))
        .collect();
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    if asked.is_empty() && (long == "json" || help.contains("JSON")) { vec![format!("--{long}")] } else { asked }
}

/// Collects every command with the options that make it print JSON.
fn collect_json_commands(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
    if !command.is_subcommand_required_set() {
        let all = command.get_arguments().flat_map(|arg| find_json_options(path, arg));
        found.extend(all.map(|request| (path.to_owned(), request)));
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        collect_json_commands(below, &format!("{path} {}", below.get_name()), found);
    }
}

#[test]
fn every_command_that_prints_json_has_a_schema() {
    let mut command = Cli::command();
    // Passes global options down to all subcommands.
    command.build();
    let mut requests = Vec::new();
    collect_json_commands(&command, "rep", &mut requests);
    let has = |path: &str, request: &str| requests.contains(&(path.to_owned(), request.to_owned()));
    assert!(has("rep list", "--json") && has("rep secrets rm", "--json") && has("rep check", "--format json"));
    let described = read_described_outputs();
    let is_described = |(path, request): &&(String, String)| {
        let is_one = |text: &String| text.contains(&format!("{path} ")) && text.contains(request.as_str());
        described.iter().any(is_one)
    };
    let missing: Vec<&(String, String)> = requests.iter().filter(|request| !is_described(request)).collect();
    assert!(missing.is_empty(), "describe what they print in schemas/outputs.d.ts: {missing:?}");
}
