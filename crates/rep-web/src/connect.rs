//! The connect page: the address of this server, how to get a token, and the settings of every known host.

use axum::http::{HeaderMap, header};
use maud::{Markup, html};
use rep_mcp::{CLIENT_HOSTS, ClientConfig, ClientHost};

use super::html::render_inline_code;
use super::layout::{self, PageLocation};
use super::{Dashboard, PageRequest, PageResponse};

/// The host that is shown first.
const DEFAULT_HOST: &str = "claude-code";
/// The maximum length of a host name in an address.
const HOST_BYTES_MAX: usize = 255;

/// What the dashboard knows about how this server was started.
#[derive(Clone, Debug, Default)]
pub struct DashboardOptions {
    /// The arguments of `rep` with which a host starts a server like this one.
    pub arguments: Vec<String>,
    /// Where a user finds the token, such as "the token in `/home/ada/serve.token`". Only users who are signed in see it.
    pub token_hint: Option<String>,
}

pub(super) fn render_page(request: &PageRequest) -> PageResponse {
    let host = ClientHost::find(request.fields.get("host")).or_else(|| ClientHost::find(DEFAULT_HOST));
    let config = html! { @if let Some(host) = host { (render_settings(request, host)) } };
    if request.is_part() {
        return PageResponse::Part(config);
    }
    let selected = host.map_or("", |host| host.id);
    let body = html! {
        div class="title" {
            h1 { "Connect" }
            p class="lead" { "How agents and other programs reach this server." }
        }
        section class="card" {
            h2 { "Address" }
            p { "MCP over HTTP (both revisions, 2026-07-28 and 2025-11-25):" }
            (layout::render_copyable(request.server_url()))
            (render_token_hint(&request.dashboard))
        }
        section class="card" {
            h2 { "Settings of a host" }
            form class="search" action="/connect" method="get" data-live="config" {
                div {
                    label for="host" { "Host" }
                    select id="host" name="host" {
                        @for host in &CLIENT_HOSTS { option value=(host.id) selected[host.id == selected] { (host.id) } }
                    }
                }
                button class="primary" { "Show" }
            }
            div id="config" { (config) }
        }
        section class="card" {
            h2 { "Without a server" }
            p {
                "A host that starts its own server needs no address and no token. The command, and the same settings on "
                "the terminal:"
            }
            (layout::render_copyable(&rep_command(&request.dashboard.options.arguments)))
            (layout::render_copyable(&format!("rep serve --print-config {selected}")))
        }
    };
    PageResponse::Page(PageLocation::Connect, "Connect".to_owned(), body)
}

/// What notes begin with that are a command of the host.
const COMMAND_NOTE: &str = "or run: ";

/// Renders what a client needs besides the address.
fn render_token_hint(dashboard: &Dashboard) -> Markup {
    html! {
        @if !dashboard.authenticator.is_required() {
            p class="muted" { "No token is needed." }
        } @else if let Some(hint) = &dashboard.options.token_hint {
            p { "Clients send " (render_inline_code(hint)) " as " code { "Authorization: Bearer TOKEN" } "." }
        } @else {
            p { "Clients send a token as " code { "Authorization: Bearer TOKEN" } ". The operator of this server has it." }
        }
    }
}

/// Renders the settings of a host, and what to do with them.
fn render_settings(request: &PageRequest, host: &ClientHost) -> Markup {
    let rendered = host.render(&ClientConfig {
        url: Some(request.server_url().to_owned()),
        has_token: request.dashboard.authenticator.is_required(),
        arguments: request.dashboard.options.arguments.clone(),
    });
    html! {
        ul class="words" {
            @for note in rendered.notes.iter().filter(|note| !note.starts_with(COMMAND_NOTE)) {
                li { (render_inline_code(&capitalize(note))) "." }
            }
        }
        (layout::render_copyable(rendered.document.trim_end()))
        @for command in rendered.notes.iter().filter_map(|note| note.strip_prefix(COMMAND_NOTE)) {
            p { "Or run:" }
            (layout::render_copyable(command))
        }
        p class="match" { "Checked on " (host.checked) ", source: " (host.source) }
    }
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the command line that starts a server like this one.
fn rep_command(arguments: &[String]) -> String {
    let is_plain = |word: &&String| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=./:,".contains(&byte));
    let quote = |word: &String| {
        if is_plain(&word) && !word.is_empty() { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    std::iter::once("rep".to_owned()).chain(arguments.iter().map(quote)).collect::<Vec<_>>().join(" ")
}

impl Dashboard {
    /// Returns the URL of the MCP endpoint as the visitor reaches it.
    pub(super) fn server_url(&self, headers: &HeaderMap) -> String {
        let is_host = |host: &&str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
            !host.is_empty() && host.len() <= HOST_BYTES_MAX && host.bytes().all(is_letter)
        };
        let named = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(is_host);
        let host = named.map_or_else(|| self.address.to_string(), str::to_owned);
        format!("{}://{host}/mcp", if self.is_tls { "https" } else { "http" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        let arguments = ["serve", "--path", "/a b/it's", ""].map(str::to_owned);
        assert_eq!(rep_command(&arguments), r"rep serve --path '/a b/it'\''s' ''");
        assert_eq!(capitalize("add this"), "Add this");
    }
}
