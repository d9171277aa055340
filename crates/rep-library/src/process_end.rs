//! Notices when another process ends: the client of a server, which may end without closing its streams.

pub use rep_storage::platform::{parent_id, wait_for_process_end};
