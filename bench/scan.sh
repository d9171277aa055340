#!/usr/bin/env bash
# Scores `rep scan` on labelled skills, with Cisco's skill-scanner beside it if it is installed:
#   bench/scan.sh [--rep FILE] DIR...      each DIR has malicious/NAME and benign/NAME
#
# A skill is flagged if it has a finding of level error; for the peer, of severity high or critical. Prints recall and false
# positives with 95 % Wilson intervals, and the processor time for each skill. Samples are data: nothing in them is run.
set -euo pipefail
cd "$(dirname "$0")/.."
rep=target/release/rep
if [ "${1:-}" = --rep ]; then rep=$2; shift 2; fi
[ $# -gt 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
exec python3 bench/scan/compare.py --rep "$rep" "$@"
