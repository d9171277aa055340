//! Finds the targets of protected paths inside a workspace: writing to the target of a link `CLAUDE.md` writes
//! `CLAUDE.md`.
//!
//! Follows symbolic links, the `.git` files of checkouts, borrowed objects of repositories, and the git settings
//! `core.hooksPath` and `include.path`. Directories are visited breadth-first, so that the limit on entries affects
//! only the deepest ones.
#![expect(clippy::disallowed_methods, reason = "resolving links requires file system access")]

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use rep_storage::platform::{LinkPolicy, open_file};

use super::{ProtectedPaths, has_repository_markers, is_bulk_folder, is_folder_marker};

/// The maximum number of entries visited.
const ENTRIES_MAX: usize = 50_000;

/// The maximum number of links in one path, as in the kernel.
const LINK_HOPS_MAX: usize = 40;

/// The maximum size of a settings file, and the maximum number of them.
const SETTINGS_BYTES_MAX: u64 = 256 << 10;
const SETTINGS_MAX: usize = 1_000;

/// The maximum number of hook directories per checkout, and of object directories per repository.
const TARGETS_MAX: usize = 16;

/// Returns all targets of protected paths, relative to the workspace, whose path must be absolute and resolved.
pub(super) fn find_link_targets(workspace: &Path, trusted: &ProtectedPaths) -> BTreeSet<PathBuf> {
    let mut search = LinkSearch {
        workspace,
        found: BTreeSet::new(),
        settings_read: 0,
        checkout_roots: BTreeSet::new(),
        hook_paths: BTreeSet::new(),
    };
    search.walk_workspace(trusted);
    // Hook directories apply to all checkouts of a repository.
    for top in std::mem::take(&mut search.checkout_roots) {
        for hooks in search.hook_paths.clone().iter().take(TARGETS_MAX) {
            search.add_path_targets(&top, hooks);
        }
    }
    search.found
}

struct LinkSearch<'a> {
    workspace: &'a Path,
    found: BTreeSet<PathBuf>,
    /// The number of settings files read.
    settings_read: usize,
    /// The roots of checkouts, and the hook directories from settings.
    checkout_roots: BTreeSet<PathBuf>,
    hook_paths: BTreeSet<String>,
}

impl LinkSearch<'_> {
    fn walk_workspace(&mut self, trusted: &ProtectedPaths) {
        let mut entries = 0;
        let mut folders = VecDeque::from([(PathBuf::new(), false)]);
        while let Some((folder, is_whole)) = folders.pop_front() {
            let whole = self.workspace.join(&folder);
            let (mut signs, mut links, mut inner) = (BTreeSet::new(), Vec::new(), Vec::new());
            for entry in fs::read_dir(&whole).into_iter().flatten().flatten() {
                entries += 1;
                if entries > ENTRIES_MAX {
                    return;
                }
                let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
                if is_folder_marker(name.as_encoded_bytes()) {
                    signs.insert(name.to_string_lossy().to_lowercase());
                }
                match kind {
                    kind if kind.is_symlink() => links.push(folder.join(name)),
                    kind if kind.is_dir() => inner.push(folder.join(name)),
                    _ if name == ".git" => self.add_checkout(&folder.join(name)),
                    _ => {}
                }
            }
            let is_repository = has_repository_markers(|sign| signs.contains(sign));
            if is_repository || folder.ends_with(".git") {
                self.add_repository_targets(&whole);
            }
            let is_whole = is_whole || is_repository;
            links.retain(|link| is_whole || trusted.is_protected(&link.to_string_lossy()));
            for link in &links {
                self.add_link_targets(link);
            }
            for path in inner {
                // A checkout inside a repository is a project.
                let is_project = || is_repository && self.workspace.join(&path).join(".git").symlink_metadata().is_ok();
                let is_whole = is_whole && !is_project() || trusted.is_protected(&format!("{}/x", path.display()));
                if !(is_whole && is_bulk_folder(&path)) {
                    folders.push_back((path, is_whole));
                }
            }
        }
    }

    /// Protects the target of a link. A directory that contains the link itself is left out, because otherwise nothing
    /// in it could be written.
    fn add_link_targets(&mut self, link: &Path) {
        let whole = self.workspace.join(link);
        for place in self.trace_links(&whole) {
            if place != link && !link.starts_with(&place) {
                self.found.insert(place);
            }
        }
    }

    /// Protects the target of a path from settings in a directory.
    fn add_path_targets(&mut self, folder: &Path, path: &str) {
        for place in self.trace_links(&folder.join(path)) {
            if !folder.starts_with(self.workspace.join(&place)) {
                self.found.insert(place);
            }
        }
    }

    /// Returns the links along a path and its final target, if they are in the workspace.
    fn trace_links(&self, path: &Path) -> Vec<PathBuf> {
        let mut way = Vec::new();
        let mut rest = reverse_components(path);
        let mut at = PathBuf::from("/");
        let mut hops = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                at.pop();
                continue;
            }
            at.push(part);
            let Ok(target) = fs::read_link(&at) else { continue };
            way.push(at.clone());
            hops += 1;
            if hops > LINK_HOPS_MAX {
                break;
            }
            at.pop();
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            rest.extend(reverse_components(&target));
        }
        way.push(at);
        let inside = way.iter().filter_map(|place| place.strip_prefix(self.workspace).ok());
        inside.filter(|place| !place.as_os_str().is_empty()).map(Path::to_owned).collect()
    }

    /// Protects the directory that a `.git` file names.
    fn add_checkout(&mut self, path: &Path) {
        let whole = self.workspace.join(path);
        let Some(text) = self.read_small_file(&whole) else { return };
        if let (Some(named), Some(folder)) = (text.trim().strip_prefix("gitdir:"), whole.parent()) {
            self.add_path_targets(folder, named.trim());
            self.checkout_roots.insert(folder.to_owned());
        }
    }

    /// Protects the targets of a repository's settings and its borrowed objects.
    fn add_repository_targets(&mut self, home: &Path) {
        for name in ["config", "config.worktree"] {
            self.add_git_settings(home, &home.join(name), 0);
        }
        let objects = home.join("objects");
        let others = self.read_small_file(&objects.join("info/alternates")).unwrap_or_default();
        for other in others.lines().take(TARGETS_MAX) {
            self.add_path_targets(&objects, other.trim());
        }
    }

    /// Protects the targets of git settings. `home` is the directory of the repository.
    fn add_git_settings(&mut self, home: &Path, file: &Path, depth: usize) {
        let Some(text) = self.read_small_file(file).filter(|_| depth < 5) else { return };
        let folder = file.parent().unwrap_or(home).to_owned();
        for (key, value) in parse_path_settings(&text) {
            match key {
                GitPathSetting::Hooks => {
                    // Relative to where hooks run: the root of a checkout, or the repository itself.
                    self.add_path_targets(home, &value);
                    self.checkout_roots.extend(home.parent().filter(|_| home.ends_with(".git")).map(Path::to_owned));
                    self.hook_paths.insert(value);
                }
                GitPathSetting::Include => {
                    self.add_path_targets(&folder, &value);
                    let included = folder.join(&value);
                    if fs::canonicalize(&included).is_ok_and(|real| real.starts_with(self.workspace)) {
                        self.add_git_settings(home, &included, depth + 1);
                    }
                }
            }
        }
    }

    /// Returns the text of a small file.
    fn read_small_file(&mut self, path: &Path) -> Option<String> {
        self.settings_read += 1;
        let file = (self.settings_read <= SETTINGS_MAX).then(|| open_file(path, LinkPolicy::Follow).ok())??;
        let mut bytes = Vec::new();
        if file.metadata().ok()?.is_file() {
            file.take(SETTINGS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the components of a path in reverse order.
fn reverse_components(path: &Path) -> Vec<OsString> {
    let own = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::new("..").to_owned()),
        _ => None,
    });
    let mut own: Vec<OsString> = own.collect();
    own.reverse();
    own
}

/// A git setting that contains a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitPathSetting {
    Hooks,
    Include,
}

/// Returns the settings that contain paths, with their values. Skips everything else.
fn parse_path_settings(text: &str) -> Vec<(GitPathSetting, String)> {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let mut found = Vec::new();
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some((name, rest)) = parse_section_header(line) {
            section = name.split_whitespace().next().unwrap_or_default().to_lowercase();
            line = rest.trim();
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = match (section.as_str(), key.trim().to_lowercase().as_str()) {
            ("core", "hookspath") => GitPathSetting::Hooks,
            ("include" | "includeif", "path") => GitPathSetting::Include,
            _ => continue,
        };
        found.push((key, unquote_value(value.trim())));
    }
    found
}

/// Returns the name of a section and the rest of its line. Quoted text may contain a bracket.
fn parse_section_header(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix('[')?;
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = line.find(|letter| {
        let is_end = letter == ']' && !is_quoted;
        is_quoted ^= letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })?;
    Some((&line[..end], &line[end + 1..]))
}

/// Removes quotes, escapes and the trailing comment from a value.
fn unquote_value(value: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' => text.extend(letters.next()),
            '#' | ';' if !is_quoted => break,
            letter => text.push(letter),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{GitPathSetting, parse_path_settings};

    #[test]
    fn two_settings_of_git_lead_elsewhere() {
        let text = "[core]\n\tbare = false\n\thooksPath = \"my hooks\" # a remark\n[Include]\n path=../a.inc\n\
                    [includeIf \"gitdir:~/x]\"] path = b\\\\c ; remark\n[remote \"path\"]\n path = no\n[core] HooksPath = y\n[core";
        let expected = [
            (GitPathSetting::Hooks, "my hooks"),
            (GitPathSetting::Include, "../a.inc"),
            (GitPathSetting::Include, "b\\c"),
            (GitPathSetting::Hooks, "y"),
        ];
        assert_eq!(parse_path_settings(text), expected.map(|(key, value)| (key, value.to_owned())));
    }
}
