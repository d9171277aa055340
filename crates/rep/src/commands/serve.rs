//! `rep serve`: serves the library over MCP on stdio or HTTP, and a dashboard over HTTP.

mod following;

use std::io::{IsTerminal, Read};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rep_audit::{CallRecorder, LogRotation};
use rep_hosts::hosts::ToolNaming;
use rep_library::hosts::KnownHost;
use rep_library::settings::{ServeSettings, load_serve_settings};
use rep_library::{Catalog, CatalogEntry, LibraryOptions, SkillLibrary, stamp_skills};
use rep_mcp::{
    AllowedRuns, CLIENT_HOSTS, ClientConfig, ClientHost, HttpOptions, InstructionsCache, JwksSource, LogFormat,
    LogOptions, McpServer, OAuthVerifier, ServerOptions, TlsIdentity, init_log, serve_http, serve_stdio, sha256_digest,
};
use rep_net::issuer::fetch_keys;
use rep_runtime::Runtime;
use rep_runtime::named_token::NamedTokenStore;
use rep_runtime::token::load_or_create_token;
use rep_web::DashboardOptions;
use serde_json::{Value, json};

use self::following::Following;
use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, data_folder, user_settings_file};
use crate::output::{ColorMode, Output};
use crate::terminal;

/// The maximum size of a file of tokens, certificates or a key, and the minimum length of a token.
const FILE_BYTES_MAX: u64 = 256 << 10;
const TOKEN_CHARS_MIN: usize = 16;
/// The file with the token that is created if none is named.
const TOKEN_FILE: &str = "serve.token";
/// The maximum number of cached instructions.
const INSTRUCTIONS_MAX: usize = 64;
/// The default listen address.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8300";

/// Serve skills over MCP, on stdio or HTTP
///
/// Clients can list, search, read and query all active skills. They can run tools only with `--allow-run`. With
/// `--http`, the same address shows a dashboard in the browser. Addresses other than this machine need
/// `--token-file` or `--oauth-issuer`. Calls are recorded; see `rep audit --calls`.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[command(after_help = "\
Examples:
  rep serve                               # stdio, for one client
  rep serve --http                        # http://127.0.0.1:8300
  rep serve --allow-run=csv-profile --path skills
  rep serve --http 0.0.0.0:8300 --token-file tokens.txt
  rep serve --http --from oci://registry.example/team/all:stable
  rep serve --print-config claude-code    # how to add it to a host")]
pub(crate) struct Args {
    /// Serve a single client over stdio (default)
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve over HTTP at this address [default: 127.0.0.1:8300]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = DEFAULT_ADDRESS)]
    http: Option<String>,
    /// Allow clients to run the tools of all skills, or of this skill; repeatable
    #[arg(long, value_name = "SKILL", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    allow_run: Vec<String>,
    /// The names of tools: `qualified` is `SKILL__TOOL`, `plain` the author's name, `auto` the author's name if no other
    /// tool has it
    #[arg(long, value_name = "STYLE", value_parser = ToolNaming::WORDS, default_value = "qualified")]
    tool_names: String,
    /// The directory that tools run in; permission patterns are relative to it [default: the enclosing project]
    #[arg(long, value_name = "DIR", requires = "allow_run")]
    workspace: Option<PathBuf>,
    /// Run tools without the sandbox, with all your permissions
    #[arg(long, requires = "allow_run")]
    no_sandbox: bool,
    /// Accept only clients that send one of the tokens in this file, one per line
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Let any local user and program in without a token
    ///
    /// Without this option, `--allow-run` over HTTP creates a token if you name none.
    #[arg(long, requires = "http", conflicts_with_all = ["token_file", "oauth_issuer"])]
    no_token: bool,
    /// Accept access tokens from this OAuth issuer
    #[arg(long, value_name = "URL", requires = "http", requires = "oauth_audience")]
    oauth_issuer: Option<String>,
    /// The audience that the tokens must have: this server's URL
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    oauth_audience: Option<String>,
    /// The issuer's public keys, as a JWKS file [default: fetched from the issuer]
    #[arg(long, value_name = "FILE", requires = "oauth_issuer")]
    oauth_keys: Option<PathBuf>,
    /// Use TLS with this certificate chain (PEM)
    #[arg(long, value_name = "FILE", requires = "http", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Accept requests for this host name; repeatable
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Accept requests from web pages of this origin; repeatable
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// The maximum number of requests per second
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Do not record the calls of clients; runs are always recorded
    #[arg(long)]
    no_record: bool,
    /// Start a new file of recorded calls when one has this size in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    record_size: u64,
    /// Keep only this many full files of recorded calls [default: all]
    #[arg(long, value_name = "N")]
    record_keep: Option<usize>,
    /// Serve the skills of this tag in a registry, and follow it; repeatable
    ///
    /// Only these skills and those of `--path` are served. What the tag means is pulled as a whole, with the checks and
    /// signatures of `rep install`. While the registry is away, the last good state is served.
    #[arg(long, value_name = "oci://HOST/REPOSITORY:TAG")]
    from: Vec<String>,
    /// Seconds between two questions to a registry
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "from")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    refresh: u64,
    /// Refuse to start if a skill is invalid
    #[arg(long)]
    strict: bool,
    /// Log every request to stderr
    #[arg(long, value_name = "FORMAT", value_enum)]
    log: Option<LogFormatChoice>,
    /// Print a host's configuration that starts or reaches this server, then exit
    #[arg(long, value_name = "HOST")]
    print_config: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
}

/// The formats of the request log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormatChoice {
    /// One line per request
    Text,
    /// One JSON object per request
    Json,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(host) = &args.print_config {
        return print_client_config(args, host, output);
    }
    rep_sandbox::allocator::limit_heaps();
    let http = args.http.as_deref().map(|address| http_options(args, address, output)).transpose()?;
    let followed = Following::start(&args.from, args.library.places.paths.clone())?;
    let mut library = args.library.resolve_options()?;
    library.is_without_discovery = followed.is_some();
    // A client on stdio waits for the first answer, which needs the library only with `--strict` and `--from`.
    let needs_library = http.is_some() || args.strict || followed.is_some();
    let opened = if needs_library { Some(open_library(library.clone(), output)?) } else { None };
    if let Some(opened) = opened.as_ref().filter(|_| args.strict) {
        refuse_invalid_skills(&opened.catalog())?;
    }
    if args.no_sandbox {
        terminal::warn_unconfined(output);
    }
    init_log(log_options(args, output));
    let runtime = Arc::new(terminal::open_runtime(&args.library, args.workspace.as_deref(), args.no_sandbox)?);
    let recorder = begin_record(args, &runtime)?;
    let settings = load_serve_settings(Some(&args.library.project_folder()?), user_settings_file().ok().as_deref())?;
    let options = ServerOptions {
        runtime,
        allowed_runs: parse_allowed_runs(&args.allow_run),
        tool_naming: ToolNaming::parse(&args.tool_names).unwrap_or_default(),
        recorder: recorder.clone(),
        instructions_cache: opened.is_none().then(|| open_instructions_cache(args, &library, &settings)).flatten(),
        pinned_skills: settings.pinned,
        client_skills: settings.clients,
        version: env!("CARGO_PKG_VERSION"),
    };
    let load_failure = Arc::new(Mutex::new(None));
    let server = match opened {
        Some(library) => McpServer::new(library, options),
        None => McpServer::open(library_loader(library, output, &load_failure), options),
    };
    if let Some(mut followed) = followed {
        followed.publish(&server);
        if args.http.is_none() {
            // A client on stdio asks for the list once, so it must not be empty.
            followed.refresh_all(&server);
        }
        followed.follow(server.clone(), std::time::Duration::from_secs(args.refresh));
    }
    server.watch_library();
    let ended = if let Some(http) = http {
        let pages = rep_web::build_pages(&server, dashboard_options(args));
        serve_http(&server, &http, Some(pages), |url| output.print_always(&format!("listening on {url}")))
    } else {
        if std::io::stdin().is_terminal() {
            output.print_message(
                "waiting for a client on stdin; run `rep serve --print-config HOST` for a host's configuration",
            );
        }
        serve_stdio(&server)
    };
    let recorded = recorder.map_or(Ok(()), |recorder| finish_record(&recorder));
    if let Some(failure) = load_failure.lock().take() {
        return Err(failure);
    }
    ended.map_err(|error| Failure::unable("SERVE_FAILED", error.to_string()))?;
    recorded?;
    Ok(Exit::Fine)
}

/// Reads the library, and prints its notes.
fn open_library(options: LibraryOptions, output: &mut Output) -> Result<Arc<SkillLibrary>, Failure> {
    let library = Arc::new(SkillLibrary::open(options)?);
    for note in &library.catalog().notes {
        output.warn(note);
    }
    Ok(library)
}

/// Returns a function that reads the library on another thread. If that fails, the failure is stored.
fn library_loader(
    options: LibraryOptions,
    output: &Output,
    failed: &Arc<Mutex<Option<Failure>>>,
) -> impl FnOnce() -> Result<Arc<SkillLibrary>, String> + Send + use<> {
    let (is_quiet, is_verbose, failed) = (output.is_quiet, output.is_verbose, Arc::clone(failed));
    move || {
        open_library(options, &mut Output::new(ColorMode::Auto, is_quiet, is_verbose)).map_err(|failure| {
            let message = failure.message.clone();
            *failed.lock() = Some(failure);
            message
        })
    }
}

/// Returns the instructions that a server with the same options gave before, and how to store others.
fn open_instructions_cache(
    args: &Args,
    library: &LibraryOptions,
    settings: &ServeSettings,
) -> Option<InstructionsCache> {
    let folder = library.cache.as_ref()?.join("instructions");
    let key = format!("{} {library:?} {:?} {:?}", env!("CARGO_PKG_VERSION"), args.allow_run, settings.pinned);
    let name = sha256_digest(key.as_bytes()).trim_start_matches("sha256:").to_owned();
    let file = folder.join(format!("{name}.json"));
    let text = read_cached_instructions(&file);
    let save = move |library: &SkillLibrary, text: &str| {
        let places = library.watched_places();
        let cached =
            json!({ "version": 1, "stamp": stamp_skills(&places), "places": places, "text": text }).to_string();
        let made = rep_storage::files::create_containing_folder(&file).is_ok();
        // Without a cache, the first answer of the next server waits for the library.
        if made && rep_storage::atomic::write_cache_file(&file, cached.as_bytes()).is_ok() {
            let _ = rep_storage::files::prune_oldest(&folder, INSTRUCTIONS_MAX);
        }
    };
    Some(InstructionsCache { text, save: Arc::new(save) })
}

/// Reads cached instructions, if no skill was added, removed or edited since.
fn read_cached_instructions(file: &Path) -> Option<String> {
    let cached: Value = serde_json::from_slice(&read_bounded(file).ok()?).ok()?;
    let places: Vec<PathBuf> = serde_json::from_value(cached["places"].clone()).ok()?;
    let is_current = cached["version"] == 1 && cached["stamp"] == stamp_skills(&places);
    cached["text"].as_str().filter(|_| is_current).map(str::to_owned)
}

/// Prints the configuration for a host: the document on stdout, and what to do with it on stderr.
fn print_client_config(args: &Args, name: &str, output: &mut Output) -> Result<Exit, Failure> {
    // Other names of a host are accepted too.
    let id = KnownHost::find(name).map_or(name, |host| host.id);
    let host = ClientHost::find(id).ok_or_else(|| {
        let failure = Failure::unable("UNKNOWN_HOST", format!("no configuration is known for `{name}`"));
        let all: Vec<&str> = CLIENT_HOSTS.iter().map(|host| host.id).collect();
        failure.hint(format!("the hosts are: {}", all.join(", ")))
    })?;
    let rendered = host.render(&build_client_config(args));
    output.write_data(&rendered.document);
    for note in &rendered.notes {
        output.print_message(note);
    }
    Ok(Exit::Fine)
}

/// Refuses to serve a library with invalid skills, and names each of them.
fn refuse_invalid_skills(catalog: &Catalog) -> Result<(), Failure> {
    let invalid: Vec<&CatalogEntry> = catalog.list_invalid().collect();
    if invalid.is_empty() {
        return Ok(());
    }
    let skills = if invalid.len() == 1 { "1 skill is".to_owned() } else { format!("{} skills are", invalid.len()) };
    let failure = Failure::unable("VALIDATION_FAILED", format!("{skills} invalid, and `--strict` serves none of them"));
    let failure = failure.hints(invalid.iter().map(|entry| format!("`{}`: {}", entry.qualified_name, entry.reason)));
    Err(failure.hint("fix or remove them; `rep check` explains each violation"))
}

/// Returns the configuration with which a host starts or reaches this server.
fn build_client_config(args: &Args) -> ClientConfig {
    let mut arguments = vec!["serve".to_owned()];
    for path in &args.library.places.paths {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        arguments.extend(["--path".to_owned(), path.display().to_string()]);
    }
    for skill in &args.allow_run {
        arguments.push(if skill == "*" { "--allow-run".to_owned() } else { format!("--allow-run={skill}") });
    }
    if args.tool_names != "qualified" {
        arguments.extend(["--tool-names".to_owned(), args.tool_names.clone()]);
    }
    let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
    let url = args.http.as_deref().map(|address| format!("{scheme}://{address}/mcp"));
    let has_token = args.token_file.is_some() || !args.allow_run.is_empty() && !args.no_token;
    ClientConfig { url, has_token, arguments }
}

/// Returns what the dashboard shows about how to connect.
fn dashboard_options(args: &Args) -> DashboardOptions {
    let token_hint = match (&args.token_file, &args.oauth_issuer) {
        (Some(file), _) => {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            Some(format!("a token of `{}`", file.display()))
        }
        (None, Some(issuer)) => Some(format!("an access token of `{issuer}`")),
        (None, None) => {
            data_folder().ok().map(|folder| format!("the token in `{}`", folder.join(TOKEN_FILE).display()))
        }
    };
    DashboardOptions { arguments: build_client_config(args).arguments, token_hint }
}

/// Returns the skills whose tools clients can run.
fn parse_allowed_runs(named: &[String]) -> AllowedRuns {
    match named {
        [] => AllowedRuns::None,
        named if named.iter().any(|skill| skill == "*") => AllowedRuns::All,
        named => AllowedRuns::Only(named.iter().cloned().collect()),
    }
}

/// Starts recording calls, unless `--no-record` is given.
fn begin_record(args: &Args, runtime: &Runtime) -> Result<Option<Arc<CallRecorder>>, Failure> {
    if args.no_record {
        return Ok(None);
    }
    let place = args.http.as_deref().unwrap_or("stdio");
    let rotation = LogRotation { bytes_max: args.record_size.saturating_mul(1 << 20), files_max: args.record_keep };
    let recorder = runtime.record_calls(place, env!("CARGO_PKG_VERSION"), rotation, print_line);
    let recorder = recorder.map_err(|error| Failure::from(error).hint("pass --no-record to record only runs"))?;
    Ok(Some(Arc::new(recorder)))
}

/// Waits until every call is written to disk.
fn finish_record(recorder: &CallRecorder) -> Result<(), Failure> {
    match recorder.finish() {
        0 => Ok(()),
        count => {
            let words = if count == 1 { "call was" } else { "calls were" };
            let message = format!("{count} {words} answered but could not be recorded");
            Err(Failure::unable("UNRECORDED", message).hint("run `rep audit --calls` to see the earlier calls"))
        }
    }
}

/// Prints a line from any thread, even with `--quiet`.
fn print_line(text: &str) {
    Output::new(ColorMode::Auto, false, false).print_always(text);
}

/// Returns what to log to stderr.
fn log_options(args: &Args, output: &Output) -> LogOptions {
    let requests = match (args.log, output.is_verbose) {
        (Some(LogFormatChoice::Json), _) => Some(LogFormat::Json),
        (Some(LogFormatChoice::Text), _) | (None, true) => Some(LogFormat::Text),
        (None, false) => None,
    };
    LogOptions {
        requests,
        warnings: !output.is_quiet,
        write: Box::new(print_line),
        now: || rep_storage::time::format_timestamp(std::time::SystemTime::now()),
    }
}

/// Returns the address to listen on and the access rules.
fn http_options(args: &Args, given: &str, output: &mut Output) -> Result<HttpOptions, Failure> {
    let unknown = || {
        let failure = Failure::unable("USAGE", format!("`{given}` is not a valid address"));
        failure.hint("include the port: `127.0.0.1:8300`, `[::1]:8300` or `localhost:0`")
    };
    let address: SocketAddr = given.to_socket_addrs().map_err(|_| unknown())?.next().ok_or_else(unknown)?;
    let mut tokens = args.token_file.as_deref().map(read_tokens).transpose()?.unwrap_or_default();
    let oauth = match (&args.oauth_issuer, &args.oauth_audience) {
        (Some(issuer), Some(audience)) => Some(load_authorization(issuer, audience, args.oauth_keys.as_deref())?),
        _ => None,
    };
    let store = NamedTokenStore::open(&data_folder()?);
    let has_named = !args.no_token && !store.list()?.is_empty();
    if !address.ip().is_loopback() && tokens.is_empty() && oauth.is_none() && !has_named {
        let message = format!("`{given}` is reachable from other machines and needs authentication");
        let failure = Failure::refused("TOKEN_NEEDED", message);
        return Err(failure.hint("make a token with `rep token new NAME`, or pass --token-file FILE"));
    }
    // Anyone who can reach the address could run tools and confirm their own calls: other users of this machine,
    // and programs with access to the port.
    let is_guarded = !tokens.is_empty() || oauth.is_some() || args.no_token;
    let file = data_folder()?.join(TOKEN_FILE);
    if has_named {
        output.print_always("clients need one of your named tokens; see `rep token list`");
    }
    // Clients that were set up before the first named token keep theirs, on this machine.
    if !args.allow_run.is_empty() && !is_guarded && (!has_named || address.ip().is_loopback() && file.exists()) {
        tokens.push(load_or_create_token(&file)?);
        output.print_always(&format!("clients need the token in `{}`", file.display()));
    }
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificates), Some(key)) => {
            Some(TlsIdentity { certificates: read_bounded(certificates)?, key: read_bounded(key)? })
        }
        _ => None,
    };
    let (hosts, origins) = (args.allow_host.clone(), args.allow_origin.clone());
    let named_tokens = (has_named || !tokens.is_empty() || oauth.is_some()).then_some(store);
    let allow_other_users = args.no_token;
    Ok(HttpOptions { address, tokens, named_tokens, allow_other_users, oauth, hosts, origins, rate: args.rate, tls })
}

/// Loads the verifier for the authorization server's tokens, with its keys.
fn load_authorization(issuer: &str, audience: &str, keys: Option<&Path>) -> Result<OAuthVerifier, Failure> {
    let (source, from) = match keys {
        Some(file) => (keys_of_file(file), file.display().to_string()),
        None => (keys_of_issuer(issuer), issuer.to_owned()),
    };
    OAuthVerifier::new(issuer, audience, source).map_err(|reason| {
        let failure = Failure::unable("UNREADABLE", format!("could not load keys from `{from}`: {reason}"));
        failure.hint("pass --oauth-keys FILE to use a local JWKS")
    })
}

/// Keys from a file, which is read again on every refresh.
fn keys_of_file(file: &Path) -> JwksSource {
    let file = file.to_owned();
    Arc::new(move || read_bounded(&file).map_err(|failure| failure.message))
}

/// Keys from the issuer.
fn keys_of_issuer(issuer: &str) -> JwksSource {
    let issuer = issuer.to_owned();
    Arc::new(move || fetch_keys(&issuer).map_err(|error| error.to_string()))
}

/// Reads a small file.
fn read_bounded(file: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::unable("UNREADABLE", format!("could not read `{}`: {error}", file.display()));
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// Reads the tokens of a file: one per line, trimmed. Lines that start with `#` are ignored.
fn read_tokens(file: &Path) -> Result<Vec<String>, Failure> {
    let shown = file.display();
    let unreadable = |reason: String| Failure::unable("UNREADABLE", format!("could not read `{shown}`: {reason}"));
    let text = String::from_utf8(read_bounded(file)?).map_err(|_| unreadable("it is not text".to_owned()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<String> = lines.map(str::to_owned).collect();
    if tokens.is_empty() {
        return Err(unreadable("it contains no token".to_owned()).hint("write one token per line"));
    }
    if tokens.iter().any(|token| token.chars().count() < TOKEN_CHARS_MIN) {
        let failure = Failure::unable("TOKEN_SHORT", format!("`{shown}` contains a token that is too short"));
        return Err(failure.hint(format!("use random tokens of {TOKEN_CHARS_MIN} or more characters")));
    }
    Ok(tokens)
}
