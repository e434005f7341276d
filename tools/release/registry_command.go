package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// runRegistry serves a registry until the process is asked to end. It has no access control, so it listens on
// the loopback interface only.
func runRegistry(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("registry", flag.ContinueOnError)
	address := f.String("listen", "127.0.0.1:5000", "address (HOST:PORT) on the loopback interface; port 0 chooses a free port")
	folder := f.String("dir", "", "folder that keeps the layers of images (default: in memory)")
	if err := parse(f, args); err != nil {
		return err
	}
	l, err := listenOnLoopback(ctx, *address)
	if err != nil {
		return err
	}
	options := []registry.Option{registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)}
	if *folder != "" {
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(*folder)))
	}
	server := &http.Server{Handler: registry.New(options...), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	fmt.Println(l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func listenOnLoopback(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("-listen: %s is not on the loopback interface; the registry has no access control", address)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}
