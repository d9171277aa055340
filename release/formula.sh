#!/usr/bin/env bash
# Writes a Homebrew formula for the archives in a directory: `release/formula.sh DIST ADDRESS`. ADDRESS is where the archives are
# published. The digests come from SHA256SUMS.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: release/formula.sh DIST ADDRESS" >&2; exit 2; }
dist=$1
address=$2
digest() {
  sed -n "s/^\([0-9a-f]\{64\}\)  \(rep-[0-9][^ ]*-$1\)\.tar\.gz\$/\1 \2/p" "$dist/SHA256SUMS" | tail -n 1
}
read -r intel_digest intel < <(digest x86_64-unknown-linux-gnu)
read -r arm_digest arm < <(digest aarch64-unknown-linux-gnu)
version=${intel#rep-}
cat <<RUBY
class Repertoire < Formula
  desc "Toolchain and runtime for agent skills"
  version "${version%-x86_64-unknown-linux-gnu}"
  license any_of: ["MIT", "Apache-2.0"]
  depends_on :linux

  on_intel do
    url "$address/$intel.tar.gz"
    sha256 "$intel_digest"
  end
  on_arm do
    url "$address/$arm.tar.gz"
    sha256 "$arm_digest"
  end

  def install
    bin.install "rep"
    generate_completions_from_executable(bin/"rep", "completions")
    system bin/"rep", "man", buildpath/"man"
    man1.install Dir[buildpath/"man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rep --version")
  end
end
RUBY
