//! The formats of `rep check` for CI systems: each finding once, escaped, with paths that the system knows.

use insta::assert_snapshot;
use rep_test_support::ScratchFolder;

use super::{GOOD, json, run};

const TEXT: &str = "---\nname: pdf\ndescription: Fills <b>forms</b> & \"more\". Use when: a form comes.\nallowed-tools: Read, Write\n---\n\nSee [a](a&b.md).\n";

fn scratch() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/pdf/SKILL.md", TEXT);
    scratch
}

fn output(scratch: &ScratchFolder, format: &str) -> String {
    run(scratch, &["check", "skills", "--format", format]).stdout
}

#[test]
fn concise_has_one_line_for_each_finding() {
    assert_snapshot!(output(&scratch(), "concise"), @"
    skills/pdf/SKILL.md:3:14: error[yaml-value-unquoted] `description` must be quoted: it contains `: ` [fixable]
    skills/pdf/SKILL.md:3:20: warning[description-xml-tag] `description` contains the tag `<b>`
    skills/pdf/SKILL.md:4:16: info[allowed-tools-commas] `allowed-tools` separates tools with commas [fixable]
    skills/pdf/SKILL.md:7:5: warning[link-target-missing] linked file `a&b.md` does not exist
    ");
}

#[test]
fn junit_has_one_case_for_each_finding() {
    let scratch = scratch();
    assert_snapshot!(output(&scratch, "junit"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="rep check" tests="4" failures="3" errors="0">
      <testsuite name="skills/pdf/SKILL.md" tests="4" failures="3" errors="0" skipped="1">
        <testcase name="yaml-value-unquoted:3:14" classname="skills/pdf/SKILL.md"><failure type="error" message="`description` must be quoted: it contains `: `">skills/pdf/SKILL.md:3:14&#10;help: put the value in quotes</failure></testcase>
        <testcase name="description-xml-tag:3:20" classname="skills/pdf/SKILL.md"><failure type="warning" message="`description` contains the tag `&lt;b&gt;`">skills/pdf/SKILL.md:3:20&#10;help: remove the angle brackets</failure></testcase>
        <testcase name="allowed-tools-commas:4:16" classname="skills/pdf/SKILL.md"><skipped message="`allowed-tools` separates tools with commas"/></testcase>
        <testcase name="link-target-missing:7:5" classname="skills/pdf/SKILL.md"><failure type="warning" message="linked file `a&amp;b.md` does not exist">skills/pdf/SKILL.md:7:5&#10;help: add the file, or fix the link; paths are relative to the skill's directory</failure></testcase>
      </testsuite>
    </testsuites>
    "#);
    scratch.write_file("skills/pdf/SKILL.md", GOOD);
    assert_snapshot!(output(&scratch, "junit"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="rep check" tests="1" failures="0" errors="0">
      <testsuite name="rep check" tests="1" failures="0" errors="0" skipped="0">
        <testcase name="1 skills without findings" classname="rep check"/>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn gitlab_has_fingerprints_that_survive_a_moved_line() {
    let scratch = scratch();
    let issues: serde_json::Value = serde_json::from_str(&output(&scratch, "gitlab")).unwrap();
    let fingerprints = |issues: &serde_json::Value| -> Vec<String> {
        issues.as_array().unwrap().iter().map(|issue| issue["fingerprint"].to_string()).collect()
    };
    let first = &issues[0];
    assert_eq!(first["location"]["path"], "skills/pdf/SKILL.md");
    assert!(first["location"]["lines"]["begin"].is_u64() && first["severity"].is_string(), "{first}");
    let before = fingerprints(&issues);
    let mut distinct = before.clone();
    distinct.sort();
    distinct.dedup();
    assert!(!before.is_empty() && distinct.len() == before.len(), "{before:?}");
    scratch.write_file("skills/pdf/SKILL.md", TEXT.replace("---\nname", "---\n# moved\nname"));
    let moved: serde_json::Value = serde_json::from_str(&output(&scratch, "gitlab")).unwrap();
    assert_eq!(fingerprints(&moved), before);
    scratch.write_file("skills/pdf/SKILL.md", GOOD);
    assert_eq!(output(&scratch, "gitlab"), "[]\n");
}

#[test]
fn sarif_has_fingerprints_fixes_and_relative_paths() {
    let scratch = scratch();
    let absolute = scratch.work_folder().join("skills");
    for path in ["skills", absolute.to_str().unwrap()] {
        let log = json(&run(&scratch, &["check", path, "--format", "sarif"]));
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        for result in results {
            let file = &result["locations"][0]["physicalLocation"]["artifactLocation"];
            assert_eq!(file["uri"], "skills/pdf/SKILL.md", "{result}");
            assert_eq!(file["uriBaseId"], "%SRCROOT%");
            assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string(), "{result}");
            let rule = &run["tool"]["driver"]["rules"][usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(rule["helpUri"].as_str().unwrap().contains(':'), "{rule}");
        }
        let fixed = results.iter().find(|result| result["ruleId"] == "allowed-tools-commas").unwrap();
        let fix = &fixed["fixes"][0];
        assert_eq!(fix["properties"]["applicability"], "safe");
        let change = &fix["artifactChanges"][0];
        assert_eq!(change["artifactLocation"]["uri"], "skills/pdf/SKILL.md");
        let replacement = &change["replacements"][0];
        assert_eq!(replacement["insertedContent"]["text"], "Read Write");
        assert_eq!(
            replacement["deletedRegion"],
            serde_json::json!({"startLine": 4, "startColumn": 16, "endLine": 4, "endColumn": 27})
        );
    }
}

#[test]
fn a_report_without_findings_is_complete_in_every_format() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    for (format, expected) in [("concise", ""), ("github", ""), ("gitlab", "[]\n")] {
        assert_eq!(run(&scratch, &["check", "--format", format]).stdout, expected, "{format}");
    }
    let log = json(&run(&scratch, &["check", "--format", "sarif"]));
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    assert_eq!(json(&run(&scratch, &["check", "--format", "json"]))["findings"], serde_json::json!([]));
}

#[test]
fn many_notes_of_a_rule_are_shortened_in_text_only() {
    let scratch = ScratchFolder::new();
    let write = |number: usize| {
        let text = format!(
            "---\nname: s{number}\ndescription: Fills forms. Use for forms.\nversion: 1.0.0\n---\n\n# S\n\nDo.\n"
        );
        scratch.write_file(&format!("s{number}/SKILL.md"), text);
    };
    let shown = |arguments: &[&str]| {
        let found = run(&scratch, &[&["check"], arguments].concat());
        assert_eq!(found.code, 0, "{found:?}");
        (found.stdout.matches("info[field-unknown]: field `version`").count(), found.stdout)
    };
    (0..10).for_each(write);
    assert_eq!(shown(&[]).0, 10);
    write(10);
    let (count, text) = shown(&[]);
    assert_eq!(count, 5);
    assert!(
        text.contains("info[field-unknown]: 6 more notes; `rep check --select field-unknown` shows all\n"),
        "{text}"
    );
    assert!(text.ends_with("checked 11 skills: 11 notes\n"), "{text}");
    assert_eq!((shown(&["-v"]).0, shown(&["--select", "field-unknown"]).0), (11, 11));
    let (_, json) = shown(&["--format", "json"]);
    assert_eq!(json.matches("\"field-unknown\"").count(), 11);
}
