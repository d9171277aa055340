//! Skills that are open in the editor: each with the skills nested in it, parsed and checked as often as needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_check::{Finding, SkillReport};
use rep_library::check::{extent_for, read_open_skill};
use rep_library::discovery::{SkillLocation, find_nested_skills};
use rep_library::open_files::OpenFiles;
use rep_library::skill_reader::ReadExtent;
use rep_model::{Fault, Skill, SkillTree};

use crate::checkers::CheckerCache;

/// A parsed skill.
pub(crate) struct ParsedSkill {
    /// The location.
    pub location: SkillLocation,
    /// The skill.
    pub skill: Skill,
    /// The faults that parsing found.
    pub faults: Vec<Fault>,
    /// How much of the skill was read.
    extent: ReadExtent,
}

impl ParsedSkill {
    /// Reads and parses a skill. A directory that cannot be read becomes a skill with that fault.
    pub(crate) fn read(location: &SkillLocation, open: &OpenFiles) -> Self {
        Self::read_extent(location, open, ReadExtent::Folder)
    }

    fn read_extent(location: &SkillLocation, open: &OpenFiles, extent: ReadExtent) -> Self {
        let (skill, faults) = read_open_skill(location, open, extent);
        Self { location: location.clone(), skill, faults, extent }
    }

    /// Parses a skill again after open files changed. The files that did not change are not copied, unless somebody else
    /// still uses the old skill.
    fn reparse(parsed: &mut Arc<Self>, open: &OpenFiles) {
        let (location, extent) = (parsed.location.clone(), parsed.extent);
        let mut tree = match Arc::get_mut(parsed) {
            Some(own) => std::mem::take(&mut own.skill.tree),
            None => parsed.skill.tree.clone(),
        };
        open.replace_in(&location, &mut tree);
        let (skill, faults) = Skill::parse(tree);
        *parsed = Arc::new(Self { location, skill, faults, extent });
    }

    /// Returns the directory that the paths of the skill's files are relative to.
    pub(crate) fn folder(&self) -> &Path {
        skill_folder(&self.location)
    }

    /// Returns the path of a file relative to the skill, if it is in the skill.
    pub(crate) fn relative_path(&self, file: &Path) -> Option<String> {
        if self.location.is_lone_file && file != self.location.path {
            return None;
        }
        Some(file.strip_prefix(self.folder()).ok()?.to_str()?.to_owned())
    }

    /// Returns the absolute path of a file of the skill. An empty path is the main file.
    pub(crate) fn absolute_path(&self, file: &str) -> PathBuf {
        if !file.is_empty() {
            return self.folder().join(file);
        }
        main_file(&self.location, &self.skill.tree)
    }
}

/// Returns the directory that the paths of a skill's files are relative to.
pub(crate) fn skill_folder(location: &SkillLocation) -> &Path {
    if location.is_lone_file { location.path.parent().unwrap_or(Path::new("/")) } else { &location.path }
}

/// Returns the main file of a skill.
pub(crate) fn main_file(location: &SkillLocation, tree: &SkillTree) -> PathBuf {
    if location.is_lone_file {
        return location.path.clone();
    }
    let names = ["SKILL.md", "skill.md"].into_iter().find(|name| tree.entries.contains_key(*name));
    let own = format!("{}{}", tree.folder, rep_model::uasp::FILE_SUFFIX);
    let fallback = if tree.entries.contains_key(&own) { own.as_str() } else { "SKILL.md" };
    location.path.join(names.unwrap_or(fallback))
}

/// A skill of a bundle.
pub(crate) struct BundleMember {
    /// The skill, as it was parsed last.
    pub parsed: Arc<ParsedSkill>,
    /// The findings and facts of the parsed skill, if it was checked since.
    pub report: Option<Arc<SkillReport>>,
}

/// A skill and the skills nested in it.
pub(crate) struct SkillBundle {
    /// The workspace folder that contains it.
    pub root: Option<PathBuf>,
    /// The skills. The first contains the others.
    pub members: Vec<BundleMember>,
    /// Whether a file on disk changed since it was read.
    is_disk_changed: bool,
    /// Whether an open file changed since it was parsed.
    changed_files: Vec<PathBuf>,
}

impl SkillBundle {
    /// Reads a skill and the skills nested in it.
    pub(crate) fn read(location: &SkillLocation, root: Option<PathBuf>, open: &OpenFiles) -> Self {
        let outer = ParsedSkill::read(location, open);
        let nested = find_nested_skills(&outer.location, &outer.skill.tree);
        let parsed = nested.iter().map(|location| ParsedSkill::read(location, open));
        let members = std::iter::once(outer).chain(parsed);
        let members = members.map(|parsed| BundleMember { parsed: Arc::new(parsed), report: None }).collect();
        Self { root, members, is_disk_changed: false, changed_files: Vec::new() }
    }

    /// Returns the location of the outermost skill.
    pub(crate) fn location(&self) -> &SkillLocation {
        &self.members[0].parsed.location
    }

    /// Notes that an open file changed.
    pub(crate) fn mark_open_changed(&mut self, file: &Path) {
        if !self.changed_files.iter().any(|known| known == file) {
            self.changed_files.push(file.to_owned());
        }
    }

    /// Notes that a file on disk changed, or is no longer replaced by an open one.
    pub(crate) fn mark_disk_changed(&mut self) {
        self.is_disk_changed = true;
    }

    /// Forgets the reports, because the settings changed.
    pub(crate) fn forget_reports(&mut self) {
        self.members.iter_mut().for_each(|member| member.report = None);
    }

    /// Parses the skills whose files changed.
    pub(crate) fn refresh(&mut self, open: &OpenFiles) {
        if self.is_disk_changed {
            *self = Self::read(&self.location().clone(), self.root.take(), open);
            return;
        }
        let changed = std::mem::take(&mut self.changed_files);
        if changed.is_empty() {
            return;
        }
        let is_known = |file: &PathBuf| {
            let relative = self.members[0].parsed.relative_path(file);
            relative.is_some_and(|relative| self.members[0].parsed.skill.tree.entries.contains_key(&relative))
        };
        // A new file can be the main file of a nested skill.
        if !changed.iter().all(is_known) {
            *self = Self::read(&self.location().clone(), self.root.take(), open);
            return;
        }
        for member in &mut self.members {
            if changed.iter().any(|file| member.parsed.relative_path(file).is_some()) {
                ParsedSkill::reparse(&mut member.parsed, open);
                member.report = None;
            }
        }
    }

    /// Checks the skills that were not checked since they were parsed.
    pub(crate) fn check(&mut self, checkers: &CheckerCache, open: &OpenFiles) {
        for member in self.members.iter_mut().filter(|member| member.report.is_none()) {
            let shared = checkers.checker_for(&member.parsed.location, self.root.as_deref());
            let extent = extent_for(&shared.checker);
            if member.parsed.extent != extent {
                member.parsed = Arc::new(ParsedSkill::read_extent(&member.parsed.location, open, extent));
            }
            let report = shared.checker.check_skill(&member.parsed.skill, member.parsed.faults.clone());
            member.report = Some(Arc::new(report));
        }
    }

    /// Returns the innermost skill that contains a file.
    pub(crate) fn innermost(&self, file: &Path) -> Option<&Arc<ParsedSkill>> {
        let containing = self.members.iter().filter(|member| member.parsed.relative_path(file).is_some());
        containing.max_by_key(|member| member.parsed.folder().components().count()).map(|member| &member.parsed)
    }

    /// Returns the findings of all skills of the bundle by file, each with its skill.
    pub(crate) fn findings_by_file(&self) -> BTreeMap<PathBuf, Vec<(&ParsedSkill, &Finding)>> {
        let mut by_file: BTreeMap<PathBuf, Vec<(&ParsedSkill, &Finding)>> = BTreeMap::new();
        for member in &self.members {
            for finding in member.report.iter().flat_map(|report| &report.findings) {
                let file = member.parsed.absolute_path(&finding.place.file);
                by_file.entry(file).or_default().push((&*member.parsed, finding));
            }
        }
        by_file
    }
}
