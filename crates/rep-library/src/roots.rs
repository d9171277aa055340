//! The directories that are searched for skills, by scope and in order of precedence.
//!
//! The scopes and their order follow UAAPS chapter 4: managed, then project, then personal, with packages in
//! namespaces. The directories come from the specifications and the host table.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::packages::{is_package, list_installed_packages, package_root};

/// The origin of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The administrator of the machine.
    Managed,
    /// The current project.
    Project,
    /// The user.
    Personal,
    /// A package or plugin. Its skills are named `package:skill`.
    Package,
}

impl Scope {
    /// Returns the word used in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Managed => "managed",
            Scope::Project => "project",
            Scope::Personal => "personal",
            Scope::Package => "package",
        }
    }
}

/// A directory that contains skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRoot {
    /// The directory.
    pub path: PathBuf,
    /// The scope.
    pub scope: Scope,
    /// The package, which prefixes the skill's name.
    pub package: Option<String>,
    /// Whether the directory is in the project, and thus part of a repository that others may have written.
    pub is_in_project: bool,
}

/// The skill directories of a project, in order of precedence. `skills` is the project's own, and the others belong to
/// hosts.
pub const PROJECT_FOLDERS: [&str; 37] = [
    "skills",
    ".claude/skills",
    ".github/skills",
    ".agents/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".opencode/skills",
    ".opencode/skill",
    ".goose/skills",
    ".windsurf/skills",
    ".devin/skills",
    ".kiro/skills",
    ".factory/skills",
    ".agent/skills",
    ".codeium/skills",
    ".cognition/skills",
    ".ai/skills",
    ".assistant/skills",
    ".autohand/skills",
    ".commandcode/skills",
    ".cortex/skills",
    ".deepcode/skills",
    ".fast-agent/skills",
    ".firebender/skills",
    ".junie/skills",
    ".mux/skills",
    ".ona/skills",
    ".openhands/skills",
    ".pi/skills",
    ".roo/skills",
    ".skills",
    ".snowflake/cortex/skills",
    ".tabnine/agent/skills",
    ".trae/skills",
    ".vibe/skills",
    ".vtcode/skills",
];

/// The skill directories of a home directory.
pub const PERSONAL_FOLDERS: [&str; 42] = [
    ".claude/skills",
    ".github/skills",
    ".agents/skills",
    ".codex/skills",
    ".copilot/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".config/agents/skills",
    ".config/opencode/skills",
    ".config/opencode/skill",
    ".opencode/skills",
    ".config/goose/skills",
    ".config/amp/skills",
    ".codeium/windsurf/skills",
    ".kiro/skills",
    ".factory/skills",
    ".gemini/config/skills",
    ".gemini/antigravity/skills",
    ".opencode/skill",
    ".agent/skills",
    ".agentskills",
    ".assistant/skills",
    ".autohand/skills",
    ".commandcode/skills",
    ".deepcode/skills",
    ".firebender/skills",
    ".hermes/skills",
    ".junie/skills",
    ".letta/skills",
    ".mux/skills",
    ".nanobot/workspace/skills",
    ".ona/skills",
    ".openclaw/skills",
    ".openhands/skills",
    ".pi/agent/skills",
    ".pi/skills",
    ".roo/skills",
    ".snowflake/cortex/skills",
    ".tabnine/agent/skills",
    ".trae/skills",
    ".vibe/skills",
    ".vtcode/skills",
];

/// The skill directories searched in the subdirectories of a project, for monorepos.
const NESTED_FOLDERS: [&str; 3] = [".claude/skills", ".github/skills", ".agents/skills"];

/// The managed skill directories on Linux.
const MANAGED_FOLDERS: [&str; 3] = ["/etc/claude-code/.claude/skills", "/etc/codex/skills", "/etc/agents/skills"];

/// The directories of installed packages and plugins, in a project and in a home directory.
const PACKAGE_FOLDERS: [&str; 3] = [".agent-packages", ".claude/plugins", ".cursor/plugins"];

/// The maximum depth of the search for nested directories.
const NESTED_DEPTH_MAX: usize = 6;
/// The maximum number of directories searched in a project.
const NESTED_FOLDERS_MAX: usize = 2_000;

/// Lists the roots of a project. Adds notes about what the search skipped.
pub(crate) fn list_project_roots(project: &Path, notes: &mut Vec<String>) -> Vec<SkillRoot> {
    let root = |path: PathBuf| SkillRoot { path, scope: Scope::Project, package: None, is_in_project: true };
    let mut roots: Vec<SkillRoot> = PROJECT_FOLDERS.iter().map(|folder| root(project.join(folder))).collect();
    let nested = walk_project(project, &NESTED_FOLDERS, notes);
    roots.extend(nested.roots.into_iter().map(root));
    let installed = PACKAGE_FOLDERS.iter().flat_map(|folder| list_installed_packages(&project.join(folder), true));
    roots.extend(installed);
    roots.extend(nested.packages.iter().map(|folder| package_root(folder, true)));
    roots
}

/// Lists the roots of a home directory.
pub(crate) fn list_home_roots(home: &Path) -> Vec<SkillRoot> {
    let root = |path: PathBuf| SkillRoot { path, scope: Scope::Personal, package: None, is_in_project: false };
    let mut roots: Vec<SkillRoot> = PERSONAL_FOLDERS.iter().map(|folder| root(home.join(folder))).collect();
    roots.extend(PACKAGE_FOLDERS.iter().flat_map(|folder| list_installed_packages(&home.join(folder), false)));
    roots
}

/// Lists the managed roots: the given directory, or else the known locations.
pub(crate) fn list_managed_roots(managed: Option<&Path>) -> Vec<SkillRoot> {
    let root = |path: PathBuf| SkillRoot { path, scope: Scope::Managed, package: None, is_in_project: false };
    match managed {
        Some(folder) => vec![root(folder.to_owned())],
        None => MANAGED_FOLDERS.iter().map(|folder| root(PathBuf::from(folder))).collect(),
    }
}

/// Finds skill directories such as `.claude/skills` in the subdirectories of a project.
pub(crate) fn find_nested_roots(project: &Path, folders: &[&str], notes: &mut Vec<String>) -> Vec<PathBuf> {
    walk_project(project, folders, notes).roots
}

/// Finds the packages in the subdirectories of a project.
pub(crate) fn find_nested_packages(project: &Path, notes: &mut Vec<String>) -> Vec<PathBuf> {
    walk_project(project, &[], notes).packages
}

/// What the subdirectories of a project contain. The project's own `skills` are not those of a package.
#[derive(Default)]
struct NestedFolders {
    /// Skill directories of hosts.
    roots: Vec<PathBuf>,
    /// Packages and plugins.
    packages: Vec<PathBuf>,
}

/// Searches the subdirectories of a project.
fn walk_project(project: &Path, folders: &[&str], notes: &mut Vec<String>) -> NestedFolders {
    let mut found = NestedFolders::default();
    let mut open =
        vec![UnsearchedFolder { folder: project.to_owned(), depth: 0, ignores: IgnoreRules::from_repository(project) }];
    let mut searched = 0;
    while let Some(UnsearchedFolder { folder, depth, ignores }) = open.pop() {
        searched += 1;
        if searched > NESTED_FOLDERS_MAX {
            notes.push(format!(
                "stopped searching the project for nested skills after {NESTED_FOLDERS_MAX} directories"
            ));
            break;
        }
        if depth > 0 {
            found.roots.extend(folders.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()));
            if is_package(&folder) {
                found.packages.push(folder.clone());
            }
        }
        let mut below = Vec::new();
        let mut has_ignores = false;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            has_ignores |= name == ".gitignore";
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            // Directories inside a skill are not roots of the project.
            let is_skills = depth == 0 && name == "skills";
            if is_folder && !is_skills && !name.starts_with('.') && name != "node_modules" {
                below.push(entry.path());
            }
        }
        let ignores = if has_ignores { ignores.with_file(&folder, &folder.join(".gitignore")) } else { ignores };
        below.retain(|path| !ignores.is_ignored(path));
        if depth + 1 > NESTED_DEPTH_MAX {
            if !below.is_empty() {
                notes.push(format!(
                    "`{}` is {NESTED_DEPTH_MAX} directories deep; nothing below it was searched",
                    folder.display()
                ));
            }
            continue;
        }
        below.sort_unstable_by(|one, two| two.cmp(one));
        open.extend(below.into_iter().map(|folder| UnsearchedFolder {
            folder,
            depth: depth + 1,
            ignores: ignores.clone(),
        }));
    }
    found.roots.sort();
    found.packages.sort();
    found
}

/// A directory that has not been searched yet.
struct UnsearchedFolder {
    folder: PathBuf,
    depth: usize,
    ignores: IgnoreRules,
}

/// The Git ignore rules for a directory: those of the repository, then those of each directory down to it.
#[derive(Clone, Default)]
struct IgnoreRules(Vec<Arc<Gitignore>>);

impl IgnoreRules {
    fn from_repository(project: &Path) -> IgnoreRules {
        IgnoreRules::default().with_file(project, &project.join(".git/info/exclude"))
    }

    /// Adds the rules of another file. Lines that cannot be read or parsed have no effect.
    fn with_file(&self, folder: &Path, file: &Path) -> IgnoreRules {
        let mut builder = GitignoreBuilder::new(folder);
        for line in crate::skill_reader::read_text(file, 256 * 1024).unwrap_or_default().lines() {
            // Skip an invalid line, as Git does.
            let _ = builder.add_line(None, line);
        }
        let mut all = self.0.clone();
        all.extend(builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new));
        IgnoreRules(all)
    }

    /// Returns whether a directory is ignored. The innermost file with a matching rule decides.
    fn is_ignored(&self, folder: &Path) -> bool {
        let opinions = self.0.iter().rev().map(|rules| rules.matched(folder, true));
        opinions.into_iter().find(|opinion| !opinion.is_none()).is_some_and(|opinion| opinion.is_ignore())
    }
}

/// Returns the project of a directory: the nearest parent with a `.git`, or else the directory itself.
pub fn find_project_folder(folder: &Path) -> PathBuf {
    folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder).to_owned()
}
