//! The frontmatter of a SKILL.md, or a UASP file, as JSON Schema (draft 2020-12).
//!
//! A schema has no levels. It refuses what the rules about fields and their values report as an error or a warning if
//! the profile is selected, and each restriction is derived from the rule that reports it.

use rep_model::frontmatter::{STANDARD_FIELDS, UNIVERSAL_FIELDS};
use serde_json::{Map, Value, json};

use crate::boolean_words::{BOOLEAN_FIELDS, BOOLEAN_WORDS};
use crate::fields::{
    FieldEntry, HostFields, find_top_field, list_host_profiles, list_nested_fields, list_profile_fields,
    list_uasp_fields,
};
use crate::value_schema::json_schema::{describe_properties, describe_uasp, list_frontmatter_schemas};
use crate::{Level, Profile, find_rule};

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaSubject<'a> {
    /// What a profile accepts.
    Profile(Profile),
    /// What a host reads, by its id and its name.
    Host(&'a str, &'a str),
}

impl SchemaSubject<'_> {
    /// Returns the profile that has the restrictions. A host without a profile follows the specification.
    fn profile(self) -> Profile {
        match self {
            SchemaSubject::Profile(profile) => profile,
            SchemaSubject::Host(host, _) => list_host_profiles(host).first().copied().unwrap_or(Profile::AgentSkills),
        }
    }

    /// Returns the names of the fields that are described.
    fn field_names(self) -> Vec<&'static str> {
        match self {
            SchemaSubject::Profile(profile) => list_profile_fields(profile).unwrap_or_default(),
            SchemaSubject::Host(..) => {
                self.host_fields().map_or_else(|| STANDARD_FIELDS.to_vec(), |known| known.fields.to_vec())
            }
        }
    }

    /// Returns what is known about the fields that the host reads.
    fn host_fields(self) -> Option<&'static HostFields> {
        match self {
            SchemaSubject::Profile(_) => None,
            SchemaSubject::Host(host, _) => HostFields::find(host),
        }
    }

    /// Whether other fields are refused. Hosts ignore what they do not know, except where skills are uploaded.
    fn refuses_other_fields(self) -> bool {
        match self {
            SchemaSubject::Host(host, _) if list_host_profiles(host).is_empty() => false,
            _ => reports("field-unknown", self.profile()),
        }
    }

    fn title(self) -> String {
        match self {
            SchemaSubject::Profile(Profile::Uasp) => "UASP file".to_owned(),
            SchemaSubject::Profile(profile) => format!("Frontmatter of a SKILL.md, profile {}", profile.name()),
            SchemaSubject::Host(_, name) => format!("Frontmatter of a SKILL.md for {name}"),
        }
    }

    fn id(self) -> String {
        match self {
            SchemaSubject::Profile(profile) => format!("urn:repertoire:schema:profile:{}", profile.name()),
            SchemaSubject::Host(host, _) => format!("urn:repertoire:schema:host:{host}"),
        }
    }
}

/// Whether a rule reports an error or a warning under a profile.
fn reports(rule: &str, profile: Profile) -> bool {
    let level = find_rule(rule).and_then(|rule| rule.levels.for_profile(profile));
    level.is_some_and(|level| level >= Level::Warning)
}

/// Returns the JSON Schema of a profile or a host, or `None` for `security`, which has no fields.
pub fn build_frontmatter_schema(subject: SchemaSubject<'_>) -> Option<Value> {
    let profile = subject.profile();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("$id".to_owned(), json!(subject.id()));
    schema.insert("title".to_owned(), json!(subject.title()));
    match profile {
        Profile::Security => return None,
        Profile::Uasp => {
            let Value::Object(body) = describe_uasp(&list_uasp_fields) else { return None };
            schema.extend(body);
        }
        _ => schema.extend(describe_frontmatter(subject, profile)),
    }
    Some(Value::Object(schema))
}

fn describe_frontmatter(subject: SchemaSubject<'_>, profile: Profile) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    let refuses_others = subject.refuses_other_fields();
    for name in subject.field_names() {
        let Some(entry) = find_top_field(name) else { continue };
        properties.insert(name.to_owned(), restrict_field(profile, entry));
    }
    for fields in list_frontmatter_schemas(profile) {
        let typed = describe_properties(fields, &mut Vec::new(), &list_nested_fields);
        for (name, schema) in typed {
            // A field that the subject accepts but does not read has a type too.
            if refuses_others && !properties.contains_key(&name) {
                continue;
            }
            let known = properties.entry(name).or_insert_with(|| json!({}));
            merge(known, schema);
        }
        required.extend(fields.required);
    }
    for (rule, field) in [("name-missing", "name"), ("description-missing", "description")] {
        if reports(rule, profile) && !required.contains(&field) {
            required.push(field);
        }
    }
    for field in BOOLEAN_FIELDS.iter().filter(|_| !reports("boolean-as-text", profile)) {
        if let Some(schema) = properties.get_mut(*field).filter(|schema| schema["type"] == "boolean") {
            schema["type"] = json!(["boolean", "string"]);
            schema["pattern"] = json!(boolean_pattern());
        }
    }
    for (name, schema) in &mut properties {
        if let Some(entry) = find_top_field(name) {
            let fact = subject.host_fields().filter(|host| host.fields.contains(&entry.name));
            let text = match fact {
                Some(host) => format!("{} {}.", entry.meaning, host.describe(entry.name)),
                None => entry.meaning.to_owned(),
            };
            schema["description"] = json!(text);
        }
    }
    let mut body = Map::new();
    body.insert("type".to_owned(), json!("object"));
    if !required.is_empty() {
        body.insert("required".to_owned(), json!(required));
    }
    if refuses_others {
        body.extend(refuse_other_fields(profile, properties.keys()));
    }
    body.insert("properties".to_owned(), Value::Object(properties));
    body
}

/// Refuses fields that are not described. `OpenAI` also accepts the fields of a Universal skill, which `rep export`
/// converts.
fn refuse_other_fields<'a>(profile: Profile, names: impl Iterator<Item = &'a String>) -> Map<String, Value> {
    let mut body = Map::new();
    if profile == Profile::OpenAi {
        let own: Vec<&str> = names.map(String::as_str).collect();
        let more = UNIVERSAL_FIELDS.iter().filter(|field| !own.contains(field));
        let all: Vec<&str> = own.iter().chain(more).copied().collect();
        body.insert("if".to_owned(), json!({ "required": ["spec_version"] }));
        body.insert("then".to_owned(), json!({ "propertyNames": { "enum": all } }));
        body.insert("else".to_owned(), json!({ "propertyNames": { "enum": own } }));
    } else {
        body.insert("additionalProperties".to_owned(), json!(false));
    }
    body
}

/// Adds what is more precise.
fn merge(known: &mut Value, schema: Value) {
    let (Some(known), Value::Object(schema)) = (known.as_object_mut(), schema) else { return };
    known.extend(schema);
}

/// A scalar that is read as text, as the reference tool does; and no value, which counts as an absent field.
fn scalar_types(more: &[&str]) -> Value {
    ["string", "number", "boolean", "null"].iter().chain(more).copied().collect()
}

/// Returns what the rules say about a field.
fn restrict_field(profile: Profile, entry: &FieldEntry) -> Value {
    match entry.name {
        "name" => restrict_name(profile),
        "description" => restrict_description(profile),
        "license" if reports("license-not-text", profile) => json!({ "type": scalar_types(&[]) }),
        "compatibility" => restrict_compatibility(profile),
        "metadata" if reports("metadata-not-mapping", profile) => {
            let each = if profile == Profile::Pmcp {
                json!({ "type": "string" })
            } else {
                json!({ "type": scalar_types(&[]) })
            };
            let mut schema = json!({ "type": ["object", "null"] });
            if reports("metadata-value-not-text", profile) {
                schema["additionalProperties"] = each;
            }
            schema
        }
        "allowed-tools" => match (reports("allowed-tools-list", profile), reports("allowed-tools-mapping", profile)) {
            (true, true) => json!({ "type": scalar_types(&[]) }),
            (true, false) => json!({ "type": scalar_types(&["object"]) }),
            (false, true) => json!({ "type": scalar_types(&["array"]) }),
            (false, false) => json!({}),
        },
        _ => json!({}),
    }
}

fn restrict_name(profile: Profile) -> Value {
    let mut schema = Map::new();
    if reports("name-not-text", profile) {
        let mut types = vec!["string", "boolean"];
        if !reports("name-start-not-letter", profile) {
            types.push("integer");
            schema.insert("minimum".to_owned(), json!(0));
        }
        // Without a value, the field counts as missing.
        if !reports("name-missing", profile) {
            types.push("null");
        }
        schema.insert("type".to_owned(), json!(types));
    }
    if reports("name-too-long", profile) {
        schema.insert("maxLength".to_owned(), json!(64));
    }
    if let Some(pattern) = name_pattern(profile) {
        schema.insert("pattern".to_owned(), json!(pattern));
    }
    if reports("name-reserved-word", profile) {
        schema.insert("not".to_owned(), json!({ "type": "string", "pattern": "anthropic|claude" }));
    }
    Value::Object(schema)
}

/// Returns the pattern of names. Space around a name does not count.
fn name_pattern(profile: Profile) -> Option<String> {
    if !reports("name-characters", profile) {
        return reports("name-empty", profile).then(|| r"\S".to_owned());
    }
    let (is_ascii, is_lower) = (reports("name-not-ascii", profile), reports("name-uppercase", profile));
    let letters = match (is_ascii, is_lower) {
        (true, true) => "a-z0-9",
        (true, false) => "A-Za-z0-9",
        (false, true) => r"\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}",
        (false, false) => r"\p{L}\p{M}\p{N}",
    };
    let start = if reports("name-start-not-letter", profile) { "(?=[^0-9-])" } else { "" };
    let is_strict = reports("name-hyphen-at-edge", profile) && reports("name-hyphen-doubled", profile);
    let words = if is_strict { format!("[{letters}]+(?:-[{letters}]+)*") } else { format!("[{letters}-]+") };
    Some(format!(r"^\s*{start}{words}\s*$"))
}

fn restrict_description(profile: Profile) -> Value {
    let mut schema = Map::new();
    if reports("description-not-text", profile) {
        schema.insert("type".to_owned(), json!(["string", "number", "boolean"]));
    }
    if reports("description-too-long", profile) {
        schema.insert("maxLength".to_owned(), json!(1024));
    }
    if reports("description-empty", profile) {
        schema.insert("pattern".to_owned(), json!(r"\S"));
    }
    let refused = match (reports("description-angle-bracket", profile), reports("description-xml-tag", profile)) {
        (true, _) => Some("[<>]"),
        (false, true) => Some("</?[A-Za-z][^>]*>"),
        (false, false) => None,
    };
    if let Some(pattern) = refused {
        schema.insert("not".to_owned(), json!({ "type": "string", "pattern": pattern }));
    }
    Value::Object(schema)
}

fn restrict_compatibility(profile: Profile) -> Value {
    let mut schema = Map::new();
    if reports("compatibility-not-text", profile) {
        schema.insert("type".to_owned(), scalar_types(&[]));
    } else if reports("compatibility-list", profile) {
        schema.insert("type".to_owned(), scalar_types(&["object"]));
    }
    if reports("compatibility-too-long", profile) {
        schema.insert("maxLength".to_owned(), json!(500));
    }
    if reports("compatibility-empty", profile) {
        schema.insert("pattern".to_owned(), json!(r"\S"));
    }
    Value::Object(schema)
}

/// Returns a pattern of the texts that mean a boolean, in any case.
fn boolean_pattern() -> String {
    let any_case = |word: &str| -> String {
        let letter = |letter: char| {
            if letter.is_ascii_alphabetic() {
                format!("[{}{letter}]", letter.to_ascii_uppercase())
            } else {
                letter.to_string()
            }
        };
        word.chars().map(letter).collect()
    };
    let words: Vec<String> = BOOLEAN_WORDS.iter().map(|(word, _)| any_case(word)).collect();
    format!("^(?:{})$", words.join("|"))
}
