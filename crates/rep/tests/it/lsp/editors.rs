//! The language server in real editors: the Neovim of the distribution, and what `editors/tests/setup.sh` installs, which
//! are newer Neovims, Helix, Emacs, VS Code and Claude Code.

use std::path::{Path, PathBuf};
use std::process::Command;

use rep_test_support::{ScratchFolder, is_program_installed, report_skipped};
use serde_json::{Value, json};

/// A skill with one finding, which has a fix. The emoji moves columns apart in the encodings.
const SKILL: &str =
    "---\nname: pdf\ndescription: Fills 😀 forms: text fields. Use for PDF forms.\n---\n\n# PDF\n\nDo it.\n";
/// The same after the fix.
const FIXED: &str =
    "---\nname: pdf\ndescription: 'Fills 😀 forms: text fields. Use for PDF forms.'\n---\n\n# PDF\n\nDo it.\n";

fn editors_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors").canonicalize().expect("the folder exists")
}

/// Returns the newer editors that `editors/tests/setup.sh` installed, by name.
fn find_newer(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("REP_EDITORS")?);
    Some(folder.join(name)).filter(|path| path.is_file())
}

/// Returns a `PATH` that starts with the directory of `rep`.
fn path_with_rep() -> String {
    let own = super::super::rep().parent().expect("the binary is in a directory").display();
    format!("{own}:{}", std::env::var("PATH").unwrap_or_default())
}

/// Drives Neovim, and returns what happened.
fn drive_neovim(neovim: &Path) -> Value {
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("skills/pdf/SKILL.md", SKILL);
    scratch.write_file("rep.yaml", "");
    let result = scratch.work_folder().join("result.json");
    let script = editors_folder().join("tests/neovim.lua");
    let run = Command::new(neovim)
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-c"])
        .arg(format!("luafile {}", script.display()))
        .current_dir(scratch.work_folder())
        .env("PATH", path_with_rep())
        .env("HOME", scratch.work_folder().with_file_name("home"))
        .env("REP_FILE", file)
        .env("REP_RESULT", &result)
        .env("REP_CONFIG", editors_folder().join("nvim"))
        .output()
        .expect("Neovim can be started");
    let text = std::fs::read_to_string(&result)
        .unwrap_or_else(|_| panic!("Neovim wrote no result: {}", String::from_utf8_lossy(&run.stderr)));
    serde_json::from_str(&text).unwrap()
}

/// Checks what happened in Neovim.
#[track_caller]
fn check_neovim(result: &Value, encoding: &str, pulls: bool) {
    assert_eq!(result["problem"], Value::Null, "{result}");
    assert_eq!((&result["encoding"], &result["pulls"]), (&json!(encoding), &json!(pulls)));
    let finding = json!({ "code": "yaml-value-unquoted", "line": 2, "column": 13, "source": "repertoire" });
    assert_eq!(result["findings"], json!([finding]));
    assert_eq!(result["fix"], "Put the value in quotes");
    let fixed: Vec<&str> = FIXED.lines().collect();
    assert_eq!(result["fixed"], json!(fixed));
    assert_eq!(result["completions"], json!(["license", "compatibility", "metadata", "allowed-tools"]));
    assert_eq!(result["completed"], "license: ");
}

#[test]
fn neovim_of_the_distribution_shows_fixes_and_completes() {
    if !is_program_installed("nvim") {
        return;
    }
    let result = drive_neovim(Path::new("nvim"));
    let version = result["version"].as_str().unwrap_or_default();
    let minor: u32 = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or_default();
    // Neovim pulls since 0.10, and offers UTF-8 since 0.11.
    check_neovim(&result, if minor >= 11 { "utf-8" } else { "utf-16" }, minor >= 10);
}

#[test]
fn newer_neovims_pull_in_both_encodings() {
    for (name, encoding) in [("nvim-0.12", "utf-8"), ("nvim-0.10", "utf-16")] {
        match find_newer(name) {
            Some(neovim) => check_neovim(&drive_neovim(&neovim), encoding, true),
            None => report_skipped(&format!("{name} is not there; `editors/tests/setup.sh` installs it")),
        }
    }
}

#[test]
fn helix_shows_a_finding_and_applies_its_fix() {
    let Some(helix) = find_newer("hx") else {
        return report_skipped("Helix is not there; `editors/tests/setup.sh` installs it");
    };
    if !is_program_installed("python3") {
        return;
    }
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("skills/pdf/SKILL.md", SKILL);
    let config = scratch.write_file("config/helix/languages.toml", "");
    std::fs::copy(editors_folder().join("helix/languages.toml"), &config).unwrap();
    let run = Command::new("python3")
        .arg(editors_folder().join("tests/helix.py"))
        .arg(helix)
        .arg(scratch.work_folder().join("config"))
        .arg(&file)
        .args(["Fills", "", "●", "]d", "must be quoted", " a", "Explain", "\\r", "forms.'", ":wq\\r"])
        .env("PATH", path_with_rep())
        .env("HOME", scratch.work_folder().with_file_name("home"))
        .output()
        .expect("Python can be started");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), FIXED);
}

#[test]
fn emacs_shows_fixes_and_completes() {
    let Some(emacs) = find_newer("emacs") else {
        return report_skipped("Emacs is not there; `editors/tests/setup.sh` installs it");
    };
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("skills/pdf/SKILL.md", SKILL);
    let result = scratch.work_folder().join("result.json");
    let run = Command::new(emacs)
        .args(["--batch", "--quick", "--load"])
        .arg(editors_folder().join("tests/emacs.el"))
        .current_dir(scratch.work_folder())
        .env("PATH", path_with_rep())
        .env("HOME", scratch.work_folder().with_file_name("home"))
        .env("REP_FILE", &file)
        .env("REP_RESULT", &result)
        .env("REP_CONFIG", editors_folder().join("emacs"))
        .output()
        .expect("Emacs can be started");
    let text = std::fs::read_to_string(&result)
        .unwrap_or_else(|_| panic!("Emacs wrote no result: {}", String::from_utf8_lossy(&run.stderr)));
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["problem"], Value::Null, "{result}");
    assert_eq!((&result["mode"], &result["server"]), (&json!("repertoire-skill-mode"), &json!("rep")));
    let finding = result["findings"][0].as_str().unwrap();
    assert!(finding.starts_with("repertoire [yaml-value-unquoted]:") && result["line"] == 2, "{result}");
    assert_eq!((&result["fix"], &result["completions"]), (&json!("Put the value in quotes"), &json!(["license"])));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), FIXED);
}

#[test]
fn the_packaged_extension_works_in_vs_code() {
    let server = find_newer("code-server");
    let (Some(server), Some(package)) = (server, find_newer("repertoire.vsix")) else {
        return report_skipped(
            "VS Code or the packaged extension is not there; `editors/tests/setup.sh` and `editors/vscode/build.sh` make them",
        );
    };
    let scratch = ScratchFolder::new();
    let file = scratch.write_file("skills/pdf/SKILL.md", SKILL.replace("😀 ", ""));
    let playwright = server.with_file_name("server").join("playwright/node_modules/playwright-core");
    let run = Command::new(editors_folder().join("tests/vscode.sh"))
        .args([&server, &playwright, &package, &scratch.work_folder().join("skills"), &file])
        .env("SCREENSHOT", scratch.work_folder().join("failed.png"))
        .output()
        .expect("the script can be started");
    let (stdout, stderr) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{stdout}{stderr}");
    let steps = ["must be quoted", "explained: ", "fixed and saved", "completed: license", "what the model sees"];
    assert!(steps.iter().all(|step| stdout.contains(step)), "{stdout}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\nlicense: MIT\n") && text.contains("description: 'Fills forms: text fields."), "{text}");
}

#[test]
fn claude_code_accepts_the_plugin_and_finds_the_server_in_it() {
    let Some(claude) = find_newer("claude") else {
        return report_skipped("Claude Code is not there; `editors/tests/setup.sh` installs it");
    };
    let scratch = ScratchFolder::new();
    let plugin = editors_folder().join("claude-code");
    let plugin = plugin.to_str().unwrap();
    let run = |arguments: &[&str]| {
        let run = Command::new(&claude)
            .args(arguments)
            .current_dir(scratch.work_folder())
            .env("HOME", scratch.work_folder().with_file_name("home"))
            .output()
            .expect("Claude Code can be started");
        let text = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success(), "{text}");
        text
    };
    assert!(run(&["plugin", "validate", plugin]).contains("Validation passed"));
    let details = run(&["--plugin-dir", plugin, "plugin", "details", "repertoire"]);
    assert!(details.contains("LSP servers (1)  repertoire"), "{details}");
}

#[test]
fn configurations_name_the_server_as_the_binary_does() {
    let folder = editors_folder();
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let parse = |path: &str| -> Value { serde_json::from_str(&read(path)).unwrap() };
    let plugin = parse("claude-code/.lsp.json");
    assert_eq!(plugin["repertoire"]["command"], "rep");
    assert_eq!(plugin["repertoire"]["args"], json!(["lsp"]));
    assert_eq!(parse("claude-code/.claude-plugin/plugin.json")["name"], "repertoire");
    let extension = parse("vscode/package.json");
    assert_eq!(extension["scripts"], Value::Null, "the extension has no install script");
    let settings = extension["contributes"]["configuration"]["properties"].as_object().unwrap();
    for key in ["profiles", "host", "levels", "ignore", "builtin", "hints", "path"] {
        assert!(settings.contains_key(&format!("repertoire.{key}")), "{key}");
    }
    let source = read("vscode/src/extension.js");
    for command in extension["contributes"]["commands"].as_array().unwrap() {
        let name = command["command"].as_str().unwrap();
        assert!(source.contains(&format!("registerCommand(\"{name}\"")), "{name}");
    }
}
