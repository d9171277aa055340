//! What skills need of each other: `depends_on` over the whole library.
//!
//! A dependency is met by the copy of a name that wins. One that is not there, that nobody may
//! disclose, or that leads back to where it started is told with the skill that has it; the skill
//! itself stays what it is, since the specifications let hosts load it all the same.

use std::collections::HashMap;

use crate::catalog::{Catalog, CatalogEntry, Status};

/// Something a skill needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The id as the skill writes it.
    pub id: String,
    /// The entry that bears it, the winner where there are several.
    pub entry: Option<usize>,
    /// What became of it.
    pub state: DependencyState,
}

/// What became of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyState {
    /// The skill is there and active.
    Met,
    /// No skill, and no tool of one, bears the id.
    Unknown,
    /// The skill is there, but not active.
    Unavailable(Status),
    /// It leads back to the skill that has it, by way of these.
    Circle(Vec<String>),
}

impl DependencyState {
    /// The word in listings.
    pub const fn name(&self) -> &'static str {
        match self {
            DependencyState::Met => "met",
            DependencyState::Unknown => "unknown",
            DependencyState::Unavailable(status) => status.name(),
            DependencyState::Circle(_) => "circle",
        }
    }
}

impl Dependency {
    /// What is wrong with it, in words.
    pub fn trouble(&self) -> Option<String> {
        let id = &self.id;
        match &self.state {
            DependencyState::Met => None,
            DependencyState::Unknown => Some(format!("depends on `{id}`, which is not in the library")),
            DependencyState::Unavailable(status) => Some(format!("depends on `{id}`, which is {}", status.name())),
            DependencyState::Circle(names) => Some(format!("depends on itself: {}", names.join(" → "))),
        }
    }
}

/// The most names of a circle that are written out.
const CIRCLE_SHOWN_MAX: usize = 12;
/// The most dependencies of one skill that are followed.
const FOLLOWED_MAX: usize = 256;

/// Fills in what every entry depends on.
pub(crate) fn resolve(catalog: &mut Catalog) {
    let wanted: Vec<Vec<String>> = catalog.entries.iter().map(ids).collect();
    if wanted.iter().all(Vec::is_empty) {
        return;
    }
    let names = Names::new(&catalog.entries);
    let mut all: Vec<Vec<Dependency>> = Vec::with_capacity(wanted.len());
    for (entry, ids) in catalog.entries.iter().zip(wanted) {
        all.push(ids.into_iter().map(|id| names.find(&catalog.entries, entry, id)).collect());
    }
    circles(&catalog.entries, &mut all);
    for (entry, dependencies) in catalog.entries.iter_mut().zip(all) {
        entry.dependencies = dependencies;
    }
}

fn ids(entry: &CatalogEntry) -> Vec<String> {
    let front = entry.skill.front();
    let mut ids: Vec<String> = Vec::new();
    for id in front.map(rep_model::Frontmatter::depends_on).unwrap_or_default().into_iter().take(FOLLOWED_MAX) {
        let id = rep_model::names::strip(id.value).to_owned();
        // The same id in both dialects is one dependency.
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Which entries bear a name, the winner first.
struct Names {
    qualified: HashMap<String, usize>,
    plain: HashMap<String, Vec<usize>>,
}

impl Names {
    fn new(entries: &[CatalogEntry]) -> Self {
        let (mut qualified, mut plain) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        // Entries of one name stand in the order of who wins.
        for (index, entry) in entries.iter().enumerate() {
            if !qualified.contains_key(&entry.qualified_name) {
                qualified.insert(entry.qualified_name.clone(), index);
                plain.entry(entry.name.clone()).or_default().push(index);
            }
        }
        Self { qualified, plain }
    }

    /// Looks in the skill's own package first, then for the name as written, then for the one package that has it.
    fn find(&self, entries: &[CatalogEntry], from: &CatalogEntry, id: String) -> Dependency {
        let own = from.qualified_name.strip_suffix(from.name.as_str()).unwrap_or_default();
        let sibling = || self.qualified.get(&format!("{own}{id}"));
        let only = || self.plain.get(&id).filter(|all| all.len() == 1).and_then(|all| all.first());
        let found = sibling().or_else(|| self.qualified.get(&id)).or_else(only).copied();
        let found = found.or_else(|| self.tool(entries, &id));
        let state = match found.map(|index| entries[index].status) {
            None => DependencyState::Unknown,
            Some(Status::Active) => DependencyState::Met,
            Some(status) => DependencyState::Unavailable(status),
        };
        Dependency { id, entry: found, state }
    }

    /// The skill of a dependency on one of its tools: `skill:tool`.
    fn tool(&self, entries: &[CatalogEntry], id: &str) -> Option<usize> {
        let (skill, tool) = id.rsplit_once(':')?;
        let index = self.qualified.get(skill).copied()?;
        let front = entries[index].skill.front()?;
        front.tools().iter().any(|one| one.name().is_some_and(|name| name.value == tool)).then_some(index)
    }
}

/// Marks the dependencies that close a circle. Every dependency is followed once, from the entries in their order.
fn circles(entries: &[CatalogEntry], all: &mut [Vec<Dependency>]) {
    #[derive(Clone, Copy)]
    enum Seen {
        Never,
        /// It stands on the path, at this depth.
        Open(usize),
        Done,
    }
    let mut seen = vec![Seen::Never; all.len()];
    for start in 0..all.len() {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if matches!(seen[start], Seen::Never) && !all[start].is_empty() {
            seen[start] = Seen::Open(0);
            path.push((start, 0));
        }
        while let Some((from, next)) = path.last_mut() {
            let (from, at) = (*from, *next);
            let Some(dependency) = all[from].get(at) else {
                seen[from] = Seen::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(to) = dependency.entry else { continue };
            match seen[to] {
                Seen::Never => {
                    seen[to] = Seen::Open(path.len());
                    path.push((to, 0));
                }
                Seen::Open(depth) => {
                    let names = path[depth..].iter().map(|(step, _)| entries[*step].qualified_name.clone());
                    let mut names: Vec<String> = names.take(CIRCLE_SHOWN_MAX).collect();
                    if path.len() - depth > CIRCLE_SHOWN_MAX {
                        names.push("…".to_owned());
                    }
                    names.push(entries[to].qualified_name.clone());
                    all[from][at].state = DependencyState::Circle(names);
                }
                Seen::Done => {}
            }
        }
    }
}
