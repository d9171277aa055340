//! How long one answer takes in a process that has the library at hand: `cargo bench -p rep-library`.
//!
//! Options: `--skills N` (10,000), `--rounds N` (20), `--only select|search`, `--json`. Every round asks each request once; what
//! is told is the median and the slowest twentieth of all answers.
#![expect(clippy::print_stdout, reason = "a benchmark talks on the terminal")]
#![expect(clippy::disallowed_methods, reason = "a benchmark has arguments")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set itself up may stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use rep_library::search::{self, SearchIndex};
use rep_library::selection::{SelectionRequest, SkillSelector};
use rep_library::{Catalog, LibraryOptions, TrustRequirement};
use rep_test_support::synthetic_library::{
    BodyLength, LibraryShape, PlantedSkill, SyntheticLibrary, SyntheticLibrarySpec,
};

/// What people ask, in words that generated skills are made of; some misspelt, some in no skill.
const REQUESTS: [&str; 16] = [
    "review the quarterly invoice before the release",
    "extract a table from the signed contract",
    "convert this spreadsheet to a dataset",
    "my deployment pipeline is stale, trace the incident",
    "summarise the transcript of the customer survey",
    "rotate the certificate of the gateway",
    "why is the cache missing every snapshot?",
    "draft a changelog for the next release and publish it",
    "compare two nested manifests and merge them",
    "encrypt the backup",
    "forcast the budget for the warehouse",
    "a dashboard with an alert for every sensor metric",
    "what time is it in Reykjavik",
    "label the image dataset, then classify each record by segment and export a verified report of every duplicate",
    PlantedSkill::PHRASE,
    PlantedSkill::MENTION,
];

/// The files the requests come with, in turn.
const FILES: [&str; 4] = ["in/report.pdf", "data/export.csv", "src/main.rs", "notes.md"];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let number = |name: &str, default: usize| value(name).map_or(default, |text| text.parse().unwrap());
    let (skills, rounds) = (number("--skills", 10_000), number("--rounds", 20));
    let folder = tempfile::tempdir().unwrap();
    SyntheticLibrary::generate(
        folder.path(),
        SyntheticLibrarySpec { count: skills, shape: LibraryShape::Mixed, bodies: BodyLength::Real },
    )
    .unwrap();
    let catalog = Catalog::discover(&LibraryOptions {
        project: Some(folder.path().join("project")),
        home: Some(folder.path().join("home")),
        managed: Some(folder.path().join("managed")),
        trust: TrustRequirement::Waived,
        ..LibraryOptions::default()
    })
    .unwrap();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let is_wanted = |name: &str| value("--only").is_none_or(|only| only == name);
    if is_wanted("select") {
        let selector = SkillSelector::new(&catalog);
        let times = times(rounds, |text, file| {
            let request =
                SelectionRequest { text: text.to_owned(), files: vec![file.to_owned()], ..SelectionRequest::default() };
            black_box(selector.select(&request));
        });
        tell("select", catalog.entries.len(), &times, is_json);
    }
    if is_wanted("search") {
        let index = SearchIndex::open(&catalog, search::is_findable, None);
        let times = times(rounds, |text, _| {
            black_box(index.search(text, 10));
        });
        tell("search", index.len(), &times, is_json);
    }
}

/// The time of every answer, sorted.
fn times(rounds: usize, answer: impl Fn(&str, &str)) -> Vec<Duration> {
    let mut times = Vec::with_capacity(rounds * REQUESTS.len());
    for _ in 0..rounds {
        for (text, file) in REQUESTS.into_iter().zip(FILES.into_iter().cycle()) {
            let begin = Instant::now();
            answer(text, file);
            times.push(begin.elapsed());
        }
    }
    times.sort_unstable();
    times
}

fn tell(what: &str, skills: usize, times: &[Duration], is_json: bool) {
    let Some(last) = times.len().checked_sub(1) else { return };
    let (median, slow) = (times[last / 2], times[last * 95 / 100]);
    if is_json {
        let (median, slow, answers) = (median.as_nanos(), slow.as_nanos(), times.len());
        println!(
            "{{\"what\": \"{what}\", \"skills\": {skills}, \"answers\": {answers}, \"median_ns\": {median}, \"p95_ns\": {slow}}}"
        );
    } else {
        println!(
            "{what} over {skills} skills: median {median:.2?}, one in twenty above {slow:.2?}, {} answers",
            times.len()
        );
    }
}
