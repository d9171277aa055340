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
    let (mine, other) = (Tasks::open(folder.path()).unwrap(), Tasks::open(folder.path()).unwrap());
    let task = mine.create("pdf", "fill", at(1)).unwrap();
    assert_eq!(other.get(&task.id, at(2)).unwrap(), Some(task.clone()));
    assert!(mine.finish(&task.id, State::Done, Some(&json!({ "pages": 3 })), at(3)).unwrap());
    assert!(!mine.finish(&task.id, State::Failed, None, at(4)).unwrap());
    let found = other.cancel(&task.id, at(5)).unwrap().unwrap();
    assert_eq!((found.state, found.is_cancel_wanted, found.result), (State::Done, false, Some(json!({ "pages": 3 }))));
    assert_eq!(found.updated, time::text(at(3)));
    assert_eq!(other.get("task_none", at(6)).unwrap(), None);
}

#[test]
fn a_task_whose_owner_is_gone_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::open(folder.path()).unwrap();
    let task = tasks.create("pdf", "fill", at(1)).unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let owner = Owner::of(child.id()).unwrap();
    // The task is handed to another process, which then dies.
    let sql = "UPDATE tasks SET pid = ?1, pid_started = ?2";
    tasks.connection.execute(sql, params![owner.pid, owner.started]).unwrap();
    assert_eq!(tasks.get(&task.id, at(2)).unwrap().unwrap().state, State::Running);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(tasks.get(&task.id, at(3)).unwrap().unwrap().state, State::Lost);
    assert!(!tasks.finish(&task.id, State::Done, None, at(4)).unwrap());
}

#[test]
fn the_wish_to_cancel_reaches_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::open(folder.path()).unwrap();
    let task = tasks.create("pdf", "fill", at(1)).unwrap();
    let cancel = Cancel::default();
    let mut watch = Watch::start(folder.path(), &task.id, cancel.clone()).unwrap();
    assert!(tasks.cancel(&task.id, at(2)).unwrap().unwrap().is_cancel_wanted);
    // The watching thread ends by itself once it has seen the wish.
    watch.thread.take().unwrap().join().unwrap();
    assert!(cancel.is_cancelled());
    let other = tasks.create("pdf", "fill", at(3)).unwrap();
    let untouched = Cancel::default();
    drop(Watch::start(folder.path(), &other.id, untouched.clone()).unwrap());
    assert!(!untouched.is_cancelled());
}

#[test]
fn a_store_that_is_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    Tasks::open(folder.path()).unwrap().connection.execute_batch("PRAGMA user_version = 9").unwrap();
    assert!(Tasks::open(folder.path()).is_err_and(|error| error.to_string().contains("newer rep")));
    let folder = tempfile::tempdir().unwrap();
    files::replace(&folder.path().join("tasks.db"), &[b'x'; 4096]).unwrap();
    assert!(Tasks::open(folder.path()).is_err_and(|error| error.to_string().contains("not a database")));
}

#[test]
fn many_threads_open_and_use_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let tasks = Tasks::open(folder.path()).unwrap();
                for _ in 0..5 {
                    let task = tasks.create("pdf", "fill", at(1)).unwrap();
                    assert!(tasks.finish(&task.id, State::Done, None, at(2)).unwrap());
                }
            });
        }
    });
    let tasks = Tasks::open(folder.path()).unwrap().list(at(3)).unwrap();
    assert_eq!(tasks.iter().filter(|task| task.state == State::Done).count(), 40);
}
