//! References in a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{ANNOTATION_KEYWORDS, SchemaFields, SchemaShaper, conjunction};
use crate::loss::LossSeverity;

/// Resolves a reference in a schema.
pub(crate) fn resolve_reference<'a>(root: &'a Value, to: &str) -> Option<&'a Value> {
    let pointer = to.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    root.pointer(&decode_pointer(pointer)?)
}

/// Decodes the percent-encoding of a pointer.
fn decode_pointer(pointer: &str) -> Option<String> {
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

/// Finds the recursive references of a schema.
pub(super) fn find_recursive_references(root: &Value) -> BTreeSet<String> {
    let mut leads: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut waiting: Vec<String> = collect_references(root).into_iter().collect();
    leads.insert("#".to_owned(), collect_references(root));
    while let Some(to) = waiting.pop() {
        if leads.contains_key(&to) {
            continue;
        }
        let below = resolve_reference(root, &to).map(collect_references).unwrap_or_default();
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

/// Collects the references in a schema. Definitions are included only if they are referenced.
fn collect_references(schema: &Value) -> BTreeSet<String> {
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

impl SchemaShaper<'_> {
    /// Shapes a reference. It remains a reference if it has no other keywords; otherwise its target is expanded.
    pub(super) fn shape_reference(&mut self, to: &str, mut fields: SchemaFields, at: &str, depth: usize) -> Value {
        let at_ref = format!("{at}/$ref");
        let Some(target) = resolve_reference(self.root, to) else {
            return self.refuse_place(&at_ref, format!("the reference `{to}` without a target cannot be expressed"));
        };
        let is_recursive = self.recursive.contains(to);
        if is_recursive && !self.dialect.allows_recursion {
            return self.refuse_place(&at_ref, "a schema that refers to itself cannot be expressed");
        }
        fields.remove("$ref");
        if self.is_old_draft {
            fields.clear();
        }
        let is_plain = fields.keys().all(|key| key == "$comment" || key == "$defs" || key == "definitions");
        let only_tells = fields.keys().all(|key| ANNOTATION_KEYWORDS.contains(&key.as_str()));
        if is_recursive && !is_plain {
            if !only_tells {
                return self.refuse_place(at, "keywords next to a recursive reference cannot be expressed");
            }
            self.report_loss(LossSeverity::Note, at, "annotations next to a recursive reference are dropped");
        } else if !is_plain {
            let target = match target {
                Value::Object(target) => target.clone(),
                Value::Bool(true) => Map::new(),
                _ => return self.refuse_place(&at_ref, "a schema that accepts nothing cannot be expressed"),
            };
            // Annotations next to the reference take precedence over those of the target.
            return match conjunction::conjoin_schemas(&fields, &target, self.root) {
                Ok(both) => self.shape_node(&Value::Object(both), at, depth + 1),
                Err(reason) => self.refuse_place(at, reason),
            };
        }
        if to == "#" {
            return json!({ "$ref": "#" });
        }
        let name = self.name_definition(to);
        if !self.definitions.contains_key(&name) {
            self.waiting.push((name.clone(), to.to_owned()));
        }
        json!({ "$ref": format!("#/$defs/{}", super::escape_pointer(&name)) })
    }

    /// Returns the name of a definition: the author's name, unless that would be ambiguous.
    fn name_definition(&self, to: &str) -> String {
        let parts: Vec<&str> = to.trim_start_matches("#/").split('/').collect();
        let plain = match parts.as_slice() {
            ["$defs" | "definitions", name] => (*name).to_owned(),
            parts => parts.join("_"),
        };
        let plain = plain.replace("~1", "/").replace("~0", "~");
        let is_other = |key: &str| {
            let twin = format!("#/{key}/{}", super::escape_pointer(&plain));
            twin != to && resolve_reference(self.root, &twin).is_some()
        };
        if to.starts_with("#/$defs/")
            || !is_other("$defs") && (to.starts_with("#/definitions/") || !is_other("definitions"))
        {
            return plain;
        }
        parts.join("__")
    }
}
