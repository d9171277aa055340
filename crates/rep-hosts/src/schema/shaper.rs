//! The walk over a schema that writes it anew.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value, json};

use super::dialect::Dialect;
use super::measure::measure;
use super::{Shaped, disjoint};
use crate::loss::{Loss, Weight};

mod conjoin;
mod reference;
mod typed;

pub(crate) use conjoin::fits_types;
pub(crate) use reference::target;

/// The deepest schema that is looked at.
const DEPTH_MAX: usize = 64;
/// The most nodes that are written: references that are written out can multiply.
const NODES_MAX: usize = 20_000;

/// Keywords that only tell.
const ANNOTATIONS: [&str; 15] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$id",
    "$anchor",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];
/// Keywords that matter for values of one type only.
const OF_TYPE: [(&str, &[&str]); 4] = [
    ("string", &["minLength", "maxLength", "pattern", "format"]),
    ("number", &["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format"]),
    (
        "array",
        &[
            "items",
            "prefixItems",
            "additionalItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "unevaluatedItems",
        ],
    ),
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "unevaluatedProperties",
        ],
    ),
];
/// Keywords of a schema that are not about one type.
const GENERAL: [&str; 8] = ["type", "enum", "const", "allOf", "anyOf", "oneOf", "$defs", "definitions"];

type Fields = Map<String, Value>;

pub(super) fn shape(schema: &Value, dialect: &Dialect) -> Result<Shaped, Vec<Loss>> {
    let mut shaper = Shaper {
        dialect,
        root: schema,
        recursive: reference::recursive(schema),
        is_old_draft: is_old_draft(schema),
        losses: Vec::new(),
        definitions: BTreeMap::new(),
        waiting: Vec::new(),
        nodes: 0,
    };
    let mut shaped = shaper.whole();
    shaper.measure_all(&shaped);
    if shaper.losses.iter().any(|loss| loss.weight == Weight::Refused) {
        shaper.losses.retain(|loss| loss.weight == Weight::Refused);
        return Err(shaper.losses);
    }
    if !shaper.definitions.is_empty() {
        let definitions: Fields = shaper.definitions.into_iter().collect();
        shaped["$defs"] = Value::Object(definitions);
    }
    Ok(Shaped { schema: shaped, losses: shaper.losses })
}

/// In drafts up to 7, what stands beside a `$ref` is not looked at.
fn is_old_draft(schema: &Value) -> bool {
    schema.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-0"))
}

struct Shaper<'a> {
    dialect: &'a Dialect,
    root: &'a Value,
    /// The targets of references that lead back to themselves.
    recursive: BTreeSet<String>,
    is_old_draft: bool,
    losses: Vec<Loss>,
    definitions: BTreeMap<String, Value>,
    /// Definitions that are referred to and not yet written: name and target.
    waiting: Vec<(String, String)>,
    nodes: usize,
}

impl Shaper<'_> {
    fn lose(&mut self, weight: Weight, at: &str, message: impl Into<String>) {
        let loss = Loss::new(weight, at, message);
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Refuses a place. What is returned stands in for it and goes nowhere.
    fn refuse(&mut self, at: &str, message: impl Into<String>) -> Value {
        let message = format!("{} in {}", message.into(), self.dialect.name);
        self.lose(Weight::Refused, at, message);
        Value::Null
    }

    fn whole(&mut self) -> Value {
        let Some(root) = self.root.as_object() else {
            return self.refuse("", "a contract that is no object cannot be expressed");
        };
        let mut root = root.clone();
        let mut hops = 0;
        // A root that only refers to something is that something.
        while let Some(target) = root.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to)) {
            hops += 1;
            let (true, Some(target)) = (hops < DEPTH_MAX, target.as_object()) else {
                return self.refuse("/$ref", "a root that refers to itself cannot be expressed");
            };
            let mut rest = root.clone();
            rest.remove("$ref");
            rest.retain(|key, _| key != "$defs" && key != "definitions");
            match conjoin::both(target, &rest, self.root) {
                Ok(both) => root = both,
                Err(reason) => return self.refuse("/$ref", reason),
            }
        }
        root = match merged(root, self.root) {
            Ok(root) => root,
            Err(reason) => return self.refuse("", reason),
        };
        if root.contains_key("anyOf") || root.contains_key("oneOf") {
            return self.refuse("", "a choice at the root cannot be expressed");
        }
        match types(&root) {
            None => drop(root.insert("type".to_owned(), "object".into())),
            Some(types) if types.iter().any(|name| name == "object") => {
                // Arguments are always an object.
                root.insert("type".to_owned(), "object".into());
            }
            Some(_) => return self.refuse("/type", "a root that is no object cannot be expressed"),
        }
        let shaped = self.fields(root, "", 0);
        while let Some((name, to)) = self.waiting.pop() {
            if self.definitions.contains_key(&name) {
                continue;
            }
            // Known before it is written, so that it may refer to itself.
            self.definitions.insert(name.clone(), Value::Null);
            let Some(target) = target(self.root, &to).cloned() else { continue };
            let written = self.node(&target, &to[1..], 0);
            self.definitions.insert(name, written);
        }
        shaped
    }

    /// Holds what was written against the limits of the dialect.
    fn measure_all(&mut self, shaped: &Value) {
        let mut all = measure(shaped);
        for definition in self.definitions.values() {
            all.add(&measure(definition));
        }
        let limits = [
            ("objects and lists inside each other", all.depth, self.dialect.depth_max),
            ("properties", all.properties, self.dialect.properties_max),
            ("values in `enum`", all.enum_values, self.dialect.enum_values_max),
            ("characters in names and values", all.name_chars, self.dialect.name_chars_max),
            ("optional properties", all.optionals, self.dialect.optionals_max),
            ("choices between types", all.unions, self.dialect.unions_max),
        ];
        for (what, count, limit) in limits {
            if let Some(limit) = limit.filter(|limit| count > *limit) {
                self.refuse("", format!("{count} {what} are more than the {limit} that are possible"));
            }
        }
    }

    fn node(&mut self, schema: &Value, at: &str, depth: usize) -> Value {
        self.nodes += 1;
        if depth > DEPTH_MAX || self.nodes > NODES_MAX {
            return self.refuse(at, "a schema of this size, written out, cannot be expressed");
        }
        match schema {
            Value::Bool(true) => self.any(Map::new(), at),
            Value::Bool(false) => self.refuse(at, "a place that accepts nothing cannot be expressed"),
            Value::Object(fields) => self.fields(fields.clone(), at, depth),
            _ => self.refuse(at, "what is no schema cannot be expressed"),
        }
    }

    /// A place that is open to any value.
    fn any(&mut self, told: Fields, at: &str) -> Value {
        if self.dialect.allows_any {
            return Value::Object(told);
        }
        self.refuse(at, "a place without a `type` cannot be expressed")
    }

    fn fields(&mut self, fields: Fields, at: &str, depth: usize) -> Value {
        if let Some(to) = fields.get("$ref") {
            let to = to.as_str().unwrap_or_default().to_owned();
            return self.reference(&to, fields, at, depth);
        }
        if let Some(key) = unknown(&fields) {
            return self.refuse(&format!("{at}/{key}"), format!("`{key}` cannot be expressed"));
        }
        let fields = match merged(fields, self.root) {
            Ok(fields) => fields,
            Err(reason) => return self.refuse(at, reason),
        };
        if let Some(key) = ["anyOf", "oneOf"].into_iter().find(|key| fields.contains_key(*key)) {
            return self.choice(key, fields, at, depth);
        }
        if fields.contains_key("enum") || fields.contains_key("const") {
            return self.values(&fields, at);
        }
        let told = self.annotations(&fields, at);
        let Some(mut types) = types(&fields) else { return self.untyped(fields, told, at, depth) };
        types.dedup();
        match types.as_slice() {
            [] => self.refuse(at, "a place that accepts nothing cannot be expressed"),
            [one] => self.typed(one, &fields, told, at, depth),
            several => self.several(several, &fields, told, at, depth),
        }
    }

    /// Keywords that tell, as far as they are taken.
    fn annotations(&mut self, fields: &Fields, at: &str) -> Fields {
        let mut told = Map::new();
        for (key, value) in fields {
            let key = key.as_str();
            if self.dialect.annotations.contains(&key) {
                told.insert(key.to_owned(), value.clone());
            } else if ["default", "examples", "contentEncoding", "contentMediaType"].contains(&key) {
                let message = format!("`{key}` is not told: {} has no place for it", self.dialect.name);
                self.lose(Weight::Note, &format!("{at}/{key}"), message);
            }
        }
        told
    }

    /// A choice: what stands beside it goes into each of its branches.
    fn choice(&mut self, key: &str, mut fields: Fields, at: &str, depth: usize) -> Value {
        let at_choice = format!("{at}/{key}");
        let Some(Value::Array(branches)) = fields.remove(key) else {
            return self.refuse(&at_choice, "a choice that is no list cannot be expressed");
        };
        let mut told = self.annotations(&fields, at);
        fields.retain(|key, _| !ANNOTATIONS.contains(&key.as_str()));
        let mut whole = Vec::new();
        for branch in &branches {
            let branch = match branch {
                Value::Object(branch) => branch.clone(),
                Value::Bool(true) => Map::new(),
                // Nothing ever takes this way.
                Value::Bool(false) => continue,
                _ => return self.refuse(&at_choice, "a choice of what is no schema cannot be expressed"),
            };
            let together = if fields.is_empty() { Ok(branch) } else { conjoin::both(&fields, &branch, self.root) };
            match together {
                Ok(together) => whole.push(Value::Object(together)),
                Err(reason) => return self.refuse(&at_choice, reason),
            }
        }
        if key == "oneOf" && !disjoint::all(&whole, self.root) {
            return self.refuse(&at_choice, "`oneOf` whose branches may accept the same value cannot be expressed");
        }
        let mut shaped = Vec::new();
        for (index, branch) in whole.iter().enumerate() {
            let written = self.node(branch, &format!("{at_choice}/{index}"), depth + 1);
            match written {
                // Branches that became choices themselves are branches of this one.
                Value::Object(mut inner) if inner.len() == 1 && inner.contains_key("anyOf") => {
                    shaped
                        .extend(inner.remove("anyOf").and_then(|inner| inner.as_array().cloned()).unwrap_or_default());
                }
                other => shaped.push(other),
            }
        }
        match shaped.len() {
            0 => self.refuse(&at_choice, "a place that accepts nothing cannot be expressed"),
            1 => {
                let mut one = shaped.remove(0);
                if let Some(one) = one.as_object_mut().filter(|one| !one.contains_key("$ref")) {
                    for (key, value) in told {
                        one.entry(key).or_insert(value);
                    }
                }
                one
            }
            _ => {
                told.insert("anyOf".to_owned(), Value::Array(shaped));
                Value::Object(told)
            }
        }
    }

    /// A place whose values are listed.
    fn values(&mut self, fields: &Fields, at: &str) -> Value {
        let wanted = types(fields);
        let listed = fields.get("enum").map(|list| list.as_array().cloned().unwrap_or_default());
        let one = fields.get("const").cloned();
        let mut values = match (listed, one) {
            (Some(list), Some(one)) => list.into_iter().filter(|value| *value == one).collect(),
            (Some(list), None) => list,
            (None, one) => one.into_iter().collect::<Vec<Value>>(),
        };
        let is_wanted = |value: &Value| wanted.as_ref().is_none_or(|types| types.iter().any(|name| is_of(value, name)));
        values.retain(is_wanted);
        let narrowing = fields.keys().find(|key| {
            let key = key.as_str();
            !ANNOTATIONS.contains(&key) && !GENERAL.contains(&key) && key != "format"
        });
        if let Some(key) = narrowing.cloned() {
            return self.refuse(&format!("{at}/{key}"), format!("`{key}` beside listed values cannot be expressed"));
        }
        if values.is_empty() {
            return self.refuse(at, "a place that accepts nothing cannot be expressed");
        }
        if !self.dialect.allows_complex_enums && values.iter().any(|value| value.is_array() || value.is_object()) {
            return self.refuse(at, "lists and objects among listed values cannot be expressed");
        }
        let told = self.annotations(fields, at);
        self.listed(values, told, at)
    }

    /// Listed values, with the types they are of.
    fn listed(&mut self, mut values: Vec<Value>, mut told: Fields, at: &str) -> Value {
        let mut types: Vec<&str> = Vec::new();
        for value in &values {
            let name = type_of(value);
            if !types.contains(&name) {
                types.push(name);
            }
        }
        if self.dialect.allows_bool_enums {
            told.insert("type".to_owned(), names(&types));
            told.insert("enum".to_owned(), Value::Array(values));
            return Value::Object(told);
        }
        // Only words and numbers can be listed; the other values are types of their own.
        let mut ways: Vec<Value> = Vec::new();
        if values.iter().any(Value::is_boolean) {
            if !(values.contains(&Value::Bool(true)) && values.contains(&Value::Bool(false))) {
                return self.refuse(at, "one truth value alone cannot be expressed");
            }
            ways.push(json!({ "type": "boolean" }));
        }
        if values.iter().any(Value::is_null) {
            ways.push(json!({ "type": "null" }));
        }
        values.retain(|value| value.is_string() || value.is_number());
        for name in types.iter().filter(|name| ["string", "number", "integer"].contains(*name)) {
            let of_type: Vec<&Value> = values.iter().filter(|value| type_of(value) == *name).collect();
            ways.insert(0, json!({ "type": name, "enum": of_type }));
        }
        if let [Value::Object(only)] = ways.as_slice() {
            told.extend(only.clone());
            return Value::Object(told);
        }
        told.insert("anyOf".to_owned(), Value::Array(ways));
        Value::Object(told)
    }

    /// A place without a type: what it says is about values of some types, and all others are accepted too.
    fn untyped(&mut self, mut fields: Fields, told: Fields, at: &str, depth: usize) -> Value {
        let mut spoken: Vec<&str> = Vec::new();
        for (name, keys) in OF_TYPE {
            if keys.iter().any(|key| fields.contains_key(*key) && *key != "format") {
                spoken.push(name);
            }
        }
        match spoken.as_slice() {
            [] if fields.contains_key("format") && !self.dialect.allows_any => {
                self.lose(Weight::Narrowed, at, "only text is accepted here: it has a `format` and no `type`");
                self.typed("string", &fields, told, at, depth)
            }
            [] => self.any(told, at),
            [one] => {
                let message = format!("only values of the type `{one}` are accepted here: it has no `type`");
                self.lose(Weight::Narrowed, at, message);
                self.typed(one, &fields, told, at, depth)
            }
            several => {
                fields.insert("type".to_owned(), json!(several));
                let message =
                    format!("only values of the types {} are accepted here: it has no `type`", several.join(", "));
                self.lose(Weight::Narrowed, at, message);
                let several: Vec<String> = several.iter().map(|name| (*name).to_owned()).collect();
                self.several(&several, &fields, told, at, depth)
            }
        }
    }

    /// A place of several types: one branch each, unless they are plain.
    fn several(&mut self, types: &[String], fields: &Fields, mut told: Fields, at: &str, depth: usize) -> Value {
        let mut ways: Vec<Value> = Vec::new();
        for name in types {
            // A whole number is a number.
            if name == "integer" && types.iter().any(|other| other == "number") {
                continue;
            }
            ways.push(self.typed(name, fields, Map::new(), at, depth));
        }
        let is_plain = |way: &Value| way.as_object().is_some_and(|way| way.len() == 1 && way.contains_key("type"));
        if self.dialect.allows_bool_enums {
            let nulls: Vec<&Value> = ways.iter().filter(|way| way["type"] != "null").collect();
            if ways.iter().all(is_plain) {
                let names: Vec<&str> = ways.iter().filter_map(|way| way["type"].as_str()).collect();
                told.insert("type".to_owned(), self::names(&names));
                return Value::Object(told);
            }
            if let ([one], true) = (nulls.as_slice(), ways.len() == 2) {
                let mut one = nullable((*one).clone());
                if let Some(one) = one.as_object_mut() {
                    one.extend(told);
                }
                return one;
            }
        }
        told.insert("anyOf".to_owned(), Value::Array(ways));
        Value::Object(told)
    }
}

/// The fields with every `allOf` in them merged, those that parts bring along too.
pub(super) fn merged(mut fields: Fields, root: &Value) -> Result<Fields, String> {
    for _ in 0..DEPTH_MAX {
        let Some(parts) = fields.remove("allOf") else { return Ok(fields) };
        let Value::Array(parts) = parts else { break };
        for part in parts {
            match part {
                Value::Bool(true) => {}
                Value::Object(part) => fields = conjoin::both(&fields, &part, root)?,
                _ => return Err("a place that accepts nothing cannot be expressed".to_owned()),
            }
        }
    }
    Err("`allOf` that does not come to an end cannot be expressed".to_owned())
}

/// A keyword that is none of those that are known.
fn unknown(fields: &Fields) -> Option<&String> {
    let is_known = |key: &str| {
        ANNOTATIONS.contains(&key)
            || GENERAL.contains(&key)
            || OF_TYPE.iter().any(|(_, keys)| keys.contains(&key))
            // What hosts add for themselves is no part of the schema.
            || key.starts_with("x-")
    };
    fields.keys().find(|key| !is_known(key))
}

/// The types a schema names; `None` where it names none.
fn types(fields: &Fields) -> Option<Vec<String>> {
    match fields.get("type")? {
        Value::String(name) => Some(vec![name.clone()]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        _ => Some(Vec::new()),
    }
}

fn names(types: &[&str]) -> Value {
    match types {
        [one] => Value::String((*one).to_owned()),
        several => json!(several),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_whole(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Whether a value is of a type by its name.
pub(super) fn is_of(value: &Value, name: &str) -> bool {
    type_of(value) == name || name == "number" && value.is_number()
}

/// The same schema, and null.
fn nullable(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return schema };
    if fields.contains_key("$ref") {
        return json!({ "anyOf": [Value::Object(fields), { "type": "null" }] });
    }
    if let Some(Value::Array(ways)) = fields.get_mut("anyOf") {
        let has_null = |way: &Value| match &way["type"] {
            Value::Array(names) => names.contains(&json!("null")),
            name => name == "null",
        };
        if !ways.iter().any(has_null) {
            ways.push(json!({ "type": "null" }));
        }
        return Value::Object(fields);
    }
    let names = match fields.get("type") {
        Some(Value::String(name)) if name == "null" => return Value::Object(fields),
        Some(Value::String(name)) => json!([name, "null"]),
        Some(Value::Array(names)) if names.contains(&json!("null")) => Value::Array(names.clone()),
        Some(Value::Array(names)) => names.iter().cloned().chain([json!("null")]).collect(),
        _ => return Value::Object(fields),
    };
    fields.insert("type".to_owned(), names);
    if let Some(Value::Array(values)) = fields.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(fields)
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
