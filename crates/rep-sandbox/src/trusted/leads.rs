//! Where trusted names lead inside of a workspace: who writes to what `CLAUDE.md` is a link to writes `CLAUDE.md`.
//!
//! Links are followed, the file `.git` of a checkout, objects a repository borrows, and two settings of git:
//! `core.hooksPath` and `include.path`. Folders are gone through from the top, so that where there are too many it is the deepest that are not seen.
#![expect(clippy::disallowed_methods, reason = "links can only be resolved by looking")]

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::{Trusted, is_bulk, is_repository, is_sign};

/// The most entries that are looked at.
const ENTRIES_MAX: usize = 50_000;

/// The most links on one way, as the kernel has it.
const HOPS_MAX: usize = 40;

/// The largest settings that are read, and how many files of them.
const SETTINGS_BYTES_MAX: u64 = 256 << 10;
const SETTINGS_MAX: usize = 1_000;

/// The most places of hooks that are held at every checkout, and of objects for a repository.
const PLACES_MAX: usize = 16;

/// All that trusted names lead to, relative to the workspace, which is absolute and has its links resolved.
pub(super) fn inside(workspace: &Path, trusted: &Trusted) -> BTreeSet<PathBuf> {
    let mut search =
        Search { workspace, found: BTreeSet::new(), settings: 0, tops: BTreeSet::new(), hooks: BTreeSet::new() };
    search.walk(trusted);
    // Where hooks lie is said once for all checkouts of a repository.
    for top in std::mem::take(&mut search.tops) {
        for hooks in search.hooks.clone().iter().take(PLACES_MAX) {
            search.named(&top, hooks);
        }
    }
    search.found
}

struct Search<'a> {
    workspace: &'a Path,
    found: BTreeSet<PathBuf>,
    /// How many files of settings were read.
    settings: usize,
    /// The tops of checkouts, and where settings say that hooks lie.
    tops: BTreeSet<PathBuf>,
    hooks: BTreeSet<String>,
}

impl Search<'_> {
    fn walk(&mut self, trusted: &Trusted) {
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
                if is_sign(name.as_encoded_bytes()) {
                    signs.insert(name.to_string_lossy().to_lowercase());
                }
                match kind {
                    kind if kind.is_symlink() => links.push(folder.join(name)),
                    kind if kind.is_dir() => inner.push(folder.join(name)),
                    _ if name == ".git" => self.checkout(&folder.join(name)),
                    _ => {}
                }
            }
            let is_repository = is_repository(|sign| signs.contains(sign));
            if is_repository || folder.ends_with(".git") {
                self.kept(&whole);
            }
            let is_whole = is_whole || is_repository;
            links.retain(|link| is_whole || trusted.is(&link.to_string_lossy()));
            for link in &links {
                self.link(link);
            }
            for path in inner {
                // A checkout in a repository is a project.
                let is_project = || is_repository && self.workspace.join(&path).join(".git").symlink_metadata().is_ok();
                let is_whole = is_whole && !is_project() || trusted.is(&format!("{}/x", path.display()));
                if !(is_whole && is_bulk(&path)) {
                    folders.push_back((path, is_whole));
                }
            }
        }
    }

    /// Holds what a link leads to. What it lies in itself cannot be held: nothing could be written any more.
    fn link(&mut self, link: &Path) {
        let whole = self.workspace.join(link);
        for place in self.way(&whole) {
            if place != link && !link.starts_with(&place) {
                self.found.insert(place);
            }
        }
    }

    /// Holds what a path leads to, which stands in the settings in a folder.
    fn named(&mut self, folder: &Path, path: &str) {
        for place in self.way(&folder.join(path)) {
            if !folder.starts_with(self.workspace.join(&place)) {
                self.found.insert(place);
            }
        }
    }

    /// The links on the way of a path, and where it ends, as far as they lie in the workspace.
    fn way(&self, path: &Path) -> Vec<PathBuf> {
        let mut way = Vec::new();
        let mut rest = parts(path);
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
            if hops > HOPS_MAX {
                break;
            }
            at.pop();
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            rest.extend(parts(&target));
        }
        way.push(at);
        let inside = way.iter().filter_map(|place| place.strip_prefix(self.workspace).ok());
        inside.filter(|place| !place.as_os_str().is_empty()).map(Path::to_owned).collect()
    }

    /// Holds the folder a file `.git` names.
    fn checkout(&mut self, path: &Path) {
        let whole = self.workspace.join(path);
        let Some(text) = self.text(&whole) else { return };
        if let (Some(named), Some(folder)) = (text.trim().strip_prefix("gitdir:"), whole.parent()) {
            self.named(folder, named.trim());
            self.tops.insert(folder.to_owned());
        }
    }

    /// Holds what the files of a repository lead to: its settings, and where it has objects of others.
    fn kept(&mut self, home: &Path) {
        for name in ["config", "config.worktree"] {
            self.settings(home, &home.join(name), 0);
        }
        let objects = home.join("objects");
        let others = self.text(&objects.join("info/alternates")).unwrap_or_default();
        for other in others.lines().take(PLACES_MAX) {
            self.named(&objects, other.trim());
        }
    }

    /// Holds what settings of git lead to. `home` is the folder of the repository.
    fn settings(&mut self, home: &Path, file: &Path, depth: usize) {
        let Some(text) = self.text(file).filter(|_| depth < 5) else { return };
        let folder = file.parent().unwrap_or(home).to_owned();
        for (key, value) in leading(&text) {
            match key {
                Key::Hooks => {
                    // Relative to where hooks run: the top of a checkout, or the repository itself.
                    self.named(home, &value);
                    self.tops.extend(home.parent().filter(|_| home.ends_with(".git")).map(Path::to_owned));
                    self.hooks.insert(value);
                }
                Key::Include => {
                    self.named(&folder, &value);
                    let included = folder.join(&value);
                    if fs::canonicalize(&included).is_ok_and(|real| real.starts_with(self.workspace)) {
                        self.settings(home, &included, depth + 1);
                    }
                }
            }
        }
    }

    /// The text of a small file.
    fn text(&mut self, path: &Path) -> Option<String> {
        self.settings += 1;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = (self.settings <= SETTINGS_MAX).then(|| rustix::fs::open(path, flags, Mode::empty()).ok())??;
        let file = File::from(file);
        let mut bytes = Vec::new();
        if file.metadata().ok()?.is_file() {
            file.take(SETTINGS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let own = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::new("..").to_owned()),
        _ => None,
    });
    let mut own: Vec<OsString> = own.collect();
    own.reverse();
    own
}

/// A setting that leads to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Hooks,
    Include,
}

/// The settings that lead elsewhere, with their values. What is not understood is passed over.
fn leading(text: &str) -> Vec<(Key, String)> {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let mut found = Vec::new();
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some((name, rest)) = header(line) {
            section = name.split_whitespace().next().unwrap_or_default().to_lowercase();
            line = rest.trim();
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = match (section.as_str(), key.trim().to_lowercase().as_str()) {
            ("core", "hookspath") => Key::Hooks,
            ("include" | "includeif", "path") => Key::Include,
            _ => continue,
        };
        found.push((key, unquoted(value.trim())));
    }
    found
}

/// The name of a section, and what stands behind it on the line. Quotes may hold a bracket.
fn header(line: &str) -> Option<(&str, &str)> {
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

/// A value without its quotes, its escapes and the remark behind it.
fn unquoted(value: &str) -> String {
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
    use super::{Key, leading};

    #[test]
    fn two_settings_of_git_lead_elsewhere() {
        let text = "[core]\n\tbare = false\n\thooksPath = \"my hooks\" # a remark\n[Include]\n path=../a.inc\n\
                    [includeIf \"gitdir:~/x]\"] path = b\\\\c ; remark\n[remote \"path\"]\n path = no\n[core] HooksPath = y\n[core";
        let expected =
            [(Key::Hooks, "my hooks"), (Key::Include, "../a.inc"), (Key::Include, "b\\c"), (Key::Hooks, "y")];
        assert_eq!(leading(text), expected.map(|(key, value)| (key, value.to_owned())));
    }
}
