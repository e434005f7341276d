package schema_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// foreign are keys whose value has the format of another program: objects of Kubernetes, of the Prometheus operator and
// of kube-scheduler. Each counts as one key, because the fields in it are not ours.
var foreign = []string{
	"additionalGroups", "affinity", "approvers", "dnsConfig", "endpoint", "extraContainers", "extraEnv", "extraEnvFrom", "extraObjects",
	"extraVolumeMounts", "extraVolumes", "from", "hostAliases", "imagePullSecrets", "initContainers", "livenessProbe", "metricRelabelings",
	"pausers", "podSecurityContext", "podSpec", "profiles", "readers", "readinessProbe", "relabelings", "resources", "rules", "runners",
	"securityContext", "startupProbe", "tlsConfig", "tolerations", "topologySpreadConstraints", "updateStrategy",
}

// ownRules are keys of a name in foreign whose format is ours.
var ownRules = []string{"hints.rules", "config.hints.rules"}

// keysAllowed are the most keys of each file; they only become fewer.
var keysAllowed = map[string]int{"config.json": 218, chartFile: 343}

// keysBefore are the numbers of keys at commit 62e8c18b, by the same rule; placement.profiles had a format of its own.
var keysBefore = map[string]int{"config.json": 291, chartFile: 484}

// TestCountKeys counts each path of a key once, with those of the elements of lists and of the values of maps.
func TestCountKeys(t *testing.T) {
	for file, before := range keysBefore {
		keys := map[string]bool{}
		countKeys(decode(t, must.Get(os.ReadFile(file))(t)), "", keys)
		t.Logf("%s: %d keys, %d before, %d %% fewer", path.Base(file), len(keys), before, 100-100*len(keys)/before)
		if most := keysAllowed[file]; len(keys) > most {
			t.Errorf("%s has %d keys, want at most %d", file, len(keys), most)
		}
	}
}

// countKeys adds the paths of all keys of a schema to keys.
func countKeys(n node, at string, keys map[string]bool) {
	if n == nil {
		return
	}
	for name, child := range sub(n, "properties") {
		p := join(at, name)
		if text, _ := child.(node)["const"].(string); strings.HasPrefix(text, "unset (") {
			continue // forHelm refuses it
		}
		keys[p] = true
		if !slices.Contains(foreign, name) || slices.Contains(ownRules, p) {
			countKeys(child.(node), p, keys)
		}
	}
	for _, inside := range []string{"items", "additionalProperties"} {
		countKeys(sub(n, inside), at+"[]", keys)
	}
	for _, same := range []string{"if", "then", "else"} {
		countKeys(sub(n, same), at, keys)
	}
	for _, all := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := n[all].([]any)
		for _, one := range list {
			countKeys(one.(node), at, keys)
		}
	}
}
