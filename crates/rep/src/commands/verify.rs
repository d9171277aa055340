//! `rep verify`: verifies installed skills against the lock file.

use rep_check::render::escape_invisible;
use rep_package::capabilities::AddedCapability;
use rep_package::scope::InstallProblem;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::install_scope::ScopeArgs;
use crate::output::Output;

/// Verify installed skills against the lock file
///
/// Reports missing, changed and unexpected files, broken links, and what changed code needs in addition. Exits with 1 if
/// anything differs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep verify
  rep verify glossary --json")]
pub(crate) struct Args {
    /// Verify only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    verify_installed(args, output).map_err(|failure| failure.json(args.json))
}

fn verify_installed(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let all = scope.verify_skills(&args.names)?;
    let added: Vec<Vec<AddedCapability>> = all
        .iter()
        .map(|(name, problems)| if problems.is_empty() { Ok(Vec::new()) } else { scope.find_added_capabilities(name) })
        .collect::<Result<_, _>>()?;
    let is_fine = all.iter().all(|(_, problems)| problems.is_empty());
    if args.json {
        let problem = |problem: &InstallProblem| json!({ "kind": problem.kind.as_str(), "path": problem.path, "message": problem.message });
        let one = |((name, problems), added): (&(String, Vec<InstallProblem>), &Vec<AddedCapability>)| {
            json!({
                "name": name,
                "ok": problems.is_empty(),
                "problems": problems.iter().map(problem).collect::<Vec<Value>>(),
                "capabilities_added": added.iter().map(AddedCapability::to_json).collect::<Vec<Value>>(),
            })
        };
        let skills: Vec<Value> = all.iter().zip(&added).map(one).collect();
        output.write_json(&json!({ "scope": scope.name(), "skills": skills }));
    } else {
        for ((name, problems), added) in all.iter().zip(&added) {
            if problems.is_empty() {
                output.write_data(&format!("{}  as installed\n", escape_invisible(name)));
            }
            for problem in problems {
                output.write_data(&format!(
                    "{}  {}  {}: {}\n",
                    escape_invisible(name),
                    problem.kind.as_str(),
                    escape_invisible(&problem.path),
                    escape_invisible(&problem.message)
                ));
            }
            for added in added {
                output.write_data(&format!("{}\n", escape_invisible(&format!("{name}  new  {}", added.describe()))));
            }
        }
        if all.is_empty() {
            output.print_message(&format!("nothing is installed: `{}` lists no skills", scope.lock_file.display()));
        } else if !is_fine {
            output.print_message(
                "restore it with `rep install SOURCE --force`, or remove it with `rep remove NAME --force`",
            );
        }
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
