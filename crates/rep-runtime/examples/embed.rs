//! An agent host in under 60 lines: discover skills, select one, run its tool, read the audit record.
//!
//! `cargo run -p rep-runtime --example embed -- examples "profile this csv file"`
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example talks on the terminal")]

use std::error::Error;
use std::path::PathBuf;

use rep_library::select::Request;
use rep_library::{Catalog, Options};
use rep_runtime::{Answer, CallResult, Paths, Prompter, Question, RecordFilter, Runtime, RuntimeOptions, ToolCall};
use rep_sandbox::Cancel;
use serde_json::json;

/// Agrees to everything, and shows what it agreed to.
struct Agreeable;

impl Prompter for Agreeable {
    fn confirm(&self, question: &Question) -> Answer {
        println!("agreed to: {}", question.text().trim_end());
        Answer::Yes
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The sandbox starts this program again as the first process of its namespace.
    rep_sandbox::init();
    let mut arguments = std::env::args().skip(1);
    let skills = PathBuf::from(arguments.next().ok_or("name a directory of skills")?);
    let request = arguments.next().ok_or("say what you want to do")?;

    let library = Options { paths: vec![skills], ..Options::default() };
    let catalog = Catalog::discover(&library)?;
    let request = Request { text: request, files: vec!["data.csv".to_owned()], ..Request::default() };
    let selection = catalog.select(&request);
    let skill = &catalog.entries[selection.selected.first().ok_or("no skill fits")?.index];
    println!("selected: {}", skill.qualified_name);

    let scratch = tempfile::tempdir()?;
    let workspace = scratch.path().canonicalize()?;
    std::fs::write(workspace.join("data.csv"), "city,people\nOslo,717710\nBergen,291940\n")?;
    let paths = Paths { data: Some(workspace.join(".rep")), ..Paths::default() };
    let options = RuntimeOptions {
        library,
        workspace,
        environment: std::env::vars_os().collect(),
        user: "an example".to_owned(),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::open(paths, options);
    let call = ToolCall::tool(&skill.qualified_name, "profile", json!({ "path": "data.csv" }));
    if let CallResult::Finished(finished) = runtime.call(&catalog, &call, &Agreeable, &Cancel::default())? {
        println!("result: {}", finished.value());
    }
    for run in runtime.runs(&RecordFilter::default())?.runs {
        println!("recorded: {}:{} {}", run.text("skill"), run.text("tool"), run.text("outcome"));
    }
    Ok(())
}
