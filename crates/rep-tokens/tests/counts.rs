//! Counts beside those of another implementation, whose answers `bench/tokens` wrote into the table.

use proptest::prelude::*;
use rep_tokens::count;

/// Turns `\n`, `\r`, `\t` and `\\` into what they stand for.
fn unescape(literal: &str) -> String {
    let mut out = String::new();
    let mut letters = literal.chars();
    while let Some(letter) = letters.next() {
        out.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            },
            _ => letter,
        });
    }
    out
}

#[test]
fn texts_cost_what_the_other_implementation_says() {
    for line in include_str!("counts.tsv").lines() {
        let (expected, literal) = line.split_once('\t').unwrap();
        assert_eq!(count(&unescape(literal)).to_string(), expected, "{literal}");
    }
}

#[test]
fn long_runs_are_counted_in_time_that_grows_with_their_length() {
    // A quadratic count of any of these would take hours.
    let size = 1 << 20;
    assert_eq!(count(&"a".repeat(size)), size / 8);
    assert_eq!(count(&" ".repeat(size)), size / 128);
    assert_eq!(count(&"中".repeat(size)), size);
    assert_eq!(count(&"\u{301}AAA".repeat(size / 4)), size / 2);
    assert!(count(&"-=".repeat(size)) < size);
}

proptest! {
    #[test]
    fn no_text_costs_more_tokens_than_bytes(text in any::<String>()) {
        let tokens = count(&text);
        prop_assert!(tokens <= text.len() && (tokens > 0 || text.is_empty()));
    }

    #[test]
    fn lines_cost_the_sum_of_their_tokens(one in "[ -~]{0,40}[a-z.>]", two in "[!-~][ -~]{0,40}") {
        let line = format!("{one}\n");
        prop_assume!(!two.starts_with('/'));
        prop_assert_eq!(count(&format!("{line}{two}")), count(&line) + count(&two));
    }
}
