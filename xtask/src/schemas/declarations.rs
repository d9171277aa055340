//! Parses `schemas/outputs.d.ts`: a small subset of TypeScript declarations, in which every field has a comment.
//!
//! Supports interfaces with `extends`, type aliases, unions, arrays, `Record<string, T>`, literals and inline
//! objects. Anything else is an error that names the line.

use std::collections::BTreeMap;

/// A declared type.
#[derive(Clone, Debug)]
pub(crate) struct TypeDeclaration {
    pub(crate) name: String,
    pub(crate) comment: DocComment,
    pub(crate) body: TypeExpression,
    /// The interfaces whose fields come first.
    pub(crate) parents: Vec<String>,
}

/// A comment: its text, and its tags and their values, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocComment {
    pub(crate) text: String,
    tags: Vec<(String, String)>,
}

impl DocComment {
    /// Creates a comment without tags.
    pub(crate) fn from_text(text: String) -> Self {
        Self { text, tags: Vec::new() }
    }

    /// Returns the values of a tag.
    pub(crate) fn tag_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.tags.iter().filter(move |(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum TypeExpression {
    /// `string`, `number`, `integer`, `boolean`, `null`.
    Primitive(&'static str),
    /// `unknown`: any JSON.
    Any,
    /// A word in quotes.
    Text(String),
    /// A number.
    Number(u64),
    /// `true` or `false`.
    Bool(bool),
    /// A declared type.
    Name(String),
    /// `T[]`.
    Array(Box<TypeExpression>),
    /// `Record<string, T>`.
    Map(Box<TypeExpression>),
    /// `A | B`.
    Union(Vec<TypeExpression>),
    /// Fields in braces.
    Object(Vec<DeclaredField>),
}

/// A field of an object.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredField {
    pub(crate) name: String,
    pub(crate) is_optional: bool,
    pub(crate) about: String,
    pub(crate) kind: TypeExpression,
}

/// Parses all declarations, in order. The fields of parents are copied into their children.
pub(crate) fn parse(text: &str) -> Result<Vec<TypeDeclaration>, String> {
    let mut reader = DeclarationParser { tokens: tokenize_declarations(text)?, at: 0 };
    let mut all = Vec::new();
    while reader.at < reader.tokens.len() {
        all.push(reader.parse_declaration()?);
    }
    let by_name: BTreeMap<String, TypeDeclaration> = all.iter().map(|one| (one.name.clone(), one.clone())).collect();
    if by_name.len() < all.len() {
        return Err("a type is declared twice".to_owned());
    }
    all.iter().map(|one| inherit_fields(one, &by_name)).collect()
}

fn inherit_fields(
    one: &TypeDeclaration,
    by_name: &BTreeMap<String, TypeDeclaration>,
) -> Result<TypeDeclaration, String> {
    let TypeExpression::Object(own) = &one.body else { return Ok(one.clone()) };
    let mut fields = Vec::new();
    for parent in &one.parents {
        let known =
            by_name.get(parent).ok_or_else(|| format!("{} extends {parent}, which is not declared", one.name))?;
        match inherit_fields(known, by_name)?.body {
            TypeExpression::Object(of_parent) => {
                let is_new =
                    |field: &DeclaredField| fields.iter().all(|known: &DeclaredField| known.name != field.name);
                let new: Vec<DeclaredField> = of_parent.into_iter().filter(is_new).collect();
                fields.extend(new);
            }
            _ => return Err(format!("{} extends {parent}, which is not an interface", one.name)),
        }
    }
    // A child may narrow a field of its parent.
    fields.retain(|field: &DeclaredField| own.iter().all(|mine| mine.name != field.name));
    fields.extend(own.iter().cloned());
    Ok(TypeDeclaration { body: TypeExpression::Object(fields), ..one.clone() })
}

/// A token and its line.
#[derive(Clone, Debug, PartialEq)]
enum DeclarationToken {
    Word(String),
    Text(String),
    Mark(char),
    Comment(String),
}

fn tokenize_declarations(text: &str) -> Result<Vec<(DeclarationToken, usize)>, String> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if rest.starts_with("/**") {
            let end = rest.find("*/").ok_or_else(|| format!("line {line}: the comment does not end"))?;
            (Some(DeclarationToken::Comment(rest[3..end].to_owned())), end + 2)
        } else if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if first == '"' {
            let end = rest[1..].find('"').ok_or_else(|| format!("line {line}: the string does not end"))?;
            (Some(DeclarationToken::Text(rest[1..=end].to_owned())), end + 2)
        } else if is_word_character(first) {
            let end = rest.find(|letter| !is_word_character(letter)).unwrap_or(rest.len());
            (Some(DeclarationToken::Word(rest[..end].to_owned())), end)
        } else {
            (Some(DeclarationToken::Mark(first)), first.len_utf8())
        };
        found.extend(token.map(|token| (token, line)));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(found)
}

fn is_word_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

struct DeclarationParser {
    tokens: Vec<(DeclarationToken, usize)>,
    at: usize,
}

impl DeclarationParser {
    fn parse_declaration(&mut self) -> Result<TypeDeclaration, String> {
        let comment = self.parse_comment();
        self.accept_word("export");
        let is_interface = self.accept_word("interface");
        if !is_interface && !self.accept_word("type") {
            return Err(self.expected_error("`interface` or `type`"));
        }
        let name = self.expect_word()?;
        let mut parents = Vec::new();
        if self.accept_word("extends") {
            parents.push(self.expect_word()?);
            while self.accept_mark(',') {
                parents.push(self.expect_word()?);
            }
        }
        let body = if is_interface {
            self.parse_object()?
        } else {
            self.expect_mark('=')?;
            let body = self.parse_union()?;
            self.expect_mark(';')?;
            body
        };
        if comment.text.is_empty() {
            return Err(format!("{name} has no comment"));
        }
        Ok(TypeDeclaration { name, comment, body, parents })
    }

    /// Parses the fields between braces.
    fn parse_object(&mut self) -> Result<TypeExpression, String> {
        self.expect_mark('{')?;
        let mut fields: Vec<DeclaredField> = Vec::new();
        while !self.accept_mark('}') {
            let about = self.parse_comment().text;
            let Some(DeclarationToken::Word(name) | DeclarationToken::Text(name)) = self.next() else {
                return Err(self.expected_error("the name of a field"));
            };
            if about.is_empty() {
                return Err(self.expected_error(&format!("a comment before `{name}`")));
            }
            if fields.iter().any(|field| field.name == name) {
                return Err(self.expected_error(&format!("one field `{name}`")));
            }
            let is_optional = self.accept_mark('?');
            self.expect_mark(':')?;
            let kind = self.parse_union()?;
            self.expect_mark(';')?;
            fields.push(DeclaredField { name, is_optional, about, kind });
        }
        Ok(TypeExpression::Object(fields))
    }

    fn parse_union(&mut self) -> Result<TypeExpression, String> {
        // A union over several lines starts with `|`.
        self.accept_mark('|');
        let mut kinds = vec![self.parse_array()?];
        while self.accept_mark('|') {
            kinds.push(self.parse_array()?);
        }
        Ok(if kinds.len() == 1 { kinds.remove(0) } else { TypeExpression::Union(kinds) })
    }

    fn parse_array(&mut self) -> Result<TypeExpression, String> {
        let mut kind = self.parse_single()?;
        while self.accept_mark('[') {
            self.expect_mark(']')?;
            kind = TypeExpression::Array(Box::new(kind));
        }
        Ok(kind)
    }

    fn parse_single(&mut self) -> Result<TypeExpression, String> {
        if self.peek() == Some(&DeclarationToken::Mark('{')) {
            return self.parse_object();
        }
        if self.accept_mark('(') {
            let kind = self.parse_union()?;
            self.expect_mark(')')?;
            return Ok(kind);
        }
        match self.next() {
            Some(DeclarationToken::Text(text)) => Ok(TypeExpression::Text(text)),
            Some(DeclarationToken::Word(word)) => self.parse_named(word),
            _ => Err(self.expected_error("a type")),
        }
    }

    fn parse_named(&mut self, word: String) -> Result<TypeExpression, String> {
        let primitives = ["string", "number", "integer", "boolean", "null"];
        if let Some(primitive) = primitives.into_iter().find(|primitive| *primitive == word) {
            return Ok(TypeExpression::Primitive(primitive));
        }
        if let Ok(number) = word.parse() {
            return Ok(TypeExpression::Number(number));
        }
        match word.as_str() {
            "unknown" => Ok(TypeExpression::Any),
            "true" => Ok(TypeExpression::Bool(true)),
            "false" => Ok(TypeExpression::Bool(false)),
            "Record" => {
                self.expect_mark('<')?;
                if self.expect_word()? != "string" {
                    return Err(self.expected_error("`string`, the type of keys"));
                }
                self.expect_mark(',')?;
                let kind = self.parse_union()?;
                self.expect_mark('>')?;
                Ok(TypeExpression::Map(Box::new(kind)))
            }
            _ => Ok(TypeExpression::Name(word)),
        }
    }

    /// Parses the next comment, if there is one. A comment at the start of the file belongs to the file.
    fn parse_comment(&mut self) -> DocComment {
        let mut comment = DocComment::default();
        while let Some(DeclarationToken::Comment(text)) = self.peek().cloned() {
            self.at += 1;
            comment = DocComment::default();
            let lines =
                text.lines().map(|line| line.trim().trim_start_matches('*').trim()).filter(|line| !line.is_empty());
            for line in lines {
                match line.strip_prefix('@') {
                    Some(tag) => {
                        let (tag, value) = tag.split_once(' ').unwrap_or((tag, ""));
                        comment.tags.push((tag.to_owned(), value.trim().to_owned()));
                    }
                    None if comment.text.is_empty() => line.clone_into(&mut comment.text),
                    None => comment.text = format!("{} {line}", comment.text),
                }
            }
        }
        comment
    }

    fn peek(&self) -> Option<&DeclarationToken> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn next(&mut self) -> Option<DeclarationToken> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    fn expect_word(&mut self) -> Result<String, String> {
        match self.next() {
            Some(DeclarationToken::Word(word)) => Ok(word),
            _ => Err(self.expected_error("a name")),
        }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(DeclarationToken::Word(next)) if next == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn accept_mark(&mut self, mark: char) -> bool {
        let is_next = self.peek() == Some(&DeclarationToken::Mark(mark));
        self.at += usize::from(is_next);
        is_next
    }

    fn expect_mark(&mut self, mark: char) -> Result<(), String> {
        if self.accept_mark(mark) { Ok(()) } else { Err(self.expected_error(&format!("`{mark}`"))) }
    }

    fn expected_error(&self, expected: &str) -> String {
        let near = self.at.min(self.tokens.len().saturating_sub(1));
        let line = self.tokens.get(near).map_or(0, |(_, line)| *line);
        format!("line {line}: expected {expected}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_without_a_comment_is_an_error() {
        let error = parse("/** A. */ interface A { x: string; }").unwrap_err();
        assert_eq!(error, "line 1: expected a comment before `x`");
    }

    #[test]
    fn fields_of_parents_come_first_and_may_be_narrowed() {
        let text = "/** A. */ interface A { /** X. */ x: string; /** Y. */ y?: integer; }\n\
                    /** B. */ interface B extends A { /** X. */ x: \"b\"; }";
        let all = parse(text).unwrap();
        let TypeExpression::Object(fields) = &all[1].body else { panic!("{all:?}") };
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["y", "x"]);
        assert!(matches!(&fields[1].kind, TypeExpression::Text(text) if text == "b"));
    }

    #[test]
    fn tags_are_kept_apart_from_the_text() {
        let all =
            parse("/**\n * A list,\n * long.\n * @output list\n * @command rep list --json\n */\ntype A = B[] | null;")
                .unwrap();
        assert_eq!(all[0].comment.text, "A list, long.");
        assert_eq!(all[0].comment.tag_values("command").collect::<Vec<_>>(), ["rep list --json"]);
    }
}
