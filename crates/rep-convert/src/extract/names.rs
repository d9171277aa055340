//! Names as UASP wants them: small letters, digits and hyphens, a letter first.

/// The longest name that is made.
const LENGTH_MAX: usize = 60;

/// Text as a part of a name; empty where nothing of it can stay.
pub(crate) fn slug(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars() {
        if name.len() >= LENGTH_MAX {
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

/// Text as a whole name, or the fallback where nothing of it can stay.
pub(crate) fn name(text: &str, fallback: &str) -> String {
    let slug = slug(text);
    let bare = slug.trim_start_matches(|letter: char| !letter.is_ascii_lowercase());
    if bare.is_empty() { fallback.to_owned() } else { bare.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_with_a_letter() {
        assert_eq!(name("1. Don't Panic!", "x"), "dont-panic");
        assert_eq!(name("日本", "skill"), "skill");
        assert_eq!(slug("Hello — World_2"), "hello-world-2");
    }
}
