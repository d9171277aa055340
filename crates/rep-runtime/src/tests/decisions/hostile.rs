use proptest::prelude::*;
use rep_permissions::glob::{Glob, normalise_path};

use super::*;

/// Any JSON, with field names of a tool among its keys and values.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("name"),
        Just("implementation"),
        Just("runtime"),
        Just("entrypoint"),
        Just("handler"),
        Just("bash"),
        Just("a.sh"),
        Just("input_schema"),
        Just("confirmation"),
        Just("level"),
        Just("timeout_seconds"),
        Just("../x.sh"),
        Just("é\u{202e}"),
        Just(""),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<u64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let keys = word.clone().prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_tool_and_its_skill_say_a_plan_is_made_or_refused(tool in any_json(), front in any_json()) {
        let mut whole = super::tool();
        if let (Some(whole), Some(fields)) = (whole.as_object_mut(), tool.as_object()) {
            whole.extend(fields.clone());
        }
        let sections = ["permissions", "safety", "secrets", "host_overrides"].map(|name| format!("{name}: {front}\n"));
        let text = format!("---\nname: a\ndescription: b\n{}---\n", sections.concat());
        let (skill, _) = Skill::parse(SkillTree::from_texts("a", &[("SKILL.md", &text)]));
        let Some(front) = skill.frontmatter() else { return Ok(()) };
        for tool in [&tool, &whole] {
            let call = ToolPlanInput {
                skill: "a", digest: "d", folder: Path::new("/a"), front, tool, workspace: Path::new("/w"), input: json!(null),
            };
            match Plan::from_tool(call) {
                // Paths that a hostile skill names stay inside the skill.
                Ok(plan) => prop_assert!(!plan.work.tool().unwrap().entrypoint.split('/').any(|part| part.is_empty() || part == "..")),
                Err(error) => prop_assert!(!error.field.is_empty() && !error.remedy.is_empty()),
            }
        }
    }

    #[test]
    fn patterns_that_share_a_path_meet(
        one in "[ab*]{1,3}(/[ab*]{1,3}){0,3}",
        two in "[ab*]{1,3}(/[ab*]{1,3}){0,3}",
        path in "[ab]{1,3}(/[ab]{1,3}){0,3}",
    ) {
        let (one, two, path) = (Glob::parse(&one).unwrap(), Glob::parse(&two).unwrap(), normalise_path(&path).unwrap());
        if one.matches(&path) && two.matches(&path) {
            prop_assert!(one.overlaps(&two) && two.overlaps(&one));
        }
        if let Some(literal) = two.literal_path() {
            prop_assert_eq!(one.overlaps(&two), one.matches(&literal));
        }
    }
}
