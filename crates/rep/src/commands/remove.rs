//! `rep remove`: takes away what was installed, and nothing else.

use std::path::PathBuf;

use rep_check::render::visible;
use rep_package::journal::Step;
use rep_package::lock::{Installed, Lock};
use serde_json::json;

use super::install::named;
use crate::exit::{Exit, Failure};
use crate::installed::{Scope, ScopeArgs};
use crate::output::Output;

/// Remove installed skills
#[derive(clap::Args)]
#[command(
    after_help = "Only what the lock file says was installed is removed, and only while it is as it was (--force removes it nevertheless). With --host the skill stays for the other hosts.\n\nExamples:\n  rep remove pdf\n  rep remove pdf --host claude-code\n  rep remove pdf docx --scope personal"
)]
pub(crate) struct Args {
    /// The skills
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Only for this host; may be given several times
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Remove what was changed since, too
    #[arg(long)]
    force: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    remove(args, output).map_err(|failure| failure.json(args.json))
}

fn remove(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = Scope::of(&args.scope)?;
    let hosts = named(&args.host)?;
    let turn = scope.turn()?;
    let mut lock = scope.lock()?;
    let (mut steps, mut removed) = (Vec::new(), Vec::new());
    for name in &args.names {
        let skill = installed(&lock, name, &scope)?;
        if !args.force {
            unchanged(name, &skill, &scope)?;
        }
        let gone = if hosts.is_empty() {
            all(name, &skill, &scope)
        } else {
            some(name, &skill, &hosts, &scope, &mut lock, output)
        };
        if hosts.is_empty() || gone.is_all {
            lock.remove(name);
        }
        removed.extend(gone.paths.iter().map(|path| scope.shown(path)));
        steps.extend(gone.paths.into_iter().map(Step::Gone));
    }
    turn.apply(&steps, &lock.text())?;
    if args.json {
        output.json(&json!({ "scope": scope.name(), "removed": removed }));
        return Ok(Exit::Fine);
    }
    for path in &removed {
        output.data(&format!("{}\n", visible(path)));
    }
    output.say(&format!("removed {}", args.names.join(", ")));
    Ok(Exit::Fine)
}

/// The skill a name means in the lock file.
pub(super) fn installed(lock: &Lock, name: &str, scope: &Scope) -> Result<Installed, Failure> {
    let Some(skill) = lock.get(name) else {
        let message =
            format!("`{name}` is not in the lock file of the {} (`{}`)", scope.name(), scope.lock_file.display());
        let failure = Failure::unable("NOT_INSTALLED", message);
        let names = lock.names();
        let near = names
            .iter()
            .map(|known| (strsim::jaro_winkler(name, known), known))
            .max_by(|one, two| one.0.total_cmp(&two.0));
        return Err(match near {
            Some((score, near)) if score > 0.75 => failure.hint(format!("did you mean `{near}`?")),
            _ => failure.hint("--scope says whose skills are meant"),
        });
    };
    Ok(skill)
}

/// Refuses where something is not as it was installed. What is gone already need not be removed.
fn unchanged(name: &str, skill: &Installed, scope: &Scope) -> Result<(), Failure> {
    if skill.is_foreign {
        let message = format!("`{name}` was installed by another tool, and the lock file does not say where");
        return Err(Failure::unable("NOT_OURS", message)
            .hint(format!("`npx skills remove {name}` removes what that tool installed")));
    }
    match scope.problems(name, skill).into_iter().find(|problem| !matches!(problem.kind, "missing" | "broken")) {
        None => Ok(()),
        Some(problem) => {
            let message =
                format!("`{}` is not as it was installed, and was not removed: {}", problem.path, problem.message);
            Err(Failure::unable("CHANGED", message).hint("keep what is yours elsewhere; --force removes it"))
        }
    }
}

struct Gone {
    paths: Vec<PathBuf>,
    is_all: bool,
}

/// Every place of a skill, links before the folder they lead to.
fn all(name: &str, skill: &Installed, scope: &Scope) -> Gone {
    let mut places: Vec<_> =
        skill.places.iter().filter_map(|put| Some((put.link.is_none(), scope.place(name, put)?))).collect();
    places.retain(|(_, path)| std::fs::symlink_metadata(path).is_ok());
    places.sort();
    Gone { paths: places.into_iter().map(|(_, path)| path).collect(), is_all: true }
}

/// The places only these hosts need. A folder that others lead to stays.
fn some(name: &str, skill: &Installed, hosts: &[String], scope: &Scope, lock: &mut Lock, output: &mut Output) -> Gone {
    let left: Vec<String> = skill.hosts.iter().filter(|host| !hosts.contains(host)).cloned().collect();
    if left.is_empty() {
        return all(name, skill, scope);
    }
    let folder = |host: &String| scope.folder(host).map(|folder| folder.join(name));
    let needed: Vec<PathBuf> = left.iter().filter_map(folder).collect();
    let dropped: Vec<PathBuf> = hosts.iter().filter_map(folder).collect();
    let has_links = skill
        .places
        .iter()
        .any(|put| put.link.is_some() && scope.place(name, put).is_some_and(|path| !dropped.contains(&path)));
    let (mut paths, mut after) = (Vec::new(), skill.clone());
    after.places.retain(|put| {
        let Some(path) = scope.place(name, put).filter(|path| dropped.contains(path) && !needed.contains(path)) else {
            return true;
        };
        if put.link.is_none() && has_links {
            output.say(&format!("`{}` stays: other hosts lead there", put.path));
            return true;
        }
        if std::fs::symlink_metadata(&path).is_ok() {
            paths.push(path);
        }
        false
    });
    after.hosts = left;
    lock.put(name, &after);
    Gone { paths, is_all: false }
}
