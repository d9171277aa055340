//! Determines where packages come from, by querying the user's installer configuration.
#![expect(clippy::disallowed_methods, reason = "this module reads the installer's files")]

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::install::InstallError;
use crate::interpreter::{self, Interpreter, InterpreterSearch};
use crate::plan::{HostRule, ToolRuntime};

/// The maximum size of a certificate file.
const CERTIFICATES_BYTES_MAX: u64 = 8 << 20;

/// The sources of packages. An address may contain a password, so this is never printed;
/// [`PackageIndexSource::hosts`] may be.
#[derive(Clone, Default)]
pub struct PackageIndexSource {
    /// The addresses of indexes, in order of precedence.
    pub(crate) indexes: Vec<String>,
    /// Directories with packages.
    pub(crate) folders: Vec<PathBuf>,
    /// The hosts that packages come from.
    pub hosts: Vec<HostRule>,
    /// The certificates that the user trusts.
    pub(crate) certificates: Option<Vec<u8>>,
    /// The script of npm.
    pub(crate) npm: Option<PathBuf>,
}

/// Loads the user's configuration. `named` replaces the configured indexes; `hosts` are additional hosts.
pub fn load_index_source(
    runtime: ToolRuntime,
    interpreter: &Interpreter,
    search: &InterpreterSearch,
    named: &[String],
    hosts: &[HostRule],
) -> Result<PackageIndexSource, InstallError> {
    let mut source = match runtime {
        ToolRuntime::Python => load_pip_source(interpreter, search, named)?,
        ToolRuntime::Node => load_npm_source(interpreter, search, named)?,
        ToolRuntime::Bash => PackageIndexSource::default(),
    };
    for index in &source.indexes {
        source.hosts.push(parse_index_host(index)?);
    }
    source.hosts.extend(hosts.iter().cloned());
    source.hosts.sort();
    source.hosts.dedup();
    Ok(source)
}

/// Returns the host and port of an address. User information before the host may contain a password and is
/// not repeated.
fn parse_index_host(address: &str) -> Result<HostRule, InstallError> {
    let unusable =
        || InstallError::Index("an index must be an address that starts with `https://` or `http://`".to_owned());
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
        .ok_or_else(|| InstallError::Index(format!("`{place}` is not a valid index host")))
}

fn load_pip_source(
    interpreter: &Interpreter,
    search: &InterpreterSearch,
    named: &[String],
) -> Result<PackageIndexSource, InstallError> {
    let ask =
        |words: &[&str]| capture_interpreter_output(interpreter, words.iter().map(OsString::from).collect(), search);
    // Without pip nothing is configured; a venv brings its own pip.
    let listed = ask(&["-I", "-m", "pip", "config", "list"]).unwrap_or_default();
    let mut source = PackageIndexSource {
        indexes: named.to_vec(),
        folders: find_pip_setting(&listed, "find-links")
            .into_iter()
            .map(PathBuf::from)
            .filter(|path| path.is_dir())
            .collect(),
        certificates: find_pip_setting(&listed, "cert").first().and_then(|path| read_certificates(Path::new(path))),
        ..PackageIndexSource::default()
    };
    let is_offline = find_pip_setting(&listed, "no-index")
        .first()
        .is_some_and(|word| matches!(word.as_str(), "1" | "true" | "yes" | "on"));
    if !named.is_empty() || is_offline {
        return Ok(source);
    }
    source.indexes = find_pip_setting(&listed, "index-url");
    if source.indexes.is_empty() {
        let question = "from pip._internal.models.index import PyPI\nprint(PyPI.simple_url, PyPI.file_storage_domain)";
        let standard = ask(&["-I", "-c", question])?;
        let mut words = standard.split_whitespace().map(str::to_owned);
        source.indexes.extend(words.next());
        // The standard index stores its files on another host, which pip knows.
        source.hosts = words.filter_map(|word| HostRule::parse(&format!("{word}:443")).ok()).collect();
    }
    source.indexes.extend(find_pip_setting(&listed, "extra-index-url"));
    Ok(source)
}

/// Returns the values of a pip setting: `global.index-url='…'`. The environment takes precedence over
/// `install`, which takes precedence over the rest. List values are separated by white space, which pip
/// writes as `\n`.
fn find_pip_setting(listed: &str, name: &str) -> Vec<String> {
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

fn load_npm_source(
    interpreter: &Interpreter,
    search: &InterpreterSearch,
    named: &[String],
) -> Result<PackageIndexSource, InstallError> {
    let script = find_npm_script(interpreter, search)?;
    let ask = |key: &str| {
        let words = vec![script.clone().into(), "config".into(), "get".into(), key.into()];
        capture_interpreter_output(interpreter, words, search).map(|text| text.trim().to_owned())
    };
    let indexes = if named.is_empty() { vec![ask("registry")?] } else { named.to_vec() };
    if indexes.len() > 1 {
        return Err(InstallError::Index("npm supports only one registry".to_owned()));
    }
    let file = ask("cafile").ok().filter(|file| file.starts_with('/'));
    Ok(PackageIndexSource {
        indexes,
        certificates: file.and_then(|file| read_certificates(Path::new(&file))),
        npm: Some(script),
        ..PackageIndexSource::default()
    })
}

/// Finds the real script of npm: behind links on the path, or next to this node.
fn find_npm_script(interpreter: &Interpreter, search: &InterpreterSearch) -> Result<PathBuf, InstallError> {
    let linked =
        interpreter::find_on_path("npm", search).into_iter().next().and_then(|found| fs::canonicalize(found).ok());
    let prefix = interpreter.program.parent().and_then(Path::parent);
    let beside = prefix.map(|prefix| prefix.join("lib/node_modules/npm/bin/npm-cli.js"));
    let is_script = |path: &PathBuf| path.ends_with("bin/npm-cli.js") && path.is_file();
    let found = linked.into_iter().chain(beside).find(is_script);
    found.ok_or_else(|| InstallError::Installer("`npm` was not found on the PATH or next to node".to_owned()))
}

fn read_certificates(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(CERTIFICATES_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

fn capture_interpreter_output(
    interpreter: &Interpreter,
    words: Vec<OsString>,
    search: &InterpreterSearch,
) -> Result<String, InstallError> {
    let mut argv = vec![interpreter.argv0.clone()];
    argv.extend(words);
    let bytes = interpreter::capture_stdout(&interpreter.program, argv, search);
    let bytes = bytes.map_err(|error| InstallError::Installer(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{find_pip_setting, parse_index_host};

    #[test]
    fn what_the_environment_says_is_above_what_files_say() {
        let listed = ":env:.index-url='https://a.example/simple'\nglobal.index-url='https://b.example/simple'\nglobal.extra-index-url='https://c.example\\nhttps://d.example'\n";
        assert_eq!(find_pip_setting(listed, "index-url"), ["https://a.example/simple"]);
        assert_eq!(find_pip_setting(listed, "extra-index-url"), ["https://c.example", "https://d.example"]);
        assert_eq!(find_pip_setting("install.index-url='x'\nglobal.index-url='y'", "index-url"), ["x"]);
        assert!(find_pip_setting(listed, "cert").is_empty());
    }

    #[test]
    fn an_index_opens_its_host_and_port_and_no_more() {
        for (address, expected) in [
            ("https://a.example/simple", "a.example:443"),
            ("http://a.example:8080/simple", "a.example:8080"),
            ("https://user:p@ss@a.example/x", "a.example:443"),
        ] {
            assert_eq!(parse_index_host(address).unwrap().to_string(), expected);
        }
        for address in ["file:///x", "a.example", "https://*/", "https://", "https://a b/", "ftp://a.example"] {
            assert!(parse_index_host(address).is_err(), "{address}");
        }
        let told = parse_index_host("https://user:hidden@*/").unwrap_err().to_string();
        assert!(!told.contains("hidden"), "{told}");
    }
}
