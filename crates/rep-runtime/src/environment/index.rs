//! Where packages come from: what the user's own configuration of his installer says, asked at run time.
#![expect(clippy::disallowed_methods, reason = "this room looks at the installer's files")]

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::install::InstallError;
use crate::interpreter::{self, Interpreter, Search};
use crate::plan::{HostRule, ToolRuntime};

/// The largest file of certificates.
const CERTIFICATES_BYTES_MAX: u64 = 8 << 20;

/// Where packages come from. An address may hold a password, so this is never printed; [`Source::hosts`] may be.
#[derive(Clone, Default)]
pub struct Source {
    /// Addresses of indexes, the first one first.
    pub(crate) indexes: Vec<String>,
    /// Folders with packages.
    pub(crate) folders: Vec<PathBuf>,
    /// The hosts packages come from.
    pub hosts: Vec<HostRule>,
    /// The certificates the user believes.
    pub(crate) certificates: Option<Vec<u8>>,
    /// The script of npm.
    pub(crate) npm: Option<PathBuf>,
}

/// Reads the user's configuration. `named` are indexes that take the place of the configured ones, `hosts` more hosts.
pub fn configured(
    runtime: ToolRuntime,
    interpreter: &Interpreter,
    search: &Search,
    named: &[String],
    hosts: &[HostRule],
) -> Result<Source, InstallError> {
    let mut source = match runtime {
        ToolRuntime::Python => pip(interpreter, search, named)?,
        ToolRuntime::Node => npm(interpreter, search, named)?,
        ToolRuntime::Bash => Source::default(),
    };
    for index in &source.indexes {
        source.hosts.push(host(index)?);
    }
    source.hosts.extend(hosts.iter().cloned());
    source.hosts.sort();
    source.hosts.dedup();
    Ok(source)
}

/// The host and port an address leads to. What stands before the host is a password and not repeated.
fn host(address: &str) -> Result<HostRule, InstallError> {
    let unusable = || InstallError::Index("an index is an address that begins with `https://` or `http://`".to_owned());
    let (scheme, rest) = address.split_once("://").ok_or_else(unusable)?;
    if !matches!(scheme, "https" | "http")
        || address.chars().any(|letter| letter.is_whitespace() || letter.is_control())
    {
        return Err(unusable());
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit('@').next().unwrap_or_default();
    HostRule::parse(&format!("{scheme}://{place}"))
        .ok()
        .filter(|rule| !rule.host.contains('*'))
        .ok_or_else(|| InstallError::Index(format!("`{place}` is no host an index can be at")))
}

fn pip(interpreter: &Interpreter, search: &Search, named: &[String]) -> Result<Source, InstallError> {
    let ask = |words: &[&str]| said(interpreter, words.iter().map(OsString::from).collect(), search);
    // Without pip there is no configuration; a venv brings its own.
    let listed = ask(&["-I", "-m", "pip", "config", "list"]).unwrap_or_default();
    let mut source = Source {
        indexes: named.to_vec(),
        folders: setting(&listed, "find-links").into_iter().map(PathBuf::from).filter(|path| path.is_dir()).collect(),
        certificates: setting(&listed, "cert").first().and_then(|path| certificates(Path::new(path))),
        ..Source::default()
    };
    let is_offline =
        setting(&listed, "no-index").first().is_some_and(|word| matches!(word.as_str(), "1" | "true" | "yes" | "on"));
    if !named.is_empty() || is_offline {
        return Ok(source);
    }
    source.indexes = setting(&listed, "index-url");
    if source.indexes.is_empty() {
        let question = "from pip._internal.models.index import PyPI\nprint(PyPI.simple_url, PyPI.file_storage_domain)";
        let standard = ask(&["-I", "-c", question])?;
        let mut words = standard.split_whitespace().map(str::to_owned);
        source.indexes.extend(words.next());
        // The standard index keeps its files elsewhere, and pip knows where.
        source.hosts = words.filter_map(|word| HostRule::parse(&format!("{word}:443")).ok()).collect();
    }
    source.indexes.extend(setting(&listed, "extra-index-url"));
    Ok(source)
}

/// The values of one setting of pip: `global.index-url='…'`. What the environment says is above what `install` says, and that
/// above the rest; a list is white space between values, which pip writes as `\n`.
fn setting(listed: &str, name: &str) -> Vec<String> {
    let rank = |section: &str| match section {
        ":env:" => 2,
        "install" => 1,
        _ => 0,
    };
    let lines = listed.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let (section, key) = key.rsplit_once('.')?;
        (key == name).then_some((rank(section), value.trim()))
    });
    let best = lines.max_by_key(|(rank, _)| *rank).map_or("", |(_, value)| value);
    let plain = best.trim_matches(['\'', '"']).replace("\\n", " ");
    plain.split_whitespace().map(str::to_owned).collect()
}

fn npm(interpreter: &Interpreter, search: &Search, named: &[String]) -> Result<Source, InstallError> {
    let script = npm_script(interpreter, search)?;
    let ask = |key: &str| {
        let words = vec![script.clone().into(), "config".into(), "get".into(), key.into()];
        said(interpreter, words, search).map(|text| text.trim().to_owned())
    };
    let indexes = if named.is_empty() { vec![ask("registry")?] } else { named.to_vec() };
    if indexes.len() > 1 {
        return Err(InstallError::Index("npm has one registry at a time".to_owned()));
    }
    let file = ask("cafile").ok().filter(|file| file.starts_with('/'));
    Ok(Source {
        indexes,
        certificates: file.and_then(|file| certificates(Path::new(&file))),
        npm: Some(script),
        ..Source::default()
    })
}

/// The real script of npm: behind links on the path, or beside this node.
fn npm_script(interpreter: &Interpreter, search: &Search) -> Result<PathBuf, InstallError> {
    let linked = interpreter::on_path("npm", search).into_iter().next().and_then(|found| fs::canonicalize(found).ok());
    let prefix = interpreter.program.parent().and_then(Path::parent);
    let beside = prefix.map(|prefix| prefix.join("lib/node_modules/npm/bin/npm-cli.js"));
    let is_script = |path: &PathBuf| path.ends_with("bin/npm-cli.js") && path.is_file();
    let found = linked.into_iter().chain(beside).find(is_script);
    found.ok_or_else(|| InstallError::Installer("there is no `npm` on the PATH or beside node".to_owned()))
}

fn certificates(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(CERTIFICATES_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

fn said(interpreter: &Interpreter, words: Vec<OsString>, search: &Search) -> Result<String, InstallError> {
    let mut argv = vec![interpreter.argv0.clone()];
    argv.extend(words);
    let bytes = interpreter::said(&interpreter.program, argv, search);
    let bytes = bytes.map_err(|error| InstallError::Installer(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{host, setting};

    #[test]
    fn what_the_environment_says_is_above_what_files_say() {
        let listed = ":env:.index-url='https://a.example/simple'\nglobal.index-url='https://b.example/simple'\nglobal.extra-index-url='https://c.example\\nhttps://d.example'\n";
        assert_eq!(setting(listed, "index-url"), ["https://a.example/simple"]);
        assert_eq!(setting(listed, "extra-index-url"), ["https://c.example", "https://d.example"]);
        assert_eq!(setting("install.index-url='x'\nglobal.index-url='y'", "index-url"), ["x"]);
        assert!(setting(listed, "cert").is_empty());
    }

    #[test]
    fn an_index_opens_its_host_and_port_and_no_more() {
        for (address, expected) in [
            ("https://a.example/simple", "a.example:443"),
            ("http://a.example:8080/simple", "a.example:8080"),
            ("https://user:p@ss@a.example/x", "a.example:443"),
        ] {
            assert_eq!(host(address).unwrap().to_string(), expected);
        }
        for address in ["file:///x", "a.example", "https://*/", "https://", "https://a b/", "ftp://a.example"] {
            assert!(host(address).is_err(), "{address}");
        }
        let told = host("https://user:hidden@*/").unwrap_err().to_string();
        assert!(!told.contains("hidden"), "{told}");
    }
}
