// Measures upstream's interpreter, called in this process, on the objects of a folder, and prints what
// it found as JSON in the shape that interpreter_bench prints.
//
//	upstream --objects FOLDER [--time 1s]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/karmada-io/karmada/pkg/resourceinterpreter"
)

// figure is one operation on one object.
type figure struct {
	Object     string  `json:"object"`
	Operation  string  `json:"operation"`
	NsPerOp    float64 `json:"nsPerOp"`    // By the clock on the wall.
	CPUNsPerOp float64 `json:"cpuNsPerOp"` // Of the whole process: Go's garbage collector has threads.
	BytesPerOp int64   `json:"bytesPerOp"`
	Answer     any     `json:"answer"`
}

// rate is how often a second some goroutines get an answer together.
type rate struct {
	Object       string  `json:"object"`
	Operation    string  `json:"operation"`
	Workers      int     `json:"workers"`
	OpsPerSecond float64 `json:"opsPerSecond"`
}

type report struct {
	Operations []figure `json:"operations"`
	Scaling    []rate   `json:"scaling"`
}

// What is measured with several workers: an object that scripts answer for, and the operations.
const (
	scaledSubject = "cloneset"
	maxWorkers    = 2
)

var scaled = map[string]bool{"InterpretHealth": true, "AggregateStatus": true}

// cpuTime is what this process has used of the processors.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func measure(i resourceinterpreter.ResourceInterpreter, op operation, s subject) figure {
	var cpu time.Duration // Of the last and longest run, which is the one that counts.
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		before := cpuTime()
		for range b.N {
			if _, err := op.run(i, s); err != nil {
				b.Fatal(err)
			}
		}
		cpu = cpuTime() - before
	})
	n := float64(result.N)
	return figure{NsPerOp: float64(result.T.Nanoseconds()) / n, CPUNsPerOp: float64(cpu.Nanoseconds()) / n,
		BytesPerOp: result.AllocedBytesPerOp()}
}

// measureWorkers lets goroutines ask at the same time, each about an object of its own.
func measureWorkers(i resourceinterpreter.ResourceInterpreter, op operation, s subject, workers int,
	length time.Duration) float64 {
	counts := make([]int, workers)
	var done sync.WaitGroup
	began := time.Now()
	for w := range workers {
		own := s.copied()
		done.Go(func() {
			for time.Since(began) < length {
				if _, err := op.run(i, own); err != nil {
					panic(err)
				}
				counts[w]++
			}
		})
	}
	done.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(began).Seconds()
}

func measureScaling(i resourceinterpreter.ResourceInterpreter, s subject, length time.Duration) []rate {
	var rates []rate
	for _, op := range operations {
		for workers := 1; scaled[op.name] && workers <= maxWorkers; workers++ {
			rates = append(rates, rate{s.name, op.name, workers, measureWorkers(i, op, s, workers, length)})
		}
	}
	return rates
}

func measureAll(ctx context.Context, folder string, length time.Duration) (report, error) {
	var out report
	interpreter, err := startInterpreter(ctx)
	if err != nil {
		return out, err
	}
	for _, name := range []string{"cloneset", "deployment"} {
		s, err := readSubject(folder, name)
		if err != nil {
			return out, err
		}
		for _, op := range operations {
			answer, err := op.run(interpreter, s.copied())
			if err != nil {
				return out, fmt.Errorf("%s of %s: %w", op.name, name, err)
			}
			row := measure(interpreter, op, s.copied())
			row.Object, row.Operation, row.Answer = name, op.name, answer
			out.Operations = append(out.Operations, row)
		}
		if name == scaledSubject {
			out.Scaling = measureScaling(interpreter, s, length)
		}
	}
	return out, nil
}

func main() {
	testing.Init()
	objects := flag.String("objects", "", "folder of the objects")
	length := flag.Duration("time", time.Second, "how long to run each operation")
	flag.Parse()
	if err := flag.Set("test.benchtime", length.String()); err != nil {
		panic(err)
	}
	out, err := measureAll(context.Background(), *objects, *length)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "upstream interpreter:", err)
		os.Exit(1)
	}
}
