//! What an expression may be: constant texts with holes, references to things by name, lists, and where the data came from.
//!
//! Values are shared, and what is copied is bounded by a budget, so that evaluation stays linear in the input.

use std::rc::Rc;

use rep_model::Span;

use crate::scanner::Place;

/// The character for an unknown part of a text. Input never contains it: readers replace it.
pub(crate) const HOLE: char = '\u{fffc}';
/// The maximum number of alternatives of one value.
const TEXTS_MAX: usize = 6;
/// The maximum length of a text that is made from others.
const FOLDED_BYTES_MAX: usize = 64 * 1024;
/// The maximum number of sources of one value.
const TAINTS_MAX: usize = 8;
/// The maximum number of items of a list that are kept.
pub(crate) const ITEMS_MAX: usize = 256;

/// Where data comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A variable of the environment with the name of a secret.
    Secret(String),
    /// The whole environment.
    Environment,
    /// Another variable of the environment.
    Variable(String),
    /// A file that holds credentials or private data.
    PrivateFile(String),
    /// Any other file.
    File(String),
    /// A response of a host, with the URL.
    Remote(String),
    /// What comes through a connection that is not a request.
    Connection,
    /// Text that was decoded.
    Decoded,
    /// Text that was encoded for transport.
    Encoded,
}

/// Data and the place where it entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taint {
    pub(crate) source: Source,
    pub(crate) file: Rc<str>,
    pub(crate) span: Span,
}

impl Taint {
    /// Data that enters at a place of code.
    pub(crate) fn new(source: Source, place: &Place, span: Span) -> Self {
        Self { source, file: Rc::clone(&place.file), span: place.span(span) }
    }
}

/// A value of the evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    /// The texts that it may be; none if nothing is known.
    pub(crate) texts: Vec<Rc<str>>,
    /// The dotted name of what it refers to.
    pub(crate) name: Option<Rc<str>>,
    /// The items, if it is a list, or the values of a mapping.
    pub(crate) items: Vec<SharedValue>,
    /// The keys of the items, if it is a mapping.
    pub(crate) keys: Vec<Rc<str>>,
    /// The sources of the data.
    pub(crate) taints: Vec<Taint>,
    /// Whether it may be something that is not known, beside the texts.
    pub(crate) is_open: bool,
    /// How deep its items nest, so that dropping a value cannot exhaust the stack.
    pub(crate) depth: u16,
}

/// The maximum depth of items in items.
const ITEM_DEPTH_MAX: u16 = 12;

/// A shared value.
pub(crate) type SharedValue = Rc<Value>;

/// The bytes that folding may still copy.
#[derive(Debug)]
pub(crate) struct FoldBudget(usize);

impl FoldBudget {
    pub(crate) fn for_input(bytes: usize) -> Self {
        Self(bytes.saturating_mul(4).saturating_add(1 << 20))
    }

    fn take(&mut self, bytes: usize) -> bool {
        let is_enough = self.0 >= bytes && bytes <= FOLDED_BYTES_MAX;
        self.0 = self.0.saturating_sub(bytes.min(FOLDED_BYTES_MAX));
        is_enough
    }
}

impl Value {
    pub(crate) fn unknown() -> SharedValue {
        Rc::new(Self { is_open: true, ..Self::default() })
    }

    pub(crate) fn text(text: &str) -> SharedValue {
        Rc::new(Self { texts: vec![Rc::from(text)], ..Self::default() })
    }

    pub(crate) fn reference(name: &str) -> SharedValue {
        Rc::new(Self { name: Some(Rc::from(name)), is_open: true, ..Self::default() })
    }

    pub(crate) fn list(items: Vec<SharedValue>) -> SharedValue {
        Self::mapping(Vec::new(), items)
    }

    /// A mapping, or a list if `keys` is empty.
    pub(crate) fn mapping(keys: Vec<Rc<str>>, items: Vec<SharedValue>) -> SharedValue {
        let taints = merge_taints(items.iter());
        let mut value = Self { taints, is_open: true, ..Self::default() };
        value.set_items(keys, items);
        Rc::new(value)
    }

    pub(crate) fn set_items(&mut self, keys: Vec<Rc<str>>, items: Vec<SharedValue>) {
        let depth = items.iter().map(|item| item.depth).max().unwrap_or(0) + 1;
        if depth <= ITEM_DEPTH_MAX {
            (self.keys, self.items, self.depth) = (keys, items, depth);
        }
    }

    pub(crate) fn tainted(source: Source, place: &Place, span: Span) -> SharedValue {
        Rc::new(Self { taints: vec![Taint::new(source, place, span)], is_open: true, ..Self::default() })
    }

    /// The same value with further sources.
    pub(crate) fn with_taints(self: &Rc<Self>, taints: &[Taint]) -> SharedValue {
        if taints.is_empty() {
            return Rc::clone(self);
        }
        let mut value = (**self).clone();
        add_taints(&mut value.taints, taints);
        Rc::new(value)
    }

    /// Unknown data with the sources of this value.
    pub(crate) fn derived(self: &Rc<Self>) -> SharedValue {
        if self.taints.is_empty() {
            return Self::unknown();
        }
        Rc::new(Self { taints: self.taints.clone(), is_open: true, ..Self::default() })
    }

    /// The text, if it is one constant.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self.texts.as_slice() {
            [text] if !self.is_open && !text.contains(HOLE) => Some(text),
            _ => None,
        }
    }

    /// The first text, with holes.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.texts.first().map(|text| &**text)
    }

    /// The texts with holes, for arguments of behaviours. A value that may be anything is one hole.
    pub(crate) fn patterns(&self) -> Vec<Rc<str>> {
        if self.texts.is_empty() || self.is_open {
            return vec![Rc::from("\u{fffc}")];
        }
        self.texts.clone()
    }

    /// The value of a key, if it is a mapping.
    pub(crate) fn entry(&self, key: &str) -> Option<&SharedValue> {
        let at = self.keys.iter().position(|known| &**known == key)?;
        self.items.get(at)
    }

    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name)
    }

    pub(crate) fn has_source(&self, wanted: impl Fn(&Source) -> bool) -> bool {
        self.taints.iter().any(|taint| wanted(&taint.source))
    }
}

/// Merges the sources of several values.
pub(crate) fn merge_taints<'a>(values: impl IntoIterator<Item = &'a SharedValue>) -> Vec<Taint> {
    let mut merged = Vec::new();
    for value in values {
        add_taints(&mut merged, &value.taints);
    }
    merged
}

pub(crate) fn add_taints(taints: &mut Vec<Taint>, more: &[Taint]) {
    for taint in more {
        if taints.len() < TAINTS_MAX && !taints.iter().any(|known| known.source == taint.source) {
            taints.push(taint.clone());
        }
    }
}

/// Joins texts in order, with every combination of alternatives up to a limit.
pub(crate) fn concat(parts: &[SharedValue], budget: &mut FoldBudget) -> SharedValue {
    if let [part] = parts {
        return Rc::clone(part);
    }
    let mut texts: Vec<String> = vec![String::new()];
    for part in parts {
        let choices = part.patterns();
        if choices.len() == 1 || texts.len() * choices.len() <= TEXTS_MAX {
            let size: usize =
                texts.iter().map(String::len).sum::<usize>() + choices.iter().map(|text| text.len()).sum::<usize>();
            if !budget.take(size) {
                return Rc::new(Value { taints: merge_taints(parts), is_open: true, ..Value::default() });
            }
            texts = texts.iter().flat_map(|left| choices.iter().map(move |right| format!("{left}{right}"))).collect();
        } else {
            for text in &mut texts {
                text.push(HOLE);
            }
        }
    }
    let texts = texts.into_iter().map(|text| Rc::from(squeeze_holes(&text).as_str())).collect();
    Rc::new(Value { texts, taints: merge_taints(parts), ..Value::default() })
}

fn squeeze_holes(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != HOLE || !squeezed.ends_with(HOLE) {
            squeezed.push(letter);
        }
    }
    squeezed
}

/// Either of several values.
pub(crate) fn choice(values: &[SharedValue]) -> SharedValue {
    if let [value] = values {
        return Rc::clone(value);
    }
    let mut merged = Value { taints: merge_taints(values), ..Value::default() };
    for value in values {
        merged.is_open |= value.is_open || value.texts.is_empty();
        if merged.name.is_none() {
            merged.name.clone_from(&value.name);
        }
        merged.depth = merged.depth.max(value.depth);
        for (index, item) in value.items.iter().enumerate() {
            if merged.items.len() < ITEMS_MAX {
                merged.items.push(Rc::clone(item));
                merged.keys.extend(value.keys.get(index).cloned());
            }
        }
        for text in &value.texts {
            if merged.texts.len() == TEXTS_MAX {
                merged.is_open = true;
            } else if !merged.texts.contains(text) {
                merged.texts.push(Rc::clone(text));
            }
        }
    }
    Rc::new(merged)
}

/// Replaces the hole character in foreign text, in a character of the same length, so that offsets stay valid.
pub(crate) fn without_holes(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(HOLE) { text.replace(HOLE, "\u{fffd}").into() } else { text.into() }
}

/// The text of code. What was folded from other code keeps its holes.
pub(crate) fn without_holes_unless_folded(text: &str, is_folded: bool) -> std::borrow::Cow<'_, str> {
    if is_folded { text.into() } else { without_holes(text) }
}

impl Value {
    /// The same value, which may also have the texts and the parts of another value.
    pub(crate) fn with_assumed_parts(self: &Rc<Self>, other: &SharedValue) -> SharedValue {
        let has_texts = self.texts.is_empty() && !other.texts.is_empty();
        let has_parts = self.items.is_empty() && !other.keys.is_empty();
        if !has_texts && !has_parts {
            return Rc::clone(self);
        }
        let mut value = (**self).clone();
        value.is_open = true;
        if has_texts {
            value.texts.clone_from(&other.texts);
        }
        if has_parts {
            value.set_items(other.keys.clone(), other.items.clone());
        }
        Rc::new(value)
    }

    /// The same sources with the texts of another value.
    pub(crate) fn with_text_of(self: &Rc<Self>, other: &SharedValue) -> SharedValue {
        Rc::new(Self { texts: other.texts.clone(), is_open: other.is_open, ..(**self).clone() })
    }
}
