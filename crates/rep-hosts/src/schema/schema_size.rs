//! Measures the size of a schema as hosts count it.

use serde_json::Value;

/// The size of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaSize {
    /// The nesting depth of objects and lists.
    pub depth: usize,
    /// The number of properties of all objects.
    pub properties: usize,
    /// The number of optional properties.
    pub optionals: usize,
    /// The number of places with more than one type.
    pub unions: usize,
    /// The number of listed values.
    pub enum_values: usize,
    /// The number of characters in names and listed values.
    pub name_chars: usize,
}

impl SchemaSize {
    /// Adds the size of another schema of the same request.
    pub fn add(&mut self, other: &SchemaSize) {
        self.depth = self.depth.max(other.depth);
        self.properties += other.properties;
        self.optionals += other.optionals;
        self.unions += other.unions;
        self.enum_values += other.enum_values;
        self.name_chars += other.name_chars;
    }
}

/// Measures a schema.
pub fn measure_schema(schema: &Value) -> SchemaSize {
    let mut found = SchemaSize::default();
    let mut waiting = vec![(schema, 1)];
    while let Some((node, depth)) = waiting.pop() {
        let Some(fields) = node.as_object() else { continue };
        let children = |key: &str| fields.get(key).and_then(Value::as_array).into_iter().flatten();
        let properties = fields.get("properties").and_then(Value::as_object);
        if properties.is_some() || fields.contains_key("items") {
            found.depth = found.depth.max(depth);
        }
        let is_required = |name: &str| children("required").any(|other| other == name);
        for (name, property) in properties.into_iter().flatten() {
            found.properties += 1;
            found.optionals += usize::from(!is_required(name));
            found.name_chars += name.chars().count();
            waiting.push((property, depth + 1));
        }
        let is_union = fields.contains_key("anyOf") || fields.get("type").is_some_and(Value::is_array);
        found.unions += usize::from(is_union);
        for value in children("enum") {
            found.enum_values += 1;
            found.name_chars += value.as_str().map_or(0, |text| text.chars().count());
        }
        for (name, definition) in fields.get("$defs").and_then(Value::as_object).into_iter().flatten() {
            found.name_chars += name.chars().count();
            waiting.push((definition, 1));
        }
        waiting.extend(children("anyOf").map(|way| (way, depth)));
        waiting.extend(children("prefixItems").map(|way| (way, depth + 1)));
        waiting.extend(
            ["items", "additionalProperties"].iter().filter_map(|key| fields.get(*key)).map(|node| (node, depth + 1)),
        );
    }
    found
}
