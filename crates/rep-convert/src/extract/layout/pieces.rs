//! The pieces of a page whose layout is known, as they stand: nothing in them is taken for emphasis or a link.

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Heading(u8),
    Text,
    Fence,
    Table,
    Bullets,
    Numbers,
    Quote,
}

/// One piece.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// Its lines without their marks; those of a table as they are.
    pub(super) text: String,
    /// The items of a list.
    pub(super) bullets: Vec<Bullet>,
    /// The line of the file it starts on.
    pub(super) line: usize,
}

/// An item of a list.
#[derive(Clone, Debug)]
pub(super) struct Bullet {
    pub(super) text: String,
    /// The items below it.
    pub(super) inner: Vec<String>,
    pub(super) line: usize,
}

impl Piece {
    /// The level of a heading; 0 for everything else.
    pub(super) fn level(&self) -> u8 {
        match self.kind {
            Kind::Heading(level) => level,
            _ => 0,
        }
    }
}

impl Bullet {
    /// A title and the words behind it.
    pub(super) fn field(&self) -> Option<(&str, &str)> {
        self.text.split_once(": ").or_else(|| self.text.strip_suffix(':').map(|title| (title, "")))
    }

    /// Texts on one line with something between them, or below each other.
    pub(super) fn several(&self, between: &str) -> Vec<String> {
        if !self.inner.is_empty() {
            return self.inner.clone();
        }
        let words = self.field().map_or("", |(_, words)| words);
        words.split(between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// Cuts a page into pieces.
pub(super) fn pieces(body: &str, first_line: usize) -> Vec<Piece> {
    let lines: Vec<&str> = body.lines().collect();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let number = first_line + at;
        at += 1;
        let Some(kind) = kind(line) else {
            // An empty line ends what stands before it.
            if let Some(last) = pieces.last_mut().filter(|last| last.kind == Kind::Text && line.trim().is_empty()) {
                last.text.push('\n');
            }
            continue;
        };
        if kind == Kind::Fence {
            let marks: String = line.chars().take_while(|letter| *letter == '`').collect();
            let end = lines[at..].iter().position(|line| *line == marks).map_or(lines.len(), |length| at + length);
            pieces.push(Piece { kind, text: lines[at..end].join("\n"), bullets: Vec::new(), line: number });
            at = (end + 1).min(lines.len());
            continue;
        }
        let joins = pieces.last().is_some_and(|last| {
            last.kind == kind
                && !matches!(kind, Kind::Heading(_))
                && !last.text.ends_with('\n')
                && is_next(&lines, at - 1)
        });
        if !joins {
            pieces.push(Piece { kind, text: String::new(), bullets: Vec::new(), line: number });
        }
        if let Some(piece) = pieces.last_mut() {
            take(piece, line, number);
        }
    }
    for piece in pieces.iter_mut().filter(|piece| piece.kind == Kind::Text) {
        piece.text.truncate(piece.text.trim_end_matches('\n').len());
    }
    pieces
}

/// Whether a line follows the one before without a gap.
fn is_next(lines: &[&str], at: usize) -> bool {
    at > 0 && !lines[at - 1].trim().is_empty()
}

/// What a line belongs to; nothing where it is empty.
fn kind(line: &str) -> Option<Kind> {
    if line.trim().is_empty() {
        return None;
    }
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    Some(match line {
        _ if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') => {
            Kind::Heading(u8::try_from(hashes).unwrap_or(6))
        }
        _ if line.starts_with("```") => Kind::Fence,
        _ if line.starts_with('|') => Kind::Table,
        _ if line.starts_with("- ") || line.starts_with("  - ") => Kind::Bullets,
        _ if digits > 0 && line[digits..].starts_with(". ") => Kind::Numbers,
        _ if line.starts_with('>') => Kind::Quote,
        _ => Kind::Text,
    })
}

fn take(piece: &mut Piece, line: &str, number: usize) {
    let bullet = |text: &str| Bullet { text: text.to_owned(), inner: Vec::new(), line: number };
    let words = match piece.kind {
        Kind::Heading(level) => line[usize::from(level)..].trim(),
        Kind::Bullets => {
            match (line.strip_prefix("  - "), piece.bullets.last_mut()) {
                (Some(inner), Some(last)) => last.inner.push(inner.to_owned()),
                _ => piece.bullets.push(bullet(line.trim_start().trim_start_matches("- "))),
            }
            return;
        }
        Kind::Numbers => {
            piece.bullets.extend(line.split_once(". ").map(|(_, text)| bullet(text)));
            return;
        }
        Kind::Quote => unescaped(line[1..].strip_prefix(' ').unwrap_or(&line[1..])),
        Kind::Text => unescaped(line),
        Kind::Table | Kind::Fence => line,
    };
    if !piece.text.is_empty() {
        piece.text.push('\n');
    }
    piece.text.push_str(words);
}

/// A line without the mark that kept it from being more than a line.
fn unescaped(line: &str) -> &str {
    line.strip_prefix('\\').unwrap_or(line)
}

/// The cells of a row.
pub(super) fn cells(row: &str) -> Vec<String> {
    let row = row.trim().strip_prefix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(cell) = cells.last_mut() else { break };
        match letter {
            '\\' if letters.peek() == Some(&'|') => {
                letters.next();
                cell.push('|');
            }
            '|' => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    cells.pop();
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The code a text starts with, and what follows it.
pub(super) fn code_and_rest(text: &str) -> Option<(String, &str)> {
    let marks = text.bytes().take_while(|byte| *byte == b'`').count();
    if marks == 0 {
        return None;
    }
    let inside = &text[marks..];
    let mut from = 0;
    while let Some(at) = inside[from..].find('`').map(|at| from + at) {
        let run = inside[at..].bytes().take_while(|byte| *byte == b'`').count();
        if run == marks {
            let code = &inside[..at];
            let is_padded = code.trim().starts_with('`') || code.trim().ends_with('`') || code == " ";
            let code = if is_padded { code.trim() } else { code };
            return Some((code.to_owned(), &inside[at + run..]));
        }
        from = at + run;
    }
    None
}

/// The code a text is, where it is nothing else.
pub(super) fn code(text: &str) -> Option<String> {
    code_and_rest(text).filter(|(_, rest)| rest.is_empty()).map(|(code, _)| code)
}

/// Pieces of code with commas between them.
pub(super) fn codes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((code, after)) = code_and_rest(rest) {
        found.push(code);
        rest = after.strip_prefix(", ").unwrap_or("");
    }
    found
}
