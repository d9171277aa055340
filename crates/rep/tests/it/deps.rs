//! `rep deps --install`: packages from a folder of the test, installed by the real pip in the real sandbox, and used by a run.

use std::path::Path;
use std::process::Command;

use rep_test_support::{ProgramRun, ScratchFolder, is_program_installed};
use serde_json::{Value, json};

use super::{json, rep};

const TOOL: &str = "import rep_sample\ndef handler(args):\n    return {'x': rep_sample.X}\n";

pub(super) fn skill(scratch: &ScratchFolder, package: &str) {
    scratch.write_file("wants/scripts/tool.py", TOOL);
    let text = format!(
        "---\nname: wants\ndescription: Runs tools. Use when testing tools.\nspec_version: \"2.1\"\nversion: 1.0.0\nsafety: {{require_confirmation_for: [destructive_writes], redact: {{secrets: true, pii: true}}}}\ntools:\n  - name: tool\n    description: A tool for a test.\n    input_schema: {{type: object}}\n    implementation: {{runtime: python, entrypoint: scripts/tool.py, dependencies: {{pip: ['{package}'], system: [poppler]}}}}\n---\n\n# Tools\n"
    );
    scratch.write_file("wants/SKILL.md", text);
}

/// Makes a wheel with one module in it, with Python's own means. Says whether there is Python.
pub(super) fn wheel(folder: &Path) -> bool {
    if !is_program_installed("python3") {
        return false;
    }
    std::fs::create_dir_all(folder).expect("a folder can be made");
    let script = "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1] + '/rep_sample-1.0-py3-none-any.whl', 'w') as file:\n    info = 'rep_sample-1.0.dist-info/'\n    file.writestr('rep_sample.py', 'X = 7\\n')\n    file.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: rep-sample\\nVersion: 1.0\\n')\n    file.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n    file.writestr(info + 'RECORD', 'rep_sample.py,,\\n' + info + 'METADATA,,\\n' + info + 'WHEEL,,\\n' + info + 'RECORD,,\\n')\n";
    let made = Command::new("python3").args(["-c", script]).arg(folder).status().expect("it is installed");
    assert!(made.success(), "Python makes a wheel");
    true
}

/// Runs the binary with the packages of the test and nothing else to install from.
pub(super) fn run(scratch: &ScratchFolder, arguments: &[&str]) -> ProgramRun {
    let packages = scratch.work_folder().join("packages");
    let path = std::env::var("PATH").expect("there is a path");
    let home = std::env::var("HOME").unwrap_or_default();
    let data = scratch.work_folder().join("data");
    let environment = [
        ("PATH", path.as_str()),
        ("HOME", home.as_str()),
        ("XDG_DATA_HOME", data.to_str().expect("a scratch folder is text")),
        ("XDG_CACHE_HOME", data.to_str().expect("a scratch folder is text")),
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", packages.to_str().expect("a scratch folder is text")),
    ];
    scratch.run_with_environment(rep(), arguments, &environment)
}

/// Whether there is nothing but locks.
fn is_nothing_installed(scratch: &ScratchFolder) -> bool {
    let folder = scratch.work_folder().join("data/repertoire/environments");
    std::fs::read_dir(folder).map_or(true, |mut all| all.all(|entry| entry.is_ok_and(|entry| entry.path().is_file())))
}

#[test]
fn what_was_installed_is_used_and_nothing_else() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "rep-sample==1.0");
    if !wheel(&scratch.work_folder().join("packages")) {
        return;
    }
    let missing = run(&scratch, &["run", "./wants:tool"]);
    let hint = json(&missing)["error"]["remedy"].clone();
    if json(&missing)["error"]["code"] == "SANDBOX_UNAVAILABLE" {
        // On a machine without a sandbox nothing can be installed, which another test of ours is about.
        rep_test_support::report_skipped("the sandbox to install in is not available here");
        return;
    }
    assert_eq!(hint, "install the declared packages with `rep deps wants --install`", "{missing:?}");
    let refused = run(&scratch, &["deps", "./wants", "--install", "--json"]);
    assert_eq!((refused.code, &json(&refused)["error"]["code"]), (3, &json!("CONFIRMATION_REQUIRED")), "{refused:?}");
    assert!(is_nothing_installed(&scratch), "nobody said yes");
    let installed = run(&scratch, &["deps", "./wants", "--install", "--yes", "--json"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    assert_eq!(json(&installed)["installed"][0]["packages"], json!(["rep-sample==1.0"]));
    let found = run(&scratch, &["run", "./wants:tool"]);
    assert_eq!((found.code, json(&found)), (0, json!({"x": 7})), "{found:?}");
    // It is there: without packages to install from, asking again changes nothing.
    std::fs::remove_dir_all(scratch.work_folder().join("packages")).unwrap();
    let again = run(&scratch, &["deps", "./wants", "--install", "--json"]);
    assert_eq!((again.code, &json(&again)["installed"]), (0, &json(&installed)["installed"]), "{again:?}");
    let record = std::fs::read_to_string(scratch.work_folder().join("data/repertoire/audit.jsonl")).unwrap();
    assert!(record.contains("\"kind\":\"install\"") && record.contains("rep-sample==1.0"), "{record}");
    let told = run(&scratch, &["audit"]);
    assert!(told.stdout.contains("  install rep-sample==1.0  "), "{told:?}");
    let verified = run(&scratch, &["audit", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    // Another list is another environment.
    skill(&scratch, "rep-sample");
    let found = run(&scratch, &["run", "./wants:tool"]);
    assert_eq!(json(&found)["error"]["type"], Value::from("ModuleNotFoundError"), "{found:?}");
}

#[test]
fn what_fails_or_is_no_package_leaves_nothing() {
    let scratch = ScratchFolder::new();
    if !wheel(&scratch.work_folder().join("packages")) {
        return;
    }
    for (package, code, word) in [
        ("rep-sample==2.0", 4, "INSTALL_FAILED"),
        ("--index-url=https://a.example", 3, "INVALID_PACKAGE"),
        ("https://a.example/x.whl", 3, "INVALID_PACKAGE"),
        ("./packages", 3, "INVALID_PACKAGE"),
    ] {
        skill(&scratch, package);
        let failed = run(&scratch, &["deps", "./wants", "--install", "--yes", "--json"]);
        let found = json(&failed)["error"]["code"].clone();
        if found != "SANDBOX_UNAVAILABLE" {
            assert_eq!((failed.code, found), (code, word.into()), "{package}: {failed:?}");
        }
        assert!(is_nothing_installed(&scratch), "{package}");
    }
}

#[test]
fn no_program_of_the_workspace_is_run_to_install() {
    let scratch = ScratchFolder::new();
    skill(&scratch, "rep-sample==1.0");
    if !wheel(&scratch.work_folder().join("packages")) {
        return;
    }
    for name in ["python3", "python", "node", "npm", "pip"] {
        scratch.write_file(
            &format!("bin/{name}"),
            format!("#!/bin/sh\necho > {}/ran\nexit 1\n", scratch.work_folder().display()),
        );
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(scratch.work_folder().join("bin").join(name), private).unwrap();
    }
    let path = format!("{}:{}", scratch.work_folder().join("bin").display(), std::env::var("PATH").unwrap());
    let data = scratch.work_folder().join("data").display().to_string();
    let packages = scratch.work_folder().join("packages").display().to_string();
    let home = std::env::var("HOME").unwrap_or_default();
    let environment = [
        ("PATH", path.as_str()),
        ("HOME", &home),
        ("XDG_DATA_HOME", &data),
        ("XDG_CACHE_HOME", &data),
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", &packages),
    ];
    let found = scratch.run_with_environment(rep(), &["deps", "./wants", "--install", "--yes", "--json"], &environment);
    assert!(!scratch.work_folder().join("ran").exists(), "{found:?}");
    assert!(found.code == 0 || json(&found)["error"]["code"] == "SANDBOX_UNAVAILABLE", "{found:?}");
}
