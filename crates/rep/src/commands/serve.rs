//! `rep serve`: the library over MCP, on stdio or HTTP, and over HTTP a dashboard for people.

use std::io::{IsTerminal, Read};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rep_audit::CallRecorder;
use rep_library::Library;
use rep_mcp::{
    AllowedRuns, CLIENT_HOSTS, ClientConfig, HttpOptions, KeySource, LogFormat, LogOptions, McpServer, OAuth,
    ServerOptions, TlsIdentity, init_log, serve_http, serve_stdio,
};
use rep_net::issuer::fetch_keys;
use rep_runtime::Runtime;
use rep_runtime::token::token;

use crate::exit::{Exit, Failure};
use crate::library::{LibraryArgs, data_folder};
use crate::output::{Choice, Output};
use crate::terminal;

/// The largest file of tokens, certificates or a key, and the shortest token.
const FILE_BYTES_MAX: u64 = 256 << 10;
const TOKEN_CHARS_MIN: usize = 16;
/// Where is listened where nobody says.
const ADDRESS: &str = "127.0.0.1:8300";

/// Serve the skills over MCP, on stdio or HTTP
#[derive(clap::Args)]
#[command(
    after_help = "Both revisions of the protocol are spoken, 2025-11-25 and 2026-07-28, with the Skills extension; every file of every active skill is a resource, every skill people may call a prompt, and seven tools list, search, select, load, read, ask and convert. Skills that are not trusted, switched off or shadowed are not there. Changes are seen and told.\n\nOver HTTP a browser at the same address sees the library: search, every skill, what it costs, what runs and ran, tasks, the audit, and panels to try; /healthz, /readyz, /metrics and /.well-known/agent-skills/index.json are for programs.\n\nOnly this machine is answered unless --http names another address, which needs --token-file. Tools of skills run only with --allow-run, in the sandbox, and what needs consent asks the client's user; over HTTP a token is needed then, and made where none is named. Every call is recorded: `rep audit --calls`.\n\nExamples:\n  rep serve\n  rep serve --http 127.0.0.1:8300\n  rep serve --allow-run=csv-profile --path skills\n  rep serve --http 0.0.0.0:8300 --token-file tokens.txt --tls-cert cert.pem --tls-key key.pem\n  rep serve --print-config claude-code"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Serve one client on stdin and stdout, as is done where nothing is said
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve over HTTP on this address
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = ADDRESS)]
    http: Option<String>,
    /// Let clients run the tools of all skills, or of this one; repeatable
    #[arg(long, value_name = "SKILL", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    allow_run: Vec<String>,
    /// The folder tools run in, and patterns are relative to [default: the project around this folder]
    #[arg(long, value_name = "DIR", requires = "allow_run")]
    workspace: Option<PathBuf>,
    /// Run tools with nothing enforced: they can do whatever you can
    #[arg(long, requires = "allow_run")]
    no_sandbox: bool,
    /// Let in only who bears one of the tokens in this file, one a line
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// With --allow-run, let every user and program of this machine run tools, without the token that is made otherwise
    #[arg(long, requires = "http", requires = "allow_run", conflicts_with_all = ["token_file", "oauth_issuer"])]
    no_token: bool,
    /// Let in who bears a token of this OAuth authorization server, by its issuer identifier
    #[arg(long, value_name = "URL", requires = "http", requires = "oauth_audience")]
    oauth_issuer: Option<String>,
    /// This server as those tokens must name it
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    oauth_audience: Option<String>,
    /// The keys that sign them, as a JWKS file [default: those the issuer publishes]
    #[arg(long, value_name = "FILE", requires = "oauth_issuer")]
    oauth_keys: Option<PathBuf>,
    /// Speak TLS with the certificate in this file (PEM, with those above it)
    #[arg(long, value_name = "FILE", requires = "http", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name the server is reached by; repeatable
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// An origin whose pages may ask; repeatable
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// The most requests a second
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Keep no record of what clients ask; what they run is recorded all the same
    #[arg(long)]
    no_record: bool,
    /// Tell of every request on stderr, in lines for people or in JSON
    #[arg(long, value_name = "FORM", value_enum)]
    log: Option<LogWanted>,
    /// Print what a host needs to start this server, and end
    #[arg(long, value_name = "HOST")]
    print_config: Option<String>,
    #[command(flatten)]
    library: LibraryArgs,
}

/// How requests are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogWanted {
    /// A line each, for people
    Text,
    /// A JSON object each, for programs
    Json,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(host) = &args.print_config {
        let text = client_config(args).render(host).ok_or_else(|| {
            let failure = Failure::unable("UNKNOWN_HOST", format!("nothing is known of how `{host}` is set up"));
            failure.hint(format!("one of {}", CLIENT_HOSTS.join(", ")))
        })?;
        output.data(&text);
        return Ok(Exit::Fine);
    }
    let http = args.http.as_deref().map(|address| http_options(args, address, output)).transpose()?;
    let library = Arc::new(Library::open(args.library.options()?)?);
    for note in &library.catalog().notes {
        output.warn(note);
    }
    if args.no_sandbox {
        terminal::warn_unconfined(output);
    }
    init_log(log_options(args, output));
    let runtime = Arc::new(terminal::runtime(&args.library, args.workspace.as_deref(), args.no_sandbox)?);
    let recorder = begin_record(args, &runtime)?;
    let options = ServerOptions {
        runtime,
        allowed_runs: allowed_runs(&args.allow_run),
        recorder: recorder.clone(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let server = McpServer::new(library, options);
    server.watch();
    let ended = if let Some(http) = http {
        let pages = rep_web::pages(&server);
        serve_http(&server, &http, Some(pages), |url| output.insist(&format!("listening on {url}")))
    } else {
        if std::io::stdin().is_terminal() {
            output.say("waiting for a client on stdin; `rep serve --print-config HOST` prints what a host needs");
        }
        serve_stdio(&server)
    };
    let recorded = recorder.map_or(Ok(()), |recorder| finish_record(&recorder));
    ended.map_err(|error| Failure::unable("SERVE_FAILED", error.to_string()))?;
    recorded?;
    Ok(Exit::Fine)
}

/// How a host starts or reaches the server that the arguments describe.
fn client_config(args: &Args) -> ClientConfig {
    let mut arguments = vec!["serve".to_owned()];
    for path in &args.library.places.paths {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        arguments.extend(["--path".to_owned(), path.display().to_string()]);
    }
    for skill in &args.allow_run {
        arguments.push(if skill == "*" { "--allow-run".to_owned() } else { format!("--allow-run={skill}") });
    }
    let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
    let url = args.http.as_deref().map(|address| format!("{scheme}://{address}/mcp"));
    let has_token = args.token_file.is_some() || !args.allow_run.is_empty() && !args.no_token;
    ClientConfig { url, has_token, arguments }
}

/// Which skills clients may run tools of.
fn allowed_runs(named: &[String]) -> AllowedRuns {
    match named {
        [] => AllowedRuns::None,
        named if named.iter().any(|skill| skill == "*") => AllowedRuns::All,
        named => AllowedRuns::Only(named.iter().cloned().collect()),
    }
}

/// Begins the record of calls, unless it is switched off.
fn begin_record(args: &Args, runtime: &Runtime) -> Result<Option<Arc<CallRecorder>>, Failure> {
    if args.no_record {
        return Ok(None);
    }
    let place = args.http.as_deref().unwrap_or("stdio");
    let recorder = runtime.record_calls(place, env!("CARGO_PKG_VERSION"), insist);
    let recorder = recorder
        .map_err(|error| Failure::from(error).hint("every call is recorded; with --no-record only runs are"))?;
    Ok(Some(Arc::new(recorder)))
}

/// Waits until every call is on the disk.
fn finish_record(recorder: &CallRecorder) -> Result<(), Failure> {
    match recorder.finish() {
        0 => Ok(()),
        count => {
            let words = if count == 1 { "call was" } else { "calls were" };
            let message = format!("{count} {words} answered and could not be recorded");
            Err(Failure::unable("UNRECORDED", message).hint("`rep audit --calls` shows those before"))
        }
    }
}

/// Prints a line from any thread, even when asked to be quiet.
fn insist(text: &str) {
    Output::new(Choice::Auto, false, false).insist(text);
}

/// What is logged on stderr.
fn log_options(args: &Args, output: &Output) -> LogOptions {
    let requests = match (args.log, output.is_verbose) {
        (Some(LogWanted::Json), _) => Some(LogFormat::Json),
        (Some(LogWanted::Text), _) | (None, true) => Some(LogFormat::Text),
        (None, false) => None,
    };
    LogOptions {
        requests,
        warnings: !output.is_quiet,
        write: Box::new(insist),
        now: || rep_storage::time::text(std::time::SystemTime::now()),
    }
}

/// Where and for whom the server listens.
fn http_options(args: &Args, given: &str, output: &mut Output) -> Result<HttpOptions, Failure> {
    let unknown = || {
        let failure = Failure::unable("USAGE", format!("`{given}` is no address"));
        failure.hint("write it with its port: `127.0.0.1:8300`, `[::1]:8300`, `localhost:0`")
    };
    let address: SocketAddr = given.to_socket_addrs().map_err(|_| unknown())?.next().ok_or_else(unknown)?;
    let mut tokens = args.token_file.as_deref().map(tokens).transpose()?.unwrap_or_default();
    let oauth = match (&args.oauth_issuer, &args.oauth_audience) {
        (Some(issuer), Some(audience)) => Some(authorization(issuer, audience, args.oauth_keys.as_deref())?),
        _ => None,
    };
    if !address.ip().is_loopback() && tokens.is_empty() && oauth.is_none() {
        let message = format!("`{given}` is reached from other machines, and nothing says whom to let in");
        return Err(Failure::refused("TOKEN_NEEDED", message).hint("--token-file FILE names tokens, one a line"));
    }
    // Whoever reaches the address could run tools, and say yes to his own question: other users of this machine, and programs that
    // were let through to it.
    if !args.allow_run.is_empty() && tokens.is_empty() && oauth.is_none() && !args.no_token {
        let file = data_folder()?.join("serve.token");
        tokens.push(token(&file)?);
        output.insist(&format!("clients need the token in `{}`", file.display()));
    }
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificates), Some(key)) => {
            Some(TlsIdentity { certificates: bounded(certificates)?, key: bounded(key)? })
        }
        _ => None,
    };
    let (hosts, origins) = (args.allow_host.clone(), args.allow_origin.clone());
    Ok(HttpOptions { address, tokens, allow_other_users: args.no_token, oauth, hosts, origins, rate: args.rate, tls })
}

/// The authorization server whose tokens are let in, with its keys.
fn authorization(issuer: &str, audience: &str, keys: Option<&Path>) -> Result<OAuth, Failure> {
    let (source, from) = match keys {
        Some(file) => (keys_of_file(file), file.display().to_string()),
        None => (keys_of_issuer(issuer), issuer.to_owned()),
    };
    OAuth::new(issuer, audience, source).map_err(|reason| {
        let failure = Failure::unable("UNREADABLE", format!("no keys from `{from}`: {reason}"));
        failure.hint("--oauth-keys FILE takes a JWKS of your own")
    })
}

/// Keys from a file, which is read again when they are asked for again.
fn keys_of_file(file: &Path) -> KeySource {
    let file = file.to_owned();
    Arc::new(move || bounded(&file).map_err(|failure| failure.message))
}

/// Keys from the issuer itself.
fn keys_of_issuer(issuer: &str) -> KeySource {
    let issuer = issuer.to_owned();
    Arc::new(move || fetch_keys(&issuer).map_err(|error| error.to_string()))
}

/// The bytes of a small file.
fn bounded(file: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::unable("UNREADABLE", format!("could not read `{}`: {error}", file.display()));
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// The tokens of a file: one a line, without blanks at the ends; lines that begin with `#` are left out.
fn tokens(file: &Path) -> Result<Vec<String>, Failure> {
    let shown = file.display();
    let unreadable = |reason: String| Failure::unable("UNREADABLE", format!("could not read `{shown}`: {reason}"));
    let text = String::from_utf8(bounded(file)?).map_err(|_| unreadable("it is not text".to_owned()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<String> = lines.map(str::to_owned).collect();
    if tokens.is_empty() {
        return Err(unreadable("it holds no token".to_owned()).hint("write one a line"));
    }
    if tokens.iter().any(|token| token.chars().count() < TOKEN_CHARS_MIN) {
        let failure = Failure::unable("TOKEN_SHORT", format!("`{shown}` holds a token that can be guessed"));
        return Err(failure.hint(format!("a token has {TOKEN_CHARS_MIN} or more characters that nobody knows")));
    }
    Ok(tokens)
}
