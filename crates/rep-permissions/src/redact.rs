//! Takes secrets out of what leaves a run, however they are written and wherever a stream is cut.
//!
//! A secret is looked for as it is and in the forms programs commonly give it: JSON and percent escapes, hexadecimal,
//! and base64 at each of the three places it can have in a longer text. Overlapping finds are taken out as one, so
//! that no part of a found secret stays. What is not found: a secret a tool takes apart, encrypts or spells out in a way
//! of its own, which is why a tool gets no secret it does not declare.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use serde_json::{Map, Value};

use crate::pii;

/// Shorter secrets are not looked for: they stand in ordinary text by chance, and taking them out tells where.
pub const SECRET_BYTES_MIN: usize = 6;
/// Lines of a longer secret, such as a key in armour, are secrets of their own from this length on.
const LINE_BYTES_MIN: usize = 16;

/// What must not leave a run.
pub struct Redactor {
    automaton: Option<AhoCorasick>,
    /// For each form: its length, and what stands in its place.
    forms: Vec<(usize, String)>,
    longest: usize,
    too_short: Vec<String>,
    takes_pii: bool,
}

impl Redactor {
    /// Prepares for these secrets, by name and value, and for personal data where that is wanted.
    pub fn new(secrets: &[(String, String)], takes_pii: bool) -> Self {
        let mut forms: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        let mut too_short = Vec::new();
        for (name, value) in secrets.iter().filter(|(_, value)| !value.is_empty()) {
            if value.trim().len() < SECRET_BYTES_MIN {
                too_short.push(name.clone());
                continue;
            }
            for form in forms_of(value) {
                forms.entry(form).or_insert_with(|| format!("[redacted:{name}]"));
            }
        }
        let automaton = (!forms.is_empty()).then(|| AhoCorasick::new(forms.keys()));
        let forms: Vec<(usize, String)> = forms.into_iter().map(|(form, label)| (form.len(), label)).collect();
        let longest = forms.iter().map(|(length, _)| *length).max().unwrap_or(1);
        // More forms than an automaton can hold would be gigabytes of secrets.
        let automaton = automaton.transpose().expect("the forms of secrets fit an automaton");
        Self { automaton, forms, longest, too_short, takes_pii }
    }

    /// The secrets that are too short to be looked for.
    pub fn too_short(&self) -> &[String] {
        &self.too_short
    }

    /// Whether a secret stands in these bytes.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.automaton.as_ref().is_some_and(|automaton| automaton.is_match(bytes))
    }

    /// Takes secrets out of a stream, piece by piece.
    pub fn stream(&self) -> Stream<'_> {
        Stream { redactor: self, held: Vec::new(), covered: 0, is_marked: false }
    }

    /// Takes everything out of a text.
    pub fn text(&self, text: &str) -> String {
        let mut stream = self.stream();
        let mut bytes = stream.push(text.as_bytes());
        bytes.extend(stream.finish());
        let text = String::from_utf8_lossy(&bytes);
        if self.takes_pii { pii::redact(&text) } else { text.into_owned() }
    }

    /// Takes everything out of an output that may have been cut. Where it was, its last bytes may be the beginning of a
    /// secret, and are left out.
    pub fn output(&self, bytes: &[u8], is_cut: bool) -> String {
        let mut stream = self.stream();
        let mut clean = stream.push(bytes);
        if !is_cut {
            clean.extend(stream.finish());
        }
        let text = String::from_utf8_lossy(&clean);
        if self.takes_pii { pii::redact(&text) } else { text.into_owned() }
    }

    /// Takes everything out of the strings and keys of a value. A number that spells a secret becomes a string; no number
    /// is changed for looking like personal data, because a sum must not turn into a phone.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => Value::Object(self.fields(fields)),
            Value::Number(number) if self.finds(number.to_string().as_bytes()) => {
                Value::String(self.text(&number.to_string()))
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }

    /// The same for the fields of an object.
    pub fn fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let mut clean = Map::new();
        let mut counts = BTreeMap::new();
        for (key, value) in fields {
            let key = unused(&clean, &self.text(&key), &mut counts);
            clean.insert(key, self.value(value));
        }
        clean
    }

    /// For each place a form begins at, where the longest one ends and which it is.
    fn finds_in(&self, bytes: &[u8]) -> BTreeMap<usize, (usize, usize)> {
        let mut found: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let Some(automaton) = &self.automaton else { return found };
        for hit in automaton.find_overlapping_iter(bytes) {
            let best = found.entry(hit.start()).or_insert((hit.end(), hit.pattern().as_usize()));
            if hit.end() > best.0 {
                *best = (hit.end(), hit.pattern().as_usize());
            }
        }
        found
    }
}

/// Two keys that are the same once they are clean must both stay. `counts` is how often each came up, so that no number
/// is tried twice.
fn unused(fields: &Map<String, Value>, key: &str, counts: &mut BTreeMap<String, u64>) -> String {
    let mut free = key.to_owned();
    while fields.contains_key(&free) {
        let count = counts.entry(key.to_owned()).or_insert(1);
        *count += 1;
        free = format!("{key}#{count}");
    }
    free
}

/// A stream secrets are being taken out of.
pub struct Stream<'a> {
    redactor: &'a Redactor,
    /// What could still be the beginning of a secret.
    held: Vec<u8>,
    /// How much of it belongs to a secret that was found.
    covered: usize,
    /// Whether the run of covered bytes has its label already.
    is_marked: bool,
}

impl Stream<'_> {
    /// Takes in a piece, and gives out what is certain by now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        // What begins before this has been seen to its end, whatever it is.
        let certain = (self.held.len() + 1).saturating_sub(self.redactor.longest);
        self.give(certain)
    }

    /// Gives out the rest.
    pub fn finish(mut self) -> Vec<u8> {
        let rest = self.held.len();
        self.give(rest)
    }

    fn give(&mut self, certain: usize) -> Vec<u8> {
        let found = self.redactor.finds_in(&self.held);
        let mut clean = Vec::with_capacity(certain);
        for (at, byte) in self.held[..certain].iter().enumerate() {
            if let Some((end, form)) = found.get(&at) {
                if at >= self.covered {
                    self.is_marked = false;
                }
                self.covered = self.covered.max(*end);
                if !self.is_marked {
                    clean.extend_from_slice(self.redactor.forms[*form].1.as_bytes());
                    self.is_marked = true;
                }
            }
            if at >= self.covered {
                self.is_marked = false;
                clean.push(*byte);
            }
        }
        self.held.drain(..certain);
        self.covered = self.covered.saturating_sub(certain);
        clean
    }
}

/// The forms a secret is looked for in.
fn forms_of(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut texts: BTreeSet<&str> = BTreeSet::from([secret, secret.trim()]);
    if secret.trim().lines().nth(1).is_some() {
        // The frame of a key in armour is the same for everybody.
        let lines = secret.lines().map(str::trim);
        texts.extend(lines.filter(|line| line.len() >= LINE_BYTES_MIN && !line.starts_with("-----")));
    }
    let mut forms = BTreeSet::new();
    for text in texts {
        forms.insert(text.as_bytes().to_vec());
        for escaped in json_escapes(text) {
            forms.extend(json_escapes(&escaped).into_iter().map(String::into_bytes));
            forms.insert(escaped.into_bytes());
        }
        let bytes = text.as_bytes();
        forms.extend([hex(bytes, HEX_LOWER), hex(bytes, HEX_UPPER)]);
        forms.extend(percents(bytes));
        for alphabet in [BASE64, BASE64_URL] {
            forms.extend((0..3).map(|place| base64(bytes, place, alphabet)));
        }
    }
    forms.retain(|form| form.len() >= SECRET_BYTES_MIN);
    forms
}

/// How JSON writers write a text: as little escaped as can be, ASCII only, and with slashes escaped.
fn json_escapes(text: &str) -> Vec<String> {
    let least = Value::from(text).to_string();
    let least = least[1..least.len() - 1].to_owned();
    let ascii = |is_upper: bool| -> String {
        let mut out = String::new();
        for character in least.chars() {
            if character.is_ascii() {
                out.push(character);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&if is_upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
            }
        }
        out
    };
    vec![ascii(false), ascii(true), least.replace('/', "\\/"), least]
}

const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

fn hex(bytes: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

/// The ways an address is escaped: by the standard, by JavaScript, by Python, as a form, and every byte.
fn percents(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for kept in [&b"-._~"[..], b"-._~!'()*", b"-._~/", b""] {
        for digits in [HEX_UPPER, HEX_LOWER] {
            let write = |byte: &u8| -> Vec<u8> {
                let is_kept = kept.contains(byte) || (!kept.is_empty() && byte.is_ascii_alphanumeric());
                if is_kept { vec![*byte] } else { [&b"%"[..], &hex(&[*byte], digits)].concat() }
            };
            let form: Vec<u8> = bytes.iter().flat_map(write).collect();
            let plus = String::from_utf8_lossy(&form).replace("%20", "+").into_bytes();
            forms.extend([form, plus]);
        }
    }
    forms
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The letters of a longer text in base64 that this part of it alone decides, when `place` bytes stand before it.
fn base64(bytes: &[u8], place: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let before = vec![0; place];
    let all: Vec<u8> = [&before[..], bytes].concat();
    let sextet = |index: usize| -> u8 {
        let bit = index * 6;
        let high = u16::from(all[bit / 8]) << 8;
        let low = u16::from(all.get(bit / 8 + 1).copied().unwrap_or(0));
        let shifted = (high | low) >> (10 - bit % 8);
        alphabet[usize::from(shifted & 63)]
    };
    ((place * 8).div_ceil(6)..all.len() * 8 / 6).map(sextet).collect()
}

#[cfg(test)]
mod tests;
