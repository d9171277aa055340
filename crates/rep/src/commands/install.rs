//! `rep install`: puts skills where hosts look, whole, checked and recorded.

use std::io::{self, BufRead, IsTerminal};
use std::time::SystemTime;

use anstyle::AnsiColor;
use rep_check::render::visible;
use rep_library::hosts::{HOSTS, Host};
use rep_model::truncate::truncate_chars;
use rep_package::InstallScope;
use rep_package::install::{
    InstallOptions, InstallPlan, OfferedSkillErrors, PlannedSkill, check_offered, install as install_skills,
    plan_install,
};
use rep_package::scope::{ANY_HOST, host_ids};
use rep_package::source::{OfferedSkill, offered_skills};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::installed::ScopeArgs;
use crate::output::Output;

/// Install skills where hosts find them
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(clap::Args)]
#[command(
    after_help = "SOURCE is a folder (a skill, or a tree of skills), a .skill, .zip or .tar.gz, a git working copy, or an https address with an index of skills. A skill is stored once and the folders of other hosts lead there (--copy copies). Checks run first, nothing of a skill is executed, and skills-lock.json says what was installed; all of it happens, or none. Installing into a project does not trust: `rep trust` does.\n\nExamples:\n  rep install ./skills\n  rep install pdf.skill --host claude-code --host codex\n  rep install https://skills.example --skill pdf --scope personal --yes\n  rep install ../skills --dry-run"
)]
pub(crate) struct Args {
    /// Where the skills come from
    source: String,
    /// A host to install for; may be given several times [default: those there are signs of]
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Only this skill; may be given several times
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Copy into every host's folder instead of linking
    #[arg(long)]
    copy: bool,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
    /// Replace what is there, and install what has errors, unless they are about security
    #[arg(long)]
    force: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    install(args, output).map_err(|failure| failure.json(args.json))
}

fn install(args: &Args, output: &mut Output) -> Result<Exit, Failure> {
    let scope = args.scope.resolve()?;
    let is_asked = !args.yes && !args.json && !args.dry_run && io::stdin().is_terminal() && io::stderr().is_terminal();
    let mut hosts = host_ids(&args.host)?;
    let mut offered = offered_skills(&args.source, &args.skill, &scope, &mut |note| output.warn(note))?;
    if is_asked && args.skill.is_empty() && offered.len() > 1 {
        offered = choose_skills(offered, output)?;
    }
    if hosts.is_empty() {
        hosts = scope.default_hosts();
        if is_asked {
            hosts = choose_hosts(hosts, &scope, output)?;
        }
    }
    for one in &offered {
        check_offered(one, args.force).map_err(|errors| refused(&errors, output))?;
    }
    let options = InstallOptions { hosts, copies: args.copy, is_forced: args.force };
    if args.dry_run {
        tell(args, &plan_install(&offered, &options, &scope, SystemTime::now())?, &scope, output);
        return Ok(Exit::Fine);
    }
    let plan = install_skills(&offered, &options, &scope, SystemTime::now())?;
    tell(args, &plan, &scope, output);
    if !scope.is_personal && !args.json && plan.has_changes() {
        output.say("installed in the project is not trusted: `rep trust` lets rep disclose and run these skills");
    }
    Ok(Exit::Fine)
}

/// Shows the errors of a skill that is not installed.
fn refused(errors: &OfferedSkillErrors, output: &mut Output) -> Failure {
    for finding in &errors.findings {
        let place = &finding.place;
        let text = format!("{}:{}: {} ({})", place.file, place.start.line, finding.message, finding.rule.name);
        output.label("error", AnsiColor::Red, &text);
        if !finding.help.is_empty() {
            output.label("help", AnsiColor::Cyan, &finding.help);
        }
    }
    Failure::findings("INVALID_SKILL", errors.to_string()).hint(if errors.has_security {
        "errors about security are not lifted by --force; mend the skill, or ask its author"
    } else {
        "mend the skill, or --force installs it as it is"
    })
}

/// Asks which of a list are wanted: numbers, or Enter for those that are marked.
fn choose(title: &str, lines: &[(String, bool)], output: &mut Output) -> Result<Vec<usize>, Failure> {
    output.insist(title);
    for (at, (line, is_marked)) in lines.iter().enumerate() {
        output.insist(&format!("  {}{:>3}  {line}", if *is_marked { "*" } else { " " }, at + 1));
    }
    output.insist("numbers, `all`, or Enter for those with a star; `q` for none:");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let marked = || lines.iter().enumerate().filter(|(_, (_, is_marked))| *is_marked).map(|(at, _)| at).collect();
    match line.trim() {
        _ if !read.is_ok_and(|count| count > 0) => Err(stopped()),
        "" => Ok(marked()),
        "all" => Ok((0..lines.len()).collect()),
        "q" => Err(stopped()),
        words => {
            let number = |word: &str| word.parse::<usize>().ok().filter(|number| (1..=lines.len()).contains(number));
            let parts = words.split([' ', ',']).filter(|word| !word.is_empty());
            let chosen: Option<Vec<usize>> = parts.map(|word| number(word).map(|number| number - 1)).collect();
            chosen.ok_or_else(|| Failure::unable("USAGE", format!("`{words}` are no numbers of the list")))
        }
    }
}

fn stopped() -> Failure {
    Failure { exit: Exit::Interrupted, ..Failure::unable("STOPPED", "nothing was installed") }
}

fn choose_skills(offered: Vec<OfferedSkill>, output: &mut Output) -> Result<Vec<OfferedSkill>, Failure> {
    let line = |one: &OfferedSkill| {
        (visible(&format!("{}  {}", one.name, truncate_chars(&one.description, 80))).into_owned(), true)
    };
    let lines: Vec<(String, bool)> = offered.iter().map(line).collect();
    let chosen = choose("which skills?", &lines, output)?;
    Ok(offered.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, one)| one).collect())
}

fn choose_hosts(default: Vec<String>, scope: &InstallScope, output: &mut Output) -> Result<Vec<String>, Failure> {
    let mut ids: Vec<&str> = vec![ANY_HOST];
    ids.extend(HOSTS.iter().map(|host| host.id));
    let line = |id: &&str| {
        let name = Host::find(id).map_or("any host that reads .agents/skills", |host| host.name);
        let folder = scope.folder(id).map(|folder| scope.shown(&folder)).unwrap_or_default();
        (format!("{id:12}  {name:36}  {folder}"), default.iter().any(|known| known == id))
    };
    let lines: Vec<(String, bool)> = ids.iter().map(line).collect();
    let chosen = choose("for which hosts?", &lines, output)?;
    Ok(if chosen.is_empty() { default } else { chosen.into_iter().map(|at| ids[at].to_owned()).collect() })
}

/// Tells what was done, or would be.
fn tell(args: &Args, plan: &InstallPlan, scope: &InstallScope, output: &mut Output) {
    if args.json {
        let one = |skill: &PlannedSkill| {
            json!({
                "name": skill.name,
                "state": skill.state.as_str(),
                "digest": skill.installed.digest,
                "files": skill.installed.files.len(),
                "hosts": skill.installed.hosts,
                "places": skill.installed.places.iter().map(|put| json!({ "path": put.path, "link": put.link })).collect::<Vec<Value>>(),
            })
        };
        output.json(&json!({
            "scope": scope.name(),
            "lock": scope.lock_file.to_string_lossy(),
            "dry_run": args.dry_run,
            "skills": plan.skills.iter().map(one).collect::<Vec<Value>>(),
        }));
        return;
    }
    for skill in &plan.skills {
        for put in &skill.installed.places {
            let arrow = put.link.as_ref().map(|link| format!(" -> {link}")).unwrap_or_default();
            output.data(&visible(&format!("{}{arrow}", put.path)));
            output.data("\n");
        }
        let state = skill.state.as_str();
        let state = if args.dry_run { format!("would be {state}") } else { state.to_owned() };
        output.say(&format!(
            "{}: {state}, {} files, {}",
            skill.name,
            skill.installed.files.len(),
            skill.installed.hosts.join(", ")
        ));
    }
}
