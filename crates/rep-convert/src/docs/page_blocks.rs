//! Splits a page of known layout into blocks. Their text is literal: emphasis and links are not interpreted.

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageBlockKind {
    Heading(u8),
    Text,
    Fence,
    Table,
    Bullets,
    Numbers,
    Quote,
}

/// A block of a page.
#[derive(Clone, Debug)]
pub(super) struct PageBlock {
    pub(super) kind: PageBlockKind,
    /// The lines without their markers; table lines are unchanged.
    pub(super) text: String,
    /// The items, if it is a list.
    pub(super) bullets: Vec<PageListItem>,
    /// The line of the file where the block starts.
    pub(super) line: usize,
}

/// An item of a list.
#[derive(Clone, Debug)]
pub(super) struct PageListItem {
    pub(super) text: String,
    /// The nested items.
    pub(super) inner: Vec<String>,
    pub(super) line: usize,
}

impl PageBlock {
    /// Returns the level of a heading, or 0 for other blocks.
    pub(super) fn heading_level(&self) -> u8 {
        match self.kind {
            PageBlockKind::Heading(level) => level,
            _ => 0,
        }
    }
}

impl PageListItem {
    /// Splits a field into its title and its text.
    pub(super) fn split_field(&self) -> Option<(&str, &str)> {
        self.text.split_once(": ").or_else(|| self.text.strip_suffix(':').map(|title| (title, "")))
    }

    /// Returns the texts of an item, either separated on one line or as nested items.
    pub(super) fn split_texts(&self, between: &str) -> Vec<String> {
        if !self.inner.is_empty() {
            return self.inner.clone();
        }
        let words = self.split_field().map_or("", |(_, words)| words);
        words.split(between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// Splits a page into blocks.
pub(super) fn parse_page_blocks(body: &str, first_line: usize) -> Vec<PageBlock> {
    let lines: Vec<&str> = body.lines().collect();
    let mut pieces: Vec<PageBlock> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let number = first_line + at;
        at += 1;
        let Some(kind) = classify_line(line) else {
            // An empty line ends the previous block.
            if let Some(last) =
                pieces.last_mut().filter(|last| last.kind == PageBlockKind::Text && line.trim().is_empty())
            {
                last.text.push('\n');
            }
            continue;
        };
        if kind == PageBlockKind::Fence {
            let marks: String = line.chars().take_while(|letter| *letter == '`').collect();
            let end = lines[at..].iter().position(|line| *line == marks).map_or(lines.len(), |length| at + length);
            pieces.push(PageBlock { kind, text: lines[at..end].join("\n"), bullets: Vec::new(), line: number });
            at = (end + 1).min(lines.len());
            continue;
        }
        let joins = pieces.last().is_some_and(|last| {
            last.kind == kind
                && !matches!(kind, PageBlockKind::Heading(_))
                && !last.text.ends_with('\n')
                && follows_without_gap(&lines, at - 1)
        });
        if !joins {
            pieces.push(PageBlock { kind, text: String::new(), bullets: Vec::new(), line: number });
        }
        if let Some(piece) = pieces.last_mut() {
            push_line(piece, line, number);
        }
    }
    for piece in pieces.iter_mut().filter(|piece| piece.kind == PageBlockKind::Text) {
        piece.text.truncate(piece.text.trim_end_matches('\n').len());
    }
    pieces
}

/// Returns whether a line follows the previous one without an empty line.
fn follows_without_gap(lines: &[&str], at: usize) -> bool {
    at > 0 && !lines[at - 1].trim().is_empty()
}

/// Returns the kind of block that a line belongs to, or `None` for an empty line.
fn classify_line(line: &str) -> Option<PageBlockKind> {
    if line.trim().is_empty() {
        return None;
    }
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    Some(match line {
        _ if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') => {
            PageBlockKind::Heading(u8::try_from(hashes).unwrap_or(6))
        }
        _ if line.starts_with("```") => PageBlockKind::Fence,
        _ if line.starts_with('|') => PageBlockKind::Table,
        _ if line.starts_with("- ") || line.starts_with("  - ") => PageBlockKind::Bullets,
        _ if digits > 0 && line[digits..].starts_with(". ") => PageBlockKind::Numbers,
        _ if line.starts_with('>') => PageBlockKind::Quote,
        _ => PageBlockKind::Text,
    })
}

fn push_line(piece: &mut PageBlock, line: &str, number: usize) {
    let bullet = |text: &str| PageListItem { text: text.to_owned(), inner: Vec::new(), line: number };
    let words = match piece.kind {
        PageBlockKind::Heading(level) => line[usize::from(level)..].trim(),
        PageBlockKind::Bullets => {
            match (line.strip_prefix("  - "), piece.bullets.last_mut()) {
                (Some(inner), Some(last)) => last.inner.push(inner.to_owned()),
                _ => piece.bullets.push(bullet(line.trim_start().trim_start_matches("- "))),
            }
            return;
        }
        PageBlockKind::Numbers => {
            piece.bullets.extend(line.split_once(". ").map(|(_, text)| bullet(text)));
            return;
        }
        PageBlockKind::Quote => unescape_line(line[1..].strip_prefix(' ').unwrap_or(&line[1..])),
        PageBlockKind::Text => unescape_line(line),
        PageBlockKind::Table | PageBlockKind::Fence => line,
    };
    if !piece.text.is_empty() {
        piece.text.push('\n');
    }
    piece.text.push_str(words);
}

/// Removes the escape at the start of a line.
fn unescape_line(line: &str) -> &str {
    line.strip_prefix('\\').unwrap_or(line)
}

/// Splits a table row into cells.
pub(super) fn split_cells(row: &str) -> Vec<String> {
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

/// Splits a text into the code at its start and the rest.
pub(super) fn split_leading_code(text: &str) -> Option<(String, &str)> {
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

/// Returns the content of a text that is entirely code.
pub(super) fn parse_code(text: &str) -> Option<String> {
    split_leading_code(text).filter(|(_, rest)| rest.is_empty()).map(|(code, _)| code)
}

/// Parses code spans separated by commas.
pub(super) fn parse_code_list(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((code, after)) = split_leading_code(rest) {
        found.push(code);
        rest = after.strip_prefix(", ").unwrap_or("");
    }
    found
}
