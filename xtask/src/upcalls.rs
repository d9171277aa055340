//! Finds library traits that only the binary implements, which means that the library calls up into the command
//! line.

use std::collections::BTreeMap;

/// The source directory of the binary.
const BINARY: &str = "crates/rep/src/";

/// Returns every public trait that a library declares and only the binary implements. `sources` are paths and
/// texts.
pub(crate) fn find_upcalls(sources: &[(String, String)]) -> Vec<String> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/benches/");
    let code: Vec<&(String, String)> = sources.iter().filter(|(path, _)| !is_test(path)).collect();
    let mut traits: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in code.iter().filter(|(path, _)| !path.starts_with(BINARY)) {
        traits.extend(text.lines().filter_map(parse_declared_trait).map(|name| (name, path.as_str())));
    }
    let mut implementers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, text) in &code {
        for name in text.lines().filter_map(parse_implemented_trait) {
            implementers.entry(name).or_default().push(path);
        }
    }
    let is_up = |name: &&str| {
        let paths = implementers.get(name).map_or(&[][..], Vec::as_slice);
        !paths.is_empty() && paths.iter().all(|path| path.starts_with(BINARY))
    };
    let found = traits.iter().filter(|(name, _)| is_up(name));
    found
        .map(|(name, path)| format!("{path}: only the binary implements the trait `{name}`, so the library calls up"))
        .collect()
}

/// Returns the public trait that a line declares.
fn parse_declared_trait(line: &str) -> Option<&str> {
    take_leading_word(line.trim_start().strip_prefix("pub trait ")?)
}

/// Returns the trait that a line implements.
fn parse_implemented_trait(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("impl")?;
    // After the generics, whose brackets do not nest here.
    let rest = match rest.strip_prefix('<') {
        Some(generics) => &generics[generics.find('>')? + 1..],
        None => rest,
    };
    let (name, _) = rest.split_once(" for ")?;
    take_leading_word(name.trim().rsplit("::").next()?)
}

fn take_leading_word(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> (String, String) {
        (path.to_owned(), text.to_owned())
    }

    #[test]
    fn a_trait_that_only_the_binary_implements_is_found() {
        let library = source("crates/rep-mcp/src/runs.rs", "pub trait Runs: Send {\n}\n");
        let binary = source("crates/rep/src/serving.rs", "impl rep_mcp::Runs for Running {\n}\n");
        assert_eq!(find_upcalls(&[library.clone(), binary.clone()]).len(), 1);
        let test = source("crates/rep-mcp/tests/it.rs", "impl Runs for Fake {\n}\n");
        assert_eq!(find_upcalls(&[library.clone(), binary.clone(), test]).len(), 1, "a mock does not count");
        let second = source("crates/rep-web/src/lib.rs", "impl<'a> Runs for Other<'a> {\n}\n");
        assert!(find_upcalls(&[library.clone(), binary, second]).is_empty());
        assert!(find_upcalls(&[library]).is_empty(), "a trait without implementations is ignored");
    }
}
