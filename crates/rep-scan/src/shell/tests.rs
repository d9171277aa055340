//! What the reader finds in scripts.

use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    show_words(text, &read_shell(text))
}

fn show_words(text: &str, script: &ShellScript) -> Vec<Vec<String>> {
    let shown = |word: &ShellWord| {
        let piece = |part: &WordPart| match part {
            WordPart::Text(text) => text.clone(),
            WordPart::Variable(name, _) => format!("${{{name}}}"),
            WordPart::Substitution(span) => format!("$({})", &text[span.range()]),
            WordPart::Process(span) => format!("<({})", &text[span.range()]),
            WordPart::Glob => "*".to_owned(),
            WordPart::Placeholder => "<>".to_owned(),
        };
        word.parts.iter().map(piece).collect::<String>()
    };
    script.commands.iter().map(|command| command.words.iter().map(shown).collect()).collect()
}

#[test]
fn commands_are_found_in_compound_commands() {
    let script = "if grep -q x f; then\n  curl -s \"$URL\" | sh\nelse\n  for a in 1 2; do rm \"$a\"; done\nfi\n";
    assert_eq!(
        words(script),
        [
            vec!["grep", "-q", "x", "f"],
            vec!["curl", "-s", "${URL}"],
            vec!["sh"],
            vec!["for", "a", "in", "1", "2"],
            vec!["rm", "${a}"]
        ]
    );
}

#[test]
fn quotes_join_and_substitutions_are_spans() {
    assert_eq!(
        words("c\"\"url $'\\x63at' 'a b'\"c$(d \")\")\" `e f`"),
        [vec!["curl", "cat", "a bc$(d \")\")", "$(e f)"]]
    );
    assert_eq!(
        words("case $1 in\n a|b) ls;;\n *) pwd;;\nesac; id"),
        [vec!["[[", "${1}"], vec!["ls"], vec!["pwd"], vec!["id"]]
    );
}

#[test]
fn here_documents_belong_to_their_command() {
    let script = read_shell("cat > x <<'EOF'\nrm -rf /\nEOF\nls\n");
    assert_eq!(script.commands.len(), 2);
    assert_eq!(script.commands[0].redirections[1].target.literal(), Some("rm -rf /\n"));
    let script = read_shell("f() { echo hi; }\nA=1 B=(x y) f\n");
    assert_eq!(script.functions, [ShellFunction { name: "f".to_owned(), commands: 0..1 }]);
    assert_eq!(script.commands[1].assignments.len(), 3);
}

#[test]
fn unfinished_scripts_are_read_to_the_end() {
    for text in
        ["echo $(", "cat <<EOF\nx", "a='b", "case x in", "for", "`", "${", "\\", "x=(", "[[ a", "<(", "$'\\", "f("]
    {
        read_shell(text);
    }
}

#[test]
fn placeholders_of_documents_are_not_redirections() {
    let text = "get <JOB_ID> --to <path/to/file.txt> https://<your host>/x > <output>\n<command> a\n";
    let script = read_documented_shell(text);
    assert_eq!(show_words(text, &script), [vec!["get", "<>", "--to", "<>", "https://<>/x"], vec!["<>", "a"]]);
    assert_eq!(script.commands[0].redirections.len(), 1);
    for text in ["sort <in >out", "sort <in.txt 2>err", "sort < in", "cat <<EOF\nx\nEOF", "a <b>>c", "diff <(a) <(b)"] {
        assert_eq!(read_documented_shell(text), read_shell(text), "{text}");
    }
    assert_eq!(read_shell("get <JOB_ID> now").commands[0].redirections.len(), 2, "a script has no placeholders");
}

#[test]
fn functions_have_the_commands_of_their_body() {
    let script = read_shell("a() {\n  if x; then { y; }; fi\n}\nfunction b { z; }\nc() ( w )\nd()\n{ v\n");
    let shown: Vec<(&str, Range<usize>)> =
        script.functions.iter().map(|function| (function.name.as_str(), function.commands.clone())).collect();
    assert_eq!(shown, [("a", 0..2), ("b", 2..3), ("c", 0..0), ("d", 4..5)]);
}
