//! From a plan to a grant at the command line: what the user denied, kept and approved, and asking him where he can be asked.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::PathBuf;
use std::time::SystemTime;

use rep_runtime::approval::{self, Approvals};
use rep_runtime::grant::{Answer, Question};
use rep_runtime::secret::{self, Keyring, Secret, Secrets};
use rep_runtime::{Consent, Context, Decision, Granted, Plan, Policy, Refusal, Trust};
use rep_serve::Asked;

use crate::exit::Failure;
use crate::library::{data_folder, user_settings_file};
use crate::output::Output;
use rep_library::settings;

/// The file approvals are remembered in.
pub(crate) fn approvals_file() -> Result<PathBuf, Failure> {
    Ok(data_folder()?.join("approvals.json"))
}

/// What was approved before; nothing where there is no home to remember it in.
pub(crate) fn approvals() -> Result<Approvals, Failure> {
    match approvals_file() {
        Ok(file) => Ok(Approvals::read(&file)?),
        Err(_) => Ok(Approvals::default()),
    }
}

/// What the user's own settings deny.
pub(crate) fn policy() -> Result<Policy, Failure> {
    match user_settings_file() {
        Ok(file) => Ok(settings::policy(&file)?),
        Err(_) => Ok(Policy::default()),
    }
}

/// The secrets a plan declares that are at hand: in the environment, else kept.
pub(crate) fn secrets(plan: &Plan) -> Result<BTreeMap<String, Secret>, Failure> {
    let kept = kept_secrets().ok();
    Ok(secret::gather(&plan.skill, &plan.secrets, |name| std::env::var(name).ok(), kept.as_ref())?)
}

/// The secrets the user keeps.
pub(crate) fn kept_secrets() -> Result<Secrets, Failure> {
    Ok(Secrets::at(&data_folder()?).with_keyring(keyring()))
}

/// The keyring of this session: where there is a bus to reach it by.
fn keyring() -> Option<Keyring> {
    let is_named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let is_there = || {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(std::path::PathBuf::from);
        folder.is_some_and(|folder| folder.join("bus").exists())
    };
    // Who types can unlock it; a program must not wait for somebody.
    (is_named || is_there()).then(|| Keyring { is_attended: io::stderr().is_terminal() })
}

/// Makes a grant of a plan, or says why not. Asks on a terminal; where there is none and nobody said `--yes`, refuses.
pub(crate) fn granted(
    plan: Plan,
    trust: Trust,
    secrets: &BTreeMap<String, Secret>,
    is_given: bool,
    output: &mut Output,
) -> Result<Result<Granted, Refusal>, Failure> {
    let consent = match is_given {
        true => Consent::Given,
        false if io::stdin().is_terminal() && io::stderr().is_terminal() => Consent::Ask,
        false => Consent::Nobody,
    };
    match decide(plan, trust, secrets, consent)? {
        Decision::Granted(granted) => Ok(Ok(granted)),
        Decision::Refused(refusal) => Ok(Err(refusal)),
        Decision::Ask(question) => ask(question, output),
    }
}

/// Makes a grant of a plan that a tool asks for. Nobody is asked in the middle of a run, and consent that came with the
/// call was for the tool that was called: this one needs none, was approved before, or is refused.
pub(crate) fn granted_unasked(
    plan: Plan,
    trust: Trust,
    secrets: &BTreeMap<String, Secret>,
) -> Result<Result<Granted, Refusal>, Failure> {
    let remedy = format!("`rep policy {}:{} --approve` approves it for calls by other tools", plan.skill, plan.tool);
    let decided = settled(decide(plan, trust, secrets, Consent::Nobody)?);
    Ok(decided.map_err(|refusal| match refusal.code {
        "CONFIRMATION_REQUIRED" => Refusal { remedy, ..refusal },
        _ => refusal,
    }))
}

/// Makes a grant of a plan that somebody agreed to in the process before this one, if it is that plan still.
pub(crate) fn granted_as_bound(
    plan: Plan,
    trust: Trust,
    secrets: &BTreeMap<String, Secret>,
    bound: &str,
) -> Result<Result<Granted, Refusal>, Failure> {
    if approval::binding(&plan) != bound {
        return Ok(Err(changed(&plan)));
    }
    Ok(settled(decide(plan, trust, secrets, Consent::Given)?))
}

/// What became of a plan that a client of the server asks for.
pub(crate) enum ByClient {
    /// It was decided.
    Decided(Box<Result<Granted, Refusal>>),
    /// Its user is to be asked: the question, and what an answer is bound to.
    Ask(String, String),
}

/// Makes a grant of a plan that a client of the server asks for. Its user is asked through it, and never on a terminal.
pub(crate) fn granted_by_client(
    plan: Plan,
    trust: Trust,
    secrets: &BTreeMap<String, Secret>,
    asked: &Asked,
) -> Result<ByClient, Failure> {
    let decided = |decided| ByClient::Decided(Box::new(decided));
    let consent = match asked {
        Asked::Agreed(bound) => return granted_as_bound(plan, trust, secrets, bound).map(decided),
        Asked::Nobody => Consent::Nobody,
        Asked::Possible => Consent::Ask,
    };
    Ok(match decide(plan, trust, secrets, consent)? {
        Decision::Ask(question) if *asked == Asked::Possible => {
            ByClient::Ask(question.text(), approval::binding(question.plan()))
        }
        decision => decided(settled(decision).map_err(|refusal| for_client(refusal, asked))),
    })
}

/// A refusal with a remedy that somebody far from a terminal can follow.
fn for_client(refusal: Refusal, asked: &Asked) -> Refusal {
    if *asked != Asked::Nobody || refusal.code != "CONFIRMATION_REQUIRED" {
        return refusal;
    }
    let remedy =
        "use a client that can ask its user (elicitation), or have the server's page open in a browser".to_owned();
    Refusal { remedy, ..refusal }
}

/// Makes a grant of a plan that nobody is asked about, because the command that was typed says it all.
pub(crate) fn granted_as_called(
    plan: Plan,
    trust: Trust,
    secrets: &BTreeMap<String, Secret>,
) -> Result<Result<Granted, Refusal>, Failure> {
    Ok(settled(decide(plan, trust, secrets, Consent::Given)?))
}

/// A skill that is no longer what was decided over.
pub(crate) fn changed(plan: &Plan) -> Refusal {
    Refusal {
        code: "SKILL_CHANGED",
        message: format!("`{}` changed since it was decided whether `{}` may run", plan.skill, plan.tool),
        remedy: "look at what changed, and call it again".to_owned(),
    }
}

/// A decision where nobody is asked.
fn settled(decision: Decision) -> Result<Granted, Refusal> {
    match decision {
        Decision::Granted(granted) => Ok(granted),
        Decision::Refused(refusal) => Err(refusal),
        Decision::Ask(question) => question.answer(Answer::No),
    }
}

fn decide(plan: Plan, trust: Trust, secrets: &BTreeMap<String, Secret>, consent: Consent) -> Result<Decision, Failure> {
    let approvals = approvals()?;
    let context = Context { trust, secrets: secrets.keys().cloned().collect(), consent, approvals: &approvals };
    Ok(rep_runtime::grant::decide(&policy()?, plan, &context))
}

/// Puts a question on the terminal. Anything but a clear yes is a no.
fn ask(question: Question, output: &mut Output) -> Result<Result<Granted, Refusal>, Failure> {
    output.insist(question.text().trim_end());
    output.insist("[y]es, [a]lways while nothing of this changes, [N]o:");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let answer = match line.trim().to_ascii_lowercase().as_str() {
        _ if read.is_err() => Answer::No,
        "y" | "yes" => Answer::Yes,
        "a" | "always" => {
            Approvals::remember(&approvals_file()?, question.plan(), SystemTime::now())?;
            Answer::Yes
        }
        _ => Answer::No,
    };
    Ok(question.answer(answer))
}

/// Asks for a line on the terminal; `None` where there is none.
pub(crate) fn line(question: &str, output: &mut Output) -> Option<String> {
    /// The longest answer.
    const BYTES_MAX: u64 = 64 << 10;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    output.insist(question);
    let mut line = String::new();
    io::stdin().lock().take(BYTES_MAX).read_line(&mut line).ok().filter(|read| *read > 0)?;
    Some(line.trim_end_matches(['\n', '\r']).to_owned())
}
