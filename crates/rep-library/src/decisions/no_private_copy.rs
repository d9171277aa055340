//! Private copies of skills, which this operating system does not have: nothing runs on it.

use std::path::Path;

/// The reason of every refusal.
const REASON: &str = "skills cannot run on this operating system; use Linux on x86-64";

/// A private copy of a skill's directory. None can be made here.
#[derive(Debug)]
pub enum UnavailableCopy {}

impl UnavailableCopy {
    /// Refuses to copy a directory.
    pub fn from_folder(_: &Path, _: &Path) -> Result<Self, String> {
        Err(REASON.to_owned())
    }

    /// Refuses to copy files.
    pub fn from_files(_: &Path, _: &[String], _: &Path) -> Result<Self, String> {
        Err(REASON.to_owned())
    }

    /// Returns the path of the copy.
    pub fn folder(&self) -> &Path {
        match *self {}
    }

    /// Returns the digest of the copy.
    pub fn digest(&self) -> &str {
        match *self {}
    }
}
