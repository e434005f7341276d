package installed

import (
	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/config"
)

// Builtin is the value of --config that selects the built-in configuration.
const Builtin = "builtin"

// ConfigFlagHelp describes the flag --config of commands that read the cluster.
const ConfigFlagHelp = "configuration file, or builtin for this program's own configuration (default: the configuration of the release in the cluster)"

// Load reads the configuration file at path. An empty path selects the built-in configuration, which is always a
// dry run, also if config.yaml was edited before the build: only a file that is named at the start permits evictions.
func Load(path string) (*config.Config, error) {
	if path != "" && path != Builtin {
		return config.LoadFile(path)
	}
	conf, err := config.Load("built-in config.yaml", evenkeel.DefaultConfig)
	if err != nil {
		return nil, err
	}
	conf.DryRun = true
	return conf, nil
}
