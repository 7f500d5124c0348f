#!/bin/sh
# Installs `countersign` and `cueme` for one user, without root. Every file is checked against SHA256SUMS first.
set -eu

# A release fills in its own address here.
release=''

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

usage() {
  cat <<'END'
Installs countersign and cueme for one user, without root.

Usage: install.sh [--from URL|DIR] [--prefix DIR]
       install.sh --uninstall [--prefix DIR]

  --from URL|DIR  where SHA256SUMS and the archives are
                  [default: $COUNTERSIGN_FROM, else the release of this script,
                  else the directory of this script]
  --prefix DIR    programs go to DIR/bin [default: $PREFIX, else ~/.local]
END
}

main() {
  from=${COUNTERSIGN_FROM:-$release} prefix=${PREFIX:-} uninstall=
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --prefix) [ $# -gt 1 ] || fail "$1 needs a value" ;;
    esac
    case $1 in
      --from) from=$2 && shift ;;
      --prefix) prefix=$2 && shift ;;
      --uninstall) uninstall=yes ;;
      -h | --help) usage && exit ;;
      *) fail "unknown option $1; the options are --from, --prefix and --uninstall" ;;
    esac
    shift
  done
  [ -n "$prefix" ] || prefix=${HOME:?set HOME, or give --prefix}/.local
  # The list of installed files, one path below the prefix on each line.
  list=share/doc/countersign/installed-files

  if [ -n "$uninstall" ]; then uninstall; else install_release; fi
}

uninstall() {
  [ -f "$prefix/$list" ] || fail "nothing to remove: $prefix/$list is missing. Was another --prefix used?"
  while IFS= read -r file; do
    rm -f "$prefix/$file"
  done <"$prefix/$list"
  rm -f "$prefix/$list"
  rmdir "$prefix/share/doc/countersign" 2>/dev/null || true
  echo "Removed countersign and cueme from $prefix. Data directories are kept."
}

install_release() {
  # Only a script that was called by its file name has a directory; in a pipe, $0 is the shell.
  case $0 in
    *install.sh) [ -n "$from" ] || [ ! -f "$(dirname "$0")/SHA256SUMS" ] || from=$(dirname "$0") ;;
  esac
  [ -n "$from" ] || fail "where are the archives? Give --from with a URL or a directory"
  target=$(detect_target)
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch SHA256SUMS
  archive=$(awk -v end="-$target.tar.gz" \
    'length($2) > length(end) && substr($2, length($2) - length(end) + 1) == end {print $2}' "$scratch/SHA256SUMS")
  case $archive in
    '') fail "$from has no archive for $target" ;;
    *[!A-Za-z0-9._-]*) fail "$from has more than one archive for $target; name the directory of one release" ;;
  esac
  fetch "$archive"
  verify "$archive"

  mkdir "$scratch/unpacked"
  tar -xzf "$scratch/$archive" -C "$scratch/unpacked"
  tree=$scratch/unpacked/${archive%.tar.gz}
  # Before anything is replaced: a program for another system or a newer libc does not start.
  for program in countersign cueme; do
    version=$("$tree/bin/$program" --version) || fail "$program does not run on this system; see docs/install.md"
  done
  copy_tree
  echo "Installed countersign and cueme $version in $prefix/bin."
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  echo "Start the hub: countersign serve"
}

detect_target() {
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "no archive for the processor $(uname -m); build from source, see docs/install.md" ;;
  esac
  case $(uname -s) in
    Linux) echo "$machine-unknown-linux-gnu" ;;
    Darwin) echo "$machine-apple-darwin" ;;
    *) fail "no archive for $(uname -s); build from source, see docs/install.md" ;;
  esac
}

fetch() { # file name
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        # A redirect must not leave https.
        case $from in https://*) protocols='=https' ;; *) protocols='=http,https' ;; esac
        curl --proto-redir "$protocols" --fail --silent --show-error --location --output "$scratch/$1" "${from%/}/$1"
      elif command -v wget >/dev/null; then
        wget --quiet --output-document "$scratch/$1" "${from%/}/$1"
      else
        fail "needs curl or wget"
      fi || fail "cannot fetch ${from%/}/$1"
      ;;
    *) cp "$from/$1" "$scratch/$1" || fail "cannot read $from/$1" ;;
  esac
}

verify() { # file name
  expected=$(awk -v name="$1" '$2 == name {print $1}' "$scratch/SHA256SUMS")
  if command -v sha256sum >/dev/null; then
    actual=$(sha256sum "$scratch/$1")
  elif command -v shasum >/dev/null; then
    actual=$(shasum -a 256 "$scratch/$1")
  else
    fail "needs sha256sum or shasum to check the download"
  fi
  [ "${actual%% *}" = "$expected" ] ||
    fail "$1 does not match SHA256SUMS; nothing was installed. Expected $expected, got ${actual%% *}"
}

copy_tree() {
  (cd "$tree" && find bin share -type f) | sort >"$scratch/files"
  while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # A rename, because a running program cannot be overwritten.
    cp -p "$tree/$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
  done <"$scratch/files"
  # Files of the installed version that the new one no longer has.
  if [ -f "$prefix/$list" ]; then
    while IFS= read -r file; do
      grep -qxF "$file" "$scratch/files" || rm -f "$prefix/$file"
    done <"$prefix/$list"
  fi
  mkdir -p "$prefix/$(dirname "$list")"
  cp "$scratch/files" "$prefix/$list"
}

# In a function, so that a script that was cut off in a pipe does nothing.
main "$@"
