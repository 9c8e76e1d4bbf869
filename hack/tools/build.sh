#!/usr/bin/env bash
# Builds what is missing of the programs that judge deploy/: helm and promtool.
#
# Their go.mod files name the versions of Kubernetes' modules that hack/controlplane has, so that
# after `make controlplane` most packages are compiled already.
set -euo pipefail

modules=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=tools
# shellcheck source=hack/programs.sh
source "$modules/../programs.sh"

helm=$(version_of helm helm.sh/helm/v3)
promtool=$(version_of promtool github.com/prometheus/prometheus)
target="$cache_home/tools/helm-${helm}_promtool-${promtool}"

begin
build helm helm helm.sh/helm/v3/cmd/helm \
  "-s -w -X helm.sh/helm/v3/internal/version.version=$helm"
# Tests of rules ask nobody for targets: without the clients of two dozen clouds.
build promtool promtool github.com/prometheus/prometheus/cmd/promtool \
  "-s -w -X github.com/prometheus/common/version.Version=${promtool#v}" remove_all_sd
