//! Moves skills between directories and machines, with checks and records.
//!
//! This is the only crate that writes skills where other programs read them. Writes are atomic, even after a crash,
//! and no code of a skill is ever executed. [`source`] reads installable skills, [`install`] and [`remove`] change
//! what is installed in an [`InstallScope`], [`export`] and [`import`] convert skills to and from host formats, and
//! [`pack`] packs a skill into one file.
//!
//! ```
//! use rep_package::install::{InstallOptions, install_skills};
//! use rep_package::scope::{ANY_HOST, InstallScope};
//! use rep_package::client::{SourceClient, SourceClientOptions};
//! use rep_package::source::load_offered_skills;
//! # let scratch = tempfile::tempdir()?;
//! # let folder = scratch.path().join("skills/letters");
//! # std::fs::create_dir_all(&folder)?;
//! # std::fs::write(folder.join("SKILL.md"), "---\nname: letters\ndescription: Writes letters. Use it for letters.\n---\n# Letters\n")?;
//! # let (project, own) = (scratch.path().to_owned(), scratch.path().join("own"));
//!
//! let scope = InstallScope::for_project(project.clone(), Some(own));
//! let client = SourceClient::new(SourceClientOptions::default())?;
//! let offered = load_offered_skills(&project.join("skills").to_string_lossy(), &[], &scope, &client, &mut |_| {})?;
//! let options = InstallOptions { hosts: vec![ANY_HOST.to_owned()], ..InstallOptions::default() };
//! install_skills(&offered.skills, &options, &scope, std::time::SystemTime::UNIX_EPOCH)?;
//! assert!(project.join(".agents/skills/letters/SKILL.md").is_file());
//! assert_eq!(scope.verify_skills(&[])?, [("letters".to_owned(), Vec::new())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod artifact;
pub mod atomic_dir;
pub mod cache;
pub mod capabilities;
pub mod client;
pub mod content_store;
mod error;
pub mod export;
pub mod files;
pub mod follow;
pub mod import;
pub mod index;
pub mod install;
pub mod journal;
pub mod lock;
pub mod pack;
pub mod push;
pub mod remove;
pub mod requirement;
pub mod resolve;
pub mod sbom;
pub mod scope;
pub mod signature;
pub mod signers;
pub mod source;
pub mod source_name;
pub mod source_rules;
pub mod sync;
pub mod update;
pub mod version_range;
pub mod working_copy;

pub use error::{PackageError, PackageErrorCode};
pub use scope::InstallScope;
