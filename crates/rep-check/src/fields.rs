//! The fields of skills as data: what each means, what values it has, and which hosts read it.
//!
//! The completions and hovers of the language server, and the schemas of `rep schema`, come from these tables.

use rep_model::frontmatter::{CLAUDE_CODE_FIELDS, STANDARD_FIELDS, UNIVERSAL_FIELDS};

use crate::{Profile, list_host_limits};

/// The values that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldShape {
    /// Text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list.
    List,
    /// A mapping.
    Mapping,
    /// Text, or a list of texts.
    TextOrList,
}

impl FieldShape {
    /// Describes the values.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
            Self::List => "list".to_owned(),
            Self::Mapping => "mapping".to_owned(),
            Self::TextOrList => "text or list".to_owned(),
        }
    }

    /// Returns the words that are valid values.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Boolean => &["true", "false"],
            Self::Choice(words) => words,
            Self::Text | Self::Number | Self::List | Self::Mapping | Self::TextOrList => &[],
        }
    }
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct FieldEntry {
    /// The name.
    pub name: &'static str,
    /// The values.
    pub shape: FieldShape,
    /// What it means.
    pub meaning: &'static str,
}

const fn field(name: &'static str, shape: FieldShape, meaning: &'static str) -> FieldEntry {
    FieldEntry { name, shape, meaning }
}

use FieldShape::{Boolean, Choice, List, Mapping, Number, Text, TextOrList};

/// The top-level fields of a SKILL.md.
static TOP_FIELDS: &[FieldEntry] = &[
    field("name", Text, "The name of the skill. It equals the name of the directory."),
    field("description", Text, "What the skill does and when to use it. Models choose skills by this text alone."),
    field("license", Text, "The license: an SPDX id, or the name of a bundled license file."),
    field("compatibility", Text, "What the skill needs: a host, programs, network access. At most 500 characters."),
    field("metadata", Mapping, "Data for particular clients, as text by key."),
    field("allowed-tools", TextOrList, "The tools that the skill may use without asking, such as `Read Bash(git *)`."),
    field("when_to_use", Text, "When to use the skill. Claude Code lists it behind the description."),
    field("argument-hint", Text, "What a menu shows for the arguments, such as `[file] [format]`."),
    field("arguments", TextOrList, "The names of the arguments, for `$name` in the body."),
    field("disable-model-invocation", Boolean, "Whether only the user can call the skill."),
    field("user-invocable", Boolean, "Whether the skill is in the menu of commands."),
    field("disallowed-tools", TextOrList, "The tools that the skill must not use."),
    field("model", Text, "The model that runs the skill."),
    field("effort", Choice(&["low", "medium", "high", "xhigh", "max"]), "How much the model thinks."),
    field("context", Choice(&["fork"]), "`fork` runs the skill in a context of its own."),
    field("agent", Text, "The agent that runs a skill with `context: fork`."),
    field("background", Boolean, "Whether a forked skill runs in the background."),
    field("hooks", Mapping, "Commands that run at events while the skill is active."),
    field("paths", TextOrList, "Globs of files. The skill is offered when one of them is used."),
    field("shell", Choice(&["bash", "powershell"]), "The shell for commands in the body."),
    field("spec_version", Choice(&["\"2.1\""]), "The version of Universal Agent Skill that the skill follows."),
    field("version", Text, "The version of the skill, by SemVer."),
    field("tags", List, "Words for finding the skill."),
    field("permissions", Mapping, "What the tools may access. Everything else is denied."),
    field("safety", Mapping, "What needs confirmation, and what is redacted."),
    field("secrets", Mapping, "The secrets that the tools need."),
    field("tools", List, "The tools that the skill implements."),
    field("host_overrides", List, "Settings for particular hosts."),
    field("evaluation", Mapping, "Tests of the tools."),
    field("provenance", Mapping, "Where the skill comes from."),
    field("depends_on", List, "The skills that this one needs."),
    field("extensions", Mapping, "Custom data."),
    field("x-personal-mcp", Mapping, "The contract of a personal MCP server."),
];

/// The fields of nested mappings, by the keys around them. `*` is any key.
static NESTED_FIELDS: &[(&[&str], &[FieldEntry])] = &[
    (
        &["when_to_use"],
        &[
            field("mentions", List, "Words in a request that suggest the skill."),
            field("file_types", List, "Endings of files that suggest the skill."),
            field("intents", List, "Intents that suggest the skill."),
            field("priority", Number, "Which skill is preferred when several fit."),
        ],
    ),
    (
        &["permissions"],
        &[
            field("filesystem", Mapping, "The files that tools may access."),
            field("network", Mapping, "The hosts that tools may connect to."),
            field("processes", Mapping, "Whether tools may start processes."),
        ],
    ),
    (
        &["permissions", "filesystem"],
        &[
            field("read", List, "Globs of the files that tools may read."),
            field("write", List, "Globs of the files that tools may write."),
        ],
    ),
    (&["permissions", "network"], &[field("outbound", List, "The hosts that tools may connect to.")]),
    (&["permissions", "processes"], &[field("allow_subprocess", Boolean, "Whether tools may start other programs.")]),
    (&["secrets"], &[field("required", List, "The secrets that the tools need.")]),
    (
        &["secrets", "required"],
        &[
            field("name", Text, "The name of the secret."),
            field("usage", Choice(&["env"]), "How a tool receives it."),
            field("description", Text, "What the secret is for."),
            field("optional", Boolean, "Whether the tools work without it."),
        ],
    ),
    (
        &["tools"],
        &[
            field("name", Text, "The name of the tool."),
            field("description", Text, "What the tool does."),
            field("input_schema", Mapping, "The JSON Schema of the arguments."),
            field("output_schema", Mapping, "The JSON Schema of the result."),
            field("confirmation", Mapping, "When the user is asked."),
            field("implementation", Mapping, "The program behind the tool."),
        ],
    ),
    (
        &["tools", "confirmation"],
        &[
            field(
                "level",
                Choice(&["never", "always", "destructive_writes", "external_network"]),
                "When the user is asked.",
            ),
            field("prompt", Text, "What the user is asked."),
        ],
    ),
    (
        &["tools", "implementation"],
        &[
            field("runtime", Choice(&["python", "node", "bash"]), "The interpreter."),
            field("entrypoint", Text, "The script, relative to the skill's directory."),
            field("handler", Text, "The function that is called."),
            field("timeout_seconds", Number, "The longest run."),
            field("dependencies", Mapping, "The packages that the script needs."),
        ],
    ),
    (
        &["tools", "implementation", "dependencies"],
        &[
            field("pip", List, "Packages from PyPI."),
            field("npm", List, "Packages from npm."),
            field("system", List, "Programs of the system."),
            field("notes", Text, "Notes for installing them."),
        ],
    ),
    (
        &["host_overrides"],
        &[
            field(
                "host",
                Choice(&["claude-api", "claude-code", "codex-cli", "mcp", "openai-responses"]),
                "The host that the settings are for.",
            ),
            field("config", Mapping, "The settings."),
        ],
    ),
    (
        &["x-personal-mcp"],
        &[
            field("id", Text, "The id of the skill."),
            field("version", Text, "The version of the skill."),
            field("tags", List, "Words for finding the skill."),
            field("capabilities", List, "The URIs that the skill publishes."),
            field("depends_on", List, "The skills that this one needs."),
            field("references", Mapping, "The bundled files that are published, by name."),
        ],
    ),
    (
        &["x-personal-mcp", "references", "*"],
        &[
            field("path", Text, "The file, relative to the skill's directory."),
            field("mime_type", Text, "The media type."),
            field("title", Text, "The title."),
            field("aliases", List, "Other names."),
        ],
    ),
];

/// The fields of a UASP file, by the keys around them.
static UASP_FIELDS: &[(&[&str], &[FieldEntry])] = &[
    (
        &[],
        &[
            field("meta", Mapping, "Name, version and type of the skill."),
            field("triggers", Mapping, "What selects the skill."),
            field("constraints", Mapping, "What is always, never or preferably done."),
            field("decisions", List, "Rules: when a condition holds, what to do."),
            field("state", Mapping, "What commands create and invalidate."),
            field("commands", Mapping, "The commands, by name."),
            field("global_flags", List, "Flags that all commands have."),
            field("workflows", Mapping, "Sequences of commands, by name."),
            field("reference", Mapping, "The syntax reference."),
            field("templates", Mapping, "Scripts, by name."),
            field("environment", List, "Environment variables."),
            field("sources", List, "Further documentation."),
        ],
    ),
    (
        &["meta"],
        &[
            field("name", Text, "The name of the skill."),
            field("version", Text, "The hash of the content: `rep hash --write` computes it."),
            field("type", Choice(&["knowledge", "cli", "api", "hybrid"]), "What the skill describes."),
            field("description", Text, "What the skill does. At most 500 characters."),
        ],
    ),
    (
        &["triggers"],
        &[
            field("keywords", List, "Words that suggest the skill."),
            field("intents", List, "Intents that suggest the skill."),
            field("file_patterns", List, "Globs of files that suggest the skill."),
        ],
    ),
    (
        &["constraints"],
        &[
            field("never", List, "What must not be done."),
            field("always", List, "What must be done."),
            field("prefer", List, "Preferred alternatives."),
        ],
    ),
    (
        &["constraints", "prefer"],
        &[
            field("use", Text, "The preferred alternative."),
            field("over", Text, "What it is preferred to."),
            field("when", Text, "When this holds."),
        ],
    ),
    (
        &["decisions"],
        &[
            field("when", Text, "The condition."),
            field("then", Text, "What to do."),
            field("ref", Text, "The source with more."),
        ],
    ),
    (&["state"], &[field("entities", List, "What commands create and need.")]),
    (
        &["state", "entities"],
        &[
            field("name", Text, "The name of the entity."),
            field("format", Text, "How its values look."),
            field("created_by", List, "The commands that create it."),
            field("consumed_by", List, "The commands that need it."),
            field("invalidated_by", List, "The commands that invalidate it."),
            field("properties", List, "What its values have."),
        ],
    ),
    (
        &["commands", "*"],
        &[
            field("syntax", Text, "How the command is written."),
            field("description", Text, "What the command does."),
            field("aliases", List, "Other names."),
            field("args", List, "The arguments."),
            field("flags", List, "The flags."),
            field("returns", Text, "The result."),
            field("requires", List, "The entities and commands that must come first."),
            field("creates", List, "The entities that the command creates."),
            field("invalidates", List, "The entities that the command invalidates."),
            field("note", Text, "A note."),
            field("variants", List, "Variants of the syntax."),
        ],
    ),
    (
        &["workflows", "*"],
        &[
            field("description", Text, "What the workflow achieves."),
            field("invariants", List, "What holds during the workflow."),
            field("steps", List, "The commands, in order."),
            field("example", Text, "An example."),
        ],
    ),
    (
        &["workflows", "*", "steps"],
        &[
            field("cmd", Text, "The command."),
            field("note", Text, "A note."),
            field("optional", Boolean, "Whether the step can be skipped."),
        ],
    ),
    (
        &["templates", "*"],
        &[
            field("description", Text, "What the script does."),
            field("usage", Text, "How it is called."),
            field("args", List, "The arguments."),
            field("path", Text, "The file."),
            field("inline", Text, "The script itself."),
        ],
    ),
    (
        &["sources"],
        &[
            field("id", Text, "The name by which decisions refer to it."),
            field("url", Text, "The address."),
            field("path", Text, "The file."),
            field("use_for", Text, "What it explains."),
        ],
    ),
];

/// The fields that a host reads, with the source of the fact.
#[derive(Debug)]
pub struct HostFields {
    /// The id of the host.
    pub host: &'static str,
    /// The name of the host.
    pub name: &'static str,
    /// The fields.
    pub fields: &'static [&'static str],
    /// The source.
    source: &'static str,
    /// The date on which the source was checked.
    checked: &'static str,
}

const CHECKED: &str = "2026-11-15";

const CLAUDE_CODE_READS: [&str; 20] = [
    "agent",
    "allowed-tools",
    "argument-hint",
    "arguments",
    "background",
    "compatibility",
    "context",
    "description",
    "disable-model-invocation",
    "disallowed-tools",
    "effort",
    "hooks",
    "license",
    "metadata",
    "model",
    "name",
    "paths",
    "shell",
    "user-invocable",
    "when_to_use",
];

/// The fields that hosts read.
static HOST_FIELDS: &[HostFields] = &[
    HostFields {
        host: "claude-api",
        name: "Claude API",
        fields: &STANDARD_FIELDS,
        source: "Claude API skills guide",
        checked: CHECKED,
    },
    HostFields {
        host: "claude-code",
        name: "Claude Code",
        fields: &CLAUDE_CODE_READS,
        source: "Claude Code 2.1.325, run, and its documentation of skills",
        checked: CHECKED,
    },
    HostFields {
        host: "codex",
        name: "Codex",
        fields: &["name", "description", "metadata"],
        source: "Codex CLI 0.166.0, run",
        checked: CHECKED,
    },
    HostFields {
        host: "copilot",
        name: "GitHub Copilot",
        fields: &[
            "name",
            "description",
            "license",
            "allowed-tools",
            "argument-hint",
            "user-invocable",
            "disable-model-invocation",
            "context",
        ],
        source: "GitHub Copilot CLI 1.0.102, run; VS Code documentation of 2026-08-19",
        checked: CHECKED,
    },
    HostFields {
        host: "cursor",
        name: "Cursor",
        fields: &["name", "description", "paths", "disable-model-invocation", "metadata"],
        source: "Cursor documentation of skills",
        checked: CHECKED,
    },
    HostFields {
        host: "gemini-cli",
        name: "Gemini CLI",
        fields: &["name", "description"],
        source: "Gemini CLI documentation of skills",
        checked: CHECKED,
    },
    HostFields {
        host: "openai",
        name: "OpenAI",
        fields: &STANDARD_FIELDS,
        source: "OpenAI skills upload guide",
        checked: CHECKED,
    },
    HostFields {
        host: "opencode",
        name: "OpenCode",
        fields: &["name", "description", "license", "compatibility", "metadata"],
        source: "opencode documentation of skills, d545d8fba5",
        checked: CHECKED,
    },
];

impl HostFields {
    /// Returns what is known about a host.
    pub fn find(host: &str) -> Option<&'static HostFields> {
        HOST_FIELDS.iter().find(|known| known.host == host)
    }

    /// Describes how the host reads a field, with limit, source and date.
    pub(crate) fn describe(&self, field: &str) -> String {
        let quoted = format!("`{field}`");
        let mut limits = list_host_limits(self.host)
            .filter(|limit| limit.is_current && limit.subject.contains(&quoted))
            .map(|limit| {
                format!("at most {} {} ({}, {})", limit.value, limit.subject, limit.source, limit.checked_date)
            })
            .peekable();
        if limits.peek().is_none() {
            return format!("{}: reads it ({}, {})", self.name, self.source, self.checked);
        }
        format!("{}: {}", self.name, limits.collect::<Vec<_>>().join("; "))
    }
}

/// Describes a field: its meaning, its values, and for a top-level field the hosts that read it.
pub fn describe_field(entry: &FieldEntry, host: Option<&str>, is_top: bool) -> String {
    let mut text = format!("**{}** · {}\n\n{}", entry.name, entry.shape.describe(), entry.meaning);
    if !is_top {
        return text;
    }
    let readers: Vec<&HostFields> = HOST_FIELDS.iter().filter(|known| known.fields.contains(&entry.name)).collect();
    if UNIVERSAL_FIELDS.contains(&entry.name) && !STANDARD_FIELDS.contains(&entry.name) {
        text.push_str("\n\nDefined by Universal Agent Skill 2.1.");
    }
    if readers.is_empty() {
        text.push_str("\n\nNo known host reads it itself.");
        return text;
    }
    text.push_str("\n\n");
    let lines: Vec<String> = readers.iter().map(|known| format!("- {}", known.describe(entry.name))).collect();
    text.push_str(&lines.join("\n"));
    if let Some(own) = host.and_then(HostFields::find).filter(|own| !own.fields.contains(&entry.name)) {
        text.push_str(&format!("\n\n{} does not read this field ({}, {}).", own.name, own.source, own.checked));
    }
    text
}

/// Returns the top-level field with a name.
pub fn find_top_field(name: &str) -> Option<&'static FieldEntry> {
    TOP_FIELDS.iter().find(|entry| entry.name == name)
}

/// Returns the fields of a nested mapping of a SKILL.md.
pub fn list_nested_fields(path: &[&str]) -> &'static [FieldEntry] {
    find_by_path(NESTED_FIELDS, path)
}

/// Returns the fields of a mapping of a UASP file.
pub fn list_uasp_fields(path: &[&str]) -> &'static [FieldEntry] {
    find_by_path(UASP_FIELDS, path)
}

fn find_by_path(table: &[(&[&str], &'static [FieldEntry])], path: &[&str]) -> &'static [FieldEntry] {
    let is_same = |known: &[&str]| {
        known.len() == path.len() && known.iter().zip(path).all(|(known, key)| *known == "*" || known == key)
    };
    table.iter().find(|(known, _)| is_same(known)).map_or(&[], |(_, fields)| fields)
}

/// Returns the names of the top-level fields that a profile accepts, or `None` if the profile does not restrict them.
pub(crate) fn list_profile_fields(profile: Profile) -> Option<Vec<&'static str>> {
    const PMCP: [&str; 6] =
        ["when_to_use", "disallowed-tools", "disable-model-invocation", "user-invocable", "argument-hint", "arguments"];
    let standard = STANDARD_FIELDS.iter().copied();
    Some(match profile {
        Profile::AgentSkills
        | Profile::Portable
        | Profile::ClaudeApi
        | Profile::OpenAi
        | Profile::Mcp
        | Profile::Codex => standard.collect(),
        Profile::Universal => UNIVERSAL_FIELDS.to_vec(),
        Profile::Aam | Profile::ClaudeCode => standard.chain(CLAUDE_CODE_FIELDS).collect(),
        Profile::Pmcp => standard.chain(PMCP).chain([rep_model::frontmatter::PERSONAL_MCP_FIELD]).collect(),
        Profile::Uasp | Profile::Security => return None,
    })
}

/// Returns the top-level fields that every one of the chosen profiles accepts, or any of the detected ones, and that
/// the host reads.
pub fn list_top_fields(chosen: &[Profile], detected: &[Profile], host: Option<&str>) -> Vec<&'static FieldEntry> {
    let accepted: Vec<Vec<&str>> = chosen.iter().copied().filter_map(list_profile_fields).collect();
    let offered: Vec<Vec<&str>> = detected.iter().copied().filter_map(list_profile_fields).collect();
    let host = host.and_then(HostFields::find);
    let is_offered = |entry: &&FieldEntry| {
        let of_profiles = if accepted.is_empty() {
            offered.iter().any(|fields| fields.contains(&entry.name))
        } else {
            accepted.iter().all(|fields| fields.contains(&entry.name))
        };
        host.map_or(of_profiles, |host| host.fields.contains(&entry.name))
    };
    TOP_FIELDS.iter().filter(is_offered).collect()
}

/// Returns the profiles that judge a skill as a host does. A host without a profile of its own is judged by one whose
/// fields include those that the host reads.
pub fn list_host_profiles(host: &str) -> &'static [Profile] {
    match host {
        "claude-api" => &[Profile::ClaudeApi],
        "claude-code" | "copilot" | "cursor" => &[Profile::ClaudeCode],
        "codex" => &[Profile::Codex],
        "openai" => &[Profile::OpenAi],
        "mcp" => &[Profile::Mcp],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_profile_or_host_is_described() {
        for profile in Profile::all() {
            for name in list_profile_fields(*profile).unwrap_or_default() {
                assert!(find_top_field(name).is_some(), "{name}");
            }
        }
        for host in HOST_FIELDS {
            for name in host.fields {
                assert!(find_top_field(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn a_description_names_limit_source_and_date() {
        let text = describe_field(find_top_field("description").unwrap(), Some("codex"), true);
        assert!(text.contains("1536 characters of `description`") && text.contains("2026-11-15"), "{text}");
        let text = describe_field(find_top_field("effort").unwrap(), Some("codex"), true);
        assert!(text.contains("Codex does not read this field"), "{text}");
    }

    #[test]
    fn chosen_profiles_restrict_and_detected_profiles_add() {
        let names = |fields: Vec<&FieldEntry>| fields.into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        let standard = names(list_top_fields(&[Profile::ClaudeCode, Profile::AgentSkills], &[], None));
        assert_eq!(standard.len(), STANDARD_FIELDS.len());
        let detected = names(list_top_fields(&[], &[Profile::Universal, Profile::Pmcp], None));
        assert!(detected.contains(&"tools") && detected.contains(&"license"));
        assert_eq!(names(list_top_fields(&[], &[Profile::AgentSkills], Some("gemini-cli"))), ["name", "description"]);
    }
}
