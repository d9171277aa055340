//! Tasks: calls that go on after their answer, looked up, waited for and cancelled from any process of the user.
//!
//! The store is one SQLite file, `tasks.db` (its form is `user_version` 1). A task belongs to the process that runs it. Where
//! that process is gone and left no end, the task is `lost`. To cancel is to leave a wish in the store, which the owner's [`Watch`]
//! sees and turns into a [`Cancel`]: no signal is sent to a number that may be another's by then.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

use crate::database;
use crate::outcome::{Outcome, Verdict};
use crate::plan::Plan;
use rep_sandbox::Cancel;
use rep_storage::files::random;
use rep_storage::owner::Owner;
use rep_storage::time;

const VERSION: i64 = 1;
/// How often an owner looks whether somebody wants its task cancelled.
const WATCH_MS: u64 = 100;

/// The task store could not be used.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} in the task store `{}`: {reason}", path.display())]
pub struct TaskError {
    action: &'static str,
    path: PathBuf,
    reason: String,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    Running,
    /// It ended well.
    Done,
    /// It ended with an error.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// Its owner is gone and left no end.
    Lost,
}

impl State {
    const ALL: [State; 5] = [State::Running, State::Done, State::Failed, State::Cancelled, State::Lost];

    /// The word in output and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
            State::Lost => "lost",
        }
    }

    fn named(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == word)
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
    /// Where it stands.
    pub state: State,
    /// Whether somebody wants it cancelled.
    pub is_cancel_wanted: bool,
    /// What it gave: a result object or an error envelope, redacted by who ran it.
    pub result: Option<Value>,
    /// When it was made, as text that sorts.
    pub created: String,
    /// When it last changed.
    pub updated: String,
    /// Who runs it.
    pub owner: Owner,
}

/// The tasks of one user.
pub struct Tasks {
    path: PathBuf,
    connection: Connection,
}

impl Tasks {
    /// Opens the store in a folder, and makes it where there is none.
    pub fn open(folder: &Path) -> Result<Self, TaskError> {
        let path = folder.join("tasks.db");
        let connection = database::open(&path, FORM, VERSION).map_err(|reason| TaskError {
            action: "look",
            path: path.clone(),
            reason,
        })?;
        Ok(Self { path, connection })
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(rusqlite::Error) -> TaskError + use<> {
        let path = self.path.clone();
        move |error| TaskError { action, path, reason: error.to_string() }
    }

    /// Makes a task that this process runs.
    pub fn create(&self, skill: &str, tool: &str, at: SystemTime) -> Result<Task, TaskError> {
        let owner = Owner::this();
        let (id, at) = (format!("task_{}", hex::encode(random::<8>())), time::text(at));
        let task = Task {
            id,
            skill: skill.to_owned(),
            tool: tool.to_owned(),
            state: State::Running,
            is_cancel_wanted: false,
            result: None,
            created: at.clone(),
            updated: at,
            owner,
        };
        let values = params![task.id, skill, tool, task.created, task.owner.pid, task.owner.started];
        let sql = "INSERT INTO tasks (id, skill, tool, state, created, updated, pid, pid_started) \
                   VALUES (?1, ?2, ?3, 'running', ?4, ?4, ?5, ?6)";
        self.connection.execute(sql, values).map_err(self.failed("make a task"))?;
        Ok(task)
    }

    /// Ends a task that still runs. Says whether it did: what ended stays as it ended.
    pub fn finish(&self, id: &str, state: State, result: Option<&Value>, at: SystemTime) -> Result<bool, TaskError> {
        let sql = "UPDATE tasks SET state = ?2, result = ?3, updated = ?4 WHERE id = ?1 AND state = 'running'";
        let values = params![id, state.name(), result.map(Value::to_string), time::text(at)];
        Ok(self.connection.execute(sql, values).map_err(self.failed("end a task"))? > 0)
    }

    /// A task; `None` where there is none of this id.
    pub fn get(&self, id: &str, now: SystemTime) -> Result<Option<Task>, TaskError> {
        self.sweep(now)?;
        let sql = format!("{SELECT} WHERE id = ?1");
        self.connection.query_row(&sql, [id], task).optional().map_err(self.failed("find a task"))
    }

    /// All tasks, newest last.
    pub fn list(&self, now: SystemTime) -> Result<Vec<Task>, TaskError> {
        self.sweep(now)?;
        self.read(&format!("{SELECT} ORDER BY created, id"))
    }

    fn read(&self, sql: &str) -> Result<Vec<Task>, TaskError> {
        let read = || self.connection.prepare(sql)?.query_map([], task)?.collect::<Result<Vec<Task>, _>>();
        read().map_err(self.failed("list tasks"))
    }

    /// Asks for a task to be cancelled. The task as it is then; one that ended stays as it ended.
    pub fn cancel(&self, id: &str, now: SystemTime) -> Result<Option<Task>, TaskError> {
        let sql = "UPDATE tasks SET cancel = 1, updated = ?2 WHERE id = ?1 AND state = 'running'";
        self.connection.execute(sql, params![id, time::text(now)]).map_err(self.failed("cancel a task"))?;
        self.get(id, now)
    }

    /// Marks the tasks whose owner is gone.
    fn sweep(&self, now: SystemTime) -> Result<(), TaskError> {
        let sql = "UPDATE tasks SET state = 'lost', updated = ?2 \
                   WHERE id = ?1 AND state = 'running' AND pid = ?3 AND pid_started = ?4";
        for task in self.read(&format!("{SELECT} WHERE state = 'running'"))? {
            if !task.owner.is_alive() {
                let values = params![task.id, time::text(now), task.owner.pid, task.owner.started];
                self.connection.execute(sql, values).map_err(self.failed("mark a task"))?;
            }
        }
        Ok(())
    }

    fn is_cancel_wanted(&self, id: &str) -> bool {
        let sql = "SELECT cancel FROM tasks WHERE id = ?1";
        self.connection.query_row(sql, [id], |row| row.get(0)).unwrap_or(false)
    }
}

const SELECT: &str = "SELECT id, skill, tool, state, cancel, result, created, updated, pid, pid_started FROM tasks";

fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let (state, result): (String, Option<String>) = (row.get(3)?, row.get(5)?);
    Ok(Task {
        id: row.get(0)?,
        skill: row.get(1)?,
        tool: row.get(2)?,
        // A word this version does not know is nothing to wait for.
        state: State::named(&state).unwrap_or(State::Lost),
        is_cancel_wanted: row.get(4)?,
        result: result.and_then(|text| serde_json::from_str(&text).ok()),
        created: row.get(6)?,
        updated: row.get(7)?,
        owner: Owner { pid: row.get(8)?, started: row.get(9)? },
    })
}

/// The tables of the store.
const FORM: &str = "CREATE TABLE tasks (id TEXT PRIMARY KEY, skill TEXT NOT NULL, tool TEXT NOT NULL, state TEXT NOT NULL, \
                    cancel INTEGER NOT NULL DEFAULT 0, result TEXT, created TEXT NOT NULL, updated TEXT NOT NULL, \
                    pid INTEGER NOT NULL, pid_started TEXT NOT NULL) STRICT;";

/// Watches for the wish to cancel a task, for as long as the value lives.
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches a task of this process; when somebody wants it cancelled, `cancel` is asked.
    pub fn start(folder: &Path, id: &str, cancel: Cancel) -> Result<Self, TaskError> {
        let (tasks, id) = (Tasks::open(folder)?, id.to_owned());
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(WATCH_MS)) == Err(RecvTimeoutError::Timeout) {
                if tasks.is_cancel_wanted(&id) {
                    cancel.cancel();
                    break;
                }
            }
        });
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

/// A run of this process that goes on as a task. It ends when somebody wants the task cancelled.
pub struct RunningTask {
    /// The task's id.
    pub id: String,
    tasks: Tasks,
    _watch: Watch,
}

impl RunningTask {
    /// Makes a task of a run in the store of a directory.
    pub fn begin(folder: &Path, plan: &Plan, cancel: &Cancel, at: SystemTime) -> Result<Self, TaskError> {
        let tasks = Tasks::open(folder)?;
        let id = tasks.create(&plan.skill, &plan.tool, at)?.id;
        let watch = Watch::start(folder, &id, cancel.clone())?;
        Ok(Self { id, tasks, _watch: watch })
    }

    /// The answer to a call that goes on as this task.
    pub fn value(&self) -> Value {
        json!({ "status": "async", "task": { "id": self.id, "status": State::Running.name() } })
    }

    /// Stores what came of the run.
    pub fn finish(&self, outcome: &Outcome, at: SystemTime) -> Result<(), TaskError> {
        let state = match outcome.verdict {
            Verdict::Fine => State::Done,
            Verdict::Interrupted => State::Cancelled,
            Verdict::Refused | Verdict::Failed => State::Failed,
        };
        self.tasks.finish(&self.id, state, Some(&outcome.value()), at)?;
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread only looks and cancels; there is nothing of its end to tell.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
