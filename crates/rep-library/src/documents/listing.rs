//! Documents about several skills: lists, search results, selections and the catalog for a model.

use rep_check::render::json_finding;
use serde_json::{Value, json};

use crate::budget::FittedCatalog;
use crate::hosts::DiscoveryHost;
use crate::prompt::{EntryDetail, list_disclosed};
use crate::search::SearchHit;
use crate::selection::{SelectedSkill, TriggerMatch};
use crate::{Catalog, CatalogEntry, Dependency, SkillStatus};

/// Renders all skills: the document of `rep list`.
pub fn list_document(catalog: &Catalog, host: Option<&DiscoveryHost>) -> Value {
    let skills: Vec<Value> = catalog.entries.iter().map(|entry| entry_to_json(catalog, entry)).collect();
    let mut document = json!({ "skills": skills });
    if let Some(host) = host {
        document["host"] = host_to_json(host);
    }
    document
}

/// Renders search results: the document of `rep search`.
pub fn search_document(catalog: &Catalog, hits: &[SearchHit]) -> Value {
    json!({ "results": hits.iter().map(|hit| hit_to_json(catalog, hit)).collect::<Vec<Value>>() })
}

/// Renders a selection, and the hits that replace an empty one: the document of `rep select`.
pub fn select_document(catalog: &Catalog, selected: &[SelectedSkill], hits: &[SearchHit]) -> Value {
    let selected = selected.iter().map(|selected| selected_to_json(catalog, selected));
    let found = hits.iter().map(|hit| fallback_to_json(catalog, hit));
    json!({ "selected": selected.chain(found).collect::<Vec<Value>>() })
}

/// Renders the catalog for a model's context, and what a budget cost: the result of the API method `prompt`.
pub fn prompt_document(catalog: &Catalog, text: &str, fitted: Option<&FittedCatalog<'_>>) -> Value {
    let names = |detail: EntryDetail| -> Vec<&str> {
        let fitted = fitted.into_iter().flat_map(|fitted| fitted.with_detail(detail));
        fitted.map(|shown| shown.entry.qualified_name.as_str()).collect()
    };
    let dropped: Vec<&str> = fitted
        .into_iter()
        .flat_map(|fitted| fitted.dropped.iter().map(|entry| entry.qualified_name.as_str()))
        .collect();
    let shown: Vec<(&str, &str)> = match fitted {
        Some(fitted) => fitted
            .entries
            .iter()
            .map(|shown| (shown.entry.qualified_name.as_str(), shown.description.as_ref()))
            .collect(),
        None => {
            list_disclosed(catalog).map(|entry| (entry.qualified_name.as_str(), entry.description.as_str())).collect()
        }
    };
    let (skills, descriptions): (Vec<&str>, Vec<&str>) = shown.into_iter().unzip();
    json!({
        "text": text,
        "skills": skills,
        "descriptions": descriptions,
        "tokens": fitted.map(|fitted| fitted.tokens),
        "wanted": fitted.map(|fitted| fitted.wanted),
        "shortened": names(EntryDetail::Shortened),
        "without_description": names(EntryDetail::Name),
        "dropped": dropped,
    })
}

/// Returns the facts about a host, with their sources.
fn host_to_json(host: &DiscoveryHost) -> Value {
    let folders: Vec<Value> = host
        .folders
        .iter()
        .map(|folder| json!({ "path": folder.path, "source": folder.source.text, "checked": folder.source.checked }))
        .collect();
    let differs: Vec<Value> =
        host.differs.iter().map(|difference| json!({ "key": difference.key, "text": difference.text })).collect();
    json!({ "id": host.id, "name": host.name, "folders": folders, "differs": differs })
}

/// Renders a skill as an item of the list.
fn entry_to_json(catalog: &Catalog, entry: &CatalogEntry) -> Value {
    let winner = entry.shadowed_by.and_then(|index| catalog.entries.get(index));
    json!({
        "name": entry.name,
        "qualified_name": entry.qualified_name,
        "description": entry.description,
        "scope": entry.scope.name(),
        "location": entry.location,
        "status": entry.status.name(),
        "reason": entry.reason,
        "shadowed_by": winner.map(|winner| &winner.location),
        "user_invocable": entry.is_user_invocable,
        "provenance": entry.declared_provenance().map(|provenance| provenance.to_json()),
        "dependencies": dependencies_to_json(catalog, entry),
        "findings": entry.findings.iter().map(json_finding).collect::<Vec<_>>(),
    })
}

/// Returns the dependencies of a skill, with their status.
pub fn dependencies_to_json(catalog: &Catalog, entry: &CatalogEntry) -> Vec<Value> {
    let one = |dependency: &Dependency| {
        let location = dependency.entry.map(|index| &catalog.entries[index].location);
        json!({ "id": dependency.id, "status": dependency.state.name(), "location": location })
    };
    entry.dependencies.iter().map(one).collect()
}

fn hit_to_json(catalog: &Catalog, hit: &SearchHit) -> Value {
    let entry = &catalog.entries[hit.entry];
    let why = hit.why.iter().map(
        |reason| json!({ "field": reason.field.name(), "term": reason.term, "points": round_points(reason.points) }),
    );
    json!({
        "name": entry.qualified_name,
        "score": round_points(hit.score),
        "why": why.collect::<Vec<_>>(),
        "description": entry.description,
        "location": entry.location,
        "status": entry.status.name(),
        "user_only": entry.status == SkillStatus::Hidden,
    })
}

fn round_points(points: f64) -> f64 {
    (points * 1000.0).round() / 1000.0
}

fn selected_to_json(catalog: &Catalog, selected: &SelectedSkill) -> Value {
    let entry = &catalog.entries[selected.index];
    let found = |one: &TriggerMatch| json!({ "kind": one.kind.name(), "trigger": one.trigger, "points": one.points });
    json!({
        "name": entry.qualified_name,
        "score": selected.score,
        "matches": selected.matches.iter().map(found).collect::<Vec<_>>(),
        "location": entry.location,
    })
}

fn fallback_to_json(catalog: &Catalog, hit: &SearchHit) -> Value {
    let entry = &catalog.entries[hit.entry];
    json!({
        "name": entry.qualified_name,
        "score": null,
        "matches": [],
        "location": entry.location,
        "search_score": (hit.score * 1000.0).round() / 1000.0,
    })
}
