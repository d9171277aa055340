//! Expansions of the shell: `${…}` and the escapes of `$'…'`.

use super::WordPart;

/// The default of `${0%/*}`, which is the directory of the script.
pub(crate) const FOLDER_MARK: &str = "\u{fffc}/";

/// Parses the inside of `${…}`.
pub(super) fn parse_braces(inside: &str) -> WordPart {
    let inside = inside.trim_start_matches(['#', '!']);
    let end = inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(inside.len());
    let (name, rest) = if end == 0 && !inside.is_empty() {
        inside.split_at(inside.chars().next().map_or(0, char::len_utf8))
    } else {
        inside.split_at(end)
    };
    let operator = rest.trim_start_matches(':');
    let default = operator.strip_prefix(['-', '=', '+', '?']).map(str::to_owned);
    let changed = (default.is_none() && !rest.is_empty() && rest != "[@]" && rest != "[*]").then(String::new);
    let is_folder = matches!(name, "0" | "BASH_SOURCE") && rest.ends_with("%/*");
    let mark = if is_folder { FOLDER_MARK } else { "\u{fffc}" };
    WordPart::Variable(name.to_owned(), default.or(changed.map(|_| mark.to_owned())))
}

/// Decodes the escapes of `$'…'`.
pub(crate) fn decode_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let Some(escape) = letters.next() else { break };
        let (radix, most) = match escape {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'r' => {
                out.push('\r');
                continue;
            }
            other => {
                out.push(other);
                continue;
            }
        };
        let mut code = if radix == 8 { escape.to_digit(8).unwrap_or(0) } else { 0 };
        let mut count = u32::from(radix == 8);
        let has_brace = letters.peek() == Some(&'{') && radix == 16;
        if has_brace {
            letters.next();
        }
        while count < most {
            let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(digit);
            count += 1;
            letters.next();
        }
        if has_brace && letters.peek() == Some(&'}') {
            letters.next();
        }
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }
    out
}
