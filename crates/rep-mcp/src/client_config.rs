//! The settings that each host needs to start or reach this server. The hosts are data (`client_hosts`), with the file,
//! the shape, a source and a date for each.

use serde_json::{Map, Value, json};

use crate::client_hosts::{CLIENT_HOSTS, ServerShape};

/// The environment variable that contains the token, for hosts that read the environment.
const TOKEN_VARIABLE: &str = "REPERTOIRE_TOKEN";
/// The name of the server in the settings of hosts.
const SERVER_NAME: &str = "repertoire";

/// The format of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl ConfigFormat {
    /// Returns the name in output.
    pub const fn name(self) -> &'static str {
        match self {
            ConfigFormat::Json => "json",
            ConfigFormat::Toml => "toml",
            ConfigFormat::Yaml => "yaml",
        }
    }
}

/// A host that starts or reaches MCP servers.
#[derive(Debug)]
pub struct ClientHost {
    /// The id.
    pub id: &'static str,
    /// The file that contains its settings.
    pub file: &'static str,
    /// The format of that file.
    pub format: ConfigFormat,
    /// The source of the file and the shape.
    pub source: &'static str,
    /// The date on which the source was checked.
    pub checked: &'static str,
    pub(crate) shape: ServerShape,
}

/// How a host starts or reaches a server.
#[derive(Clone, Debug, Default)]
pub struct ClientConfig {
    /// The URL, if the server is reached over HTTP.
    pub url: Option<String>,
    /// Whether a token is needed.
    pub has_token: bool,
    /// The arguments of `rep`, if the host starts the server.
    pub arguments: Vec<String>,
}

/// The settings of a host: a document, and what to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedConfig {
    /// The document, in the format of the host's file and nothing else.
    pub document: String,
    /// What to do with the document, one sentence each.
    pub notes: Vec<String>,
}

impl ClientHost {
    /// Finds a host by its id.
    pub fn find(id: &str) -> Option<&'static ClientHost> {
        CLIENT_HOSTS.iter().find(|host| host.id == id)
    }

    /// Renders the settings of the host.
    pub fn render(&self, config: &ClientConfig) -> RenderedConfig {
        let mut notes = vec![format!("add this to `{}`", self.file)];
        // Without a URL in its settings, a host can only start its own server.
        let stdio = ClientConfig { url: None, has_token: false, arguments: config.arguments.clone() };
        let is_reached = config.url.is_some() && self.shape.reaches_http();
        if config.url.is_some() && !is_reached {
            notes.push(
                "these settings make the host start its own server: its file does not name HTTP servers".to_owned(),
            );
        }
        let config = if is_reached { config } else { &stdio };
        let document = match &self.shape {
            ServerShape::CodexToml => render_codex(config),
            ServerShape::VibeToml => render_vibe(config),
            ServerShape::GooseYaml => render_goose(config),
            ServerShape::Yaml { keys, .. } => render_yaml(keys, &self.shape.server_fields(config)),
            ServerShape::CommandLine => {
                let line = format!("rep {}", quote_shell_words(&config.arguments));
                render_json(&["servers"], &line.into())
            }
            ServerShape::VsCode => render_vscode(config),
            ServerShape::Json { keys, .. } => render_json(keys, &self.shape.server_fields(config)),
        };
        if config.has_token {
            notes.push(self.shape.token_note());
        }
        if self.id == "claude-code" {
            notes.push(format!("or run: {}", render_claude_command(config)));
        }
        RenderedConfig { document, notes }
    }
}

impl ServerShape {
    /// Returns the fields of the server.
    fn server_fields(&self, config: &ClientConfig) -> Value {
        let (ServerShape::Json { stdio, http, .. } | ServerShape::Yaml { stdio, http, .. }) = self else {
            return json!({});
        };
        let mut fields = Map::new();
        match &config.url {
            None => {
                fields.extend(stdio.extra.iter().map(|(key, value)| ((*key).to_owned(), json!(value))));
                if stdio.is_one_list {
                    let words: Vec<&str> =
                        std::iter::once("rep").chain(config.arguments.iter().map(String::as_str)).collect();
                    fields.insert("command".to_owned(), json!(words));
                } else {
                    fields.insert("command".to_owned(), "rep".into());
                    fields.insert("args".to_owned(), json!(config.arguments));
                }
            }
            Some(url) => {
                let http = http.as_ref();
                for (key, value) in http.into_iter().flat_map(|http| http.extra) {
                    fields.insert((*key).to_owned(), json!(value));
                }
                fields.insert(http.map_or("url", |http| http.url_key).to_owned(), url.as_str().into());
                if config.has_token {
                    let token = http.map_or("", |http| http.token).replace("NAME", TOKEN_VARIABLE);
                    fields.insert("headers".to_owned(), json!({ "Authorization": format!("Bearer {token}") }));
                }
            }
        }
        if let ServerShape::Json { more, .. } = self {
            for (key, value) in *more {
                fields.insert((*key).to_owned(), value.to_json());
            }
        }
        Value::Object(fields)
    }

    /// Returns whether the settings can name a server by its URL.
    fn reaches_http(&self) -> bool {
        match self {
            ServerShape::Json { http, .. } | ServerShape::Yaml { http, .. } => http.is_some(),
            ServerShape::CommandLine => false,
            ServerShape::CodexToml | ServerShape::VibeToml | ServerShape::GooseYaml | ServerShape::VsCode => true,
        }
    }

    /// Describes how the host gets the token.
    fn token_note(&self) -> String {
        match self {
            ServerShape::VsCode => "VS Code asks for the token".to_owned(),
            ServerShape::Json { http: Some(http), .. } | ServerShape::Yaml { http: Some(http), .. }
                if !http.is_expanded =>
            {
                let text = http.token.replace("NAME", TOKEN_VARIABLE);
                format!("replace `{text}` with the token: the host is not known to read it from the environment")
            }
            _ => format!("set `{TOKEN_VARIABLE}` to the token before you start the host"),
        }
    }
}

/// Renders a server below nested keys.
fn render_json(keys: &[&str], server: &Value) -> String {
    let mut whole = json!({ SERVER_NAME: server });
    for key in keys.iter().rev() {
        whole = json!({ *key: whole });
    }
    format!("{whole:#}\n")
}

/// Renders a server below nested keys, as YAML. JSON values are also YAML values.
fn render_yaml(keys: &[&str], server: &Value) -> String {
    let mut text = String::new();
    for (depth, key) in keys.iter().chain(&[SERVER_NAME]).enumerate() {
        text.push_str(&format!("{}{key}:\n", "  ".repeat(depth)));
    }
    let indent = "  ".repeat(keys.len() + 1);
    for (key, value) in server.as_object().into_iter().flatten() {
        text.push_str(&format!("{indent}{key}: {value}\n"));
    }
    text
}

/// Quotes words for a shell.
fn quote_shell_words(words: &[String]) -> String {
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=./:,".contains(&byte));
    let quoted =
        |word: &String| if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Renders the command that adds the server to Claude Code.
fn render_claude_command(config: &ClientConfig) -> String {
    match &config.url {
        None => format!("claude mcp add {SERVER_NAME} -- rep {}", quote_shell_words(&config.arguments)),
        Some(url) if config.has_token => {
            format!(
                "claude mcp add --transport http {SERVER_NAME} {url} --header \"Authorization: Bearer ${TOKEN_VARIABLE}\""
            )
        }
        Some(url) => format!("claude mcp add --transport http {SERVER_NAME} {url}"),
    }
}

/// Renders the settings of Codex. JSON strings are also TOML strings.
fn render_codex(config: &ClientConfig) -> String {
    let head = format!("[mcp_servers.{SERVER_NAME}]\n");
    match &config.url {
        None => format!("{head}command = \"rep\"\nargs = {}\n", json!(config.arguments)),
        Some(url) => {
            let token =
                if config.has_token { format!("bearer_token_env_var = \"{TOKEN_VARIABLE}\"\n") } else { String::new() };
            format!("{head}url = {}\n{token}", json!(url))
        }
    }
}

/// Renders the settings of Mistral Vibe.
fn render_vibe(config: &ClientConfig) -> String {
    let head = format!("[[mcp_servers]]\nname = \"{SERVER_NAME}\"\n");
    match &config.url {
        None => format!("{head}transport = \"stdio\"\ncommand = \"rep\"\nargs = {}\n", json!(config.arguments)),
        Some(url) => {
            let token = if config.has_token {
                format!(
                    "api_key_env = \"{TOKEN_VARIABLE}\"\napi_key_header = \"Authorization\"\napi_key_format = \"Bearer {{token}}\"\n"
                )
            } else {
                String::new()
            };
            format!("{head}transport = \"streamable-http\"\nurl = {}\n{token}", json!(url))
        }
    }
}

fn render_goose(config: &ClientConfig) -> String {
    let mut server = json!({ "enabled": true, "name": SERVER_NAME });
    match &config.url {
        None => {
            server["type"] = "stdio".into();
            server["cmd"] = "rep".into();
            server["args"] = json!(config.arguments);
        }
        Some(url) => {
            server["type"] = "streamable_http".into();
            server["uri"] = url.as_str().into();
            if config.has_token {
                server["headers"] = json!({ "Authorization": format!("Bearer ${{{TOKEN_VARIABLE}}}") });
            }
        }
    }
    server["timeout"] = 300.into();
    render_yaml(&["extensions"], &server)
}

/// Renders the settings of VS Code, which asks for the token itself.
fn render_vscode(config: &ClientConfig) -> String {
    let Some(url) = &config.url else {
        let server = json!({ "type": "stdio", "command": "rep", "args": config.arguments });
        return render_json(&["servers"], &server);
    };
    let mut server = json!({ "type": "http", "url": url });
    if !config.has_token {
        return render_json(&["servers"], &server);
    }
    server["headers"] = json!({ "Authorization": "Bearer ${input:repertoire-token}" });
    let input = json!({ "id": "repertoire-token", "type": "promptString", "description": "Token", "password": true });
    let whole = json!({ "inputs": [input], "servers": { SERVER_NAME: server } });
    format!("{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use rep_model::yaml::core;

    use super::*;

    /// Parses the subset of TOML that is rendered: tables, and keys with values that are also JSON.
    fn parse_toml(text: &str) -> Result<Value, String> {
        let (mut path, mut is_list, mut table) = (Vec::new(), false, Map::new());
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                is_list = head.starts_with('[');
                path = head.trim_matches(['[', ']']).split('.').map(str::to_owned).collect();
                continue;
            }
            let (key, value) = line.split_once(" = ").ok_or_else(|| format!("no value: {line}"))?;
            if !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
                return Err(format!("no bare key: {line}"));
            }
            table.insert(key.to_owned(), serde_json::from_str(value).map_err(|error| format!("{line}: {error}"))?);
        }
        let mut whole = Value::Object(table);
        if is_list {
            whole = json!([whole]);
        }
        Ok(path.into_iter().rev().fold(whole, |whole, key| json!({ key: whole })))
    }

    fn parse_document(host: &ClientHost, document: &str) -> Value {
        let parsed = match host.format {
            ConfigFormat::Json => serde_json::from_str(document).map_err(|error| error.to_string()),
            ConfigFormat::Toml => parse_toml(document),
            ConfigFormat::Yaml => {
                let parsed = rep_model::yaml::parse(document, 0);
                assert!(parsed.problems.is_empty(), "{}: {:?}", host.id, parsed.problems);
                parsed.root.as_ref().map(core::to_json).ok_or_else(|| "it is empty".to_owned())
            }
        };
        parsed.unwrap_or_else(|error| panic!("{}: {error}\n{document}", host.id))
    }

    /// Finds the words that start the server, anywhere in the settings.
    fn find_command(value: &Value) -> Option<Vec<String>> {
        let words = |list: &Value| list.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
        match value {
            Value::Object(fields) => {
                let command = fields.get("command").or_else(|| fields.get("cmd"));
                match command {
                    Some(Value::String(program)) => {
                        let arguments: Vec<String> = words(fields.get("args")?)?;
                        Some(std::iter::once(program.clone()).chain(arguments).collect())
                    }
                    Some(list) => words(list),
                    None => fields.values().find_map(find_command),
                }
            }
            Value::Array(items) => items.iter().find_map(find_command),
            Value::String(line) if line.starts_with("rep ") => Some(line.split(' ').map(str::to_owned).collect()),
            _ => None,
        }
    }

    #[test]
    fn the_settings_of_every_host_parse_and_start_the_server() {
        let arguments = ["serve", "--path", "/a b/it's", "--allow-run"].map(str::to_owned).to_vec();
        let config = ClientConfig { arguments: arguments.clone(), ..ClientConfig::default() };
        for host in &CLIENT_HOSTS {
            let rendered = host.render(&config);
            let settings = parse_document(host, &rendered.document);
            let found = find_command(&settings).unwrap_or_else(|| panic!("{}: no command in {settings}", host.id));
            assert_eq!(found[..2], ["rep", "serve"], "{}", host.id);
            if matches!(host.shape, ServerShape::CommandLine) {
                assert_eq!(found.join(" "), "rep serve --path '/a b/it'\\''s' --allow-run");
            } else {
                assert_eq!(found[1..], arguments, "{}", host.id);
            }
            assert!(rendered.notes[0].contains(host.file), "{}: {:?}", host.id, rendered.notes);
        }
    }

    #[test]
    fn hosts_that_name_urls_get_the_address_and_the_token_by_reference() {
        let url = "http://127.0.0.1:8300/mcp";
        let config = ClientConfig { url: Some(url.to_owned()), has_token: true, arguments: vec!["serve".to_owned()] };
        for host in &CLIENT_HOSTS {
            let rendered = host.render(&config);
            let settings = parse_document(host, &rendered.document).to_string();
            if host.shape.reaches_http() {
                assert!(settings.contains(url) && find_command(&settings.into()).is_none(), "{}", host.id);
                assert!(rendered.notes.iter().any(|note| note.contains("token")), "{}: {rendered:?}", host.id);
            } else {
                assert!(!settings.contains(url) && settings.contains("serve"), "{}", host.id);
                assert!(rendered.notes.iter().any(|note| note.contains("its own server")), "{rendered:?}");
            }
        }
        assert!(ClientHost::find("notepad").is_none());
    }

    #[test]
    fn every_host_has_a_source_and_a_date_and_they_are_ordered() {
        assert!(CLIENT_HOSTS.is_sorted_by_key(|host| host.id));
        for host in &CLIENT_HOSTS {
            assert!(!host.source.is_empty() && host.checked.len() == 10 && !host.file.is_empty(), "{}", host.id);
        }
    }
}
