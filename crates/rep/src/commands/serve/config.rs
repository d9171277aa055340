//! What each host needs in its settings to start this server, or to reach it.

use serde_json::{Value, json};

use super::Args;
use crate::exit::Failure;

/// How the server is to be started or reached.
pub(super) struct Wanted {
    /// The address, where it is reached over HTTP.
    url: Option<String>,
    /// Whether a token is needed.
    has_token: bool,
    /// What stands behind `rep` where the host starts it.
    arguments: Vec<String>,
}

impl Wanted {
    pub(super) fn new(args: &Args) -> Self {
        let mut arguments = vec!["serve".to_owned()];
        for path in &args.library.places.paths {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            arguments.extend(["--path".to_owned(), path.display().to_string()]);
        }
        for skill in &args.allow_run {
            let word = if skill == "*" { "--allow-run".to_owned() } else { format!("--allow-run={skill}") };
            arguments.push(word);
        }
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        let url = args.http.as_deref().map(|address| format!("{scheme}://{address}/mcp"));
        Self { url, has_token: args.token_file.is_some() || !args.allow_run.is_empty() && !args.no_token, arguments }
    }
}

/// The hosts there is something to print for.
const HOSTS: [&str; 8] =
    ["claude-code", "claude-desktop", "codex", "cursor", "gemini-cli", "goose", "opencode", "vscode"];
/// Where the token stands, in hosts that read the environment.
const TOKEN: &str = "REPERTOIRE_TOKEN";

/// The snippet of a host, with where it goes as a comment or the first line.
pub(super) fn of(host: &str, wanted: &Wanted) -> Result<String, Failure> {
    let text = match host {
        "claude-code" => claude_code(wanted),
        "claude-desktop" => claude_desktop(wanted),
        "codex" => codex(wanted),
        "cursor" => in_file("~/.cursor/mcp.json", "mcpServers", &plain(wanted, "${env:REPERTOIRE_TOKEN}")),
        "gemini-cli" => {
            let mut server = plain(wanted, "${REPERTOIRE_TOKEN}");
            if let Some(url) = server.as_object_mut().and_then(|server| server.shift_remove("url")) {
                server["httpUrl"] = url;
            }
            in_file("~/.gemini/settings.json", "mcpServers", &server)
        }
        "goose" => goose(wanted),
        "opencode" => opencode(wanted),
        "vscode" => vscode(wanted),
        _ => {
            let failure = Failure::unable("UNKNOWN_HOST", format!("nothing is known of how `{host}` is set up"));
            return Err(failure.hint(format!("one of {}", HOSTS.join(", "))));
        }
    };
    Ok(text)
}

/// A server in the form most hosts take.
fn plain(wanted: &Wanted, token: &str) -> Value {
    match &wanted.url {
        None => json!({ "command": "rep", "args": wanted.arguments }),
        Some(url) => {
            let mut server = json!({ "url": url });
            if wanted.has_token {
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

fn claude_code(wanted: &Wanted) -> String {
    match &wanted.url {
        None => format!("claude mcp add repertoire -- rep {}\n", shell(&wanted.arguments)),
        Some(url) if wanted.has_token => {
            format!("claude mcp add --transport http repertoire {url} --header \"Authorization: Bearer ${TOKEN}\"\n")
        }
        Some(url) => format!("claude mcp add --transport http repertoire {url}\n"),
    }
}

fn claude_desktop(wanted: &Wanted) -> String {
    let note = match &wanted.url {
        None => "",
        // Its settings file knows only servers it starts itself.
        Some(_) => "// servers over HTTP are added under Settings > Connectors; this one is started by the app\n",
    };
    let server = json!({ "command": "rep", "args": wanted.arguments });
    format!("{note}{}", in_file("claude_desktop_config.json", "mcpServers", &server))
}

fn codex(wanted: &Wanted) -> String {
    let head = "# ~/.codex/config.toml\n[mcp_servers.repertoire]\n";
    match &wanted.url {
        // The strings of JSON are strings of TOML too.
        None => format!("{head}command = \"rep\"\nargs = {}\n", json!(wanted.arguments)),
        Some(url) => {
            let token = if wanted.has_token { format!("bearer_token_env_var = \"{TOKEN}\"\n") } else { String::new() };
            format!("{head}url = {}\n{token}", json!(url))
        }
    }
}

fn goose(wanted: &Wanted) -> String {
    let head = "# ~/.config/goose/config.yaml\nextensions:\n  repertoire:\n    enabled: true\n    name: repertoire\n";
    match &wanted.url {
        // The values of JSON are values of YAML too.
        None => {
            format!("{head}    type: stdio\n    cmd: rep\n    args: {}\n    timeout: 300\n", json!(wanted.arguments))
        }
        Some(url) => {
            let token = if wanted.has_token {
                format!("    headers: {{\"Authorization\": \"Bearer ${{{TOKEN}}}\"}}\n")
            } else {
                String::new()
            };
            format!("{head}    type: streamable_http\n    uri: {}\n{token}    timeout: 300\n", json!(url))
        }
    }
}

fn opencode(wanted: &Wanted) -> String {
    let server = match &wanted.url {
        None => {
            let command: Vec<&str> =
                std::iter::once("rep").chain(wanted.arguments.iter().map(String::as_str)).collect();
            json!({ "type": "local", "command": command, "enabled": true })
        }
        Some(url) => {
            let mut server = json!({ "type": "remote", "url": url, "enabled": true });
            if wanted.has_token {
                server["headers"] = json!({ "Authorization": format!("Bearer {{env:{TOKEN}}}") });
            }
            server
        }
    };
    in_file("opencode.json", "mcp", &server)
}

fn vscode(wanted: &Wanted) -> String {
    let mut server = plain(wanted, "${input:repertoire-token}");
    server["type"] = if wanted.url.is_some() { "http" } else { "stdio" }.into();
    if !wanted.has_token || wanted.url.is_none() {
        return in_file(".vscode/mcp.json", "servers", &server);
    }
    let input = json!({ "id": "repertoire-token", "type": "promptString", "description": "Token", "password": true });
    let whole = json!({ "inputs": [input], "servers": { "repertoire": server } });
    format!("// .vscode/mcp.json\n{whole:#}\n")
}
