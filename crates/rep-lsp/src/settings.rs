//! The settings of the client: the section `repertoire` of its configuration.

use std::collections::BTreeMap;

use rep_check::{Level, Profile, find_rule, nearest_rule_name};
use rep_library::hosts::KnownHost;
use rep_model::suggestion::nearest_name;
use serde_json::Value;

/// The name of the section.
pub(crate) const SECTION: &str = "repertoire";

/// Whether findings that the editor reports itself are repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BuiltinFindings {
    /// They are reported.
    #[default]
    Keep,
    /// They are left to the editor.
    Quiet,
}

/// The settings of the client. They apply on top of those in `rep.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    /// The profiles to check. If empty, the settings file or the skill decides.
    pub profiles: Vec<Profile>,
    /// The host that skills are written for.
    pub host: Option<&'static str>,
    /// Levels of rules; `None` disables a rule.
    pub levels: BTreeMap<String, Option<Level>>,
    /// Rules to skip.
    pub ignore: Vec<String>,
    /// Whether findings that the editor reports itself are repeated.
    pub builtin: BuiltinFindings,
    /// Whether inlay hints and code lenses are shown.
    pub hints: bool,
    /// Whether the server logs what it does.
    pub trace: bool,
    /// What is wrong with the settings, for the user.
    pub problems: Vec<String>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            profiles: Vec::new(),
            host: None,
            levels: BTreeMap::new(),
            ignore: Vec::new(),
            builtin: BuiltinFindings::Keep,
            hints: true,
            trace: false,
            problems: Vec::new(),
        }
    }
}

impl ClientSettings {
    /// Reads the section. Invalid values are reported and have no effect.
    pub(crate) fn from_json(section: &Value) -> Self {
        let mut settings = Self::default();
        for (key, value) in section.as_object().into_iter().flatten() {
            settings.read_key(key, value);
        }
        settings
    }

    fn read_key(&mut self, key: &str, value: &Value) {
        match (key, value) {
            // An editor sends null for a setting without a value. The client library of VS Code reads `trace.server`.
            (_, Value::Null) | ("trace", Value::Object(_) | Value::String(_)) => {}
            ("profiles", Value::Array(items)) => {
                for name in items.iter().filter_map(Value::as_str) {
                    match Profile::from_name(name) {
                        Some(profile) => self.profiles.push(profile),
                        None => self.report_unknown("profile", name, nearest_profile(name)),
                    }
                }
            }
            ("host", Value::String(name)) if name.is_empty() => {}
            ("host", Value::String(name)) => match KnownHost::find(name) {
                Ok(host) => self.host = Some(host.id),
                Err(unknown) => self.report_unknown("host", name, unknown.nearest),
            },
            ("levels", Value::Object(levels)) => {
                for (rule, level) in levels {
                    self.read_level(rule, level.as_str().unwrap_or_default());
                }
            }
            ("ignore", Value::Array(items)) => {
                for name in items.iter().filter_map(Value::as_str) {
                    match find_rule(name) {
                        Some(_) => self.ignore.push(name.to_owned()),
                        None => self.report_unknown("rule", name, nearest_rule_name(name)),
                    }
                }
            }
            ("builtin", Value::String(word)) if word == "keep" => self.builtin = BuiltinFindings::Keep,
            ("builtin", Value::String(word)) if word == "quiet" => self.builtin = BuiltinFindings::Quiet,
            ("hints", Value::Bool(is_on)) => self.hints = *is_on,
            ("trace", Value::Bool(is_on)) => self.trace = *is_on,
            ("profiles" | "host" | "levels" | "ignore" | "builtin" | "hints" | "trace", _) => {
                self.problems.push(format!("the setting `{SECTION}.{key}` has an invalid value"));
            }
            // Extensions have settings of their own, such as the path of the binary.
            _ => {}
        }
    }

    fn read_level(&mut self, rule: &str, word: &str) {
        let level = if word == "off" { Some(None) } else { Level::from_name(word).map(Some) };
        match (find_rule(rule), level) {
            (None, _) => self.report_unknown("rule", rule, nearest_rule_name(rule)),
            (_, None) => self
                .problems
                .push(format!("the setting `{SECTION}.levels.{rule}` is not `off`, `info`, `warning` or `error`")),
            (Some(_), Some(level)) => {
                self.levels.insert(rule.to_owned(), level);
            }
        }
    }

    fn report_unknown(&mut self, what: &str, name: &str, nearest: Option<&str>) {
        let hint = nearest.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        self.problems.push(format!("unknown {what} `{name}` in the settings of the editor{hint}"));
    }
}

fn nearest_profile(name: &str) -> Option<&'static str> {
    nearest_name(name, Profile::all().iter().map(|profile| profile.name()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_and_mistakes_are_reported() {
        let settings = ClientSettings::from_json(&json!({
            "profiles": ["claude-api", "claude-cod"],
            "host": "codex",
            "levels": { "body-too-long": "error", "field-unknown": "off", "body-to-long": "info" },
            "ignore": ["line-ends-crlf"],
            "builtin": "quiet",
            "hints": false,
            "path": "/usr/bin/rep",
            "trace": { "server": "off" },
        }));
        assert_eq!(settings.profiles, [Profile::ClaudeApi]);
        assert_eq!(settings.host, Some("codex"));
        assert_eq!(settings.levels.get("body-too-long"), Some(&Some(Level::Error)));
        assert_eq!(settings.levels.get("field-unknown"), Some(&None));
        assert_eq!((settings.builtin, settings.hints), (BuiltinFindings::Quiet, false));
        assert_eq!(
            settings.problems,
            [
                "unknown profile `claude-cod` in the settings of the editor; did you mean `claude-code`?",
                "unknown rule `body-to-long` in the settings of the editor; did you mean `body-too-long`?",
            ]
        );
        assert_eq!(ClientSettings::from_json(&json!({ "hints": "no" })).problems.len(), 1);
        assert_eq!(ClientSettings::from_json(&Value::Null), ClientSettings::default());
    }
}
