//! The command line through the real binary, in a scratch home.
#![expect(clippy::disallowed_methods, reason = "tests touch the disk and start the binary")]

mod api;
mod attacks;
mod authoring;
mod bad_input;
mod browser;
mod budget;
mod check;
mod check_adoption;
mod check_cache;
mod check_ci;
mod check_formats;
mod compatibility;
mod completions;
mod convert;
mod convert_llm;
mod corpus;
mod denials;
mod deps;
mod documents;
mod examples;
mod exec;
mod explain;
mod export;
mod faces;
mod fix;
mod frontmatter_schema;
mod hash;
mod help;
mod host_table;
mod hosts;
mod init;
mod install;
mod install_git;
mod install_sync;
mod json_rpc;
mod keyring;
mod kills;
mod library;
mod lsp;
mod man;
mod mcp_servers;
mod policy;
mod provenance;
mod query;
mod records;
mod reference;
mod registry;
mod registry_quirks;
mod release_files;
mod run;
mod run_scripts;
mod scale;
mod scanning;
mod schemas;
mod search;
mod select;
mod serve;
mod serve_browser;
mod serve_calls;
mod serve_convert;
mod serve_from;
mod serve_http;
mod serve_listing;
mod serve_models;
mod serve_owners;
mod serve_pages;
mod serve_protocol;
mod serve_rmcp;
mod serve_runs;
mod serve_tokens;
mod serve_web;
mod show;
mod signatures;
mod skill_tests;
mod source_rules;
mod tools;
mod validation;
mod watch;
mod workflow;

use std::path::Path;
use std::process::Child;

use rep_test_support::{ProgramRun, ScratchFolder};

/// A process that goes on until the test is over.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        // The test is over either way.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The binary under test. Whatever it prints as JSON is compared with its schema.
fn rep() -> &'static Path {
    rep_test_support::observe_runs(schemas::check_run);
    Path::new(env!("CARGO_BIN_EXE_rep"))
}

fn run(scratch: &ScratchFolder, arguments: &[&str]) -> ProgramRun {
    scratch.run_program(rep(), arguments)
}

/// What a run printed and how it ended, for snapshots. Paths of the scratch folder are replaced, because they differ in every run.
fn transcript(scratch: &ScratchFolder, run: &ProgramRun) -> String {
    let mut text = format!("exit code {}\n", run.code);
    for (name, output) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        if !output.is_empty() {
            text.push_str(&format!("--- {name} ---\n{output}"));
        }
    }
    stable(scratch, &text)
}

/// A text with the paths of the scratch folder replaced.
fn stable(scratch: &ScratchFolder, text: &str) -> String {
    let work = scratch.work_folder();
    let home = work.with_file_name("home");
    text.replace(&*work.to_string_lossy(), "[WORK]").replace(&*home.to_string_lossy(), "[HOME]")
}

fn json(run: &ProgramRun) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {run:?}"))
}

/// The rules a JSON report names, in order.
fn rules(run: &ProgramRun) -> Vec<String> {
    let report = json(run);
    let findings = report["findings"].as_array().expect("a report has findings");
    findings.iter().map(|finding| finding["rule"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A plain skill nothing is wrong with.
const GOOD: &str = "---\nname: pdf\ndescription: Fills PDF forms. Use when the user brings a form to fill in.\n---\n\n# PDF\n\n1. Fill the form.\n";
