//! The provenance that a skill declares is shown in catalogs, records, the MCP server and the dashboard (Universal §8).

use rep_test_support::ScratchFolder;
use serde_json::json;

use super::serve::{Client, ERAS, PATH};
use super::serve_http::listening;
use super::serve_web::get;
use super::{json as value_of, run};

const DECLARED: &str = "provenance:\n  source_repo: https://me:hunter2@example.com/forms\n  source_commit: 0a1b2c3\n  \
                        reviewed_by: [Ada, Bob]\n  signature: MEUCIQ\n";

/// Writes a skill with a tool and a declared provenance, and one without.
fn write_library(scratch: &ScratchFolder) {
    let text = |name: &str, declared: &str| {
        format!(
            "---\nname: {name}\ndescription: Runs tools. Use when testing tools.\nspec_version: \"2.1\"\nversion: \
             1.0.0\n{declared}tools:\n  - name: echo\n    description: Echoes.\n    input_schema: {{type: object, \
             additionalProperties: false}}\n    implementation: {{runtime: bash, entrypoint: scripts/echo.sh}}\n---\n\n\
             # Tools\n"
        )
    };
    for (name, declared) in [("known", DECLARED), ("unknown", "")] {
        scratch.write_file(&format!("skills/{name}/SKILL.md"), text(name, declared));
        scratch.write_file(&format!("skills/{name}/scripts/echo.sh"), "echo '{}'\n");
    }
}

fn expected() -> serde_json::Value {
    json!({
        "source_repo": "https://example.com/forms",
        "source_commit": "0a1b2c3",
        "reviewed_by": ["Ada", "Bob"],
        "signature": "MEUCIQ",
    })
}

#[test]
fn declared_provenance_is_in_the_catalog_and_in_the_details() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    let list = value_of(&run(&scratch, &["list", "--path", "skills", "--json"]));
    assert_eq!(list["skills"][0]["provenance"], expected());
    assert_eq!(list["skills"][1]["provenance"], serde_json::Value::Null);
    let shown = run(&scratch, &["show", "known", "--path", "skills", "--json"]);
    assert!(!shown.stdout.contains("hunter2"), "{}", shown.stdout);
    let shown = value_of(&shown);
    for (field, value) in expected().as_object().expect("it is an object") {
        assert_eq!(&shown["provenance"][field], value, "{field}");
    }
    let text = run(&scratch, &["show", "known", "--path", "skills"]).stdout;
    assert!(!text.contains("hunter2"), "{text}");
    for part in ["source repo", "https://example.com/forms", "0a1b2c3", "Ada, Bob", "MEUCIQ"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn declared_provenance_is_in_the_audit_record_without_credentials() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    for skill in ["known", "unknown"] {
        let ran = run(&scratch, &["run", &format!("{skill}:echo"), "--path", "skills", "--no-sandbox", "--yes"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let audit = run(&scratch, &["audit", "--json"]);
    let runs = value_of(&audit)["runs"].clone();
    assert_eq!(runs[0]["provenance"], expected());
    assert_eq!(runs[1].get("provenance"), None);
    assert!(!audit.stdout.contains("hunter2"));
    assert_eq!(run(&scratch, &["audit", "verify"]).code, 0);
}

#[test]
fn declared_provenance_is_served_and_on_the_page() {
    let scratch = ScratchFolder::new();
    write_library(&scratch);
    for era in ERAS {
        let mut client = Client::new(&scratch, &PATH, era);
        let skills = client.call("list_skills", json!({}))["structuredContent"]["skills"].clone();
        assert_eq!(skills[0]["provenance"], expected());
        assert_eq!(skills[1].get("provenance"), None);
    }
    let (_server, address) = listening(&scratch, &PATH);
    let page = get(&address, "/skill?name=known").body;
    for part in ["https://example.com/forms", "0a1b2c3", "Ada, Bob", "MEUCIQ", "not verified"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Repository</dt><dd><bdi>https://me:"));
}
