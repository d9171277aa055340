//! How long an answer takes, from skills of 10 to 100,000 entries: it must not follow the size.
//!
//! `cargo bench -p rep-library --bench query`. The median of many single questions is printed, in process, with the printed code of the
//! specification's approach (split at dots, walk, scan lists) beside it on the same document.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::time::Instant;

use rep_model::query::SkillQuery;
use rep_model::{DocumentOrigin, QueryIndex, SkillDocument};
use serde_json::{Map, Value, json};

const QUESTIONS: usize = 2_000;

fn document(entries: usize) -> Value {
    let command = |number: usize| {
        let value = json!({
            "syntax": format!("tool act-{number} <x>"),
            "args": [{ "name": "x", "type": "string" }],
            "requires": ["things"],
        });
        (format!("group-{}.act-{number}", number % 17), value)
    };
    let decision = |number: usize| json!({ "when": format!("case {number}"), "then": format!("do {number}") });
    let source = |number: usize| json!({ "id": format!("doc:{number}"), "url": "https://example.org" });
    json!({
        "meta": { "name": "big", "version": "00000000", "type": "cli" },
        "commands": (0..entries / 2).map(command).collect::<Map<String, Value>>(),
        "decisions": (0..entries / 4).map(decision).collect::<Vec<_>>(),
        "sources": (0..entries / 4).map(source).collect::<Vec<_>>(),
    })
}

/// The walk the specification prints, with a list scanned for its item.
fn scan<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    let mut current = root;
    for part in path.split('.') {
        current = match current {
            Value::Object(map) => map.get(part)?,
            Value::Array(items) => items
                .iter()
                .find(|item| ["name", "id"].iter().any(|key| item.get(key).and_then(Value::as_str) == Some(part)))?,
            _ => return None,
        };
    }
    Some(current)
}

fn median(mut take: impl FnMut(usize)) -> f64 {
    let mut times: Vec<u128> = Vec::with_capacity(QUESTIONS);
    for number in 0..QUESTIONS {
        let start = Instant::now();
        take(number);
        times.push(start.elapsed().as_nanos());
    }
    times.sort_unstable();
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one question")]
    let median = times[QUESTIONS / 2] as f64 / 1000.0;
    median
}

fn main() {
    println!(
        "| entries | paths | index built | command | item of a list | feature of a command | missing | a scan for the item |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for entries in [10, 100, 1_000, 10_000, 100_000] {
        let value = document(entries);
        let start = Instant::now();
        let index = QueryIndex::new(SkillDocument::from_value(value.clone(), DocumentOrigin::Authored, Vec::new()));
        let built = start.elapsed();
        let ask = |text: String| {
            let query = SkillQuery::parse(&text).expect("the question is well formed");
            let (_, path) = query.text.split_once(':').expect("it names a skill");
            black_box(index.find_answer(path, &query.filters).is_some())
        };
        let number = |number: usize, of: usize| (number * 7919) % of.max(1);
        let command = median(|at| {
            let at = number(at, entries / 2);
            ask(format!("big:commands.group-{}.act-{at}", at % 17));
        });
        let feature = median(|at| {
            let at = number(at, entries / 2);
            ask(format!("big:commands.group-{}.act-{at}.args.x.type", at % 17));
        });
        let item = median(|at| {
            ask(format!("big:sources.doc:{}.url", number(at, entries / 4)));
        });
        let missing = median(|at| {
            ask(format!("big:commands.none-{at}"));
        });
        let scanned = median(|at| {
            black_box(scan(&value, &format!("sources.doc:{}.url", number(at, entries / 4))));
        });
        println!(
            "| {entries} | {} | {:.1} ms | {command:.2} µs | {item:.2} µs | {feature:.2} µs | {missing:.2} µs | {scanned:.2} µs |",
            index.len(),
            built.as_secs_f64() * 1000.0
        );
    }
}
