//! The rules that apply to each skill: those of the nearest `rep.yaml`, then those of the client's settings.
//!
//! Skills with the same settings share a checker. The server checks a skill as `rep check` checks it when the skill's
//! directory is given, and compares it with the other skills of the workspace folder that have the same settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rep_check::fields::list_host_profiles;
use rep_check::{CheckOptions, SkillChecker};
use rep_library::check::{CheckSettings, CheckSettingsError};
use rep_library::discovery::SkillLocation;
use rep_library::settings::{SettingsError, find_settings_files};

use crate::settings::ClientSettings;

/// The rules that apply to skills with the same settings.
pub(crate) struct SharedChecker {
    /// The settings files.
    pub files: Vec<PathBuf>,
    /// The options.
    pub options: CheckOptions,
    /// The rules.
    pub checker: SkillChecker,
}

/// A workspace folder, and a directory around skills.
type CheckerKey = (Option<PathBuf>, PathBuf);

/// The checkers of a workspace. Shared by the threads of the server.
#[derive(Default)]
pub(crate) struct CheckerCache {
    /// The settings of each workspace folder, and of files outside of all.
    settings: BTreeMap<Option<PathBuf>, Arc<ClientSettings>>,
    /// The checkers by workspace folder and by the directory around the skill.
    known: Mutex<BTreeMap<CheckerKey, Arc<SharedChecker>>>,
    problems: Mutex<Vec<String>>,
}

impl CheckerCache {
    /// Creates a cache for these settings.
    pub(crate) fn new(settings: BTreeMap<Option<PathBuf>, Arc<ClientSettings>>) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Returns the client's settings for a workspace folder.
    pub(crate) fn settings_for(&self, root: Option<&Path>) -> Arc<ClientSettings> {
        let of_root = self.settings.get(&root.map(Path::to_owned)).or_else(|| self.settings.get(&None));
        of_root.cloned().unwrap_or_default()
    }

    /// Returns the rules that apply to a skill.
    pub(crate) fn checker_for(&self, found: &SkillLocation, root: Option<&Path>) -> Arc<SharedChecker> {
        // Settings in a skill's own directory are ignored, so all skills of a directory have the same.
        let folder = found.path.parent().unwrap_or(&found.path);
        let key = (root.map(Path::to_owned), folder.to_owned());
        let mut known = self.known.lock();
        if let Some(checker) = known.get(&key) {
            return Arc::clone(checker);
        }
        let files = find_settings_files(folder);
        let same = known.iter().find(|((other, _), checker)| *other == key.0 && checker.files == files);
        let checker = match same.map(|(_, checker)| Arc::clone(checker)) {
            Some(checker) => checker,
            None => Arc::new(self.build_checker(folder, files, root)),
        };
        known.insert(key, Arc::clone(&checker));
        checker
    }

    fn build_checker(&self, folder: &Path, files: Vec<PathBuf>, root: Option<&Path>) -> SharedChecker {
        let client = self.settings_for(root);
        // A chosen host decides the profiles, unless they are chosen too.
        let of_host = client.host.map(list_host_profiles).unwrap_or_default();
        let profiles = if client.profiles.is_empty() { of_host.to_vec() } else { client.profiles.clone() };
        let settings = CheckSettings {
            folder: folder.to_owned(),
            profiles,
            ignore: client.ignore.clone(),
            levels: client.levels.clone(),
            ..CheckSettings::default()
        };
        let options = settings.resolve().unwrap_or_else(|error| {
            self.problems.lock().push(describe_problem(&error));
            // A broken settings file must not hide every finding, so the skill is checked without it.
            CheckOptions {
                profiles: settings.profiles,
                ignore: settings.ignore,
                levels: settings.levels,
                ..CheckOptions::default()
            }
        });
        SharedChecker { files, checker: SkillChecker::new(options.clone()), options }
    }

    /// Takes the problems of settings files that were found since the last call.
    pub(crate) fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut self.problems.lock())
    }
}

fn describe_problem(error: &CheckSettingsError) -> String {
    match error {
        CheckSettingsError::Settings(SettingsError::Invalid { message, remedy }) => format!("{message}: {remedy}"),
        CheckSettingsError::Settings(SettingsError::Unreadable(_))
        | CheckSettingsError::UnknownRule { .. }
        | CheckSettingsError::Pattern(_) => error.to_string(),
    }
}
