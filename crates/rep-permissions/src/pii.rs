//! Redacts personal data in text by its format.
//!
//! Detects e-mail addresses; phone numbers in international or North American format; payment cards of the large
//! networks with a valid check digit; bank accounts (IBAN) with valid check digits; and national numbers that are
//! unlikely to be anything else: United States (social security), United Kingdom (national insurance), Spain (DNI and
//! NIE), France (NIR), Italy (codice fiscale), Brazil (CPF), China (resident identity). National numbers without a
//! distinctive format (Germany, Poland, the Netherlands, India, …) are not detected, because they look like any other
//! number. Names, postal addresses and dates are not detected either.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A kind of personal data.
struct PiiPattern {
    label: &'static str,
    pattern: Regex,
    /// Checks what the pattern cannot express.
    is_valid: fn(&str) -> bool,
}

static PII_PATTERNS: LazyLock<Vec<PiiPattern>> = LazyLock::new(|| {
    let shape = |label, pattern: &str, is_real| {
        // The characters before and after must not belong to a longer word or number.
        let pattern = format!(r"(^|[^\p{{Alphabetic}}0-9_.+@/%=-])({pattern})($|[^\p{{Alphabetic}}0-9_@=/%-])");
        PiiPattern {
            label,
            pattern: Regex::new(&pattern).expect("the patterns are constants and compile"),
            is_valid: is_real,
        }
    };
    vec![
        shape("email", r"[\p{Alphabetic}0-9._%+-]+@(?:[\p{Alphabetic}0-9-]+\.)+[A-Za-z]{2,24}", is_email),
        shape("iban", r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", is_iban),
        shape("card", r"[2-6][0-9]{3}(?:[ -]?[0-9]{2,6}){2,4}", is_payment_card),
        shape("phone", r"\+[1-9][0-9]{0,2}(?:[ .-]?\(?[0-9]{1,5}\)?){2,6}", is_international_phone),
        shape("phone", r"(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[.-][0-9]{4}", |_| true),
        shape("national-id", r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}", is_us_social_security),
        shape("national-id", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(?:[0-9]{2} ?){3}[A-D]", is_gb_national_insurance),
        shape("national-id", r"[0-9XYZ][0-9]{7}-?[A-HJ-NP-TV-Z]", is_es_identity_number),
        shape(
            "national-id",
            r"[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
            is_fr_social_security,
        ),
        shape("national-id", r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", |_| true),
        shape("national-id", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", is_br_taxpayer_number),
        shape(
            "national-id",
            r"[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9X]",
            is_cn_resident_identity,
        ),
    ]
});

/// Redacts personal data in a text.
pub fn redact_pii(text: &str) -> String {
    // Most texts contain no personal data: an e-mail address needs an `@`, and everything else a number of digits.
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits < 4 && !text.contains('@') {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    for shape in PII_PATTERNS.iter() {
        // Twice, because adjacent matches share the character between them.
        for _ in 0..2 {
            let replaced = shape.pattern.replace_all(&text, |found: &Captures<'_>| {
                if (shape.is_valid)(&found[2]) {
                    format!("{}[redacted:{}]{}", &found[1], shape.label, &found[3])
                } else {
                    found[0].to_owned()
                }
            });
            if let std::borrow::Cow::Owned(replaced) = replaced {
                text = replaced;
            }
        }
    }
    text
}

/// Excludes file names with an `@` and repository addresses, which look like e-mail addresses.
fn is_email(text: &str) -> bool {
    const FILES: &[&str] = &[
        "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "mjs", "ts", "tsx", "jsx", "json", "css", "html", "md", "py",
        "rs", "go", "sh", "service", "timer", "tgz", "gz", "zip", "lock", "whl",
    ];
    let ending = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    !text.starts_with("git@") && !text.contains("..") && !text.contains("-.") && !FILES.contains(&ending.as_str())
}

fn extract_digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|character| character.to_digit(10)).collect()
}

fn is_international_phone(text: &str) -> bool {
    (8..=15).contains(&extract_digits(text).len()) && text.matches('(').count() == text.matches(')').count()
}

fn is_payment_card(text: &str) -> bool {
    let digits = extract_digits(text);
    let first = |count: usize| digits.iter().take(count).fold(0, |number, digit| number * 10 + digit);
    let is_network = match digits.len() {
        13 => first(1) == 4,
        14 => first(2) == 36 || first(2) == 38 || (300..=305).contains(&first(3)),
        15 => first(2) == 34 || first(2) == 37,
        16 => {
            first(1) == 4
                || (51..=55).contains(&first(2))
                || (2221..=2720).contains(&first(4))
                || (3528..=3589).contains(&first(4))
                || first(4) == 6011
                || first(2) == 62
                || first(2) == 65
        }
        17..=19 => first(1) == 4 && digits.len() == 19 || first(2) == 62,
        _ => false,
    };
    // At most one kind of separator: a list of numbers is not a card.
    let is_even = !(text.contains(' ') && text.contains('-'));
    is_network && is_even && is_luhn_valid(&digits)
}

fn is_luhn_valid(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| if index % 2 == 0 { *digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0])
}

fn is_iban(text: &str) -> bool {
    let letters: Vec<char> = text.chars().filter(|character| *character != ' ').collect();
    if !(15..=34).contains(&letters.len()) {
        return false;
    }
    let turned = letters[4..].iter().chain(&letters[..4]);
    let rest = turned.fold(0, |rest, character| match character.to_digit(36) {
        Some(value) if value > 9 => (rest * 100 + value) % 97,
        value => (rest * 10 + value.unwrap_or(0)) % 97,
    });
    rest == 1
}

fn is_us_social_security(text: &str) -> bool {
    let is_even = !(text.contains(' ') && text.contains('-'));
    let parts: Vec<&str> = text.split(['-', ' ']).collect();
    is_even
        && matches!(parts[..], [area, group, serial]
            if area != "000" && area != "666" && !area.starts_with('9') && group != "00" && serial != "0000")
}

fn is_gb_national_insurance(text: &str) -> bool {
    !["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"].iter().any(|prefix| text.starts_with(prefix))
}

fn is_es_identity_number(text: &str) -> bool {
    let text = text.replace('-', "");
    let number = text[..8].replacen('X', "0", 1).replacen('Y', "1", 1).replacen('Z', "2", 1);
    let number: usize = number.parse().unwrap_or(0);
    text[8..].bytes().next() == Some(b"TRWAGMYFPDXBNJZSQVHLCKE"[number % 23])
}

fn is_fr_social_security(text: &str) -> bool {
    let compact: String = text.chars().filter(|character| *character != ' ').collect();
    let (Some(body), Some(key)) = (compact.get(..13), compact.get(13..)) else { return false };
    // The two departments of Corsica contain a letter.
    let (body, less) = match body.as_bytes()[6] {
        b'A' => (body.replace('A', "0"), 1_000_000),
        b'B' => (body.replace('B', "0"), 2_000_000),
        _ => (body.to_owned(), 0),
    };
    let (Ok(body), Ok(key)) = (body.parse::<u64>(), key.parse::<u64>()) else { return false };
    97 - (body - less) % 97 == key
}

fn is_br_taxpayer_number(text: &str) -> bool {
    let digits = extract_digits(text);
    let check = |count: usize| {
        let weights = (2..=u32::try_from(count).unwrap_or(0) + 1).rev();
        let sum: u32 = digits.iter().take(count).zip(weights).map(|(digit, weight)| digit * weight).sum();
        sum * 10 % 11 % 10
    };
    digits.len() == 11 && check(9) == digits[9] && check(10) == digits[10]
}

fn is_cn_resident_identity(text: &str) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let digits = extract_digits(text);
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    text.bytes().last() == Some(b"10X98765432"[sum as usize % 11])
}

#[cfg(test)]
mod tests {
    use super::redact_pii;

    #[test]
    fn personal_data_is_taken_out_by_its_shape() {
        for (text, label) in [
            ("ann.lee+work@example.co.uk", "email"),
            ("j\u{f6}rg@b\u{fc}cher.example", "email"),
            ("+49 30 901820", "phone"),
            ("+1 (415) 555-2671", "phone"),
            ("+442079460958", "phone"),
            ("(415) 555-2671", "phone"),
            ("415-555-2671", "phone"),
            ("4111 1111 1111 1111", "card"),
            ("5500-0055-5555-5559", "card"),
            ("378282246310005", "card"),
            ("DE89 3704 0044 0532 0130 00", "iban"),
            ("GB82WEST12345698765432", "iban"),
            ("078-05-1120", "national-id"),
            ("AB 12 34 56 C", "national-id"),
            ("12345678Z", "national-id"),
            ("X1234567L", "national-id"),
            ("2 55 08 14 168 025 38", "national-id"),
            ("RSSMRA85T10A562S", "national-id"),
            ("111.444.777-35", "national-id"),
            ("11010519491231002X", "national-id"),
        ] {
            assert_eq!(redact_pii(text), format!("[redacted:{label}]"), "{text}");
            assert_eq!(
                redact_pii(&format!("for {text}, please.")),
                format!("for [redacted:{label}], please."),
                "{text}"
            );
            assert_eq!(
                redact_pii(&format!("{text}; {text}")),
                format!("[redacted:{label}]; [redacted:{label}]"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "git@github.com:org/repo.git",
            "icon@2x.png",
            "lodash@4.17.21",
            "2026-11-15T13:06:40Z",
            "1731676000123456789",
            "4111111111111112",
            "4111111111111111222",
            "192.168.100.200",
            "10.0.0.1:8080",
            "3.14159265358979",
            "550e8400-e29b-41d4-a716-446655440000",
            "d41d8cd98f00b204e9800998ecf8427e",
            "000-12-3456",
            "666-12-3456",
            "123-45-67890",
            "12345678A",
            "DE00370400440532013000",
            "+1",
            "1 + 1 = 2",
            "a+12345678901",
            "https://example.org/4111111111111111",
            "0000 0000 0000 0000",
            "v1.2.3-rc.4",
            "111.444.777-36",
            "+12 345",
            "order 20261115-0042-0001",
            "[redacted:email]",
        ] {
            assert_eq!(redact_pii(text), text);
        }
    }

    /// The numbers are test numbers published by the networks, or have valid check digits of their standard.
    #[test]
    fn cards_of_every_network_are_found_and_their_neighbours_stay() {
        for number in [
            "4222222222222",
            "30000001234560",
            "30569309025904",
            "36006666333344",
            "38520000023237",
            "340000123456781",
            "5105105105105100",
            "5555555555554444",
            "2221000000001239",
            "2720999999991233",
            "3528000012345671",
            "3589000012345677",
            "6011111111111117",
            "6500000012345676",
            "6200000012345679",
            "62000000123456782",
            "620000001234567892",
            "6200000012345678903",
            "4111111111111111227",
        ] {
            assert_eq!(redact_pii(number), "[redacted:card]", "{number}");
        }
        // The check digit is valid, but no network uses these first digits with this length.
        for number in [
            "30693090259009",
            "37006666333343",
            "350000123456788",
            "5055105105105100",
            "5655105105105104",
            "2220000000001230",
            "2721000000001234",
            "3527000012345672",
            "3590000012345674",
            "6012111111111116",
            "6100000012345670",
            "6400000012345677",
            "41111111111111121",
            "411111111111111233",
            "61000000123456784",
        ] {
            assert_eq!(redact_pii(number), number);
        }
        // Only one last digit is valid.
        for number in ["4111111111111111", "5555555555554444", "378282246310005", "6011111111111117"] {
            let (head, tail) = number.split_at(number.len() - 1);
            for digit in (0..10).map(|digit| digit.to_string()).filter(|digit| digit != tail) {
                let other = format!("{head}{digit}");
                assert_eq!(redact_pii(&other), other);
            }
        }
        for text in ["5105105105101500", "4111-1111 1111-1111", "4444444444444444"] {
            assert_eq!(redact_pii(text), text);
        }
    }

    #[test]
    fn check_digits_decide_what_a_number_is() {
        for (text, label) in [
            ("NO9386011117947", "iban"),
            ("BE68 5390 0754 7034", "iban"),
            ("FR1420041010050500013M02606", "iban"),
            ("MT84MALT011000012345MTLCAST001S", "iban"),
            ("LC55HEMM000100010012001200023015", "iban"),
            ("Y1234567X", "national-id"),
            ("Z1234567R", "national-id"),
            ("00000001-R", "national-id"),
            ("185012A12345666", "national-id"),
            ("285012B12345643", "national-id"),
            ("1 99 01 75 115 003 16", "national-id"),
            ("529.982.247-25", "national-id"),
            ("123.456.783-05", "national-id"),
            ("123.456.702-40", "national-id"),
            ("110105194912310011", "national-id"),
            ("310101200002291114", "national-id"),
            ("899-99-9999", "national-id"),
        ] {
            assert_eq!(redact_pii(text), format!("[redacted:{label}]"), "{text}");
        }
        for text in [
            // Accounts that are too short, or have two swapped or changed characters.
            "NO698601111794",
            "NO9368011117947",
            "GB82WEST12345698765423",
            "GB82WSET12345698765432",
            "Y1234567L",
            "X1234567X",
            "Z1234567L",
            "185012A12345643",
            "185012012345666",
            "285012A12345643",
            "199017511500317",
            "529.982.247-35",
            "529.982.247-26",
            "592.982.247-25",
            "310101200002291115",
            "31010120000229111X",
            "123-00-4567",
            "123-45-0000",
            "900-12-3456",
            "123-45 6789",
            "GB 12 34 56 C",
        ] {
            assert_eq!(redact_pii(text), text);
        }
    }

    #[test]
    fn a_phone_number_has_as_many_digits_as_numbers_have() {
        for text in ["+12345678", "+49 (30) 901820", "+123456789012345"] {
            assert_eq!(redact_pii(text), "[redacted:phone]", "{text}");
        }
        for text in ["+1234567", "+1234567890123456", "+49 (30 901820", "115-555-2671", "415-155-2671"] {
            assert_eq!(redact_pii(text), text);
        }
    }

    #[test]
    fn an_address_needs_no_digits_and_a_file_is_none() {
        assert_eq!(redact_pii("mail a@b.org"), "mail [redacted:email]");
        assert_eq!(redact_pii("mail a@b-c.org"), "mail [redacted:email]");
        for text in ["git@example.org", "a..b@example.org", "a@b-.org", "photo@home.jpeg", "unit@one.service"] {
            assert_eq!(redact_pii(text), text);
        }
    }

    #[test]
    fn a_long_text_without_any_is_left_alone() {
        let text = "word ".repeat(100_000);
        assert_eq!(redact_pii(&text), text);
        assert!(redact_pii(&"1@".repeat(200_000)).len() > 1000);
    }
}
