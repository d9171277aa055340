//! What each host needs in its settings to start this server, or to reach it.

use serde_json::{Value, json};

/// The hosts whose settings are known.
pub const CLIENT_HOSTS: [&str; 8] =
    ["claude-code", "claude-desktop", "codex", "cursor", "gemini-cli", "goose", "opencode", "vscode"];
/// The variable that holds the token, in hosts that read the environment.
const TOKEN: &str = "REPERTOIRE_TOKEN";

/// How a host starts or reaches a server.
#[derive(Clone, Debug, Default)]
pub struct ClientConfig {
    /// The address, if it is reached over HTTP.
    pub url: Option<String>,
    /// Whether a token is needed.
    pub has_token: bool,
    /// The arguments of `rep`, if the host starts it.
    pub arguments: Vec<String>,
}

impl ClientConfig {
    /// The settings of a host, with where they go as a comment on the first line; `None` if nothing is known of the
    /// host.
    pub fn render(&self, host: &str) -> Option<String> {
        Some(match host {
            "claude-code" => claude_code(self),
            "claude-desktop" => claude_desktop(self),
            "codex" => codex(self),
            "cursor" => in_file("~/.cursor/mcp.json", "mcpServers", &plain(self, "${env:REPERTOIRE_TOKEN}")),
            "gemini-cli" => gemini_cli(self),
            "goose" => goose(self),
            "opencode" => opencode(self),
            "vscode" => vscode(self),
            _ => return None,
        })
    }
}

/// A server in the form most hosts take.
fn plain(config: &ClientConfig, token: &str) -> Value {
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

fn in_file(file: &str, key: &str, server: &Value) -> String {
    let mut whole = json!({});
    whole[key] = json!({ "repertoire": server });
    format!("// {file}\n{whole:#}\n")
}

/// Words as a shell takes them.
fn shell(words: &[String]) -> String {
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=./:,".contains(&byte));
    let quoted =
        |word: &String| if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn claude_code(config: &ClientConfig) -> String {
    match &config.url {
        None => format!("claude mcp add repertoire -- rep {}\n", shell(&config.arguments)),
        Some(url) if config.has_token => {
            format!("claude mcp add --transport http repertoire {url} --header \"Authorization: Bearer ${TOKEN}\"\n")
        }
        Some(url) => format!("claude mcp add --transport http repertoire {url}\n"),
    }
}

fn claude_desktop(config: &ClientConfig) -> String {
    let note = match &config.url {
        None => "",
        // Its settings file knows only servers it starts itself.
        Some(_) => "// servers over HTTP are added under Settings > Connectors; this one is started by the app\n",
    };
    let server = json!({ "command": "rep", "args": config.arguments });
    format!("{note}{}", in_file("claude_desktop_config.json", "mcpServers", &server))
}

fn codex(config: &ClientConfig) -> String {
    let head = "# ~/.codex/config.toml\n[mcp_servers.repertoire]\n";
    match &config.url {
        // The strings of JSON are strings of TOML too.
        None => format!("{head}command = \"rep\"\nargs = {}\n", json!(config.arguments)),
        Some(url) => {
            let token = if config.has_token { format!("bearer_token_env_var = \"{TOKEN}\"\n") } else { String::new() };
            format!("{head}url = {}\n{token}", json!(url))
        }
    }
}

fn gemini_cli(config: &ClientConfig) -> String {
    let mut server = plain(config, "${REPERTOIRE_TOKEN}");
    if let Some(url) = server.as_object_mut().and_then(|server| server.shift_remove("url")) {
        server["httpUrl"] = url;
    }
    in_file("~/.gemini/settings.json", "mcpServers", &server)
}

fn goose(config: &ClientConfig) -> String {
    let head = "# ~/.config/goose/config.yaml\nextensions:\n  repertoire:\n    enabled: true\n    name: repertoire\n";
    match &config.url {
        // The values of JSON are values of YAML too.
        None => {
            format!("{head}    type: stdio\n    cmd: rep\n    args: {}\n    timeout: 300\n", json!(config.arguments))
        }
        Some(url) => {
            let token = if config.has_token {
                format!("    headers: {{\"Authorization\": \"Bearer ${{{TOKEN}}}\"}}\n")
            } else {
                String::new()
            };
            format!("{head}    type: streamable_http\n    uri: {}\n{token}    timeout: 300\n", json!(url))
        }
    }
}

fn opencode(config: &ClientConfig) -> String {
    let server = match &config.url {
        None => {
            let command: Vec<&str> =
                std::iter::once("rep").chain(config.arguments.iter().map(String::as_str)).collect();
            json!({ "type": "local", "command": command, "enabled": true })
        }
        Some(url) => {
            let mut server = json!({ "type": "remote", "url": url, "enabled": true });
            if config.has_token {
                server["headers"] = json!({ "Authorization": format!("Bearer {{env:{TOKEN}}}") });
            }
            server
        }
    };
    in_file("opencode.json", "mcp", &server)
}

fn vscode(config: &ClientConfig) -> String {
    let mut server = plain(config, "${input:repertoire-token}");
    server["type"] = if config.url.is_some() { "http" } else { "stdio" }.into();
    if !config.has_token || config.url.is_none() {
        return in_file(".vscode/mcp.json", "servers", &server);
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
            // Claude Desktop starts servers only.
            assert_eq!(text.contains("127.0.0.1:8300"), host != "claude-desktop", "{text}");
        }
        assert_eq!(stdio.render("notepad"), None);
    }
}
