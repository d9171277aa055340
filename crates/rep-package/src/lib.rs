//! Moving skills between folders and machines: whole, checked, and recorded.
//!
//! The only crate that writes skills where others read them. What it puts somewhere is there as a whole or not at all, whatever
//! happens in between; nothing of a skill is ever executed. [`source`] reads what can be installed, [`install`] and [`remove`]
//! change what is installed in an [`InstallScope`], [`export`] and [`import`] write skills for other hosts and back, [`pack`] makes
//! one file of a skill.
//!
//! ```
//! use rep_package::install::{InstallOptions, install};
//! use rep_package::scope::{ANY_HOST, InstallScope};
//! use rep_package::source::offered_skills;
//! # let scratch = tempfile::tempdir()?;
//! # let folder = scratch.path().join("skills/letters");
//! # std::fs::create_dir_all(&folder)?;
//! # std::fs::write(folder.join("SKILL.md"), "---\nname: letters\ndescription: Writes letters. Use it for letters.\n---\n# Letters\n")?;
//! # let (project, own) = (scratch.path().to_owned(), scratch.path().join("own"));
//!
//! let scope = InstallScope::project(project.clone(), Some(own));
//! let offered = offered_skills(&project.join("skills").to_string_lossy(), &[], &scope, &mut |_| {})?;
//! let options = InstallOptions { hosts: vec![ANY_HOST.to_owned()], ..InstallOptions::default() };
//! install(&offered, &options, &scope, std::time::SystemTime::UNIX_EPOCH)?;
//! assert!(project.join(".agents/skills/letters/SKILL.md").is_file());
//! assert_eq!(scope.verify(&[])?, [("letters".to_owned(), Vec::new())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
pub mod export;
pub mod files;
pub mod import;
pub mod index;
pub mod install;
pub mod journal;
pub mod lock;
pub mod pack;
pub mod place;
pub mod remove;
pub mod scope;
pub mod source;
pub mod working_copy;

pub use error::{PackageError, PackageErrorCode};
pub use scope::InstallScope;
