//! Reads shell scripts: commands with words, pipelines, redirections, here-documents, substitutions and assignments.
//!
//! The reader never fails, and its time is linear in the input. Compound commands are flattened, because the question is
//! what may run and not when. Nothing is expanded here; `shell_eval` gives words their values.

mod expansion;

use std::ops::Range;

use rep_model::Span;

use self::expansion::parse_braces;
pub(crate) use self::expansion::{FOLDER_MARK, decode_ansi};

/// The maximum depth of substitutions in substitutions.
pub(crate) const NESTING_MAX: u8 = 6;

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Constant text, without quotes.
    Text(String),
    /// A variable, with the text after the operator of `${name:-text}`.
    Variable(String, Option<String>),
    /// The inside of `$(…)` or of backticks.
    Substitution(Span),
    /// The inside of `<(…)` or `>(…)`.
    Process(Span),
    /// A pattern such as `*`.
    Glob,
    /// What the reader of a document fills in, such as `<JOB_ID>`.
    Placeholder,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// The pieces.
    pub parts: Vec<WordPart>,
    /// The location.
    pub span: Span,
    /// Whether a part of it is quoted.
    pub is_quoted: bool,
}

impl ShellWord {
    /// The text, if the word has no expansions.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [WordPart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The operator, such as `>>`, or `<<` for a here-document.
    pub operator: &'static str,
    /// The target, or the text of a here-document.
    pub target: ShellWord,
}

/// A command with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// Assignments before the command.
    pub assignments: Vec<(String, ShellWord)>,
    /// The words.
    pub words: Vec<ShellWord>,
    /// The redirections.
    pub redirections: Vec<Redirection>,
    /// The location.
    pub span: Span,
    /// Whether its output goes to the next command.
    pub is_piped: bool,
    /// The depth of the blocks around it.
    pub depth: u32,
}

/// The commands of a script, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellScript {
    /// The commands.
    pub commands: Vec<ShellCommand>,
    /// The functions that it defines.
    pub functions: Vec<ShellFunction>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellFunction {
    /// The name.
    pub name: String,
    /// The commands of its body, as indices into those of the script. Empty if the body is not in braces.
    pub commands: Range<usize>,
}

/// Reads a script.
pub fn read_shell(text: &str) -> ShellScript {
    Reader { text, bytes: text.as_bytes(), ..Reader::default() }.read_script()
}

/// Reads the commands of a document, in which `<JOB_ID>` is a placeholder and not a redirection.
pub fn read_documented_shell(text: &str) -> ShellScript {
    Reader { text, bytes: text.as_bytes(), has_placeholders: true, ..Reader::default() }.read_script()
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    script: ShellScript,
    current: ShellCommand,
    /// Here-documents whose text starts after the next line end: command, redirection, delimiter, whether it is quoted.
    documents: Vec<(Option<usize>, usize, String, bool)>,
    /// Whether each open `case` waits for a pattern.
    cases: Vec<bool>,
    depth: u32,
    /// For each open brace, the index of the function whose body it starts.
    braces: Vec<Option<usize>>,
    /// The index of the function whose body comes next.
    next_body: Option<usize>,
    /// Whether `<name>` is a placeholder.
    has_placeholders: bool,
}

/// The maximum length of a placeholder, in bytes.
const PLACEHOLDER_BYTES_MAX: usize = 80;

/// Words after which another command starts.
const LEADING: [&str; 10] = ["then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"];
const CLOSING: [&str; 4] = ["fi", "done", "esac", "}"];

impl Reader<'_> {
    fn peek(&self, step: usize) -> u8 {
        self.bytes.get(self.at + step).copied().unwrap_or(0)
    }

    fn read_script(mut self) -> ShellScript {
        self.read_all();
        self.script
    }

    /// Returns the offset behind the placeholder that starts here, if one does.
    fn placeholder_end(&self) -> Option<usize> {
        if !self.has_placeholders || self.bytes.get(self.at) != Some(&b'<') {
            return None;
        }
        let rest = &self.bytes[self.at + 1..];
        let close = rest.iter().take(PLACEHOLDER_BYTES_MAX).position(|byte| matches!(byte, b'>' | b'\n'))?;
        let inside = &rest[..close];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-./:|, '".contains(byte);
        let starts = inside.first().is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii() || *byte == b'_');
        // In `sort <in >out` and `run <in 2>out`, the bracket does not close anything.
        let last = inside.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let is_redirection = last.is_empty() || last.len() < inside.len() && last.iter().all(u8::is_ascii_digit);
        let is_closed = rest[close] == b'>' && !matches!(rest.get(close + 1), Some(b'>' | b'&' | b'('));
        (starts && is_closed && !is_redirection && inside.iter().all(is_part)).then_some(self.at + close + 2)
    }

    fn read_all(&mut self) {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if matches!(self.peek(1), b'\n' | b'\r') => {
                    self.at += if self.peek(1) == b'\r' && self.peek(2) == b'\n' { 3 } else { 2 };
                }
                b'#' => self.skip_line(),
                b'\n' => {
                    self.end_command(false);
                    self.at += 1;
                    self.read_documents();
                }
                b'(' if self.peek(1) == b'(' => self.skip_arithmetic(),
                b';' | b'&' | b'|' | b'(' | b')' => self.read_operator(),
                b'<' if self.placeholder_end().is_some() => self.read_token(),
                b'<' | b'>' => self.read_redirection(),
                _ => self.read_token(),
            }
        }
        self.end_command(false);
        while !self.braces.is_empty() {
            self.close_body();
        }
    }

    /// Skips `((…))`, in which nothing is a command.
    fn skip_arithmetic(&mut self) {
        self.at += 2;
        let inside = self.skip_nested(b')');
        self.at += usize::from(self.peek(0) == b')');
        let text = self.text.get(inside.range()).unwrap_or("");
        // Names that it sets are variables of the script.
        let mut name = String::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_part = letter.is_ascii_alphabetic() || letter == '_' || letter.is_ascii_digit() && !name.is_empty();
            if is_part {
                name.push(letter);
                continue;
            }
            let next = letters.peek().copied().unwrap_or(' ');
            let sets = letter == '=' && next != '=' || matches!((letter, next), ('+' | '-', '+' | '-' | '='));
            if sets && !name.is_empty() {
                let value = ShellWord { parts: vec![WordPart::Variable(String::new(), None)], ..ShellWord::default() };
                self.current.assignments.push((std::mem::take(&mut name), value));
            } else if letter != ' ' {
                name.clear();
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            self.at += 1;
        }
    }

    fn read_operator(&mut self) {
        let (first, second) = (self.bytes[self.at], self.peek(1));
        match (first, second) {
            (b'&', b'>') => {
                self.at += 1;
                self.read_redirection();
            }
            (b'|', b'&') => self.separate(true, 2),
            (b';', b';') => {
                self.separate(false, 2);
                if let Some(waits) = self.cases.last_mut() {
                    *waits = true;
                }
            }
            (b'|', b'|') | (b'&', b'&') => self.separate(false, 2),
            (b'|', _) => self.separate(true, 1),
            // `name() {` and arrays never come here with words before: `read_token` takes them.
            _ => self.separate(false, 1),
        }
    }

    fn separate(&mut self, is_piped: bool, width: usize) {
        self.end_command(is_piped);
        self.at += width;
    }

    fn end_command(&mut self, is_piped: bool) {
        let mut command = std::mem::take(&mut self.current);
        let index = self.script.commands.len();
        let is_empty = command.words.is_empty() && command.assignments.is_empty() && command.redirections.is_empty();
        for document in self.documents.iter_mut().filter(|document| document.0.is_none()) {
            document.0 = Some(index);
        }
        if is_empty {
            if is_piped && let Some(last) = self.script.commands.last_mut() {
                last.is_piped = true;
            }
            return;
        }
        command.is_piped = is_piped;
        command.depth = self.depth;
        command.span.end = command.span.end.max(command.span.start);
        self.next_body = None;
        self.script.commands.push(command);
    }

    fn read_documents(&mut self) {
        for (command, redirection, delimiter, is_quoted) in std::mem::take(&mut self.documents) {
            let start = self.at;
            let mut end = self.bytes.len();
            while self.at < self.bytes.len() {
                let line_start = self.at;
                self.skip_line();
                let line = self.text.get(line_start..self.at).unwrap_or("");
                self.at = (self.at + 1).min(self.bytes.len());
                if line.trim_matches(|letter| matches!(letter, ' ' | '\t' | '\r')) == delimiter {
                    end = line_start;
                    break;
                }
            }
            let span = Span::new(start, end.max(start));
            let parts = if is_quoted {
                vec![WordPart::Text(self.text.get(span.range()).unwrap_or("").to_owned())]
            } else {
                self.read_quoted_parts(span)
            };
            let target = command
                .and_then(|command| self.script.commands.get_mut(command))
                .and_then(|command| command.redirections.get_mut(redirection));
            if let Some(redirection) = target {
                redirection.target = ShellWord { parts, span, is_quoted };
            }
        }
    }

    /// Reads a text in which only `$` and backticks expand.
    fn read_quoted_parts(&mut self, span: Span) -> Vec<WordPart> {
        let saved = (self.at, self.bytes);
        self.at = span.start;
        self.bytes = &self.text.as_bytes()[..span.end];
        let mut word = ShellWord::default();
        let mut run = String::new();
        while self.at < self.bytes.len() {
            self.read_double_quoted_piece(&mut word, &mut run);
        }
        flush(&mut word, &mut run);
        (self.at, self.bytes) = saved;
        word.parts
    }

    fn read_redirection(&mut self) {
        let rest = &self.bytes[self.at..];
        let operators: [(&[u8], &'static str); 10] = [
            (b"<<<", "<<<"),
            (b"<<-", "<<"),
            (b"<<", "<<"),
            (b"<(", "<("),
            (b">(", ">("),
            (b">>", ">>"),
            (b">&", ">&"),
            (b"<&", "<&"),
            (b">|", ">"),
            (b"<>", "<"),
        ];
        let known = operators.iter().find(|(written, _)| rest.starts_with(written));
        let (width, operator) = match known {
            Some((_, "<(" | ">(")) => return self.read_token(),
            Some((written, operator)) => (written.len(), *operator),
            None => (1, if rest[0] == b'<' { "<" } else { ">" }),
        };
        if self.current.words.is_empty() && self.current.redirections.is_empty() && self.current.assignments.is_empty()
        {
            self.current.span = Span::new(self.at, self.at);
        }
        self.at += width;
        while matches!(self.peek(0), b' ' | b'\t') && self.at < self.bytes.len() {
            self.at += 1;
        }
        let target = self.read_word();
        self.current.span.end = self.at;
        if operator == "<<" {
            let delimiter = target.parts.iter().map(|part| match part {
                WordPart::Text(text) => text.as_str(),
                _ => "",
            });
            self.documents.push((None, self.current.redirections.len(), delimiter.collect(), target.is_quoted));
        }
        self.current.redirections.push(Redirection { operator, target });
    }

    /// Reads a word and decides what it is: a keyword, an assignment, a function or a word of the command.
    fn read_token(&mut self) {
        let start = self.at;
        let word = self.read_word();
        if self.at == start {
            self.at += 1;
            return;
        }
        if self.cases.last() == Some(&true) {
            return self.skip_case_pattern(&word);
        }
        let is_first = self.current.words.is_empty();
        if is_first && self.current.assignments.is_empty() && !word.is_quoted && self.take_keyword(&word, start) {
            return;
        }
        if is_first && self.take_assignment(&word, start) {
            return;
        }
        // The number of a redirection, as in `2>`.
        if matches!(self.peek(0), b'<' | b'>')
            && word.literal().is_some_and(|text| text.len() == 1 && text.as_bytes()[0].is_ascii_digit())
        {
            return;
        }
        if is_first && self.current.assignments.is_empty() {
            self.current.span.start = start;
        }
        self.current.span.end = self.at;
        self.current.words.push(word);
    }

    fn skip_case_pattern(&mut self, word: &ShellWord) {
        if word.literal() == Some("esac") && !word.is_quoted {
            self.cases.pop();
            self.depth = self.depth.saturating_sub(1);
            return;
        }
        // A pattern may go on behind the end of a line.
        let mut last = 0;
        while self.at < self.bytes.len() && self.bytes[self.at] != b')' {
            let byte = self.bytes[self.at];
            if byte == b'\n' && !matches!(last, b'\\' | b'|') {
                break;
            }
            last = if matches!(byte, b' ' | b'\t' | b'\r') { last } else { byte };
            self.at += 1;
        }
        self.at = (self.at + 1).min(self.bytes.len());
        if let Some(waits) = self.cases.last_mut() {
            *waits = false;
        }
    }

    fn take_keyword(&mut self, word: &ShellWord, start: usize) -> bool {
        let Some(text) = word.literal() else { return false };
        let text = text.to_owned();
        if text == "[[" {
            self.skip_test();
            return true;
        }
        if text == "case" {
            self.skip_case_subject();
            return true;
        }
        if text == "for" || text == "select" {
            self.depth += 1;
            self.current.span = Span::new(start, self.at);
            self.current.words.push(word.clone());
            return true;
        }
        match text.as_str() {
            "{" => self.open_body(),
            "}" => self.close_body(),
            _ => {}
        }
        if LEADING.contains(&text.as_str()) {
            self.depth += u32::from(matches!(text.as_str(), "if" | "while" | "until" | "{"));
            return true;
        }
        if CLOSING.contains(&text.as_str()) {
            self.depth = self.depth.saturating_sub(1);
            if text == "esac" {
                self.cases.pop();
            }
            return true;
        }
        self.take_function(&text)
    }

    fn take_function(&mut self, text: &str) -> bool {
        let mut name = text.to_owned();
        if text == "function" {
            self.skip_spaces();
            self.read_word().literal().unwrap_or("").clone_into(&mut name);
        }
        let saved = self.at;
        self.skip_spaces();
        let has_parentheses = self.peek(0) == b'(' && {
            self.at += 1;
            self.skip_spaces();
            self.peek(0) == b')'
        };
        if has_parentheses {
            self.at += 1;
        } else {
            self.at = saved;
        }
        let is_function = has_parentheses || text == "function";
        if is_function {
            self.next_body = Some(self.script.functions.len());
            self.script.functions.push(ShellFunction { name, commands: 0..0 });
        }
        is_function
    }

    fn open_body(&mut self) {
        let function = self.next_body.take();
        let start = self.script.commands.len();
        if let Some(function) = function.and_then(|index| self.script.functions.get_mut(index)) {
            function.commands = start..start;
        }
        self.braces.push(function);
    }

    fn close_body(&mut self) {
        if let Some(function) = self.braces.pop().flatten() {
            self.script.functions[function].commands.end = self.script.commands.len();
        }
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Reads the words of `[[ … ]]` as a command that only tests.
    fn skip_test(&mut self) {
        self.current.span = Span::new(self.at - 2, self.at);
        self.current.words.push(ShellWord { parts: vec![WordPart::Text("[[".to_owned())], ..ShellWord::default() });
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b' ' | b'\t' | b'<' | b'>' | b'&' | b'|' | b'(' | b')' | b';' | b'\r' => self.at += 1,
                b'\n' => break,
                _ => {
                    let start = self.at;
                    let word = self.read_word();
                    if self.at == start {
                        self.at += 1;
                    } else if word.literal() == Some("]]") {
                        break;
                    } else {
                        self.current.words.push(word);
                    }
                }
            }
        }
        self.current.span.end = self.at;
    }

    fn skip_case_subject(&mut self) {
        self.skip_spaces();
        let subject = self.read_word();
        self.current.words.push(ShellWord { parts: vec![WordPart::Text("[[".to_owned())], ..ShellWord::default() });
        self.current.words.push(subject);
        self.end_command(false);
        self.skip_spaces();
        let saved = self.at;
        if self.read_word().literal() != Some("in") {
            self.at = saved;
        }
        self.cases.push(true);
        self.depth += 1;
    }

    /// Takes `name=value`, `name+=value` and `name=(…)`.
    fn take_assignment(&mut self, word: &ShellWord, start: usize) -> bool {
        let Some(WordPart::Text(text)) = word.parts.first() else { return false };
        let Some((name, _)) = text.split_once('=') else { return false };
        let name = name.trim_end_matches('+').split('[').next().unwrap_or("").to_owned();
        let is_name = !name.is_empty()
            && !name.as_bytes()[0].is_ascii_digit()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        // A quoted `=` makes it a word.
        let is_written = self.text.get(start..).is_some_and(|rest| rest.starts_with(name.as_str()));
        if !is_name || !is_written {
            return false;
        }
        let mut value = word.clone();
        let eq = text.find('=').unwrap_or(0);
        let rest = text[eq + 1..].to_owned();
        value.parts[0] = WordPart::Text(rest.clone());
        if rest.is_empty() {
            value.parts.remove(0);
        }
        if self.current.assignments.is_empty() {
            self.current.span.start = start;
        }
        if value.parts.is_empty() && self.peek(0) == b'(' {
            self.read_array(&name);
        } else {
            self.current.assignments.push((name, value));
        }
        self.current.span.end = self.at;
        true
    }

    fn read_array(&mut self, name: &str) {
        self.at += 1;
        while self.at < self.bytes.len() && self.bytes[self.at] != b')' {
            match self.bytes[self.at] {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' => self.at += 1,
                b'#' => self.skip_line(),
                _ => {
                    let start = self.at;
                    let word = self.read_word();
                    if self.at == start {
                        self.at += 1;
                    } else {
                        self.current.assignments.push((name.to_owned(), word));
                    }
                }
            }
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }

    fn read_word(&mut self) -> ShellWord {
        let mut word = ShellWord { span: Span::new(self.at, self.at), ..ShellWord::default() };
        let mut run = String::new();
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' if let Some(end) = self.placeholder_end() => {
                    flush(&mut word, &mut run);
                    word.parts.push(WordPart::Placeholder);
                    self.at = end;
                }
                b'<' | b'>' => {
                    if self.peek(1) != b'(' || !run.is_empty() || !word.parts.is_empty() {
                        break;
                    }
                    self.at += 2;
                    let inside = self.skip_nested(b')');
                    word.parts.push(WordPart::Process(inside));
                }
                b'\'' => {
                    word.is_quoted = true;
                    self.at += 1;
                    let start = self.at;
                    self.skip_to(b'\'');
                    run.push_str(self.text.get(start..self.at).unwrap_or(""));
                    self.at = (self.at + 1).min(self.bytes.len());
                }
                b'"' => self.read_double_quoted(&mut word, &mut run),
                b'\\' => self.read_escape(&mut run),
                b'$' | b'`' => self.read_expansion(&mut word, &mut run),
                b'*' | b'?' => {
                    flush(&mut word, &mut run);
                    word.parts.push(WordPart::Glob);
                    self.at += 1;
                }
                _ => self.push_letter(&mut run),
            }
        }
        flush(&mut word, &mut run);
        word.span.end = self.at;
        word
    }

    fn read_escape(&mut self, run: &mut String) {
        self.at += 1;
        match self.peek(0) {
            b'\n' => self.at += 1,
            _ if self.at < self.bytes.len() => self.push_letter(run),
            _ => {}
        }
    }

    fn push_letter(&mut self, run: &mut String) {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(letter) => {
                run.push(letter);
                self.at += letter.len_utf8();
            }
            None => self.at += 1,
        }
    }

    fn skip_to(&mut self, byte: u8) {
        while self.at < self.bytes.len() && self.bytes[self.at] != byte {
            self.at += 1;
        }
    }

    fn read_double_quoted(&mut self, word: &mut ShellWord, run: &mut String) {
        word.is_quoted = true;
        self.at += 1;
        while self.at < self.bytes.len() && self.bytes[self.at] != b'"' {
            self.read_double_quoted_piece(word, run);
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }

    fn read_double_quoted_piece(&mut self, word: &mut ShellWord, run: &mut String) {
        match self.bytes[self.at] {
            b'\\' if matches!(self.peek(1), b'"' | b'\\' | b'$' | b'`' | b'\n') => self.read_escape(run),
            b'$' | b'`' => self.read_expansion(word, run),
            _ => self.push_letter(run),
        }
    }

    /// Skips to the closing byte, over quotes and nested brackets. Returns the span of the inside.
    fn skip_nested(&mut self, closing: u8) -> Span {
        let start = self.at;
        let opening = if closing == b')' { b'(' } else { b'{' };
        let mut depth = 0_usize;
        let mut quote = 0_u8;
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            match byte {
                b'\\' if quote != b'\'' => self.at += 1,
                b'\'' | b'"' if quote == 0 => quote = byte,
                // Quotes inside of a substitution inside of quotes belong to the substitution.
                b'"' if quote == b'"' => quote = 0,
                b'\'' if quote == b'\'' => quote = 0,
                _ if quote == b'\'' => {}
                _ if byte == opening => depth += 1,
                _ if byte == closing && depth == 0 && quote == 0 => {
                    let span = Span::new(start, self.at);
                    self.at += 1;
                    return span;
                }
                _ if byte == closing => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.bytes.len();
        Span::new(start, self.at)
    }

    fn read_expansion(&mut self, word: &mut ShellWord, run: &mut String) {
        if self.bytes[self.at] == b'`' {
            self.at += 1;
            let start = self.at;
            self.skip_to(b'`');
            flush(word, run);
            word.parts.push(WordPart::Substitution(Span::new(start, self.at)));
            self.at = (self.at + 1).min(self.bytes.len());
            return;
        }
        match self.peek(1) {
            b'(' if self.peek(2) == b'(' => {
                self.at += 3;
                self.skip_nested(b')');
                self.at += usize::from(self.peek(0) == b')');
                flush(word, run);
                word.parts.push(WordPart::Variable(String::new(), None));
            }
            b'(' => {
                self.at += 2;
                let inside = self.skip_nested(b')');
                flush(word, run);
                word.parts.push(WordPart::Substitution(inside));
            }
            b'{' => {
                self.at += 2;
                let inside = self.skip_nested(b'}');
                flush(word, run);
                word.parts.push(parse_braces(self.text.get(inside.range()).unwrap_or("")));
            }
            b'\'' => {
                self.at += 2;
                let start = self.at;
                while self.at < self.bytes.len() && self.bytes[self.at] != b'\'' {
                    self.at += if self.bytes[self.at] == b'\\' { 2 } else { 1 };
                }
                self.at = self.at.min(self.bytes.len());
                run.push_str(&decode_ansi(self.text.get(start..self.at).unwrap_or("")));
                self.at = (self.at + 1).min(self.bytes.len());
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let start = self.at + 1;
                self.at = start;
                while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
                    self.at += 1;
                }
                flush(word, run);
                word.parts.push(WordPart::Variable(self.text[start..self.at].to_owned(), None));
            }
            byte if byte.is_ascii_digit() || b"@*#?$!-".contains(&byte) => {
                flush(word, run);
                word.parts.push(WordPart::Variable(char::from(byte).to_string(), None));
                self.at += 2;
            }
            _ => {
                run.push('$');
                self.at += 1;
            }
        }
    }
}

fn flush(word: &mut ShellWord, run: &mut String) {
    if !run.is_empty() {
        word.parts.push(WordPart::Text(std::mem::take(run)));
    }
}

#[cfg(test)]
mod tests;
