//! Facts about programs: which ones have subcommands, and which words can be program names.

use super::lexicon::LEXICON;

/// Returns the number of words after a known program that name the command.
pub(super) fn known_command_depth(program: &str) -> Option<usize> {
    let programs = [&LEXICON.programs, &LEXICON.programs_with_commands, &LEXICON.programs_with_groups];
    programs.iter().position(|programs| programs.contains(program))
}

/// Returns whether a word can be a program name: letters, digits and a few symbols, starting in lower case.
pub(super) fn is_program_name(word: &str) -> bool {
    let is_path = ["./", "scripts/", "bin/"].iter().any(|folder| word.starts_with(folder));
    (is_path || word.starts_with(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit()))
        && word.contains(char::is_alphabetic)
        && word.len() <= 80
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+/".contains(letter))
        && !word.ends_with(['.', '/', '-'])
}

/// Returns whether a word names a script file.
pub(super) fn is_script_file(word: &str) -> bool {
    let endings = ["py", "sh", "js", "ts", "mjs", "cjs", "rb", "pl", "ps1", "php", "R", "lua", "bash"];
    word.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
        && !word.contains(['*', '"', '\'', '(', '='])
}
