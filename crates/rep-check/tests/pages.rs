//! Tests every rule page: each invalid example gives exactly its report, and each valid example gives none.
//!
//! If `REP_BLESS=1` is set, the reports in the pages are rewritten; review the diff.
#![expect(clippy::disallowed_methods, reason = "tests read and bless the pages on disk")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use rep_check::fix::{FindingFix, FixApplicability, FixEdit, fix_skill};
use rep_check::{
    CheckOptions, CheckReport, LintRule, Profile, ProfileSet, RULES, RuleLevels, SkillChecker, check_skill,
    check_skill_set, render,
};
use rep_model::{FileContent, ResolvedSkillPath, Skill, SkillTree, SymlinkTarget, TreeEntry, resolve_skill_path};
use rep_test_support::{ExampleFile, ExampleKind, RuleExample, RulePage};

fn trees(example: &RuleExample) -> Vec<SkillTree> {
    let mut trees: BTreeMap<String, SkillTree> = BTreeMap::new();
    for file in &example.files {
        let (folder, path) = file.path.split_once('/').unwrap_or(("", &file.path));
        let tree = trees.entry(folder.to_owned()).or_insert_with(|| SkillTree::from_texts(folder, &[]));
        tree.is_lone_file = folder.is_empty();
        if file.kind.as_deref() == Some("left-out") {
            tree.omissions = words(&file.bytes);
            continue;
        }
        let added = SkillTree::from_texts(folder, &[(path, "")]);
        tree.entries.extend(added.entries);
        let entry = tree.entries.get_mut(path).expect("it was just added");
        if let Some(target) = &file.link {
            let from = path.rsplit_once('/').map_or("", |(above, _)| above);
            let leads = match resolve_skill_path(from, target) {
                ResolvedSkillPath::Inside(real) if example.files.iter().any(|file| file.path.ends_with(&real)) => {
                    SymlinkTarget::Inside(real)
                }
                ResolvedSkillPath::Inside(_) => SymlinkTarget::Nowhere,
                ResolvedSkillPath::Outside | ResolvedSkillPath::Absolute => SymlinkTarget::Outside,
            };
            *entry = TreeEntry::Link { target: target.clone(), destination: leads, content: FileContent::NotRead };
        } else if let Some(size_bytes) = file.size_bytes {
            *entry = TreeEntry::File { size_bytes, is_executable: file.is_executable, content: FileContent::NotRead };
        } else {
            *entry = made(file);
        }
    }
    trees.into_values().collect()
}

/// Creates the tree entry for a fenced file that is not a link.
fn made(file: &ExampleFile) -> TreeEntry {
    let of =
        |size: usize, content| TreeEntry::File { size_bytes: size as u64, is_executable: file.is_executable, content };
    match file.kind.as_deref() {
        None => of(file.bytes.len(), FileContent::Bytes(file.bytes.clone())),
        Some("directory") => TreeEntry::Directory,
        Some("pipe") => TreeEntry::Other("named pipe"),
        Some("unreadable") => of(0, FileContent::Unreadable(words(&file.bytes))),
        Some("too-large") => {
            let bound: u32 = words(&file.bytes).parse().expect("the fence contains the limit");
            of(bound as usize + 1, FileContent::TooLarge(bound.into()))
        }
        Some(kind) => panic!("the page names an unknown kind, `{kind}`"),
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn report(rule: &'static LintRule, example: &RuleExample) -> String {
    let is_detected = example.profile.as_deref() == Some("detected");
    let named = example.profile.as_deref().filter(|_| !is_detected);
    let named = named.map(|name| Profile::from_name(name).expect("the page names a profile"));
    let levels = &rule.levels;
    let first = [levels.error, levels.warning, levels.info].into_iter().flat_map(ProfileSet::iter).next();
    let profile = named.or(first).expect("the rule has a profile");
    let profiles = if is_detected { Vec::new() } else { vec![profile] };
    let has = |wanted: &str| example.words.iter().any(|word| word == wanted);
    let (strict_schema, seed_regex) = (has("strict-schema"), has("seed-regex"));
    // The three rules about allow comments need the findings of all rules.
    let select = if rule.name.starts_with("allow-") { Vec::new() } else { vec![rule.name.to_owned()] };
    let options = CheckOptions { profiles, select, strict_schema, seed_regex, ..CheckOptions::default() };
    let mut report = CheckReport::default();
    let mut facts = Vec::new();
    for tree in trees(example) {
        let (skill, faults) = Skill::parse(tree);
        let found = check_skill(&skill, faults, &options);
        report.findings.extend(found.findings);
        facts.push(found.facts);
    }
    report.findings.extend(check_skill_set(
        &facts.iter().collect::<Vec<_>>(),
        &std::collections::BTreeSet::new(),
        &options,
    ));
    report.findings.retain(|finding| finding.rule.name == rule.name);
    report.sort_findings();
    report.findings.iter().map(render::render_concise).collect()
}

#[test]
fn every_page_is_true() {
    let is_blessing = std::env::var_os("REP_BLESS").is_some();
    let mut wrong = Vec::new();
    for rule in RULES.iter().copied() {
        let page = RulePage::parse(rule.page);
        let file = format!("src/rules/{}.md", rule.name.replace('-', "_"));
        let mut blessed = rule.page.to_owned();
        for example in page.examples.iter().rev() {
            let expected = if example.kind == ExampleKind::Valid { "" } else { &example.report };
            let found = report(rule, example);
            if example.kind == ExampleKind::Invalid && found.is_empty() {
                wrong.push(format!("{file}:{}: the invalid example gives no finding", example.line));
            } else if found != expected {
                if example.kind == ExampleKind::Invalid && is_blessing {
                    blessed.replace_range(example.report_range.clone(), &found);
                } else {
                    wrong.push(format!("{file}:{}: expected\n{expected}\nfound\n{found}", example.line));
                }
            }
        }
        if blessed != rule.page {
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&file);
            std::fs::write(path, blessed).expect("the page can be written");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_page_is_complete() {
    for rule in RULES {
        let page = rule.page;
        let title = format!("# {}\n", rule.name);
        assert!(page.starts_with(&title), "{}: starts with `{title}`", rule.name);
        for heading in ["## What it finds\n", "## Why it matters\n", "## Invalid\n", "## Valid\n"] {
            assert!(page.contains(heading), "{}: lacks `{heading}`", rule.name);
        }
        let examples = RulePage::parse(page).examples;
        assert!(examples.iter().all(|example| !example.files.is_empty()), "{}: an example without files", rule.name);
    }
}

#[test]
fn rules_are_sorted_unique_cited_and_in_a_profile() {
    for pair in RULES.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} is listed before {}", pair[0].name, pair[1].name);
    }
    for rule in RULES {
        assert!(!rule.citations.is_empty(), "{} cites nothing", rule.name);
        let RuleLevels { error, warning, info, .. } = rule.levels;
        let profiles = error.union(warning).union(info).iter().count();
        assert!(profiles > 0, "{} is in no profile", rule.name);
        let listed: usize = [error, warning, info].into_iter().map(|set| set.iter().count()).sum();
        assert_eq!(listed, profiles, "{} has two levels in one profile", rule.name);
        assert!(!rule.summary.contains(" or "), "{}: one rule, one fault", rule.name);
        for prefix in ["check-", "no-", "valid-"] {
            assert!(!rule.name.starts_with(prefix), "{} states no defect", rule.name);
        }
    }
}

#[test]
fn every_rule_file_is_listed() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    for entry in std::fs::read_dir(folder).expect("the rules directory can be read") {
        let path = entry.expect("the rules directory can be read").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("rule files have plain names");
        assert!(rep_check::find_rule(&stem.replace('_', "-")).is_some(), "{stem} is not listed in rules.rs");
    }
}

#[test]
fn no_rule_imports_from_another_rule() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    for rule in RULES {
        let path = folder.join(format!("{}.rs", rule.name.replace('-', "_")));
        let code = std::fs::read_to_string(path).expect("the rule's file can be read");
        let is_import = |line: &str| line.starts_with("use super::") || line.starts_with("use crate::rules::");
        assert!(!code.lines().any(is_import), "{}: move shared code to a separate module", rule.name);
    }
}

#[test]
fn every_profile_has_rules() {
    for profile in Profile::all() {
        assert!(RULES.iter().any(|rule| rule.levels.for_profile(*profile).is_some()), "{} is empty", profile.name());
    }
}

/// The options under which an example is invalid, but with all rules.
fn all_rules(rule: &'static LintRule, example: &RuleExample) -> CheckOptions {
    let named = example.profile.as_deref().filter(|name| *name != "detected");
    let named = named.map(|name| Profile::from_name(name).expect("the page names a profile"));
    let levels = &rule.levels;
    let first = [levels.error, levels.warning, levels.info].into_iter().flat_map(ProfileSet::iter).next();
    let has = |wanted: &str| example.words.iter().any(|word| word == wanted);
    CheckOptions {
        profiles: named.or(first).into_iter().collect(),
        strict_schema: has("strict-schema"),
        seed_regex: has("seed-regex"),
        ..CheckOptions::default()
    }
}

/// How many findings each rule has in a tree.
fn counts(tree: &SkillTree, checker: &SkillChecker) -> BTreeMap<&'static str, usize> {
    let (skill, faults) = Skill::parse(tree.clone());
    let mut counts = BTreeMap::new();
    for finding in checker.collect_findings(&skill, faults) {
        *counts.entry(finding.rule.name).or_default() += 1;
    }
    counts
}

/// Applies one fix.
fn apply(tree: &SkillTree, fix: &FindingFix) -> SkillTree {
    let mut tree = tree.clone();
    let mut edits: Vec<&FixEdit> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| match edit {
        FixEdit::Replace { edit, .. } => std::cmp::Reverse((edit.span.start, edit.span.end)),
        FixEdit::Rename { .. } => std::cmp::Reverse((0, 0)),
    });
    for edit in edits {
        match edit {
            FixEdit::Replace { file, edit } => {
                let Some(TreeEntry::File { content: FileContent::Bytes(bytes), .. }) = tree.entries.get_mut(file)
                else {
                    panic!("a fix edits a file: {fix:?}")
                };
                bytes.splice(edit.span.range(), edit.replacement.bytes());
            }
            FixEdit::Rename { file, new_file } => {
                let entry = tree.entries.remove(file).expect("the renamed file exists");
                assert!(tree.entries.insert(new_file.clone(), entry).is_none(), "{fix:?}");
            }
        }
    }
    tree
}

/// The rules whose findings may follow from a fix: a content hash changes with the content, and the form of a version is
/// checked as soon as it is text.
const CONSEQUENCES: [&str; 4] =
    ["spec-version-unknown", "tools-json-stale", "uasp-version-stale", "version-not-semver"];

/// The rules with more findings than before.
fn added(before: &BTreeMap<&'static str, usize>, after: &BTreeMap<&'static str, usize>) -> Vec<&'static str> {
    let more = after.iter().filter(|(rule, count)| before.get(*rule).copied().unwrap_or(0) < **count);
    more.map(|(rule, _)| *rule).filter(|rule| !CONSEQUENCES.contains(rule)).collect()
}

#[test]
fn every_fix_resolves_its_finding_and_adds_none() {
    let mut wrong = Vec::new();
    let mut fixed: BTreeMap<&str, FixApplicability> = BTreeMap::new();
    for rule in RULES.iter().copied() {
        for example in RulePage::parse(rule.page).examples {
            let checker = SkillChecker::new(all_rules(rule, &example));
            for tree in trees(&example) {
                let before = counts(&tree, &checker);
                let (skill, faults) = Skill::parse(tree.clone());
                for finding in checker.collect_findings(&skill, faults) {
                    let Some(fix) = &finding.fix else { continue };
                    fixed.insert(finding.rule.name, fix.applicability);
                    let after = counts(&apply(&tree, fix), &checker);
                    let own = |counts: &BTreeMap<&str, usize>| counts.get(finding.rule.name).copied().unwrap_or(0);
                    if own(&after) >= own(&before) || !added(&before, &after).is_empty() {
                        wrong.push(format!(
                            "{} in {} line {}: {:?}\n  adds {:?}",
                            finding.rule.name,
                            rule.name,
                            example.line,
                            fix,
                            added(&before, &after)
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let safe = fixed.values().filter(|applicability| **applicability == FixApplicability::Safe).count();
    println!("{} rules offer a fix, {safe} a safe one: {:?}", fixed.len(), fixed.keys());
    assert!(fixed.len() >= 50, "only {} rules offer a fix: {:?}", fixed.len(), fixed.keys());
}

#[test]
fn fixing_everything_twice_changes_nothing_more() {
    let mut wrong = Vec::new();
    for rule in RULES.iter().copied() {
        for example in RulePage::parse(rule.page).examples {
            let checker = SkillChecker::new(all_rules(rule, &example));
            for tree in trees(&example) {
                for applicability in [FixApplicability::Safe, FixApplicability::Unsafe] {
                    let fix = |tree: &SkillTree| {
                        let (skill, faults) = Skill::parse(tree.clone());
                        let files = fix_skill(skill, faults, &checker, applicability);
                        let mut tree = tree.clone();
                        for file in files {
                            let mut entry = tree.entries.remove(&file.file).expect("a fixed file exists");
                            if let TreeEntry::File { content, .. } | TreeEntry::Link { content, .. } = &mut entry {
                                *content = FileContent::Bytes(file.after);
                            }
                            tree.entries.insert(file.new_file, entry);
                        }
                        tree
                    };
                    let once = fix(&tree);
                    let text = |tree: &SkillTree| format!("{:?}", tree.entries);
                    if text(&fix(&once)) != text(&once) {
                        wrong.push(format!("{} line {}: fixing again changes more", rule.name, example.line));
                    }
                    let more = added(&counts(&tree, &checker), &counts(&once, &checker));
                    if !more.is_empty() {
                        wrong.push(format!("{} line {}: fixing adds {more:?}", rule.name, example.line));
                    }
                    let (skill, faults) = Skill::parse(once);
                    let left = checker.collect_findings(&skill, faults);
                    let is_left = |finding: &rep_check::Finding| {
                        finding.fix.as_ref().is_some_and(|fix| fix.applicability <= applicability)
                    };
                    for finding in left.iter().filter(|finding| is_left(finding)) {
                        wrong.push(format!("{} line {}: `{}` is left", rule.name, example.line, finding.rule.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
