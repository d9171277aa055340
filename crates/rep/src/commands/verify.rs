//! `rep verify`: whether what was installed is still as it was.

use rep_check::render::visible;
use rep_package::scope::Problem;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::installed::ScopeArgs;
use crate::output::Output;

/// Hold installed skills against their digests in the lock file
#[derive(clap::Args)]
#[command(
    after_help = "Tells files that are missing, changed or were not installed, and links that lead nowhere. Exit 1 where anything differs.\n\nExamples:\n  rep verify\n  rep verify pdf --json"
)]
pub(crate) struct Args {
    /// Only these skills
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    verify(args, output).map_err(|failure| failure.json(args.json))
}

fn verify(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let all = scope.verify(&args.names)?;
    let is_fine = all.iter().all(|(_, problems)| problems.is_empty());
    if args.json {
        let problem = |problem: &Problem| json!({ "kind": problem.kind.as_str(), "path": problem.path, "message": problem.message });
        let one = |(name, problems): &(String, Vec<Problem>)| json!({ "name": name, "ok": problems.is_empty(), "problems": problems.iter().map(problem).collect::<Vec<Value>>() });
        output.json(&json!({ "scope": scope.name(), "skills": all.iter().map(one).collect::<Vec<Value>>() }));
    } else {
        for (name, problems) in &all {
            if problems.is_empty() {
                output.data(&format!("{}  as installed\n", visible(name)));
            }
            for problem in problems {
                output.data(&format!(
                    "{}  {}  {}: {}\n",
                    visible(name),
                    problem.kind.as_str(),
                    visible(&problem.path),
                    visible(&problem.message)
                ));
            }
        }
        if all.is_empty() {
            output.say(&format!("nothing is installed: `{}` names no skill", scope.lock_file.display()));
        } else if !is_fine {
            output.say(
                "`rep install SOURCE --force` puts the source's version back, `rep remove NAME --force` takes it away",
            );
        }
    }
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}
