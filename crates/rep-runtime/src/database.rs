//! One SQLite file of the user's: opened for its owner only, and given its form once, whoever comes first.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use rep_storage::files;

/// How long one process waits while another writes.
const BUSY_MS: u64 = 30_000;

/// Opens a file, and makes it where there is none. `form` makes the tables of a fresh one; `version` is that of its form.
pub(crate) fn open(path: &Path, form: &str, version: i64) -> Result<Connection, String> {
    // SQLite would make the file for everybody to read; what it makes beside it has the file's own mode.
    drop(files::open(path).map_err(|error| error.to_string())?);
    let mut connection = Connection::open(path).map_err(|error| told(&error))?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS)).map_err(|error| told(&error))?;
    if version_of(&connection)? == version {
        return Ok(connection);
    }
    // Two processes may come here at once; the second finds the work done.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|error| told(&error))?;
    match version_of(&transaction)? {
        0 => {
            transaction.execute_batch(form).map_err(|error| told(&error))?;
            transaction.pragma_update(None, "user_version", version).map_err(|error| told(&error))?;
        }
        found if found == version => {}
        newer => return Err(format!("its form is {newer}, written by a newer rep")),
    }
    transaction.commit().map_err(|error| told(&error))?;
    Ok(connection)
}

fn version_of(connection: &Connection) -> Result<i64, String> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| told(&error))
}

fn told(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            format!("{error}; move the file away to start anew")
        }
        _ => error.to_string(),
    }
}
