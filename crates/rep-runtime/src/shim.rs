//! Starts a tool in its runtime: the command line, and the shim that calls the handler.
//!
//! Python and node get a shim that reads the arguments, calls the function and writes the result separately
//! from the tool's own output. A bash tool needs no shim: JSON on stdin, JSON on stdout (Universal 2.1 §5).

use std::ffi::OsString;
use std::path::Path;

use crate::interpreter::Interpreter;
use crate::plan::ToolRuntime;
use rep_sandbox::INJECTED_FILES_FOLDER;

/// The command line of a tool.
pub(crate) struct ToolLaunch {
    pub(crate) argv: Vec<OsString>,
    pub(crate) given: Vec<(String, Vec<u8>)>,
    /// The marker before the result on stdout, if other output may precede it.
    pub(crate) frame: Option<String>,
}

/// Builds the command line of a tool.
/// `more` contains options of the interpreter and goes before the shim.
pub(crate) fn build_launch(
    runtime: ToolRuntime,
    interpreter: &Interpreter,
    more: &[&str],
    entrypoint: &Path,
    handler: &str,
) -> ToolLaunch {
    let word = |text: &str| OsString::from(text);
    let first = interpreter.argv0.clone();
    match runtime {
        ToolRuntime::Python => ToolLaunch {
            // Isolated mode: the caller's variables and site directory have no effect, and no bytecode is
            // written.
            argv: vec![
                first,
                word("-I"),
                word("-B"),
                word("-X"),
                word("utf8"),
                word(&format!("{INJECTED_FILES_FOLDER}/python.py")),
                entrypoint.into(),
                word(handler),
            ],
            given: vec![("python.py".to_owned(), include_bytes!("shim/python.py").to_vec())],
            frame: None,
        },
        ToolRuntime::Node => {
            let frame = generate_frame();
            let mut argv = vec![first];
            if needs_module_detection_flag(&interpreter.version) {
                argv.push(word("--experimental-detect-module"));
            }
            argv.extend(more.iter().map(|text| word(text)));
            argv.push(word(&format!("{INJECTED_FILES_FOLDER}/node.mjs")));
            argv.extend([entrypoint.into(), word(handler), word(&frame)]);
            ToolLaunch {
                argv,
                given: vec![("node.mjs".to_owned(), include_bytes!("shim/node.mjs").to_vec())],
                frame: Some(frame),
            }
        }
        ToolRuntime::Bash => ToolLaunch { argv: vec![first, entrypoint.into()], given: Vec::new(), frame: None },
    }
}

/// Generates a marker that no tool prints by accident. It is not a secret: a tool may know it, because the
/// result is its own.
fn generate_frame() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// Returns whether this version understands `export` in a `.js` file only with a flag; later versions detect
/// it automatically.
fn needs_module_detection_flag(version: &str) -> bool {
    let mut parts = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major == 20 && minor >= 10) || (major == 21 && minor >= 1) || (major == 22 && minor < 7)
}

/// Splits stdout into the result and the remaining output.
pub(crate) fn split_result<'a>(stdout: &'a [u8], frame: Option<&str>) -> (&'a [u8], Vec<u8>) {
    let Some(frame) = frame else { return (stdout, Vec::new()) };
    let mark = format!("\u{1e}{frame}\n").into_bytes();
    let Some(at) = stdout.windows(mark.len()).position(|window| window == mark) else {
        return (&[], stdout.to_vec());
    };
    let result = &stdout[at + mark.len()..];
    // The result is one line of JSON; a process that the tool left running may have printed after it.
    let end = result.iter().position(|byte| *byte == b'\n').unwrap_or(result.len());
    let stray = [&stdout[..at], result.get(end + 1..).unwrap_or_default()].concat();
    (&result[..end], stray)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_result_is_told_apart_from_what_was_printed() {
        let (result, stray) = split_result(b"noise\x1eabc\n{\"a\":1}\nmore", Some("abc"));
        assert_eq!((result, &stray[..]), (&b"{\"a\":1}"[..], &b"noisemore"[..]));
        assert_eq!(split_result(b"noise", Some("abc")), (&b""[..], b"noise".to_vec()));
        assert_eq!(split_result(b"{}", None), (&b"{}"[..], Vec::new()));
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
            assert_eq!(needs_module_detection_flag(version), expected, "{version}");
        }
    }
}
