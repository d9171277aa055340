//! Tests which forms are detected, and that chunk boundaries do not matter.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn build_redactor(secrets: &[&str]) -> Redactor {
    let named: Vec<(String, String)> =
        secrets.iter().enumerate().map(|(index, value)| (format!("S{index}"), (*value).to_owned())).collect();
    Redactor::new(&named, false)
}

/// Encodes a text that contains the secret as base64, as a library would.
fn whole_base64(bytes: &[u8], alphabet: &[u8; 64]) -> Vec<u8> {
    let mut letters = encode_base64(bytes, 0, alphabet);
    if !bytes.len().is_multiple_of(3) {
        let padded = [bytes, &[0, 0]].concat();
        letters.push(encode_base64(&padded, 0, alphabet)[letters.len()]);
    }
    letters
}

#[test]
fn base64_is_what_others_write() {
    assert_eq!(whole_base64(b"Man", BASE64), b"TWFu");
    assert_eq!(whole_base64(b"light work.", BASE64), b"bGlnaHQgd29yay4");
    assert_eq!(whole_base64(&[0xfb, 0xff], BASE64_URL), b"-_8");
}

#[test]
fn every_common_form_is_taken_out() {
    let secret = "s\u{e9}cret/\"k y+&";
    let redactor = build_redactor(&[secret]);
    for form in [
        secret.to_owned(),
        serde_json::to_string(secret).unwrap(),
        "s\\u00e9cret/\\\"k y+&".to_owned(),
        "s\u{e9}cret\\/\\\"k y+&".to_owned(),
        "s%C3%A9cret%2F%22k%20y%2B%26".to_owned(),
        "s%c3%a9cret%2f%22k%20y%2b%26".to_owned(),
        "s%C3%A9cret%2F%22k+y%2B%26".to_owned(),
        "s%C3%A9cret/%22k%20y%2B%26".to_owned(),
        String::from_utf8(encode_hex(secret.as_bytes(), HEX_LOWER)).unwrap(),
        String::from_utf8(encode_hex(secret.as_bytes(), HEX_UPPER)).unwrap(),
    ] {
        let clean = redactor.redact_text(&format!("<{form}>"));
        assert!(clean.contains("[redacted:S0]") && !clean.contains("cret"), "{form} gave {clean}");
    }
}

#[test]
fn overlapping_secrets_leave_no_part_behind() {
    assert_eq!(build_redactor(&["abcdefgh", "efghijkl"]).redact_text("-abcdefghijkl-"), "-[redacted:S0]-");
    assert_eq!(
        build_redactor(&["abcdefgh", "cdefgh12345"]).redact_text("abcdefgh12345 abcdefgh"),
        "[redacted:S0] [redacted:S0]"
    );
}

#[test]
fn an_output_that_was_cut_does_not_end_in_the_beginning_of_a_secret() {
    let redactor = build_redactor(&["sk-abc123def456"]);
    assert!(redactor.redact_output(b"key sk-abc123def45", false).contains("sk-abc123def45"));
    assert!(!redactor.redact_output(b"key sk-abc123def45", true).contains("sk-"));
}

#[test]
fn a_stream_holds_back_no_more_than_could_still_be_a_secret() {
    let redactor = build_redactor(&["sk-abc123def456"]);
    let mut stream = redactor.start_stream();
    assert_eq!(stream.push(&vec![b'.'; redactor.longest - 1]), b"");
    assert_eq!(stream.push(b".."), b"..");
    let nothing = Redactor::new(&[], false);
    assert_eq!(nothing.start_stream().push(b"at once"), b"at once");
}

#[test]
fn short_secrets_are_told_and_not_looked_for() {
    let redactor = build_redactor(&["abc", "longer-one", ""]);
    assert_eq!(redactor.too_short(), ["S0"]);
    assert_eq!(redactor.redact_text("abc longer-one"), "abc [redacted:S1]");
}

#[test]
fn keys_strings_and_numbers_of_a_value_are_cleaned() {
    let redactor = build_redactor(&["12345678", "token-value"]);
    let dirty =
        json!({"token-value": 1, "xtoken-value": [12_345_678, 1234, "a token-value b"], "n": 1.5, "[redacted:S1]": 2});
    let expected = json!({"[redacted:S1]": 1, "x[redacted:S1]": ["[redacted:S0]", 1234, "a [redacted:S1] b"], "n": 1.5, "[redacted:S1]#2": 2});
    assert_eq!(redactor.redact_value(dirty), expected);
}

#[test]
fn the_lines_of_a_key_are_secrets_too() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nshort\n-----END PRIVATE KEY-----\n";
    let clean = build_redactor(&[key]).redact_text("log: MIIEvQIBADANBgkqhkiG9w0BAQ\n-----BEGIN PRIVATE KEY-----");
    assert_eq!(clean, "log: [redacted:S0]\n-----BEGIN PRIVATE KEY-----");
}

#[test]
fn a_secret_that_repeats_itself_does_not_pile_up() {
    let redactor = build_redactor(&["aaaaaaaa"]);
    let mut stream = redactor.start_stream();
    let mut clean = Vec::new();
    for _ in 0..10_000 {
        clean.extend(stream.push(b"aaaaaaaaaaaaaaaa"));
        assert!(stream.pending.len() < 100);
    }
    clean.extend(stream.finish());
    assert_eq!(clean, b"[redacted:S0]");
}

/// Splits bytes at arbitrary positions and streams them.
fn redact_in_chunks(redactor: &Redactor, bytes: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let mut stream = redactor.start_stream();
    let mut clean: Vec<u8> = places.windows(2).flat_map(|pair| stream.push(&bytes[pair[0]..pair[1]])).collect();
    clean.extend(stream.finish());
    clean
}

proptest! {
    #[test]
    fn whatever_the_chunking_no_form_leaves(
        secret in "[ -~\u{e9}\u{4e2d}]{6,24}",
        before in proptest::collection::vec(any::<u8>(), 0..7),
        after in proptest::collection::vec(any::<u8>(), 0..7),
        form in 0_usize..40,
        cuts in proptest::collection::vec(0_usize..400, 0..12),
    ) {
        prop_assume!(secret.trim().len() >= SECRET_BYTES_MIN);
        let redactor = build_redactor(&[&secret]);
        let forms: Vec<Vec<u8>> = list_secret_forms(&secret).into_iter().collect();
        let plain = [&before[..], secret.as_bytes(), &after[..]].concat();
        let written = match form {
            0..4 => whole_base64(&plain, BASE64),
            4..8 => whole_base64(&plain, BASE64_URL),
            8..12 => encode_hex(&plain, HEX_LOWER),
            12..16 => plain,
            other => [&before[..], &forms[other % forms.len()], &after[..]].concat(),
        };
        let clean = redact_in_chunks(&redactor, &written, &cuts);
        prop_assert!(String::from_utf8_lossy(&clean).contains("[redacted:S0]"), "not found in {:?}", written);
        prop_assert_eq!(&clean, &redact_in_chunks(&redactor, &written, &[]), "the chunking changes the result");
        // Only the replacement text was added.
        for piece in String::from_utf8_lossy(&clean).split("[redacted:S0]") {
            prop_assert!(!redactor.contains_secret(piece.as_bytes()), "{:?} left", piece);
        }
    }

    #[test]
    fn text_without_secrets_leaves_as_it_came(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        cuts in proptest::collection::vec(0_usize..300, 0..9),
    ) {
        let redactor = build_redactor(&["a-secret-that-is-not-there"]);
        prop_assert_eq!(redact_in_chunks(&redactor, &bytes, &cuts), bytes);
    }
}

#[test]
fn many_keys_that_become_the_same_all_stay() {
    let redactor = Redactor::new(&[], true);
    let count = 100_000;
    let fields = (0..count).map(|number| (format!("a{number}@x.co"), json!(number))).collect();
    let clean = redactor.redact_fields(fields);
    assert_eq!(clean.len(), count, "every field is preserved");
    assert!(clean.keys().all(|key| !key.contains('@')));
}

#[test]
fn names_of_hosts_are_redacted_in_any_case() {
    let redactor = build_redactor(&["S3cretToken", "other-value"]);
    let clean = |text: &str| redactor.redact_host_name(text);
    assert_eq!(clean("s3crettoken.example.org:443"), "[redacted:S0].example.org:443");
    assert_eq!(clean("a.S3CRETTOKEN.OTHER-VALUE.example"), "a.[redacted:S0].[redacted:S1].example");
    // The hexadecimal form, in capitals.
    assert_eq!(clean("53337265_533363726574546F6B656E.example"), "53337265_[redacted:S0].example");
    assert_eq!(clean("plain.example.org"), "plain.example.org");
    assert_eq!(build_redactor(&[]).redact_host_name("plain.example.org"), "plain.example.org");
}
