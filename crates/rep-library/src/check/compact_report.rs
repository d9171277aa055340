//! The report of a large library in little memory: findings are kept encoded, and decoded one file at a time.

use rep_check::{CheckReport, Finding, ReportOverview, SkillFacts, sort_and_dedup};

use super::encoding::{FileBlock, decode_block, encode_results};
use crate::discovery::SkillLocation;

/// The findings of a check, sorted by file and location.
#[derive(Default)]
pub struct CompactReport {
    /// The number of checked skills.
    pub skills: usize,
    /// Encoded results.
    results: Vec<Box<[u8]>>,
    /// The files with findings, and the number of the result that contains them.
    files: Vec<(FileBlock, u32)>,
    /// Whether each finding was dropped by [`CompactReport::retain`], in the order of the findings.
    dropped: Vec<bool>,
    is_sorted: bool,
}

impl CompactReport {
    /// Adds an encoded result.
    pub(super) fn add_result(&mut self, bytes: Box<[u8]>) -> u32 {
        self.results.push(bytes);
        u32::try_from(self.results.len() - 1).expect("fewer skills than numbers")
    }

    /// Returns an encoded result.
    pub(super) fn result(&self, number: u32) -> &[u8] {
        &self.results[number as usize]
    }

    /// Adds the files of a result that are reported.
    pub(super) fn add_files(&mut self, result: u32, blocks: impl IntoIterator<Item = FileBlock>) {
        self.files.extend(blocks.into_iter().map(|block| (block, result)));
        self.is_sorted = false;
    }

    /// Adds findings that are not about one skill.
    pub(super) fn add_findings(&mut self, mut findings: Vec<Finding>) {
        if findings.is_empty() {
            return;
        }
        sort_and_dedup(&mut findings);
        let shown = String::new();
        let found = SkillLocation { shown, path: "".into(), is_lone_file: false, is_linked: false };
        let facts = SkillFacts {
            name: None,
            place: findings[0].place.clone(),
            depends_on: Vec::new(),
            has_manifest: false,
            profiles: Vec::new(),
        };
        let bytes = encode_results(&[(found, facts, findings)]).into_boxed_slice();
        let skills = super::encoding::decode_results(&bytes).expect("what was encoded can be decoded");
        let result = self.add_result(bytes);
        self.add_files(result, skills.into_iter().flat_map(|skill| skill.blocks));
    }

    /// Sorts the files. Must be called before findings are read.
    pub(super) fn sort_files(&mut self) {
        self.files
            .sort_by(|(one, first), (two, second)| (&one.path, first, one.start).cmp(&(&two.path, second, two.start)));
        self.is_sorted = true;
    }

    /// Passes every finding that is reported, in order.
    pub fn for_each(&self, mut take: impl FnMut(&Finding)) {
        let mut number = 0;
        for group in self.files.chunk_by(|(one, _), (two, _)| one.path == two.path) {
            for finding in self.decode_file(group) {
                if !self.dropped.get(number).copied().unwrap_or(false) {
                    take(&finding);
                }
                number += 1;
            }
        }
    }

    /// Keeps only the findings that `keep` accepts. They are passed in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Finding) -> bool) {
        let mut dropped = Vec::new();
        for group in self.files.chunk_by(|(one, _), (two, _)| one.path == two.path) {
            for finding in self.decode_file(group) {
                let is_dropped = self.dropped.get(dropped.len()).copied().unwrap_or(false);
                dropped.push(is_dropped || !keep(&finding));
            }
        }
        self.dropped = dropped;
    }

    /// Counts the findings.
    pub fn overview(&self) -> ReportOverview {
        let mut overview = ReportOverview::default();
        overview.summary.skills = self.skills;
        self.for_each(|finding| overview.add(finding));
        overview
    }

    /// Decodes all findings.
    pub fn into_report(self) -> CheckReport {
        let mut findings = Vec::new();
        self.for_each(|finding| findings.push(finding.clone()));
        CheckReport { findings, skills: self.skills }
    }

    /// Decodes the findings of one file. A skill and the one that contains it may both report about it.
    fn decode_file(&self, blocks: &[(FileBlock, u32)]) -> Vec<Finding> {
        debug_assert!(self.is_sorted, "files are sorted before findings are read");
        let decode = |(block, result): &(FileBlock, u32)| {
            let bytes = &self.results[*result as usize];
            decode_block(bytes, block.start).expect("results are decoded completely before they are added")
        };
        let mut findings: Vec<Finding> = blocks.iter().flat_map(decode).collect();
        if blocks.len() > 1 {
            sort_and_dedup(&mut findings);
        }
        findings
    }
}
