//! `rep policy`: what a skill's tools may do, and whether they may do one thing.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_check::render::visible;
use rep_runtime::access::{Answer, Asked, Ground};
use rep_runtime::approval::Approvals;
use rep_runtime::grant::How;
use rep_runtime::plan::{Permissions, SecretNeed, declared};
use rep_runtime::{Plan, Trust};
use serde_json::{Value, json};

use crate::call::{self, Called, tool_name};
use crate::consent;
use crate::exit::{Exit, Failure};
use crate::library::LibraryArgs;
use crate::output::Output;

/// Show what a skill's tools may do, or ask whether they may do one thing
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one flag")]
#[command(
    after_help = "What is not declared is denied. Patterns are relative to the workspace; links are resolved before they are matched. A skill reads its own folder and never changes it; to write is not to read. With a question the answer is in the exit code: 0 it may, 3 it may not.\n\nExamples:\n  rep policy csv-profile\n  rep policy csv-profile:profile --workspace ~/work\n  rep policy csv-profile --write output/report.csv\n  rep policy ./skills/fetch --connect api.example.org:443\n  rep policy csv-profile:profile --approve"
)]
pub(crate) struct Args {
    /// The skill, or one of its tools: a name, `package:name` or a path, and perhaps `:tool` behind it
    #[arg(value_name = "SKILL[:TOOL]")]
    skill: String,
    /// Whether this file may be read
    #[arg(long, value_name = "P", group = "question")]
    read: Option<String>,
    /// Whether this file may be made, changed or removed
    #[arg(long, value_name = "P", group = "question")]
    write: Option<String>,
    /// Whether this host may be reached [default port: 443]
    #[arg(long, value_name = "HOST[:PORT]", group = "question")]
    connect: Option<String>,
    /// Whether other programs may be started
    #[arg(long, group = "question")]
    spawn: bool,
    /// Approve the tool for good, as it is, so that it runs later where nobody can be asked; asks on a terminal
    #[arg(long, group = "question")]
    approve: bool,
    /// Take back every approval of this skill that was to last
    #[arg(long, group = "question")]
    forget: bool,
    /// The folder patterns are relative to [default: the project around this folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    #[command(flatten)]
    library: LibraryArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    policy(args, output).map_err(|failure| failure.json(args.json))
}

fn policy(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    if args.forget {
        // What was approved may be a program of a skill that has no tools.
        let name = match args.library.any(&args.skill, output) {
            Ok((catalog, index)) => catalog.entries[index].qualified_name.clone(),
            Err(_) => call::find(&args.library, &args.skill, output)?.name,
        };
        let count = Approvals::forget(&consent::approvals_file()?, &name)?;
        if args.json {
            output.json(&json!({ "forgotten": count }));
        }
        output.say(&format!("{count} approvals of `{name}` are taken back"));
        return Ok(Exit::Fine);
    }
    let called = call::find(&args.library, &args.skill, output)?;
    let workspace = call::workspace(args.workspace.as_deref(), &args.library)?;
    if args.approve {
        return approve(&called, &workspace, output);
    }
    let (permissions, _) = declared::permissions(called.front());
    let asked = asked(args);
    if let Some(asked) = asked {
        return answer(args, &called, &permissions, &workspace, &asked, output);
    }
    if args.json {
        output.json(&document(&called, &permissions, &workspace)?);
    } else {
        let text = words(&called, &permissions, &workspace)?;
        output.data(&text.lines().map(|line| format!("{}\n", visible(line))).collect::<String>());
    }
    Ok(Exit::Fine)
}

/// Remembers a tool as it is, if whoever sits at the terminal agrees.
fn approve(called: &Called, workspace: &Path, output: &mut Output) -> Result<Exit, Failure> {
    let Some(tool) = called.tool else {
        let failure = Failure::unable("USAGE", format!("`{}` is a skill, and approvals are for tools", called.name));
        return Err(failure.hint(format!("name one: `rep policy {}:TOOL --approve`", called.name)));
    };
    let plan = called
        .plan(tool, workspace, json!({}))
        .map_err(|error| Failure::unable("INVALID_TOOL", error.to_string()).hint(error.remedy))?;
    let secrets = consent::secrets(&plan)?;
    let granted = consent::granted(plan, called.trust.clone(), &secrets, false, output)??;
    if granted.how() == How::Unasked {
        output.say("it runs without a question already");
        return Ok(Exit::Fine);
    }
    Approvals::remember(&consent::approvals_file()?, granted.plan(), SystemTime::now())?;
    output.say(&format!("`{}:{}` is approved in `{}`", called.name, granted.plan().tool, workspace.display()));
    Ok(Exit::Fine)
}

fn asked(args: &Args) -> Option<Asked> {
    let read = args.read.clone().map(Asked::Read);
    let write = args.write.clone().map(Asked::Write);
    let connect = args.connect.clone().map(Asked::Connect);
    read.or(write).or(connect).or(args.spawn.then_some(Asked::Spawn))
}

fn answer(
    args: &Args,
    called: &Called,
    permissions: &Permissions,
    workspace: &Path,
    asked: &Asked,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let denied = |by: &str, why: String| Answer { is_allowed: false, by: by.to_owned(), why };
    let answer = match (&called.trust, consent::policy()?.objection(&called.name, permissions)) {
        (_, Some(why)) => denied("policy.deny", why),
        (Trust::Untrusted(reason), None) => denied("trust", format!("the skill is not trusted: {reason}")),
        (Trust::Trusted, None) => Ground { permissions, workspace, folder: &called.folder }.answer(asked),
    };
    if args.json {
        let value = json!({ "allowed": answer.is_allowed, "by": answer.by, "why": answer.why });
        output.json(&value);
    } else {
        let word = if answer.is_allowed { "yes" } else { "no" };
        output.data(&format!("{}\n", visible(&format!("{word}: {} ({})", answer.why, answer.by))));
    }
    Ok(if answer.is_allowed { Exit::Fine } else { Exit::Refused })
}

/// The tools in question: the one that was named, or all.
fn tools(called: &Called) -> Vec<usize> {
    called.tool.map_or_else(|| (0..called.tools.len()).collect(), |tool| vec![tool])
}

/// Where a secret would come from.
fn source(skill: &str, need: &SecretNeed) -> Result<&'static str, Failure> {
    if std::env::var_os(&need.name).is_some_and(|value| !value.is_empty()) {
        return Ok("environment");
    }
    let Ok(kept) = consent::kept_secrets() else { return Ok("missing") };
    let listed = kept.list()?.into_iter().find(|listed| listed.name == need.name);
    Ok(match listed {
        Some(listed) if listed.is_for(skill) => "kept",
        Some(_) => "kept for other skills",
        None => "missing",
    })
}

fn document(called: &Called, permissions: &Permissions, workspace: &Path) -> Result<Value, Failure> {
    let (_, ignored) = declared::permissions(called.front());
    let safety = declared::safety(called.front());
    let secrets = declared::secrets(called.front()).unwrap_or_default();
    let secrets = secrets.iter().map(|need| {
        let source = source(&called.name, need)?;
        Ok(json!({ "name": need.name, "optional": need.is_optional, "source": source }))
    });
    let approvals = consent::approvals()?;
    let tools = tools(called).into_iter().map(|index| {
        let name = tool_name(&called.tools[index]);
        match called.plan(index, workspace, json!({})) {
            Ok(plan) => json!({
                "name": name,
                "runtime": plan.work.tool().map(|tool| tool.runtime.name()),
                "entrypoint": plan.work.tool().map(|tool| &tool.entrypoint),
                "limits": plan.limits.to_json(),
                "asks": asks(&plan),
                "prompt": plan.prompt,
                "approved": approvals.holds(&plan),
            }),
            Err(error) => json!({
                "name": name,
                "error": { "field": error.field, "message": error.to_string(), "remedy": error.remedy },
            }),
        }
    });
    Ok(json!({
        "skill": called.name,
        "digest": called.digest,
        "trusted": called.trust == Trust::Trusted,
        "denied": consent::policy()?.objection(&called.name, permissions),
        "workspace": workspace.to_string_lossy(),
        "permissions": permissions.to_json(),
        "confirm": safety.confirm.iter().map(|risk| risk.name()).collect::<Vec<_>>(),
        "redact": { "secrets": safety.redaction.secrets, "pii": safety.redaction.pii },
        "secrets": secrets.collect::<Result<Vec<Value>, Failure>>()?,
        "ignored": ignored.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "tools": tools.collect::<Vec<Value>>(),
    }))
}

fn asks(plan: &Plan) -> Vec<&'static str> {
    plan.risks().iter().map(|risk| risk.name()).collect()
}

/// What a skill's tools may do in a workspace, in words: lines of one tool are indented below its name.
pub(crate) fn words(called: &Called, permissions: &Permissions, workspace: &Path) -> Result<String, Failure> {
    let mut text = format!("{}\n", called.name);
    let mut line = |words: String| text.push_str(&format!("  {words}\n"));
    if let Trust::Untrusted(reason) = &called.trust {
        line(format!("runs nothing: it is not trusted, {reason}"));
    }
    if let Some(objection) = consent::policy()?.objection(&called.name, permissions) {
        line(format!("runs nothing: {objection}"));
    }
    permissions
        .in_words(rep_runtime::plan::words::OWN, &workspace.display().to_string())
        .into_iter()
        .for_each(&mut line);
    for need in declared::secrets(called.front()).unwrap_or_default() {
        let place = match source(&called.name, &need)? {
            "environment" => "from the environment",
            "kept" => "from the secrets that are kept",
            "kept for other skills" => "which is kept for other skills alone",
            _ if need.is_optional => "which is not there, and not needed",
            _ => "which is not there, so that it does not run",
        };
        line(format!("gets the secret {}, {place}", need.name));
    }
    let (_, ignored) = declared::permissions(called.front());
    for ignored in &ignored {
        line(ignored.to_string());
    }
    let approvals = consent::approvals()?;
    for index in tools(called) {
        text.push_str(&format!("{}:{}\n", called.name, tool_name(&called.tools[index])));
        match called.plan(index, workspace, json!({})) {
            Ok(plan) => {
                let asks = asks(&plan);
                let words = match asks.as_slice() {
                    [] => "runs without a question".to_owned(),
                    _ if approvals.holds(&plan) => format!("was approved as it is ({})", asks.join(", ")),
                    _ => format!("asks before it runs ({})", asks.join(", ")),
                };
                let seconds = plan.limits.timeout_ms / 1000;
                text.push_str(&format!("  {words}, for {seconds} s at most\n"));
            }
            Err(error) => text.push_str(&format!("  does not run: {error}; {}\n", error.remedy)),
        }
    }
    Ok(text)
}
