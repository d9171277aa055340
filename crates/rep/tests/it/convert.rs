//! Markdown skills become structured skills, and come back.

use std::path::Path;

use rep_convert::extract::rules::{ExtractionRule, RULES};
use rep_test_support::{DEADLINE, ScratchFolder, wait_until};
use serde_json::{Value, json};

use super::{json, rep, run};

const TOOL: &str = "---
name: tool
description: Drives the tool. Use when the user wants a tool driven.
allowed-tools: Bash(tool:*)
---

# Tool

Never delete the cache. Prefer `uv` over `pip` when installing. If the port is taken, choose another one.

```bash
tool open <url>   # Open a page
tool login <user> # Log in
tool logout
```

Session ids are created by `tool login` and become invalid after `tool logout`. Tokens expire after one hour.

## Release

1. Bump the version
2. Tag it
3. Push the tag
";

fn scratch() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/tool/SKILL.md", TOOL);
    scratch.write_file(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes prose.\n---\n\n- Never use the word very.\n",
    );
    scratch
}

/// UC-01, UC-17: convert, validate, hash, YAML.
#[test]
fn a_skill_becomes_a_valid_file_with_its_own_version() {
    let scratch = scratch();
    let found = run(&scratch, &["convert", "skills/tool/SKILL.md", "--to", "uasp", "--out", "out/tool.uasp.yaml"]);
    assert_eq!((found.code, found.stdout.as_str()), (0, ""), "{found:?}");
    let text = scratch.read_file("out/tool.uasp.yaml");
    assert!(!text.contains("00000000"), "{text}");
    assert_eq!(run(&scratch, &["hash", "out/tool.uasp.yaml", "--check"]).code, 0);
    let checked = run(&scratch, &["check", "out", "--profile", "uasp", "--strict-schema", "--format", "json"]);
    assert_eq!(json(&checked)["summary"]["errors"], 0, "{}", checked.stdout);
    for (query, value) in [
        ("tool:constraints.never", json!(["delete the cache"])),
        ("tool:constraints.prefer", json!([{ "use": "`uv`", "over": "`pip`", "when": "installing" }])),
        ("tool:commands.open.args.url.type", json!("string")),
        ("tool:state.entities.session-id.created_by", json!(["login"])),
        ("tool:meta.type", json!("cli")),
    ] {
        assert_eq!(json(&run(&scratch, &["query", query, "--path", "out"]))["value"], value, "{query}");
    }
    // The same skill gives the same bytes, by folder, by name and on stdout.
    assert_eq!(run(&scratch, &["convert", "skills/tool", "--to", "uasp"]).stdout, text);
    assert_eq!(run(&scratch, &["convert", "tool", "--path", "skills", "--to", "uasp"]).stdout, text);
}

/// UC-02, UC-04, UC-09, UC-14: what tables, boxes, terse lines and blocks say reaches the file, and none of it is turned round.
#[test]
fn what_not_to_do_stays_what_not_to_do() {
    let scratch = ScratchFolder::new();
    let text = "---\r\nname: tool\r\ndescription: Drives the tool.\r\nallowed-tools: Bash(tool:*)\r\n---\r\n\r\n\
        | Do | Don't |\r\n|---|---|\r\n| Open a request | Push to main |\r\n\r\n\
        ## What not to do\r\n\r\n- Commit secrets. Use every vault instead.\r\n- No tabs.\r\n\r\n\
        ## Use\r\n\r\n> [!WARNING]\r\n> Copy the data first.\r\n\r\nRun `tool deploy` to ship.\r\n\r\n```bash\r\ntool deploy <env> --style a|b --port ${PORT:-80}\r\n```\r\n";
    scratch.write_file("skills/tool/SKILL.md", text);
    let found = run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--out", "out/tool.uasp.yaml"]);
    assert_eq!(found.code, 0, "{found:?}");
    let checked = run(&scratch, &["check", "out", "--profile", "uasp", "--format", "json"]);
    assert_eq!(json(&checked)["summary"]["errors"], 0, "{}", checked.stdout);
    for (query, value) in [
        ("tool:constraints.never", json!(["Push to main", "Commit secrets", "tabs"])),
        ("tool:constraints.always", json!(["Open a request", "Copy the data first", "Run `tool deploy` to ship"])),
        ("tool:commands.deploy.args.env.required", json!(true)),
        ("tool:commands.deploy.syntax", json!("tool deploy <env> --style <a|b> --port <port>")),
        ("tool:environment.PORT.default", json!("80")),
    ] {
        assert_eq!(json(&run(&scratch, &["query", query, "--path", "out"]))["value"], value, "{query}");
    }
    let style = json(&run(&scratch, &["query", "tool:commands.deploy", "--path", "out"]))["value"]["flags"][0].clone();
    assert_eq!((&style["type"], &style["values"]), (&json!("enum"), &json!(["a", "b"])));
}

#[test]
fn what_is_there_is_replaced_only_when_asked() {
    let scratch = scratch();
    scratch.write_file("x.uasp.yaml", "mine\n");
    let found = run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--out", "x.uasp.yaml"]);
    assert_eq!((found.code, scratch.read_file("x.uasp.yaml").as_str()), (2, "mine\n"));
    assert!(found.stderr.contains("--force"), "{}", found.stderr);
    assert_eq!(run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--out", "x.uasp.yaml", "--force"]).code, 0);
    assert!(scratch.read_file("x.uasp.yaml").contains("name: tool"));
}

/// UC-18, UC-19, UC-20, UC-21: the result object, every value with its line and doubt, and the checklist.
#[test]
fn the_result_says_where_everything_comes_from() {
    let scratch = scratch();
    let found = run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--json", "--report", "r.json"]);
    let result = json(&found);
    assert_eq!((found.code, &result["valid"], &result["engine"]), (0, &json!(true), &json!("rules")));
    assert_eq!(result["skill"]["meta"]["name"], "tool");
    assert!(result["warnings"].is_array());
    let items = result["items"].as_array().unwrap();
    let item = |path: &str| items.iter().find(|item| item["path"] == path).unwrap_or_else(|| panic!("{path}")).clone();
    let never = item("constraints.never[0]");
    assert_eq!((&never["line"], &never["needs_review"]), (&json!(9), &json!(false)));
    assert!(never["text"].as_str().unwrap().starts_with("Never delete the cache."));
    let token = items.iter().find(|item| item["value"]["name"] == "token").unwrap();
    assert_eq!((&token["needs_review"], &token["why"]), (&json!(true), &json!("only its invalidation is described")));
    let checklist = result["checklist"].as_array().unwrap();
    assert_eq!(checklist.len(), 12);
    let state = |number: usize| checklist[number]["state"].as_str().unwrap();
    assert_eq!(
        (state(0), state(1), state(5), state(9), state(10), state(11)),
        ("done", "done", "absent", "done", "done", "done")
    );
    assert_eq!(state(3), "review");
    assert!(
        found.stderr.contains("[x] the skill's type: cli") && found.stderr.contains("[ ] state"),
        "{}",
        found.stderr
    );
    assert_eq!(serde_json::from_str::<Value>(&scratch.read_file("r.json")).unwrap(), result);
}

/// A rule that is often wrong, and a skill in which it finds something.
fn doubtful(scratch: &ScratchFolder) -> &'static ExtractionRule {
    let rule = RULES.iter().find(|rule| !rule.is_confident() && !rule.matches.is_empty()).expect("one is doubtful");
    let (markdown, _) = rule.matches[0];
    let front = "---\nname: unsure\ndescription: Shows things.\n---\n";
    scratch.write_file("unsure/SKILL.md", format!("{front}\nNever delete the cache.\n\n{markdown}\n"));
    rule
}

#[test]
fn the_rule_behind_each_fact_is_named() {
    let scratch = scratch();
    let told = run(&scratch, &["convert", "skills/tool", "--explain"]);
    assert_eq!(told.code, 0, "{told:?}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = told.stdout.lines().map(words).collect();
    assert_eq!(lines[0], ["line", "rule", "sure", "fact", "text"]);
    let never = ["9", "never.marker", "95", "%", "constraints.never[0]", "delete", "the", "cache"];
    assert!(lines.iter().any(|line| *line == never), "{}", told.stdout);
    assert!(lines[1..].iter().all(|line| RULES.iter().any(|rule| rule.id == line[1])), "{}", told.stdout);

    let found = run(&scratch, &["convert", "skills/tool", "--explain", "--json"]);
    let result = json(&found);
    let items = result["items"].as_array().unwrap();
    assert_eq!(items.len() + 1, lines.len());
    let never = items.iter().find(|item| item["path"] == "constraints.never[0]").unwrap();
    assert_eq!((&never["rule"], &never["confidence"]), (&json!("never.marker"), &json!(95)));
    let rule = &result["rules"]["never.marker"];
    assert!(rule["confidence"] == 95 && rule["summary"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");

    // Where the file goes to stdout, it is alone there.
    let file = run(&scratch, &["convert", "skills/tool", "--to", "uasp"]).stdout;
    let both = run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--explain"]);
    assert_eq!(both.stdout, file);
    assert!(
        both.stderr.contains("never.marker") && told.stdout.lines().all(|line| both.stderr.contains(line.trim_end()))
    );
    let apart = run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--explain", "--out", "t.uasp.yaml"]);
    assert_eq!((apart.stdout, scratch.read_file("t.uasp.yaml")), (told.stdout, file));
    let page = ["convert", "skills/tool", "--to", "uasp", "--out", "-", "--report", "t.html"];
    assert_eq!(run(&scratch, &page).code, 0);
    assert!(scratch.read_file("t.html").contains("<code>never.marker</code> 95 %"));
}

#[test]
fn many_skills_are_explained_one_after_the_other() {
    let scratch = scratch();
    let told = run(&scratch, &["convert", "skills/tool", "skills/prose", "--explain"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("delete the cache") && told.stdout.contains("use the word very"), "{}", told.stdout);
    let all = json(&run(&scratch, &["convert", "--all", "--path", "skills", "--explain", "--json"]));
    assert_eq!(all["skills"].as_array().unwrap().len(), 2);
    let batch = ["convert", "--all", "--path", "skills", "--to", "uasp", "--out-dir", "out", "--explain", "--json"];
    let batch = json(&run(&scratch, &batch));
    let facts = batch["skills"].as_array().unwrap().iter().flat_map(|skill| skill["facts"].as_array().unwrap());
    assert!(facts.clone().count() > 5 && facts.clone().all(|fact| fact["rule"].is_string()), "{batch}");
    let unsaid = run(&scratch, &["convert", "skills/tool", "--explain", "--beside"]);
    assert!(unsaid.code == 2 && unsaid.stderr.contains("--to uasp"), "{unsaid:?}");
}

#[test]
fn what_is_doubtful_is_left_out_and_counted_until_it_is_asked_for() {
    let scratch = ScratchFolder::new();
    let rule = doubtful(&scratch);
    let sure = run(&scratch, &["convert", "unsure", "--to", "uasp", "--json"]);
    let result = json(&sure);
    let items = |result: &Value| result["items"].as_array().unwrap().clone();
    assert!(items(&result).iter().all(|item| item["rule"] != rule.id), "{result}");
    let count = result["summary"]["doubtful_left_out"].as_u64().unwrap();
    assert!(count > 0 && result["summary"]["doubtful"] == 0, "{result}");
    let help = result["left_out"]["help"].as_str().unwrap();
    assert!(help.starts_with(&count.to_string()) && help.contains("--include-doubtful"), "{help}");
    assert!(sure.stderr.contains(help), "{}", sure.stderr);

    let with = ["convert", "unsure", "--to", "uasp", "--include-doubtful"];
    let all = json(&run(&scratch, &[&with[..], &["--json"]].concat()));
    let found: Vec<Value> = items(&all).into_iter().filter(|item| item["rule"] == rule.id).collect();
    assert!(!found.is_empty() && found.iter().all(|item| item["needs_review"] == true), "{all}");
    assert_eq!((&all["summary"]["doubtful_left_out"], &all["summary"]["doubtful"]), (&json!(0), &json!(count)));
    assert!(all["summary"]["needs_review"].as_u64() >= Some(count) && all["left_out"].is_null(), "{all}");
    let checklist = all["checklist"].as_array().unwrap();
    assert!(checklist.iter().any(|point| point["note"].as_str().unwrap().contains("to review")), "{all}");

    // The file is marked, valid, and as much in step with its Markdown as the other.
    let file = run(&scratch, &[&with[..], &["--out", "unsure/unsure.uasp.yaml"]].concat());
    assert_eq!(file.code, 0, "{file:?}");
    let text = scratch.read_file("unsure/unsure.uasp.yaml");
    assert_eq!(text.matches("# Doubtful, to be reviewed: ").count() as u64, count, "{text}");
    assert!(text.contains(&format!("rule {})", rule.id)), "{text}");
    assert_eq!(run(&scratch, &["hash", "unsure/unsure.uasp.yaml", "--check"]).code, 0);
    assert_eq!(run(&scratch, &["convert", "--check", "unsure"]).code, 0);
    let model = run(&scratch, &[&with[..], &["--engine", "llm"]].concat());
    assert!(model.code == 2 && model.stderr.contains("omit the option"), "{model:?}");
}

#[test]
fn a_file_with_doubtful_facts_replaces_the_one_without() {
    let scratch = ScratchFolder::new();
    doubtful(&scratch);
    let convert = |more: &[&str]| {
        let all = ["convert", "--all", "--path", "unsure", "--to", "uasp", "--out-dir", "out", "--json"];
        json(&run(&scratch, &[&all[..], more].concat()))["summary"]["written"].clone()
    };
    let written = [&[][..], &[], &["--include-doubtful"], &["--include-doubtful"], &[]].map(convert);
    assert_eq!(written, [json!(1), json!(0), json!(1), json!(0), json!(1)]);
}

#[test]
fn a_dash_stands_for_stdout() {
    let scratch = scratch();
    let plain = run(&scratch, &["convert", "skills/tool", "--to", "uasp"]).stdout;
    assert_eq!(run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--out", "-"]).stdout, plain);
    scratch.write_file("tool.uasp.yaml", &plain);
    let back = run(&scratch, &["convert", "tool.uasp.yaml", "--to", "markdown", "--out", "-"]);
    assert!(back.stdout.starts_with("---\nname: tool\n"), "{back:?}");
    assert!(!scratch.work_folder().join("-").exists());
}

#[test]
fn a_skill_that_gives_no_valid_file_says_why() {
    let scratch = ScratchFolder::new();
    scratch.write_file("odd/SKILL.md", "---\nname: odd\ndescription: [unclosed\n---\n\n- Never guess.\n");
    let found = run(&scratch, &["convert", "odd", "--to", "uasp", "--json"]);
    let result = json(&found);
    // Broken frontmatter costs its fields, not the rules below it; either way the reader hears of it.
    assert!(found.stdout.contains("SKILL.md:"), "{}", found.stdout);
    assert_eq!(found.code, i32::from(result["valid"] == json!(false)));
    scratch.write_file("empty/x.txt", "");
    for path in ["empty", "nowhere/SKILL.md"] {
        let found = run(&scratch, &["convert", path, "--to", "uasp", "--json"]);
        assert_eq!((found.code, &json(&found)["status"]), (2, &json!("error")), "{path}");
    }
    let lone = run(&scratch, &["convert", "odd", "--to", "uasp", "--report", "r.txt"]);
    assert!(lone.code == 2 && lone.stderr.contains(".html"), "{lone:?}");
}

/// Whatever a skill says, the page for people stays a page.
#[test]
fn the_page_is_one_file_and_shows_text_as_text() {
    let scratch = ScratchFolder::new();
    let body = "# T\n\n- Never trust <script>alert(1)</script> & \"quotes\" or </pre></style>.\n- Never write \u{202e}backwards.\n";
    scratch.write_file(
        "t/SKILL.md",
        format!("---\nname: t\ndescription: <img src=x onerror=alert(1)> shows.\n---\n\n{body}"),
    );
    assert_eq!(run(&scratch, &["convert", "t", "--to", "uasp", "--out", "t.uasp.yaml", "--report", "t.html"]).code, 0);
    let page = scratch.read_file("t.html");
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
    assert!(page.contains("prefers-color-scheme: dark"));
    for mark in ["<script", "<img", "onerror=alert(1)>", "http://", "https://", "\u{202e}", "<link", "@import"] {
        assert!(!page.contains(mark), "{mark}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;"));
    assert!(page.contains("id=\"L8\"") && page.contains("href=\"#L8\""), "{page}");
    assert_eq!(page.matches("<style>").count(), 1);
    assert_eq!(page.matches("</style>").count(), 1);
}

#[test]
fn a_library_is_converted_and_what_is_in_step_left_alone() {
    let scratch = scratch();
    scratch.write_file("skills/bad/SKILL.md", [0xff_u8, 0xfe, 0x00]);
    scratch.write_file("skills/twin/SKILL.md", TOOL);
    scratch.write_file("skills/tool/inner/SKILL.md", "---\nname: inner\ndescription: Inside.\n---\n\n- Never shout.\n");
    scratch.write_file("skills/done.uasp.yaml", "meta: {name: done, version: \"0\", type: knowledge}\n");
    let all = ["convert", "--all", "--path", "skills", "--to", "uasp", "--out-dir", "out", "--json"];
    let first = run(&scratch, &all);
    let summary = json(&first)["summary"].clone();
    assert_eq!((&summary["skills"], &summary["passed_over"]), (&json!(6), &json!(1)), "{summary}");
    let written = summary["written"].as_u64().unwrap();
    assert!(written >= 4, "{summary}");
    assert_eq!(first.code, i32::from(summary["failed"] != json!(0)));
    // Two skills of one name keep apart.
    assert!(scratch.read_file("out/prose.uasp.yaml").contains("name: prose"));
    assert!(scratch.read_file("out/inner.uasp.yaml").contains("name: inner"));
    assert_eq!(
        scratch.read_file("out/skills/tool/tool.uasp.yaml"),
        scratch.read_file("out/skills/twin/tool.uasp.yaml")
    );
    let again = json(&run(&scratch, &all))["summary"].clone();
    assert_eq!((&again["written"], &again["in_step"]), (&json!(0), &json!(written)), "{again}");

    // A changed Markdown is converted again; where the file was improved by hand, only by force.
    scratch.write_file(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes prose.\n---\n\n- Never use the word really.\n",
    );
    let changed = json(&run(&scratch, &all))["summary"].clone();
    assert_eq!((&changed["written"], &changed["in_step"]), (&json!(1), &json!(written - 1)), "{changed}");
    let improved = scratch.read_file("out/prose.uasp.yaml").replace("the word really", "the word `really`, ever");
    scratch.write_file("out/prose.uasp.yaml", &improved);
    assert_eq!(json(&run(&scratch, &all))["summary"]["written"], 0);
    scratch.write_file(
        "skills/prose/SKILL.md",
        "---\nname: prose\ndescription: Writes prose.\n---\n\n- Never use the word quite.\n",
    );
    let refused = run(&scratch, &all);
    assert_eq!((refused.code, scratch.read_file("out/prose.uasp.yaml")), (1, improved));
    assert!(refused.stdout.contains("EDITED"), "{}", refused.stdout);
    let forced: Vec<&str> = all.iter().copied().chain(["--force"]).collect();
    run(&scratch, &forced);
    assert!(scratch.read_file("out/prose.uasp.yaml").contains("quite"));
}

#[test]
fn several_skills_need_a_folder_and_one_bad_never_stops_the_rest() {
    let scratch = scratch();
    let found = run(&scratch, &["convert", "skills/tool", "skills/prose", "--to", "uasp"]);
    assert!(found.code == 2 && found.stderr.contains("--out-dir"), "{found:?}");
    scratch.write_file("lone.uasp.yaml", "meta: {name: lone}\n");
    let found =
        run(&scratch, &["convert", "lone.uasp.yaml", "skills/tool", "skills/prose", "--to", "uasp", "--beside"]);
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.stderr.contains("2 written") && found.stderr.contains("1 failed"), "{}", found.stderr);
    assert!(scratch.read_file("skills/tool/tool.uasp.yaml").contains("name: tool"));
}

/// For CI: a file that was improved by hand is in step until its Markdown says something else.
#[test]
fn a_file_is_in_step_until_its_markdown_says_something_else() {
    let scratch = scratch();
    let check = |more: &[&str]| {
        let arguments: Vec<&str> =
            ["convert", "--check", "skills/tool", "--json"].iter().chain(more).copied().collect();
        let found = run(&scratch, &arguments);
        (found.code, json(&found)["skills"][0].clone())
    };
    assert_eq!((check(&[]).0, &check(&[]).1["status"]), (1, &json!("missing")));
    assert_eq!(run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--beside"]).code, 0);
    assert_eq!((check(&[]).0, &check(&[]).1["status"]), (0, &json!("in_step")));

    // Improved by hand: fine, for ever.
    let file = "skills/tool/tool.uasp.yaml";
    scratch.write_file(file, scratch.read_file(file).replace("delete the cache", "delete the cache, not even once"));
    assert_eq!((check(&[]).0, &check(&[]).1["status"]), (0, &json!("edited")));

    // Words that change no fact: still fine.
    scratch.write_file("skills/tool/SKILL.md", TOOL.replace("# Tool\n", "# Tool\n\nA word of welcome.\n"));
    assert_eq!((check(&[]).0, &check(&[]).1["status"]), (0, &json!("edited")));

    // A new rule, a changed command and a lost step: told by section and item.
    let changed = TOOL.replace("Never delete the cache.", "Never delete the cache. Never skip the tests.");
    let changed =
        changed.replace("tool open <url> ", "tool open <url> --wait <ms> ").replace("2. Tag it", "2. Sign it");
    scratch.write_file("skills/tool/SKILL.md", &changed);
    let (code, row) = check(&[]);
    assert_eq!((code, &row["status"]), (1, &json!("out_of_step")));
    let told: Vec<&Value> = row["differences"].as_array().unwrap().iter().collect();
    let has = |at: &str, side: &str, text: &str| {
        told.iter().any(|one| one["at"] == at && one[side].to_string().contains(text))
    };
    assert!(has("constraints.never", "markdown", "skip the tests"), "{row:#}");
    assert!(has("commands.open.syntax", "markdown", "--wait"), "{row:#}");
    assert!(has("workflows.release.steps", "uasp", "Tag it"), "{row:#}");
    let words = run(&scratch, &["convert", "--check", "skills/tool"]);
    assert!(words.stderr.contains("+ constraints.never: skip the tests"), "{}", words.stderr);

    // Looked at and accepted: in step from now on, not a letter of the content changed.
    let before = scratch.read_file(file);
    assert_eq!((check(&["--accept"]).0, &check(&[]).1["status"]), (0, &json!("in_step")));
    let after = scratch.read_file(file);
    assert_ne!(before, after);
    assert_eq!(before.split_once('\n').unwrap().1, after.split_once('\n').unwrap().1);
}

/// A file written by hand has no stamp, so its facts are compared.
#[test]
fn a_file_without_a_stamp_is_compared_fact_by_fact() {
    let scratch = scratch();
    assert_eq!(run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--beside"]).code, 0);
    let file = "skills/tool/tool.uasp.yaml";
    let bare = scratch.read_file(file).split_once('\n').unwrap().1.to_owned();
    scratch.write_file(file, &bare);
    assert_eq!(run(&scratch, &["convert", "--check", "skills/tool"]).code, 0);
    scratch.write_file(file, bare.replace("delete the cache", "touch the cache"));
    let found = run(&scratch, &["convert", "--check", "skills"]);
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.stderr.contains("1 missing") && found.stderr.contains("1 out of step"), "{}", found.stderr);
    scratch.write_file(file, "a: [");
    assert_eq!(run(&scratch, &["convert", "--check", "skills/tool"]).code, 1);
}

/// There and back: the result is a skill, and says the same.
#[test]
fn markdown_made_from_uasp_is_a_skill_and_converts_back() {
    let scratch = scratch();
    assert_eq!(run(&scratch, &["convert", "skills/tool", "--to", "uasp", "--out", "tool.uasp.yaml"]).code, 0);
    let back = run(&scratch, &["convert", "tool.uasp.yaml", "--to", "markdown", "--out", "back/tool/SKILL.md"]);
    assert_eq!(back.code, 0, "{back:?}");
    let checked = run(&scratch, &["check", "back/tool", "--profile", "agentskills", "--format", "json"]);
    assert_eq!(json(&checked)["summary"]["errors"], 0, "{}", checked.stdout);
    let again = run(&scratch, &["convert", "back/tool", "--to", "uasp"]);
    let content = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(content(&again.stdout), content(&scratch.read_file("tool.uasp.yaml")));
    // A line a person adds in the same layout is read with the rest.
    let text = scratch
        .read_file("back/tool/SKILL.md")
        .replace("- delete the cache\n", "- delete the cache\n- skip the tests\n");
    scratch.write_file("back/tool/SKILL.md", text);
    let more = run(&scratch, &["query", "tool:constraints.never", "--path", "back"]);
    assert_eq!(json(&more)["value"], json!(["delete the cache", "skip the tests"]));
}

/// Every skill of the corpus becomes a file without errors.
#[test]
fn the_whole_corpus_converts() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/skills");
    if !corpus.is_dir() {
        rep_test_support::report_skipped("../shared/corpus is not here, so no real skill was converted");
        return;
    }
    let scratch = ScratchFolder::new();
    let path = corpus.to_string_lossy().into_owned();
    let found = run(&scratch, &["convert", "--all", "--path", &path, "--to", "uasp", "--out-dir", "out", "--json"]);
    let summary = json(&found)["summary"].clone();
    assert_eq!((found.code, &summary["failed"]), (0, &json!(0)), "{}", found.stderr);
    assert!(summary["written"].as_u64().unwrap() >= 440, "{summary}");
    let checked = run(&scratch, &["check", "out", "--profile", "uasp", "--strict-schema", "--format", "json"]);
    assert_eq!(json(&checked)["summary"]["errors"], 0, "{}", checked.stdout);
}

#[test]
fn a_device_is_not_replaced_a_mode_stays_and_a_failure_is_one_document() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = ScratchFolder::new();
    scratch.write_file(
        "a/SKILL.md",
        "---\nname: a\ndescription: Does a. Use when testing a.\n---\n\nNever delete the log.\n",
    );
    let pipe = scratch.work_folder().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = run(&scratch, &["convert", "a", "--to", "uasp", "--out", "pipe", "--force", "--json"]);
    assert_eq!((refused.code, &json(&refused)["error"]["code"]), (2, &"UNWRITABLE".into()), "{refused:?}");
    assert!(!pipe.is_file());
    let file = scratch.write_file("own.uasp.yaml", "x");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let out = ["convert", "a", "--to", "uasp", "--out", "own.uasp.yaml", "--json"];
    // One document, whatever happens: what cannot be parsed as one fails here.
    assert_eq!(json(&run(&scratch, &out))["error"]["code"], "EXISTS");
    assert_eq!(run(&scratch, &[&out[..], &["--force"]].concat()).code, 0);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_interrupted_batch_keeps_what_was_done_and_goes_on_there() {
    let scratch = ScratchFolder::new();
    for number in 0..400 {
        let rules: String = (0..200).map(|rule| format!("- Never delete file {rule} of {number}.\n")).collect();
        scratch.write_file(
            &format!("lib/s{number}/SKILL.md"),
            format!("---\nname: s{number}\ndescription: Does {number}. Use when testing.\n---\n\n## Rules\n\n{rules}"),
        );
    }
    let words = ["convert", "--all", "--path", "lib", "--to", "uasp", "--out-dir", "out"];
    let out = scratch.work_folder().join("out");
    let files = || std::fs::read_dir(&out).map_or(0, |all| all.filter_map(Result::ok).count());
    let mut child = std::process::Command::new(rep())
        .args(words)
        .current_dir(scratch.work_folder())
        .env("HOME", scratch.work_folder().parent().unwrap().join("home"))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("a first file is written", DEADLINE, || files() > 0);
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("of 400 skills; run it again"), "{said}");
    let done = files();
    assert!(
        done < 400 && std::fs::read_dir(&out).unwrap().all(|one| one.unwrap().path().extension().unwrap() == "yaml")
    );
    let again = run(&scratch, &words);
    assert!(again.code == 0 && again.stderr.contains(&format!("{done} up to date")), "{again:?}");
    assert_eq!(files(), 400);
}
