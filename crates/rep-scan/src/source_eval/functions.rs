//! Data that goes through functions: arguments into parameters, and returned values out of calls.
//!
//! Calls of one function are merged. A rehearsal collects them, and the next pass over the text uses them, so that time
//! stays linear. What a parameter may be is used to follow data; it never becomes an argument of a behaviour, because
//! another caller may pass something else.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Arguments, SourceRun};
use crate::value::{SharedValue, Value, add_taints};

/// The maximum number of functions of one text, and of parameters of one function.
const FUNCTIONS_MAX: usize = 2000;
const PARAMETERS_MAX: usize = 16;
/// The maximum length of a constant that is followed into a function.
const TEXT_BYTES_MAX: usize = 512;
/// The maximum depth of a mapping whose parts are followed apart.
const MAPPING_DEPTH_MAX: u16 = 2;

/// What is known about the functions of a text.
#[derive(Default)]
pub(crate) struct FunctionFacts {
    /// The names of functions that the text defines.
    defined: HashSet<Rc<str>>,
    /// The merged arguments of the calls of each name: by position, and by name.
    arguments: HashMap<Rc<str>, CallArguments>,
    /// What each function returns.
    results: HashMap<Rc<str>, SharedValue>,
    /// Whether anything was learned since this was last reset.
    pub(super) has_grown: bool,
}

#[derive(Default)]
struct CallArguments {
    positional: Vec<SharedValue>,
    named: HashMap<String, SharedValue>,
}

impl FunctionFacts {
    pub(super) fn define(&mut self, name: &Rc<str>) {
        if self.defined.len() < FUNCTIONS_MAX {
            self.defined.insert(Rc::clone(name));
        }
    }

    pub(super) fn defined_names(&self) -> impl Iterator<Item = &str> {
        self.defined.iter().map(|name| &**name)
    }

    pub(crate) fn is_defined(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// What a parameter gets from the calls that were seen.
    fn parameter(&self, function: &str, index: usize, name: &str) -> Option<SharedValue> {
        let known = self.arguments.get(function)?;
        let values: Vec<&SharedValue> = known.positional.get(index).into_iter().chain(known.named.get(name)).collect();
        match values.as_slice() {
            [] => None,
            [one] => Some(Rc::clone(one)),
            [one, two, ..] => Some(merge(one, two).0),
        }
    }

    pub(super) fn add_call(&mut self, name: &str, arguments: &Arguments) {
        let is_known = self.arguments.contains_key(name);
        if !is_known && self.arguments.len() >= FUNCTIONS_MAX {
            return;
        }
        let known = self.arguments.entry(Rc::from(name)).or_default();
        for (index, value) in arguments.values.iter().take(PARAMETERS_MAX).enumerate() {
            let assumed = assume(value);
            if let Some(before) = known.positional.get_mut(index) {
                let (merged, has_grown) = merge(before, &assumed);
                *before = merged;
                self.has_grown |= has_grown;
            } else {
                self.has_grown |= !assumed.taints.is_empty() || assumed.texts.iter().any(|text| is_telling(text));
                known.positional.push(assumed);
            }
        }
        for (key, value) in arguments.named.iter().take(PARAMETERS_MAX) {
            let assumed = assume(value);
            let before = known.named.entry(key.clone()).or_insert_with(Value::unknown);
            let (merged, has_grown) = merge(before, &assumed);
            *before = merged;
            self.has_grown |= has_grown;
        }
    }

    fn add_result(&mut self, name: &Rc<str>, value: &SharedValue) {
        if !self.results.contains_key(name) && self.results.len() >= FUNCTIONS_MAX {
            return;
        }
        let before = self.results.entry(Rc::clone(name)).or_insert_with(Value::unknown);
        let (merged, has_grown) = merge(before, &assume(value));
        *before = merged;
        self.has_grown |= has_grown;
    }

    /// What a call of a function gives.
    pub(crate) fn result(&self, name: &str) -> Option<SharedValue> {
        self.results.get(name).cloned()
    }
}

/// What is followed of a value: its sources, and its constants as something that it may be. The parts of a mapping stay
/// apart, because a body and a header mean different things.
fn assume(value: &SharedValue) -> SharedValue {
    let mut taints = value.taints.clone();
    for item in &value.items {
        add_taints(&mut taints, &item.taints);
    }
    let texts = value.texts.iter().filter(|text| text.len() <= TEXT_BYTES_MAX).cloned().collect();
    let mut assumed = Value { texts, taints, is_open: true, ..Value::default() };
    if !value.keys.is_empty() && value.depth <= MAPPING_DEPTH_MAX {
        assumed.set_items(value.keys.clone(), value.items.iter().map(assume).collect());
    }
    Rc::new(assumed)
}

/// Whether a constant leads somewhere, so that it is worth another rehearsal.
fn is_telling(text: &str) -> bool {
    text.contains("://") || text.starts_with(['~', '/']) || crate::places::private_data(text).is_some()
}

/// Merges what two calls pass. Also returns whether the second one adds something that further calls may pass on.
fn merge(before: &SharedValue, more: &SharedValue) -> (SharedValue, bool) {
    let mut merged = (**before).clone();
    let mut texts = more.texts.iter().filter(|text| !before.texts.contains(text)).peekable();
    if texts.peek().is_some() && merged.texts.len() < 6 {
        merged.texts.extend(texts.take(6 - before.texts.len().min(6)).cloned());
    }
    add_taints(&mut merged.taints, &more.taints);
    if merged.keys.is_empty() && !more.keys.is_empty() {
        merged.set_items(more.keys.clone(), more.items.clone());
    }
    let has_grown = merged.taints.len() > before.taints.len()
        || merged.texts[before.texts.len().min(merged.texts.len())..].iter().any(|text| is_telling(text));
    let is_same = !has_grown && merged.texts.len() == before.texts.len() && merged.keys.len() == before.keys.len();
    (if is_same { Rc::clone(before) } else { Rc::new(merged) }, has_grown)
}

impl SourceRun<'_, '_> {
    /// Notes that the next body belongs to a function.
    pub(super) fn enter_function(&mut self, name: Option<&Rc<str>>) {
        let Some(name) = name else { return };
        self.functions.define(name);
        if let Some(scope) = self.scopes.last_mut() {
            scope.function = Some(Rc::clone(name));
        }
    }

    /// Gives the function that comes next a name, if one comes next: `name = (…) =>`, `name: function (…)`.
    pub(super) fn name_function(&mut self, name: &str) {
        let is_function = |index: usize| {
            self.is_word(index, "function")
                || self.is_name(index) && self.is_operator(index + 1, "=>")
                || self.is_operator(index, "(")
                    && self.mate(index).is_some_and(|close| {
                        self.is_operator(close + 1, "=>")
                            || self.is_operator(close + 1, ":") && self.find_arrow(close + 1).is_some()
                    })
        };
        let start = self.at + usize::from(self.is_word(self.at, "async"));
        let is_next = !name.is_empty() && !self.is_python && is_function(start);
        self.pending_name = is_next.then(|| Rc::from(name));
    }

    /// The value of a parameter of the function that is entered.
    pub(super) fn parameter_value(&self, index: usize, name: &str) -> SharedValue {
        let function = self.scopes.last().and_then(|scope| scope.function.as_deref());
        let known = function.and_then(|function| self.functions.parameter(function, index, name));
        known.unwrap_or_else(Value::unknown)
    }

    /// Notes what the function around this place returns.
    pub(super) fn returned(&mut self, value: &SharedValue) {
        let function = self.scopes.iter().rev().find_map(|scope| scope.function.clone());
        if let Some(function) = function
            && (!value.taints.is_empty() || !value.texts.is_empty() || !value.items.is_empty())
        {
            self.functions.add_result(&function, value);
        }
    }

    /// The name of the function of this text that a call may mean: `name(…)`, or `object.name(…)` if the type of the
    /// object is not known.
    pub(super) fn called_function(
        &self,
        callee: &SharedValue,
        path: Option<&str>,
        receiver: Option<&(SharedValue, String)>,
    ) -> Option<String> {
        let name = match (path, receiver) {
            (Some(path), None) if !path.contains('.') => path,
            (_, Some((object, method))) if object.name.is_none() && object.texts.is_empty() => method,
            _ => return None,
        };
        // An imported name is not a function of this text.
        let is_own = callee.name.as_deref().is_none_or(|known| known == name);
        // A rehearsal also notes calls of what may be defined below.
        (is_own && (self.functions.is_defined(name) || self.scanner.is_rehearsal)).then(|| name.to_owned())
    }

    /// Notes the arguments of a call, and returns what the function is known to return.
    pub(super) fn call_function(&mut self, name: &str, arguments: &Arguments) -> Option<SharedValue> {
        self.functions.add_call(name, arguments);
        self.functions.result(name)
    }
}
