//! Expressions of Python and JavaScript: their values, and the calls in them.

use std::rc::Rc;

use rep_model::Span;

use super::{Arguments, DEPTH_MAX, Scope, ScopeEnd, SourceRun};
use crate::source_calls;
use crate::source_tokens::{TokenKind, literal_text, split_source};
use crate::value::{self, SharedValue, Value, choice, concat, merge_taints};

impl SourceRun<'_, '_> {
    /// Reads an expression and follows what it does.
    pub(crate) fn expression(&mut self) -> SharedValue {
        if self.depth >= DEPTH_MAX {
            self.scanner.skip_nested_code(self.place);
            let here = self.at;
            self.at = self.mate(here).map_or(here + 1, |mate| mate + 1);
            return Value::unknown();
        }
        self.depth += 1;
        let value = self.conditional();
        self.depth -= 1;
        value
    }

    pub(super) fn skip_lines(&mut self) {
        while !self.is_python && matches!(self.kind(self.at), Some(TokenKind::Line(_))) {
            self.at += 1;
        }
    }

    /// Goes over line starts to an operator that continues the expression.
    pub(super) fn peek_operator(&self) -> usize {
        let mut index = self.at;
        while !self.is_python && matches!(self.kind(index), Some(TokenKind::Line(_))) {
            index += 1;
        }
        index
    }

    pub(super) fn conditional(&mut self) -> SharedValue {
        self.skip_lines();
        let first = self.logic();
        if self.is_python
            && self.is_word(self.at, "if")
            && !matches!(self.kind(self.at.wrapping_sub(1)), Some(TokenKind::Line(_)))
        {
            self.at += 1;
            self.logic();
            if self.eat("else") {
                let other = self.expression();
                return choice(&[first, other]);
            }
            return first;
        }
        let next = self.peek_operator();
        if !self.is_python && self.is_operator(next, "?") {
            self.at = next + 1;
            let yes = self.expression();
            let colon = self.peek_operator();
            if self.is_operator(colon, ":") {
                self.at = colon + 1;
                let no = self.expression();
                return choice(&[yes, no]);
            }
            return yes;
        }
        first
    }

    pub(super) fn logic(&mut self) -> SharedValue {
        let mut left = self.sum();
        loop {
            let next = self.peek_operator();
            let word = self.word(next);
            let is_operator = match self.kind(next) {
                Some(TokenKind::Name) => {
                    matches!(word, "and" | "or" | "in" | "is" | "instanceof")
                        || word == "not" && self.is_word(next + 1, "in")
                }
                Some(TokenKind::Operator) => {
                    matches!(word, "&&" | "||" | "??" | "==" | "===" | "!=" | "!==" | "<" | ">" | "<=" | ">=")
                }
                _ => false,
            };
            if !is_operator {
                return left;
            }
            self.at = next + 1;
            while self.is_word(self.at, "not") || self.is_word(self.at, "in") {
                self.at += 1;
            }
            self.skip_lines();
            let start = self.at;
            let right = self.sum();
            left = match word {
                "or" | "||" | "??" => choice(&[left, right]),
                "and" | "&&" => right,
                "in" | "not" if source_calls::is_environment(&right) => {
                    if let Some(name) = left.constant() {
                        let span = self.span_from(start);
                        self.scanner.variable(name, self.place, span);
                    }
                    Value::unknown()
                }
                _ => Value::unknown(),
            };
        }
    }

    pub(super) fn sum(&mut self) -> SharedValue {
        let mut left = self.unary();
        let mut parts: Vec<SharedValue> = Vec::new();
        loop {
            let next = self.peek_operator();
            if self.kind(next) != Some(TokenKind::Operator) {
                break;
            }
            let word = self.word(next);
            // A line that starts with `-` or `*` is an item of a comment or a generator, not a difference.
            if !matches!(word, "+" | "-" | "*" | "/" | "%" | "//" | "**" | "|" | "&" | "^" | "@")
                || self.is_python && word == "@" && next != self.at
            {
                break;
            }
            self.at = next + 1;
            self.skip_lines();
            let right = self.unary();
            if word == "+" {
                if parts.is_empty() {
                    parts.push(left);
                }
                parts.push(right);
                left = Value::unknown();
                continue;
            }
            if !parts.is_empty() {
                left = self.add(&std::mem::take(&mut parts));
            }
            left = match word {
                "/" if self.is_python => source_calls::join_paths(self, &[left, right]),
                "%" if self.is_python => source_calls::format_percent(self, &left, &right),
                _ => Value::unknown().with_taints(&merge_taints([&left, &right])),
            };
        }
        if parts.is_empty() { left } else { self.add(&parts) }
    }

    pub(super) fn add(&mut self, parts: &[SharedValue]) -> SharedValue {
        if parts.iter().all(|part| !part.items.is_empty()) {
            let items: Vec<SharedValue> =
                parts.iter().flat_map(|part| part.items.iter().cloned()).take(value::ITEMS_MAX).collect();
            return Value::list(items);
        }
        if let Some(first) = parts.first().filter(|first| !first.items.is_empty()) {
            // A list and something unknown: the program of a command is still the first item.
            let mut items = first.items.clone();
            items.extend(parts[1..].iter().cloned());
            return Value::list(items);
        }
        concat(parts, &mut self.scanner.budget)
    }

    pub(super) fn unary(&mut self) -> SharedValue {
        for _ in 0..64 {
            let is_prefix = match self.kind(self.at) {
                Some(TokenKind::Operator) => {
                    matches!(self.word(self.at), "-" | "+" | "~" | "!" | "..." | "*" | "**" | "++" | "--")
                }
                Some(TokenKind::Name) => {
                    matches!(
                        self.word(self.at),
                        "not" | "await" | "typeof" | "new" | "void" | "delete" | "yield" | "throw" | "keyof"
                    ) && !self.is_operator(self.at + 1, ".")
                        && !self.is_operator(self.at + 1, "=")
                }
                _ => false,
            };
            if !is_prefix {
                break;
            }
            let is_spread = matches!(self.word(self.at), "..." | "**");
            self.at += 1;
            if is_spread {
                let start = self.at;
                let value = self.postfix();
                if source_calls::is_environment(&value) {
                    let span = self.span_from(start);
                    return source_calls::whole_environment(self, span);
                }
                return value;
            }
        }
        self.postfix()
    }

    pub(super) fn postfix(&mut self) -> SharedValue {
        let start = self.at;
        let (mut current, mut path) = self.primary();
        let mut receiver: Option<(SharedValue, String)> = None;
        for _ in 0..400 {
            let next = self.peek_operator();
            if self.kind(next) == Some(TokenKind::Template) && next == self.at && !self.is_python {
                // A tagged template, as of `zx` and Bun.
                let text = self.template(next);
                self.at += 1;
                current = source_calls::tagged_template(self, &current, &text, self.span_from(start));
                continue;
            }
            if self.kind(next) != Some(TokenKind::Operator) {
                if !self.is_python && matches!(self.word(self.at), "as" | "satisfies") {
                    self.skip_cast();
                    continue;
                }
                break;
            }
            match self.word(next) {
                "." | "?." if self.is_name(next + 1) || self.word(next) == "?." => {
                    self.at = next + 1;
                    if !self.is_name(self.at) {
                        continue;
                    }
                    let name = self.word(self.at);
                    self.at += 1;
                    path = path.map(|path| format!("{path}.{name}")).filter(|path| path.len() < 200);
                    let stored = path.as_deref().and_then(|path| self.lookup(path));
                    let span = self.span_from(start);
                    receiver = Some((Rc::clone(&current), name.to_owned()));
                    current = stored.unwrap_or_else(|| source_calls::member(self, &current, name, span));
                }
                "[" if next == self.at => {
                    let Some((element, name)) = self.index(next, &current, start) else { break };
                    receiver = name.map(|name| (current, name));
                    current = element;
                    path = None;
                }
                "(" if next == self.at => {
                    let called = self.called_function(&current, path.as_deref(), receiver.as_ref());
                    let imported = self.imported_function(&current);
                    let arguments = self.arguments(next);
                    if let Some((file, name)) = imported {
                        current = self.call_imported(&file, &name, &arguments);
                        (receiver, path) = (None, None);
                        continue;
                    }
                    let span = self.span_from(start);
                    let result = called.as_deref().and_then(|name| self.call_function(name, &arguments));
                    // A function of the text hides one of a library with the same name.
                    let is_own = called.as_deref().is_some_and(|name| self.functions.is_defined(name));
                    let callee = if is_own { Value::unknown() } else { current };
                    current = source_calls::call(self, &callee, receiver.take(), &arguments, span);
                    if let Some(result) = result {
                        current = current.with_taints(&result.taints).with_assumed_parts(&result);
                    }
                    path = None;
                }
                "<" if next == self.at && !self.is_python && self.skip_type_arguments() => {}
                "!" if next == self.at && !self.is_python && !self.is_operator(next + 1, "=") => self.at += 1,
                "++" | "--" if next == self.at => self.at += 1,
                "=" | ":=" | "+=" | "||=" | "??=" if next == self.at && (path.is_some() || receiver.is_some()) => {
                    return self.assignment(next, &current, path.as_deref(), receiver.as_ref(), start);
                }
                _ => break,
            }
        }
        current
    }

    /// `current[…]`: the element, and its name if it is constant.
    fn index(&mut self, open: usize, current: &SharedValue, start: usize) -> Option<(SharedValue, Option<String>)> {
        let close = self.mate(open)?;
        self.at = open + 1;
        let index = if self.is_operator(self.at, ":") { Value::unknown() } else { self.expression() };
        // `[::-1]` is the text backwards.
        let is_reversed = self.word(close - 1) == "1"
            && self.word(close.saturating_sub(2)) == "-"
            && self.word(close.saturating_sub(3)) == ":";
        self.at = close + 1;
        let span = self.span_from(start);
        let element = if is_reversed {
            source_calls::reversed(self, current, span)
        } else {
            source_calls::element(self, current, &index, span)
        };
        Some((element, index.constant().map(str::to_owned)))
    }

    fn assignment(
        &mut self,
        operator: usize,
        current: &SharedValue,
        path: Option<&str>,
        receiver: Option<&(SharedValue, String)>,
        start: usize,
    ) -> SharedValue {
        self.at = operator + 1;
        self.name_function(path.and_then(|path| path.rsplit('.').next()).unwrap_or(""));
        let value = self.expression();
        self.pending_name = None;
        let is_sum = self.word(operator) == "+=";
        let value = if is_sum { self.add(&[Rc::clone(current), value]) } else { value };
        source_calls::assigned(self, receiver, &value, self.span_from(start));
        if let Some(path) = path {
            self.assign(path, Rc::clone(&value));
        }
        value
    }

    pub(super) fn skip_cast(&mut self) {
        self.at += 1;
        let stop = (self.at + 60).min(self.end);
        while self.at < stop {
            let is_type = match self.kind(self.at) {
                Some(TokenKind::Name) => !matches!(self.word(self.at), "if" | "else" | "return" | "const" | "let"),
                Some(TokenKind::Text { .. }) => true,
                Some(TokenKind::Operator) => {
                    matches!(self.word(self.at), "." | "<" | ">" | "|" | "&" | "[" | "]" | "{")
                }
                _ => false,
            };
            if !is_type {
                break;
            }
            self.at = if self.is_operator(self.at, "{") || self.is_operator(self.at, "[") {
                self.mate(self.at).unwrap_or(self.at) + 1
            } else {
                self.at + 1
            };
        }
    }

    /// Skips `<type>` before a call.
    pub(super) fn skip_type_arguments(&mut self) -> bool {
        if !self.is_operator(self.at, "<") {
            return false;
        }
        let stop = (self.at + 40).min(self.end);
        let mut depth = 0_i32;
        for index in self.at..stop {
            match (self.kind(index), self.word(index)) {
                (Some(TokenKind::Operator), "<") => depth += 1,
                (Some(TokenKind::Operator), ">") => depth -= 1,
                (Some(TokenKind::Operator), "." | "," | "[" | "]" | "|" | "&" | "{" | "}" | ":" | "?")
                | (Some(TokenKind::Name | TokenKind::Text { .. }), _) => {}
                _ => return false,
            }
            if depth == 0 {
                let is_call = self.is_operator(index + 1, "(");
                if is_call {
                    self.at = index + 1;
                }
                return is_call;
            }
        }
        false
    }

    pub(super) fn primary(&mut self) -> (SharedValue, Option<String>) {
        match self.kind(self.at) {
            Some(TokenKind::Text { .. } | TokenKind::Template) => (self.texts(), None),
            Some(TokenKind::Number) => {
                self.at += 1;
                (Value::text(self.word(self.at - 1)), None)
            }
            Some(TokenKind::Name) => self.name_expression(),
            Some(TokenKind::Operator) => (self.bracket_expression(), None),
            Some(TokenKind::Pattern) => {
                self.at += 1;
                (Value::unknown(), None)
            }
            Some(TokenKind::Line(_)) | None => (Value::unknown(), None),
        }
    }

    /// A literal, with those that follow it in Python.
    pub(super) fn texts(&mut self) -> SharedValue {
        let mut parts = Vec::new();
        loop {
            match self.kind(self.at) {
                Some(TokenKind::Text { is_raw }) => {
                    let text = literal_text(self.word(self.at), is_raw);
                    if !self.scanner.is_rehearsal && text.len() < 2048 && text.contains("://") {
                        let span = self.tokens.get(self.at).map_or(Span::default(), |token| token.span);
                        self.scanner.judge_named_url(&text, self.place, span);
                    }
                    parts.push(Value::text(&text));
                }
                Some(TokenKind::Template) => parts.push(self.template(self.at)),
                _ => break,
            }
            self.at += 1;
            if !self.is_python {
                break;
            }
        }
        concat(&parts, &mut self.scanner.budget)
    }

    /// A text with expressions in braces.
    pub(super) fn template(&mut self, index: usize) -> SharedValue {
        let Some(token) = self.tokens.get(index) else { return Value::unknown() };
        let inside = &self.text[token.span.range()];
        let opening = if self.is_python { "{" } else { "${" };
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(found) = inside[at..].find(opening) {
            let open = at + found;
            if self.is_python && inside[open..].starts_with("{{") {
                parts.push(Value::text(&inside[at..=open]));
                at = open + 2;
                continue;
            }
            if open > at {
                parts.push(Value::text(&literal_text(&inside[at..open], false)));
            }
            let start = open + opening.len();
            let close = closing_brace(inside, start);
            parts.push(self.inner_expression(token.span.start + start, &inside[start..close]));
            at = (close + 1).min(inside.len());
            if parts.len() > 400 {
                break;
            }
        }
        parts.push(Value::text(&literal_text(&inside[at..], false)));
        concat(&parts, &mut self.scanner.budget)
    }

    /// An expression inside of a text.
    pub(super) fn inner_expression(&mut self, offset: usize, inside: &str) -> SharedValue {
        if self.depth >= DEPTH_MAX || self.place.nesting > 5 {
            return Value::unknown();
        }
        let code = if self.is_python {
            inside
                .split(['!', ':'])
                .next()
                .filter(|_| !inside.contains("::") && !inside.contains(['\'', '"', '[']))
                .unwrap_or(inside)
        } else {
            inside
        };
        let tokens = split_source(code, self.is_python);
        let place = self.place.at_offset(offset);
        let mut inner = SourceRun {
            scanner: &mut *self.scanner,
            text: code,
            end: tokens.len(),
            tokens: &tokens,
            at: 0,
            is_python: self.is_python,
            scopes: std::mem::take(&mut self.scopes),
            globals: std::mem::take(&mut self.globals),
            functions: std::mem::take(&mut self.functions),
            pending_name: None,
            place: &place,
            depth: self.depth + 1,
            indent: self.indent,
        };
        if matches!(inner.kind(0), Some(TokenKind::Line(_))) {
            inner.at = 1;
        }
        let value = inner.expression();
        let (scopes, globals) = (std::mem::take(&mut inner.scopes), std::mem::take(&mut inner.globals));
        let functions = std::mem::take(&mut inner.functions);
        self.scopes = scopes;
        self.globals = globals;
        self.functions = functions;
        value
    }

    pub(super) fn name_expression(&mut self) -> (SharedValue, Option<String>) {
        let name = self.word(self.at);
        match name {
            "lambda" if self.is_python => {
                while self.at < self.end
                    && !self.is_operator(self.at, ":")
                    && !matches!(self.kind(self.at), Some(TokenKind::Line(_)))
                {
                    self.at += 1;
                }
                self.eat(":");
                return (self.expression(), None);
            }
            "async"
                if self.is_word(self.at + 1, "function")
                    || self.is_operator(self.at + 1, "(")
                    || self.is_name(self.at + 1) && !self.is_python =>
            {
                self.at += 1;
                return self.primary();
            }
            "function" if !self.is_python => {
                self.at += 1;
                self.script_function();
                return (self.skip_function_body(), None);
            }
            "class" if !self.is_python => {
                self.at += 1;
                return (Value::unknown(), None);
            }
            "import" if self.is_operator(self.at + 1, ".") => {
                self.at += 1;
                return (Value::reference("import"), None);
            }
            _ => {}
        }
        self.at += 1;
        if !self.is_python && self.is_operator(self.at, "=>") {
            let function = self.pending_name.take();
            let last = self.scopes.len() - 1;
            let outer = self.scopes[last].function.clone();
            self.enter_function(function.as_ref());
            let parameter = if function.is_some() { self.parameter_value(0, name) } else { Value::unknown() };
            let known = self.scopes[last].names.insert(name.to_owned(), (parameter, self.indent));
            self.at += 1;
            let value = self.arrow_body();
            if function.is_some() {
                self.returned(&value);
                if let Some(scope) = self.scopes.get_mut(last) {
                    scope.function = outer;
                }
            }
            if let Some(known) = known {
                let last = last.min(self.scopes.len() - 1);
                self.scopes[last].names.insert(name.to_owned(), known);
            }
            return (value, None);
        }
        let value = self.lookup(name).unwrap_or_else(|| source_calls::global(self, name));
        (value, Some(name.to_owned()))
    }

    /// Reads the statements of a function that is a value, so that the expression goes on behind it.
    pub(super) fn skip_function_body(&mut self) -> SharedValue {
        if !self.is_operator(self.at, "{") {
            return Value::unknown();
        }
        let Some(close) = self.mate(self.at) else { return Value::unknown() };
        self.run_block(close);
        Value::unknown()
    }

    pub(super) fn run_block(&mut self, close: usize) {
        if self.depth >= DEPTH_MAX {
            self.at = close + 1;
            return;
        }
        self.depth += 1;
        let saved = std::mem::replace(&mut self.end, close);
        let indent = self.indent;
        self.indent = self.indent.saturating_add(1);
        let scopes = self.scopes.len();
        self.at += 1;
        while self.at < self.end {
            let before = self.at;
            self.statement();
            if self.at == before {
                self.at += 1;
            }
        }
        self.scopes.truncate(scopes.max(1));
        self.indent = indent;
        self.end = saved;
        self.at = close + 1;
        self.close_scopes(u32::MAX);
        self.depth -= 1;
    }

    pub(super) fn arrow_body(&mut self) -> SharedValue {
        self.skip_lines();
        if self.is_operator(self.at, "{") { self.skip_function_body() } else { self.expression() }
    }

    pub(super) fn bracket_expression(&mut self) -> SharedValue {
        let open = self.at;
        let word = self.word(open);
        if !matches!(word, "(" | "[" | "{") {
            // `<` of JSX, a closing bracket, or anything else.
            if !matches!(word, ")" | "]" | "}" | ";" | "," | ":") {
                self.at += 1;
            }
            return Value::unknown();
        }
        let Some(close) = self.mate(open) else {
            self.at += 1;
            return Value::unknown();
        };
        if word == "("
            && !self.is_python
            && (self.is_operator(close + 1, "=>")
                || self.is_operator(close + 1, ":") && self.find_arrow(close + 1).is_some())
        {
            return self.arrow_function(close);
        }
        if word == "{" {
            return self.mapping(close);
        }
        self.at += 1;
        let items = self.items_until(close);
        self.at = close + 1;
        match items.as_slice() {
            [one] if word == "(" => Rc::clone(one),
            _ => Value::list(items),
        }
    }

    pub(super) fn find_arrow(&self, from: usize) -> Option<usize> {
        (from..(from + 30).min(self.end))
            .take_while(|index| !self.is_operator(*index, ";") && !self.is_operator(*index, ","))
            .find(|index| self.is_operator(*index, "=>"))
    }

    pub(super) fn arrow_function(&mut self, close: usize) -> SharedValue {
        let function = self.pending_name.take();
        let arrow = self.find_arrow(close + 1).unwrap_or(close + 1);
        let body = arrow + 1;
        let end = if self.is_operator(body, "{") { self.mate(body).unwrap_or(body) } else { body };
        let scopes = self.scopes.len();
        self.push_scope(ScopeEnd::Token(end.max(body + 1)));
        if self.scopes.len() > scopes {
            self.enter_function(function.as_ref());
        }
        self.at += 1;
        self.parameters(close);
        self.at = body;
        if let Some(Scope { end, .. }) = self.scopes.last_mut().filter(|_| scopes > 0) {
            *end = ScopeEnd::Never;
        }
        let value = self.arrow_body();
        if function.is_some() && self.scopes.len() > scopes {
            self.returned(&value);
        }
        self.scopes.truncate(scopes.max(1));
        value
    }

    pub(super) fn items_until(&mut self, close: usize) -> Vec<SharedValue> {
        let saved = std::mem::replace(&mut self.end, close);
        let mut items = Vec::new();
        while self.at < close {
            let before = self.at;
            if matches!(self.kind(self.at), Some(TokenKind::Line(_))) || self.is_operator(self.at, ",") {
                self.at += 1;
                continue;
            }
            let item = self.expression();
            if self.is_python && (self.is_word(self.at, "for") || self.is_word(self.at, "async")) {
                self.comprehension(close);
            }
            if items.len() < value::ITEMS_MAX {
                items.push(item);
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.end = saved;
        items
    }

    pub(super) fn comprehension(&mut self, close: usize) {
        while self.at < close {
            let is_clause = self.is_word(self.at, "for")
                || self.is_word(self.at, "in")
                || self.is_word(self.at, "if")
                || self.is_word(self.at, "async");
            if is_clause && !self.is_word(self.at, "for") {
                self.at += 1;
                self.logic();
            } else {
                self.at += 1;
            }
        }
    }

    /// A mapping, a set or a block.
    pub(super) fn mapping(&mut self, close: usize) -> SharedValue {
        self.at += 1;
        let saved = std::mem::replace(&mut self.end, close);
        let (mut items, mut keys): (Vec<SharedValue>, Vec<Rc<str>>) = (Vec::new(), Vec::new());
        while self.at < close {
            let before = self.at;
            if matches!(self.kind(self.at), Some(TokenKind::Line(_))) || self.is_operator(self.at, ",") {
                self.at += 1;
                continue;
            }
            let written = self.word(self.at);
            let is_plain = !self.is_python && self.is_name(self.at);
            if is_plain
                && self.is_operator(self.at + 1, "(")
                && self.mate(self.at + 1).is_some_and(|mate| self.is_operator(mate + 1, "{"))
            {
                let inner = self.mate(self.at + 1).unwrap_or(close);
                self.at += 2;
                let scopes = self.scopes.len();
                self.pending_name = Some(Rc::from(written));
                self.function_body(inner);
                self.skip_function_body();
                self.scopes.truncate(scopes.max(1));
                continue;
            }
            let key = if is_plain && self.is_operator(self.at + 1, ":") {
                self.at += 1;
                Value::text(written)
            } else {
                self.expression()
            };
            let value = if self.eat(":") {
                self.name_function(if is_plain { written } else { "" });
                let value = self.expression();
                self.pending_name = None;
                value
            } else {
                Rc::clone(&key)
            };
            if self.is_python && self.is_word(self.at, "for") {
                self.comprehension(close);
            }
            if items.len() < value::ITEMS_MAX {
                keys.push(Rc::from(if is_plain { written } else { key.constant().unwrap_or("") }));
                items.push(value);
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.end = saved;
        self.at = close + 1;
        Value::mapping(keys, items)
    }

    pub(super) fn arguments(&mut self, open: usize) -> Arguments {
        let mut arguments = Arguments::default();
        let Some(close) = self.mate(open) else {
            self.at = open + 1;
            return arguments;
        };
        let saved = std::mem::replace(&mut self.end, close);
        self.at = open + 1;
        while self.at < close {
            let before = self.at;
            if matches!(self.kind(self.at), Some(TokenKind::Line(_))) || self.is_operator(self.at, ",") {
                self.at += 1;
                continue;
            }
            if self.is_python && self.is_name(self.at) && self.is_operator(self.at + 1, "=") {
                let name = self.word(self.at).to_owned();
                self.at += 2;
                let value = self.expression();
                arguments.named.push((name, value));
            } else {
                let value = self.expression();
                if self.is_python && (self.is_word(self.at, "for") || self.is_word(self.at, "async")) {
                    self.comprehension(close);
                }
                if arguments.values.len() < value::ITEMS_MAX {
                    arguments.values.push(value);
                }
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.end = saved;
        self.at = close + 1;
        arguments
    }
}

/// The brace that closes an expression in a text.
fn closing_brace(inside: &str, start: usize) -> usize {
    let bytes = inside.as_bytes();
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
