//! `rep eval-triggers`: how well selection and search find the skills that requests are meant for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rep_library::search::Index;
use rep_library::select::{Request, Selector};
use rep_library::{Catalog, Status, read};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, cache_folder};
use crate::output::Output;

const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Ranks beyond this do not count.
const DEPTH: usize = 10;

/// Measure how well requests find the skills they are meant for
#[derive(clap::Args)]
#[command(
    after_help = "FILE has one JSON object a line: `{\"query\": …, \"skills\": [name or path], \"should_trigger\": true}`; `equiv` may name further right answers. Or it is a JSON array of `{\"query\", \"should_trigger\"}` about one skill, named by --skill. Where `should_trigger` is false the skills are those that must not come first; without any, nothing should be found.\n\nExamples:\n  rep eval-triggers queries.jsonl --path skills\n  rep eval-triggers evals/triggers.json --skill pdf-processing --json"
)]
pub(crate) struct Args {
    /// The labelled requests
    file: PathBuf,
    /// The skill that requests are about which name none
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let result = measure(args, output).map_err(|failure| failure.json(args.json))?;
    if args.json {
        output.json(&result);
    } else {
        output.data(&table(&result));
    }
    Ok(Exit::Fine)
}

fn measure(args: &Args, output: &mut Output) -> Result<Value, Failure> {
    let text = read::text(&args.file, FILE_BYTES_MAX)?;
    let cases = cases(&text, args.skill.as_deref())
        .map_err(|words| Failure::unable("NOT_QUERIES", format!("`{}`: {words}", args.file.display())))?;
    let catalog = args.library.discover(output)?;
    // A collection may have a name twice, and a request may be meant for either copy.
    let is_measured = |status: Status| matches!(status, Status::Active | Status::Hidden | Status::Shadowed);
    let index = Index::open(&catalog, |entry| is_measured(entry.status), cache_folder().as_deref());
    for note in &index.notes {
        output.warn(note);
    }
    let (mut selection, mut search) = (Selection::default(), Search::default());
    let names = Names::new(&catalog);
    let mut unknown = BTreeSet::new();
    let selector = Selector::new(&catalog);
    for case in &cases {
        let wanted: Vec<BTreeSet<usize>> = case.skills.iter().map(|skill| names.entries(skill)).collect();
        let also: Vec<BTreeSet<usize>> = case.equiv.iter().map(|skill| names.entries(skill)).collect();
        unknown.extend(case.skills.iter().zip(&wanted).filter(|(_, set)| set.is_empty()).map(|(skill, _)| skill));
        let ranked: Vec<usize> = index.search(&case.query, DEPTH).iter().map(|hit| hit.entry).collect();
        search.count(case.should_trigger, &wanted, &also, &ranked);
        selection.count(case.should_trigger, &wanted, &also, &selected(&selector, &case.query));
    }
    if !unknown.is_empty() {
        let some: Vec<String> = unknown.iter().take(3).map(|skill| format!("`{skill}`")).collect();
        output.warn(&format!("{} skills of the file are not in the library: {}", unknown.len(), some.join(", ")));
    }
    Ok(json!({ "select": selection.value(), "search": search.value() }))
}

/// One labelled request.
struct Case {
    query: String,
    skills: Vec<String>,
    equiv: Vec<String>,
    should_trigger: bool,
}

/// The requests of a file: JSON lines, or one JSON array.
fn cases(text: &str, skill: Option<&str>) -> Result<Vec<Case>, String> {
    let cases: Vec<Case> = if text.trim_start().starts_with('[') {
        let values: Vec<Value> = serde_json::from_str(text).map_err(|error| format!("it is no JSON array: {error}"))?;
        let each = values.iter().enumerate();
        each.map(|(at, value)| case(value, skill).map_err(|words| format!("item {at}: {words}")))
            .collect::<Result<_, _>>()?
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            let value = serde_json::from_str(line).map_err(|error| format!("it is no JSON: {error}"));
            value.and_then(|value| case(&value, skill)).map_err(|words| format!("line {}: {words}", at + 1))
        };
        lines.map(read).collect::<Result<_, _>>()?
    };
    if cases.is_empty() { Err("it holds no requests".to_owned()) } else { Ok(cases) }
}

fn case(value: &Value, skill: Option<&str>) -> Result<Case, String> {
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
    Ok(Case { query, skills, equiv: list("equiv")?.unwrap_or_default(), should_trigger })
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

/// The entries the deterministic selection chooses.
fn selected(selector: &Selector, query: &str) -> Vec<usize> {
    let request = Request { text: query.to_owned(), ..Request::default() };
    selector.select(&request).selected.into_iter().map(|chosen| chosen.index).collect()
}

/// What search gave.
#[derive(Default)]
struct Search {
    requests: u32,
    first: u32,
    in_five: u32,
    recall: f64,
    reciprocal: f64,
    negatives: u32,
    negatives_first: u32,
}

impl Search {
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

    fn value(&self) -> Value {
        let all = f64::from(self.requests.max(1));
        json!({
            "requests": self.requests,
            "hit_at_1": rounded(f64::from(self.first) / all),
            "hit_at_5": rounded(f64::from(self.in_five) / all),
            "recall_at_10": rounded(self.recall / all),
            "mrr": rounded(self.reciprocal / all),
            "negatives": self.negatives,
            "negatives_first": self.negatives_first,
        })
    }
}

/// What selection gave.
#[derive(Default)]
struct Selection {
    right: usize,
    chosen: usize,
    found: usize,
    wanted: usize,
    negatives: usize,
    negatives_triggered: usize,
}

impl Selection {
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

    fn value(&self) -> Value {
        json!({
            "precision": rounded(ratio(self.right, self.chosen)),
            "recall": rounded(ratio(self.found, self.wanted)),
            "chosen": self.chosen,
            "negatives": self.negatives,
            "negatives_triggered": self.negatives_triggered,
        })
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

fn table(result: &Value) -> String {
    let mut out = String::new();
    for (half, value) in result.as_object().into_iter().flatten() {
        for (name, number) in value.as_object().into_iter().flatten() {
            out.push_str(&format!("{half:7} {:20} {number}\n", name.replace('_', " ")));
        }
    }
    out
}
