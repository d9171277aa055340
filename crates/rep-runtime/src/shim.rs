//! How each runtime is asked to run a tool: the words it is started with, and the file that calls the handler.
//!
//! Python and node get a shim that reads the arguments, calls the function and writes the result apart from whatever
//! the tool prints. A bash tool is its own shim: JSON on stdin, JSON on stdout (Universal 2.1 §5).

use std::ffi::OsString;
use std::path::Path;

use crate::interpreter::Interpreter;
use crate::plan::ToolRuntime;
use rep_sandbox::GIVEN_FOLDER;

/// How to start a tool.
pub(crate) struct Start {
    pub(crate) argv: Vec<OsString>,
    pub(crate) given: Vec<(String, Vec<u8>)>,
    /// What stands before the result on stdout, where other things may stand there too.
    pub(crate) frame: Option<String>,
}

/// The words to start a tool with.
/// `more` stands before the shim: options of the interpreter.
pub(crate) fn start(
    runtime: ToolRuntime,
    interpreter: &Interpreter,
    more: &[&str],
    entrypoint: &Path,
    handler: &str,
) -> Start {
    let word = |text: &str| OsString::from(text);
    let first = interpreter.argv0.clone();
    match runtime {
        ToolRuntime::Python => Start {
            // Isolated: neither the variables nor the site folder of the caller steer it, and nothing is written.
            argv: vec![
                first,
                word("-I"),
                word("-B"),
                word("-X"),
                word("utf8"),
                word(&format!("{GIVEN_FOLDER}/python.py")),
                entrypoint.into(),
                word(handler),
            ],
            given: vec![("python.py".to_owned(), include_bytes!("shim/python.py").to_vec())],
            frame: None,
        },
        ToolRuntime::Node => {
            let frame = frame();
            let mut argv = vec![first];
            if has_module_detection_as_an_option(&interpreter.version) {
                argv.push(word("--experimental-detect-module"));
            }
            argv.extend(more.iter().map(|text| word(text)));
            argv.push(word(&format!("{GIVEN_FOLDER}/node.mjs")));
            argv.extend([entrypoint.into(), word(handler), word(&frame)]);
            Start {
                argv,
                given: vec![("node.mjs".to_owned(), include_bytes!("shim/node.mjs").to_vec())],
                frame: Some(frame),
            }
        }
        ToolRuntime::Bash => Start { argv: vec![first, entrypoint.into()], given: Vec::new(), frame: None },
    }
}

/// A mark that no tool prints by accident. It keeps nothing secret: the tool may know it, it is the tool's own result.
fn frame() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// Whether `export` in a `.js` file is understood only when asked for: later versions do it by themselves.
fn has_module_detection_as_an_option(version: &str) -> bool {
    let mut parts = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major == 20 && minor >= 10) || (major == 21 && minor >= 1) || (major == 22 && minor < 7)
}

/// The result and what else stood on stdout.
pub(crate) fn apart<'a>(stdout: &'a [u8], frame: Option<&str>) -> (&'a [u8], Vec<u8>) {
    let Some(frame) = frame else { return (stdout, Vec::new()) };
    let mark = format!("\u{1e}{frame}\n").into_bytes();
    let Some(at) = stdout.windows(mark.len()).position(|window| window == mark) else {
        return (&[], stdout.to_vec());
    };
    let result = &stdout[at + mark.len()..];
    // JSON on one line is the result; a process the tool left running may have printed after it.
    let end = result.iter().position(|byte| *byte == b'\n').unwrap_or(result.len());
    let stray = [&stdout[..at], result.get(end + 1..).unwrap_or_default()].concat();
    (&result[..end], stray)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_result_is_told_apart_from_what_was_printed() {
        let (result, stray) = apart(b"noise\x1eabc\n{\"a\":1}\nmore", Some("abc"));
        assert_eq!((result, &stray[..]), (&b"{\"a\":1}"[..], &b"noisemore"[..]));
        assert_eq!(apart(b"noise", Some("abc")), (&b""[..], b"noise".to_vec()));
        assert_eq!(apart(b"{}", None), (&b"{}"[..], Vec::new()));
    }

    #[test]
    fn module_detection_is_asked_for_only_where_it_is_an_option() {
        for (version, expected) in [
            ("v18.20.0", false),
            ("v20.9.0", false),
            ("v20.20.2", true),
            ("v22.6.0", true),
            ("v22.7.0", false),
            ("v24.1.0", false),
            ("", false),
        ] {
            assert_eq!(has_module_detection_as_an_option(version), expected, "{version}");
        }
    }
}
