//! Stores a user's files: readable only by their owner, replaced atomically, with one writer at a time.
//!
//! This crate is the lowest layer of the workspace. Audit records, approvals, secrets, tasks and the registry of
//! running sandboxes are stored through [`files`], and all other files are written by [`atomic`]. [`owner`] determines
//! whether the process that wrote a file is still alive. [`platform`] has what differs between operating systems. [`time`] formats and parses timestamps.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("approvals.json");
//! rep_storage::files::replace_private(&file, b"{}\n")?;
//! assert_eq!(rep_storage::files::read_private(&file, 1024)?.as_deref(), Some(b"{}\n".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atomic;
pub mod files;
pub mod owner;
pub mod platform;
pub mod time;

pub use atomic::WriteError;
pub use files::StorageError;
pub use owner::ProcessOwner;
