//! The `sources` of `rep.yaml`: from where skills may be installed, and through what.
//!
//! They are read from the user's file and from the administrator's. Both must allow a source, so that neither can allow
//! what the other forbids. A project has no say.

use std::path::Path;

use rep_model::SourceText;
use rep_model::yaml::YamlNode;

use super::{SettingsError, SettingsReader, USER_SECTIONS};

/// The administrator's file. Only its `sources` are read.
pub const SYSTEM_SETTINGS_FILE: &str = "/etc/repertoire/rep.yaml";
const SYSTEM_SECTIONS: &[&str] = &["sources"];
/// The keys of the section.
pub(super) const SOURCE_KEYS: [&str; 4] = ["allow", "deny", "mirrors", "proxy"];
/// The maximum number of entries of a list.
const ENTRIES_MAX: usize = 1000;

/// From where skills may be installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceSettings {
    /// The patterns of allowed sources. Without them, every source is allowed.
    pub allow: Option<Vec<String>>,
    /// The patterns of forbidden sources.
    pub deny: Vec<String>,
    /// The start of an address, and what replaces it.
    pub mirrors: Vec<(String, String)>,
    /// The address of a proxy.
    pub proxy: Option<String>,
}

/// Whose settings file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceSettingsFile {
    /// The administrator's.
    System,
    /// The user's.
    User,
}

/// Reads the sources of a settings file. A missing file has none.
pub fn load_source_settings(path: &Path, file: SourceSettingsFile) -> Result<SourceSettings, SettingsError> {
    if path.symlink_metadata().is_err() {
        return Ok(SourceSettings::default());
    }
    parse_sources_of(&SettingsReader::open(path)?, file)
}

/// Parses the sources of a settings file. `shown` is its path in messages.
pub fn parse_source_settings(
    text: &str,
    shown: &str,
    file: SourceSettingsFile,
) -> Result<SourceSettings, SettingsError> {
    parse_sources_of(&SettingsReader { source: SourceText::new(text.to_owned()), shown: shown.to_owned() }, file)
}

fn parse_sources_of(reader: &SettingsReader, file: SourceSettingsFile) -> Result<SourceSettings, SettingsError> {
    let sections = match file {
        SourceSettingsFile::System => SYSTEM_SECTIONS,
        SourceSettingsFile::User => USER_SECTIONS,
    };
    Ok(reader.parse_settings(sections)?.sources)
}

impl SettingsReader {
    /// Parses the section. An invalid entry is an error, so that a typing error cannot allow a source.
    pub(super) fn parse_sources(&self, node: &YamlNode) -> Result<SourceSettings, SettingsError> {
        let mut found = SourceSettings::default();
        for entry in self.expect_entries(node)? {
            match self.expect_key(entry)? {
                "allow" => found.allow = Some(self.parse_source_patterns(&entry.value)?),
                "deny" => found.deny = self.parse_source_patterns(&entry.value)?,
                "mirrors" => {
                    for mirror in self.expect_entries(&entry.value)? {
                        let from = self.expect_key(mirror)?.to_owned();
                        found.mirrors.push((from, self.expect_source_text(&mirror.value)?));
                    }
                }
                "proxy" => found.proxy = Some(self.expect_source_text(&entry.value)?),
                other => return Err(self.unknown_key_error(entry, other, &SOURCE_KEYS)),
            }
        }
        Ok(found)
    }

    fn parse_source_patterns(&self, node: &YamlNode) -> Result<Vec<String>, SettingsError> {
        let items = self.expect_items(node)?;
        if items.len() > ENTRIES_MAX {
            return Err(self.error_at(node.span, "this list is too long", "use patterns with `*`"));
        }
        items.iter().map(|item| self.expect_source_text(item)).collect()
    }

    fn expect_source_text(&self, node: &YamlNode) -> Result<String, SettingsError> {
        let text = node.text().filter(|text| !text.is_empty() && !text.contains([' ', '\n', '\t']));
        let hint = "write an address; in a pattern, `*` means any text: `github:acme/*`, `oci://HOST/TEAM/*`";
        Ok(text.ok_or_else(|| self.error_at(node.span, "this is not a source", hint))?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, file: SourceSettingsFile) -> Result<SourceSettings, String> {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("rep.yaml");
        rep_storage::atomic::replace_file(&path, text.as_bytes()).unwrap();
        let loaded = load_source_settings(&path, file).map_err(|error| error.to_string());
        let parsed = parse_source_settings(text, &path.to_string_lossy(), file).map_err(|error| error.to_string());
        assert_eq!(loaded, parsed);
        loaded
    }

    #[test]
    fn sources_are_read_from_both_files_and_typing_errors_are_refused() {
        let text = "sources:\n  allow: ['github:acme/*']\n  deny: [x]\n  mirrors: {'oci://a/': 'oci://b/'}\n  proxy: http://p:1\n";
        let expected = SourceSettings {
            allow: Some(vec!["github:acme/*".to_owned()]),
            deny: vec!["x".to_owned()],
            mirrors: vec![("oci://a/".to_owned(), "oci://b/".to_owned())],
            proxy: Some("http://p:1".to_owned()),
        };
        for file in [SourceSettingsFile::System, SourceSettingsFile::User] {
            assert_eq!(parse(text, file), Ok(expected.clone()));
        }
        assert!(parse("sources: {allow: []}\n", SourceSettingsFile::User).unwrap().allow.unwrap().is_empty());
        for bad in ["sources: [x]", "sources: {allows: []}", "sources: {deny: ['a b']}", "sources: {allow: x}"] {
            assert!(parse(bad, SourceSettingsFile::User).is_err(), "{bad}");
        }
        assert!(parse("policy: {deny: {skills: [a]}}", SourceSettingsFile::System).is_err());
        assert_eq!(
            load_source_settings(Path::new("/nowhere/rep.yaml"), SourceSettingsFile::System).unwrap(),
            SourceSettings::default()
        );
    }
}
