//! Man pages: one per command, without warnings of the programs that format them.

use std::path::Path;

use rep_test_support::{ScratchFolder, is_program_installed};

use super::run;

/// A folder with all pages, and their names.
fn pages(scratch: &ScratchFolder) -> Vec<String> {
    let found = run(scratch, &["man", "share/man1"]);
    assert_eq!((found.code, &*found.stdout), (0, ""), "{found:?}");
    let entries = std::fs::read_dir(scratch.work_folder().join("share/man1")).expect("the folder was made");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(found.stderr.contains(&format!("wrote {} man pages", names.len())), "{found:?}");
    names
}

#[test]
fn every_command_has_a_page_that_refers_to_others() {
    let scratch = ScratchFolder::new();
    let names = pages(&scratch);
    for name in ["rep.1", "rep-check.1", "rep-read-properties.1", "rep-audit.1", "rep-audit-verify.1", "rep-help.1"] {
        assert!(names.iter().any(|page| page == name), "{name} not in {names:?}");
    }
    assert!(!names.iter().any(|page| page.contains("-help-") || page == "rep-audit-help.1"), "{names:?}");
    let check = scratch.read_file("share/man1/rep-check.1");
    for part in [
        ".TH rep-check 1 \"\" \"rep ",
        "rep\\-check \\- Check skills",
        ".SH OPTIONS",
        ".SH EXAMPLES",
        "rep check skills",
    ] {
        assert!(check.contains(part), "{part} not in\n{check}");
    }
    let root = scratch.read_file("share/man1/rep.1");
    assert!(root.contains("rep\\-check(1)") && root.contains(".SH \"EXIT STATUS\""), "{root}");
    // A second run gives the same bytes.
    pages(&scratch);
    assert_eq!(scratch.read_file("share/man1/rep-check.1"), check);
}

#[test]
fn pages_are_formatted_without_a_warning() {
    let scratch = ScratchFolder::new();
    let names = pages(&scratch);
    let paths: Vec<String> = names.iter().map(|name| format!("share/man1/{name}")).collect();
    if is_program_installed("groff") {
        for path in &paths {
            let found = scratch
                .run_program(Path::new("groff"), &["-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-P-o", "-ww", path]);
            assert_eq!((found.code, &*found.stderr), (0, ""), "{path}");
            assert!(found.stdout.contains("SYNOPSIS"), "{path}: {}", found.stdout);
        }
    }
    // Its warnings are about the empty date and about blank lines around lists, which clap_mangen writes.
    if is_program_installed("mandoc") {
        let arguments: Vec<&str> = ["-Tlint", "-Werror"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        let found = scratch.run_program(Path::new("mandoc"), &arguments);
        assert_eq!((found.code, &*found.stdout), (0, ""), "{found:?}");
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let scratch = ScratchFolder::new();
    scratch.write_file("file", "");
    let found = run(&scratch, &["man", "file/man1"]);
    assert_eq!(found.code, 2, "{found:?}");
    assert!(found.stderr.contains("file/man1"), "{found:?}");
}
