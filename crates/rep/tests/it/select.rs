//! Selection through the binary: Universal 2.1 §10, with the triggers of UASP §5.2.

use insta::assert_snapshot;
use rep_test_support::{ProgramRun, ScratchFolder};
use serde_json::{Value, json};

use super::{json as parsed, run, transcript};

fn skill(scratch: &ScratchFolder, name: &str, fields: &str) {
    let text = format!("---\nname: {name}\ndescription: Does what {name} does.\n{fields}---\n\n# It\n");
    scratch.write_file(&format!("lib/{name}/SKILL.md"), text);
}

/// A library of both dialects, with ties, a hidden skill and tools.
fn library() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    skill(
        &scratch,
        "pdf",
        "when_to_use:\n  mentions: [pdf, ocr, scan]\n  file_types: [.pdf]\n  intents: [document_extraction]\n",
    );
    skill(&scratch, "archive", "when_to_use:\n  mentions: [scan, pdf]\n  file_types: [tar.gz]\n");
    skill(&scratch, "urgent", "when_to_use:\n  mentions: [scan, pdf]\n  priority: 5\n");
    skill(&scratch, "plain", "tools:\n  - name: do-it\n    description: Does it.\n");
    skill(&scratch, "secret", "disable-model-invocation: true\nwhen_to_use:\n  mentions: [scan, pdf]\n");
    let uasp = "meta:\n  name: stripe\n  version: \"00000000\"\n  type: knowledge\n  description: Pays.\ntriggers:\n  keywords: [stripe, status code]\n  intents: [process payments]\n  file_patterns: [\"*.stripe.js\", \"**/payments/**\"]\n";
    scratch.write_file("lib/stripe.uasp.yaml", uasp);
    scratch
}

fn select(scratch: &ScratchFolder, arguments: &[&str]) -> ProgramRun {
    let mut all = vec!["select"];
    all.extend(arguments);
    all.extend(["--path", "lib"]);
    run(scratch, &all)
}

/// Names and scores, in order.
fn answer(scratch: &ScratchFolder, arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.push("--json");
    let found = select(scratch, &all);
    let selected = parsed(&found)["selected"].as_array().unwrap_or_else(|| panic!("{found:?}")).clone();
    assert_eq!(found.code, i32::from(selected.is_empty()), "{found:?}");
    selected.iter().map(|one| json!([one["name"], one["score"]])).collect()
}

#[test]
fn sel_02_03_04_05_points_decide() {
    let scratch = library();
    assert_eq!(answer(&scratch, &["please read the PDF"]), json!([]));
    assert_eq!(answer(&scratch, &["a mediocre scandal"]), json!([]));
    assert_eq!(answer(&scratch, &["", "--file", "in/A.PDF", "--file", "b.pdf"]), json!([["pdf", 3]]));
    assert_eq!(answer(&scratch, &["", "--file", "x.TAR.gz"]), json!([["archive", 3]]));
    assert_eq!(answer(&scratch, &["ocr", "--intent", "document_extraction"]), json!([["pdf", 3]]));
    assert_eq!(answer(&scratch, &["ocr", "--threshold", "2"]), json!([["pdf", 2]]));
}

#[test]
fn sel_06_07_ties_go_by_priority_then_name_every_time() {
    let scratch = library();
    let wanted = json!([["pdf", 6], ["urgent", 4], ["archive", 4]]);
    for text in ["ocr the pdf scan", "scan: pdf, OCR"] {
        assert_eq!(answer(&scratch, &[text]), wanted);
    }
    let twice = [select(&scratch, &["pdf scan", "--json"]), select(&scratch, &["pdf scan", "--json"])];
    assert_eq!(twice[0].stdout, twice[1].stdout);
}

#[test]
fn sel_01_named_skills_and_tools_are_selected_alone() {
    let scratch = library();
    let text = "a pdf scan";
    for name in ["plain", "do-it", "plain:do-it"] {
        assert_eq!(answer(&scratch, &[text, "--skill", name]), json!([["plain", null]]), "{name}");
    }
    assert_eq!(answer(&scratch, &[text, "--skill", "plain", "--skill", "secret"]).as_array().unwrap().len(), 2);
    let also = answer(&scratch, &[text, "--skill", "plain", "--also-scored"]);
    assert_eq!(also, json!([["plain", 0], ["urgent", 4], ["archive", 4], ["pdf", 4]]));
    let missed = select(&scratch, &[text, "--skill", "plian", "--json"]);
    assert_eq!((missed.code, &parsed(&missed)["error"]["code"]), (2, &json!("SKILL_NOT_FOUND")));
    assert_snapshot!(missed.stderr, @"
    error: skill `plian` not found
    help: did you mean `plain`?
    ");
}

#[test]
fn sel_01_a_skill_named_in_the_words_of_the_request_wins() {
    let scratch = library();
    skill(&scratch, "pdf-tools", "tools:\n  - name: merge_pages\n    description: Merges.\n");
    skill(&scratch, "review", "");
    for text in ["Use pdf-tools to ocr the pdf scan", "merge_pages of the pdf scan", "pdf-tools:merge_pages: pdf scan"]
    {
        assert_eq!(answer(&scratch, &[text]), json!([["pdf-tools", null]]), "{text}");
    }
    assert_eq!(answer(&scratch, &["use review on the pdf scan"]), json!([["review", null]]));
    assert_eq!(answer(&scratch, &["use plain and do-it to review the pdf scan"]), json!([["plain", null]]));
    for text in ["review the pdf scan", "a pdf scan without pdf-tools", "the pdf scan in x/pdf-tools"] {
        assert_eq!(answer(&scratch, &[text]), json!([["urgent", 4], ["archive", 4], ["pdf", 4]]), "{text}");
    }
    let found = select(&scratch, &["Use pdf-tools to read it"]);
    assert!(found.stdout.contains("named as `pdf-tools`"), "{found:?}");
}

#[test]
fn sel_12_13_hidden_skills_answer_to_their_name_only() {
    let scratch = library();
    assert_eq!(answer(&scratch, &["/secret the pdf scan"]), json!([["secret", null]]));
    assert_eq!(answer(&scratch, &["see x/secret"]), json!([]));
    assert!(!answer(&scratch, &["pdf scan"]).to_string().contains("secret"));
}

#[test]
fn sel_10_us_32_uasp_triggers_count() {
    let scratch = library();
    assert_eq!(answer(&scratch, &["the Stripe status  code"]), json!([["stripe", 4]]));
    assert_eq!(answer(&scratch, &["", "--file", "src/payments/a.js"]), json!([["stripe", 3]]));
    let absolute = scratch.work_folder().join("payments/b.stripe.js");
    assert_eq!(answer(&scratch, &["", "--file", &absolute.to_string_lossy()]), json!([["stripe", 6]]));
    assert_eq!(answer(&scratch, &["stripe", "--intent", "process payments"]), json!([["stripe", 3]]));
}

#[test]
fn sel_09_what_is_selected_says_why_and_can_be_read() {
    let scratch = library();
    let found = parsed(&select(&scratch, &["ocr", "--file", "a.pdf", "--intent", "document_extraction", "--json"]));
    let wanted = json!([
        { "kind": "file_type", "trigger": ".pdf", "points": 3 },
        { "kind": "mention", "trigger": "ocr", "points": 2 },
        { "kind": "intent", "trigger": "document_extraction", "points": 1 },
    ]);
    assert_eq!(found["selected"][0]["matches"], wanted);
    assert!(found["selected"][0]["location"].as_str().unwrap().ends_with("/lib/pdf/SKILL.md"));
    let name = found["selected"][0]["name"].as_str().unwrap();
    assert_eq!(run(&scratch, &["read", name, "--path", "lib"]).code, 0);
    let text = select(&scratch, &["ocr", "--file", "a.pdf"]);
    assert_snapshot!(transcript(&scratch, &text), @"
    exit code 0
    --- stdout ---
    pdf  5 points
      +3  a file is of type `.pdf`
      +2  the text mentions `ocr`
    --- stderr ---
    selected 1 of 6 skills; the threshold is 3
    ");
    let none = select(&scratch, &["ocr"]);
    assert_snapshot!(transcript(&scratch, &none), @"
    exit code 1
    --- stderr ---
    none of 6 skills has 3 points or more
    nearest: `pdf` with 2 points: the text mentions `ocr`
    ");
}

#[test]
fn without_triggers_selection_says_so_and_can_search() {
    let scratch = ScratchFolder::new();
    scratch
        .write_file("lib/pdf-forms/SKILL.md", "---\nname: pdf-forms\ndescription: Fills in PDF forms.\n---\n\n# It\n");
    skill(&scratch, "other", "");
    let none = select(&scratch, &["fill in this PDF form"]);
    assert_snapshot!(transcript(&scratch, &none), @"
    exit code 1
    --- stderr ---
    nothing to select by: none of the skills declares triggers
    `--fallback search` selects by the text of the skills, and `rep search` lists what fits
    ");
    let found = select(&scratch, &["fill in this PDF form", "--fallback", "search", "--json"]);
    let selected = parsed(&found)["selected"].clone();
    assert_eq!((found.code, &selected[0]["name"], &selected[0]["score"]), (0, &json!("pdf-forms"), &Value::Null));
    assert!(selected.as_array().unwrap().len() == 1 && selected[0]["search_score"].as_f64() > Some(34.0), "{found:?}");
    let nothing = select(&scratch, &["bake chocolate cookies with hazelnuts", "--fallback", "search", "--json"]);
    assert_eq!((nothing.code, &parsed(&nothing)["selected"]), (1, &json!([])), "{nothing:?}");
    let triggered = library();
    assert_eq!(answer(&triggered, &["ocr the pdf", "--fallback", "search"]), json!([["pdf", 4]]));
}

#[test]
fn sel_08_triggers_that_are_no_lists_are_no_triggers() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "a", "when_to_use: when there is a pdf\n");
    skill(&scratch, "b", "when_to_use: {mentions: pdf, file_types: {x: .pdf}, priority: [1]}\n");
    skill(&scratch, "c", "when_to_use: {mentions: [~, '', ' ', 404, [pdf]], file_types: [., '']}\n");
    assert_eq!(answer(&scratch, &["when there is a pdf", "--file", "a.pdf", "--threshold", "1"]), json!([]));
    assert_eq!(answer(&scratch, &["a 404", "--threshold", "1"]), json!([["c", 2]]));
}
