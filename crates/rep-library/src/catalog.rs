//! The catalog: all skills that were found, and which copy of a name takes precedence.
//!
//! This module handles precedence, trust and disabled skills. `roots` decides where to look; `frontmatter_reader` and
//! `skill_reader` read skills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rep_check::loading::{check_loading, is_dialect_violation};
use rep_check::{Finding, Level, Profile, detect_dialects, rule_for_fault};
use rep_model::provenance::DeclaredProvenance;
use rep_model::yaml::YamlNode;
use rep_model::{Fault, FaultKind, Skill, SkillTree, names};
use rep_storage::platform::FileId;

use crate::decisions::{FolderTrust, SkillContents, TextRetention, UserDecisions};
use crate::dependencies::{self, Dependency};
use crate::discovery::{self, SkillLocation};
use crate::roots::{self, Scope, SkillRoot};
use crate::search::{self, SearchHit, SearchIndex};
use crate::selection::{SelectionRequest, SkillSelection, SkillSelector};
use crate::skill_reader::ReadExtent;
use crate::validation::{SkillViolation, ValidationMode};
use crate::{LibraryError, frontmatter_reader, hosts, packages, skill_reader};

/// The maximum number of results among which active skills are looked for.
const FALLBACK_SEARCHED_MAX: usize = 100;

/// The maximum number of entries of a directory in which misnamed main files are looked for.
const LISTED_ENTRIES_MAX: usize = 10_000;

/// The options for discovering skills.
#[derive(Clone, Debug, Default)]
pub struct LibraryOptions {
    /// Paths to load, trusted, instead of discovering skills.
    pub paths: Vec<PathBuf>,
    /// Whether nothing is discovered even without paths.
    pub is_without_discovery: bool,
    /// The current project.
    pub project: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The administrator's directory. Without one, the known locations are used.
    pub managed: Option<PathBuf>,
    /// The order of the scopes.
    pub precedence: Precedence,
    /// Whether project skills need the user's trust.
    pub trust: TrustRequirement,
    /// The file with the user's decisions about trust and disabled skills, if any.
    pub decisions: Option<PathBuf>,
    /// Additional skill directories from the settings.
    pub extra: Vec<SkillRoot>,
    /// The directory that caches the search index. Without one, the index is rebuilt.
    pub cache: Option<PathBuf>,
    /// Whether violations that a dialect calls hard make a skill invalid.
    pub validation: ValidationMode,
    /// The host whose view to predict instead of the library's own.
    pub host: Option<hosts::HostView>,
    /// Who uses the catalog.
    pub audience: CatalogAudience,
}

impl LibraryOptions {
    /// Whether skills are discovered where hosts look for them.
    fn uses_discovery(&self) -> bool {
        self.paths.is_empty() && !self.is_without_discovery
    }
}

/// Who uses a catalog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CatalogAudience {
    /// People and their programs: all skills exist, whatever their status.
    #[default]
    People,
    /// A model: only active skills exist. The names of the others lead nowhere.
    Models,
}

/// The order of scopes for skills with the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precedence {
    /// Managed, project, personal: the order of the specification.
    #[default]
    ProjectFirst,
    /// Managed, personal, project: the order of Claude Code.
    ClaudeCode,
}

/// Whether project skills need the user's trust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrustRequirement {
    /// Project skills need trust.
    #[default]
    Required,
    /// Project skills are trusted for this call.
    Waived,
}

/// The status of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkillStatus {
    /// Shown to models.
    Active,
    /// Opted out of model invocation. Users can still call it.
    Hidden,
    /// Another skill with the same name takes precedence.
    Shadowed,
    /// The skill cannot be loaded, or violates what its dialect calls hard.
    Invalid,
    /// The project is not trusted, or the skill changed after it was trusted.
    Untrusted,
    /// The user disabled the skill.
    Disabled,
}

impl SkillStatus {
    /// Returns the word used in listings.
    pub const fn name(self) -> &'static str {
        match self {
            SkillStatus::Active => "active",
            SkillStatus::Hidden => "hidden",
            SkillStatus::Shadowed => "shadowed",
            SkillStatus::Invalid => "invalid",
            SkillStatus::Untrusted => "untrusted",
            SkillStatus::Disabled => "disabled",
        }
    }
}

/// A skill in the catalog, with the information from its frontmatter.
#[derive(Clone)]
pub struct CatalogEntry {
    /// The name from the frontmatter, or else of the directory.
    pub name: String,
    /// The name with its package: `pkg:skill`.
    pub qualified_name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// The scope it was found in.
    pub scope: Scope,
    /// Whether the skill is part of the project and therefore needs the user's trust.
    pub is_in_project: bool,
    /// The absolute path of the SKILL.md or `*.uasp.yaml` file.
    pub location: PathBuf,
    /// The absolute path of the directory.
    pub folder: PathBuf,
    /// The status.
    pub status: SkillStatus,
    /// The reason the skill is not active, or an empty string.
    pub reason: String,
    /// The index of the entry that takes precedence over this one.
    pub shadowed_by: Option<usize>,
    /// The findings reported while loading. Those of level error make the skill invalid, unless validation is lenient.
    pub findings: Vec<Finding>,
    /// Whether the skill is validated again when it is used.
    pub validation: ValidationMode,
    /// The parsed frontmatter or UASP file.
    pub skill: Skill,
    /// Whether users can call it by name.
    pub is_user_invocable: bool,
    /// The skills it depends on, and whether they are available.
    pub dependencies: Vec<Dependency>,
}

impl CatalogEntry {
    /// Returns the finding for a fault, if loading reported one.
    pub fn finding_for_fault(&self, fault: FaultKind) -> Option<&Finding> {
        let name = rule_for_fault(fault).name;
        self.findings.iter().find(|finding| finding.rule.name == name)
    }

    /// Returns whether an available skill may be used while its directory has this digest. A project's skill needs
    /// trust in exactly that digest, unless trust is waived.
    pub fn is_trusted_with_digest(&self, options: &LibraryOptions, digest: &str) -> Result<bool, LibraryError> {
        let Some(project) = options.project.as_ref().filter(|_| options.trust == TrustRequirement::Required) else {
            return Ok(true);
        };
        if !self.is_in_project {
            return Ok(true);
        }
        let decisions =
            options.decisions.as_deref().map_or_else(|| Ok(UserDecisions::default()), UserDecisions::read)?;
        Ok(decisions.trust_of(project, &self.folder, || Some(digest.to_owned())) == FolderTrust::Trusted)
    }

    /// Returns the repository, commit, reviewers and signature that the skill declares.
    pub fn declared_provenance(&self) -> Option<DeclaredProvenance> {
        self.skill.frontmatter().and_then(DeclaredProvenance::from_frontmatter)
    }

    /// Returns the findings that make the skill invalid.
    pub fn list_violations(&self) -> Vec<SkillViolation> {
        let errors = self.findings.iter().filter(|finding| finding.level == Level::Error);
        errors.map(SkillViolation::from_finding).collect()
    }

    /// Returns how to make the skill active, or `None` if it is.
    pub fn suggest_remedy(&self) -> Option<String> {
        let name = &self.qualified_name;
        match self.status {
            SkillStatus::Active => None,
            SkillStatus::Hidden => Some("remove `disable-model-invocation` to let models call it".to_owned()),
            SkillStatus::Shadowed => {
                Some("rename or remove one of the two, or disable the other with `rep disable`".to_owned())
            }
            SkillStatus::Invalid => Some(format!("run `rep check {}` to see what is wrong", self.folder.display())),
            SkillStatus::Untrusted => Some("review the skill, then run `rep trust`".to_owned()),
            SkillStatus::Disabled => Some(format!("run `rep enable {name}`; add `--user` if it is off for this user")),
        }
    }
}

/// An immutable snapshot of all skills that were found.
#[derive(Default)]
pub struct Catalog {
    /// The entries, ordered by qualified name. The entry that takes precedence comes first.
    pub entries: Vec<CatalogEntry>,
    /// The directories that were searched.
    pub roots: Vec<SkillRoot>,
    /// Notes about what was skipped.
    pub notes: Vec<String>,
    /// The directory that caches the search index.
    cache: Option<PathBuf>,
    /// The compiled triggers, built on first use.
    selector: OnceLock<SkillSelector>,
    /// The search index, built on first use.
    index: OnceLock<SearchIndex>,
}

impl Catalog {
    /// Discovers skills and determines which copy of each name takes precedence.
    pub fn discover(options: &LibraryOptions) -> Result<Catalog, LibraryError> {
        let decisions =
            options.decisions.as_deref().map_or_else(|| Ok(UserDecisions::default()), UserDecisions::read)?;
        if let Some(view) = options.host.as_ref().filter(|_| options.uses_discovery()) {
            let mut catalog = hosts::discover_as_host(view, options, &decisions);
            catalog.cache.clone_from(&options.cache);
            catalog.retain_for_audience(options.audience);
            dependencies::resolve_dependencies(&mut catalog);
            return Ok(catalog);
        }
        let mut catalog = Catalog { cache: options.cache.clone(), ..Catalog::default() };
        if options.uses_discovery() {
            catalog.load_scopes(options, &decisions);
        } else {
            catalog.load_paths(options)?;
        }
        catalog.resolve_precedence(options, &decisions);
        catalog.retain_for_audience(options.audience);
        dependencies::resolve_dependencies(&mut catalog);
        Ok(catalog)
    }

    /// Removes the entries that do not exist for an audience. Active entries point to no others.
    fn retain_for_audience(&mut self, audience: CatalogAudience) {
        if audience == CatalogAudience::Models {
            self.entries.retain(|entry| entry.status == SkillStatus::Active);
        }
    }

    /// Returns a catalog of some of the entries, in their order.
    pub(crate) fn with_entries(&self, mut entries: Vec<CatalogEntry>) -> Catalog {
        for entry in &mut entries {
            entry.shadowed_by = None;
        }
        let mut catalog = Catalog { entries, cache: self.cache.clone(), ..Catalog::default() };
        dependencies::resolve_dependencies(&mut catalog);
        catalog
    }

    /// Selects the skills whose triggers match a request, with an explanation of each score.
    pub fn select(&self, request: &SelectionRequest) -> SkillSelection {
        self.selector.get_or_init(|| SkillSelector::new(self)).select(request)
    }

    /// Returns whether any active skill declares triggers, which [`Catalog::select`] matches.
    pub fn has_triggers(&self) -> bool {
        self.selector.get_or_init(|| SkillSelector::new(self)).has_triggers()
    }

    /// Returns the active skills that fit the text of a request, for a request that selects none by its triggers.
    pub fn search_active(&self, text: &str, limit: usize) -> Vec<SearchHit> {
        let mut hits = self.search(text, self.entries.len().min(FALLBACK_SEARCHED_MAX));
        let is_fitting = |hit: &SearchHit| hit.score >= search::SCORE_MIN;
        hits.retain(|hit| is_fitting(hit) && self.entries[hit.entry].status == SkillStatus::Active);
        hits.truncate(limit);
        hits
    }

    /// Searches the text of skills, best first. Returns nothing if not even the first skill fits.
    pub fn search(&self, text: &str, limit: usize) -> Vec<SearchHit> {
        self.search_index().find_fitting(text, limit)
    }

    /// Returns the index that [`Catalog::search`] uses. It contains every skill that can be found.
    pub fn search_index(&self) -> &SearchIndex {
        self.index.get_or_init(|| SearchIndex::open(self, search::is_findable, self.cache.as_deref()))
    }

    /// Returns the available skill with a plain or qualified name. A plain name also matches a package's skill if only
    /// one package has it.
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        let is_callable = |entry: &&CatalogEntry| matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden);
        let exact = self.entries.iter().filter(is_callable).find(|entry| entry.qualified_name == name);
        exact.or_else(|| {
            let mut matches = self.entries.iter().filter(is_callable).filter(|entry| entry.name == name);
            matches.next().filter(|_| matches.next().is_none())
        })
    }

    /// Returns the skills that are invalid.
    pub fn list_invalid(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.entries.iter().filter(|entry| entry.status == SkillStatus::Invalid)
    }

    /// Returns the paths where a skill of this name was expected but skipped, each with the reason.
    pub fn find_skipped_folders(&self, name: &str) -> Vec<(PathBuf, String)> {
        let name = name.rsplit(':').next().unwrap_or(name);
        let is_word = !name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "." && name != "..";
        let candidates = self.roots.iter().filter(|_| is_word).map(|root| root.path.join(name));
        let mut found: Vec<(PathBuf, String)> = Vec::new();
        for path in candidates {
            let is_taken = || {
                let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                self.entries.iter().any(|entry| entry.folder == real)
            };
            if let Some(reason) = explain_no_skill(&path).filter(|_| !is_taken()) {
                found.push((path, reason));
            }
        }
        found
    }

    /// Returns the main files directly below the searched directories that hosts do not find, because their names
    /// differ from `SKILL.md` in case.
    pub fn find_misnamed_files(&self) -> Vec<PathBuf> {
        let known: BTreeSet<&Path> = self.entries.iter().map(|entry| entry.folder.as_path()).collect();
        let roots: BTreeSet<PathBuf> = self.roots.iter().filter_map(|root| root.path.canonicalize().ok()).collect();
        let children = roots.iter().flat_map(|root| list_entries(root));
        let mut found: Vec<PathBuf> = children
            .map(|child| child.path())
            .filter(|folder| !known.contains(folder.as_path()))
            .filter_map(|folder| Some(folder.join(find_misnamed_file(&folder)?)))
            .collect();
        found.sort();
        found
    }

    /// Loads the skills below the given paths. Those of a package are named after it, as in a project.
    fn load_paths(&mut self, options: &LibraryOptions) -> Result<(), LibraryError> {
        for path in &options.paths {
            let mut found = Vec::new();
            self.notes.extend(discovery::find_skills(path, |skill| found.push(skill))?);
            found.sort();
            let root = SkillRoot { path: path.clone(), scope: Scope::Project, package: None, is_in_project: false };
            for (package, found) in group_by_package(found, options.project.as_deref()) {
                let root = match package {
                    Some(folder) => SkillRoot { path: path.clone(), ..packages::package_root(&folder, false) },
                    None => root.clone(),
                };
                self.entries.extend(load_entries(&found, &root, options.validation, |_| {}));
            }
            self.roots.push(root);
        }
        Ok(())
    }

    fn load_scopes(&mut self, options: &LibraryOptions, decisions: &UserDecisions) {
        let mut roots = roots::list_managed_roots(options.managed.as_deref());
        if let Some(project) = &options.project {
            roots.extend(roots::list_project_roots(project, &mut self.notes));
        }
        roots.extend(options.extra.iter().cloned());
        if let Some(home) = &options.home {
            roots.extend(roots::list_home_roots(home));
        }
        // A root can itself be a skill, so roots and skills are tracked separately.
        let (mut seen_roots, mut seen) = (SeenFolders::default(), BTreeSet::new());
        for root in &roots {
            if !seen_roots.is_first_visit(root, &root.path) {
                continue;
            }
            let found = find_skills_below(&root.path, &mut self.notes);
            let entries = load_entries(&found, root, options.validation, |entry| {
                if root.is_in_project {
                    hold_back_untrusted(entry, options, decisions);
                }
            });
            // Two paths in the same scope can refer to the same skill.
            let key = |entry: &CatalogEntry| (entry.location.clone(), root.scope, root.package.clone());
            self.entries.extend(entries.into_iter().filter(|entry| seen.insert(key(entry))));
        }
        self.roots = roots;
    }

    /// Marks the skills that the user disabled.
    pub(crate) fn mark_disabled(&mut self, options: &LibraryOptions, decisions: &UserDecisions) {
        let disabled = decisions.disabled_skills(options.project.as_deref());
        for entry in &mut self.entries {
            if let Some(place) = disabled.get(entry.qualified_name.as_str())
                && matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden)
            {
                entry.status = SkillStatus::Disabled;
                entry.reason = format!("switched off {place}");
            }
        }
    }

    /// Determines which entry of each name takes precedence, and sorts all entries.
    fn resolve_precedence(&mut self, options: &LibraryOptions, decisions: &UserDecisions) {
        let rank = |scope: Scope| match (options.precedence, scope) {
            (_, Scope::Managed) => 0,
            (Precedence::ProjectFirst, Scope::Project) | (Precedence::ClaudeCode, Scope::Personal) => 1,
            (Precedence::ProjectFirst, Scope::Personal) | (Precedence::ClaudeCode, Scope::Project) => 2,
            (_, Scope::Package) => 3,
        };
        self.mark_disabled(options, decisions);
        // The sort is stable: within a scope, the first root takes precedence.
        let is_out = |entry: &CatalogEntry| matches!(entry.status, SkillStatus::Invalid | SkillStatus::Untrusted);
        let key = |at: &usize| (is_out(&self.entries[*at]), rank(self.entries[*at].scope));
        let name = |at: &usize| &self.entries[*at].qualified_name;
        // Entries are large, so their indexes are sorted and each entry is moved once.
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by(|one, two| name(one).cmp(name(two)).then_with(|| key(one).cmp(&key(two))));
        let mut unsorted: Vec<Option<CatalogEntry>> = std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        self.entries = order.into_iter().filter_map(|at| unsorted[at].take()).collect();
        // Entries with the same name are adjacent, and those that can take precedence come first.
        let mut winner = 0;
        for index in 0..self.entries.len() {
            if self.entries[index].qualified_name != self.entries[winner].qualified_name {
                winner = index;
            }
            if index != winner && !is_out(&self.entries[index]) {
                self.mark_shadowed(index, winner);
            }
        }
        self.remove_self_shadows();
    }

    /// Removes entries shadowed by themselves, such as a directory reached through two scopes by a link.
    fn remove_self_shadows(&mut self) {
        let is_own = |entry: &CatalogEntry| {
            let winner = entry.shadowed_by.and_then(|index| self.entries.get(index));
            winner.is_some_and(|winner| winner.location == entry.location)
        };
        let dropped: Vec<bool> = self.entries.iter().map(is_own).collect();
        if !dropped.contains(&true) {
            return;
        }
        let mut places = Vec::with_capacity(dropped.len());
        let mut kept = 0;
        for is_dropped in &dropped {
            places.push(kept);
            kept += usize::from(!is_dropped);
        }
        for entry in &mut self.entries {
            entry.shadowed_by = entry.shadowed_by.map(|index| places[index]);
        }
        let mut kept = dropped.iter().map(|is_dropped| !is_dropped);
        self.entries.retain(|_| kept.next().unwrap_or(true));
    }

    fn mark_shadowed(&mut self, index: usize, winner: usize) {
        let (scope, location) = (self.entries[winner].scope, self.entries[winner].location.display().to_string());
        let entry = &mut self.entries[index];
        let why = if entry.scope == scope {
            format!("both are {} skills, and that directory comes first", scope.name())
        } else {
            format!("{} skills take precedence over {} skills", scope.name(), entry.scope.name())
        };
        entry.status = SkillStatus::Shadowed;
        entry.shadowed_by = Some(winner);
        entry.reason = format!("`{location}` takes precedence: {why}");
    }
}

/// The directories visited so far, identified by their file numbers. Links and case-insensitive spellings refer to the
/// same directory, so a skill never collides with itself.
#[derive(Default)]
struct SeenFolders(BTreeSet<(FileId, Scope, Option<String>)>);

impl SeenFolders {
    /// Returns whether a path is the first in its scope to reach this directory. Scopes are tracked separately, because
    /// each has its own trust.
    fn is_first_visit(&mut self, root: &SkillRoot, path: &Path) -> bool {
        FileId::of_target(path).map_or(true, |id| self.0.insert((id, root.scope, root.package.clone())))
    }
}

/// Explains why a path is not a skill. Returns `None` if nothing exists there.
fn explain_no_skill(path: &Path) -> Option<String> {
    let data = std::fs::symlink_metadata(path).ok()?;
    if data.is_symlink() && std::fs::metadata(path).is_err() {
        return Some("it is a broken link".to_owned());
    }
    if !path.is_dir() {
        return Some("it is not a directory".to_owned());
    }
    if let Err(error) = std::fs::read_dir(path) {
        return Some(format!("it cannot be read: {}", crate::error::describe_io_error(&error)));
    }
    Some(match find_misnamed_file(path) {
        Some(near) => format!("its file is named `{near}`, but hosts look for `SKILL.md`; rename the file"),
        None => "it has no `SKILL.md`".to_owned(),
    })
}

/// Returns the main file of a directory whose name differs from `SKILL.md` in case, if it has no `SKILL.md`.
fn find_misnamed_file(folder: &Path) -> Option<String> {
    let names = list_entries(folder).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let near: BTreeSet<String> = names.filter(|name| name.eq_ignore_ascii_case("SKILL.md")).collect();
    if near.contains("SKILL.md") { None } else { near.into_iter().next() }
}

/// Lists a directory, up to a limit. An unreadable directory is empty.
fn list_entries(folder: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().take(LISTED_ENTRIES_MAX)
}

/// Groups skills by the package that contains them. Skills of the same directory have the same package.
fn group_by_package(
    found: Vec<SkillLocation>,
    project: Option<&Path>,
) -> BTreeMap<Option<PathBuf>, Vec<SkillLocation>> {
    let mut known: BTreeMap<PathBuf, Option<PathBuf>> = BTreeMap::new();
    let mut groups: BTreeMap<Option<PathBuf>, Vec<SkillLocation>> = BTreeMap::new();
    for skill in found {
        let parent = skill.path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned);
        let parent = parent.unwrap_or_else(|| skill.path.join(".."));
        let package =
            known.entry(parent).or_insert_with_key(|parent| packages::find_enclosing_package(parent, project));
        groups.entry(package.clone()).or_default().push(skill);
    }
    groups
}

/// Finds the skills below a root. A root that does not exist has none.
fn find_skills_below(root: &Path, notes: &mut Vec<String>) -> Vec<SkillLocation> {
    if !root.is_dir() {
        return Vec::new();
    }
    let mut found = Vec::new();
    match discovery::find_skills(root, |skill| found.push(skill)) {
        Ok(left_out) => notes.extend(left_out),
        Err(error) => notes.push(error.to_string()),
    }
    found.sort();
    found
}

/// Below this number of skills, a second thread would cost more than it saves.
const PARALLEL_MIN: usize = 4096;

/// Loads the skills found below a root, in order, and calls `then` for each. Skips locations without a skill: a
/// directory without skills is an empty library, not an invalid skill.
fn load_entries(
    found: &[SkillLocation],
    root: &SkillRoot,
    validation: ValidationMode,
    then: impl Fn(&mut CatalogEntry) + Sync,
) -> Vec<CatalogEntry> {
    let real_root = std::fs::canonicalize(&root.path).ok();
    let one = |found: &SkillLocation| {
        let mut entry = load_entry(found, root, real_root.as_deref(), validation)?;
        then(&mut entry);
        Some(entry)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    if found.len() < PARALLEL_MIN || workers == 1 {
        return found.iter().filter_map(one).collect();
    }
    std::thread::scope(|scope| {
        let part = |part: &[SkillLocation]| part.iter().filter_map(one).collect::<Vec<CatalogEntry>>();
        let parts = found.chunks(found.len().div_ceil(workers));
        let handles: Vec<_> = parts.map(|found| scope.spawn(move || part(found))).collect();
        let joined = handles.into_iter().map(|handle| match handle.join() {
            Ok(entries) => entries,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}

/// Returns the resolved directory of a skill. If no links are involved, it is computed from the root's real path, which
/// avoids a system call per path component.
fn resolve_folder(found: &SkillLocation, folder: &Path, root: &SkillRoot, real_root: Option<&Path>) -> PathBuf {
    let below = real_root.filter(|_| !found.is_linked).zip(folder.strip_prefix(&root.path).ok());
    match below {
        Some((real, rest)) if !rest.as_os_str().is_empty() => real.join(rest),
        Some((real, _)) => real.to_owned(),
        None => std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
    }
}

/// Loads a skill's frontmatter or UASP file. Returns `None` if it has neither.
pub(crate) fn load_entry(
    found: &SkillLocation,
    root: &SkillRoot,
    real_root: Option<&Path>,
    validation: ValidationMode,
) -> Option<CatalogEntry> {
    let folder = if found.is_lone_file { found.path.parent().unwrap_or(Path::new(".")) } else { &found.path };
    let (tree, file) = if found.is_lone_file {
        let file = found.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (skill_reader::read_lone_file(&found.path, &found.shown), file)
    } else if let Some(tree) = frontmatter_reader::read_frontmatter_tree(&found.path, &found.shown, "SKILL.md") {
        (tree, "SKILL.md".to_owned())
    } else {
        let own = format!("{}{}", skill_reader::folder_name(&found.path), rep_model::uasp::FILE_SUFFIX);
        (read_uasp_tree(found, &own)?, own)
    };
    let (mut skill, faults) = Skill::parse(tree);
    let findings = find_loading_findings(found, &skill, faults);
    // The parsed skill contains what the tree held. Dropping the tree saves memory in large libraries.
    skill.tree.entries.clear();
    let name = skill.name().filter(|name| !name.is_empty()).map_or_else(|| skill.tree.folder.clone(), str::to_owned);
    let name = names::normalise_nfkc(&name);
    let description = describe_skill(&skill);
    let (status, reason) = match find_invalid_reason(&findings, validation) {
        Some(reason) => (SkillStatus::Invalid, reason),
        None if is_switch_on(&skill, "disable-model-invocation", false) => {
            (SkillStatus::Hidden, "`disable-model-invocation` is set: users can call it, models cannot".to_owned())
        }
        None => (SkillStatus::Active, String::new()),
    };
    let folder = resolve_folder(found, folder, root, real_root);
    Some(CatalogEntry {
        qualified_name: root.package.as_ref().map_or_else(|| name.clone(), |package| format!("{package}:{name}")),
        name,
        description,
        scope: root.scope,
        is_in_project: root.is_in_project,
        location: folder.join(file),
        folder,
        status,
        reason,
        shadowed_by: None,
        findings,
        validation,
        is_user_invocable: is_switch_on(&skill, "user-invocable", true),
        dependencies: Vec::new(),
        skill,
    })
}

/// Checks a skill as it is loaded. The contract of x-personal-mcp is also about the files that its block names, so the
/// names of those few skills' files are read as well.
fn find_loading_findings(found: &SkillLocation, skill: &Skill, faults: Vec<Fault>) -> Vec<Finding> {
    if detect_dialects(skill).contains(&Profile::Pmcp)
        && let Ok(tree) = skill_reader::read_folder(&found.path, &found.shown, ReadExtent::Main)
    {
        let (whole, faults) = Skill::parse(tree);
        return check_loading(&whole, faults);
    }
    check_loading(skill, faults)
}

/// Returns why loading calls a skill invalid: the first violation, with its location if the dialect calls it hard.
fn find_invalid_reason(findings: &[Finding], validation: ValidationMode) -> Option<String> {
    let is_blocking = |finding: &&Finding| {
        finding.level == Level::Error && (validation == ValidationMode::Enforced || !is_dialect_violation(finding))
    };
    let blocking: Vec<&Finding> = findings.iter().filter(is_blocking).collect();
    let unloadable = blocking.iter().find(|finding| !is_dialect_violation(finding));
    if let Some(finding) = unloadable {
        return Some(finding.message.clone());
    }
    let reason = SkillViolation::from_finding(blocking.first()?).to_line();
    Some(match blocking.len() - 1 {
        0 => reason,
        1 => format!("{reason} (and 1 more violation)"),
        more => format!("{reason} (and {more} more violations)"),
    })
}

fn read_uasp_tree(found: &SkillLocation, file: &str) -> Option<SkillTree> {
    let path = found.path.join(file);
    if !path.is_file() {
        return None;
    }
    let mut tree = skill_reader::read_lone_file(&path, &format!("{}/{file}", found.shown));
    tree.is_lone_file = false;
    Some(tree)
}

/// Returns the description shown to models: `description`, followed by `when_to_use` if it is text.
fn describe_skill(skill: &Skill) -> String {
    if let Some(front) = skill.frontmatter() {
        let own = front.description().map(|text| names::strip_whitespace(text.value)).unwrap_or_default();
        let more = front.get_text("when_to_use").map(|text| names::strip_whitespace(text.value)).unwrap_or_default();
        return if more.is_empty() { own.to_owned() } else { format!("{own} {more}") };
    }
    let of_uasp = skill.uasp.iter().find_map(|uasp| uasp.view()?.description());
    of_uasp.map(|text| names::strip_whitespace(text.value).to_owned()).unwrap_or_default()
}

/// Reads a boolean field as hosts do: `true`, `yes`, `on` and `1` are true.
pub(crate) fn is_switch_on(skill: &Skill, field: &str, default: bool) -> bool {
    let text = skill.frontmatter().and_then(|front| front.get(field)).and_then(YamlNode::text);
    match text.map(str::to_ascii_lowercase).as_deref() {
        Some("true" | "yes" | "on" | "1") => true,
        Some("false" | "no" | "off" | "0") => false,
        _ => default,
    }
}

/// Marks a project's skill as untrusted unless the user trusted its current content.
pub(crate) fn hold_back_untrusted(entry: &mut CatalogEntry, options: &LibraryOptions, decisions: &UserDecisions) {
    let Some(project) = &options.project else { return };
    if options.trust == TrustRequirement::Waived || !matches!(entry.status, SkillStatus::Active | SkillStatus::Hidden) {
        return;
    }
    entry.reason = match decisions.trust_of(project, &entry.folder, || digest_folder(&entry.folder)) {
        FolderTrust::Trusted => return,
        FolderTrust::Changed => {
            "it was added or changed after this project was trusted; see `rep trust --diff`".to_owned()
        }
        FolderTrust::Never => "this project is not trusted; review its skills, then run `rep trust`".to_owned(),
    };
    entry.status = SkillStatus::Untrusted;
}

/// Computes the digest that trust is bound to, if the whole directory can be read.
fn digest_folder(folder: &Path) -> Option<String> {
    let contents = SkillContents::read(folder, TextRetention::DigestsOnly);
    contents.unfit.is_none().then(|| contents.digest())
}
