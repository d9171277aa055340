//! Packages and plugins: directories with a manifest beside `skills/`. Their skills are named `package:skill`.

use std::fs;
use std::path::{Path, PathBuf};

use rep_model::yaml;

use crate::roots::{Scope, SkillRoot};
use crate::skill_reader;

/// The manifests that make a directory a package: those of UAAPS and of the hosts' plugins.
const MANIFESTS: [&str; 8] = [
    "package.agent.json",
    "package.agent.yaml",
    "aam.yaml",
    ".claude-plugin/plugin.json",
    CURSOR_MANIFEST,
    ".codex-plugin/plugin.json",
    "gemini-extension.json",
    "plugin.json",
];
/// The manifest of a Cursor plugin.
pub(crate) const CURSOR_MANIFEST: &str = ".cursor-plugin/plugin.json";

/// The directory of a package's skills.
const SKILLS_FOLDER: &str = "skills";
/// Catalogs of plugins that are not installed, beside those that are.
const CATALOG_FOLDER: &str = "marketplaces";

/// The maximum size of a manifest.
const MANIFEST_BYTES_MAX: u64 = 256 * 1024;
/// How deep a directory of installed packages is searched: host, marketplace, package, version.
const DEPTH_MAX: usize = 4;
/// The maximum number of directories searched below a directory of installed packages.
const FOLDERS_MAX: usize = 2_000;

/// Whether a directory has skills and one of the manifests.
pub(crate) fn is_package(folder: &Path) -> bool {
    folder.join(SKILLS_FOLDER).is_dir() && MANIFESTS.iter().any(|manifest| folder.join(manifest).is_file())
}

/// Returns the root of a package's skills.
pub(crate) fn package_root(folder: &Path, is_in_project: bool) -> SkillRoot {
    SkillRoot {
        path: folder.join(SKILLS_FOLDER),
        scope: Scope::Package,
        package: Some(read_package_name(folder)),
        is_in_project,
    }
}

/// Returns the package whose skills a directory contains: the nearest parent of a `skills` directory on its path that
/// has a manifest, unless that is the project itself.
pub(crate) fn find_enclosing_package(folder: &Path, project: Option<&Path>) -> Option<PathBuf> {
    let real = fs::canonicalize(folder).ok()?;
    let project = project.and_then(|project| fs::canonicalize(project).ok());
    let skill_folders = real.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == SKILLS_FOLDER));
    let package = skill_folders.filter_map(Path::parent).find(|folder| is_package(folder))?;
    (project.as_deref() != Some(package)).then(|| package.to_owned())
}

/// Lists the packages below a directory of installed packages. Directly in it, a directory with skills needs no
/// manifest.
pub(crate) fn list_installed_packages(folder: &Path, is_in_project: bool) -> Vec<SkillRoot> {
    let mut roots = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    let mut searched = 0;
    while let Some((folder, depth)) = open.pop() {
        searched += 1;
        if searched > FOLDERS_MAX {
            break;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_installed = depth == 0 && path.join(SKILLS_FOLDER).is_dir();
            if is_installed || is_package(&path) {
                roots.push(package_root(&path, is_in_project));
            } else if depth + 1 < DEPTH_MAX
                && entry.file_name() != CATALOG_FOLDER
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
            {
                open.push((path, depth + 1));
            }
        }
    }
    roots.sort_by(|one, two| one.path.cmp(&two.path));
    roots
}

/// Returns the name that a package declares, or else its directory name.
fn read_package_name(folder: &Path) -> String {
    let read_name = |manifest: &&str| {
        let text = skill_reader::read_text(&folder.join(manifest), MANIFEST_BYTES_MAX).ok()?;
        // YAML is a superset of JSON.
        let root = yaml::parse(text.trim_start_matches('\u{feff}'), 0).root?;
        root.get("name")?.text().filter(|name| is_package_name(name)).map(str::to_owned)
    };
    MANIFESTS.iter().find_map(read_name).unwrap_or_else(|| skill_reader::folder_name(folder))
}

/// Whether a name can prefix a skill's name. A colon would make `package:skill` ambiguous.
fn is_package_name(name: &str) -> bool {
    !name.trim().is_empty() && !name.contains(|letter: char| letter == ':' || letter.is_control())
}
