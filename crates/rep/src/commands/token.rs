//! `rep token`: makes, lists and revokes the named tokens of the server.

use std::time::{Duration, SystemTime};

use rep_check::render::escape_invisible;
use rep_library::SkillSet;
use rep_runtime::named_token::{NamedToken, NamedTokenStore, NewToken, TokenError, TokenScope};
use rep_storage::time;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::library::data_folder;
use crate::output::Output;

/// Manage the named tokens for clients of `rep serve`
///
/// As soon as a named token exists, `rep serve --http` accepts only requests with a token. Your data directory has
/// only digests: a token is printed once, on stdout. A running server notices new and revoked tokens at once.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep token new laptop
  rep token new ci --scope run --skill 'csv-*' --expires 90d
  rep token new notes --tag writing
  rep token list
  rep token revoke laptop")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: TokenAction,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum TokenAction {
    /// Make a token and print it
    #[command(after_help = "\
Example:
  rep token new ci --scope run --skill 'csv-*' --expires 90d")]
    New {
        /// The name: letters, digits, `-`, `_` and `.`
        name: String,
        /// What the token allows; each scope includes those before it [default: read]
        #[arg(long = "scope", value_enum, value_name = "SCOPE", value_delimiter = ',')]
        scopes: Vec<ScopeChoice>,
        /// Show only the skills with names like this (`*` matches any letters); repeatable
        #[arg(long = "skill", value_name = "PATTERN")]
        skills: Vec<String>,
        /// Show only the skills with this tag, and those of `--skill`; repeatable
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        /// When the token expires: in `12h` or `90d`, or on a date [default: never]
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// List the tokens
    #[command(after_help = "\
Example:
  rep token list --json")]
    List,
    /// Revoke a token
    #[command(after_help = "\
Example:
  rep token revoke laptop")]
    Revoke {
        /// The name of the token
        name: String,
    },
}

/// The scopes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ScopeChoice {
    /// List, search, load and read skills
    Read,
    /// Also run the tools of skills, if the server allows it
    Run,
    /// Also see and decide what belongs to other clients
    Admin,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    manage_tokens(args, output).map_err(|failure| failure.json(args.json))
}

fn manage_tokens(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let store = NamedTokenStore::open(&data_folder()?);
    match &args.action {
        TokenAction::New { name, scopes, skills, tags, expires } => {
            let to_scope = |choice: &ScopeChoice| match choice {
                ScopeChoice::Read => TokenScope::Read,
                ScopeChoice::Run => TokenScope::Run,
                ScopeChoice::Admin => TokenScope::Admin,
            };
            let scope = scopes.iter().map(to_scope).max().unwrap_or(TokenScope::Read);
            let mut skills = skills.clone();
            skills.extend(tags.iter().map(|tag| format!("tag:{tag}")));
            SkillSet::parse(skills.iter().map(String::as_str)).map_err(|reason| Failure::unable("USAGE", reason))?;
            let now = SystemTime::now();
            let expires = expires.as_deref().map(|word| parse_expiry(word, now)).transpose()?;
            let (token, made) = store.create(&NewToken { name, scope, skills, expires }, now).map_err(token_failure)?;
            if args.json {
                let mut value = made.to_json();
                value["token"] = token.into();
                output.write_json(&value);
            } else {
                output.write_data(&format!("{token}\n"));
            }
            output.print_message(&format!("made {}; the token is not shown again", describe_token(&made, now)));
            Ok(Exit::Fine)
        }
        TokenAction::List => {
            let (tokens, now) = (store.list()?, SystemTime::now());
            if args.json {
                let listed: Vec<_> = tokens.iter().map(NamedToken::to_json).collect();
                output.write_json(&json!({ "tokens": listed }));
                return Ok(Exit::Fine);
            }
            for token in &tokens {
                output.write_data(&format!("{}\n", escape_invisible(&describe_token(token, now))));
            }
            output.print_message(&format!("{} {}", tokens.len(), if tokens.len() == 1 { "token" } else { "tokens" }));
            Ok(Exit::Fine)
        }
        TokenAction::Revoke { name } => {
            let is_revoked = store.revoke(name)?;
            if args.json {
                output.write_json(&json!({ "revoked": is_revoked.then_some(name) }));
            }
            let name = escape_invisible(name);
            if is_revoked {
                output.print_message(&format!("revoked `{name}`"));
                return Ok(Exit::Fine);
            }
            output.print_message(&format!("token `{name}` not found; `rep token list` lists the names"));
            Ok(Exit::Findings)
        }
    }
}

/// Parses when a token expires: an age from now, or a time in the future.
fn parse_expiry(word: &str, now: SystemTime) -> Result<SystemTime, Failure> {
    // An age is the time that has passed since then.
    let end = match time::parse(word, now).map(|at| now.duration_since(at)) {
        Some(Ok(since)) if word.ends_with(['s', 'm', 'h', 'd']) => now.checked_add(since),
        Some(Err(ahead)) => now.checked_add(ahead.duration()),
        _ => None,
    };
    end.filter(|end| *end > now + Duration::from_millis(1)).ok_or_else(|| {
        let failure = Failure::unable("USAGE", format!("`{}` is not a time in the future", escape_invisible(word)));
        failure.hint("write `12h`, `90d` or a date such as `2030-01-31`")
    })
}

/// Describes a token on one line.
fn describe_token(token: &NamedToken, now: SystemTime) -> String {
    let skills = if token.skills.is_empty() { "all skills".to_owned() } else { token.skills.join(", ") };
    let expires = match &token.expires {
        None => String::new(),
        Some(end) if token.is_expired(now) => format!("  expired {}", shorten_time(end)),
        Some(end) => format!("  until {}", shorten_time(end)),
    };
    format!("{}  {}  {skills}  since {}{expires}", token.name, token.scope.name(), shorten_time(&token.created))
}

/// Shortens a timestamp to minutes.
fn shorten_time(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}

fn token_failure(error: TokenError) -> Failure {
    match error {
        TokenError::Storage(error) => error.into(),
        error @ TokenError::Exists(_) => Failure::unable("TOKEN_EXISTS", error.to_string())
            .hint("revoke it with `rep token revoke`, or choose another name"),
        error => Failure::unable("USAGE", error.to_string()),
    }
}
