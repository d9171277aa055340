//! Makes an entry of a skill's folder as a host reads it.

use rep_model::truncate::truncate_chars;
use rep_model::yaml::{self, Node};
use rep_model::{FaultKind, Skill, names, skill_md};

use super::{Describing, Field, Host, Longest, Naming, Odd, Spaces, Substitute};
use crate::catalog::{self, CatalogEntry, Status};
use crate::find::Found;
use crate::read;
use crate::roots::Root;

/// The rules whose findings say that there is nothing to read, for any host.
const UNREADABLE: [FaultKind; 4] =
    [FaultKind::FileTooLarge, FaultKind::FileUnreadable, FaultKind::SkillMdNotAFile, FaultKind::YamlTooComplex];

/// One skill as the host sees it; `None` where there is nothing to see.
pub(super) fn entry(found: &Found, root: &Root, host: &Host) -> Option<CatalogEntry> {
    let mut entry = catalog::load(found, root, None)?;
    let folder = read::folder_name(&found.path);
    let outcome = blocked(&entry, found, host).map_or_else(|| seen(&entry, &folder, host), Err);
    (entry.status, entry.reason) = (Status::Active, String::new());
    match outcome {
        Ok((name, description)) => {
            entry.name = name;
            entry.description = description;
            let is_opted_out = catalog::is_switch(&entry.skill, "disable-model-invocation", false);
            let has_no_description = entry.skill.front().is_some_and(|front| front.get("description").is_none());
            if host.honours_opt_out.value && is_opted_out {
                entry.status = Status::Hidden;
                "`disable-model-invocation` is set: people call it, models do not".clone_into(&mut entry.reason);
            } else if host.description.value.hides_missing && has_no_description {
                entry.status = Status::Hidden;
                entry.reason = format!("{} tells models only of skills with a description", host.name);
            }
        }
        Err(why) => {
            entry.status = Status::Invalid;
            entry.reason = format!("{} passes over it: {why}", host.name);
        }
    }
    let name = &entry.name;
    entry.qualified_name = root.package.as_ref().map_or_else(|| name.clone(), |package| format!("{package}:{name}"));
    Some(entry)
}

/// What of the file keeps the host from reading it.
fn blocked(entry: &CatalogEntry, found: &Found, host: &Host) -> Option<String> {
    let file = &host.file.value;
    let message = |kind: FaultKind| entry.finding_of(kind).map(|finding| finding.message.clone());
    if let Some(message) = UNREADABLE.into_iter().find_map(message) {
        return Some(message);
    }
    let is_link = std::fs::symlink_metadata(found.path.join("SKILL.md")).is_ok_and(|data| data.is_symlink());
    if is_link && file.link == Odd::Skips {
        return Some("its SKILL.md is a link".to_owned());
    }
    if file.byte_order_mark == Odd::Skips && entry.finding_of(FaultKind::ByteOrderMark).is_some() {
        return message(FaultKind::ByteOrderMark);
    }
    let fences = [
        FaultKind::FrontmatterMissing,
        FaultKind::FrontmatterUnclosed,
        FaultKind::FrontmatterNotMapping,
        FaultKind::YamlInvalid,
    ];
    if file.unfenced == Odd::Skips && entry.skill.front().is_none() {
        return fences.into_iter().find_map(message).or_else(|| Some("it has no frontmatter".to_owned()));
    }
    let repaired = entry.finding_of(FaultKind::YamlValueUnquoted)?;
    let text = |field: &str| entry.skill.front().and_then(|front| front.get(field)).and_then(Node::text);
    let is_bracket =
        ["description", "name"].iter().any(|field| text(field).is_some_and(|text| text.starts_with(['[', '{'])));
    let odd = if is_bracket { file.unclosed_bracket } else { file.unquoted_colon };
    (odd == Odd::Skips).then(|| repaired.message.clone())
}

/// The name and description the host shows, or why it passes over the skill.
fn seen(entry: &CatalogEntry, folder: &str, host: &Host) -> Result<(String, String), String> {
    let name = match &host.naming.value {
        Naming::Folder => folder.to_owned(),
        Naming::SameAsFolder => match entry.skill.name() {
            Some(name) if name == folder => name.to_owned(),
            _ => return Err("the name is not the folder's".to_owned()),
        },
        Naming::Frontmatter(field, longest, spaces) => {
            let name = value(&entry.skill, "name", field)?.unwrap_or_else(|| folder.to_owned());
            if longest.is_some_and(|longest| names::length(&name) > longest) {
                return Err("the name is too long".to_owned());
            }
            if *spaces == Spaces::Hyphens { name.replace(' ', "-") } else { name }
        }
    };
    Ok((name, description(entry, &host.description.value)?))
}

fn description(entry: &CatalogEntry, how: &Describing) -> Result<String, String> {
    let own = value(&entry.skill, "description", &how.field)?;
    let mut text = own.unwrap_or_else(|| substitute(entry, how.substitute));
    if let Some(joint) = how.joins_when
        && let Some(more) = entry.skill.front().and_then(|front| front.text("when_to_use"))
    {
        text = format!("{text}{joint}{}", names::strip(more.value));
    }
    match how.longest {
        Longest::Skips(most) if names::length(&text) > most => Err("the description is too long".to_owned()),
        Longest::Cut(most, end) if names::length(&text) > most => {
            Ok(format!("{}{end}", truncate_chars(&text, most - names::length(end))))
        }
        _ => Ok(text),
    }
}

/// A field as the host reads it; `None` where something else stands in for it.
fn value(skill: &Skill, name: &str, field: &Field) -> Result<Option<String>, String> {
    // Hosts tell a field without a value from one that is not there.
    let node = skill.front().and_then(|front| front.field(name)).map(|entry| &entry.value);
    let (odd, is) = match node {
        None => (field.missing, "missing"),
        Some(node) => match yaml::core::scalar(node) {
            Some(yaml::core::Scalar::Null) => (field.null, "without a value"),
            None => (field.list, "no text"),
            Some(yaml::core::Scalar::Text) if node.text().is_some_and(|text| names::strip(text).is_empty()) => {
                (field.empty, "empty")
            }
            Some(yaml::core::Scalar::Text) => (Odd::Keeps, ""),
            Some(_) => (field.number, "no text"),
        },
    };
    match odd {
        Odd::Skips => Err(format!("the {name} is {is}")),
        Odd::Replaces => Ok(None),
        Odd::Keeps => Ok(Some(node.map(|node| written(skill, node)).unwrap_or_default())),
    }
}

/// A value as text: a scalar's own, anything else as it stands in the file.
fn written(skill: &Skill, node: &Node) -> String {
    let source = || skill.manifest.as_ref().map(|manifest| manifest.source.slice(node.span));
    names::strip(node.text().or_else(source).unwrap_or_default()).to_owned()
}

/// The beginning of the body. Only here is more than the frontmatter read.
fn substitute(entry: &CatalogEntry, how: Substitute) -> String {
    if how == Substitute::Nothing {
        return String::new();
    }
    let text = read::text(&entry.location, read::MAIN_BYTES_MAX).unwrap_or_default();
    let body = skill_md::split(&text).map_or(0, |parts| parts.body.start);
    let mut lines = text.get(body..).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let line = match how {
        Substitute::FirstParagraph => lines.find(|line| !line.starts_with('#')),
        _ => lines.next(),
    };
    line.unwrap_or_default().trim_start_matches('#').trim_start().to_owned()
}
