//! Which skills there are, which copy of a name wins, and what a model gets to see of them.
//!
//! The only reader of skill folders. A [`Catalog`] is an immutable snapshot: [`Catalog::discover`]
//! looks through the scopes of a machine (managed, project, personal, packages), or through
//! exactly the paths it is given; precedence, trust and switches decide each entry's [`Status`].
//! At discovery only the frontmatter of a SKILL.md is read; bodies come with activation.
//!
//! ```no_run
//! use rep_library::{Catalog, Options, Status, disclose};
//!
//! let options = Options { paths: vec!["skills".into()], ..Options::default() };
//! let catalog = Catalog::discover(&options)?;
//! for entry in catalog.entries.iter().filter(|entry| entry.status == Status::Active) {
//!     println!("{}: {}", entry.name, entry.description);
//! }
//! print!("{}", disclose::xml(&catalog, disclose::Locations::Shown));
//! # Ok::<(), rep_library::LibraryError>(())
//! ```
#![expect(clippy::disallowed_methods, reason = "this room reads skill folders for all others")]

pub mod budget;
mod catalog;
pub mod disclose;
pub mod dossier;
mod error;
pub mod find;
mod head;
pub mod read;
mod roots;
pub mod search;
pub mod select;
pub mod store;

pub use catalog::{Catalog, CatalogEntry, Options, Precedence, Status, TrustWanted};
pub use error::LibraryError;
pub use roots::{PERSONAL_FOLDERS, PROJECT_FOLDERS, Root, Scope, project_of};
