//! Removes secrets from the output of a run, in all common encodings and across chunk boundaries.
//!
//! A secret is detected in its literal form and in the encodings that programs commonly use: JSON and percent escapes,
//! hexadecimal, and base64 at each of the three possible alignments. Overlapping matches are removed together, so that
//! no part of a detected secret remains. A secret that a tool splits, encrypts or encodes in another way is not
//! detected, which is why a tool only gets the secrets it declares.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;
use serde_json::{Map, Value};

use crate::pii;

/// The minimum length of a secret. Shorter ones occur in ordinary text by chance, and removing them would reveal them.
pub const SECRET_BYTES_MIN: usize = 6;
/// The minimum length of lines of a multi-line secret, such as a PEM key, that are redacted individually.
const LINE_BYTES_MIN: usize = 16;

/// Removes secrets and, optionally, personal data.
pub struct Redactor {
    automaton: Option<AhoCorasick>,
    /// Matches the same forms in any case, for text in which case has no meaning.
    caseless: Option<AhoCorasick>,
    /// The length of each form, and its replacement.
    forms: Vec<(usize, String)>,
    longest: usize,
    too_short: Vec<String>,
    redacts_pii: bool,
}

impl Redactor {
    /// Creates a redactor for these secrets, given as name and value, and optionally for personal data.
    pub fn new(secrets: &[(String, String)], redacts_pii: bool) -> Self {
        let mut forms: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        let mut too_short = Vec::new();
        for (name, value) in secrets.iter().filter(|(_, value)| !value.is_empty()) {
            if value.trim().len() < SECRET_BYTES_MIN {
                too_short.push(name.clone());
                continue;
            }
            for form in list_secret_forms(value) {
                forms.entry(form).or_insert_with(|| format!("[redacted:{name}]"));
            }
        }
        let automaton = (!forms.is_empty()).then(|| AhoCorasick::new(forms.keys()));
        let caseless =
            (!forms.is_empty()).then(|| AhoCorasick::builder().ascii_case_insensitive(true).build(forms.keys()));
        let forms: Vec<(usize, String)> = forms.into_iter().map(|(form, label)| (form.len(), label)).collect();
        let longest = forms.iter().map(|(length, _)| *length).max().unwrap_or(1);
        // Exceeding the capacity of an automaton would take gigabytes of secrets.
        let automaton = automaton.transpose().expect("the forms of secrets fit an automaton");
        let caseless = caseless.transpose().expect("the forms of secrets fit an automaton");
        Self { automaton, caseless, forms, longest, too_short, redacts_pii }
    }

    /// Returns the names of the secrets that are too short to be detected.
    pub fn too_short(&self) -> &[String] {
        &self.too_short
    }

    /// Whether these bytes contain a secret.
    pub fn contains_secret(&self, bytes: &[u8]) -> bool {
        self.automaton.as_ref().is_some_and(|automaton| automaton.is_match(bytes))
    }

    /// Starts removing secrets from a stream.
    pub fn start_stream(&self) -> RedactionStream<'_> {
        RedactionStream { redactor: self, pending: Vec::new(), covered_bytes: 0, is_marked: false }
    }

    /// Redacts a text.
    pub fn redact_text(&self, text: &str) -> String {
        let mut stream = self.start_stream();
        let mut bytes = stream.push(text.as_bytes());
        bytes.extend(stream.finish());
        let text = String::from_utf8_lossy(&bytes);
        if self.redacts_pii { pii::redact_pii(&text) } else { text.into_owned() }
    }

    /// Redacts the name of a host. Case has no meaning there, and clients, resolvers and servers change it.
    pub fn redact_host_name(&self, text: &str) -> String {
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        for hit in self.caseless.iter().flat_map(|automaton| automaton.find_overlapping_iter(text)) {
            spans.push((hit.start(), hit.end(), hit.pattern().as_usize()));
        }
        spans.sort_unstable();
        let (mut clean, mut kept) = (String::new(), 0);
        for (start, end, form) in spans {
            if start >= kept {
                clean.push_str(&text[kept..start]);
                clean.push_str(&self.forms[form].1);
            }
            kept = kept.max(end);
        }
        clean.push_str(&text[kept..]);
        self.redact_text(&clean)
    }

    /// Redacts output that may have been truncated. In truncated output, the last bytes are dropped if they may be the
    /// start of a secret.
    pub fn redact_output(&self, bytes: &[u8], is_cut: bool) -> String {
        let mut stream = self.start_stream();
        let mut clean = stream.push(bytes);
        if !is_cut {
            clean.extend(stream.finish());
        }
        let text = String::from_utf8_lossy(&clean);
        if self.redacts_pii { pii::redact_pii(&text) } else { text.into_owned() }
    }

    /// Redacts the strings and keys of a value. A number that contains a secret becomes a string. Numbers are not
    /// checked for personal data, because amounts can look like phone numbers.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact_text(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.redact_value(item)).collect()),
            Value::Object(fields) => Value::Object(self.redact_fields(fields)),
            Value::Number(number) if self.contains_secret(number.to_string().as_bytes()) => {
                Value::String(self.redact_text(&number.to_string()))
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }

    /// Redacts the fields of an object.
    pub fn redact_fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let mut clean = Map::new();
        let mut counts = BTreeMap::new();
        for (key, value) in fields {
            let key = find_unused_key(&clean, &self.redact_text(&key), &mut counts);
            clean.insert(key, self.redact_value(value));
        }
        clean
    }

    /// Returns the longest match for each start position: its end and its form.
    fn find_matches(&self, bytes: &[u8]) -> BTreeMap<usize, (usize, usize)> {
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

/// Returns an unused key for a redacted one, so that fields with equal redacted keys are all preserved. `counts`
/// contains the number of uses of each key, so that no number is tried twice.
fn find_unused_key(fields: &Map<String, Value>, key: &str, counts: &mut BTreeMap<String, u64>) -> String {
    let mut free = key.to_owned();
    while fields.contains_key(&free) {
        let count = counts.entry(key.to_owned()).or_insert(1);
        *count += 1;
        free = format!("{key}#{count}");
    }
    free
}

/// A stream from which secrets are removed.
pub struct RedactionStream<'a> {
    redactor: &'a Redactor,
    /// Bytes that could still be the start of a secret.
    pending: Vec<u8>,
    /// The number of pending bytes that belong to a detected secret.
    covered_bytes: usize,
    /// Whether the replacement for the covered bytes was already written.
    is_marked: bool,
}

impl RedactionStream<'_> {
    /// Adds a chunk, and returns the bytes that are known to be safe.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        // Matches that start before this position are complete.
        let certain = (self.pending.len() + 1).saturating_sub(self.redactor.longest);
        self.emit_certain(certain)
    }

    /// Returns the remaining bytes.
    pub fn finish(mut self) -> Vec<u8> {
        let rest = self.pending.len();
        self.emit_certain(rest)
    }

    fn emit_certain(&mut self, certain: usize) -> Vec<u8> {
        let found = self.redactor.find_matches(&self.pending);
        let mut clean = Vec::with_capacity(certain);
        for (at, byte) in self.pending[..certain].iter().enumerate() {
            if let Some((end, form)) = found.get(&at) {
                if at >= self.covered_bytes {
                    self.is_marked = false;
                }
                self.covered_bytes = self.covered_bytes.max(*end);
                if !self.is_marked {
                    clean.extend_from_slice(self.redactor.forms[*form].1.as_bytes());
                    self.is_marked = true;
                }
            }
            if at >= self.covered_bytes {
                self.is_marked = false;
                clean.push(*byte);
            }
        }
        self.pending.drain(..certain);
        self.covered_bytes = self.covered_bytes.saturating_sub(certain);
        clean
    }
}

/// Returns the forms in which a secret is detected.
fn list_secret_forms(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut texts: BTreeSet<&str> = BTreeSet::from([secret, secret.trim()]);
    if secret.trim().lines().nth(1).is_some() {
        // The header and footer of a PEM key are not secret.
        let lines = secret.lines().map(str::trim);
        texts.extend(lines.filter(|line| line.len() >= LINE_BYTES_MIN && !line.starts_with("-----")));
    }
    let mut forms = BTreeSet::new();
    for text in texts {
        forms.insert(text.as_bytes().to_vec());
        for escaped in list_json_escapes(text) {
            forms.extend(list_json_escapes(&escaped).into_iter().map(String::into_bytes));
            forms.insert(escaped.into_bytes());
        }
        let bytes = text.as_bytes();
        forms.extend([encode_hex(bytes, HEX_LOWER), encode_hex(bytes, HEX_UPPER)]);
        forms.extend(list_percent_escapes(bytes));
        for alphabet in [BASE64, BASE64_URL] {
            forms.extend((0..3).map(|place| encode_base64(bytes, place, alphabet)));
        }
    }
    forms.retain(|form| form.len() >= SECRET_BYTES_MIN);
    forms
}

/// Returns the JSON encodings of a text: minimal escapes, ASCII only, and escaped slashes.
fn list_json_escapes(text: &str) -> Vec<String> {
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

fn encode_hex(bytes: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

/// Returns the percent encodings: RFC 3986, JavaScript, Python, form data, and every byte escaped.
fn list_percent_escapes(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for kept in [&b"-._~"[..], b"-._~!'()*", b"-._~/", b""] {
        for digits in [HEX_UPPER, HEX_LOWER] {
            let write = |byte: &u8| -> Vec<u8> {
                let is_kept = kept.contains(byte) || (!kept.is_empty() && byte.is_ascii_alphanumeric());
                if is_kept { vec![*byte] } else { [&b"%"[..], &encode_hex(&[*byte], digits)].concat() }
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

/// Encodes the base64 characters that depend only on these bytes, when `place` bytes precede them.
fn encode_base64(bytes: &[u8], place: usize, alphabet: &[u8; 64]) -> Vec<u8> {
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
