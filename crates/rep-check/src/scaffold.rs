//! The files of a new skill for each dialect. They pass the checks of their own profile; `placeholder-text` reminds the
//! author of the description to write.
//!
//! ```
//! use rep_check::Profile;
//! use rep_check::scaffold::{ToolLanguage, check_name, build_skill_files};
//!
//! assert!(check_name("release-notes").is_ok());
//! assert_eq!(check_name("Release Notes").unwrap_err().suggestion.as_deref(), Some("release-notes"));
//! let files = build_skill_files("word-count", Profile::Universal, Some(ToolLanguage::Python));
//! assert_eq!(files.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["SKILL.md", "scripts/main.py"]);
//! ```

use rep_model::{content_hash, names, yaml};

use crate::Profile;

/// The maximum length of a name that every host accepts.
const NAME_LENGTH_MAX: usize = 64;

/// The languages that tools can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolLanguage {
    /// `scripts/main.py`
    Python,
    /// `scripts/main.mjs`
    Node,
    /// `scripts/main.sh`
    Bash,
}

/// Why a name is not accepted by every host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillNameError {
    /// What is wrong with the name.
    pub message: String,
    /// The help text.
    pub help: &'static str,
    /// A name that would be accepted.
    pub suggestion: Option<String>,
}

/// Checks that every host accepts a name.
pub fn check_name(name: &str) -> Result<(), SkillNameError> {
    let fail = |message: String, help| Err(SkillNameError { message, help, suggestion: None });
    let is_portable = names::is_lowercase_id(name) && !name.ends_with('-') && !name.contains("--");
    if !is_portable {
        let lower = name.to_lowercase();
        let parts = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
        let suggestion =
            Some(parts.collect::<Vec<_>>().join("-")).filter(|suggestion| names::is_lowercase_id(suggestion));
        let help = "use lower-case letters, digits and single hyphens, starting with a letter";
        return Err(SkillNameError { message: "is not a name that every host accepts".to_owned(), help, suggestion });
    }
    if names::count_chars(name) > NAME_LENGTH_MAX {
        return fail(format!("is longer than {NAME_LENGTH_MAX} characters"), "choose a shorter one");
    }
    if let Some(word) = names::find_reserved_word(name) {
        return fail(format!("contains the reserved word `{word}`"), "choose a name without it");
    }
    Ok(())
}

/// Returns the files of a new skill as paths and texts, sorted by path. Only a Universal 2.1 skill can have a tool.
pub fn build_skill_files(name: &str, profile: Profile, tool: Option<ToolLanguage>) -> Vec<(String, String)> {
    let title = format_title(name);
    let mut files = match (profile, tool) {
        (Profile::Universal, tool) => build_universal_files(name, &title, tool),
        (Profile::Aam, _) => build_aam_files(name, &title),
        (Profile::Pmcp, _) => build_pmcp_files(name, &title),
        (Profile::Uasp, _) => vec![(format!("{name}.uasp.yaml"), render_uasp(name, &title))],
        _ => vec![("SKILL.md".to_owned(), render_skill_md(name, "", &render_body(&title)))],
    };
    files.sort();
    files
}

fn format_title(name: &str) -> String {
    let mut words = name.replace('-', " ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The first line of the description of a new skill, by which `placeholder-text` recognizes it.
pub(crate) const DESCRIPTION_PLACEHOLDER: &str =
    "Says in one sentence what this skill does, then names the situations to use it";

/// The end of the description of a new UASP skill.
pub(crate) const UASP_PLACEHOLDER: &str = ", as rules an agent can ask for one by one";

fn render_skill_md(name: &str, fields: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: >-\n  {DESCRIPTION_PLACEHOLDER}\n  in. Use when the user asks for {}.\n{fields}---\n\n{body}",
        name.replace('-', " ")
    )
}

fn render_body(title: &str) -> String {
    format!(
        "# {title}\n\n## Steps\n\n1. Read what the user gave you and restate the goal in one line.\n2. Do the work.\n3. Check the result against the goal before you answer.\n\n## Example\n\nInput: a short request.\n\nOutput: the finished result, with one line on what was done.\n\n## Edge cases\n\n- When something needed is missing, ask for it instead of guessing.\n"
    )
}

fn build_universal_files(name: &str, title: &str, tool: Option<ToolLanguage>) -> Vec<(String, String)> {
    let mut fields = String::from(
        "spec_version: \"2.1\"\nversion: 0.1.0\npermissions:\n  filesystem:\n    read: []\n    write: []\n  network:\n    outbound: []\n  processes:\n    allow_subprocess: false\nsafety:\n  require_confirmation_for:\n    - destructive_writes\n    - external_network\n  redact:\n    secrets: true\n    pii: true\n",
    );
    let mut files = Vec::new();
    if let Some(tool) = tool {
        let (runtime, path, handler, script) = match tool {
            ToolLanguage::Python => ("python", "scripts/main.py", "      handler: run\n", PYTHON_SCRIPT),
            ToolLanguage::Node => ("node", "scripts/main.mjs", "      handler: run\n", NODE_SCRIPT),
            ToolLanguage::Bash => ("bash", "scripts/main.sh", "", BASH_SCRIPT),
        };
        fields.push_str(&format!(
            "tools:\n  - name: count-words\n    description: Counts the words of a text.\n    input_schema:\n      type: object\n      additionalProperties: false\n      properties:\n        text:\n          type: string\n      required:\n        - text\n    output_schema:\n      type: object\n      additionalProperties: false\n      properties:\n        words:\n          type: integer\n          minimum: 0\n      required:\n        - words\n    implementation:\n      runtime: {runtime}\n      entrypoint: {path}\n{handler}evaluation:\n  smoke_tests:\n    - name: counts-two-words\n      tool: count-words\n      input:\n        text: hello world\n      expect:\n        words: 2\n"
        ));
        files.push((path.to_owned(), script.to_owned()));
    }
    files.push(("SKILL.md".to_owned(), render_skill_md(name, &fields, &render_body(title))));
    files
}

const PYTHON_SCRIPT: &str = "\"\"\"Counts the words of a text.\"\"\"\n\n\ndef run(args, ctx):\n    return {\"words\": len(args[\"text\"].split())}\n";
const NODE_SCRIPT: &str = "// Counts the words of a text.\nexport function run(args, ctx) {\n  return { words: args.text.split(/\\s+/).filter(Boolean).length };\n}\n";
const BASH_SCRIPT: &str = "#!/usr/bin/env bash\n# Counts the words of a text: JSON on stdin, JSON on stdout.\nset -euo pipefail\nIFS= read -r -d '' input || true\nif [[ $input =~ \\\"text\\\"[[:space:]]*:[[:space:]]*\\\"(([^\\\"\\\\]|\\\\.)*)\\\" ]]; then\n  text=${BASH_REMATCH[1]//\\\\[nrt]/ }\nelse\n  text=''\nfi\nread -r -a words <<< \"$text\" || true\nprintf '{\"words\": %d}\\n' \"${#words[@]}\"\n";

fn build_aam_files(name: &str, title: &str) -> Vec<(String, String)> {
    let case = "name: counts-two-words\ndescription: Two words give two.\ninput:\n  command: \"sh scripts/count.sh\"\n  stdin: \"hello world\"\nexpected:\n  exit-code: 0\n  stdout-contains:\n    - \"2\"\n  not-contains:\n    - \"error\"\n";
    let steps = format!("{}\nRun `scripts/count.sh` to count words; it reads stdin.\n", render_body(title));
    vec![
        ("SKILL.md".to_owned(), render_skill_md(name, "compatibility:\n  requires:\n    - sh\n", &steps)),
        (
            "scripts/count.sh".to_owned(),
            "#!/bin/sh\n# Counts the words on stdin.\nset -eu\nwc -w | tr -d ' '\n".to_owned(),
        ),
        ("tests/test-config.json".to_owned(), "{\n  \"version\": 1,\n  \"timeout\": 10\n}\n".to_owned()),
        ("tests/cases/01-basic.yaml".to_owned(), case.to_owned()),
    ]
}

fn build_pmcp_files(name: &str, title: &str) -> Vec<(String, String)> {
    let fields = format!(
        "x-personal-mcp:\n  id: {name}\n  version: 0.1.0\n  tags:\n    - draft\n  capabilities:\n    - resource://skills/{name}/document\n  depends_on: []\n  references:\n    details:\n      path: references/details.md\n      title: Details\n"
    );
    let steps = format!("{}\nFor the details, read [the reference](references/details.md).\n", render_body(title));
    vec![
        ("SKILL.md".to_owned(), render_skill_md(name, &fields, &steps)),
        ("references/details.md".to_owned(), format!("# {title}: details\n\nWhat is needed only now and then.\n")),
    ]
}

fn render_uasp(name: &str, title: &str) -> String {
    let draft = |version: &str| {
        format!(
            "meta:\n  name: {name}\n  version: \"{version}\"\n  type: knowledge\n  description: {title}{UASP_PLACEHOLDER}\n\ntriggers:\n  keywords:\n    - {}\n\nconstraints:\n  never:\n    - guess what was not asked\n  always:\n    - check the result against the goal\n\ndecisions:\n  - when: something needed is missing\n    then: ask for it\n",
            name.replace('-', " ")
        )
    };
    let root = yaml::parse(&draft("00000000"), 0).root;
    let sha256 = root.and_then(|root| content_hash::hash_content(&root).ok()).unwrap_or_else(|| "0".repeat(8));
    draft(&sha256[..8])
}

#[cfg(test)]
mod tests {
    use rep_model::{Skill, SkillTree};

    use super::*;
    use crate::{CheckOptions, Level, check_skill};

    #[test]
    fn new_skills_pass_the_checks_of_their_own_dialect_but_for_their_placeholder() {
        let plain = [Profile::AgentSkills, Profile::Aam, Profile::Pmcp, Profile::Uasp, Profile::Universal];
        let with_tools = [ToolLanguage::Python, ToolLanguage::Node, ToolLanguage::Bash];
        let all = plain.map(|profile| (profile, None)).into_iter();
        for (profile, tool) in all.chain(with_tools.map(|tool| (Profile::Universal, Some(tool)))) {
            let files = build_skill_files("word-count", profile, tool);
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let (skill, faults) = Skill::parse(SkillTree::from_texts("word-count", &files));
            for profiles in [vec![], vec![profile]] {
                let options = CheckOptions { profiles, ..CheckOptions::default() };
                let findings = check_skill(&skill, faults.clone(), &options).findings;
                let found: Vec<_> = findings.iter().map(|finding| (finding.rule.name, finding.level)).collect();
                assert_eq!(found, [("placeholder-text", Level::Info)], "{}", profile.name());
            }
        }
    }
}
