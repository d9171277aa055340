//! Where skills are looked for: the folders of each scope, in the order that decides between equals.
//!
//! Scopes and their order follow UAAPS chapter 4 (managed over project over personal, packages
//! namespaced); the folders are those of the specifications and of the host table.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Who put a skill where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The administrator of the machine.
    Managed,
    /// The project that is worked in.
    Project,
    /// The user.
    Personal,
    /// A package or plugin; its skills are called `package:skill`.
    Package,
}

impl Scope {
    /// The word in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Managed => "managed",
            Scope::Project => "project",
            Scope::Personal => "personal",
            Scope::Package => "package",
        }
    }
}

/// A folder that holds skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder.
    pub path: PathBuf,
    /// Whose it is.
    pub scope: Scope,
    /// The package, whose name goes before the skill's.
    pub package: Option<String>,
    /// Whether it lies in the project, and so comes with a repository somebody else may have written.
    pub is_in_project: bool,
}

/// The folders of a project, first come first served. `skills` is the project's own, the others belong to hosts.
pub const PROJECT_FOLDERS: [&str; 16] = [
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
];

/// The folders of a home.
pub const PERSONAL_FOLDERS: [&str; 18] = [
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
];

/// The folders below a project's sub-folders that a monorepo may have.
const NESTED_FOLDERS: [&str; 3] = [".claude/skills", ".github/skills", ".agents/skills"];

/// Where administrators put skills on Linux.
const MANAGED_FOLDERS: [&str; 3] = ["/etc/claude-code/.claude/skills", "/etc/codex/skills", "/etc/agents/skills"];

/// The folder that holds installed packages, in a project and in a home.
const PACKAGES: &str = ".agent-packages";
/// Where Claude Code keeps plugins, in a home.
const PLUGINS: &str = ".claude/plugins";

/// How deep a project is searched for nested folders.
const NESTED_DEPTH_MAX: usize = 6;
/// How many folders of a project are searched.
const NESTED_FOLDERS_MAX: usize = 2_000;

/// The roots of a project, and what was left out of the search.
pub(crate) fn of_project(project: &Path, notes: &mut Vec<String>) -> Vec<Root> {
    let root = |path: PathBuf| Root { path, scope: Scope::Project, package: None, is_in_project: true };
    let mut roots: Vec<Root> = PROJECT_FOLDERS.iter().map(|folder| root(project.join(folder))).collect();
    roots.extend(nested(project, &NESTED_FOLDERS, notes).into_iter().map(root));
    roots.extend(packages(&project.join(PACKAGES), true));
    roots
}

/// The roots of a home.
pub(crate) fn of_home(home: &Path) -> Vec<Root> {
    let root = |path: PathBuf| Root { path, scope: Scope::Personal, package: None, is_in_project: false };
    let mut roots: Vec<Root> = PERSONAL_FOLDERS.iter().map(|folder| root(home.join(folder))).collect();
    roots.extend(packages(&home.join(PACKAGES), false));
    roots.extend(packages(&home.join(PLUGINS), false));
    roots
}

/// The roots an administrator fills: the folder given, or the places known.
pub(crate) fn of_managed(managed: Option<&Path>) -> Vec<Root> {
    let root = |path: PathBuf| Root { path, scope: Scope::Managed, package: None, is_in_project: false };
    match managed {
        Some(folder) => vec![root(folder.to_owned())],
        None => MANAGED_FOLDERS.iter().map(|folder| root(PathBuf::from(folder))).collect(),
    }
}

/// The packages below a folder that have skills.
fn packages(folder: &Path, is_in_project: bool) -> Vec<Root> {
    let mut roots: Vec<Root> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("skills").is_dir())
        .map(|entry| Root {
            path: entry.path().join("skills"),
            scope: Scope::Package,
            package: Some(package_name(&entry.path())),
            is_in_project,
        })
        .collect();
    roots.sort_by(|one, two| one.path.cmp(&two.path));
    roots
}

/// The name a package gives itself, else its folder's.
fn package_name(folder: &Path) -> String {
    let manifests = ["package.agent.json", ".claude-plugin/plugin.json", "plugin.json"];
    let named = manifests.iter().find_map(|manifest| {
        let text = crate::read::text(&folder.join(manifest), 256 * 1024).ok()?;
        let value: serde_json::Value = serde_json::from_str(&text).ok()?;
        value.get("name")?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
    });
    named.unwrap_or_else(|| crate::read::folder_name(folder))
}

/// The `.claude/skills` and their like in the sub-folders of a project.
pub(crate) fn nested(project: &Path, folders: &[&str], notes: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Open { folder: project.to_owned(), depth: 0, ignores: Ignores::of_repository(project) }];
    let mut searched = 0;
    while let Some(Open { folder, depth, ignores }) = open.pop() {
        searched += 1;
        if searched > NESTED_FOLDERS_MAX {
            notes.push(format!("searched {NESTED_FOLDERS_MAX} folders of the project for nested skills and stopped"));
            break;
        }
        if depth > 0 {
            found.extend(folders.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()));
        }
        let mut below = Vec::new();
        let mut has_ignores = false;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            has_ignores |= name == ".gitignore";
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            // A skill's own folders hold no roots of the project.
            let is_skills = depth == 0 && name == "skills";
            if is_folder && !is_skills && !name.starts_with('.') && name != "node_modules" {
                below.push(entry.path());
            }
        }
        let ignores = if has_ignores { ignores.with(&folder, &folder.join(".gitignore")) } else { ignores };
        below.retain(|path| !ignores.hide(path));
        if depth + 1 > NESTED_DEPTH_MAX {
            if !below.is_empty() {
                notes.push(format!(
                    "`{}` is {NESTED_DEPTH_MAX} folders deep; nothing below it was searched",
                    folder.display()
                ));
            }
            continue;
        }
        below.sort_unstable_by(|one, two| two.cmp(one));
        open.extend(below.into_iter().map(|folder| Open { folder, depth: depth + 1, ignores: ignores.clone() }));
    }
    found.sort();
    found
}

/// A folder that is still to be searched.
struct Open {
    folder: PathBuf,
    depth: usize,
    ignores: Ignores,
}

/// What git ignores in a folder: the rules of the repository, then those of every folder down to it.
#[derive(Clone, Default)]
struct Ignores(Vec<Arc<Gitignore>>);

impl Ignores {
    fn of_repository(project: &Path) -> Ignores {
        Ignores::default().with(project, &project.join(".git/info/exclude"))
    }

    /// These rules and those of one more file. What cannot be read or understood in it hides nothing.
    fn with(&self, folder: &Path, file: &Path) -> Ignores {
        let mut builder = GitignoreBuilder::new(folder);
        for line in crate::read::text(file, 256 * 1024).unwrap_or_default().lines() {
            // A faulty line says nothing; git passes it over too.
            let _ = builder.add_line(None, line);
        }
        let mut all = self.0.clone();
        all.extend(builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new));
        Ignores(all)
    }

    /// Whether a folder is ignored: the innermost file that has an opinion decides.
    fn hide(&self, folder: &Path) -> bool {
        let opinions = self.0.iter().rev().map(|rules| rules.matched(folder, true));
        opinions.into_iter().find(|opinion| !opinion.is_none()).is_some_and(|opinion| opinion.is_ignore())
    }
}

/// The project a folder belongs to: the nearest folder above it with a `.git`, else itself.
pub fn project_of(folder: &Path) -> PathBuf {
    folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder).to_owned()
}
