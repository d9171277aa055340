//! Which skills fit a request: the deterministic baseline of Universal 2.1 §10, with every point explained.
//!
//! A file type that matches is worth 3 points, a mention 2, an intent 1; skills that reach the
//! threshold are selected, best first. The triggers of UASP §5.2 are scored on the same scale: a
//! keyword as a mention, a file pattern as a file type. No model and no guess is involved: the same
//! library and request give the same answer in whatever order either is written.
//!
//! Where the specifications are silent, this is what holds:
//!
//! - A mention matches whole words, without regard to case (full Unicode case folding) or to how
//!   accents are composed; any run of white space stands for the one between its words. Scripts
//!   written without spaces, Chinese for one, have no such words, so any place in them will do.
//! - A trigger counts once, however often it matches, and a trigger written twice is one trigger.
//! - A file type is an ending of the file's name, without regard to ASCII case. `pdf` is `.pdf`.
//! - In a file pattern only `*` and `**` are special; without a `/` it is about the file's name.
//! - Intents are the host's to find out, and are compared as they are.
//! - A skill that is named is selected whatever its score, and then only those named are.
//!
//! ```no_run
//! use rep_library::{Catalog, Options};
//! use rep_library::select::{Request, Selector};
//!
//! let catalog = Catalog::discover(&Options { paths: vec!["skills".into()], ..Options::default() })?;
//! let selector = Selector::new(&catalog);
//! let request = Request { text: "merge these scans".into(), files: vec!["a.pdf".into()], ..Request::default() };
//! for selected in selector.select(&request).selected {
//!     println!("{}: {:?}", catalog.entries[selected.index].name, selected.score);
//! }
//! # Ok::<(), rep_library::LibraryError>(())
//! ```

mod files;
mod glob;
mod named;
#[cfg(test)]
mod tests;
mod triggers;
mod words;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::catalog::{Catalog, Status};
use files::Files;
use named::{Named, Names};
use triggers::Trigger;
use words::Words;

/// The score a skill needs, where nobody says otherwise.
pub const THRESHOLD: i64 = 3;
/// The longest text that is searched for mentions.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// What somebody wants done.
#[derive(Clone, Debug)]
pub struct Request {
    /// In their own words.
    pub text: String,
    /// The files it is about, relative to the project's root.
    pub files: Vec<String>,
    /// What the host takes the intents to be.
    pub intents: Vec<String>,
    /// Skills or tools named outright: `skill`, `package:skill`, `skill:tool` or a tool only one skill has.
    pub skills: Vec<String>,
    /// The score a skill needs.
    pub threshold: i64,
    /// Whether skills are scored even where some are named.
    pub also_scored: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            text: String::new(),
            files: Vec::new(),
            intents: Vec::new(),
            skills: Vec::new(),
            threshold: THRESHOLD,
            also_scored: false,
        }
    }
}

/// What kind of trigger matched, in the order they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// The skill, or a tool of it, was named.
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
    /// The word in output.
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

    /// What one match is worth. Being named is worth nothing, since it needs no score.
    pub const fn points(self) -> i64 {
        match self {
            MatchKind::Explicit => 0,
            MatchKind::FileType | MatchKind::FilePattern => 3,
            MatchKind::Mention | MatchKind::Keyword => 2,
            MatchKind::Intent => 1,
        }
    }
}

/// One trigger that matched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// What kind it is.
    pub kind: MatchKind,
    /// The trigger as its author wrote it; for a named skill, the name as it was given.
    pub trigger: String,
    /// What it is worth.
    pub points: i64,
}

/// A skill, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Its place in the catalogue's entries.
    pub index: usize,
    /// The sum of its points; `None` where it was named and not scored.
    pub score: Option<i64>,
    /// What matched: by kind, then by trigger.
    pub matches: Vec<Match>,
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those selected: named ones first, then by score, priority and name.
    pub selected: Vec<Selected>,
    /// Those with some points and too few, in the same order.
    pub below: Vec<Selected>,
    /// Names that were asked for and stand for no one skill.
    pub unfound: Vec<Unfound>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

/// A name that stands for no one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfound {
    /// The name as it was given.
    pub name: String,
    /// The entries it could stand for; none where there is no such skill or tool.
    pub candidates: Vec<usize>,
}

/// What is needed of an entry to rank it.
struct Rank {
    priority: i64,
    name: String,
    qualified_name: String,
    is_candidate: bool,
}

/// The triggers of a catalogue, compiled: what a request costs follows its text and files, not the number of skills.
pub struct Selector {
    ranks: Vec<Rank>,
    triggers: Vec<Trigger>,
    words: Words,
    files: Files,
    intents: HashMap<String, Vec<usize>>,
    names: Names,
    notes: Vec<String>,
}

/// Selects from a catalogue once. For more than one request make a [`Selector`].
pub fn select(catalog: &Catalog, request: &Request) -> Vec<Selected> {
    Selector::new(catalog).select(request).selected
}

impl Selector {
    /// Compiles the triggers of a catalogue's active skills, and the names of all that can be called.
    pub fn new(catalog: &Catalog) -> Self {
        let mut ranks = Vec::with_capacity(catalog.entries.len());
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for (index, entry) in catalog.entries.iter().enumerate() {
            // A skill that opted out of model invocation is for people to call, never for a score to choose.
            let is_candidate = entry.status == Status::Active;
            if is_candidate {
                let (found, too_long) = triggers::of(index, &entry.skill);
                all.extend(found);
                if too_long > 0 {
                    notes.push(format!("`{}`: {too_long} overlong triggers were left out", entry.qualified_name));
                }
            }
            ranks.push(Rank {
                priority: triggers::priority(&entry.skill),
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
        Self {
            ranks,
            words: Words::new(&all, &mut notes),
            files: Files::new(&all),
            intents,
            names: Names::new(catalog),
            triggers: all,
            notes,
        }
    }

    /// Selects the skills that fit a request.
    pub fn select(&self, request: &Request) -> Selection {
        let mut selection = Selection { notes: self.notes.clone(), ..Selection::default() };
        let text = bounded(&request.text, &mut selection.notes);
        let named = self.named(text, &request.skills, &mut selection);
        // A name that was mistyped still says that nothing else is wanted.
        let is_override = !named.is_empty() || !selection.unfound.is_empty();
        let is_scored = !is_override || request.also_scored;
        let mut matches = BTreeMap::new();
        if is_scored {
            matches = self.matches(text, request, &mut selection.notes);
        }
        for (index, names) in named {
            let explicit = |trigger: String| Match { kind: MatchKind::Explicit, trigger, points: 0 };
            let mut all: Vec<Match> = names.into_iter().map(explicit).collect();
            let scored = matches.remove(&index).unwrap_or_default();
            let score = (is_scored && self.ranks[index].is_candidate).then(|| total(&scored));
            all.extend(scored);
            selection.selected.push(Selected { index, score, matches: all });
        }
        for (index, matches) in matches {
            let score = total(&matches);
            let fits = score >= request.threshold;
            let list = if fits { &mut selection.selected } else { &mut selection.below };
            list.push(Selected { index, score: Some(score), matches });
        }
        self.order(&mut selection.selected);
        self.order(&mut selection.below);
        selection
    }

    /// The entries that are named: outright, or as `/name` in the text.
    fn named(&self, text: &str, skills: &[String], selection: &mut Selection) -> BTreeMap<usize, BTreeSet<String>> {
        let mut named: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for name in skills {
            match self.names.skill_or_tool(name) {
                Named::One(index) => {
                    named.entry(index).or_default().insert(name.clone());
                }
                Named::Many(candidates) => selection.unfound.push(Unfound { name: name.clone(), candidates }),
                Named::None => selection.unfound.push(Unfound { name: name.clone(), candidates: Vec::new() }),
            }
        }
        for word in named::slash_words(text) {
            match self.names.called(word) {
                Named::One(index) => {
                    named.entry(index).or_default().insert(format!("/{word}"));
                }
                Named::Many(candidates) => {
                    let names = candidates.iter().map(|index| format!("`/{}`", self.ranks[*index].qualified_name));
                    let names: BTreeSet<String> = names.collect();
                    let names: Vec<String> = names.into_iter().collect();
                    selection.notes.push(format!("`/{word}` calls nobody: it could be {}", names.join(" or ")));
                }
                // A word with a slash before it is most often just that.
                Named::None => {}
            }
        }
        selection.unfound.sort_by(|one, two| one.name.cmp(&two.name));
        selection.unfound.dedup();
        named
    }

    /// What matched, by entry.
    fn matches(&self, text: &str, request: &Request, notes: &mut Vec<String>) -> BTreeMap<usize, Vec<Match>> {
        let mut hits = BTreeSet::new();
        self.words.find(text, &mut hits);
        self.files.find(&request.files, &mut hits, notes);
        for intent in &request.intents {
            hits.extend(self.intents.get(intent.trim()).into_iter().flatten());
        }
        let mut matches: BTreeMap<usize, Vec<Match>> = BTreeMap::new();
        if request.threshold <= 0 {
            // Everybody has no points.
            let candidates = self.ranks.iter().enumerate().filter(|(_, rank)| rank.is_candidate);
            matches.extend(candidates.map(|(index, _)| (index, Vec::new())));
        }
        for id in hits {
            let Trigger { entry, kind, text, .. } = &self.triggers[id];
            let found = Match { kind: *kind, trigger: text.clone(), points: kind.points() };
            matches.entry(*entry).or_default().push(found);
        }
        for found in matches.values_mut() {
            found.sort();
        }
        matches
    }

    /// Named ones first, since somebody asked for them; then the specification's order.
    fn order(&self, list: &mut [Selected]) {
        let is_named = |selected: &Selected| selected.matches.iter().any(|one| one.kind == MatchKind::Explicit);
        list.sort_by_cached_key(|selected| {
            let Rank { priority, name, qualified_name, .. } = &self.ranks[selected.index];
            let better = (is_named(selected), selected.score, *priority);
            (Reverse(better), name.clone(), qualified_name.clone())
        });
    }
}

fn total(matches: &[Match]) -> i64 {
    matches.iter().map(|found| found.points).sum()
}

/// As much of a text as is searched.
fn bounded<'a>(text: &'a str, notes: &mut Vec<String>) -> &'a str {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    notes.push(format!("the text is {} bytes long; the first {TEXT_BYTES_MAX} were searched", text.len()));
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}
