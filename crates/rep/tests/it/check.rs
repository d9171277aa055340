use insta::assert_snapshot;
use rep_test_support::ScratchFolder;

use super::{GOOD, json, rules, run, transcript};

#[test]
fn a_good_skill_has_no_findings_and_exits_zero() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "pdf"]);
    assert_eq!((found.code, found.stdout.as_str(), found.stderr.as_str()), (0, "checked 1 skill: no findings\n", ""));
}

#[test]
fn an_error_exits_one_and_shows_the_line_with_a_caret() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", "---\nname: pdf\ndescription: ''\n---\n\nBody.\n");
    let found = run(&scratch, &["check"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 1
    --- stdout ---
    error[description-empty]: field `description` is empty
     --> pdf/SKILL.md:3:14
      |
    3 | description: ''
      |              ^^
      = help: say what the skill does, and when to use it

    checked 1 skill: 1 error
    ");
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let scratch = ScratchFolder::new();
    scratch.write_file("other/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "other", "--format", "json", "--profile", "agentskills"]);
    assert_eq!(found.code, 1, "{found:?}");
    let report = json(&found);
    let finding = &report["findings"][0];
    for (field, value) in [
        ("rule", serde_json::json!("name-differs-from-folder")),
        ("level", serde_json::json!("error")),
        ("file", serde_json::json!("other/SKILL.md")),
        ("line", serde_json::json!(2)),
        ("column", serde_json::json!(7)),
        ("end_line", serde_json::json!(2)),
        ("end_column", serde_json::json!(10)),
        ("at", serde_json::json!("name")),
        ("fix", serde_json::json!(false)),
    ] {
        assert_eq!(finding[field], value, "{field} in {finding}");
    }
    assert_eq!(
        report["summary"],
        serde_json::json!({"skills": 1, "errors": 1, "warnings": 0, "infos": 0, "fixable": 0})
    );
}

#[test]
fn columns_count_code_points_and_carets_columns() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", "---\nname: pdf\ndescription: \"技能 <b>x</b> use when\"\n---\n\nBody.\n");
    let found = run(&scratch, &["check", "pdf", "--profile", "claude-api", "--select", "description-xml-tag"]);
    // Two wide characters are two columns of the position, and four of the caret.
    assert_snapshot!(transcript(&scratch, &found), @r#"
    exit code 1
    --- stdout ---
    error[description-xml-tag]: `description` contains the tag `<b>`
     --> pdf/SKILL.md:3:18
      |
    3 | description: "技能 <b>x</b> use when"
      |                    ^^^
      = help: remove the angle brackets
      = fix: suggested; apply it with `rep check --fix --unsafe-fixes`

    checked 1 skill: 1 error
    "#);
}

#[test]
fn unknown_fields_warn_by_default_and_are_errors_where_the_profile_was_asked_for() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD.replace("name: pdf\n", "name: pdf\nauthor: me\n"));
    assert_eq!(run(&scratch, &["check", "pdf"]).code, 0);
    assert_eq!(run(&scratch, &["check", "pdf", "--profile", "agentskills"]).code, 1);
}

#[test]
fn each_file_is_judged_by_what_it_shows_itself_to_be() {
    let scratch = ScratchFolder::new();
    scratch
        .write_file("uni/SKILL.md", GOOD.replace("name: pdf\n", "name: uni\nspec_version: \"2.1\"\nversion: 1.0.0\n"));
    scratch.write_file("own/SKILL.md", GOOD.replace("name: pdf\n", "name: own\nx-personal-mcp: {id: own}\n"));
    scratch.write_file("t.uasp.yaml", "meta: {name: t, version: '00000000', type: wrong}\n");
    let found = run(&scratch, &["check", "--format", "json"]);
    let rules = rules(&found);
    for rule in ["safety-missing", "field-missing", "value-not-allowed", "uasp-version-stale"] {
        assert!(rules.iter().any(|found| found == rule), "{rule} not in {rules:?}");
    }
}

#[test]
fn a_set_of_skills_is_judged_together() {
    let scratch = ScratchFolder::new();
    for (name, needs) in [("a", "b"), ("b", "a"), ("c", "ghost")] {
        let block = format!(
            "name: {name}\nx-personal-mcp: {{id: {name}, version: 1.0.0, capabilities: ['resource://skills/{name}/document'], depends_on: [{needs}]}}\n"
        );
        scratch.write_file(&format!("{name}/SKILL.md"), GOOD.replace("name: pdf\n", &block));
    }
    let rules = rules(&run(&scratch, &["check", "--format", "json"]));
    assert_eq!(rules, ["depends-on-cycle", "depends-on-unknown"]);
}

#[test]
fn dependencies_of_a_single_skill_are_looked_up_in_the_directory_around_it() {
    let scratch = ScratchFolder::new();
    for (name, needs) in [("a", "b"), ("c", "ghost")] {
        let block = format!(
            "name: {name}\nx-personal-mcp: {{id: {name}, version: 1.0.0, capabilities: ['resource://skills/{name}/document'], depends_on: [{needs}]}}\n"
        );
        scratch.write_file(&format!("set/{name}/SKILL.md"), GOOD.replace("name: pdf\n", &block));
    }
    let check = |path: &str| rules(&run(&scratch, &["check", path, "--format", "json"]));
    assert_eq!(check("set/a"), ["depends-on-unknown"], "`b` does not exist yet");
    scratch.write_file("set/b/SKILL.md", GOOD.replace("name: pdf\n", "name: b\n"));
    assert_eq!(check("set/a"), [""; 0]);
    assert_eq!(check("set/c"), ["depends-on-unknown"]);
    scratch.write_file("alone/c/SKILL.md", scratch.read_file("set/c/SKILL.md"));
    assert_eq!(check("alone/c"), [""; 0], "nothing is known about its set");
}

#[test]
fn sarif_names_rules_places_and_levels() {
    let scratch = ScratchFolder::new();
    scratch.write_file("a skill/SKILL.md", "# no frontmatter\n");
    let found = run(&scratch, &["check", "--format", "sarif"]);
    assert_eq!(found.code, 1);
    let log = json(&found);
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"frontmatter-missing".into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20skill/SKILL.md");
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][0]["id"], "frontmatter-missing");
    assert_eq!(log["runs"][0]["columnKind"], "unicodeCodePoints");
}

#[test]
fn github_lines_are_escaped() {
    let scratch = ScratchFolder::new();
    scratch.write_file("a,b:c/SKILL.md", "x\n");
    let found = run(&scratch, &["check", "--format", "github"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 1
    --- stdout ---
    ::error file=a%2Cb%3Ac/SKILL.md,line=1,col=1,endLine=1,endColumn=2,title=frontmatter-missing::the file does not start with a `---` line%0Ahelp: start the file with `---`, then `name` and `description`, then `---`
    ");
}

#[test]
fn select_ignore_and_settings_decide_what_is_reported() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", "---\nname: PDF\ndescription: ''\nauthor: me\n---\n\nBody.\n");
    let only = rules(&run(&scratch, &["check", "--format", "json", "--select", "name-uppercase"]));
    assert_eq!(only, ["name-uppercase"]);
    let less = rules(&run(&scratch, &["check", "--format", "json", "--ignore", "name-uppercase,description-empty"]));
    assert!(!less.iter().any(|rule| rule == "name-uppercase" || rule == "description-empty"), "{less:?}");
    scratch.write_file(
        "rep.yaml",
        "check:\n  levels:\n    description-empty: off\n    field-unknown: error\n  ignore: [name-uppercase]\n",
    );
    let found = run(&scratch, &["check", "--format", "json"]);
    let report = json(&found);
    let levels: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["rule"].as_str().unwrap(), finding["level"].as_str().unwrap()))
        .collect();
    assert!(levels.contains(&("field-unknown", "error")), "{levels:?}");
    assert!(!levels.iter().any(|(rule, _)| *rule == "description-empty" || *rule == "name-uppercase"), "{levels:?}");
}

#[test]
fn broken_settings_name_the_line_and_the_remedy() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    let transcripts = [
        "check:\n  levels: {field-unknwon: off}\n",
        "check:\n  colour: red\n",
        "check:\n  profiles: [strict]\n",
        "check: [\n",
        "check:\n  ignore: []\n  ignore: []\n",
    ]
    .map(|settings| {
        scratch.write_file("rep.yaml", settings);
        transcript(&scratch, &run(&scratch, &["check"]))
    });
    assert_snapshot!(transcripts.join("\n"), @"
    exit code 2
    --- stderr ---
    error: [WORK]/rep.yaml:2:12: unknown rule `field-unknwon`
    help: did you mean `field-unknown`?

    exit code 2
    --- stderr ---
    error: [WORK]/rep.yaml:2:3: unknown setting `colour`
    help: the settings here are: profiles, ignore, levels, strict-schema, exclude, overrides

    exit code 2
    --- stderr ---
    error: [WORK]/rep.yaml:2:14: unknown profile `strict`
    help: the profiles are: agentskills, universal, aam, pmcp, uasp, portable, claude-api, claude-code, codex, openai, mcp, security

    exit code 2
    --- stderr ---
    error: [WORK]/rep.yaml:1:8: unclosed bracket '['
    help: fix the YAML

    exit code 2
    --- stderr ---
    error: [WORK]/rep.yaml:3:3: duplicate key `ignore`
    help: remove one of the two
    ");
}

#[test]
fn a_silence_needs_a_reason_and_a_fault() {
    let scratch = ScratchFolder::new();
    let with = |comment: &str| {
        GOOD.replace("name: pdf\n", &format!("name: pdf # rep: allow(name-differs-from-folder){comment}\n"))
    };
    scratch.write_file("other/SKILL.md", with(" kept for old links"));
    assert_eq!(rules(&run(&scratch, &["check", "--format", "json"])), Vec::<String>::new());
    scratch.write_file("other/SKILL.md", with(""));
    assert_eq!(
        rules(&run(&scratch, &["check", "--format", "json"])),
        ["name-differs-from-folder", "allow-without-reason"]
    );
    scratch.write_file("pdf/SKILL.md", with(" kept for old links"));
    assert!(rules(&run(&scratch, &["check", "pdf", "--format", "json"])).contains(&"allow-unused".to_owned()));
}

#[test]
fn a_rule_that_does_not_exist_is_a_usage_error_with_a_suggestion() {
    let scratch = ScratchFolder::new();
    let found = run(&scratch, &["check", "--select", "name-upercase"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 2
    --- stderr ---
    error: unknown rule `name-upercase`
    help: did you mean `name-uppercase`?
    ");
    let found = run(&scratch, &["check", "--select", "zzz", "--format", "json"]);
    assert_eq!(json(&found)["error"]["code"], "UNKNOWN_RULE");
}

#[test]
fn the_same_tree_gives_the_same_bytes() {
    let scratch = ScratchFolder::new();
    for number in 0..40 {
        scratch.write_file(&format!("s{number}/SKILL.md"), "---\nname: X\nauthor: me\n---\n");
    }
    let once = run(&scratch, &["check", "--format", "json"]);
    assert!(json(&once)["summary"]["errors"].as_u64() >= Some(40));
    for _ in 0..5 {
        assert_eq!(run(&scratch, &["check", "--format", "json"]).stdout, once.stdout);
    }
}

#[test]
fn a_uasp_file_alone_in_a_folder_or_beside_a_skill_md_is_found() {
    let scratch = ScratchFolder::new();
    let uasp = "meta: {name: t, version: \"0daf9a80\", type: cli}\n";
    scratch.write_file("t/t.uasp.yaml", uasp);
    scratch.write_file("loose/one.uasp.yaml", uasp);
    scratch.write_file("loose/two.uasp.yaml", uasp);
    scratch.write_file("pdf/SKILL.md", GOOD);
    scratch.write_file("pdf/pdf.uasp.yaml", uasp.replace("name: t", "name: pdf"));
    let found = run(&scratch, &["check", "--format", "json"]);
    assert_eq!(json(&found)["summary"]["skills"], 4, "{}", found.stdout);
}

#[test]
fn colour_is_asked_for_or_absent() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", "x\n");
    assert!(!run(&scratch, &["check"]).stdout.contains('\u{1b}'));
    assert!(run(&scratch, &["check", "--color", "always"]).stdout.contains("\u{1b}["));
}

#[test]
fn a_skill_inside_a_skill_is_checked_once_of_its_own() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    scratch.write_file("pdf/examples/inner/SKILL.md", "# no frontmatter\n");
    let found = run(&scratch, &["check", "--format", "json"]);
    let report = json(&found);
    assert_eq!((&report["summary"]["skills"], rules(&found)), (&2.into(), vec!["frontmatter-missing".to_owned()]));
    assert_eq!(report["findings"][0]["file"], "pdf/examples/inner/SKILL.md");
}

/// VAL-71 and HOST-19: the checklists can be reported per skill.
#[test]
fn the_checklists_are_filled_in_per_skill() {
    let scratch = ScratchFolder::new();
    run(&scratch, &["init", "counter", "--tool", "python"]);
    let found = run(&scratch, &["check", "counter", "--checklist"]);
    assert_snapshot!(transcript(&scratch, &found), @"
    exit code 0
    --- stdout ---
    counter
      [x] SKILL.md is at the root and begins with frontmatter
      [x] spec_version, name, description and version are present
      [x] skill and tool names follow the portable baseline
      [x] tool schemas are valid and accept an object
      [x] object schemas are closed
      [x] permissions are declared and narrow
      [x] safety declares redaction and confirmation
      [x] nothing depends on one host outside host_overrides
      [x] claude-api: within the upload limits, no network, no packages to install
      [x] claude-code: the directory can be committed under .claude/skills
      [x] mcp: names, descriptions and schemas map unchanged
      [x] openai: schemas fit strict mode
      [x] codex: risky tools ask before they act
    ");
    scratch.write_file("pdf/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "pdf", "--checklist", "--format", "json"]);
    let points = json(&found)["checklists"][0]["points"].clone();
    assert_eq!((found.code, &points[1]["holds"], &points[0]["holds"]), (1, &false.into(), &true.into()), "{points:#}");
    assert_eq!(points[1]["against"], serde_json::json!(["field-missing"]));
}

#[test]
fn a_skill_does_not_decide_how_it_is_judged() {
    let scratch = ScratchFolder::new();
    scratch.write_file("SKILL.md", "---\nname: X\ndescription: ''\n---\n");
    scratch.write_file("rep.yaml", "check:\n  levels: {description-empty: off}\n");
    assert!(rules(&run(&scratch, &["check", "--format", "json"])).contains(&"description-empty".to_owned()));
}

/// A `rep.yaml` applies to what is below it, wherever the command is run. Nearer files win.
#[test]
fn settings_of_the_checked_path_are_merged_upward() {
    let scratch = ScratchFolder::new();
    let skill = "---\nname: pdf\ndescription: ''\nauthor: me\n---\n\nBody.\n";
    for folder in ["repo/team/pdf", "repo/pdf", "other/pdf"] {
        scratch.write_file(&format!("{folder}/SKILL.md"), skill);
    }
    std::fs::create_dir_all(scratch.work_folder().join("repo/.git")).expect("the directory can be created");
    scratch.write_file("rep.yaml", "check:\n  ignore: [description-empty]\n");
    scratch.write_file("repo/rep.yaml", "check:\n  ignore: [description-empty]\n  levels: {field-unknown: error}\n");
    scratch.write_file("repo/team/rep.yaml", "check:\n  levels: {field-unknown: warning}\n");
    let found = |path: &str| {
        let report = json(&run(&scratch, &["check", path, "--format", "json"]));
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let word = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        findings.iter().map(|finding| (word(finding, "rule"), word(finding, "level"))).collect::<Vec<_>>()
    };
    let unknown = |level: &str| vec![("field-unknown".to_owned(), level.to_owned())];
    assert_eq!(found("repo/team/pdf"), unknown("warning"), "the nearest file sets the level, the one above ignores");
    assert_eq!(found("repo/pdf"), unknown("error"));
    assert_eq!(found("repo/team/../pdf/SKILL.md"), unknown("error"));
    assert_eq!(found("other"), unknown("info"), "the directory around both");
    // Several paths have their own settings each.
    let both = run(&scratch, &["check", "repo/team", "repo/pdf", "--format", "json"]);
    let levels: Vec<_> = json(&both)["findings"].as_array().unwrap().iter().map(|one| one["level"].clone()).collect();
    assert_eq!((both.code, levels), (1, vec!["error".into(), "warning".into()]), "{both:?}");
    scratch.write_file("repo/rep.yaml", "check:\n  ignroe: []\n");
    let broken = run(&scratch, &["check", "repo/team/pdf"]);
    let place = format!("{}:2:3", scratch.work_folder().join("repo/rep.yaml").display());
    assert!(broken.code == 2 && broken.stderr.contains(&place), "{broken:?}");
}

#[test]
fn a_profile_of_skill_md_minds_its_absence() {
    let scratch = ScratchFolder::new();
    scratch.write_file("t/t.uasp.yaml", "meta: {name: t, version: \"0daf9a80\", type: cli}\n");
    assert_eq!(rules(&run(&scratch, &["check", "t", "--format", "json"])), Vec::<String>::new());
    assert_eq!(
        rules(&run(&scratch, &["check", "t", "--format", "json", "--profile", "agentskills"])),
        ["skill-md-missing"]
    );
}

#[test]
fn settings_that_cannot_be_read_are_told() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    scratch.write_file("rep.yaml/inner.txt", "x");
    let found = run(&scratch, &["check"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("it is a directory"), "{found:?}");
}

#[test]
fn a_diff_has_one_form() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "--diff", "--format", "json"]);
    assert_eq!((found.code, &json(&found)["error"]["code"]), (2, &"USAGE".into()));
}
