//! `rep tasks`: calls that go on after their answer.

use std::time::SystemTime;

use rep_check::render::visible;
use rep_runtime::task::{State, Task, Tasks};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;

/// Look at calls that go on after their answer, or cancel one
#[derive(clap::Args)]
#[command(
    after_help = "A task belongs to the process that runs it. One whose process is gone without an end is `lost`. To cancel is to ask: the process that runs the task ends it, and with it everything it started.\n\nExamples:\n  rep tasks list\n  rep tasks get task_0123456789abcdef --json\n  rep tasks cancel task_0123456789abcdef"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the tasks there are
    List,
    /// Show one task, with its result
    Get {
        /// The task
        id: String,
    },
    /// Ask for a task to be cancelled
    Cancel {
        /// The task
        id: String,
    },
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut show = || {
        let tasks = Tasks::open(&data_folder()?)?;
        let now = SystemTime::now();
        match &args.action {
            Action::List => Ok(list(&tasks.list(now)?, args, output)),
            Action::Get { id } => one(tasks.get(id, now)?, id, args, output),
            Action::Cancel { id } => cancel(tasks.cancel(id, now)?, id, args, output),
        }
    };
    show().map_err(|failure| failure.json(args.json))
}

fn list(tasks: &[Task], args: &Args, output: &mut Output) -> Exit {
    if args.json {
        let tasks: Vec<Value> = tasks.iter().map(document).collect();
        output.json(&json!({ "tasks": tasks }));
        return Exit::Fine;
    }
    for task in tasks {
        output.data(&format!("{}\n", visible(&line(task))));
    }
    output.say(&format!("{} {}", tasks.len(), if tasks.len() == 1 { "task" } else { "tasks" }));
    Exit::Fine
}

fn one(task: Option<Task>, id: &str, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let task = task.ok_or_else(|| missing(id))?;
    if args.json {
        output.json(&document(&task));
        return Ok(Exit::Fine);
    }
    output.data(&format!("{}\n", visible(&line(&task))));
    if let Some(result) = &task.result {
        let lines = format!("{result:#}");
        lines.lines().for_each(|line| output.data(&format!("{}\n", visible(line))));
    }
    Ok(Exit::Fine)
}

fn cancel(task: Option<Task>, id: &str, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let task = task.ok_or_else(|| missing(id))?;
    if args.json {
        output.json(&document(&task));
    }
    if task.state == State::Running {
        output.say(&format!("`{id}` is asked to end"));
        return Ok(Exit::Fine);
    }
    output.say(&format!("`{id}` is {} already", task.state.name()));
    Ok(Exit::Findings)
}

fn missing(id: &str) -> Failure {
    let failure = Failure::unable("TASK_NOT_FOUND", format!("there is no task `{id}`"));
    failure.hint("`rep tasks list` shows the tasks there are")
}

fn line(task: &Task) -> String {
    let word = if task.is_cancel_wanted && task.state == State::Running { ", asked to end" } else { "" };
    let at = task.created.replace('T', " ");
    format!("{}  {}:{}  {}{word}  {}", task.id, task.skill, task.tool, task.state.name(), at.trim_end_matches('Z'))
}

fn document(task: &Task) -> Value {
    json!({
        "id": task.id,
        "skill": task.skill,
        "tool": task.tool,
        "status": task.state.name(),
        "cancel_requested": task.is_cancel_wanted,
        "result": task.result,
        "created_at": task.created,
        "updated_at": task.updated,
        "pid": task.owner.pid,
    })
}
