package controlplane

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Keep ends the components as Stop does, and leaves the data of etcd in a folder
// from which other labs can start (Options.Etcd). The folder must not exist yet.
func (c *Cluster) Keep(folder string) error {
	c.cancel()
	done := make(chan struct{})
	go func() { c.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		return errors.New("the components do not end; the data of etcd is not kept")
	}
	if err := os.CopyFS(folder, os.DirFS(c.path("etcd"))); err != nil {
		return fmt.Errorf("keeping the data of etcd: %w", err)
	}
	return nil
}
