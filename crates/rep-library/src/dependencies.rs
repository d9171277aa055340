//! Resolves the dependencies between skills (`depends_on`) across the library.
//!
//! A dependency resolves to the skill that takes precedence for its name. A dependency that is missing, not active or
//! part of a cycle is reported on the skill that declares it. The skill's status does not change, because the
//! specifications allow hosts to load it.

use std::collections::HashMap;

use crate::catalog::{Catalog, CatalogEntry, SkillStatus};

/// A dependency of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The id as written in the skill.
    pub id: String,
    /// The entry with that id. If there are several, the one that takes precedence.
    pub entry: Option<usize>,
    /// The state of the dependency.
    pub state: DependencyState,
}

/// The state of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyState {
    /// The skill exists and is active.
    Met,
    /// No skill or tool has the id.
    Unknown,
    /// The skill exists but is not active.
    Unavailable(SkillStatus),
    /// The dependency leads back to the skill through these names.
    Cycle(Vec<String>),
}

impl DependencyState {
    /// Returns the word used in listings.
    pub const fn name(&self) -> &'static str {
        match self {
            DependencyState::Met => "met",
            DependencyState::Unknown => "unknown",
            DependencyState::Unavailable(status) => status.name(),
            DependencyState::Cycle(_) => "circle",
        }
    }
}

impl Dependency {
    /// Describes the problem, if there is one.
    pub fn describe_problem(&self) -> Option<String> {
        let id = &self.id;
        match &self.state {
            DependencyState::Met => None,
            DependencyState::Unknown => Some(format!("depends on `{id}`, which is not in the library")),
            DependencyState::Unavailable(status) => Some(format!("depends on `{id}`, which is {}", status.name())),
            DependencyState::Cycle(names) => Some(format!("depends on itself: {}", names.join(" → "))),
        }
    }
}

/// The maximum number of names shown for a cycle.
const CYCLE_NAMES_MAX: usize = 12;
/// The maximum number of dependencies followed for a skill.
const DEPENDENCIES_MAX: usize = 256;

/// Resolves the dependencies of every entry.
pub(crate) fn resolve_dependencies(catalog: &mut Catalog) {
    let wanted: Vec<Vec<String>> = catalog.entries.iter().map(list_dependency_ids).collect();
    if wanted.iter().all(Vec::is_empty) {
        return;
    }
    let names = EntryNames::new(&catalog.entries);
    let mut all: Vec<Vec<Dependency>> = Vec::with_capacity(wanted.len());
    for (entry, ids) in catalog.entries.iter().zip(wanted) {
        all.push(ids.into_iter().map(|id| names.find_dependency(&catalog.entries, entry, id)).collect());
    }
    mark_cycles(&catalog.entries, &mut all);
    for (entry, dependencies) in catalog.entries.iter_mut().zip(all) {
        entry.dependencies = dependencies;
    }
}

fn list_dependency_ids(entry: &CatalogEntry) -> Vec<String> {
    let front = entry.skill.frontmatter();
    let mut ids: Vec<String> = Vec::new();
    for id in front.map(rep_model::Frontmatter::depends_on).unwrap_or_default().into_iter().take(DEPENDENCIES_MAX) {
        let id = rep_model::names::strip_whitespace(id.value).to_owned();
        // The same id in both dialects is a single dependency.
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Maps names to entries, in order of precedence.
struct EntryNames {
    qualified: HashMap<String, usize>,
    plain: HashMap<String, Vec<usize>>,
}

impl EntryNames {
    fn new(entries: &[CatalogEntry]) -> Self {
        let (mut qualified, mut plain) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        // Entries with the same name are in order of precedence.
        for (index, entry) in entries.iter().enumerate() {
            if !qualified.contains_key(&entry.qualified_name) {
                qualified.insert(entry.qualified_name.clone(), index);
                plain.entry(entry.name.clone()).or_default().push(index);
            }
        }
        Self { qualified, plain }
    }

    /// Searches the skill's own package, then the exact name, then the only package that has the name.
    fn find_dependency(&self, entries: &[CatalogEntry], from: &CatalogEntry, id: String) -> Dependency {
        let own = from.qualified_name.strip_suffix(from.name.as_str()).unwrap_or_default();
        let sibling = || self.qualified.get(&format!("{own}{id}"));
        let only = || self.plain.get(&id).filter(|all| all.len() == 1).and_then(|all| all.first());
        let found = sibling().or_else(|| self.qualified.get(&id)).or_else(only).copied();
        let found = found.or_else(|| self.find_tool_owner(entries, &id));
        let state = match found.map(|index| entries[index].status) {
            None => DependencyState::Unknown,
            Some(SkillStatus::Active) => DependencyState::Met,
            Some(status) => DependencyState::Unavailable(status),
        };
        Dependency { id, entry: found, state }
    }

    /// Finds the skill of a dependency on one of its tools: `skill:tool`.
    fn find_tool_owner(&self, entries: &[CatalogEntry], id: &str) -> Option<usize> {
        let (skill, tool) = id.rsplit_once(':')?;
        let index = self.qualified.get(skill).copied()?;
        let front = entries[index].skill.frontmatter()?;
        front.tools().iter().any(|one| one.name().is_some_and(|name| name.value == tool)).then_some(index)
    }
}

/// Marks the dependencies that close a cycle. Follows every dependency once, in the order of the entries.
fn mark_cycles(entries: &[CatalogEntry], all: &mut [Vec<Dependency>]) {
    #[derive(Clone, Copy)]
    enum VisitState {
        Never,
        /// On the current path, at this depth.
        Open(usize),
        Done,
    }
    let mut seen = vec![VisitState::Never; all.len()];
    for start in 0..all.len() {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if matches!(seen[start], VisitState::Never) && !all[start].is_empty() {
            seen[start] = VisitState::Open(0);
            path.push((start, 0));
        }
        while let Some((from, next)) = path.last_mut() {
            let (from, at) = (*from, *next);
            let Some(dependency) = all[from].get(at) else {
                seen[from] = VisitState::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(to) = dependency.entry else { continue };
            match seen[to] {
                VisitState::Never => {
                    seen[to] = VisitState::Open(path.len());
                    path.push((to, 0));
                }
                VisitState::Open(depth) => {
                    let names = path[depth..].iter().map(|(step, _)| entries[*step].qualified_name.clone());
                    let mut names: Vec<String> = names.take(CYCLE_NAMES_MAX).collect();
                    if path.len() - depth > CYCLE_NAMES_MAX {
                        names.push("…".to_owned());
                    }
                    names.push(entries[to].qualified_name.clone());
                    all[from][at].state = DependencyState::Cycle(names);
                }
                VisitState::Done => {}
            }
        }
    }
}
