//! `rep tasks`: lists, shows and cancels background calls.

use std::time::SystemTime;

use rep_check::render::escape_invisible;
use rep_runtime::task::{Task, TaskState, TaskStore};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;

/// List, show or cancel background calls
///
/// `rep run --detach` and clients of a server start tasks. A task whose process ended without a result is `lost`.
/// Cancelling asks the process to stop the tool and everything that the tool started.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep tasks list
  rep tasks get task_0123456789abcdef
  rep tasks cancel task_0123456789abcdef")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: TasksAction,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum TasksAction {
    /// List all tasks
    #[command(after_help = "\
Example:
  rep tasks list --json")]
    List,
    /// Show one task and its result
    #[command(after_help = "\
Example:
  rep tasks get task_0123456789abcdef --json")]
    Get {
        /// The ID of the task
        id: String,
    },
    /// Cancel a task
    #[command(after_help = "\
Example:
  rep tasks cancel task_0123456789abcdef")]
    Cancel {
        /// The ID of the task
        id: String,
    },
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let mut show = || {
        let tasks = TaskStore::open(&data_folder()?)?;
        let now = SystemTime::now();
        match &args.action {
            TasksAction::List => Ok(list_tasks(&tasks.list(now)?, args, output)),
            TasksAction::Get { id } => show_task(tasks.get(id, now)?, id, args, output),
            TasksAction::Cancel { id } => report_cancel(tasks.cancel(id, now)?, id, args, output),
        }
    };
    show().map_err(|failure| failure.json(args.json))
}

fn list_tasks(tasks: &[Task], args: &Args, output: &mut Output) -> Exit {
    if args.json {
        let tasks: Vec<Value> = tasks.iter().map(task_to_json).collect();
        output.write_json(&json!({ "tasks": tasks }));
        return Exit::Fine;
    }
    for task in tasks {
        output.write_data(&format!("{}\n", escape_invisible(&render_task(task))));
    }
    output.print_message(&format!("{} {}", tasks.len(), if tasks.len() == 1 { "task" } else { "tasks" }));
    Exit::Fine
}

fn show_task(task: Option<Task>, id: &str, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let task = task.ok_or_else(|| missing_task(id))?;
    if args.json {
        output.write_json(&task_to_json(&task));
        return Ok(Exit::Fine);
    }
    output.write_data(&format!("{}\n", escape_invisible(&render_task(&task))));
    if let Some(result) = &task.result {
        let lines = format!("{result:#}");
        lines.lines().for_each(|line| output.write_data(&format!("{}\n", escape_invisible(line))));
    }
    Ok(Exit::Fine)
}

fn report_cancel(task: Option<Task>, id: &str, args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let task = task.ok_or_else(|| missing_task(id))?;
    if args.json {
        output.write_json(&task_to_json(&task));
    }
    if task.state == TaskState::Running {
        output.print_message(&format!("asked `{id}` to stop"));
        return Ok(Exit::Fine);
    }
    output.print_message(&format!("`{id}` is already {}", task.state.name()));
    Ok(Exit::Findings)
}

fn missing_task(id: &str) -> Failure {
    let failure = Failure::unable("TASK_NOT_FOUND", format!("task `{id}` not found"));
    failure.hint("run `rep tasks list` to see all tasks")
}

fn render_task(task: &Task) -> String {
    let word = if task.is_cancel_requested && task.state == TaskState::Running { ", asked to stop" } else { "" };
    let at = task.created.replace('T', " ");
    format!("{}  {}:{}  {}{word}  {}", task.id, task.skill, task.tool, task.state.name(), at.trim_end_matches('Z'))
}

fn task_to_json(task: &Task) -> Value {
    json!({
        "id": task.id,
        "skill": task.skill,
        "tool": task.tool,
        "status": task.state.name(),
        "cancel_requested": task.is_cancel_requested,
        "result": task.result,
        "created_at": task.created,
        "updated_at": task.updated,
        "pid": task.owner.pid,
    })
}
