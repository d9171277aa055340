//! Several faults of one kind in one finding: a list for the message, and the other places.

use rep_model::Span;

use crate::draft::{FindingDraft, Findings};

/// The maximum number of names that a message lists.
const NAMES_MAX: usize = 6;
/// The maximum number of other places of a finding.
const PLACES_MAX: usize = 50;

/// Lists names for a message: `a`, `b` and `c`, or the first few and how many there are more.
pub(crate) fn list_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let (shown, more) = match names.len().checked_sub(NAMES_MAX).filter(|more| *more > 1) {
        Some(more) => (&names[..NAMES_MAX], Some(format!("{more} more"))),
        None => (&names[..], None),
    };
    let mut words: Vec<&str> = shown.iter().map(String::as_str).chain(more.as_deref()).collect();
    match words.pop() {
        Some(last) if words.is_empty() => last.to_owned(),
        Some(last) => format!("{} and {last}", words.join(", ")),
        None => String::new(),
    }
}

/// Adds the places of a group to its finding, which is about the first of them.
pub(crate) fn add_places<'a>(draft: &mut FindingDraft, file: &str, places: impl IntoIterator<Item = (Span, &'a str)>) {
    for (span, name) in places.into_iter().skip(1).take(PLACES_MAX) {
        draft.with_related(file, span, format!("`{name}`"));
    }
}

/// Adds one finding about several places, each with the name of what is there. `one` makes the message for one name, and
/// `several` makes it from the number of distinct names and their list.
pub(crate) fn add_group<'f>(
    findings: &'f mut Findings<'_>,
    file: &str,
    places: &[(Span, String)],
    one: impl Fn(&str) -> String,
    several: impl Fn(usize, &str) -> String,
) -> Option<&'f mut FindingDraft> {
    let (first, _) = places.first()?;
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in places {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let message = match names.as_slice() {
        [name] => one(name),
        names => several(names.len(), &list_names(names.iter().copied())),
    };
    let draft = findings.add(file, *first, message);
    add_places(draft, file, places.iter().map(|(span, name)| (*span, name.as_str())));
    Some(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list_names([]), "");
        assert_eq!(list_names(["a"]), "`a`");
        assert_eq!(list_names(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(list_names(["a", "b", "c", "d", "e", "f", "g"]), "`a`, `b`, `c`, `d`, `e`, `f` and `g`");
        assert_eq!(list_names(["a", "b", "c", "d", "e", "f", "g", "h"]), "`a`, `b`, `c`, `d`, `e`, `f` and 2 more");
    }
}
