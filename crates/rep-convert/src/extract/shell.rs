//! Cuts shell text into simple commands, well enough for documentation: quotes, comments, continuations, pipes,
//! here-documents and placeholders like `<url>`.

use super::programs;

/// One simple command as it stands in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Its words with their quotes.
    pub(super) words: Vec<String>,
    /// What a comment says about it: the one behind it, else the one above.
    pub(super) comment: Option<String>,
    /// Whether that comment stood behind it.
    pub(super) is_own_comment: bool,
    /// How many lines below the first it starts.
    pub(super) line: usize,
    /// Whether its input comes through a pipe.
    pub(super) is_piped: bool,
}

/// The most words of a command, and the most bytes of a list of values; what is longer was not written for people.
const WORDS_MAX: usize = 400;
const LIST_MAX: usize = 400;

/// The deepest command substitution that is looked into.
const DEPTH_MAX: usize = 3;

/// The simple commands of a text, in order; those inside `$(…)` follow the one they stand in.
pub(super) fn commands(text: &str) -> Vec<Simple> {
    let mut found = Vec::new();
    let mut todo = vec![(text.to_owned(), 0_usize, 0_usize)];
    while let Some((text, line, depth)) = todo.pop() {
        for mut simple in Lexer::new(&text).run() {
            simple.line += line;
            if depth < DEPTH_MAX {
                let inner = simple.words.iter().filter_map(|word| substitution(word));
                todo.extend(inner.map(|inner| (inner.to_owned(), simple.line, depth + 1)));
            }
            found.push(simple);
        }
    }
    found.sort_by_key(|simple| simple.line);
    found
}

/// The function a line starts to define: `name() {`, `function name`.
pub(super) fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let is_word = |letter: char| letter.is_alphanumeric() || "_-:.".contains(letter);
    let (rest, is_said) = line.strip_prefix("function ").map_or((line, false), |rest| (rest.trim_start(), true));
    let end = rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len());
    let is_defined = is_said || rest[end..].trim_start().starts_with("()");
    (is_defined && end > 0).then(|| &rest[..end])
}

fn substitution(word: &str) -> Option<&str> {
    let start = word.find("$(")? + 2;
    let end = word.rfind(')')?;
    word.get(start..end).filter(|inner| !inner.starts_with('('))
}

struct Lexer {
    letters: Vec<char>,
    at: usize,
    line: usize,
    current: Simple,
    word: String,
    found: Vec<Simple>,
    /// The comment line above.
    above: Option<String>,
    /// The words that end here-documents begun on this line.
    documents: Vec<String>,
}

impl Lexer {
    fn new(text: &str) -> Self {
        Self {
            letters: text.chars().collect(),
            at: 0,
            line: 0,
            current: Simple::default(),
            word: String::new(),
            found: Vec::new(),
            above: None,
            documents: Vec::new(),
        }
    }

    fn peek(&self, ahead: usize) -> char {
        self.letters.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn run(mut self) -> Vec<Simple> {
        while self.at < self.letters.len() {
            self.step();
        }
        self.end_command(false);
        self.found
    }

    fn step(&mut self) {
        match self.peek(0) {
            '\\' if self.peek(1) == '\n' => {
                self.at += 2;
                self.line += 1;
                self.end_word();
            }
            '\\' => {
                self.word.push('\\');
                self.word.push(self.peek(1));
                self.at += 2;
            }
            '\n' => self.newline(),
            ' ' | '\t' | '\r' => {
                self.end_word();
                self.at += 1;
            }
            '#' if self.word.is_empty() => self.comment(),
            quote @ ('\'' | '"' | '`') => self.quoted(quote),
            '$' if self.peek(1) == '(' => self.substituted(),
            '<' if self.peek(1) == '<' => self.document(),
            '<' if self.placeholder() => {}
            '>' | '<' => self.redirection(),
            '|' | '&' | ';' => self.operator(),
            '(' | '{' if self.choice() => {}
            '(' if self.word.is_empty() => {
                self.end_command(false);
                self.at += 1;
            }
            ')' if !self.word.contains('(') => {
                self.end_command(false);
                self.at += 1;
            }
            letter => {
                self.word.push(letter);
                self.at += 1;
            }
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        if self.current.words.is_empty() {
            self.current.line = self.line;
        }
        let word = std::mem::take(&mut self.word);
        if self.current.words.len() < WORDS_MAX {
            self.current.words.push(word);
        }
    }

    fn end_command(&mut self, is_piped: bool) {
        self.end_word();
        let mut done = std::mem::take(&mut self.current);
        if !done.words.is_empty() {
            if done.comment.is_none() {
                done.comment.clone_from(&self.above);
            }
            self.found.push(done);
        }
        self.current.is_piped = is_piped;
    }

    fn newline(&mut self) {
        let is_blank = self.current.words.is_empty() && self.word.is_empty();
        self.end_command(false);
        self.at += 1;
        self.line += 1;
        if is_blank && self.peek(0) == '\n' {
            self.above = None;
        }
        for document in std::mem::take(&mut self.documents) {
            self.skip_document(&document);
        }
    }

    fn rest_of_line(&mut self) -> String {
        let start = self.at;
        while self.at < self.letters.len() && self.letters[self.at] != '\n' {
            self.at += 1;
        }
        self.letters[start..self.at].iter().collect()
    }

    fn comment(&mut self) {
        let text = self.rest_of_line().trim_start_matches('#').trim().to_owned();
        let text = Some(text).filter(|text| !text.is_empty());
        if self.current.words.is_empty() {
            self.above = text;
        } else {
            self.current.comment = text;
            self.current.is_own_comment = true;
        }
    }

    /// A quoted part; a mark that is never closed is an ordinary letter.
    fn quoted(&mut self, quote: char) {
        let mut end = self.at + 1;
        while end < self.letters.len() && self.letters[end] != quote {
            end += 1 + usize::from(self.letters[end] == '\\' && quote != '\'');
        }
        let lines = self.letters[self.at..end.min(self.letters.len())].iter().filter(|letter| **letter == '\n').count();
        if end >= self.letters.len() || lines > 40 {
            self.word.push(quote);
            self.at += 1;
            return;
        }
        if self.current.words.is_empty() && self.word.is_empty() {
            self.current.line = self.line;
        }
        self.word.extend(&self.letters[self.at..=end]);
        self.line += lines;
        self.at = end + 1;
    }

    fn substituted(&mut self) {
        let mut depth = 0_usize;
        let start = self.at;
        let most = (self.at + 2_000).min(self.letters.len());
        while self.at < most {
            match self.letters[self.at] {
                '(' => depth += 1,
                ')' => depth -= 1,
                '\n' => self.line += 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 && self.at > start + 1 {
                break;
            }
        }
        self.word.extend(&self.letters[start..self.at]);
    }

    /// `<url>`: what documentation writes for a value.
    fn placeholder(&mut self) -> bool {
        let rest = &self.letters[self.at + 1..(self.at + 42).min(self.letters.len())];
        let Some(end) = rest.iter().position(|letter| *letter == '>') else { return false };
        let inner = &rest[..end];
        let is_name = inner.first().is_some_and(|letter| letter.is_alphabetic())
            && inner.iter().all(|letter| letter.is_alphanumeric() || " -_./|:,".contains(*letter));
        if is_name {
            self.word.extend(&self.letters[self.at..self.at + end + 2]);
            self.at += end + 2;
        }
        is_name
    }

    /// `(a|b)` and `{a, b}` behind a command: what documentation writes for a choice.
    fn choice(&mut self) -> bool {
        if self.current.words.is_empty() || !(self.word.is_empty() || self.word.ends_with('=')) {
            return false;
        }
        let close = if self.peek(0) == '(' { ')' } else { '}' };
        let rest = &self.letters[self.at + 1..(self.at + 120).min(self.letters.len())];
        let Some(end) = rest.iter().position(|letter| *letter == close) else { return false };
        let inner = &rest[..end];
        let is_list = inner.contains(&'|') || close == '}' && inner.contains(&',');
        let is_choice = is_list && inner.iter().all(|letter| letter.is_alphanumeric() || " -_.|,:".contains(*letter));
        if is_choice {
            let text = self.letters[self.at..self.at + end + 2].iter().filter(|letter| **letter != ' ');
            self.word.extend(text);
            self.at += end + 2;
        }
        is_choice
    }

    fn redirection(&mut self) {
        // The file of a redirection is no argument.
        if self.word.chars().all(|letter| letter.is_ascii_digit()) {
            self.word.clear();
        }
        self.end_word();
        while matches!(self.peek(0), '>' | '<' | '&' | ' ') {
            self.at += 1;
        }
        while self.at < self.letters.len() && !matches!(self.peek(0), ' ' | '\n' | ';' | '|' | ')') {
            self.at += 1;
        }
    }

    fn operator(&mut self) {
        let operator = self.peek(0);
        // `[a|b]` and `{x|y}` list values in documentation.
        let is_value = operator == '|'
            && self.word.len() < LIST_MAX
            && (self.word.contains(['[', '{', '<'])
                || self.word.ends_with(char::is_alphanumeric) && self.peek(1).is_alphanumeric() && !self.is_piped_on());
        if is_value {
            self.word.push(operator);
            self.at += 1;
            return;
        }
        let is_pipe = operator == '|' && self.peek(1) != '|';
        while matches!(self.peek(0), '|' | '&' | ';') {
            self.at += 1;
        }
        let above = self.above.clone();
        self.end_command(is_pipe);
        self.above = above;
    }

    /// Whether the word behind a bar is a program: `tool list|grep x`.
    fn is_piped_on(&self) -> bool {
        let rest = self.letters[self.at + 1..].iter().take(20);
        let word: String = rest.take_while(|letter| letter.is_alphanumeric() || **letter == '-').collect();
        programs::is_plumbing(&word) || word == "jq"
    }

    fn document(&mut self) {
        let start = self.at;
        while matches!(self.peek(0), '<' | '-' | '~' | ' ') {
            self.at += 1;
        }
        let mut name = String::new();
        while self.at < self.letters.len() && !matches!(self.peek(0), ' ' | '\n' | ';' | ')' | '|') {
            name.push(self.peek(0));
            self.at += 1;
        }
        let name = name.trim_matches(['\'', '"', '\\']).to_owned();
        if !name.is_empty() && self.at - start < 60 {
            self.documents.push(name);
        }
    }

    /// Skips a here-document; one that never ends takes the rest.
    fn skip_document(&mut self, name: &str) {
        while self.at < self.letters.len() {
            let line = self.rest_of_line();
            self.at += 1;
            self.line += 1;
            if line.trim() == name {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = commands(text).iter().map(|simple| simple.words.join(" ")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn simple_commands_are_cut_out() {
        check("a b # c\n# d\ne \\\n  f", &["a b", "e f"]);
        check("a \"x && y\" | b && c; d > out.txt 2>&1", &["a \"x && y\"", "b", "c", "d"]);
        check("open <url> [a|b] --x=<y>", &["open <url> [a|b] --x=<y>"]);
        check("cat > f <<'EOF'\nnot a command\nEOF\nnext", &["cat", "next"]);
        check("X=$(git rev-parse HEAD)\n", &["X=$(git rev-parse HEAD)", "git rev-parse HEAD"]);
        check("echo don't\nls", &["echo don't", "ls"]);
        check("git commit -m \"one\ntwo\"\nls", &["git commit -m \"one\ntwo\"", "ls"]);
    }

    #[test]
    fn comments_go_with_the_commands_they_explain() {
        let found = commands("# Log in\na login\nb out # Go out");
        assert_eq!(found[0].comment.as_deref(), Some("Log in"));
        assert_eq!(found[1].comment.as_deref(), Some("Go out"));
    }
}
