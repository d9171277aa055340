//! Opens SQLite files that only their owner can read, and creates their schema once.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use rep_storage::files;

/// How long a process waits while another one writes.
const BUSY_TIMEOUT_MS: u64 = 30_000;

/// Opens a file, and creates it if it does not exist. The first of the `steps` creates the tables of a new
/// file, and each further one extends those of the version before. The schema version is their number.
pub(crate) fn open_database(path: &Path, steps: &[&str]) -> Result<Connection, String> {
    let version = i64::try_from(steps.len()).map_err(|error| error.to_string())?;
    // SQLite would create the file readable for everyone; its side files inherit the mode of this one.
    drop(files::open_for_append(path).map_err(|error| error.to_string())?);
    let mut connection = Connection::open(path).map_err(|error| describe_sqlite_error(&error))?;
    connection.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS)).map_err(|error| describe_sqlite_error(&error))?;
    if read_schema_version(&connection)? == version {
        return Ok(connection);
    }
    // Two processes may get here at once; the second one finds the tables created.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| describe_sqlite_error(&error))?;
    let found = read_schema_version(&transaction)?;
    let done = usize::try_from(found).ok().filter(|done| *done <= steps.len());
    let done = done.ok_or_else(|| format!("its schema version is {found}, written by a newer rep"))?;
    for step in &steps[done..] {
        transaction.execute_batch(step).map_err(|error| describe_sqlite_error(&error))?;
    }
    transaction.pragma_update(None, "user_version", version).map_err(|error| describe_sqlite_error(&error))?;
    transaction.commit().map_err(|error| describe_sqlite_error(&error))?;
    Ok(connection)
}

fn read_schema_version(connection: &Connection) -> Result<i64, String> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| describe_sqlite_error(&error))
}

fn describe_sqlite_error(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            format!("{error}; move the file away to start over")
        }
        _ => error.to_string(),
    }
}
