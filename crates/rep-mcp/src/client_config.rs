//! The settings that each host needs to start or reach this server.

use serde_json::{Value, json};

/// The hosts with known settings.
pub const CLIENT_HOSTS: [&str; 8] =
    ["claude-code", "claude-desktop", "codex", "cursor", "gemini-cli", "goose", "opencode", "vscode"];
/// The environment variable that contains the token, for hosts that read the environment.
const TOKEN_VARIABLE: &str = "REPERTOIRE_TOKEN";

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

impl ClientConfig {
    /// Renders the settings for a host, with their location as a comment on the first line. Returns `None` for an
    /// unknown host.
    pub fn render(&self, host: &str) -> Option<String> {
        Some(match host {
            "claude-code" => render_claude_code(self),
            "claude-desktop" => render_claude_desktop(self),
            "codex" => render_codex(self),
            "cursor" => render_settings_file(
                "~/.cursor/mcp.json",
                "mcpServers",
                &standard_server_json(self, "${env:REPERTOIRE_TOKEN}"),
            ),
            "gemini-cli" => render_gemini_cli(self),
            "goose" => render_goose(self),
            "opencode" => render_opencode(self),
            "vscode" => render_vscode(self),
            _ => return None,
        })
    }
}

/// Returns the server in the form that most hosts use.
fn standard_server_json(config: &ClientConfig, token: &str) -> Value {
    match &config.url {
        None => json!({ "command": "rep", "args": config.arguments }),
        Some(url) => {
            let mut server = json!({ "url": url });
            if config.has_token {
                server["headers"] = json!({ "Authorization": format!("Bearer {token}") });
            }
            server
        }
    }
}

fn render_settings_file(file: &str, key: &str, server: &Value) -> String {
    let mut whole = json!({});
    whole[key] = json!({ "repertoire": server });
    format!("// {file}\n{whole:#}\n")
}

/// Quotes words for a shell.
fn quote_shell_words(words: &[String]) -> String {
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=./:,".contains(&byte));
    let quoted =
        |word: &String| if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn render_claude_code(config: &ClientConfig) -> String {
    match &config.url {
        None => format!("claude mcp add repertoire -- rep {}\n", quote_shell_words(&config.arguments)),
        Some(url) if config.has_token => {
            format!(
                "claude mcp add --transport http repertoire {url} --header \"Authorization: Bearer ${TOKEN_VARIABLE}\"\n"
            )
        }
        Some(url) => format!("claude mcp add --transport http repertoire {url}\n"),
    }
}

fn render_claude_desktop(config: &ClientConfig) -> String {
    let note = match &config.url {
        None => "",
        // Its settings file supports only servers that it starts.
        Some(_) => "// add HTTP servers under Settings > Connectors; this entry makes the app start its own server\n",
    };
    let server = json!({ "command": "rep", "args": config.arguments });
    format!("{note}{}", render_settings_file("claude_desktop_config.json", "mcpServers", &server))
}

fn render_codex(config: &ClientConfig) -> String {
    let head = "# ~/.codex/config.toml\n[mcp_servers.repertoire]\n";
    match &config.url {
        // JSON strings are also TOML strings.
        None => format!("{head}command = \"rep\"\nargs = {}\n", json!(config.arguments)),
        Some(url) => {
            let token =
                if config.has_token { format!("bearer_token_env_var = \"{TOKEN_VARIABLE}\"\n") } else { String::new() };
            format!("{head}url = {}\n{token}", json!(url))
        }
    }
}

fn render_gemini_cli(config: &ClientConfig) -> String {
    let mut server = standard_server_json(config, "${REPERTOIRE_TOKEN}");
    if let Some(url) = server.as_object_mut().and_then(|server| server.shift_remove("url")) {
        server["httpUrl"] = url;
    }
    render_settings_file("~/.gemini/settings.json", "mcpServers", &server)
}

fn render_goose(config: &ClientConfig) -> String {
    let head = "# ~/.config/goose/config.yaml\nextensions:\n  repertoire:\n    enabled: true\n    name: repertoire\n";
    match &config.url {
        // JSON values are also YAML values.
        None => {
            format!("{head}    type: stdio\n    cmd: rep\n    args: {}\n    timeout: 300\n", json!(config.arguments))
        }
        Some(url) => {
            let token = if config.has_token {
                format!("    headers: {{\"Authorization\": \"Bearer ${{{TOKEN_VARIABLE}}}\"}}\n")
            } else {
                String::new()
            };
            format!("{head}    type: streamable_http\n    uri: {}\n{token}    timeout: 300\n", json!(url))
        }
    }
}

fn render_opencode(config: &ClientConfig) -> String {
    let server = match &config.url {
        None => {
            let command: Vec<&str> =
                std::iter::once("rep").chain(config.arguments.iter().map(String::as_str)).collect();
            json!({ "type": "local", "command": command, "enabled": true })
        }
        Some(url) => {
            let mut server = json!({ "type": "remote", "url": url, "enabled": true });
            if config.has_token {
                server["headers"] = json!({ "Authorization": format!("Bearer {{env:{TOKEN_VARIABLE}}}") });
            }
            server
        }
    };
    render_settings_file("opencode.json", "mcp", &server)
}

fn render_vscode(config: &ClientConfig) -> String {
    let mut server = standard_server_json(config, "${input:repertoire-token}");
    server["type"] = if config.url.is_some() { "http" } else { "stdio" }.into();
    if !config.has_token || config.url.is_none() {
        return render_settings_file(".vscode/mcp.json", "servers", &server);
    }
    let input = json!({ "id": "repertoire-token", "type": "promptString", "description": "Token", "password": true });
    let whole = json!({ "inputs": [input], "servers": { "repertoire": server } });
    format!("// .vscode/mcp.json\n{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_that_is_known_has_settings() {
        let url = Some("http://127.0.0.1:8300/mcp".to_owned());
        let stdio = ClientConfig { arguments: vec!["serve".to_owned()], ..ClientConfig::default() };
        let http = ClientConfig { url, has_token: true, ..stdio.clone() };
        for host in CLIENT_HOSTS {
            assert!(stdio.render(host).is_some_and(|text| text.contains("serve")), "{host}");
            let text = http.render(host).unwrap();
            // Claude Desktop supports only servers that it starts.
            assert_eq!(text.contains("127.0.0.1:8300"), host != "claude-desktop", "{text}");
        }
        assert_eq!(stdio.render("notepad"), None);
    }
}
