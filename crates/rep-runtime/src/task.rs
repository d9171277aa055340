//! Tasks: calls that continue after their response, and can be queried, awaited and cancelled from any
//! process of the user.
//!
//! The store is one SQLite file, `tasks.db` (schema `user_version` 1). A task belongs to the process that
//! runs it. If that process is gone without recording an end, the task is `lost`. Cancelling sets a flag in
//! the store, which the owner's [`TaskCancelWatcher`] notices and turns into a [`Cancel`]. No signal is sent,
//! because the process id may have been reused.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

use crate::database;
use crate::outcome::{Outcome, RunVerdict};
use crate::plan::Plan;
use rep_sandbox::Cancel;
use rep_storage::files::random_bytes;
use rep_storage::owner::ProcessOwner;
use rep_storage::time;

/// How often an owner checks whether its task should be cancelled.
const WATCH_INTERVAL_MS: u64 = 100;

/// The task store could not be used.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} in the task store `{}`: {reason}", path.display())]
pub struct TaskError {
    action: &'static str,
    path: PathBuf,
    reason: String,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// The task is running.
    Running,
    /// The task succeeded.
    Done,
    /// The task failed.
    Failed,
    /// The task was cancelled.
    Cancelled,
    /// The owner is gone without recording an end.
    Lost,
}

impl TaskState {
    const ALL: [TaskState; 5] =
        [TaskState::Running, TaskState::Done, TaskState::Failed, TaskState::Cancelled, TaskState::Lost];

    /// Returns the word used in output and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            TaskState::Running => "running",
            TaskState::Done => "done",
            TaskState::Failed => "failed",
            TaskState::Cancelled => "cancelled",
            TaskState::Lost => "lost",
        }
    }

    fn from_name(word: &str) -> Option<TaskState> {
        TaskState::ALL.into_iter().find(|state| state.name() == word)
    }
}

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The skill, by its qualified name.
    pub skill: String,
    /// The tool.
    pub tool: String,
    /// Its state.
    pub state: TaskState,
    /// Whether cancellation was requested.
    pub is_cancel_requested: bool,
    /// The result object or error envelope, redacted by the owner.
    pub result: Option<Value>,
    /// When it was created, as sortable text.
    pub created: String,
    /// When it last changed.
    pub updated: String,
    /// The process that runs it.
    pub owner: ProcessOwner,
}

/// The tasks of one user.
pub struct TaskStore {
    path: PathBuf,
    connection: Connection,
}

impl TaskStore {
    /// Opens the store in a directory, and creates it if it does not exist.
    pub fn open(folder: &Path) -> Result<Self, TaskError> {
        let path = folder.join("tasks.db");
        let connection = database::open_database(&path, &[SCHEMA_SQL]).map_err(|reason| TaskError {
            action: "look",
            path: path.clone(),
            reason,
        })?;
        Ok(Self { path, connection })
    }

    fn error_for(&self, action: &'static str) -> impl FnOnce(rusqlite::Error) -> TaskError + use<> {
        let path = self.path.clone();
        move |error| TaskError { action, path, reason: error.to_string() }
    }

    /// Creates a task that this process runs.
    pub fn create(&self, skill: &str, tool: &str, at: SystemTime) -> Result<Task, TaskError> {
        let owner = ProcessOwner::current();
        let (id, at) = (format!("task_{}", hex::encode(random_bytes::<8>())), time::format_timestamp(at));
        let task = Task {
            id,
            skill: skill.to_owned(),
            tool: tool.to_owned(),
            state: TaskState::Running,
            is_cancel_requested: false,
            result: None,
            created: at.clone(),
            updated: at,
            owner,
        };
        let values = params![task.id, skill, tool, task.created, task.owner.pid, task.owner.started];
        let sql = "INSERT INTO tasks (id, skill, tool, state, created, updated, pid, pid_started) \
                   VALUES (?1, ?2, ?3, 'running', ?4, ?4, ?5, ?6)";
        self.connection.execute(sql, values).map_err(self.error_for("create a task"))?;
        Ok(task)
    }

    /// Finishes a running task and returns whether it did: a finished task does not change.
    pub fn finish(
        &self,
        id: &str,
        state: TaskState,
        result: Option<&Value>,
        at: SystemTime,
    ) -> Result<bool, TaskError> {
        let sql = "UPDATE tasks SET state = ?2, result = ?3, updated = ?4 WHERE id = ?1 AND state = 'running'";
        let values = params![id, state.name(), result.map(Value::to_string), time::format_timestamp(at)];
        Ok(self.connection.execute(sql, values).map_err(self.error_for("finish a task"))? > 0)
    }

    /// Returns a task, or `None` if no task has this id.
    pub fn get(&self, id: &str, now: SystemTime) -> Result<Option<Task>, TaskError> {
        self.mark_lost_tasks(now)?;
        let sql = format!("{SELECT_TASKS} WHERE id = ?1");
        self.connection.query_row(&sql, [id], task_from_row).optional().map_err(self.error_for("find a task"))
    }

    /// Lists all tasks, newest last.
    pub fn list(&self, now: SystemTime) -> Result<Vec<Task>, TaskError> {
        self.mark_lost_tasks(now)?;
        self.query_tasks(&format!("{SELECT_TASKS} ORDER BY created, id"))
    }

    fn query_tasks(&self, sql: &str) -> Result<Vec<Task>, TaskError> {
        let read = || self.connection.prepare(sql)?.query_map([], task_from_row)?.collect::<Result<Vec<Task>, _>>();
        read().map_err(self.error_for("list tasks"))
    }

    /// Requests the cancellation of a task and returns the task. A finished task does not change.
    pub fn cancel(&self, id: &str, now: SystemTime) -> Result<Option<Task>, TaskError> {
        let sql = "UPDATE tasks SET cancel = 1, updated = ?2 WHERE id = ?1 AND state = 'running'";
        self.connection
            .execute(sql, params![id, time::format_timestamp(now)])
            .map_err(self.error_for("cancel a task"))?;
        self.get(id, now)
    }

    /// Marks the tasks whose owner is gone.
    fn mark_lost_tasks(&self, now: SystemTime) -> Result<(), TaskError> {
        let sql = "UPDATE tasks SET state = 'lost', updated = ?2 \
                   WHERE id = ?1 AND state = 'running' AND pid = ?3 AND pid_started = ?4";
        for task in self.query_tasks(&format!("{SELECT_TASKS} WHERE state = 'running'"))? {
            if !task.owner.is_alive() {
                let values = params![task.id, time::format_timestamp(now), task.owner.pid, task.owner.started];
                self.connection.execute(sql, values).map_err(self.error_for("mark a task"))?;
            }
        }
        Ok(())
    }

    fn is_cancel_requested(&self, id: &str) -> bool {
        let sql = "SELECT cancel FROM tasks WHERE id = ?1";
        self.connection.query_row(sql, [id], |row| row.get(0)).unwrap_or(false)
    }
}

const SELECT_TASKS: &str =
    "SELECT id, skill, tool, state, cancel, result, created, updated, pid, pid_started FROM tasks";

fn task_from_row(row: &Row<'_>) -> rusqlite::Result<Task> {
    let (state, result): (String, Option<String>) = (row.get(3)?, row.get(5)?);
    Ok(Task {
        id: row.get(0)?,
        skill: row.get(1)?,
        tool: row.get(2)?,
        // An unknown state is treated as lost, so that no caller waits for it.
        state: TaskState::from_name(&state).unwrap_or(TaskState::Lost),
        is_cancel_requested: row.get(4)?,
        result: result.and_then(|text| serde_json::from_str(&text).ok()),
        created: row.get(6)?,
        updated: row.get(7)?,
        owner: ProcessOwner { pid: row.get(8)?, started: row.get(9)? },
    })
}

/// The tables of the store.
const SCHEMA_SQL: &str = "CREATE TABLE tasks (id TEXT PRIMARY KEY, skill TEXT NOT NULL, tool TEXT NOT NULL, state TEXT NOT NULL, \
                    cancel INTEGER NOT NULL DEFAULT 0, result TEXT, created TEXT NOT NULL, updated TEXT NOT NULL, \
                    pid INTEGER NOT NULL, pid_started TEXT NOT NULL) STRICT;";

/// Watches for the cancellation of a task until it is dropped.
pub struct TaskCancelWatcher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TaskCancelWatcher {
    /// Watches a task of this process and triggers `cancel` when its cancellation is requested.
    pub fn start(folder: &Path, id: &str, cancel: Cancel) -> Result<Self, TaskError> {
        let (tasks, id) = (TaskStore::open(folder)?, id.to_owned());
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(WATCH_INTERVAL_MS)) == Err(RecvTimeoutError::Timeout) {
                if tasks.is_cancel_requested(&id) {
                    cancel.cancel();
                    break;
                }
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

/// A run of this process that continues as a task. It ends when the task is cancelled.
pub struct RunningTask {
    /// The task's id.
    pub id: String,
    tasks: TaskStore,
    _watch: TaskCancelWatcher,
}

impl RunningTask {
    /// Creates a task for a run in the store of a directory.
    pub fn begin(folder: &Path, plan: &Plan, cancel: &Cancel, at: SystemTime) -> Result<Self, TaskError> {
        let tasks = TaskStore::open(folder)?;
        let id = tasks.create(&plan.skill, &plan.tool, at)?.id;
        let watch = TaskCancelWatcher::start(folder, &id, cancel.clone())?;
        Ok(Self { id, tasks, _watch: watch })
    }

    /// Returns the response to a call that continues as this task.
    pub fn to_json(&self) -> Value {
        json!({ "status": "async", "task": { "id": self.id, "status": TaskState::Running.name() } })
    }

    /// Stores the outcome of the run.
    pub fn finish(&self, outcome: &Outcome, at: SystemTime) -> Result<(), TaskError> {
        let state = match outcome.verdict {
            RunVerdict::Succeeded => TaskState::Done,
            RunVerdict::Interrupted => TaskState::Cancelled,
            RunVerdict::Refused | RunVerdict::Failed => TaskState::Failed,
        };
        self.tasks.finish(&self.id, state, Some(&outcome.to_json()), at)?;
        Ok(())
    }
}

impl Drop for TaskCancelWatcher {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread only polls and cancels; its result is not needed.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
