//! The query language of UASP §6: a path into a skill, and filters on what is found there.
//!
//! `skill:path?key=value&key=value`. Where the specification is silent or its printed code fails, this is what holds:
//!
//! - Keys may have dots in them. At every mapping the longest key that fits is entered first, and a
//!   shorter one where that leads nowhere.
//! - A list is entered by an item's `name` or `id`. Several items of one name are a list again; none
//!   is a path that does not exist.
//! - Filters apply to lists, all of them together. An item must have the key. A value matches as a
//!   whole and without regard to case; only `*` is special, and `%2A` is a star that is not.
//! - An empty path is the whole skill.

use serde_json::Value;

/// The longest query that is read.
pub const QUERY_BYTES_MAX: usize = 4096;

/// The most colons a skill's name is supposed to have.
const COLONS_MAX: usize = 8;

/// A query, as far as it can be understood without knowing the skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What stands before the first colon, a leading `skill:` included.
    pub text: String,
    /// The filters, in order of key and pattern.
    pub filters: Vec<Filter>,
}

/// One filter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter {
    /// The key an item must have.
    pub key: String,
    /// What its value must look like.
    pub pattern: Pattern,
}

/// A text with stars in it, in lower case: the literal parts between the stars.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(Vec<String>);

/// Why a query cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Query {
    /// Takes a query apart: what names a skill and a path, and the filters.
    pub fn parse(query: &str) -> Result<Query, Malformed> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(Malformed(format!("the query is longer than {QUERY_BYTES_MAX} bytes")));
        }
        let (text, filters) = match query.split_once('?') {
            Some((text, filters)) => (text, parse_filters(filters)?),
            None => (query, Vec::new()),
        };
        match text.split_once(':') {
            None => Err(Malformed("there is no `:` between the skill and the path".to_owned())),
            Some(("", _)) => Err(Malformed("there is no skill before the `:`".to_owned())),
            Some(_) => Ok(Query { text: text.to_owned(), filters }),
        }
    }

    /// The ways to read it as skill and path, the likeliest first. `is_skill` knows the names there are.
    ///
    /// The first colon ends the name. `skill:name:path` is the long form, unless a skill is called `skill`;
    /// `package:name:path` names a package's skill, unless the package's name is a skill too.
    pub fn readings(&self, is_skill: impl Fn(&str) -> bool) -> Vec<(&str, &str)> {
        let mut readings = Vec::new();
        let mut text = self.text.as_str();
        let long = text.strip_prefix("skill:").filter(|rest| rest.contains(':') && !is_skill("skill"));
        if let Some(rest) = long {
            text = rest;
        }
        // A name may hold colons itself; more than a few are no name.
        for (at, _) in text.match_indices(':').take(COLONS_MAX) {
            readings.push((&text[..at], &text[at + 1..]));
        }
        let known = readings.iter().position(|(name, _)| is_skill(name)).unwrap_or(0);
        readings.rotate_left(known);
        readings
    }
}

fn parse_filters(text: &str) -> Result<Vec<Filter>, Malformed> {
    let mut filters = Vec::new();
    for part in text.split('&') {
        let Some((key, value)) = part.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Malformed(format!("the filter `{part}` is not of the form `key=value`")));
        };
        filters.push(Filter { key: decode(key), pattern: Pattern::parse(value) });
    }
    // The same filters in another order are the same question.
    filters.sort();
    filters.dedup();
    Ok(filters)
}

impl Pattern {
    /// Reads a pattern as it stands in a query. Escapes are read after the stars, so that an escaped star is a letter.
    pub fn parse(text: &str) -> Self {
        Self(text.split('*').map(|part| decode(part).to_lowercase()).collect())
    }

    /// A pattern that finds a text anywhere.
    pub fn containing(text: &str) -> Self {
        Self(vec![String::new(), text.to_lowercase(), String::new()])
    }

    /// Whether a value looks like this, as text.
    pub fn fits(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.fits_text(text),
            Value::Bool(value) => self.fits_text(if *value { "true" } else { "false" }),
            Value::Number(number) => self.fits_text(&number.to_string()),
            Value::Null => self.fits_text("null"),
            // A list looks like this where one of its items does.
            Value::Array(items) => items.iter().any(|item| !item.is_array() && self.fits(item)),
            Value::Object(_) => false,
        }
    }

    fn fits_text(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return text.is_empty() };
        if self.0.len() == 1 {
            return text == *first;
        }
        let Some(mut rest) = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else {
            return false;
        };
        // The first place a part fits leaves the most room for those behind it.
        for part in &self.0[1..self.0.len() - 1] {
            let Some(at) = rest.find(part.as_str()) else { return false };
            rest = &rest[at + part.len()..];
        }
        true
    }
}

/// Whether an item passes all filters.
pub fn passes(item: &Value, filters: &[Filter]) -> bool {
    filters.iter().all(|filter| item.get(&filter.key).is_some_and(|value| filter.pattern.fits(value)))
}

/// Reads percent escapes. What is none, or gives no UTF-8, stays as it is.
pub fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        match digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fits(pattern: &str, text: &str) -> bool {
        Pattern::parse(pattern).fits(&json!(text))
    }

    #[test]
    fn only_the_star_is_special() {
        assert!(fits("*Charges*", "user wants the charges API"));
        assert!(fits("a*b*c", "aXbYc") && fits("a*", "a") && fits("*", ""));
        assert!(!fits("a*b", "ab c") && !fits("charges", "the charges"));
        assert!(fits("a?", "A?") && !fits("a?", "ab") && fits("[x]", "[X]"));
        assert!(fits("100%25*", "100% sure") && fits("%2A", "*") && !fits("%2A", "x"));
        assert!(!fits("ab*ba", "aba"), "prefix and suffix may not share letters");
    }

    #[test]
    fn values_that_are_no_text_are_compared_as_text() {
        assert!(Pattern::parse("TRUE").fits(&json!(true)));
        assert!(Pattern::parse("3*").fits(&json!(300)));
        assert!(Pattern::parse("refs").fits(&json!(["x", "refs"])));
        assert!(!Pattern::parse("*").fits(&json!({"a": 1})));
    }

    #[test]
    fn a_query_is_taken_apart_at_the_first_colon_and_question_mark() {
        let query = Query::parse("stripe:sources.stripe:migration/charges.url?a=b?c&d=e=f").unwrap();
        assert_eq!(query.text, "stripe:sources.stripe:migration/charges.url");
        assert_eq!(query.filters.len(), 2);
        assert_eq!(query.filters[1].pattern, Pattern::parse("e=f"));
        for bad in ["", "stripe", ":x", "a:b?", "a:b?c", "a:b?=c", "a:b?c=d&"] {
            assert!(Query::parse(bad).is_err(), "{bad}");
        }
        assert!(Query::parse(&format!("a:{}", "b.".repeat(3000))).is_err());
    }

    #[test]
    fn the_long_form_and_packages_are_read() {
        let read = |text: &str, names: &[&str]| -> (String, String) {
            let query = Query::parse(text).unwrap();
            let (name, path) = query.readings(|name| names.contains(&name))[0];
            (name.to_owned(), path.to_owned())
        };
        let pair = |name: &str, path: &str| (name.to_owned(), path.to_owned());
        assert_eq!(read("skill:x:y", &["x"]), pair("x", "y"));
        assert_eq!(read("skill:y", &["skill"]), pair("skill", "y"));
        assert_eq!(read("skill:x:y", &["skill"]), pair("skill", "x:y"));
        assert_eq!(read("pkg:x:y.z", &["pkg:x"]), pair("pkg:x", "y.z"));
        assert_eq!(read("skill:pkg:x:y.z", &["pkg:x"]), pair("pkg:x", "y.z"));
        assert_eq!(read("stripe:a:b", &["stripe"]), pair("stripe", "a:b"));
        assert_eq!(read("odd::name:meta", &["odd::name"]), pair("odd::name", "meta"));
        assert_eq!(read("unknown:a:b", &[]), pair("unknown", "a:b"));
    }
}
