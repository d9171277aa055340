//! Typing as PyYAML's `safe_load` does it (YAML 1.1), which the UASP content version depends on.

use serde_json::{Map, Number, Value as Json};

use super::{Node, Style, Value};

/// What a scalar is to PyYAML.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `null`, `~` or nothing.
    Null,
    /// `yes`, `no`, `on`, `off`, `true` or `false`.
    Bool(bool),
    /// A whole number, as its decimal digits with an optional minus.
    Int(String),
    /// Any other number.
    Float(f64),
    /// Text.
    Text,
    /// A date or a time, which JSON cannot hold.
    Timestamp,
    /// A plain `<<`, which merges another mapping into this one.
    Merge,
    /// Something PyYAML refuses, with what it is.
    Refused(&'static str),
}

/// Types a scalar; `None` for lists and mappings.
pub fn scalar(node: &Node) -> Option<Scalar> {
    let Value::Scalar { text, style } = &node.value else { return None };
    if let Some(tag) = &node.tag {
        return Some(tagged(tag, text));
    }
    Some(if *style == Style::Plain { plain(text) } else { Scalar::Text })
}

/// The value as JSON, as PyYAML reads it. Dates and what JSON cannot hold stay text as written.
pub fn json(node: &Node) -> Json {
    match &node.value {
        Value::Sequence { items, .. } => Json::Array(items.iter().map(json).collect()),
        Value::Mapping { entries, .. } => {
            let pairs = entries.iter().filter_map(|entry| Some((entry.key.text()?.to_owned(), json(&entry.value))));
            Json::Object(pairs.collect::<Map<String, Json>>())
        }
        Value::Scalar { text, .. } => match scalar(node) {
            Some(Scalar::Null) => Json::Null,
            Some(Scalar::Bool(value)) => Json::Bool(value),
            Some(Scalar::Int(digits)) => serde_json::from_str(&digits).unwrap_or_else(|_| Json::String(text.clone())),
            Some(Scalar::Float(value)) => {
                Number::from_f64(value).map_or_else(|| Json::String(text.clone()), Json::Number)
            }
            Some(Scalar::Text | Scalar::Timestamp | Scalar::Merge | Scalar::Refused(_)) | None => {
                Json::String(text.clone())
            }
        },
    }
}

fn tagged(tag: &str, text: &str) -> Scalar {
    match tag.strip_prefix("tag:yaml.org,2002:") {
        Some("str") => Scalar::Text,
        Some("null") => Scalar::Null,
        Some("bool") => {
            bool(&text.to_ascii_lowercase()).map_or(Scalar::Refused("a `!!bool` that is none"), Scalar::Bool)
        }
        Some("int") => int(text).unwrap_or(Scalar::Refused("an `!!int` that is none")),
        Some("float") => float_value(text).map_or(Scalar::Refused("a `!!float` that is none"), Scalar::Float),
        Some("timestamp") => Scalar::Timestamp,
        Some("binary") => Scalar::Refused("binary data"),
        _ if tag == "!" => Scalar::Text,
        _ => Scalar::Refused("a value with a tag of its own"),
    }
}

fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "<<" => return Scalar::Merge,
        "=" => return Scalar::Refused("a plain `=`"),
        _ => {}
    }
    if is_bool(text) {
        return bool(&text.to_ascii_lowercase()).map_or(Scalar::Text, Scalar::Bool);
    }
    let first = text.as_bytes()[0];
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return Scalar::Text;
    }
    if is_float(text) {
        return float_value(text).map_or(Scalar::Refused("a number PyYAML cannot read"), Scalar::Float);
    }
    if is_int(text) {
        return int(text).unwrap_or(Scalar::Refused("a number PyYAML cannot read"));
    }
    if is_timestamp(text) { Scalar::Timestamp } else { Scalar::Text }
}

fn is_bool(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_cased = text == lower || text == text.to_ascii_uppercase() || {
        let mut chars = text.chars();
        chars.next().is_some_and(|first| first.is_ascii_uppercase()) && chars.all(|rest| rest.is_ascii_lowercase())
    };
    is_cased && bool(&lower).is_some()
}

fn bool(lower: &str) -> Option<bool> {
    match lower {
        "yes" | "true" | "on" => Some(true),
        "no" | "false" | "off" => Some(false),
        _ => None,
    }
}

fn unsigned(text: &str) -> &str {
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
    let body = unsigned(text);
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
        // `\.[0-9][0-9_]*` stands without a sign in PyYAML's pattern.
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

fn float_value(text: &str) -> Option<f64> {
    let clean = text.replace('_', "").to_ascii_lowercase();
    let sign = if clean.starts_with('-') { -1.0 } else { 1.0 };
    let body = unsigned(&clean);
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
    let body = unsigned(text);
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

fn int(text: &str) -> Option<Scalar> {
    let clean = text.replace('_', "");
    let body = unsigned(&clean);
    if body.len() > DIGITS_MAX {
        return None;
    }
    let digits = if let Some(rest) = body.strip_prefix("0b") {
        decimal(rest, 2)?
    } else if let Some(rest) = body.strip_prefix("0x") {
        decimal(rest, 16)?
    } else if body.len() > 1 && body.starts_with('0') {
        decimal(body, 8)?
    } else if body.contains(':') {
        body.split(':').try_fold("0".to_owned(), |total, part| multiply_add(&total, 60, part.parse().ok()?))?
    } else {
        decimal(body, 10)?
    };
    let is_negative = clean.starts_with('-') && digits != "0";
    Some(Scalar::Int(if is_negative { format!("-{digits}") } else { digits }))
}

/// Python refuses to read or print whole numbers longer than this.
const DIGITS_MAX: usize = 4300;

fn decimal(digits: &str, radix: u32) -> Option<String> {
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

/// `total * factor + add` on decimal digits.
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
    is_clock(rest)
}

/// Takes up to `most` digits and says how many there were.
fn take_digits(text: &str, most: usize) -> (usize, &str) {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    (count, &text[count..])
}

fn is_clock(text: &str) -> bool {
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
