//! The settings file `rep.yaml`: looked for in the working folder and the folders above it, up to the repository's root,
//! but not in a skill's own folder.
//!
//! ```yaml
//! check:
//!   profiles: [agentskills, claude-api]
//!   ignore: [line-ends-crlf]
//!   levels:
//!     field-unknown: off
//!     body-too-long: error
//!   strict-schema: false
//! library:
//!   paths: [vendor/skills]
//! policy:
//!   deny: {skills: [old-tool], hosts: ['*.internal.example.org'], paths: ['**/.env']}
//! llm:
//!   url: http://127.0.0.1:8080/v1
//!   model: qwen2.5-coder
//! ```
//!
//! `library.paths` are further folders of skills, relative to the file. Those of a project's own `rep.yaml` are the
//! project's skills and need its trust; those of the user's (`repertoire/rep.yaml` in the configuration folder, where
//! only `library`, `policy` and `llm` count and `~/` is the home) are personal. `policy` is read from the user's own file alone, and can
//! only deny: a skill that declares what is denied is not run. `llm`, the model `rep convert` asks, stands there alone too: a
//! project's could send the user's key to a server of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rep_check::{Level, Options, Profile, nearest, rule};
use rep_model::yaml::{self, Entry, Node, core};
use rep_model::{Source, Span};
use rep_permissions::{Glob, HostRule, Policy};

use crate::{LibraryError, Root, Scope, read};

const NAME: &str = "rep.yaml";
const BYTES_MAX: u64 = 256 * 1024;
/// What counts in the user's own file.
const USERS: &[&str] = &["library", "policy", "llm"];
/// What can be said of a model.
const MODEL: [&str; 9] = ["url", "model", "api", "key-env", "max-tokens", "temperature", "timeout", "mends", "price"];

/// Why settings could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file could not be read.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// The file says something that has no meaning. The message begins with the place.
    #[error("{message}")]
    Invalid {
        /// The place and what is wrong there.
        message: String,
        /// What to do about it.
        remedy: String,
    },
}

/// Reads the settings that hold in a folder into the options of a check.
pub fn load(given: Option<&Path>, folder: &Path) -> Result<Options, SettingsError> {
    let Some(path) = given.map(Path::to_owned).or_else(|| search(folder)) else { return Ok(Options::default()) };
    Ok(Reader::open(&path, folder)?.settings(&["check", "library"])?.check)
}

/// The further folders a project's settings name.
pub fn project_roots(project: &Path) -> Result<Vec<Root>, SettingsError> {
    let path = project.join(NAME);
    if path.symlink_metadata().is_err() || is_skill(project) {
        return Ok(Vec::new());
    }
    let settings = Reader::open(&path, project)?.settings(&["check", "library"])?;
    let root =
        |path: &String| Root { path: project.join(path), scope: Scope::Project, package: None, is_in_project: true };
    Ok(settings.paths.iter().map(root).collect())
}

/// The further folders the user's own settings name.
pub fn user_roots(path: &Path, home: Option<&Path>) -> Result<Vec<Root>, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let settings = Reader::open(path, folder)?.settings(USERS)?;
    let root = |path: &String| {
        let at_home = path.strip_prefix("~/").zip(home).map(|(rest, home)| home.join(rest));
        let path = at_home.unwrap_or_else(|| folder.join(path));
        Root { path, scope: Scope::Personal, package: None, is_in_project: false }
    };
    Ok(settings.paths.iter().map(root).collect())
}

/// What the user's own settings deny, whatever skills declare.
pub fn policy(path: &Path) -> Result<Policy, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(Policy::default());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    Ok(Reader::open(path, folder)?.settings(USERS)?.policy)
}

/// What the user's own settings say of the model to ask, as written.
pub fn llm(path: &Path) -> Result<BTreeMap<&'static str, String>, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(BTreeMap::new());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    Ok(Reader::open(path, folder)?.settings(USERS)?.llm)
}

/// What a settings file says.
#[derive(Default)]
struct Settings {
    check: Options,
    policy: Policy,
    /// Further folders of skills, as written.
    paths: Vec<String>,
    llm: BTreeMap<&'static str, String>,
}

fn search(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let path = folder.join(NAME);
        // A skill must not decide how it is judged: settings inside a skill's own folder do not count.
        if path.symlink_metadata().is_ok() && !is_skill(folder) {
            return Some(path);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

fn is_skill(folder: &Path) -> bool {
    ["SKILL.md", "skill.md"].iter().any(|file| folder.join(file).exists())
}

struct Reader {
    source: Source,
    shown: String,
}

impl Reader {
    fn open(path: &Path, folder: &Path) -> Result<Self, SettingsError> {
        let text = read::text(path, BYTES_MAX)?;
        let shown = crate::find::shown(path.strip_prefix(folder).unwrap_or(path));
        Ok(Self { source: Source::new(text), shown })
    }

    fn fail(&self, span: Span, message: &str, hint: &str) -> SettingsError {
        let position = self.source.position(span.start);
        let place = format!("{}:{}:{}", self.shown, position.line, position.column);
        SettingsError::Invalid { message: format!("{place}: {message}"), remedy: hint.to_owned() }
    }

    fn settings(&self, known: &[&str]) -> Result<Settings, SettingsError> {
        let document = yaml::parse(self.source.text(), 0);
        if let Some((trouble, span)) = document.fatal() {
            let message = match trouble {
                yaml::Trouble::Syntax(message) | yaml::Trouble::TooComplex(message) => message.clone(),
                yaml::Trouble::Anchor | yaml::Trouble::Tag(_) | yaml::Trouble::Tab => {
                    "anchors, tags and tabs are not read here".to_owned()
                }
            };
            return Err(self.fail(*span, &message, "mend the YAML"));
        }
        let mut settings = Settings::default();
        let Some(root) = document.root else { return Ok(settings) };
        if let Some((key, span)) = yaml::duplicate_keys(&root).first() {
            return Err(self.fail(*span, &format!("`{key}` stands twice"), "remove one of the two"));
        }
        for entry in self.entries(&root)? {
            match self.key(entry)? {
                "check" if known.contains(&"check") => self.check(&entry.value, &mut settings.check)?,
                "library" => settings.paths = self.library(&entry.value)?,
                "policy" if known.contains(&"policy") => settings.policy = self.policy(&entry.value)?,
                "llm" if known.contains(&"llm") => settings.llm = self.llm(&entry.value)?,
                "llm" => {
                    return Err(self.fail(
                        entry.key.span,
                        "a project does not say which model is asked",
                        "write `llm` into your own rep.yaml, or set REP_LLM_URL and REP_LLM_MODEL",
                    ));
                }
                other => return Err(self.unknown(entry, other, known)),
            }
        }
        Ok(settings)
    }

    fn library(&self, node: &Node) -> Result<Vec<String>, SettingsError> {
        let mut paths = Vec::new();
        for entry in self.entries(node)? {
            match self.key(entry)? {
                "paths" => {
                    for item in self.items(&entry.value)? {
                        let text = item.text().filter(|text| !text.is_empty());
                        let text = text.ok_or_else(|| self.fail(item.span, "this is no path", "write a folder"))?;
                        paths.push(text.to_owned());
                    }
                }
                other => return Err(self.unknown(entry, other, &["paths"])),
            }
        }
        Ok(paths)
    }

    fn llm(&self, node: &Node) -> Result<BTreeMap<&'static str, String>, SettingsError> {
        let mut found = BTreeMap::new();
        for entry in self.entries(node)? {
            let key = self.key(entry)?;
            let Some(known) = MODEL.into_iter().find(|known| *known == key) else {
                return Err(self.unknown(entry, key, &MODEL));
            };
            let text = entry.value.text().filter(|text| !text.is_empty());
            let text =
                text.ok_or_else(|| self.fail(entry.value.span, &format!("`{key}` is no text"), "write one value"))?;
            found.insert(known, text.to_owned());
        }
        Ok(found)
    }

    fn policy(&self, node: &Node) -> Result<Policy, SettingsError> {
        let mut policy = Policy::default();
        for entry in self.entries(node)? {
            match self.key(entry)? {
                "deny" => {
                    for list in self.entries(&entry.value)? {
                        self.deny(list, &mut policy)?;
                    }
                }
                other => return Err(self.unknown(entry, other, &["deny"])),
            }
        }
        Ok(policy)
    }

    /// One list of denials. What cannot be read stops everything: a denial must not be lost to a typing error.
    fn deny(&self, list: &Entry, policy: &mut Policy) -> Result<(), SettingsError> {
        let kind = self.key(list)?;
        for item in self.items(&list.value)? {
            let text = item.text().filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| self.fail(item.span, "this is no text", "write a name or a pattern"))?;
            let bad = |reason: String| self.fail(item.span, &format!("`{text}` denies nothing: {reason}"), "mend it");
            match kind {
                "skills" => policy.denied_skills.push(text.to_owned()),
                "hosts" => policy.denied_hosts.push(HostRule::parse(text).map_err(|error| bad(error.to_string()))?),
                "paths" => policy.denied_paths.push(Glob::parse(text).map_err(|error| bad(error.to_string()))?),
                other => return Err(self.unknown(list, other, &["skills", "hosts", "paths"])),
            }
        }
        Ok(())
    }

    fn check(&self, node: &Node, options: &mut Options) -> Result<(), SettingsError> {
        for entry in self.entries(node)? {
            match self.key(entry)? {
                "profiles" => {
                    for item in self.items(&entry.value)? {
                        options.profiles.push(self.profile(item)?);
                    }
                }
                "ignore" => {
                    for item in self.items(&entry.value)? {
                        options.ignore.push(self.rule(item)?);
                    }
                }
                "levels" => {
                    for entry in self.entries(&entry.value)? {
                        let name = self.rule(&entry.key)?;
                        options.levels.insert(name, self.level(&entry.value)?);
                    }
                }
                "strict-schema" => match core::scalar(&entry.value) {
                    Some(core::Scalar::Bool(value)) => options.strict_schema = value,
                    _ => {
                        return Err(self.fail(
                            entry.value.span,
                            "`strict-schema` is no boolean",
                            "use `true` or `false`",
                        ));
                    }
                },
                other => return Err(self.unknown(entry, other, &["profiles", "ignore", "levels", "strict-schema"])),
            }
        }
        Ok(())
    }

    fn entries<'a>(&self, node: &'a Node) -> Result<&'a [Entry], SettingsError> {
        let message = format!("this is {}, not a mapping", node.kind());
        node.entries().ok_or_else(|| self.fail(node.span, &message, "write `key: value` lines"))
    }

    fn items<'a>(&self, node: &'a Node) -> Result<&'a [Node], SettingsError> {
        let message = format!("this is {}, not a list", node.kind());
        node.items().ok_or_else(|| self.fail(node.span, &message, "write `[one, two]`"))
    }

    fn key<'a>(&self, entry: &'a Entry) -> Result<&'a str, SettingsError> {
        entry.key.text().ok_or_else(|| self.fail(entry.key.span, "a key is no text", "use the documented keys"))
    }

    fn unknown(&self, entry: &Entry, key: &str, known: &[&str]) -> SettingsError {
        self.fail(
            entry.key.span,
            &format!("there is no setting `{key}`"),
            &format!("the settings here are: {}", known.join(", ")),
        )
    }

    fn profile(&self, node: &Node) -> Result<Profile, SettingsError> {
        let name = node.text().unwrap_or("?");
        Profile::named(name).ok_or_else(|| {
            let all: Vec<&str> = Profile::all().iter().map(|profile| profile.name()).collect();
            self.fail(
                node.span,
                &format!("there is no profile `{name}`"),
                &format!("the profiles are: {}", all.join(", ")),
            )
        })
    }

    fn rule(&self, node: &Node) -> Result<String, SettingsError> {
        let name = node.text().unwrap_or("?");
        if rule(name).is_some() {
            return Ok(name.to_owned());
        }
        let hint =
            nearest(name).map_or("`rep explain` lists the rules".to_owned(), |near| format!("did you mean `{near}`?"));
        Err(self.fail(node.span, &format!("there is no rule `{name}`"), &hint))
    }

    fn level(&self, node: &Node) -> Result<Option<Level>, SettingsError> {
        let word = node.text().unwrap_or("?");
        // `off` unquoted is text in YAML 1.2, which is how this file is read.
        if word == "off" {
            return Ok(None);
        }
        let message = format!("there is no level `{word}`");
        Level::named(word)
            .map(Some)
            .ok_or_else(|| self.fail(node.span, &message, "use `off`, `info`, `warning` or `error`"))
    }
}
