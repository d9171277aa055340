//! A user's own files: readable by their owner only, replaced whole, one writer at a time.
//!
//! The bottom of the workspace: everything that stores something (audit records, approvals, secrets, tasks, the registry of
//! running sandboxes) stores it through [`files`], and every other file is written by [`atomic`]. [`owner`] tells whether the process that wrote something still lives, and
//! [`time`] writes points in time.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("approvals.json");
//! rep_storage::files::replace(&file, b"{}\n")?;
//! assert_eq!(rep_storage::files::read(&file, 1024)?.as_deref(), Some(b"{}\n".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atomic;
pub mod files;
pub mod owner;
pub mod time;

pub use atomic::WriteError;
pub use files::StorageError;
pub use owner::Owner;
