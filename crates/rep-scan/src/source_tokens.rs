//! Splits Python and JavaScript (with TypeScript) into tokens with matched brackets.
//!
//! Splitting never fails and is linear: an unclosed text ends at the end of its line or of the file, and a bracket without
//! a partner has none.

use rep_model::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A constant text. The span is of its inside; `is_raw` says that backslashes stand for themselves.
    Text {
        /// Whether backslashes stand for themselves.
        is_raw: bool,
    },
    /// A text with expressions: an f-string, or a template. The span is of its inside.
    Template,
    /// A regular expression of JavaScript.
    Pattern,
    /// An operator or a bracket.
    Operator,
    /// The start of a line, with the number of columns before its first token.
    Line(u32),
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
    /// The index of the matching bracket.
    pub mate: Option<u32>,
}

/// Splits a source text. `is_python` selects the language.
pub fn split_source(text: &str, is_python: bool) -> Vec<Token> {
    let mut splitter =
        Splitter { text, bytes: text.as_bytes(), at: 0, is_python, tokens: Vec::new(), open: Vec::new() };
    splitter.split_all();
    splitter.tokens
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    is_python: bool,
    tokens: Vec<Token>,
    open: Vec<usize>,
}

const OPERATORS: [&str; 33] = [
    ">>>=", "...", "===", "!==", "**=", "//=", "<<=", ">>=", "&&=", "||=", "??=", "=>", "->", ":=", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "**", "//",
];

impl Splitter<'_> {
    fn byte(&self, step: usize) -> u8 {
        self.bytes.get(self.at + step).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        self.tokens.push(Token { kind, span: Span::new(start, end.max(start)), mate: None });
    }

    fn split_all(&mut self) {
        self.start_line();
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            match byte {
                b'\n' => {
                    self.at += 1;
                    if !self.is_python || self.open.is_empty() {
                        self.start_line();
                    }
                }
                b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
                b'\\' if self.is_python => self.skip_continuation(),
                b'#' if self.is_python || self.at == 0 => self.skip_line(),
                b'/' if !self.is_python && self.byte(1) == b'/' => self.skip_line(),
                b'/' if !self.is_python && self.byte(1) == b'*' => self.skip_comment(),
                b'/' if !self.is_python && self.is_pattern_start() => self.read_pattern(),
                b'"' | b'\'' => self.read_text(self.at, ""),
                b'`' if !self.is_python => self.read_template(),
                b'0'..=b'9' => self.read_number(),
                _ if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80 => self.read_name(),
                _ => self.read_operator(),
            }
        }
    }

    fn start_line(&mut self) {
        let mut columns = 0_u32;
        while matches!(self.byte(0), b' ' | b'\t') {
            columns += if self.byte(0) == b'\t' { 8 - columns % 8 } else { 1 };
            self.at += 1;
        }
        // A line without code says nothing about blocks.
        let is_empty = matches!(self.byte(0), b'\n' | b'\r' | 0) || self.is_python && self.byte(0) == b'#';
        if !is_empty {
            self.push(TokenKind::Line(columns), self.at, self.at);
        }
    }

    fn skip_continuation(&mut self) {
        self.at += 1;
        while matches!(self.byte(0), b'\r' | b'\n') {
            self.at += 1;
            if self.bytes[self.at - 1] == b'\n' {
                break;
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) {
        let end = self.text.get(self.at + 2..).and_then(|rest| rest.find("*/"));
        self.at = end.map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
    }

    /// Whether a slash starts a pattern: it does not after a value.
    fn is_pattern_start(&self) -> bool {
        let Some(last) = self.tokens.iter().rev().find(|token| !matches!(token.kind, TokenKind::Line(_))) else {
            return true;
        };
        match last.kind {
            TokenKind::Name => matches!(
                self.text.get(last.span.range()),
                Some("return" | "typeof" | "case" | "in" | "of" | "delete" | "void" | "throw" | "new")
            ),
            TokenKind::Operator => !matches!(self.text.get(last.span.range()), Some(")" | "]" | "}")),
            _ => false,
        }
    }

    fn read_pattern(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut is_class = false;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.at += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => break,
                b'\n' => {
                    // It was a division after all.
                    self.at = start + 1;
                    self.push(TokenKind::Operator, start, start + 1);
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = (self.at + 1).min(self.bytes.len());
        while self.byte(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        self.push(TokenKind::Pattern, start, self.at);
    }

    fn read_text(&mut self, start: usize, prefix: &str) {
        let prefix = prefix.to_ascii_lowercase();
        let quote = self.byte(0);
        let is_long = self.is_python && self.byte(1) == quote && self.byte(2) == quote;
        let width = if is_long { 3 } else { 1 };
        let inside = self.at + width;
        self.at = inside;
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            if byte == b'\\' {
                self.at += 2;
                continue;
            }
            if byte == quote && (!is_long || self.byte(1) == quote && self.byte(2) == quote)
                || byte == b'\n' && !is_long
            {
                break;
            }
            self.at += 1;
        }
        let mut end = self.at.min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let is_closed = end < self.bytes.len() && self.bytes[end] == quote;
        self.at = if is_closed { end + width } else { end };
        self.at = self.at.min(self.bytes.len());
        let kind =
            if prefix.contains('f') { TokenKind::Template } else { TokenKind::Text { is_raw: prefix.contains('r') } };
        let _ = start;
        self.push(kind, inside.min(end), end);
    }

    fn read_template(&mut self) {
        self.at += 1;
        let inside = self.at;
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' => self.at += 1,
                b'`' if depth == 0 => break,
                b'$' if self.byte(1) == b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b'{' if depth > 0 => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        let mut end = self.at.min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        self.push(TokenKind::Template, inside.min(end), end);
        self.at = (end + 1).min(self.bytes.len());
    }

    fn read_number(&mut self) {
        let start = self.at;
        while self.byte(0).is_ascii_alphanumeric()
            || self.byte(0) == b'_'
            || self.byte(0) == b'.' && self.byte(1).is_ascii_digit()
        {
            self.at += 1;
        }
        self.push(TokenKind::Number, start, self.at);
    }

    fn read_name(&mut self) {
        let start = self.at;
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80 {
                self.at += 1;
            } else {
                break;
            }
        }
        let name = self.text.get(start..self.at).unwrap_or("");
        let is_prefix = self.is_python
            && matches!(self.byte(0), b'"' | b'\'')
            && name.len() <= 3
            && name.bytes().all(|byte| b"rbfuRBFU".contains(&byte));
        if is_prefix {
            let name = name.to_owned();
            self.read_text(start, &name);
        } else {
            self.push(TokenKind::Name, start, self.at);
        }
    }

    fn read_operator(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or("");
        let known =
            OPERATORS.iter().find(|operator| (self.is_python || **operator != "//") && rest.starts_with(**operator));
        let width = known.map_or(1, |operator| operator.len());
        let start = self.at;
        self.at += width;
        let index = self.tokens.len();
        self.push(TokenKind::Operator, start, self.at);
        match self.bytes[start] {
            b'(' | b'[' | b'{' => self.open.push(index),
            closing @ (b')' | b']' | b'}') => self.close(index, closing),
            _ => {}
        }
    }

    fn close(&mut self, index: usize, closing: u8) {
        let wanted = match closing {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        // Brackets without a partner in between stay without one.
        let from = self.open.len().saturating_sub(64);
        let found = self.open[from..].iter().rposition(|open| self.bytes[self.tokens[*open].span.start] == wanted);
        if let Some(found) = found {
            let open = self.open[from + found];
            self.open.truncate(from + found);
            self.tokens[open].mate = u32::try_from(index).ok();
            self.tokens[index].mate = u32::try_from(open).ok();
        }
    }
}

/// The text of a literal, with its escapes decoded.
pub(crate) fn literal_text(inside: &str, is_raw: bool) -> String {
    if is_raw || !inside.contains('\\') {
        return inside.to_owned();
    }
    let joined = inside.replace("\\\r\n", "").replace("\\\n", "");
    crate::shell::decode_ansi(&joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, is_python: bool) -> Vec<&str> {
        let tokens = split_source(text, is_python);
        tokens
            .iter()
            .filter(|token| !matches!(token.kind, TokenKind::Line(_)))
            .map(|token| &text[token.span.range()])
            .collect()
    }

    #[test]
    fn texts_patterns_and_templates_are_one_token() {
        assert_eq!(shown("x = r'a\\' + f\"b{c}\" # d", true), ["x", "=", "a\\' + f\"b{c}\" # d"]);
        assert_eq!(
            shown("a = /[/]x/g.test(b) / 2 // c", false),
            ["a", "=", "/[/]x/g", ".", "test", "(", "b", ")", "/", "2"]
        );
        assert_eq!(shown("`a${`b${c}`}d` + e", false)[0], "a${`b${c}`}d");
        assert_eq!(shown("'''a\n'b''' c", true), ["a\n'b", "c"]);
    }

    #[test]
    fn brackets_find_their_partners() {
        let tokens = split_source("f(a[1], {b: (2)})", false);
        let mates = tokens.iter().filter(|token| token.mate.is_some()).count();
        assert_eq!(mates, 8);
        assert!(split_source(")]}(", false).iter().all(|token| token.mate.is_none()));
    }
}
