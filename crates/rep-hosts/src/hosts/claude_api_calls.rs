//! The calls that upload skills to the Claude API, use them, continue a paused answer, and download the files that they
//! create: as data, and as a script.
//!
//! Universal 2.1 asks for beta headers, and the API no longer needs them. The calls contain them, and the notes state
//! both facts with their sources.

use serde_json::{Value, json};

use crate::profile::FactTopic;

const API_URL: &str = "https://api.anthropic.com/v1";
const VERSION_HEADER: &str = "2023-06-01";
/// The beta headers of Universal 2.1 for skills and for downloads.
const SKILLS_BETA: &str = "code-execution-2025-08-25,skills-2025-10-02";
const FILES_BETA: &str = "files-api-2025-04-14";

/// A skill to upload.
#[derive(Clone, Debug)]
pub struct UploadedSkill<'a> {
    /// The name, which is also the name of its directory.
    pub name: &'a str,
    /// The paths of its files, which start with the name.
    pub files: Vec<&'a str>,
}

/// Builds the body of a request that uses uploaded skills. `identifiers` are the ids that the uploads returned.
pub fn build_attachment_request(identifiers: &[&str]) -> Value {
    let skills = identifiers.iter().map(|id| json!({ "type": "custom", "skill_id": id, "version": "latest" }));
    json!({
        "model": "<a Claude model>",
        "max_tokens": 4096,
        "container": { "skills": skills.collect::<Vec<Value>>() },
        "tools": [{ "type": "code_execution_20260521", "name": "code_execution" }],
        "messages": [{ "role": "user", "content": "<your request>" }],
    })
}

/// Describes the calls that upload and use skills, in order.
pub fn describe_upload_calls(skills: &[UploadedSkill<'_>]) -> Value {
    let headers = |beta: &str| json!({ "x-api-key": "$ANTHROPIC_API_KEY", "anthropic-version": VERSION_HEADER, "anthropic-beta": beta });
    let identifiers: Vec<String> = skills.iter().map(|skill| format!("<id of {}>", skill.name)).collect();
    let identifiers: Vec<&str> = identifiers.iter().map(String::as_str).collect();
    let request = build_attachment_request(&identifiers);
    let mut calls: Vec<Value> = skills
        .iter()
        .map(|skill| {
            json!({
                "name": "upload",
                "purpose": format!("uploads {}; the answer contains its id", skill.name),
                "method": "POST",
                "url": format!("{API_URL}/skills"),
                "headers": headers(SKILLS_BETA),
                "files": skill.files,
            })
        })
        .collect();
    calls.push(json!({
        "name": "message",
        "purpose": "uses the skills",
        "method": "POST",
        "url": format!("{API_URL}/messages"),
        "headers": headers(SKILLS_BETA),
        "body": request,
    }));
    calls.push(json!({
        "name": "continue",
        "purpose": "if `stop_reason` is `pause_turn`: the same request, with the answer as the last message",
        "method": "POST",
        "url": format!("{API_URL}/messages"),
        "headers": headers(SKILLS_BETA),
        "body": build_continuation(&request),
    }));
    calls.push(json!({
        "name": "download",
        "purpose": "downloads a file whose `file_id` is in the answer",
        "method": "GET",
        "url": format!("{API_URL}/files/<file_id>/content"),
        "headers": headers(FILES_BETA),
    }));
    calls.into()
}

/// Builds the request that continues a paused answer in the same container.
fn build_continuation(request: &Value) -> Value {
    let mut request = request.clone();
    request["container"]["id"] = "<container.id of the answer>".into();
    if let Some(messages) = request["messages"].as_array_mut() {
        messages.push(json!({ "role": "assistant", "content": "<content of the answer>" }));
    }
    request
}

/// Describes the facts about the headers, those of the specification and those of today.
pub fn describe_header_notes() -> Vec<String> {
    let api = super::ProjectionHost::find("claude-api").map(super::ProjectionHost::profile);
    let facts = api.iter().flat_map(|profile| profile.facts);
    let facts = facts.filter(|fact| matches!(fact.topic, FactTopic::Headers | FactTopic::Files));
    facts
        .map(|fact| {
            let tense = if fact.is_current { "today" } else { "no longer required" };
            format!("{tense}: {} ({}, {})", fact.text, fact.source, fact.checked)
        })
        .collect()
}

/// Renders the calls as a bash script that is run where the directories are. It needs `curl` and `jq`.
pub fn render_upload_script(skills: &[UploadedSkill<'_>]) -> String {
    let variables: Vec<String> = (1..=skills.len()).map(|number| format!("$id_{number}")).collect();
    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
    let request = build_attachment_request(&variables);
    let mut script = String::from("# bash; needs curl and jq\n");
    for note in describe_header_notes() {
        script.push_str(&format!("# {note}\n"));
    }
    script.push_str(&format!(
        r#"headers=(-H "x-api-key: $ANTHROPIC_API_KEY" -H "anthropic-version: {VERSION_HEADER}")
skills_beta=(-H "anthropic-beta: {SKILLS_BETA}")
files_beta=(-H "anthropic-beta: {FILES_BETA}")
upload() {{
  local form=() file
  while IFS= read -r -d '' file; do form+=(-F "files[]=@\"$file\";filename=\"$file\""); done < <(find "$1" -type f -print0)
  curl -sS --fail-with-body {API_URL}/skills "${{headers[@]}}" "${{skills_beta[@]}}" "${{form[@]}}" | jq -r .id
}}
ask() {{
  curl -sS --fail-with-body {API_URL}/messages "${{headers[@]}}" "${{skills_beta[@]}}" -H "content-type: application/json" -d @request.json >answer.json
}}
"#
    ));
    for (number, skill) in skills.iter().enumerate() {
        script.push_str(&format!("id_{}=$(upload '{}')\n", number + 1, skill.name.replace('\'', r"'\''")));
    }
    script.push_str(&format!("cat >request.json <<JSON\n{request:#}\nJSON\nask\n"));
    script.push_str(&format!(
        r#"while [ "$(jq -r .stop_reason answer.json)" = pause_turn ]; do
  jq --slurpfile answer answer.json '.container.id = $answer[0].container.id
    | .messages += [{{role: "assistant", content: $answer[0].content}}]' request.json >next.json && mv next.json request.json
  ask
done
jq -r '.. | .file_id? // empty' answer.json | while IFS= read -r file; do
  curl -sS --fail-with-body "{API_URL}/files/$file/content" "${{headers[@]}}" "${{files_beta[@]}}" -o "$file"
done
"#
    ));
    script
}
