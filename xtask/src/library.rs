//! Writes generated libraries to disk.

use std::path::Path;

use rep_test_support::synthetic_library::{
    BodyLength, LibraryShape, SKILLS_MAX, SyntheticLibrary, SyntheticLibrarySpec,
};

/// Writes a library of `count` skills to a new or empty directory, and prints its content.
pub(crate) fn write_library(folder: &Path, count: &str, shape: LibraryShape) -> Result<(), String> {
    let count = count.replace('_', "").parse().ok().filter(|count| *count <= SKILLS_MAX);
    let count = count.ok_or_else(|| format!("COUNT must be a number up to {SKILLS_MAX}"))?;
    let failed = |error: std::io::Error| format!("could not write below {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(format!("{} is not empty", folder.display()));
    }
    let folder = folder.canonicalize().map_err(failed)?;
    let library = SyntheticLibrary::generate(&folder, SyntheticLibrarySpec { count, shape, bodies: BodyLength::Real })
        .map_err(failed)?;
    let statuses = ["active", "hidden", "shadowed", "invalid"];
    let parts: Vec<String> = statuses
        .into_iter()
        .map(|status| (library.count_by_status(status), status))
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {status}"))
        .collect();
    println!("{}", parts.join(", "));
    println!("rep list {}", library.rep_options().join(" "));
    Ok(())
}
