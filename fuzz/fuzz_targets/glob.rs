//! Two patterns and a path, one a line, are parsed and matched. The results agree with a slow matcher and with each other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_permissions::glob::{Glob, normalise};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (first, second, path) = (next(), next(), next());
    let Ok(glob) = Glob::parse(first) else { return };
    check_form(&glob);
    let path = normalise(path).filter(|path| !path.is_empty());
    if let Some(path) = &path {
        let is_fit = glob.fits(path);
        assert_eq!(is_fit, fits_slowly(glob.as_str(), path), "{glob:?} on {path:?}");
        if is_fit {
            let name = path.rsplit('/').next().unwrap_or_default();
            assert!(glob.may_end_in(name), "{glob:?} on {name:?}");
            assert!(path.starts_with(&glob.literal_prefix()), "{glob:?} on {path:?}");
        }
    }
    let Ok(other) = Glob::parse(second) else { return };
    let meets = glob.meets(&other);
    assert_eq!(other.meets(&glob), meets, "{other:?} and {glob:?}");
    if let Some(literal) = glob.literal() {
        assert_eq!(other.fits(&literal), meets, "{other:?} on {literal:?}");
    }
    if let Some(path) = &path {
        assert!(meets || !glob.fits(path) || !other.fits(path), "{glob:?} and {other:?} on {path:?}");
    }
});

/// What holds of every pattern by itself.
fn check_form(glob: &Glob) {
    assert!(glob.meets(glob), "{glob:?}");
    // A name like `!x` or `C:` can only be written behind `./`, which the normal form does not have.
    if let Ok(again) = Glob::parse(glob.as_str()) {
        assert_eq!(&again, glob);
    }
    if let Some(literal) = glob.literal() {
        assert_eq!(literal, glob.as_str());
        assert!(glob.fits(&literal), "{glob:?}");
    }
    if let Some(folder) = glob.whole_folder() {
        let below = if folder.is_empty() { "x".to_owned() } else { format!("{folder}/x") };
        assert!(glob.fits(&below) && glob.fits(&format!("{below}/y")), "{glob:?}");
        assert!(folder.is_empty() || !glob.fits(&folder), "{glob:?}");
    }
}

/// The definition of a match, as a table over all positions.
fn fits_slowly(pattern: &str, path: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let names: Vec<&str> = path.split('/').collect();
    // `is_fit[part][name]`: whether the parts from there on fit the names from there on.
    let mut is_fit = vec![vec![false; names.len() + 1]; parts.len() + 1];
    is_fit[parts.len()][names.len()] = true;
    for at in (0..parts.len()).rev() {
        for name in (0..=names.len()).rev() {
            is_fit[at][name] = if parts[at] == "**" {
                // At the end it needs at least one name; elsewhere none.
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
