//! Discovers skills, resolves name conflicts, and prepares skills for models.
//!
//! Only this crate reads skill directories. [`SkillLibrary::open`] searches the scopes of a machine (managed, project,
//! personal, packages), or only the given paths. The result is a [`Catalog`]: an immutable snapshot in which each entry
//! has a [`SkillStatus`] that reflects precedence, trust and disabled skills. [`Catalog::select`] finds skills by
//! triggers, and [`Catalog::search`] finds them by text. [`prompt`] renders what goes into a model's context. Discovery
//! reads only the frontmatter of a SKILL.md. Bodies are read on activation and by the first search.
//!
//! ```no_run
//! use rep_library::{LibraryOptions, SkillLibrary, prompt};
//!
//! let library = SkillLibrary::open(LibraryOptions { paths: vec!["skills".into()], ..LibraryOptions::default() })?;
//! let catalog = library.catalog();
//! for hit in catalog.search("merge two scans", 3) {
//!     println!("{}", prompt::activate_skill(&catalog.entries[hit.entry])?);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```
//!
//! A machine's skills, with the user's decisions about trust and disabled skills:
//!
//! ```no_run
//! use rep_library::{Catalog, LibraryOptions, SkillStatus};
//!
//! let options = LibraryOptions {
//!     project: Some("/srv/site".into()),
//!     home: Some("/home/ada".into()),
//!     decisions: Some("/home/ada/.config/repertoire/decisions.json".into()),
//!     ..LibraryOptions::default()
//! };
//! let catalog = Catalog::discover(&options)?;
//! for entry in catalog.entries.iter().filter(|entry| entry.status != SkillStatus::Active) {
//!     println!("{} is {}: {}", entry.qualified_name, entry.status.name(), entry.reason);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```
#![expect(clippy::disallowed_methods, reason = "this crate reads skill directories for all others")]

pub mod answer;
pub mod budget;
mod catalog;
pub mod check;
pub mod content_version;
pub mod convert;
pub mod decisions;
mod dependencies;
pub mod discovery;
pub mod documents;
mod error;
mod folder_stamp;
mod frontmatter_reader;
pub mod hosts;
mod library;
mod library_stamp;
pub mod line_diff;
mod lookup;
pub mod mcp_servers;
pub mod open_files;
mod packages;
mod parallel;
pub mod process_end;
pub mod prompt;
pub mod questions;
pub mod reference_tool;
pub mod request;
mod roots;
pub mod scan;
pub mod search;
pub mod selection;
pub mod settings;
pub mod skill_details;
pub mod skill_reader;
mod skill_set;
pub mod tools_file;
pub mod trigger_scores;
pub mod trust;
pub mod validation;
pub mod watcher;

pub use catalog::{Catalog, CatalogAudience, CatalogEntry, LibraryOptions, Precedence, SkillStatus, TrustRequirement};
pub use dependencies::{Dependency, DependencyState};
pub use error::LibraryError;
pub use library::{SkillLibrary, WatchHandle};
pub use library_stamp::stamp_skills;
pub use lookup::LookupError;
pub use parallel::SkillProgress;
pub use roots::{PERSONAL_FOLDERS, PROJECT_FOLDERS, Scope, SkillRoot, find_project_folder};
pub use skill_set::SkillSet;
