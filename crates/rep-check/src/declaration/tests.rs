//! What is needed for a scan, and how it is added to a frontmatter.

use rep_model::{Skill, SkillTree};
use rep_scan::scan_skill;

use super::*;

fn skill(front: &str, script: &str) -> Skill {
    let text = format!("---\nname: notes\ndescription: Takes notes.\n{front}---\n\n# Notes\n");
    Skill::parse(SkillTree::from_texts("notes", &[("SKILL.md", text.as_str()), ("run.sh", script)])).0
}

fn needed(script: &str) -> NeededDeclaration {
    NeededDeclaration::from_capabilities(&scan_skill(&skill("", script)).capabilities())
}

#[test]
fn what_is_not_known_has_stars_and_the_rest_is_literal() {
    for (argument, expected) in [
        ("data/in.csv", Ok("data/in.csv")),
        ("./data/in.csv", Ok("data/in.csv")),
        ("data/*.csv", Ok("data/*.csv")),
        ("data/*/in.csv", Ok("data/*/in.csv")),
        ("data/*", Ok("data/**")),
        ("*/in.csv", Ok("**/in.csv")),
        ("*", Ok("**")),
        (".", Ok("**")),
        ("~/notes.txt", Err("it is outside the workspace")),
        ("/etc/passwd", Err("it is outside the workspace")),
        ("../notes.txt", Err("it is outside the workspace")),
        ("/tmp/notes.txt", Err("implicit")),
        ("@skill/words.txt", Err("implicit")),
    ] {
        let found = match cover_path(CapabilityKind::Read, argument) {
            Cover::Declared(glob) => Ok(glob.as_str().to_owned()),
            Cover::Implicit => Err("implicit".to_owned()),
            Cover::Impossible(reason) => Err(reason),
        };
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{argument}");
    }
    assert!(matches!(cover_path(CapabilityKind::Write, "@skill/words.txt"), Cover::Impossible(_)));
    for (argument, expected) in [
        ("api.example.org", Some("api.example.org")),
        ("api.example.org:8443", Some("api.example.org:8443")),
        ("api-*.example.org", Some("*.example.org")),
        ("*.org", Some("*")),
        ("*", Some("*")),
        ("localhost:*", Some("localhost")),
        ("192.0.2.7:80", Some("192.0.2.7:80")),
        ("ex ample", None),
    ] {
        let found = match cover_host(argument) {
            Cover::Declared(rule) => Some(rule.to_string()),
            Cover::Implicit | Cover::Impossible(_) => None,
        };
        assert_eq!(found.as_deref(), expected, "{argument}");
    }
}

#[test]
fn the_smallest_declaration_has_nothing_twice() {
    let script = "#!/bin/sh\ncat data/a.csv \"data/$1\" data/b.csv ~/.netrc > out/x.txt\ncurl https://a.example.org/ https://a.example.org/b\necho \"$NOTES_TOKEN\"\n";
    let needed = needed(script);
    let globs = |globs: &[Glob]| globs.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(globs(&needed.permissions.read), ["data/**"]);
    assert_eq!(globs(&needed.permissions.write), ["out/x.txt"]);
    assert_eq!(needed.permissions.outbound.len(), 1);
    assert!(needed.permissions.allow_subprocess);
    assert_eq!(needed.secrets, ["NOTES_TOKEN"]);
    assert_eq!(needed.impossible.len(), 1, "{:?}", needed.impossible);
    let again = skill(&needed.to_yaml(), script);
    let declared = SkillDeclaration::from_skill(&again).expect("a declaration");
    assert!(
        scan_skill(&again).behaviours.iter().all(|one| {
            one.kind.capability().is_none_or(|kind| declared.find_missing(kind, &one.argument).is_none())
        })
    );
}

#[test]
fn an_existing_declaration_is_completed_in_its_own_style() {
    let script = "#!/bin/sh\ncat data/a.csv > out/x.txt\ncurl https://a.example.org/\necho \"$NOTES_TOKEN\"\n";
    for front in [
        "",
        "license: MIT\n",
        "permissions: {}\n",
        "permissions:\n  filesystem:\n    read: [\"docs/**\"] # kept\n    write: []\nlicense: MIT\n",
        "permissions:\n    filesystem:\n        read:\n          - docs/**\n    processes:\n        allow_subprocess: false\n",
        "permissions: {filesystem: {read: [a]}, network: {outbound: []}}\nsecrets:\n  required:\n    - name: OTHER\n      usage: env\n",
        "description2: |\n  text\n  more\n",
    ] {
        let before = skill(front, script);
        let scan = scan_skill(&before);
        let after = add_declaration(&before, &scan.capabilities()).unwrap_or_else(|error| panic!("{front}: {error}"));
        let after = after.expect("something is missing");
        let text = before.manifest.as_ref().unwrap().source.text().to_owned();
        // Only insertions, but for the word of `allow_subprocess`.
        let mut letters = after.chars();
        assert!(text.replace("false", "").chars().all(|letter| letters.any(|other| other == letter)), "{after}");
        let again = Skill::parse(SkillTree::from_texts("notes", &[("SKILL.md", &after), ("run.sh", script)])).0;
        assert_eq!(add_declaration(&again, &scan.capabilities()), Ok(None), "{after}");
        let declared = SkillDeclaration::from_skill(&again).expect("a declaration");
        assert!(declared.allow_subprocess && declared.secrets.contains(&"NOTES_TOKEN"), "{after}");
        let front = again.frontmatter().expect("a frontmatter");
        assert_eq!(front.description().map(|text| text.value), Some("Takes notes."), "{after}");
    }
}

#[test]
fn windows_line_ends_stay() {
    let text = "---\r\nname: notes\r\ndescription: Takes notes.\r\n---\r\n";
    let script = "#!/bin/sh\ncat data/a.csv\n";
    let before = Skill::parse(SkillTree::from_texts("notes", &[("SKILL.md", text), ("run.sh", script)])).0;
    let after = add_declaration(&before, &scan_skill(&before).capabilities()).unwrap().unwrap();
    assert!(!after.replace("\r\n", "").contains('\n'), "{after:?}");
}
