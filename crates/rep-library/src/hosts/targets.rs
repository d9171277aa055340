//! Where a skill is put so that a host finds it, and which hosts there are signs of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{At, Folder, Host};

/// The folder most hosts read.
const SHARED: &str = ".agents/skills";

/// What shows that a host is used: a folder of its own in a project, and one in a home. Where there is none it has none but those it
/// shares with others, or one that is there for other reasons.
const SIGNS: [(&str, &str, &str); 13] = [
    ("amp", "", ".config/amp"),
    ("antigravity", ".agent", ".gemini/antigravity"),
    ("claude-code", ".claude", ".claude"),
    ("codex", ".codex", ".codex"),
    ("copilot", ".github/skills", ".copilot"),
    ("cursor", ".cursor", ".cursor"),
    ("factory", ".factory", ".factory"),
    ("gemini", ".gemini", ".gemini"),
    ("goose", ".goose", ".config/goose"),
    ("kiro", ".kiro", ".kiro"),
    ("opencode", ".opencode", ".config/opencode"),
    ("vscode", ".vscode", ""),
    ("windsurf", ".windsurf", ".codeium/windsurf"),
];

/// Whose folders are meant.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// The project, or the home.
    pub base: &'a Path,
    /// Whether it is the home.
    pub is_personal: bool,
    /// What the environment says of the host's variables; counts for a home only.
    pub variables: &'a BTreeMap<String, PathBuf>,
}

impl Target<'_> {
    /// The folder in which a host finds skills: the one it shares with others, else the first it reads.
    pub fn folder(&self, host: &Host) -> Option<PathBuf> {
        let mut own = host.folders.iter().filter_map(|folder| Some((folder.path, self.place(folder)?)));
        let shared = host.folders.iter().filter(|folder| folder.path == SHARED).find_map(|folder| self.place(folder));
        shared.or_else(|| own.next().map(|(_, place)| place))
    }

    fn place(&self, folder: &Folder) -> Option<PathBuf> {
        let below = |base: &Path| Some(base.join(folder.path));
        match (&folder.at, self.is_personal) {
            (At::Upward | At::Here, false) | (At::Home, true) => below(self.base),
            (At::HomeWithout(name), true) if !self.variables.contains_key(*name) => below(self.base),
            (At::Variable(name, default), true) => match self.variables.get(*name) {
                Some(base) => below(base),
                None => below(&self.base.join(default)),
            },
            (At::VariableOnly(name), true) => below(self.variables.get(*name)?),
            _ => None,
        }
    }

    /// Whether there are signs of a host.
    pub fn has_signs(&self, host: &Host) -> bool {
        let signs = SIGNS.iter().filter(|(id, _, _)| *id == host.id);
        signs
            .map(|(_, project, home)| if self.is_personal { home } else { project })
            .any(|sign| !sign.is_empty() && self.base.join(sign).is_dir())
    }
}

/// The folder most hosts read, below a project or a home.
pub fn shared_folder(base: &Path) -> PathBuf {
    base.join(SHARED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::HOSTS;

    #[test]
    fn every_host_has_a_folder_in_every_scope_and_signs() {
        let none = BTreeMap::new();
        for is_personal in [false, true] {
            let target = Target { base: Path::new("/base"), is_personal, variables: &none };
            for host in &HOSTS {
                let folder = target.folder(host).unwrap_or_else(|| panic!("{} has no folder", host.id));
                assert!(folder.starts_with("/base") && folder.ends_with("skills"), "{}: {}", host.id, folder.display());
                assert!(SIGNS.iter().any(|(id, _, _)| *id == host.id), "{}", host.id);
            }
        }
        let project = Target { base: Path::new("/base"), is_personal: false, variables: &none };
        let of = |id: &str| project.folder(Host::find(id).unwrap()).unwrap();
        assert_eq!(of("claude-code"), Path::new("/base/.claude/skills"));
        assert_eq!(of("kiro"), Path::new("/base/.kiro/skills"));
        for id in ["codex", "gemini", "copilot", "opencode", "cursor", "amp", "goose", "vscode", "windsurf", "factory"]
        {
            assert_eq!(of(id), Path::new("/base/.agents/skills"), "{id}");
        }
        let moved = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), PathBuf::from("/else"))]);
        let home = Target { base: Path::new("/home/a"), is_personal: true, variables: &moved };
        assert_eq!(home.folder(Host::find("claude-code").unwrap()).unwrap(), Path::new("/else/skills"));
    }
}
