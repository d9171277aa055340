//! `rep export`, `rep import` and `rep hosts`: the same skill in other shapes.

use std::collections::BTreeMap;
use std::path::Path;

use rep_test_support::ScratchFolder;
use serde_json::{Value, json};

/// Runs the binary.
fn rep(scratch: &ScratchFolder, words: &[&str]) -> rep_test_support::ProgramRun {
    scratch.run_program(crate::rep(), words)
}

const TOOL: &str = "---\nspec_version: \"2.1\"\nname: csv-profile\ndescription: Profiles CSV files. Use for CSV.\nversion: 1.0.0\npermissions:\n  filesystem: {read: [\"data/*.csv\"], write: []}\n  network: {outbound: []}\n  processes: {allow_subprocess: false}\ntools:\n  - name: profile\n    description: Profiles one file.\n    input_schema:\n      type: object\n      additionalProperties: false\n      properties:\n        path: {type: string}\n        rows: {type: integer, minimum: 1}\n      required: [path]\n    output_schema: {type: object}\n    implementation: {runtime: python, entrypoint: scripts/a.py, handler: run}\nsafety:\n  require_confirmation_for: [destructive_writes, external_network]\n  redact: {pii: true, secrets: true}\nhost_overrides:\n  - host: claude-code\n    config: {when_to_use: {keywords: [csv]}, allowed-tools: Read}\n---\n# Body\n";

fn skill(scratch: &ScratchFolder) {
    scratch.write_file("csv-profile/SKILL.md", TOOL);
    scratch.write_file("csv-profile/scripts/a.py", "def run(args, ctx):\n    return {}\n");
}

fn out(run: &rep_test_support::ProgramRun) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(&at).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it lies below").to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).expect("the file can be read"));
            }
        }
    }
    found
}

#[test]
fn tools_in_the_words_of_each_host() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    let mcp = out(&rep(&scratch, &["export", "--host", "mcp", "./csv-profile"]));
    let tool = &mcp["tools"][0];
    assert_eq!((&tool["name"], &tool["description"]), (&json!("csv-profile__profile"), &json!("Profiles one file.")));
    assert_eq!(tool["inputSchema"]["properties"]["rows"], json!({"type": "integer", "minimum": 1}));
    assert_eq!(tool["outputSchema"], json!({"type": "object"}));
    assert_eq!(tool["annotations"]["readOnlyHint"], json!(true));
    for leak in ["implementation", "input_schema", "confirmation"] {
        assert!(tool.get(leak).is_none(), "{tool}");
    }
    assert_eq!(mcp["resources"][0]["uri"], "skill://csv-profile/SKILL.md");
    let openai = out(&rep(&scratch, &["export", "--host", "openai", "./csv-profile"]));
    assert_eq!(openai["tools"][0]["strict"], true);
    assert_eq!(
        openai["tools"][0]["parameters"]["properties"]["rows"],
        json!({"type": ["integer", "null"], "minimum": 1})
    );
    let gemini = out(&rep(&scratch, &["export", "--host", "gemini", "./csv-profile"]));
    let declared = &gemini["tools"][0]["functionDeclarations"][0];
    assert_eq!(declared["parametersJsonSchema"]["required"], json!(["path"]));
    // Anthropic's subset has no bounds of numbers: refused, unless the promise is given up.
    let refused = rep(&scratch, &["export", "--host", "anthropic", "./csv-profile"]);
    assert_eq!((refused.code, out(&refused)["tools"].clone()), (1, json!([])), "{refused:?}");
    assert!(refused.stderr.contains("csv-profile:profile#/properties/rows/minimum"), "{refused:?}");
    let loose = rep(&scratch, &["export", "--host", "anthropic", "--loose", "./csv-profile"]);
    assert_eq!((loose.code, &out(&loose)["tools"][0]["strict"]), (0, &json!(false)), "{loose:?}");
    assert!(loose.stderr.contains("not strict"), "{loose:?}");
    let openapi = out(&rep(&scratch, &["export", "--host", "openapi", "./csv-profile"]));
    assert_eq!(openapi["paths"]["/skills/csv-profile/tools/profile"]["post"]["operationId"], "csv-profile__profile");
}

#[test]
fn an_upload_has_six_fields_and_comes_back() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    scratch.write_file("csv-profile/evals/evals.json", "{}");
    scratch.write_file("csv-profile/__pycache__/a.pyc", "x");
    let before = files(&scratch.work_folder().join("csv-profile"));
    let made = rep(&scratch, &["export", "--host", "claude-api", "./csv-profile", "--out", "dist", "--json"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(out(&made)["request"]["container"]["skills"][0]["type"], "custom");
    let dist = files(&scratch.work_folder().join("dist/csv-profile"));
    assert_eq!(dist.keys().collect::<Vec<_>>(), ["SKILL.md", "scripts/a.py"]);
    let properties = out(&rep(&scratch, &["read-properties", "dist/csv-profile"]));
    let keys: Vec<&String> = properties.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "description", "metadata"]);
    assert!(properties["metadata"].as_object().unwrap().values().all(Value::is_string), "{properties}");
    assert_eq!(rep(&scratch, &["validate", "dist/csv-profile"]).code, 0);
    let again = rep(&scratch, &["export", "--host", "claude-api", "./csv-profile", "--out", "dist"]);
    assert!(again.code == 2 && again.stderr.contains("--force"), "{again:?}");
    let again = rep(&scratch, &["export", "--host", "claude-api", "./csv-profile", "--out", "dist", "--force"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(files(&scratch.work_folder().join("dist/csv-profile")), dist, "the same bytes every time");
    let back = rep(&scratch, &["import", "--host", "claude-api", "dist/csv-profile", "--out", "back"]);
    assert_eq!(back.code, 0, "{back:?}");
    let tools = |folder: &str| out(&rep(&scratch, &["tools", folder, "--json"]))["tools"].clone();
    assert_eq!(tools("back/csv-profile"), tools("csv-profile"));
    assert_eq!(rep(&scratch, &["check", "back/csv-profile"]).code, 0);
    assert_eq!(files(&scratch.work_folder().join("csv-profile")), before, "the source is as it was");
}

#[test]
fn fields_of_claude_code_survive_an_upload_as_they_were_written() {
    let scratch = ScratchFolder::new();
    let text = "---\n# Kept for people.\nuser-invocable: false\nname: notes\nwhen_to_use: 'for notes'\n\
                description: Takes notes. Use for notes.\nmodel: opus\nallowed-tools: [Read, 'Bash(git add:*)']\n\
                x-personal-mcp:\n  version: 1.0.0\n  id: notes\n  capabilities: [resource://skills/notes/document]\n---\n\n# Notes\n";
    scratch.write_file("notes/SKILL.md", text);
    let made = rep(&scratch, &["export", "--host", "claude-api", "./notes", "--out", "dist"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(rep(&scratch, &["validate", "dist/notes"]).code, 0);
    let properties = out(&rep(&scratch, &["read-properties", "dist/notes"]));
    assert!(properties.get("user-invocable").is_none() && properties.get("model").is_none(), "{properties}");
    let back = rep(&scratch, &["import", "--host", "claude-api", "dist/notes", "--out", "back"]);
    assert_eq!(back.code, 0, "{back:?}");
    assert_eq!(scratch.read_file("back/notes/SKILL.md"), text);
    assert_eq!(files(&scratch.work_folder().join("back/notes")).keys().collect::<Vec<_>>(), ["SKILL.md"]);
    // What was changed in the upload counts.
    let upload = scratch.read_file("dist/notes/SKILL.md").replace("Takes notes.", "Takes good notes.");
    scratch.write_file("dist/notes/SKILL.md", upload);
    let back = rep(&scratch, &["import", "--host", "claude-api", "dist/notes", "--out", "changed"]);
    assert_eq!(back.code, 0, "{back:?}");
    let restored = scratch.read_file("changed/notes/SKILL.md");
    assert!(restored.contains("Takes good notes.") && restored.contains("x-personal-mcp:"), "{restored}");
}

#[test]
fn what_a_strict_upload_refuses_is_not_written() {
    let scratch = ScratchFolder::new();
    scratch
        .write_file("claude-helper/SKILL.md", "---\nname: claude-helper\ndescription: Helps. Use for help.\n---\nx\n");
    let reserved = rep(&scratch, &["export", "--host", "claude-api", "./claude-helper", "--out", "dist"]);
    assert_eq!(reserved.code, 1, "{reserved:?}");
    assert!(!scratch.work_folder().join("dist").exists(), "{reserved:?}");
    scratch.write_file("broken/SKILL.md", "---\nname: Broken\ndescription: \"\"\n---\nx\n");
    let broken = rep(&scratch, &["export", "--host", "codex", "./broken", "--out", "dist"]);
    assert!(broken.code != 0 && !scratch.work_folder().join("dist").exists(), "{broken:?}");
    let unknown = rep(&scratch, &["export", "--host", "codxe", "./broken"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("did you mean `codex`"), "{unknown:?}");
}

#[test]
fn folders_travel_as_they_are_with_what_their_host_is_told() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    let codex = rep(&scratch, &["export", "--host", "codex", "./csv-profile", "--out", "codex"]);
    assert_eq!(codex.code, 0, "{codex:?}");
    assert!(codex.stderr.contains("`permissions`: is not read by Codex"), "{codex:?}");
    let sidecar = scratch.read_file("codex/csv-profile/agents/openai.yaml");
    assert!(sidecar.contains("type: mcp"), "{sidecar}");
    assert!(!scratch.read_file("codex/csv-profile/SKILL.md").contains("allowed-tools: Read\n---"));
    let claude = rep(&scratch, &["export", "--host", "claude-code", "./csv-profile", "--out", "claude"]);
    assert_eq!(claude.code, 0, "{claude:?}");
    let manifest = scratch.read_file("claude/csv-profile/SKILL.md");
    assert!(manifest.contains("allowed-tools: Read") && !manifest.contains("host_overrides"), "{manifest}");
    assert!(manifest.ends_with("---\n# Body\n"), "{manifest}");
    // Without overrides the file is the author's, byte for byte.
    scratch.write_file("plain/SKILL.md", "---\nname: plain   # mine\ndescription: Says so. Use for it.\n---\nx\n");
    rep(&scratch, &["export", "--host", "cursor", "./plain", "--out", "cursor"]);
    assert_eq!(scratch.read_file("cursor/plain/SKILL.md"), scratch.read_file("plain/SKILL.md"));
}

#[test]
fn collections_say_what_they_hold() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    scratch.write_file("plain/SKILL.md", "---\nname: plain\ndescription: Says so. Use for it.\n---\nx\n");
    let both = ["./csv-profile", "./plain", "--name", "my-skills", "--out", "dist"];
    let plugins = rep(&scratch, &[&["export", "--host", "agent-plugins"], &both[..]].concat());
    assert_eq!(plugins.code, 0, "{plugins:?}");
    let plugin: Value = serde_json::from_str(&scratch.read_file("dist/my-skills/plugin.json")).unwrap();
    assert_eq!(plugin["name"], "my-skills");
    assert!(scratch.work_folder().join("dist/my-skills/skills/plain/SKILL.md").exists());
    let market = rep(&scratch, &[&["export", "--host", "claude-marketplace", "--force"], &both[..]].concat());
    assert_eq!(market.code, 0, "{market:?}");
    let marketplace: Value =
        serde_json::from_str(&scratch.read_file("dist/my-skills/.claude-plugin/marketplace.json")).unwrap();
    assert_eq!(marketplace["plugins"][0]["skills"], json!(["./skills/csv-profile", "./skills/plain"]));
    let unnamed = rep(&scratch, &["export", "--host", "agent-plugins", "./plain", "--out", "other"]);
    assert!(unnamed.code == 1 && unnamed.stderr.contains("--name"), "{unnamed:?}");
}

#[test]
fn every_host_is_listed_with_where_it_is_known_from() {
    let scratch = ScratchFolder::new();
    let all = out(&rep(&scratch, &["hosts", "--json"]));
    let ids: Vec<&str> = all["hosts"].as_array().unwrap().iter().filter_map(|host| host["id"].as_str()).collect();
    for id in [
        "claude-api",
        "claude-code",
        "codex",
        "copilot",
        "vscode",
        "cursor",
        "gemini-cli",
        "goose",
        "opencode",
        "amp",
        "mcp",
        "openai",
    ] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    for host in all["hosts"].as_array().unwrap() {
        let dated =
            |fact: &Value| fact["source"].as_str().is_some_and(|text| !text.is_empty()) && fact["checked"].is_string();
        let folders = host["folders"].as_array().cloned().unwrap_or_default();
        assert!(folders.iter().all(dated) && host.get("export").is_none_or(dated), "{host}");
    }
    let one = rep(&scratch, &["hosts", "codex-cli"]);
    assert!(one.code == 0 && one.stdout.contains(".agents/skills"), "{one:?}");
    assert_eq!(rep(&scratch, &["hosts", "nowhere"]).code, 2);
}

#[test]
fn an_upload_comes_with_all_calls_from_the_upload_to_the_download() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    scratch.write_file("plain/SKILL.md", "---\nname: plain\ndescription: Says so. Use for it.\n---\nx\n");
    let made =
        rep(&scratch, &["export", "--host", "claude-api", "./csv-profile", "./plain", "--out", "dist", "--json"]);
    let document = out(&made);
    let calls = document["calls"].as_array().expect("there are calls");
    let names: Vec<&str> = calls.iter().filter_map(|call| call["name"].as_str()).collect();
    assert_eq!(names, ["upload", "upload", "message", "continue", "download"]);
    assert_eq!(calls[0]["files"], json!(["csv-profile/SKILL.md", "csv-profile/scripts/a.py"]));
    for call in calls {
        assert_eq!(call["headers"]["anthropic-version"], "2023-06-01", "{call}");
        assert!(call["url"].as_str().is_some_and(|url| url.starts_with("https://api.anthropic.com/v1/")), "{call}");
    }
    assert_eq!(calls[2]["headers"]["anthropic-beta"], "code-execution-2025-08-25,skills-2025-10-02");
    assert_eq!(calls[2]["body"], document["request"]);
    let request = &document["request"];
    assert_eq!(request["container"]["skills"][1]["skill_id"], "<id of plain>");
    assert_eq!(request["tools"][0]["name"], "code_execution");
    assert!(request["messages"].is_array() && request["max_tokens"].is_u64(), "{request}");
    assert_eq!(calls[3]["body"]["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(calls[4]["headers"]["anthropic-beta"], "files-api-2025-04-14");
    let notes = document["notes"].to_string();
    assert!(notes.contains("today: `x-api-key`") && notes.contains("no longer required: `anthropic-beta"), "{notes}");
    // For people, the same calls are a script that a shell accepts, with a request that is JSON.
    let made = rep(&scratch, &["export", "--host", "claude-api", "./csv-profile", "./plain", "--out", "again"]);
    let script = made.stderr.split_once("are:\n").expect("the script is last").1;
    for word in ["skills-2025-10-02", "pause_turn", "/content", "id_2=$(upload 'plain')"] {
        assert!(script.contains(word), "{script}");
    }
    scratch.write_file("calls.sh", script);
    let checked = scratch.run_program(Path::new("/bin/bash"), &["-n", "calls.sh"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""));
    let body = script.split("<<JSON\n").nth(1).and_then(|rest| rest.split("\nJSON\n").next()).expect("a request");
    assert!(serde_json::from_str::<Value>(body).is_ok(), "{body}");
}

#[test]
fn codex_is_made_to_ask_before_risky_tools() {
    let scratch = ScratchFolder::new();
    skill(&scratch);
    // A tool that only reads is not gated.
    let calm = rep(&scratch, &["export", "--host", "codex", "./csv-profile", "--out", "calm"]);
    assert_eq!(calm.code, 0, "{calm:?}");
    assert!(!scratch.work_folder().join("calm/csv-profile/agents/codex.rules").exists());
    for (found, risk) in [
        (TOOL.replace("write: []", "write: [\"out/**\"]"), "it writes files"),
        (TOOL.replace("outbound: []", "outbound: [api.example.org]"), "it connects to the network"),
        (TOOL.replace("allow_subprocess: false", "allow_subprocess: true"), "it starts programs"),
        (TOOL.replace("    output_schema", "    confirmation: {level: always}\n    output_schema"), "it always asks"),
    ] {
        scratch.write_file("csv-profile/SKILL.md", &found);
        let risky = rep(&scratch, &["export", "--host", "codex", "./csv-profile", "--out", "risky", "--force"]);
        assert_eq!(risky.code, 0, "{risky:?}");
        assert!(risky.stderr.contains(".codex/rules/csv-profile.rules"), "{risky:?}");
        let rules = scratch.read_file("risky/csv-profile/agents/codex.rules");
        assert!(rules.contains("pattern = [\"rep\",\"run\",\"csv-profile:profile\"]"), "{rules}");
        assert!(rules.contains(".agents/skills/csv-profile/scripts/a.py"), "{rules}");
        assert!(rules.contains("decision = \"prompt\"") && rules.contains(risk), "{rules}");
        assert!(!rules.contains("allow\""), "{rules}");
        let modes = scratch.read_file("risky/csv-profile/agents/codex.toml");
        assert!(modes.contains("[mcp_servers.repertoire.tools.\"csv-profile__profile\"]"), "{modes}");
        assert!(modes.ends_with("approval_mode = \"prompt\"\n"), "{modes}");
    }
    // The author's own rules are kept.
    scratch.write_file("csv-profile/agents/codex.rules", "# mine\n");
    let kept = rep(&scratch, &["export", "--host", "codex", "./csv-profile", "--out", "risky", "--force"]);
    assert!(kept.stderr.contains("is provided by the author"), "{kept:?}");
    assert_eq!(scratch.read_file("risky/csv-profile/agents/codex.rules"), "# mine\n");
    let again = scratch.read_file("risky/csv-profile/agents/codex.toml");
    assert!(again.contains("approval_mode"), "{again}");
}
