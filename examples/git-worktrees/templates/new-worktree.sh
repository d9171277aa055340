#!/usr/bin/env bash
# Creates a worktree beside the project, with a new branch: new-worktree.sh BRANCH [BASE]
set -euo pipefail

if (($# < 1 || $# > 2)); then
  echo "usage: new-worktree.sh BRANCH [BASE]" >&2
  exit 2
fi
branch=$1
base=${2:-HEAD}

top=$(git rev-parse --show-toplevel)
home=${WORKTREES_HOME:-..}
if [[ $home != /* ]]; then home=$top/$home; fi
folder=$home/${top##*/}-${branch//\//-}

if [[ -e $folder ]]; then
  echo "$folder exists already" >&2
  exit 1
fi
git -C "$top" worktree add -b "$branch" "$folder" "$base" >&2
cd "$folder"
pwd
