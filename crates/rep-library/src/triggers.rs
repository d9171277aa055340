//! Measures how well selection and search find the skills that requests are meant for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::catalog::{Catalog, Status};
use crate::search::Index;
use crate::select::{Request, Selector};

/// Ranks beyond this do not count.
const DEPTH: usize = 10;

/// A request, and the skills it is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledRequest {
    /// The request.
    pub query: String,
    /// The skills it is meant for, or that it must not trigger: names, qualified names, or the ends of paths.
    pub skills: Vec<String>,
    /// Further right answers.
    pub equivalents: Vec<String>,
    /// Whether it should find them.
    pub should_trigger: bool,
}

/// Labelled requests that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestsError(String);

/// How well requests find their skills.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriggerScores {
    /// By selection.
    pub selection: SelectionScore,
    /// By search.
    pub search: SearchScore,
    /// The skills of the requests that are not in the catalog.
    pub unknown: BTreeSet<String>,
    /// What of the search index could not be used, in words.
    pub notes: Vec<String>,
}

impl LabelledRequest {
    /// Reads the requests of a file: JSON lines, or one JSON array. `skill` is what requests are about that name none.
    pub fn parse(text: &str, skill: Option<&str>) -> Result<Vec<Self>, RequestsError> {
        read_requests(text, skill).map_err(RequestsError)
    }
}

fn read_requests(text: &str, skill: Option<&str>) -> Result<Vec<LabelledRequest>, String> {
    let requests: Vec<LabelledRequest> = if text.trim_start().starts_with('[') {
        let values: Vec<Value> = serde_json::from_str(text).map_err(|error| format!("it is no JSON array: {error}"))?;
        let each = values.iter().enumerate();
        each.map(|(at, value)| read_request(value, skill).map_err(|words| format!("item {at}: {words}")))
            .collect::<Result<_, _>>()?
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            let value = serde_json::from_str(line).map_err(|error| format!("it is no JSON: {error}"));
            value.and_then(|value| read_request(&value, skill)).map_err(|words| format!("line {}: {words}", at + 1))
        };
        lines.map(read).collect::<Result<_, _>>()?
    };
    if requests.is_empty() { Err("it holds no requests".to_owned()) } else { Ok(requests) }
}

fn read_request(value: &Value, skill: Option<&str>) -> Result<LabelledRequest, String> {
    let query = value.get("query").and_then(Value::as_str).ok_or("there is no text `query`")?.to_owned();
    let should_trigger = match value.get("should_trigger") {
        None => true,
        Some(value) => value.as_bool().ok_or("`should_trigger` is neither true nor false")?,
    };
    let list = |field: &str| -> Result<Option<Vec<String>>, String> {
        let Some(value) = value.get(field) else { return Ok(None) };
        let wrong = || format!("`{field}` is no list of names or paths");
        let items = value.as_array().ok_or_else(wrong)?;
        items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect::<Result<_, _>>().map(Some)
    };
    let skills = match (list("skills")?, skill) {
        (Some(skills), _) => skills,
        (None, Some(skill)) => vec![skill.to_owned()],
        (None, None) => return Err("it names no `skills`; say with --skill which skill it is about".to_owned()),
    };
    if should_trigger && skills.is_empty() {
        return Err("it should trigger, and names no skill".to_owned());
    }
    Ok(LabelledRequest { query, skills, equivalents: list("equiv")?.unwrap_or_default(), should_trigger })
}

/// The entries by every word they may be called by.
struct Names<'a> {
    catalog: &'a Catalog,
    by_word: BTreeMap<String, Vec<usize>>,
}

impl<'a> Names<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in catalog.entries.iter().enumerate() {
            let words = [
                Some(entry.name.clone()),
                Some(entry.qualified_name.clone()),
                last(&entry.folder),
                last(&entry.location),
            ];
            for word in words.into_iter().flatten().collect::<BTreeSet<_>>() {
                by_word.entry(word).or_default().push(at);
            }
        }
        Self { catalog, by_word }
    }

    /// The entries a name, a qualified name, or the end of a path stands for.
    fn entries(&self, skill: &str) -> BTreeSet<usize> {
        let path = skill.trim_end_matches('/');
        let path = Path::new(path.strip_suffix("/SKILL.md").unwrap_or(path));
        let is_meant = |at: &&usize| {
            let entry = &self.catalog.entries[**at];
            let is_path = entry.folder.ends_with(path) || entry.location.ends_with(path);
            entry.qualified_name == skill || entry.name == skill || is_path
        };
        let words = [Some(skill.to_owned()), last(path)].into_iter().flatten().collect::<BTreeSet<_>>();
        words.iter().filter_map(|word| self.by_word.get(word)).flatten().filter(is_meant).copied().collect()
    }
}

fn last(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Measures how well requests find their skills. `cache` is where the search index is kept.
pub fn score_triggers(catalog: &Catalog, requests: &[LabelledRequest], cache: Option<&Path>) -> TriggerScores {
    // A collection may have a name twice, and a request may be meant for either copy.
    let is_measured = |status: Status| matches!(status, Status::Active | Status::Hidden | Status::Shadowed);
    let index = Index::open(catalog, |entry| is_measured(entry.status), cache);
    let mut scores = TriggerScores { notes: index.notes.clone(), ..TriggerScores::default() };
    let (names, selector) = (Names::new(catalog), Selector::new(catalog));
    let (mut search, mut selection) = (SearchCount::default(), SelectionCount::default());
    for case in requests {
        let wanted: Vec<BTreeSet<usize>> = case.skills.iter().map(|skill| names.entries(skill)).collect();
        let also: Vec<BTreeSet<usize>> = case.equivalents.iter().map(|skill| names.entries(skill)).collect();
        let missing = case.skills.iter().zip(&wanted).filter(|(_, set)| set.is_empty()).map(|(skill, _)| skill);
        scores.unknown.extend(missing.cloned());
        let ranked: Vec<usize> = index.search(&case.query, DEPTH).iter().map(|hit| hit.entry).collect();
        search.count(case.should_trigger, &wanted, &also, &ranked);
        let request = Request { text: case.query.clone(), ..Request::default() };
        let chosen: Vec<usize> = selector.select(&request).selected.into_iter().map(|chosen| chosen.index).collect();
        selection.count(case.should_trigger, &wanted, &also, &chosen);
    }
    TriggerScores { selection: selection.score(), search: search.score(), ..scores }
}

/// How well search finds the skills. Shares are rounded to four digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchScore {
    /// The requests that should find something.
    pub requests: u32,
    /// The share whose first hit is right.
    pub hit_at_1: f64,
    /// The share with a right hit among the first five.
    pub hit_at_5: f64,
    /// The share of the skills that are among the first ten hits.
    pub recall_at_10: f64,
    /// The mean reciprocal rank of the first right hit.
    pub mrr: f64,
    /// The requests that should not find something.
    pub negatives: u32,
    /// Those whose first hit is wrong.
    pub negatives_first: u32,
}

/// How well selection finds the skills. Shares are rounded to four digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SelectionScore {
    /// The share of the selected skills that are right.
    pub precision: f64,
    /// The share of the right skills that are selected.
    pub recall: f64,
    /// The skills that were selected.
    pub chosen: usize,
    /// The requests that should not select something.
    pub negatives: usize,
    /// Those that did.
    pub negatives_triggered: usize,
}

#[derive(Default)]
struct SearchCount {
    requests: u32,
    first: u32,
    in_five: u32,
    recall: f64,
    reciprocal: f64,
    negatives: u32,
    negatives_first: u32,
}

impl SearchCount {
    fn count(&mut self, should: bool, wanted: &[BTreeSet<usize>], also: &[BTreeSet<usize>], ranked: &[usize]) {
        let is_any = |sets: &[BTreeSet<usize>], entry: &usize| sets.iter().any(|set| set.contains(entry));
        if !should {
            self.negatives += 1;
            let is_wrong = ranked.first().is_some_and(|entry| wanted.is_empty() || is_any(wanted, entry));
            self.negatives_first += u32::from(is_wrong);
            return;
        }
        self.requests += 1;
        let has = |set: &&BTreeSet<usize>| ranked.iter().any(|entry| set.contains(entry));
        let found = wanted.iter().chain(also).filter(has).count();
        self.recall += (ratio(found, wanted.len())).min(1.0);
        let place = ranked.iter().position(|entry| is_any(wanted, entry) || is_any(also, entry));
        if let Some(place) = place {
            self.first += u32::from(place == 0);
            self.in_five += u32::from(place < 5);
            self.reciprocal += 1.0 / ratio(place + 1, 1);
        }
    }

    fn score(&self) -> SearchScore {
        let all = f64::from(self.requests.max(1));
        SearchScore {
            requests: self.requests,
            hit_at_1: rounded(f64::from(self.first) / all),
            hit_at_5: rounded(f64::from(self.in_five) / all),
            recall_at_10: rounded(self.recall / all),
            mrr: rounded(self.reciprocal / all),
            negatives: self.negatives,
            negatives_first: self.negatives_first,
        }
    }
}

#[derive(Default)]
struct SelectionCount {
    right: usize,
    chosen: usize,
    found: usize,
    wanted: usize,
    negatives: usize,
    negatives_triggered: usize,
}

impl SelectionCount {
    fn count(&mut self, should: bool, wanted: &[BTreeSet<usize>], also: &[BTreeSet<usize>], chosen: &[usize]) {
        self.chosen += chosen.len();
        let has = |set: &&BTreeSet<usize>| chosen.iter().any(|entry| set.contains(entry));
        if !should {
            self.negatives += 1;
            let is_wrong = if wanted.is_empty() { !chosen.is_empty() } else { wanted.iter().any(|set| has(&set)) };
            self.negatives_triggered += usize::from(is_wrong);
            return;
        }
        let is_right = |entry: &&usize| wanted.iter().chain(also).any(|set| set.contains(entry));
        self.right += chosen.iter().filter(is_right).count();
        self.found += wanted.iter().chain(also).filter(has).count().min(wanted.len());
        self.wanted += wanted.len();
    }

    fn score(&self) -> SelectionScore {
        SelectionScore {
            precision: rounded(ratio(self.right, self.chosen)),
            recall: rounded(ratio(self.found, self.wanted)),
            chosen: self.chosen,
            negatives: self.negatives,
            negatives_triggered: self.negatives_triggered,
        }
    }
}

/// A share; nothing of nothing is nothing.
fn ratio(some: usize, all: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(some) / number(all.max(1))
}

fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}
