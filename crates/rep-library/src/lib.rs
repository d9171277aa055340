//! Which skills there are, which copy of a name wins, and what a model gets to see of them.
//!
//! The only reader of skill folders. [`Library::open`] looks through the scopes of a machine (managed,
//! project, personal, packages), or through exactly the paths it is given. What it finds is a
//! [`Catalog`]: an immutable snapshot in which precedence, trust and switches have decided each
//! entry's [`Status`], and which answers: [`Catalog::select`] by triggers, [`Catalog::search`] by
//! words, [`disclose`] for what goes into a model's context. At discovery only the frontmatter of
//! a SKILL.md is read; bodies come with activation and with the first search.
//!
//! ```no_run
//! use rep_library::{Library, Options, disclose};
//!
//! let library = Library::open(Options { paths: vec!["skills".into()], ..Options::default() })?;
//! let catalog = library.catalog();
//! for hit in catalog.search("merge two scans", 3) {
//!     println!("{}", disclose::activate(&catalog.entries[hit.entry])?);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```
//!
//! A machine's own skills, with what its user trusted and switched off:
//!
//! ```no_run
//! use rep_library::{Catalog, Options, Status};
//!
//! let options = Options {
//!     project: Some("/srv/site".into()),
//!     home: Some("/home/ada".into()),
//!     decisions: Some("/home/ada/.config/repertoire/decisions.json".into()),
//!     ..Options::default()
//! };
//! let catalog = Catalog::discover(&options)?;
//! for entry in catalog.entries.iter().filter(|entry| entry.status != Status::Active) {
//!     println!("{} is {}: {}", entry.qualified_name, entry.status.name(), entry.reason);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```
#![expect(clippy::disallowed_methods, reason = "this room reads skill folders for all others")]

pub mod answer;
pub mod ask;
pub mod budget;
mod catalog;
pub mod check;
pub mod content_version;
pub mod convert;
mod dependencies;
pub mod disclose;
pub mod dossier;
mod error;
pub mod find;
mod head;
pub mod hosts;
mod library;
mod lookup;
mod parallel;
pub mod read;
pub mod reference;
mod roots;
pub mod search;
pub mod select;
pub mod settings;
pub mod store;
pub mod tools_file;
pub mod triggers;
pub mod trust;
pub mod watch;

pub use catalog::{Catalog, CatalogEntry, Options, Precedence, Status, TrustWanted};
pub use dependencies::{Dependency, DependencyState};
pub use error::LibraryError;
pub use library::{Library, Watching};
pub use lookup::LookupError;
pub use parallel::Progress;
pub use roots::{PERSONAL_FOLDERS, PROJECT_FOLDERS, Root, Scope, project_of};
