//! Packages that are installed, programs that change the system, and what they turn off.

use crate::behaviour::{BehaviourKind, SignalKind};
use crate::hosts::{self, HostClass, PACKAGE_INDEXES};
use crate::programs::Call;
use crate::scanner::Scanner;
use crate::value::{HOLE, SharedValue};

/// Judges installers of packages, miners and schedulers.
pub(crate) fn judge_program(scanner: &mut Scanner<'_>, name: &str, call: &Call<'_>) {
    let words: Vec<&str> = call.arguments().iter().map(|word| word.first_text().unwrap_or("\u{fffc}")).collect();
    let has = |wanted: &[&str]| {
        words.first().is_some_and(|word| wanted.contains(word))
            || words.get(1).is_some_and(|word| wanted.contains(word))
    };
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let is_module = base == "python" && words.windows(2).any(|pair| pair[0] == "-m" && pair[1] == "pip");
    match base {
        "pip" | "uv" | "pipx" | "python"
            if (base != "python" || is_module)
                && words.iter().any(|word| matches!(*word, "install" | "add" | "pip")) =>
        {
            judge_install(scanner, "pip", &words, call);
        }
        "npm" | "pnpm" | "yarn" | "bun" if has(&["install", "i", "add", "ci", "exec", "dlx"]) => {
            judge_install(scanner, "npm", &words, call);
        }
        "npx" | "uvx" | "bunx" | "pnpx" => judge_runner(scanner, name, &words, call),
        "gem" | "cargo" | "go" | "brew" | "apt-get" | "apt" if has(&["install", "get"]) => {
            for word in packages_of(&words) {
                scanner.record(BehaviourKind::Install, word, call.place, call.span);
            }
        }
        "crontab" => judge_crontab(scanner, &words, call),
        _ => {}
    }
    let is_miner = matches!(name, "xmrig" | "xmr-stak" | "cpuminer" | "minerd" | "ethminer" | "t-rex" | "nbminer")
        || words.iter().any(|word| {
            word.contains("stratum+tcp://") || word.contains("stratum+ssl://") || *word == "--donate-level"
        });
    if is_miner {
        scanner.signal(SignalKind::MinerStarted, format!("`{name}` mines for a pool"), call.place, call.span);
    }
}

fn judge_crontab(scanner: &mut Scanner<'_>, words: &[&str], call: &Call<'_>) {
    if words.iter().any(|word| matches!(*word, "-l" | "-e")) {
        return;
    }
    scanner.record(BehaviourKind::Persist, "crontab", call.place, call.span);
    scanner.signal(SignalKind::PersistenceAdded, "changes the crontab", call.place, call.span);
}

fn packages_of<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    let is_package = |word: &&str| {
        !word.starts_with('-')
            && !word.contains('/')
            && !word.contains(HOLE)
            && !matches!(*word, "install" | "add" | "i" | "get" | "pip" | "ci" | "exec" | "dlx")
    };
    words.iter().copied().filter(move |word| is_package(word) || word.starts_with('@'))
}

fn judge_install(scanner: &mut Scanner<'_>, manager: &str, words: &[&str], call: &Call<'_>) {
    let mut skip = false;
    for (index, word) in words.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        let (option, joined) = word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
        let is_index = matches!(
            option,
            "--index-url" | "-i" | "--extra-index-url" | "--registry" | "--find-links" | "-f" | "--index"
        ) && !(manager == "npm" && option == "-i");
        if is_index {
            skip = joined.is_none();
            if let Some(url) = joined.or_else(|| words.get(index + 1).copied()) {
                judge_index(scanner, url, call);
            }
        } else if matches!(option, "-r" | "--requirement" | "-c" | "-e" | "--editable" | "-t" | "--target") {
            skip = true;
        } else if word.contains("://") && !word.starts_with('-') {
            judge_package_url(scanner, word, call);
        }
    }
    for package in packages_of(words) {
        let name = package_name(package);
        scanner.record(BehaviourKind::Install, name, call.place, call.span);
        judge_package_name(scanner, manager, name, call);
    }
}

fn judge_index(scanner: &mut Scanner<'_>, url: &str, call: &Call<'_>) {
    let Some((host, path)) = hosts::parse_url(url) else { return };
    let is_usual = PACKAGE_INDEXES.contains(&host.as_str()) || scanner.identity.owns_url(url);
    if !is_usual && !matches!(hosts::classify_host(&host, path), HostClass::Local | HostClass::Unknown) {
        scanner.signal(SignalKind::ForeignPackageIndex, format!("packages come from `{host}`"), call.place, call.span);
    }
}

fn judge_package_url(scanner: &mut Scanner<'_>, url: &str, call: &Call<'_>) {
    let url = url.trim_start_matches("git+");
    let class = hosts::classify_url(url);
    if matches!(class, HostClass::Other | HostClass::Address | HostClass::Drop) && !scanner.identity.owns_url(url) {
        let host = hosts::parse_url(url).map_or_else(|| "*".to_owned(), |(host, _)| host);
        scanner.signal(
            SignalKind::ForeignPackageIndex,
            format!("a package comes from `{host}`"),
            call.place,
            call.span,
        );
    }
}

fn package_name(word: &str) -> &str {
    let end = word[1.min(word.len())..].find(['@', '=', '<', '>', '~', '[', '!', ';']).map_or(word.len(), |at| at + 1);
    word.get(..end).unwrap_or(word)
}

/// The packages that names are most often made to look like. From the download counts of both indexes, 2026-08.
const WELL_KNOWN: [&str; 48] = [
    "requests",
    "numpy",
    "pandas",
    "urllib3",
    "boto3",
    "setuptools",
    "cryptography",
    "python-dateutil",
    "pyyaml",
    "certifi",
    "django",
    "flask",
    "fastapi",
    "pydantic",
    "pytest",
    "tensorflow",
    "matplotlib",
    "scikit-learn",
    "beautifulsoup4",
    "selenium",
    "openai",
    "anthropic",
    "langchain",
    "pillow",
    "sqlalchemy",
    "colorama",
    "playwright",
    "scipy",
    "lodash",
    "express",
    "react",
    "axios",
    "chalk",
    "commander",
    "webpack",
    "typescript",
    "electron",
    "dotenv",
    "mongoose",
    "puppeteer",
    "discord.js",
    "prettier",
    "eslint",
    "nodemon",
    "socket.io",
    "moment",
    "cross-env",
    "jsonwebtoken",
];
/// Names near a known one that are packages of their own.
const NEAR_BUT_HONEST: [&str; 10] =
    ["request", "panda", "preact", "moments", "reacts", "axios2", "request2", "scapy", "chalk2", "flasks"];

pub(crate) fn judge_package_name(scanner: &mut Scanner<'_>, manager: &str, name: &str, call: &Call<'_>) {
    if let Some(known) = lookalike(name) {
        scanner.signal(
            SignalKind::PackageNameLookalike,
            format!("the {manager} package `{name}` looks like `{known}`"),
            call.place,
            call.span,
        );
    }
}

/// The well-known package that a name looks like.
pub(crate) fn lookalike(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    if lower.len() < 5 || WELL_KNOWN.contains(&lower.as_str()) || NEAR_BUT_HONEST.contains(&lower.as_str()) {
        return None;
    }
    WELL_KNOWN.into_iter().find(|known| known.len() >= 5 && is_one_edit(known.as_bytes(), lower.as_bytes()))
}

/// Whether two names differ by one letter more, less, other, or by two letters swapped.
pub(crate) fn is_one_edit(one: &[u8], two: &[u8]) -> bool {
    if one.len().abs_diff(two.len()) > 1 {
        return false;
    }
    let start = one.iter().zip(two).take_while(|(left, right)| left == right).count();
    let (one, two) = (&one[start..], &two[start..]);
    let end = one.iter().rev().zip(two.iter().rev()).take_while(|(left, right)| left == right).count();
    let (one, two) = (&one[..one.len() - end.min(one.len())], &two[..two.len() - end.min(two.len())]);
    match (one, two) {
        ([a, b], [c, d]) => a == d && b == c,
        (one, two) => one.len() <= 1 && two.len() <= 1 && (one.len() + two.len()) > 0,
    }
}

fn judge_runner(scanner: &mut Scanner<'_>, name: &str, words: &[&str], call: &Call<'_>) {
    let Some(package) = words.iter().find(|word| !word.starts_with('-')) else { return };
    if package.contains(HOLE) {
        return;
    }
    let base = package_name(package);
    scanner.record(BehaviourKind::Install, base, call.place, call.span);
    judge_package_name(scanner, name, base, call);
    let is_forced = words.iter().any(|word| matches!(*word, "-y" | "--yes"));
    if is_forced && base == *package {
        scanner.signal(
            SignalKind::UnpinnedPackageRun,
            format!("`{name}` runs the newest `{base}` without asking"),
            call.place,
            call.span,
        );
    }
}

/// Judges `chmod` and `chown`.
pub(crate) fn judge_permissions(scanner: &mut Scanner<'_>, name: &str, operands: &[SharedValue], call: &Call<'_>) {
    let Some(mode) = operands.first().and_then(|mode| mode.first_text()) else { return };
    let target = operands.get(1).and_then(|target| target.first_text()).unwrap_or("\u{fffc}");
    let is_open = name == "chmod"
        && (matches!(mode, "777" | "0777" | "a+rwx" | "ugo+rwx")
            && (target.starts_with('/') || target.starts_with('~')));
    let is_setuid =
        name == "chmod" && (mode.contains("+s") || mode.len() == 4 && matches!(mode.as_bytes()[0], b'4' | b'6' | b'2'));
    let is_root = name == "chown" && mode.starts_with("root");
    if is_open || is_setuid || is_root {
        scanner.record(BehaviourKind::Privilege, name, call.place, call.span);
        scanner.signal(SignalKind::PrivilegeRaised, format!("`{name} {mode}` on `{target}`"), call.place, call.span);
    }
}

/// Judges programs that turn protections off, format disks, or open containers.
pub(crate) fn judge_system_program(scanner: &mut Scanner<'_>, name: &str, call: &Call<'_>) {
    let words: Vec<String> =
        call.arguments().iter().map(|word| word.first_text().unwrap_or("*").to_ascii_lowercase()).collect();
    let line = words.join(" ");
    let has = |word: &str| words.iter().any(|other| other == word);
    let disabled = match name {
        "set-mppreference" => line.contains("disable"),
        "add-mppreference" => line.contains("exclusion"),
        "setenforce" => has("0"),
        "spctl" => line.contains("master-disable") || line.contains("global-disable"),
        "xattr" => line.contains("com.apple.quarantine") || has("-c") || has("-cr"),
        "ufw" | "csrutil" => has("disable"),
        "iptables" | "nft" => has("-f") || has("flush") || line.contains("dnat") || line.contains("redirect"),
        "netsh" => line.contains("off"),
        "auditctl" => line.contains("-e 0"),
        "systemctl" | "service" | "sc" => {
            (has("stop") || has("disable") || has("delete"))
                && ["firewall", "auditd", "apparmor", "defend", "clamav", "falco", "crowdstrike", "windefend", "sense"]
                    .iter()
                    .any(|word| line.contains(word))
        }
        "history" => has("-c"),
        _ => false,
    };
    if disabled {
        scanner.signal(
            SignalKind::ProtectionDisabled,
            format!("`{name}` turns a protection off"),
            call.place,
            call.span,
        );
    }
    if !disabled {
        judge_start(scanner, name, &words, call);
    }
    judge_damage(scanner, name, &words, call);
}

/// Judges programs that arrange to start something again.
fn judge_start(scanner: &mut Scanner<'_>, name: &str, words: &[String], call: &Call<'_>) {
    let line = words.join(" ");
    let has = |word: &str| words.iter().any(|other| other == word);
    let is_service = name == "sc" && has("create")
        || name == "schtasks" && line.contains("/create")
        || matches!(name, "new-service" | "register-scheduledtask");
    let is_autostart = is_service
        || name == "reg" && has("add") && line.contains("currentversion\\run")
        || name == "launchctl" && (has("load") || has("bootstrap"))
        || name == "systemctl" && has("enable");
    if is_autostart {
        scanner.record(BehaviourKind::Persist, name, call.place, call.span);
        scanner.signal(
            SignalKind::PersistenceAdded,
            format!("`{name}` arranges to start it again"),
            call.place,
            call.span,
        );
    }
}

/// Judges programs that destroy data, open containers or try passwords.
fn judge_damage(scanner: &mut Scanner<'_>, name: &str, words: &[String], call: &Call<'_>) {
    let line = words.join(" ");
    let has = |word: &str| words.iter().any(|other| other == word);
    if name.starts_with("mkfs")
        || name == "wipefs"
        || name == "diskutil" && line.contains("erase")
        || name == "vssadmin" && has("delete")
    {
        scanner.signal(SignalKind::Destruction, format!("`{name}` destroys data"), call.place, call.span);
    }
    if matches!(name, "docker" | "podman")
        && (line.contains("--privileged")
            || line.contains("sys_admin")
            || line.contains("docker.sock")
            || line.contains("-v /:/")
            || line.contains("unconfined"))
    {
        scanner.record(BehaviourKind::Privilege, name, call.place, call.span);
        scanner.signal(
            SignalKind::PrivilegeRaised,
            format!("`{name}` starts a container that is not contained"),
            call.place,
            call.span,
        );
    }
    if name == "dscl" && line.contains("-authonly")
        || name == "security"
            && (line.contains("dump-keychain") || line.contains("find-generic-password") && line.contains("chrome"))
    {
        scanner.signal(
            SignalKind::CredentialsCollected,
            format!("`{name}` tries passwords of the system"),
            call.place,
            call.span,
        );
    }
}
