//! `rep install`: checks skills, installs them where hosts look, and records them.

use std::io::{self, BufRead, IsTerminal};
use std::time::SystemTime;

use anstyle::AnsiColor;
use rep_check::render::escape_invisible;
use rep_library::hosts::{DiscoveryHost, HOSTS};
use rep_model::truncate::truncate_chars;
use rep_package::capabilities::AddedCapability;
use rep_package::client::SourceClient;
use rep_package::install::{
    InstallOptions, InstallPlan, OfferedSkillErrors, PlannedSkill, check_offered_skill, install_skills, plan_install,
};
use rep_package::resolve::resolve_requirements;
use rep_package::scope::{ANY_HOST, resolve_host_ids};
use rep_package::signature::{SignerChange, accept_signature};
use rep_package::source::{OfferedSkill, SourceSkills, load_offered_skills};
use rep_package::{InstallScope, PackageErrorCode};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::install_scope::{ScopeArgs, open_watched_client};
use crate::output::Output;

/// Install skills where your hosts look for them
///
/// SOURCE is a directory, an archive, a git repository (`owner/repo[/path][@skill][#ref]` or its address), an `oci://`
/// reference or the URL of an index. Skills are checked, scanned and linked for each host; skills-lock.json records
/// them. If a new version needs more, you are asked. No code runs. Project skills need `rep trust`.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  rep install ../team-skills --dry-run
  rep install ../team-skills --skill csv-profile
  rep install glossary.skill --host claude-code --host codex
  rep install https://skills.example --skill glossary --scope personal --yes")]
pub(crate) struct Args {
    /// Where to get the skills; several sources are installed together
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    /// Install for this host; repeatable [default: the hosts in use]
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Install only this skill; repeatable
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Copy the skill to each host's directory instead of linking it
    #[arg(long)]
    copy: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Replace existing skills, and install skills with errors other than security errors
    #[arg(long)]
    force: bool,
    /// Install a skill even if its signer is another one than that of the installed version
    #[arg(long)]
    accept_signer: bool,
    /// Show what would be installed without installing it
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    install_from_source(args, output).map_err(|failure| failure.json(args.json))
}

fn install_from_source(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let is_asked = !args.yes && !args.json && !args.dry_run && io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut hosts = resolve_host_ids(&args.host)?;
    let client = open_watched_client(false, output)?;
    let SourceSkills { skills: mut offered, skipped: unreadable } = load_all_sources(args, &scope, &client, output)?;
    if is_asked && args.skill.is_empty() && offered.len() > 1 {
        offered = choose_skills(offered, output)?;
    }
    if hosts.is_empty() {
        hosts = scope.default_hosts();
        if is_asked {
            hosts = choose_hosts(hosts, &scope, output)?;
        }
    }
    let options = InstallOptions { hosts, copies: args.copy, is_forced: args.force };
    let now = SystemTime::now();
    let offered = resolve_requirements(offered, &scope, &client, &mut |note| output.warn(note))?;
    let count = offered.len() + unreadable;
    let mut signers = SignerQuestion { scope: &scope, client: &client, is_accepted: args.accept_signer, is_asked };
    let (offered, is_refused) = skip_unfit_skills(offered, &options, &mut signers, output)?;
    let skipped = count - offered.len();
    let planned = plan_install(&offered, &options, &scope, now)?;
    show_added_capabilities(&planned, output);
    let plan = if args.dry_run {
        planned
    } else {
        confirm_added_capabilities(args, &planned, is_asked, output)?;
        install_skills(&offered, &options, &scope, now)?
    };
    if !args.dry_run {
        for one in &offered {
            client.content().store(&one.files);
        }
    }
    report_plan(args, &plan, &scope, output);
    if !args.dry_run && !scope.is_personal && !args.json && plan.has_changes() {
        output.print_message("project skills are untrusted after installation; run `rep trust` to use them");
    }
    if skipped > 0 {
        output.print_message(&format!("{skipped} of {count} skills cannot be installed and were skipped"));
        return Ok(if is_refused { Exit::Refused } else { Exit::Findings });
    }
    Ok(Exit::Fine)
}

/// Says what new versions need and the installed ones do not.
fn show_added_capabilities(plan: &InstallPlan, output: &mut Output) {
    for skill in plan.skills.iter().filter(|skill| !skill.added.is_empty()) {
        output.print_message(&format!("the new version of {} also", escape_invisible(&skill.name)));
        for added in &skill.added {
            output.print_message(&escape_invisible(&format!("  {}", added.describe())));
        }
    }
}

/// Asks whether what new versions need in addition is wanted.
fn confirm_added_capabilities(
    args: &Args,
    plan: &InstallPlan,
    is_asked: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let names: Vec<&str> =
        plan.skills.iter().filter(|skill| !skill.added.is_empty()).map(|skill| skill.name.as_str()).collect();
    if names.is_empty() || args.yes {
        return Ok(());
    }
    if !is_asked {
        let message = format!("the new version of `{}` needs more than the installed one", names.join("`, `"));
        return Err(
            Failure::refused("CONFIRMATION_REQUIRED", message).hint("review it with --dry-run, then pass --yes")
        );
    }
    output.print_always("install it? [y/N]");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    if read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(stopped_failure()) }
}

/// Loads the skills of all sources. The same skill from two sources counts once.
fn load_all_sources(
    args: &Args,
    scope: &InstallScope,
    client: &SourceClient,
    output: &mut Output,
) -> Result<SourceSkills, Failure> {
    let mut all: Vec<OfferedSkill> = Vec::new();
    let mut skipped = 0;
    let is_single = args.sources.len() == 1;
    for source in &args.sources {
        // Of several sources, each named skill must be in one of them only.
        let wanted: &[String] = if is_single { &args.skill } else { &[] };
        let found = load_offered_skills(source, wanted, scope, client, &mut |note| output.warn(note))?;
        skipped += found.skipped;
        for one in found.skills.into_iter().filter(|one| args.skill.is_empty() || args.skill.contains(&one.name)) {
            match all.iter().find(|known| known.name == one.name) {
                None => all.push(one),
                Some(known) if known.has_same_files(&one) => {}
                Some(_) => {
                    let message = format!("two of the sources have different skills named `{}`", one.name);
                    return Err(Failure::unable("AMBIGUOUS", message).hint("install them separately"));
                }
            }
        }
    }
    match args.skill.iter().find(|name| !all.iter().any(|one| one.name == **name)) {
        Some(missing) => Err(Failure::unable("SKILL_NOT_FOUND", format!("no source has a skill `{missing}`"))),
        None => Ok(SourceSkills { skills: all, skipped }),
    }
}

/// Removes the skills of a set that cannot be installed, and reports each. If none can, that is the failure. Also returns
/// whether one was refused.
fn skip_unfit_skills(
    offered: Vec<OfferedSkill>,
    options: &InstallOptions,
    signers: &mut SignerQuestion<'_>,
    output: &mut Output,
) -> Result<(Vec<OfferedSkill>, bool), Failure> {
    let (mut fit, mut last, mut is_refused) = (Vec::new(), None, false);
    for mut one in offered {
        let accepted = signers.accept(&mut one, output);
        let checked = accepted.and_then(|()| check_offered(&one, options.is_forced, output));
        let planned = checked.and_then(|()| {
            let alone = plan_install(std::slice::from_ref(&one), options, signers.scope, SystemTime::now());
            alone.map(drop).map_err(Failure::from)
        });
        match planned {
            Ok(()) => fit.push(one),
            Err(failure) => {
                is_refused |= failure.exit == Exit::Refused;
                if let Some(before) = last.replace(failure) {
                    output.print_failure(&before);
                }
            }
        }
    }
    match last {
        Some(failure) if fit.is_empty() => Err(failure),
        Some(failure) => {
            output.print_failure(&failure);
            Ok((fit, is_refused))
        }
        None => Ok((fit, is_refused)),
    }
}

/// Whether a user accepts that a skill has another signer than before.
pub(super) struct SignerQuestion<'a> {
    pub(super) scope: &'a InstallScope,
    pub(super) client: &'a SourceClient,
    /// Whether the user accepted every change beforehand.
    pub(super) is_accepted: bool,
    /// Whether there is somebody to ask.
    pub(super) is_asked: bool,
}

impl SignerQuestion<'_> {
    /// Checks the signature of a skill. A change of the signer needs the user's consent.
    pub(super) fn accept(&mut self, one: &mut OfferedSkill, output: &mut Output) -> Result<(), Failure> {
        let before = self.scope.read_lock_file()?.get(&one.name);
        let change = if self.is_accepted { SignerChange::Accept } else { SignerChange::Refuse };
        let signature = match accept_signature(one, before.as_ref(), change, self.client) {
            Err(error) if error.code == PackageErrorCode::SignerChanged && self.is_asked => {
                output.print_always(&escape_invisible(&format!("{error}. Install it? [y/N]")));
                if !read_yes() {
                    return Err(error.into());
                }
                accept_signature(one, before.as_ref(), SignerChange::Accept, self.client)?
            }
            signature => signature?,
        };
        if let Some(signature) = signature {
            output.print_message(&escape_invisible(&format!("{}: {}", one.name, signature.describe())));
        }
        Ok(())
    }
}

fn read_yes() -> bool {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

/// Checks a skill before it is installed, and prints its errors.
pub(super) fn check_offered(one: &OfferedSkill, is_forced: bool, output: &mut Output) -> Result<(), Failure> {
    check_offered_skill(one, is_forced).map_err(|errors| report_refusal(&errors, output))
}

/// Prints the errors of a skill that is not installed.
fn report_refusal(errors: &OfferedSkillErrors, output: &mut Output) -> Failure {
    for finding in &errors.findings {
        let place = &finding.place;
        let text = format!("{}:{}: {} ({})", place.file, place.start.line, finding.message, finding.rule.name);
        output.print_labelled("error", AnsiColor::Red, &text);
        if !finding.help.is_empty() {
            output.print_labelled("help", AnsiColor::Cyan, &finding.help);
        }
    }
    Failure::findings("INVALID_SKILL", errors.to_string()).hint(if errors.has_security {
        "--force does not override security errors; fix the skill, or ask its author to"
    } else {
        "fix the skill, or pass --force to install it unchanged"
    })
}

/// Asks which entries of a list to use: numbers, or Enter for the marked ones.
fn choose_from_list(title: &str, lines: &[(String, bool)], output: &mut Output) -> Result<Vec<usize>, Failure> {
    output.print_always(title);
    for (at, (line, is_marked)) in lines.iter().enumerate() {
        output.print_always(&format!("  {}{:>3}  {line}", if *is_marked { "*" } else { " " }, at + 1));
    }
    output.print_always("numbers, `all`, Enter for the marked ones, or `q` to quit:");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let marked = || lines.iter().enumerate().filter(|(_, (_, is_marked))| *is_marked).map(|(at, _)| at).collect();
    match line.trim() {
        _ if !read.is_ok_and(|count| count > 0) => Err(stopped_failure()),
        "" => Ok(marked()),
        "all" => Ok((0..lines.len()).collect()),
        "q" => Err(stopped_failure()),
        words => {
            let number = |word: &str| word.parse::<usize>().ok().filter(|number| (1..=lines.len()).contains(number));
            let parts = words.split([' ', ',']).filter(|word| !word.is_empty());
            let chosen: Option<Vec<usize>> = parts.map(|word| number(word).map(|number| number - 1)).collect();
            chosen.ok_or_else(|| Failure::unable("USAGE", format!("`{words}` must be numbers from the list")))
        }
    }
}

fn stopped_failure() -> Failure {
    Failure { exit: Exit::Interrupted, ..Failure::unable("STOPPED", "nothing was installed") }
}

fn choose_skills(offered: Vec<OfferedSkill>, output: &mut Output) -> Result<Vec<OfferedSkill>, Failure> {
    let line = |one: &OfferedSkill| {
        (escape_invisible(&format!("{}  {}", one.name, truncate_chars(&one.description, 80))).into_owned(), true)
    };
    let lines: Vec<(String, bool)> = offered.iter().map(line).collect();
    let chosen = choose_from_list("which skills?", &lines, output)?;
    Ok(offered.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, one)| one).collect())
}

fn choose_hosts(default: Vec<String>, scope: &InstallScope, output: &mut Output) -> Result<Vec<String>, Failure> {
    let mut ids: Vec<&str> = vec![ANY_HOST];
    ids.extend(HOSTS.iter().map(|host| host.id));
    let line = |id: &&str| {
        let name = DiscoveryHost::find(id).map_or("any host that reads .agents/skills", |host| host.name);
        let folder = scope.host_folder(id).map(|folder| scope.display_path(&folder)).unwrap_or_default();
        (format!("{id:12}  {name:36}  {folder}"), default.iter().any(|known| known == id))
    };
    let lines: Vec<(String, bool)> = ids.iter().map(line).collect();
    let chosen = choose_from_list("for which hosts?", &lines, output)?;
    Ok(if chosen.is_empty() { default } else { chosen.into_iter().map(|at| ids[at].to_owned()).collect() })
}

/// Prints what was done, or what would be done.
fn report_plan(args: &Args, plan: &InstallPlan, scope: &InstallScope, output: &mut Output) {
    if args.json {
        let one = |skill: &PlannedSkill| {
            json!({
                "name": skill.name,
                "state": skill.state.as_str(),
                "digest": skill.installed.digest,
                "files": skill.installed.files.len(),
                "capabilities_added": skill.added.iter().map(AddedCapability::to_json).collect::<Vec<Value>>(),
                "hosts": skill.installed.hosts,
                "signature": skill.installed.signature.as_ref().map(|one| json!({
                    "kind": one.kind, "signer": one.signer, "subject": one.subject, "key": one.key,
                })),
                "places": skill.installed.places.iter().map(|put| json!({ "path": put.path, "link": put.link })).collect::<Vec<Value>>(),
            })
        };
        output.write_json(&json!({
            "scope": scope.name(),
            "lock": scope.lock_file.to_string_lossy(),
            "dry_run": args.dry_run,
            "removed": plan.removed,
            "skills": plan.skills.iter().map(one).collect::<Vec<Value>>(),
        }));
        return;
    }
    for name in &plan.removed {
        let verb = if args.dry_run { "would be removed" } else { "removed" };
        output.print_message(&format!("{name}: {verb}, because no installed skill requires it any longer"));
    }
    for skill in &plan.skills {
        for put in &skill.installed.places {
            let arrow = put.link.as_ref().map(|link| format!(" -> {link}")).unwrap_or_default();
            output.write_data(&escape_invisible(&format!("{}{arrow}", put.path)));
            output.write_data("\n");
        }
        let required = &skill.installed.required_by;
        let why = if required.is_empty() { String::new() } else { format!(", required by {}", required.join(", ")) };
        let state = skill.state.as_str();
        let state = if args.dry_run { format!("would be {state}") } else { state.to_owned() };
        output.print_message(&format!(
            "{}: {state}, {} files, {}{why}",
            skill.name,
            skill.installed.files.len(),
            skill.installed.hosts.join(", ")
        ));
    }
}
