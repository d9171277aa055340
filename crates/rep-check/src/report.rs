//! What a check found, placed and sorted: the only input of every renderer.

use rep_model::{Edit, Entry, Leads, Position, Skill, Span};

use crate::{Level, Profile, Rule};

/// A place in a file, worked out for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as the user knows it.
    pub shown: String,
    /// The file relative to its skill.
    pub file: String,
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// The line it starts on, for excerpts, or the part of it around the start; empty where there is no text to show.
    pub excerpt: String,
    /// How many characters of the line are left out before the excerpt.
    pub skipped: usize,
}

/// Long lines are cut for excerpts, so that reports stay small.
const EXCERPT_MAX: usize = 400;

impl Place {
    /// The beginning of a file, or of what has no text to show.
    pub(crate) fn beginning(shown: String, file: &str) -> Self {
        let start = Position { line: 1, column: 1 };
        Self { shown, file: file.to_owned(), start, end: start, excerpt: String::new(), skipped: 0 }
    }

    /// Works out a place in a skill.
    pub fn of(skill: &Skill, file: &str, span: Span) -> Self {
        let shown = skill.tree.shown_path(file);
        let loaded;
        let source = match skill.source(file) {
            Some(source) => source,
            None => match skill.tree.bytes(file).map(|bytes| String::from_utf8_lossy(bytes).into_owned()) {
                Some(text) => {
                    loaded = rep_model::Source::new(text);
                    &loaded
                }
                None => return Self::beginning(shown, file),
            },
        };
        let (start, end) = (source.position(span.start), source.position(span.end.max(span.start)));
        let place = Self { start, end, ..Self::beginning(shown, file) };
        // What a link outside the skill leads to is nobody's business here.
        if matches!(skill.tree.entries.get(file), Some(Entry::Link { leads: Leads::Outside, .. })) {
            return place;
        }
        let (_, line) = source.line_at(span.start);
        let skipped = start.column.saturating_sub(EXCERPT_MAX / 2);
        Self { excerpt: line.chars().skip(skipped).take(EXCERPT_MAX).collect(), skipped, ..place }
    }
}

/// One fault, judged.
#[derive(Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad it is under the profiles that were asked for.
    pub level: Level,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// The data path it is about, where there is one.
    pub at: Option<String>,
    /// What to do.
    pub help: String,
    /// A safe edit.
    pub edit: Option<Edit>,
}

impl Finding {
    fn order(&self) -> (&Place, &str, &str) {
        (&self.place, self.rule.name, &self.message)
    }
}

/// What other skills' rules need to know of a skill, small enough to keep for every one of thousands.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The name, and where it stands.
    pub name: Option<(String, Place)>,
    /// The skill as a whole.
    pub place: Place,
    /// The ids it needs, and where that is written.
    pub depends_on: Vec<(String, Place)>,
    /// Whether the skill has a SKILL.md.
    pub has_manifest: bool,
    /// The profiles it is judged under.
    pub profiles: Vec<Profile>,
}

/// Findings about many skills together.
#[derive(Default)]
pub struct SetFindings {
    pub(crate) drafts: Vec<(Place, String, String, Option<String>)>,
    /// The names of all skills that were looked at, also of those the rule does not concern.
    pub(crate) names: std::collections::BTreeSet<String>,
    /// How many skills were looked at.
    pub(crate) skills: usize,
}

impl SetFindings {
    /// Whether a skill that was looked at has this name.
    pub fn is_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// How many skills were looked at, also those the rule does not concern.
    pub fn skills(&self) -> usize {
        self.skills
    }

    /// Adds a finding at a place.
    pub fn add(&mut self, place: &Place, message: String, help: &str) {
        self.drafts.push((place.clone(), message, help.to_owned(), None));
    }
}

/// What was found in one skill.
pub struct SkillReport {
    /// The findings, in order of file and place.
    pub findings: Vec<Finding>,
    /// What rules over many skills need to know.
    pub facts: Facts,
}

/// Everything that was found.
#[derive(Default)]
pub struct Report {
    /// The findings, in order of file and place.
    pub findings: Vec<Finding>,
    /// How many skills were looked at.
    pub skills: usize,
}

/// The counts of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Skills looked at.
    pub skills: usize,
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Advice.
    pub infos: usize,
    /// Findings `--fix` would mend.
    pub fixable: usize,
}

impl Report {
    /// Puts findings in order: by file, place and rule, so that the same input gives the same report.
    pub fn sort(&mut self) {
        sort(&mut self.findings);
    }

    /// Counts.
    pub fn summary(&self) -> Summary {
        let count = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        Summary {
            skills: self.skills,
            errors: count(Level::Error),
            warnings: count(Level::Warning),
            infos: count(Level::Info),
            fixable: self.findings.iter().filter(|finding| finding.edit.is_some()).count(),
        }
    }
}

/// Puts findings in order and drops exact repeats.
pub(crate) fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|one, two| one.order().cmp(&two.order()));
    findings.dedup_by(|one, two| one.order() == two.order());
}
