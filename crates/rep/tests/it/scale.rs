//! A library of 10,000 skills through the binary: what is said of it, and an index that outlives what happens to it.
#![expect(clippy::unwrap_used, reason = "all of this is a test, its helpers too")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rep_test_support::synthetic_library::{
    BodyLength, LibraryShape, PlantedSkill, SyntheticLibrary, SyntheticLibrarySpec,
};
use rep_test_support::{ProgramRun, ScratchFolder};

use super::{GOOD, json, rep, run};

const SKILLS: usize = 10_000;

/// A scratch folder with a library in it.
struct Large {
    scratch: ScratchFolder,
    library: SyntheticLibrary,
}

impl Large {
    fn make(shape: LibraryShape) -> Large {
        let scratch = ScratchFolder::new();
        // Links are resolved in what is listed, so they are in what is expected.
        let folder = fs::canonicalize(scratch.work_folder()).unwrap().join("lib");
        fs::create_dir(&folder).unwrap();
        let library = SyntheticLibrary::generate(
            &folder,
            SyntheticLibrarySpec { count: SKILLS, shape, bodies: BodyLength::Short },
        )
        .unwrap();
        Large { scratch, library }
    }

    fn run(&self, words: &[&str]) -> ProgramRun {
        let options = self.library.rep_options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        run(&self.scratch, &[words, &options].concat())
    }

    /// Searches for what is planted, and says how many skills were read anew.
    fn read_anew(&self) -> usize {
        let found = self.run(&["search", PlantedSkill::PHRASE, "--limit", "1", "-v"]);
        assert!(found.code == 0 && found.stdout.contains(PlantedSkill::NAME), "{found:?}");
        let (_, count) = found.stderr.split_once(" skills, ").unwrap_or_else(|| panic!("{found:?}"));
        count.split(' ').next().unwrap().parse().unwrap()
    }

    fn cache(&self) -> PathBuf {
        self.scratch.work_folder().join("../home/.cache/repertoire")
    }

    fn index(&self) -> PathBuf {
        self.cache().join("search.idx")
    }

    fn change(&self, name: &str, words: &str) {
        self.scratch.write_file(
            &format!("lib/{name}/SKILL.md"),
            GOOD.replace("name: pdf\n", &format!("name: {name}\n")) + words,
        );
    }

    fn search(&self) -> Command {
        let mut command = Command::new(rep());
        command
            .args(["search", PlantedSkill::PHRASE, "--json"])
            .args(self.library.rep_options())
            .current_dir(self.scratch.work_folder())
            .env("HOME", self.scratch.work_folder().join("../home"))
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

#[test]
fn ten_thousand_skills_are_listed_told_and_selected_as_they_were_made() {
    let large = Large::make(LibraryShape::Mixed);
    listed(&large);
    told(&large);
    let found = json(&large.run(&[
        "select",
        &format!("copy the {} please", PlantedSkill::MENTION),
        "--threshold",
        "2",
        "--json",
    ]));
    assert_eq!(found["selected"][0]["matches"][0]["trigger"], PlantedSkill::MENTION);
    assert_eq!(
        (found["selected"].as_array().map(Vec::len), &found["selected"][0]["name"]),
        (Some(1), &PlantedSkill::NAME.into())
    );
    let file = format!("in/a{}", PlantedSkill::FILE_TYPE);
    let found = json(&large.run(&["select", "look", "--file", &file, "--json"]));
    assert_eq!(
        (found["selected"].as_array().map(Vec::len), &found["selected"][0]["name"]),
        (Some(1), &PlantedSkill::NAME.into())
    );
    let found = json(&large.run(&["search", PlantedSkill::PHRASE, "--json"]));
    assert_eq!(found["results"][0]["name"], PlantedSkill::NAME);
}

/// Status, scope and place of every copy are what the generator says they are.
fn listed(large: &Large) {
    let listing = json(&large.run(&["list", "--json"]));
    let mut found: BTreeMap<String, (String, String, String)> = BTreeMap::new();
    for skill in listing["skills"].as_array().unwrap() {
        let word = |field: &str| skill[field].as_str().unwrap_or_default().to_owned();
        found.insert(word("location"), (word("qualified_name"), word("status"), word("scope")));
    }
    assert_eq!(found.len(), SKILLS);
    for made in &large.library.skills {
        let wanted = (made.qualified_name.clone(), made.status.to_owned(), made.scope.to_owned());
        let location = made.location.to_string_lossy();
        assert_eq!(found.get(&*location), Some(&wanted), "{location}");
    }
    // Without trust the project's skills are held back, and what they shadowed comes forward.
    let options = large.library.rep_options();
    let untrusted: Vec<&str> = options.iter().map(String::as_str).filter(|word| *word != "--trust").collect();
    let told = run(&large.scratch, &[&["list"], untrusted.as_slice()].concat());
    let of_project =
        |status: &str| large.library.skills.iter().filter(|made| made.is_in_project && made.status == status).count();
    let counts = format!(
        "{} active, {} hidden, {} invalid, {} untrusted\n",
        large.library.count_by_status("active") - of_project("active") + large.library.count_by_status("shadowed"),
        large.library.count_by_status("hidden") - of_project("hidden"),
        large.library.count_by_status("invalid"),
        of_project("active") + of_project("hidden"),
    );
    // The versions of the structured skills are placeholders, which is reported.
    let said: Vec<&str> = told.stderr.split_inclusive('\n').filter(|line| !line.contains("content hash")).collect();
    assert_eq!(said, [counts]);
}

/// Every active skill is told once, and no other.
fn told(large: &Large) {
    let told = large.run(&["prompt"]);
    let mut names: Vec<&str> =
        told.stdout.lines().filter_map(|line| line.trim().strip_prefix("<name>")?.strip_suffix("</name>")).collect();
    names.sort_unstable();
    let active = large.library.skills.iter().filter(|made| made.status == "active");
    let mut wanted: Vec<&str> = active.map(|made| made.qualified_name.as_str()).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
}

#[test]
fn the_index_of_ten_thousand_skills_follows_every_change_and_survives_every_mishap() {
    let large = Large::make(LibraryShape::Plain);
    assert_eq!(large.read_anew(), SKILLS);
    assert_eq!(large.read_anew(), 0);
    let name = large.library.skills[SKILLS / 2].qualified_name.as_str();
    large.change(name, "It tells of periwinkle.\n");
    assert_eq!(large.read_anew(), 1, "the one that changed");
    large.change("late-comer", "");
    assert_eq!(large.read_anew(), 1, "the one that came");
    fs::remove_dir_all(large.library.folder.join("late-comer")).unwrap();
    assert_eq!(large.read_anew(), 0, "one went");
    let found = json(&large.run(&["search", "periwinkle", "--json"]));
    assert_eq!(found["results"][0]["name"], name);
    two_at_once(&large, name);
    killed_in_the_middle(&large, name);
    damaged(&large);
}

/// Two processes that both have something to write both answer, and leave one sound index.
fn two_at_once(large: &Large, name: &str) {
    large.change(name, "It tells of two at once.\n");
    let both = [large.search().spawn().unwrap(), large.search().spawn().unwrap()];
    for output in both.map(|child| child.wait_with_output().unwrap()) {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["results"][0]["name"], PlantedSkill::NAME);
    }
    assert_eq!(large.read_anew(), 0);
    assert_eq!(fs::read_dir(large.cache()).unwrap().count(), 1, "no temporary file is left");
}

/// The kernel kills whoever writes a file beyond the limit, which is in the middle of the index.
fn killed_in_the_middle(large: &Large, name: &str) {
    large.change(name, "It tells of an untimely end.\n");
    let before = fs::read(large.index()).unwrap();
    assert!(before.len() > 1024 * 1024);
    let search = large.search();
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -c 0; ulimit -f 512; exec \"$0\" \"$@\""])
        .arg(search.get_program())
        .args(search.get_args());
    limited.current_dir(large.scratch.work_folder()).env("HOME", large.scratch.work_folder().join("../home"));
    limited.env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
    let output = limited.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.signal().is_some(), "{output:?}");
    assert!(fs::read(large.index()).unwrap() == before, "the index is the old one, whole");
    assert_eq!(large.read_anew(), 1, "only what changed is read");
    // The next search removed what the dead process left.
    let left = fs::read_dir(large.cache()).unwrap().flatten().find(|item| item.file_name() != "search.idx");
    assert!(left.is_none(), "{left:?}");
}

/// An index that is cut short, or changed inside, is made anew.
fn damaged(large: &Large) {
    let whole = fs::read(large.index()).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 0x10;
    for bytes in [&whole[..whole.len() / 2], &changed] {
        fs::write(large.index(), bytes).unwrap();
        let told = large.run(&["search", PlantedSkill::PHRASE, "--limit", "1"]);
        assert!(told.stdout.contains(PlantedSkill::NAME) && told.stderr.contains("rebuilding"), "{told:?}");
        assert_eq!(large.read_anew(), 0);
    }
}
