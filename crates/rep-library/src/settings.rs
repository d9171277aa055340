//! The settings file `rep.yaml`. A check reads those of the checked path and of its parents, up to the root of the
//! repository, but not one in a skill's own directory. The nearest file decides; `ignore` and `levels` of files above it
//! are added.
//!
//! ```yaml
//! check:
//!   profiles: [agentskills, claude-api]
//!   ignore: [line-ends-crlf]
//!   levels:
//!     field-unknown: off
//!     body-too-long: error
//!   strict-schema: false
//!   exclude: ['vendor/**']
//!   overrides:
//!     - paths: ['legacy/**']
//!       levels: {description-vague: off}
//! library:
//!   paths: [vendor/skills]
//! policy:
//!   deny: {skills: [old-tool], hosts: ['*.internal.example.org'], paths: ['**/.env']}
//! llm:
//!   url: http://127.0.0.1:8080/v1
//!   model: qwen2.5-coder
//! mcp_servers:
//!   files: {command: files-server, args: [--root, docs]}
//! ```
//!
//! `library.paths` are additional skill directories, relative to the file. Those in a project's `rep.yaml` belong to
//! the project and need its trust. Those in the user's file (`repertoire/rep.yaml` in the configuration directory) are
//! personal. The user's file may not contain `check`, and `~/` is the home directory there.
//! `policy` is read only from the user's file and can only deny: a skill that declares something denied does not run.
//! `sources` are from where skills may be installed; see [`SourceSettings`]. They are read from the user's file and the
//! administrator's.
//! `llm`, the model for `rep convert`, is also read only from the user's file, because a project could otherwise send
//! the user's key to its own server. `mcp_servers` is read from both; see [`crate::mcp_servers`].

mod keys;
mod path_settings;
mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use keys::{KEYS, SettingsFile, SettingsKey};
use rep_check::{CheckOptions, Level, Profile, find_rule, nearest_rule_name};
use rep_model::yaml::{self, YamlEntry, YamlNode, core};
use rep_model::{SourceText, Span};
use rep_permissions::{Glob, HostRule, Policy};
pub use sources::{
    SYSTEM_SETTINGS_FILE, SourceSettings, SourceSettingsFile, load_source_settings, parse_source_settings,
};

use crate::mcp_servers::{ServerDeclaration, ServerOrigin, parse_servers};
use crate::{LibraryError, Scope, SkillRoot, SkillSet, skill_reader};

const FILE_NAME: &str = "rep.yaml";
const BYTES_MAX: u64 = 256 * 1024;
/// The sections that are valid in the user's file.
const USER_SECTIONS: &[&str] = &["library", "policy", "llm", "mcp_servers", "serve", "sources"];
/// The sections that are valid in a project's file.
const PROJECT_SECTIONS: &[&str] = &["check", "library", "mcp_servers", "serve"];
/// The settings of a model.
const MODEL_KEYS: [&str; 9] =
    ["url", "model", "api", "key-env", "max-tokens", "temperature", "timeout", "corrections", "price"];

/// The reason settings are invalid.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file could not be read.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// The file contains an invalid value. The message starts with the location.
    #[error("{message}")]
    Invalid {
        /// The location and the problem.
        message: String,
        /// The remedy.
        remedy: String,
    },
}

impl SettingsError {
    /// Returns the stable code for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            SettingsError::Unreadable(_) => LibraryError::CODE,
            SettingsError::Invalid { .. } => "BROKEN_SETTINGS",
        }
    }

    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            SettingsError::Unreadable(error) => error.hint(),
            SettingsError::Invalid { remedy, .. } => Some(remedy),
        }
    }
}

/// Reads the effective settings of a path into the options of a check: those of the given file, or else of every
/// settings file from the path upward.
pub fn load_check_options(given: Option<&Path>, checked: &Path) -> Result<CheckOptions, SettingsError> {
    let files = given.map_or_else(|| find_settings_files(checked), |given| vec![given.to_owned()]);
    read_check_options(&files)
}

/// Reads settings files, the nearest first, into the options of a check.
pub(crate) fn read_check_options(files: &[PathBuf]) -> Result<CheckOptions, SettingsError> {
    let mut options = CheckOptions::default();
    for file in files.iter().rev() {
        let (nearer, keys) = SettingsReader::open(file)?.parse_check_settings()?;
        if keys.has_profiles {
            options.profiles = nearer.profiles;
        }
        if keys.has_strict_schema {
            options.strict_schema = nearer.strict_schema;
        }
        // A nearer file that sets a level means the rule to run.
        options.ignore.retain(|rule| !nearer.levels.contains_key(rule));
        options.ignore.extend(nearer.ignore);
        options.levels.extend(nearer.levels);
        options.exclude.extend(nearer.exclude);
        options.overrides.extend(nearer.overrides);
    }
    options.ignore.dedup();
    Ok(options)
}

/// Returns the additional directories in a project's settings.
pub fn project_roots(project: &Path) -> Result<Vec<SkillRoot>, SettingsError> {
    let path = project.join(FILE_NAME);
    if path.symlink_metadata().is_err() || is_skill_folder(project) {
        return Ok(Vec::new());
    }
    let settings = SettingsReader::open(&path)?.parse_settings(PROJECT_SECTIONS)?;
    let root = |path: &String| SkillRoot {
        path: project.join(path),
        scope: Scope::Project,
        package: None,
        is_in_project: true,
    };
    Ok(settings.paths.iter().map(root).collect())
}

/// Returns the additional directories in the user's settings.
pub fn user_roots(path: &Path, home: Option<&Path>) -> Result<Vec<SkillRoot>, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let settings = SettingsReader::open(path)?.parse_settings(USER_SECTIONS)?;
    let root = |path: &String| {
        let at_home = path.strip_prefix("~/").zip(home).map(|(rest, home)| home.join(rest));
        let path = at_home.unwrap_or_else(|| folder.join(path));
        SkillRoot { path, scope: Scope::Personal, package: None, is_in_project: false }
    };
    Ok(settings.paths.iter().map(root).collect())
}

/// Reads the user's policy, which overrides what skills declare.
pub fn load_policy(path: &Path) -> Result<Policy, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(Policy::default());
    }
    Ok(SettingsReader::open(path)?.parse_settings(USER_SECTIONS)?.policy)
}

/// What servers do with skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeSettings {
    /// The skills that servers name first to models.
    pub pinned: Vec<String>,
    /// The skills that exist for clients.
    pub clients: Vec<ClientSkills>,
}

/// The skills that exist for the clients with certain names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSkills {
    client: Glob,
    /// The skills.
    pub skills: SkillSet,
}

impl ClientSkills {
    /// Whether this is for a client that reports a name.
    pub fn applies_to(&self, name: &str) -> bool {
        self.client.matches(name)
    }
}

/// Reads what servers do with skills: from the project's file, then from the user's. `user` is the user's file.
pub fn load_serve_settings(project: Option<&Path>, user: Option<&Path>) -> Result<ServeSettings, SettingsError> {
    let mut settings = ServeSettings::default();
    let files = [
        (project.filter(|folder| !is_skill_folder(folder)).map(|folder| folder.join(FILE_NAME)), PROJECT_SECTIONS),
        (user.map(Path::to_owned), USER_SECTIONS),
    ];
    for (file, sections) in files {
        let Some(file) = file.filter(|file| file.symlink_metadata().is_ok()) else { continue };
        let own = SettingsReader::open(&file)?.parse_settings(sections)?.serve;
        for name in own.pinned {
            if !settings.pinned.contains(&name) {
                settings.pinned.push(name);
            }
        }
        settings.clients.extend(own.clients);
    }
    Ok(settings)
}

/// Reads the user's model settings, as written.
pub fn load_model_settings(path: &Path) -> Result<BTreeMap<&'static str, String>, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(BTreeMap::new());
    }
    Ok(SettingsReader::open(path)?.parse_settings(USER_SECTIONS)?.llm)
}

/// The keys of `check` that a file has, for merging with files above it.
#[derive(Clone, Copy, Default)]
struct PresentKeys {
    has_profiles: bool,
    has_strict_schema: bool,
}

/// Reads the MCP servers that the user declares.
pub fn load_user_servers(path: &Path) -> Result<Vec<ServerDeclaration>, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    Ok(SettingsReader::open(path)?.parse_settings(USER_SECTIONS)?.servers)
}

/// Reads the MCP servers that a project declares.
pub fn load_project_servers(project: &Path) -> Result<Vec<ServerDeclaration>, SettingsError> {
    let path = project.join(FILE_NAME);
    if path.symlink_metadata().is_err() || is_skill_folder(project) {
        return Ok(Vec::new());
    }
    Ok(SettingsReader::open(&path)?.parse_settings(PROJECT_SECTIONS)?.servers)
}

/// The parsed settings file.
#[derive(Default)]
struct ParsedSettings {
    check: CheckOptions,
    present: PresentKeys,
    policy: Policy,
    /// Additional skill directories, as written.
    paths: Vec<String>,
    llm: BTreeMap<&'static str, String>,
    servers: Vec<ServerDeclaration>,
    serve: ServeSettings,
    sources: SourceSettings,
}

/// Finds the settings files of a path, the nearest first: in its directory and in each one above, up to the root of the
/// repository.
pub fn find_settings_files(checked: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(checked).unwrap_or_else(|_| checked.to_owned());
    // `..` must be resolved before parents are searched. A path that does not exist is reported when it is read.
    let real = std::fs::canonicalize(&absolute).unwrap_or(absolute);
    let mut found = Vec::new();
    for folder in real.ancestors().skip_while(|folder| !folder.is_dir()) {
        let path = folder.join(FILE_NAME);
        // A skill must not control how it is checked, so settings in a skill's own directory are ignored.
        if path.symlink_metadata().is_ok() && !is_skill_folder(folder) {
            found.push(path);
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    found
}

fn is_skill_folder(folder: &Path) -> bool {
    ["SKILL.md", "skill.md"].iter().any(|file| folder.join(file).exists())
}

struct SettingsReader {
    source: SourceText,
    shown: String,
}

impl SettingsReader {
    /// Opens a settings file. Messages name its full path, because several files can apply.
    fn open(path: &Path) -> Result<Self, SettingsError> {
        let text = skill_reader::read_text(path, BYTES_MAX)?;
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Ok(Self { source: SourceText::new(text), shown: crate::discovery::display_path(&full) })
    }

    /// Parses the settings of a check, and which keys were present.
    fn parse_check_settings(&self) -> Result<(CheckOptions, PresentKeys), SettingsError> {
        let parsed = self.parse_settings(PROJECT_SECTIONS)?;
        Ok((parsed.check, parsed.present))
    }

    fn error_at(&self, span: Span, message: &str, hint: &str) -> SettingsError {
        let position = self.source.position_at(span.start);
        let place = format!("{}:{}:{}", self.shown, position.line, position.column);
        SettingsError::Invalid { message: format!("{place}: {message}"), remedy: hint.to_owned() }
    }

    fn parse_settings(&self, known: &[&str]) -> Result<ParsedSettings, SettingsError> {
        let document = yaml::parse(self.source.text(), 0);
        if let Some((trouble, span)) = document.fatal_problem() {
            let message = match trouble {
                yaml::YamlProblem::Syntax(message) | yaml::YamlProblem::TooComplex(message) => message.clone(),
                yaml::YamlProblem::TabIndentation => "a tab in the indentation; use spaces".to_owned(),
                yaml::YamlProblem::Anchor | yaml::YamlProblem::Tag(_) | yaml::YamlProblem::Tab => {
                    "anchors, tags and tabs are not supported".to_owned()
                }
            };
            return Err(self.error_at(*span, &message, "fix the YAML"));
        }
        let mut settings = ParsedSettings::default();
        let Some(root) = document.root else { return Ok(settings) };
        if let Some((key, span)) = yaml::find_duplicate_keys(&root).first() {
            return Err(self.error_at(*span, &format!("duplicate key `{key}`"), "remove one of the two"));
        }
        for entry in self.expect_entries(&root)? {
            match self.expect_key(entry)? {
                "check" if known.contains(&"check") => self.parse_check(&entry.value, &mut settings)?,
                "library" if known.contains(&"library") => settings.paths = self.parse_library(&entry.value)?,
                "policy" if known.contains(&"policy") => settings.policy = self.parse_policy(&entry.value)?,
                "llm" if known.contains(&"llm") => settings.llm = self.parse_llm(&entry.value)?,
                "mcp_servers" if known.contains(&"mcp_servers") => {
                    let is_user = known.contains(&"policy");
                    let origin = if is_user { ServerOrigin::User } else { ServerOrigin::Project };
                    settings.servers = parse_servers(&entry.value, &origin)
                        .map_err(|error| self.error_at(error.span, &error.message, &error.remedy))?;
                }
                "sources" if known.contains(&"sources") => settings.sources = self.parse_sources(&entry.value)?,
                "serve" if known.contains(&"serve") => settings.serve = self.parse_serve(&entry.value)?,
                "llm" => {
                    return Err(self.error_at(
                        entry.key.span,
                        "a project cannot choose the model",
                        "write `llm` in your own rep.yaml, or set REP_LLM_URL and REP_LLM_MODEL",
                    ));
                }
                other => return Err(self.unknown_key_error(entry, other, known)),
            }
        }
        Ok(settings)
    }

    fn parse_library(&self, node: &YamlNode) -> Result<Vec<String>, SettingsError> {
        let mut paths = Vec::new();
        for entry in self.expect_entries(node)? {
            match self.expect_key(entry)? {
                "paths" => {
                    for item in self.expect_items(&entry.value)? {
                        let text = item.text().filter(|text| !text.is_empty());
                        let text =
                            text.ok_or_else(|| self.error_at(item.span, "this is not a path", "write a directory"))?;
                        paths.push(text.to_owned());
                    }
                }
                other => return Err(self.unknown_key_error(entry, other, &["paths"])),
            }
        }
        Ok(paths)
    }

    fn parse_serve(&self, node: &YamlNode) -> Result<ServeSettings, SettingsError> {
        let mut settings = ServeSettings::default();
        for entry in self.expect_entries(node)? {
            match self.expect_key(entry)? {
                "pinned" => settings.pinned = self.parse_names(&entry.value)?,
                "clients" => {
                    for client in self.expect_entries(&entry.value)? {
                        settings.clients.push(self.parse_client(client)?);
                    }
                }
                other => return Err(self.unknown_key_error(entry, other, &["pinned", "clients"])),
            }
        }
        Ok(settings)
    }

    /// Parses the skills of a client.
    fn parse_client(&self, entry: &YamlEntry) -> Result<ClientSkills, SettingsError> {
        let client = Glob::parse(self.expect_key(entry)?).map_err(|error| {
            self.error_at(
                entry.key.span,
                &format!("not a pattern for names of clients: {error}"),
                "write `name` or `name*`",
            )
        })?;
        let patterns = self.parse_names(&entry.value)?;
        let set = SkillSet::parse(patterns.iter().map(String::as_str));
        let set = set.ok().filter(|set| !set.is_unlimited()).ok_or_else(|| {
            self.error_at(
                entry.value.span,
                "not a list of skills",
                "write names, patterns such as `csv-*`, or `tag:NAME`",
            )
        })?;
        Ok(ClientSkills { client, skills: set })
    }

    fn parse_names(&self, node: &YamlNode) -> Result<Vec<String>, SettingsError> {
        let name = |item: &YamlNode| {
            let name = item.text().filter(|text| !text.is_empty());
            name.map(str::to_owned)
                .ok_or_else(|| self.error_at(item.span, "this is not a name", "write a skill's name"))
        };
        self.expect_items(node)?.iter().map(name).collect()
    }

    fn parse_llm(&self, node: &YamlNode) -> Result<BTreeMap<&'static str, String>, SettingsError> {
        let mut found = BTreeMap::new();
        for entry in self.expect_entries(node)? {
            let key = self.expect_key(entry)?;
            let Some(known) = MODEL_KEYS.into_iter().find(|known| *known == key) else {
                return Err(self.unknown_key_error(entry, key, &MODEL_KEYS));
            };
            let text = entry.value.text().filter(|text| !text.is_empty());
            let text = text
                .ok_or_else(|| self.error_at(entry.value.span, &format!("`{key}` is not text"), "write one value"))?;
            found.insert(known, text.to_owned());
        }
        Ok(found)
    }

    fn parse_policy(&self, node: &YamlNode) -> Result<Policy, SettingsError> {
        let mut policy = Policy::default();
        for entry in self.expect_entries(node)? {
            match self.expect_key(entry)? {
                "deny" => {
                    for list in self.expect_entries(&entry.value)? {
                        self.parse_denials(list, &mut policy)?;
                    }
                }
                other => return Err(self.unknown_key_error(entry, other, &["deny"])),
            }
        }
        Ok(policy)
    }

    /// Parses a list of denials. An invalid entry is an error, so that a typing error cannot disable a denial.
    fn parse_denials(&self, list: &YamlEntry, policy: &mut Policy) -> Result<(), SettingsError> {
        let kind = self.expect_key(list)?;
        for item in self.expect_items(&list.value)? {
            let text = item.text().filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| self.error_at(item.span, "this is not text", "write a name or a pattern"))?;
            let bad =
                |reason: String| self.error_at(item.span, &format!("`{text}` is not valid: {reason}"), "correct it");
            match kind {
                "skills" => policy.denied_skills.push(text.to_owned()),
                "hosts" => policy.denied_hosts.push(HostRule::parse(text).map_err(|error| bad(error.to_string()))?),
                "paths" => policy.denied_paths.push(Glob::parse(text).map_err(|error| bad(error.to_string()))?),
                other => return Err(self.unknown_key_error(list, other, &["skills", "hosts", "paths"])),
            }
        }
        Ok(())
    }

    fn parse_check(&self, node: &YamlNode, settings: &mut ParsedSettings) -> Result<(), SettingsError> {
        let (options, present) = (&mut settings.check, &mut settings.present);
        for entry in self.expect_entries(node)? {
            match self.expect_key(entry)? {
                "profiles" => {
                    present.has_profiles = true;
                    for item in self.expect_items(&entry.value)? {
                        options.profiles.push(self.parse_profile(item)?);
                    }
                }
                "ignore" => {
                    for item in self.expect_items(&entry.value)? {
                        options.ignore.push(self.parse_rule(item)?);
                    }
                }
                "levels" => {
                    for entry in self.expect_entries(&entry.value)? {
                        let name = self.parse_rule(&entry.key)?;
                        options.levels.insert(name, self.parse_level(&entry.value)?);
                    }
                }
                "strict-schema" => match core::classify_scalar(&entry.value) {
                    Some(core::CoreScalar::Bool(value)) => {
                        (options.strict_schema, present.has_strict_schema) = (value, true);
                    }
                    _ => {
                        return Err(self.error_at(
                            entry.value.span,
                            "`strict-schema` is not a boolean",
                            "use `true` or `false`",
                        ));
                    }
                },
                "exclude" => options.exclude.push(self.parse_patterns(&entry.value)?),
                "overrides" => {
                    for item in self.expect_items(&entry.value)? {
                        options.overrides.push(self.parse_override(item)?);
                    }
                }
                other => {
                    return Err(self.unknown_key_error(
                        entry,
                        other,
                        &["profiles", "ignore", "levels", "strict-schema", "exclude", "overrides"],
                    ));
                }
            }
        }
        Ok(())
    }

    fn expect_entries<'a>(&self, node: &'a YamlNode) -> Result<&'a [YamlEntry], SettingsError> {
        let message = format!("this is {}, not a mapping", node.describe_kind());
        node.entries().ok_or_else(|| self.error_at(node.span, &message, "write `key: value` lines"))
    }

    fn expect_items<'a>(&self, node: &'a YamlNode) -> Result<&'a [YamlNode], SettingsError> {
        let message = format!("this is {}, not a list", node.describe_kind());
        node.items().ok_or_else(|| self.error_at(node.span, &message, "write `[one, two]`"))
    }

    fn expect_key<'a>(&self, entry: &'a YamlEntry) -> Result<&'a str, SettingsError> {
        entry.key.text().ok_or_else(|| self.error_at(entry.key.span, "a key is not text", "use the documented keys"))
    }

    fn unknown_key_error(&self, entry: &YamlEntry, key: &str, known: &[&str]) -> SettingsError {
        self.error_at(
            entry.key.span,
            &format!("unknown setting `{key}`"),
            &format!("the settings here are: {}", known.join(", ")),
        )
    }

    fn parse_profile(&self, node: &YamlNode) -> Result<Profile, SettingsError> {
        let name = node.text().unwrap_or("?");
        Profile::from_name(name).ok_or_else(|| {
            let all: Vec<&str> = Profile::all().iter().map(|profile| profile.name()).collect();
            self.error_at(
                node.span,
                &format!("unknown profile `{name}`"),
                &format!("the profiles are: {}", all.join(", ")),
            )
        })
    }

    fn parse_rule(&self, node: &YamlNode) -> Result<String, SettingsError> {
        let name = node.text().unwrap_or("?");
        if find_rule(name).is_some() {
            return Ok(name.to_owned());
        }
        let hint = nearest_rule_name(name)
            .map_or("`rep explain` lists the rules".to_owned(), |near| format!("did you mean `{near}`?"));
        Err(self.error_at(node.span, &format!("unknown rule `{name}`"), &hint))
    }

    fn parse_level(&self, node: &YamlNode) -> Result<Option<Level>, SettingsError> {
        let word = node.text().unwrap_or("?");
        // Unquoted `off` is text in YAML 1.2, which this file uses.
        if word == "off" {
            return Ok(None);
        }
        let message = format!("unknown level `{word}`");
        Level::from_name(word)
            .map(Some)
            .ok_or_else(|| self.error_at(node.span, &message, "use `off`, `info`, `warning` or `error`"))
    }
}
