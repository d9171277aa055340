//! Runs every rule's page: each invalid example gives exactly its report, by that rule alone; each valid one nothing.
//!
//! With `REP_BLESS=1` the reports in the pages are rewritten; read the diff.
#![expect(clippy::disallowed_methods, reason = "tests read and bless the pages on disk")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use rep_check::{Levels, Options, Profile, ProfileSet, RULES, Report, Rule, check, check_set, render};
use rep_model::{Content, Entry, Leads, Resolved, Skill, SkillTree, resolve};
use rep_test_support::{Example, File, Kind, Page};

fn trees(example: &Example) -> Vec<SkillTree> {
    let mut trees: BTreeMap<String, SkillTree> = BTreeMap::new();
    for file in &example.files {
        let (folder, path) = file.path.split_once('/').unwrap_or(("", &file.path));
        let tree = trees.entry(folder.to_owned()).or_insert_with(|| SkillTree::of(folder, &[]));
        tree.is_lone_file = folder.is_empty();
        if file.kind.as_deref() == Some("left-out") {
            tree.left_out = words(&file.bytes);
            continue;
        }
        let added = SkillTree::of(folder, &[(path, "")]);
        tree.entries.extend(added.entries);
        let entry = tree.entries.get_mut(path).expect("it was just added");
        if let Some(target) = &file.link {
            let from = path.rsplit_once('/').map_or("", |(above, _)| above);
            let leads = match resolve(from, target) {
                Resolved::Inside(real) if example.files.iter().any(|file| file.path.ends_with(&real)) => {
                    Leads::Inside(real)
                }
                Resolved::Inside(_) => Leads::Nowhere,
                Resolved::Outside | Resolved::Absolute => Leads::Outside,
            };
            *entry = Entry::Link { target: target.clone(), leads, content: Content::NotRead };
        } else if let Some(size_bytes) = file.size_bytes {
            *entry = Entry::File { size_bytes, is_executable: file.is_executable, content: Content::NotRead };
        } else {
            *entry = made(file);
        }
    }
    trees.into_values().collect()
}

/// What a fenced file stands for, where it is no link.
fn made(file: &File) -> Entry {
    let of = |size: usize, content| Entry::File { size_bytes: size as u64, is_executable: file.is_executable, content };
    match file.kind.as_deref() {
        None => of(file.bytes.len(), Content::Bytes(file.bytes.clone())),
        Some("directory") => Entry::Directory,
        Some("pipe") => Entry::Other("named pipe"),
        Some("unreadable") => of(0, Content::Unreadable(words(&file.bytes))),
        Some("too-large") => {
            let bound: u32 = words(&file.bytes).parse().expect("the fence holds the bound");
            of(bound as usize + 1, Content::TooLarge(bound.into()))
        }
        Some(kind) => panic!("the page names an unknown kind, `{kind}`"),
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn report(rule: &'static Rule, example: &Example) -> String {
    let named = example.profile.as_deref().map(|name| Profile::named(name).expect("the page names a profile"));
    let levels = &rule.levels;
    let first = [levels.error, levels.warning, levels.info].into_iter().flat_map(ProfileSet::iter).next();
    let profile = named.or(first).expect("the rule has a profile");
    let has = |wanted: &str| example.words.iter().any(|word| word == wanted);
    let (strict_schema, seed_regex) = (has("strict-schema"), has("seed-regex"));
    // A silence is judged with the rule it silences, so those three see every rule's findings.
    let select = if rule.name.starts_with("allow-") { Vec::new() } else { vec![rule.name.to_owned()] };
    let options = Options { profiles: vec![profile], select, strict_schema, seed_regex, ..Options::default() };
    let mut report = Report::default();
    let mut facts = Vec::new();
    for tree in trees(example) {
        let (skill, faults) = Skill::parse(tree);
        let found = check(&skill, faults, &options);
        report.findings.extend(found.findings);
        facts.push(found.facts);
    }
    report.findings.extend(check_set(&facts, &options));
    report.findings.retain(|finding| finding.rule.name == rule.name);
    report.sort();
    report.findings.iter().map(render::concise).collect()
}

#[test]
fn every_page_is_true() {
    let is_blessing = std::env::var_os("REP_BLESS").is_some();
    let mut wrong = Vec::new();
    for rule in RULES.iter().copied() {
        let page = Page::parse(rule.page);
        let file = format!("src/rules/{}.md", rule.name.replace('-', "_"));
        let mut blessed = rule.page.to_owned();
        for example in page.examples.iter().rev() {
            let expected = if example.kind == Kind::Valid { "" } else { &example.report };
            let found = report(rule, example);
            if example.kind == Kind::Invalid && found.is_empty() {
                wrong.push(format!("{file}:{}: the invalid example gives no finding", example.line));
            } else if found != expected {
                if example.kind == Kind::Invalid && is_blessing {
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
        let examples = Page::parse(page).examples;
        assert!(examples.iter().all(|example| !example.files.is_empty()), "{}: an example without files", rule.name);
    }
}

#[test]
fn rules_are_sorted_unique_cited_and_in_a_profile() {
    for pair in RULES.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} stands before {}", pair[0].name, pair[1].name);
    }
    for rule in RULES {
        assert!(!rule.cites.is_empty(), "{} cites nothing", rule.name);
        let Levels { error, warning, info, .. } = rule.levels;
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
    for entry in std::fs::read_dir(folder).expect("the folder of rules can be read") {
        let path = entry.expect("the folder of rules can be read").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("rule files have plain names");
        assert!(rep_check::rule(&stem.replace('_', "-")).is_some(), "{stem} is not listed in rules.rs");
    }
}

#[test]
fn no_rule_imports_from_another_rule() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    for rule in RULES {
        let path = folder.join(format!("{}.rs", rule.name.replace('-', "_")));
        let code = std::fs::read_to_string(path).expect("the rule's file can be read");
        let is_import = |line: &str| line.starts_with("use super::") || line.starts_with("use crate::rules::");
        assert!(!code.lines().any(is_import), "{}: move shared code to a module of its own", rule.name);
    }
}

#[test]
fn every_profile_has_rules() {
    for profile in Profile::all() {
        assert!(RULES.iter().any(|rule| rule.levels.of(*profile).is_some()), "{} is empty", profile.name());
    }
}
