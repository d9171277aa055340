use rep_model::{Skill, SkillTree};
use serde_json::json;

use super::expectation::{CaseExpectations, TestOutput};
use super::*;

const CONFIG_1: (&str, &str) = (TEST_CONFIG_PATH, "{\"version\": 1}");

fn trials(files: &[(&str, &str)]) -> SkillTests {
    let (skill, _) = Skill::parse(SkillTree::from_texts("s", files));
    SkillTests::from_tree(&skill.tree, skill.frontmatter())
}

/// Returns the mistakes of one case.
fn mistakes(case: &str) -> Vec<String> {
    let trials = trials(&[CONFIG_1, ("tests/cases/a.yaml", case), ("tests/fixtures/x", "x")]);
    match &trials.tests[0].action {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.iter().map(|mistake| format!("{mistake}; {}", mistake.remedy)).collect(),
    }
}

fn told(expected: &Value, got: &Value) -> Vec<String> {
    let expected = CaseExpectations { stdout_json: Some(expected.clone()), ..CaseExpectations::default() };
    let said = TestOutput { stdout: got.to_string(), code: Some(0), ..TestOutput::default() };
    expected.find_failures(&said).into_iter().map(|mismatch| mismatch.message).collect()
}

#[test]
fn cases_are_yaml_files_in_the_order_of_their_stems() {
    let case = "name: x\ninput: {command: \"true\"}\n";
    let trials = trials(&[
        CONFIG_1,
        ("tests/cases/a-b.yaml", case),
        ("tests/cases/a.yaml", case),
        ("tests/cases/b.yml", case),
        ("tests/cases/c.json", case),
        ("tests/cases/.d.yaml", case),
        ("tests/cases/more/e.yaml", case),
        ("tests/f.yaml", case),
    ]);
    let stems: Vec<&str> = trials.tests.iter().map(|trial| trial.case.as_str()).collect();
    assert_eq!(stems, ["a", "a-b"]);
    assert_eq!(trials.notes.len(), 1, "{:?}", trials.notes);
}

#[test]
fn a_case_says_what_is_wrong_with_it_and_where() {
    for (case, words) in [
        ("input: {command: x}", "a.yaml:1: has no `name`"),
        ("name: Bad Name\ninput: {command: x}", "`name` is `Bad Name`"),
        ("name: a\ninput: {}", "has no `input.command`"),
        ("name: a\n", "has no `input`"),
        (
            "name: a\ninput:\n  command: x\n  stdn: y",
            "a.yaml:4: `input.stdn` is not a field of a case; did you mean `stdin`?",
        ),
        ("name: a\ninput: {command: x}\nexpected: {stdout-contain: [x]}", "did you mean `stdout-contains`?"),
        ("name: a\ninput: {command: x}\nexpceted: {}", "did you mean `expected`?"),
        ("name: a\ninput: {command: x}\nexpected: {stdout-contains: x}", "is text, not a list"),
        ("name: a\ninput: {command: x}\nexpected: {stdout-contains: [\"\"]}", "contains an empty string"),
        ("name: a\ninput: {command: x}\nexpected: {stdout-json: }", "`expected.stdout-json` is empty"),
        ("name: a\ninput: {command: x}\nexpected: {exit-code: \"3\"}", "`expected.exit-code` is `3`"),
        ("name: a\ninput: {command: x}\nexpected: {exit-code: 256}", "whole number"),
        ("name: a\nname: b\ninput: {command: x}", "duplicate key `name`"),
        ("name: a\ninput: {command: \"a\\0b\"}", "contains a NUL"),
        ("name: a\ninput: {command: [x]}", "`input.command` is a list"),
        ("name: a\ninput: {command: x, files: [tests/none]}", "the fixture `tests/none` is missing"),
        ("name: a\ninput: {command: x, files: [../x]}", "outside the skill"),
        ("name: a\ninput: {command: x, files: [/etc/passwd]}", "outside the skill"),
        ("name: [", "is not valid YAML"),
        ("- a", "is not a mapping"),
    ] {
        let found = mistakes(case);
        assert!(found.iter().any(|mistake| mistake.contains(words)), "{case:?}: {found:?}");
    }
    assert!(mistakes("name: a\ninput: {command: x, stdin: null, files: [tests/fixtures/x]}\nowner: me").is_empty());
}

#[test]
fn settings_are_held_to_their_version_and_shape() {
    for (config, words) in [
        ("{}", "has no `version`"),
        ("{\n\"version\": 2}", "test-config.json:2: `version` is 2"),
        ("{\"version\": \"1\"}", "not a number"),
        ("{\"version\": true}", "not a number"),
        ("[]", "is not an object"),
        ("{", "is not valid JSON"),
        ("{\"version\": 1, \"timeout\": 0}", "`timeout` is 0"),
        ("{\"version\": 1, \"timeout\": \"5\"}", "`timeout` is \"5\""),
        ("{\"version\": 1, \"env\": []}", "`env` is not an object"),
        ("{\"version\": 1, \"env\": {\"A\": null}}", "`A` is not text"),
        ("{\"version\": 1, \"env\": {\"PATH\": \"/x\"}}", "set by the runtime"),
        ("{\"version\": 1, \"env\": {\"A=B\": \"x\"}}", "not a valid variable name"),
    ] {
        let found: Vec<String> = read_config(config).unwrap_err().iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|mistake| mistake.contains(words)), "{config}: {found:?}");
    }
    let (config, notes) = read_config("{\"version\": 1.0, \"timeout\": 0.5, \"env\": {\"N\": 3}, \"x\": 1}").unwrap();
    assert_eq!((config.timeout_ms, notes.len()), (500, 1));
    assert_eq!(config.variables, [("N".to_owned(), "3".to_owned())]);
    assert_eq!(read_config("{\"version\": 1}").unwrap().0.timeout_ms, 30_000);
}

#[test]
fn cases_need_settings_and_settings_need_no_cases() {
    let alone = trials(&[("tests/cases/a.yaml", "name: a\ninput: {command: x}")]);
    assert!(alone.config_errors[0].message.contains("is missing"), "{:?}", alone.config_errors);
    assert!(trials(&[CONFIG_1]).config_errors.is_empty());
}

#[test]
fn json_is_compared_deeply_and_in_part() {
    let got = json!({"a": {"b": 1, "c": 2}, "l": [{"x": 1, "y": 2}], "t": true, "n": null});
    for expected in [
        json!({}),
        json!({"a": {"b": 1}}),
        json!({"a": {"b": 1.0}}),
        json!({"l": [{"x": 1}]}),
        json!({"n": null, "t": true}),
    ] {
        assert_eq!(told(&expected, &got), Vec::<String>::new(), "{expected}");
    }
    for (expected, words) in [
        (json!({"a": {"b": "1"}}), "`$.a.b` is 1, expected \"1\""),
        (json!({"t": 1}), "`$.t` is true, expected 1"),
        (json!({"m": null}), "`$.m` is missing, expected null"),
        (json!({"l": []}), "`$.l[0]` is {\"x\":1,\"y\":2}, which is not expected"),
        (json!({"l": [{"x": 1}, 3]}), "`$.l[1]` is missing, expected 3"),
        (json!([]), "`$` is {"),
        (json!({"a b": 1}), "`$[\"a b\"]` is missing"),
    ] {
        let found = told(&expected, &got);
        assert!(found.len() == 1 && found[0].contains(words), "{expected}: {found:?}");
    }
    assert!(told(&json!([1, 2]), &json!([2, 1])).len() == 2, "order counts");
}

#[test]
fn a_text_that_is_missing_comes_with_the_nearest_line() {
    let expected =
        CaseExpectations { stdout_contains: vec!["total: 13 rows".to_owned()], ..CaseExpectations::default() };
    let said = TestOutput { stdout: "head\ntotal: 12 rows\n".to_owned(), code: Some(0), ..TestOutput::default() };
    let found = expected.find_failures(&said);
    assert_eq!(found[0].got, Some("total: 12 rows".into()));
    let on_stderr = TestOutput { stderr: "total: 13 rows".to_owned(), code: Some(0), ..TestOutput::default() };
    assert_eq!(expected.find_failures(&on_stderr).len(), 1, "stderr is not stdout");
}

#[test]
fn smoke_tests_are_read_with_their_faults() {
    let skill = "---\nname: s\ndescription: d\nevaluation:\n  smoke_tests:\n    - {name: one, tool: t, input: {a: 1}, expect: {b: 2}}\n    - {tool: t}\n    - {name: three, tool: t, expects: {b: 2}}\n    - {name: one}\n---\n";
    let trials = trials(&[("SKILL.md", skill)]);
    let found: Vec<(&str, bool)> =
        trials.tests.iter().map(|trial| (trial.case.as_str(), trial.action.is_ok())).collect();
    assert_eq!(found, [("smoke:one", true), ("smoke:2", true), ("smoke:three", false), ("smoke:4", false)]);
}

#[test]
fn evals_are_counted_and_held_to_their_shape() {
    let good =
        r#"{"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expected_output": "o", "assertions": ["a"]}]}"#;
    assert_eq!(trials(&[(EVALS_PATH, good)]).evals.unwrap().evals[0].assertions, ["a"]);
    for bad in ["{}", "[", r#"{"skill_name": "s", "evals": [{"prompt": "p"}]}"#, r#"{"evals": []}"#] {
        let trials = trials(&[(EVALS_PATH, bad)]);
        assert!(trials.evals.is_none() && !trials.notes.is_empty(), "{bad}: {:?}", trials.notes);
    }
}

#[test]
fn statements_that_leave_no_room_are_graded_and_others_wait_for_a_judge() {
    let files = std::collections::BTreeSet::from(["chart.png".to_owned()]);
    let graded = |statement: &str| {
        let grades = grade::grade_answer(&[statement.to_owned()], "Total: {} for March", &files);
        grades[0].passed
    };
    for (statement, passed) in [
        ("The output contains \"March\"", Some(true)),
        ("The answer mentions `april`.", Some(false)),
        ("The response does not contain \"April\"", Some(true)),
        ("The file `chart.png` exists", Some(true)),
        ("A file named \"chart.svg\" is created", Some(false)),
        ("The output is valid JSON", Some(false)),
        ("The output contains \"March\" twice", None),
        ("The chart has labeled axes", None),
        ("The output contains \"a\" or \"b\"", None),
    ] {
        assert_eq!(graded(statement), passed, "{statement}");
    }
    let summary = grade::grading_json(&grade::grade_answer(&["It is good".to_owned()], "", &files));
    assert_eq!((&summary["summary"]["ungraded"], &summary["summary"]["pass_rate"]), (&json!(1), &Value::Null));
    let run = |pass_rate, seconds| grade::EvalMeasurement { pass_rate: Some(pass_rate), seconds, tokens: None };
    let benchmark = grade::benchmark_json(&[run(1.0, 3.0), run(0.5, 5.0)], &[run(0.25, 1.0)]);
    let summary = &benchmark["run_summary"];
    assert_eq!(summary["with_skill"]["pass_rate"], json!({"mean": 0.75, "stddev": 0.25}));
    assert_eq!(summary["delta"], json!({"pass_rate": 0.5, "time_seconds": 3.0, "tokens": null}));
}
