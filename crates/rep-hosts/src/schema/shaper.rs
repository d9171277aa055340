//! The traversal that rewrites a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value, json};

use super::dialect::SchemaDialect;
use super::schema_size::measure_schema;
use super::{ShapedSchema, disjointness};
use crate::loss::{Loss, LossSeverity};

mod conjunction;
mod reference;
mod type_keywords;

pub(crate) use conjunction::is_of_declared_type;
pub(crate) use reference::resolve_reference;

/// The maximum depth of a schema.
const DEPTH_MAX: usize = 64;
/// The maximum number of written nodes. Expanded references can multiply them.
const NODES_MAX: usize = 20_000;

/// Keywords that do not restrict values.
const ANNOTATION_KEYWORDS: [&str; 15] = [
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
/// Keywords that only apply to values of one type.
const KEYWORDS_BY_TYPE: [(&str, &[&str]); 4] = [
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
/// Keywords that apply to values of any type.
const GENERAL_KEYWORDS: [&str; 8] = ["type", "enum", "const", "allOf", "anyOf", "oneOf", "$defs", "definitions"];

type SchemaFields = Map<String, Value>;

pub(super) fn shape_schema(schema: &Value, dialect: &SchemaDialect) -> Result<ShapedSchema, Vec<Loss>> {
    let mut shaper = SchemaShaper {
        dialect,
        root: schema,
        recursive: reference::find_recursive_references(schema),
        is_old_draft: is_old_draft(schema),
        losses: Vec::new(),
        definitions: BTreeMap::new(),
        waiting: Vec::new(),
        nodes: 0,
    };
    let mut shaped = shaper.shape_root();
    shaper.check_limits(&shaped);
    if shaper.losses.iter().any(|loss| loss.weight == LossSeverity::Refused) {
        shaper.losses.retain(|loss| loss.weight == LossSeverity::Refused);
        return Err(shaper.losses);
    }
    if !shaper.definitions.is_empty() {
        let definitions: SchemaFields = shaper.definitions.into_iter().collect();
        shaped["$defs"] = Value::Object(definitions);
    }
    Ok(ShapedSchema { schema: shaped, losses: shaper.losses })
}

/// Whether the schema uses draft 7 or earlier, in which keywords next to a `$ref` are ignored.
fn is_old_draft(schema: &Value) -> bool {
    schema.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-0"))
}

struct SchemaShaper<'a> {
    dialect: &'a SchemaDialect,
    root: &'a Value,
    /// The targets of recursive references.
    recursive: BTreeSet<String>,
    is_old_draft: bool,
    losses: Vec<Loss>,
    definitions: BTreeMap<String, Value>,
    /// Definitions that are referenced but not yet written: name and target.
    waiting: Vec<(String, String)>,
    nodes: usize,
}

impl SchemaShaper<'_> {
    fn report_loss(&mut self, weight: LossSeverity, at: &str, message: impl Into<String>) {
        let loss = Loss::new(weight, at, message);
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Refuses a place. The returned placeholder is discarded.
    fn refuse_place(&mut self, at: &str, message: impl Into<String>) -> Value {
        let message = format!("{} in {}", message.into(), self.dialect.name);
        self.report_loss(LossSeverity::Refused, at, message);
        Value::Null
    }

    fn shape_root(&mut self) -> Value {
        let Some(root) = self.root.as_object() else {
            return self.refuse_place("", "a schema that is not an object cannot be expressed");
        };
        let mut root = root.clone();
        let mut hops = 0;
        // A root that is only a reference is replaced by its target.
        while let Some(target) =
            root.get("$ref").and_then(Value::as_str).and_then(|to| resolve_reference(self.root, to))
        {
            hops += 1;
            let (true, Some(target)) = (hops < DEPTH_MAX, target.as_object()) else {
                return self.refuse_place("/$ref", "a root that refers to itself cannot be expressed");
            };
            let mut rest = root.clone();
            rest.remove("$ref");
            rest.retain(|key, _| key != "$defs" && key != "definitions");
            match conjunction::conjoin_schemas(target, &rest, self.root) {
                Ok(both) => root = both,
                Err(reason) => return self.refuse_place("/$ref", reason),
            }
        }
        root = match merge_all_of(root, self.root) {
            Ok(root) => root,
            Err(reason) => return self.refuse_place("", reason),
        };
        if root.contains_key("anyOf") || root.contains_key("oneOf") {
            return self.refuse_place("", "a choice at the root cannot be expressed");
        }
        match list_types(&root) {
            None => drop(root.insert("type".to_owned(), "object".into())),
            Some(types) if types.iter().any(|name| name == "object") => {
                // Arguments are always an object.
                root.insert("type".to_owned(), "object".into());
            }
            Some(_) => return self.refuse_place("/type", "a root that does not accept objects cannot be expressed"),
        }
        let shaped = self.shape_fields(root, "", 0);
        while let Some((name, to)) = self.waiting.pop() {
            if self.definitions.contains_key(&name) {
                continue;
            }
            // Inserted before it is written, so that it can refer to itself.
            self.definitions.insert(name.clone(), Value::Null);
            let Some(target) = resolve_reference(self.root, &to).cloned() else { continue };
            let written = self.shape_node(&target, &to[1..], 0);
            self.definitions.insert(name, written);
        }
        shaped
    }

    /// Compares the result with the limits of the dialect.
    fn check_limits(&mut self, shaped: &Value) {
        let mut all = measure_schema(shaped);
        for definition in self.definitions.values() {
            all.add(&measure_schema(definition));
        }
        let limits = [
            ("levels of nesting", all.depth, self.dialect.depth_max),
            ("properties", all.properties, self.dialect.properties_max),
            ("values in `enum`", all.enum_values, self.dialect.enum_values_max),
            ("characters in names and values", all.name_chars, self.dialect.name_chars_max),
            ("optional properties", all.optionals, self.dialect.optionals_max),
            ("unions", all.unions, self.dialect.unions_max),
        ];
        for (what, count, limit) in limits {
            if let Some(limit) = limit.filter(|limit| count > *limit) {
                self.refuse_place("", format!("{count} {what} exceed the limit of {limit}"));
            }
        }
    }

    fn shape_node(&mut self, schema: &Value, at: &str, depth: usize) -> Value {
        self.nodes += 1;
        if depth > DEPTH_MAX || self.nodes > NODES_MAX {
            return self.refuse_place(at, "the expanded schema is too large to be expressed");
        }
        match schema {
            Value::Bool(true) => self.shape_any(Map::new(), at),
            Value::Bool(false) => self.refuse_place(at, "a schema that accepts nothing cannot be expressed"),
            Value::Object(fields) => self.shape_fields(fields.clone(), at, depth),
            _ => self.refuse_place(at, "a value that is not a schema cannot be expressed"),
        }
    }

    /// Shapes a place that accepts any value.
    fn shape_any(&mut self, told: SchemaFields, at: &str) -> Value {
        if self.dialect.allows_any {
            return Value::Object(told);
        }
        self.refuse_place(at, "a schema without `type` cannot be expressed")
    }

    fn shape_fields(&mut self, fields: SchemaFields, at: &str, depth: usize) -> Value {
        if let Some(to) = fields.get("$ref") {
            let to = to.as_str().unwrap_or_default().to_owned();
            return self.shape_reference(&to, fields, at, depth);
        }
        if let Some(key) = find_unknown_keyword(&fields) {
            return self.refuse_place(&format!("{at}/{key}"), format!("`{key}` cannot be expressed"));
        }
        let fields = match merge_all_of(fields, self.root) {
            Ok(fields) => fields,
            Err(reason) => return self.refuse_place(at, reason),
        };
        if let Some(key) = ["anyOf", "oneOf"].into_iter().find(|key| fields.contains_key(*key)) {
            return self.shape_choice(key, fields, at, depth);
        }
        if fields.contains_key("enum") || fields.contains_key("const") {
            return self.shape_enum(&fields, at);
        }
        let told = self.collect_annotations(&fields, at);
        let Some(mut types) = list_types(&fields) else { return self.shape_untyped(fields, told, at, depth) };
        types.dedup();
        match types.as_slice() {
            [] => self.refuse_place(at, "a schema that accepts nothing cannot be expressed"),
            [one] => self.shape_typed(one, &fields, told, at, depth),
            several => self.shape_several_types(several, &fields, told, at, depth),
        }
    }

    /// Collects the annotation keywords that the dialect supports.
    fn collect_annotations(&mut self, fields: &SchemaFields, at: &str) -> SchemaFields {
        let mut told = Map::new();
        for (key, value) in fields {
            let key = key.as_str();
            if self.dialect.annotations.contains(&key) {
                told.insert(key.to_owned(), value.clone());
            } else if ["default", "examples", "contentEncoding", "contentMediaType"].contains(&key) {
                let message = format!("`{key}` is dropped: {} does not support it", self.dialect.name);
                self.report_loss(LossSeverity::Note, &format!("{at}/{key}"), message);
            }
        }
        told
    }

    /// Shapes a choice. Keywords next to it are merged into each of its branches.
    fn shape_choice(&mut self, key: &str, mut fields: SchemaFields, at: &str, depth: usize) -> Value {
        let at_choice = format!("{at}/{key}");
        let Some(Value::Array(branches)) = fields.remove(key) else {
            return self.refuse_place(&at_choice, "a choice that is not a list cannot be expressed");
        };
        let mut told = self.collect_annotations(&fields, at);
        fields.retain(|key, _| !ANNOTATION_KEYWORDS.contains(&key.as_str()));
        let mut whole = Vec::new();
        for branch in &branches {
            let branch = match branch {
                Value::Object(branch) => branch.clone(),
                Value::Bool(true) => Map::new(),
                // This branch never matches.
                Value::Bool(false) => continue,
                _ => return self.refuse_place(&at_choice, "a choice with an invalid schema cannot be expressed"),
            };
            let together =
                if fields.is_empty() { Ok(branch) } else { conjunction::conjoin_schemas(&fields, &branch, self.root) };
            match together {
                Ok(together) => whole.push(Value::Object(together)),
                Err(reason) => return self.refuse_place(&at_choice, reason),
            }
        }
        if key == "oneOf" && !disjointness::is_disjoint_set(&whole, self.root) {
            return self
                .refuse_place(&at_choice, "`oneOf` with branches that may accept the same value cannot be expressed");
        }
        let mut shaped = Vec::new();
        for (index, branch) in whole.iter().enumerate() {
            let written = self.shape_node(branch, &format!("{at_choice}/{index}"), depth + 1);
            match written {
                // Nested choices are flattened into this one.
                Value::Object(mut inner) if inner.len() == 1 && inner.contains_key("anyOf") => {
                    shaped
                        .extend(inner.remove("anyOf").and_then(|inner| inner.as_array().cloned()).unwrap_or_default());
                }
                other => shaped.push(other),
            }
        }
        match shaped.len() {
            0 => self.refuse_place(&at_choice, "a schema that accepts nothing cannot be expressed"),
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

    /// Shapes a place with listed values.
    fn shape_enum(&mut self, fields: &SchemaFields, at: &str) -> Value {
        let wanted = list_types(fields);
        let listed = fields.get("enum").map(|list| list.as_array().cloned().unwrap_or_default());
        let one = fields.get("const").cloned();
        let mut values = match (listed, one) {
            (Some(list), Some(one)) => list.into_iter().filter(|value| *value == one).collect(),
            (Some(list), None) => list,
            (None, one) => one.into_iter().collect::<Vec<Value>>(),
        };
        let is_wanted =
            |value: &Value| wanted.as_ref().is_none_or(|types| types.iter().any(|name| is_of_type(value, name)));
        values.retain(is_wanted);
        let narrowing = fields.keys().find(|key| {
            let key = key.as_str();
            !ANNOTATION_KEYWORDS.contains(&key) && !GENERAL_KEYWORDS.contains(&key) && key != "format"
        });
        if let Some(key) = narrowing.cloned() {
            return self.refuse_place(
                &format!("{at}/{key}"),
                format!("`{key}` next to `enum` or `const` cannot be expressed"),
            );
        }
        if values.is_empty() {
            return self.refuse_place(at, "a schema that accepts nothing cannot be expressed");
        }
        if !self.dialect.allows_complex_enums && values.iter().any(|value| value.is_array() || value.is_object()) {
            return self.refuse_place(at, "lists and objects in `enum` cannot be expressed");
        }
        let told = self.collect_annotations(fields, at);
        self.write_enum(values, told, at)
    }

    /// Writes listed values with their types.
    fn write_enum(&mut self, mut values: Vec<Value>, mut told: SchemaFields, at: &str) -> Value {
        let mut types: Vec<&str> = Vec::new();
        for value in &values {
            let name = json_type_name(value);
            if !types.contains(&name) {
                types.push(name);
            }
        }
        if self.dialect.allows_bool_enums {
            told.insert("type".to_owned(), type_names_to_json(&types));
            told.insert("enum".to_owned(), Value::Array(values));
            return Value::Object(told);
        }
        // Only strings and numbers can be listed; other values are written as types.
        let mut ways: Vec<Value> = Vec::new();
        if values.iter().any(Value::is_boolean) {
            if !(values.contains(&Value::Bool(true)) && values.contains(&Value::Bool(false))) {
                return self.refuse_place(at, "a single boolean value cannot be expressed");
            }
            ways.push(json!({ "type": "boolean" }));
        }
        if values.iter().any(Value::is_null) {
            ways.push(json!({ "type": "null" }));
        }
        values.retain(|value| value.is_string() || value.is_number());
        for name in types.iter().filter(|name| ["string", "number", "integer"].contains(*name)) {
            let of_type: Vec<&Value> = values.iter().filter(|value| json_type_name(value) == *name).collect();
            ways.insert(0, json!({ "type": name, "enum": of_type }));
        }
        if let [Value::Object(only)] = ways.as_slice() {
            told.extend(only.clone());
            return Value::Object(told);
        }
        told.insert("anyOf".to_owned(), Value::Array(ways));
        Value::Object(told)
    }

    /// Shapes a place without a type: its keywords restrict values of some types, and values of other types are
    /// accepted.
    fn shape_untyped(&mut self, mut fields: SchemaFields, told: SchemaFields, at: &str, depth: usize) -> Value {
        let mut spoken: Vec<&str> = Vec::new();
        for (name, keys) in KEYWORDS_BY_TYPE {
            if keys.iter().any(|key| fields.contains_key(*key) && *key != "format") {
                spoken.push(name);
            }
        }
        match spoken.as_slice() {
            [] if fields.contains_key("format") && !self.dialect.allows_any => {
                self.report_loss(
                    LossSeverity::Narrowed,
                    at,
                    "only strings are accepted: the schema has `format` but no `type`",
                );
                self.shape_typed("string", &fields, told, at, depth)
            }
            [] => self.shape_any(told, at),
            [one] => {
                let message = format!("only values of type `{one}` are accepted: the schema has no `type`");
                self.report_loss(LossSeverity::Narrowed, at, message);
                self.shape_typed(one, &fields, told, at, depth)
            }
            several => {
                fields.insert("type".to_owned(), json!(several));
                let message =
                    format!("only values of types {} are accepted: the schema has no `type`", several.join(", "));
                self.report_loss(LossSeverity::Narrowed, at, message);
                let several: Vec<String> = several.iter().map(|name| (*name).to_owned()).collect();
                self.shape_several_types(&several, &fields, told, at, depth)
            }
        }
    }

    /// Shapes a place with several types: one branch for each type, unless the types have no keywords.
    fn shape_several_types(
        &mut self,
        types: &[String],
        fields: &SchemaFields,
        mut told: SchemaFields,
        at: &str,
        depth: usize,
    ) -> Value {
        let mut ways: Vec<Value> = Vec::new();
        for name in types {
            // `number` includes `integer`.
            if name == "integer" && types.iter().any(|other| other == "number") {
                continue;
            }
            ways.push(self.shape_typed(name, fields, Map::new(), at, depth));
        }
        let is_plain = |way: &Value| way.as_object().is_some_and(|way| way.len() == 1 && way.contains_key("type"));
        if self.dialect.allows_bool_enums {
            let nulls: Vec<&Value> = ways.iter().filter(|way| way["type"] != "null").collect();
            if ways.iter().all(is_plain) {
                let names: Vec<&str> = ways.iter().filter_map(|way| way["type"].as_str()).collect();
                told.insert("type".to_owned(), self::type_names_to_json(&names));
                return Value::Object(told);
            }
            if let ([one], true) = (nulls.as_slice(), ways.len() == 2) {
                let mut one = make_nullable((*one).clone());
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

/// Merges all `allOf` keywords, including those that merged parts contain.
pub(super) fn merge_all_of(mut fields: SchemaFields, root: &Value) -> Result<SchemaFields, String> {
    for _ in 0..DEPTH_MAX {
        let Some(parts) = fields.remove("allOf") else { return Ok(fields) };
        let Value::Array(parts) = parts else { break };
        for part in parts {
            match part {
                Value::Bool(true) => {}
                Value::Object(part) => fields = conjunction::conjoin_schemas(&fields, &part, root)?,
                _ => return Err("a schema that accepts nothing cannot be expressed".to_owned()),
            }
        }
    }
    Err("infinitely nested `allOf` cannot be expressed".to_owned())
}

/// Finds a keyword that is not known.
fn find_unknown_keyword(fields: &SchemaFields) -> Option<&String> {
    let is_known = |key: &str| {
        ANNOTATION_KEYWORDS.contains(&key)
            || GENERAL_KEYWORDS.contains(&key)
            || KEYWORDS_BY_TYPE.iter().any(|(_, keys)| keys.contains(&key))
            // Extensions of hosts are not part of the schema.
            || key.starts_with("x-")
    };
    fields.keys().find(|key| !is_known(key))
}

/// Returns the declared types of a schema, or `None` if it declares no type.
fn list_types(fields: &SchemaFields) -> Option<Vec<String>> {
    match fields.get("type")? {
        Value::String(name) => Some(vec![name.clone()]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        _ => Some(Vec::new()),
    }
}

fn type_names_to_json(types: &[&str]) -> Value {
    match types {
        [one] => Value::String((*one).to_owned()),
        several => json!(several),
    }
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_whole_number(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_whole_number(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Whether a value has the named type.
pub(super) fn is_of_type(value: &Value, name: &str) -> bool {
    json_type_name(value) == name || name == "number" && value.is_number()
}

/// Extends a schema so that it also accepts null.
fn make_nullable(schema: Value) -> Value {
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

/// Escapes a name for a JSON pointer.
fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
