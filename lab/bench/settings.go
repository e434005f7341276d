package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// settings are the flags of the command. Each step runs in a separate process with the same flags.
type settings struct {
	nodes, pods    int
	work, out      string
	evenkeel, peer string
	kwok           string
	maxEvictions   int
	limit          time.Duration
}

func (s *settings) addFlags(fs *flag.FlagSet, work string) {
	fs.StringVar(&s.work, "work", work, "folder for the results of finished steps")
	fs.StringVar(&s.out, "out", "docs/benchmarks", "folder for the published results")
	fs.StringVar(&s.evenkeel, "evenkeel", "bin/evenkeel", "path of evenkeel")
	fs.StringVar(&s.peer, "peer", "bin/descheduler", "path of the descheduler")
	fs.StringVar(&s.kwok, "kwok", "bin/kwok", "path of kwok")
	fs.DurationVar(&s.limit, "limit", 30*time.Minute, "time limit for each start of a program")
}

func (s settings) resultPath(step string) string {
	return filepath.Join(s.work, strings.ReplaceAll(step, "/", "-")+".json")
}

func stepDone(s settings, step string) bool {
	_, err := os.Stat(s.resultPath(step))
	return err == nil
}

// writeJSON writes a result atomically, so an interrupted step has no result.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	part := path + ".part"
	return errors.Join(os.WriteFile(part, append(data, '\n'), 0o644), os.Rename(part, path))
}

// programs and managers are the rows of the comparison, in the order of the table.
var (
	programs = []string{"peer", "evenkeel"}
	managers = []string{"default", "tuned"}
)
