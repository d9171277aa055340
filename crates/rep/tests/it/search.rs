//! Search and its measurement through the binary (SEL-09, SEL-11, SEL-14).

use std::process::{Command, Stdio};

use rep_test_support::ScratchFolder;

use super::{json, rep, run};

fn skill(scratch: &ScratchFolder, path: &str, description: &str, more: &str) {
    let name = path.rsplit('/').next().expect("a path has a last part");
    scratch.write_file(
        &format!("{path}/SKILL.md"),
        format!("---\nname: {name}\ndescription: {description}\n{more}---\n\n# {name}\n"),
    );
}

fn library() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    skill(&scratch, "lib/pdf", "Fills in PDF forms.", "");
    skill(&scratch, "lib/deploy", "Deploys services to Kubernetes.", "");
    skill(&scratch, "lib/secret-deploy", "Deploys services by hand.", "disable-model-invocation: true\n");
    scratch
}

#[test]
fn hits_are_ranked_and_explained() {
    let scratch = library();
    let found = run(&scratch, &["search", "deploying", "to", "kuberntes", "--path", "lib", "--json"]);
    assert_eq!(found.code, 0, "{found:?}");
    let results = json(&found)["results"].clone();
    assert_eq!(results[0]["name"], "deploy");
    assert_eq!(results[0]["user_only"], false);
    assert_eq!(results[1]["name"], "secret-deploy");
    assert_eq!(results[1]["user_only"], true);
    assert!(results[0]["location"].as_str().unwrap().ends_with("lib/deploy/SKILL.md"));
    let why = results[0]["why"].as_array().unwrap();
    assert!(
        why.iter().any(|reason| reason["term"] == "kuberntes~kubernet" && reason["field"] == "description"),
        "{why:?}"
    );
    assert!(why.iter().all(|reason| reason["points"].as_f64().unwrap() > 0.0), "{why:?}");
    let text = run(&scratch, &["search", "deploying", "--path", "lib", "--limit", "1"]);
    assert!(text.stdout.contains("deploying in name"), "{text:?}");
    assert_eq!(text.stdout.lines().count(), 3, "{text:?}");
}

#[test]
fn nothing_found_is_exit_1() {
    let scratch = library();
    let found = run(&scratch, &["search", "zzyzx", "--path", "lib", "--json"]);
    assert_eq!((found.code, json(&found)["results"].as_array().map(Vec::len)), (1, Some(0)));
}

#[test]
fn a_request_that_no_skill_fits_is_exit_1_and_names_the_nearest() {
    let scratch = library();
    let text = "bake chocolate cookies and fill the jar with hazelnuts";
    let found = run(&scratch, &["search", text, "--path", "lib", "--json"]);
    assert_eq!((found.code, json(&found)["results"].as_array().map(Vec::len)), (1, Some(0)), "{found:?}");
    assert!(found.stderr.contains("no skill fits: the nearest of 3 is `pdf`"), "{found:?}");
    let all = run(&scratch, &["search", text, "--path", "lib", "--json", "--min-score", "0"]);
    let results = json(&all)["results"].clone();
    assert_eq!((all.code, &results[0]["name"]), (0, &"pdf".into()), "{all:?}");
    let score = results[0]["score"].as_f64().unwrap();
    assert!(score > 0.0 && score < 34.0, "{results}");
    let fitting = json(&run(&scratch, &["search", "fill in a PDF form", "--path", "lib", "--json"]));
    assert!((34.0..=100.0).contains(&fitting["results"][0]["score"].as_f64().unwrap()), "{fitting}");
}

#[test]
fn untrusted_skills_are_not_found() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "proj/.claude/skills/pdf", "Fills in PDF forms.", "");
    assert_eq!(run(&scratch, &["search", "pdf", "--project", "proj"]).code, 1);
    assert_eq!(run(&scratch, &["search", "pdf", "--project", "proj", "--trust"]).code, 0);
}

#[test]
fn two_processes_may_write_the_index_at_once() {
    let scratch = ScratchFolder::new();
    for number in 0..60 {
        skill(&scratch, &format!("lib/s{number}"), &format!("Handles case number{number} of many."), "");
    }
    let cache = scratch.work_folder().join("cache");
    let start = || {
        Command::new(rep())
            .args(["search", "case number7", "--path", "lib", "--json"])
            .current_dir(scratch.work_folder())
            .env("HOME", scratch.work_folder())
            .env("XDG_CACHE_HOME", &cache)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut answers = std::collections::BTreeSet::new();
    for round in 0..6 {
        // Every round changes a skill, so that both have something to write.
        skill(&scratch, &format!("lib/s{}", 20 + round), "Changed.", "");
        let both = [start(), start()];
        for output in both.map(|child| child.wait_with_output().unwrap()) {
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
            let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            answers.insert(value["results"][0]["name"].to_string());
        }
    }
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), ["\"s7\""]);
    let left: Vec<_> =
        std::fs::read_dir(cache.join("repertoire")).unwrap().flatten().map(|item| item.file_name()).collect();
    assert_eq!(left, ["search.idx"], "no temporary file is left");
}

#[test]
fn a_damaged_index_is_told_and_mended() {
    let scratch = library();
    let home = scratch.work_folder().join("../home/.cache/repertoire/search.idx");
    assert_eq!(run(&scratch, &["search", "pdf", "--path", "lib"]).stderr, "");
    std::fs::write(&home, "repindex, but not really one").unwrap();
    let told = run(&scratch, &["search", "pdf", "--path", "lib"]);
    assert!(told.code == 0 && told.stderr.contains("rebuilding"), "{told:?}");
    assert_eq!(run(&scratch, &["search", "pdf", "--path", "lib"]).stderr, "");
}

#[test]
fn requests_are_measured() {
    let scratch = library();
    scratch.write_file(
        "q.jsonl",
        concat!(
            "{\"query\": \"fill a form\", \"skills\": [\"pdf\"], \"should_trigger\": true}\n",
            "{\"query\": \"roll out by hand\", \"skills\": [\"nowhere\"], \"equiv\": [\"lib/secret-deploy\"]}\n\n",
            "{\"query\": \"deploy kubernetes\", \"skills\": [\"deploy\", \"lib/secret-deploy/SKILL.md\"]}\n",
            "{\"query\": \"a form about trees\", \"skills\": [\"pdf\"], \"should_trigger\": false}\n",
            "{\"query\": \"zzyzx\", \"skills\": [], \"should_trigger\": false}\n",
        ),
    );
    let measured = run(&scratch, &["eval-triggers", "q.jsonl", "--path", "lib", "--json"]);
    assert!(measured.code == 0 && measured.stderr.contains("`nowhere`"), "{measured:?}");
    let search = json(&measured)["search"].clone();
    for (key, value) in [("hit_at_1", 1.0), ("hit_at_5", 1.0), ("recall_at_10", 1.0), ("mrr", 1.0)] {
        assert_eq!(search[key], value, "{key} of {search}");
    }
    assert_eq!(
        (&search["requests"], &search["negatives"], &search["negatives_first"]),
        (&3.into(), &2.into(), &1.into())
    );
    assert_eq!(search["negatives_unanswered"], 2, "{search}");
}

#[test]
fn the_guides_array_is_about_one_skill() {
    let scratch = library();
    scratch.write_file("q.json", "[{\"query\": \"fill a form\", \"should_trigger\": true}, {\"query\": \"deploy it\", \"should_trigger\": false}]");
    let measured = run(&scratch, &["eval-triggers", "q.json", "--path", "lib", "--skill", "pdf", "--json"]);
    let search = json(&measured)["search"].clone();
    assert_eq!((&search["hit_at_1"], &search["negatives_first"]), (&1.0.into(), &0.into()));
    let text = run(&scratch, &["eval-triggers", "q.json", "--path", "lib", "--skill", "pdf"]);
    assert!(text.stdout.contains("hit at 1"), "{text:?}");
}

#[test]
fn files_that_are_no_requests_are_refused_with_the_line() {
    let scratch = library();
    for (content, words) in [
        ("{\"query\": \"x\", \"skills\": [\"pdf\"]}\nnonsense\n", "line 2"),
        ("{\"skills\": [\"pdf\"]}", "`query` is missing"),
        ("[{\"query\": \"x\"}]", "--skill"),
        ("{\"query\": \"x\", \"skills\": \"pdf\"}", "not a list"),
        ("{\"query\": \"x\", \"skills\": [\"pdf\"], \"should_trigger\": \"yes\"}", "neither true nor false"),
        ("", "no requests"),
    ] {
        scratch.write_file("q.jsonl", content);
        let measured = run(&scratch, &["eval-triggers", "q.jsonl", "--path", "lib"]);
        assert!(measured.code == 2 && measured.stderr.contains(words), "{content}: {measured:?}");
    }
}

/// SEL-11: precision and recall of the deterministic selection.
#[test]
fn selection_is_measured_beside_search() {
    let scratch = ScratchFolder::new();
    let with = |name: &str, mentions: &str| {
        let front =
            format!("name: {name}\nspec_version: \"2.1\"\nversion: 1.0.0\nwhen_to_use: {{mentions: [{mentions}]}}\n");
        scratch.write_file(&format!("lib/{name}/SKILL.md"), super::GOOD.replace("name: pdf\n", &front));
    };
    with("pdf", "pdf, form");
    with("chart", "chart, plot");
    let lines = "{\"query\": \"fill the pdf form\", \"skills\": [\"pdf\"]}\n{\"query\": \"a plot\", \"skills\": [\"chart\"]}\n{\"query\": \"a chart or plot joke\", \"skills\": [\"chart\"], \"should_trigger\": false}\n";
    scratch.write_file("q.jsonl", lines);
    let select = json(&run(&scratch, &["eval-triggers", "q.jsonl", "--path", "lib", "--json"]))["select"].clone();
    assert_eq!(
        (&select["precision"], &select["recall"], &select["negatives_triggered"]),
        (&0.5.into(), &0.5.into(), &1.into()),
        "{select}"
    );
}
