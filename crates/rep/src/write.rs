//! Writes files so that a crash leaves the old or the new one, never half.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::exit::Failure;

/// Replaces a file by a new text, keeping its mode. Refuses where the file is a link or no
/// longer holds `expected`.
pub(crate) fn replace(path: &Path, expected: &[u8], text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let failed = |error: std::io::Error| Failure::unable("UNWRITABLE", format!("could not write `{shown}`: {error}"));
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    if metadata.is_symlink() {
        let failure = Failure::unable("UNWRITABLE", format!("`{shown}` is a link and was not changed"));
        return Err(failure.hint("change the file it leads to"));
    }
    if fs::read(path).map_err(failed)? != expected {
        let failure =
            Failure::unable("CHANGED", format!("`{shown}` changed while it was being mended and was left alone"));
        return Err(failure.hint("run the command again"));
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a file that must not exist yet, with the folders above it: whole, or not at all.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::unable("UNWRITABLE", format!("could not write `{}`: {error}", path.display()));
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::Builder::new().permissions(mode()).tempfile_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist_noclobber(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a file, whether there is one or not: whole, or not at all. A link in its place is replaced, not followed.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::unable("UNWRITABLE", format!("could not write `{}`: {error}", path.display()));
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().permissions(mode()).tempfile_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a file of bytes, whole or not at all, with the folders above it. One that is there stays unless it is to be replaced.
pub(crate) fn file(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::unable("UNWRITABLE", format!("could not write `{}`: {error}", path.display()));
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let there = fs::symlink_metadata(path).ok();
    if let Some(there) = there.as_ref().filter(|there| replaces && !there.is_file() && !there.is_symlink()) {
        let what = if there.is_dir() { "a folder" } else { "no file but a device, a pipe or a socket" };
        let failure = Failure::unable("UNWRITABLE", format!("`{}` is {what}, and is not replaced", path.display()));
        return Err(failure.hint("--out names another file; without it the result goes to stdout"));
    }
    // What its owner kept to himself stays so.
    let mode = there.filter(fs::Metadata::is_file).map_or_else(mode, |there| there.permissions());
    let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    if replaces {
        file.persist(path).map_err(|error| failed(error.error))?;
        return Ok(());
    }
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            let failure = Failure::unable("EXISTS", format!("`{}` is there already", path.display()));
            Err(failure.hint("--force replaces it; --out names another file"))
        }
        Err(error) => Err(failed(error.error)),
    }
}

/// What new files get, less the user's mask.
fn mode() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}
