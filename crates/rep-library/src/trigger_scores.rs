//! Measures how well selection and search find the skills that requests are intended for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::catalog::{Catalog, SkillStatus};
use crate::search::{SCORE_MIN, SearchIndex};
use crate::selection::{SelectionRequest, SkillSelector};

/// The number of ranks that count.
const RANKS_MAX: usize = 10;

/// A request with the skills it is intended for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledRequest {
    /// The request.
    pub query: String,
    /// The skills that it should or must not find: names, qualified names, or path suffixes.
    pub skills: Vec<String>,
    /// Other correct answers.
    pub equivalents: Vec<String>,
    /// Whether the skills should be found.
    pub should_trigger: bool,
}

/// An error in a file of labelled requests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestsError(String);

/// The scores of requests over a catalog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriggerScores {
    /// The scores of selection.
    pub selection: SelectionScore,
    /// The scores of search.
    pub search: SearchScore,
    /// The skills in the requests that are not in the catalog.
    pub unknown: BTreeSet<String>,
    /// Notes about problems with the search index.
    pub notes: Vec<String>,
}

impl LabelledRequest {
    /// Parses requests from JSON lines or a JSON array. `skill` applies to requests that name no skill.
    pub fn parse(text: &str, skill: Option<&str>) -> Result<Vec<Self>, RequestsError> {
        parse_requests(text, skill).map_err(RequestsError)
    }
}

fn parse_requests(text: &str, skill: Option<&str>) -> Result<Vec<LabelledRequest>, String> {
    let requests: Vec<LabelledRequest> = if text.trim_start().starts_with('[') {
        let values: Vec<Value> = serde_json::from_str(text).map_err(|error| format!("not a JSON array: {error}"))?;
        let each = values.iter().enumerate();
        each.map(|(at, value)| parse_request(value, skill).map_err(|words| format!("item {at}: {words}")))
            .collect::<Result<_, _>>()?
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            let value = serde_json::from_str(line).map_err(|error| format!("not valid JSON: {error}"));
            value.and_then(|value| parse_request(&value, skill)).map_err(|words| format!("line {}: {words}", at + 1))
        };
        lines.map(read).collect::<Result<_, _>>()?
    };
    if requests.is_empty() { Err("it contains no requests".to_owned()) } else { Ok(requests) }
}

fn parse_request(value: &Value, skill: Option<&str>) -> Result<LabelledRequest, String> {
    let query = value.get("query").and_then(Value::as_str).ok_or("`query` is missing or not text")?.to_owned();
    let should_trigger = match value.get("should_trigger") {
        None => true,
        Some(value) => value.as_bool().ok_or("`should_trigger` is neither true nor false")?,
    };
    let list = |field: &str| -> Result<Option<Vec<String>>, String> {
        let Some(value) = value.get(field) else { return Ok(None) };
        let wrong = || format!("`{field}` is not a list of names or paths");
        let items = value.as_array().ok_or_else(wrong)?;
        items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect::<Result<_, _>>().map(Some)
    };
    let skills = match (list("skills")?, skill) {
        (Some(skills), _) => skills,
        (None, Some(skill)) => vec![skill.to_owned()],
        (None, None) => return Err("it names no `skills`; pass `--skill` to set the skill".to_owned()),
    };
    if should_trigger && skills.is_empty() {
        return Err("it should trigger, but names no skill".to_owned());
    }
    Ok(LabelledRequest { query, skills, equivalents: list("equiv")?.unwrap_or_default(), should_trigger })
}

/// The entries by every name they can have.
struct EntryAliases<'a> {
    catalog: &'a Catalog,
    by_word: BTreeMap<String, Vec<usize>>,
}

impl<'a> EntryAliases<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in catalog.entries.iter().enumerate() {
            let words = [
                Some(entry.name.clone()),
                Some(entry.qualified_name.clone()),
                last_component(&entry.folder),
                last_component(&entry.location),
            ];
            for word in words.into_iter().flatten().collect::<BTreeSet<_>>() {
                by_word.entry(word).or_default().push(at);
            }
        }
        Self { catalog, by_word }
    }

    /// Returns the entries with a name, a qualified name or a path suffix.
    fn find_entries(&self, skill: &str) -> BTreeSet<usize> {
        let path = skill.trim_end_matches('/');
        let path = Path::new(path.strip_suffix("/SKILL.md").unwrap_or(path));
        let is_meant = |at: &&usize| {
            let entry = &self.catalog.entries[**at];
            let is_path = entry.folder.ends_with(path) || entry.location.ends_with(path);
            entry.qualified_name == skill || entry.name == skill || is_path
        };
        let words = [Some(skill.to_owned()), last_component(path)].into_iter().flatten().collect::<BTreeSet<_>>();
        words.iter().filter_map(|word| self.by_word.get(word)).flatten().filter(is_meant).copied().collect()
    }
}

fn last_component(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Measures how well requests find their skills. `cache` is the directory of the search index.
pub fn score_triggers(catalog: &Catalog, requests: &[LabelledRequest], cache: Option<&Path>) -> TriggerScores {
    // A collection can contain a name twice, and a request can be intended for either copy.
    let is_measured =
        |status: SkillStatus| matches!(status, SkillStatus::Active | SkillStatus::Hidden | SkillStatus::Shadowed);
    let index = SearchIndex::open(catalog, |entry| is_measured(entry.status), cache);
    let mut scores = TriggerScores { notes: index.notes.clone(), ..TriggerScores::default() };
    let (names, selector) = (EntryAliases::new(catalog), SkillSelector::new(catalog));
    let (mut search, mut selection) = (SearchCount::default(), SelectionCount::default());
    for case in requests {
        let wanted: Vec<BTreeSet<usize>> = case.skills.iter().map(|skill| names.find_entries(skill)).collect();
        let also: Vec<BTreeSet<usize>> = case.equivalents.iter().map(|skill| names.find_entries(skill)).collect();
        let missing = case.skills.iter().zip(&wanted).filter(|(_, set)| set.is_empty()).map(|(skill, _)| skill);
        scores.unknown.extend(missing.cloned());
        let hits = index.search(&case.query, RANKS_MAX);
        let ranked: Vec<usize> = hits.iter().map(|hit| hit.entry).collect();
        search.add_request(case.should_trigger, &wanted, &also, &ranked);
        search.add_answer(case.should_trigger, hits.first().is_some_and(|hit| hit.score >= SCORE_MIN));
        let request = SelectionRequest { text: case.query.clone(), ..SelectionRequest::default() };
        let chosen: Vec<usize> = selector.select(&request).selected.into_iter().map(|chosen| chosen.index).collect();
        selection.add_request(case.should_trigger, &wanted, &also, &chosen);
    }
    TriggerScores { selection: selection.to_score(), search: search.to_score(), ..scores }
}

/// The scores of search. Ratios are rounded to four digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchScore {
    /// The number of requests that should find a skill.
    pub requests: u32,
    /// The share of requests whose first result is correct.
    pub hit_at_1: f64,
    /// The share of requests with a correct result among the first five.
    pub hit_at_5: f64,
    /// The share of the skills that are among the first ten results.
    pub recall_at_10: f64,
    /// The mean reciprocal rank of the first correct result.
    pub mrr: f64,
    /// The number of requests that should not find a skill.
    pub negatives: u32,
    /// The number of those with a wrong first result.
    pub negatives_first: u32,
    /// The share of requests that should find a skill and for which some skill fits.
    pub answered: f64,
    /// The number of requests that should not find a skill and for which no skill fits.
    pub negatives_unanswered: u32,
}

/// The scores of selection. Ratios are rounded to four digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SelectionScore {
    /// The share of selected skills that are correct.
    pub precision: f64,
    /// The share of correct skills that are selected.
    pub recall: f64,
    /// The number of selected skills.
    pub chosen: usize,
    /// The number of requests that should not select a skill.
    pub negatives: usize,
    /// The number of those that selected it.
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
    answered: u32,
    negatives_unanswered: u32,
}

impl SearchCount {
    fn add_answer(&mut self, should: bool, is_answered: bool) {
        self.answered += u32::from(should && is_answered);
        self.negatives_unanswered += u32::from(!should && !is_answered);
    }

    fn add_request(&mut self, should: bool, wanted: &[BTreeSet<usize>], also: &[BTreeSet<usize>], ranked: &[usize]) {
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
        self.recall += (compute_ratio(found, wanted.len())).min(1.0);
        let place = ranked.iter().position(|entry| is_any(wanted, entry) || is_any(also, entry));
        if let Some(place) = place {
            self.first += u32::from(place == 0);
            self.in_five += u32::from(place < 5);
            self.reciprocal += 1.0 / compute_ratio(place + 1, 1);
        }
    }

    fn to_score(&self) -> SearchScore {
        let all = f64::from(self.requests.max(1));
        SearchScore {
            requests: self.requests,
            hit_at_1: round_share(f64::from(self.first) / all),
            hit_at_5: round_share(f64::from(self.in_five) / all),
            recall_at_10: round_share(self.recall / all),
            mrr: round_share(self.reciprocal / all),
            negatives: self.negatives,
            negatives_first: self.negatives_first,
            answered: round_share(f64::from(self.answered) / all),
            negatives_unanswered: self.negatives_unanswered,
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
    fn add_request(&mut self, should: bool, wanted: &[BTreeSet<usize>], also: &[BTreeSet<usize>], chosen: &[usize]) {
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

    fn to_score(&self) -> SelectionScore {
        SelectionScore {
            precision: round_share(compute_ratio(self.right, self.chosen)),
            recall: round_share(compute_ratio(self.found, self.wanted)),
            chosen: self.chosen,
            negatives: self.negatives,
            negatives_triggered: self.negatives_triggered,
        }
    }
}

/// Returns a ratio, or 0 if the denominator is 0.
fn compute_ratio(some: usize, all: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(some) / number(all.max(1))
}

fn round_share(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}
