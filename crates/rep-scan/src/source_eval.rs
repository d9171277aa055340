//! Follows Python and JavaScript: statements, scopes and expressions, in one pass over the tokens.
//!
//! The first pass only collects what names mean, so that functions may use what is defined below them; the second one
//! records. Nothing is a syntax error: what is not understood is skipped.

mod expressions;
mod functions;
mod modules;
mod statements;

use std::collections::HashMap;
use std::rc::Rc;

use rep_model::Span;

use self::functions::FunctionFacts;
pub(crate) use self::modules::ModuleFacts;
use crate::scanner::{Language, Place, Scanner};
use crate::source_tokens::{Token, TokenKind, split_source};
use crate::value::{self, HOLE, SharedValue, Value, choice};

/// The maximum depth of nested expressions. What is deeper is not read.
const DEPTH_MAX: u32 = 60;

/// The maximum number of rehearsals. Each one carries data through one more call.
const REHEARSALS_MAX: usize = 3;
/// The maximum number of times that scripts which import each other are rehearsed.
const ROUNDS_MAX: usize = 3;
/// The maximum size of a text that is rehearsed more than once.
const REHEARSED_BYTES_MAX: usize = 512 * 1024;

/// Follows a source text.
pub(crate) fn run_source(scanner: &mut Scanner<'_>, text: &str, language: Language, place: &Place) {
    let text = value::without_holes_unless_folded(text, place.fixed.is_some());
    let tokens = split_source(&text, language == Language::Python);
    // What other scripts pass to the functions of this one is known already.
    let is_linked = place.is_whole_file() && scanner.linked.contains(&*place.file);
    let mut facts = is_linked.then(|| scanner.modules.remove(&place.file)).flatten().unwrap_or_default();
    let (mut globals, mut functions) = (std::mem::take(&mut facts.names), std::mem::take(&mut facts.functions));
    let was_rehearsal = std::mem::replace(&mut scanner.is_rehearsal, true);
    let mut rehearsals = 0;
    loop {
        let is_rehearsal = rehearsals < REHEARSALS_MAX
            && (rehearsals == 0 || functions.has_grown && text.len() <= REHEARSED_BYTES_MAX);
        functions.has_grown = false;
        rehearsals += 1;
        scanner.is_rehearsal = is_rehearsal || was_rehearsal;
        let mut run = SourceRun {
            scanner: &mut *scanner,
            text: &text,
            tokens: &tokens,
            at: 0,
            end: tokens.len(),
            is_python: language == Language::Python,
            scopes: vec![Scope::new(ScopeEnd::Never)],
            globals: std::mem::take(&mut globals),
            functions: std::mem::take(&mut functions),
            pending_name: None,
            place,
            depth: 0,
            indent: 0,
        };
        run.run_all();
        globals = std::mem::take(&mut run.scopes[0].names);
        functions = std::mem::take(&mut run.functions);
        if !is_rehearsal {
            break;
        }
    }
    scanner.is_rehearsal = was_rehearsal;
    if is_linked {
        scanner.modules.insert(Rc::clone(&place.file), ModuleFacts { names: globals, functions });
    }
}

/// Follows the scripts that import each other, so that each is known to the others before anything is recorded.
pub(crate) fn rehearse_linked(scanner: &mut Scanner<'_>, scripts: &[(Rc<str>, &str, Language)]) {
    let was_rehearsal = std::mem::replace(&mut scanner.is_rehearsal, true);
    for _ in 0..ROUNDS_MAX {
        for (file, text, language) in scripts {
            run_source(scanner, text, *language, &Place::of_file(file));
        }
        let has_grown = scanner.modules.values_mut().any(|facts| std::mem::take(&mut facts.functions.has_grown));
        if !has_grown {
            break;
        }
    }
    scanner.is_rehearsal = was_rehearsal;
}

enum ScopeEnd {
    Never,
    /// Before the first line that is not deeper.
    Indent(u32),
    /// At a token.
    Token(usize),
}

struct Scope {
    names: HashMap<String, (SharedValue, u32)>,
    end: ScopeEnd,
    /// The function whose body it is.
    function: Option<Rc<str>>,
}

impl Scope {
    fn new(end: ScopeEnd) -> Self {
        Self { names: HashMap::new(), end, function: None }
    }
}

/// The arguments of a call.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) values: Vec<SharedValue>,
    pub(crate) named: Vec<(String, SharedValue)>,
}

impl Arguments {
    pub(crate) fn at(&self, index: usize) -> SharedValue {
        self.values.get(index).cloned().unwrap_or_else(Value::unknown)
    }

    pub(crate) fn get(&self, index: usize, name: &str) -> Option<SharedValue> {
        self.values.get(index).or_else(|| self.named(name)).cloned()
    }

    pub(crate) fn named(&self, name: &str) -> Option<&SharedValue> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &SharedValue> {
        self.values.iter().chain(self.named.iter().map(|(_, value)| value))
    }
}

/// The state of a source text.
pub(crate) struct SourceRun<'r, 'a> {
    pub(crate) scanner: &'r mut Scanner<'a>,
    text: &'r str,
    tokens: &'r [Token],
    at: usize,
    end: usize,
    pub(crate) is_python: bool,
    scopes: Vec<Scope>,
    globals: HashMap<String, (SharedValue, u32)>,
    /// What is known about the functions of the text.
    pub(crate) functions: FunctionFacts,
    /// The name that the next function gets.
    pending_name: Option<Rc<str>>,
    pub(crate) place: &'r Place,
    depth: u32,
    indent: u32,
}

impl<'r> SourceRun<'r, '_> {
    fn run_all(&mut self) {
        while self.at < self.end {
            let before = self.at;
            self.statement();
            if self.at == before {
                self.at += 1;
            }
        }
    }

    pub(crate) fn word(&self, index: usize) -> &'r str {
        self.tokens
            .get(index)
            .filter(|_| index < self.end)
            .and_then(|token| self.text.get(token.span.range()))
            .unwrap_or("")
    }

    fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).filter(|_| index < self.end).map(|token| token.kind)
    }

    fn is_operator(&self, index: usize, wanted: &str) -> bool {
        self.kind(index) == Some(TokenKind::Operator) && self.word(index) == wanted
    }

    fn is_word(&self, index: usize, wanted: &str) -> bool {
        self.kind(index) == Some(TokenKind::Name) && self.word(index) == wanted
    }

    fn is_name(&self, index: usize) -> bool {
        self.kind(index) == Some(TokenKind::Name)
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let is_there = self.is_operator(self.at, wanted) || self.is_word(self.at, wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn mate(&self, index: usize) -> Option<usize> {
        self.tokens
            .get(index)
            .and_then(|token| token.mate)
            .map(|mate| mate as usize)
            .filter(|mate| *mate < self.end && *mate > index)
    }

    fn span_from(&self, start: usize) -> Span {
        let first = self.tokens.get(start).map_or(0, |token| token.span.start);
        let last = self.tokens.get(self.at.saturating_sub(1)).map_or(first, |token| token.span.end);
        Span::new(first, last.max(first))
    }

    // Names.

    pub(crate) fn lookup(&self, name: &str) -> Option<SharedValue> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.names.get(name));
        local.or_else(|| self.globals.get(name)).map(|(value, _)| Rc::clone(value))
    }

    fn assign(&mut self, name: &str, value: SharedValue) {
        let depth = self.indent;
        let is_shared = name.contains('.');
        let index = if is_shared { 0 } else { self.scopes.len() - 1 };
        let known = self.scopes[index].names.get(name);
        let merged = match known {
            Some((known, first)) if depth > *first || is_shared => (choice(&[Rc::clone(known), value]), *first),
            _ => (value, depth),
        };
        if self.scopes[index].names.len() < 20_000 {
            self.scopes[index].names.insert(name.to_owned(), merged);
        }
    }

    fn close_scopes(&mut self, columns: u32) {
        while self.scopes.len() > 1 {
            let is_over = match self.scopes.last().map(|scope| &scope.end) {
                Some(ScopeEnd::Indent(indent)) => columns <= *indent,
                Some(ScopeEnd::Token(index)) => self.at >= *index,
                _ => false,
            };
            if !is_over {
                break;
            }
            self.scopes.pop();
        }
    }

    fn push_scope(&mut self, end: ScopeEnd) {
        // Deeper functions share the scope of the one around them.
        if self.scopes.len() < 40 {
            self.scopes.push(Scope::new(end));
        }
    }
}

/// The name of a module as references write it.
pub(crate) fn module_name(module: &str) -> String {
    let module = module.trim_start_matches("node:").trim_end_matches(".js").trim_end_matches(".mjs");
    match module {
        "fs-extra" | "graceful-fs" => "fs".to_owned(),
        "node-fetch" | "cross-fetch" => "fetch".to_owned(),
        _ => module.replace('/', ".").replace(HOLE, "*"),
    }
}
