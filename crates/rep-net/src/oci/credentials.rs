//! Finds the credentials for a registry where Docker, Podman and ORAS store them.
//!
//! The files are only read. A helper program is named in the user's own file, gets the host on stdin and is started
//! without a shell. Credentials are looked up for exactly one host, and the callers send them to no other.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::program::{ProgramCall, ProgramInput, run_program};

const FILE_BYTES_MAX: u64 = 4 << 20;
const ANSWER_BYTES_MAX: u64 = 256 << 10;
const HELPER_TIMEOUT: Duration = Duration::from_secs(30);
/// What Docker Hub is called in these files.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// Credentials for a registry. They cannot be printed.
#[derive(Clone)]
pub(crate) enum RegistryCredential {
    /// A name and a password.
    Password { user: String, password: String },
    /// A token that is exchanged for others.
    IdentityToken(String),
}

/// The files in which credentials are stored, in order.
#[derive(Clone, Debug, Default)]
pub struct CredentialFiles {
    /// The paths. Missing files are skipped.
    pub files: Vec<PathBuf>,
}

impl CredentialFiles {
    /// Returns the usual files: of the variables `REGISTRY_AUTH_FILE` and `DOCKER_CONFIG`, of Docker and of Podman.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = path("HOME");
        let docker = path("DOCKER_CONFIG").or_else(|| home.as_ref().map(|home| home.join(".docker")));
        let config = path("XDG_CONFIG_HOME").or_else(|| home.map(|home| home.join(".config")));
        let files = [
            path("REGISTRY_AUTH_FILE"),
            docker.map(|folder| folder.join("config.json")),
            path("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json")),
            config.map(|folder| folder.join("containers/auth.json")),
        ];
        Self { files: files.into_iter().flatten().collect() }
    }

    /// Finds the credentials for a host, with its port if it has one. Returns a message if a file or a helper fails.
    pub(crate) fn find(&self, host: &str) -> Result<Option<RegistryCredential>, String> {
        for file in &self.files {
            let Some(config) = read_config(file)? else { continue };
            if let Some(found) = find_in_config(&config, host)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn read_config(path: &std::path::Path) -> Result<Option<Value>, String> {
    let failed = |reason: String| format!("could not read the credentials in `{}`: {reason}", path.display());
    let mut bytes = Vec::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Err(failed("it is not a regular file".to_owned()));
    }
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    // The text of the error could contain a part of the file.
    serde_json::from_slice(&bytes).map(Some).map_err(|_| failed("it is not JSON".to_owned()))
}

/// Finds the credentials for a host in a configuration, which names them, a helper for the host, or one for all hosts.
fn find_in_config(config: &Value, host: &str) -> Result<Option<RegistryCredential>, String> {
    let keys = host_keys(host);
    let helper = keys.iter().find_map(|key| config["credHelpers"][key.as_str()].as_str().map(|helper| (helper, key)));
    if let Some((helper, key)) = helper {
        return ask_helper(helper, key);
    }
    if let Some(helper) = config["credsStore"].as_str().filter(|helper| !helper.is_empty()) {
        for key in &keys {
            if let Some(found) = ask_helper(helper, key)? {
                return Ok(Some(found));
            }
        }
    }
    let entries = config["auths"].as_object().into_iter().flatten();
    let found = entries.into_iter().find(|(key, _)| keys.contains(key) || keys.contains(&normalize_key(key)));
    Ok(found.and_then(|(_, entry)| parse_entry(entry)))
}

/// Returns the names under which a host may be stored.
fn host_keys(host: &str) -> Vec<String> {
    let mut keys = vec![host.to_owned(), format!("https://{host}"), format!("https://{host}/")];
    if matches!(host, "docker.io" | "index.docker.io" | "registry-1.docker.io") {
        keys.push(DOCKER_HUB_KEY.to_owned());
    }
    keys
}

/// Returns the host of a key that is a URL, as old versions wrote it.
fn normalize_key(key: &str) -> String {
    let bare = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    bare.split('/').next().unwrap_or(bare).to_ascii_lowercase()
}

fn parse_entry(entry: &Value) -> Option<RegistryCredential> {
    let text = |key: &str| entry[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(token) = text("identitytoken") {
        return Some(RegistryCredential::IdentityToken(token));
    }
    if let (Some(user), Some(password)) = (text("username"), text("password")) {
        return Some(RegistryCredential::Password { user, password });
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(text("auth")?.trim()).ok()?).ok()?;
    let (user, password) = decoded.trim_end_matches('\0').split_once(':')?;
    Some(RegistryCredential::Password { user: user.to_owned(), password: password.to_owned() })
}

/// Asks a credential helper, by Docker's protocol: `docker-credential-NAME get`, with the host on stdin.
fn ask_helper(name: &str, key: &str) -> Result<Option<RegistryCredential>, String> {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_plain {
        return Err(format!("`{}` is not the name of a credential helper", name.escape_debug()));
    }
    let program = format!("docker-credential-{name}");
    let call = ProgramCall {
        program: &program,
        arguments: vec![OsString::from("get")],
        environment: Vec::new(),
        removed_environment: &[],
        folder: None,
        input: ProgramInput::Bytes(key.as_bytes().to_vec()),
        output_bytes_max: ANSWER_BYTES_MAX,
        timeout: HELPER_TIMEOUT,
    };
    let output = run_program(call, &mut || Ok(())).map_err(|error| format!("could not get credentials: {error}"))?;
    if !output.is_success {
        // The protocol's way of saying that there are none. The output may contain anything and is not shown.
        return Ok(None);
    }
    let invalid = || format!("`{program}` did not print credentials as JSON");
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| invalid())?;
    let text = |key: &str| answer[key].as_str().map(str::to_owned).ok_or_else(invalid);
    let (user, secret) = (text("Username")?, text("Secret")?);
    if secret.is_empty() {
        return Ok(None);
    }
    Ok(Some(match user.as_str() {
        "<token>" => RegistryCredential::IdentityToken(secret),
        _ => RegistryCredential::Password { user, password: secret },
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape(config: &Value, host: &str) -> Option<String> {
        find_in_config(config, host).unwrap().map(|found| match found {
            RegistryCredential::Password { user, password } => format!("{user}:{password}"),
            RegistryCredential::IdentityToken(token) => format!("token {token}"),
        })
    }

    #[test]
    fn credentials_belong_to_exactly_one_host() {
        let config = json!({ "auths": {
            "r.example:5000": { "auth": "bWU6d29yZA==" },
            "https://old.example/v1/": { "username": "a", "password": "b" },
            "https://index.docker.io/v1/": { "identitytoken": "t" },
            "bad.example": { "auth": "%%%" },
        } });
        assert_eq!(shape(&config, "r.example:5000").as_deref(), Some("me:word"));
        assert_eq!(shape(&config, "r.example"), None);
        assert_eq!(shape(&config, "x.r.example:5000"), None);
        assert_eq!(shape(&config, "old.example").as_deref(), Some("a:b"));
        assert_eq!(shape(&config, "docker.io").as_deref(), Some("token t"));
        assert_eq!(shape(&config, "bad.example"), None);
        assert!(find_in_config(&json!({ "credsStore": "../../bin/sh" }), "r.example").is_err());
    }
}
