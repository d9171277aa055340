//! Hosts: what a URL names, which hosts are installers or package indexes that everybody knows, which are drops and
//! tunnels, and which belong to the skill by its own name.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::value::HOLE;

/// The host of a URL or of `host:port`, with the port unless it is the usual one, and the path.
pub(crate) fn parse_url(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.trim().split_once("://")?;
    let scheme =
        scheme.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '+').next().unwrap_or(scheme);
    if scheme.is_empty() && !text.starts_with(HOLE) {
        return None;
    }
    let end = rest.find(['/', '?', '#', '\\', '"', '\'', ' ', ')', '>', '`', ',']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next().unwrap_or("");
    let host = normalize_host(authority)?;
    Some((host, &rest[end..]))
}

/// The host as reports show it: lower case, without the usual ports. A host with an unknown part is `*`.
pub(crate) fn normalize_host(authority: &str) -> Option<String> {
    let authority = authority.trim_end_matches('.');
    if authority.is_empty() || authority.contains(HOLE) && !authority.contains('.') {
        return (!authority.is_empty()).then(|| "*".to_owned());
    }
    if authority.contains(['{', '}', '<', '>', '$', '%']) {
        return Some("*".to_owned());
    }
    let host = authority.to_ascii_lowercase().replace(HOLE, "*");
    let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(&host);
    let is_host = host.chars().all(|letter| letter.is_alphanumeric() || ".-_:[]*".contains(letter));
    is_host.then(|| host.to_owned())
}

/// Installers and indexes whose scripts are run by their own documentation, with the page that says so. Read on
/// 2026-11-18.
const KNOWN_INSTALLERS: [&str; 46] = [
    "get.rvm.io",
    "get.jetify.com",
    "dl.dagger.io",
    "install.duckdb.org",
    "static.rust-lang.org",
    "get-poetry.org",
    "sh.rustup.rs",
    "get.docker.com",
    "astral.sh",
    "bun.sh",
    "bun.com",
    "deno.land",
    "get.pnpm.io",
    "install.python-poetry.org",
    "deb.nodesource.com",
    "rpm.nodesource.com",
    "fnm.vercel.app",
    "get.volta.sh",
    "get.sdkman.io",
    "nixos.org",
    "install.determinate.systems",
    "ollama.com",
    "ollama.ai",
    "claude.ai",
    "cli.github.com",
    "get.helm.sh",
    "get.k3s.io",
    "sdk.cloud.google.com",
    "dl.google.com",
    "aka.ms",
    "awscli.amazonaws.com",
    "fly.io",
    "starship.rs",
    "mise.run",
    "mise.jdx.dev",
    "pyenv.run",
    "bootstrap.pypa.io",
    "pixi.sh",
    "micro.mamba.pm",
    "get.modular.com",
    "proto.moonrepo.dev",
    "cursor.com",
    "railway.app",
    "get.pulumi.com",
    "cli.sentry.dev",
    "packages.microsoft.com",
];

/// Installers that well-known projects keep on a code host.
const KNOWN_REPOSITORIES: [&str; 10] = [
    "nvm-sh/nvm",
    "homebrew/install",
    "ohmyzsh/ohmyzsh",
    "helm/helm",
    "golangci/golangci-lint",
    "junegunn/fzf",
    "pyenv/pyenv-installer",
    "rbenv/rbenv-installer",
    "conda-forge/miniforge",
    "asdf-vm/asdf",
];

/// The indexes that package managers use when nothing is said.
pub(crate) const PACKAGE_INDEXES: [&str; 12] = [
    "pypi.org",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "registry.npmmirror.com",
    "registry.yarnpkg.com",
    "npm.pkg.github.com",
    "download.pytorch.org",
    "pypi.nvidia.com",
    "pypi.tuna.tsinghua.edu.cn",
    "mirrors.aliyun.com",
    "test.pypi.org",
    "crates.io",
];

const CODE_HOSTS: [&str; 9] = [
    "github.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "cdn.jsdelivr.net",
    "huggingface.co",
    "gitee.com",
];

/// Services that anyone can drop data or code at without a name, or that lead into a private machine.
const DROP_SUFFIXES: [&str; 51] = [
    "webhook.site",
    "emailhook.site",
    "requestbin.com",
    "requestbin.net",
    "pipedream.net",
    "beeceptor.com",
    "requestcatcher.com",
    "hookb.in",
    "postb.in",
    "webhook.cool",
    "interact.sh",
    "oast.pro",
    "oast.live",
    "oast.fun",
    "oast.me",
    "oast.site",
    "oast.online",
    "oastify.com",
    "burpcollaborator.net",
    "dnslog.cn",
    "ceye.io",
    "canarytokens.com",
    "ngrok.io",
    "ngrok.app",
    "ngrok.dev",
    "ngrok-free.app",
    "ngrok-free.dev",
    "loca.lt",
    "localtunnel.me",
    "serveo.net",
    "bore.pub",
    "trycloudflare.com",
    "localhost.run",
    "lhr.life",
    "pinggy.link",
    "pastebin.com",
    "paste.ee",
    "pastes.io",
    "rentry.co",
    "rentry.org",
    "glot.io",
    "hastebin.com",
    "ghostbin.com",
    "termbin.com",
    "ix.io",
    "sprunge.us",
    "dpaste.com",
    "transfer.sh",
    "file.io",
    "0x0.st",
    "anonfiles.com",
];
const CHAT_HOOKS: [(&str, &str); 4] = [
    ("discord.com", "/api/webhooks"),
    ("discordapp.com", "/api/webhooks"),
    ("api.telegram.org", "/bot"),
    ("hooks.slack.com", "/services"),
];

/// What kind of host a URL leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostClass {
    /// This machine or a private network.
    Local,
    /// An installer or index that everybody knows.
    Known,
    /// A host that keeps everybody's code.
    CodeHost,
    /// A paste page, a webhook, a tunnel or an upload service.
    Drop,
    /// A public address without a name.
    Address,
    /// Not known at all, because it is computed.
    Unknown,
    /// Any other name.
    Other,
}

/// Classifies a URL.
pub(crate) fn classify_url(url: &str) -> HostClass {
    match parse_url(url) {
        Some((host, path)) => classify_host(&host, path),
        None => HostClass::Unknown,
    }
}

pub(crate) fn classify_host(host: &str, path: &str) -> HostClass {
    let name = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or(host) };
    if name == "*" || name.is_empty() {
        return HostClass::Unknown;
    }
    if let Some(class) = classify_address(name) {
        return class;
    }
    if is_below_any(name, &DROP_SUFFIXES) {
        return HostClass::Drop;
    }
    if CODE_HOSTS.contains(&name) {
        let lower = path.to_ascii_lowercase();
        let is_known =
            KNOWN_REPOSITORIES.iter().any(|repository| lower.trim_start_matches('/').starts_with(repository));
        return if is_known { HostClass::Known } else { HostClass::CodeHost };
    }
    if KNOWN_INSTALLERS.contains(&name) || PACKAGE_INDEXES.contains(&name) {
        return HostClass::Known;
    }
    HostClass::Other
}

pub(crate) fn is_chat_hook(url: &str) -> bool {
    let Some((host, path)) = parse_url(url) else { return false };
    CHAT_HOOKS.iter().any(|(known, start)| host == *known && path.starts_with(start))
}

fn is_below_any(name: &str, suffixes: &[&str]) -> bool {
    suffixes.iter().any(|suffix| name == *suffix || name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')))
}

fn classify_address(name: &str) -> Option<HostClass> {
    if name == "localhost" || name.ends_with(".local") || name.ends_with(".localhost") || name.ends_with(".internal") {
        return Some(HostClass::Local);
    }
    if name.starts_with('[') {
        return Some(if name.starts_with("[::1]") || name.starts_with("[fe80") || name.starts_with("[fd") {
            HostClass::Local
        } else {
            HostClass::Address
        });
    }
    if parse_odd_address(name).is_some() {
        return Some(HostClass::Address);
    }
    let octets: Vec<u8> = name.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match octets.as_slice() {
        [0 | 10 | 127, ..] | [192, 168, ..] | [169, 254, ..] | [172, 16..=31, ..] => Some(HostClass::Local),
        // Addresses that documentation uses stand for a public one.
        [_, _, _, _] => Some(HostClass::Address),
        _ => None,
    }
}

/// An address in a form that programs read and people do not: one number, or octal and hexadecimal parts.
fn parse_odd_address(name: &str) -> Option<Ipv4Addr> {
    let number = |text: &str| -> Option<u64> {
        let (digits, radix) = match text.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
            None => (text, 10),
        };
        u64::from_str_radix(digits, radix).ok()
    };
    let parts: Vec<u64> = name.split('.').map(number).collect::<Option<_>>()?;
    let is_plain = parts.len() == 4 && name.split('.').all(|part| part == "0" || !part.starts_with('0'));
    if is_plain {
        return None;
    }
    let value = match parts.as_slice() {
        // A small number is a port or a version.
        [whole] if *whole > 0x00ff_ffff => *whole,
        [a, b, c, d] if [a, b, c, d].iter().all(|part| **part < 256) => a << 24 | b << 16 | c << 8 | d,
        _ => return None,
    };
    u32::try_from(value).ok().map(Ipv4Addr::from)
}

/// The address that an IPv6 address in brackets contains.
fn parse_mapped_address(name: &str) -> Option<Ipv4Addr> {
    let inside = name.strip_prefix('[')?.split(']').next()?;
    inside.parse::<Ipv6Addr>().ok()?.to_ipv4_mapped()
}

fn without_port(host: &str) -> &str {
    if host.starts_with('[') { host } else { host.split(':').next().unwrap_or(host) }
}

/// Whether an address is written in a form that hides it.
pub(crate) fn is_odd_address(host: &str) -> bool {
    let name = without_port(host);
    parse_odd_address(name).or_else(|| parse_mapped_address(name)).is_some()
}

/// Whether a host is the service of a cloud that tells a machine its credentials.
pub(crate) fn is_metadata_service(host: &str) -> bool {
    let name = without_port(host);
    let address =
        name.parse::<Ipv4Addr>().ok().or_else(|| parse_odd_address(name)).or_else(|| parse_mapped_address(name));
    matches!(
        address.map(|address| address.octets()),
        Some([169, 254, 169, 254] | [169, 254, 170, 2] | [100, 100, 100, 200])
    ) || matches!(name, "metadata.google.internal" | "metadata.goog" | "[fd00:ec2::254]")
}

/// Brands whose hosts are most often imitated, and hosts that are their own. From public reports on phishing and on packages
/// with similar names, 2026-08.
const BRANDS: [(&str, &[&str]); 18] = [
    (
        "github",
        &["github.com", "githubusercontent.com", "github.io", "github.dev", "githubassets.com", "githubcopilot.com"],
    ),
    ("gitlab", &["gitlab.com", "gitlab.io"]),
    ("google", &["google.com", "googleapis.com", "google.dev", "googleusercontent.com"]),
    ("googleapis", &["googleapis.com"]),
    ("microsoft", &["microsoft.com", "microsoftonline.com"]),
    ("openai", &["openai.com", "openai.azure.com"]),
    ("anthropic", &["anthropic.com"]),
    ("huggingface", &["huggingface.co"]),
    ("telegram", &["telegram.org", "telegram.me"]),
    ("discord", &["discord.com", "discordapp.com", "discord.gg"]),
    ("dropbox", &["dropbox.com", "dropboxapi.com"]),
    ("paypal", &["paypal.com"]),
    ("coinbase", &["coinbase.com"]),
    ("binance", &["binance.com"]),
    ("metamask", &["metamask.io"]),
    ("cloudflare", &["cloudflare.com"]),
    ("npmjs", &["npmjs.com", "npmjs.org"]),
    ("python", &["python.org"]),
];

/// The brand that a host imitates: with one letter changed, or with letters of another script. Empty if the name is written
/// in code, so that it could be any.
pub(crate) fn lookalike(host: &str) -> Option<&'static str> {
    let name = without_port(host);
    if name.contains(['*', '[']) || classify_address(name).is_some() {
        return None;
    }
    let label = owner_label(name);
    if !label.is_ascii() || label.starts_with("xn--") {
        let plain: String = label.chars().map(latin_twin).collect();
        let found = BRANDS.iter().find(|(brand, _)| plain.contains(brand)).map(|(brand, _)| *brand);
        return found.or(label.starts_with("xn--").then_some(""));
    }
    let digits: String = label.chars().map(latin_twin).collect();
    BRANDS.iter().find_map(|(brand, own)| {
        let is_own =
            own.iter().any(|known| name == *known || name.strip_suffix(known).is_some_and(|rest| rest.ends_with('.')));
        let is_twin = digits == *brand && label != *brand
            || label.len() >= 6 && crate::packages::is_one_edit(brand.as_bytes(), label.as_bytes()) && label != *brand;
        (!is_own && is_twin).then_some(*brand)
    })
}

/// The Latin letter that another character looks like.
fn latin_twin(letter: char) -> char {
    match letter {
        '0' | 'о' | 'ο' | 'ө' => 'o',
        '1' | 'і' | 'ı' | 'ӏ' | 'ɩ' => 'i',
        '3' | 'е' | 'ё' | 'ҽ' => 'e',
        '5' | 'ѕ' => 's',
        'а' | 'ɑ' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'р' | 'ρ' => 'p',
        'у' | 'γ' => 'y',
        'х' => 'x',
        'һ' => 'h',
        'ԁ' => 'd',
        'ɡ' => 'g',
        'ո' => 'n',
        other => other,
    }
}

/// Suffixes below which everyone can have a name, so that the label before them counts.
const SHARED_SUFFIXES: [&str; 16] = [
    "github.io",
    "gitlab.io",
    "vercel.app",
    "netlify.app",
    "pages.dev",
    "workers.dev",
    "herokuapp.com",
    "onrender.com",
    "fly.dev",
    "web.app",
    "firebaseapp.com",
    "azurewebsites.net",
    "cloudfunctions.net",
    "co.uk",
    "com.cn",
    "com.au",
];

/// Words that say nothing about who owns a host.
const COMMON_WORDS: [&str; 40] = [
    "agent", "agents", "app", "apps", "cloud", "code", "data", "download", "example", "file", "files", "help",
    "helper", "host", "install", "internal", "local", "mail", "media", "network", "online", "open", "package",
    "secure", "server", "service", "services", "setup", "site", "skill", "skills", "test", "tool", "tools", "update",
    "updates", "user", "users", "website", "work",
];

/// What the author declares as identity: name, description and homepage. Headings and body do not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    name: String,
    words: Vec<String>,
    homes: Vec<String>,
    repositories: Vec<String>,
}

impl Identity {
    pub(crate) fn new(name: &str, description: &str, homepages: &[&str]) -> Self {
        let words = name
            .split(|letter: char| !letter.is_alphanumeric())
            .chain(description.split(|letter: char| !letter.is_alphanumeric()));
        let mut identity = Self {
            name: squash(name),
            words: words
                .map(str::to_lowercase)
                .filter(|word| word.len() >= 3 && !COMMON_WORDS.contains(&word.as_str()))
                .take(400)
                .collect(),
            ..Self::default()
        };
        for page in homepages {
            let Some((host, path)) = parse_url(page) else { continue };
            if CODE_HOSTS.contains(&host.as_str()) {
                identity.repositories.extend(owner_of(path).map(str::to_lowercase));
            } else if !is_below_any(&host, &DROP_SUFFIXES) {
                identity.homes.push(owner_label(&host));
            }
        }
        identity
    }

    /// Whether a URL belongs to what the skill says it is about.
    pub(crate) fn owns_url(&self, url: &str) -> bool {
        let Some((host, path)) = parse_url(url) else { return false };
        if CODE_HOSTS.contains(&host.as_str()) {
            let owner = owner_of(path).unwrap_or("").to_lowercase();
            let repository = path.trim_start_matches('/').split('/').nth(1).unwrap_or("").to_lowercase();
            return self.repositories.contains(&owner)
                || self.is_akin(&owner)
                || self.is_akin(repository.trim_end_matches(".git"));
        }
        self.owns_host(&host)
    }

    pub(crate) fn owns_host(&self, host: &str) -> bool {
        let name = host.split(':').next().unwrap_or(host);
        if is_below_any(name, &DROP_SUFFIXES) || classify_address(name) == Some(HostClass::Address) {
            return false;
        }
        let label = owner_label(name);
        self.homes.contains(&label) || self.is_akin(&label)
    }

    fn is_akin(&self, label: &str) -> bool {
        let label = squash(label);
        if label.len() < 3 || COMMON_WORDS.contains(&label.as_str()) {
            return false;
        }
        if self.name == label || self.words.contains(&label) {
            return true;
        }
        let is_part =
            |short: &str, long: &str| short.len() >= 4 && !COMMON_WORDS.contains(&short) && long.contains(short);
        is_part(&label, &self.name)
            || is_part(&self.name, &label)
            || self.words.iter().any(|word| {
                word.len() >= 4
                    && (label.starts_with(word.as_str()) || label.ends_with(word.as_str()))
                    && label.len() <= word.len() + 6
            })
    }
}

fn squash(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn owner_of(path: &str) -> Option<&str> {
    path.trim_start_matches('/').split('/').next().filter(|owner| !owner.is_empty())
}

/// The label of a host that its owner registered.
fn owner_label(host: &str) -> String {
    let host = host.split(':').next().unwrap_or(host);
    let shared = SHARED_SUFFIXES.iter().find_map(|suffix| host.strip_suffix(suffix)?.strip_suffix('.'));
    let registered = shared.unwrap_or_else(|| host.rsplit_once('.').map_or(host, |(rest, _)| rest));
    registered.rsplit('.').next().unwrap_or(registered).to_owned()
}

/// Whether the name of a secret names the owner of a host: `TELEGRAM_TOKEN` and `api.telegram.org`.
pub(crate) fn secret_belongs_to(secret: &str, host: &str) -> bool {
    let label = squash(&owner_label(host));
    let whole = squash(host);
    secret
        .split('_')
        .map(str::to_lowercase)
        .filter(|word| {
            word.len() >= 2
                && !matches!(
                    word.as_str(),
                    "api"
                        | "key"
                        | "token"
                        | "secret"
                        | "access"
                        | "app"
                        | "auth"
                        | "bot"
                        | "user"
                        | "id"
                        | "client"
                        | "service"
                        | "account"
                        | "url"
                        | "private"
                        | "password"
                        | "webhook"
                )
        })
        .any(|word| {
            label.starts_with(&word)
                || is_abbreviation(&word, &label)
                || (word.len() >= 3 && whole.contains(&word))
                || (label.len() >= 3 && word.starts_with(&label))
        })
}

/// Whether a short word has some of the letters of a name, in order and with the first one: `em` for `eastmoney`.
fn is_abbreviation(word: &str, name: &str) -> bool {
    const MEANT: [&str; 8] = ["aws", "ssh", "gcp", "gh", "db", "npm", "git", "pgp"];
    let mut letters = name.chars();
    word.len() <= 4
        && name.len() >= word.len() * 2
        && !MEANT.contains(&word)
        && word.chars().next() == name.chars().next()
        && word.chars().all(|letter| letters.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_give_hosts_and_classes() {
        assert_eq!(
            parse_url("https://A.example:443/x").map(|(host, path)| (host, path.to_owned())),
            Some(("a.example".to_owned(), "/x".to_owned()))
        );
        assert_eq!(parse_url("http://localhost:3000"), Some(("localhost:3000".to_owned(), "")));
        assert_eq!(parse_url("no url"), None);
        for odd in
            ["http://3405803783/x", "http://0xcb007107/x", "http://0313.0.0161.7/x", "http://[::ffff:203.0.113.7]/"]
        {
            assert_eq!(classify_url(odd), HostClass::Address, "{odd}");
            assert!(parse_url(odd).is_some_and(|(host, _)| is_odd_address(&host)), "{odd}");
        }
        for plain in ["203.0.113.7", "10.0.0.1:8080", "[2001:db8::7]", "localhost:3000", "a.example"] {
            assert!(!is_odd_address(plain), "{plain}");
        }
        for cloud in ["169.254.169.254", "[::ffff:a9fe:a9fe]", "2852039166", "metadata.google.internal"] {
            assert!(is_metadata_service(cloud), "{cloud}");
        }
        assert!(!is_metadata_service("169.254.1.1"));
        for (host, expected) in [
            ("githup.com", Some("github")),
            ("g1thub.com", Some("github")),
            ("api.anthropics.com", Some("anthropic")),
            ("gіthub.com", Some("github")),
            ("xn--gthub-n4a.com", Some("")),
            ("api.github.com", None),
            ("raw.githubusercontent.com", None),
            ("huggingface.co", None),
            ("python.example.com", None),
        ] {
            assert_eq!(lookalike(host), expected, "{host}");
        }
        assert_eq!(classify_url("http://203.0.113.7/x"), HostClass::Address);
        assert_eq!(classify_url("http://192.168.1.4/x"), HostClass::Local);
        assert_eq!(classify_url("https://abc.ngrok-free.dev"), HostClass::Drop);
        assert_eq!(classify_url("https://sh.rustup.rs"), HostClass::Known);
        assert_eq!(classify_url("https://raw.githubusercontent.com/nvm-sh/nvm/v1/install.sh"), HostClass::Known);
        assert_eq!(classify_url("https://raw.githubusercontent.com/someone/x/install.sh"), HostClass::CodeHost);
    }

    #[test]
    fn only_what_the_author_declares_is_identity() {
        let identity = Identity::new("acme-cli", "Deploys to Acme. Works with Docker.", &["https://acme.example/docs"]);
        assert!(identity.owns_url("https://get.acme.example/install.sh"));
        assert!(identity.owns_url("https://github.com/acme/cli"));
        assert!(identity.owns_url("https://get.docker.com"));
        assert!(!identity.owns_url("https://acme.collector.example/x"), "only the registered label counts");
        assert!(!identity.owns_url("https://203.0.113.7/acme"));
        assert!(secret_belongs_to("TELEGRAM_TOKEN", "api.telegram.org"));
        assert!(!secret_belongs_to("SSH_PRIVATE_KEY", "collect.example.com"));
    }
}
