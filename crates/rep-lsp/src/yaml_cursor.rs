//! Where in a YAML text a cursor is, while the text is being written and may not parse.
//!
//! Works on lines: the keys around the cursor follow from indentation. Block scalars and comments have no
//! position.

/// The position of a cursor in a YAML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlCursor<'a> {
    /// The keys around the cursor, outermost first. Items of lists add nothing.
    pub(crate) path: Vec<&'a str>,
    /// The key whose value is being written, or `None` if a key or an item is.
    pub(crate) key: Option<&'a str>,
    /// Whether the cursor is in an item of a list.
    pub(crate) is_item: bool,
    /// The keys beside the one that is being written.
    pub(crate) siblings: Vec<&'a str>,
    /// Where the written word starts in the text.
    pub(crate) start: usize,
    /// Whether a space must separate the value from its key.
    pub(crate) needs_space: bool,
}

/// The parts of a line.
#[derive(Clone, Copy, Debug)]
struct LineShape<'a> {
    /// The column of the first dash, if the line starts an item.
    dash: Option<usize>,
    /// The column of the content.
    column: usize,
    key: Option<&'a str>,
    /// What follows the key.
    value: &'a str,
}

impl<'a> LineShape<'a> {
    /// Reads a line. Empty lines and comments have no shape.
    fn read(line: &'a str) -> Option<Self> {
        let line = line.trim_end();
        let mut column = line.len() - line.trim_start_matches(' ').len();
        let mut rest = &line[column..];
        if rest.is_empty() || rest.starts_with('#') {
            return None;
        }
        let mut dash = None;
        while let Some(after) = rest.strip_prefix('-').filter(|after| after.is_empty() || after.starts_with(' ')) {
            dash.get_or_insert(column);
            let skipped = 1 + after.len() - after.trim_start_matches(' ').len();
            column += skipped;
            rest = &rest[skipped..];
        }
        let (key, value) = match split_key(rest) {
            Some((key, value)) => (Some(key), value.trim_start()),
            None => (None, rest),
        };
        Some(Self { dash, column, key, value })
    }

    /// Whether the lines below belong to a text that starts here.
    fn starts_text(&self) -> bool {
        let value = self.value.split(" #").next().unwrap_or_default().trim();
        self.key.is_some() && !value.is_empty() && !value.starts_with('#') && !value.starts_with(['&', '!'])
    }
}

/// Splits a line at the colon behind its key.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let at = line.match_indices(':').map(|(at, _)| at).find(|at| {
        let after = &line[at + 1..];
        after.is_empty() || after.starts_with(' ')
    })?;
    let key = line[..at].trim_matches(['"', '\'']);
    let is_plain = !key.is_empty() && !key.starts_with(['[', '{', '#']);
    is_plain.then_some((key, &line[at + 1..]))
}

/// What is above the cursor.
#[derive(Clone, Copy)]
enum Above {
    /// Keys in this column are beside the cursor, and keys left of it are around it.
    Column(usize),
    /// Items start in this column. Their key is left of it, or in the same column.
    Dash(usize),
}

impl<'a> YamlCursor<'a> {
    /// Finds the position of an offset, or `None` in comments and texts.
    pub(crate) fn locate(text: &'a str, offset: usize) -> Option<Self> {
        let before = text.get(..offset)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let written = &before[line_start..];
        if written.trim_start().starts_with('#') || written.contains(" #") || written.contains('\t') {
            return None;
        }
        let shape = LineShape::read(written);
        let spaces = written.len() - written.trim_start_matches(' ').len();
        let (dash, column) = shape.map_or((None, spaces), |shape| (shape.dash, shape.column));
        let above = dash.map_or(Above::Column(column), Above::Dash);
        let (mut path, mut siblings) = look_up(&text[..line_start], above)?;
        let below = text[offset..].split_once('\n').map_or("", |(_, below)| below);
        siblings.extend(look_down(below, column));
        let mut cursor = Self {
            key: None,
            is_item: dash.is_some(),
            siblings,
            start: line_start + column.min(written.len()),
            path: Vec::new(),
            needs_space: false,
        };
        if let Some(LineShape { key: Some(key), .. }) = shape {
            let content = &written[column..];
            let value = &content[content.find(':').map_or(content.len(), |at| at + 1)..];
            cursor.key = Some(key);
            cursor.needs_space = value.is_empty();
            cursor.start = offset - value.trim_start().len();
            cursor.enter_flow(text, offset, &mut path);
        } else {
            cursor.enter_flow(text, offset, &mut path);
        }
        cursor.path = path;
        Some(cursor)
    }

    /// Moves into a list or a mapping in brackets, to the word that is being written.
    fn enter_flow(&mut self, text: &'a str, offset: usize, path: &mut Vec<&'a str>) {
        let value = &text[self.start..offset];
        if value.starts_with('{') {
            let open = value.rfind(['{', ',']).map_or(0, |at| at + 1);
            let inner = value[open..].trim_start();
            path.extend(self.key.take());
            self.siblings = value[1..open].split(',').filter_map(|part| Some(split_key(part.trim())?.0)).collect();
            self.start = offset - inner.len();
            if let Some((key, value)) = split_key(inner) {
                self.key = Some(key);
                self.needs_space = value.is_empty();
                self.start = offset - value.trim_start().len();
            }
        } else if value.starts_with('[') {
            let open = value.rfind(['[', ',']).map_or(0, |at| at + 1);
            self.start = offset - value[open..].trim_start().len();
            self.is_item = true;
        }
        // A quote belongs to the text around the word.
        if text[self.start..offset].starts_with(['"', '\'']) {
            self.start += 1;
        }
    }
}

/// Returns the keys around and beside a position, from the lines above it. Returns `None` inside a text.
fn look_up(above: &str, mut state: Above) -> Option<(Vec<&str>, Vec<&str>)> {
    let (mut path, mut siblings) = (Vec::new(), Vec::new());
    for line in above.lines().rev() {
        let Some(shape) = LineShape::read(line) else { continue };
        let start = shape.dash.unwrap_or(shape.column);
        let is_beside = matches!(state, Above::Column(column) if shape.column == column);
        let is_around = match state {
            Above::Column(column) => shape.column < column,
            Above::Dash(dash) => shape.column < dash || (shape.column == dash && shape.dash.is_none()),
        };
        if is_beside {
            if path.is_empty() {
                siblings.extend(shape.key);
            }
        } else if is_around {
            if shape.starts_text() {
                return None;
            }
            path.insert(0, shape.key?);
            state = Above::Column(shape.column);
        } else if matches!(state, Above::Column(column) if start < column && shape.column > column) {
            // An item whose content is indented deeper than the cursor: the cursor is not inside it.
            state = Above::Dash(start);
            continue;
        }
        if let (true, Some(dash)) = (is_beside || is_around, shape.dash) {
            state = Above::Dash(dash);
        }
    }
    Some((path, siblings))
}

/// Returns the keys beside a position, from the lines below it.
fn look_down(below: &str, column: usize) -> Vec<&str> {
    let shapes = below.lines().filter_map(LineShape::read);
    let inside = shapes.take_while(|shape| shape.column >= column && shape.dash.is_none_or(|dash| dash >= column));
    inside.filter(|shape| shape.column == column && shape.dash.is_none()).filter_map(|shape| shape.key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes the position of `|`: path, key and word.
    fn at(marked: &str) -> Option<String> {
        let offset = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let cursor = YamlCursor::locate(&text, offset)?;
        let key = cursor.key.map(|key| format!("{key}=")).unwrap_or_default();
        let item = if cursor.is_item { "- " } else { "" };
        Some(format!("{} {item}{key}{}", cursor.path.join("."), &text[cursor.start..offset]))
    }

    #[test]
    fn keys_and_values_have_the_keys_around_them() {
        for (text, wanted) in [
            ("na|", " na"),
            ("name: x\nlic|\nversion: 1\n", " lic"),
            ("license: MI|", " license=MI"),
            ("license: \"MI|", " license=MI"),
            ("license:|", " license="),
            ("permissions:\n  net|", "permissions net"),
            ("permissions:\n  filesystem:\n    read: []\n  net|", "permissions net"),
            ("permissions:\n  filesystem:\n    read: []\n|", " "),
            ("tools:\n  - name: x\n    imp|", "tools imp"),
            ("tools:\n- name: x\n  implementation:\n    runtime: py|", "tools.implementation runtime=py"),
            ("tools:\n  - name: x\n  - de|", "tools - de"),
            ("depends_on: [a, b|", " - depends_on=b"),
            ("depends_on:\n  - a\n  - b|", "depends_on - b"),
            ("implementation: {runtime: bas|", "implementation runtime=bas"),
            ("implementation: {runtime: bash, en|", "implementation en"),
            ("commands:\n  go:\n    requires: [x|", "commands.go - requires=x"),
        ] {
            assert_eq!(at(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn texts_and_comments_have_no_position() {
        for text in ["description: >-\n  Some te|", "description: Some\n  te|", "# na|", "name: x # no|"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn keys_beside_the_cursor_are_known() {
        let text = "name: x\ntools:\n  - name: y\n\nversion: 1\n";
        let cursor = YamlCursor::locate(text, text.find("\n\nversion").unwrap() + 1).unwrap();
        assert_eq!(cursor.siblings, ["tools", "name", "version"]);
        let text = "tools:\n  - name: y\n    description: z\n    \n    output_schema: {}\n  - name: a\n";
        let cursor = YamlCursor::locate(text, text.find("\n    output").unwrap()).unwrap();
        assert_eq!(cursor.siblings, ["description", "name", "output_schema"]);
    }
}
