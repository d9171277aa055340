//! Writes generated libraries to disk.

use std::path::Path;

use rep_test_support::library::{Bodies, Library, Order, SKILLS_MAX, Shape};

/// Writes a library of so many skills into a folder that is new or empty, and says what is in it.
pub(crate) fn write(folder: &Path, count: &str, shape: Shape) -> Result<(), String> {
    let count = count.replace('_', "").parse().ok().filter(|count| *count <= SKILLS_MAX);
    let count = count.ok_or_else(|| format!("the count is a number up to {SKILLS_MAX}"))?;
    let failed = |error: std::io::Error| format!("could not write below {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(format!("{} is not empty", folder.display()));
    }
    let folder = folder.canonicalize().map_err(failed)?;
    let library = Library::make(&folder, Order { count, shape, bodies: Bodies::Real }).map_err(failed)?;
    let statuses = ["active", "hidden", "shadowed", "invalid"];
    let parts: Vec<String> = statuses
        .into_iter()
        .map(|status| (library.count(status), status))
        .filter(|(count, _)| *count > 0)
        .map(|(count, status)| format!("{count} {status}"))
        .collect();
    println!("{}", parts.join(", "));
    println!("rep list {}", library.options().join(" "));
    Ok(())
}
