//! Lists the files of a working tree that changed since a commit.
//!
//! git is only asked for names: nothing is fetched, checked out or written, and neither hooks, external diff programs nor
//! a file system monitor are started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rep_storage::platform::text_from_bytes;

use super::{GitError, GitErrorKind, READ_TIMEOUT, build_call};
use crate::program::{ProgramInput, ProgramOutput, run_program};

/// The maximum number of characters of git's own message in an error.
const MESSAGE_CHARS_MAX: usize = 200;

/// Lists the files that changed since a commit: those that differ from it, and those that git does not track and does not
/// ignore. A branch means the commit where the current one left it. Deleted files are included. The paths are
/// absolute, with links resolved.
pub fn list_changed_files(folder: &Path, reference: &str) -> Result<Vec<PathBuf>, GitError> {
    let top = read_line(&run_in(folder, &["rev-parse", "--show-toplevel"])?);
    let Some(top) = top.map(|top| PathBuf::from(text_from_bytes(&top))) else {
        let message = format!("`{}` is not in a git repository", folder.display());
        return Err(GitError::new(GitErrorKind::NotFound, message).with_remedy("omit --since"));
    };
    let untracked = ["ls-files", "-z", "--others", "--exclude-standard"];
    let mut names = split_names(&expect_output(run_in(&top, &untracked)?)?);
    names.extend(match resolve_base(&top, reference)? {
        Some(commit) => {
            let arguments =
                ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", &commit, "--"];
            split_names(&expect_output(run_in(&top, &arguments)?)?)
        }
        // Before the first commit, everything is new.
        None => split_names(&expect_output(run_in(&top, &["ls-files", "-z"])?)?),
    });
    let mut paths: Vec<PathBuf> = names.into_iter().map(|name| top.join(name)).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Returns the commit to compare with, or `None` if the repository has no commit yet.
fn resolve_base(top: &Path, reference: &str) -> Result<Option<String>, GitError> {
    let resolve = |name: &str| -> Result<Option<String>, GitError> {
        let commit = format!("{name}^{{commit}}");
        let output = run_in(top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
        Ok(read_line(&output).map(|line| String::from_utf8_lossy(&line).into_owned()))
    };
    let head = resolve("HEAD")?;
    if reference == "HEAD" && head.is_none() {
        return Ok(None);
    }
    let Some(commit) = resolve(reference)? else {
        let message = format!("`{}` is not a commit, branch or tag", reference.escape_debug());
        return Err(GitError::new(GitErrorKind::NoReference, message)
            .with_remedy("fetch it first; a shallow clone lacks other branches and older commits"));
    };
    let base = head.map(|head| run_in(top, &["merge-base", &commit, &head])).transpose()?;
    let base = base.as_ref().and_then(read_line);
    Ok(Some(base.map_or(commit, |base| String::from_utf8_lossy(&base).into_owned())))
}

/// Runs git in a working tree.
fn run_in(folder: &Path, arguments: &[&str]) -> Result<ProgramOutput, GitError> {
    let arguments = arguments.iter().map(OsString::from).collect();
    let mut call = build_call(arguments, "", READ_TIMEOUT, ProgramInput::Bytes(Vec::new()));
    call.folder = Some(folder);
    Ok(run_program(call, &mut || Ok(()))?)
}

/// Returns the first line of the output, if git succeeded and printed one.
fn read_line(output: &ProgramOutput) -> Option<Vec<u8>> {
    let line = output.stdout.split(|byte| *byte == b'\n').next().filter(|line| !line.is_empty())?;
    output.is_success.then(|| line.to_vec())
}

fn expect_output(output: ProgramOutput) -> Result<Vec<u8>, GitError> {
    if output.is_success {
        return Ok(output.stdout);
    }
    let reason: String = output.stderr.trim().chars().take(MESSAGE_CHARS_MAX).collect();
    Err(GitError::new(GitErrorKind::Failed, format!("git could not list the changed files: {reason}")))
}

fn split_names(output: &[u8]) -> Vec<PathBuf> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(text_from_bytes(name))).collect()
}
