//! Typing like PyYAML's `safe_load` (YAML 1.1), which the UASP content version depends on.

use serde_json::{Map, Number, Value as Json};

use super::{YamlNode, YamlScalarStyle, YamlValue};

/// The type of a scalar in PyYAML.
#[derive(Clone, Debug, PartialEq)]
pub enum PyyamlScalar {
    /// `null`, `~` or an empty value.
    Null,
    /// `yes`, `no`, `on`, `off`, `true` or `false`.
    Bool(bool),
    /// An integer, as decimal digits with an optional minus sign.
    Int(String),
    /// Any other number.
    Float(f64),
    /// Text.
    Text,
    /// A date or time, which JSON cannot represent.
    Timestamp,
    /// A plain `<<`, which merges another mapping into this one.
    Merge,
    /// A value that PyYAML rejects, with a description.
    Refused(&'static str),
}

/// Classifies a scalar. Returns `None` for lists and mappings.
pub fn classify_scalar(node: &YamlNode) -> Option<PyyamlScalar> {
    let YamlValue::Scalar { text, style } = &node.value else { return None };
    if let Some(tag) = &node.tag {
        return Some(classify_tagged(tag, text));
    }
    Some(if *style == YamlScalarStyle::Plain { classify_plain(text) } else { PyyamlScalar::Text })
}

/// Converts the value to JSON, typed like PyYAML. Dates and values that JSON cannot represent become text as written.
pub fn to_json(node: &YamlNode) -> Json {
    match &node.value {
        YamlValue::Sequence { items, .. } => Json::Array(items.iter().map(to_json).collect()),
        YamlValue::Mapping { entries, .. } => {
            let pairs = entries.iter().filter_map(|entry| Some((entry.key.text()?.to_owned(), to_json(&entry.value))));
            Json::Object(pairs.collect::<Map<String, Json>>())
        }
        YamlValue::Scalar { text, .. } => match classify_scalar(node) {
            Some(PyyamlScalar::Null) => Json::Null,
            Some(PyyamlScalar::Bool(value)) => Json::Bool(value),
            Some(PyyamlScalar::Int(digits)) => {
                serde_json::from_str(&digits).unwrap_or_else(|_| Json::String(text.clone()))
            }
            Some(PyyamlScalar::Float(value)) => {
                Number::from_f64(value).map_or_else(|| Json::String(text.clone()), Json::Number)
            }
            Some(PyyamlScalar::Text | PyyamlScalar::Timestamp | PyyamlScalar::Merge | PyyamlScalar::Refused(_))
            | None => Json::String(text.clone()),
        },
    }
}

fn classify_tagged(tag: &str, text: &str) -> PyyamlScalar {
    match tag.strip_prefix("tag:yaml.org,2002:") {
        Some("str") => PyyamlScalar::Text,
        Some("null") => PyyamlScalar::Null,
        Some("bool") => parse_bool(&text.to_ascii_lowercase())
            .map_or(PyyamlScalar::Refused("an invalid `!!bool`"), PyyamlScalar::Bool),
        Some("int") => parse_int(text).unwrap_or(PyyamlScalar::Refused("an invalid `!!int`")),
        Some("float") => parse_float(text).map_or(PyyamlScalar::Refused("an invalid `!!float`"), PyyamlScalar::Float),
        Some("timestamp") => PyyamlScalar::Timestamp,
        Some("binary") => PyyamlScalar::Refused("binary data"),
        _ if tag == "!" => PyyamlScalar::Text,
        _ => PyyamlScalar::Refused("a value with a custom tag"),
    }
}

fn classify_plain(text: &str) -> PyyamlScalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return PyyamlScalar::Null,
        "<<" => return PyyamlScalar::Merge,
        "=" => return PyyamlScalar::Refused("a plain `=`"),
        _ => {}
    }
    if is_bool(text) {
        return parse_bool(&text.to_ascii_lowercase()).map_or(PyyamlScalar::Text, PyyamlScalar::Bool);
    }
    let first = text.as_bytes()[0];
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return PyyamlScalar::Text;
    }
    if is_float(text) {
        return parse_float(text).map_or(PyyamlScalar::Refused("a number PyYAML cannot read"), PyyamlScalar::Float);
    }
    if is_int(text) {
        return parse_int(text).unwrap_or(PyyamlScalar::Refused("a number PyYAML cannot read"));
    }
    if is_timestamp(text) { PyyamlScalar::Timestamp } else { PyyamlScalar::Text }
}

fn is_bool(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_cased = text == lower || text == text.to_ascii_uppercase() || {
        let mut chars = text.chars();
        chars.next().is_some_and(|first| first.is_ascii_uppercase()) && chars.all(|rest| rest.is_ascii_lowercase())
    };
    is_cased && parse_bool(&lower).is_some()
}

fn parse_bool(lower: &str) -> Option<bool> {
    match lower {
        "yes" | "true" | "on" => Some(true),
        "no" | "false" | "off" => Some(false),
        _ => None,
    }
}

fn strip_sign(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_loose_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

fn is_sexagesimal_tail(mut parts: std::str::Split<'_, char>) -> bool {
    parts.all(|part| match part.as_bytes() {
        [one] => one.is_ascii_digit(),
        [ten, one] => (b'0'..=b'5').contains(ten) && one.is_ascii_digit(),
        _ => false,
    })
}

fn is_float(text: &str) -> bool {
    let body = strip_sign(text);
    if matches!(body, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = body.split_once('.') else { return false };
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let is_exponent =
        exponent.is_none_or(|part| part.starts_with(['+', '-']) && part.len() > 1 && is_digits(&part[1..]));
    if !is_loose_digits(fraction) {
        return false;
    }
    if whole.is_empty() {
        // `\.[0-9][0-9_]*` has no sign in PyYAML's pattern.
        return text.starts_with('.') && fraction.starts_with(|first: char| first.is_ascii_digit()) && is_exponent;
    }
    if !whole.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    match whole.split_once(':') {
        None => is_loose_digits(whole) && is_exponent,
        Some((first, tail)) => is_loose_digits(first) && exponent.is_none() && is_sexagesimal_tail(tail.split(':')),
    }
}

fn parse_float(text: &str) -> Option<f64> {
    let clean = text.replace('_', "").to_ascii_lowercase();
    let sign = if clean.starts_with('-') { -1.0 } else { 1.0 };
    let body = strip_sign(&clean);
    if body == ".inf" {
        return Some(sign * f64::INFINITY);
    }
    if body == ".nan" {
        return Some(f64::NAN);
    }
    if body.contains(':') {
        let mut total = 0.0;
        for part in body.split(':') {
            total = total * 60.0 + part.parse::<f64>().ok()?;
        }
        return Some(sign * total);
    }
    body.parse::<f64>().ok().map(|value| sign * value)
}

fn is_int(text: &str) -> bool {
    let body = strip_sign(text);
    let all = |part: &str, is: fn(u8) -> bool| !part.is_empty() && part.bytes().all(|byte| is(byte) || byte == b'_');
    if let Some(digits) = body.strip_prefix("0b") {
        return all(digits, |byte| matches!(byte, b'0' | b'1'));
    }
    if let Some(digits) = body.strip_prefix("0x") {
        return all(digits, |byte| byte.is_ascii_hexdigit());
    }
    if body == "0" || (body.starts_with('0') && all(&body[1..], |byte| (b'0'..=b'7').contains(&byte))) {
        return true;
    }
    if !body.starts_with(|first: char| ('1'..='9').contains(&first)) {
        return false;
    }
    match body.split_once(':') {
        None => is_loose_digits(body),
        Some((first, tail)) => is_loose_digits(first) && is_sexagesimal_tail(tail.split(':')),
    }
}

fn parse_int(text: &str) -> Option<PyyamlScalar> {
    let clean = text.replace('_', "");
    let body = strip_sign(&clean);
    if body.len() > DIGITS_MAX {
        return None;
    }
    let digits = if let Some(rest) = body.strip_prefix("0b") {
        to_decimal(rest, 2)?
    } else if let Some(rest) = body.strip_prefix("0x") {
        to_decimal(rest, 16)?
    } else if body.len() > 1 && body.starts_with('0') {
        to_decimal(body, 8)?
    } else if body.contains(':') {
        body.split(':').try_fold("0".to_owned(), |total, part| multiply_add(&total, 60, part.parse().ok()?))?
    } else {
        to_decimal(body, 10)?
    };
    let is_negative = clean.starts_with('-') && digits != "0";
    Some(PyyamlScalar::Int(if is_negative { format!("-{digits}") } else { digits }))
}

/// The maximum number of digits of integers that Python reads or prints.
const DIGITS_MAX: usize = 4300;

fn to_decimal(digits: &str, radix: u32) -> Option<String> {
    if digits.is_empty() {
        return None;
    }
    if radix == 10 {
        let trimmed = digits.trim_start_matches('0');
        return is_digits(digits).then(|| if trimmed.is_empty() { "0" } else { trimmed }.to_owned());
    }
    if let Ok(small) = u128::from_str_radix(digits, radix) {
        return Some(small.to_string());
    }
    digits.chars().try_fold("0".to_owned(), |total, digit| multiply_add(&total, radix, digit.to_digit(radix)?))
}

/// Computes `total * factor + add` on decimal digits.
fn multiply_add(total: &str, factor: u32, add: u32) -> Option<String> {
    let mut carry = add;
    let mut reversed = Vec::with_capacity(total.len() + 2);
    for digit in total.bytes().rev() {
        let value = u32::from(digit - b'0') * factor + carry;
        reversed.push(b'0' + u8::try_from(value % 10).ok()?);
        carry = value / 10;
    }
    while carry > 0 {
        reversed.push(b'0' + u8::try_from(carry % 10).ok()?);
        carry /= 10;
    }
    while reversed.len() > 1 && reversed.last() == Some(&b'0') {
        reversed.pop();
    }
    reversed.reverse();
    String::from_utf8(reversed).ok()
}

fn is_timestamp(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(4).filter(|(year, _)| is_digits(year)) else { return false };
    let _ = date;
    let Some(rest) = rest.strip_prefix('-') else { return false };
    let (month, rest) = take_digits(rest, 2);
    let Some(rest) = rest.strip_prefix('-') else { return false };
    let (day, rest) = take_digits(rest, 2);
    if month == 0 || day == 0 {
        return false;
    }
    if rest.is_empty() {
        return month == 2 && day == 2;
    }
    is_time_of_day(rest)
}

/// Takes up to `most` digits and returns their number.
fn take_digits(text: &str, most: usize) -> (usize, &str) {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    (count, &text[count..])
}

fn is_time_of_day(text: &str) -> bool {
    let blanks = |part: &str| part.trim_start_matches([' ', '\t']).len();
    let rest = match text.strip_prefix(['T', 't']) {
        Some(rest) => rest,
        None if blanks(text) < text.len() => &text[text.len() - blanks(text)..],
        None => return false,
    };
    let (hours, rest) = take_digits(rest, 2);
    let Some((minutes, rest)) = rest.strip_prefix(':').map(|rest| take_digits(rest, 2)) else { return false };
    let Some((seconds, rest)) = rest.strip_prefix(':').map(|rest| take_digits(rest, 2)) else { return false };
    if hours == 0 || minutes != 2 || seconds != 2 {
        return false;
    }
    let rest = rest.strip_prefix('.').map_or(rest, |fraction| take_digits(fraction, fraction.len()).1);
    let zone = rest.trim_start_matches([' ', '\t']);
    if rest.is_empty() || zone == "Z" {
        return true;
    }
    let Some(zone) = zone.strip_prefix(['+', '-']) else { return false };
    let (hours, zone) = take_digits(zone, 2);
    hours > 0 && (zone.is_empty() || zone.strip_prefix(':').is_some_and(|part| part.len() == 2 && is_digits(part)))
}
