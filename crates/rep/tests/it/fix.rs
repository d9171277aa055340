use rep_test_support::ScratchFolder;

use super::{GOOD, json, rules, run};

const FIXABLE: &str = "---\nname: pdf # the tool\ndescription: Fills forms: all of them. Use when a form comes.\nallowed-tools: Read, Bash(git add:*), Write\n\nlicense: \"MIT\"\n---\n\n# PDF\n\nBody.\n";

#[test]
fn fixes_keep_comments_order_quotes_and_blank_lines() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", FIXABLE);
    let found = run(&scratch, &["check", "--fix"]);
    assert_eq!(found.code, 0, "{found:?}");
    let expected = FIXABLE
        .replace(
            "Fills forms: all of them. Use when a form comes.",
            "'Fills forms: all of them. Use when a form comes.'",
        )
        .replace("Read, Bash(git add:*), Write", "Read Bash(git add:*) Write");
    assert_eq!(scratch.read_file("pdf/SKILL.md"), expected);
}

#[test]
fn fixing_twice_changes_nothing_more() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", format!("\u{feff}{}", FIXABLE.replace('\n', "\r\n")));
    scratch.write_file("pdf/pdf.uasp.yaml", "meta:\n  name: pdf\n  version: \"00000000\" # kept\n  type: cli\n");
    run(&scratch, &["check", "--fix"]);
    let once = (scratch.read_file("pdf/SKILL.md"), scratch.read_file("pdf/pdf.uasp.yaml"));
    assert!(!once.0.contains('\r') && !once.0.starts_with('\u{feff}'), "{:?}", once.0);
    assert!(once.1.contains("# kept") && !once.1.contains("00000000"), "{:?}", once.1);
    let again = run(&scratch, &["check", "--fix"]);
    assert!(!again.stderr.contains("fixed"), "{again:?}");
    assert_eq!((scratch.read_file("pdf/SKILL.md"), scratch.read_file("pdf/pdf.uasp.yaml")), once);
    assert_eq!(json(&run(&scratch, &["check", "--format", "json"]))["summary"]["fixable"], 0);
}

#[test]
fn a_diff_shows_the_change_and_makes_none() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", FIXABLE);
    let found = run(&scratch, &["check", "--diff"]);
    assert_eq!(found.code, 1);
    assert!(found.stdout.contains("--- a/pdf/SKILL.md\n+++ b/pdf/SKILL.md\n"), "{}", found.stdout);
    assert!(found.stdout.contains("-allowed-tools: Read, Bash(git add:*), Write\n"), "{}", found.stdout);
    assert_eq!(scratch.read_file("pdf/SKILL.md"), FIXABLE);
    scratch.write_file("pdf/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "--diff"]);
    assert_eq!((found.code, found.stdout.as_str()), (0, ""));
}

#[test]
fn a_linked_file_is_not_replaced() {
    let scratch = ScratchFolder::new();
    let real = scratch.write_file("store/original.md", FIXABLE);
    scratch.write_file("pdf/readme.txt", "x");
    std::os::unix::fs::symlink(&real, scratch.work_folder().join("pdf/SKILL.md")).unwrap();
    scratch.write_file("other/SKILL.md", FIXABLE.replace("name: pdf #", "name: other #"));
    let found = run(&scratch, &["check", "pdf", "other", "--fix"]);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(found.stderr.contains("is a link") && found.stderr.contains("fixed 1 file"), "{found:?}");
    assert!(found.stdout.contains("checked 2 skills"), "the report is printed all the same: {found:?}");
    assert_eq!(scratch.read_file("store/original.md"), FIXABLE);
}

#[test]
fn only_what_is_selected_is_fixed() {
    let scratch = ScratchFolder::new();
    scratch.write_file("pdf/SKILL.md", FIXABLE);
    run(&scratch, &["check", "--fix", "--select", "allowed-tools-commas"]);
    let text = scratch.read_file("pdf/SKILL.md");
    assert!(text.contains("description: Fills forms: all") && text.contains("Read Bash(git add:*) Write"), "{text}");
    assert!(rules(&run(&scratch, &["check", "--format", "json"])).contains(&"yaml-value-unquoted".to_owned()));
}

#[test]
fn a_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = ScratchFolder::new();
    let path = scratch.write_file("pdf/SKILL.md", FIXABLE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    run(&scratch, &["check", "--fix"]);
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_folder_behind_a_link_is_not_changed() {
    let scratch = ScratchFolder::new();
    scratch.write_file("elsewhere/pdf/SKILL.md", FIXABLE);
    scratch.write_file("lib/readme.txt", "x");
    std::os::unix::fs::symlink(scratch.work_folder().join("elsewhere/pdf"), scratch.work_folder().join("lib/pdf"))
        .unwrap();
    let found = run(&scratch, &["check", "lib", "--fix"]);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(found.stderr.contains("behind a link"), "{found:?}");
    assert_eq!(scratch.read_file("elsewhere/pdf/SKILL.md"), FIXABLE);
}

#[test]
fn a_version_written_as_a_block_is_replaced_whole() {
    let scratch = ScratchFolder::new();
    let text = "meta:\n  version: |\n    abc\n    def\n  name: v\n  type: cli\n";
    scratch.write_file("v.uasp.yaml", text);
    run(&scratch, &["check", "v.uasp.yaml", "--fix"]);
    let fixed = scratch.read_file("v.uasp.yaml");
    assert!(fixed.starts_with("meta:\n  version: \"") && fixed.ends_with("\"\n  name: v\n  type: cli\n"), "{fixed:?}");
    assert_eq!(run(&scratch, &["hash", "v.uasp.yaml", "--check"]).code, 0);
}

#[test]
fn a_version_that_is_content_elsewhere_is_left_alone() {
    let scratch = ScratchFolder::new();
    let text = "meta:\n  version: &v \"00000000\"\n  name: v\n  type: cli\nx-y: *v\n";
    scratch.write_file("v.uasp.yaml", text);
    let found = run(&scratch, &["hash", "v.uasp.yaml", "--write"]);
    assert_eq!(found.code, 2, "{found:?}");
    run(&scratch, &["check", "v.uasp.yaml", "--fix"]);
    assert_eq!(scratch.read_file("v.uasp.yaml"), text);
}
