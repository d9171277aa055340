//! Creates names in the form that UASP requires: lower-case letters, digits and hyphens, starting with a letter.

/// The maximum length of a name.
const NAME_CHARS_MAX: usize = 60;

/// Converts text to a part of a name; empty if no character is usable.
pub(crate) fn to_slug(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        if name.len() >= NAME_CHARS_MAX {
            break;
        }
        if letter.is_ascii_alphanumeric() {
            name.push(letter.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') && !matches!(letter, '\'' | '’' | '`') {
            name.push('-');
        }
    }
    name.trim_matches('-').to_owned()
}

/// Converts text to a name, or returns the fallback if no character is usable.
pub(crate) fn to_name_or(text: &str, fallback: &str) -> String {
    let slug = to_slug(text);
    let bare = slug.trim_start_matches(|letter: char| !letter.is_ascii_lowercase());
    if bare.is_empty() { fallback.to_owned() } else { bare.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_with_a_letter() {
        assert_eq!(to_name_or("1. Don't Panic!", "x"), "dont-panic");
        assert_eq!(to_name_or("日本", "skill"), "skill");
        assert_eq!(to_slug("Hello — World_2"), "hello-world-2");
    }
}
