// The program informers keeps shared informers of client-go (typed Pods, dynamic ConfigMaps, metadata of
// Secrets) on one API server, and compares what they hold with what the members of that server have.
//
//	informers -kubeconfig FILE -selector LABELS [-namespace NS] [-watch-seconds N]
//
// It reads commands from standard input and answers each with one line of JSON:
//
//	sync                     waits until every informer has synced
//	check NAME=KUBECONFIG... waits until every informer has exactly the objects of these members, and watches;
//	                         a NAME alone stands for what the member had at the last check
//	cut                      ends all watches, as a timeout of the server does
//	expire                   ends all watches, and has the next ones ask for versions that are long gone
//	report                   says how things are
//
// Each answer has `ok`, for sync and check `differences`, and for each informer what it has sent and seen.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"testclients/wire"
)

// Answer is what is printed for a command.
type Answer struct {
	Command     string            `json:"command"`
	OK          bool              `json:"ok"`
	Differences []string          `json:"differences,omitempty"`
	ClientGo    string            `json:"clientGo"`
	WatchList   string            `json:"watchList"`
	Informers   map[string]Report `json:"informers"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the server that the informers are on")
	selector := flag.String("selector", "", "which objects they follow")
	namespace := flag.String("namespace", "default", "where the ConfigMaps are; the others are followed everywhere")
	patience := flag.Duration("patience", 30*time.Second, "how long sync and check wait")
	watchSeconds := flag.Int("watch-seconds", 0, "how long watches last; 0: as long as the client wants")
	flag.Parse()

	followers := Follow(*kubeconfig, *namespace, *selector, *watchSeconds)
	for _, follower := range followers {
		go follower.informer.Run(context.Background().Done())
	}
	wire.Serve(func(command string, words []string) any {
		var differences func() []string
		switch command {
		case "sync":
			differences = func() []string { return notSynced(followers) }
		case "check":
			members := wire.Members(words)
			differences = func() []string { return differencesOf(followers, members, *selector) }
		case "cut", "expire":
			for _, follower := range followers {
				if command == "cut" {
					follower.wire.Cut()
				} else {
					follower.wire.Expire()
				}
			}
		}
		return answered(command, followers, eventually(*patience, differences))
	})
}

// eventually asks until there are no differences any more, and returns the last ones.
func eventually(patience time.Duration, differences func() []string) []string {
	if differences == nil {
		return nil
	}
	end := time.Now().Add(patience)
	for {
		found := differences()
		if len(found) == 0 || time.Now().After(end) {
			return found
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func answered(command string, followers []*Follower, differences []string) Answer {
	answer := Answer{
		Command: command, OK: len(differences) == 0, Differences: differences,
		ClientGo:  wire.ModuleVersion("k8s.io/client-go"),
		WatchList: os.Getenv("KUBE_FEATURE_WatchListClient"),
		Informers: map[string]Report{},
	}
	for _, follower := range followers {
		answer.Informers[follower.name] = follower.Report()
	}
	return answer
}

func notWatching(followers []*Follower) []string {
	var names []string
	for _, follower := range followers {
		if follower.wire.Watches() != 1 {
			names = append(names, fmt.Sprintf("%s has %d open watches", follower.name, follower.wire.Watches()))
		}
	}
	return names
}

func notSynced(followers []*Follower) []string {
	var names []string
	for _, follower := range followers {
		if !follower.registration.HasSynced() {
			names = append(names, follower.name+" has not synced")
		}
	}
	return names
}
