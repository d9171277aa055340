//! Selects the skills that match a request: the deterministic baseline of Universal 2.1 §10, with every point
//! explained.
//!
//! A matching file type adds 3 points, a mention 2, and an intent 1. Skills that reach the threshold are selected, best
//! first. The triggers of UASP §5.2 use the same scale: a keyword counts as a mention, and a file pattern as a file
//! type. No model is involved. The same library and request produce the same result, regardless of order.
//!
//! Where the specifications are silent, these rules apply:
//!
//! - A mention matches whole words, ignoring case (full Unicode case folding) and the composition of accents. Any white
//!   space matches the space between its words. In scripts without spaces, such as Chinese, a mention matches anywhere.
//! - A trigger counts once, however often it matches. A trigger that is written twice is one trigger.
//! - A file type is a suffix of the file name, ignoring ASCII case. `pdf` is `.pdf`.
//! - In a file pattern, only `*` and `**` are special. A pattern without a `/` matches the file name.
//! - Intents are determined by the host and compared literally.
//! - A skill that is named is selected regardless of its score. Only named skills are then selected. The text names a
//!   skill as `/name`, and in its own words by the rules of `named_in_text`: "use pdf-tools to merge these".
//!
//! ```no_run
//! use rep_library::{Catalog, LibraryOptions};
//! use rep_library::selection::{SelectionRequest, SkillSelector};
//!
//! let catalog = Catalog::discover(&LibraryOptions { paths: vec!["skills".into()], ..LibraryOptions::default() })?;
//! let selector = SkillSelector::new(&catalog);
//! let request = SelectionRequest { text: "merge these scans".into(), ..SelectionRequest::default() };
//! for selected in selector.select(&request).selected {
//!     println!("{}: {:?}", catalog.entries[selected.index].name, selected.score);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```

mod files;
mod glob;
mod name_lookup;
mod named_in_text;
#[cfg(test)]
mod tests;
mod triggers;
mod words;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::catalog::{Catalog, SkillStatus};
use files::FileTriggers;
use name_lookup::{CallableNames, NameResolution};
use named_in_text::NamesInText;
use triggers::SkillTrigger;
use words::WordTriggers;

/// The default minimum score.
pub const DEFAULT_THRESHOLD: i64 = 3;
/// The maximum length of the text that is searched for mentions.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Returns a file's path as patterns see it: relative to the project if it is inside.
pub fn relative_to_project(project: &Path, file: &str) -> String {
    let relative = Path::new(file).strip_prefix(project).ok();
    relative.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// A request to select skills for.
#[derive(Clone, Debug)]
pub struct SelectionRequest {
    /// The text of the request.
    pub text: String,
    /// The files it concerns, relative to the project root.
    pub files: Vec<String>,
    /// The intents determined by the host.
    pub intents: Vec<String>,
    /// Skills or tools named explicitly: `skill`, `package:skill`, `skill:tool`, or a tool that only one skill has.
    pub skills: Vec<String>,
    /// The minimum score.
    pub threshold: i64,
    /// Whether to score skills even if some are named.
    pub also_scored: bool,
}

impl Default for SelectionRequest {
    fn default() -> Self {
        Self {
            text: String::new(),
            files: Vec::new(),
            intents: Vec::new(),
            skills: Vec::new(),
            threshold: DEFAULT_THRESHOLD,
            also_scored: false,
        }
    }
}

/// The kind of a match, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// The skill or one of its tools was named.
    Explicit,
    /// `when_to_use.file_types`
    FileType,
    /// `triggers.file_patterns` of UASP
    FilePattern,
    /// `when_to_use.mentions`
    Mention,
    /// `triggers.keywords` of UASP
    Keyword,
    /// `when_to_use.intents`, or `triggers.intents` of UASP
    Intent,
}

impl MatchKind {
    /// Returns the word used in output.
    pub const fn name(self) -> &'static str {
        match self {
            MatchKind::Explicit => "explicit",
            MatchKind::FileType => "file_type",
            MatchKind::FilePattern => "file_pattern",
            MatchKind::Mention => "mention",
            MatchKind::Keyword => "keyword",
            MatchKind::Intent => "intent",
        }
    }

    /// Returns the points of a match. A named skill needs no score, so this kind has none.
    pub const fn points(self) -> i64 {
        match self {
            MatchKind::Explicit => 0,
            MatchKind::FileType | MatchKind::FilePattern => 3,
            MatchKind::Mention | MatchKind::Keyword => 2,
            MatchKind::Intent => 1,
        }
    }
}

/// A trigger that matched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriggerMatch {
    /// The kind.
    pub kind: MatchKind,
    /// The trigger as written; for a named skill, the given name.
    pub trigger: String,
    /// The points.
    pub points: i64,
}

/// A selected skill and the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedSkill {
    /// The index of the catalog entry.
    pub index: usize,
    /// The total score, or `None` if the skill was named and not scored.
    pub score: Option<i64>,
    /// The matches, ordered by kind and trigger.
    pub matches: Vec<TriggerMatch>,
}

/// The result of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillSelection {
    /// The selected skills: named skills first, then by score, priority and name.
    pub selected: Vec<SelectedSkill>,
    /// The skills with some points below the threshold, in the same order.
    pub below: Vec<SelectedSkill>,
    /// The requested names that do not resolve to a single skill.
    pub unfound: Vec<UnresolvedName>,
    /// Notes about what was skipped.
    pub notes: Vec<String>,
}

/// A name that does not resolve to a single skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedName {
    /// The given name.
    pub name: String,
    /// The entries that it could refer to, or none if it is unknown.
    pub candidates: Vec<usize>,
}

/// The ranking data of an entry.
struct EntryRank {
    priority: i64,
    name: String,
    qualified_name: String,
    is_candidate: bool,
}

/// The compiled triggers of a catalog. The cost of a request depends on its text and files, not on the number of
/// skills.
pub struct SkillSelector {
    ranks: Vec<EntryRank>,
    triggers: Vec<SkillTrigger>,
    words: WordTriggers,
    files: FileTriggers,
    intents: HashMap<String, Vec<usize>>,
    names: CallableNames,
    names_in_text: NamesInText,
    notes: Vec<String>,
}

/// Selects skills once. For several requests, create a [`SkillSelector`].
pub fn select_skills(catalog: &Catalog, request: &SelectionRequest) -> Vec<SelectedSkill> {
    SkillSelector::new(catalog).select(request).selected
}

impl SkillSelector {
    /// Compiles the triggers of a catalog's active skills, and the names of all callable skills.
    pub fn new(catalog: &Catalog) -> Self {
        let mut ranks = Vec::with_capacity(catalog.entries.len());
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for (index, entry) in catalog.entries.iter().enumerate() {
            // A skill that opted out of model invocation is never selected by score.
            let is_candidate = entry.status == SkillStatus::Active;
            if is_candidate {
                let (found, too_long) = triggers::collect_triggers(index, &entry.skill);
                all.extend(found);
                if too_long > 0 {
                    notes.push(format!("`{}`: skipped {too_long} triggers that are too long", entry.qualified_name));
                }
            }
            ranks.push(EntryRank {
                priority: triggers::read_priority(&entry.skill),
                name: entry.name.clone(),
                qualified_name: entry.qualified_name.clone(),
                is_candidate,
            });
        }
        let mut intents: HashMap<String, Vec<usize>> = HashMap::new();
        for (id, trigger) in all.iter().enumerate().filter(|(_, trigger)| trigger.kind == MatchKind::Intent) {
            intents.entry(trigger.key.clone()).or_default().push(id);
        }
        notes.sort();
        let names = CallableNames::new(catalog);
        Self {
            ranks,
            words: WordTriggers::new(&all, &mut notes),
            files: FileTriggers::new(&all),
            intents,
            names_in_text: NamesInText::new(&names, &mut notes),
            names,
            triggers: all,
            notes,
        }
    }

    /// Returns whether any active skill declares triggers. Without triggers, only named skills can be selected.
    pub fn has_triggers(&self) -> bool {
        !self.triggers.is_empty()
    }

    /// Selects the skills that match a request.
    pub fn select(&self, request: &SelectionRequest) -> SkillSelection {
        let mut selection = SkillSelection { notes: self.notes.clone(), ..SkillSelection::default() };
        let text = bound_text(&request.text, &mut selection.notes);
        let named = self.find_named(text, &request.skills, &mut selection);
        // Even a misspelled name means that no other skill is wanted.
        let is_override = !named.is_empty() || !selection.unfound.is_empty();
        let is_scored = !is_override || request.also_scored;
        let mut matches = BTreeMap::new();
        if is_scored {
            matches = self.find_matches(text, request, &mut selection.notes);
        }
        for (index, names) in named {
            let explicit = |trigger: String| TriggerMatch { kind: MatchKind::Explicit, trigger, points: 0 };
            let mut all: Vec<TriggerMatch> = names.into_iter().map(explicit).collect();
            let scored = matches.remove(&index).unwrap_or_default();
            let score = (is_scored && self.ranks[index].is_candidate).then(|| sum_points(&scored));
            all.extend(scored);
            selection.selected.push(SelectedSkill { index, score, matches: all });
        }
        for (index, matches) in matches {
            let score = sum_points(&matches);
            let fits = score >= request.threshold;
            let list = if fits { &mut selection.selected } else { &mut selection.below };
            list.push(SelectedSkill { index, score: Some(score), matches });
        }
        self.sort_selected(&mut selection.selected);
        self.sort_selected(&mut selection.below);
        selection
    }

    /// Finds the entries that are named explicitly, as `/name` in the text, or in its own words.
    fn find_named(
        &self,
        text: &str,
        skills: &[String],
        selection: &mut SkillSelection,
    ) -> BTreeMap<usize, BTreeSet<String>> {
        let mut named: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for name in skills {
            match self.names.resolve_skill_or_tool(name) {
                NameResolution::One(index) => {
                    named.entry(index).or_default().insert(name.clone());
                }
                NameResolution::Many(candidates) => {
                    selection.unfound.push(UnresolvedName { name: name.clone(), candidates });
                }
                NameResolution::None => {
                    selection.unfound.push(UnresolvedName { name: name.clone(), candidates: Vec::new() });
                }
            }
        }
        let slashed = name_lookup::find_slash_words(text).into_iter();
        let slashed = slashed.map(|word| (format!("/{word}"), self.names.resolve_called_skill(word)));
        let in_words = self.names_in_text.find_names(text).into_iter();
        let in_words = in_words.map(|name| (name.to_owned(), self.names.resolve_called_skill_or_tool(name)));
        for (name, resolution) in slashed.chain(in_words) {
            match resolution {
                NameResolution::One(index) => {
                    named.entry(index).or_default().insert(name);
                }
                NameResolution::Many(candidates) => selection.notes.push(self.describe_ambiguity(&name, &candidates)),
                // A word after a slash is often not a skill.
                NameResolution::None => {}
            }
        }
        selection.unfound.sort_by(|one, two| one.name.cmp(&two.name));
        selection.unfound.dedup();
        named
    }

    /// Says which skills a name in the text could refer to.
    fn describe_ambiguity(&self, name: &str, candidates: &[usize]) -> String {
        let slash = if name.starts_with('/') { "/" } else { "" };
        let names = candidates.iter().map(|index| format!("`{slash}{}`", self.ranks[*index].qualified_name));
        let names: BTreeSet<String> = names.collect();
        let names: Vec<String> = names.into_iter().collect();
        format!("`{name}` is ambiguous: it could be {}", names.join(" or "))
    }

    /// Finds the matches of each entry.
    fn find_matches(
        &self,
        text: &str,
        request: &SelectionRequest,
        notes: &mut Vec<String>,
    ) -> BTreeMap<usize, Vec<TriggerMatch>> {
        let mut hits = BTreeSet::new();
        self.words.find_matches(text, &mut hits);
        self.files.find_matches(&request.files, &mut hits, notes);
        for intent in &request.intents {
            hits.extend(self.intents.get(intent.trim()).into_iter().flatten());
        }
        let mut matches: BTreeMap<usize, Vec<TriggerMatch>> = BTreeMap::new();
        if request.threshold <= 0 {
            // With a threshold of zero or less, every candidate qualifies.
            let candidates = self.ranks.iter().enumerate().filter(|(_, rank)| rank.is_candidate);
            matches.extend(candidates.map(|(index, _)| (index, Vec::new())));
        }
        for id in hits {
            let SkillTrigger { entry, kind, text, .. } = &self.triggers[id];
            let found = TriggerMatch { kind: *kind, trigger: text.clone(), points: kind.points() };
            matches.entry(*entry).or_default().push(found);
        }
        for found in matches.values_mut() {
            found.sort();
        }
        matches
    }

    /// Sorts named skills first, then by the order of the specification.
    fn sort_selected(&self, list: &mut [SelectedSkill]) {
        let is_named = |selected: &SelectedSkill| selected.matches.iter().any(|one| one.kind == MatchKind::Explicit);
        list.sort_by_cached_key(|selected| {
            let EntryRank { priority, name, qualified_name, .. } = &self.ranks[selected.index];
            let better = (is_named(selected), selected.score, *priority);
            (Reverse(better), name.clone(), qualified_name.clone())
        });
    }
}

fn sum_points(matches: &[TriggerMatch]) -> i64 {
    matches.iter().map(|found| found.points).sum()
}

/// Limits a text to the part that is searched.
fn bound_text<'a>(text: &'a str, notes: &mut Vec<String>) -> &'a str {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    notes.push(format!("the text is {} bytes long; only the first {TEXT_BYTES_MAX} were searched", text.len()));
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}
