//! Predicts which skills a host lists: its directories, their order, and how it handles invalid skills.
//!
//! The behavior of each host is data (`table`), with a source and a date for each fact. `walker` finds directories as a
//! host does, and `host_entry` builds an entry from each. `bench/hosts.sh` compares the predictions with hosts that run
//! without a network.

mod adopters;
mod host_entry;
mod known_hosts;
mod plugins;
mod table;
mod targets;
mod walker;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rep_model::suggestion::nearest_by_name;
use rep_storage::platform::FileId;

use crate::catalog::{self, Catalog, CatalogEntry, LibraryOptions, SkillStatus, TrustRequirement};
use crate::decisions::UserDecisions;
use crate::packages;
use crate::roots::{Scope, SkillRoot};
use crate::validation::ValidationMode;

pub use known_hosts::{HostWithoutFolders, KnownHost, UnknownHost};
pub use table::HOSTS;
pub use targets::{HostFolderTarget, shared_folder};

/// The source of a fact.
#[derive(Debug)]
pub struct FactSource {
    /// The document, or the version that was run.
    pub text: &'static str,
    /// The date of the check.
    pub checked: &'static str,
}

/// A fact about a host, with its source.
#[derive(Debug)]
pub struct HostFact<T> {
    /// The fact.
    pub value: T,
    /// The source.
    pub source: &'static FactSource,
}

/// A host that discovers skills in directories.
#[derive(Debug)]
pub struct DiscoveryHost {
    /// The id accepted by `--host`.
    pub id: &'static str,
    /// The product name.
    pub name: &'static str,
    /// Other names accepted by `--host`.
    pub aliases: &'static [&'static str],
    /// The directories it reads. For skills with the same name, the earlier directory takes precedence.
    pub folders: &'static [HostFolder],
    /// How it searches a directory.
    pub walk: HostFact<FolderSearch>,
    /// How far up it searches outside a repository.
    pub outside: HostFact<UpwardSearch>,
    /// How it handles skills with the same name.
    pub collisions: HostFact<NameCollisions>,
    /// The source of a skill's name.
    pub naming: HostFact<NameSource>,
    /// How it handles descriptions.
    pub description: HostFact<DescriptionHandling>,
    /// How it handles malformed files.
    pub file: HostFact<FileHandling>,
    /// Whether `disable-model-invocation` hides a skill from the model.
    pub honours_opt_out: HostFact<bool>,
    /// Whether it lists a project's skills only if the user trusts the project.
    pub asks_for_trust: HostFact<bool>,
    /// Known differences between its own listing and the prediction.
    pub differs: &'static [KnownDifference],
}

/// A directory that a host reads.
#[derive(Debug)]
pub struct HostFolder {
    /// The base of the path.
    pub at: FolderBase,
    /// The path relative to the base.
    pub path: &'static str,
    /// The source.
    pub source: &'static FactSource,
}

/// The base of a directory's path.
#[derive(Debug)]
pub enum FolderBase {
    /// The root of the file system, for administrators.
    Machine,
    /// The working directory and every directory above it, up to the root of the repository.
    Upward,
    /// Only the working directory.
    Here,
    /// Every directory below the working directory.
    Nested,
    /// The home directory.
    Home,
    /// The home directory, unless this variable is set.
    HomeWithout(&'static str),
    /// The value of a variable, or else this directory in the home directory.
    Variable(&'static str, &'static str),
    /// The value of a variable. Without it, nothing.
    VariableOnly(&'static str),
    /// Each subdirectory of this directory, below a variable's value or the home directory: extensions.
    EachIn(&'static str, &'static str),
    /// Each package below this directory of the working directory, and each one in the project with this manifest.
    ProjectPackages(&'static str),
    /// Each enabled plugin of Claude Code. Its settings are in the value of a variable, or else in this directory of
    /// the home directory.
    Plugins(&'static str, &'static str),
    /// Each plugin in this directory of the home directory: a subdirectory with a plugin manifest.
    PluginFolders(&'static str),
}

/// How a directory is searched.
#[derive(Debug)]
pub struct FolderSearch {
    /// The maximum depth of a skill's directory below the root; 0 is the root itself.
    pub depth_max: usize,
    /// Whether the root itself can be a skill.
    pub takes_root: bool,
    /// Whether to search for skills inside skills.
    pub enters_skills: bool,
    /// Whether to search directories whose names start with a dot.
    pub enters_hidden: bool,
}

/// How far up a host searches outside a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpwardSearch {
    /// It does not search upward.
    WorkingFolderOnly,
    /// To the root of the file system.
    UpToRoot,
}

/// How a host handles skills with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCollisions {
    /// It lists the skill from the earlier directory.
    FirstWins,
    /// It lists all of them.
    AllListed,
    /// It lists one of them, which varies between runs.
    AnyWins,
}

/// How a host handles a field that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnomalyHandling {
    /// It skips the skill.
    Skips,
    /// It uses the value as written.
    Keeps,
    /// It uses a substitute: the directory name or the start of the body.
    Replaces,
}

/// How a host handles each kind of field that is not text.
#[derive(Debug)]
pub struct FieldHandling {
    /// The field is missing.
    pub missing: AnomalyHandling,
    /// The field is null.
    pub null: AnomalyHandling,
    /// The field is an empty string.
    pub empty: AnomalyHandling,
    /// The field is a number or a boolean.
    pub number: AnomalyHandling,
    /// The field is a list or a mapping.
    pub list: AnomalyHandling,
}

/// The source of a skill's name.
#[derive(Debug)]
pub enum NameSource {
    /// The directory.
    Folder,
    /// The frontmatter; it must match the directory name.
    SameAsFolder,
    /// The frontmatter, with the maximum length and the handling of spaces.
    Frontmatter(FieldHandling, Option<usize>, SpaceHandling),
}

/// How a host handles spaces in names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceHandling {
    /// They are retained.
    Stay,
    /// They are replaced by hyphens.
    Hyphens,
}

/// How a host handles descriptions.
#[derive(Debug)]
pub struct DescriptionHandling {
    /// How it handles a description that is not text.
    pub field: FieldHandling,
    /// The substitute for a missing description.
    pub substitute: DescriptionSubstitute,
    /// How it handles a long description.
    pub longest: DescriptionLimit,
    /// The separator between the description and `when_to_use`, if both are shown.
    pub joins_when: Option<&'static str>,
    /// Whether a skill without a description is listed but hidden from the model.
    pub hides_missing: bool,
}

/// The substitute for a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionSubstitute {
    /// No substitute.
    Nothing,
    /// The first line of the body.
    FirstLine,
    /// The first line of the body that is not a heading.
    FirstParagraph,
}

/// How a host handles a long description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionLimit {
    /// It is retained.
    Any,
    /// It is cut to this number of characters, including this suffix.
    Cut(usize, &'static str),
    /// A skill with a longer description is skipped.
    Skips(usize),
}

/// How a host handles malformed files.
#[derive(Debug)]
pub struct FileHandling {
    /// YAML with an unquoted `: ` in a value.
    pub unquoted_colon: AnomalyHandling,
    /// YAML with a bracket that is never closed.
    pub unclosed_bracket: AnomalyHandling,
    /// Missing or unclosed frontmatter.
    pub unfenced: AnomalyHandling,
    /// A byte order mark before the frontmatter.
    pub byte_order_mark: AnomalyHandling,
    /// A SKILL.md that is a symbolic link.
    pub link: AnomalyHandling,
}

/// A known difference between a host's own listing and the prediction.
#[derive(Debug)]
pub struct KnownDifference {
    /// The key used in `bench/hosts-differs.txt`.
    pub key: &'static str,
    /// A description of the difference.
    pub text: &'static str,
}

/// The host to predict, and its environment.
#[derive(Clone, Debug)]
pub struct HostView {
    /// The host.
    pub host: &'static DiscoveryHost,
    /// The directory that the host is started in.
    pub folder: PathBuf,
    /// The repository that contains the directory.
    pub repository: Option<PathBuf>,
    /// The values of the host's environment variables.
    pub variables: BTreeMap<String, PathBuf>,
    /// Whether the result is only displayed. In that case the host's own trust applies, not the user's decisions.
    /// Content given to a model always requires the user's decisions, regardless of the host.
    pub is_prediction: bool,
}

impl DiscoveryHost {
    /// Finds a host by its id or an alias.
    pub fn find(name: &str) -> Option<&'static DiscoveryHost> {
        HOSTS.iter().find(|host| host.id == name || host.aliases.contains(&name))
    }

    /// Returns the id most similar to an unknown name.
    pub fn nearest_id(name: &str) -> Option<&'static str> {
        let named =
            HOSTS.iter().flat_map(|host| std::iter::once(&host.id).chain(host.aliases).map(|near| (*near, host.id)));
        nearest_by_name(&name.to_ascii_lowercase(), named, |(near, _)| near).map(|(_, id)| id)
    }

    /// Returns the environment variables that change its directories.
    pub fn environment_variables(&self) -> BTreeSet<&'static str> {
        let of = |folder: &HostFolder| match folder.at {
            FolderBase::HomeWithout(name)
            | FolderBase::Variable(name, _)
            | FolderBase::VariableOnly(name)
            | FolderBase::EachIn(name, _)
            | FolderBase::Plugins(name, _) => Some(name),
            FolderBase::Machine
            | FolderBase::Upward
            | FolderBase::Here
            | FolderBase::Nested
            | FolderBase::Home
            | FolderBase::PluginFolders(_)
            | FolderBase::ProjectPackages(_) => None,
        };
        self.folders.iter().filter_map(of).collect()
    }
}

/// Discovers the skills that the host would list.
pub(crate) fn discover_as_host(view: &HostView, options: &LibraryOptions, decisions: &UserDecisions) -> Catalog {
    let mut catalog = Catalog::default();
    for folder in view.host.folders {
        catalog.roots.extend(resolve_roots(view, folder, options, &mut catalog.notes));
    }
    // A prediction shows what the host does with a skill.
    let validation = if view.is_prediction { ValidationMode::Lenient } else { options.validation };
    let mut seen = BTreeSet::new();
    for root in &catalog.roots {
        for found in walker::find_host_skills(&root.path, &view.host.walk.value, &mut catalog.notes) {
            // Two directories can contain the same skill through links.
            let is_first = FileId::of_target(&found.path).map_or(true, |id| seen.insert(id));
            if is_first && let Some(mut entry) = host_entry::load_host_entry(&found, root, view.host, validation) {
                if root.is_in_project {
                    apply_host_trust(&mut entry, view, options, decisions);
                }
                catalog.entries.push(entry);
            }
        }
    }
    if !view.is_prediction {
        catalog.mark_disabled(options, decisions);
    }
    resolve_collisions(&mut catalog, view.host);
    catalog
}

/// Resolves a directory of the table to its roots.
fn resolve_roots(
    view: &HostView,
    folder: &HostFolder,
    options: &LibraryOptions,
    notes: &mut Vec<String>,
) -> Vec<SkillRoot> {
    let root =
        |scope: Scope, path: PathBuf| SkillRoot { is_in_project: scope == Scope::Project, path, scope, package: None };
    let home = options.home.as_deref();
    let below = |variable: &str, default: &str| {
        view.variables.get(variable).cloned().or_else(|| home.map(|home| home.join(default)))
    };
    let personal =
        |base: Option<PathBuf>| base.map(|base| root(Scope::Personal, base.join(folder.path))).into_iter().collect();
    match folder.at {
        FolderBase::Machine => {
            vec![root(Scope::Managed, options.managed.clone().unwrap_or_else(|| PathBuf::from(folder.path)))]
        }
        FolderBase::Here => vec![root(Scope::Project, view.folder.join(folder.path))],
        FolderBase::Upward => {
            list_upward_folders(view).into_iter().map(|above| root(Scope::Project, above.join(folder.path))).collect()
        }
        FolderBase::Nested => {
            let nested = crate::roots::find_nested_roots(&view.folder, &[folder.path], notes);
            nested.into_iter().map(|path| root(Scope::Project, path)).collect()
        }
        FolderBase::Home => personal(home.map(Path::to_owned)),
        FolderBase::HomeWithout(name) => {
            personal(home.filter(|_| !view.variables.contains_key(name)).map(Path::to_owned))
        }
        FolderBase::Variable(name, default) => personal(below(name, default)),
        FolderBase::VariableOnly(name) => personal(view.variables.get(name).cloned()),
        FolderBase::Plugins(name, default) => {
            let enabled = below(name, default).map(|config| plugins::list_enabled_plugins(&config)).unwrap_or_default();
            list_package_roots(enabled, folder)
        }
        FolderBase::PluginFolders(within) => {
            let found = home.map(|home| plugins::list_plugin_folders(&home.join(within))).unwrap_or_default();
            list_package_roots(found, folder)
        }
        FolderBase::ProjectPackages(manifest) => {
            let mut all = packages::list_installed_packages(&view.folder.join(folder.path), true);
            let nested = crate::roots::find_nested_packages(&view.folder, notes);
            let with_manifest = nested.iter().filter(|package| package.join(manifest).is_file());
            all.extend(with_manifest.map(|package| packages::package_root(package, true)));
            all
        }
        FolderBase::EachIn(name, within) => {
            let base = below(name, "").map(|base| base.join(within));
            let mut each: Vec<PathBuf> =
                base.into_iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path()).collect();
            each.sort();
            each.into_iter().map(|path| root(Scope::Package, path.join(folder.path))).collect()
        }
    }
}

/// Returns the skill directories of packages, each with the name and directory of its package.
fn list_package_roots(packages: Vec<(String, PathBuf)>, folder: &HostFolder) -> Vec<SkillRoot> {
    let root = |(name, path): (String, PathBuf)| SkillRoot {
        package: Some(name),
        path: path.join(folder.path),
        scope: Scope::Package,
        is_in_project: false,
    };
    packages.into_iter().map(root).collect()
}

/// Returns the working directory and its parents, as far as the host searches.
fn list_upward_folders(view: &HostView) -> Vec<PathBuf> {
    let all = view.folder.ancestors().map(Path::to_owned);
    match (&view.repository, view.host.outside.value) {
        (Some(repository), _) => all.take_while(|folder| folder.starts_with(repository)).collect(),
        (None, UpwardSearch::WorkingFolderOnly) => all.take(1).collect(),
        (None, UpwardSearch::UpToRoot) => all.collect(),
    }
}

/// Marks a project's skill as untrusted: in a prediction if the host would, otherwise if the user has not trusted it.
fn apply_host_trust(entry: &mut CatalogEntry, view: &HostView, options: &LibraryOptions, decisions: &UserDecisions) {
    if !view.is_prediction {
        catalog::hold_back_untrusted(entry, options, decisions);
    } else if view.host.asks_for_trust.value
        && options.trust == TrustRequirement::Required
        && matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden)
    {
        entry.status = SkillStatus::Untrusted;
        entry.reason =
            format!("{} lists it only if the project is trusted there; `--trust` assumes that", view.host.name);
    }
}

/// Resolves entries with the same name as the host does, and sorts all entries.
fn resolve_collisions(catalog: &mut Catalog, host: &DiscoveryHost) {
    let is_out = |entry: &CatalogEntry| matches!(entry.status, SkillStatus::Invalid | SkillStatus::Untrusted);
    catalog.entries.sort_by(|one, two| (&one.qualified_name, is_out(one)).cmp(&(&two.qualified_name, is_out(two))));
    if host.collisions.value == NameCollisions::AllListed {
        return;
    }
    let mut winner = None;
    for index in 0..catalog.entries.len() {
        let entry = &catalog.entries[index];
        if is_out(entry) {
            continue;
        }
        match winner.filter(|winner: &usize| catalog.entries[*winner].qualified_name == entry.qualified_name) {
            None => winner = Some(index),
            Some(winner) => {
                let location = catalog.entries[winner].location.display().to_string();
                let why = match host.collisions.value {
                    NameCollisions::AnyWins => "lists only one of them, and not always the same one",
                    _ => "reads that directory first",
                };
                let entry = &mut catalog.entries[index];
                entry.status = SkillStatus::Shadowed;
                entry.shadowed_by = Some(winner);
                entry.reason = format!("`{location}` takes precedence: {} {why}", host.name);
            }
        }
    }
}
