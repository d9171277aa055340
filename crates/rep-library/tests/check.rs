//! Checking skills on a real file system: one skill of a catalog has the findings its folder has.

use std::path::PathBuf;

use rep_check::fix::FixApplicability;
use rep_check::{CheckReport, Finding, Level};
use rep_library::check::fix::{FixError, plan_fixes};
use rep_library::check::{CheckSettings, CheckSettingsError, check_entry, check_paths};
use rep_library::{Catalog, LibraryOptions};
use rep_test_support::ScratchFolder;

fn scratch() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.write_file(
        "skills/outer/SKILL.md",
        "---\nname: other\ndescription: Writes letters. Use it for letters.\n---\n# Outer\n\nRead [it](missing.md).\n",
    );
    scratch.write_file(
        "skills/outer/inner/SKILL.md",
        "---\nname: other\ndescription: Writes cards. Use it for cards.\n---\n# Inner\r\n\r\nDo.\n",
    );
    scratch
}

fn settings(scratch: &ScratchFolder) -> CheckSettings {
    CheckSettings { folder: scratch.work_folder().clone(), ..CheckSettings::default() }
}

fn names(report: &CheckReport) -> Vec<(&'static str, Level, String)> {
    let name = |finding: &Finding| finding.place.display_path.rsplit("skills/").next().unwrap_or_default().to_owned();
    report.findings.iter().map(|finding| (finding.rule.name, finding.level, name(finding))).collect()
}

#[test]
fn a_skill_of_a_catalog_has_the_findings_of_its_folder_and_obeys_the_settings() {
    let scratch = scratch();
    let folder: PathBuf = scratch.work_folder().join("skills");
    let catalog =
        Catalog::discover(&LibraryOptions { paths: vec![folder.clone()], ..LibraryOptions::default() }).unwrap();
    let entry = catalog.entries.iter().find(|entry| entry.folder.ends_with("outer")).unwrap();
    let mut seen = Vec::new();
    for levels in [
        "check: {profiles: [agentskills, claude-api]}\n",
        "check: {ignore: [link-target-missing], levels: {name-differs-from-folder: info}}\n",
    ] {
        scratch.write_file("rep.yaml", levels);
        let options = settings(&scratch).resolve().unwrap();
        let by_path = check_paths(&[folder.join("outer")], &options, &|_| {}).unwrap();
        let by_entry = check_entry(entry, &options);
        assert_eq!(names(&by_path.report), names(&by_entry));
        assert_eq!((by_entry.skills, by_path.report.skills), (2, 2), "the nested skill is checked too");
        seen.push(names(&by_entry).into_iter().map(|(rule, level, _)| (rule, level)).collect::<Vec<_>>());
    }
    let has = |at: usize, rule: &str| seen[at].iter().any(|(name, _)| *name == rule);
    assert!(has(0, "link-target-missing") && !has(1, "link-target-missing"));
    assert!(has(0, "name-duplicate"), "rules over sets see the nested skill: {:?}", seen[0]);
    assert!(seen[1].contains(&("name-differs-from-folder", Level::Info)));
}

#[test]
fn a_rule_that_does_not_exist_is_named_with_the_nearest() {
    let scratch = scratch();
    let wanted = CheckSettings { ignore: vec!["name-duplicat".to_owned()], ..settings(&scratch) };
    match wanted.resolve() {
        Err(CheckSettingsError::UnknownRule { name, nearest }) => {
            assert_eq!((name.as_str(), nearest), ("name-duplicat", Some("name-duplicate")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn fixes_are_planned_first_and_written_only_below_the_paths() {
    let scratch = scratch();
    let folder = scratch.work_folder().join("skills");
    let options = settings(&scratch).resolve().unwrap();
    let fixes = plan_fixes(&[folder.join("outer")], &options, FixApplicability::Safe).unwrap();
    let [file] = fixes.files.as_slice() else { panic!("{fixes:?}") };
    assert!(
        file.path.ends_with("outer/inner/SKILL.md") && file.render_diff().contains("-# Inner\r"),
        "{}",
        file.render_diff()
    );
    assert!(fixes.write_files().all(|(_, result)| result.is_ok()));
    assert!(plan_fixes(&[folder], &options, FixApplicability::Safe).unwrap().files.is_empty());
    // A skill that only a link brings below the path is looked at and not changed.
    scratch
        .write_file("elsewhere/far/SKILL.md", "---\nname: far\ndescription: Writes. Use it.\n---\n# Far\r\n\r\nDo.\n");
    std::os::unix::fs::symlink(scratch.work_folder().join("elsewhere/far"), scratch.work_folder().join("skills/far"))
        .unwrap();
    let fixes = plan_fixes(&[scratch.work_folder().join("skills")], &options, FixApplicability::Safe).unwrap();
    let results: Vec<_> = fixes.write_files().map(|(_, result)| result).collect();
    assert!(matches!(results.as_slice(), [Err(FixError::BehindLink { .. })]), "{results:?}");
}
