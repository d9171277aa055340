#!/usr/bin/env bash
# Checks skills for the action: annotations on stdout, a SARIF log, and a summary for the job.
# Inputs are environment variables, so that nothing in them is read as shell code.
set -uo pipefail

rep=${REP:-rep}
sarif=${REP_SARIF:-rep.sarif}
options=()
paths=()
while IFS= read -r path; do
  if [ -n "$path" ]; then paths+=("$path"); fi
done <<< "${REP_PATHS:-.}"
for profile in ${REP_PROFILE:-}; do options+=("--profile=$profile"); done
if [ -n "${REP_BASELINE:-}" ]; then options+=("--baseline=$REP_BASELINE"); fi
if [ -n "${REP_SINCE:-}" ]; then options+=("--since=$REP_SINCE"); fi

# The first run decides the exit code; the others take their results from the cache.
limits=("--fail-on=${REP_FAIL_ON:-error}")
if [ -n "${REP_MAX_WARNINGS:-}" ]; then limits+=("--max-warnings=$REP_MAX_WARNINGS"); fi
"$rep" check --format=github "${options[@]}" "${limits[@]}" -- "${paths[@]}"
code=$?
printf 'exit-code=%s\n' "$code" >> "$GITHUB_OUTPUT"
# Codes above 1 mean that nothing was checked, so there is no log.
if [ "$code" -gt 1 ]; then exit "$code"; fi

"$rep" check --format=sarif --fail-on=never "${options[@]}" -- "${paths[@]}" > "$sarif" || exit 2
printf 'sarif=%s\n' "$sarif" >> "$GITHUB_OUTPUT"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  {
    printf '### rep check\n\n```\n'
    "$rep" check --statistics --fail-on=never --color=never "${options[@]}" -- "${paths[@]}"
    printf '```\n'
  } >> "$GITHUB_STEP_SUMMARY"
fi
exit "$code"
