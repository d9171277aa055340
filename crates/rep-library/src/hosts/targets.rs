//! Determines where to put a skill so that a host finds it, and which hosts are in use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{DiscoveryHost, FolderBase, HostFolder};

/// The directory that most hosts read.
const SHARED_FOLDER: &str = ".agents/skills";

/// The directories that show that a host is in use: its id, a directory in a project, and a directory in a home. A path
/// is empty if the host only has shared directories there, or one that exists for other reasons.
const HOST_SIGNS: [(&str, &str, &str); 38] = [
    ("amp", "", ".config/amp"),
    ("antigravity", ".agent", ".gemini/antigravity"),
    ("autohand", ".autohand", ".autohand"),
    ("bub", "", ""),
    ("claude-code", ".claude", ".claude"),
    ("codex", ".codex", ".codex"),
    ("command-code", ".commandcode", ".commandcode"),
    ("copilot", ".github/skills", ".copilot"),
    ("cortex-code", ".cortex", ".snowflake/cortex"),
    ("cursor", ".cursor", ".cursor"),
    ("databricks", ".assistant", ".assistant"),
    ("deep-code", ".deepcode", ".deepcode"),
    ("emdash", "", ".agentskills"),
    ("factory", ".factory", ".factory"),
    ("fast-agent", ".fast-agent", ""),
    ("firebender", ".firebender", ".firebender"),
    ("gemini-cli", ".gemini", ".gemini"),
    ("goose", ".goose", ".config/goose"),
    ("hermes", "", ".hermes"),
    ("junie", ".junie", ".junie"),
    ("kiro", ".kiro", ".kiro"),
    ("laravel-boost", ".ai/skills", ""),
    ("letta", ".skills", ".letta"),
    ("mistral-vibe", ".vibe", ".vibe"),
    ("mux", ".mux", ".mux"),
    ("nanobot", "", ".nanobot"),
    ("ona", ".ona", ".ona"),
    ("openclaw", "", ".openclaw"),
    ("opencode", ".opencode", ".config/opencode"),
    ("openhands", ".openhands", ".openhands"),
    ("pi", ".pi", ".pi"),
    ("roo", ".roo", ".roo"),
    ("spring-ai", "", ""),
    ("tabnine", ".tabnine", ".tabnine"),
    ("trae", ".trae", ".trae"),
    ("vscode", ".vscode", ""),
    ("vtcode", ".vtcode", ".vtcode"),
    ("windsurf", ".windsurf", ".codeium/windsurf"),
];

/// The location whose host directories are resolved.
#[derive(Clone, Debug)]
pub struct HostFolderTarget<'a> {
    /// The project or home directory.
    pub base: &'a Path,
    /// Whether `base` is a home directory.
    pub is_personal: bool,
    /// The values of the host's environment variables. They apply only to a home directory.
    pub variables: &'a BTreeMap<String, PathBuf>,
}

impl HostFolderTarget<'_> {
    /// Returns the directory in which a host finds skills: the shared one if the host reads it, otherwise the first one
    /// it reads.
    pub fn skills_folder(&self, host: &DiscoveryHost) -> Option<PathBuf> {
        let mut own = host.folders.iter().filter_map(|folder| Some((folder.path, self.resolve_folder(folder)?)));
        let shared = host
            .folders
            .iter()
            .filter(|folder| folder.path == SHARED_FOLDER)
            .find_map(|folder| self.resolve_folder(folder));
        shared.or_else(|| own.next().map(|(_, place)| place))
    }

    fn resolve_folder(&self, folder: &HostFolder) -> Option<PathBuf> {
        let below = |base: &Path| Some(base.join(folder.path));
        match (&folder.at, self.is_personal) {
            (FolderBase::Upward | FolderBase::Here, false) | (FolderBase::Home, true) => below(self.base),
            (FolderBase::HomeWithout(name), true) if !self.variables.contains_key(*name) => below(self.base),
            (FolderBase::Variable(name, default), true) => match self.variables.get(*name) {
                Some(base) => below(base),
                None => below(&self.base.join(default)),
            },
            (FolderBase::VariableOnly(name), true) => below(self.variables.get(*name)?),
            _ => None,
        }
    }

    /// Returns whether a host appears to be in use.
    pub fn has_signs(&self, host: &DiscoveryHost) -> bool {
        let signs = HOST_SIGNS.iter().filter(|(id, _, _)| *id == host.id);
        signs
            .map(|(_, project, home)| if self.is_personal { home } else { project })
            .any(|sign| !sign.is_empty() && self.base.join(sign).is_dir())
    }
}

/// Returns the directory that most hosts read, below a project or a home directory.
pub fn shared_folder(base: &Path) -> PathBuf {
    base.join(SHARED_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::HOSTS;

    #[test]
    fn every_host_has_a_folder_in_a_scope_and_signs() {
        let none = BTreeMap::new();
        for host in &HOSTS {
            assert!(HOST_SIGNS.iter().any(|(id, _, _)| *id == host.id), "{}", host.id);
            let folders = [false, true].map(|is_personal| {
                let target = HostFolderTarget { base: Path::new("/base"), is_personal, variables: &none };
                target.skills_folder(host)
            });
            assert!(folders.iter().any(Option::is_some), "{} has no folder", host.id);
            for folder in folders.iter().flatten() {
                assert!(folder.starts_with("/base"), "{}: {}", host.id, folder.display());
            }
            // Signs name only the scopes that skills can be installed in.
            let (_, project, home) = HOST_SIGNS.iter().find(|(id, _, _)| *id == host.id).unwrap();
            for (sign, folder) in [project, home].iter().zip(&folders) {
                assert!(sign.is_empty() || folder.is_some(), "{}: {sign}", host.id);
            }
        }
        let project = HostFolderTarget { base: Path::new("/base"), is_personal: false, variables: &none };
        let of = |id: &str| project.skills_folder(DiscoveryHost::find(id).unwrap()).unwrap();
        assert_eq!(of("claude-code"), Path::new("/base/.claude/skills"));
        assert_eq!(of("kiro"), Path::new("/base/.kiro/skills"));
        for id in
            ["codex", "gemini-cli", "copilot", "opencode", "cursor", "amp", "goose", "vscode", "windsurf", "factory"]
        {
            assert_eq!(of(id), Path::new("/base/.agents/skills"), "{id}");
        }
        let moved = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), PathBuf::from("/else"))]);
        let home = HostFolderTarget { base: Path::new("/home/a"), is_personal: true, variables: &moved };
        assert_eq!(home.skills_folder(DiscoveryHost::find("claude-code").unwrap()).unwrap(), Path::new("/else/skills"));
    }
}
