//! The subsets hosts take: what they are made of, and the two promises that hold for every schema.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use proptest::prelude::*;
use rep_hosts::schema::{ANTHROPIC, GEMINI, OPENAI, SchemaDialect, fill_arguments, restore_arguments, shape_schema};
use rep_hosts::{Loss, LossSeverity};
use serde_json::{Map, Value, json};

fn shaped(schema: &Value, dialect: &SchemaDialect) -> Value {
    shape_schema(schema, dialect).unwrap_or_else(|losses| panic!("{losses:?}")).schema
}

fn refusals(schema: &Value, dialect: &SchemaDialect) -> Vec<String> {
    shape_schema(schema, dialect).unwrap_err().iter().map(|loss| loss.at.clone()).collect()
}

/// An object with one required property.
fn with(property: &Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false})
}

#[test]
fn every_property_is_required_and_those_that_were_not_may_be_null() {
    let contract = json!({"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
        "path": {"type": "string", "description": "the file"},
        "page": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["a", "b"]},
        "fixed": {"const": 3},
        "either": {"type": ["string", "integer"]},
        "tree": {"$ref": "#/$defs/tree"},
        "way": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    }, "$defs": {"tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/tree"}}, "additionalProperties": false}}});
    let schema = shaped(&contract, &OPENAI);
    assert_eq!(schema["required"], json!(["path", "page", "mode", "fixed", "either", "tree", "way"]));
    let properties = &schema["properties"];
    assert_eq!(properties["path"], json!({"description": "the file", "type": "string"}));
    assert_eq!(properties["page"], json!({"type": ["integer", "null"], "minimum": 1}));
    assert_eq!(properties["mode"], json!({"type": ["string", "null"], "enum": ["a", "b", null]}));
    assert_eq!(properties["fixed"], json!({"type": ["integer", "null"], "enum": [3, null]}));
    assert_eq!(properties["either"], json!({"type": ["string", "integer", "null"]}));
    assert_eq!(properties["tree"], json!({"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]}));
    assert_eq!(properties["way"]["anyOf"][2], json!({"type": "null"}));
    assert_eq!(schema["$defs"]["tree"]["required"], json!(["below"]));
    let given = json!({"path": "x", "page": null, "tree": {"below": {"below": null}}});
    assert_eq!(restore_arguments(&contract, given), json!({"path": "x", "tree": {"below": {}}}));
}

#[test]
fn what_cannot_be_expressed_is_refused_where_it_stands() {
    for (property, at) in [
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), "/properties/a/additionalProperties"),
        (json!({"type": "object", "patternProperties": {"^x": {}}}), "/properties/a/patternProperties"),
        (json!({"type": "object", "properties": {}, "minProperties": 1}), "/properties/a/minProperties"),
        (json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}), "/properties/a/uniqueItems"),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "/properties/a/prefixItems"),
        (json!({"not": {"type": "string"}}), "/properties/a/not"),
        (json!({"if": {"type": "string"}, "then": {"minLength": 1}}), "/properties/a/if"),
        (json!({}), "/properties/a"),
        (json!(true), "/properties/a"),
        (json!({"type": "array"}), "/properties/a"),
        (json!({"enum": [{"x": 1}]}), "/properties/a"),
        (json!({"oneOf": [{"type": "string"}, {"type": "string", "minLength": 3}]}), "/properties/a/oneOf"),
        (json!({"$ref": "https://example.org/x.json"}), "/properties/a/$ref"),
        (json!({"$ref": "#/$defs/none"}), "/properties/a/$ref"),
        (json!({"type": "string", "minLength": 2, "pattern": "^a"}), "/properties/a"),
        (json!({"allOf": [{"type": "string"}, {"type": "integer"}]}), "/properties/a"),
        (json!({"type": "string", "surprise": 1}), "/properties/a/surprise"),
    ] {
        assert_eq!(refusals(&with(&property), &OPENAI), [at], "{property}");
    }
    assert_eq!(refusals(&json!({"anyOf": [{"type": "object"}]}), &OPENAI), [""]);
    assert_eq!(refusals(&json!({"type": "string"}), &OPENAI), ["/type"]);
    assert_eq!(refusals(&json!([]), &OPENAI), [""]);
}

#[test]
fn meaning_is_kept_in_other_words() {
    for (property, expected) in [
        (json!({"type": "string", "minLength": 1}), json!({"type": "string", "pattern": "^[\\s\\S]+$"})),
        (
            json!({"type": "string", "minLength": 2, "maxLength": 4}),
            json!({"type": "string", "pattern": "^[\\s\\S]{2,4}$"}),
        ),
        (json!({"type": "integer", "minLength": 5}), json!({"type": "integer"})),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (json!({"allOf": [{"type": "string"}], "description": "x"}), json!({"description": "x", "type": "string"})),
        (
            json!({"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]}),
            json!({"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}]}),
        ),
        (
            json!({"type": ["string", "null"], "minLength": 1}),
            json!({"type": ["string", "null"], "pattern": "^[\\s\\S]+$"}),
        ),
    ] {
        assert_eq!(shaped(&with(&property), &OPENAI)["properties"]["a"], expected, "{property}");
    }
    let merged = shaped(
        &json!({"allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ]}),
        &OPENAI,
    );
    assert_eq!((&merged["required"], &merged["additionalProperties"]), (&json!(["a", "b"]), &json!(false)));
}

#[test]
fn losses_are_told() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string", "default": "x", "format": "uri"}}});
    let told: Vec<(LossSeverity, String)> =
        shape_schema(&open, &OPENAI).unwrap().losses.iter().map(|loss| (loss.weight, loss.at.clone())).collect();
    assert_eq!(
        told,
        [
            (LossSeverity::Note, "/properties/a/default".to_owned()),
            (LossSeverity::Note, "/properties/a/format".to_owned()),
            (LossSeverity::Note, "/additionalProperties".to_owned()),
        ]
    );
    let said = json!({"type": "object", "properties": {}, "additionalProperties": true});
    assert_eq!(shape_schema(&said, &OPENAI).unwrap().losses[0].weight, LossSeverity::Narrowed);
    let nothing = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    assert_eq!(shape_schema(&nothing, &OPENAI).unwrap().losses, Vec::<Loss>::new());
}

#[test]
fn each_host_has_its_own_subset() {
    let optional = json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}});
    assert_eq!(shaped(&optional, &ANTHROPIC)["properties"]["a"], json!({"type": "string"}));
    assert!(shaped(&optional, &ANTHROPIC).get("required").is_none());
    let small = with(&json!({"type": "integer", "minimum": 1, "maximum": 3}));
    assert_eq!(shaped(&small, &ANTHROPIC)["properties"]["a"], json!({"type": "integer", "enum": [1, 2, 3]}));
    assert_eq!(refusals(&with(&json!({"type": "integer", "minimum": 1})), &ANTHROPIC), ["/properties/a/minimum"]);
    assert_eq!(refusals(&with(&json!({"type": "string", "pattern": "^(?!x)"})), &ANTHROPIC), ["/properties/a/pattern"]);
    let list = with(&json!({"type": "array", "items": {"type": "string"}, "minItems": 2}));
    assert_eq!(refusals(&list, &ANTHROPIC), ["/properties/a/minItems"]);
    assert_eq!(shaped(&list, &OPENAI)["properties"]["a"]["minItems"], json!(2));
    let tree = json!({"type": "object", "properties": {"below": {"$ref": "#"}}, "additionalProperties": false});
    assert_eq!(refusals(&tree, &ANTHROPIC), ["/properties/below/$ref"]);
    assert_eq!(shaped(&tree, &OPENAI)["properties"]["below"]["anyOf"][0], json!({"$ref": "#"}));
    let map = with(&json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert_eq!(shaped(&map, &GEMINI)["properties"]["a"]["additionalProperties"], json!({"type": "string"}));
    assert_eq!(refusals(&with(&json!({"type": "string", "pattern": "^a"})), &GEMINI), ["/properties/a/pattern"]);
    let nulls = with(&json!({"enum": ["x", null]}));
    assert_eq!(
        shaped(&nulls, &GEMINI)["properties"]["a"],
        json!({"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]})
    );
}

#[test]
fn limits_are_held() {
    let many: Map<String, Value> = (0..25).map(|index| (format!("p{index}"), json!({"type": "string"}))).collect();
    let schema = json!({"type": "object", "additionalProperties": false, "properties": many});
    assert!(shape_schema(&schema, &OPENAI).is_ok());
    assert!(shape_schema(&schema, &ANTHROPIC).unwrap_err()[0].message.contains("25 optional properties"));
    let mut deep = json!({"type": "string"});
    for _ in 0..11 {
        deep = with(&deep);
    }
    assert!(shape_schema(&deep, &OPENAI).unwrap_err()[0].message.contains("11 levels of nesting"));
    let values: Vec<u32> = (0..1001).collect();
    assert!(shape_schema(&with(&json!({"enum": values})), &OPENAI).unwrap_err()[0].message.contains("1001 values"));
}

#[test]
fn hostile_schemas_come_to_an_end() {
    // Twenty definitions that each hold the next one twice would be a million nodes.
    let mut definitions = Map::new();
    for index in 0..20 {
        let next = json!({"$ref": format!("#/$defs/d{}", index + 1), "description": "x"});
        definitions.insert(format!("d{index}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    definitions.insert("d20".to_owned(), json!({"type": "string"}));
    let wide = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0", "description": "y"}}, "$defs": definitions});
    assert!(shape_schema(&wide, &OPENAI).is_err());
    let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    assert!(shape_schema(&circle, &OPENAI).is_err());
    let inner = json!({"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}});
    assert!(shape_schema(&inner, &OPENAI).is_err());
    let mut deep = json!({"type": "string"});
    for _ in 0..150 {
        deep = json!({"allOf": [deep]});
    }
    assert!(shape_schema(&with(&deep), &OPENAI).is_err());
}

/// Draws from a number, the same every time.
struct Draw {
    state: u64,
    /// Whether every object is closed.
    is_closed: bool,
}

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.state >> 33) % count as u64).unwrap()
    }

    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn schema(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 9 } else { 15 }) {
            0 => json!({"type": "string"}),
            1 => json!({"type": "string", "minLength": self.below(3), "maxLength": 3 + self.below(3)}),
            2 => json!({"type": "string", "pattern": self.one(&["^a", "b$", "^[ab]*$"])}),
            3 => json!({"type": "integer", "minimum": self.below(3), "maximum": 3 + self.below(200)}),
            4 => json!({"type": *self.one(&["number", "boolean", "null", "integer"])}),
            5 => {
                json!({"enum": self.one(&[json!(["a", "b"]), json!([1, 2.5, "a"]), json!([null, true, false]), json!(["a", null])])})
            }
            6 => json!({"const": self.one(&[json!("a"), json!(1), json!(null), json!(true)])}),
            7 => {
                json!({"type": self.one(&[json!(["string", "null"]), json!(["integer", "string"]), json!(["number", "integer", "null"])]), "minimum": 1})
            }
            8 => json!({"$ref": self.one(&["#/$defs/leaf", "#/$defs/tree", "#/$defs/pair"]), "description": "x"}),
            9 => json!({"type": "array", "items": self.schema(depth - 1), "minItems": self.below(3)}),
            10 => json!({"anyOf": [self.schema(depth - 1), self.schema(depth - 1)]}),
            11 => json!({"oneOf": [self.object(depth - 1, "one"), self.object(depth - 1, "two")]}),
            12 => json!({"allOf": [self.plain_object(depth - 1), self.plain_object(depth - 1)]}),
            13 => {
                json!({"type": ["object", "null"], "properties": {"a": self.schema(depth - 1)}, "additionalProperties": false})
            }
            _ => self.plain_object(depth - 1),
        }
    }

    fn object(&mut self, depth: usize, kind: &str) -> Value {
        let mut object = self.plain_object(depth);
        object["properties"]["kind"] = json!({"const": kind});
        object["required"] = json!(["kind"]);
        object
    }

    fn plain_object(&mut self, depth: usize) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for name in ["a", "b", "c"] {
            if self.chance() {
                properties.insert(name.to_owned(), self.schema(depth));
                if self.chance() {
                    required.push(name);
                }
            }
        }
        let mut object = json!({"type": "object", "properties": properties, "required": required});
        // A value with a property that is not named would count as lost, and tells nothing.
        if self.is_closed || self.chance() {
            object["additionalProperties"] = json!(false);
        }
        object
    }

    fn contract(&mut self) -> Value {
        let mut contract = self.plain_object(3);
        contract["$defs"] = json!({
            "leaf": self.schema(0),
            "pair": self.plain_object(1),
            "tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/tree"}, "size": {"type": "integer"}}, "additionalProperties": false},
        });
        contract["$defs"]["leaf"] = json!({"type": "string", "minLength": 1});
        contract
    }

    /// A value that a schema may accept.
    fn value(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        if depth == 0 || self.below(25) == 0 {
            return self.one(&[json!(null), json!("a"), json!(1), json!({}), json!([]), json!(true)]).clone();
        }
        if let Some(to) = schema["$ref"].as_str() {
            let target = if to == "#" { root } else { root.pointer(&to[1..]).unwrap() };
            return self.value(root, target, depth - 1);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(ways) = schema[key].as_array() {
                let way = self.one(ways).clone();
                return self.value(root, &way, depth - 1);
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let mut all = Map::new();
            for part in parts {
                if let Value::Object(members) = self.value(root, part, depth - 1) {
                    all.extend(members);
                }
            }
            return Value::Object(all);
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.one(values).clone();
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let name = match &schema["type"] {
            Value::Array(names) => self.one(names).as_str().unwrap().to_owned(),
            name => name.as_str().unwrap_or("string").to_owned(),
        };
        match name.as_str() {
            "string" => json!(*self.one(&["a", "ab", "b", "aab", "", "abcd", "héé"])),
            "integer" => json!(self.below(7)),
            "number" => json!(*self.one(&[0.5, 1.0, 3.0, 7.25])),
            "boolean" => json!(self.chance()),
            "null" => Value::Null,
            "array" => {
                let count = self.below(4);
                (0..count).map(|_| self.value(root, &schema["items"], depth - 1)).collect()
            }
            _ => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let mut members = Map::new();
                for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                    if required.contains(&json!(name)) || self.chance() {
                        members.insert(name.clone(), self.value(root, property, depth - 1));
                    }
                }
                Value::Object(members)
            }
        }
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().build(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn check_promises(seed: u64) -> (usize, usize) {
    let mut draw = Draw { state: seed, is_closed: seed.is_multiple_of(2) };
    let contract = draw.contract();
    let original = validator(&contract);
    let (mut came_back, mut went_out) = (0, 0);
    for dialect in [&OPENAI, &ANTHROPIC, &GEMINI] {
        let Ok(shaped) = shape_schema(&contract, dialect) else { continue };
        let other = validator(&shaped.schema);
        for _ in 0..20 {
            let value = draw.value(&shaped.schema, &shaped.schema, 8);
            if other.is_valid(&value) {
                came_back += 1;
                let turned = restore_arguments(&contract, value.clone());
                assert!(
                    original.is_valid(&turned),
                    "{}\n{contract:#}\n{:#}\n{value}\n{turned}",
                    dialect.name,
                    shaped.schema
                );
            }
            let value = draw.value(&contract, &contract, 8);
            let is_told =
                |loss: &Loss| loss.weight == LossSeverity::Narrowed || loss.at.ends_with("/additionalProperties");
            let is_narrowed = shaped.losses.iter().any(is_told);
            if !is_narrowed && original.is_valid(&value) {
                went_out += 1;
                let turned =
                    if dialect.name == OPENAI.name { fill_arguments(&contract, value.clone()) } else { value.clone() };
                assert!(
                    other.is_valid(&turned),
                    "{}\n{contract:#}\n{:#}\n{value}\n{turned}",
                    dialect.name,
                    shaped.schema
                );
            }
        }
    }
    (came_back, went_out)
}

#[test]
fn the_promises_are_put_to_the_test_at_all() {
    let sums = (0..200).map(check_promises).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    assert!(sums.0 > 1000 && sums.1 > 500, "{sums:?}");
}

proptest! {
    #[test]
    fn nothing_a_shape_accepts_is_refused_and_nothing_is_lost_in_silence(seed in any::<u64>()) {
        check_promises(seed);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\":,a-z0-9$#/ ]{0,200}") {
        if let Ok(schema) = serde_json::from_str::<Value>(&text) {
            for dialect in [&OPENAI, &ANTHROPIC, &GEMINI] {
                let _ = shape_schema(&schema, dialect);
            }
        }
    }
}
