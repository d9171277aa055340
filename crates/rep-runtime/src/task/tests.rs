#![expect(clippy::disallowed_methods, reason = "a task needs a process that dies")]

use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use serde_json::json;

use super::*;
use rep_storage::files;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn a_task_ends_once_and_is_seen_by_other_connections() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, other) = (TaskStore::open(folder.path()).unwrap(), TaskStore::open(folder.path()).unwrap());
    let task = mine.create("pdf", "fill", at(1)).unwrap();
    assert_eq!(other.get(&task.id, at(2)).unwrap(), Some(task.clone()));
    assert!(mine.finish(&task.id, TaskState::Done, Some(&json!({ "pages": 3 })), at(3)).unwrap());
    assert!(!mine.finish(&task.id, TaskState::Failed, None, at(4)).unwrap());
    let found = other.cancel(&task.id, at(5)).unwrap().unwrap();
    assert_eq!(
        (found.state, found.is_cancel_requested, found.result),
        (TaskState::Done, false, Some(json!({ "pages": 3 })))
    );
    assert_eq!(found.updated, time::format_timestamp(at(3)));
    assert_eq!(other.get("task_none", at(6)).unwrap(), None);
}

#[test]
fn a_task_whose_owner_is_gone_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = TaskStore::open(folder.path()).unwrap();
    let task = tasks.create("pdf", "fill", at(1)).unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let owner = ProcessOwner::from_pid(child.id()).unwrap();
    // The task is assigned to another process, which then exits.
    let sql = "UPDATE tasks SET pid = ?1, pid_started = ?2";
    tasks.connection.execute(sql, params![owner.pid, owner.started]).unwrap();
    assert_eq!(tasks.get(&task.id, at(2)).unwrap().unwrap().state, TaskState::Running);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(tasks.get(&task.id, at(3)).unwrap().unwrap().state, TaskState::Lost);
    assert!(!tasks.finish(&task.id, TaskState::Done, None, at(4)).unwrap());
}

#[test]
fn the_wish_to_cancel_reaches_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = TaskStore::open(folder.path()).unwrap();
    let task = tasks.create("pdf", "fill", at(1)).unwrap();
    let cancel = Cancel::default();
    let mut watch = TaskCancelWatcher::start(folder.path(), &task.id, cancel.clone()).unwrap();
    assert!(tasks.cancel(&task.id, at(2)).unwrap().unwrap().is_cancel_requested);
    // The watching thread ends automatically once it has seen the request.
    watch.thread.take().unwrap().join().unwrap();
    assert!(cancel.is_cancelled());
    let other = tasks.create("pdf", "fill", at(3)).unwrap();
    let untouched = Cancel::default();
    drop(TaskCancelWatcher::start(folder.path(), &other.id, untouched.clone()).unwrap());
    assert!(!untouched.is_cancelled());
}

#[test]
fn a_store_that_is_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    TaskStore::open(folder.path()).unwrap().connection.execute_batch("PRAGMA user_version = 9").unwrap();
    assert!(TaskStore::open(folder.path()).is_err_and(|error| error.to_string().contains("newer rep")));
    let folder = tempfile::tempdir().unwrap();
    files::replace_private(&folder.path().join("tasks.db"), &[b'x'; 4096]).unwrap();
    assert!(TaskStore::open(folder.path()).is_err_and(|error| error.to_string().contains("not a database")));
}

#[test]
fn many_threads_open_and_use_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let tasks = TaskStore::open(folder.path()).unwrap();
                for _ in 0..5 {
                    let task = tasks.create("pdf", "fill", at(1)).unwrap();
                    assert!(tasks.finish(&task.id, TaskState::Done, None, at(2)).unwrap());
                }
            });
        }
    });
    let tasks = TaskStore::open(folder.path()).unwrap().list(at(3)).unwrap();
    assert_eq!(tasks.iter().filter(|task| task.state == TaskState::Done).count(), 40);
}
