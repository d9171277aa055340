//! The query language of UASP §6: a path into a skill, and filters on the result.
//!
//! The syntax is `skill:path?key=value&key=value`. Where the specification is silent or its code fails, these rules
//! apply:
//!
//! - Keys may contain dots. In every mapping, the longest matching key is tried first, and a shorter one if that does
//!   not lead to a value.
//! - An item of a list is selected by its `name` or `id`. Several items with the same name form a list. If no item
//!   matches, the path does not exist.
//! - Filters apply to lists, and all of them must match. An item must have the key. A value must match as a whole,
//!   ignoring case. Only `*` is a wildcard; `%2A` is a literal star.
//! - An empty path selects the whole skill.

use serde_json::Value;

/// The maximum length of a query.
pub const QUERY_BYTES_MAX: usize = 4096;

/// The maximum number of colons in a skill's name.
const COLONS_MAX: usize = 8;

/// A query, parsed without knowledge of the skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillQuery {
    /// The part before the filters: skill and path, including a leading `skill:`.
    pub text: String,
    /// The filters, sorted by key and pattern.
    pub filters: Vec<QueryFilter>,
}

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryFilter {
    /// The key that an item must have.
    pub key: String,
    /// The pattern that its value must match.
    pub pattern: ValuePattern,
}

/// A pattern in lower case: the literal parts between the stars.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValuePattern(Vec<String>);

/// The reason why a query is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuerySyntaxError(pub String);

impl SkillQuery {
    /// Parses a query into the part that names skill and path, and the filters.
    pub fn parse(query: &str) -> Result<SkillQuery, QuerySyntaxError> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(QuerySyntaxError(format!("the query is longer than {QUERY_BYTES_MAX} bytes")));
        }
        let (text, filters) = match query.split_once('?') {
            Some((text, filters)) => (text, parse_filters(filters)?),
            None => (query, Vec::new()),
        };
        match text.split_once(':') {
            None => Err(QuerySyntaxError("missing `:` between the skill and the path; write `skill:path`".to_owned())),
            Some(("", _)) => Err(QuerySyntaxError("missing skill name before `:`; write `skill:path`".to_owned())),
            Some(_) => Ok(SkillQuery { text: text.to_owned(), filters }),
        }
    }

    /// Lists the possible splits into skill and path, most likely first. `is_skill` tells whether a skill exists.
    ///
    /// The first colon ends the name. `skill:name:path` is the long form, unless a skill is named `skill`.
    /// `package:name:path` names a package's skill, unless a skill has the package's name.
    pub fn list_readings(&self, is_skill: impl Fn(&str) -> bool) -> Vec<(&str, &str)> {
        let mut readings = Vec::new();
        let mut text = self.text.as_str();
        let long = text.strip_prefix("skill:").filter(|rest| rest.contains(':') && !is_skill("skill"));
        if let Some(rest) = long {
            text = rest;
        }
        // A name may contain a few colons itself.
        for (at, _) in text.match_indices(':').take(COLONS_MAX) {
            readings.push((&text[..at], &text[at + 1..]));
        }
        let known = readings.iter().position(|(name, _)| is_skill(name)).unwrap_or(0);
        readings.rotate_left(known);
        readings
    }
}

fn parse_filters(text: &str) -> Result<Vec<QueryFilter>, QuerySyntaxError> {
    let mut filters = Vec::new();
    for part in text.split('&') {
        let Some((key, value)) = part.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(QuerySyntaxError(format!("invalid filter `{part}`; write `key=value`")));
        };
        filters.push(QueryFilter { key: decode_percent(key), pattern: ValuePattern::parse(value) });
    }
    // The order of filters does not matter.
    filters.sort();
    filters.dedup();
    Ok(filters)
}

impl ValuePattern {
    /// Parses a pattern of a query. Escapes are decoded after splitting at stars, so that an escaped star is literal.
    pub fn parse(text: &str) -> Self {
        Self(text.split('*').map(|part| decode_percent(part).to_lowercase()).collect())
    }

    /// Creates a pattern that matches a text anywhere.
    pub fn match_anywhere(text: &str) -> Self {
        Self(vec![String::new(), text.to_lowercase(), String::new()])
    }

    /// Whether a value matches, compared as text.
    pub fn matches_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.matches_text(text),
            Value::Bool(value) => self.matches_text(if *value { "true" } else { "false" }),
            Value::Number(number) => self.matches_text(&number.to_string()),
            Value::Null => self.matches_text("null"),
            // A list matches if one of its items does.
            Value::Array(items) => items.iter().any(|item| !item.is_array() && self.matches_value(item)),
            Value::Object(_) => false,
        }
    }

    fn matches_text(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return text.is_empty() };
        if self.0.len() == 1 {
            return text == *first;
        }
        let Some(mut rest) = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str())) else {
            return false;
        };
        // Matching each part as early as possible leaves the most room for the following parts.
        for part in &self.0[1..self.0.len() - 1] {
            let Some(at) = rest.find(part.as_str()) else { return false };
            rest = &rest[at + part.len()..];
        }
        true
    }
}

/// Whether an item matches all filters.
pub fn matches_filters(item: &Value, filters: &[QueryFilter]) -> bool {
    filters.iter().all(|filter| item.get(&filter.key).is_some_and(|value| filter.pattern.matches_value(value)))
}

/// Decodes percent escapes. Invalid escapes, and results that are not UTF-8, are left unchanged.
pub fn decode_percent(text: &str) -> String {
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
        ValuePattern::parse(pattern).matches_value(&json!(text))
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
        assert!(ValuePattern::parse("TRUE").matches_value(&json!(true)));
        assert!(ValuePattern::parse("3*").matches_value(&json!(300)));
        assert!(ValuePattern::parse("refs").matches_value(&json!(["x", "refs"])));
        assert!(!ValuePattern::parse("*").matches_value(&json!({"a": 1})));
    }

    #[test]
    fn a_query_is_taken_apart_at_the_first_colon_and_question_mark() {
        let query = SkillQuery::parse("stripe:sources.stripe:migration/charges.url?a=b?c&d=e=f").unwrap();
        assert_eq!(query.text, "stripe:sources.stripe:migration/charges.url");
        assert_eq!(query.filters.len(), 2);
        assert_eq!(query.filters[1].pattern, ValuePattern::parse("e=f"));
        for bad in ["", "stripe", ":x", "a:b?", "a:b?c", "a:b?=c", "a:b?c=d&"] {
            assert!(SkillQuery::parse(bad).is_err(), "{bad}");
        }
        assert!(SkillQuery::parse(&format!("a:{}", "b.".repeat(3000))).is_err());
    }

    #[test]
    fn the_long_form_and_packages_are_read() {
        let read = |text: &str, names: &[&str]| -> (String, String) {
            let query = SkillQuery::parse(text).unwrap();
            let (name, path) = query.list_readings(|name| names.contains(&name))[0];
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
