//! What the server knows about every skill of a workspace folder: enough to compare skills and to find them by name.
//!
//! An index is built in the background. It holds no texts: a library of thousands of skills takes a few megabytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_check::{Finding, FindingLocation, SkillFacts};
use rep_library::check::compare_skills;
use rep_library::discovery::{SkillLocation, find_nested_skills};
use rep_library::open_files::{OpenFiles, find_workspace_skills};
use rep_library::skill_reader::ReadExtent;
use rep_model::Skill;
use rep_model::truncate::truncate_chars;

use crate::bundle::main_file;
use crate::checkers::{CheckerCache, SharedChecker};

/// The maximum length of a description that is kept.
const DESCRIPTION_CHARS_MAX: usize = 1536;

/// A skill of a workspace folder.
#[derive(Clone)]
pub(crate) struct IndexedSkill {
    /// The location.
    pub location: SkillLocation,
    /// The main file.
    pub main: PathBuf,
    /// The name from the main file, or else of the directory.
    pub name: String,
    /// The location of the name, or the start of the main file.
    pub name_place: FindingLocation,
    /// What the skill does.
    pub description: String,
    /// The facts for comparing it with others.
    pub facts: SkillFacts,
    /// Its rules. Skills are compared with those that have the same.
    pub checker: Arc<SharedChecker>,
}

impl IndexedSkill {
    /// Collects what is known about a parsed skill.
    pub(crate) fn from_skill(
        location: &SkillLocation,
        skill: &Skill,
        facts: SkillFacts,
        checker: Arc<SharedChecker>,
    ) -> Self {
        let name =
            skill.name().filter(|name| !name.is_empty()).map_or_else(|| skill.tree.folder.clone(), str::to_owned);
        let of_front = skill.frontmatter().and_then(rep_model::Frontmatter::description).map(|text| text.value);
        let of_uasp = || skill.uasp.iter().find_map(|uasp| Some(uasp.view()?.description()?.value));
        let description = of_front.or_else(of_uasp).unwrap_or_default().trim();
        let front_name = skill.manifest.as_ref().zip(skill.frontmatter().and_then(rep_model::Frontmatter::name));
        let uasp_name = || skill.uasp.iter().find_map(|uasp| Some((uasp.file.as_str(), uasp.view()?.name()?.span())));
        let name_span = front_name.map(|(manifest, name)| (manifest.file, name.span())).or_else(uasp_name);
        let (name_file, name_span) = name_span.unwrap_or_default();
        Self {
            name_place: FindingLocation::from_span(skill, name_file, name_span),
            location: location.clone(),
            main: main_file(location, &skill.tree),
            name,
            description: truncate_chars(description, DESCRIPTION_CHARS_MAX).to_owned(),
            facts,
            checker,
        }
    }

    /// Returns whether the other entry says the same.
    fn is_same(&self, other: &Self) -> bool {
        self.main == other.main
            && self.name == other.name
            && self.description == other.description
            && self.name_place == other.name_place
            && self.facts == other.facts
            && Arc::ptr_eq(&self.checker, &other.checker)
    }
}

/// The skills of a workspace folder.
#[derive(Clone, Default)]
pub(crate) struct FolderIndex {
    /// The skills by the paths of their locations.
    pub skills: BTreeMap<PathBuf, IndexedSkill>,
    /// The findings of the rules that compare skills, by file.
    pub set_findings: BTreeMap<PathBuf, Vec<Finding>>,
}

/// What is needed to build the index of a workspace folder in the background.
pub(crate) struct IndexInput {
    /// The folder.
    pub root: PathBuf,
    /// The workspace folders inside of it, which have indexes of their own.
    pub other_roots: Vec<PathBuf>,
    /// The open files.
    pub open: OpenFiles,
    /// The rules.
    pub checkers: Arc<CheckerCache>,
}

impl IndexInput {
    /// Finds and reads the skills, and compares them.
    pub(crate) fn build(&self) -> FolderIndex {
        let mut index = FolderIndex::default();
        let is_own = |found: &SkillLocation| !self.other_roots.iter().any(|other| found.path.starts_with(other));
        for found in find_workspace_skills(&self.root).unwrap_or_default().into_iter().filter(is_own) {
            for skill in self.read_skills(&found) {
                index.skills.insert(skill.location.path.clone(), skill);
            }
        }
        index.compare_all(&self.root);
        index
    }

    /// Reads a skill and the skills nested in it.
    pub(crate) fn read_skills(&self, found: &SkillLocation) -> Vec<IndexedSkill> {
        let Ok(tree) = self.open.read_skill(found, ReadExtent::Main) else { return Vec::new() };
        let nested = find_nested_skills(found, &tree);
        let mut skills = vec![self.index_tree(found, tree)];
        for found in nested {
            if let Ok(tree) = self.open.read_skill(&found, ReadExtent::Main) {
                skills.push(self.index_tree(&found, tree));
            }
        }
        skills
    }

    fn index_tree(&self, found: &SkillLocation, tree: rep_model::SkillTree) -> IndexedSkill {
        let checker = self.checkers.checker_for(found, Some(&self.root));
        let (skill, _) = Skill::parse(tree);
        let facts = checker.checker.collect_facts(&skill);
        IndexedSkill::from_skill(found, &skill, facts, checker)
    }
}

impl FolderIndex {
    /// Replaces what is known about a skill. Returns whether that changes anything.
    pub(crate) fn update(&mut self, skill: IndexedSkill) -> bool {
        let path = skill.location.path.clone();
        let is_changed = self.skills.get(&path).is_none_or(|known| !known.is_same(&skill));
        if is_changed {
            self.skills.insert(path, skill);
        }
        is_changed
    }

    /// Removes the skills at or below a path. Returns whether there were any.
    pub(crate) fn remove_below(&mut self, path: &Path) -> bool {
        let count = self.skills.len();
        self.skills.retain(|known, _| !known.starts_with(path));
        self.skills.len() != count
    }

    /// Runs the rules that compare skills.
    pub(crate) fn compare_all(&mut self, root: &Path) {
        let mut groups: Vec<Vec<&IndexedSkill>> = Vec::new();
        for skill in self.skills.values() {
            match groups.iter_mut().find(|group| Arc::ptr_eq(&group[0].checker, &skill.checker)) {
                Some(group) => group.push(skill),
                None => groups.push(vec![skill]),
            }
        }
        self.set_findings.clear();
        for mut group in groups {
            group.sort_by(|one, two| one.location.cmp(&two.location));
            let set: Vec<(SkillLocation, SkillFacts)> =
                group.iter().map(|skill| (skill.location.clone(), skill.facts.clone())).collect();
            for finding in compare_skills(&set, &group[0].checker.options) {
                let file = crate::diagnostics::absolute_place(&finding.place, Some(root));
                self.set_findings.entry(file).or_default().push(finding);
            }
        }
    }

    /// Returns the skills with a name.
    pub(crate) fn find_by_name<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a IndexedSkill> {
        self.skills.values().filter(move |skill| skill.name == name)
    }
}
