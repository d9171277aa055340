//! Compares the calls that the Python reader finds with those of Python's own `ast`, if `python3` is there.
#![expect(clippy::disallowed_methods, reason = "the test starts python3")]

use std::process::Command;

use rep_model::{Skill, SkillTree};
use rep_scan::{BehaviourKind, scan_skill};

const SCRIPT: &str = r#"
import os, subprocess as sp
from pathlib import Path
def main(items):
    for item in items:
        with open(f"out/{item}.txt", "w") as handle:
            handle.write(str(item))
    data = open("in.txt").read()
    (Path("logs") / "a.log").write_text(data)
    sp.run(["git", "status"], check=True)
    values = [os.environ["TOKEN_A"] for _ in range(3) if os.getenv("MODE")]
    return {"x": (lambda: open("late.txt"))(), **{"y": values}}
"#;

const ORACLE: &str = r#"
import ast, sys
tree = ast.parse(sys.stdin.read())
print(sum(isinstance(n, ast.Call) and getattr(n.func, "id", getattr(n.func, "attr", "")) in ("open", "write_text", "run") for n in ast.walk(tree)))
"#;

#[test]
fn calls_agree_with_the_syntax_tree_of_python() {
    let child = Command::new("python3")
        .args(["-c", ORACLE])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return rep_test_support::report_skipped("python3 is not installed, so its `ast` cannot be compared");
    };
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin is piped"), SCRIPT.as_bytes())
        .expect("python3 reads");
    let printed = child.wait_with_output().expect("python3 ends").stdout;
    let expected: usize = String::from_utf8_lossy(&printed).trim().parse().expect("the oracle prints a number");
    let (skill, _) = Skill::parse(SkillTree::from_texts("x", &[("a.py", SCRIPT)]));
    let scan = scan_skill(&skill);
    let found = scan
        .behaviours
        .iter()
        .filter(|found| matches!(found.kind, BehaviourKind::Read | BehaviourKind::Write | BehaviourKind::Run))
        .count();
    assert_eq!(found, expected, "{:#?}", scan.behaviours);
}
