//! An agent host in under 60 lines: discover skills, select one, run its tool, read the audit record.
//!
//! `cargo run -p rep-runtime --example embed -- examples "profile this csv file"`
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example prints to the terminal")]

use std::error::Error;
use std::path::PathBuf;

use rep_library::selection::SelectionRequest;
use rep_library::{Catalog, LibraryOptions};
use rep_runtime::{
    CallResult, Prompter, PrompterAnswer, RecordFilter, RunConfirmation, Runtime, RuntimeOptions, RuntimePaths,
    ToolCall,
};
use rep_sandbox::Cancel;
use serde_json::json;

/// Agrees to everything, and prints what it agreed to.
struct Agreeable;

impl Prompter for Agreeable {
    fn confirm(&self, question: &RunConfirmation) -> PrompterAnswer {
        println!("agreed to: {}", question.render_text().trim_end());
        PrompterAnswer::Yes
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The sandbox starts this program again as the first process of its namespace.
    rep_sandbox::init();
    let mut arguments = std::env::args().skip(1);
    let skills = PathBuf::from(arguments.next().ok_or("name a directory of skills")?);
    let request = arguments.next().ok_or("say what you want to do")?;

    let library = LibraryOptions { paths: vec![skills], ..LibraryOptions::default() };
    let catalog = Catalog::discover(&library)?;
    let request = SelectionRequest { text: request, files: vec!["data.csv".to_owned()], ..SelectionRequest::default() };
    let selection = catalog.select(&request);
    let skill = &catalog.entries[selection.selected.first().ok_or("no skill fits")?.index];
    println!("selected: {}", skill.qualified_name);

    let scratch = tempfile::tempdir()?;
    let workspace = scratch.path().canonicalize()?;
    std::fs::write(workspace.join("data.csv"), "city,people\nOslo,717710\nBergen,291940\n")?;
    let paths = RuntimePaths { data: Some(workspace.join(".rep")), ..RuntimePaths::default() };
    let options = RuntimeOptions {
        library,
        workspace,
        environment: std::env::vars_os().collect(),
        user: "an example".to_owned(),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::open(paths, options);
    let call = ToolCall::for_tool(&skill.qualified_name, "profile", json!({ "path": "data.csv" }));
    if let CallResult::Finished(finished) = runtime.call(&catalog, &call, &Agreeable, &Cancel::default())? {
        println!("result: {}", finished.to_json());
    }
    for run in runtime.list_runs(&RecordFilter::default())?.runs {
        println!("recorded: {}:{} {}", run.text_field("skill"), run.text_field("tool"), run.text_field("outcome"));
    }
    Ok(())
}
