//! Properties of every skill: checks never panic, fixes converge, and the same input gives the same report.

use proptest::prelude::*;
use rep_check::fix::{self, FixApplicability};
use rep_check::render::ReportFormat;
use rep_check::{CheckOptions, CheckReport, Profile, check_skill, render};
use rep_model::{FileContent, Skill, SkillTree, TreeEntry};

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("name: pdf-tools\n".to_owned()),
        Just("name: 'PDF Tools'\n".to_owned()),
        Just("description: Use when: x\n".to_owned()),
        Just("description: >\n  Fills forms. Use for <b>PDF</b> forms.\n".to_owned()),
        Just("spec_version: 2.1\n".to_owned()),
        Just("version: 1.0\n".to_owned()),
        Just("allowed-tools: Read, Bash(git add:*), Write\n".to_owned()),
        Just("allowed-tools: [Read, 'Bash(git add:*)'] # why\n".to_owned()),
        Just("allowed-tools:\n  - Read\n  - Grep\n".to_owned()),
        Just("metadata: {a: 1, b: yes, c: [x]}\n".to_owned()),
        Just("metadata:\n  version: 1.0\n  nested: {a: b}\n".to_owned()),
        Just("compatibility: {requires: [python]}\n".to_owned()),
        Just("x-personal-mcp: {id: pdf, version: 1, capabilities: []}\n".to_owned()),
        Just("tools: [{name: t, description: d, input_schema: {type: object, properties: {a: {type: string}}}, implementation: {runtime: node, entrypoint: a.ts}}]\n".to_owned()),
        Just("permissions: {filesystem: {read: ['!x', '/**']}, network: {outbound: ['*']}}\n".to_owned()),
        Just("# rep: allow(name-uppercase) old\n".to_owned()),
        Just("disable-model-invocation: \"true\"\n".to_owned()),
        "[a-z]{1,6}: [ -~]{0,12}\n",
    ]
}

fn skill_md() -> impl Strategy<Value = String> {
    let body = prop_oneof![
        Just(String::new()),
        Just("# T\n\nSee [a](b.md) and [c](../d.md), `scripts/x.py`.\n\n```sh\nls\n".to_owned()),
        "\\PC{0,40}",
    ];
    let ends = prop_oneof![Just("\n"), Just("\r\n")];
    let mark = prop_oneof![3 => Just(""), 1 => Just("\u{feff}")];
    (prop::collection::vec(field(), 0..7), body, ends, mark)
        .prop_map(|(fields, body, ends, mark)| format!("{mark}---\n{}---\n{body}", fields.concat()).replace('\n', ends))
}

fn uasp() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("meta: {name: t, version: 00000000, type: cli}\n".to_owned()),
        Just("meta:\n  name: t\n  version: \"12345678\" # stale\n  type: knowledge\n".to_owned()),
        Just("commands: {a: {syntax: x, requires: [s]}}\n".to_owned()),
        Just("state: {entities: [{name: s, created_by: [nope]}]}\n".to_owned()),
        Just("environment: [{name: A, purpose: p, default: null}]\n".to_owned()),
        Just("reference: {a: {x: [yes, 010]}}\n".to_owned()),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

fn tree(skill_md: &str, uasp: &str) -> SkillTree {
    SkillTree::from_texts(
        "pdf-tools",
        &[("SKILL.md", skill_md), ("t.uasp.yaml", uasp), ("scripts/y.py", "#!/usr/bin/env python3\r\n")],
    )
}

fn text_of(tree: &SkillTree, file: &str) -> String {
    String::from_utf8_lossy(tree.file_bytes(file).unwrap_or_default()).into_owned()
}

/// Applies the fixes once. Returns whether anything changed.
fn apply_all_fixes(tree: SkillTree, options: &CheckOptions) -> (SkillTree, bool) {
    let mut after = tree.clone();
    let (skill, faults) = Skill::parse(tree);
    let report = check_skill(&skill, faults, options);
    let mut is_changed = false;
    for file in ["SKILL.md", "t.uasp.yaml"] {
        let fixes = report.findings.iter().filter_map(|finding| finding.fix.as_ref());
        let safe = fixes.filter(|fix| fix.applicability == FixApplicability::Safe);
        let text = text_of(&skill.tree, file);
        let fixed = fix::apply_fixes(file, &text, safe);
        if fixed != text {
            is_changed = true;
            let content = FileContent::Bytes(fixed.clone().into_bytes());
            let entry = TreeEntry::File { size_bytes: fixed.len() as u64, is_executable: false, content };
            after.entries.insert(file.to_owned(), entry);
        }
    }
    (after, is_changed)
}

fn all_profiles() -> CheckOptions {
    CheckOptions { profiles: Profile::all().to_vec(), ..CheckOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fixes_converge(skill_md in skill_md(), uasp in uasp()) {
        for options in [all_profiles(), CheckOptions::default()] {
            let mut current = tree(&skill_md, &uasp);
            let mut rounds = 0;
            loop {
                let (next, is_changed) = apply_all_fixes(current, &options);
                current = next;
                if !is_changed {
                    break;
                }
                rounds += 1;
                prop_assert!(rounds < 10, "still changing after ten rounds:\n{}", text_of(&current, "SKILL.md"));
            }
        }
    }

    #[test]
    fn fixes_keep_what_the_frontmatter_says(skill_md in skill_md()) {
        let options = all_profiles();
        let (before, _) = Skill::parse(tree(&skill_md, "meta: {}\n"));
        let (after, _) = apply_all_fixes(tree(&skill_md, "meta: {}\n"), &options);
        let (after, _) = Skill::parse(after);
        let name = |skill: &Skill| skill.name().map(str::to_owned);
        if before.frontmatter().is_some() {
            prop_assert!(after.frontmatter().is_some(), "{}", text_of(&after.tree, "SKILL.md"));
            prop_assert_eq!(name(&before), name(&after));
            let keys = |skill: &Skill| -> Vec<String> {
                let fields = skill.frontmatter().map(rep_model::Frontmatter::fields).unwrap_or_default();
                fields.iter().filter_map(|entry| entry.key.text().map(str::to_owned)).collect()
            };
            prop_assert_eq!(keys(&before), keys(&after));
        }
    }

    #[test]
    fn the_same_skill_gives_the_same_report_in_every_form(skill_md in skill_md(), uasp in uasp()) {
        let report = || {
            let (skill, faults) = Skill::parse(tree(&skill_md, &uasp));
            let found = check_skill(&skill, faults, &all_profiles());
            CheckReport { findings: found.findings, skills: 1 }
        };
        let (one, two) = (report(), report());
        for format in [
            ReportFormat::Text,
            ReportFormat::ErrorText,
            ReportFormat::Concise,
            ReportFormat::Statistics,
            ReportFormat::Json,
            ReportFormat::Sarif,
            ReportFormat::Github,
            ReportFormat::Junit,
            ReportFormat::Gitlab,
        ] {
            let render = |report: &CheckReport| render::render_report(report, format, render::ColourMode::Plain);
            prop_assert_eq!(render(&one), render(&two));
        }
    }

    #[test]
    fn no_bytes_make_judging_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut tree = tree("", "");
        let entry = TreeEntry::File { size_bytes: 0, is_executable: true, content: FileContent::Bytes(bytes) };
        for file in ["SKILL.md", "t.uasp.yaml", "tools.json", "references/a.md"] {
            tree.entries.insert(file.to_owned(), entry.clone());
        }
        let (skill, faults) = Skill::parse(tree);
        let found = check_skill(&skill, faults, &all_profiles());
        let report = CheckReport { findings: found.findings, skills: 1 };
        let _ = render::render_report(&report, render::ReportFormat::Text, render::ColourMode::Colour);
    }
}

#[test]
fn nothing_is_mended_where_the_end_of_a_mapping_had_to_be_guessed() {
    let text = "---\na: {A\nallowed-tools:\n  - Read\n  - Grep\nname: pdf-tools\n---\n";
    let (after, _) = apply_all_fixes(tree(text, "meta: {}\n"), &all_profiles());
    let (after, _) = Skill::parse(after);
    assert_eq!(after.name(), Some("pdf-tools"), "{}", text_of(&after.tree, "SKILL.md"));
}
