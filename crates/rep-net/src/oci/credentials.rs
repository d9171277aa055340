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
pub enum RegistryCredential {
    /// A name and a password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
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
            for source in config.list_sources(host)? {
                let found = match source {
                    CredentialSource::Stored(credential) => Some(credential),
                    CredentialSource::Helper { name, key } => ask_helper(&name, &key)?,
                };
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }
}

fn read_config(path: &std::path::Path) -> Result<Option<CredentialConfig>, String> {
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
    CredentialConfig::parse(&bytes).map(Some).ok_or_else(|| failed("it is not JSON".to_owned()))
}

/// The content of a file with credentials. It cannot be printed.
pub struct CredentialConfig(Value);

/// Where the credentials for a host are.
pub enum CredentialSource {
    /// In the file.
    Stored(RegistryCredential),
    /// The helper `docker-credential-NAME` has them.
    Helper {
        /// The name, which is a part of a file name.
        name: String,
        /// What the helper calls the host.
        key: String,
    },
}

impl CredentialConfig {
    /// Parses a file. The error says nothing, because it could contain a part of the file.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().map(Self)
    }

    /// Lists where the credentials for a host may be, in order: at a helper for the host, or else at the helper for all hosts
    /// and in the file. Fails if a helper has an invalid name.
    pub fn list_sources(&self, host: &str) -> Result<Vec<CredentialSource>, String> {
        let config = &self.0;
        let keys = host_keys(host);
        let own = keys.iter().find_map(|key| config["credHelpers"][key.as_str()].as_str().map(|name| (name, key)));
        if let Some((name, key)) = own {
            return Ok(vec![name_helper(name, key)?]);
        }
        let mut sources = Vec::new();
        if let Some(name) = config["credsStore"].as_str().filter(|name| !name.is_empty()) {
            for key in &keys {
                sources.push(name_helper(name, key)?);
            }
        }
        let entries = config["auths"].as_object().into_iter().flatten();
        let found = entries.into_iter().find(|(key, _)| keys.contains(key) || keys.contains(&normalize_key(key)));
        sources.extend(found.and_then(|(_, entry)| parse_entry(entry)).map(CredentialSource::Stored));
        Ok(sources)
    }
}

fn name_helper(name: &str, key: &str) -> Result<CredentialSource, String> {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if is_plain {
        Ok(CredentialSource::Helper { name: name.to_owned(), key: key.to_owned() })
    } else {
        Err(format!("`{}` is not the name of a credential helper", name.escape_debug()))
    }
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
    parse_helper_answer(&output.stdout).ok_or_else(|| format!("`{program}` did not print credentials as JSON"))
}

/// Parses what a credential helper prints. An empty secret means that it has none. Returns `None` if it is not an answer.
pub fn parse_helper_answer(bytes: &[u8]) -> Option<Option<RegistryCredential>> {
    let answer: Value = serde_json::from_slice(bytes).ok()?;
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    let (user, secret) = (text("Username")?, text("Secret")?);
    if secret.is_empty() {
        return Some(None);
    }
    Some(Some(match user.as_str() {
        "<token>" => RegistryCredential::IdentityToken(secret),
        _ => RegistryCredential::Password { user, password: secret },
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn describe(credential: RegistryCredential) -> String {
        match credential {
            RegistryCredential::Password { user, password } => format!("{user}:{password}"),
            RegistryCredential::IdentityToken(token) => format!("token {token}"),
        }
    }

    fn shape(config: &Value, host: &str) -> Option<String> {
        let sources = CredentialConfig(config.clone()).list_sources(host).unwrap();
        let shown = sources.into_iter().map(|source| match source {
            CredentialSource::Stored(credential) => describe(credential),
            CredentialSource::Helper { name, key } => format!("{name} for {key}"),
        });
        Some(shown.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty())
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
        let config = json!({
            "credHelpers": { "own.example": "own" }, "credsStore": "all", "auths": { "r.example": { "auth": "bWU6d29yZA==" } },
        });
        assert_eq!(shape(&config, "own.example").as_deref(), Some("own for own.example"));
        assert_eq!(
            shape(&config, "r.example").as_deref(),
            Some("all for r.example, all for https://r.example, all for https://r.example/, me:word")
        );
        for config in [json!({ "credsStore": "../../bin/sh" }), json!({ "credHelpers": { "r.example": "a b" } })] {
            assert!(CredentialConfig(config).list_sources("r.example").is_err());
        }
    }

    #[test]
    fn a_helper_answers_with_credentials_or_none() {
        let answer = |text: &str| parse_helper_answer(text.as_bytes()).map(|found| found.map(describe));
        assert_eq!(answer(r#"{"Username":"me","Secret":"word"}"#), Some(Some("me:word".to_owned())));
        assert_eq!(answer(r#"{"Username":"<token>","Secret":"t"}"#), Some(Some("token t".to_owned())));
        assert_eq!(answer(r#"{"Username":"me","Secret":""}"#), Some(None));
        for text in ["", "{}", "credentials not found", r#"{"Username":1,"Secret":"x"}"#] {
            assert_eq!(answer(text), None, "{text}");
        }
    }
}
