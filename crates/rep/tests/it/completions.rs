//! Completion scripts: each shell loads its script and completes with it.

use std::path::Path;

use rep_test_support::{ProgramRun, ScratchFolder, is_program_installed};

use super::run;

/// Writes the script of a shell to a file in the work folder.
fn script(scratch: &ScratchFolder, shell: &str) -> String {
    let found = run(scratch, &["completions", shell]);
    assert_eq!((found.code, &*found.stderr), (0, ""));
    scratch.write_file("script", &found.stdout);
    found.stdout
}

fn words(found: &ProgramRun) -> Vec<&str> {
    assert_eq!((found.code, &*found.stderr), (0, ""), "{found:?}");
    found.stdout.split_whitespace().collect()
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let scratch = ScratchFolder::new();
    script(&scratch, "bash");
    let complete = |line: &[&str]| {
        let (last, previous) = (line[line.len() - 1], line[line.len() - 2]);
        let quoted: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
        let text = format!(
            "source ./script; complete -p rep >/dev/null || exit 9; COMP_WORDS=({}); COMP_CWORD={}; \
             _rep rep '{last}' '{previous}'; echo \"${{COMPREPLY[@]}}\"",
            quoted.join(" "),
            line.len() - 1
        );
        scratch.run_program(Path::new("bash"), &["--norc", "-c", &text])
    };
    assert_eq!(words(&complete(&["rep", "chec"])), ["check"]);
    assert_eq!(words(&complete(&["rep", "check", "--strict"])), ["--strict-schema"]);
    assert_eq!(
        words(&complete(&["rep", "check", "--format", ""])),
        ["text", "concise", "json", "sarif", "github", "junit", "gitlab"]
    );
    assert_eq!(words(&complete(&["rep", "audit", "ver"])), ["verify"]);
}

#[test]
fn fish_completes_commands_flags_and_values() {
    if !is_program_installed("fish") {
        return;
    }
    let scratch = ScratchFolder::new();
    script(&scratch, "fish");
    let complete = |line: &str| {
        let text = format!("source ./script; complete -C '{line}'");
        let found = scratch.run_program(Path::new("fish"), &["--no-config", "-c", &text]);
        assert_eq!((found.code, &*found.stderr), (0, ""), "{found:?}");
        let names = found.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned());
        names.collect::<Vec<String>>()
    };
    assert_eq!(complete("rep chec"), ["check"]);
    assert_eq!(complete("rep check --strict"), ["--strict-schema"]);
    assert_eq!(complete("rep check --format=s"), ["--format=sarif"]);
    assert_eq!(complete("rep audit ver"), ["verify"]);
}

/// Types a line into an interactive zsh in a pseudo-terminal, presses Tab, and prints the line as it is then.
const TYPE_INTO_ZSH: &str = r#"
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -D -u; source ./script; [[ $_comps[rep] == _rep ]] && print LOADED'
zpty -r shell reply '*LOADED*' || exit 8
zpty -w shell 'show() { print -r -- "<<<$BUFFER>>>" }; zle -N show; bindkey "^X" show; bindkey "^I" complete-word; print READY'
zpty -r shell reply '*READY*READY*' || exit 9
zpty -w -n shell "$1"$'\t\x18'
zpty -r shell reply '*<<<*>>>*'
reply=${reply##*<<<}
print -r -- ${reply%%>>>*}
zpty -d shell
"#;

#[test]
fn zsh_completes_commands_flags_and_values() {
    if !is_program_installed("zsh") {
        return;
    }
    let scratch = ScratchFolder::new();
    script(&scratch, "zsh");
    let complete = |line: &str| {
        let found = scratch.run_with_environment(
            Path::new("zsh"),
            &["-f", "-c", TYPE_INTO_ZSH, "zsh", line],
            &[("TERM", "dumb")],
        );
        assert_eq!(found.code, 0, "{found:?}");
        found.stdout.trim_end().to_owned()
    };
    assert_eq!(complete("rep chec"), "rep check");
    assert_eq!(complete("rep check --strict"), "rep check --strict-schema");
    assert_eq!(complete("rep check --format s"), "rep check --format sarif");
    assert_eq!(complete("rep audit ver"), "rep audit verify");
}

/// PowerShell is not installed where tests run: its script is checked as text.
#[test]
fn powershell_script_registers_every_command_and_flag() {
    let scratch = ScratchFolder::new();
    let text = script(&scratch, "powershell");
    assert!(text.contains("Register-ArgumentCompleter -Native -CommandName 'rep'"), "{text}");
    for part in ["'rep;check'", "'rep;audit;verify'", "'rep;completions'", "'--strict-schema'", "'--color'"] {
        assert!(text.contains(part), "{part}");
    }
    let count = |character: char| text.chars().filter(|c| *c == character).count();
    assert_eq!((count('{'), count('(')), (count('}'), count(')')));
}

#[test]
fn other_shells_are_refused_with_the_ones_there_are() {
    let found = run(&ScratchFolder::new(), &["completions", "tcsh"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("bash, zsh, fish, powershell"), "{found:?}");
}
