//! The state that commands left, by skill and session, shared by all processes of the user.
//!
//! The store is one SQLite file, `state.db` (its form is `user_version` 1). What a command did is applied to the state as it is at
//! that moment, in one transaction that nobody writes beside: two commands that end at once both count. An entity that was
//! ended keeps what it was, who made and who ended it, and when.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::state::{Ended, Entity, State};
use rep_model::Document;
use rep_model::uasp::Command;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde_json::{Map, Value, json};

use crate::database;
use rep_storage::files;
use rep_storage::time;

const VERSION: i64 = 1;
/// How much of what a command said is kept.
pub const VALUE_BYTES_MAX: usize = 64 << 10;
/// The longest name of a session or an entity.
const NAME_BYTES_MAX: usize = 256;
/// The most entities of an export.
const ENTITIES_MAX: usize = 10_000;

/// The store could not be used, or what was to be put in does not fit.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} in the state store `{}`: {reason}", path.display())]
pub struct SessionError {
    action: &'static str,
    path: PathBuf,
    reason: String,
}

/// A session of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its name.
    pub name: String,
    /// How many entities it knows.
    pub entities: u32,
    /// How many of them are valid.
    pub valid: u32,
    /// When it last changed, as text that sorts.
    pub updated: String,
}

/// The sessions of one user.
pub struct Sessions {
    path: PathBuf,
    connection: Connection,
}

/// What a name of a session must be.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control)
}

impl Sessions {
    /// Opens the store in a folder, and makes it where there is none.
    pub fn open(folder: &Path) -> Result<Self, SessionError> {
        let path = folder.join("state.db");
        let connection = database::open(&path, FORM, VERSION).map_err(|reason| SessionError {
            action: "look",
            path: path.clone(),
            reason,
        })?;
        Ok(Self { path, connection })
    }

    /// Opens the store in a folder where there is one: who only looks leaves nothing behind.
    pub fn there(folder: &Path) -> Result<Option<Self>, SessionError> {
        match files::open_there(&folder.join("state.db")) {
            Ok(None) => Ok(None),
            _ => Self::open(folder).map(Some),
        }
    }

    fn failed(&self, action: &'static str) -> impl FnOnce(rusqlite::Error) -> SessionError + use<> {
        let path = self.path.clone();
        move |error| SessionError { action, path, reason: error.to_string() }
    }

    /// The state of a session: what was kept, over what the skill speaks of.
    pub fn state(&self, document: &Document, skill: &str, session: &str) -> Result<State, SessionError> {
        read(&self.connection, State::new(document), skill, session).map_err(self.failed("read the state"))
    }

    /// Applies what a command did, to the state as it is now. Gives the state that came of it.
    pub fn apply(
        &mut self,
        document: &Document,
        skill: &str,
        session: &str,
        command: &Command,
        ended: &Ended,
        at: SystemTime,
    ) -> Result<State, SessionError> {
        let failed = self.failed("apply what a command did");
        let ended = match ended {
            Ended::Well(Some(value)) => &Ended::Well(Some(cut(value))),
            other => other,
        };
        let mut work = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut state = read(&transaction, State::new(document), skill, session)?;
            let at = time::text(at);
            state.apply(command, ended, Some(&at));
            for entity in command.creates.iter().chain(&command.invalidates).chain([&command.path]) {
                if let Some(kept) = state.entities.get(&**entity) {
                    write(&transaction, skill, session, entity, kept, &at)?;
                }
            }
            transaction.commit()?;
            Ok(state)
        };
        work().map_err(failed)
    }

    /// Forgets a session of a skill, or all of them. Says how many entities that were.
    pub fn clear(&self, skill: &str, session: Option<&str>) -> Result<usize, SessionError> {
        let failed = || self.failed("clear a session");
        let both = params![skill, session];
        let sql = "DELETE FROM progress WHERE skill = ?1 AND (?2 IS NULL OR session = ?2)";
        self.connection.execute(sql, both).map_err(failed())?;
        let sql = "DELETE FROM entities WHERE skill = ?1 AND (?2 IS NULL OR session = ?2)";
        self.connection.execute(sql, both).map_err(failed())
    }

    /// The sessions of a skill, by name.
    pub fn list(&self, skill: &str) -> Result<Vec<Session>, SessionError> {
        let sql = "SELECT session, COUNT(*), SUM(valid), MAX(updated) FROM entities WHERE skill = ?1 GROUP BY session ORDER BY session";
        let session = |row: &Row<'_>| {
            Ok(Session { name: row.get(0)?, entities: row.get(1)?, valid: row.get(2)?, updated: row.get(3)? })
        };
        let read = || self.connection.prepare(sql)?.query_map([skill], session)?.collect::<Result<Vec<_>, _>>();
        read().map_err(self.failed("list sessions"))
    }

    /// A session as JSON, to be taken in elsewhere.
    pub fn export(&self, skill: &str, session: &str) -> Result<Value, SessionError> {
        let state = read(&self.connection, State::default(), skill, session).map_err(self.failed("read the state"))?;
        let entities: Map<String, Value> =
            state.entities.iter().map(|(name, entity)| (name.clone(), entity_json(entity))).collect();
        Ok(json!({ "version": VERSION, "skill": skill, "session": session, "entities": entities }))
    }

    /// Takes in an export of this skill, in the place of what the session held. Says how many entities it has.
    pub fn import(
        &mut self,
        skill: &str,
        session: &str,
        export: &Value,
        at: SystemTime,
    ) -> Result<usize, SessionError> {
        let path = self.path.clone();
        let unfit = |reason: String| SessionError { action: "take in a session", path: path.clone(), reason };
        let entities = entities_of(skill, export).map_err(unfit)?;
        let failed = self.failed("take in a session");
        let mut work = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM entities WHERE skill = ?1 AND session = ?2", params![skill, session])?;
            let at = time::text(at);
            for (name, entity) in &entities {
                write(&transaction, skill, session, name, entity, &at)?;
            }
            transaction.commit()?;
            Ok(entities.len())
        };
        work().map_err(failed)
    }

    /// How far a workflow came: the steps that are done, and the digest of the workflow they are of.
    pub fn progress(&self, skill: &str, session: &str, workflow: &str) -> Result<Option<(u32, String)>, SessionError> {
        let sql = "SELECT step, digest FROM progress WHERE skill = ?1 AND session = ?2 AND workflow = ?3";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.connection.query_row(sql, [skill, session, workflow], row).optional().map_err(self.failed("read progress"))
    }

    /// Keeps how far a workflow came; `None` where it is over.
    pub fn set_progress(
        &self,
        skill: &str,
        session: &str,
        workflow: &str,
        done: Option<(u32, &str)>,
        at: SystemTime,
    ) -> Result<(), SessionError> {
        let failed = self.failed("keep progress");
        let changed = match done {
            None => {
                let sql = "DELETE FROM progress WHERE skill = ?1 AND session = ?2 AND workflow = ?3";
                self.connection.execute(sql, params![skill, session, workflow])
            }
            Some((step, digest)) => {
                let sql = "INSERT OR REPLACE INTO progress (skill, session, workflow, step, digest, updated) \
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                self.connection.execute(sql, params![skill, session, workflow, step, digest, time::text(at)])
            }
        };
        changed.map(drop).map_err(failed)
    }
}

/// An entity as JSON.
pub fn entity_json(entity: &Entity) -> Value {
    json!({
        "valid": entity.is_valid,
        "value": entity.value,
        "made_by": entity.made_by,
        "made_at": entity.made_at,
        "ended_by": entity.ended_by,
        "ended_at": entity.ended_at,
    })
}

/// The entities of an export, each of them looked at.
fn entities_of(skill: &str, export: &Value) -> Result<BTreeMap<String, Entity>, String> {
    if export.get("version").and_then(Value::as_i64) != Some(VERSION) {
        return Err(format!("its `version` is not {VERSION}; `rep state SKILL --export -` makes what can be taken in"));
    }
    if let Some(other) = export.get("skill").and_then(Value::as_str).filter(|other| *other != skill) {
        return Err(format!("it is of the skill `{other}`, and not of `{skill}`"));
    }
    let entities = export.get("entities").and_then(Value::as_object).ok_or("its `entities` are no mapping")?;
    if entities.len() > ENTITIES_MAX {
        return Err(format!("it has more than {ENTITIES_MAX} entities"));
    }
    let one = |(name, value): (&String, &Value)| {
        let text = |field: &str, most: usize| match value.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() <= most => Ok(Some(text.clone())),
            Some(_) => Err(format!("`entities.{name}.{field}` is no text, or longer than {most} bytes")),
        };
        if !is_name(name) {
            return Err(format!("an entity's name is empty, longer than {NAME_BYTES_MAX} bytes, or not printable"));
        }
        let is_valid = value.get("valid").and_then(Value::as_bool);
        let is_valid = is_valid.ok_or_else(|| format!("`entities.{name}.valid` is neither true nor false"))?;
        let entity = Entity {
            is_valid,
            value: text("value", VALUE_BYTES_MAX)?,
            made_by: text("made_by", NAME_BYTES_MAX)?,
            made_at: text("made_at", NAME_BYTES_MAX)?,
            ended_by: text("ended_by", NAME_BYTES_MAX)?,
            ended_at: text("ended_at", NAME_BYTES_MAX)?,
        };
        Ok((name.clone(), entity))
    };
    entities.iter().map(one).collect()
}

/// A value as far as it is kept.
fn cut(value: &str) -> String {
    value[..value.floor_char_boundary(VALUE_BYTES_MAX)].to_owned()
}

fn read(connection: &Connection, mut state: State, skill: &str, session: &str) -> rusqlite::Result<State> {
    let sql = "SELECT name, valid, value, made_by, made_at, ended_by, ended_at FROM entities WHERE skill = ?1 AND session = ?2";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([skill, session], |row| {
        let entity = Entity {
            is_valid: row.get(1)?,
            value: row.get(2)?,
            made_by: row.get(3)?,
            made_at: row.get(4)?,
            ended_by: row.get(5)?,
            ended_at: row.get(6)?,
        };
        Ok((row.get::<_, String>(0)?, entity))
    })?;
    for row in rows {
        let (name, entity) = row?;
        state.entities.insert(name, entity);
    }
    Ok(state)
}

fn write(
    transaction: &Transaction<'_>,
    skill: &str,
    session: &str,
    name: &str,
    entity: &Entity,
    at: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO entities \
               (skill, session, name, valid, value, made_by, made_at, ended_by, ended_at, updated) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let Entity { is_valid, value, made_by, made_at, ended_by, ended_at } = entity;
    let values = params![skill, session, name, is_valid, value, made_by, made_at, ended_by, ended_at, at];
    transaction.execute(sql, values).map(drop)
}

/// The tables of the store.
const FORM: &str = "CREATE TABLE entities (skill TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL, valid INTEGER NOT NULL, \
                    value TEXT, made_by TEXT, made_at TEXT, ended_by TEXT, ended_at TEXT, updated TEXT NOT NULL, \
                    PRIMARY KEY (skill, session, name)) STRICT; \
                    CREATE TABLE progress (skill TEXT NOT NULL, session TEXT NOT NULL, workflow TEXT NOT NULL, step INTEGER NOT NULL, \
                    digest TEXT NOT NULL, updated TEXT NOT NULL, PRIMARY KEY (skill, session, workflow)) STRICT;";

#[cfg(test)]
mod tests {
    use rep_model::Origin;

    use super::*;

    fn document() -> Document {
        let value = json!({ "commands": {
            "make": { "syntax": "b make", "creates": ["a"] },
            "end": { "syntax": "b end", "requires": ["a"], "invalidates": ["a"] },
            "after": { "syntax": "b after", "requires": ["make"] },
        } });
        Document::from_value(value, Origin::Authored, Vec::new())
    }

    fn applied(sessions: &mut Sessions, session: &str, name: &str, ended: &Ended) -> State {
        let document = document();
        let command = document.command(name).unwrap();
        sessions.apply(&document, "s", session, command, ended, SystemTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn state_is_kept_by_skill_and_session() {
        let folder = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(folder.path()).unwrap();
        applied(&mut sessions, "one", "make", &Ended::Well(Some("x".repeat(VALUE_BYTES_MAX + 9))));
        let state = Sessions::open(folder.path()).unwrap().state(&document(), "s", "one").unwrap();
        assert!(
            state.entities["a"].is_valid
                && state.entities["make"].is_valid
                && state.missing(document().command("after").unwrap()).is_empty()
        );
        assert_eq!(state.entities["a"].value.as_ref().map(String::len), Some(VALUE_BYTES_MAX));
        for (skill, session) in [("s", "two"), ("t", "one")] {
            assert!(!sessions.state(&document(), skill, session).unwrap().entities["a"].is_valid);
        }
        let state = applied(&mut sessions, "one", "end", &Ended::Badly);
        let ended = &state.entities["a"];
        assert!(!ended.is_valid && ended.made_at.is_some() && ended.ended_at.is_some());
        assert_eq!((ended.made_by.as_deref(), ended.ended_by.as_deref()), (Some("make"), Some("end")));
        let listed = sessions.list("s").unwrap();
        assert_eq!((listed.len(), listed[0].entities, listed[0].valid), (1, 2, 1));
        assert_eq!((sessions.clear("s", Some("one")).unwrap(), sessions.list("s").unwrap().len()), (2, 0));
    }

    #[test]
    fn an_export_is_taken_in_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut sessions = Sessions::open(folder.path()).unwrap();
        applied(&mut sessions, "one", "make", &Ended::Well(None));
        let export = sessions.export("s", "one").unwrap();
        assert_eq!(sessions.import("s", "two", &export, SystemTime::UNIX_EPOCH).unwrap(), 2);
        assert_eq!(sessions.state(&document(), "s", "one").unwrap(), sessions.state(&document(), "s", "two").unwrap());
        for broken in [
            json!(null),
            json!({ "version": 2, "entities": {} }),
            json!({ "version": 1 }),
            json!({ "version": 1, "skill": "t", "entities": {} }),
            json!({ "version": 1, "entities": { "a": {} } }),
            json!({ "version": 1, "entities": { "": { "valid": true } } }),
            json!({ "version": 1, "entities": { "a": { "valid": true, "value": 5 } } }),
            json!({ "version": 1, "entities": { "a": { "valid": true, "value": "x".repeat(VALUE_BYTES_MAX + 1) } } }),
        ] {
            assert!(sessions.import("s", "two", &broken, SystemTime::UNIX_EPOCH).is_err(), "{broken}");
        }
        assert!(sessions.state(&document(), "s", "two").unwrap().entities["a"].is_valid);
    }

    #[test]
    fn progress_is_kept_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = Sessions::open(folder.path()).unwrap();
        let set = |done| sessions.set_progress("s", "one", "w", done, SystemTime::UNIX_EPOCH).unwrap();
        set(Some((2, "d")));
        assert_eq!(sessions.progress("s", "one", "w").unwrap(), Some((2, "d".to_owned())));
        set(None);
        assert_eq!(sessions.progress("s", "one", "w").unwrap(), None);
    }
}
