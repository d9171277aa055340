//! Splits shell text into simple commands, well enough for documentation: quotes, comments, continuations, pipes,
//! here-documents and placeholders like `<url>`.

/// A simple command in a text.
#[derive(Clone, Debug, Default)]
pub(super) struct SimpleShellCommand {
    pub(super) words: Vec<String>,
    /// The comment after the command, or else the one above it.
    pub(super) comment: Option<String>,
    /// Whether the comment follows the command on the same line.
    pub(super) is_own_comment: bool,
    pub(super) line: usize,
    pub(super) is_piped: bool,
}

/// The maximum number of words in a command and of characters in a word.
const WORDS_MAX: usize = 400;
const LETTERS_MAX: usize = 2_000;

/// Returns the simple commands of a text. Commands inside `$(…)`, at most three levels deep, follow the one around
/// them.
pub(super) fn split_commands(text: &str) -> Vec<SimpleShellCommand> {
    split_nested_commands(text, 0, 3)
}

fn split_nested_commands(text: &str, line: usize, depth: usize) -> Vec<SimpleShellCommand> {
    let mut lexer = ShellLexer { letters: text.chars().collect(), line, ..ShellLexer::default() };
    while lexer.at < lexer.letters.len() {
        lexer.lex_next();
    }
    lexer.end_command(false);
    let with_inner = |simple: SimpleShellCommand| {
        let inner = simple.words.iter().filter_map(|word| find_substitution(word)).filter(|_| depth > 0);
        let inner: Vec<SimpleShellCommand> =
            inner.flat_map(|text| split_nested_commands(text, simple.line, depth - 1)).collect();
        std::iter::once(simple).chain(inner)
    };
    lexer.commands.into_iter().flat_map(with_inner).collect()
}

/// Returns the name of the function that a line defines: `name() {`, `function name`.
pub(super) fn parse_function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("function ").unwrap_or(line).trim_start();
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && !"_-:.".contains(letter)).unwrap_or(rest.len());
    let is_defined = rest.len() < line.len() || rest[end..].trim_start().starts_with("()");
    (is_defined && end > 0).then(|| &rest[..end])
}

fn find_substitution(word: &str) -> Option<&str> {
    word.get(word.find("$(")? + 2..word.rfind(')')?).filter(|inner| !inner.starts_with('('))
}

#[derive(Default)]
struct ShellLexer {
    letters: Vec<char>,
    at: usize,
    line: usize,
    current: SimpleShellCommand,
    word: String,
    commands: Vec<SimpleShellCommand>,
    /// The comment on the line above.
    comment_above: Option<String>,
    /// The word that ends the here-document started on this line.
    here_document_end: Option<String>,
}

impl ShellLexer {
    fn lex_next(&mut self) {
        let is_start = self.current.words.is_empty() && self.word.is_empty();
        if is_start {
            self.current.line = self.line;
        }
        match self.peek(0) {
            '\\' if self.peek(1) == '\n' => self.end_word(2),
            '\\' => self.push_letters(2),
            ' ' | '\t' | '\r' => self.end_word(1),
            '\n' => self.end_line(),
            '#' if self.word.is_empty() => {
                let line = self.take_while(|letter| letter != '\n');
                let text = Some(line.trim_start_matches('#').trim().to_owned()).filter(|text| !text.is_empty());
                self.current.is_own_comment = !is_start;
                *(if is_start { &mut self.comment_above } else { &mut self.current.comment }) = text;
            }
            quote @ ('\'' | '"' | '`') => {
                let mut is_escaped = false;
                self.push_until(1, |letter| {
                    let is_end = letter == quote && !is_escaped;
                    is_escaped = letter == '\\' && quote != '\'' && !is_escaped;
                    is_end
                });
            }
            '$' if self.peek(1) == '(' => {
                let mut depth = 0_usize;
                self.push_until(LETTERS_MAX, |letter| {
                    depth = depth + usize::from(letter == '(') - usize::from(letter == ')');
                    depth == 0
                });
            }
            '<' if self.peek(1) == '<' && self.peek(2) != '<' => {
                self.take_while(|letter| "<-~ ".contains(letter));
                let name = self.take_while(|letter| !" \n;)|".contains(letter));
                self.here_document_end = Some(name.trim_matches(['\'', '"', '\\']).to_owned());
            }
            '<' | '(' | '{' if self.take_placeholder() => {}
            // Neither the file of a redirection nor the number of a stream is an argument.
            '>' | '<' => {
                if matches!(self.word.as_str(), "1" | "2") {
                    self.word.clear();
                }
                self.end_word(0);
                self.take_while(|letter| "<>& ".contains(letter));
                self.take_while(|letter| !" \n;|)".contains(letter));
            }
            '|' | '&' | ';' => self.lex_operator(),
            '(' if self.word.is_empty() => self.lex_operator(),
            ')' if !self.word.contains('(') => self.lex_operator(),
            _ => self.push_letters(1),
        }
    }

    fn peek(&self, ahead: usize) -> char {
        self.letters.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn take_letters(&mut self, count: usize) -> String {
        let end = (self.at + count).min(self.letters.len());
        let taken: String = self.letters[self.at..end].iter().collect();
        self.line += taken.matches('\n').count();
        self.at = end;
        taken
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> String {
        self.take_letters(self.letters[self.at..].iter().take_while(|letter| is_part(**letter)).count())
    }

    fn push_letters(&mut self, count: usize) {
        let taken = self.take_letters(count);
        self.word.push_str(&taken);
    }

    /// Adds characters to the word until the end condition, or a fixed number of characters if it never occurs.
    fn push_until(&mut self, otherwise: usize, mut is_end: impl FnMut(char) -> bool) {
        let end = self.letters[self.at + 1..].iter().take(LETTERS_MAX).position(|letter| is_end(*letter));
        self.push_letters(end.map_or(otherwise, |end| end + 2));
    }

    fn end_word(&mut self, count: usize) {
        let word = std::mem::take(&mut self.word);
        if !word.is_empty() && self.current.words.len() < WORDS_MAX {
            self.current.words.push(word);
        }
        self.take_letters(count);
    }

    fn end_command(&mut self, is_piped: bool) {
        self.end_word(0);
        let mut done = std::mem::take(&mut self.current);
        if !done.words.is_empty() {
            done.comment = done.comment.or_else(|| self.comment_above.clone());
            self.commands.push(done);
        }
        self.current.is_piped = is_piped;
    }

    fn end_line(&mut self) {
        self.end_command(false);
        self.take_letters(1);
        if self.peek(0) == '\n' {
            self.comment_above = None;
        }
        // An unterminated here-document extends to the end of the text.
        let document = self.here_document_end.take();
        while document.is_some() && self.at < self.letters.len() {
            let line = self.take_while(|letter| letter != '\n');
            self.take_letters(1);
            if document.as_deref() == Some(line.trim()) {
                break;
            }
        }
    }

    /// Reads a placeholder for a value or, after a command, for a choice: `<url>`, `(a|b)`, `{a, b}`.
    fn take_placeholder(&mut self) -> bool {
        let rest = self.letters[self.at + 1..].iter().take(120);
        let Some(end) = rest.clone().position(|letter| ">)}".contains(*letter)) else { return false };
        let inner: String = rest.take(end).collect();
        let is_behind = !self.current.words.is_empty() && (self.word.is_empty() || self.word.ends_with('='));
        let is_meant = match (self.peek(0), self.peek(end + 1)) {
            ('<', '>') => inner.starts_with(char::is_alphabetic),
            ('(', ')') => is_behind && inner.contains('|'),
            ('{', '}') => is_behind && inner.contains(['|', ',']),
            _ => false,
        };
        let is_read = is_meant && inner.chars().all(|letter| letter.is_alphanumeric() || " -_./|:,".contains(letter));
        self.push_letters(if is_read { end + 2 } else { 0 });
        is_read
    }

    fn lex_operator(&mut self) {
        let is_bar = self.peek(0) == '|';
        let is_listed = self.word.contains(['[', '{', '<'])
            || self.word.ends_with(char::is_alphanumeric) && self.peek(1).is_alphanumeric();
        if is_bar && is_listed && self.word.len() < WORDS_MAX {
            return self.push_letters(1);
        }
        let is_pipe = is_bar && self.peek(1) != '|';
        self.take_while(|letter| "|&;()".contains(letter));
        self.end_command(is_pipe);
    }
}
