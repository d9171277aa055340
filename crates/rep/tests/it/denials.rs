//! What a tool is denied is visible to the user: on stderr, in the metadata of the run, in its error and in the record.

use rep_test_support::ScratchFolder;
use serde_json::Value;

use super::run::{sandboxed, skill};
use super::{json, rep};

fn read_meta(scratch: &ScratchFolder) -> Value {
    serde_json::from_str(&scratch.read_file("meta.json")).expect("the run wrote its metadata")
}

#[test]
fn a_denial_that_the_tool_survives_is_shown_everywhere() {
    let scratch = ScratchFolder::new();
    scratch.write_file("private.txt", "mine");
    let script = "read -r x < private.txt; echo y > new.txt; read -r x < missing.txt; echo '{}'\n";
    skill(&scratch, "quiet", "", &[("try", script)]);
    let found = sandboxed(&scratch, "./quiet:try", &[]);
    assert_eq!((found.code, json(&found)), (0, serde_json::json!({})), "{found:?}");
    let read = "was denied: read private.txt; to allow it: permissions.filesystem.read: [\"private.txt\"]";
    let write = "was denied: write new.txt; to allow it: permissions.filesystem.write: [\"new.txt\"]";
    assert!(found.stderr.contains(read) && found.stderr.contains(write), "{found:?}");
    assert!(!found.stderr.contains("denied: read missing.txt"), "{found:?}");
    let meta = read_meta(&scratch);
    assert_eq!(meta["denials"].as_array().map(Vec::len), Some(2), "{meta}");
    assert_eq!(meta["denials"][0]["declaration"], "permissions.filesystem.read");
    assert_eq!(meta["denials_omitted"], 0);
    let record = json(&scratch.run_with_environment(rep(), &["audit", "--json"], &[]));
    assert_eq!(record["runs"][0]["denials"], meta["denials"], "{record}");
}

#[test]
fn many_denials_are_counted_in_every_report() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "many", "", &[("try", "for n in {1..1000}; do : > new-$n; done; exit 1\n")]);
    let found = sandboxed(&scratch, "./many:try", &[]);
    assert_eq!(found.code, 4, "{found:?}");
    assert!(found.stderr.contains("was denied 900 more operations"), "{found:?}");
    let error = &json(&found)["error"];
    assert_eq!((error["denied"].as_array().map(Vec::len), &error["denied_omitted"]), (Some(100), &900.into()));
    assert_eq!(read_meta(&scratch)["denials_omitted"], 900);
    let record = scratch.run_with_environment(rep(), &["audit"], &[]);
    assert!(record.stdout.contains("denied: write new-1\n") && record.stdout.contains("and 900 more denials"));
}

#[test]
fn a_secret_in_a_denied_path_is_redacted() {
    let scratch = ScratchFolder::new();
    let more = "secrets: {required: [{name: A_KEY, usage: env}]}\n";
    skill(&scratch, "leaks", more, &[("try", "echo x > \"new-$A_KEY.txt\"; exit 1\n")]);
    let arguments = ["run", "./leaks:try", "--yes", "--json-meta", "meta.json"];
    let found = scratch.run_with_environment(rep(), &arguments, &[("A_KEY", "tops3cret-value")]);
    assert_eq!(found.code, 4, "{found:?}");
    let meta = read_meta(&scratch);
    assert_eq!(meta["denials"][0]["action"], "write", "{meta}");
    let record = scratch.run_with_environment(rep(), &["audit", "--json"], &[]).stdout;
    for text in [found.stdout, found.stderr, meta.to_string(), record] {
        assert!(!text.contains("tops3cret"), "{text}");
    }
}

#[test]
fn a_refused_command_names_the_declaration_that_allows_it() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "spawns", "", &[("try", "cat < scripts || exec /usr/bin/jq .\nexit 1\n")]);
    let found = sandboxed(&scratch, "./spawns:try", &[]);
    let wanted = "to allow it: permissions.processes.allow_subprocess: true";
    assert!(found.stderr.contains("was denied: spawn") && found.stderr.contains(wanted), "{found:?}");
    assert_eq!(read_meta(&scratch)["denials"][0]["declaration"], "permissions.processes.allow_subprocess");
}
