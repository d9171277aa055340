//! The results of the reference tool, with its exact messages.
//!
//! `rep validate`, `rep read-properties` and `rep to-prompt` print the same output as `skills-ref`.
//! Where its parser contradicts the specification (fences inside values, rejected flow style,
//! crashes), the specification takes precedence; the messages stay the same.

use rep_model::frontmatter::STANDARD_FIELDS;
use rep_model::yaml::{YamlNode, YamlValue};
use rep_model::{Fault, FaultKind, Frontmatter, Skill, content_hash, names};

/// Returns why the frontmatter of a skill cannot be parsed, as a message without a prefix.
pub fn find_parse_error(skill: &Skill, faults: &[Fault]) -> Option<String> {
    let of = |kind: FaultKind| faults.iter().find(|fault| fault.kind == kind && !fault.file.ends_with(".uasp.yaml"));
    if let Some(fault) =
        [FaultKind::SkillMdNotAFile, FaultKind::FileUnreadable, FaultKind::FileTooLarge, FaultKind::SymlinkDangling]
            .into_iter()
            .filter_map(of)
            .find(|fault| fault.file == "SKILL.md" || fault.file == "skill.md")
    {
        return Some(format!("Cannot read SKILL.md: {}", fault.message));
    }
    if let Some(fault) = of(FaultKind::EncodingNotUtf8).filter(|fault| fault.file.eq_ignore_ascii_case("skill.md")) {
        return Some(format!("Cannot read SKILL.md: {}", fault.message));
    }
    if of(FaultKind::ByteOrderMark).is_some() || of(FaultKind::FrontmatterMissing).is_some() {
        return Some("SKILL.md must start with YAML frontmatter (---)".to_owned());
    }
    if of(FaultKind::FrontmatterUnclosed).is_some() {
        return Some("SKILL.md frontmatter not properly closed with ---".to_owned());
    }
    let broken = [
        FaultKind::NulByte,
        FaultKind::YamlValueUnquoted,
        FaultKind::YamlInvalid,
        FaultKind::YamlTooComplex,
        FaultKind::YamlKeyDuplicate,
        FaultKind::YamlTab,
        FaultKind::YamlAnchor,
        FaultKind::YamlTag,
    ];
    let front = skill.manifest.as_ref().and_then(|manifest| manifest.parts).map(|parts| parts.front);
    let is_in_front = |fault: &&Fault| {
        fault.file.eq_ignore_ascii_case("skill.md")
            && front.is_some_and(|front| front.start <= fault.span.start && fault.span.start <= front.end)
    };
    if let Some(fault) = faults.iter().filter(|fault| broken.contains(&fault.kind)).find(is_in_front) {
        let line = skill.manifest.as_ref().map_or(0, |manifest| manifest.source.position_at(fault.span.start).line);
        return Some(format!("Invalid YAML in frontmatter: {} (line {line})", fault.message));
    }
    of(FaultKind::FrontmatterNotMapping).map(|_| "SKILL.md frontmatter must be a YAML mapping".to_owned())
}

/// Returns all errors of the reference tool, in its order. `folder` is the directory name as given.
pub fn validate_frontmatter(front: &Frontmatter, folder: &str) -> Vec<String> {
    let mut errors = Vec::new();
    report_unexpected_fields(front, &mut errors);
    check_name(front, folder, &mut errors);
    check_description(front, &mut errors);
    if let Some(entry) = front.find_field("compatibility") {
        match entry.value.text() {
            None => errors.push("Field 'compatibility' must be a string".to_owned()),
            Some(text) if names::strip_whitespace(text).is_empty() => {
                errors.push("Field 'compatibility' must be a non-empty string".to_owned());
            }
            Some(text) if names::count_chars(text) > 500 => {
                errors.push(format!("Compatibility exceeds 500 character limit ({} chars)", names::count_chars(text)));
            }
            Some(_) => {}
        }
    }
    // The specification types these two fields; the reference tool does not check them.
    if front.find_field("license").is_some_and(|entry| entry.value.text().is_none()) {
        errors.push("Field 'license' must be a string".to_owned());
    }
    if front.find_field("allowed-tools").is_some_and(|entry| entry.value.entries().is_some()) {
        errors.push("Field 'allowed-tools' must be a string".to_owned());
    }
    if let Some(entry) = front.find_field("metadata") {
        let is_flat =
            |node: &YamlNode| node.entries().is_some_and(|all| all.iter().all(|entry| entry.value.text().is_some()));
        if !is_flat(&entry.value) && !entry.value.is_null() {
            errors.push("Field 'metadata' must map strings to strings".to_owned());
        }
    }
    errors
}

fn report_unexpected_fields(front: &Frontmatter, errors: &mut Vec<String>) {
    let key = |node: &YamlNode| node.text().map_or_else(|| to_python_repr(node), str::to_owned);
    let mut extra: Vec<String> = front.fields().iter().map(|entry| key(&entry.key)).collect();
    extra.retain(|key| !STANDARD_FIELDS.contains(&key.as_str()));
    if extra.is_empty() {
        return;
    }
    extra.sort();
    let allowed: Vec<String> = STANDARD_FIELDS.iter().map(|field| format!("'{field}'")).collect();
    errors.push(format!(
        "Unexpected fields in frontmatter: {}. Only [{}] are allowed.",
        extra.join(", "),
        allowed.join(", ")
    ));
}

/// Returns the text of a required field: present, a scalar, not null and not blank.
fn require_text<'a>(front: &'a Frontmatter, field: &str) -> Result<&'a str, String> {
    let Some(entry) = front.find_field(field) else {
        return Err(format!("Missing required field in frontmatter: {field}"));
    };
    match entry.value.text() {
        Some(text) if !names::strip_whitespace(text).is_empty() && !entry.value.is_null() => Ok(text),
        _ => Err(format!("Field '{field}' must be a non-empty string")),
    }
}

fn check_name(front: &Frontmatter, folder: &str, errors: &mut Vec<String>) {
    let name = match require_text(front, "name") {
        Ok(name) => names::normalise_nfkc(names::strip_whitespace(name)),
        Err(error) => return errors.push(error),
    };
    let length = names::count_chars(&name);
    if length > 64 {
        errors.push(format!("Skill name '{name}' exceeds 64 character limit ({length} chars)"));
    }
    if !names::is_lowercase_text(&name) {
        errors.push(format!("Skill name '{name}' must be lowercase"));
    }
    if name.starts_with('-') || name.ends_with('-') {
        errors.push("Skill name cannot start or end with a hyphen".to_owned());
    }
    if name.contains("--") {
        errors.push("Skill name cannot contain consecutive hyphens".to_owned());
    }
    if !name.chars().all(|letter| names::is_letter_or_digit(letter) || letter == '-') {
        errors.push(format!(
            "Skill name '{name}' contains invalid characters. Only letters, digits, and hyphens are allowed."
        ));
    }
    if names::normalise_nfkc(folder) != name {
        errors.push(format!("Directory name '{folder}' must match skill name '{name}'"));
    }
}

fn check_description(front: &Frontmatter, errors: &mut Vec<String>) {
    match require_text(front, "description") {
        Err(error) => errors.push(error),
        Ok(text) if names::count_chars(text) > 1024 => {
            errors.push(format!("Description exceeds 1024 character limit ({} chars)", names::count_chars(text)));
        }
        Ok(_) => {}
    }
}

/// Returns the stripped name and description, as the catalog shows them.
pub fn read_name_and_description(front: &Frontmatter) -> Result<(&str, &str), String> {
    for field in ["name", "description"] {
        if front.find_field(field).is_none() {
            return Err(format!("Missing required field in frontmatter: {field}"));
        }
    }
    let name = require_text(front, "name")?;
    let description = require_text(front, "description")?;
    Ok((names::strip_whitespace(name), names::strip_whitespace(description)))
}

/// Renders the properties as the reference tool prints them: JSON, indented by two spaces, ASCII only.
pub fn render_properties(front: &Frontmatter) -> Result<String, String> {
    let (name, description) = read_name_and_description(front)?;
    let mut out = String::from("{\n  \"name\": ");
    content_hash::write_json_string(name, &mut out);
    out.push_str(",\n  \"description\": ");
    content_hash::write_json_string(description, &mut out);
    for field in ["license", "compatibility", "allowed-tools"] {
        if let Some(entry) = front.find_field(field) {
            out.push_str(&format!(",\n  \"{field}\": "));
            write_json(&entry.value, 2, &mut out);
        }
    }
    if let Some(entry) = front.find_field("metadata") {
        write_metadata(&entry.value, &mut out);
    }
    out.push_str("\n}");
    Ok(out)
}

/// Converts `metadata`: the values of a mapping become text as Python's `str` writes them; empty values are omitted.
fn write_metadata(node: &YamlNode, out: &mut String) {
    match &node.value {
        YamlValue::Mapping { entries, .. } if !entries.is_empty() => {
            out.push_str(",\n  \"metadata\": {");
            for (index, entry) in entries.iter().enumerate() {
                out.push_str(if index == 0 { "\n    " } else { ",\n    " });
                content_hash::write_json_string(entry.key.text().unwrap_or(""), out);
                out.push_str(": ");
                let value = entry.value.text().map_or_else(|| to_python_repr(&entry.value), str::to_owned);
                content_hash::write_json_string(&value, out);
            }
            out.push_str("\n  }");
        }
        YamlValue::Sequence { items, .. } if !items.is_empty() => {
            out.push_str(",\n  \"metadata\": ");
            write_json(node, 2, out);
        }
        YamlValue::Scalar { text, .. } if !text.is_empty() => {
            out.push_str(",\n  \"metadata\": ");
            content_hash::write_json_string(text, out);
        }
        _ => {}
    }
}

fn write_json(node: &YamlNode, indent: usize, out: &mut String) {
    let pad = |out: &mut String, width: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', width));
    };
    match &node.value {
        YamlValue::Scalar { text, .. } => content_hash::write_json_string(text, out),
        YamlValue::Sequence { items, .. } if items.is_empty() => out.push_str("[]"),
        YamlValue::Sequence { items, .. } => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                pad(out, indent + 2);
                write_json(item, indent + 2, out);
            }
            pad(out, indent);
            out.push(']');
        }
        YamlValue::Mapping { entries, .. } if entries.is_empty() => out.push_str("{}"),
        YamlValue::Mapping { entries, .. } => {
            out.push('{');
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                pad(out, indent + 2);
                content_hash::write_json_string(entry.key.text().unwrap_or(""), out);
                out.push_str(": ");
                write_json(&entry.value, indent + 2, out);
            }
            pad(out, indent);
            out.push('}');
        }
    }
}

/// Renders a value as Python's `repr` does, with every scalar as text.
fn to_python_repr(node: &YamlNode) -> String {
    match &node.value {
        YamlValue::Scalar { text, .. } => quote_python_text(text),
        YamlValue::Sequence { items, .. } => {
            let items: Vec<String> = items.iter().map(to_python_repr).collect();
            format!("[{}]", items.join(", "))
        }
        YamlValue::Mapping { entries, .. } => {
            let pair = |entry: &rep_model::yaml::YamlEntry| {
                format!("{}: {}", to_python_repr(&entry.key), to_python_repr(&entry.value))
            };
            format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quote_python_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            same if same == quote => {
                out.push('\\');
                out.push(same);
            }
            control if u32::from(control) < 0x20 || control == '\u{7f}' => {
                out.push_str(&format!("\\x{:02x}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out.push(quote);
    out
}

/// Renders the catalog as the reference tool does: the name, description and location of each skill.
pub fn render_prompt(skills: &[(String, String, String)]) -> String {
    let mut lines = vec!["<available_skills>".to_owned()];
    for (name, description, location) in skills {
        lines.push("<skill>".to_owned());
        for (tag, value) in [("name", name), ("description", description), ("location", location)] {
            lines.push(format!("<{tag}>"));
            lines.push(escape_html(value));
            lines.push(format!("</{tag}>"));
        }
        lines.push("</skill>".to_owned());
    }
    lines.push("</available_skills>".to_owned());
    lines.join("\n")
}

/// Escapes text as Python's `html.escape` does, including quotes.
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            other => out.push(other),
        }
    }
    out
}
