//! References inside a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{ANNOTATIONS, Fields, Shaper, conjoin};
use crate::loss::Weight;

/// What a reference inside a schema leads to.
pub(crate) fn target<'a>(root: &'a Value, to: &str) -> Option<&'a Value> {
    let pointer = to.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    root.pointer(&decoded(pointer)?)
}

/// A pointer without the escapes of addresses.
fn decoded(pointer: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The references of a schema that lead back to themselves.
pub(super) fn recursive(root: &Value) -> BTreeSet<String> {
    let mut leads: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut waiting: Vec<String> = inside(root).into_iter().collect();
    leads.insert("#".to_owned(), inside(root));
    while let Some(to) = waiting.pop() {
        if leads.contains_key(&to) {
            continue;
        }
        let below = target(root, &to).map(inside).unwrap_or_default();
        waiting.extend(below.iter().cloned());
        leads.insert(to, below);
    }
    let is_back = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<&String> = leads[start].iter().collect();
        while let Some(to) = waiting.pop() {
            if to == start {
                return true;
            }
            if seen.insert(to) {
                waiting.extend(leads.get(to).into_iter().flatten());
            }
        }
        false
    };
    leads.keys().filter(|start| is_back(start)).cloned().collect()
}

/// The references that stand in a schema. Definitions below it count only where they are referred to.
fn inside(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![schema];
    while let Some(node) = waiting.pop() {
        match node {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("$ref", Value::String(to)) => drop(found.insert(to.clone())),
                        ("$defs" | "definitions" | "enum" | "const" | "default" | "examples", _) => {}
                        (_, value) => waiting.push(value),
                    }
                }
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}

impl Shaper<'_> {
    /// A reference: kept where it stands alone, written out where something stands beside it.
    pub(super) fn reference(&mut self, to: &str, mut fields: Fields, at: &str, depth: usize) -> Value {
        let at_ref = format!("{at}/$ref");
        let Some(target) = target(self.root, to) else {
            return self
                .refuse(&at_ref, format!("the reference `{to}`, which leads to nothing here, cannot be expressed"));
        };
        let is_recursive = self.recursive.contains(to);
        if is_recursive && !self.dialect.allows_recursion {
            return self.refuse(&at_ref, "a schema that refers to itself cannot be expressed");
        }
        fields.remove("$ref");
        if self.is_old_draft {
            fields.clear();
        }
        let is_plain = fields.keys().all(|key| key == "$comment" || key == "$defs" || key == "definitions");
        let only_tells = fields.keys().all(|key| ANNOTATIONS.contains(&key.as_str()));
        if is_recursive && !is_plain {
            if !only_tells {
                return self.refuse(at, "keywords beside a reference to itself cannot be expressed");
            }
            self.lose(Weight::Note, at, "what is told beside a reference to itself is not told");
        } else if !is_plain {
            let target = match target {
                Value::Object(target) => target.clone(),
                Value::Bool(true) => Map::new(),
                _ => return self.refuse(&at_ref, "a place that accepts nothing cannot be expressed"),
            };
            // What stands beside the reference is nearer, and so is what it tells.
            return match conjoin::both(&fields, &target, self.root) {
                Ok(both) => self.node(&Value::Object(both), at, depth + 1),
                Err(reason) => self.refuse(at, reason),
            };
        }
        if to == "#" {
            return json!({ "$ref": "#" });
        }
        let name = self.name_of(to);
        if !self.definitions.contains_key(&name) {
            self.waiting.push((name.clone(), to.to_owned()));
        }
        json!({ "$ref": format!("#/$defs/{}", super::escaped(&name)) })
    }

    /// What a definition is called: as its author called it, unless two would have one name.
    fn name_of(&self, to: &str) -> String {
        let parts: Vec<&str> = to.trim_start_matches("#/").split('/').collect();
        let plain = match parts.as_slice() {
            ["$defs" | "definitions", name] => (*name).to_owned(),
            parts => parts.join("_"),
        };
        let plain = plain.replace("~1", "/").replace("~0", "~");
        let is_other = |key: &str| {
            let twin = format!("#/{key}/{}", super::escaped(&plain));
            twin != to && target(self.root, &twin).is_some()
        };
        if to.starts_with("#/$defs/")
            || !is_other("$defs") && (to.starts_with("#/definitions/") || !is_other("definitions"))
        {
            return plain;
        }
        parts.join("__")
    }
}
