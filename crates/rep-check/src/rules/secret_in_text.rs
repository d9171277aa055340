use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rep_model::truncate::truncate_chars;
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::text_files::text_files;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "secret-in-text",
    summary: "a credential is written into the skill",
    since: "0.1.0",
    levels: Levels { error: Profile::Security.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8"), Cite::house("security")],
    requirements: &["SEC-01"],
    page: include_str!("secret_in_text.md"),
    check: Check::Skill(check),
};

/// A kind of credential that its first letters give away.
struct Kind {
    prefix: &'static str,
    name: &'static str,
    /// How many letters follow the prefix: at least and at most.
    letters: (usize, usize),
    alphabet: Alphabet,
}

#[derive(Clone, Copy)]
enum Alphabet {
    Upper,
    Alphanumeric,
    /// Letters and digits, `_` and `-`.
    Word,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Alphanumeric => byte.is_ascii_alphanumeric(),
            Alphabet::Word => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        }
    }
}

const fn kind(prefix: &'static str, name: &'static str, letters: (usize, usize), alphabet: Alphabet) -> Kind {
    Kind { prefix, name, letters, alphabet }
}

const KEY_BLOCK: &str = "-----BEGIN ";

static KINDS: [Kind; 24] = [
    kind("AKIA", "an AWS access key id", (16, 16), Alphabet::Upper),
    kind("ghp_", "a GitHub token", (36, 36), Alphabet::Alphanumeric),
    kind("gho_", "a GitHub token", (36, 36), Alphabet::Alphanumeric),
    kind("ghu_", "a GitHub token", (36, 36), Alphabet::Alphanumeric),
    kind("ghs_", "a GitHub token", (36, 36), Alphabet::Alphanumeric),
    kind("ghr_", "a GitHub token", (36, 76), Alphabet::Alphanumeric),
    kind("github_pat_", "a GitHub token", (82, 82), Alphabet::Word),
    kind("sk-ant-", "an Anthropic key", (60, 140), Alphabet::Word),
    kind("sk-proj-", "an OpenAI key", (40, 200), Alphabet::Word),
    kind("sk-svcacct-", "an OpenAI key", (40, 200), Alphabet::Word),
    kind("sk-", "an API key", (32, 64), Alphabet::Alphanumeric),
    kind("xoxa-", "a Slack token", (30, 120), Alphabet::Word),
    kind("xoxb-", "a Slack token", (30, 120), Alphabet::Word),
    kind("xoxp-", "a Slack token", (30, 120), Alphabet::Word),
    kind("xoxr-", "a Slack token", (30, 120), Alphabet::Word),
    kind("xoxs-", "a Slack token", (30, 120), Alphabet::Word),
    kind("sk_live_", "a Stripe key", (24, 120), Alphabet::Alphanumeric),
    kind("rk_live_", "a Stripe key", (24, 120), Alphabet::Alphanumeric),
    kind("AIza", "a Google API key", (35, 35), Alphabet::Word),
    kind("npm_", "an npm token", (36, 36), Alphabet::Alphanumeric),
    kind("pypi-AgEI", "a PyPI token", (50, 260), Alphabet::Word),
    kind("glpat-", "a GitLab token", (20, 64), Alphabet::Word),
    kind("hf_", "a Hugging Face token", (34, 34), Alphabet::Alphanumeric),
    kind(KEY_BLOCK, "a private key", (60, 60_000), Alphabet::Word),
];

/// One pass over a text for all prefixes; of two that start together the longer counts.
static PREFIXES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let prefixes = KINDS.iter().map(|kind| kind.prefix);
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(prefixes);
    built.expect("a few short prefixes fit any automaton")
});

/// What stands in a credential that is only an example, in small letters.
const PLACEHOLDERS: [&str; 20] = [
    "12345",
    "98765",
    "abcdef",
    "change",
    "deadbeef",
    "dummy",
    "example",
    "fake",
    "foobar",
    "here",
    "insert",
    "mykey",
    "placeholder",
    "qwerty",
    "redacted",
    "replace",
    "sample",
    "test",
    "xxxx",
    "your",
];
/// The credentials of vendors' own documentation, behind their prefixes.
const DOCUMENTED: [&str; 2] = ["16C7e42F292c6912E7710c838347Ae178B4a", "4eC39HqLyjWDarjtT1zdp7dc"];
/// A file that holds more is known to be bad after this many.
const PER_FILE_MAX: usize = 10;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for (file, text) in text_files(skill) {
        for (kind, span) in secrets(&text).take(PER_FILE_MAX) {
            // The report may end up where the secret must not, so it shows four letters of it and no excerpt.
            let shown = match kind.prefix {
                KEY_BLOCK => String::new(),
                _ => format!(": `{}…`", truncate_chars(&text[span.range()], 4)),
            };
            findings
                .add(file, span, format!("{} is written here{shown}", kind.name))
                .help("revoke it, remove it, and let the skill read it from the environment")
                .conceal();
        }
    }
}

fn secrets(text: &str) -> impl Iterator<Item = (&'static Kind, Span)> {
    PREFIXES.find_iter(text).filter_map(move |found| {
        let kind = &KINDS[found.pattern().as_usize()];
        let end = match kind.prefix {
            KEY_BLOCK => private_key_end(text, found.end())?,
            _ => token_end(text.as_bytes(), found.start(), found.end(), kind)?,
        };
        Some((kind, Span::new(found.start(), end)))
    })
}

/// The end of the token whose prefix is `start..tail`, unless it is part of a word or only an example.
fn token_end(bytes: &[u8], start: usize, tail: usize, kind: &Kind) -> Option<usize> {
    let (least, most) = kind.letters;
    let is_inside = start.checked_sub(1).is_some_and(|before| Alphabet::Word.has(bytes[before]));
    let length = bytes[tail..].iter().take(most + 1).take_while(|byte| kind.alphabet.has(**byte)).count();
    if is_inside || !(least..=most).contains(&length) {
        return None;
    }
    let letters = &bytes[tail..tail + length];
    // A short key may lack digits by chance, a long one hardly ever does; a long name in words does.
    let is_mixed =
        length < 20 || (letters.iter().any(u8::is_ascii_digit) && letters.iter().any(u8::is_ascii_alphabetic));
    (is_mixed && !has_run(letters) && is_random(letters)).then_some(tail + length)
}

/// The end of the base64 of a private key, where a whole one follows.
fn private_key_end(text: &str, label: usize) -> Option<usize> {
    let (name, after) = text[label..].split_once("-----")?;
    if name.len() > 40 || !(name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    // Base64 has no `-`, so the first one closes the block. Looking no further keeps this linear.
    let (body, closing) = after.split_once('-')?;
    // In JSON and in shell strings the lines are parted by `\n`, with quotes around them.
    let is_gap = |byte: &u8| byte.is_ascii_whitespace() || b"\\\"',".contains(byte);
    let letters: Vec<u8> = body.bytes().filter(|byte| !is_gap(byte)).collect();
    let is_base64 = letters.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
    // An example says so at its beginning; further on, any word may come about by chance.
    let head = letters.get(..60)?;
    let end = text.len() - closing.len() - 1;
    (closing.starts_with("----END ") && is_base64 && is_random(head)).then_some(end)
}

/// Whether one letter stands five times in a row.
fn has_run(letters: &[u8]) -> bool {
    letters.windows(5).any(|five| five.iter().all(|letter| *letter == five[0]))
}

/// Whether letters look drawn at random rather than written by a person.
fn is_random(letters: &[u8]) -> bool {
    let text = String::from_utf8_lossy(letters);
    let small = text.to_ascii_lowercase();
    let is_example = PLACEHOLDERS.iter().any(|word| small.contains(word)) || DOCUMENTED.contains(&text.as_ref());
    let least = if letters.len() < 20 { 2.8 } else { 3.3 };
    !is_example && bits_per_letter(letters) >= least
}

/// Shannon's entropy.
fn bits_per_letter(letters: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for letter in letters {
        counts[usize::from(*letter)] += 1;
    }
    let total = f64::from(counts.iter().sum::<u32>());
    let share = |count: &u32| f64::from(*count) / total;
    -counts.iter().filter(|count| **count > 0).map(|count| share(count) * share(count).log2()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters that look random and spell no word; made here, so that no token stands in this file.
    fn letters(count: usize) -> String {
        let alphabet = b"Q7M2ZK4VX9B3WD6RJ5HP8TN";
        (0..count).map(|at| char::from(alphabet[(at * 7 + at / 23) % alphabet.len()])).collect()
    }

    fn found(text: &str) -> Vec<&'static str> {
        secrets(text).map(|(kind, _)| kind.prefix).collect()
    }

    #[test]
    fn every_kind_is_found_at_its_length_and_not_outside_it() {
        for kind in KINDS.iter().filter(|kind| kind.prefix != KEY_BLOCK) {
            let (least, most) = kind.letters;
            let token = |count| format!("key = \"{}{}\"", kind.prefix, letters(count));
            assert_eq!(found(&token(least)), [kind.prefix]);
            assert_eq!(found(&token(most)), [kind.prefix]);
            assert!(found(&token(least - 1)).is_empty(), "{} is short", kind.prefix);
            assert!(found(&token(most + 1)).is_empty(), "{} is long", kind.prefix);
            assert!(found(&format!("x{}{}", kind.prefix, letters(least))).is_empty(), "{} in a word", kind.prefix);
        }
    }

    #[test]
    fn private_keys_count_when_whole() {
        let key = |body: &str| format!("{KEY_BLOCK}EC PRIVATE KEY-----{body}-----END EC PRIVATE KEY-----");
        let (one, two) = (letters(64), letters(40));
        assert_eq!(found(&key(&format!("\n  {one}\n  {two}==\n"))), [KEY_BLOCK]);
        assert_eq!(found(&key(&format!("\\n{one}\\n{two}\\n"))), [KEY_BLOCK]);
        assert!(found(&key(&format!("\n{one}\n...\n"))).is_empty());
        assert!(found(&format!("{KEY_BLOCK}EC PRIVATE KEY-----\n{one}")).is_empty());
        assert!(found(&key(&"A".repeat(100))).is_empty());
    }

    #[test]
    fn placeholders_are_no_secrets() {
        for tail in ["x".repeat(36), "abcdefghijklmnopqrstuvwxyz0123456789".to_owned(), DOCUMENTED[0].to_owned()] {
            assert!(found(&format!("ghp_{tail}")).is_empty(), "{tail}");
        }
        assert!(found(&format!("sk-{}", "SomeVeryLongNameWithoutAnyDigitsInIt")).is_empty());
    }
}
