//! Statements of Python and JavaScript: what they declare, and which scopes they open.

use std::rc::Rc;

use rep_model::Span;

use super::modules::{module_reference, split_reference};
use super::{ScopeEnd, SourceRun, module_name};
use crate::source_calls;
use crate::source_tokens::TokenKind;
use crate::value::{self, SharedValue, Value, choice};

impl<'r> SourceRun<'r, '_> {
    pub(super) fn statement(&mut self) {
        if let Some(TokenKind::Line(columns)) = self.kind(self.at) {
            if self.is_python {
                self.indent = columns;
            }
            self.close_scopes(if self.is_python { columns } else { u32::MAX });
            self.at += 1;
            return;
        }
        if !self.is_python {
            self.close_scopes(u32::MAX);
            if self.is_operator(self.at, "{") || self.is_operator(self.at, "}") {
                self.indent = if self.word(self.at) == "{" {
                    self.indent.saturating_add(1)
                } else {
                    self.indent.saturating_sub(1)
                };
                self.at += 1;
                return;
            }
        }
        if self.is_name(self.at) && self.keyword_statement() {
            return;
        }
        self.expression_statement();
    }

    /// `export default …`: a function or a name.
    fn default_export(&mut self) {
        self.at += 1;
        let mut index = self.at + usize::from(self.is_word(self.at, "async"));
        index += usize::from(self.is_word(index, "function") || self.is_word(index, "class"));
        if self.is_name(index) {
            self.assign("module.exports", Value::reference(self.word(index)));
        }
    }

    fn return_statement(&mut self) {
        self.at += 1;
        let is_empty = self.at >= self.end
            || matches!(self.kind(self.at), Some(TokenKind::Line(_)))
            || self.is_operator(self.at, ";")
            || self.is_operator(self.at, "}");
        if !is_empty {
            let before = self.at;
            let value = self.expression_list();
            self.at = self.at.max(before + 1);
            self.returned(&value);
        }
    }

    pub(super) fn keyword_statement(&mut self) -> bool {
        let word = self.word(self.at);
        // A keyword that names a property or a parameter does not count as one.
        if self.is_operator(self.at + 1, "=")
            || self.is_operator(self.at + 1, ".") && word != "import" && !(word == "from" && self.is_python)
            || self.is_operator(self.at + 1, ":") && !matches!(word, "else" | "try" | "finally")
        {
            return false;
        }
        match word {
            "import" if self.is_python => self.python_import(),
            "from" if self.is_python => self.python_from(),
            "import" if !self.is_operator(self.at + 1, "(") && !self.is_operator(self.at + 1, ".") => {
                self.script_import();
            }
            "def" => self.python_function(),
            "class" | "interface" | "enum" | "type" | "namespace" if self.is_name(self.at + 1) => self.class_head(),
            "const" | "let" | "var" if !self.is_python => self.script_declaration(),
            "function" => {
                self.at += 1;
                self.script_function();
            }
            "for" => self.for_head(),
            "with" if self.is_python => {
                self.at += 1;
                self.with_items();
            }
            "except" | "catch" => self.catch_head(),
            "return" => self.return_statement(),
            "default" if !self.is_python => self.default_export(),
            "async" | "export" | "await" | "if" | "elif" | "while" | "raise" | "throw" | "assert" | "else" | "try"
            | "finally" | "do" | "yield" | "del" | "public" | "private" | "protected" | "static" | "readonly"
            | "declare" | "abstract" | "override" | "not" => self.at += 1,
            "pass" | "break" | "continue" | "global" | "nonlocal" => {
                while self.at < self.end
                    && !matches!(self.kind(self.at), Some(TokenKind::Line(_)))
                    && !self.is_operator(self.at, ";")
                    && !self.is_operator(self.at, "}")
                {
                    self.at += 1;
                }
            }
            _ => return self.method_head(),
        }
        true
    }

    /// `name(parameters) {` in a class.
    pub(super) fn method_head(&mut self) -> bool {
        if self.is_python
            || !self.is_operator(self.at + 1, "(")
            || matches!(self.word(self.at), "switch" | "if" | "while" | "for" | "with")
        {
            return false;
        }
        let Some(close) = self.mate(self.at + 1) else { return false };
        if !self.is_operator(close + 1, "{") && !self.is_type_before_body(close + 1) {
            return false;
        }
        self.pending_name = Some(Rc::from(self.word(self.at)));
        self.at += 1;
        self.function_body(close);
        self.pending_name = None;
        true
    }

    pub(super) fn is_type_before_body(&self, index: usize) -> bool {
        self.is_operator(index, ":") && self.find_body(index).is_some()
    }

    /// The brace of a body after a return type.
    pub(super) fn find_body(&self, from: usize) -> Option<usize> {
        let mut index = from;
        while index < (from + 40).min(self.end) {
            if self.is_operator(index, "{") {
                let is_type = self.is_operator(index.wrapping_sub(1), ":")
                    || self.is_operator(index.wrapping_sub(1), "|")
                    || self.is_operator(index.wrapping_sub(1), "<");
                if !is_type {
                    return Some(index);
                }
                index = self.mate(index)?;
            }
            if self.is_operator(index, ";") || self.is_operator(index, "=") {
                return None;
            }
            index += 1;
        }
        None
    }

    /// Declares the parameters between `self.at` and `close`, and enters the body.
    pub(super) fn function_body(&mut self, close: usize) {
        let body = if self.is_operator(close + 1, "{") { Some(close + 1) } else { self.find_body(close + 1) };
        let end = body.and_then(|body| self.mate(body)).unwrap_or(close);
        let function = self.pending_name.take();
        let scopes = self.scopes.len();
        self.push_scope(ScopeEnd::Token(end));
        if self.scopes.len() > scopes {
            self.enter_function(function.as_ref());
        }
        self.parameters(close);
        self.at = body.map_or(close + 1, |body| body);
    }

    /// Gives every parameter what calls are known to pass. Defaults are evaluated for what they do.
    pub(super) fn parameters(&mut self, close: usize) {
        let mut is_name_next = true;
        let mut index = 0;
        while self.at < close {
            if self.is_name(self.at) && is_name_next {
                let name = self.word(self.at);
                let depth = self.indent;
                let last = self.scopes.len() - 1;
                // The object of a method is not passed in brackets.
                let is_object = self.is_python && index == 0 && matches!(name, "self" | "cls");
                let value = if is_object { Value::unknown() } else { self.parameter_value(index, name) };
                index += usize::from(!is_object);
                self.scopes[last].names.insert(name.to_owned(), (value, depth));
                is_name_next = false;
                self.at += 1;
            } else if self.is_operator(self.at, "=") {
                self.at += 1;
                let before = self.at;
                self.expression();
                self.at = self.at.max(before).min(close);
            } else {
                is_name_next |= self.is_operator(self.at, ",")
                    || self.is_operator(self.at, "{")
                    || self.is_operator(self.at, "(")
                    || self.is_operator(self.at, "[");
                self.at += 1;
            }
        }
        self.at = close + 1;
    }

    pub(super) fn python_import(&mut self) {
        self.at += 1;
        while self.is_name(self.at) {
            let (path, first) = self.dotted_name();
            let module = self.imported_module(&path, &path);
            if self.eat("as") {
                let alias = self.word(self.at);
                self.assign(alias, module);
                self.at += 1;
            } else if path == first {
                self.assign(&first, module);
            } else {
                self.assign(&first, Value::reference(&first));
                if split_reference(module.name.as_deref().unwrap_or("")).is_some() {
                    self.assign(&path, module);
                }
            }
            if !self.eat(",") {
                break;
            }
        }
    }

    pub(super) fn dotted_name(&mut self) -> (String, String) {
        let mut path = String::new();
        while self.is_operator(self.at, ".") || self.is_operator(self.at, "...") {
            path.push_str(self.word(self.at));
            self.at += 1;
        }
        let first = self.word(self.at).to_owned();
        while self.is_name(self.at) && !self.is_word(self.at, "import") {
            path.push_str(self.word(self.at));
            self.at += 1;
            if !self.is_operator(self.at, ".") {
                break;
            }
            path.push('.');
            self.at += 1;
        }
        (path, first)
    }

    pub(super) fn python_from(&mut self) {
        self.at += 1;
        let (module, _) = self.dotted_name();
        if !self.eat("import") {
            return;
        }
        let own = self.scanner.find_module(&self.place.file, &module, true);
        if let Some(file) = own.as_deref().filter(|_| self.is_operator(self.at, "*")) {
            self.import_all(file);
        }
        let has_bracket = self.eat("(");
        while self.at < self.end {
            if has_bracket && matches!(self.kind(self.at), Some(TokenKind::Line(_))) {
                self.at += 1;
                continue;
            }
            if !self.is_name(self.at) {
                break;
            }
            let name = self.word(self.at);
            self.at += 1;
            let alias = if self.eat("as") {
                self.at += 1;
                self.word(self.at - 1)
            } else {
                name
            };
            let dot = if module.ends_with('.') { "" } else { "." };
            let path = format!("{module}{dot}{name}");
            let value = match own.as_deref().map(module_reference) {
                Some(known) => source_calls::member(self, &known, name, Span::default()),
                None => self.imported_module(&path, &format!("{module}.{name}")),
            };
            self.assign(alias, value);
            if !self.eat(",") {
                break;
            }
        }
        self.eat(")");
    }

    pub(super) fn script_import(&mut self) {
        let start = self.at;
        // The module is the text after `from`, or the text itself.
        let stop = (self.at + 400).min(self.end);
        let from = (self.at..stop)
            .find(|index| matches!(self.kind(*index), Some(TokenKind::Text { .. })) || self.is_operator(*index, ";"));
        let Some(from) = from.filter(|from| matches!(self.kind(*from), Some(TokenKind::Text { .. }))) else {
            self.at += 1;
            return;
        };
        let written = self.word(from);
        let module = self.imported_module(written, &module_name(written));
        let mut index = start + 1;
        while index < from {
            if self.is_operator(index, "*") && self.is_word(index + 1, "as") {
                let name = self.word(index + 2);
                self.assign(name, Rc::clone(&module));
                index += 3;
            } else if self.is_operator(index, "{") {
                let close = self.mate(index).unwrap_or(from).min(from);
                self.bind_members(index + 1, close, &module, "as");
                index = close + 1;
            } else {
                if self.is_name(index) && !matches!(self.word(index), "type" | "from") {
                    self.assign(self.word(index), Rc::clone(&module));
                }
                index += 1;
            }
        }
        self.at = from + 1;
    }

    /// Binds `{a, b as c}` or `{a, b: c}`.
    pub(super) fn bind_members(&mut self, from: usize, close: usize, value: &SharedValue, renamer: &str) {
        let mut index = from;
        while index < close {
            if !self.is_name(index) || self.is_word(index, "type") && self.is_name(index + 1) {
                index += 1;
                continue;
            }
            let member = self.word(index);
            let is_renamed = self.is_word(index + 1, renamer) || self.is_operator(index + 1, renamer);
            let alias = if is_renamed && self.is_name(index + 2) { self.word(index + 2) } else { member };
            let bound = source_calls::member(self, value, member, self.tokens[index].span);
            self.assign(alias, bound);
            index += if is_renamed { 3 } else { 1 };
            while index < close && !self.is_operator(index, ",") {
                index = if self.is_operator(index, "{") || self.is_operator(index, "(") || self.is_operator(index, "[")
                {
                    self.mate(index).unwrap_or(index) + 1
                } else {
                    index + 1
                };
            }
        }
    }

    pub(super) fn python_function(&mut self) {
        let name: Rc<str> = Rc::from(self.word(self.at + 1));
        self.at += 2;
        let Some(open) = (self.at..(self.at + 40).min(self.end)).find(|index| self.is_operator(*index, "(")) else {
            return;
        };
        let Some(close) = self.mate(open) else { return };
        let scopes = self.scopes.len();
        self.push_scope(ScopeEnd::Indent(self.indent));
        if self.scopes.len() > scopes {
            self.enter_function(Some(&name));
        }
        self.at = open + 1;
        self.parameters(close);
        // The return type, up to the colon.
        while self.at < self.end
            && !self.is_operator(self.at, ":")
            && !matches!(self.kind(self.at), Some(TokenKind::Line(_)))
        {
            self.at =
                if self.is_operator(self.at, "[") { self.mate(self.at).unwrap_or(self.at) + 1 } else { self.at + 1 };
        }
        self.eat(":");
    }

    pub(super) fn script_function(&mut self) {
        self.eat("*");
        if self.is_name(self.at) {
            self.pending_name = Some(Rc::from(self.word(self.at)));
            self.at += 1;
        }
        self.skip_type_arguments();
        if let Some(close) = self.is_operator(self.at, "(").then(|| self.mate(self.at)).flatten() {
            self.at += 1;
            self.function_body(close);
        }
        self.pending_name = None;
    }

    pub(super) fn class_head(&mut self) {
        let is_type = matches!(self.word(self.at), "type" | "interface");
        if is_type && !self.is_python {
            // A type does nothing.
            let body = (self.at..(self.at + 60).min(self.end))
                .find(|index| self.is_operator(*index, "{") || self.is_operator(*index, ";"));
            self.at = match body {
                Some(body) if self.is_operator(body, "{") => self.mate(body).map_or(body + 1, |close| close + 1),
                Some(body) => body + 1,
                None => self.at + 2,
            };
            return;
        }
        self.at += 2;
    }

    pub(super) fn script_declaration(&mut self) {
        self.at += 1;
        loop {
            if self.is_operator(self.at, "{") || self.is_operator(self.at, "[") {
                let is_object = self.is_operator(self.at, "{");
                let open = self.at;
                let Some(close) = self.mate(open) else { return };
                self.at = close + 1;
                self.skip_annotation();
                let value = if self.eat("=") { self.expression() } else { Value::unknown() };
                let value = if is_object { value } else { value.derived() };
                let after = self.at;
                self.bind_members(open + 1, close, &value, ":");
                self.at = after;
            } else if self.is_name(self.at) {
                let name = self.word(self.at);
                self.at += 1;
                self.skip_annotation();
                let value = if self.eat("=") {
                    self.name_function(name);
                    let value = self.expression();
                    self.pending_name = None;
                    value
                } else {
                    Value::unknown()
                };
                self.assign(name, value);
            } else {
                return;
            }
            if !self.eat(",") {
                return;
            }
            while matches!(self.kind(self.at), Some(TokenKind::Line(_))) {
                self.at += 1;
            }
        }
    }

    /// Skips `: type`.
    pub(super) fn skip_annotation(&mut self) {
        if !self.is_operator(self.at, ":") && !self.is_operator(self.at, "!") {
            return;
        }
        let stop = (self.at + 200).min(self.end);
        while self.at < stop
            && !self.is_operator(self.at, "=")
            && !self.is_operator(self.at, ";")
            && !self.is_operator(self.at, ",")
            && !matches!(self.kind(self.at), Some(TokenKind::Line(_)))
        {
            let is_open =
                matches!(self.word(self.at), "{" | "(" | "[") && self.kind(self.at) == Some(TokenKind::Operator);
            self.at = if is_open { self.mate(self.at).unwrap_or(self.at) + 1 } else { self.at + 1 };
        }
    }

    pub(super) fn for_head(&mut self) {
        self.at += 1;
        self.eat("await");
        let has_bracket = self.eat("(");
        if self.is_word(self.at, "const") || self.is_word(self.at, "let") || self.is_word(self.at, "var") {
            self.at += 1;
        }
        let stop = (self.at + 60).min(self.end);
        let split = (self.at..stop).find(|index| {
            self.is_word(*index, "in")
                || self.is_word(*index, "of")
                || self.is_operator(*index, ";")
                || self.is_operator(*index, "=")
        });
        let Some(split) = split.filter(|split| self.is_name(*split)) else { return };
        let names: Vec<&str> =
            (self.at..split).filter(|index| self.is_name(*index)).map(|index| self.word(index)).collect();
        self.at = split + 1;
        let items = self.expression();
        // A loop variable may be any of the items, and more.
        let mut item =
            if items.items.is_empty() { (*items.derived()).clone() } else { (*choice(&items.items)).clone() };
        item.is_open = true;
        let item = Rc::new(item);
        for name in names {
            let last = self.scopes.len() - 1;
            self.scopes[last].names.insert(name.to_owned(), (Rc::clone(&item), self.indent));
        }
        if has_bracket {
            self.eat(")");
        }
    }

    pub(super) fn with_items(&mut self) {
        self.eat("(");
        loop {
            let value = self.expression();
            if self.eat("as") && self.is_name(self.at) {
                let name = self.word(self.at);
                self.assign(name, value);
                self.at += 1;
            }
            if !self.eat(",") {
                return;
            }
        }
    }

    pub(super) fn catch_head(&mut self) {
        self.at += 1;
        if self.is_operator(self.at, "(")
            && let Some(close) = self.mate(self.at)
        {
            self.at = close + 1;
            return;
        }
        if self.is_python && !self.is_operator(self.at, ":") {
            self.expression();
            if self.eat("as") {
                self.at += 1;
            }
        }
    }

    /// An expression, or an assignment.
    pub(super) fn expression_statement(&mut self) {
        let start = self.at;
        // `a, b = …`: each name gets its item.
        let names = self.target_names();
        if names.len() > 1 {
            let value = self.expression_list();
            for (index, name) in names.iter().enumerate() {
                let item = value
                    .items
                    .get(index)
                    .filter(|_| value.items.len() == names.len())
                    .cloned()
                    .unwrap_or_else(|| value.derived());
                self.assign(name, item);
            }
            return;
        }
        if self.is_python
            && self.is_name(self.at)
            && self.is_operator(self.at + 1, ":")
            && !matches!(self.word(self.at), "else" | "try" | "finally" | "lambda")
        {
            // `name: type = value`.
            let name = self.word(self.at);
            self.at += 1;
            self.skip_annotation();
            if self.eat("=") {
                let value = self.expression_list();
                self.assign(name, value);
            }
            return;
        }
        self.expression_list();
        if self.at == start {
            self.at += 1;
        }
    }

    pub(super) fn target_names(&mut self) -> Vec<&'r str> {
        let mut names = Vec::new();
        let mut index = self.at;
        let has_bracket = self.is_operator(index, "(") || self.is_operator(index, "[");
        index += usize::from(has_bracket);
        while self.is_name(index) && names.len() < 20 {
            names.push(self.word(index));
            index += 1;
            if !self.is_operator(index, ",") {
                break;
            }
            index += 1;
        }
        index += usize::from(has_bracket && (self.is_operator(index, ")") || self.is_operator(index, "]")));
        if names.len() > 1 && self.is_operator(index, "=") {
            self.at = index + 1;
            return names;
        }
        Vec::new()
    }

    pub(super) fn expression_list(&mut self) -> SharedValue {
        let first = self.expression();
        if !self.is_operator(self.at, ",") {
            return first;
        }
        let mut items = vec![first];
        while self.eat(",") {
            if self.at >= self.end || matches!(self.kind(self.at), Some(TokenKind::Line(_))) && self.is_python {
                break;
            }
            let item = self.expression();
            if items.len() < value::ITEMS_MAX {
                items.push(item);
            }
        }
        Value::list(items)
    }
}
