//! Generates libraries of any size. The same specification gives the same bytes on every machine.
//!
//! The text, length and faults of a skill depend only on its number. The lengths are those of public skills
//! (descriptions: median 289 characters, one in twenty above 679; bodies: median 1,100 tokens); the words are
//! invented. A library describes what was generated, so that tests can compare instead of counting.

mod skill_text;
mod words;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use skill_text::SeededRandom;

/// The maximum number of skills in a library.
pub const SKILLS_MAX: usize = words::NAMES_MAX;

/// Skill number 0 of every library, which contains words that no other skill has.
pub struct PlantedSkill;

impl PlantedSkill {
    /// Its name.
    pub const NAME: &'static str = "keep-lighthouse-log";
    /// A mention that only this skill declares; like all triggers, only in a mixed library.
    pub const MENTION: &'static str = "zanzibar ledger";
    /// A file type that only this skill declares.
    pub const FILE_TYPE: &'static str = ".zzlog";
    /// Words that occur only in its body.
    pub const PHRASE: &'static str = "quixotic marmalade foghorn";
}

/// The layout of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryShape {
    /// One directory of valid SKILL.md skills that use only fields of the specification, so that every tool can
    /// list them.
    Plain,
    /// Every scope, both dialects, collisions, packages, links, opted-out skills and broken skills.
    Mixed,
}

/// The length of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// As long as the bodies of public skills.
    Real,
    /// An eighth of that, for tests that read all bodies.
    Short,
}

/// The specification of a library.
#[derive(Clone, Copy, Debug)]
pub struct SyntheticLibrarySpec {
    /// The number of skills.
    pub count: usize,
    /// The layout.
    pub shape: LibraryShape,
    /// The length of bodies.
    pub bodies: BodyLength,
}

/// A generated skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntheticSkill {
    /// Its name as in listings, with its package's name.
    pub qualified_name: String,
    /// Its status if the project is trusted: `active`, `hidden`, `shadowed` or `invalid`.
    pub status: &'static str,
    /// Its scope.
    pub scope: &'static str,
    /// Whether it is in the project, which must be trusted first.
    pub is_in_project: bool,
    /// The file that makes it a skill.
    pub location: PathBuf,
}

/// A generated library on disk, and its skills.
pub struct SyntheticLibrary {
    /// Its directory.
    pub folder: PathBuf,
    /// Its layout.
    pub shape: LibraryShape,
    /// Its skills, by number.
    pub skills: Vec<SyntheticSkill>,
}

impl SyntheticLibrary {
    /// Generates a library in an existing empty directory. Two threads write separate skills.
    pub fn generate(folder: &Path, order: SyntheticLibrarySpec) -> io::Result<SyntheticLibrary> {
        assert!(order.count <= SKILLS_MAX, "there are only names for {SKILLS_MAX} skills");
        if order.shape == LibraryShape::Mixed {
            write_packages(folder)?;
        }
        let half = order.count / 2;
        let part = |numbers: std::ops::Range<usize>| -> io::Result<Vec<SyntheticSkill>> {
            numbers.map(|number| generate_skill(folder, order, number)).collect()
        };
        let (first, second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| part(half..order.count));
            (part(0..half), second.join().expect("generating skills does not panic"))
        });
        let mut made = first?;
        made.extend(second?);
        Ok(SyntheticLibrary { folder: folder.to_owned(), shape: order.shape, skills: made })
    }

    /// Returns the options that make `rep` use only this library, with its project trusted.
    pub fn rep_options(&self) -> Vec<String> {
        let below = |name: &str| self.folder.join(name).to_string_lossy().into_owned();
        match self.shape {
            LibraryShape::Plain => vec!["--path".into(), self.folder.to_string_lossy().into_owned()],
            LibraryShape::Mixed => {
                let places = [("--project", "project"), ("--home", "home"), ("--managed", "managed")];
                let mut words: Vec<String> =
                    places.into_iter().flat_map(|(option, name)| [option.to_owned(), below(name)]).collect();
                words.push("--trust".into());
                words
            }
        }
    }

    /// Returns the number of skills with a status, if the project is trusted.
    pub fn count_by_status(&self, status: &str) -> usize {
        self.skills.iter().filter(|made| made.status == status).count()
    }
}

/// The kinds of skills in a mixed library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyntheticSkillKind {
    /// A valid SKILL.md.
    Sound,
    /// A skill that models may not invoke.
    OptedOut,
    /// A skill with one of four faults that no host can load.
    Broken(usize),
    /// A personal copy of the project skill with the previous number.
    Copy,
    /// A personal skill that is a link to another directory.
    Linked,
    /// A directory with a `*.uasp.yaml` file.
    Uasp,
    /// A single `*.uasp.yaml` file.
    LoneUasp,
}

/// The directory of a skill in a mixed library, its scope, and its package.
struct SyntheticSkillHome {
    folder: String,
    scope: &'static str,
    package: Option<String>,
    is_in_project: bool,
}

const PACKAGE_COUNT: usize = 12;
const APP_COUNT: usize = 8;

fn choose_kind(number: usize) -> SyntheticSkillKind {
    match number % 100 {
        7 | 57 => SyntheticSkillKind::Broken(number / 50 % 4),
        9 | 34 | 59 | 84 => SyntheticSkillKind::Copy,
        11 | 51 | 71 => SyntheticSkillKind::OptedOut,
        12 | 22 | 42 | 52 | 62 | 72 | 92 => SyntheticSkillKind::Uasp,
        13 => SyntheticSkillKind::LoneUasp,
        14 | 64 => SyntheticSkillKind::Linked,
        _ => SyntheticSkillKind::Sound,
    }
}

fn choose_home(number: usize) -> SyntheticSkillHome {
    let of = |folder: String, scope, is_in_project| SyntheticSkillHome { folder, scope, package: None, is_in_project };
    match number % 100 {
        // The original is in the project and the copy is personal, so the project wins.
        8 | 33 | 58 | 83 => of("project/.claude/skills".into(), "project", true),
        9 | 34 | 59 | 84 => of("home/.agents/skills".into(), "personal", false),
        15..=24 => {
            let package = format!("team-{:02}", number / 100 % PACKAGE_COUNT);
            let folder = format!("home/.agent-packages/{package}/skills");
            SyntheticSkillHome { package: Some(package), ..of(folder, "package", false) }
        }
        25..=29 => of("managed".into(), "managed", false),
        35..=39 => of(format!("project/apps/app-{}/.claude/skills", number / 100 % APP_COUNT), "project", true),
        40..=56 => of("project/skills".into(), "project", true),
        60..=63 => of("project/.agents/skills".into(), "project", true),
        _ => of("home/.claude/skills".into(), "personal", false),
    }
}

fn write_packages(folder: &Path) -> io::Result<()> {
    for number in 0..PACKAGE_COUNT {
        let package = folder.join(format!("home/.agent-packages/team-{number:02}"));
        fs::create_dir_all(&package)?;
        fs::write(package.join("package.agent.json"), format!("{{\"name\": \"team-{number:02}\"}}\n"))?;
    }
    for place in ["project", "managed"] {
        fs::create_dir_all(folder.join(place))?;
    }
    Ok(())
}

/// Returns the name of the skill with a number.
fn skill_name(number: usize) -> String {
    if number == 0 { PlantedSkill::NAME.to_owned() } else { words::generate_name(number) }
}

fn generate_skill(folder: &Path, order: SyntheticLibrarySpec, number: usize) -> io::Result<SyntheticSkill> {
    let mut dice = SeededRandom::new(number);
    if order.shape == LibraryShape::Plain {
        let name = skill_name(number);
        let skill = folder.join(&name);
        write_skill_files(
            &skill,
            &skill_text::generate_skill_md(&name, number, order, "", &mut dice),
            number,
            &mut dice,
        )?;
        let location = skill.join("SKILL.md");
        return Ok(SyntheticSkill {
            qualified_name: name,
            status: "active",
            scope: "project",
            is_in_project: false,
            location,
        });
    }
    let (kind, home) = (choose_kind(number), choose_home(number));
    let name = if kind == SyntheticSkillKind::Copy { skill_name(number - 1) } else { skill_name(number) };
    let root = folder.join(&home.folder);
    let skill = root.join(&name);
    let uasp = || format!("{name}.uasp.yaml");
    let mut location = skill.join("SKILL.md");
    let plain = |more: &str, dice: &mut SeededRandom| skill_text::generate_skill_md(&name, number, order, more, dice);
    let mut status = "active";
    match kind {
        SyntheticSkillKind::Sound => write_skill_files(&skill, &plain("", &mut dice), number, &mut dice)?,
        SyntheticSkillKind::OptedOut => {
            status = "hidden";
            write_skill_files(&skill, &plain("disable-model-invocation: true\n", &mut dice), number, &mut dice)?;
        }
        SyntheticSkillKind::Copy => {
            status = "shadowed";
            write_skill_files(&skill, &plain("", &mut dice), number, &mut dice)?;
        }
        SyntheticSkillKind::Broken(how) => {
            status = "invalid";
            write_skill_files(&skill, &skill_text::generate_broken_skill(&name, how, &mut dice), number, &mut dice)?;
        }
        SyntheticSkillKind::Linked => {
            let elsewhere = folder.join("elsewhere").join(&name);
            write_skill_files(&elsewhere, &plain("", &mut dice), number, &mut dice)?;
            fs::create_dir_all(&root)?;
            std::os::unix::fs::symlink(&elsewhere, &skill)?;
            location = elsewhere.join("SKILL.md");
        }
        SyntheticSkillKind::Uasp => {
            fs::create_dir_all(&skill)?;
            location = skill.join(uasp());
            fs::write(&location, skill_text::generate_uasp(&name, &mut dice))?;
        }
        SyntheticSkillKind::LoneUasp => {
            fs::create_dir_all(&root)?;
            location = root.join(uasp());
            fs::write(&location, skill_text::generate_uasp(&name, &mut dice))?;
        }
    }
    let qualified_name = home.package.map_or_else(|| name.clone(), |package| format!("{package}:{name}"));
    Ok(SyntheticSkill { qualified_name, status, scope: home.scope, is_in_project: home.is_in_project, location })
}

/// Writes a skill's directory. Some skills have additional files, which discovery must ignore.
fn write_skill_files(skill: &Path, text: &str, number: usize, dice: &mut SeededRandom) -> io::Result<()> {
    fs::create_dir_all(skill)?;
    fs::write(skill.join("SKILL.md"), text)?;
    if skill_text::has_reference(number) {
        fs::create_dir(skill.join("references"))?;
        fs::write(skill.join(skill_text::REFERENCE_PATH), skill_text::generate_document(dice, 1_500))?;
    }
    if skill_text::has_script(number) {
        fs::create_dir(skill.join("scripts"))?;
        fs::write(skill.join(skill_text::SCRIPT_PATH), "#!/bin/sh\nset -eu\nsort -u \"$1\"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn files(folder: &Path, found: &mut BTreeSet<(PathBuf, Vec<u8>)>, root: &Path) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                files(&path, found, root);
            } else if !entry.file_type().unwrap().is_symlink() {
                found.insert((path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }

    #[test]
    fn the_same_order_gives_the_same_bytes() {
        let order = SyntheticLibrarySpec { count: 250, shape: LibraryShape::Mixed, bodies: BodyLength::Real };
        let once = || {
            let folder = tempfile::tempdir().unwrap();
            SyntheticLibrary::generate(folder.path(), order).unwrap();
            let mut found = BTreeSet::new();
            files(folder.path(), &mut found, folder.path());
            found
        };
        let (one, two) = (once(), once());
        assert!(one.len() > 250 && one == two);
    }

    #[test]
    fn every_kind_is_there_and_names_are_unique_but_for_the_copies() {
        let folder = tempfile::tempdir().unwrap();
        let order = SyntheticLibrarySpec { count: 400, shape: LibraryShape::Mixed, bodies: BodyLength::Short };
        let library = SyntheticLibrary::generate(folder.path(), order).unwrap();
        assert_eq!(library.skills.len(), 400);
        let names: BTreeSet<&str> = library.skills.iter().map(|made| made.qualified_name.as_str()).collect();
        assert_eq!(names.len(), 400 - library.count_by_status("shadowed"));
        for status in ["active", "hidden", "shadowed", "invalid"] {
            assert!(library.count_by_status(status) > 0, "{status}");
        }
        for scope in ["managed", "project", "personal", "package"] {
            assert!(library.skills.iter().any(|made| made.scope == scope), "{scope}");
        }
        assert!(library.skills.iter().all(|made| made.location.is_file()));
    }

    #[test]
    fn names_are_unique_up_to_the_most() {
        let names: BTreeSet<String> = (0..SKILLS_MAX).map(skill_name).collect();
        assert_eq!(names.len(), SKILLS_MAX);
    }

    #[test]
    fn lengths_are_those_of_public_skills() {
        let mut lengths: Vec<usize> =
            (1..2_000).map(|number| skill_text::generate_description(&mut SeededRandom::new(number)).len()).collect();
        lengths.sort_unstable();
        let (median, high) = (lengths[lengths.len() / 2], lengths[lengths.len() * 95 / 100]);
        assert!((260..320).contains(&median) && (600..760).contains(&high), "{median}, {high}");
        let mut bodies: Vec<usize> = (1..2_000)
            .map(|number| skill_text::generate_body(number, BodyLength::Real, &mut SeededRandom::new(number)).len() / 4)
            .collect();
        bodies.sort_unstable();
        assert!((950..1_300).contains(&bodies[bodies.len() / 2]), "{} tokens", bodies[bodies.len() / 2]);
    }
}
