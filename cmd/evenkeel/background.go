package main

import (
	"context"
	"sync"
)

// runBeside runs work, and runs background until work ends.
func runBeside(ctx context.Context, background func(context.Context), work func(context.Context) error) error {
	running, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { background(running) })
	defer func() { end(); wg.Wait() }()
	return work(ctx)
}
