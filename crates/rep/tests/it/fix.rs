use rep_fixture::Scratch;

use super::{GOOD, json, rules, run};

const FIXABLE: &str = "---\nname: pdf # the tool\ndescription: Fills forms: all of them. Use when a form comes.\nallowed-tools: Read, Bash(git add:*), Write\n\nlicense: \"MIT\"\n---\n\n# PDF\n\nBody.\n";

#[test]
fn fixes_keep_comments_order_quotes_and_blank_lines() {
    let scratch = Scratch::new();
    scratch.write("pdf/SKILL.md", FIXABLE);
    let found = run(&scratch, &["check", "--fix"]);
    assert_eq!(found.code, 0, "{found:?}");
    let expected = FIXABLE
        .replace(
            "Fills forms: all of them. Use when a form comes.",
            "'Fills forms: all of them. Use when a form comes.'",
        )
        .replace("Read, Bash(git add:*), Write", "Read Bash(git add:*) Write");
    assert_eq!(scratch.read("pdf/SKILL.md"), expected);
}

#[test]
fn fixing_twice_changes_nothing_more() {
    let scratch = Scratch::new();
    scratch.write("pdf/SKILL.md", format!("\u{feff}{}", FIXABLE.replace('\n', "\r\n")));
    scratch.write("pdf/pdf.uasp.yaml", "meta:\n  name: pdf\n  version: \"00000000\" # kept\n  type: cli\n");
    run(&scratch, &["check", "--fix"]);
    let once = (scratch.read("pdf/SKILL.md"), scratch.read("pdf/pdf.uasp.yaml"));
    assert!(!once.0.contains('\r') && !once.0.starts_with('\u{feff}'), "{:?}", once.0);
    assert!(once.1.contains("# kept") && !once.1.contains("00000000"), "{:?}", once.1);
    let again = run(&scratch, &["check", "--fix"]);
    assert!(!again.stderr.contains("mended"), "{again:?}");
    assert_eq!((scratch.read("pdf/SKILL.md"), scratch.read("pdf/pdf.uasp.yaml")), once);
    assert_eq!(json(&run(&scratch, &["check", "--format", "json"]))["summary"]["fixable"], 0);
}

#[test]
fn a_diff_shows_the_change_and_makes_none() {
    let scratch = Scratch::new();
    scratch.write("pdf/SKILL.md", FIXABLE);
    let found = run(&scratch, &["check", "--diff"]);
    assert_eq!(found.code, 1);
    assert!(found.stdout.contains("--- a/pdf/SKILL.md\n+++ b/pdf/SKILL.md\n"), "{}", found.stdout);
    assert!(found.stdout.contains("-allowed-tools: Read, Bash(git add:*), Write\n"), "{}", found.stdout);
    assert_eq!(scratch.read("pdf/SKILL.md"), FIXABLE);
    scratch.write("pdf/SKILL.md", GOOD);
    let found = run(&scratch, &["check", "--diff"]);
    assert_eq!((found.code, found.stdout.as_str()), (0, ""));
}

#[test]
fn a_linked_file_is_not_replaced() {
    let scratch = Scratch::new();
    let real = scratch.write("store/original.md", FIXABLE);
    scratch.write("pdf/readme.txt", "x");
    std::os::unix::fs::symlink(&real, scratch.work().join("pdf/SKILL.md")).unwrap();
    let found = run(&scratch, &["check", "pdf", "--fix"]);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(found.stderr.contains("is a link"), "{found:?}");
    assert_eq!(scratch.read("store/original.md"), FIXABLE);
}

#[test]
fn only_what_is_selected_is_fixed() {
    let scratch = Scratch::new();
    scratch.write("pdf/SKILL.md", FIXABLE);
    run(&scratch, &["check", "--fix", "--select", "allowed-tools-commas"]);
    let text = scratch.read("pdf/SKILL.md");
    assert!(text.contains("description: Fills forms: all") && text.contains("Read Bash(git add:*) Write"), "{text}");
    assert!(rules(&run(&scratch, &["check", "--format", "json"])).contains(&"yaml-value-unquoted".to_owned()));
}

#[test]
fn a_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let path = scratch.write("pdf/SKILL.md", FIXABLE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    run(&scratch, &["check", "--fix"]);
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
}
