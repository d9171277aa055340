//! What skills do, as JSON.

use rep_check::render::json_check_finding;
use rep_scan::CapabilityKind;
use serde_json::{Map, Value, json};

use crate::scan::{DeniedAction, LocatedBehaviour, ScannedSkill};

/// Renders the document of `rep scan`.
pub fn scan_document(skills: &[ScannedSkill]) -> Value {
    json!({ "skills": skills.iter().map(scanned_skill_document).collect::<Vec<_>>() })
}

/// Renders one scanned skill.
pub fn scanned_skill_document(skill: &ScannedSkill) -> Value {
    let mut document = json!({
        "name": skill.name,
        "path": skill.shown,
        "verdict": skill.verdict().name(),
        "summary": skill.describe(),
        "capabilities": capabilities_to_json(skill),
        "behaviours": skill.behaviours.iter().map(behaviour_to_json).collect::<Vec<_>>(),
        "findings": skill.findings.iter().map(json_check_finding).collect::<Vec<_>>(),
    });
    if let Some(runs) = &skill.runs {
        let denied =
            |one: &DeniedAction| json!({ "action": one.action, "target": one.target, "expected": one.is_expected });
        document["runs"] = json!({ "count": runs.count, "denied": runs.denied.iter().map(denied).collect::<Vec<_>>() });
    }
    document
}

/// Renders the verdict, the words and the capabilities of a scan, without its places.
pub fn scan_summary_document(skill: &ScannedSkill) -> Value {
    json!({
        "verdict": skill.verdict().name(),
        "summary": skill.describe(),
        "capabilities": capabilities_to_json(skill),
    })
}

fn capabilities_to_json(skill: &ScannedSkill) -> Value {
    let capabilities = skill.capabilities();
    let mut needed = Map::new();
    for kind in CapabilityKind::ALL {
        needed.insert(kind.name().to_owned(), json!(capabilities.arguments(kind).collect::<Vec<_>>()));
    }
    Value::Object(needed)
}

fn behaviour_to_json(located: &LocatedBehaviour) -> Value {
    let (behaviour, place) = (&located.behaviour, &located.place);
    let mut value = json!({
        "kind": behaviour.kind.name(),
        "argument": behaviour.argument,
        "file": place.display_path,
        "line": place.start.line,
        "column": place.start.column,
        "shown": behaviour.is_shown,
        "layers": behaviour.layers,
    });
    if let Some(capability) = behaviour.kind.capability() {
        value["capability"] = json!(capability.name());
    }
    value
}
