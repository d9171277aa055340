//! Names, lengths and edits of top-level fields that the pages do not cover: every short name, exact limits, and that
//! a fixed file does not produce the same finding again.

use rep_check::{CheckOptions, Level, Profile, SkillReport, check_skill, fix};
use rep_model::{Skill, SkillTree, yaml};

fn judge(folder: &str, text: &str, profile: Profile) -> SkillReport {
    // Faults that the parser reports, such as anchors, are ignored.
    let (skill, _) = Skill::parse(SkillTree::from_texts(folder, &[("SKILL.md", text)]));
    check_skill(&skill, Vec::new(), &CheckOptions { profiles: vec![profile], ..CheckOptions::default() })
}

fn file(fields: &str) -> String {
    format!("---\nname: pdf\n{fields}\n---\n")
}

fn named(name: &str) -> String {
    format!("---\nname: {}\ndescription: Fills forms. Use for PDF forms.\n---\n", yaml::quote_double(name))
}

fn is_refused(folder: &str, text: &str, profile: Profile) -> bool {
    judge(folder, text, profile).findings.iter().any(|finding| finding.level == rep_check::Level::Error)
}

/// `^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
fn is_portable(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.split('-').all(is_word)
}

fn names_up_to(length: usize, letters: &[char]) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..length {
        let to = all.len();
        for at in from..to {
            all.extend(letters.iter().map(|letter| format!("{}{letter}", all[at])).collect::<Vec<_>>());
        }
        from = to;
    }
    all
}

#[test]
fn portable_names_are_exactly_the_pattern() {
    for name in names_up_to(4, &['a', 'Z', '0', '-', '_', 'é', '\u{301}', 'ａ']) {
        let refused = is_refused(&name, &named(&name), Profile::Portable);
        assert_eq!(refused, !is_portable(&name), "{name:?}");
    }
}

#[test]
fn x_personal_mcp_names_are_exactly_its_pattern() {
    for name in names_up_to(4, &['a', 'Z', '0', '-', '_', 'é']) {
        let report = judge(&name, &named(&name), Profile::Pmcp);
        let mut about_name = report.findings.iter().filter(|finding| finding.rule.name.starts_with("name-"));
        let refused = about_name.any(|finding| finding.level == rep_check::Level::Error);
        assert_eq!(refused, !rep_model::names::is_lowercase_id(&name), "{name:?}");
    }
}

#[test]
fn one_fault_of_a_name_is_one_finding() {
    for name in ["Pdf", "pdf_x", "pdf-", "-pdf", "p--f", "3d", "café", "हिन्दी", "---", "claude-x"] {
        for profile in Profile::all() {
            let report = judge(name, &named(name), *profile);
            let found = report.findings.iter().filter(|finding| finding.rule.name.starts_with("name-")).count();
            assert!(found <= 1, "{name} has {found} findings under {}", profile.name());
        }
    }
}

#[test]
fn lengths_count_code_points_and_every_character_of_the_value() {
    let cases = [
        ("x".repeat(1024), false, false),
        ("x".repeat(1025), true, true),
        ("😀".repeat(1024), false, false),
        (format!("{} ", "x".repeat(1024)), true, false),
        (format!(" {}\n", "x".repeat(1025)), true, true),
    ];
    for (text, raw, stripped) in cases {
        let text = file(&format!("description: {}", yaml::quote_double(&text)));
        let has = |profile| {
            let report = judge("pdf", &text, profile);
            report.findings.iter().any(|finding| finding.rule.name == "description-too-long")
        };
        assert_eq!((has(Profile::AgentSkills), has(Profile::Pmcp)), (raw, stripped));
    }
}

/// Checks that the fix of a rule gives `after`, and that the rule then finds nothing.
fn fixes(rule: &str, profile: Profile, before: &str, after: &str) {
    let (before, after) = (file(before), file(after));
    let mut report = judge("pdf", &before, profile);
    report.findings.retain(|finding| finding.rule.name == rule);
    assert!(!report.findings.is_empty(), "{rule} finds nothing in {before}");
    assert_eq!(
        fix::apply_fixes("SKILL.md", &before, report.findings.iter().filter_map(|finding| finding.fix.as_ref())),
        after
    );
    let again = judge("pdf", &after, profile);
    if before != after {
        assert!(again.findings.iter().all(|finding| finding.rule.name != rule), "{rule} is not content with {after}");
    }
}

#[test]
fn lists_of_tools_become_text() {
    let fixes = |before: &str, after: &str| fixes("allowed-tools-list", Profile::AgentSkills, before, after);
    fixes("allowed-tools: [Read, 'Write']", "allowed-tools: Read Write");
    fixes(
        "allowed-tools:\n  - Read\n  - \"Bash(git:*)\" # all\nlicense: MIT",
        "allowed-tools: Read Bash(git:*) # all\nlicense: MIT",
    );
    fixes("allowed-tools: ['true']", "allowed-tools: \"true\"");
    for kept in [
        "allowed-tools: []",
        "allowed-tools: [Read file, Write]",
        // The specification splits at every space.
        "allowed-tools: [Bash(git *)]",
        "allowed-tools:\n  - Read\n  - \"Bash(git add:*)\"",
        "allowed-tools: [Read, [Write]]",
        "allowed-tools: [1, Read]",
        "allowed-tools: ['Bash(', Read]",
        "allowed-tools:\n  # the first\n  - Read",
        "allowed-tools:\n  - Read # the first\n  - Write",
        "allowed-tools: &tools [Read]",
    ] {
        fixes(kept, kept);
    }
}

#[test]
fn commas_between_tools_become_blanks() {
    let fixes = |before: &str, after: &str| fixes("allowed-tools-commas", Profile::AgentSkills, before, after);
    fixes("allowed-tools: Read, Bash(a,b),Write # x", "allowed-tools: Read Bash(a,b) Write # x");
    // A space in parentheses is part of the tool.
    fixes("allowed-tools: Read, Bash(git add:*)", "allowed-tools: Read Bash(git add:*)");
    fixes("allowed-tools: 'Read, Write,'", "allowed-tools: 'Read Write'");
    fixes("allowed-tools: \"Read,Write\"", "allowed-tools: \"Read Write\"");
    for kept in
        ["allowed-tools: Read file, Write", "allowed-tools: >-\n  Read,\n  Write", "allowed-tools: Read,\n  Write"]
    {
        fixes(kept, kept);
    }
}

#[test]
fn metadata_is_quoted_for_x_personal_mcp() {
    let fixes = |before: &str, after: &str| fixes("metadata-value-not-text", Profile::Pmcp, before, after);
    fixes("metadata:\n  v: 1.10 # one\n  b: True", "metadata:\n  v: \"1.10\" # one\n  b: \"True\"");
    fixes("metadata: {v: 1, w: x}", "metadata: {v: \"1\", w: x}");
    fixes("metadata:\n  v: !!int 1", "metadata:\n  v: !!int 1");
    fixes("metadata:\n  v: null", "metadata:\n  v: null");
}

#[test]
fn a_last_line_break_too_many_is_dropped() {
    let text = "x".repeat(1024);
    let (before, after) = (format!("description: |\n  {text}"), format!("description: |-\n  {text}"));
    fixes("description-too-long", Profile::AgentSkills, &before, &after);
    let before = format!("description: >2 # why\n  {text}");
    fixes("description-too-long", Profile::AgentSkills, &before, &before.replace(">2", ">-2"));
    let kept = format!("description: |+\n  {text}\n\n");
    fixes("description-too-long", Profile::AgentSkills, &kept, &kept);
}

#[test]
fn broken_flow_style_is_not_blamed_on_the_field() {
    let report = judge("pdf", &file("metadata: {\"author\": {\"name\": \"me\"}"), Profile::AgentSkills);
    assert!(report.findings.iter().all(|finding| !finding.rule.name.starts_with("metadata-")));
}

fn rules_found(folder: &str, text: &str, profiles: Vec<Profile>) -> Vec<(&'static str, Level)> {
    let (skill, faults) = Skill::parse(SkillTree::from_texts(folder, &[("SKILL.md", text)]));
    let report = check_skill(&skill, faults, &CheckOptions { profiles, ..CheckOptions::default() });
    report.findings.iter().map(|finding| (finding.rule.name, finding.level)).collect()
}

#[test]
fn one_fault_is_reported_once() {
    let text = "---\nname: PDF Tools\ndescription: Fills forms. Use for PDF forms.\n---\n# T\n\nDo it.\n";
    for profiles in [Vec::new(), vec![Profile::AgentSkills]] {
        assert_eq!(rules_found("pdf", text, profiles), [("name-characters", Level::Error)]);
    }
    let select = |rule: &str| {
        let (skill, faults) = Skill::parse(SkillTree::from_texts("pdf", &[("SKILL.md", text)]));
        let options = CheckOptions { select: vec![rule.to_owned()], ..CheckOptions::default() };
        check_skill(&skill, faults, &options).findings.len()
    };
    assert_eq!((select("name-uppercase"), select("name-differs-from-folder")), (1, 1), "each rule is right by itself");
}

#[test]
fn a_silence_means_what_it_meant_when_findings_are_combined() {
    let file = |comment: &str| {
        format!("---\nname: PDF Tools\n{comment}description: Fills forms. Use for PDF forms.\n---\n# T\n\nDo it.\n")
    };
    let silenced = file("# rep: allow(name-uppercase) old links\n");
    let found = rules_found("pdf", &silenced, Vec::new());
    assert_eq!(found, [("name-characters", Level::Error)], "the comment is used, although the finding is hidden");
    let silenced = file("# rep: allow(name-characters) old links\n");
    let found = rules_found("pdf", &silenced, Vec::new());
    assert_eq!(found, [("name-uppercase", Level::Error)], "a silenced finding explains nothing");
    let both = "---\nname: pdf\nauthor: a\ntagz: b\n# rep: allow(field-unknown) ours\ndescription: Fills. Use for forms.\n---\nDo.\n";
    assert_eq!(rules_found("pdf", both, vec![Profile::AgentSkills]), []);
}

#[test]
fn a_level_that_a_profile_demands_is_not_lowered() {
    let text =
        "---\nname: pdf\ndescription: Fills forms. Use for PDF forms.\nversion: 1.0.0\nmodel: opus\n---\nDo it.\n";
    assert_eq!(rules_found("pdf", text, Vec::new()), [("field-unknown", Level::Info)]);
    for profile in [Profile::AgentSkills, Profile::ClaudeApi, Profile::Portable] {
        let found = rules_found("pdf", text, vec![profile]);
        assert_eq!(found, [("field-unknown", Level::Error), ("field-unknown", Level::Error)], "{}", profile.name());
    }
}
