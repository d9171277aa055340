//! The cache of `rep check`: the same results as a fresh check, whatever happens to the skills and to the cache.
#![expect(clippy::unwrap_used, reason = "all of this is a test, its helpers too")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rep_test_support::{ScratchFolder, wait_until};

use super::{GOOD, run};

const SKILLS: usize = 150;

/// A library with all kinds of findings.
fn library() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    for number in 0..SKILLS {
        let name = format!("skill-{number:03}");
        let text = GOOD.replace("name: pdf", &format!("name: {name}"));
        let text = match number % 5 {
            0 => text.replace("description: ", "version: 1.0\nauthor: me\ndescription: "),
            1 => text + "\nSee [this](missing.md), [that](../x.md) and `scripts/gone.py`.\n",
            2 => text.replace("name: skill", "name: Other").replace('\n', "\r\n"),
            3 => text.replace("description: ", "allowed-tools: Read, Write\ndescription: >\n  é"),
            _ => text,
        };
        scratch.write_file(&format!("lib/{name}/SKILL.md"), text);
        scratch.write_file(&format!("lib/{name}/scripts/run.sh"), "#!/bin/sh\necho\n");
        if number % 10 == 4 {
            scratch.write_file(&format!("lib/{name}/inner/deep/SKILL.md"), "no frontmatter\n");
        }
    }
    scratch
}

fn cache_files(scratch: &ScratchFolder) -> Vec<PathBuf> {
    let folder = scratch.work_folder().join("../home/.cache/repertoire/check");
    fs::read_dir(folder).map(|files| files.flatten().map(|file| file.path()).collect()).unwrap_or_default()
}

/// Checks with and without the cache, and compares.
fn check(scratch: &ScratchFolder, options: &[&str]) -> String {
    let arguments = [&["check", "lib", "--format", "json"], options].concat();
    let cached = run(scratch, &arguments);
    let fresh = run(scratch, &[&arguments[..], &["--no-cache"]].concat());
    assert!(cached.stdout == fresh.stdout && cached.code == fresh.code, "cached and fresh results differ");
    cached.stdout
}

/// Checks until every skill is in the cache: files that were written in the same instant are not.
fn fill(scratch: &ScratchFolder) -> PathBuf {
    let size = || cache_files(scratch).first().map_or(0, |file| fs::metadata(file).unwrap().len());
    let mut sizes = vec![0];
    wait_until("every skill is cached", Duration::from_mins(1), || {
        check(scratch, &[]);
        sizes.push(size());
        sizes.len() > 2 && sizes[sizes.len() - 1] == sizes[sizes.len() - 2] && sizes[sizes.len() - 1] > 0
    });
    cache_files(scratch).remove(0)
}

#[test]
fn a_cached_check_reports_what_a_fresh_one_does() {
    let scratch = library();
    assert!(cache_files(&scratch).is_empty());
    let first = check(&scratch, &[]);
    let file = fill(&scratch);
    assert_eq!(check(&scratch, &[]), first);
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    check(&scratch, &[]);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written, "nothing changed, so nothing is written");
    // Options are part of what is cached.
    for options in [&["--profile", "claude-api"][..], &["--select", "field-unknown"], &["--exclude", "*.sh"]] {
        check(&scratch, options);
        check(&scratch, options);
    }
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn every_change_of_a_skill_is_noticed() {
    let scratch = library();
    fill(&scratch);
    let before = check(&scratch, &[]);
    // The same size, and the old time.
    let path = scratch.work_folder().join("lib/skill-004/SKILL.md");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let text = scratch.read_file("lib/skill-004/SKILL.md").replace("name: skill-004", "name: skill-005");
    scratch.write_file("lib/skill-004/SKILL.md", text);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let renamed = check(&scratch, &[]);
    assert_ne!(renamed, before);
    fill(&scratch);
    // A file that a link names appears, a nested skill goes, a script gets other line ends, a skill disappears.
    scratch.write_file("lib/skill-001/missing.md", "Here.\n");
    assert_ne!(check(&scratch, &[]), renamed);
    fs::remove_dir_all(scratch.work_folder().join("lib/skill-014/inner")).unwrap();
    scratch.write_file("lib/skill-009/scripts/run.sh", "#!/bin/sh\r\necho\r\n");
    fs::remove_dir_all(scratch.work_folder().join("lib/skill-010")).unwrap();
    std::os::unix::fs::symlink("SKILL.md", scratch.work_folder().join("lib/skill-019/link.md")).unwrap();
    let after = check(&scratch, &[]);
    assert!(after.contains("script-crlf"), "{after}");
    fill(&scratch);
    assert_eq!(check(&scratch, &[]), after);
}

#[test]
fn a_damaged_cache_is_ignored_and_replaced() {
    let scratch = library();
    let file = fill(&scratch);
    let report = check(&scratch, &[]);
    let good = fs::read(&file).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let half = good[..good.len() / 2].to_vec();
    let of_another_version = [&good[..8], &99_u32.to_le_bytes(), &good[12..]].concat();
    for bad in [flipped, half, of_another_version, Vec::new(), b"repcheck".to_vec(), vec![0xff; 4096]] {
        fs::write(&file, &bad).unwrap();
        assert_eq!(check(&scratch, &[]), report);
        assert_eq!(fs::read(&file).unwrap().len(), good.len(), "it is replaced");
    }
    // Others can write to it, so it is not believed.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(check(&scratch, &[]), report);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn few_skills_are_not_cached() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", GOOD);
    run(&scratch, &["check"]);
    run(&scratch, &["check"]);
    assert!(cache_files(&scratch).is_empty());
}
