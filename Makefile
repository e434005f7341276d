# Evenkeel. `make` lists the targets; `make demo` and `make test` need Go only.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := $(CURDIR)/bin
override VERSION := $(VERSION:v%=%)

# The lab runs a control plane of version KUBE. Tests link one of version LABKUBE; for another version, such as
# KUBE=v1.34.4, they run the programs, too.
LABKUBE := v1.37.1
KUBE := $(LABKUBE)
ETCD := $(shell sed -n 's,.*go.etcd.io/etcd/server/v3 \(v[0-9.]*\).*,\1,p' lab/go.mod)
KWOK := $(shell sed -n 's,.*sigs.k8s.io/kwok \(v[0-9.]*\).*,\1,p' lab/kwok/go.mod)
minor = $(word 2,$(subst ., ,$(1)))
version-flags = -X k8s.io/component-base/version.gitVersion=$(1) -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$(call minor,$(1))
LABFLAGS := $(call version-flags,$(LABKUBE))
ifneq ($(KUBE),$(LABKUBE))
export EVENKEEL_KUBE := $(BIN)/kube-$(KUBE)
endif

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/evenkeel, static
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $(BIN)/evenkeel ./cmd/evenkeel

.PHONY: man
man: ## bin/man: a manual page for each command
	mkdir -p $(BIN)/man && go test ./cmd/evenkeel -count=1 -run '^TestManPages$$' -args -man $(BIN)/man

# The image needs no container engine. Its digest depends only on the commit, VERSION, SOURCE_DATE_EPOCH and the version of Go.
.PHONY: image
image: ## bin/image: the container image for linux/amd64 and arm64; PUSH=REGISTRY/NAME pushes it, VERSION=1.2.3 sets version and tag, UNTAGGED=yes pushes no tag, REPLACE=yes replaces the tag of another image
	@cd tools/release && go run . image -o $(BIN)/image $(if $(filter-out undefined,$(origin PUSH)),-push "$(PUSH)") $(if $(NAME),-name $(NAME)) $(if $(VERSION),-version $(VERSION)) $(if $(UNTAGGED),-untagged) $(replace)

replace = $(if $(REPLACE),-replace)

# The first clone has a tag, from which the go command could derive a version. The second has no tags.
.PHONY: image-reproducible
image-reproducible: ## build the image of the last commit in two folders, the second time with an empty build cache; the digests must be equal
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	git clone -q . "$$dir/a" && git -C "$$dir/a" tag v0.99.0 && git clone -q --no-tags . "$$dir/another/folder" && \
	first=$$(cd "$$dir/a/tools/release" && go run . image -o "$$dir/image-1" $(if $(VERSION),-version $(VERSION))) && \
	second=$$(cd "$$dir/another/folder/tools/release" && GOCACHE="$$dir/cache" go run . image -o "$$dir/image-2" $(if $(VERSION),-version $(VERSION))) && \
	if [ "$$first" = "$$second" ]; then echo "both builds: $$first"; else echo "the builds differ: $$first and $$second"; exit 1; fi

.PHONY: cyclonedx
cyclonedx:
	@cd tools/sbom && go build -o $(BIN)/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

.PHONY: sbom
sbom: cyclonedx ## bin/sbom.cdx.json: the modules in bin/image, as CycloneDX; IMAGE=REGISTRY/NAME@sha256:... attaches it to that image
	@cd tools/release && go run . sbom -image $(BIN)/image -tool $(BIN)/cyclonedx-gomod -o $(BIN)/sbom.cdx.json $(if $(IMAGE),-attach $(IMAGE))

.PHONY: sign
sign: ## sign with KEY=FILE: IMAGE=REGISTRY/NAME@sha256:... for cosign, FILES=... for openssl, FOLDER=... with checksums and public key; PUBLIC=FILE fails if that is not the public key; COSIGN_PASSWORD is the key's password
	@if [ -z "$(KEY)" ]; then echo "set KEY=FILE, a private key (docs/image.md#signatures)"; exit 1; fi
	@if [ -z "$(IMAGE)$(FILES)$(FOLDER)" ]; then echo "set IMAGE=REGISTRY/NAME@sha256:..., FILES=... or FOLDER=..."; exit 1; fi
	@$(if $(IMAGE),cd tools/release && go run . sign -key $(abspath $(KEY)) $(if $(PUBLIC),-public $(abspath $(PUBLIC))) -image $(IMAGE))
	@$(if $(FILES),cd tools/release && go run . sign -key $(abspath $(KEY)) $(if $(PUBLIC),-public $(abspath $(PUBLIC))) $(abspath $(FILES)))
	@$(if $(FOLDER),cd tools/release && go run . sign -key $(abspath $(KEY)) $(if $(PUBLIC),-public $(abspath $(PUBLIC))) -folder $(abspath $(FOLDER)))

.PHONY: archives
archives: cyclonedx ## bin/archives: the program for Linux, macOS and Windows, SBOMs, checksums, and a manifest for krew, kubectl's plugin manager
	@rm -rf $(BIN)/archives
	@cd tools/release && go run . archives -o $(BIN)/archives -sbom $(BIN)/cyclonedx-gomod $(if $(VERSION),-version $(VERSION))

.PHONY: manifests
manifests: ## bin/manifests: install.yaml and kustomize bases for IMAGE=REGISTRY/NAME@sha256:...
	@rm -rf $(BIN)/manifests
	@cd tools/release && go run . manifests -o $(BIN)/manifests -image "$(IMAGE)"

CHARTVERSION = $(or $(VERSION),$(shell sed -n 's/^version: //p' charts/evenkeel/Chart.yaml))
CHARTFILE = evenkeel-$(CHARTVERSION).tgz

.PHONY: helm
helm: ## bin/helm from its Go module, for the chart (4 minutes at first)
	@cd lab/helm && go build -o $(BIN)/helm helm.sh/helm/v4/cmd/helm

.PHONY: chart
chart: helm ## bin/evenkeel-VERSION.tgz: the chart as a package, whose default image is IMAGE=REGISTRY/NAME@sha256:... or none; the same commit gives the same bytes
	@cd tools/release && go run . chart -helm $(BIN)/helm -o $(BIN) $(if $(VERSION),-version $(VERSION)) $(if $(IMAGE),-image $(IMAGE))

.PHONY: release-files
release-files: archives manifests chart sbom ## bin/release-files: every file of a release, of bin/image, for IMAGE=REGISTRY/NAME@sha256:... and VERSION=1.2.3; `make sign FOLDER=...` signs them
	@$(lint-krew) $(BIN)/archives/evenkeel.yaml
	@rm -rf $(BIN)/release-files && cp -r $(BIN)/archives $(BIN)/release-files
	@cp $(BIN)/manifests/install.yaml $(BIN)/manifests/kustomize.tar.gz $(BIN)/sbom.cdx.json $(BIN)/$(CHARTFILE) $(BIN)/release-files
	@rm $(BIN)/release-files/checksums.txt # it lists the archives only; `make sign` writes that of all files

# Every step can run again, and changes nothing that is done. The image gets its tag when all but the chart is signed.
.PHONY: release
release: ## the release VERSION=1.2.3 of the last commit: image and chart in PUSH=REGISTRY/FOLDER and bin/release-files, all signed with KEY=FILE; PUBLIC=FILE fails if that is not the public key
	@if [ -z "$(VERSION)" ] || [ -z "$(PUSH)" ] || [ ! -s "$(KEY)" ]; then echo "set VERSION=1.2.3, PUSH=REGISTRY/FOLDER and KEY=FILE, a private key (docs/contributing/releasing.md)"; exit 1; fi
	@if [ -n "$(PUBLIC)" ] && [ ! -s "$(PUBLIC)" ]; then echo "there is no $(PUBLIC), the public key (docs/contributing/releasing.md)"; exit 1; fi
	@cd tools/release && go run . version -tag "v$(VERSION)" > /dev/null
	@image=$$($(MAKE) -s image PUSH="$(PUSH)/evenkeel" UNTAGGED=yes) && \
	$(MAKE) --no-print-directory release-files IMAGE="$$image" && \
	$(MAKE) --no-print-directory sign IMAGE="$$image" FOLDER=$(BIN)/release-files && \
	(cd tools/release && go run . tag -image "$$image" -version "$(VERSION)" $(replace)) && \
	chart=$$(cd tools/release && go run . push-chart -helm $(BIN)/helm -chart $(BIN)/$(CHARTFILE) -push "$(PUSH)/charts" $(replace)) && \
	$(MAKE) --no-print-directory sign IMAGE="$$chart" && \
	echo "image $$image, chart $$chart, files in bin/release-files"

# It runs the scripts of the job `release` of .github/workflows/release.yml, twice, with a registry on this machine.
.PHONY: test-release
test-release: ## release the last commit to a registry on this machine, twice, and verify image, files and signatures (builds the program for 5 platforms, helm and cyclonedx-gomod: up to an hour with a cold build cache; needs openssl)
	cd tools/release && EVENKEEL_TEST_RELEASE=yes go test -count=1 -timeout 60m -v -run '^TestRelease$$' .

lint-krew = cd tools/krew && go run sigs.k8s.io/krew/cmd/validate-krew-manifest -skip-install -manifest
.PHONY: lint-release
lint-release: ## check the workflows with actionlint, and the manifest for krew with krew's own validator (a minute)
	cd tools/actionlint && go run github.com/rhysd/actionlint/cmd/actionlint -shellcheck= -pyflakes= $(wildcard $(CURDIR)/.github/workflows/*.yml)
	$(lint-krew) $(CURDIR)/tools/release/archives/testdata/evenkeel.yaml

.PHONY: vulnerabilities
vulnerabilities: ## known vulnerabilities in the program and in tools/release (needs the database of vuln.go.dev)
	cd tools/govulncheck && go build -o $(BIN)/govulncheck golang.org/x/vuln/cmd/govulncheck
	$(BIN)/govulncheck ./...
	cd tools/release && $(BIN)/govulncheck ./...

.PHONY: registry
registry: ## serve an empty container registry on localhost:5000, to try `make image PUSH=localhost:5000/evenkeel`
	@cd tools/release && go run . registry

# bin/lab has the flags of bin/evenkeel, so the packages of both are compiled once.
.PHONY: lab
lab: build ## bin/lab, and the programs of a control plane and kwok: those of this machine, downloads (EVENKEEL_MIRROR=URL, or off), or compiled
	cd lab && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $(LABFLAGS)" -o $(BIN)/lab ./cmd/lab
	@missing=$$($(BIN)/lab programs -folder $(BIN) kube@$(KUBE) etcd@$(ETCD) kwok@$(KWOK)) && if [ -n "$$missing" ]; then $(MAKE) --no-print-directory $$missing; fi
	@ln -sf ../etcd-$(ETCD)/etcd $(BIN)/kube-$(KUBE)/etcd
	@ln -sf kwok-$(KWOK)/kwok $(BIN)/kwok

# $(call compile,MODULE,FOLDER,PROGRAM,PACKAGE,FLAGS): a program that appears in its folder when it is whole
compile = cd $(1) && go build -ldflags "-s -w $(5)" -o $(BIN)/$(2)/.$(3) $(4) && mv $(BIN)/$(2)/.$(3) $(BIN)/$(2)/$(3)
KUBEMODULE = $(if $(filter $(LABKUBE),$(KUBE)),lab,lab/kube1$(call minor,$(KUBE)))
KUBEPROGRAMS = kube-apiserver kube-controller-manager kube-scheduler
.PHONY: kube $(KUBEPROGRAMS) etcd kwok
kube: $(KUBEPROGRAMS) ## compile bin/kube-VERSION: kube-apiserver, kube-controller-manager and kube-scheduler of KUBE=v1.34.4
$(KUBEPROGRAMS):
	@grep -q "k8s.io/kubernetes $(KUBE)$$" $(KUBEMODULE)/go.mod || { echo "$(KUBEMODULE) does not pin Kubernetes $(KUBE) (want KUBE=v1.34.4 or KUBE=$(LABKUBE))"; exit 1; }
	$(call compile,$(KUBEMODULE),kube-$(KUBE),$@,k8s.io/kubernetes/cmd/$@,$(call version-flags,$(KUBE)))
etcd:
	$(call compile,lab,etcd-$(ETCD),etcd,go.etcd.io/etcd/server/v3)
kwok:
	$(call compile,lab/kwok,kwok-$(KWOK),kwok,sigs.k8s.io/kwok/cmd/kwok)

.PHONY: demo
demo: lab ## rebalance a real cluster and watch it, and write the plan to bin/demo.html (the first run downloads or compiles a control plane)
	$(BIN)/lab demo --evenkeel $(BIN)/evenkeel --kwok $(BIN)/kwok --report $(BIN)/demo.html

.PHONY: check
check: lint test-unit ## lint and unit tests; run it before each commit (10 minutes on two cores; less if results are cached)

.PHONY: test
test: check test-oracle test-lab test-drills ## check, 10,000 cases against kube-scheduler's plugins, short end-to-end tests and drills in the lab

.PHONY: test-unit
test-unit: ## unit tests and scenarios
	go test -vet=off -timeout 20m ./... # lint vets
	cd tools && go test ./...
	cd tools/release && go test ./...
	cd tools/helmdocs && go test -count=1 ./...
	cd tools/controllergen && go test -count=1 ./...

.PHONY: test-lab
test-lab: lab ## short end-to-end tests in the lab, with a real API server and scheduler
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 15m -short ./e2e
	cd lab && go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 10m -short ./budgets

.PHONY: drills
drills: lab ## evictions with injected faults, 1 to 2 hours; DRILLS='-run growth' runs one drill and can be resumed
	$(BIN)/lab drills -evenkeel $(BIN)/evenkeel -kwok $(BIN)/kwok -results $(BIN)/drills.json -keep $(BIN)/drills $(DRILLS)

.PHONY: test-drills
test-drills: lab ## a few repetitions of short drills, and tests of their audit verifier
	cd lab && go test -count=1 -timeout 5m ./auditverifier ./proxy
	$(BIN)/lab drills -short -evenkeel $(BIN)/evenkeel -kwok $(BIN)/kwok

.PHONY: test-lab-long
test-lab-long: lab ## test-lab with all 20 repetitions of the seed scenario, a node removed from 10 clusters in 10 orders each, and test-landings
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 90m -v ./e2e/...
	$(MAKE) test-landings

.PHONY: test-trust
test-trust: lab ## trust in the scheduler: 10,000 bindings on 300 nodes, and a server that calls itself 1.39 (an hour)
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 90m -v -run StaysTrusted ./e2e -args -bindings 10000
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(call version-flags,v1.39.1)" -count=1 -timeout 20m -v -run NewerServer ./e2e

.PHONY: test-landings
test-landings: lab ## compare 500 placements and a pass of 200 moves on 300 nodes with the predictions
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 60m -v ./landings

.PHONY: test-kube
test-kube: lab ## with KUBE=v1.34.4: the seed scenario ten times, 100 placements, one kill and 150 budgets on that control plane
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 20m -v -run 'TestTheServerHasTheChosenVersion|TestObjects|TestTwoMovesLevelAZoneSkew/^([1-9]|10)$$' ./e2e
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 20m -v -run RealPlacements ./landings -placements 100
	cd lab && go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 20m -v -short ./budgets
	$(BIN)/lab drills -run kill-9 -reps 1 -evenkeel $(BIN)/evenkeel -kwok $(BIN)/kwok

.PHONY: test-security
test-security: lab ## attacks on a real API server: hostile credentials, objects, admission and webhooks
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 20m -v -run "^TestSecurity" ./e2e

.PHONY: test-strategies
test-strategies: lab ## strategies end to end: the violation ends, a second pass moves nothing
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 30m -v -run "^TestStrategies" ./e2e

.PHONY: test-modes
test-modes: lab ## strategies in three modes with approvals and a killed leader, and a node that joins (10 minutes); MODES='-approval-delay 20m'
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 60m -v -run 'TestThreeModes|TestANodeThatJoinsIsUsed' ./e2e -args $(MODES)

# What test-web and docs-pictures need: Debian's browser, and axe-core, which checks accessibility. Without them, tests
# are skipped and say so.
BROWSER := chromium-headless-shell
AXE := axe-core-4.14.1
AXESUM := 1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5
.PHONY: web-tools
web-tools:
	@if command -v $(BROWSER) >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then echo "there is no $(BROWSER) here; only root on Debian can install it: tests in a browser are skipped"; exit 0; fi; \
	install="apt-get install -y --no-install-recommends $(BROWSER)"; \
	$$install || { apt-get update && $$install; } || echo "$(BROWSER) cannot be installed: tests in a browser are skipped"
	@if [ -f $(BIN)/$(AXE)/axe.min.js ]; then exit 0; fi; mkdir -p $(BIN)/$(AXE) && cd $(BIN)/$(AXE); \
	if ! command -v npm >/dev/null || ! npm pack --silent $(subst core-,core@,$(AXE)); then echo "npm cannot fetch $(AXE): accessibility is not checked"; exit 0; fi; \
	echo "$(AXESUM)  $(AXE).tgz" | sha512sum --check --quiet && tar xzf $(AXE).tgz --strip-components 1 package/axe.min.js package/LICENSE && rm $(AXE).tgz

WEBENV = EVENKEEL_BROWSER=$(BROWSER) EVENKEEL_AXE=$(BIN)/$(AXE)/axe.min.js EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok
.PHONY: test-web
test-web: lab web-tools ## reports and `evenkeel ui` in a browser, on the lab; pictures of the pages below bin/web (5 minutes; as root on Debian it installs the browser)
	cd lab && $(WEBENV) EVENKEEL_WEB_PICTURES=$(BIN)/web go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 20m -v ./webtest

.PHONY: docs-pictures
docs-pictures: lab web-tools ## docs/pictures: the pictures of README and docs, from the demo and the lab (needs the browser of test-web)
	$(BIN)/lab demo --evenkeel $(BIN)/evenkeel --kwok $(BIN)/kwok --report $(BIN)/demo.html
	cd lab && $(WEBENV) go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 10m -v -run '^TestPictures' ./webtest -args -pictures $(CURDIR)/docs/pictures -demo $(BIN)/demo.html

# What measures usage in test-load. metrics-server is built with the versions that its
# module pins; Prometheus' programs are Debian's, unpacked and not installed.
.PHONY: metrics-server
metrics-server: ## bin/metrics-server
	cd lab/metricsserver && go build -ldflags "-s -w" -o $(BIN)/metrics-server sigs.k8s.io/metrics-server/cmd/metrics-server

.PHONY: load-tools
load-tools: metrics-server debian-tools ## bin/metrics-server, load-watcher's client, and Debian's Prometheus, Pushgateway and node_exporter below bin/debian
	cd lab/watcherclient && go build -o $(BIN)/watcherclient .

DEBIAN := prometheus prometheus-pushgateway prometheus-node-exporter
.PHONY: debian-tools
debian-tools:
	@if ls $(DEBIAN:%=$(BIN)/debian/usr/bin/%) >/dev/null 2>&1; then exit 0; fi; \
	for tool in apt-get dpkg; do command -v $$tool >/dev/null || { echo "this target needs $(DEBIAN) of Debian, and there is no $$tool here: put their programs into $(BIN)/debian/usr/bin yourself"; exit 1; }; done; \
	echo "fetching $(DEBIAN) (27 MB) with apt-get download, to unpack them in $(BIN)/debian; nothing is installed"; \
	mkdir -p $(BIN)/debian && cd $(BIN)/debian && rm -f *.deb && \
	{ apt-get download $(DEBIAN) || { apt-get update && apt-get download $(DEBIAN); } || { echo "the packages cannot be fetched: is there a network, and a Debian in /etc/apt?"; exit 1; }; } && \
	for deb in *.deb; do dpkg -x $$deb . && rm $$deb; done && rm -rf etc lib var usr/lib usr/share # examples in Go among it

LOADENV = EVENKEEL_WATCHERCLIENT=$(BIN)/watcherclient EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok EVENKEEL_METRICS_SERVER=$(BIN)/metrics-server EVENKEEL_PROMETHEUS=$(BIN)/debian/usr/bin/prometheus EVENKEEL_PUSHGATEWAY=$(BIN)/debian/usr/bin/prometheus-pushgateway EVENKEEL_NODE_EXPORTER=$(BIN)/debian/usr/bin/prometheus-node-exporter
.PHONY: test-load
test-load: lab load-tools ## hints and balancing by load with a real metrics-server and a real Prometheus; LOAD=-short runs fewer cases
	cd lab && $(LOADENV) go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 40m -v $(LOAD) ./load

.PHONY: test-monitoring
test-monitoring: lab load-tools ## the chart's alerts under promtool, and every query of its dashboard against a real Prometheus
	cd lab && $(LOADENV) EVENKEEL_PROMTOOL=$(BIN)/debian/usr/bin/promtool go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 15m -v ./monitoring

.PHONY: dashboard
dashboard: ## write the Grafana dashboard of the chart
	cd tools && go run ./dashboard > $(CURDIR)/charts/evenkeel/files/dashboard.json

.PHONY: budgets
budgets: ## 2,000 random budgets against the real server (several minutes)
	cd lab && go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 60m -v ./budgets

.PHONY: crds
crds: ## CustomResourceDefinitions of the chart, from package api/v1alpha1
	go tool -modfile=tools/controllergen/go.mod controller-gen crd paths=./api/... output:crd:dir=charts/evenkeel/files/crds

.PHONY: helm-docs
helm-docs: ## README of the chart, from README.md.gotmpl and the comments of values.yaml
	cd tools/helmdocs && go tool helm-docs --chart-search-root ../../charts/evenkeel --sort-values-order file

.PHONY: test-chart
test-chart: lab ## goldens of the chart, and helm install and kubectl apply in the lab (needs kubectl)
	cd lab/helm && go build -o $(BIN)/helm helm.sh/helm/v4/cmd/helm && EVENKEEL_HELM=$(BIN)/helm go test -count=1 .
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok EVENKEEL_HELM=$(BIN)/helm go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 45m ./charttest

.PHONY: test-helm3
test-helm3: helm lab ## the objects that Helm 3 makes of the chart, against those of Helm 4, for each row of the pairwise table; and releases of Helm 3 in the lab (needs kubectl)
	cd lab/helm3 && go build -o $(BIN)/helm3 helm.sh/helm/v3/cmd/helm
	cd lab/helm && EVENKEEL_HELM=$(BIN)/helm EVENKEEL_HELM3=$(BIN)/helm3 go test -count=1 -v -run 'Helm3|Strategies' .
	cd lab && EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok EVENKEEL_HELM=$(BIN)/helm3 go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 30m -v -run '^Test(InstallAs|CRDs|Upgrade|Rollback|Uninstalling)' ./charttest

.PHONY: test-image
test-image: lab image debian-tools ## the image's files, and its program under chroot with the chart's pod and an HTTPS Prometheus (Linux, as root)
	cd lab/helm && go build -o $(BIN)/helm helm.sh/helm/v4/cmd/helm
	cd tools/release && go build -o $(BIN)/release .
	cd lab && EVENKEEL_RELEASE=$(BIN)/release EVENKEEL_IMAGE=$(BIN)/image EVENKEEL_PROMETHEUS=$(BIN)/debian/usr/bin/prometheus EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok EVENKEEL_HELM=$(BIN)/helm go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 20m -v ./rootfs ./imagetest

.PHONY: test-guides
test-guides: lab ## the commands of README and docs as they are written, with helm, kubectl and the descheduler's own chart (20 minutes)
	cd lab/helm && go build -o $(BIN)/helm helm.sh/helm/v4/cmd/helm
	cd lab && EVENKEEL_LAB=$(BIN)/lab EVENKEEL_PEER_CHART="$$(go mod download -json $(PEER) | sed -n 's/^\t"Dir": "\(.*\)",*$$/\1/p')/charts/descheduler" EVENKEEL_BIN=$(BIN)/evenkeel EVENKEEL_KWOK=$(BIN)/kwok EVENKEEL_HELM=$(BIN)/helm go test -ldflags "-s -w $(LABFLAGS)" -count=1 -timeout 40m -v ./guides

# The plugins of an older kube-scheduler run in a process of their own, which is built with the modules of that version.
# The first build of a version takes about 4 minutes of CPU time (measured for 1.33, 1.34 and 1.35).
$(BIN)/real%: FORCE
	cd lab/oracle && go build -modfile=go$*.mod -tags kube$* -o $@ ./cmd/real
.PHONY: FORCE

.PHONY: oracle
oracle: oracle-137 oracle-136 oracle-135 oracle-134 oracle-133 ## predicted placements against the plugins of kube-scheduler 1.37 and 1.36 (50,000 each), and 1.35, 1.34 and 1.33 (20,000 each)

oracle-137: FORCE
	cd lab/oracle && go test -count=1 -timeout 60m -v -skip Calibrated .
oracle-136: ORACLE_CASES = 50000
oracle-133 oracle-134 oracle-135: ORACLE_CASES = 20000
oracle-133 oracle-134 oracle-135 oracle-136: oracle-%: $(BIN)/real%
	cd lab/oracle && go test -count=1 -timeout 60m -v . -oracle.old=$(BIN)/real$* -oracle.cases=$(ORACLE_CASES)

.PHONY: calibration
calibration: ## 20,000 placements on 100 to 2,000 nodes with the whole algorithm of the scheduler: the share of correct predictions
	cd lab/oracle && go test -count=1 -timeout 30m -v -run Calibrated .

.PHONY: test-oracle
test-oracle: $(BIN)/real136 ## 5,000 placements each against the plugins of 1.37 and 1.36, and 2,000 with node sampling
	cd lab/oracle && go test -count=1 -timeout 10m -short ./...
	cd lab/oracle && go test -count=1 -timeout 10m -short . -oracle.old=$(BIN)/real136

.PHONY: conformance
conformance: ## compare plans with 237 recorded cases of the descheduler's plugins (seconds); CASES=DIR compares other cases in the same format
	go test -count=1 -v -run TestConformance ./verify/conformance $(if $(CASES),-args -cases $(abspath $(CASES)))

.PHONY: fuzz
fuzz: ## run each fuzz test for one minute
	go test -run '^$$' -fuzz FuzzRead -fuzztime 1m ./cluster
	go test -run '^$$' -fuzz FuzzLoad -fuzztime 1m ./config
	go test -run '^$$' -fuzz FuzzParse -fuzztime 1m ./internal/cron
	go test -run '^$$' -fuzz FuzzWindow -fuzztime 1m ./internal/cron
	go test -run '^$$' -fuzz FuzzAnnotations -fuzztime 1m ./cluster/annotation
	go test -run '^$$' -fuzz FuzzBudget -fuzztime 1m ./planner/eligibility/budget

.PHONY: lint
lint: structure ## gofmt, vet, staticcheck, structure
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt wants to change:"; echo "$$out"; exit 1; fi
	go vet ./...
	go run -modfile tools/go.mod honnef.co/go/tools/cmd/staticcheck ./...

.PHONY: structure
structure: ## lines, types, methods and circles of the code, and their limits (STRUCTURE="-v ./planner/..." for how files refer to each other)
	cd tools && go build -o $(BIN)/structure ./structure
	$(BIN)/structure $(STRUCTURE)

.PHONY: words
words: ## words of the documentation by page, and their limits
	go test ./internal/repository -count=1 -v -run '^TestWords$$' -args -words

.PHONY: mutants
mutants: ## break the safety core in 150 small ways; a test must notice each (1 to 3 hours, resumable; MUTANTS="-area guards" for less)
	cd tools && go build -o $(BIN)/mutants ./mutants
	$(BIN)/mutants -results $(BIN)/mutants.jsonl $(MUTANTS)

.PHONY: rejections
rejections: ## list the rejections of guards, budgets, limits, recheck and evictor that no unit test executes (3 minutes)
	cd tools && go build -o $(BIN)/rejections ./rejections
	$(BIN)/rejections

.PHONY: bench
bench: ## benchmarks of the planner and the snapshot reader
	go test -timeout 60m -run '^$$' -bench . -benchmem ./cluster/... ./placement/... ./planner/... ./cmd/...

COMMIT = $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(shell git diff --quiet HEAD -- ':!docs' 2>/dev/null || echo -dirty)
.PHONY: bench-program
bench-program:
	cd lab && go build -ldflags "-s -w $(LABFLAGS)" -o $(BIN)/bench ./bench

.PHONY: bench-rate
bench-rate: bench-program lab peer ## evictions per second, compared with the descheduler, on 500 nodes and 10,000 pods (resumable; BENCH="-nodes 100 -pods 2000" for less)
	$(BIN)/bench $(BENCH)

.PHONY: bench-peer
bench-peer: bench-program lab peer ## compare Evenkeel with the descheduler: planning for four clusters, and passes until no eviction is needed (hours; resumable; BENCH="-dry 60/1200 -live= -real=" for less, BENCH="-snapshot FILE" for the cluster in a snapshot)
	$(BIN)/bench peer -commit "$(COMMIT)" $(BENCH)

.PHONY: bench-peer-short
bench-peer-short: bench-program lab peer ## bench-peer in half an hour: two sizes, fewer runs
	$(BIN)/bench peer -commit "$(COMMIT)" -dry 500/10000,5000/100000 -dry-runs 1 -live 5000/100000 -live-runs 1 -real 500/10000 -real-runs 1 $(BENCH)

.PHONY: bench-commits
bench-commits: bench-program ## compare planning time and its growth from 500 to 15,000 nodes with BASE=COMMIT, in turns (BENCH="-count 1" for less)
	$(BIN)/bench commits -base "$(BASE)" $(BENCH)

.PHONY: bench-consolidation
bench-consolidation: bench-program lab peer ## compare the nodes that Evenkeel and the descheduler's HighNodeUtilization empty, on 500 nodes that are 35 % full (resumable; BENCH="-nodes 60 -pods 840" for less)
	$(BIN)/bench consolidation $(BENCH)

# The descheduler is built as its own authors do, with the versions its module pins.
PEER := sigs.k8s.io/descheduler@v0.36.0
.PHONY: peer
peer: ## bin/descheduler, for the comparison benchmarks
	cd "$$(go mod download -json $(PEER) | sed -n 's/^\t"Dir": "\(.*\)",*$$/\1/p')" && CGO_ENABLED=0 go build -mod=readonly -ldflags "-s -w" -o $(BIN)/descheduler ./cmd/descheduler

.PHONY: test-peer
test-peer: ## converted policies beside the plugins of the descheduler, from its module: every field, every value of the chart, every published policy, 600 random clusters (PEER_TEST="-args -clusters 100" for more)
	cd lab/descheduler && go test -count=1 -timeout 20m -v . $(PEER_TEST)

.PHONY: quality
quality: ## quality of plans: 500 clusters against the lower bound, 500 against the best plan, advice about capacity on 50, and a day of 1,000 nodes
	go test -count=1 -timeout 120m -v ./verify/quality -args -long
	go test -count=1 -timeout 60m -v -run TestAdvice ./impact -args -advice 50
	$(MAKE) simulate

.PHONY: simulate
simulate: ## simulate 50 passes with noisy usage, replacements that land elsewhere, a day of 1,000 nodes with churn, and all strategies together
	go test -count=1 -timeout 120m -v ./verify/simulation/passes -args -long

.PHONY: memory
memory: ## memory and CPU time for 5,000 nodes and 100,000 pods, and for a snapshot of 150,000 pods (needs 8 GB)
	EVENKEEL_PEAK=5000/100000 go test -count=1 -timeout 60m -v -run TestPeakMemory ./observe
	go test -timeout 60m -run '^$$' -bench BenchmarkSnapshot -benchmem ./observe

# Packages whose tests compare files with package golden. Those of cmd/evenkeel run a few tests only.
GOLDEN = $(shell git grep -l 'internal/golden"' -- '*_test.go' ':!cmd' | xargs -n 1 dirname | sort -u | sed 's,^,./,')
.PHONY: count-keys
count-keys: ## the number of keys of config.yaml and of the chart's values.yaml, beside those of before
	go test -count=1 -v -run TestCountKeys ./config/schema

.PHONY: golden
golden: helm ## rewrite the expected results of tests, and the pages and files made from code; review the diff before you commit it
	go test $(GOLDEN) -update
	go test ./cmd/evenkeel -run '^(TestReliabilityDocument|TestNothingJudged|TestReference)$$' -update
	cd tools && go test ./dashboard -update
	cd tools/release && go test ./archives -update
	cd lab/helm && EVENKEEL_HELM=$(BIN)/helm go test . -update
	cd lab && go test ./bench -run '^TestPublishedPages$$' -update
