//! Turns the signals of a scan into findings.

use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;

/// Reports every signal of one kind, with the place that the data came from.
pub(crate) fn report_signals(scan: &SkillScan, kind: SignalKind, help: &str, findings: &mut Findings<'_>) {
    for signal in scan.signals_of(kind) {
        let finding = findings.add(&signal.file, signal.span, signal.message.as_str()).help(help);
        if let Some(origin) = &signal.origin {
            finding.with_related(&origin.file, origin.span, origin.message.as_str());
        }
    }
}
