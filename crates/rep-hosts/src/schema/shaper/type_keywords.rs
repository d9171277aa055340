//! Shapes schemas of a single type.

use serde_json::{Map, Value, json};

use super::{KEYWORDS_BY_TYPE, SchemaFields, SchemaShaper, escape_pointer, make_nullable};
use crate::loss::LossSeverity;
use crate::schema::arguments::accepts_null;

/// The maximum number of values as which a range of integers is written.
const RANGE_MAX: u64 = 100;
/// The maximum repetition count in a pattern, for dialects that limit it.
const REPEAT_MAX: u64 = 100;

impl SchemaShaper<'_> {
    pub(super) fn shape_typed(
        &mut self,
        name: &str,
        fields: &SchemaFields,
        mut told: SchemaFields,
        at: &str,
        depth: usize,
    ) -> Value {
        let family = if name == "integer" { "number" } else { name };
        let keys = KEYWORDS_BY_TYPE.iter().find(|(of, _)| *of == family).map_or(&[][..], |(_, keys)| *keys);
        told.insert("type".to_owned(), name.into());
        let own: SchemaFields = fields
            .iter()
            .filter(|(key, _)| keys.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        match family {
            "string" => self.shape_string(&own, told, at),
            "number" => self.shape_number(name, &own, told, at),
            "array" => self.shape_array(&own, told, at, depth),
            "object" => self.shape_object(&own, told, at, depth),
            "boolean" | "null" => Value::Object(told),
            _ => self.refuse_place(&format!("{at}/type"), format!("the type `{name}` cannot be expressed")),
        }
    }

    fn shape_format(&mut self, own: &SchemaFields, told: &mut SchemaFields, at: &str) {
        let Some(format) = own.get("format") else { return };
        let is_taken = self.dialect.keywords.contains(&"format")
            && format.as_str().is_some_and(|word| self.dialect.formats.is_none_or(|formats| formats.contains(&word)));
        if is_taken {
            told.insert("format".to_owned(), format.clone());
        } else {
            let message = format!("the format {format} is dropped: {} does not support it", self.dialect.name);
            self.report_loss(LossSeverity::Note, &format!("{at}/format"), message);
        }
    }

    fn shape_string(&mut self, own: &SchemaFields, mut told: SchemaFields, at: &str) -> Value {
        self.shape_format(own, &mut told, at);
        let is_taken = self.dialect.keywords.contains(&"pattern");
        let (min, max) = (parse_count(own.get("minLength")).unwrap_or(0), parse_count(own.get("maxLength")));
        let is_bounded = min > 0 || max.is_some();
        match own.get("pattern").and_then(Value::as_str) {
            Some(pattern) if is_taken && is_bounded && !is_length_pattern(pattern, min, max) => {
                return self.refuse_place(at, "`pattern` next to `minLength` or `maxLength` cannot be expressed");
            }
            Some(pattern) if is_taken => {
                if let Some(reason) = self.find_pattern_problem(pattern) {
                    return self.refuse_place(&format!("{at}/pattern"), reason);
                }
                told.insert("pattern".to_owned(), pattern.into());
            }
            Some(_) => return self.refuse_place(&format!("{at}/pattern"), "`pattern` cannot be expressed"),
            None if is_bounded && is_taken => {
                let pattern = build_length_pattern(min, max);
                if let Some(reason) = self.find_pattern_problem(&pattern) {
                    return self.refuse_place(at, reason);
                }
                told.insert("pattern".to_owned(), pattern.into());
            }
            None if is_bounded => return self.refuse_place(at, "`minLength` and `maxLength` cannot be expressed"),
            None => {}
        }
        Value::Object(told)
    }

    /// Returns the reason why a pattern cannot be used in dialects with simple patterns.
    fn find_pattern_problem(&self, pattern: &str) -> Option<&'static str> {
        // Dialects without bounds on numbers support only simple patterns.
        if self.dialect.keywords.contains(&"minimum") {
            return None;
        }
        if ["(?=", "(?!", "(?<", "\\b", "\\B"].iter().any(|part| pattern.contains(part)) {
            return Some("a pattern with lookaround or word boundaries cannot be expressed");
        }
        let escaped = |digit: char| pattern.contains(&format!("\\{digit}"));
        if ('1'..='9').any(escaped) || pattern.contains("\\k") {
            return Some("a pattern with backreferences cannot be expressed");
        }
        let mut counts =
            pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}')).flat_map(|(count, _)| count.split(','));
        if counts.any(|count| count.trim().parse::<u64>().is_ok_and(|count| count > REPEAT_MAX)) {
            return Some("a pattern with a large repetition count cannot be expressed");
        }
        None
    }

    fn shape_number(&mut self, name: &str, own: &SchemaFields, mut told: SchemaFields, at: &str) -> Value {
        self.shape_format(own, &mut told, at);
        let bounds: Vec<&String> = own.keys().filter(|key| *key != "format").collect();
        if bounds.iter().all(|key| self.dialect.keywords.contains(&key.as_str())) {
            told.extend(
                own.iter().filter(|(key, _)| *key != "format").map(|(key, value)| (key.clone(), value.clone())),
            );
            return Value::Object(told);
        }
        if let Some(values) = (name == "integer").then(|| list_small_range(own)).flatten() {
            told.remove("type");
            return self.write_enum(values, told, at);
        }
        let first = bounds.iter().find(|key| !self.dialect.keywords.contains(&key.as_str()));
        let key = first.map_or("minimum", |key| key.as_str()).to_owned();
        self.refuse_place(&format!("{at}/{key}"), format!("`{key}` cannot be expressed"))
    }

    fn shape_array(&mut self, own: &SchemaFields, mut told: SchemaFields, at: &str, depth: usize) -> Value {
        for (key, value) in own {
            let at = format!("{at}/{key}");
            let is_idle = match key.as_str() {
                "uniqueItems" | "unevaluatedItems" => *value == Value::Bool(key == "unevaluatedItems"),
                "minContains" | "maxContains" => !own.contains_key("contains"),
                "minItems" => *value == json!(0),
                _ => false,
            };
            match key.as_str() {
                _ if is_idle => {}
                "minItems"
                    if parse_count(Some(value)).zip(self.dialect.min_items_max).is_some_and(|(min, max)| min > max) =>
                {
                    return self.refuse_place(&at, format!("`minItems` of {value} cannot be expressed"));
                }
                "minItems" | "maxItems" if self.dialect.keywords.contains(&key.as_str()) => {
                    told.insert(key.clone(), value.clone());
                }
                "items" if value.is_array() => {
                    return self.refuse_place(&at, "a list of schemas for `items` cannot be expressed");
                }
                "items" => {
                    let items = self.shape_node(value, &at, depth + 1);
                    told.insert(key.clone(), items);
                }
                "prefixItems" if self.dialect.keywords.contains(&"prefixItems") => {
                    let parts = value.as_array().cloned().unwrap_or_default();
                    let written = parts
                        .iter()
                        .enumerate()
                        .map(|(index, part)| self.shape_node(part, &format!("{at}/{index}"), depth + 1));
                    let written: Vec<Value> = written.collect();
                    told.insert(key.clone(), Value::Array(written));
                }
                _ => return self.refuse_place(&at, format!("`{key}` cannot be expressed")),
            }
        }
        if !told.contains_key("items") && !self.dialect.allows_any {
            return self.refuse_place(at, "a list without `items` cannot be expressed");
        }
        Value::Object(told)
    }

    fn shape_object(&mut self, own: &SchemaFields, mut told: SchemaFields, at: &str, depth: usize) -> Value {
        for (key, value) in own {
            let is_idle = match key.as_str() {
                "minProperties" => *value == json!(0),
                "patternProperties" | "dependentRequired" | "dependentSchemas" | "dependencies" => {
                    value.as_object().is_some_and(Map::is_empty)
                }
                "propertyNames" => *value == Value::Bool(true) || value.as_object().is_some_and(Map::is_empty),
                "properties" | "required" | "additionalProperties" => true,
                "unevaluatedProperties" => value.is_boolean(),
                _ => false,
            };
            if !is_idle {
                return self.refuse_place(&format!("{at}/{key}"), format!("`{key}` cannot be expressed"));
            }
        }
        let open = Value::Bool(true);
        let rest = match (own.get("additionalProperties"), own.get("unevaluatedProperties")) {
            (Some(rest), _) => rest,
            (None, Some(Value::Bool(false))) => &Value::Bool(false),
            (None, _) => &open,
        };
        let required: Vec<&str> =
            own.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut properties = own.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        // A required property without a schema gets the schema of additional properties.
        for name in &required {
            if !properties.contains_key(*name) {
                properties.insert((*name).to_owned(), rest.clone());
            }
        }
        let mut written = Map::new();
        let mut all = Vec::new();
        for (name, property) in &properties {
            let at = format!("{at}/properties/{}", escape_pointer(name));
            let is_required = required.contains(&name.as_str());
            if *property == Value::Bool(false)
                && !is_required
                && (self.dialect.closes_objects || *rest == Value::Bool(false))
            {
                continue;
            }
            let shaped = self.shape_node(property, &at, depth + 1);
            let shaped = if is_required || !self.dialect.requires_all {
                shaped
            } else {
                if accepts_null(self.root, property) {
                    self.report_loss(LossSeverity::Note, &at, "omitting it and passing null are equivalent");
                }
                make_nullable(shaped)
            };
            if is_required || self.dialect.requires_all {
                all.push(Value::String(name.clone()));
            }
            written.insert(name.clone(), shaped);
        }
        self.shape_additional_properties(rest, own.contains_key("additionalProperties"), at, &mut told, depth);
        told.insert("properties".to_owned(), Value::Object(written));
        if !all.is_empty() || self.dialect.requires_all {
            told.insert("required".to_owned(), Value::Array(all));
        }
        Value::Object(told)
    }

    /// Shapes the additional properties of an object.
    fn shape_additional_properties(
        &mut self,
        rest: &Value,
        is_said: bool,
        at: &str,
        told: &mut SchemaFields,
        depth: usize,
    ) {
        let is_open = *rest == Value::Bool(true) || rest.as_object().is_some_and(Map::is_empty);
        let at = format!("{at}/additionalProperties");
        match rest {
            Value::Bool(false) => drop(told.insert("additionalProperties".to_owned(), false.into())),
            _ if is_open && self.dialect.closes_objects => {
                let weight = if is_said { LossSeverity::Narrowed } else { LossSeverity::Note };
                self.report_loss(weight, &at, "additional properties are not accepted");
                told.insert("additionalProperties".to_owned(), false.into());
            }
            _ if is_open => {}
            _ if self.dialect.closes_objects => {
                self.refuse_place(&at, "an object with arbitrary property names cannot be expressed");
            }
            schema => {
                let written = self.shape_node(schema, &at, depth + 1);
                told.insert("additionalProperties".to_owned(), written);
            }
        }
    }
}

/// Parses a non-negative integer.
fn parse_count(value: Option<&Value>) -> Option<u64> {
    let number = value?.as_number()?;
    number.as_u64().or_else(|| {
        let number = number.as_f64().filter(|number| number.fract() == 0.0 && (0.0..1e15).contains(number))?;
        format!("{number:.0}").parse().ok()
    })
}

/// Builds a pattern that matches strings of a length.
fn build_length_pattern(min: u64, max: Option<u64>) -> String {
    match max {
        Some(max) => format!("^[\\s\\S]{{{min},{max}}}$"),
        None if min == 1 => "^[\\s\\S]+$".to_owned(),
        None => format!("^[\\s\\S]{{{min},}}$"),
    }
}

/// Whether a pattern only restricts the length.
fn is_length_pattern(pattern: &str, min: u64, max: Option<u64>) -> bool {
    pattern == build_length_pattern(min, max)
}

/// Lists the values of a small range of integers.
fn list_small_range(own: &SchemaFields) -> Option<Vec<Value>> {
    if own.contains_key("multipleOf") {
        return None;
    }
    let bound = |inclusive: &str, exclusive: &str, step: i64| {
        let inclusive = own.get(inclusive).map(Value::as_i64);
        let exclusive = own.get(exclusive).map(|value| value.as_i64().and_then(|value| value.checked_add(step)));
        match (inclusive, exclusive) {
            (Some(one), None) | (None, Some(one)) => one,
            (Some(one), Some(two)) => Some(if step > 0 { one?.max(two?) } else { one?.min(two?) }),
            (None, None) => None,
        }
    };
    let (low, high) = (bound("minimum", "exclusiveMinimum", 1)?, bound("maximum", "exclusiveMaximum", -1)?);
    let count = high.checked_sub(low).and_then(|count| u64::try_from(count).ok())?;
    (count < RANGE_MAX).then(|| (low..=high).map(Value::from).collect())
}
