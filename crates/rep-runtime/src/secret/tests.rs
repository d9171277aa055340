#![expect(clippy::disallowed_methods, reason = "these tests read the written files")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn secret(text: &str) -> SecretValue {
    SecretValue::new(text.to_owned()).unwrap()
}

fn kept(secrets: &SecretStore, name: &str) -> Option<String> {
    secrets.get(name, "any").unwrap().map(|secret| secret.expose().to_owned())
}

fn names(secrets: &SecretStore) -> Vec<String> {
    secrets.list().unwrap().into_iter().map(|listed| listed.name).collect()
}

#[test]
fn a_secret_for_some_skills_is_not_given_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretStore::in_folder(folder.path());
    let skills = ["pdf".to_owned(), "team:ocr".to_owned()];
    assert_eq!(secrets.set("A", &secret("first"), &skills).unwrap(), KeyLocation::File);
    for (skill, is_given) in [("pdf", true), ("team:ocr", true), ("ocr", false), ("", false), ("pdf\nteam:ocr", false)]
    {
        assert_eq!(secrets.get("A", skill).unwrap().is_some(), is_given, "{skill}");
    }
    // Changing the skills of a secret in the file invalidates the encrypted value.
    let file = folder.path().join("secrets.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"pdf\"", "\"evil\"")).unwrap();
    assert!(secrets.get("A", "evil").is_err());
    fs::write(&file, text.replace("\"for\"", "\"was\"")).unwrap();
    assert!(secrets.get("A", "evil").is_err());
}

#[test]
fn what_is_kept_comes_back_and_is_not_readable_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretStore::in_folder(&folder.path().join("inner"));
    secrets.set("API_KEY", &secret("tops3cret-value"), &[]).unwrap();
    secrets.set("OTHER", &secret("x"), &[]).unwrap();
    assert_eq!(kept(&secrets, "API_KEY"), Some("tops3cret-value".to_owned()));
    assert_eq!(names(&secrets), ["API_KEY", "OTHER"]);
    assert_eq!(kept(&secrets, "NONE"), None);
    for entry in fs::read_dir(folder.path().join("inner")).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains("tops3cret"), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
    assert!(secrets.remove("OTHER").unwrap() && !secrets.remove("OTHER").unwrap());
    assert_eq!(names(&secrets), ["API_KEY"]);
}

#[test]
fn values_cannot_be_exchanged_changed_or_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretStore::in_folder(folder.path());
    secrets.set("A", &secret("first"), &[]).unwrap();
    secrets.set("B", &secret("second"), &[]).unwrap();
    let file = folder.path().join("secrets.json");
    let text = fs::read_to_string(&file).unwrap();
    // The two names are swapped, and with them the encrypted values.
    let exchanged = text.replace("\"A\"", "\"C\"").replace("\"B\"", "\"A\"").replace("\"C\"", "\"B\"");
    fs::write(&file, exchanged).unwrap();
    assert!(secrets.get("A", "any").is_err() && secrets.get("B", "any").is_err());
    fs::write(&file, &text).unwrap();
    assert_eq!(kept(&secrets, "A"), Some("first".to_owned()));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(secrets.get("A", "any").is_err());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(folder.path().join("secrets.key")).unwrap();
    assert!(secrets.get("A", "any").is_err_and(|error| error.to_string().contains("secrets.key")));
}

#[test]
fn a_damaged_file_is_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretStore::in_folder(folder.path());
    let file = folder.path().join("secrets.json");
    for text in ["", "{", "[]", "{\"version\": 2}", "{\"version\": 1, \"secrets\": {\"A\": 5}}"] {
        drop(tempfile::Builder::new().tempfile_in(folder.path()).unwrap().persist(&file).unwrap());
        fs::write(&file, text).unwrap();
        assert!(secrets.get("A", "any").is_err(), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn the_environment_comes_before_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretStore::in_folder(folder.path());
    secrets.set("A", &secret("kept"), &[]).unwrap();
    secrets.set("B", &secret("kept"), &[]).unwrap();
    let need = |name: &str| SecretNeed { name: name.to_owned(), is_optional: true };
    let variable = |name: &str| (name == "A").then(|| "given".to_owned());
    let found = gather_secrets("any", &[need("A"), need("B"), need("C")], variable, Some(&secrets)).unwrap();
    let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(found, [("A", "given"), ("B", "kept")]);
}

#[test]
fn values_a_variable_cannot_hold_are_no_secrets() {
    for value in [String::new(), "a\0b".to_owned(), "x".repeat(VALUE_BYTES_MAX + 1)] {
        assert!(SecretValue::new(value).is_none());
    }
}
