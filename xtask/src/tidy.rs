//! Checks what the compiler does not: dependencies between crates, file lengths, module docs, names and wording.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{entry_points, upcalls, vocabulary};

/// The workspace crates that each crate may depend on. A new dependency is a change of architecture.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("rep-storage", &[]),
    ("rep-permissions", &[]),
    ("rep-tokens", &[]),
    ("rep-test-support", &[]),
    ("rep-archive", &[]),
    ("rep-signature", &[]),
    ("rep-audit", &["rep-storage"]),
    ("rep-model", &["rep-test-support"]),
    ("rep-sandbox", &["rep-permissions", "rep-storage", "rep-test-support"]),
    ("rep-scan", &["rep-archive", "rep-model", "rep-test-support"]),
    ("rep-check", &["rep-model", "rep-permissions", "rep-scan", "rep-test-support"]),
    ("rep-convert", &["rep-model", "rep-check", "rep-test-support"]),
    ("rep-net", &["rep-convert", "rep-model", "rep-permissions", "rep-storage", "rep-test-support"]),
    ("rep-mcp-client", &["rep-net", "rep-permissions", "rep-storage", "rep-test-support"]),
    ("rep-hosts", &["rep-model"]),
    (
        "rep-library",
        &[
            "rep-model",
            "rep-check",
            "rep-convert",
            "rep-hosts",
            "rep-permissions",
            "rep-scan",
            "rep-storage",
            "rep-test-support",
            "rep-tokens",
        ],
    ),
    (
        "rep-package",
        &[
            "rep-archive",
            "rep-check",
            "rep-convert",
            "rep-hosts",
            "rep-library",
            "rep-model",
            "rep-net",
            "rep-signature",
            "rep-storage",
        ],
    ),
    ("rep-api", &["rep-audit", "rep-check", "rep-library", "rep-runtime", "rep-sandbox"]),
    ("rep-lsp", &["rep-check", "rep-library", "rep-model", "rep-test-support", "rep-tokens"]),
    (
        "rep-mcp",
        &[
            "rep-audit",
            "rep-check",
            "rep-convert",
            "rep-hosts",
            "rep-library",
            "rep-model",
            "rep-runtime",
            "rep-sandbox",
            "rep-storage",
        ],
    ),
    (
        "rep-web",
        &[
            "rep-archive",
            "rep-audit",
            "rep-check",
            "rep-hosts",
            "rep-library",
            "rep-mcp",
            "rep-model",
            "rep-package",
            "rep-runtime",
        ],
    ),
    (
        "rep-runtime",
        &[
            "rep-audit",
            "rep-check",
            "rep-hosts",
            "rep-library",
            "rep-mcp-client",
            "rep-model",
            "rep-net",
            "rep-permissions",
            "rep-sandbox",
            "rep-storage",
            "rep-test-support",
        ],
    ),
    (
        "rep",
        &[
            "rep-api",
            "rep-archive",
            "rep-audit",
            "rep-model",
            "rep-hosts",
            "rep-check",
            "rep-convert",
            "rep-library",
            "rep-lsp",
            "rep-net",
            "rep-package",
            "rep-permissions",
            "rep-runtime",
            "rep-mcp",
            "rep-sandbox",
            "rep-scan",
            "rep-signature",
            "rep-storage",
            "rep-tokens",
            "rep-test-support",
            "rep-web",
        ],
    ),
    ("xtask", &["rep-check", "rep-convert", "rep-library", "rep-test-support"]),
];

/// The maximum number of lines of a file. Tables and tests are not exempt.
const LINES_MAX: usize = 800;

/// Names without meaning.
const EMPTY_NAMES: &[&str] = &[
    "utils",
    "util",
    "helpers",
    "common",
    "misc",
    "core",
    "manager",
    "handler",
    "service",
    "processor",
    "base",
    "info",
    "data",
];

/// Files named by a specification, not by a meaningless word: YAML's core schema.
const NAMED_BY_A_SPECIFICATION: &[&str] = &["crates/rep-model/src/yaml/core.rs"];

pub(crate) fn check_repository(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    check_dependencies(root, &mut wrong);
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        collect_sources(&root.join(folder), &mut files);
    }
    for path in &files {
        check_file(root, path, &mut wrong);
        check_library_example(root, path, &mut wrong);
    }
    let shown = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let texts: Vec<(String, String)> =
        files.iter().map(|path| (shown(path), fs::read_to_string(path).unwrap_or_default())).collect();
    wrong.extend(upcalls::find_upcalls(&texts));
    let sources: Vec<(String, String)> =
        texts.into_iter().filter(|(path, _)| !path.ends_with("vocabulary.rs")).collect();
    wrong.extend(vocabulary::check_vocabulary(root, &sources, &read_documents(root)));
    wrong.extend(entry_points::check_entry_points(root));
    if wrong.is_empty() {
        println!("tidy");
        return Ok(());
    }
    Err(wrong.join("\n"))
}

fn check_dependencies(root: &Path, wrong: &mut Vec<String>) {
    for (name, allowed) in ALLOWED_DEPENDENCIES {
        let folder = if *name == "xtask" { root.join(name) } else { root.join("crates").join(name) };
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        for line in manifest.lines() {
            let Some(dependency) = line.split('.').next().filter(|word| word.starts_with("rep-") || *word == "rep")
            else {
                continue;
            };
            if line.contains("workspace") && !allowed.contains(&dependency) {
                wrong.push(format!("{name} depends on {dependency}, which `ALLOWED_DEPENDENCIES` does not allow"));
            }
        }
    }
    for entry in fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !ALLOWED_DEPENDENCIES.iter().any(|(known, _)| *known == name) {
            wrong.push(format!("crate {name} is not in `ALLOWED_DEPENDENCIES`"));
        }
    }
}

fn collect_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.ends_with("target") {
            collect_sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "snap") {
            files.push(path);
        }
    }
}

/// Reads the Markdown documents at the root, in `docs` and in the crates, except dated notes.
fn read_documents(root: &Path) -> Vec<(String, String)> {
    let mut folders = vec![root.join("docs"), root.join("crates")];
    let mut found: Vec<PathBuf> = Vec::new();
    let at_root = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    found.extend(at_root.filter(|path| path.is_file()));
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.ends_with("notes") && !path.ends_with("fixtures") {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    let markdown = found.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    markdown.map(|path| (shown(&path), fs::read_to_string(&path).unwrap_or_default())).collect()
}

/// Checks that the documentation of a library has an example that is compiled.
fn check_library_example(root: &Path, path: &Path, wrong: &mut Vec<String>) {
    if !path.ends_with("src/lib.rs") {
        return;
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let has_example = text.lines().take_while(|line| line.starts_with("//!")).any(|line| {
        let language = line.strip_prefix("//! ```");
        language.is_some_and(|language| language.is_empty() || language == "no_run")
    });
    // The end of a block in another language has the same form as the start of an example.
    let has_other = text.contains("//! ```text");
    if !has_example || (has_other && !text.contains("//! ```no_run")) {
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        wrong.push(format!("{shown}: the documentation of the library has no example that is compiled"));
    }
}

fn check_file(root: &Path, path: &Path, wrong: &mut Vec<String>) {
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    if path.extension().is_some_and(|ending| ending == "snap") {
        wrong.push(format!("{shown}: a separate snapshot file outlives its test; write the snapshot inline"));
        return;
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_rule = shown.contains("/src/rules/");
    let is_test_part = shown.ends_with("/tests.rs") || shown.contains("/tests/");
    if !is_rule && !is_test_part && !text.starts_with("//!") {
        wrong.push(format!("{shown}: does not start with a `//!` comment that says what the module does"));
    }
    if text.lines().count() > LINES_MAX {
        wrong.push(format!("{shown}: longer than {LINES_MAX} lines"));
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if EMPTY_NAMES.contains(&stem) && !NAMED_BY_A_SPECIFICATION.contains(&shown.as_str()) {
        wrong.push(format!("{shown}: the name `{stem}` has no meaning"));
    }
    for (number, line) in text.lines().enumerate() {
        let is_own_list = shown.ends_with("tidy.rs");
        if !is_own_list
            && (line.contains("TODO")
                || line.contains("FIXME")
                || line.contains("#[ignore")
                || line.contains("thread::sleep"))
        {
            wrong.push(format!("{shown}:{}: unfinished work, an ignored test or a sleep", number + 1));
        }
    }
}
