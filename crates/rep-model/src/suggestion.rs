//! Suggests the intended name for a misspelled one: "did you mean".

/// The minimum similarity (Jaro-Winkler, 0 to 1) of a suggested name.
const SUGGESTED_ABOVE: f64 = 0.75;

/// The minimum similarity of a misspelling to a name.
const MISSPELLED_ABOVE: f64 = 0.93;

/// The minimum length of a name of which every single typing error is a misspelling. In shorter names, it is often
/// another word.
const MISSPELLED_BYTES_MIN: usize = 6;

/// The maximum length of compared names. The cost of a comparison is the product of both lengths.
const NAME_BYTES_MAX: usize = 64;

/// Returns the candidate most similar to a name that does not exist, if it is similar enough.
///
/// If several candidates are equally similar, the last one wins. Names of more than 64 bytes are never suggested.
///
/// ```
/// use rep_model::suggestion::nearest_name;
///
/// assert_eq!(nearest_name("lisence", ["name", "license"]), Some("license"));
/// assert_eq!(nearest_name("colour", ["name", "license"]), None);
/// ```
pub fn nearest_name<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_by_name(wanted, candidates, |candidate| candidate)
}

/// Returns the remedy for an unknown name: the nearest name, or `otherwise` if there is none.
pub fn suggest_name_or(nearest: Option<&str>, otherwise: &str) -> String {
    nearest.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"))
}

/// Returns the item whose name is most similar to a name that does not exist. Like [`nearest_name`], but for candidates
/// that are compared by one name and shown by another, such as an alias.
pub fn nearest_by_name<T>(
    wanted: &str,
    candidates: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> &str,
) -> Option<T> {
    let scored = candidates.into_iter().map(|candidate| (compute_similarity(wanted, name(&candidate)), candidate));
    let similar = scored.filter(|(score, _)| *score > SUGGESTED_ABOVE);
    similar.max_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, candidate)| candidate)
}

/// Returns up to `count_max` candidates sorted by similarity to a name that does not exist, most similar first and
/// equally similar ones in alphabetical order. Unlike [`nearest_name`], the result also contains less similar names: it
/// is for lists of available names, from which the reader chooses.
pub fn nearest_names<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count_max: usize,
    similarity_min: f64,
) -> Vec<&'a str> {
    let scored = candidates.into_iter().map(|candidate| (compute_similarity(wanted, candidate), candidate));
    let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score >= similarity_min).collect();
    scored.sort_by(|one, two| two.0.total_cmp(&one.0).then_with(|| one.1.cmp(two.1)));
    scored.dedup_by(|one, two| one.1 == two.1);
    scored.into_iter().take(count_max).map(|(_, candidate)| candidate).collect()
}

/// Whether a word differs from a name only by a typing error or by case, so that no other meaning is likely.
///
/// Stricter than [`nearest_name`], which is for words that cannot have another meaning.
pub fn is_misspelling(word: &str, name: &str) -> bool {
    word != name
        && (word.eq_ignore_ascii_case(name)
            || compute_similarity(word, name) > MISSPELLED_ABOVE
            || is_one_typing_error(word, name))
}

/// Whether one letter of a long name is missing, added or wrong, or two are exchanged.
fn is_one_typing_error(word: &str, name: &str) -> bool {
    let is_long = word.len().min(name.len()) >= MISSPELLED_BYTES_MIN && word.len().max(name.len()) <= NAME_BYTES_MAX;
    is_long && strsim::osa_distance(word, name) == 1
}

fn compute_similarity(one: &str, two: &str) -> f64 {
    if one.len().max(two.len()) > NAME_BYTES_MAX { 0.0 } else { strsim::jaro_winkler(one, two) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_is_corrected() {
        for (wanted, expected) in [("nmae", "name"), ("descripton", "description"), ("compat", "compatibility")] {
            assert_eq!(nearest_name(wanted, ["name", "description", "compatibility"]), Some(expected));
        }
    }

    #[test]
    fn nothing_is_suggested_for_an_unrelated_word() {
        assert_eq!(nearest_name("zebra", ["name", "description"]), None);
        assert_eq!(nearest_name("name", []), None);
        assert_eq!(nearest_name("", ["name"]), None);
    }

    #[test]
    fn a_long_name_is_neither_compared_nor_suggested() {
        let long = "a".repeat(65);
        assert_eq!(nearest_name(&long, [long.as_str()]), None);
        assert_eq!(nearest_name("a", [long.as_str()]), None);
        let longest = "a".repeat(64);
        assert_eq!(nearest_name(&longest, [longest.as_str()]), Some(longest.as_str()));
    }

    #[test]
    fn the_last_of_equally_similar_candidates_wins() {
        assert_eq!(nearest_name("tool-x", ["tool-a", "tool-b"]), Some("tool-b"));
    }

    #[test]
    fn several_names_are_ranked_by_similarity_and_then_by_name() {
        let names = ["tool-b", "other", "tool-a", "tool", "tool-a"];
        assert_eq!(nearest_names("tool", names, 3, 0.7), ["tool", "tool-a", "tool-b"]);
        assert_eq!(nearest_names("tool", names, 9, 0.0).last(), Some(&"other"));
    }

    #[test]
    fn an_item_is_found_by_its_alias() {
        let hosts = [("claude", 1), ("codex", 2)];
        assert_eq!(nearest_by_name("cladue", hosts, |(alias, _)| alias), Some(("claude", 1)));
    }

    #[test]
    fn a_misspelling_is_closer_than_a_suggestion() {
        assert!(is_misspelling("descripton", "description") && is_misspelling("NAME", "name"));
        for (word, name) in [("lisense", "license"), ("liscense", "license"), ("versoin", "version")] {
            assert!(is_misspelling(word, name), "{word}");
        }
        assert!(!is_misspelling("node", "mode") && !is_misspelling("paths", "patch"));
        assert!(!is_misspelling("name", "name"));
        assert!(!is_misspelling("compat", "compatibility"));
        assert_eq!(nearest_name("compat", ["compatibility"]), Some("compatibility"));
    }
}
