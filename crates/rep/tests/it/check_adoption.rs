//! `rep check` in a repository that already has findings: baselines, exclusions, settings of paths, changed files, and
//! what makes a check fail.
#![expect(clippy::unwrap_used, reason = "all of this is a test, its helpers too")]

use rep_test_support::{ScratchFolder, TestRepository};

use super::{GOOD, json, rules, run};

/// A skill with one error and one warning.
fn faulty(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: ''\ncompatibility: [a]\n---\n\n# {name}\n\nDo it. See [this](missing.md).\n"
    )
}

/// The rules and files that a check reports.
fn found(scratch: &ScratchFolder, arguments: &[&str]) -> Vec<(String, String)> {
    let report = json(&run(scratch, &[&["check", "--format", "json"], arguments].concat()));
    let word = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| (word(finding, "rule"), word(finding, "file"))).collect()
}

#[test]
fn known_findings_are_not_reported_and_new_ones_are() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/a/SKILL.md", faulty("a"));
    let baseline = ["--baseline", "known.json"];
    let missing = run(&scratch, &["check", "--baseline", "known.json"]);
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(missing.stderr.contains("--write-baseline"), "{missing:?}");

    let written = run(&scratch, &["check", "--baseline", "known.json", "--write-baseline"]);
    assert_eq!((written.code, written.stdout.as_str()), (0, "checked 1 skill: no findings\n"), "{written:?}");
    assert!(written.stderr.contains("wrote 3 findings to `known.json`"), "{written:?}");
    assert_eq!(found(&scratch, &baseline), []);

    // Lines move, and from another directory the same files are meant.
    scratch.write_file("skills/a/SKILL.md", faulty("a").replace("---\nname", "---\n# moved\n\nname"));
    assert_eq!(found(&scratch, &baseline), []);
    let work = scratch.work_folder();
    let absolute = work.join("skills/a");
    assert_eq!(found(&scratch, &[absolute.to_str().unwrap(), "--baseline", "skills/../known.json"]), []);

    // What a finding is about changes.
    let other = faulty("a").replace("missing.md", "gone.md");
    scratch.write_file("skills/a/SKILL.md", &other);
    let link = ("link-target-missing".to_owned(), "skills/a/SKILL.md".to_owned());
    assert_eq!(found(&scratch, &baseline), [link]);
    // A finding is known as often as it was written.
    scratch.write_file("skills/b/SKILL.md", faulty("b"));
    assert_eq!(found(&scratch, &baseline).len(), 4);
    assert_eq!(run(&scratch, &["check", "--baseline", "known.json"]).code, 1);
}

#[test]
fn findings_that_no_longer_occur_expire() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/a/SKILL.md", faulty("a"));
    scratch.write_file("skills/b/SKILL.md", faulty("b"));
    run(&scratch, &["check", "--baseline", "known.json", "--write-baseline"]);
    scratch.write_file("skills/a/SKILL.md", GOOD.replace("name: pdf", "name: a"));
    let stale = run(&scratch, &["check", "--baseline", "known.json"]);
    assert_eq!(stale.code, 0);
    assert!(stale.stderr.contains("3 findings of `known.json` no longer occur"), "{stale:?}");
    // A check of another part says nothing about it, and keeps it.
    let part = run(&scratch, &["check", "skills/b", "--baseline", "known.json", "--write-baseline"]);
    assert!(part.stderr.contains("wrote 6 findings") && !part.stderr.contains("no longer"), "{part:?}");
    let selected =
        run(&scratch, &["check", "--select", "name-missing", "--baseline", "known.json", "--write-baseline"]);
    assert!(selected.stderr.contains("wrote 6 findings"), "{selected:?}");
    let all = run(&scratch, &["check", "--baseline", "known.json", "--write-baseline"]);
    assert!(all.stderr.contains("wrote 3 findings to `known.json`; 3 no longer there"), "{all:?}");
    // The same findings give the same file.
    let before = scratch.read_file("known.json");
    run(&scratch, &["check", "--baseline", "known.json", "--write-baseline"]);
    assert_eq!(scratch.read_file("known.json"), before);
}

#[test]
fn a_file_that_is_no_baseline_is_refused() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    for (text, reason) in [
        ("not json", "is not a baseline"),
        ("{}", "has no `version`"),
        ("{\"version\": 2, \"findings\": []}", "version 2"),
        ("{\"version\": 1, \"findings\": [{\"rule\": \"x\"}]}", "findings[0]"),
    ] {
        scratch.write_file("known.json", text);
        for more in [&[][..], &["--write-baseline"]] {
            let found = run(&scratch, &[&["check", "--baseline", "known.json"], more].concat());
            assert!(found.code == 2 && found.stderr.contains(reason), "{text}: {found:?}");
        }
        assert_eq!(scratch.read_file("known.json"), text, "a file that is not ours is kept");
    }
}

#[test]
fn excluded_skills_and_files_are_not_checked() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/a/SKILL.md", faulty("a"));
    scratch.write_file("vendor/b/SKILL.md", faulty("b"));
    let report = json(&run(&scratch, &["check", "--format", "json", "--exclude", "vendor/**"]));
    assert_eq!(report["summary"]["skills"], 1);
    assert_eq!(found(&scratch, &["--exclude", "vendor", "--exclude", "skills/a"]), []);
    // A pattern is relative to the working directory, whatever is checked.
    assert_eq!(found(&scratch, &["vendor/b", "--exclude", "vendor/"]), []);
    // In the settings, it is relative to their file.
    scratch.write_file("skills/a/SKILL.md", GOOD.replace("name: pdf", "name: a"));
    scratch.write_file("rep.yaml", "check:\n  exclude: ['/vendor/']\n");
    assert_eq!(found(&scratch, &[]), []);
    let bad = run(&scratch, &["check", "--exclude", "a{b"]);
    assert!(bad.code == 2 && bad.stderr.contains("the pattern `a{b` is not valid"), "{bad:?}");
    // A file of a skill is left out of the report.
    scratch.write_file("c/SKILL.md", GOOD.replace("name: pdf", "name: c"));
    scratch.write_file("c/scripts/run.sh", "#!/bin/sh\r\necho\r\n");
    assert_eq!(found(&scratch, &["c"]).len(), 1);
    assert_eq!(found(&scratch, &["c", "--exclude", "*.sh"]), []);
}

#[test]
fn settings_of_paths_replace_those_of_the_repository() {
    let scratch = ScratchFolder::new();
    scratch.write_file("skills/a/SKILL.md", faulty("a"));
    scratch.write_file("legacy/b/SKILL.md", faulty("b"));
    scratch.write_file("legacy/strict/c/SKILL.md", faulty("c"));
    scratch.write_file(
        "rep.yaml",
        "check:\n  ignore: [compatibility-not-text]\n  overrides:\n    - paths: ['legacy/**']\n      ignore: \
         [link-target-missing]\n      levels: {description-empty: info}\n    - paths: [legacy/strict]\n      levels: \
         {compatibility-not-text: error, link-target-missing: warning}\n",
    );
    let rules_of = |path: &str| {
        let report = json(&run(&scratch, &["check", path, "--format", "json"]));
        let findings = report["findings"].as_array().unwrap();
        let describe = |finding: &serde_json::Value| {
            format!("{} {}", finding["level"].as_str().unwrap(), finding["rule"].as_str().unwrap())
        };
        findings.iter().map(describe).collect::<Vec<_>>()
    };
    assert_eq!(rules_of("skills"), ["error description-empty", "warning link-target-missing"]);
    assert_eq!(rules_of("legacy/b"), ["info description-empty"]);
    assert_eq!(
        rules_of("legacy/strict"),
        ["info description-empty", "error compatibility-not-text", "warning link-target-missing"]
    );
    scratch.write_file("rep.yaml", "check:\n  overrides:\n    - ignore: [name-missing]\n");
    let broken = run(&scratch, &["check"]);
    assert!(broken.code == 2 && broken.stderr.contains("have no `paths`"), "{broken:?}");
}

#[test]
fn levels_and_counts_decide_whether_a_check_fails() {
    let scratch = ScratchFolder::new();
    // One warning.
    scratch.write_file("pdf/SKILL.md", GOOD.to_owned() + "\nSee [this](missing.md).\n");
    let code = |arguments: &[&str]| run(&scratch, &[&["check", "pdf"], arguments].concat()).code;
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--fail-on", "warning"]), 1);
    assert_eq!(code(&["--fail-on", "info"]), 1);
    assert_eq!(code(&["--max-warnings", "0"]), 1);
    assert_eq!(code(&["--max-warnings", "1"]), 0);
    scratch.write_file("pdf/SKILL.md", faulty("pdf"));
    assert_eq!(code(&[]), 1);
    assert_eq!(code(&["--fail-on", "never"]), 0);
    assert_eq!(code(&["--fail-on", "never", "--max-warnings", "0"]), 1);
}

#[test]
fn only_what_changed_since_a_commit_is_reported() {
    if !rep_test_support::is_program_installed("git") {
        rep_test_support::skip_unless_ci("git is not installed");
        return;
    }
    let scratch = ScratchFolder::new();
    let repository = TestRepository::create(&scratch.work_folder());
    repository.write_file("skills/a/SKILL.md", faulty("a"));
    // Before the first commit, everything is new.
    assert_eq!(found(&scratch, &["--since", "HEAD"]).len(), 3);
    repository.write_file("skills/b/SKILL.md", faulty("b"));
    repository.write_file("skills/c/SKILL.md", GOOD.replace("name: pdf", "name: c") + "\nSee [this](other.md).\n");
    repository.write_file("skills/c/other.md", "Other.\n");
    repository.commit_all("one");
    assert_eq!(found(&scratch, &["--since", "HEAD"]), []);
    repository.write_file("skills/b/SKILL.md", faulty("b") + "\nMore.\n");
    let files = |reference: &str| {
        let mut files: Vec<String> =
            found(&scratch, &["--since", reference]).into_iter().map(|(_, file)| file).collect();
        files.dedup();
        files
    };
    assert_eq!(files("HEAD"), ["skills/b/SKILL.md"]);
    // Files that git does not know yet, and the consequences of those that are gone.
    repository.write_file("skills/new/SKILL.md", faulty("new"));
    std::fs::remove_file(repository.folder().join("skills/c/other.md")).unwrap();
    assert_eq!(files("HEAD"), ["skills/b/SKILL.md", "skills/c/SKILL.md", "skills/new/SKILL.md"]);
    // A branch means the commit where this one left it.
    repository.run_git(&["checkout", "--quiet", "-b", "topic"]);
    repository.commit_all("two");
    assert_eq!(files("main"), ["skills/b/SKILL.md", "skills/c/SKILL.md", "skills/new/SKILL.md"]);
    for reference in ["no-such-branch", "--output=x", "HEAD; echo"] {
        let bad = run(&scratch, &["check", &format!("--since={reference}")]);
        assert!(bad.code == 2 && bad.stderr.contains("is not a commit, branch or tag"), "{bad:?}");
    }
    assert!(!repository.folder().join("x").exists());
}

#[test]
fn a_directory_outside_of_git_has_no_changes_to_compare() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "--since", "HEAD"]);
    assert!(found.code == 2 && found.stderr.contains("not in a git repository"), "{found:?}");
}

#[test]
fn statistics_count_the_findings_of_each_rule() {
    let scratch = ScratchFolder::new();
    scratch.write_file("a/SKILL.md", faulty("a"));
    scratch.write_file("b/SKILL.md", faulty("b").replace("[this](missing.md)", "this"));
    let text = run(&scratch, &["check", "--statistics"]);
    insta::assert_snapshot!(text.stdout, @"
        2 warning compatibility-not-text
        2 error   description-empty
        1 warning link-target-missing
    checked 2 skills: 2 errors, 3 warnings
    ");
    let report = json(&run(&scratch, &["check", "--statistics", "--format", "json"]));
    assert_eq!(report["statistics"].as_array().unwrap().len(), 3);
    assert_eq!(run(&scratch, &["check", "--statistics", "--format", "sarif"]).code, 2);
    assert!(rules(&run(&scratch, &["check", "--format", "json"])).len() == 5);
}
