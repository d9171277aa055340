//! Builds the catalog entry of a skill as a host reads it.

use rep_check::loading::is_dialect_violation;
use rep_model::truncate::truncate_chars;
use rep_model::yaml::{self, YamlNode};
use rep_model::{FaultKind, Skill, names, skill_md};

use super::{
    AnomalyHandling, DescriptionHandling, DescriptionLimit, DescriptionSubstitute, DiscoveryHost, FieldHandling,
    NameSource, SpaceHandling,
};
use crate::catalog::{self, CatalogEntry, SkillStatus};
use crate::discovery::SkillLocation;
use crate::roots::SkillRoot;
use crate::skill_reader;
use crate::validation::ValidationMode;

/// The faults that make a file unreadable for every host.
const UNREADABLE_FAULTS: [FaultKind; 4] =
    [FaultKind::FileTooLarge, FaultKind::FileUnreadable, FaultKind::SkillMdNotAFile, FaultKind::YamlTooComplex];

/// Loads a skill as the host sees it. Returns `None` if there is nothing to load. Unless validation is lenient, a
/// violation that the skill's dialect calls hard makes it invalid, because here the skill is used and not the host.
pub(super) fn load_host_entry(
    found: &SkillLocation,
    root: &SkillRoot,
    host: &DiscoveryHost,
    validation: ValidationMode,
) -> Option<CatalogEntry> {
    let mut entry = catalog::load_entry(found, root, None, validation)?;
    let folder = skill_reader::folder_name(&found.path);
    let is_refused = validation == ValidationMode::Enforced && entry.findings.iter().any(is_dialect_violation);
    let violation = is_refused.then(|| entry.reason.clone());
    let outcome =
        find_blocking_fault(&entry, found, host).map_or_else(|| read_name_and_description(&entry, &folder, host), Err);
    (entry.status, entry.reason) = (SkillStatus::Active, String::new());
    match outcome {
        Ok((name, description)) => {
            entry.name = name;
            entry.description = description;
            let is_opted_out = catalog::is_switch_on(&entry.skill, "disable-model-invocation", false);
            let has_no_description = entry.skill.frontmatter().is_some_and(|front| front.get("description").is_none());
            if host.honours_opt_out.value && is_opted_out {
                entry.status = SkillStatus::Hidden;
                "`disable-model-invocation` is set: users can call it, models cannot".clone_into(&mut entry.reason);
            } else if host.description.value.hides_missing && has_no_description {
                entry.status = SkillStatus::Hidden;
                entry.reason = format!("{} shows models only skills with a description", host.name);
            }
        }
        Err(why) => {
            entry.status = SkillStatus::Invalid;
            entry.reason = format!("{} skips it: {why}", host.name);
        }
    }
    if let Some(reason) = violation.filter(|_| entry.status != SkillStatus::Invalid) {
        (entry.status, entry.reason) = (SkillStatus::Invalid, reason);
    }
    let name = &entry.name;
    entry.qualified_name = root.package.as_ref().map_or_else(|| name.clone(), |package| format!("{package}:{name}"));
    Some(entry)
}

/// Returns the reason the host cannot read the file, if any.
fn find_blocking_fault(entry: &CatalogEntry, found: &SkillLocation, host: &DiscoveryHost) -> Option<String> {
    let file = &host.file.value;
    let message = |kind: FaultKind| entry.finding_for_fault(kind).map(|finding| finding.message.clone());
    if let Some(message) = UNREADABLE_FAULTS.into_iter().find_map(message) {
        return Some(message);
    }
    let is_link = std::fs::symlink_metadata(found.path.join("SKILL.md")).is_ok_and(|data| data.is_symlink());
    if is_link && file.link == AnomalyHandling::Skips {
        return Some("its SKILL.md is a link".to_owned());
    }
    if file.byte_order_mark == AnomalyHandling::Skips && entry.finding_for_fault(FaultKind::ByteOrderMark).is_some() {
        return message(FaultKind::ByteOrderMark);
    }
    let fences = [
        FaultKind::FrontmatterMissing,
        FaultKind::FrontmatterUnclosed,
        FaultKind::FrontmatterNotMapping,
        FaultKind::YamlInvalid,
    ];
    if file.unfenced == AnomalyHandling::Skips && entry.skill.frontmatter().is_none() {
        return fences.into_iter().find_map(message).or_else(|| Some("it has no frontmatter".to_owned()));
    }
    let repaired = entry.finding_for_fault(FaultKind::YamlValueUnquoted)?;
    let text = |field: &str| entry.skill.frontmatter().and_then(|front| front.get(field)).and_then(YamlNode::text);
    let is_bracket =
        ["description", "name"].iter().any(|field| text(field).is_some_and(|text| text.starts_with(['[', '{'])));
    let odd = if is_bracket { file.unclosed_bracket } else { file.unquoted_colon };
    (odd == AnomalyHandling::Skips).then(|| repaired.message.clone())
}

/// Returns the name and description that the host shows, or the reason it skips the skill.
fn read_name_and_description(
    entry: &CatalogEntry,
    folder: &str,
    host: &DiscoveryHost,
) -> Result<(String, String), String> {
    let name = match &host.naming.value {
        NameSource::Folder => folder.to_owned(),
        NameSource::SameAsFolder => match entry.skill.name() {
            Some(name) if name == folder => name.to_owned(),
            _ => return Err("the name differs from the directory name".to_owned()),
        },
        NameSource::Frontmatter(field, longest, spaces) => {
            let name = read_field(&entry.skill, "name", field)?.unwrap_or_else(|| folder.to_owned());
            if longest.is_some_and(|longest| names::count_chars(&name) > longest) {
                return Err("the name is too long".to_owned());
            }
            if *spaces == SpaceHandling::Hyphens { name.replace(' ', "-") } else { name }
        }
    };
    Ok((name, read_description(entry, &host.description.value)?))
}

fn read_description(entry: &CatalogEntry, how: &DescriptionHandling) -> Result<String, String> {
    let own = read_field(&entry.skill, "description", &how.field)?;
    let mut text = own.unwrap_or_else(|| read_substitute(entry, how.substitute));
    if let Some(joint) = how.joins_when
        && let Some(more) = entry.skill.frontmatter().and_then(|front| front.get_text("when_to_use"))
    {
        text = format!("{text}{joint}{}", names::strip_whitespace(more.value));
    }
    match how.longest {
        DescriptionLimit::Skips(most) if names::count_chars(&text) > most => {
            Err("the description is too long".to_owned())
        }
        DescriptionLimit::Cut(most, end) if names::count_chars(&text) > most => {
            Ok(format!("{}{end}", truncate_chars(&text, most - names::count_chars(end))))
        }
        _ => Ok(text),
    }
}

/// Returns a field as the host reads it, or `None` if a substitute is used.
fn read_field(skill: &Skill, name: &str, field: &FieldHandling) -> Result<Option<String>, String> {
    // Hosts distinguish a null field from a missing one.
    let node = skill.frontmatter().and_then(|front| front.find_field(name)).map(|entry| &entry.value);
    let (odd, is) = match node {
        None => (field.missing, "missing"),
        Some(node) => match yaml::core::classify_scalar(node) {
            Some(yaml::core::CoreScalar::Null) => (field.null, "null"),
            None => (field.list, "not text"),
            Some(yaml::core::CoreScalar::Text)
                if node.text().is_some_and(|text| names::strip_whitespace(text).is_empty()) =>
            {
                (field.empty, "empty")
            }
            Some(yaml::core::CoreScalar::Text) => (AnomalyHandling::Keeps, ""),
            Some(_) => (field.number, "not text"),
        },
    };
    match odd {
        AnomalyHandling::Skips => Err(format!("the {name} is {is}")),
        AnomalyHandling::Replaces => Ok(None),
        AnomalyHandling::Keeps => Ok(Some(node.map(|node| render_value(skill, node)).unwrap_or_default())),
    }
}

/// Returns a value as text: the value of a scalar, or else its source text.
fn render_value(skill: &Skill, node: &YamlNode) -> String {
    let source = || skill.manifest.as_ref().map(|manifest| manifest.source.slice(node.span));
    names::strip_whitespace(node.text().or_else(source).unwrap_or_default()).to_owned()
}

/// Reads the start of the body. Only this function reads more than the frontmatter.
fn read_substitute(entry: &CatalogEntry, how: DescriptionSubstitute) -> String {
    if how == DescriptionSubstitute::Nothing {
        return String::new();
    }
    let text = skill_reader::read_text(&entry.location, skill_reader::MAIN_BYTES_MAX).unwrap_or_default();
    let body = skill_md::split_frontmatter(&text).map_or(0, |parts| parts.body.start);
    let mut lines = text.get(body..).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let line = match how {
        DescriptionSubstitute::FirstParagraph => lines.find(|line| !line.starts_with('#')),
        _ => lines.next(),
    };
    line.unwrap_or_default().trim_start_matches('#').trim_start().to_owned()
}
