//! The state that commands leave, by skill and session, shared by all processes of the user.
//!
//! The store is one SQLite file, `state.db` (schema `user_version` 2). The effects of a command are applied
//! to the current state in one exclusive transaction, so that two commands that finish at the same time both
//! count. An invalidated entity retains its value, the commands that created and invalidated it, and the
//! times.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::state::{CommandEnding, CommandState, EntityStatus, PersistedValue};
use rep_model::SkillDocument;
use rep_model::uasp::StateEffects;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde_json::{Map, Value, json};

use crate::database;
use rep_storage::files;
use rep_storage::time;

/// The version of an export.
const EXPORT_VERSION: i64 = 1;
/// How much of a command's output is stored.
pub const VALUE_BYTES_MAX: usize = 64 << 10;
/// The maximum length of a session or entity name.
const NAME_BYTES_MAX: usize = 256;
/// The maximum number of entities in an export.
const ENTITIES_MAX: usize = 10_000;

/// The store could not be used, or the data does not fit into it.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} in the state store `{}`: {reason}", path.display())]
pub struct SessionError {
    action: &'static str,
    path: PathBuf,
    reason: String,
}

/// A session of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillSession {
    /// Its name.
    pub name: String,
    /// The number of entities.
    pub entities: u32,
    /// The number of valid entities.
    pub valid: u32,
    /// When it last changed, as sortable text.
    pub updated: String,
}

/// The sessions of one user.
pub struct SessionStore {
    path: PathBuf,
    connection: Connection,
}

/// Returns whether a session name is valid.
pub fn is_session_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control)
}

impl SessionStore {
    /// Opens the store in a directory, and creates it if it does not exist.
    pub fn open(folder: &Path) -> Result<Self, SessionError> {
        let path = folder.join("state.db");
        let connection = database::open_database(&path, SCHEMA_STEPS).map_err(|reason| SessionError {
            action: "look",
            path: path.clone(),
            reason,
        })?;
        Ok(Self { path, connection })
    }

    /// Opens the store in a directory if it exists. Creates no files.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, SessionError> {
        match files::open_existing(&folder.join("state.db")) {
            Ok(None) => Ok(None),
            _ => Self::open(folder).map(Some),
        }
    }

    fn error_for(&self, action: &'static str) -> impl FnOnce(rusqlite::Error) -> SessionError + use<> {
        let path = self.path.clone();
        move |error| SessionError { action, path, reason: error.to_string() }
    }

    /// Loads the state of a session: the stored entities over those that the skill mentions.
    pub fn load_state(
        &self,
        document: &SkillDocument,
        skill: &str,
        session: &str,
    ) -> Result<CommandState, SessionError> {
        read_state(&self.connection, CommandState::new(document), skill, session)
            .map_err(self.error_for("read the state"))
    }

    /// Applies the effects of the command with the path `command` to the current state and returns the new
    /// state.
    pub fn apply_command(
        &mut self,
        document: &SkillDocument,
        skill: &str,
        session: &str,
        command: &str,
        ended: &CommandEnding,
        at: SystemTime,
    ) -> Result<CommandState, SessionError> {
        let failed = self.error_for("apply the changes of a command");
        let ended = match ended {
            CommandEnding::Succeeded(Some(value)) => &CommandEnding::Succeeded(Some(truncate_value(value))),
            other => other,
        };
        let all_effects = StateEffects::from_sections(&document.sections);
        let effects = all_effects.get_or_named(command);
        let mut work = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut state = read_state(&transaction, CommandState::new(document), skill, session)?;
            let at = time::format_timestamp(at);
            state.apply_command(&effects, ended, Some(&at));
            for entity in effects.changed_names() {
                if let Some(kept) = state.entities.get(entity) {
                    write_entity(&transaction, skill, session, entity, kept, &at)?;
                }
            }
            transaction.commit()?;
            Ok(state)
        };
        work().map_err(failed)
    }

    /// Clears a session of a skill, or all of them, and returns the number of removed entities.
    pub fn clear(&self, skill: &str, session: Option<&str>) -> Result<usize, SessionError> {
        let failed = || self.error_for("clear a session");
        let both = params![skill, session];
        let sql = "DELETE FROM progress WHERE skill = ?1 AND (?2 IS NULL OR session = ?2)";
        self.connection.execute(sql, both).map_err(failed())?;
        let sql = "DELETE FROM entities WHERE skill = ?1 AND (?2 IS NULL OR session = ?2)";
        self.connection.execute(sql, both).map_err(failed())
    }

    /// Lists the sessions of a skill, by name.
    pub fn list(&self, skill: &str) -> Result<Vec<SkillSession>, SessionError> {
        let sql = "SELECT session, COUNT(*), SUM(valid), MAX(updated) FROM entities WHERE skill = ?1 GROUP BY session ORDER BY session";
        let session = |row: &Row<'_>| {
            Ok(SkillSession { name: row.get(0)?, entities: row.get(1)?, valid: row.get(2)?, updated: row.get(3)? })
        };
        let read = || self.connection.prepare(sql)?.query_map([skill], session)?.collect::<Result<Vec<_>, _>>();
        read().map_err(self.error_for("list sessions"))
    }

    /// Exports a session as JSON, to be imported elsewhere.
    pub fn export(&self, skill: &str, session: &str) -> Result<Value, SessionError> {
        let state = read_state(&self.connection, CommandState::default(), skill, session)
            .map_err(self.error_for("read the state"))?;
        let entities: Map<String, Value> =
            state.entities.iter().map(|(name, entity)| (name.clone(), entity_json(entity))).collect();
        Ok(json!({ "version": EXPORT_VERSION, "skill": skill, "session": session, "entities": entities }))
    }

    /// Imports an export of this skill in place of the session's contents, and returns the number of
    /// entities.
    pub fn import(
        &mut self,
        skill: &str,
        session: &str,
        export: &Value,
        at: SystemTime,
    ) -> Result<usize, SessionError> {
        let path = self.path.clone();
        let unfit = |reason: String| SessionError { action: "import a session", path: path.clone(), reason };
        let entities = parse_entities(skill, export).map_err(unfit)?;
        let failed = self.error_for("import a session");
        let mut work = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM entities WHERE skill = ?1 AND session = ?2", params![skill, session])?;
            let at = time::format_timestamp(at);
            for (name, entity) in &entities {
                write_entity(&transaction, skill, session, name, entity, &at)?;
            }
            transaction.commit()?;
            Ok(entities.len())
        };
        work().map_err(failed)
    }

    /// Loads the progress of a workflow: the completed steps, and the digest of the workflow they belong to.
    pub fn load_progress(
        &self,
        skill: &str,
        session: &str,
        workflow: &str,
    ) -> Result<Option<(u32, String)>, SessionError> {
        let sql = "SELECT step, digest FROM progress WHERE skill = ?1 AND session = ?2 AND workflow = ?3";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.connection
            .query_row(sql, [skill, session, workflow], row)
            .optional()
            .map_err(self.error_for("read progress"))
    }

    /// Stores the progress of a workflow; `None` if it is finished.
    pub fn set_progress(
        &self,
        skill: &str,
        session: &str,
        workflow: &str,
        done: Option<(u32, &str)>,
        at: SystemTime,
    ) -> Result<(), SessionError> {
        let failed = self.error_for("save progress");
        let changed = match done {
            None => {
                let sql = "DELETE FROM progress WHERE skill = ?1 AND session = ?2 AND workflow = ?3";
                self.connection.execute(sql, params![skill, session, workflow])
            }
            Some((step, digest)) => {
                let sql = "INSERT OR REPLACE INTO progress (skill, session, workflow, step, digest, updated) \
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                self.connection
                    .execute(sql, params![skill, session, workflow, step, digest, time::format_timestamp(at)])
            }
        };
        changed.map(drop).map_err(failed)
    }
}

/// Renders an entity as JSON.
pub fn entity_json(entity: &EntityStatus) -> Value {
    json!({
        "valid": entity.is_valid,
        "value": entity.value,
        "made_by": entity.made_by,
        "made_at": entity.made_at,
        "ended_by": entity.ended_by,
        "ended_at": entity.ended_at,
        "persisted_value": entity.persisted.as_ref().and_then(|kept| kept.value.as_deref()),
        "persisted_by": entity.persisted.as_ref().map(|kept| kept.by.as_str()),
        "persisted_at": entity.persisted.as_ref().and_then(|kept| kept.at.as_deref()),
    })
}

/// Parses and validates the entities of an export.
fn parse_entities(skill: &str, export: &Value) -> Result<BTreeMap<String, EntityStatus>, String> {
    if export.get("version").and_then(Value::as_i64) != Some(EXPORT_VERSION) {
        return Err(format!(
            "its `version` is not {EXPORT_VERSION}; create the export with `rep state SKILL --export -`"
        ));
    }
    if let Some(other) = export.get("skill").and_then(Value::as_str).filter(|other| *other != skill) {
        return Err(format!("it belongs to the skill `{other}`, not to `{skill}`"));
    }
    let entities = export.get("entities").and_then(Value::as_object).ok_or("its `entities` is not a mapping")?;
    if entities.len() > ENTITIES_MAX {
        return Err(format!("it has more than {ENTITIES_MAX} entities"));
    }
    entities.iter().map(|(name, value)| Ok((name.clone(), parse_entity(name, value)?))).collect()
}

fn parse_entity(name: &str, value: &Value) -> Result<EntityStatus, String> {
    if !is_session_name(name) {
        return Err(format!("an entity name is empty, longer than {NAME_BYTES_MAX} bytes, or not printable"));
    }
    let text = |field: &str, most: usize| match value.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= most => Ok(Some(text.clone())),
        Some(_) => Err(format!("`entities.{name}.{field}` is not text, or is longer than {most} bytes")),
    };
    let is_valid = value.get("valid").and_then(Value::as_bool);
    let is_valid = is_valid.ok_or_else(|| format!("`entities.{name}.valid` is neither true nor false"))?;
    let (kept, kept_at) = (text("persisted_value", VALUE_BYTES_MAX)?, text("persisted_at", NAME_BYTES_MAX)?);
    let persisted = text("persisted_by", NAME_BYTES_MAX)?.map(|by| PersistedValue { value: kept, by, at: kept_at });
    Ok(EntityStatus {
        is_valid,
        value: text("value", VALUE_BYTES_MAX)?,
        made_by: text("made_by", NAME_BYTES_MAX)?,
        made_at: text("made_at", NAME_BYTES_MAX)?,
        ended_by: text("ended_by", NAME_BYTES_MAX)?,
        ended_at: text("ended_at", NAME_BYTES_MAX)?,
        persisted,
    })
}

/// Truncates a value for the store.
fn truncate_value(value: &str) -> String {
    value[..value.floor_char_boundary(VALUE_BYTES_MAX)].to_owned()
}

fn read_state(
    connection: &Connection,
    mut state: CommandState,
    skill: &str,
    session: &str,
) -> rusqlite::Result<CommandState> {
    let sql = "SELECT name, valid, value, made_by, made_at, ended_by, ended_at, persisted_by, persisted_value, persisted_at \
               FROM entities WHERE skill = ?1 AND session = ?2";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([skill, session], |row| {
        let persisted = match row.get::<_, Option<String>>(7)? {
            Some(by) => Some(PersistedValue { by, value: row.get(8)?, at: row.get(9)? }),
            None => None,
        };
        let entity = EntityStatus {
            is_valid: row.get(1)?,
            value: row.get(2)?,
            made_by: row.get(3)?,
            made_at: row.get(4)?,
            ended_by: row.get(5)?,
            ended_at: row.get(6)?,
            persisted,
        };
        Ok((row.get::<_, String>(0)?, entity))
    })?;
    for row in rows {
        let (name, entity) = row?;
        state.entities.insert(name, entity);
    }
    Ok(state)
}

fn write_entity(
    transaction: &Transaction<'_>,
    skill: &str,
    session: &str,
    name: &str,
    entity: &EntityStatus,
    at: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO entities \
               (skill, session, name, valid, value, made_by, made_at, ended_by, ended_at, updated, \
               persisted_by, persisted_value, persisted_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let EntityStatus { is_valid, value, made_by, made_at, ended_by, ended_at, persisted } = entity;
    let by = persisted.as_ref().map(|kept| &kept.by);
    let kept = persisted.as_ref().and_then(|kept| kept.value.as_ref());
    let kept_at = persisted.as_ref().and_then(|kept| kept.at.as_ref());
    let values =
        params![skill, session, name, is_valid, value, made_by, made_at, ended_by, ended_at, at, by, kept, kept_at];
    transaction.execute(sql, values).map(drop)
}

/// The tables of the store, and what each later version adds.
const SCHEMA_STEPS: &[&str] = &[SCHEMA_SQL, PERSISTED_SQL];

const PERSISTED_SQL: &str = "ALTER TABLE entities ADD COLUMN persisted_by TEXT; \
                    ALTER TABLE entities ADD COLUMN persisted_value TEXT; \
                    ALTER TABLE entities ADD COLUMN persisted_at TEXT;";

const SCHEMA_SQL: &str = "CREATE TABLE entities (skill TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL, valid INTEGER NOT NULL, \
                    value TEXT, made_by TEXT, made_at TEXT, ended_by TEXT, ended_at TEXT, updated TEXT NOT NULL, \
                    PRIMARY KEY (skill, session, name)) STRICT; \
                    CREATE TABLE progress (skill TEXT NOT NULL, session TEXT NOT NULL, workflow TEXT NOT NULL, step INTEGER NOT NULL, \
                    digest TEXT NOT NULL, updated TEXT NOT NULL, PRIMARY KEY (skill, session, workflow)) STRICT;";

#[cfg(test)]
mod tests {
    use rep_model::DocumentOrigin;

    use super::*;

    fn document() -> SkillDocument {
        let value = json!({ "state": { "entities": [{ "name": "a", "persisted_by": ["save"] }] }, "commands": {
            "save": { "syntax": "b save" },
            "make": { "syntax": "b make", "creates": ["a"] },
            "end": { "syntax": "b end", "requires": ["a"], "invalidates": ["a"] },
            "after": { "syntax": "b after", "requires": ["make"] },
        } });
        SkillDocument::from_value(value, DocumentOrigin::Authored, Vec::new())
    }

    fn applied(sessions: &mut SessionStore, session: &str, name: &str, ended: &CommandEnding) -> CommandState {
        sessions.apply_command(&document(), "s", session, name, ended, SystemTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn state_is_kept_by_skill_and_session() {
        let folder = tempfile::tempdir().unwrap();
        let mut sessions = SessionStore::open(folder.path()).unwrap();
        applied(&mut sessions, "one", "make", &CommandEnding::Succeeded(Some("x".repeat(VALUE_BYTES_MAX + 9))));
        let state = SessionStore::open(folder.path()).unwrap().load_state(&document(), "s", "one").unwrap();
        assert!(
            state.entities["a"].is_valid
                && state.entities["make"].is_valid
                && state.runnable_commands(&document()).contains(&"after")
        );
        assert_eq!(state.entities["a"].value.as_ref().map(String::len), Some(VALUE_BYTES_MAX));
        for (skill, session) in [("s", "two"), ("t", "one")] {
            assert!(!sessions.load_state(&document(), skill, session).unwrap().entities["a"].is_valid);
        }
        let state = applied(&mut sessions, "one", "end", &CommandEnding::Failed);
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
        let mut sessions = SessionStore::open(folder.path()).unwrap();
        applied(&mut sessions, "one", "make", &CommandEnding::Succeeded(None));
        let export = sessions.export("s", "one").unwrap();
        assert_eq!(sessions.import("s", "two", &export, SystemTime::UNIX_EPOCH).unwrap(), 2);
        assert_eq!(
            sessions.load_state(&document(), "s", "one").unwrap(),
            sessions.load_state(&document(), "s", "two").unwrap()
        );
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
        assert!(sessions.load_state(&document(), "s", "two").unwrap().entities["a"].is_valid);
    }

    #[test]
    fn progress_is_kept_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = SessionStore::open(folder.path()).unwrap();
        let set = |done| sessions.set_progress("s", "one", "w", done, SystemTime::UNIX_EPOCH).unwrap();
        set(Some((2, "d")));
        assert_eq!(sessions.load_progress("s", "one", "w").unwrap(), Some((2, "d".to_owned())));
        set(None);
        assert_eq!(sessions.load_progress("s", "one", "w").unwrap(), None);
    }

    #[test]
    fn a_store_of_the_first_version_is_read_and_extended() {
        let folder = tempfile::tempdir().unwrap();
        let old = Connection::open(folder.path().join("state.db")).unwrap();
        old.execute_batch(SCHEMA_SQL).unwrap();
        old.execute_batch("PRAGMA user_version = 1").unwrap();
        old.execute_batch("INSERT INTO entities VALUES ('s', 'one', 'a', 1, 'v', 'make', 't', NULL, NULL, 't')")
            .unwrap();
        drop(old);
        let mut sessions = SessionStore::open(folder.path()).unwrap();
        let state = sessions.load_state(&document(), "s", "one").unwrap();
        assert_eq!((state.entities["a"].value.as_deref(), &state.entities["a"].persisted), (Some("v"), &None));
        let state = applied(&mut sessions, "one", "save", &CommandEnding::Succeeded(None));
        assert_eq!(state.entities["a"].persisted.as_ref().and_then(|kept| kept.value.as_deref()), Some("v"));
        assert_eq!(SessionStore::open(folder.path()).unwrap().load_state(&document(), "s", "one").unwrap(), state);
        let export = sessions.export("s", "one").unwrap();
        sessions.import("s", "two", &export, SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(sessions.load_state(&document(), "s", "two").unwrap(), state);
        let newer = Connection::open(folder.path().join("state.db")).unwrap();
        newer.execute_batch("PRAGMA user_version = 3").unwrap();
        let refused = SessionStore::open(folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("newer rep"), "{refused}");
    }
}
