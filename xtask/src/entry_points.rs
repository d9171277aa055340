//! Checks ARCHITECTURE.md: the functions and modules in its table of entry points must exist, and it must stay
//! short.

use std::fs;
use std::path::Path;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// The maximum number of lines of the document.
const LINES_MAX: usize = 300;

/// Returns everything that is wrong with the document.
pub(crate) fn check_entry_points(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join(DOCUMENT)).unwrap_or_default();
    let mut wrong: Vec<String> = find_entry_points(&text)
        .filter(|name| !has_entry_point(root, name))
        .map(|name| format!("{DOCUMENT}: `{name}` does not exist; update the table of entry points"))
        .collect();
    if text.lines().count() > LINES_MAX {
        wrong.push(format!("{DOCUMENT}: longer than {LINES_MAX} lines"));
    }
    wrong
}

/// Finds the paths such as `rep_check::engine::level` in a text, each in backticks.
fn find_entry_points(text: &str) -> impl Iterator<Item = &str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.starts_with("rep_") && code.contains("::") && !code.contains(' '))
}

/// Whether a path is a module, or a function in one.
fn has_entry_point(root: &Path, name: &str) -> bool {
    let mut parts: Vec<&str> = name.split("::").collect();
    let folder = root.join("crates").join(parts.remove(0).replace('_', "-")).join("src");
    let module =
        |parts: &[&str]| folder.join(if parts.is_empty() { "lib".to_owned() } else { parts.join("/") } + ".rs");
    if module(&parts).is_file() {
        return true;
    }
    let Some(function) = parts.pop() else { return false };
    let text = fs::read_to_string(module(&parts)).unwrap_or_default();
    ["(", "<"].iter().any(|end| text.contains(&format!("fn {function}{end}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_functions_are_found_and_others_are_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert!(has_entry_point(root, "rep_check::engine") && has_entry_point(root, "rep_sandbox::init"));
        assert!(
            !has_entry_point(root, "rep_check::no_such_module")
                && !has_entry_point(root, "rep_check::engine::no_such_function")
        );
    }

    #[test]
    fn only_paths_in_backticks_are_entry_points() {
        let found: Vec<&str> = find_entry_points("rep_a::b `rep_c::d` and `rep check`, `rep_e`").collect();
        assert_eq!(found, ["rep_c::d"]);
    }
}
