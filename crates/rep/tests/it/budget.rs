//! Budgets of tokens through the binary: what is lost, in which order, and that all of it is told.

use proptest::prelude::*;
use rep_test_support::{ProgramRun, ScratchFolder};
use rep_tokens::count;
use serde_json::Value;

use super::{json, run};

const STYLES: [&str; 4] = ["xml", "json", "markdown", "manifest"];

fn skill(scratch: &ScratchFolder, name: &str, description: &str) {
    let quoted = Value::from(description);
    scratch
        .write_file(&format!("lib/{name}/SKILL.md"), format!("---\nname: {name}\ndescription: {quoted}\n---\nBody\n"));
}

fn prompt(scratch: &ScratchFolder, budget: usize, more: &[&str]) -> ProgramRun {
    let budget = budget.to_string();
    run(scratch, &[&["prompt", "--path", "lib", "--budget", &budget], more].concat())
}

/// Three skills: a long description of several sentences, a middling one, and a short one.
fn three() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    let long = "Reads every kind of table there is and says what is in it. ".repeat(6);
    skill(&scratch, "c-long", &format!("{long}Use when a table comes."));
    skill(
        &scratch,
        "b-middle",
        "Fills forms that people bring, checks every field twice, and says which one is wrong and why. Use when a form comes.",
    );
    skill(&scratch, "a-short", "Greets. Use when met.");
    scratch
}

#[test]
fn a_budget_that_holds_everything_changes_nothing() {
    let scratch = three();
    for style in STYLES {
        let whole = run(&scratch, &["prompt", "--path", "lib", "--style", style]).stdout;
        let found = prompt(&scratch, count(&whole), &["--style", style]);
        assert_eq!((found.code, &found.stdout), (0, &whole), "{style}");
        assert!(found.stderr.contains("nothing was shortened"), "{found:?}");
    }
}

#[test]
fn the_longest_description_is_shortened_first_and_to_whole_sentences() {
    let scratch = three();
    let whole = count(&run(&scratch, &["prompt", "--path", "lib", "--no-location"]).stdout);
    let found = prompt(&scratch, whole - 10, &["--no-location"]);
    assert!(found.stdout.contains("says what is in it. …</description>"), "{found:?}");
    assert!(found.stdout.contains("Use when a form comes.") && found.stdout.contains("Use when met."), "{found:?}");
    assert!(found.stderr.contains("1 descriptions shortened, 0 omitted, 0 skills dropped"), "{found:?}");
    assert!(found.stderr.contains("shortened: c-long\n"), "{found:?}");
}

#[test]
fn then_descriptions_go_and_then_names_from_the_end() {
    let scratch = three();
    let markdown = ["--no-location", "--style", "markdown"];
    let names = "- **a-short**\n- **b-middle**\n- **c-long**\n";
    let with_short = "- **a-short**: Greets. Use when met.\n- **b-middle**\n- **c-long**\n";
    assert_eq!(prompt(&scratch, count(with_short), &markdown).stdout, with_short);
    let found = prompt(&scratch, count(names), &markdown);
    assert_eq!(found.stdout, names);
    assert!(found.stderr.contains("without description: a-short, b-middle, c-long\n"), "{found:?}");
    let found = prompt(&scratch, count(names) - 1, &[&markdown[..], &["-q"]].concat());
    assert_eq!(found.stdout, "- **a-short**\n- **b-middle**\n");
    // A dropped skill is told of even to who wants to hear little.
    assert_eq!(found.stderr, "dropped: c-long\n");
}

#[test]
fn a_budget_too_small_for_one_name_is_refused() {
    let scratch = three();
    for style in STYLES {
        for budget in [0, 1, 2] {
            let found = prompt(&scratch, budget, &["--style", style]);
            assert_eq!((found.code, found.stdout.as_str()), (1, ""), "{found:?}");
            assert!(found.stderr.contains("is too small for the name of a single skill"), "{found:?}");
        }
    }
    assert_eq!(prompt(&scratch, count("- **a-short**\n"), &["--no-location", "--style", "markdown"]).code, 0);
}

#[test]
fn json_says_what_is_missing() {
    let scratch = three();
    let found = prompt(&scratch, 150, &["--style", "json", "--no-location"]);
    let value = json(&found);
    let details: Vec<&Value> = value["skills"].as_array().unwrap().iter().map(|skill| &skill["detail"]).collect();
    assert_eq!(details, [&Value::Null, &"shortened".into(), &"name".into()], "{value}");
    assert_eq!((&value["budget"]["tokenizer"], &value["budget"]["shortened"]), (&"o200k_base".into(), &1.into()));
    assert_eq!((&value["budget"]["without_description"], &value["budget"]["dropped"]), (&1.into(), &0.into()));
}

#[test]
fn why_tells_what_a_budget_makes_of_a_skill() {
    let scratch = three();
    let why = |name: &str, budget: &str, more: &[&str]| {
        let words = ["why", name, "--path", "lib", "--budget", budget, "--no-location", "--style", "markdown"];
        run(&scratch, &[&words, more].concat())
    };
    assert!(why("a-short", "100", &[]).stdout.contains("fit its whole description"));
    let found = why("c-long", "100", &[]).stdout;
    assert!(found.contains("shorten its description to: Reads every kind") && found.contains("remedy"), "{found}");
    assert!(why("c-long", "20", &[]).stdout.contains("fit only its name, without a description"));
    assert!(why("c-long", "9", &[]).stdout.contains("do not fit it"));
    let value = json(&why("c-long", "2", &["--json"]));
    assert_eq!(value["copies"][0]["budget"]["detail"], "dropped");
}

fn description() -> impl Strategy<Value = String> {
    let word =
        prop_oneof!["[a-zA-Z<&'\"]{1,12}[.,!]?", "[一-龥]{1,30}。?", "[a-z]{80,200}", "(\u{1f642}|é\u{301}|…){1,4}"];
    prop::collection::vec(word, 1..60).prop_map(|words| format!("D {}", words.join(" ")))
}

proptest! {
    // Every case starts the binary.
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn output_keeps_the_budget_and_every_name_is_told(
        descriptions in prop::collection::vec(description(), 1..12),
        share in 0_usize..110,
        style in 0..STYLES.len(),
        is_located: bool,
    ) {
        let scratch = ScratchFolder::new();
        let names: Vec<String> = (0..descriptions.len()).map(|index| format!("skill-{index}-x")).collect();
        for (name, description) in names.iter().zip(&descriptions) {
            skill(&scratch, name, description);
        }
        let mut form = vec!["--style", STYLES[style]];
        if !is_located {
            form.push("--no-location");
        }
        let whole = run(&scratch, &[&["prompt", "--path", "lib"], &form[..]].concat()).stdout;
        let budget = count(&whole) * share / 100;
        let found = prompt(&scratch, budget, &form);
        prop_assert!(count(&found.stdout) <= budget, "{} of {budget} tokens: {found:?}", count(&found.stdout));
        if found.code == 1 {
            prop_assert!(found.stdout.is_empty());
        } else {
            for name in &names {
                prop_assert!(found.stdout.contains(name) || found.stderr.contains(name), "{name} is lost: {found:?}");
            }
            prop_assert_eq!(prompt(&scratch, budget, &form).stdout, found.stdout);
        }
    }
}
