use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rep_model::truncate::truncate_chars;
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::text_files::list_text_files;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "secret-in-text",
    summary: "the skill contains a credential",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("§8"), RuleCitation::own_project("security")],
    requirements: &["SEC-01"],
    page: include_str!("secret_in_text.md"),
    check: RuleCheck::Skill(check),
};

/// A kind of credential with a known prefix.
struct CredentialKind {
    prefix: &'static str,
    name: &'static str,
    /// The minimum and maximum number of characters after the prefix.
    letters: (usize, usize),
    alphabet: TokenAlphabet,
}

#[derive(Clone, Copy)]
enum TokenAlphabet {
    Upper,
    Alphanumeric,
    /// Letters and digits, `_` and `-`.
    Word,
}

impl TokenAlphabet {
    fn contains(self, byte: u8) -> bool {
        match self {
            TokenAlphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            TokenAlphabet::Alphanumeric => byte.is_ascii_alphanumeric(),
            TokenAlphabet::Word => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        }
    }
}

const fn define_credential(
    prefix: &'static str,
    name: &'static str,
    letters: (usize, usize),
    alphabet: TokenAlphabet,
) -> CredentialKind {
    CredentialKind { prefix, name, letters, alphabet }
}

const KEY_BLOCK: &str = "-----BEGIN ";

static CREDENTIAL_KINDS: [CredentialKind; 24] = [
    define_credential("AKIA", "an AWS access key id", (16, 16), TokenAlphabet::Upper),
    define_credential("ghp_", "a GitHub token", (36, 36), TokenAlphabet::Alphanumeric),
    define_credential("gho_", "a GitHub token", (36, 36), TokenAlphabet::Alphanumeric),
    define_credential("ghu_", "a GitHub token", (36, 36), TokenAlphabet::Alphanumeric),
    define_credential("ghs_", "a GitHub token", (36, 36), TokenAlphabet::Alphanumeric),
    define_credential("ghr_", "a GitHub token", (36, 76), TokenAlphabet::Alphanumeric),
    define_credential("github_pat_", "a GitHub token", (82, 82), TokenAlphabet::Word),
    define_credential("sk-ant-", "an Anthropic key", (60, 140), TokenAlphabet::Word),
    define_credential("sk-proj-", "an OpenAI key", (40, 200), TokenAlphabet::Word),
    define_credential("sk-svcacct-", "an OpenAI key", (40, 200), TokenAlphabet::Word),
    define_credential("sk-", "an API key", (32, 64), TokenAlphabet::Alphanumeric),
    define_credential("xoxa-", "a Slack token", (30, 120), TokenAlphabet::Word),
    define_credential("xoxb-", "a Slack token", (30, 120), TokenAlphabet::Word),
    define_credential("xoxp-", "a Slack token", (30, 120), TokenAlphabet::Word),
    define_credential("xoxr-", "a Slack token", (30, 120), TokenAlphabet::Word),
    define_credential("xoxs-", "a Slack token", (30, 120), TokenAlphabet::Word),
    define_credential("sk_live_", "a Stripe key", (24, 120), TokenAlphabet::Alphanumeric),
    define_credential("rk_live_", "a Stripe key", (24, 120), TokenAlphabet::Alphanumeric),
    define_credential("AIza", "a Google API key", (35, 35), TokenAlphabet::Word),
    define_credential("npm_", "an npm token", (36, 36), TokenAlphabet::Alphanumeric),
    define_credential("pypi-AgEI", "a PyPI token", (50, 260), TokenAlphabet::Word),
    define_credential("glpat-", "a GitLab token", (20, 64), TokenAlphabet::Word),
    define_credential("hf_", "a Hugging Face token", (34, 34), TokenAlphabet::Alphanumeric),
    define_credential(KEY_BLOCK, "a private key", (60, 60_000), TokenAlphabet::Word),
];

/// Matches all prefixes in one pass over a text. If two start at the same position, the longer one wins.
static CREDENTIAL_PREFIXES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let prefixes = CREDENTIAL_KINDS.iter().map(|kind| kind.prefix);
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(prefixes);
    built.expect("a few short prefixes fit any automaton")
});

/// Words, in lower case, that mark a credential as an example.
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
/// The credentials in vendors' own documentation, without their prefixes.
const DOCUMENTATION_TOKENS: [&str; 2] = ["16C7e42F292c6912E7710c838347Ae178B4a", "4eC39HqLyjWDarjtT1zdp7dc"];
/// The maximum number of findings per file.
const FINDINGS_PER_FILE_MAX: usize = 10;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for (file, text) in list_text_files(skill) {
        for (kind, span) in find_secrets(&text).take(FINDINGS_PER_FILE_MAX) {
            // Reports may be published, so they show only four characters of the secret and no excerpt.
            let shown = match kind.prefix {
                KEY_BLOCK => String::new(),
                _ => format!(": `{}…`", truncate_chars(&text[span.range()], 4)),
            };
            findings
                .add(file, span, format!("found {}{shown}", kind.name))
                .help("revoke it, remove it, and read it from the environment instead")
                .hide_excerpt();
        }
    }
}

/// Replaces the credentials in a text, for output that others may read. All but the first four characters are dropped.
pub fn redact_secrets(text: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let mut done = 0;
    for (_, span) in find_secrets(text) {
        redacted.push_str(&text[done..span.start]);
        redacted.push_str(truncate_chars(&text[span.range()], 4));
        redacted.push('…');
        done = span.end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(&text[done..]);
    Cow::Owned(redacted)
}

fn find_secrets(text: &str) -> impl Iterator<Item = (&'static CredentialKind, Span)> {
    CREDENTIAL_PREFIXES.find_iter(text).filter_map(move |found| {
        let kind = &CREDENTIAL_KINDS[found.pattern().as_usize()];
        let end = match kind.prefix {
            KEY_BLOCK => find_private_key_end(text, found.end())?,
            _ => find_token_end(text.as_bytes(), found.start(), found.end(), kind)?,
        };
        Some((kind, Span::new(found.start(), end)))
    })
}

/// Returns the end of the token with the prefix `start..tail`, unless it is part of a word or an example.
fn find_token_end(bytes: &[u8], start: usize, tail: usize, kind: &CredentialKind) -> Option<usize> {
    let (least, most) = kind.letters;
    let is_inside = start.checked_sub(1).is_some_and(|before| TokenAlphabet::Word.contains(bytes[before]));
    let length = bytes[tail..].iter().take(most + 1).take_while(|byte| kind.alphabet.contains(**byte)).count();
    if is_inside || !(least..=most).contains(&length) {
        return None;
    }
    let letters = &bytes[tail..tail + length];
    // A short key may lack digits by chance, but a long one hardly ever does. A long identifier often does.
    let is_mixed =
        length < 20 || (letters.iter().any(u8::is_ascii_digit) && letters.iter().any(u8::is_ascii_alphabetic));
    (is_mixed && !has_repeated_letter(letters) && is_random(letters)).then_some(tail + length)
}

/// Returns the end of the base64 text of a private key, if the key is complete.
fn find_private_key_end(text: &str, label: usize) -> Option<usize> {
    let (name, after) = text[label..].split_once("-----")?;
    if name.len() > 40 || !(name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    // Base64 has no `-`, so the first one closes the block. Stopping there keeps the search linear.
    let (body, closing) = after.split_once('-')?;
    // In JSON and in shell strings, the lines are separated by `\n`, with quotes around them.
    let is_gap = |byte: &u8| byte.is_ascii_whitespace() || b"\\\"',".contains(byte);
    let letters: Vec<u8> = body.bytes().filter(|byte| !is_gap(byte)).collect();
    let is_base64 = letters.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
    // An example is marked at its start; later in the text, any word may occur by chance.
    let head = letters.get(..60)?;
    let end = text.len() - closing.len() - 1;
    (closing.starts_with("----END ") && is_base64 && is_random(head)).then_some(end)
}

/// Whether a letter is repeated five times in a row.
fn has_repeated_letter(letters: &[u8]) -> bool {
    letters.windows(5).any(|five| five.iter().all(|letter| *letter == five[0]))
}

/// Whether letters look random rather than written by a person.
fn is_random(letters: &[u8]) -> bool {
    let text = String::from_utf8_lossy(letters);
    let small = text.to_ascii_lowercase();
    let is_example =
        PLACEHOLDERS.iter().any(|word| small.contains(word)) || DOCUMENTATION_TOKENS.contains(&text.as_ref());
    let least = if letters.len() < 20 { 2.8 } else { 3.3 };
    !is_example && compute_entropy(letters) >= least
}

/// Computes the Shannon entropy.
fn compute_entropy(letters: &[u8]) -> f64 {
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

    /// Generates letters that look random and spell no word, so that this file contains no token.
    fn letters(count: usize) -> String {
        let alphabet = b"Q7M2ZK4VX9B3WD6RJ5HP8TN";
        (0..count).map(|at| char::from(alphabet[(at * 7 + at / 23) % alphabet.len()])).collect()
    }

    #[test]
    fn redacted_texts_keep_everything_but_the_secret() {
        let token = format!("ghp_{}", letters(36));
        let text = format!("before `{token}` and {token}.");
        assert_eq!(redact_secrets(&text), "before `ghp_…` and ghp_….");
        assert!(matches!(redact_secrets("nothing to hide"), Cow::Borrowed("nothing to hide")));
    }

    fn found(text: &str) -> Vec<&'static str> {
        find_secrets(text).map(|(kind, _)| kind.prefix).collect()
    }

    #[test]
    fn every_kind_is_found_at_its_length_and_not_outside_it() {
        for kind in CREDENTIAL_KINDS.iter().filter(|kind| kind.prefix != KEY_BLOCK) {
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
        for tail in
            ["x".repeat(36), "abcdefghijklmnopqrstuvwxyz0123456789".to_owned(), DOCUMENTATION_TOKENS[0].to_owned()]
        {
            assert!(found(&format!("ghp_{tail}")).is_empty(), "{tail}");
        }
        assert!(found(&format!("sk-{}", "SomeVeryLongNameWithoutAnyDigitsInIt")).is_empty());
    }
}
