//! Parses and matches two patterns and a path, one per line. The results agree with a slow matcher and with each other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_permissions::glob::{Glob, normalise_path};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (first, second, path) = (next(), next(), next());
    let Ok(glob) = Glob::parse(first) else { return };
    check_form(&glob);
    let path = normalise_path(path).filter(|path| !path.is_empty());
    if let Some(path) = &path {
        let is_fit = glob.matches(path);
        assert_eq!(is_fit, fits_slowly(glob.as_str(), path), "{glob:?} on {path:?}");
        if is_fit {
            let name = path.rsplit('/').next().unwrap_or_default();
            assert!(glob.can_end_in(name), "{glob:?} on {name:?}");
            assert!(path.starts_with(&glob.literal_prefix()), "{glob:?} on {path:?}");
        }
    }
    let Ok(other) = Glob::parse(second) else { return };
    let meets = glob.overlaps(&other);
    assert_eq!(other.overlaps(&glob), meets, "{other:?} and {glob:?}");
    if let Some(literal) = glob.literal_path() {
        assert_eq!(other.matches(&literal), meets, "{other:?} on {literal:?}");
    }
    if let Some(path) = &path {
        assert!(meets || !glob.matches(path) || !other.matches(path), "{glob:?} and {other:?} on {path:?}");
    }
});

/// Checks the properties of a single pattern.
fn check_form(glob: &Glob) {
    assert!(glob.overlaps(glob), "{glob:?}");
    // A name like `!x` or `C:` can only be written after `./`, which the normal form does not have.
    if let Ok(again) = Glob::parse(glob.as_str()) {
        assert_eq!(&again, glob);
    }
    if let Some(literal) = glob.literal_path() {
        assert_eq!(literal, glob.as_str());
        assert!(glob.matches(&literal), "{glob:?}");
    }
    if let Some(folder) = glob.whole_folder() {
        let below = if folder.is_empty() { "x".to_owned() } else { format!("{folder}/x") };
        assert!(glob.matches(&below) && glob.matches(&format!("{below}/y")), "{glob:?}");
        assert!(folder.is_empty() || !glob.matches(&folder), "{glob:?}");
    }
}

/// Implements the definition of a match, as a table over all positions.
fn fits_slowly(pattern: &str, path: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    // `is_fit[part][name]`: whether the remaining parts match the remaining names.
    let mut is_fit = vec![vec![false; names.len() + 1]; parts.len() + 1];
    is_fit[parts.len()][names.len()] = true;
    for at in (0..parts.len()).rev() {
        for name in (0..=names.len()).rev() {
            is_fit[at][name] = if parts[at] == "**" {
                // At the end it needs at least one name; elsewhere it needs none.
                let is_last = at + 1 == parts.len();
                let more = name < names.len() && (is_fit[at][name + 1] || is_last && name + 1 == names.len());
                more || !is_last && is_fit[at + 1][name]
            } else {
                name < names.len()
                    && name_fits(parts[at].as_bytes(), names[name].as_bytes())
                    && is_fit[at + 1][name + 1]
            };
        }
    }
    is_fit[0][0]
}

fn name_fits(pattern: &[u8], name: &[u8]) -> bool {
    let mut row = vec![false; name.len() + 1];
    row[name.len()] = true;
    for byte in pattern.iter().rev() {
        let after = row.clone();
        for at in (0..=name.len()).rev() {
            row[at] = match byte {
                b'*' => after[at] || at < name.len() && row[at + 1],
                _ => at < name.len() && name[at] == *byte && after[at + 1],
            };
        }
    }
    row[0]
}
