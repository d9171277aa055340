//! Programs that run code: interpreters with a text or a script, and files that are started.

use std::rc::Rc;

use crate::behaviour::SignalKind;
use crate::decode;
use crate::network_programs;
use crate::programs::Call;
use crate::scanner::{Language, normalize_path};
use crate::shell_eval::ShellRun;
use crate::value::{SharedValue, Source, Value};

/// A program that was downloaded before.
pub(crate) fn judge_started_file(run: &mut ShellRun<'_, '_>, call: &Call<'_>) {
    let Some(path) = call.values.first().and_then(|value| value.first_text()) else { return };
    if path.contains('/') {
        run.scanner.start_file(path, Some(Language::Shell), call.place);
    }
    judge_run_file(run, &normalize_path(path), "the shell", call);
}

pub(crate) fn judge_run_file(run: &mut ShellRun<'_, '_>, path: &str, by: &str, call: &Call<'_>) {
    let taints = run.scanner.files.get(path).cloned().unwrap_or_default();
    for taint in taints {
        match &taint.source {
            Source::Remote(url) if !matches!(crate::hosts::classify_url(url), crate::hosts::HostClass::CodeHost) => {
                run.scanner.judge_remote_code(url, by, call.place, call.span, &taint);
            }
            Source::Decoded => {
                run.scanner.signal(
                    SignalKind::DecodedCodeRun,
                    format!("`{by}` runs the decoded file `{path}`"),
                    call.place,
                    call.span,
                );
            }
            _ => {}
        }
    }
}

pub(crate) fn run_interpreter(run: &mut ShellRun<'_, '_>, name: &str, call: &Call<'_>) -> Option<SharedValue> {
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let (language, code_options): (Language, &[&str]) = match base {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "su" => {
            (Language::Shell, &["-c", "-lc", "-ic", "-xc", "-ec", "-euc", "-exc"])
        }
        "python" | "pythonw" | "pypy" => (Language::Python, &["-c", "-ic", "-uc"]),
        "node" | "nodejs" | "bun" | "deno" => (Language::JavaScript, &["-e", "--eval", "-p", "-pe", "--print"]),
        "pwsh" | "powershell" => (
            Language::Shell,
            &["-c", "-command", "-Command", "-enc", "-EncodedCommand", "-e", "-ec", "-encodedcommand"],
        ),
        "osascript" | "perl" | "ruby" | "php" | "lua" => (Language::Shell, &["-e", "-r"]),
        "iex" | "invoke-expression" => {
            let code = Value::unknown().with_taints(&call.taints());
            run.scanner.evaluate(&code, Language::Shell, name, call.place, call.span);
            return Some(Value::unknown());
        }
        _ => return None,
    };
    let words = call.arguments();
    let at = words.iter().position(|word| word.first_text().is_some_and(|text| code_options.contains(&text)));
    if let Some(code) = at.and_then(|at| words.get(at + 1)) {
        let option = words[at.unwrap_or(0)].first_text().unwrap_or("").to_ascii_lowercase();
        let code = if option.starts_with("-enc") {
            run.scanner.decoded(code, decode::decode_base64, call.place, call.span)
        } else {
            Rc::clone(code)
        };
        if matches!(base, "perl" | "ruby" | "php" | "lua") {
            run.scanner.evaluate(&code.derived(), language, name, call.place, call.span);
            network_programs::judge_foreign_one_liner(run.scanner, &code, name, call);
        } else if base == "osascript" {
            network_programs::judge_apple_script(run, &code, call);
        } else {
            run.scanner.evaluate(&code, language, name, call.place, call.span);
        }
        return Some(call.passed_on());
    }
    let script = call.operands(&[]).into_iter().next();
    match script {
        Some(script) if script.first_text() != Some("-") => {
            if script.has_source(|source| matches!(source, Source::Remote(_) | Source::Decoded)) {
                run.scanner.evaluate(&script.derived(), language, name, call.place, call.span);
            } else if let Some(path) = script.first_text() {
                note_started(run, base, path, language, call);
                judge_run_file(run, &normalize_path(path), name, call);
                if base == "deno"
                    && words.iter().any(|word| {
                        word.first_text().is_some_and(|text| text.starts_with("data:") || text.contains(";base64,"))
                    })
                {
                    run.scanner.signal(
                        SignalKind::DecodedCodeRun,
                        "`deno` runs code from a `data:` URL",
                        call.place,
                        call.span,
                    );
                }
            }
        }
        _ => {
            if let Some(input) = &call.input {
                run.scanner.evaluate(input, language, name, call.place, call.span);
            }
        }
    }
    Some(call.passed_on())
}

/// Notes the file that an interpreter starts.
fn note_started(run: &mut ShellRun<'_, '_>, base: &str, path: &str, language: Language, call: &Call<'_>) {
    let second = call.operands(&[]).get(1).cloned();
    let path = match second.as_ref().and_then(|second| second.first_text()) {
        Some(second) if matches!(base, "deno" | "bun") && path == "run" => second,
        _ => path,
    };
    let is_read = !matches!(base, "osascript" | "perl" | "ruby" | "php" | "lua");
    run.scanner.start_file(path, is_read.then_some(language), call.place);
}
